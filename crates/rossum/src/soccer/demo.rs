//! `rossum soccer --demo`: two teams of the example, and a kick-off when everyone is there.

use std::{
    io::Write,
    net::SocketAddr,
    process::{Child, Command, Stdio},
    thread,
};

use anyhow::Context;
use client::soccer::{ClientError, Monitor};
use tracing::{info, warn};
use wire::soccer::{self as told, Graph, Node, NodeKind, Side};

/// The example team. It needs Python and nothing else.
const TEAM: &str = include_str!("../../../../examples/soccer/team.py");
const TEAMS: [&str; 2] = ["Reds", "Blues"];
/// Pictures of the game between the last player's coming and the kick-off: time to find one's place.
const PICTURES_BEFORE_KICK_OFF: usize = 75;

/// Two teams that play. They go home when this is dropped.
#[derive(Debug)]
pub(super) struct Demo(Vec<Child>);

impl Demo {
    /// Sends two teams of so many players to a game.
    pub(super) fn start(agents: SocketAddr, monitors: SocketAddr, players: u8) -> anyhow::Result<Self> {
        let mut demo = Self(Vec::new());
        for team in TEAMS {
            demo.0.push(start_team(agents, team, players)?);
        }
        thread::Builder::new().name("kick-off".into()).spawn(move || match kick_off(monitors, players) {
            Ok(()) => info!("kick-off"),
            Err(error) => warn!("there was no kick-off: {error}"),
        })?;
        Ok(demo)
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        for team in &mut self.0 {
            // one that has ended cannot be killed
            let _ = team.kill();
            let _ = team.wait();
        }
    }
}

fn start_team(agents: SocketAddr, team: &str, players: u8) -> anyhow::Result<Child> {
    let mut python = Command::new("python3");
    python.arg("-").args(["--host", &agents.ip().to_string(), "--port", &agents.port().to_string()]);
    python.args(["--team", team, "--players", &players.to_string()]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = python.spawn().context("the demo's teams need python3, which could not be started")?;
    // the end of its input is the end of the script
    child.stdin.take().context("python3 takes no input")?.write_all(TEAM.as_bytes())?;
    Ok(child)
}

/// Waits until both teams are complete and have found their places, then kicks off.
fn kick_off(monitors: SocketAddr, players: u8) -> Result<(), ClientError> {
    let mut monitor = Monitor::connect(monitors)?;
    let mut pictures = 0;
    loop {
        let update = monitor.receive()?;
        match &update.graph {
            Graph::Full { root, .. } if count_players(root) < TEAMS.len() * usize::from(players) => pictures = 0,
            Graph::Full { .. } => pictures += 1,
            Graph::Diff { .. } if pictures > 0 => pictures += 1,
            Graph::Diff { .. } => {}
        }
        if pictures > PICTURES_BEFORE_KICK_OFF {
            return monitor.command(&[told::Command::KickOff(Some(Side::Left))]);
        }
    }
}

fn count_players(node: &Node) -> usize {
    let here = usize::from(matches!(node.kind, NodeKind::Agent { .. }));
    here + node.children.iter().map(count_players).sum::<usize>()
}
