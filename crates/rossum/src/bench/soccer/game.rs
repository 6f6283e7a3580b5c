//! A server and its players.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::{
    super::{cpu_time, now},
    players::{Player, Players, pause},
    script::Part,
    server::{Program, Server},
};

/// The reference ends when an agent joins before its first cycle has ended, which nothing tells.
const FIRST_CYCLE: Duration = Duration::from_millis(1500);
/// A T1 whose torso is higher than this stands, in m.
const STANDING: f64 = 0.5;

pub(super) struct Game {
    pub(super) server: Server,
    pub(super) players: Players,
}

/// What was measured while a game was played for a while.
#[derive(Clone, Copy, Default)]
pub(super) struct Stint {
    pub(super) cycles: f64,
    pub(super) wall: f64,
    /// Processor time of the server, in s.
    pub(super) server: f64,
    /// Processor time of the players, in s.
    pub(super) players: f64,
}

impl Stint {
    pub(super) fn cycles_per_second(self) -> f64 {
        self.cycles / self.wall
    }
}

impl Game {
    /// Starts a server, to which the first player has connected and not asked to play.
    pub(super) fn start(program: Program<'_>, flags: &[&str]) -> anyhow::Result<(Self, Player)> {
        let mut game = Self { server: Server::start(program, flags)?, players: Players::default() };
        let first = game.told(|game| game.connect(0))?;
        if program != Program::Ours {
            pause(FIRST_CYCLE);
        }
        Ok((game, first))
    }

    /// The player who joins as this one, connected.
    pub(super) fn connect(&self, index: usize) -> anyhow::Result<Player> {
        Player::connect(self.server.address(), Part::new(index)?)
    }

    /// Starts a server and lets everybody join, one after the other. Says how long the joins took; `between` is called
    /// after each of them with their number.
    pub(super) fn with_players(
        program: Program<'_>,
        flags: &[&str],
        players: usize,
        mut between: impl FnMut(usize) -> anyhow::Result<()>,
    ) -> anyhow::Result<(Self, Vec<Duration>)> {
        let (mut game, first) = Self::start(program, flags)?;
        let (mut first, mut joins) = (Some(first), Vec::new());
        for index in 0..players {
            let begin = now();
            game.told(|game| {
                let player = first.take().map_or_else(|| game.connect(index), Ok)?;
                game.players.join(player)
            })?;
            joins.push(now().duration_since(begin));
            between(joins.len())?;
        }
        Ok((game, joins))
    }

    /// Plays in sync mode for about a time.
    pub(super) fn play(&mut self, time: Duration) -> anyhow::Result<Stint> {
        self.told(|game| {
            // what came during the pause is not counted
            game.players.cycle()?;
            let (begin, server, players) = (now(), game.server.cpu_time()?, cpu_time());
            let mut cycles = 0.0;
            while now().duration_since(begin) < time {
                game.players.cycle()?;
                cycles += 1.0;
            }
            let wall = seconds_since(begin);
            let server = (game.server.cpu_time()? - server).as_secs_f64();
            Ok(Stint { cycles, wall, server, players: (cpu_time() - players).as_secs_f64() })
        })
    }

    /// Plays so many cycles.
    pub(super) fn cycles(&mut self, cycles: usize) -> anyhow::Result<()> {
        self.told(|game| (0..cycles).try_for_each(|_| game.players.cycle()))
    }

    /// That everybody stands, and sees in every other frame, lest something easier was measured.
    pub(super) fn ensure_fair(&self) -> anyhow::Result<()> {
        for player in &self.players.0 {
            let height = player.height().context("a player is told of no torso")?;
            ensure!(height > STANDING, "a robot has fallen: its torso is at {height} m; {}", self.server.log());
            let (seeing, frames) = (player.seeing, player.frames);
            ensure!(2 * seeing + 2 >= frames, "a robot saw in {seeing} of {frames} frames; {}", self.server.log());
        }
        Ok(())
    }

    /// Adds to an error what has become of the server.
    pub(super) fn told<T>(&mut self, act: impl FnOnce(&mut Self) -> anyhow::Result<T>) -> anyhow::Result<T> {
        act(self).or_else(|error| {
            let log = self.server.log();
            self.server.ensure_running().with_context(|| log.clone())?;
            Err(error).context(log)
        })
    }
}

pub(super) fn seconds_since(begin: Instant) -> f64 {
    now().duration_since(begin).as_secs_f64()
}
