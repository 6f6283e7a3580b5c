//! The messages of a recording.

use std::path::PathBuf;

use physics::{Limits, ModelError, Pose, Source};
use serde::{Deserialize, Serialize};

use super::replay::ReplayError;
use crate::{
    agent::{Action, AgentId},
    event::Watch,
    setup::{Randomise, Robot, Setup},
    value::Value,
    world::SaveId,
};

pub(super) const SETUP_TOPIC: &str = "/rossum/setup";
pub(super) const TICK_TOPIC: &str = "/rossum/tick";
pub(super) const FORMAT_VERSION: u32 = 2;
/// Most ticks between two records: more than a day of 10 ms ticks without input.
pub(super) const MAX_GAP: u64 = 10_000_000;

/// An input of a world from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    /// A controller moved motors.
    Act {
        /// The agent.
        agent: AgentId,
        /// The commands to its motors.
        actions: Vec<Action>,
    },
    /// A variable was written.
    Write {
        /// Full name of the variable.
        variable: String,
        /// The new value.
        value: Value,
    },
    /// A new try began.
    Reset {
        /// Seed of the try.
        seed: u64,
    },
    /// A robot joined.
    Join(RecordedRobot),
    /// A robot left.
    Leave {
        /// Its agent.
        agent: AgentId,
    },
    /// A director admitted a robot.
    Admit {
        /// Name of the director.
        to: String,
        /// JSON of its [`Director::JoinRequest`](crate::director::Director::JoinRequest).
        request: String,
    },
    /// A robot that a director may have admitted failed to join.
    TurnedAway {
        /// Name of its agent.
        name: String,
    },
    /// A director carried out an order.
    Order {
        /// Name of the director.
        to: String,
        /// JSON of its [`Director::Order`](crate::director::Director::Order).
        order: String,
    },
    /// The state was saved.
    Save {
        /// Identifies the saved state.
        save: SaveId,
    },
    /// The world returned to a saved state.
    Restore {
        /// The saved state.
        save: SaveId,
    },
    /// A saved state was discarded.
    Discard {
        /// The saved state.
        save: SaveId,
    },
    /// An object was resized.
    Resize {
        /// Name of the geom in the model.
        geom: String,
        /// MuJoCo's size of the geom.
        size: [f64; 3],
    },
}

/// One tick of a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TickRecord {
    /// The tick that follows the entries.
    pub tick: u64,
    /// Inputs before the tick, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<Entry>,
    /// Hash of the state after the tick, if it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<u64>,
}

/// A model: its text, or its path if it refers to other files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RecordedSource {
    /// A self-contained model.
    Text {
        /// Name of the model.
        name: String,
        /// MJCF or URDF.
        text: String,
    },
    /// A model that refers to other files.
    File {
        /// Absolute path.
        path: PathBuf,
    },
}

impl From<&Source> for RecordedSource {
    fn from(source: &Source) -> Self {
        let (name, text) = (source.name(), source.text());
        match source.path() {
            Some(path) if Source::from_text(name, text, &Limits::default()).is_err() => {
                Self::File { path: path.to_owned() }
            }
            // self-contained, and so can be the recording
            _ => Self::Text { name: name.to_owned(), text: text.to_owned() },
        }
    }
}

impl RecordedSource {
    fn restore(&self) -> Result<Source, ModelError> {
        match self {
            Self::Text { name, text } => Source::from_text(name, text, &Limits::default()),
            Self::File { path } => Source::from_file(path, &Limits::default()),
        }
    }
}

/// A robot and its start pose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedRobot {
    name: String,
    source: RecordedSource,
    pos: [f64; 3],
    quat: [f64; 4],
}

impl From<&Robot> for RecordedRobot {
    fn from(robot: &Robot) -> Self {
        let Pose { pos, quat } = robot.pose;
        Self { name: robot.name.clone(), source: (&robot.source).into(), pos, quat }
    }
}

impl RecordedRobot {
    pub(crate) fn restore(&self) -> Result<Robot, ReplayError> {
        let pose = Pose { pos: self.pos, quat: self.quat };
        Ok(Robot { name: self.name.clone(), source: self.source.restore()?, pose })
    }
}

/// The first message of a recording.
#[derive(Serialize, Deserialize)]
pub(super) struct RecordedSetup {
    pub(super) format: u32,
    /// Version of MuJoCo: hashes are comparable only within one.
    pub(super) mujoco: String,
    pub(super) model_hash: u64,
    base: RecordedSource,
    robots: Vec<RecordedRobot>,
    timestep: Option<f64>,
    steps_per_tick: u32,
    seed: u64,
    settings: Vec<(String, String)>,
    randomise: Vec<[String; 3]>,
    watches: Vec<Watch>,
    #[serde(default)]
    directors: Vec<String>,
}

impl RecordedSetup {
    pub(super) fn new(setup: &Setup, model_hash: u64) -> Self {
        Self {
            format: FORMAT_VERSION,
            mujoco: physics::mujoco_version().to_string(),
            model_hash,
            base: (&setup.base).into(),
            robots: setup.robots.iter().map(Into::into).collect(),
            timestep: setup.timestep,
            steps_per_tick: setup.steps_per_tick,
            seed: setup.seed,
            settings: setup.settings.clone(),
            randomise: setup.randomise.iter().map(|r| [r.variable.clone(), r.min.clone(), r.max.clone()]).collect(),
            watches: setup.watches.clone(),
            directors: setup.directors.clone(),
        }
    }

    pub(super) fn restore(self) -> Result<Setup, ReplayError> {
        Ok(Setup {
            base: self.base.restore()?,
            robots: self.robots.iter().map(RecordedRobot::restore).collect::<Result<_, _>>()?,
            timestep: self.timestep,
            steps_per_tick: self.steps_per_tick,
            seed: self.seed,
            settings: self.settings,
            randomise: self
                .randomise
                .into_iter()
                .map(|[variable, min, max]| Randomise { variable, min, max })
                .collect(),
            watches: self.watches,
            directors: self.directors,
        })
    }
}
