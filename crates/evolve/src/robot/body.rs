//! Body files: what a robot is made of, how it is tested and what counts, in TOML.
//!
//! Lengths are in mm and angles in degrees. The body's frame is that of the protocol: (0, 0) is the centre of gravity, +y
//! is ahead, +x to the right, and z starts at the ground. Defaults are here and nowhere else; unknown keys are refused, with
//! the nearest known name.

mod check;

use serde::{Deserialize, Serialize};
use support::suggest;

use super::{
    net::{Meaning, Transfer},
    script::ScriptError,
};
use crate::ParametersError;

/// The largest body or fitness file, in bytes.
pub const MAX_FILE: usize = 1 << 20;
/// Most sensors.
pub const MAX_SENSORS: usize = 64;
/// Most groups of a sensor.
pub const MAX_GROUPS: usize = 16;
/// Most points of a body.
pub const MAX_POINTS: usize = 4096;
/// Most steps of a trial.
pub const MAX_STEPS: u32 = 1_000_000;
/// Most trials of an individual.
pub const MAX_TRIALS: u32 = 1000;
/// Most individuals at a time.
pub const MAX_CONCURRENT: usize = 1024;

/// A body file.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BodyFile {
    /// One line that says what it is.
    pub title: String,
    /// From the bottom to the top.
    #[serde(rename = "layer")]
    pub layers: Vec<LayerFile>,
    /// In the order of their input neurons.
    #[serde(rename = "sensor", default)]
    pub sensors: Vec<SensorFile>,
    /// What else there is an input neuron for, after those of the sensors.
    #[serde(default)]
    pub inputs: Vec<Feeling>,
    /// The first two output neurons.
    pub wheels: WheelsFile,
    /// A head that turns: the third output neuron.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<HeadFile>,
    /// What nets there may be.
    #[serde(default)]
    pub net: NetFile,
    /// How an individual is tested.
    #[serde(default)]
    pub trial: TrialFile,
    /// What counts.
    pub fitness: FitnessChoice,
}

/// A layer of the body, as in the message `BodyShape`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LayerFile {
    /// Thickness, in mm.
    pub height: f64,
    /// Closed polygons, in mm.
    pub polygons: Vec<Vec<[f64; 2]>>,
}

/// A sensor, which is one input neuron.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SensorFile {
    /// A word of its own, for the fitness script.
    pub name: String,
    /// Words that several sensors may share: the script then knows `<group>_max`, `_min` and `_mean`. The ready-made ones
    /// look for `obstacle`, `light` and `line`.
    #[serde(default)]
    pub groups: Vec<String>,
    /// How it senses.
    pub kind: SensorKind,
    /// What carries it.
    #[serde(default)]
    pub mount: Mount,
    /// x, y and z, in mm: in the body's frame, or in the world if that carries it.
    pub at: [f64; 3],
    /// Where it looks, in degrees, counter-clockwise from straight ahead; from the world's +x if the world carries it.
    #[serde(default)]
    pub direction: f64,
    /// In degrees, -90 to 90; positive is up.
    #[serde(default)]
    pub tilt: f64,
    /// Horizontal and vertical opening angle, in degrees, 0 to 90.
    #[serde(default)]
    pub opening: [f64; 2],
    /// How far it senses, in mm.
    pub range: f64,
    /// What its activity says.
    #[serde(default)]
    pub reading: Reading,
    /// Standard deviation of the noise on its activity.
    #[serde(default)]
    pub noise: f64,
}

/// How a sensor senses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SensorKind {
    /// By light: `VisualSensor`.
    Visual,
    /// By sound: `SonicSensor`.
    Sonic,
}

/// What carries a sensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mount {
    /// The body: the sensor moves and tilts with it.
    #[default]
    Body,
    /// The head: it turns with the head as well.
    Head,
    /// The world: it stays where it is.
    World,
}

/// What the activity of a sensor says, 0 to 1. Colours count only within the sensor's range and are 0 beyond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// 1 at a distance of 0, 0 from the range on.
    #[default]
    Near,
    /// 0 at a distance of 0, 1 from the range on.
    Distance,
    /// How red it is.
    Red,
    /// How green it is.
    Green,
    /// How blue it is.
    Blue,
    /// How bright it is: the mean of the three.
    Brightness,
    /// How like this colour it is: 1 for the same, 0 for black instead of white.
    Match([u8; 3]),
}

