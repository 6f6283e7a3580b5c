//! Body files: a robot's shape, sensors, net, trials and fitness, in TOML.
//!
//! Lengths are in mm and angles in degrees. The body's frame is that of the protocol: (0, 0) is the centre of gravity, +y is
//! forward, +x is right, and z counts from the ground. All defaults are defined here. Unknown keys are rejected with the
//! nearest valid name.

mod check;

use serde::{Deserialize, Serialize};
use support::suggest;

use super::{
    net::{ParameterKind, Transfer},
    script::ScriptError,
};
use crate::ParametersError;

/// Maximum size of a body or fitness file, in bytes.
pub const MAX_FILE: usize = 1 << 20;
/// Maximum number of sensors.
pub const MAX_SENSORS: usize = 64;
/// Maximum number of groups of a sensor.
pub const MAX_GROUPS: usize = 16;
/// Maximum number of points of a body.
pub const MAX_POINTS: usize = arena::body::MAX_BODY_POINTS;
/// Maximum number of steps of a trial.
pub const MAX_STEPS: u32 = 1_000_000;
/// Maximum number of trials of an evaluation.
pub const MAX_TRIALS: u32 = 1000;
/// Maximum number of concurrent evaluations.
pub const MAX_CONCURRENT: usize = 1024;

/// A body file.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BodyFile {
    /// A one-line description.
    pub title: String,
    /// From bottom to top.
    #[serde(rename = "layer")]
    pub layers: Vec<LayerFile>,
    /// In the order of their input neurons.
    #[serde(rename = "sensor", default)]
    pub sensors: Vec<SensorFile>,
    /// Additional input neurons, after those of the sensors.
    #[serde(default)]
    pub inputs: Vec<InternalInput>,
    /// The first two output neurons.
    pub wheels: WheelsFile,
    /// A rotating head, controlled by the third output neuron.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<HeadFile>,
    /// The permitted nets.
    #[serde(default)]
    pub net: NetFile,
    /// The trials of an evaluation.
    #[serde(default)]
    pub trial: TrialFile,
    /// The fitness script.
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

/// A sensor, which drives one input neuron.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SensorFile {
    /// A unique name for the fitness script.
    pub name: String,
    /// Groups of sensors; the fitness script can read `<group>_max`, `_min` and `_mean`. The built-in scripts use the
    /// groups `obstacle`, `light` and `line`.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Visual or sonic.
    pub kind: SensorKind,
    /// What it is mounted on.
    #[serde(default)]
    pub mount: Mount,
    /// x, y and z, in mm, in the frame of its mount.
    pub at: [f64; 3],
    /// Direction, in degrees, counter-clockwise from straight ahead, or from the world's +x if mounted in the world.
    #[serde(default)]
    pub direction: f64,
    /// Tilt, in degrees, -90 to 90; positive is up.
    #[serde(default)]
    pub tilt: f64,
    /// Horizontal and vertical opening angle, in degrees, 0 to 90.
    #[serde(default)]
    pub opening: [f64; 2],
    /// Range, in mm.
    pub range: f64,
    /// What its activity encodes.
    #[serde(default)]
    pub reading: Reading,
    /// Standard deviation of the noise on its activity.
    #[serde(default)]
    pub noise: f64,
}

/// The kind of a sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SensorKind {
    /// The message `VisualSensor`.
    Visual,
    /// The message `SonicSensor`.
    Sonic,
}

/// What a sensor is mounted on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mount {
    /// The body: the sensor moves and tilts with it.
    #[default]
    Body,
    /// The head: the sensor also rotates with it.
    Head,
    /// The world: the sensor is stationary.
    World,
}

/// What the activity of a sensor encodes, 0 to 1. Beyond the sensor's range, colours are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// 1 at distance 0, 0 at the range and beyond.
    #[default]
    Near,
    /// 0 at distance 0, 1 at the range and beyond.
    Distance,
    /// The red channel.
    Red,
    /// The green channel.
    Green,
    /// The blue channel.
    Blue,
    /// The mean of the three channels.
    Brightness,
    /// Similarity to this colour: 1 if equal, 0 if as different as black and white.
    Match([u8; 3]),
    /// As `near`, but 0 unless what is seen has this colour.
    NearColor([u8; 3]),
}

