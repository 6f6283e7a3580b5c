//! Whoever has a say in the world besides physics: a game with its referee, a puppet with its mixer.
//!
//! A director lives on the sim thread with its world, and is as deterministic: what it does follows from the world, the
//! seed and the orders it was given, and orders are recorded.

use std::{any::Any, sync::Arc};

use physics::{JointId, Pose, Sim};

use crate::{agent::AgentId, record::Entry, value::Value, world::World};

/// Why an order is refused in a world without a director.
const NOBODY: &str = "nobody directs this world";

/// What a director shows to sessions in every snapshot. A session that knows the director knows the type.
pub type View = Arc<dyn Any + Send + Sync>;

/// Where a robot comes in, and under which name.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Name of the agent.
    pub name: String,
    /// Where the model's origin goes.
    pub pose: Pose,
}

/// A game, a puppet: whatever directs the world.
pub trait Director: Send {
    /// Full names of the variables that it adds to the world, with their present values. They can only be read; names,
    /// number and kinds never change.
    fn variables(&self) -> Vec<(String, Value)>;

    /// A new try begins; everything in the world is at its start.
    fn reset(&mut self, world: &mut World);

    /// Robots have come or gone, or an object has changed its size.
    fn model_changed(&mut self, world: &mut World);

    /// The motors have their orders; physics comes next.
    fn before_physics(&mut self, world: &mut World);

    /// The physics of a tick is done.
    fn after_physics(&mut self, world: &mut World);

    /// Lets a robot in, or says why not. What the session wants is in words that the two of them know.
    fn admit(&mut self, world: &mut World, request: &str) -> Result<Place, String>;

    /// A robot of this name does not come, whether or not it was let in.
    fn turned_away(&mut self, _world: &mut World, _name: &str) {}

    /// Carries out what a session asks, in words that the two of them know, and answers; or says why not.
    fn order(&mut self, world: &mut World, order: &str) -> Result<String, String>;

    /// What sessions can see.
    fn view(&self) -> View;
}

impl World {
    /// Lets the director do something with the world, if there is one.
    pub(crate) fn directed<T>(&mut self, act: impl FnOnce(&mut dyn Director, &mut Self) -> T) -> Option<T> {
        let mut director = self.director.take()?;
        let result = act(director.as_mut(), self);
        self.director = Some(director);
        Some(result)
    }

    /// Asks the director to let a robot in. The robot has to join then.
    pub fn admit(&mut self, request: &str) -> Result<Place, String> {
        let nobody = || Err(NOBODY.to_owned());
        let place = self.directed(|director, world| director.admit(world, request)).unwrap_or_else(nobody)?;
        self.enter_journal(|| Entry::Admit { request: request.to_owned() });
        Ok(place)
    }

    /// Tells the director that a robot does not come.
    pub(crate) fn turn_away(&mut self, name: &str) {
        if self.directed(|director, world| director.turned_away(world, name)).is_some() {
            self.enter_journal(|| Entry::TurnedAway { name: name.to_owned() });
        }
    }

    /// Gives an order to the director. A carried out order is recorded; a refused one changed nothing.
    pub fn order(&mut self, order: &str) -> Result<String, String> {
        let nobody = || Err(NOBODY.to_owned());
        let answer = self.directed(|director, world| director.order(world, order)).unwrap_or_else(nobody)?;
        self.enter_journal(|| Entry::Order { order: order.to_owned() });
        Ok(answer)
    }

    /// The joint that a motor of an agent moves.
    pub fn motor_joint(&self, agent: AgentId, motor: &str) -> Option<JointId> {
        let motors = &self.structure.interfaces.get(&agent)?.motors;
        motors.iter().find(|other| other.name == motor)?.joint()
    }

    /// The simulation, to be changed by a director. What it does follows from what is recorded.
    pub fn stage_sim(&mut self) -> &mut Sim {
        &mut self.structure.sim
    }
}