/// Something besides the sensors that an input neuron may be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Feeling {
    /// Always 1.
    Constant,
    /// 1 if the last move was blocked in part, otherwise 0.
    Bumper,
    /// The blocked part of the last move, 0 to 1.
    Stress,
    /// 1 on deathly ground, otherwise 0.
    Death,
    /// Tilt straightforward; 1 is uphill by 90 degrees.
    TiltS,
    /// Tilt across; 1 is the left side up by 90 degrees.
    TiltC,
    /// Cosine of the direction of travel.
    CompassX,
    /// Sine of the direction of travel.
    CompassY,
    /// How fast the left wheel ran in the last step, -1 to 1.
    OdometryLeft,
    /// How fast the right wheel ran in the last step, -1 to 1.
    OdometryRight,
    /// Where the head points: -1 and 1 are its limits.
    Head,
}

/// The two wheels.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WheelsFile {
    /// Distance between the wheels, in mm.
    pub axle: f64,
    /// How far ahead of the body's point (0, 0) the axle is, in mm.
    #[serde(default)]
    pub ahead: f64,
    /// Speed of a wheel at the highest output, in mm/s.
    pub max_speed: f64,
    /// Whether the lowest output means full speed back; otherwise it means to stand.
    #[serde(default = "yes")]
    pub reverse: bool,
    /// Standard deviation of the noise on a wheel's way, as a part of it.
    #[serde(default)]
    pub noise: f64,
}

/// A head that turns.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HeadFile {
    /// Its axis: x and y in the body's frame, in mm.
    #[serde(default)]
    pub pivot: [f64; 2],
    /// How far it turns to the right and to the left, in degrees: the lowest output and the highest.
    pub limits: [f64; 2],
    /// How fast it turns, in degrees/s.
    pub max_speed: f64,
    /// Which layers turn with it, counted from 1 at the bottom.
    #[serde(default)]
    pub layers: Vec<usize>,
    /// The world is told a new shape when the head has turned by this many degrees.
    #[serde(default = "ten")]
    pub shape_every: f64,
}

/// What nets there may be: the message `NetParameters`, but for the counts that the body gives.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct NetFile {
    /// The transfer function.
    pub transfer: Transfer,
    /// Least and greatest count of hidden neurons.
    pub hidden: [usize; 2],
    /// Whether there are weights from input to output neurons (Fio).
    pub input_to_output: bool,
    /// Whether there are recurrent weights (Fre).
    pub recurrent: bool,
    /// Greatest count of individuals at once (Cci).
    pub concurrent: usize,
    /// Global parameters: `gain` or `speed`.
    pub global_values: ValuesFile,
    /// Of each input neuron: `bias` or `gain`.
    pub input_values: ValuesFile,
    /// Of each output neuron: `bias`, `gain` or `tau`.
    pub output_values: ValuesFile,
    /// Of each hidden neuron: `bias`, `gain` or `tau`.
    pub hidden_values: ValuesFile,
    /// Of each weight: `weight`, then `gate` if wanted.
    pub weight_values: ValuesFile,
}

impl Default for NetFile {
    fn default() -> Self {
        let weight = ValueFile { means: Meaning::Weight, between: None };
        Self {
            transfer: Transfer::default(),
            hidden: [0, 0],
            input_to_output: true,
            recurrent: true,
            concurrent: 32,
            global_values: ValuesFile::default(),
            input_values: ValuesFile::default(),
            output_values: ValuesFile::default(),
            hidden_values: ValuesFile::default(),
            weight_values: ValuesFile { limits: [-5.0, 5.0], values: vec![weight] },
        }
    }
}

/// Values among the genes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ValuesFile {
    /// Lowest and highest gene.
    pub limits: [f64; 2],
    /// What each means.
    pub values: Vec<ValueFile>,
}

/// A value among the genes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ValueFile {
    /// What it means.
    pub means: Meaning,
    /// What the lowest and the highest gene stand for; they themselves if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<[f64; 2]>,
}

