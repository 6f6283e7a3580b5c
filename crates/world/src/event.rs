//! Events of a tick. Clients register for them by name.

use std::collections::{BTreeSet, VecDeque};

use physics::{GeomId, Model, Sim};
use serde::{Deserialize, Serialize};

use crate::{
    snapshot::{Catalogue, Tick},
    variable::VariableId,
};

/// Number of events kept for readers that do not see every snapshot.
const KEPT: usize = 256;

/// Identifies an event for the lifetime of its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId(pub u32);

/// Events that every world has.
pub mod standard {
    /// A tick begins.
    pub const NEXT_STEP: &str = "/Control/NextStep";
    /// A tick is done.
    pub const STEP_COMPLETED: &str = "/Control/StepCompleted";
    /// A reset begins.
    pub const RESET: &str = "/Control/ResetSimulation";
    /// A reset is done.
    pub const RESET_DONE: &str = "/Control/ResetSimulationFinalized";
    /// A new try begins.
    pub const NEXT_TRY: &str = "/Control/NextTry";
    /// A try ended because the next one begins.
    pub const TRY_COMPLETED: &str = "/Control/TryCompleted";
    /// A condition that ends the try was met; see [`super::Watch::ends_try`].
    pub const TERMINATE_TRY: &str = "/Control/TerminateTry";
    /// Sensors were read.
    pub const UPDATE_SENSORS: &str = "/Simulation/UpdateSensors";
    /// Motors were commanded.
    pub const UPDATE_MOTORS: &str = "/Simulation/UpdateMotors";
    /// Random parameters were drawn.
    pub const RANDOMIZE: &str = "/Simulation/RandomizeEnvironment";
    /// Robots or objects were added, removed or changed.
    pub const ENVIRONMENT_CHANGED: &str = "/Simulation/PhysicsEnvironmentChanged";

    /// All of them.
    pub const ALL: [&str; 11] = [
        NEXT_STEP,
        STEP_COMPLETED,
        RESET,
        RESET_DONE,
        NEXT_TRY,
        TRY_COMPLETED,
        TERMINATE_TRY,
        UPDATE_SENSORS,
        UPDATE_MOTORS,
        RANDOMIZE,
        ENVIRONMENT_CHANGED,
    ];
}

/// An event that was raised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaisedEvent {
    /// Running number, from 0.
    pub number: u64,
    /// Tick in which it was raised.
    pub tick: Tick,
    /// Simulated time since the last reset, in s.
    pub time: f64,
    /// The event.
    pub event: EventId,
}

/// Recent events, without those that are raised in every tick or with every motor command.
#[derive(Clone, Debug, Default)]
pub struct RecentEvents {
    kept: VecDeque<RaisedEvent>,
    next: u64,
}

impl RecentEvents {
    pub(crate) fn add(&mut self, tick: Tick, time: f64, event: EventId) {
        self.kept.push_back(RaisedEvent { number: self.next, tick, time, event });
        self.next += 1;
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }

    /// Number of the next event.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The kept events from this number on.
    pub fn since(&self, number: u64) -> impl Iterator<Item = &RaisedEvent> {
        self.kept.iter().skip_while(move |raised| raised.number < number)
    }
}

/// Events that are raised all the time, and so are not kept.
pub(crate) fn routine(catalogue: &Catalogue) -> BTreeSet<EventId> {
    let always = [standard::NEXT_STEP, standard::STEP_COMPLETED, standard::UPDATE_SENSORS, standard::UPDATE_MOTORS];
    let is_motors_set =
        |name: &str| name.starts_with("/Agent/") && name.rsplit('/').next() == Some(AgentEvent::MotorsSet.suffix());
    let is_routine = |name: &str| always.contains(&name) || is_motors_set(name);
    catalogue.events.iter().filter(|card| is_routine(&card.name)).map(|card| card.id).collect()
}

/// Events that every agent has. The full name is `/Agent/<agent>/<event>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentEvent {
    /// A controller has attached to the agent.
    ControllerConnected,
    /// A controller has detached from the agent.
    ControllerDisconnected,
    /// A controller set motors outside lockstep.
    MotorsSet,
    /// The agent did not vote in time; the world no longer waits for it.
    VoteLost,
    /// The simulation of this agent failed; its motors were released.
    Fault,
}

impl AgentEvent {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::ControllerConnected, Self::ControllerDisconnected, Self::MotorsSet, Self::VoteLost, Self::Fault];

    /// The full name of the event for one agent.
    pub fn name(self, agent: &str) -> String {
        format!("/Agent/{agent}/{}", self.suffix())
    }

    /// The last part of the full name.
    const fn suffix(self) -> &'static str {
        match self {
            Self::ControllerConnected => "ControllerConnected",
            Self::ControllerDisconnected => "ControllerDisconnected",
            Self::MotorsSet => "MotorsSet",
            Self::VoteLost => "VoteLost",
            Self::Fault => "Fault",
        }
    }
}

/// A condition that raises an event while the world runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// The condition.
    #[serde(flatten)]
    pub condition: Condition,
    /// Whether [`standard::TERMINATE_TRY`] is raised as well. It tells clients to end their evaluation; the world goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_try: bool,
}

/// What a [`Watch`] waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Condition {
    /// Raises `/Collision/<name>` in each tick in which the two groups touch.
    Collision {
        /// Name of the event.
        name: String,
        /// Names of agents, bodies (`<agent>:<body>`) or geoms; `*` is everything.
        first: Vec<String>,
        /// The other group.
        second: Vec<String>,
    },
    /// Raises `/Bound/<name>` in the tick in which a variable leaves the bounds.
    Bound {
        /// Name of the event.
        name: String,
        /// Full name of a variable that is one number.
        variable: String,
        /// Lower bound, if any.
        min: Option<f64>,
        /// Upper bound, if any.
        max: Option<f64>,
    },
}

impl Watch {
    /// The full name of its event.
    pub fn event_name(&self) -> String {
        match &self.condition {
            Condition::Collision { name, .. } => format!("/Collision/{name}"),
            Condition::Bound { name, .. } => format!("/Bound/{name}"),
        }
    }
}

/// A collision watch, resolved for one model.
#[derive(Clone, Debug)]
pub(crate) struct CollisionWatch {
    pub(crate) event: EventId,
    pub(crate) ends_try: bool,
    pub(crate) first: Group,
    pub(crate) second: Group,
}

impl CollisionWatch {
    pub(crate) fn happens(&self, sim: &Sim) -> bool {
        sim.contacts().any(|contact| {
            let [a, b] = contact.geoms;
            (self.first.has(a) && self.second.has(b)) || (self.first.has(b) && self.second.has(a))
        })
    }
}

/// A bound watch, resolved for one model. Raises when the value goes from inside to outside.
#[derive(Clone, Debug)]
pub(crate) struct BoundWatch {
    pub(crate) event: EventId,
    pub(crate) ends_try: bool,
    pub(crate) variable: VariableId,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

/// A set of geoms.
#[derive(Clone, Debug)]
pub(crate) struct Group(Vec<bool>);

impl Group {
    pub(crate) fn new(model: &Model, names: &[String]) -> Self {
        let member = |geom: GeomId| {
            let geom_name = model.geom_name(geom);
            let body_name = model.body_name(model.geom_body(geom));
            names.iter().any(|name| {
                name == "*"
                    || geom_name == name
                    || body_name == name
                    || body_name.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(':'))
            })
        };
        Self(model.geoms().map(member).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.0.contains(&true)
    }

    fn has(&self, geom: GeomId) -> bool {
        self.0.get(geom.index()).copied().unwrap_or(false)
    }
}
