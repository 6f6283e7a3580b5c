//! The T1, as its tasks use it.

use physics::{BodyId, Pose, Velocity};
use world::{Setup, World};

use super::{
    field,
    floor::floor,
    legs::{Posture, Sensors, slice},
    missing, with_robot,
};
use crate::error::EnvError;

/// Physics steps of 5 ms in a tick, as in the soccer league.
const STEPS_PER_TICK: u32 = 4;

/// Knees bent, so that the centre of mass is above the middle of the feet; arms down. The sensors are those that players of
/// the soccer league perceive.
pub(super) const POSTURE: Posture = Posture {
    legs: &[
        ("lle1", -0.5),
        ("lle2", 0.0),
        ("lle3", 0.0),
        ("lle4", 0.84),
        ("lle5", -0.34),
        ("lle6", 0.0),
        ("rle1", -0.5),
        ("rle2", 0.0),
        ("rle3", 0.0),
        ("rle4", 0.84),
        ("rle5", -0.34),
        ("rle6", 0.0),
    ],
    others: &[("lae2", -1.3), ("rae2", 1.3)],
    gains: |motor| Some(gains(motor)),
    soles: ["left_foot", "right_foot"],
    scale: 0.5,
    sensors: Some(Sensors { orientation: "torso_quat", gyro: "torso_gyro", joint: joint_sensors }),
};

/// Stiffness (N·m/rad) and damping (N·m·s/rad) of a motor. The model limits the torque.
fn gains(motor: &str) -> [f64; 2] {
    match motor {
        "lle5" | "lle6" | "rle5" | "rle6" => [100.0, 2.0],
        leg if leg.starts_with("lle") || leg.starts_with("rle") => [200.0, 5.0],
        waist if waist.starts_with("te") => [200.0, 3.0],
        head if head.starts_with("he") => [20.0, 0.5],
        _ => [60.0, 1.0],
    }
}

/// Names of the sensors of a motor's angle and speed: those of `lle1` are `q_llj1` and `dq_llj1`.
fn joint_sensors(motor: &str) -> [String; 2] {
    let joint = motor.replacen('e', "j", 1);
    [format!("q_{joint}"), format!("dq_{joint}")]
}

/// A T1 on an endless floor.
pub(super) fn setup_on_floor() -> Result<Setup, EnvError> {
    Ok(Setup { steps_per_tick: STEPS_PER_TICK, ..with_robot(floor()?, "T1")? })
}

/// A T1 and the ball on the soccer field.
pub(super) fn setup_on_field() -> Result<Setup, EnvError> {
    Ok(Setup { steps_per_tick: STEPS_PER_TICK, ..with_robot(field("fifa")?, "T1")? })
}

/// The ball on the field.
pub(super) struct Ball {
    body: BodyId,
    qpos: usize,
    qvel: usize,
    /// Height of its centre when it lies on the ground, in m.
    radius: f64,
}

impl Ball {
    pub(super) fn new(world: &World) -> Result<Self, EnvError> {
        let model = world.sim().model();
        let body = model.body_named("ball").ok_or_else(|| missing("body `ball`"))?;
        let free = model.body_free_joint(body).ok_or_else(|| missing("ball that can move"))?;
        let radius = world.sim().start_pose(body).pos[2];
        Ok(Self { body, qpos: model.joint_qpos_index(free), qvel: model.joint_dof_index(free), radius })
    }

    /// Puts the ball on the ground, at rest. Sensors and poses are not up to date before the next refresh.
    pub(super) fn place(&self, world: &mut World, [x, y]: [f64; 2]) {
        let sim = world.sim_mut();
        sim.place(self.body, Pose::at(x, y, self.radius));
        sim.set_free_velocity(self.body, Velocity::default());
    }

    /// Position on the ground, in m.
    pub(super) fn position(&self, world: &World) -> [f64; 2] {
        slice(world.sim().qpos(), self.qpos)
    }

    /// Velocity along the ground, in m/s.
    pub(super) fn velocity(&self, world: &World) -> [f64; 2] {
        slice(world.sim().qvel(), self.qvel)
    }
}

/// The part of a vector along a direction, and the part to its left.
pub(super) fn along([x, y]: [f64; 2], direction: f64) -> [f64; 2] {
    super::legs::seen_from(direction, [x, y])
}
