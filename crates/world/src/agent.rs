//! Agents: controlled robots, and how their motors are driven.

use physics::{ActuatorId, Model, Pose, Sim};
use serde::{Deserialize, Serialize};

use crate::{
    interface::{Bounds, Drive, Interface, InterfaceValue, Motor, MotorKind, Port},
    variable::MotorProperty,
};

/// Largest magnitude of a number in a [`JointTarget`], in its own unit: far beyond any real motor.
const MAX_JOINT_NUMBER: f64 = 1e9;

/// Identifies an agent for the lifetime of its world; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AgentId(pub u32);

/// Target of one joint, in units of the joint; holds until replaced.
///
/// The torque applied in each physics step is `kp·(q − q_now) + kd·(dq − dq_now) + tau`,
/// clamped to the joint's force range in the model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointTarget {
    /// Target angle, in rad, right-handed about the joint axis; 0 is the model's reference pose.
    pub q: f64,
    /// Target velocity, in rad/s.
    pub dq: f64,
    /// Stiffness, in N·m/rad.
    pub kp: f64,
    /// Damping, in N·m·s/rad.
    pub kd: f64,
    /// Feed-forward torque, in N·m.
    pub tau: f64,
}

impl JointTarget {
    fn numbers(&self) -> [f64; 5] {
        let Self { q, dq, kp, kd, tau } = *self;
        [q, dq, kp, kd, tau]
    }
}

/// A command to one motor. Motors are counted from 0 within the agent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// Move to a target with a fraction of the torque; `None` keeps the current value.
    Set {
        /// Index of the motor.
        motor: usize,
        /// In the motor's physical unit; clamped to its range.
        target: Option<f64>,
        /// Fraction of the largest torque, 0 to 1; clamped.
        torque: Option<f64>,
    },
    /// Full feedback law; ignored by motors without one.
    Joint {
        /// Index of the motor.
        motor: usize,
        /// Target and gains.
        target: JointTarget,
    },
}

impl Action {
    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Set { target, torque, .. } => target.iter().chain(torque).all(|x| x.is_finite()),
            Self::Joint { target, .. } => target.numbers().iter().all(|x| x.is_finite()),
        }
    }

    /// Whether every number is finite and, where it is not clamped, small enough for the simulation. Sessions refuse other
    /// actions.
    pub fn is_valid(&self) -> bool {
        let is_small = match self {
            Self::Set { .. } => true,
            Self::Joint { target, .. } => target.numbers().iter().all(|x| x.abs() <= MAX_JOINT_NUMBER),
        };
        is_small && self.is_finite()
    }
}

/// The last command to a motor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MotorCommand {
    /// None since the last reset: servos hold 0, drives stand, torque motors have the gains of the model.
    Released,
    Set {
        target: f64,
        torque: f64,
    },
    Joint(JointTarget),
}

/// Parameters of a motor that can be changed. They outlast resets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MotorParameters {
    /// Largest torque, if it differs from the model's.
    max_torque: Option<f64>,
    gain: f64,
    damping: f64,
    top_speed: Option<f64>,
    /// Largest lead of the set point over the joint, which limits the speed.
    reach: Option<f64>,
}

impl MotorParameters {
    /// As in the model.
    fn of(motor: &Motor) -> Self {
        let Motor { gain, damping, top_speed, .. } = *motor;
        let reach = top_speed.and_then(|speed| motor.reach(gain, damping, speed));
        Self { max_torque: None, gain, damping, top_speed, reach }
    }
}

/// A robot in the world.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) interface: Interface,
    parameters: Vec<MotorParameters>,
    commands: Vec<MotorCommand>,
    /// The commands that the simulation already has; `None` where unknown.
    applied: Vec<Option<MotorCommand>>,
}

impl Agent {
    pub(crate) fn new(interface: Interface) -> Self {
        let commands = vec![MotorCommand::Released; interface.motors.len()];
        let applied = vec![None; commands.len()];
        let parameters = interface.motors.iter().map(MotorParameters::of).collect();
        Self { interface, parameters, commands, applied }
    }

