//! Tasks.
//!
//! Each module describes one task in a paragraph: the robot and its surroundings, observation, action, reward, and what ends
//! an episode. All rewards are per step, and a step is one tick of the world.

mod aseries_walk;
mod floor;
mod legs;
mod mjcf;
mod rover;
mod rover_avoid;
mod rover_light;
mod t1;
mod t1_dribble;
mod t1_kick;
mod t1_stand;
mod t1_walk;

use std::path::Path;

use library::ModelKind;
use physics::{Fault, Pose, Source};
use world::{Robot, Setup, World, snapshot::AgentCard};

pub(crate) use self::legs::{root, slice};
pub use self::mjcf::{Mjcf, Part};
use crate::{error::EnvError, random::Random, spaces::Spaces};

/// What a robot is to learn, in one world.
///
/// A step calls [`act`](Self::act), lets the world take a tick, and calls [`judge`](Self::judge). [`observe`](Self::observe) is
/// called right after a reset or a step. In between, other environments may take turns in the same world: a task changes the
/// state of its world and commands motors, and no parameters of the model.
pub trait Task: Send {
    /// Sizes and bounds of observations and actions; they never change.
    fn spaces(&self) -> &Spaces;

    /// Begins an episode in a world that has just been reset with the episode's seed. What else is random comes from
    /// `random`, also during the episode.
    ///
    /// # Errors
    /// If the engine cannot evaluate the start state.
    fn reset(&mut self, world: &mut World, random: Random) -> Result<(), Fault>;

    /// Carries out an action: numbers from -1 to 1.
    fn act(&mut self, world: &mut World, action: &[f32]);

    /// Judges the tick that has passed.
    fn judge(&mut self, world: &mut World) -> Verdict;

    /// Writes the observation, as many numbers as the space has; the caller clamps them to its bounds.
    fn observe(&self, world: &World, out: &mut [f64]);
}

/// What a task says about one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The reward.
    pub reward: f64,
    /// Whether the episode is over.
    pub terminated: bool,
}

/// All tasks.
#[derive(Clone, Debug)]
pub enum TaskKind {
    /// A rover drives fast without touching anything.
    RoverAvoid,
    /// A rover finds a lamp.
    RoverLight,
    /// A small servo humanoid walks ahead.
    ASeriesWalk,
    /// A humanoid keeps standing when it is pushed.
    T1Stand,
    /// A humanoid walks at a commanded velocity.
    T1Walk,
    /// A humanoid kicks a ball in a given direction.
    T1Kick,
    /// A humanoid dribbles a ball in a given direction.
    T1Dribble,
    /// Any model; whoever uses the environment computes the reward.
    Mjcf(Box<Mjcf>),
}

impl TaskKind {
    /// The tasks that need no model of the user.
    pub const NAMED: [Self; 7] = [
        Self::RoverAvoid,
        Self::RoverLight,
        Self::ASeriesWalk,
        Self::T1Stand,
        Self::T1Walk,
        Self::T1Kick,
        Self::T1Dribble,
    ];

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RoverAvoid => "RoverAvoid",
            Self::RoverLight => "RoverLight",
            Self::ASeriesWalk => "ASeriesWalk",
            Self::T1Stand => "T1Stand",
            Self::T1Walk => "T1Walk",
            Self::T1Kick => "T1Kick",
            Self::T1Dribble => "T1Dribble",
            Self::Mjcf(_) => "Mjcf",
        }
    }

    /// The task of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|kind| kind.name() == name)
    }

    /// Suggested length of an episode, in steps.
    pub fn max_steps(&self) -> u32 {
        match self {
            Self::RoverAvoid => rover_avoid::MAX_STEPS,
            Self::RoverLight => rover_light::MAX_STEPS,
            Self::ASeriesWalk => aseries_walk::MAX_STEPS,
            Self::T1Stand => t1_stand::MAX_STEPS,
            Self::T1Walk => t1_walk::MAX_STEPS,
            Self::T1Kick => t1_kick::MAX_STEPS,
            Self::T1Dribble => t1_dribble::MAX_STEPS,
            Self::Mjcf(_) => mjcf::MAX_STEPS,
        }
    }

    /// The world of the task.
    ///
    /// # Errors
    /// If a model is missing or invalid.
    pub fn setup(&self) -> Result<Setup, EnvError> {
        match self {
            Self::RoverAvoid => rover_avoid::setup(),
            Self::RoverLight => rover_light::setup(),
            Self::ASeriesWalk => aseries_walk::setup(),
            Self::T1Stand | Self::T1Walk => t1::setup_on_floor(),
            Self::T1Kick | Self::T1Dribble => t1::setup_on_field(),
            Self::Mjcf(options) => Ok(options.setup()),
        }
    }

    /// The task in a world that was built from [`TaskKind::setup`].
    pub(crate) fn task(&self, world: &mut World) -> Result<Box<dyn Task>, EnvError> {
        Ok(match self {
            Self::RoverAvoid => Box::new(rover_avoid::RoverAvoid::new(world)?),
            Self::RoverLight => Box::new(rover_light::RoverLight::new(world)?),
            Self::ASeriesWalk => Box::new(aseries_walk::ASeriesWalk::new(world)?),
            Self::T1Stand => Box::new(t1_stand::T1Stand::new(world)?),
            Self::T1Walk => Box::new(t1_walk::T1Walk::new(world)?),
            Self::T1Kick => Box::new(t1_kick::T1Kick::new(world)?),
            Self::T1Dribble => Box::new(t1_dribble::T1Dribble::new(world)?),
            Self::Mjcf(options) => Box::new(mjcf::MjcfTask::new(options, world)?),
        })
    }
}

/// A world with one robot at the origin. Robot and agent have the same name.
fn with_robot(base: Source, robot: &str) -> Result<Setup, EnvError> {
    let source = library::model(ModelKind::Robot, robot, Path::new(""))?;
    let robots = vec![Robot { name: AGENT.to_owned(), source, pose: Pose::IDENTITY }];
    Ok(Setup { robots, ..Setup::new(base) })
}

/// Name of the agent that learns.
const AGENT: &str = "Robot";

/// The agent that learns.
pub(crate) fn agent(world: &World) -> Result<AgentCard, EnvError> {
    let card = world.catalogue().agent_named(AGENT).cloned();
    card.ok_or_else(|| missing(format_args!("agent `{AGENT}`")))
}

fn field(name: &str) -> Result<Source, EnvError> {
    Ok(library::model(ModelKind::Field, name, Path::new(""))?)
}

pub(crate) fn missing(what: impl std::fmt::Display) -> EnvError {
    EnvError::Missing { what: what.to_string() }
}
