//! The director that connects a puppet with a robot in a world.

use std::{convert::Infallible, sync::Arc};

use physics::Pose;
use serde::{Deserialize, Serialize};
use world::{
    Action, AgentId, Value, World,
    director::{Director, NoJoinRequest, Spawn, View},
};

use crate::{
    gesture::{GestureError, Gestures},
    puppet::{AttributedOrder, Puppet, PuppetOrder, PuppetParameters, PuppetRefusal},
    servo::{COUNT, Positions, SERVOS, index},
};

/// A robot that stands is tilted less than this, in rad; beyond that, its weight is no longer above its feet.
const MAX_TILT: f64 = 0.25;
/// A robot that stands has at least this fraction of its initial height.
const MIN_HEIGHT: f64 = 0.8;

/// A set of servos: those of the simulated robot, or real ones.
pub trait Hardware: Send {
    /// Sets the target positions, 0 to 1. Must not block.
    fn move_to(&mut self, positions: &Positions);
}

/// The robot's motors in the world, indexed by servo.
#[derive(Clone, Debug)]
struct Joints {
    agent: AgentId,
    /// Indices of the agent's motors.
    motors: [usize; COUNT],
    /// Last position set.
    ordered: [Option<f32>; COUNT],
}

/// Why a robot cannot be controlled as a puppet.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAPuppet {
    /// The world has no robot of this name.
    #[error("no robot named `{robot}`; add a [[robot]] of this name with the model `alice`")]
    NoRobot {
        /// Name of the robot.
        robot: String,
    },
    /// The robot lacks a servo.
    #[error("the robot `{robot}` has no motor `{servo}`; a puppet needs all {COUNT} servos of the model `alice`")]
    NoServo {
        /// Name of the robot.
        robot: String,
        /// Name of the servo.
        servo: &'static str,
    },
}

impl Joints {
    fn find(world: &world::Catalogue, robot: &str) -> Result<Self, NotAPuppet> {
        let card = world.agent_named(robot).ok_or_else(|| NotAPuppet::NoRobot { robot: robot.to_owned() })?;
        let mut motors = [0; COUNT];
        for (motor, servo) in motors.iter_mut().zip(&SERVOS) {
            let index = card.motors.iter().position(|motor| motor.name == servo.name);
            let missing = || NotAPuppet::NoServo { robot: robot.to_owned(), servo: servo.name };
            *motor = index.ok_or_else(missing)?;
        }
        Ok(Self { agent: card.id, motors, ordered: [None; COUNT] })
    }
}

/// The simulated robot. Sets only the servos whose position changes, so that targets of other protocols stay until then.
struct Simulated<'a> {
    world: &'a mut World,
    joints: &'a mut Joints,
}

impl Hardware for Simulated<'_> {
    fn move_to(&mut self, positions: &Positions) {
        let Joints { agent, motors, ordered } = &mut *self.joints;
        let servos = motors.iter().zip(ordered).zip(positions).zip(&SERVOS);
        let moved = servos.filter(|(((_, ordered), position), _)| **ordered != Some(**position));
        let actions = moved.map(|(((&motor, ordered), &position), servo)| {
            *ordered = Some(position);
            Action::Set { motor, target: Some(servo.angle(position)), torque: None }
        });
        self.world.move_motors(*agent, actions);
    }
}

/// Configuration of a puppet, as stored in recordings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PuppetConfig {
    /// Name of the robot.
    pub robot: String,
    /// Blink rate after a reset, per second.
    pub blinks: f32,
    /// Additional gestures: file names and contents.
    pub gestures: Vec<(String, String)>,
}

impl PuppetConfig {
    /// The protocol's gestures and the additional ones.
    pub fn all_gestures(&self) -> Result<Gestures, GestureError> {
        let mut gestures = Gestures::shipped()?;
        for (file, text) in &self.gestures {
            gestures.add(file, text)?;
        }
        Ok(gestures)
    }

    /// The puppet, without a world.
    pub fn puppet(&self) -> Result<Puppet, GestureError> {
        Ok(Puppet::new(PuppetParameters { gestures: self.all_gestures()?, blinks: self.blinks, seed: 0 }))
    }

    /// As JSON, for [`PuppetConfig::from_description`].
    pub fn description(&self) -> String {
        // cannot fail: the type has only strings and numbers
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses a description.
    pub fn from_description(description: &str) -> Result<Self, String> {
        serde_json::from_str(description).map_err(|error| error.to_string())
    }
}

/// Controls one robot of a world.
pub struct PuppetDirector {
    puppet: Puppet,
    robot: String,
    joints: Option<Joints>,
    /// Whether a reset was ordered in this tick.
    resets: bool,
    hardware: Vec<Box<dyn Hardware>>,
    view: View,
}

impl PuppetDirector {
    /// A director for the configured robot, which may be added to the world later.
    pub fn new(config: &PuppetConfig) -> Result<Self, GestureError> {
        let puppet = config.puppet()?;
        let view = Arc::new(puppet.view());
        Ok(Self { puppet, robot: config.robot.clone(), joints: None, resets: false, hardware: Vec::new(), view })
    }

