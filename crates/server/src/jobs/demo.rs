//! The demo game: two teams of the example players, and a kick-off when everyone is there.
//!
//! The players are processes of their own and connect like everybody. They end with the demo; should the server be killed
//! before it can end them, they find their connections closed and go.

mod kick_off;
#[cfg(test)]
mod tests;

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use soccer::game::GameView;
use tracing::{info, warn};

use super::wait_for;
use crate::sim_thread::SimHandle;

/// The example team. It needs Python and nothing else.
const TEAM: &str = include_str!("../../../../examples/soccer/team.py");
const PYTHON: &str = "python3";
const TEAMS: [&str; 2] = ["Home", "Guests"];
/// What is kept of the last words of a team, in bytes.
const MAX_WORDS: usize = 300;

/// The demo game: two teams of the example players, in processes of python3. Cheap to clone; the players go home with the
/// last one.
#[derive(Clone, Debug)]
pub struct Demo(Arc<Owner>);

/// Sends the players home when it goes.
#[derive(Debug)]
struct Owner {
    python: OsString,
    stage: Arc<Stage>,
}

/// What the threads of a game share.
#[derive(Debug, Default)]
struct Stage {
    /// Games so far.
    games: AtomicU64,
    game: Mutex<Option<Game>>,
}

#[derive(Debug)]
struct Game {
    /// Which one it is: threads of earlier games have nothing to say any more.
    number: u64,
    players: u8,
    note: String,
    teams: Vec<Child>,
}

impl Default for Demo {
    fn default() -> Self {
        Self::new()
    }
}

impl Demo {
    /// No game yet.
    pub fn new() -> Self {
        Self::with_python(PYTHON.into())
    }

    /// With another program that plays the script on its standard input.
    fn with_python(python: OsString) -> Self {
        Self(Arc::new(Owner { python, stage: Arc::default() }))
    }

    /// Sends two teams of so many players to where agents connect, and kicks off when all are there and have had time to
    /// find their places.
    pub fn start(&self, agents: SocketAddr, sim: &SimHandle, players: u8) -> Result<(), String> {
        let Owner { python, stage } = &*self.0;
        let mut game = stage.game();
        if game.as_mut().is_some_and(Game::is_on) {
            return Err("a demo game is on already; end it first".to_owned());
        }
        check(sim, players)?;
        let number = stage.games.fetch_add(1, Ordering::Relaxed) + 1;
        let note = format!("0 of {} players are there", usize::from(players) * TEAMS.len());
        // those of an earlier game are gone
        let started = game.insert(Game { number, players, note, teams: Vec::new() });
        for team in TEAMS {
            let begun = start_team(python, agents, team, players).and_then(|mut child| {
                let words = child.stderr.take();
                let (place, process) = (started.teams.len(), child.id());
                started.teams.push(child);
                let stage = stage.clone();
                let listen = move || {
                    let words = last_words(words);
                    wait_for(process);
                    stage.team_ended(number, place, words);
                };
                thread::Builder::new().name("demo team".into()).spawn(listen).map(drop)
            });
            if let Err(error) = begun {
                *game = None;
                return Err(format!("the demo's teams need python3, which could not be started: {error}"));
            }
        }
        drop(game);
        let (stage, sim) = (stage.clone(), sim.clone());
        let wait = move || kick_off::wait(&stage, &sim, number, players);
        let begun = thread::Builder::new().name("kick-off".into()).spawn(wait);
        begun.map(drop).map_err(|error| {
            self.stop();
            format!("nobody could kick off: {error}")
        })
    }

    /// Sends them home.
    pub fn stop(&self) {
        self.0.stage.stop();
    }

    /// Players of each team and how the game is doing, if there is one.
    pub fn state(&self) -> Option<(u8, String)> {
        self.0.stage.game().as_ref().map(|game| (game.players, game.note.clone()))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.stage.stop();
    }
}

impl Stage {
    fn game(&self) -> MutexGuard<'_, Option<Game>> {
        self.game.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        *self.game() = None;
    }

    /// Notes how a game is doing; false if that is over.
    fn note(&self, number: u64, note: String) -> bool {
        let mut game = self.game();
        let Some(game) = game.as_mut().filter(|game| game.number == number) else { return false };
        if !game.is_complete() {
            return false;
        }
        game.note = note;
        true
    }

    /// A team has ended.
    fn team_ended(&self, number: u64, place: usize, words: String) {
        let mut game = self.game();
        let Some(game) = game.as_mut().filter(|game| game.number == number) else { return };
        let status = match game.teams.get_mut(place).map(Child::wait) {
            Some(Ok(status)) => status.to_string(),
            Some(Err(error)) => error.to_string(),
            None => return,
        };
        let team = TEAMS.get(place).copied().unwrap_or_default();
        let words = if words.is_empty() { status } else { words };
        game.note = format!("the players of {team} ended: {words}");
        warn!("demo game: {}", game.note);
    }
}

impl Game {
    /// Whether anybody plays.
    fn is_on(&mut self) -> bool {
        self.teams.iter_mut().any(|team| matches!(team.try_wait(), Ok(None)))
    }

    /// Whether both teams do.
    fn is_complete(&mut self) -> bool {
        self.teams.iter_mut().all(|team| matches!(team.try_wait(), Ok(None)))
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        for team in &mut self.teams {
            // one that has ended cannot be killed
            let _ = team.kill();
            let _ = team.wait();
        }
    }
}

/// Whether two teams of so many can come in.
fn check(sim: &SimHandle, players: u8) -> Result<(), String> {
    let world = sim.latest();
    let game = world.view::<GameView>().ok_or("there is no soccer game in this world")?;
    let most = game.team_size;
    if players == 0 || usize::from(players) > most {
        return Err(format!("a team has 1 to {most} players here, not {players}"));
    }
    let others: Vec<&str> =
        game.teams.iter().flatten().map(String::as_str).filter(|team| !TEAMS.contains(team)).collect();
    if !others.is_empty() {
        let others = others.join(" and ");
        return Err(format!(
            "{others} play here already, and the demo's two teams need both sides; start a new server"
        ));
    }
    let there = game.players.len();
    if there > 0 {
        return Err(format!("{there} players are still on the field; try again when they have left"));
    }
    Ok(())
}

fn start_team(python: &OsString, agents: SocketAddr, team: &str, players: u8) -> io::Result<Child> {
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
    // the end of its input is the end of the script
    let written = child.stdin.take().map_or(Ok(()), |mut script| script.write_all(TEAM.as_bytes()));
    match written {
        // what ended before it had read all says why by itself
        Ok(()) => Ok(child),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(child),
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(error)
        }
    }
}

/// Reads all, and gives the last line.
fn last_words(pipe: Option<impl Read>) -> String {
    let Some(mut pipe) = pipe else { return String::new() };
    let (mut kept, mut chunk) = (Vec::new(), [0; 1024]);
    while let Ok(length @ 1..) = pipe.read(&mut chunk) {
        kept.extend_from_slice(chunk.get(..length).unwrap_or_default());
        let surplus = kept.len().saturating_sub(MAX_WORDS);
        kept.drain(..surplus);
    }
    let text = String::from_utf8_lossy(&kept);
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

/// What a log hears of it.
fn announce(note: &str) {
    info!("demo game: {note}");
}
