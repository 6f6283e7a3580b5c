//! The puppet's desk.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What there is to know about the puppet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PuppetInfo {
    /// What it calls itself.
    pub name: String,
    /// Name of the agent.
    pub robot: String,
    /// What it can do.
    pub gestures: Vec<GestureInfo>,
    /// Faces it can make.
    pub expressions: Vec<NamedId>,
    /// What it can look at.
    pub look_ats: Vec<NamedId>,
    /// Its servos, in order.
    pub servos: Vec<ServoInfo>,
    /// What has a weight.
    pub subsystems: Vec<String>,
}

/// A gesture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GestureInfo {
    /// Its number.
    pub id: u32,
    /// For people.
    pub name: String,
    /// In spoken text, in brackets.
    pub tag: String,
    /// How long it takes, in s.
    pub seconds: f32,
}

/// Something with a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedId {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
}

/// A servo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServoInfo {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Where it is.
    pub part: String,
}

/// How the puppet is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Puppet {
    /// Of the servos, 0 to 1.
    pub positions: Vec<f32>,
    /// By subsystem, 0 to 1.
    pub weights: BTreeMap<String, f32>,
    /// Number of the expression.
    pub expression: u32,
    /// Number of what it looks at.
    pub look_at: u32,
    /// A second.
    pub blinks: f32,
    /// 0 to 1.
    pub volume: f32,
    /// 0.5 to 2.
    pub pitch: f32,
    /// Whether it has something to say.
    pub speaking: bool,
    /// How many gestures play.
    pub gestures: usize,
    /// In the picture.
    pub faces: Vec<FaceBox>,
    /// Names of faces that are known.
    pub known: Vec<String>,
    /// Whether only one operator may move it.
    pub one_at_a_time: bool,
    /// Which client does.
    pub in_control: Option<u64>,
    /// How many look on.
    pub operators: usize,
}

/// A face in the picture; lengths are parts of the picture's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaceBox {
    /// As long as it is in view.
    pub id: u64,
    /// Empty if it is not known.
    pub name: String,
    /// 0 to 1.
    pub confidence: f32,
    /// Of its left edge.
    pub x: f32,
    /// Of its upper edge.
    pub y: f32,
    /// Of its box.
    pub width: f32,
    /// Of its box.
    pub height: f32,
}

/// Something that happened to the puppet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PuppetEvent {
    /// Counts them.
    pub number: u64,
    /// Since the puppet began, in s.
    pub time: f64,
    /// What.
    #[serde(flatten)]
    pub what: PuppetEventKind,
}

/// What happened to the puppet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum PuppetEventKind {
    /// A text begins to be said.
    SpeakBegun {
        /// Which.
        speech: u64,
    },
    /// A text has been said, or was cut short.
    SpeakDone {
        /// Which.
        speech: u64,
    },
    /// A gesture in a text begins.
    SpeakGesture {
        /// Which.
        gesture: u32,
    },
    /// A gesture is over.
    GestureDone {
        /// Which.
        gesture: u32,
    },
    /// Somebody said something.
    Utterance {
        /// What it may have been, the most likely first.
        options: Vec<Hypothesis>,
    },
}

/// What somebody may have said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hypothesis {
    /// The words.
    pub text: String,
    /// 0 to 1.
    pub confidence: f32,
}