    /// Yaw and pitch of the robot's head, in rad.
    fn head(&self, world: &World) -> Option<[f32; 2]> {
        let agent = self.joints.as_ref()?.agent;
        let angle = |servo: usize| {
            let joint = world.motor_joint(agent, SERVOS.get(servo)?.name)?;
            Some(world.sim().joint_position(joint) as f32)
        };
        Some([angle(index::NECK_YAW)?, angle(index::NECK_PITCH)?])
    }

    /// Puts a robot that does not stand back to its start pose.
    fn stand_up(&mut self, world: &mut World) {
        let Some(joints) = &mut self.joints else { return };
        if world.root_poses(joints.agent).is_some_and(|[now, start]| !is_standing(&now, &start)) {
            world.restart_agent(joints.agent);
            joints.ordered = [None; COUNT];
            self.puppet.settle();
        }
    }

    /// Also moves real servos, after each tick.
    #[must_use]
    pub fn with_hardware(mut self, hardware: Box<dyn Hardware>) -> Self {
        self.hardware.push(hardware);
        self
    }

    /// Checks that the world has a suitable robot of this name.
    pub fn check(world: &world::Catalogue, robot: &str) -> Result<(), NotAPuppet> {
        Joints::find(world, robot).map(|_| ())
    }
}

/// Whether a robot that stands at `start` still does so at `now`.
fn is_standing(now: &Pose, start: &Pose) -> bool {
    let up = |pose: &Pose| pose.turn([0.0, 0.0, 1.0]);
    let cosine: f64 = up(now).iter().zip(up(start)).map(|(now, start)| now * start).sum();
    cosine > MAX_TILT.cos() && now.pos[2] > MIN_HEIGHT * start.pos[2]
}

impl Director for PuppetDirector {
    const NAME: &'static str = "oz";
    type Order = AttributedOrder;
    /// Orders have no answers; their effects are reported as events.
    type Answer = Infallible;
    type Refusal = PuppetRefusal;
    type JoinRequest = NoJoinRequest;

    fn variables(&self) -> Vec<(String, Value)> {
        let view = self.puppet.view();
        let number = |name: &str, value: f32| (format!("/Oz/{name}"), Value::Double(f64::from(value)));
        let count = |name: &str, value: i64| (format!("/Oz/{name}"), Value::Integer(value));
        vec![
            ("/Oz/Speaking".to_owned(), Value::Boolean(view.speech_request.is_some())),
            count("Gestures", view.gestures as i64),
            count("Expression", view.expression.into()),
            count("LookAt", view.look_at as i64),
            count("Faces", view.faces.len() as i64),
            number("AutoBlinkSpeed", view.blinks),
            number("VoiceVolume", view.voice.volume),
            number("VoicePitch", view.voice.pitch),
            number("Weight/Gesture", view.weights.gesture),
            number("Weight/Expression", view.weights.expression),
            number("Weight/LookAt", view.weights.look_at),
            number("Weight/RandomHead", view.weights.random_head),
            number("Weight/RandomEyes", view.weights.random_eyes),
            number("Weight/RandomFace", view.weights.random_face),
            number("Weight/Direct", view.weights.direct),
        ]
    }

    fn reset(&mut self, world: &mut World) {
        self.puppet.restart(world.seed());
        self.joints = None;
        self.model_changed(world);
        self.view = Arc::new(self.puppet.view());
    }

    fn model_changed(&mut self, world: &mut World) {
        let before = self.joints.take();
        self.joints = Joints::find(world.catalogue(), &self.robot).ok();
        // the motors of an existing robot have kept their targets
        if let (Some(now), Some(before)) = (&mut self.joints, before)
            && now.agent == before.agent
        {
            now.ordered = before.ordered;
        }
    }

    fn before_physics(&mut self, world: &mut World) {
        if std::mem::take(&mut self.resets) {
            self.stand_up(world);
        }
    }

    fn before_step(&mut self, world: &mut World) {
        self.puppet.step(world.sim().timestep() as f32);
        if let Some(joints) = &mut self.joints {
            Simulated { world, joints }.move_to(&self.puppet.positions());
        }
    }

    fn after_physics(&mut self, world: &mut World) {
        // the snapshot of this state has the number of the next tick
        self.puppet.end_tick(world.tick_count().0 + 1, self.head(world));
        let positions = self.puppet.positions();
        self.hardware.iter_mut().for_each(|hardware| hardware.move_to(&positions));
        self.view = Arc::new(self.puppet.view());
    }

    fn admit(&mut self, _: &mut World, request: &NoJoinRequest) -> Result<Spawn, PuppetRefusal> {
        match *request {}
    }

    fn apply_order(&mut self, _: &mut World, order: AttributedOrder) -> Result<Option<Infallible>, PuppetRefusal> {
        order.check_source()?;
        let resets = order.order == PuppetOrder::Reset;
        self.puppet.apply(order)?;
        self.resets |= resets;
        Ok(None)
    }

    fn view(&self) -> View {
        Arc::clone(&self.view)
    }
}

#[cfg(test)]
mod tests;
