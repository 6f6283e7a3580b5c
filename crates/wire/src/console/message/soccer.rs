//! A soccer game.

use serde::{Deserialize, Serialize};

use crate::console::Side;

/// What there is to know about a soccer game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoccerInfo {
    /// Names of all play modes.
    pub modes: Vec<String>,
    /// Length and width of the field, in m.
    pub field: [f64; 2],
    /// How many may play on each side.
    pub players_per_team: usize,
}

/// How a game stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Game {
    /// The game clock, in s.
    pub play_time: f64,
    /// Name of the play mode.
    pub mode: String,
    /// Names of the left and the right team.
    pub teams: [Option<String>; 2],
    /// Goals of both.
    pub score: [u32; 2],
    /// 1 or 2.
    pub half: u8,
    /// Who plays.
    pub players: Vec<Player>,
    /// Place of the ball's body.
    pub ball: Option<usize>,
    /// The demo game, if there is one.
    pub demo: Option<DemoGame>,
}

/// A demo game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DemoGame {
    /// Players of each team.
    pub players: u8,
    /// How it is doing.
    pub note: String,
}

/// A player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Player {
    /// Its team's.
    pub side: Side,
    /// On its back.
    pub number: u8,
    /// Name of the agent.
    pub agent: String,
    /// Place of its first body.
    pub body: i64,
}

/// What a referee decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Counts decisions.
    pub number: u64,
    /// On the game clock, in s.
    pub play_time: f64,
    /// In words.
    pub text: String,
}
