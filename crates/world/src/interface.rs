//! Finds a robot's motors and sensors in its model.
//!
//! Motors, in the order of the model's actuators:
//!
//! | in the model                                                     | motor                                          |
//! | ---------------------------------------------------------------- | ---------------------------------------------- |
//! | three actuators `X_tau`, `X_pos`, `X_vel` on one joint           | `X`: torque with position and velocity feedback |
//! | a `<position>` actuator; its first `user` number is the top speed | a servo that runs to an angle                  |
//! | a `<velocity>` actuator                                          | a drive that holds a speed                     |
//! | any other actuator                                               | a raw control signal                           |
//!
//! Sensors become outputs in the order of the model; `cutoff` is the bound of their physical range and the first `user`
//! number, if above 0, is the number of exported axes. A sensor named `Info/...` gives info values: sent to controllers, but
//! not part of what the robot itself senses.

use std::ops::Range;

use physics::{ActuatorId, JointId, JointKind, Model, SensorId, SensorKind};
use serde::Serialize;

use crate::agent::Action;

/// Angle error at which a torque motor has full torque if the controller gives only an angle, in rad.
const FULL_TORQUE_ERROR: f64 = 0.25;
/// Ratio of damping to stiffness for the same case, in s.
const DAMPING_TIME: f64 = 0.025;
/// Torque assumed where the model sets no limit, in N·m.
const UNLIMITED_TORQUE: f64 = 100.0;
/// Range assumed for angles without limits, in rad.
const UNLIMITED_ANGLE: f64 = std::f64::consts::PI;
/// Range assumed for speeds without limits, in rad/s.
const UNLIMITED_SPEED: f64 = 10.0;
/// Range of the gear of a torque motor.
const GEARS: std::ops::RangeInclusive<f64> = 1e-3..=1e3;

/// Bounds of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// Smallest value.
    pub min: f64,
    /// Largest value; above `min`.
    pub max: f64,
}

impl Bounds {
    /// From `-half` to `half`.
    pub fn symmetric(half: f64) -> Self {
        Self { min: -half, max: half }
    }

    /// From 0 to `max`.
    pub fn positive(max: f64) -> Self {
        Self { min: 0.0, max }
    }

    /// Whether both ends are finite and in order.
    fn is_valid(&self) -> bool {
        self.min.is_finite() && self.max.is_finite() && self.min < self.max
    }

    /// The nearest value inside.
    pub fn clamp(self, x: f64) -> f64 {
        x.clamp(self.min, self.max)
    }

    /// Clamps `x` to these bounds and maps it linearly to the other bounds.
    pub fn map_to(self, other: Bounds, x: f64) -> f64 {
        let part = (self.clamp(x) - self.min) / (self.max - self.min);
        other.clamp(other.min + part * (other.max - other.min))
    }
}

/// Direction of an interface value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Set by the controller: a motor.
    Input,
    /// Measured by the robot: a sensor.
    Output,
    /// For the controller's environment, such as a fitness function.
    Info,
}

/// One named number of a robot's interface.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InterfaceValue {
    /// Path below the agent, beginning with a slash: `/Left/Knee/JointAngle`.
    pub name: String,
    /// Input, output or info.
    pub role: Role,
    /// Unit of the physical value; empty for pure numbers.
    pub unit: &'static str,
    /// Range in physical units.
    pub physical: Bounds,
    /// Normalised range: -1 to 1, or 0 to 1.
    pub normalized: Bounds,
    /// The motor or sensor behind it.
    #[serde(skip)]
    pub port: Port,
    /// What the sensor measures; none for motors.
    #[serde(skip)]
    pub measures: Option<SensorKind>,
}

impl InterfaceValue {
    /// Normalised value of a physical one, clamped.
    pub fn normalized_from_physical(&self, physical: f64) -> f64 {
        self.physical.map_to(self.normalized, physical)
    }

