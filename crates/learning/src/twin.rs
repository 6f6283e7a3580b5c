//! The twin of a robot elsewhere: in another simulation, or on a server.
//!
//! A step of an environment carries out an action, lets time pass, and judges what has happened. Where time passes elsewhere,
//! the parts are taken one by one: [`Env::act`] tells the motors what to do, which [`Env::motors`] returns; [`Env::follow`]
//! takes over how the robot moves there; [`Env::judge`] judges that, and [`Env::observe`] observes it. So a policy is tested
//! elsewhere with the observations and rewards of its task.

use physics::{JointId, Pose, Velocity};
use world::{JointTarget, World, snapshot::MotorCard};

use crate::{
    env::{Env, Outcome},
    error::{EnvError, check_count},
    task::{agent, missing, root, slice},
};

/// Lengths of quaternions that are taken for orientations.
const QUATERNION_LENGTHS: std::ops::RangeInclusive<f64> = 0.5..=2.0;

/// How a robot moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// Pose of its root, in the frame of the world. The orientation need not be normalized.
    pub pose: Pose,
    /// Velocity of its root, in m/s, in the frame of the world.
    pub velocity: [f64; 3],
    /// Angular velocity of its root, in rad/s, in its own frame.
    pub spin: [f64; 3],
    /// Angle (rad) and speed (rad/s) of the joint of each motor.
    pub joints: Vec<[f64; 2]>,
}

impl Motion {
    fn is_finite(&self) -> bool {
        let Self { pose: Pose { pos, quat }, velocity, spin, joints } = self;
        let joints = joints.iter().flatten();
        pos.iter().chain(quat).chain(velocity).chain(spin).chain(joints).all(|number| number.is_finite())
    }
}

impl Env {
    /// What the motors of the robot are told: their names and targets.
    ///
    /// # Errors
    /// If a motor has no target angle.
    pub fn motors(&self) -> Result<Vec<(String, JointTarget)>, EnvError> {
        let card = agent(&self.world)?;
        let motors = card.motors.iter().enumerate().map(|(index, motor)| {
            let target = self.world.joint_target(card.id, index);
            let target = target.ok_or_else(|| missing(format_args!("target angle for the motor `{}`", motor.name)))?;
            Ok((motor.name.clone(), target))
        });
        motors.collect()
    }

    /// How the robot moves.
    ///
    /// # Errors
    /// If it is not one that moves freely, with a joint for each motor.
    pub fn motion(&self) -> Result<Motion, EnvError> {
        let (_, free) = root(&self.world)?;
        let sim = self.world.sim();
        let [x, y, z, quat @ ..] = slice::<7>(sim.qpos(), sim.model().joint_qpos_index(free));
        // the engine keeps the angular velocity of a free joint in the body's frame
        let [vx, vy, vz, spin @ ..] = slice::<6>(sim.qvel(), sim.model().joint_dof_index(free));
        let state = |joint: &JointId| [sim.joint_position(*joint), sim.joint_velocity(*joint)];
        Ok(Motion {
            pose: Pose { pos: [x, y, z], quat },
            velocity: [vx, vy, vz],
            spin,
            joints: joints(&self.world)?.iter().map(state).collect(),
        })
    }

    /// Begins a step whose time passes elsewhere: carries out an action.
    ///
    /// # Errors
    /// If there is no episode, or the action is none. Nothing has changed then.
    pub fn act(&mut self, action: &[f32]) -> Result<(), EnvError> {
        self.course.act(&mut self.world, action)
    }

    /// Takes over how the robot moves elsewhere.
    ///
    /// # Errors
    /// If that is no motion of this robot; nothing has changed then. If the simulation cannot evaluate it.
    pub fn follow(&mut self, motion: &Motion) -> Result<(), EnvError> {
        let (root, _) = root(&self.world)?;
        let joints = joints(&self.world)?;
        check_count("joints", motion.joints.len(), joints.len())?;
        let length = motion.pose.quat.iter().map(|part| part * part).sum::<f64>().sqrt();
        if !motion.is_finite() || !QUATERNION_LENGTHS.contains(&length) {
            return Err(EnvError::NoMotion);
        }
        let pose = Pose { quat: motion.pose.quat.map(|part| part / length), ..motion.pose };
        let sim = self.world.sim_mut();
        sim.place(root, pose);
        sim.set_free_velocity(root, Velocity { linear: motion.velocity, angular: pose.turn(motion.spin) });
        for (joint, [angle, speed]) in joints.into_iter().zip(&motion.joints) {
            sim.set_joint_position(joint, *angle);
            sim.set_joint_velocity(joint, *speed);
        }
        Ok(self.world.refresh()?)
    }

    /// Ends a step that [`Env::act`] has begun: judges how the robot moves.
    ///
    /// # Errors
    /// If there is no episode.
    pub fn judge(&mut self) -> Result<Outcome, EnvError> {
        if self.has_episode() { Ok(self.course.judge(&mut self.world)) } else { Err(EnvError::NoEpisode) }
    }
}

/// The joint of each motor.
fn joints(world: &World) -> Result<Vec<JointId>, EnvError> {
    let card = agent(world)?;
    let joint = |motor: &MotorCard| {
        let found = world.motor_joint(card.id, &motor.name);
        found.ok_or_else(|| missing(format_args!("joint of the motor `{}`", motor.name)))
    };
    card.motors.iter().map(joint).collect()
}
