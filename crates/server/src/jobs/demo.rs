//! The demo game: two teams of example players, and a kick-off once all have connected.
//!
//! Each team is a child process whose players connect like any agent. The processes are killed with the demo; if the
//! server is killed first, they exit because their connections are closed.

mod kick_off;
#[cfg(test)]
mod tests;

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use parking_lot::{Mutex, MutexGuard};
use soccer::game::GameView;
use tracing::warn;

use super::wait_for;
use crate::sim_thread::SimHandle;

/// The example team. It needs only Python's standard library.
const TEAM: &str = include_str!("../../../../examples/soccer/team.py");
const PYTHON: &str = "python3";
const TEAMS: [&str; 2] = ["Home", "Guests"];
/// Bytes kept of a team's error output.
const MAX_ERROR_OUTPUT: usize = 300;

/// The demo game: two teams of example players, each a `python3` process. Cheap to clone; dropping the last clone ends
/// the game.
#[derive(Clone, Debug)]
pub struct Demo(Arc<Owner>);

/// Ends the game when dropped.
#[derive(Debug)]
struct Owner {
    python: OsString,
    state: Arc<SharedState>,
}

/// State shared with the threads of a game.
#[derive(Debug, Default)]
struct SharedState {
    /// Games started so far.
    games: AtomicU64,
    game: Mutex<Option<DemoGame>>,
}

#[derive(Debug)]
struct DemoGame {
    /// Threads of a game with another number must not change this one.
    number: u64,
    /// Players per team.
    players: u8,
    /// Human-readable state.
    note: String,
    teams: Vec<Child>,
}

impl Default for Demo {
    fn default() -> Self {
        Self::new()
    }
}

impl Demo {
    /// Creates a demo without a running game.
    pub fn new() -> Self {
        Self::with_python(PYTHON.into())
    }

    /// Like [`Self::new`], with another program that is given the script on its standard input.
    fn with_python(python: OsString) -> Self {
        Self(Arc::new(Owner { python, state: Arc::default() }))
    }

    /// Starts two teams with the given number of players, which connect to `agents`. Kicks off once all have connected
    /// and have had time to take their positions.
    pub fn start(&self, agents: SocketAddr, sim: &SimHandle, players: u8) -> Result<(), String> {
        let Owner { python, state } = &*self.0;
        let mut game = state.game();
        if game.as_mut().is_some_and(DemoGame::is_running) {
            return Err("a demo game is already running; end it first".to_owned());
        }
        check(sim, players)?;
        let number = state.games.fetch_add(1, Ordering::Relaxed) + 1;
        let note = kick_off::connected_note(0, usize::from(players) * TEAMS.len());
        let started = game.insert(DemoGame { number, players, note, teams: Vec::new() });
        for team in TEAMS {
            let spawned = spawn_team(python, agents, team, players).and_then(|mut child| {
                let stderr = child.stderr.take();
                let (index, process) = (started.teams.len(), child.id());
                started.teams.push(child);
                let state = state.clone();
                let supervise = move || {
                    let message = last_line(stderr);
                    wait_for(process);
                    state.team_exited(number, index, message);
                };
                thread::Builder::new().name("demo team".into()).spawn(supervise).map(drop)
            });
            if let Err(error) = spawned {
                *game = None;
                return Err(format!("failed to start a team with `{PYTHON}`: {error}"));
            }
        }
        drop(game);
        let (state, sim) = (state.clone(), sim.clone());
        let kick_off = move || kick_off::run(&state, &sim, number, players);
        let spawned = thread::Builder::new().name("kick-off".into()).spawn(kick_off);
        spawned.map(drop).map_err(|error| {
            self.stop();
            format!("failed to start the kick-off thread: {error}")
        })
    }

    /// Ends the game, if one is running.
    pub fn stop(&self) {
        self.0.state.stop();
    }

    /// Players per team and the human-readable state of the game, if there is one.
    pub fn state(&self) -> Option<(u8, String)> {
        self.0.state.game().as_ref().map(|game| (game.players, game.note.clone()))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.state.stop();
    }
}

