//! Directors: games, puppets and other logic that controls the world besides physics.
//!
//! A director lives on the sim thread with its world and is deterministic like it: its behaviour follows from the world,
//! the seed and the orders it was given, and orders are recorded. A world can have several; they run in the order in
//! which the setup names them.
//!
//! Orders, answers and refusals are types of the director. Between a session and its director they travel type-erased
//! ([`Envelope`], [`OrderAnswer`], [`OrderRefusal`]); only a recording holds them as text.

mod erased;

use std::{any::Any, error::Error, fmt::Debug, sync::Arc};

use physics::{Fault, JointId, Pose, Sim};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use self::erased::{DirectorRefusal, DynDirector, Envelope, OrderAnswer, OrderRefusal};
use crate::{
    agent::{Action, AgentId, JointTarget, MotorCommand},
    light,
    record::Entry,
    value::Value,
    world::World,
};

/// A director's part of every snapshot. A session that knows the director knows the type.
pub type View = Arc<dyn Any + Send + Sync>;

/// Name and start pose that a director assigns to a joining robot.
#[derive(Clone, Debug, PartialEq)]
pub struct Spawn {
    /// Name of the agent.
    pub name: String,
    /// Pose of the model's origin in the world frame.
    pub pose: Pose,
}

/// The [`Director::JoinRequest`] of a director that admits no robots: it has no values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoJoinRequest {}