/// An input other than a sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InternalInput {
    /// Always 1.
    Constant,
    /// 1 if the last move was blocked, at least partly, otherwise 0.
    Bumper,
    /// The blocked fraction of the last move, 0 to 1.
    Stress,
    /// 1 on deathly ground, otherwise 0.
    Death,
    /// Pitch; 1 is 90 degrees uphill.
    TiltS,
    /// Roll; 1 is the left side up by 90 degrees.
    TiltC,
    /// Cosine of the direction of travel.
    CompassX,
    /// Sine of the direction of travel.
    CompassY,
    /// Speed of the left wheel in the last step, -1 to 1.
    OdometryLeft,
    /// Speed of the right wheel in the last step, -1 to 1.
    OdometryRight,
    /// Angle of the head; -1 and 1 are its limits.
    Head,
}

/// The two wheels.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WheelsFile {
    /// Distance between the wheels, in mm.
    pub axle: f64,
    /// Offset of the axle ahead of the body's point (0, 0), in mm.
    #[serde(default)]
    pub ahead: f64,
    /// Speed of a wheel at maximum output, in mm/s.
    pub max_speed: f64,
    /// Whether minimum output means full reverse; otherwise it means stop.
    #[serde(default = "yes")]
    pub reverse: bool,
    /// Standard deviation of the noise on a wheel's speed, as a fraction of it.
    #[serde(default)]
    pub noise: f64,
}

/// A rotating head.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HeadFile {
    /// Its axis: x and y in the body's frame, in mm.
    #[serde(default)]
    pub pivot: [f64; 2],
    /// Rightmost and leftmost angle, in degrees: at minimum and maximum output.
    pub limits: [f64; 2],
    /// Maximum speed, in degrees/s.
    pub max_speed: f64,
    /// Layers that rotate with it, numbered from 1 at the bottom.
    #[serde(default)]
    pub layers: Vec<usize>,
    /// The rotation after which a new shape is sent to the world, in degrees.
    #[serde(default = "ten")]
    pub shape_every: f64,
}

/// The permitted nets: the message `NetParameters` without the counts that follow from the body.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct NetFile {
    /// The transfer function.
    pub transfer: Transfer,
    /// Minimum and maximum number of hidden neurons.
    pub hidden: [usize; 2],
    /// Whether input neurons connect to output neurons (Fio).
    pub input_to_output: bool,
    /// Whether there are recurrent weights (Fre).
    pub recurrent: bool,
    /// Maximum number of concurrent evaluations (Cci).
    pub concurrent: usize,
    /// Global parameters: `gain` or `speed`.
    pub global_values: ValuesFile,
    /// Values of each input neuron: `bias` or `gain`.
    pub input_values: ValuesFile,
    /// Values of each output neuron: `bias`, `gain` or `tau`.
    pub output_values: ValuesFile,
    /// Values of each hidden neuron: `bias`, `gain` or `tau`.
    pub hidden_values: ValuesFile,
    /// Values of each weight: `weight`, optionally followed by `gate`.
    pub weight_values: ValuesFile,
}

impl Default for NetFile {
    fn default() -> Self {
        let weight = ValueFile { means: ParameterKind::Weight, between: None };
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

/// Values encoded in the genes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ValuesFile {
    /// Lowest and highest gene.
    pub limits: [f64; 2],
    /// The values, in order.
    pub values: Vec<ValueFile>,
}

/// A value encoded in the genes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ValueFile {
    /// Its meaning.
    pub means: ParameterKind,
    /// The values of the lowest and highest gene; by default, the gene's limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<[f64; 2]>,
}

/// The trials of an evaluation.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrialFile {
    /// Number of steps of a trial.
    pub steps: u32,
    /// Duration of a step, in s.
    pub dt: f64,
    /// Number of trials; the fitness is their mean.
    pub trials: u32,
    /// Where trials start.
    pub start: StartPoses,
    /// Seed of all random numbers in the trials.
    pub seed: u64,
    /// Whether the trials differ between generations; otherwise all individuals have the same trials.
    pub fresh_each_generation: bool,
    /// Factor on all noise; 0 disables noise.
    pub noise: f64,
    /// Whether a trial ends on deathly ground.
    pub end_on_death: bool,
    /// Number of steps on one spot after which a trial ends; 0 for never.
    pub stuck_after: u32,
    /// Radius of such a spot, in mm.
    pub stuck_within: f64,
}