    /// Continues in a newly compiled model.
    pub(crate) fn move_to(&mut self, interface: Interface) {
        self.commands.resize(interface.motors.len(), MotorCommand::Released);
        self.applied = vec![None; interface.motors.len()];
        let known = self.parameters.len();
        self.parameters.truncate(interface.motors.len());
        self.parameters.extend(interface.motors.iter().skip(known).map(MotorParameters::of));
        self.interface = interface;
    }

    /// Takes an action; the simulation gets it with the next [`Agent::update_sim`]. Actions for motors that do not exist, or
    /// that cannot do them, are ignored.
    pub(crate) fn apply(&mut self, action: Action) {
        match action {
            Action::Set { motor, target, torque } => {
                let (Some(spec), Some(command)) = (self.interface.motors.get(motor), self.commands.get_mut(motor))
                else {
                    return;
                };
                let (old_target, old_torque) = match *command {
                    MotorCommand::Set { target, torque } => (target, torque),
                    MotorCommand::Joint(joint) => (joint.q, 1.0),
                    MotorCommand::Released => (0.0, 1.0),
                };
                *command = MotorCommand::Set {
                    target: target.map_or(old_target, |x| spec.range.clamp(x)),
                    torque: torque.map_or(old_torque, |x| x.clamp(0.0, 1.0)),
                };
            }
            Action::Joint { motor, target } => {
                if let Some(Motor { drive: Drive::Feedback { .. }, .. }) = self.interface.motors.get(motor)
                    && let Some(command) = self.commands.get_mut(motor)
                {
                    *command = MotorCommand::Joint(target);
                }
            }
        }
    }

    /// Takes back all commands.
    pub(crate) fn release(&mut self) {
        self.commands.fill(MotorCommand::Released);
        self.applied.fill(None);
    }

    /// The last commands to all motors.
    pub(crate) fn commands(&self) -> &[MotorCommand] {
        &self.commands
    }

    /// Replaces the commands to all motors.
    pub(crate) fn set_commands(&mut self, sim: &mut Sim, commands: &[MotorCommand]) {
        self.commands.clear();
        self.commands.extend_from_slice(commands);
        self.update_sim(sim);
    }

    /// Target, in physical units, and fraction of the torque of a motor's last command.
    pub(crate) fn commanded(&self, motor: usize) -> (f64, f64) {
        match self.commands.get(motor) {
            Some(&MotorCommand::Set { target, torque }) => (target, torque),
            Some(MotorCommand::Joint(joint)) => (joint.q, 1.0),
            Some(MotorCommand::Released) | None => (0.0, 1.0),
        }
    }

    /// Writes all new commands into the simulation.
    pub(crate) fn update_sim(&mut self, sim: &mut Sim) {
        let motors = self.interface.motors.iter().zip(&self.parameters);
        for (((motor, parameters), command), applied) in motors.zip(&self.commands).zip(&mut self.applied) {
            let before = applied.replace(*command);
            match (before, command, motor.drive) {
                (Some(before), command, _) if before == *command => {}
                // controllers mostly move the target and keep the gains
                (
                    Some(MotorCommand::Joint(before)),
                    MotorCommand::Joint(law),
                    Drive::Feedback { tau, pos, vel, gear, .. },
                ) if (before.kp, before.kd) == (law.kp, law.kd) => {
                    aim(sim, [tau, pos, vel], gear, law);
                }
                _ => command_motor(sim, motor, parameters, *command),
            }
        }
    }

    /// Moves the set points of servos with a top speed; called before each physics step.
    pub(crate) fn drive(&self, sim: &mut Sim) {
        let motors = self.interface.motors.iter().zip(&self.parameters);
        for ((motor, parameters), command) in motors.zip(&self.commands) {
            if let (Drive::Servo { actuator, joint }, Some(reach)) = (motor.drive, parameters.reach) {
                let target = match command {
                    MotorCommand::Set { target, .. } => *target,
                    MotorCommand::Released | MotorCommand::Joint(_) => 0.0,
                };
                let now = sim.joint_position(joint);
                sim.set_ctrl(actuator, now + (target - now).clamp(-reach, reach));
            }
        }
    }

