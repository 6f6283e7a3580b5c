//! Robots on two legs: posture, actions and state, as their tasks use them.
//!
//! An action moves the leg joints around the nominal posture; all other joints hold it. What a robot observes of itself is,
//! in this order: the direction of gravity (3, in its root's frame), angular velocity (3, × 0.25 s/rad), the leg joints' angles
//! relative to the posture (rad) and speeds (× 0.05 s/rad), and the last action.

use physics::{BodyId, Fault, GeomId, JointId, Model, Pose, SensorId, Velocity};
use world::{Action, AgentId, JointTarget, World, interface::Bounds};

use super::{AGENT, agent, missing};
use crate::{
    error::EnvError,
    random::Random,
    spaces::{Writer, symmetric},
};

const SPIN_SCALE: f64 = 0.25;
const SPEED_SCALE: f64 = 0.05;
/// Bounds of the observed angular velocity, joint angles and joint speeds.
const MOST_SPIN: f64 = 10.0;
const MOST_ANGLE: f64 = 4.0;
const MOST_SPEED: f64 = 5.0;
/// Height of the soles above the ground when an episode begins, in m.
const GAP: f64 = 0.002;
/// A robot has fallen when its root is below this fraction of its height, or leans by more than 60°.
const FALLEN_HEIGHT: f64 = 0.7;
const FALLEN_GRAVITY: f64 = -0.5;

/// How a robot stands and is driven.
pub(super) struct Posture {
    /// The motors that actions move: names, and angles in the posture, in rad.
    pub(super) legs: &'static [(&'static str, f64)],
    /// Other joints that are not at 0 in the posture.
    pub(super) others: &'static [(&'static str, f64)],
    /// Stiffness and damping of a motor, by its name; `None` if it is a servo with gains of its own.
    pub(super) gains: fn(&str) -> Option<[f64; 2]>,
    /// Names of the soles' geoms: boxes, which are level in the posture.
    pub(super) soles: [&'static str; 2],
    /// Angle by which an action of 1 moves a joint away from the posture, in rad.
    pub(super) scale: f64,
    /// Names of the sensors of orientation and angular velocity, and of those of a motor's angle and speed. Robots without
    /// them observe the simulation's state.
    pub(super) sensors: Option<Sensors>,
}

/// Names of the sensors that a robot observes itself with.
pub(super) struct Sensors {
    pub(super) orientation: &'static str,
    pub(super) gyro: &'static str,
    pub(super) joint: fn(&str) -> [String; 2],
}

/// A robot on two legs.
pub(super) struct Legs {
    agent: AgentId,
    root: BodyId,
    /// Indices of its root's position and velocity in those of the world.
    qpos: usize,
    qvel: usize,
    joints: Vec<Joint>,
    /// Which of the joints actions move.
    moved: Vec<usize>,
    senses: Option<Senses>,
    scale: f64,
    /// Height of the root when the robot stands, in m.
    height: f64,
    action: Vec<f64>,
    before: Vec<f64>,
}

#[derive(Clone, Copy)]
struct Joint {
    motor: usize,
    id: JointId,
    /// Angle in the posture, in rad.
    rest: f64,
    gains: Option<[f64; 2]>,
}

/// The sensors that a robot observes itself with.
struct Senses {
    orientation: SensorId,
    gyro: SensorId,
    /// Indices of angle and speed of each moved joint among all sensor values.
    joints: Vec<[usize; 2]>,
}

impl Joint {
    fn target(&self, angle: f64) -> Action {
        match self.gains {
            Some([kp, kd]) => {
                Action::Joint { motor: self.motor, target: JointTarget { q: angle, dq: 0.0, kp, kd, tau: 0.0 } }
            }
            None => Action::Set { motor: self.motor, target: Some(angle), torque: None },
        }
    }
}

impl Legs {
    pub(super) fn new(world: &mut World, posture: &Posture) -> Result<Self, EnvError> {
        let card = agent(world)?;
        let model = world.sim().model().clone();
        let (root, free) = root(world)?;
        let mut joints = Vec::new();
        for (motor, spec) in card.motors.iter().enumerate() {
            let found = world.motor_joint(card.id, &spec.name);
            let id = found.ok_or_else(|| missing(format_args!("joint of the motor `{}`", spec.name)))?;
            let known = posture.legs.iter().chain(posture.others).find(|(name, _)| *name == spec.name);
            let rest = known.map_or(0.0, |(_, angle)| *angle);
            joints.push(Joint { motor, id, rest, gains: (posture.gains)(&spec.name) });
        }
        let motor_named = |&(name, _): &(&str, f64)| {
            let found = card.motors.iter().position(|motor| motor.name == name);
            found.ok_or_else(|| missing(format_args!("motor `{name}`")))
        };
        let moved = posture.legs.iter().map(motor_named).collect::<Result<Vec<_>, _>>()?;
        let senses = posture.sensors.as_ref().map(|sensors| Senses::new(&model, sensors, posture.legs)).transpose()?;
        let sole = |name: &str| model.geom_named(&own(name)).ok_or_else(|| missing(format_args!("geom `{name}`")));
        let [left, right] = posture.soles.map(sole);
        let (soles, count) = ([left?, right?], moved.len());
        let mut legs = Self {
            agent: card.id,
            root,
            qpos: model.joint_qpos_index(free),
            qvel: model.joint_dof_index(free),
            joints,
            moved,
            senses,
            scale: posture.scale,
            height: 0.0,
            action: vec![0.0; count],
            before: vec![0.0; count],
        };
        legs.height = legs.measure_height(world, soles)?;
        Ok(legs)
    }

