//! Agents: robots that somebody controls, and how their motors are driven.

use physics::{ActuatorId, Model, Pose, Sim};
use serde::{Deserialize, Serialize};

use crate::interface::{Drive, Interface, Motor, MotorKind};

/// Largest number of a [`JointTarget`], in its own unit: far beyond any real motor.
const MAX_JOINT_NUMBER: f64 = 1e9;

/// Names an agent for as long as its world lives; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AgentId(pub u32);

/// Drives one joint towards a pose; holds until replaced.
///
/// The torque applied each physics step is `kp·(q − q_now) + kd·(dq − dq_now) + tau`,
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
    /// Torque added as it is, in N·m.
    pub tau: f64,
}

impl JointTarget {
    fn numbers(&self) -> [f64; 5] {
        let Self { q, dq, kp, kd, tau } = *self;
        [q, dq, kp, kd, tau]
    }
}

/// What a controller wants of one motor. Motors are counted within the agent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// Run to a target with a part of the torque; what is `None` stays as it is.
    Set {
        /// Which motor.
        motor: usize,
        /// In the motor's physical unit; clamped to its range.
        target: Option<f64>,
        /// Part of the largest torque, 0 to 1; clamped.
        torque: Option<f64>,
    },
    /// Full feedback law; only for motors that have one.
    Joint {
        /// Which motor.
        motor: usize,
        /// What to do.
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

    /// Whether every number is finite and, where it is not clamped, small enough for the simulation to work with.
    /// Other actions are refused at the edge.
    pub fn is_sound(&self) -> bool {
        let is_small = match self {
            Self::Set { .. } => true,
            Self::Joint { target, .. } => target.numbers().iter().all(|x| x.abs() <= MAX_JOINT_NUMBER),
        };
        is_small && self.is_finite()
    }
}

/// What a motor is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    /// As the model has it: servos hold 0, drives stand, torque motors have their compiled gains.
    Rest,
    Set {
        target: f64,
        torque: f64,
    },
    Joint(JointTarget),
}

/// A robot in the world.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) interface: Interface,
    orders: Vec<Order>,
    /// What the simulation has of the orders; none where that is not known.
    commanded: Vec<Option<Order>>,
}

impl Agent {
    pub(crate) fn new(interface: Interface) -> Self {
        let orders = vec![Order::Rest; interface.motors.len()];
        let commanded = vec![None; orders.len()];
        Self { interface, orders, commanded }
    }

    /// The same robot in a newly compiled model.
    pub(crate) fn moved_to(&mut self, interface: Interface) {
        self.orders.resize(interface.motors.len(), Order::Rest);
        self.commanded = vec![None; interface.motors.len()];
        self.interface = interface;
    }

    /// Takes an action over into the orders; the simulation sees it with the next [`Agent::command`].
    /// Actions for motors that do not exist, or that cannot do them, change nothing.
    pub(crate) fn obey(&mut self, action: Action) {
        match action {
            Action::Set { motor, target, torque } => {
                let (Some(spec), Some(order)) = (self.interface.motors.get(motor), self.orders.get_mut(motor)) else {
                    return;
                };
                let (old_target, old_torque) = match *order {
                    Order::Set { target, torque } => (target, torque),
                    Order::Joint(joint) => (joint.q, 1.0),
                    Order::Rest => (0.0, 1.0),
                };
                *order = Order::Set {
                    target: target.map_or(old_target, |x| spec.range.clamp(x)),
                    torque: torque.map_or(old_torque, |x| x.clamp(0.0, 1.0)),
                };
            }
            Action::Joint { motor, target } => {
                if let Some(Motor { drive: Drive::Feedback { .. }, .. }) = self.interface.motors.get(motor)
                    && let Some(order) = self.orders.get_mut(motor)
                {
                    *order = Order::Joint(target);
                }
            }
        }
    }

    /// All motors as the model has them, whatever the simulation has now.
    pub(crate) fn release(&mut self) {
        self.orders.fill(Order::Rest);
        self.commanded.fill(None);
    }

    /// Target (physical) and part of the torque of a motor, as last ordered.
    pub(crate) fn ordered(&self, motor: usize) -> (f64, f64) {
        match self.orders.get(motor) {
            Some(&Order::Set { target, torque }) => (target, torque),
            Some(Order::Joint(joint)) => (joint.q, 1.0),
            Some(Order::Rest) | None => (0.0, 1.0),
        }
    }