    /// A parameter of a motor; `None` if it has no such motor or parameter.
    pub(crate) fn parameter(&self, motor: usize, property: MotorProperty) -> Option<f64> {
        let parameters = self.parameters.get(motor)?;
        Some(match property {
            MotorProperty::MaxTorque => parameters.max_torque.unwrap_or(self.interface.motors.get(motor)?.max_torque),
            MotorProperty::Gain => parameters.gain,
            MotorProperty::Damping => parameters.damping,
            MotorProperty::TopSpeed => parameters.top_speed?,
        })
    }

    /// Changes a parameter of a motor.
    pub(crate) fn set_parameter(&mut self, sim: &mut Sim, motor: usize, property: MotorProperty, value: f64) {
        let (Some(spec), Some(parameters)) = (self.interface.motors.get(motor), self.parameters.get_mut(motor)) else {
            return;
        };
        match property {
            MotorProperty::MaxTorque => parameters.max_torque = Some(value),
            MotorProperty::Gain => parameters.gain = value,
            MotorProperty::Damping => parameters.damping = value,
            MotorProperty::TopSpeed => parameters.top_speed = Some(value),
        }
        let MotorParameters { gain, damping, top_speed, .. } = *parameters;
        parameters.reach = top_speed.and_then(|speed| spec.reach(gain, damping, speed));
        match (spec.drive, spec.kind) {
            (Drive::Servo { actuator, .. }, _) => {
                let (_, [offset, ..]) = sim.actuator_gain(actuator);
                sim.set_actuator_gain(actuator, gain, [offset, -gain, -damping]);
            }
            (Drive::Plain { actuator, .. }, MotorKind::Speed) => {
                let (_, [offset, ..]) = sim.actuator_gain(actuator);
                sim.set_actuator_gain(actuator, gain, [offset, 0.0, -gain]);
            }
            // gains follow each command, or are those of a raw signal
            (Drive::Feedback { .. } | Drive::Plain { .. }, _) => {}
        }
        // the command is carried out again, with the new parameters
        if let Some(applied) = self.applied.get_mut(motor) {
            *applied = None;
        }
        self.update_sim(sim);
    }

    /// Physical range of an interface value.
    pub(crate) fn range(&self, value: &InterfaceValue) -> Bounds {
        match value.port {
            Port::MotorTorque(motor) => {
                let max = self.parameter(motor, MotorProperty::MaxTorque);
                max.map_or(value.physical, Bounds::positive)
            }
            Port::MotorTarget(_) | Port::Sensor(_) | Port::Distance(_) => value.physical,
        }
    }

    /// Reading of each motor: the angle, the speed, or the signal it was given.
    pub(crate) fn readings<'a>(&'a self, sim: &'a Sim) -> impl Iterator<Item = f64> + 'a {
        self.interface.motors.iter().map(|motor| match (motor.kind, motor.joint(), motor.drive) {
            (MotorKind::Angle, Some(joint), _) => sim.joint_position(joint),
            (MotorKind::Speed, Some(joint), _) => sim.joint_velocity(joint),
            (_, _, Drive::Plain { actuator, .. }) => sim.ctrl(actuator),
            _ => 0.0,
        })
    }
}