    /// Normalised reading, from all sensor values of the world. `None` for inputs.
    pub fn normalized_from_sensors(&self, sensors: &[f64]) -> Option<f64> {
        match self.port {
            Port::Sensor(index) => sensors.get(index).map(|&x| self.normalized_from_physical(x)),
            // the engine reports -1 if nothing is in range: the largest distance
            Port::Distance(index) => {
                sensors.get(index).map(|&x| self.normalized_from_physical(if x < 0.0 { self.physical.max } else { x }))
            }
            Port::MotorTarget(_) | Port::MotorTorque(_) => None,
        }
    }

    /// Action of a normalised value, clamped. `None` for sensors.
    pub fn action(&self, normalized: f64) -> Option<Action> {
        match self.port {
            Port::MotorTarget(motor) => {
                let target = Some(self.physical_from_normalized(normalized));
                Some(Action::Set { motor, target, torque: None })
            }
            Port::MotorTorque(motor) => {
                Some(Action::Set { motor, target: None, torque: Some(self.normalized.clamp(normalized)) })
            }
            Port::Sensor(_) | Port::Distance(_) => None,
        }
    }

    /// Physical value of a normalised one, clamped.
    pub fn physical_from_normalized(&self, normalized: f64) -> f64 {
        self.normalized.map_to(self.physical, normalized)
    }
}

/// The source or destination of an interface value. Motors are counted within the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// The target of a motor.
    MotorTarget(usize),
    /// The fraction of its torque that a motor may use.
    MotorTorque(usize),
    /// One number among the sensor values of the world.
    Sensor(usize),
    /// A distance among the sensor values of the world; below 0 if nothing is in range.
    Distance(usize),
}

/// Meaning of a motor's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MotorKind {
    /// An angle in rad (or a length in m, for a sliding joint).
    Angle,
    /// A speed in rad/s (or m/s).
    Speed,
    /// A raw control signal.
    Signal,
}

/// How a motor is driven in the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drive {
    /// Three actuators whose gains follow each command.
    Feedback {
        /// Feed-forward torque.
        tau: ActuatorId,
        /// Position feedback.
        pos: ActuatorId,
        /// Velocity feedback.
        vel: ActuatorId,
        /// The driven joint.
        joint: JointId,
        /// Torque at the joint for a force of 1 of any of the three.
        gear: f64,
    },
    /// A position actuator.
    Servo {
        /// The actuator.
        actuator: ActuatorId,
        /// The driven joint.
        joint: JointId,
    },
    /// An actuator with a raw control signal.
    Plain {
        /// The actuator.
        actuator: ActuatorId,
        /// The driven joint, if it drives one.
        joint: Option<JointId>,
    },
}

/// One motor of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Motor {
    /// Name within the agent: `Left/Knee`, `he1`.
    pub name: String,
    /// Meaning of its target.
    pub kind: MotorKind,
    /// Whether it moves a sliding joint, and so works in m and N.
    pub sliding: bool,
    /// Range of the target, in physical units. Symmetric about 0 for angles, so that 0 is the null position.
    pub range: Bounds,
    /// Largest torque (or force), in N·m (or N); assumed if the model sets no limit.
    pub max_torque: f64,
    /// Torque by error: stiffness towards an angle (N·m/rad), or torque by a lack of speed (N·m·s/rad). That of a motor whose
    /// gains follow each command is used when a controller gives only an angle.
    pub gain: f64,
    /// Damping of motion towards an angle, in N·m·s/rad, used likewise.
    pub damping: f64,
    /// Speed that the set point of a servo is limited to, in rad/s.
    pub top_speed: Option<f64>,
    /// Damping of the joint itself, in N·m·s/rad.
    joint_damping: f64,
    /// Its actuators in the model.
    pub drive: Drive,
}

impl Motor {
    /// The joint it moves.
    pub fn joint(&self) -> Option<JointId> {
        match self.drive {
            Drive::Feedback { joint, .. } | Drive::Servo { joint, .. } => Some(joint),
            Drive::Plain { joint, .. } => joint,
        }
    }

