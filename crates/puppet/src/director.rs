//! The puppet in a world: it directs the motors of one robot.

use std::{convert::Infallible, sync::Arc};

use serde::{Deserialize, Serialize};
use world::{
    Action, AgentId, Value, World,
    director::{Director, NoJoinRequest, Spawn, View},
};

use crate::{
    gesture::{GestureError, Gestures},
    puppet::{AttributedOrder, Parts, Puppet, PuppetRefusal},
    servo::{COUNT, Positions, SERVOS},
};

/// What servos move: those of the simulated robot, or real ones beside it.
pub trait Hardware: Send {
    /// Moves the servos to positions, 0 to 1. Must not wait: whatever is slow has a thread of its own.
    fn move_to(&mut self, positions: &Positions);
}

/// The robot's motors in the world, by servo.
#[derive(Clone, Debug)]
struct Joints {
    agent: AgentId,
    /// Places among the agent's motors.
    motors: [usize; COUNT],
    /// What was last ordered.
    ordered: [Option<f32>; COUNT],
}

/// Why a robot cannot be a puppet.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAPuppet {
    /// There is none of this name.
    #[error("there is no robot `{robot}` in the world; add a [[robot]] of this name with the model `alice`")]
    NoRobot {
        /// Its name.
        robot: String,
    },
    /// It lacks a servo.
    #[error("the robot `{robot}` has no motor `{servo}`: a puppet has all {COUNT} servos, as the model `alice` does")]
    NoServo {
        /// Its name.
        robot: String,
        /// The servo's.
        servo: &'static str,
    },
}

impl Joints {
    fn find(world: &world::Catalogue, robot: &str) -> Result<Self, NotAPuppet> {
        let card = world.agent_named(robot).ok_or_else(|| NotAPuppet::NoRobot { robot: robot.to_owned() })?;
        let mut motors = [0; COUNT];
        for (motor, servo) in motors.iter_mut().zip(&SERVOS) {
            let place = card.motors.iter().position(|motor| motor.name == servo.name);
            let missing = || NotAPuppet::NoServo { robot: robot.to_owned(), servo: servo.name };
            *motor = place.ok_or_else(missing)?;
        }
        Ok(Self { agent: card.id, motors, ordered: [None; COUNT] })
    }
}

/// The simulated robot. Only servos that are to move are told so: whoever else moves a motor is left alone until then.
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

/// What a puppet is made of, as a recording keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PuppetConfig {
    /// Name of the robot.
    pub robot: String,
    /// Blinks a second after a reset.
    pub blinks: f32,
    /// Gestures besides the protocol's own: names of files, and what they say.
    pub gestures: Vec<(String, String)>,
}

impl PuppetConfig {
    /// All gestures, the protocol's own and the others.
    pub fn all_gestures(&self) -> Result<Gestures, GestureError> {
        let mut gestures = Gestures::shipped()?;
        for (place, text) in &self.gestures {
            gestures.add(place, text)?;
        }
        Ok(gestures)
    }

    /// The puppet by itself, without a world.
    pub fn puppet(&self) -> Result<Puppet, GestureError> {
        Ok(Puppet::new(Parts { gestures: self.all_gestures()?, blinks: self.blinks, seed: 0 }))
    }

    /// In words, for [`PuppetConfig::from_description`].
    pub fn description(&self) -> String {
        // it has nothing that JSON cannot hold
        serde_json::to_string(self).unwrap_or_default()
    }

    /// From its description.
    pub fn from_description(description: &str) -> Result<Self, String> {
        serde_json::from_str(description).map_err(|error| error.to_string())
    }
}

/// Directs one robot of a world.
pub struct PuppetDirector {
    puppet: Puppet,
    robot: String,
    joints: Option<Joints>,
    hardware: Vec<Box<dyn Hardware>>,
    view: View,
}

impl PuppetDirector {
    /// For the robot that the configuration names, which may come later.
    pub fn new(config: &PuppetConfig) -> Result<Self, GestureError> {
        let puppet = config.puppet()?;
        let view = Arc::new(puppet.view());
        Ok(Self { puppet, robot: config.robot.clone(), joints: None, hardware: Vec::new(), view })
    }

    /// Moves real servos as well, after each tick.
    #[must_use]
    pub fn with_hardware(mut self, hardware: Box<dyn Hardware>) -> Self {
        self.hardware.push(hardware);
        self
    }

    /// Whether a world has a robot of this name that can be a puppet.
    pub fn check(world: &world::Catalogue, robot: &str) -> Result<(), NotAPuppet> {
        Joints::find(world, robot).map(|_| ())
    }
}

impl Director for PuppetDirector {
    const NAME: &'static str = "oz";
    type Order = AttributedOrder;
    /// Orders have no answers: what becomes of them is in the events.
    type Answer = Infallible;
    type Refusal = PuppetRefusal;
    type JoinRequest = NoJoinRequest;

    fn variables(&self) -> Vec<(String, Value)> {
        let view = self.puppet.view();
        let number = |name: &str, value: f32| (format!("/Oz/{name}"), Value::Double(f64::from(value)));
        let count = |name: &str, value: i64| (format!("/Oz/{name}"), Value::Integer(value));
        vec![
            ("/Oz/Speaking".to_owned(), Value::Boolean(view.wanted.is_some())),
            count("Gestures", view.gestures as i64),
            count("Expression", view.expression.into()),
            count("LookAt", view.look_at as i64),
            count("Faces", view.faces.len() as i64),
            number("AutoBlinkSpeed", view.blinks),
            number("VoiceVolume", view.manner.volume),
            number("VoicePitch", view.manner.pitch),
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
        self.puppet.begin_anew(world.seed());
        self.joints = None;
        self.model_changed(world);
        self.view = Arc::new(self.puppet.view());
    }

    fn model_changed(&mut self, world: &mut World) {
        let before = self.joints.take();
        self.joints = Joints::find(world.catalogue(), &self.robot).ok();
        // a robot that was there before has kept its orders, whoever gave them
        if let (Some(now), Some(before)) = (&mut self.joints, before)
            && now.agent == before.agent
        {
            now.ordered = before.ordered;
        }
    }

    fn before_physics(&mut self, _: &mut World) {}

    fn before_step(&mut self, world: &mut World) {
        self.puppet.step(world.sim().timestep() as f32);
        if let Some(joints) = &mut self.joints {
            Simulated { world, joints }.move_to(&self.puppet.positions());
        }
    }

    fn after_physics(&mut self, world: &mut World) {
        // snapshots of it will have the number of the tick that comes next
        self.puppet.tick_over(world.tick_count().0 + 1);
        let positions = self.puppet.positions();
        self.hardware.iter_mut().for_each(|hardware| hardware.move_to(&positions));
        self.view = Arc::new(self.puppet.view());
    }

    fn admit(&mut self, _: &mut World, request: &NoJoinRequest) -> Result<Spawn, PuppetRefusal> {
        match *request {}
    }

    fn apply_order(&mut self, _: &mut World, order: AttributedOrder) -> Result<Option<Infallible>, PuppetRefusal> {
        order.check_source()?;
        self.puppet.apply(order.order)?;
        Ok(None)
    }

    fn view(&self) -> View {
        Arc::clone(&self.view)
    }
}

#[cfg(test)]
mod tests;