fn command_motor(sim: &mut Sim, motor: &Motor, parameters: &MotorParameters, command: MotorCommand) {
    let limited = |range, torque| limited(range, motor.max_torque, parameters.max_torque, torque);
    match (motor.drive, command) {
        (Drive::Feedback { tau, pos, vel, joint, gear }, command) => {
            let (law, torque) = match command {
                MotorCommand::Released => (None, 1.0),
                MotorCommand::Joint(target) => (Some(target), 1.0),
                MotorCommand::Set { target, torque } => {
                    let MotorParameters { gain: kp, damping: kd, .. } = *parameters;
                    (Some(JointTarget { q: target, dq: 0.0, kp, kd, tau: 0.0 }), torque)
                }
            };
            match law {
                None => {
                    for id in [tau, pos, vel] {
                        let spec = sim.model().actuator(id);
                        sim.set_actuator_gain(id, spec.gain[0], spec.bias);
                        sim.set_ctrl(id, 0.0);
                    }
                }
                Some(law) => {
                    // an actuator works on its length, which is the angle times the gear
                    let (kp, kd) = (law.kp / (gear * gear), law.kd / (gear * gear));
                    sim.set_actuator_gain(pos, kp, [0.0, -kp, 0.0]);
                    sim.set_actuator_gain(vel, kd, [0.0, 0.0, -kd]);
                    aim(sim, [tau, pos, vel], gear, &law);
                }
            }
            sim.set_joint_force_range(joint, limited(sim.model().joint_force_range(joint), torque));
        }
        (Drive::Servo { actuator, .. }, command) => {
            let (target, torque) = match command {
                MotorCommand::Set { target, torque } => (target, torque),
                MotorCommand::Released | MotorCommand::Joint(_) => (0.0, 1.0),
            };
            if parameters.reach.is_none() {
                sim.set_ctrl(actuator, target);
            }
            sim.set_actuator_force_range(actuator, limited(sim.model().actuator(actuator).force_range, torque));
        }
        (Drive::Plain { actuator, .. }, command) => {
            let (target, torque) = match command {
                MotorCommand::Set { target, torque } => (target, torque),
                MotorCommand::Released | MotorCommand::Joint(_) => (0.0, 1.0),
            };
            sim.set_ctrl(actuator, target);
            sim.set_actuator_force_range(actuator, limited(sim.model().actuator(actuator).force_range, torque));
        }
    }
}

/// Sets the targets of a feedback motor. An actuator works on its length, which is the angle times the gear.
///
/// The soccer protocol counts in units of the actuator; its session converts them to joint units, which are converted back
/// here. The conversion is kept because actions are recorded in joint units, and leaving it out would change results by
/// rounding.
fn aim(sim: &mut Sim, [tau, pos, vel]: [ActuatorId; 3], gear: f64, law: &JointTarget) {
    sim.set_ctrl(tau, law.tau / gear);
    sim.set_ctrl(pos, law.q * gear);
    sim.set_ctrl(vel, law.dq * gear);
}

/// The range of force of a motor that may use a fraction of its torque. `model` is the range in the model, `assumed` its
/// largest torque, which is assumed if the range is unlimited, and `max` what it has been changed to.
fn limited(model: Option<[f64; 2]>, assumed: f64, max: Option<f64>, fraction: f64) -> Option<[f64; 2]> {
    match (max, model.filter(is_finite)) {
        (None, Some(range)) => Some(range.map(|x| x * fraction)),
        (Some(max), Some(range)) => Some(range.map(|x| x * (max / assumed) * fraction)),
        // a motor that may use all of an unlimited torque is not limited
        (None, None) if fraction >= 1.0 => model,
        (max, None) => {
            let most = max.unwrap_or(assumed) * fraction;
            Some([-most, most])
        }
    }
}

/// An unlimited range has no fractions.
fn is_finite(range: &[f64; 2]) -> bool {
    range.iter().all(|x| x.is_finite())
}

/// An agent as a part of the model.
#[derive(Clone, Debug)]
pub(crate) struct Resident {
    pub(crate) id: AgentId,
    pub(crate) name: String,
    /// Name of the robot's model.
    pub(crate) robot: String,
    pub(crate) start: Pose,
}

impl Resident {
    /// Prefix of all names of this robot in the model.
    pub(crate) fn prefix(&self) -> String {
        prefix_of(&self.name)
    }

    /// The root body of the robot.
    pub(crate) fn root(&self, model: &Model) -> Option<physics::BodyId> {
        let prefix = self.prefix();
        model.bodies().find(|&body| model.body_name(body).starts_with(&prefix))
    }
}

/// Prefix of all names of the agent's robot in the model.
pub(crate) fn prefix_of(agent: &str) -> String {
    format!("{agent}:")
}
