//! The soccer game.

use serde::{Deserialize, Serialize};

use crate::console::Side;

/// Static description of a soccer game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SoccerInfo {
    /// Names of all play modes.
    pub modes: Vec<String>,
    /// Length of the field along x and width along y, in m.
    pub field: [f64; 2],
    /// Maximum number of players per team.
    pub players_per_team: usize,
}

/// State of a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Game {
    /// Game clock, in s.
    pub play_time: f64,
    /// Name of the play mode.
    pub mode: String,
    /// Names of the left and the right team; null until its first player joins.
    pub teams: [Option<String>; 2],
    /// Goals of the left and the right team.
    pub score: [u32; 2],
    /// 1 or 2.
    pub half: u8,
    /// Players of both teams.
    pub players: Vec<Player>,
    /// Index of the ball's body in the scene.
    pub ball: Option<usize>,
    /// The demo game, if one is running.
    pub demo: Option<DemoGame>,
}

/// A demo game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DemoGame {
    /// Players per team.
    pub players: u8,
    /// Human-readable progress.
    pub note: String,
}

/// A player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Player {
    /// Side of its team.
    pub side: Side,
    /// Player number.
    pub number: u8,
    /// Name of the agent.
    pub agent: String,
    /// Index of its first body in the scene.
    pub body: i64,
}

/// A decision of the referee.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Decision {
    /// Sequence number.
    pub number: u64,
    /// Game clock, in s.
    pub play_time: f64,
    /// Human-readable description.
    pub text: String,
}