    /// Writes all orders into the simulation that it does not have yet.
    pub(crate) fn command(&mut self, sim: &mut Sim) {
        for ((motor, order), commanded) in self.interface.motors.iter().zip(&self.orders).zip(&mut self.commanded) {
            let before = commanded.replace(*order);
            match (before, order, motor.drive) {
                (Some(before), order, _) if before == *order => {}
                // controllers mostly move the target and keep the gains
                (Some(Order::Joint(before)), Order::Joint(law), Drive::Feedback { tau, pos, vel, gear, .. })
                    if (before.kp, before.kd) == (law.kp, law.kd) =>
                {
                    aim(sim, [tau, pos, vel], gear, law);
                }
                _ => command_motor(sim, motor, *order),
            }
        }
    }

    /// Moves the set points of servos with a top speed; once each physics step.
    pub(crate) fn drive(&self, sim: &mut Sim) {
        for (motor, order) in self.interface.motors.iter().zip(&self.orders) {
            if let Drive::Servo { actuator, joint, reach: Some(reach) } = motor.drive {
                let target = match order {
                    Order::Set { target, .. } => *target,
                    Order::Rest | Order::Joint(_) => 0.0,
                };
                let now = sim.joint_position(joint);
                sim.set_ctrl(actuator, now + (target - now).clamp(-reach, reach));
            }
        }
    }

    /// What each motor measures: the angle, the speed, or the signal it was given.
    pub(crate) fn readings<'a>(&'a self, sim: &'a Sim) -> impl Iterator<Item = f64> + 'a {
        self.interface.motors.iter().map(|motor| match (motor.kind, motor.joint(), motor.drive) {
            (MotorKind::Angle, Some(joint), _) => sim.joint_position(joint),
            (MotorKind::Speed, Some(joint), _) => sim.joint_velocity(joint),
            (_, _, Drive::Plain { actuator, .. }) => sim.ctrl(actuator),
            _ => 0.0,
        })
    }
}

fn command_motor(sim: &mut Sim, motor: &Motor, order: Order) {
    match (motor.drive, order) {
        (Drive::Feedback { tau, pos, vel, joint, gear }, order) => {
            let (law, torque) = match order {
                Order::Rest => (None, 1.0),
                Order::Joint(target) => (Some(target), 1.0),
                Order::Set { target, torque } => {
                    let (kp, kd) = motor.default_gains();
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
            if let Some(range) = sim.model().joint_force_range(joint).filter(is_finite) {
                sim.set_joint_force_range(joint, range.map(|x| x * torque));
            }
        }
        (Drive::Servo { actuator, reach, .. }, order) => {
            let (target, torque) = match order {
                Order::Set { target, torque } => (target, torque),
                Order::Rest | Order::Joint(_) => (0.0, 1.0),
            };
            if reach.is_none() {
                sim.set_ctrl(actuator, target);
            }
            limit_torque(sim, actuator, torque);
        }
        (Drive::Plain { actuator, .. }, order) => {
            let (target, torque) = match order {
                Order::Set { target, torque } => (target, torque),
                Order::Rest | Order::Joint(_) => (0.0, 1.0),
            };
            sim.set_ctrl(actuator, target);
            limit_torque(sim, actuator, torque);
        }
    }
}

/// Targets of a feedback motor. An actuator works on its length, which is the angle times the gear.
fn aim(sim: &mut Sim, [tau, pos, vel]: [ActuatorId; 3], gear: f64, law: &JointTarget) {
    sim.set_ctrl(tau, law.tau / gear);
    sim.set_ctrl(pos, law.q * gear);
    sim.set_ctrl(vel, law.dq * gear);
}

fn limit_torque(sim: &mut Sim, actuator: ActuatorId, part: f64) {
    if let Some(range) = sim.model().actuator(actuator).force_range.filter(is_finite) {
        sim.set_actuator_force_range(actuator, range.map(|x| x * part));
    }
}

/// There is no part of an endless range.
fn is_finite(range: &[f64; 2]) -> bool {
    range.iter().all(|x| x.is_finite())
}

/// An agent's place in the model: who it is and where it starts.
#[derive(Clone, Debug)]
pub(crate) struct Resident {
    pub(crate) id: AgentId,
    pub(crate) name: String,
    /// Name of the robot's model.
    pub(crate) robot: String,
    pub(crate) start: Pose,
}

impl Resident {
    /// What all names of this robot begin with in the model.
    pub(crate) fn prefix(&self) -> String {
        prefix_of(&self.name)
    }

    /// The first body of the robot, which carries the others.
    pub(crate) fn root(&self, model: &Model) -> Option<physics::BodyId> {
        let prefix = self.prefix();
        model.bodies().find(|&body| model.body_name(body).starts_with(&prefix))
    }
}

/// What all names of the agent's robot begin with in the model.
pub(crate) fn prefix_of(agent: &str) -> String {
    format!("{agent}:")
}
