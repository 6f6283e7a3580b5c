//! Recordings and logs, played back.

use serde::{Deserialize, Serialize};

use super::Scene;

/// A recording or a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaybackEntry {
    /// Of the file.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// What it is.
    pub kind: PlaybackKind,
}

/// What a film is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaybackKind {
    /// A recording, which is run again.
    Recording,
    /// What monitors of a soccer game were sent.
    Log,
}

/// A film, as far as it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaybackState {
    /// Of the file.
    pub name: String,
    /// Frames that can be asked for.
    pub ready: usize,
    /// Whether all that there is has been read.
    pub complete: bool,
    /// Why it was not read to the end, if it was not.
    pub trouble: Option<String>,
    /// Frames a second.
    pub rate: f64,
    /// Looks that are new, and from which frame on.
    pub scenes: Vec<PlaybackScene>,
    /// On the time line.
    pub marks: Vec<TimelineMark>,
}

/// How a film looks from a frame on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaybackScene {
    /// Number of the frame.
    pub from: usize,
    /// What is there then.
    pub scene: Scene,
}

/// Something on the time line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineMark {
    /// Number of the frame.
    pub frame: usize,
    /// What.
    pub text: String,
}
