//! A server with its players.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::{
    super::{cpu_time, now},
    players::{Player, Players, pause},
    script::PlayerScript,
    server::{Program, Server},
};

/// The reference crashes if an agent joins during its first cycle, whose end it does not announce.
const FIRST_CYCLE: Duration = Duration::from_millis(1500);
/// Minimum height of the torso of a standing T1, in m.
const STANDING: f64 = 0.5;

pub(super) struct Game {
    pub(super) server: Server,
    pub(super) players: Players,
}

/// Measurements of a stretch of play.
#[derive(Clone, Copy, Default)]
pub(super) struct PlayStats {
    pub(super) cycles: f64,
    pub(super) wall: f64,
    /// CPU time of the server, in s.
    pub(super) server: f64,
    /// CPU time of the players, in s.
    pub(super) players: f64,
}

impl PlayStats {
    pub(super) fn cycles_per_second(self) -> f64 {
        self.cycles / self.wall
    }
}

impl Game {
    /// Starts a server and connects the first player, without joining.
    pub(super) fn start(program: Program<'_>, flags: &[&str]) -> anyhow::Result<(Self, Player)> {
        let mut game = Self { server: Server::start(program, flags)?, players: Players::default() };
        let first = game.with_server_state(|game| game.connect(0))?;
        if program != Program::Ours {
            pause(FIRST_CYCLE);
        }
        Ok((game, first))
    }

    /// Connects the player with this index.
    pub(super) fn connect(&self, index: usize) -> anyhow::Result<Player> {
        Player::connect(self.server.address(), PlayerScript::new(index)?)
    }

    /// Starts a server and lets all players join one after the other. Returns the durations of the joins; calls
    /// `between` after each with the number of players.
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
            game.with_server_state(|game| {
                let player = first.take().map_or_else(|| game.connect(index), Ok)?;
                game.players.join(player)
            })?;
            joins.push(now().duration_since(begin));
            between(joins.len())?;
        }
        Ok((game, joins))
    }

    /// Plays in sync mode for about `time`.
    pub(super) fn play(&mut self, time: Duration) -> anyhow::Result<PlayStats> {
        self.with_server_state(|game| {
            // skip what arrived during the pause
            game.players.cycle()?;
            let (begin, server, players) = (now(), game.server.cpu_time()?, cpu_time());
            let mut cycles = 0.0;
            while now().duration_since(begin) < time {
                game.players.cycle()?;
                cycles += 1.0;
            }
            let wall = seconds_since(begin);
            let server = (game.server.cpu_time()? - server).as_secs_f64();
            Ok(PlayStats { cycles, wall, server, players: (cpu_time() - players).as_secs_f64() })
        })
    }

    /// Plays a number of cycles.
    pub(super) fn cycles(&mut self, cycles: usize) -> anyhow::Result<()> {
        self.with_server_state(|game| (0..cycles).try_for_each(|_| game.players.cycle()))
    }

    /// Checks that all robots stand and have vision in every other frame; otherwise the load would be lighter than
    /// intended.
    pub(super) fn ensure_fair(&self) -> anyhow::Result<()> {
        for player in &self.players.0 {
            let height = player.height().context("a perception without torso position")?;
            ensure!(height > STANDING, "a robot has fallen: torso at {height} m; {}", self.server.log());
            let (seeing, frames) = (player.seeing, player.frames);
            ensure!(
                2 * seeing + 2 >= frames,
                "a robot had vision in only {seeing} of {frames} frames; {}",
                self.server.log()
            );
        }
        Ok(())
    }

    /// Adds the state of the server to an error.
    pub(super) fn with_server_state<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
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