impl Default for TrialFile {
    fn default() -> Self {
        Self {
            steps: 400,
            dt: 0.1,
            trials: 3,
            start: StartPoses::Random,
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
pub enum StartPoses {
    /// Anywhere in the arena.
    Random,
    /// Where the world places a new robot: in the start zone of its kind. Each trial has a new robot.
    Placed,
    /// Anywhere in a rectangle, in any direction: minimum x and y, maximum x and y, in mm.
    Zone([f64; 4]),
    /// One pose per trial, in turn: x and y, in mm, and direction of travel, in degrees.
    Poses(Vec<[f64; 3]>),
}

/// The fitness script: a built-in one by name, or the body's own.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FitnessChoice {
    /// Name of a built-in script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// The body's own script, if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<FitnessFile>,
    /// The fitness of a trial whose result is not finite, or without a free start pose.
    #[serde(default = "worst")]
    pub worst: f64,
    /// Behaviour expressions, evaluated at the end of a trial; the result is the mean over the trials. If not empty, they
    /// replace those of the script.
    #[serde(default)]
    pub behaviour: Vec<String>,
}

/// A fitness file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FitnessFile {
    /// A one-line description.
    #[serde(default)]
    pub title: String,
    /// What a robot does, in words that follow "the best robot". Expressions in braces are evaluated at the end of each
    /// trial and averaged, as in `drives {way / 1000} m`.
    #[serde(default)]
    pub summary: String,
    /// Whether standing still is acceptable; if so, `stuck_after` does not apply.
    #[serde(default)]
    pub may_stand: bool,
    /// Runs at the start of a trial.
    #[serde(default)]
    pub start: String,
    /// Runs after each step.
    #[serde(default)]
    pub each_step: String,
    /// Runs at the end of a trial; must set `fitness`.
    pub at_end: String,
    /// Behaviour expressions, evaluated at the end of a trial.
    #[serde(default)]
    pub behaviour: Vec<String>,
}

/// Why a body or fitness file is rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BodyFileError {
    /// Not TOML, or not the format of the file.
    #[error("{text}")]
    Toml {
        /// The parser's message.
        text: String,
    },
    /// The file is too large.
    #[error("the file has {size} bytes; at most {MAX_FILE} are allowed")]
    TooLarge {
        /// Its size, in bytes.
        size: usize,
    },
    /// An invalid value.
    #[error("{key}: {problem}")]
    Value {
        /// The key.
        key: String,
        /// What is wrong, and what is valid.
        problem: String,
    },
    /// An invalid net.
    #[error(transparent)]
    Net(#[from] ParametersError),
    /// The fitness script does not compile.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// An unknown name.
    #[error("{}", suggest::unknown(.what, .name, .known))]
    Unknown {
        /// `body` or `fitness script`.
        what: &'static str,
        /// The unknown name.
        name: String,
        /// The valid names.
        known: Vec<String>,
    },
}

impl BodyFile {
    /// Parses and validates a body file.
    ///
    /// # Errors
    ///
    /// Invalid TOML, an unknown key, or an invalid value.
    pub fn parse(text: &str) -> Result<Self, BodyFileError> {
        let file: Self = read(text)?;
        file.check()?;
        Ok(file)
    }

    /// Validates the values, as [`parse`](Self::parse) does. [`Design::new`](super::Design::new) validates the shape and the
    /// scripts.
    ///
    /// # Errors
    ///
    /// The first invalid value.
    pub fn check(&self) -> Result<(), BodyFileError> {
        check::check(self)
    }
}

impl FitnessFile {
    /// Parses a fitness file. Its scripts are compiled by [`Design::new`](super::Design::new), as they depend on the body.
    ///
    /// # Errors
    ///
    /// Invalid TOML or an unknown key.
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