    /// Torque at the joint for a force of 1 of its actuator.
    pub fn gear(&self) -> f64 {
        match self.drive {
            Drive::Feedback { gear, .. } => gear,
            Drive::Servo { .. } | Drive::Plain { .. } => 1.0,
        }
    }

    /// Largest lead of a servo's set point over the joint, in rad, that limits it to a top speed. `None` if nothing brakes it.
    pub(crate) fn reach(&self, gain: f64, damping: f64, top_speed: f64) -> Option<f64> {
        // torque = gain (set point - q) - brake dq, so this lead of the set point balances the top speed
        let brake = self.joint_damping + damping;
        Some(top_speed * brake / gain).filter(|&reach| reach > 0.0)
    }
}

/// The interface of one robot for controllers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interface {
    /// Motors, in the order of the model.
    pub motors: Vec<Motor>,
    /// Inputs, then outputs, then infos.
    pub values: Vec<InterfaceValue>,
}

impl Interface {
    /// Finds the motors and sensors of the robot whose names begin with `prefix`.
    pub fn of(model: &Model, prefix: &str) -> Self {
        let motors = motors(model, prefix);
        let mut values: Vec<_> = motors.iter().enumerate().flat_map(|(index, motor)| inputs(index, motor)).collect();
        let mut infos = Vec::new();
        for sensor in model.sensors() {
            let Some(name) = model.sensor_name(sensor).strip_prefix(prefix) else { continue };
            match name.strip_prefix("Info/") {
                Some(name) => infos.extend(sensed(model, sensor, name, Role::Info)),
                None => values.extend(sensed(model, sensor, name, Role::Output)),
            }
        }
        values.append(&mut infos);
        Self { motors, values }
    }

    /// The motor of this name.
    pub fn motor_named(&self, name: &str) -> Option<usize> {
        self.motors.iter().position(|motor| motor.name == name)
    }

    /// The values of one role, in order.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &InterfaceValue> {
        self.values.iter().filter(move |value| value.role == role)
    }
}

fn motors(model: &Model, prefix: &str) -> Vec<Motor> {
    let mut motors = Vec::new();
    for id in model.actuators() {
        let Some(name) = model.actuator_name(id).strip_prefix(prefix) else { continue };
        if let Some(name) = name.strip_suffix("_tau")
            && let Some(motor) = feedback_motor(model, prefix, name, id)
        {
            motors.push(motor);
        } else if is_part_of_feedback(model, prefix, name) {
            // counted with its `_tau`
        } else {
            motors.push(single_motor(model, name, id));
        }
    }
    motors
}

fn feedback_motor(model: &Model, prefix: &str, name: &str, tau: ActuatorId) -> Option<Motor> {
    let pos = model.actuator_named(&format!("{prefix}{name}_pos"))?;
    let vel = model.actuator_named(&format!("{prefix}{name}_vel"))?;
    let spec = model.actuator(tau);
    let joint = spec.joint?;
    let gear = spec.gear;
    if !GEARS.contains(&gear.abs()) || [pos, vel].iter().any(|&id| model.actuator(id).gear != gear) {
        return None;
    }
    let limit = model.joint_force_range(joint).or_else(|| model.actuator(pos).force_range.map(|r| r.map(|x| x * gear)));
    let max_torque = half_range(limit, UNLIMITED_TORQUE);
    let gain = max_torque / FULL_TORQUE_ERROR;
    Some(Motor {
        name: name.to_owned(),
        kind: MotorKind::Angle,
        sliding: model.joint_kind(joint) == JointKind::Slide,
        range: Bounds::symmetric(half_range(model.joint_range(joint), UNLIMITED_ANGLE)),
        max_torque,
        gain,
        damping: gain * DAMPING_TIME,
        top_speed: None,
        joint_damping: model.joint_damping(joint),
        drive: Drive::Feedback { tau, pos, vel, joint, gear },
    })
}