    /// Height of the root above the soles in the posture, and the gap.
    fn measure_height(&self, world: &mut World, soles: [GeomId; 2]) -> Result<f64, Fault> {
        const LIFTED: f64 = 2.0;
        let sim = world.sim_mut();
        self.joints.iter().for_each(|joint| sim.set_joint_position(joint.id, joint.rest));
        sim.place(self.root, Pose::at(0.0, 0.0, LIFTED));
        world.refresh()?;
        let sim = world.sim();
        let bottom = |sole| sim.geom_pose(sole).pos[2] - sim.geom_size(sole)[2];
        let lowest = soles.map(bottom).into_iter().fold(LIFTED, f64::min);
        Ok(LIFTED - lowest + GAP)
    }

    /// Number of actions.
    pub(super) fn count(&self) -> usize {
        self.moved.len()
    }

    /// Height of the root when the robot stands, in m.
    pub(super) fn height(&self) -> f64 {
        self.height
    }

    /// Bounds of what [`Legs::observe`] writes.
    pub(super) fn bounds(&self) -> impl Iterator<Item = Bounds> + use<> {
        let count = self.count();
        symmetric(1.0, 3)
            .chain(symmetric(MOST_SPIN, 3))
            .chain(symmetric(MOST_ANGLE, count))
            .chain(symmetric(MOST_SPEED, count))
            .chain(symmetric(1.0, count))
    }

    /// Puts the robot on its feet in the posture, with leg joints up to `noise` (rad) away from it, and holds it.
    pub(super) fn stand(
        &mut self,
        world: &mut World,
        [x, y, heading]: [f64; 3],
        noise: f64,
        random: &mut Random,
    ) -> Result<(), Fault> {
        self.action.fill(0.0);
        self.before.fill(0.0);
        let sim = world.sim_mut();
        self.joints.iter().for_each(|joint| sim.set_joint_position(joint.id, joint.rest));
        for &index in &self.moved {
            let Joint { id, rest, .. } = self.joints[index];
            sim.set_joint_position(id, rest + random.around(noise));
        }
        sim.place(self.root, Pose::facing(x, y, self.height, heading));
        world.move_motors(self.agent, self.joints.iter().map(|joint| joint.target(joint.rest)));
        world.refresh()
    }

    /// Moves the leg joints.
    pub(super) fn act(&mut self, world: &mut World, action: &[f32]) {
        std::mem::swap(&mut self.before, &mut self.action);
        for (own, given) in self.action.iter_mut().zip(action) {
            *own = f64::from(*given);
        }
        let targets = self.moved.iter().zip(&self.action).map(|(&index, part)| {
            let joint = self.joints[index];
            joint.target(joint.rest + self.scale * part)
        });
        world.move_motors(self.agent, targets);
    }

    /// Pushes the robot: adds a velocity, in m/s.
    pub(super) fn push(&self, world: &mut World, [x, y]: [f64; 2]) {
        let [vx, vy, vz] = self.velocity(world);
        let angular = self.pose(world).turn(self.spin(world));
        world.sim_mut().set_free_velocity(self.root, Velocity { linear: [vx + x, vy + y, vz], angular });
    }

    /// Pose of the root.
    pub(super) fn pose(&self, world: &World) -> Pose {
        let [x, y, z, quat @ ..] = slice::<7>(world.sim().qpos(), self.qpos);
        Pose { pos: [x, y, z], quat }
    }

    /// Velocity of the root, in m/s, world frame.
    pub(super) fn velocity(&self, world: &World) -> [f64; 3] {
        slice(world.sim().qvel(), self.qvel)
    }

    /// Angular velocity of the root, in rad/s, in its own frame.
    pub(super) fn spin(&self, world: &World) -> [f64; 3] {
        slice(world.sim().qvel(), self.qvel + 3)
    }

    /// Direction of gravity in the root's frame.
    pub(super) fn gravity(&self, world: &World) -> [f64; 3] {
        self.pose(world).inverse().turn([0.0, 0.0, -1.0])
    }

