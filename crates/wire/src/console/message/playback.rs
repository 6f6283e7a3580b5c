//! Playback of recordings and logs.

use serde::{Deserialize, Serialize};

use super::Scene;

/// A recording or log that can be played back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PlaybackEntry {
    /// File name.
    pub name: String,
    /// File size.
    pub bytes: u64,
    /// File format.
    pub kind: PlaybackKind,
}

/// Format of a file that can be played back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum PlaybackKind {
    /// A recording; it is simulated again.
    Recording,
    /// A log of what the monitors of a soccer game were sent.
    Log,
}

/// State of an open playback.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PlaybackState {
    /// File name.
    pub name: String,
    /// Number of frames loaded so far.
    pub ready: usize,
    /// Whether loading has ended.
    pub complete: bool,
    /// Why loading stopped before the end of the file, if it did.
    pub trouble: Option<String>,
    /// Frames per second of playback time.
    pub rate: f64,
    /// Scenes not sent before. A playback has several if robots came or went.
    pub scenes: Vec<PlaybackScene>,
    /// Timeline marks not sent before: goals, play modes and others.
    pub marks: Vec<TimelineMark>,
}

/// The scene of a playback from a given frame on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PlaybackScene {
    /// First frame that shows the scene.
    pub from: usize,
    /// The scene.
    pub scene: Scene,
}

/// A mark on a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimelineMark {
    /// Number of the frame.
    pub frame: usize,
    /// Human-readable label.
    pub text: String,
}