/// How an individual is tested.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrialFile {
    /// Steps of a trial.
    pub steps: u32,
    /// Time of a step, in s.
    pub dt: f64,
    /// Trials of an individual; the mean of their fitness is sent.
    pub trials: u32,
    /// Where trials start.
    pub start: Start,
    /// Chance in all trials follows from this.
    pub seed: u64,
    /// Whether each generation has trials of its own; otherwise all individuals ever have the same.
    pub fresh_each_generation: bool,
    /// A factor on all noise; 0 for none.
    pub noise: f64,
    /// Whether a trial ends on deathly ground.
    pub end_on_death: bool,
    /// A trial ends early after so many steps on one spot; 0 for never.
    pub stuck_after: u32,
    /// How large such a spot is: so far from its middle, in mm.
    pub stuck_within: f64,
}

impl Default for TrialFile {
    fn default() -> Self {
        Self {
            steps: 400,
            dt: 0.1,
            trials: 3,
            start: Start::Random,
            seed: 1,
            fresh_each_generation: false,
            noise: 1.0,
            end_on_death: true,
            stuck_after: 0,
            stuck_within: 5.0,
        }
    }
}

/// Where trials start.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Anywhere in the arena.
    Random,
    /// Anywhere in a rectangle, in any direction: least x and y, greatest x and y, in mm.
    Zone([f64; 4]),
    /// The first trial at the first of these, and so on in turns: x and y, in mm, and direction of travel, in degrees.
    Poses(Vec<[f64; 3]>),
}

/// What counts: a ready-made script by its name, or one of the body's own.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FitnessChoice {
    /// Name of a ready-made script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// The body's own, if no script is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<FitnessFile>,
    /// What is sent when nothing finite comes out, or no start is free.
    #[serde(default = "worst")]
    pub worst: f64,
    /// Expressions at the end of a trial that say how the robot behaved; the mean over the trials is given. In place of
    /// those of the script, if there are any.
    #[serde(default)]
    pub behaviour: Vec<String>,
}

/// A fitness script in its file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FitnessFile {
    /// One line that says what counts.
    #[serde(default)]
    pub title: String,
    /// Whether to stand still may be just right; then no trial ends early because of it.
    #[serde(default)]
    pub may_stand: bool,
    /// Run when a trial starts.
    #[serde(default)]
    pub start: String,
    /// Run after each step.
    #[serde(default)]
    pub each_step: String,
    /// Run at the end of a trial; must set `fitness`.
    pub at_end: String,
    /// Expressions at the end of a trial that say how the robot behaved.
    #[serde(default)]
    pub behaviour: Vec<String>,
}

/// Why a body or fitness file cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BodyFileError {
    /// Not TOML, or not of this kind.
    #[error("{text}")]
    Toml {
        /// What the parser says.
        text: String,
    },
    /// A file that is too large.
    #[error("the file has {size} bytes; at most {MAX_FILE} are read")]
    TooLarge {
        /// Its size, in bytes.
        size: usize,
    },
    /// A value that cannot be used.
    #[error("{place}: {problem}")]
    Value {
        /// Where it is.
        place: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// No run can be started with such a net.
    #[error(transparent)]
    Net(#[from] ParametersError),
    /// The fitness script does not say anything.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// Nothing has this name.
    #[error("{}", suggest::unknown(.what, .name, .known))]
    Unknown {
        /// Body or fitness script.
        what: &'static str,
        /// The name that was asked for.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
}

impl BodyFile {
    /// Reads a body file and checks its values.
    pub fn parse(text: &str) -> Result<Self, BodyFileError> {
        let file: Self = read(text)?;
        file.check()?;
        Ok(file)
    }

    /// Checks the values, as [`parse`](Self::parse) does. The shape and the scripts are checked by
    /// [`Design::new`](super::Design::new).
    pub fn check(&self) -> Result<(), BodyFileError> {
        check::check(self)
    }
}

impl FitnessFile {
    /// Reads a fitness file. What its scripts say is checked where they meet a body.
    pub fn parse(text: &str) -> Result<Self, BodyFileError> {
        read(text)
    }
}

fn read<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, BodyFileError> {
    if text.len() > MAX_FILE {
        return Err(BodyFileError::TooLarge { size: text.len() });
    }
    toml::from_str(text).map_err(|error| BodyFileError::Toml { text: suggest::toml_message(&error) })
}

fn yes() -> bool {
    true
}

fn ten() -> f64 {
    10.0
}

fn worst() -> f64 {
    -1e6
}

#[cfg(test)]
mod tests;
