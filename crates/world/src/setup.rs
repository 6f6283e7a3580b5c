//! Description of a world before it is built.

use std::collections::BTreeSet;

use physics::{Pose, Source};

use crate::{event::Watch, value::Value};

/// Longest name of an agent, in bytes.
pub const MAX_AGENT_NAME: usize = 64;
/// Agents in one world.
pub const MAX_AGENTS: usize = 256;

/// Description of a world.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Field or arena: everything but the robots. Its solver options apply.
    pub base: Source,
    /// Robots at the start.
    pub robots: Vec<Robot>,
    /// Physics step, in s; that of the base if `None`.
    pub timestep: Option<f64>,
    /// Number of physics steps per tick.
    pub steps_per_tick: u32,
    /// Seed of the first try.
    pub seed: u64,
    /// Variables written once the world is built: name and value as text.
    pub settings: Vec<(String, String)>,
    /// Variables drawn at each reset, in this order.
    pub randomise: Vec<Randomise>,
    /// Conditions that raise events.
    pub watches: Vec<Watch>,
    /// Descriptions of the directors, from which a replay creates them.
    pub directors: Vec<String>,
}

impl Setup {
    /// A world without robots, with one physics step per tick and seed 1.
    pub fn new(base: Source) -> Self {
        Self {
            base,
            robots: Vec::new(),
            timestep: None,
            steps_per_tick: 1,
            seed: 1,
            settings: Vec::new(),
            randomise: Vec::new(),
            watches: Vec::new(),
            directors: Vec::new(),
        }
    }
}

/// A robot and its start pose.
#[derive(Clone, Debug)]
pub struct Robot {
    /// Name of the agent, unique in the world.
    pub name: String,
    /// Its model.
    pub source: Source,
    /// Pose of the model's origin in the world frame.
    pub pose: Pose,
}

/// A variable drawn uniformly between two values at each reset.
#[derive(Clone, Debug, PartialEq)]
pub struct Randomise {
    /// Full name.
    pub variable: String,
    /// Smallest value, as text of the variable's kind.
    pub min: String,
    /// Largest value.
    pub max: String,
}

/// Draws each number of a value uniformly between those of `min` and `max`, from a stream of numbers in `0..1`.
/// `None` for kinds that cannot be drawn.
pub(crate) fn draw(min: &Value, max: &Value, mut unit: impl FnMut() -> f64) -> Option<Value> {
    let mut between = |min: f64, max: f64| min + unit() * (max - min);
    Some(match (min, max) {
        (Value::Double(a), Value::Double(b)) => Value::Double(between(*a, *b)),
        (Value::NormalizedDouble(a), Value::NormalizedDouble(b)) => Value::NormalizedDouble(between(*a, *b)),
        (Value::Integer(a), Value::Integer(b)) => Value::Integer(between(*a as f64, *b as f64 + 1.0).floor() as i64),
        (Value::Point3D(a), Value::Point3D(b)) => {
            Value::Point3D([between(a[0], b[0]), between(a[1], b[1]), between(a[2], b[2])])
        }
        _ => return None,
    })
}

/// Why an agent cannot have a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Another agent has the name.
    #[error("an agent named `{name}` already exists")]
    Taken {
        /// The name.
        name: String,
    },
    /// The name cannot be part of a path.
    #[error(
        "invalid agent name `{name}`; use 1 to {MAX_AGENT_NAME} letters, digits, spaces or any of . _ - # + and begin with \
         a letter or a digit"
    )]
    Malformed {
        /// The first characters of the name.
        name: String,
    },
}

/// Checks that a new agent may have this name.
pub(crate) fn check_name(name: &str, taken: &BTreeSet<&str>) -> Result<(), NameError> {
    let allowed = |c: char| c.is_alphanumeric() || " ._-#+".contains(c);
    if name.len() > MAX_AGENT_NAME
        || !name.chars().next().is_some_and(char::is_alphanumeric)
        || !name.chars().all(allowed)
        || name == "World"
    {
        return Err(NameError::Malformed { name: name.chars().take(MAX_AGENT_NAME).collect() });
    }
    if taken.contains(name) {
        return Err(NameError::Taken { name: name.to_owned() });
    }
    Ok(())
}
