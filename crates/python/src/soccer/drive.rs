//! Motors that follow normalized actions, for learning.

use physics::Model;
use wire::soccer::{Motor, Name};
use world::{
    World,
    snapshot::{AgentCard, MotorCard},
};

/// Angle error at which a motor has its full torque, in rad.
const FULL_TORQUE_ERROR: f64 = 0.25;
/// Ratio of damping to stiffness, in s.
const DAMPING_TIME: f64 = 0.025;
/// Largest target speed of a wheel, in rad/s.
const TOP_SPEED: f64 = 20.0;
/// Speed error at which a wheel has its full torque, in rad/s.
const FULL_TORQUE_SPEED_ERROR: f64 = 5.0;

/// What an action of -1 to 1 means to a motor.
#[derive(Clone, Debug)]
pub(crate) struct Drive {
    motor: Name,
    gear: f64,
    target: Target,
    /// N·m/rad
    kp: f64,
    /// N·m·s/rad
    kd: f64,
}

/// The quantity that an action sets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    /// The angle, in rad, at -1, 0 and 1.
    Angle([f64; 3]),
    /// The speed of a wheel, which may turn without end.
    Speed,
}

impl Drive {
    /// The drives of a robot, in the order of its motors.
    pub(crate) fn of(world: &World, robot: &AgentCard) -> Vec<Self> {
        let model = world.sim().model();
        // a name in a model that no message can have has no drive; such a robot cannot be controlled by agents either
        robot.motors.iter().filter_map(|motor| Self::new(world, model, robot, motor)).collect()
    }

    fn new(world: &World, model: &Model, robot: &AgentCard, motor: &MotorCard) -> Option<Self> {
        let joint = world.motor_joint(robot.id, &motor.name);
        let target = match joint.and_then(|joint| model.joint_range(joint)) {
            // 0 is the stance of the model where the range allows it
            Some([low, high]) if low < 0.0 && 0.0 < high => Target::Angle([low, 0.0, high]),
            Some([low, high]) => Target::Angle([low, f64::midpoint(low, high), high]),
            None => Target::Speed,
        };
        let kp = motor.max_torque / FULL_TORQUE_ERROR;
        let (kp, kd) = match target {
            Target::Angle(_) => (kp, kp * DAMPING_TIME),
            Target::Speed => (0.0, motor.max_torque / FULL_TORQUE_SPEED_ERROR),
        };
        Some(Self { motor: Name::new(&motor.name).ok()?, gear: motor.gear, target, kp, kd })
    }

    /// The command of an action, in the units of the protocol: those of the actuator, before its gear.
    pub(crate) fn command(&self, action: f64) -> Motor {
        let action = action.clamp(-1.0, 1.0);
        let (q, dq) = match self.target {
            Target::Angle([low, neutral, high]) => {
                let reach = if action < 0.0 { neutral - low } else { high - neutral };
                (neutral + action * reach, 0.0)
            }
            Target::Speed => (0.0, action * TOP_SPEED),
        };
        let squared = self.gear * self.gear;
        Motor {
            name: self.motor.clone(),
            q_deg: (q * self.gear).to_degrees(),
            dq_deg: (dq * self.gear).to_degrees(),
            kp: self.kp / squared,
            kd: self.kd / squared,
            tau: 0.0,
        }
    }
}