/// Logic that controls a world besides physics.
///
/// Orders and join requests are recorded as JSON. A director refuses those that do not survive this, such as numbers that
/// are not finite.
pub trait Director: Send + 'static {
    /// Identifies the director among those of a world, and in recordings.
    const NAME: &'static str;

    /// A command of a session.
    type Order: Clone + Debug + Serialize + DeserializeOwned + Send + 'static;

    /// Reply to an order that was carried out.
    type Answer: Debug + PartialEq + Send + Sync + 'static;

    /// Reason why an order or a join request is refused.
    type Refusal: Error + PartialEq + Send + Sync + 'static;

    /// Describes a robot that wants to join; [`NoJoinRequest`] if none can.
    type JoinRequest: Clone + Debug + Serialize + DeserializeOwned + Send + 'static;

    /// Full names and current values of the read-only variables that the director adds to the world. Names, number and
    /// kinds never change.
    fn variables(&self) -> Vec<(String, Value)>;

    /// A new try begins; everything in the world is in its start state.
    fn reset(&mut self, world: &mut World);

    /// The model was recompiled: robots have joined or left, or an object was resized.
    fn model_changed(&mut self, world: &mut World);

    /// Called once per tick, after the motors have their targets and before physics.
    fn before_physics(&mut self, world: &mut World);

    /// Called before each physics step of a tick.
    fn before_step(&mut self, _world: &mut World) {}

    /// Called once per tick, after physics.
    fn after_physics(&mut self, world: &mut World);

    /// Decides whether a robot may join, and where.
    ///
    /// # Errors
    /// The reason why it may not. Nothing has changed then.
    fn admit(&mut self, world: &mut World, request: &Self::JoinRequest) -> Result<Spawn, Self::Refusal>;

    /// A robot of this name failed to join, whether or not this director admitted it.
    fn cancel_admission(&mut self, _world: &mut World, _name: &str) {}

    /// Carries out an order. The answer is optional: most orders need none.
    ///
    /// # Errors
    /// The reason why not. Nothing has changed then.
    fn apply_order(&mut self, world: &mut World, order: Self::Order) -> Result<Option<Self::Answer>, Self::Refusal>;

    /// The current view for sessions.
    fn view(&self) -> View;

    /// A copy that continues alike, for saved states; `None` if the director cannot be copied.
    fn fork(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

impl World {
    /// Calls `act` with each director in turn.
    pub(crate) fn for_each_director(&mut self, mut act: impl FnMut(&mut dyn DynDirector, &mut Self)) {
        let mut directors = std::mem::take(&mut self.directors);
        for director in &mut directors {
            act(director.as_mut(), self);
        }
        self.directors = directors;
    }

    /// Calls `act` with the director of this name.
    fn with_director<T>(
        &mut self,
        name: &str,
        act: impl FnOnce(&mut dyn DynDirector, &mut Self) -> Result<T, OrderRefusal>,
    ) -> Result<T, OrderRefusal> {
        let mut directors = std::mem::take(&mut self.directors);
        let director = directors.iter_mut().find(|director| director.name() == name);
        let result = match director {
            Some(director) => act(director.as_mut(), self),
            None => Err(OrderRefusal::NoDirector { director: name.to_owned() }),
        };
        self.directors = directors;
        result
    }

    /// Asks a director to admit a robot, which then has to join under the returned name.
    ///
    /// # Errors
    /// The reason why it may not join. Only granted requests are recorded.
    pub fn admit(&mut self, request: &Envelope) -> Result<Spawn, OrderRefusal> {
        let text = self.text_for_journal(request)?;
        let spawn = self.with_director(request.to(), |director, world| director.admit(world, request))?;
        let to = request.to();
        text.into_iter().for_each(|request| self.enter_journal(|| Entry::Admit { to: to.to_owned(), request }));
        Ok(spawn)
    }

    /// Tells the directors that a robot failed to join.
    pub(crate) fn cancel_admission(&mut self, name: &str) {
        self.for_each_director(|director, world| director.cancel_admission(world, name));
        if !self.directors.is_empty() {
            self.enter_journal(|| Entry::TurnedAway { name: name.to_owned() });
        }
    }

    /// Gives an order to the director `D`. See [`World::deliver_order`].
    ///
    /// # Errors
    /// The reason why it was not carried out.
    pub fn order<D: Director>(&mut self, order: D::Order) -> Result<Option<OrderAnswer>, OrderRefusal> {
        self.deliver_order(Envelope::order::<D>(order))
    }

    /// Gives an order to the director that it is addressed to.
    ///
    /// # Errors
    /// The reason why it was not carried out. A refused order changes nothing and is not recorded.
    pub fn deliver_order(&mut self, order: Envelope) -> Result<Option<OrderAnswer>, OrderRefusal> {
        let (to, text) = (order.to(), self.text_for_journal(&order)?);
        let answer = self.with_director(to, |director, world| director.apply_order(world, order))?;
        text.into_iter().for_each(|order| self.enter_journal(|| Entry::Order { to: to.to_owned(), order }));
        Ok(answer)
    }

    /// The text under which an order or a join request is recorded; none if nothing is.
    fn text_for_journal(&self, message: &Envelope) -> Result<Option<String>, OrderRefusal> {
        self.journal.as_ref().map(|_| message.to_text()).transpose()
    }

    /// Repeats a recorded [`World::admit`].
    pub(crate) fn admit_recorded(&mut self, director: &str, request: &str) -> Result<Spawn, OrderRefusal> {
        let request = self.with_director(director, |director, _| director.parse_join_request(request))?;
        self.admit(&request)
    }

    /// Repeats a recorded [`World::deliver_order`].
    pub(crate) fn deliver_recorded_order(&mut self, director: &str, order: &str) -> Result<(), OrderRefusal> {
        let order = self.with_director(director, |director, _| director.parse_order(order))?;
        self.deliver_order(order).map(drop)
    }

    /// Moves motors of an agent on behalf of a director. Not recorded: it follows from the recorded orders.
    pub fn move_motors(&mut self, agent: AgentId, actions: impl IntoIterator<Item = Action>) {
        let Some(robot) = self.agents.get_mut(&agent) else { return };
        for action in actions {
            robot.apply(action);
        }
        robot.update_sim(&mut self.structure.sim);
    }

    /// The joint that a motor of an agent moves.
    pub fn motor_joint(&self, agent: AgentId, motor: &str) -> Option<JointId> {
        let motors = &self.structure.interfaces.get(&agent)?.motors;
        motors.iter().find(|other| other.name == motor)?.joint()
    }

    /// What a motor of an agent was told last, if that was a target for its joint.
    pub fn joint_target(&self, agent: AgentId, motor: usize) -> Option<JointTarget> {
        match self.agents.get(&agent)?.commands().get(motor)? {
            MotorCommand::Joint(target) => Some(*target),
            MotorCommand::Set { .. } | MotorCommand::Released => None,
        }
    }

    /// The simulation, for directors. Their changes follow from the recorded orders and are not recorded.
    pub fn sim_mut(&mut self) -> &mut Sim {
        &mut self.structure.sim
    }

    /// Brings poses, sensor values and forces up to date after changes through [`World::sim_mut`], between two ticks.
    ///
    /// # Errors
    /// If the engine cannot evaluate the state.
    pub fn refresh(&mut self) -> Result<(), Fault> {
        self.structure.sim.forward()?;
        light::update_sensors(&mut self.structure.sim, &self.structure.light_sensors);
        Ok(())
    }
}