fn is_part_of_feedback(model: &Model, prefix: &str, name: &str) -> bool {
    let Some(name) = name.strip_suffix("_pos").or_else(|| name.strip_suffix("_vel")) else { return false };
    let Some(tau) = model.actuator_named(&format!("{prefix}{name}_tau")) else { return false };
    feedback_motor(model, prefix, name, tau).is_some()
}

fn single_motor(model: &Model, name: &str, id: ActuatorId) -> Motor {
    let spec = model.actuator(id);
    let [gain, ..] = spec.gain;
    let [_, stiffness, damping] = spec.bias;
    let max_torque = half_range(spec.force_range, UNLIMITED_TORQUE);
    let joint = spec.joint.filter(|&j| matches!(model.joint_kind(j), JointKind::Hinge | JointKind::Slide));
    let sliding = joint.is_some_and(|joint| model.joint_kind(joint) == JointKind::Slide);
    let motor = |kind, range, drive| Motor {
        name: name.to_owned(),
        kind,
        sliding,
        range,
        max_torque,
        gain,
        damping: -damping,
        top_speed: None,
        joint_damping: joint.map_or(0.0, |joint| model.joint_damping(joint)),
        drive,
    };
    match joint {
        Some(joint) if gain > 0.0 && stiffness == -gain => {
            let half = half_range(spec.ctrl_range.or(model.joint_range(joint)), UNLIMITED_ANGLE);
            let mut servo = motor(MotorKind::Angle, Bounds::symmetric(half), Drive::Servo { actuator: id, joint });
            let top_speed = spec.user.first().copied().filter(|&v| v > 0.0);
            servo.top_speed = top_speed.filter(|&v| servo.reach(gain, -damping, v).is_some());
            servo
        }
        Some(joint) if gain > 0.0 && stiffness == 0.0 && damping == -gain => {
            let range = Bounds::symmetric(half_range(spec.ctrl_range, UNLIMITED_SPEED));
            motor(MotorKind::Speed, range, Drive::Plain { actuator: id, joint: Some(joint) })
        }
        _ => {
            let range = spec.ctrl_range.map(|[min, max]| Bounds { min, max }).filter(Bounds::is_valid);
            motor(MotorKind::Signal, range.unwrap_or(Bounds::symmetric(1.0)), Drive::Plain { actuator: id, joint })
        }
    }
}

fn half_range(range: Option<[f64; 2]>, unlimited: f64) -> f64 {
    range.map(|[min, max]| min.abs().max(max.abs())).filter(|&half| half > 0.0 && half.is_finite()).unwrap_or(unlimited)
}

fn inputs(index: usize, motor: &Motor) -> Vec<InterfaceValue> {
    let name = &motor.name;
    let input = |name: String, unit, physical: Bounds, normalized, port| InterfaceValue {
        name,
        role: Role::Input,
        unit,
        physical,
        normalized,
        port,
        measures: None,
    };
    let target = |what: &str, unit| {
        let normalized = if motor.range.min < 0.0 { Bounds::symmetric(1.0) } else { Bounds::positive(1.0) };
        input(format!("/{name}/{what}"), unit, motor.range, normalized, Port::MotorTarget(index))
    };
    let (angle_unit, speed_unit, torque_unit) =
        if motor.sliding { ("m", "m/s", "N") } else { ("rad", "rad/s", "N·m") };
    match motor.kind {
        MotorKind::Angle => {
            let torque = input(
                format!("/{name}/DesiredTorque"),
                torque_unit,
                Bounds::positive(motor.max_torque),
                Bounds::positive(1.0),
                Port::MotorTorque(index),
            );
            vec![target("DesiredAngle", angle_unit), torque]
        }
        MotorKind::Speed => vec![target("DesiredVelocity", speed_unit)],
        MotorKind::Signal => vec![target("Signal", "")],
    }
}