    /// How far the root leans: the square of the sine of the angle.
    pub(super) fn lean(&self, world: &World) -> f64 {
        let [x, y, _] = self.gravity(world);
        x * x + y * y
    }

    pub(super) fn has_fallen(&self, world: &World) -> bool {
        let [_, _, gravity] = self.gravity(world);
        self.pose(world).pos[2] < FALLEN_HEIGHT * self.height || gravity > FALLEN_GRAVITY
    }

    /// Sum of the squares of the changes of the last action.
    pub(super) fn jerk(&self) -> f64 {
        self.action.iter().zip(&self.before).map(|(a, b)| (a - b) * (a - b)).sum()
    }

    /// Sum of the squares of the leg joints' speeds, in rad²/s².
    pub(super) fn bustle(&self, world: &World) -> f64 {
        let speeds = self.moved.iter().map(|&index| world.sim().joint_velocity(self.joints[index].id));
        speeds.map(|speed| speed * speed).sum()
    }

    /// Writes what the robot observes of itself.
    pub(super) fn observe(&self, world: &World, out: &mut Writer<'_>) {
        let sim = world.sim();
        let (gravity, spin) = match &self.senses {
            Some(senses) => {
                let quat = slice(sim.sensor(senses.orientation), 0);
                let gravity = Pose { pos: [0.0; 3], quat }.inverse().turn([0.0, 0.0, -1.0]);
                (gravity, slice(sim.sensor(senses.gyro), 0))
            }
            None => (self.gravity(world), self.spin(world)),
        };
        out.extend(gravity);
        out.extend(spin.map(|x| SPIN_SCALE * x));
        let joint = |place: usize| {
            let Joint { id, rest, .. } = self.joints[self.moved[place]];
            let [angle, speed] = match &self.senses {
                Some(senses) => senses.joints[place].map(|index| sim.sensor_values()[index]),
                None => [sim.joint_position(id), sim.joint_velocity(id)],
            };
            [angle - rest, SPEED_SCALE * speed]
        };
        out.extend((0..self.count()).map(|place| joint(place)[0]));
        out.extend((0..self.count()).map(|place| joint(place)[1]));
        out.extend(self.action.iter().copied());
    }
}

impl Senses {
    fn new(model: &Model, names: &Sensors, legs: &[(&str, f64)]) -> Result<Self, EnvError> {
        let sensor =
            |name: &str| model.sensor_named(&own(name)).ok_or_else(|| missing(format_args!("sensor `{name}`")));
        let value = |name: &String| sensor(name).map(|sensor| model.sensor_range(sensor).start);
        let joints = legs.iter().map(|(motor, _)| {
            let [angle, speed] = (names.joint)(motor);
            Ok([value(&angle)?, value(&speed)?])
        });
        Ok(Self {
            orientation: sensor(names.orientation)?,
            gyro: sensor(names.gyro)?,
            joints: joints.collect::<Result<_, EnvError>>()?,
        })
    }
}

/// The root of the robot, and the joint by which it moves freely.
pub(crate) fn root(world: &World) -> Result<(BodyId, JointId), EnvError> {
    let model = world.sim().model();
    let root = model.bodies().find(|&body| model.body_name(body).starts_with(&own("")));
    let root = root.ok_or_else(|| missing("root body"))?;
    Ok((root, model.body_free_joint(root).ok_or_else(|| missing("free joint"))?))
}

/// Full name of a part of the robot.
pub(super) fn own(name: &str) -> String {
    format!("{AGENT}:{name}")
}

/// The part of a row of numbers that begins at `start`.
pub(crate) fn slice<const N: usize>(numbers: &[f64], start: usize) -> [f64; N] {
    std::array::from_fn(|i| numbers[start + i])
}

/// Direction that a pose faces, in rad, counter-clockwise from the world's x axis.
pub(super) fn heading(pose: &Pose) -> f64 {
    let [x, y, _] = pose.turn([1.0, 0.0, 0.0]);
    y.atan2(x)
}

/// A horizontal vector of the world in a frame that faces `heading`.
pub(super) fn seen_from(heading: f64, [x, y]: [f64; 2]) -> [f64; 2] {
    let (sin, cos) = heading.sin_cos();
    [cos * x + sin * y, cos * y - sin * x]
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;

    #[test]
    fn vectors_turn_into_the_frame_of_a_heading() {
        for (turn, vector, wanted) in
            [(0.0, [1.0, 2.0], [1.0, 2.0]), (FRAC_PI_2, [0.0, 1.0], [1.0, 0.0]), (FRAC_PI_2, [1.0, 0.0], [0.0, -1.0])]
        {
            assert!((heading(&Pose::facing(0.0, 0.0, 0.0, turn)) - turn).abs() < 1e-12);
            let seen = seen_from(turn, vector);
            assert!(seen.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{turn} {vector:?}: {seen:?}");
        }
    }
}
