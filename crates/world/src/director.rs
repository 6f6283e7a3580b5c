//! Whoever has a say in the world besides physics: a game with its referee, a puppet with its mixer.
//!
//! A director lives on the sim thread with its world, and is as deterministic: what it does follows from the world, the
//! seed and the orders it was given, and orders are recorded. A world can have several; they take turns in the order in
//! which the setup names them.

use std::{any::Any, sync::Arc};

use physics::{JointId, Pose, Sim};

use crate::{
    agent::{Action, AgentId},
    record::Entry,
    value::Value,
    world::World,
};

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
    /// Under which orders reach it.
    fn name(&self) -> &'static str;

    /// Full names of the variables that it adds to the world, with their present values. They can only be read; names,
    /// number and kinds never change.
    fn variables(&self) -> Vec<(String, Value)>;

    /// A new try begins; everything in the world is at its start.
    fn reset(&mut self, world: &mut World);

    /// Robots have come or gone, or an object has changed its size.
    fn model_changed(&mut self, world: &mut World);

    /// The motors have their orders; physics comes next.
    fn before_physics(&mut self, world: &mut World);

    /// One of the physics steps of a tick comes next.
    fn before_step(&mut self, _world: &mut World) {}

    /// The physics of a tick is done.
    fn after_physics(&mut self, world: &mut World);

    /// Lets a robot in, or says why not. What the session wants is in words that the two of them know.
    fn admit(&mut self, _world: &mut World, _request: &str) -> Result<Place, String> {
        Err("nobody is let in".to_owned())
    }

    /// A robot of this name does not come, whether or not it was let in.
    fn turned_away(&mut self, _world: &mut World, _name: &str) {}

    /// Carries out what a session asks, in words that the two of them know, and answers; or says why not.
    fn order(&mut self, world: &mut World, order: &str) -> Result<String, String>;

    /// What sessions can see.
    fn view(&self) -> View;
}

impl World {
    /// Lets every director do something with the world, one after the other.
    pub(crate) fn directed(&mut self, mut act: impl FnMut(&mut dyn Director, &mut Self)) {
        let mut directors = std::mem::take(&mut self.directors);
        for director in &mut directors {
            act(director.as_mut(), self);
        }
        self.directors = directors;
    }

    /// Lets one director do something with the world, if there is one of this name.
    fn ask<T>(
        &mut self,
        director: &str,
        act: impl FnOnce(&mut dyn Director, &mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        let place = self.directors.iter().position(|other| other.name() == director);
        let place = place.ok_or_else(|| format!("no {director} directs this world"))?;
        let mut directors = std::mem::take(&mut self.directors);
        let result = directors.get_mut(place).map(|director| act(director.as_mut(), self));
        self.directors = directors;
        result.unwrap_or_else(|| Err(format!("no {director} directs this world")))
    }

    /// Asks a director to let a robot in. The robot has to join then.
    pub fn admit(&mut self, director: &str, request: &str) -> Result<Place, String> {
        let place = self.ask(director, |director, world| director.admit(world, request))?;
        self.enter_journal(|| Entry::Admit { to: director.to_owned(), request: request.to_owned() });
        Ok(place)
    }

    /// Tells the directors that a robot does not come.
    pub(crate) fn turn_away(&mut self, name: &str) {
        self.directed(|director, world| director.turned_away(world, name));
        if !self.directors.is_empty() {
            self.enter_journal(|| Entry::TurnedAway { name: name.to_owned() });
        }
    }

    /// Gives an order to a director. A carried out order is recorded; a refused one changed nothing.
    pub fn order(&mut self, director: &str, order: &str) -> Result<String, String> {
        let answer = self.ask(director, |director, world| director.order(world, order))?;
        self.enter_journal(|| Entry::Order { to: director.to_owned(), order: order.to_owned() });
        Ok(answer)
    }

    /// Moves motors of an agent for a director. Not recorded: it follows from what is.
    pub fn move_motors(&mut self, agent: AgentId, actions: impl IntoIterator<Item = Action>) {
        let Some(robot) = self.agents.get_mut(&agent) else { return };
        for action in actions {
            robot.obey(action);
        }
        robot.command(&mut self.structure.sim);
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