fn sensed(model: &Model, sensor: SensorId, name: &str, role: Role) -> Vec<InterfaceValue> {
    let spec = model.sensor(sensor);
    let sliding = spec.joint.is_some_and(|joint| model.joint_kind(joint) == JointKind::Slide);
    let Quantity { unit, bound, axes } = quantity(spec.kind, sliding);
    let bound = if spec.cutoff > 0.0 && spec.cutoff.is_finite() { spec.cutoff } else { bound };
    let (physical, normalized) = if spec.positive {
        (Bounds::positive(bound), Bounds::positive(1.0))
    } else {
        (Bounds::symmetric(bound), Bounds::symmetric(1.0))
    };
    let Range { start, .. } = model.sensor_range(sensor);
    // a sensor without numbers of its own has a 0 when another sensor of the world has some
    let exported = spec.user.first().map(|&n| n as usize).filter(|&n| n > 0).map_or(spec.dim, |n| n.min(spec.dim));
    let port = |index| if spec.kind == SensorKind::Rangefinder { Port::Distance(index) } else { Port::Sensor(index) };
    (0..exported)
        .map(|axis| InterfaceValue {
            name: match axes.get(axis) {
                Some(suffix) if spec.dim > 1 => format!("/{name}/{suffix}"),
                None if spec.dim > 1 => format!("/{name}/{}", axis + 1),
                _ => format!("/{name}"),
            },
            role,
            unit,
            physical,
            normalized,
            port: port(start + axis),
            measures: Some(spec.kind),
        })
        .collect()
}

/// Unit, bound without a cutoff, and names of the axes of what a sensor measures.
struct Quantity {
    unit: &'static str,
    bound: f64,
    axes: &'static [&'static str],
}

fn quantity(kind: SensorKind, sliding: bool) -> Quantity {
    const XYZ: &[&str] = &["X", "Y", "Z"];
    const ACCEL: &[&str] = &["AccelAxis1", "AccelAxis2", "AccelAxis3"];
    let (unit, bound, axes) = match kind {
        SensorKind::Accelerometer => ("m/s²", 39.24, ACCEL),
        SensorKind::Gyro => ("rad/s", 35.0, &["GyroAxis1", "GyroAxis2", "GyroAxis3"][..]),
        SensorKind::Velocimeter => ("m/s", 10.0, XYZ),
        SensorKind::JointPos => (if sliding { "m" } else { "rad" }, UNLIMITED_ANGLE, &[][..]),
        SensorKind::JointVel => (if sliding { "m/s" } else { "rad/s" }, 20.0, &[][..]),
        SensorKind::Touch => ("N", 100.0, &[][..]),
        SensorKind::Force => ("N", 1000.0, XYZ),
        SensorKind::Torque => ("N·m", 100.0, XYZ),
        SensorKind::Rangefinder => ("m", 10.0, &[][..]),
        SensorKind::FramePos => ("m", 100.0, XYZ),
        SensorKind::FrameXAxis | SensorKind::FrameYAxis | SensorKind::FrameZAxis => ("", 1.0, XYZ),
        SensorKind::FrameLinVel => ("m/s", 10.0, XYZ),
        SensorKind::FrameAngVel => ("rad/s", 35.0, XYZ),
        SensorKind::FrameQuat => ("", 1.0, &["W", "X", "Y", "Z"][..]),
        _ => ("", 1.0, &[][..]),
    };
    Quantity { unit, bound, axes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ranges_clamp() {
        let value = InterfaceValue {
            name: "/Knee/DesiredAngle".into(),
            role: Role::Input,
            unit: "rad",
            physical: Bounds::symmetric(2.5),
            normalized: Bounds::symmetric(1.0),
            port: Port::MotorTarget(0),
            measures: None,
        };
        for (normalized, physical) in [(0.0, 0.0), (1.0, 2.5), (-1.0, -2.5), (0.5, 1.25)] {
            assert_eq!(value.physical_from_normalized(normalized), physical);
            assert_eq!(value.normalized_from_physical(physical), normalized);
        }
        assert_eq!(value.physical_from_normalized(7.0), 2.5);
        assert_eq!(value.normalized_from_physical(-99.0), -1.0);
    }
}
