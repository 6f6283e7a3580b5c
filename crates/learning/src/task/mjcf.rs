//! Mjcf: any model; whoever uses the environment computes the reward.
//!
//! The model is simulated in its own scenery or on a field. **Observation**: the parts that were chosen, one after another.
//! **Action**, one number for each motor: -1 and 1 are the ends of its range, an angle, a speed or a control signal. At the
//! start, each hinge and slide is up to `noise` away from its reference, and moves up to `noise` fast. The **reward** is
//! always 0, and no episode is **terminated**, unless the simulation fails.

use physics::{Fault, JointId, JointKind, Pose, Source};
use world::{Action, AgentId, Robot, Setup, World, interface::Bounds};

use super::{AGENT, Task, Verdict, agent, missing};
use crate::{
    error::EnvError,
    random::Random,
    spaces::{Spaces, Writer, symmetric},
};

pub(super) const MAX_STEPS: u32 = 1_000;
/// Bound of positions, velocities and sensor values: beyond it, a simulation counts as failed.
const BEYOND: f64 = 1e10;

/// A user's model as a task.
#[derive(Clone, Debug)]
pub struct Mjcf {
    /// The model.
    pub source: Source,
    /// What is around it.
    pub base: Source,
    /// Where the model's origin is.
    pub pose: Pose,
    /// Physics step, in s; that of the base if `None`.
    pub timestep: Option<f64>,
    /// Number of physics steps in each step of the environment.
    pub steps_per_tick: u32,
    /// What is observed, in this order.
    pub observation: Vec<Part>,
    /// Largest deviation of joints at the start of an episode, in rad or m, and rad/s or m/s.
    pub noise: f64,
}

/// A part of the observation of a user's model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All joint positions, as in MuJoCo's `qpos`.
    Qpos,
    /// All joint velocities, as in MuJoCo's `qvel`.
    Qvel,
    /// All sensor values, as in MuJoCo's `sensordata`.
    Sensors,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 3] = [Self::Qpos, Self::Qvel, Self::Sensors];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Qpos => "qpos",
            Self::Qvel => "qvel",
            Self::Sensors => "sensors",
        }
    }

    fn of(self, world: &World) -> &[f64] {
        match self {
            Self::Qpos => world.sim().qpos(),
            Self::Qvel => world.sim().qvel(),
            Self::Sensors => world.sim().sensor_values(),
        }
    }
}

impl Mjcf {
    pub(super) fn setup(&self) -> Setup {
        let robot = Robot { name: AGENT.to_owned(), source: self.source.clone(), pose: self.pose };
        Setup {
            robots: vec![robot],
            timestep: self.timestep,
            steps_per_tick: self.steps_per_tick,
            ..Setup::new(self.base.clone())
        }
    }
}

pub(super) struct MjcfTask {
    spaces: Spaces,
    agent: AgentId,
    /// Ranges of the motors' targets.
    motors: Vec<Bounds>,
    parts: Vec<Part>,
    /// Hinges and slides, and their positions at the start.
    joints: Vec<(JointId, f64)>,
    noise: f64,
}

impl MjcfTask {
    pub(super) fn new(options: &Mjcf, world: &World) -> Result<Self, EnvError> {
        let card = agent(world)?;
        let size: usize = options.observation.iter().map(|part| part.of(world).len()).sum();
        let motors: Vec<Bounds> = card.motors.iter().map(|motor| motor.range).collect();
        if size == 0 {
            return Err(missing("value to observe"));
        }
        if motors.is_empty() {
            return Err(missing("motor"));
        }
        let model = world.sim().model();
        let moves = |joint: &JointId| matches!(model.joint_kind(*joint), JointKind::Hinge | JointKind::Slide);
        let joints = model.joints().filter(moves).map(|joint| (joint, world.sim().joint_position(joint))).collect();
        Ok(Self {
            spaces: Spaces { observation: symmetric(BEYOND, size).collect(), actions: motors.len() },
            agent: card.id,
            motors,
            parts: options.observation.clone(),
            joints,
            noise: options.noise,
        })
    }
}

impl Task for MjcfTask {
    fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    fn reset(&mut self, world: &mut World, mut random: Random) -> Result<(), Fault> {
        if self.noise == 0.0 {
            return Ok(());
        }
        let sim = world.sim_mut();
        for &(joint, start) in &self.joints {
            sim.set_joint_position(joint, start + random.around(self.noise));
            sim.set_joint_velocity(joint, random.around(self.noise));
        }
        world.refresh()
    }

    fn act(&mut self, world: &mut World, action: &[f32]) {
        let set = self.motors.iter().zip(action).enumerate().map(|(motor, (range, &part))| {
            let (middle, half) = (f64::midpoint(range.min, range.max), (range.max - range.min) / 2.0);
            Action::Set { motor, target: Some(middle + half * f64::from(part)), torque: None }
        });
        world.move_motors(self.agent, set);
    }

    fn judge(&mut self, _world: &mut World) -> Verdict {
        Verdict::default()
    }

    fn observe(&self, world: &World, out: &mut [f64]) {
        let mut out = Writer::new(out);
        self.parts.iter().for_each(|part| out.extend(part.of(world).iter().copied()));
        out.finish();
    }
}
