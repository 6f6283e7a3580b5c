//! The puppet's operator panel.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Static description of the puppet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PuppetInfo {
    /// The robot's own name.
    pub name: String,
    /// Name of the agent.
    pub robot: String,
    /// Available gestures.
    pub gestures: Vec<GestureInfo>,
    /// Available facial expressions.
    pub expressions: Vec<NamedId>,
    /// Available gaze modes.
    pub look_ats: Vec<NamedId>,
    /// Servos, in order.
    pub servos: Vec<ServoInfo>,
    /// Names of the motion subsystems, each of which has a weight.
    pub subsystems: Vec<String>,
}

/// A gesture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GestureInfo {
    /// Id used in commands.
    pub id: u32,
    /// Human-readable name.
    pub name: String,
    /// Tag that starts the gesture in spoken text, without brackets.
    pub tag: String,
    /// Duration.
    pub seconds: f32,
}

/// An id and its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NamedId {
    /// Id used in commands.
    pub id: u32,
    /// Human-readable name.
    pub name: String,
}

/// A servo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ServoInfo {
    /// Id used in commands; the index in `positions`.
    pub id: u32,
    /// Name.
    pub name: String,
    /// Part of the body it moves, such as `left arm`.
    pub part: String,
}

/// State of the puppet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Puppet {
    /// Servo positions, 0 to 1.
    pub positions: Vec<f32>,
    /// Weight of each subsystem, 0 to 1.
    pub weights: BTreeMap<String, f32>,
    /// Id of the current expression.
    pub expression: u32,
    /// Id of the current gaze mode.
    pub look_at: u32,
    /// Blinks per second.
    pub blinks: f32,
    /// Volume of the voice, 0 to 1.
    pub volume: f32,
    /// Pitch of the voice, 0.5 to 2.
    pub pitch: f32,
    /// Whether it is speaking or has text left to speak.
    pub speaking: bool,
    /// Number of gestures in progress.
    pub gestures: usize,
    /// Faces in the camera picture.
    pub faces: Vec<FaceBox>,
    /// Names of all known faces.
    pub known: Vec<String>,
    /// Whether only one operator at a time may control it.
    pub one_at_a_time: bool,
    /// Id of the client in control, if one is.
    pub in_control: Option<u64>,
    /// Number of connected operators.
    pub operators: usize,
}

/// A face in the camera picture. Lengths are fractions of the picture's width and height, from its upper left corner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FaceBox {
    /// Constant while the face stays in view.
    pub id: u64,
    /// Empty if the face is unknown.
    pub name: String,
    /// Confidence of the detector, 0 to 1.
    pub confidence: f32,
    /// Left edge.
    pub x: f32,
    /// Upper edge.
    pub y: f32,
    /// Width of the box.
    pub width: f32,
    /// Height of the box.
    pub height: f32,
}

/// An event of the puppet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PuppetEvent {
    /// Sequence number.
    pub number: u64,
    /// Seconds since the puppet started.
    pub time: f64,
    /// Kind of the event, and its data.
    #[serde(flatten)]
    pub what: PuppetEventKind,
}

/// Kind of a puppet's event, and its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum PuppetEventKind {
    /// Speech started.
    SpeakBegun {
        /// Number of the speech.
        speech: u64,
    },
    /// Speech ended or was interrupted.
    SpeakDone {
        /// Number of the speech.
        speech: u64,
    },
    /// A gesture embedded in speech started.
    SpeakGesture {
        /// Id of the gesture.
        gesture: u32,
    },
    /// A gesture ended.
    GestureDone {
        /// Id of the gesture.
        gesture: u32,
    },
    /// Speech was recognised.
    Utterance {
        /// Most likely first.
        options: Vec<Hypothesis>,
    },
}

/// A possible transcription of recognised speech.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Hypothesis {
    /// Transcribed text.
    pub text: String,
    /// 0 to 1.
    pub confidence: f32,
}