impl SharedState {
    fn game(&self) -> MutexGuard<'_, Option<DemoGame>> {
        self.game.lock()
    }

    fn stop(&self) {
        *self.game() = None;
    }

    /// Sets the state of a game; returns false if the game has ended.
    fn set_note(&self, number: u64, note: String) -> bool {
        let mut game = self.game();
        let Some(game) = game.as_mut().filter(|game| game.number == number) else { return false };
        if !game.is_complete() {
            return false;
        }
        game.note = note;
        true
    }

    /// Notes that a team's process has exited, with its last line of error output.
    fn team_exited(&self, number: u64, index: usize, message: String) {
        let mut game = self.game();
        let Some(game) = game.as_mut().filter(|game| game.number == number) else { return };
        let status = match game.teams.get_mut(index).map(Child::wait) {
            Some(Ok(status)) => status.to_string(),
            Some(Err(error)) => error.to_string(),
            None => return,
        };
        let team = TEAMS.get(index).copied().unwrap_or_default();
        let cause = if message.is_empty() { status } else { message };
        game.note = format!("the team {team} has exited: {cause}");
        warn!(team, "demo team exited: {cause}");
    }
}

impl DemoGame {
    /// Whether any team is still running.
    fn is_running(&mut self) -> bool {
        self.teams.iter_mut().any(|team| matches!(team.try_wait(), Ok(None)))
    }

    /// Whether both teams are running.
    fn is_complete(&mut self) -> bool {
        self.teams.iter_mut().all(|team| matches!(team.try_wait(), Ok(None)))
    }
}

impl Drop for DemoGame {
    fn drop(&mut self) {
        for team in &mut self.teams {
            // fails if it has exited
            let _ = team.kill();
            let _ = team.wait();
        }
    }
}

/// Checks that two teams of this size can join the game.
fn check(sim: &SimHandle, players: u8) -> Result<(), String> {
    let world = sim.latest();
    let game = world.view::<GameView>().ok_or("this world has no soccer game")?;
    let max = game.team_size;
    if players == 0 || usize::from(players) > max {
        return Err(format!("{players} players per team are out of range 1..={max}"));
    }
    let others: Vec<&str> =
        game.teams.iter().flatten().map(String::as_str).filter(|team| !TEAMS.contains(team)).collect();
    if !others.is_empty() {
        let others = others.join(" and ");
        return Err(format!("the demo needs both sides, and the game already has {others}; restart the server"));
    }
    let present = game.players.len();
    if present > 0 {
        return Err(format!("{present} players are still on the field; try again when they have left"));
    }
    Ok(())
}

fn spawn_team(python: &OsString, agents: SocketAddr, team: &str, players: u8) -> io::Result<Child> {
    let host = match agents.ip() {
        IpAddr::V4(any) if any.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(any) if any.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        host => host,
    };
    let mut command = Command::new(python);
    command.arg("-").args(["--host", &host.to_string(), "--port", &agents.port().to_string()]);
    command.args(["--team", team, "--players", &players.to_string()]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    // closes the pipe after writing: Python runs the script at the end of its input
    let written = child.stdin.take().map_or(Ok(()), |mut script| script.write_all(TEAM.as_bytes()));
    match written {
        Ok(()) => Ok(child),
        // it exited before it had read everything; its error output has the cause
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(child),
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(error)
        }
    }
}

/// Reads a pipe to its end and returns the last non-empty line.
fn last_line(pipe: Option<impl Read>) -> String {
    let Some(mut pipe) = pipe else { return String::new() };
    let (mut kept, mut chunk) = (Vec::new(), [0; 1024]);
    while let Ok(length @ 1..) = pipe.read(&mut chunk) {
        kept.extend_from_slice(chunk.get(..length).unwrap_or_default());
        let surplus = kept.len().saturating_sub(MAX_ERROR_OUTPUT);
        kept.drain(..surplus);
    }
    let text = String::from_utf8_lossy(&kept);
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}
