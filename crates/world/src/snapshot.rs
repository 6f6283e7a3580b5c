//! What the world shows to everyone outside its thread.

use std::{any::Any, collections::BTreeMap, sync::Arc};

use physics::{Pose, Visual};
use serde::Serialize;

use crate::{
    agent::AgentId,
    director::View,
    event::{EventId, Recent},
    interface::{Bounds, InterfaceValue, MotorKind, Role},
    value::{Value, ValueKind},
    variable::{Performance, VariableId},
    world::SessionId,
};

/// Counts the ticks of a world from 0; never goes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Tick(pub u64);

/// The state of the world after one tick. Never changes once published.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Which tick it shows.
    pub tick: Tick,
    /// Ticks since the last reset.
    pub step: u64,
    /// Tries since the start; a reset begins a new one.
    pub tries: u64,
    /// Simulated time since the last reset, in s.
    pub time: f64,
    /// Names and kinds of what is in the world.
    pub catalogue: Arc<Catalogue>,
    /// Positions of all bodies, in m, world frame, in the order of [`Catalogue::bodies`].
    pub positions: Vec<[f64; 3]>,
    /// Orientations of all bodies, w first, world frame.
    pub orientations: Vec<[f64; 4]>,
    /// All sensor values, in physical units.
    pub sensors: Vec<f64>,
    /// What all motors measure, in physical units.
    pub motors: Vec<f64>,
    /// Events since the previous tick, in order of their ids.
    pub events: Vec<EventId>,
    /// Events of late, for whoever does not look at every snapshot.
    pub recent: Arc<Recent>,
    /// Agents that the world waits for at each tick, in order of their ids. Each is somebody's.
    pub lockstep: Vec<AgentId>,
    /// Agents that somebody brought in, votes for or has moved, and the last session that did. Those of sessions that
    /// have ended are nobody's.
    pub controllers: Arc<BTreeMap<AgentId, SessionId>>,
    /// Whether somebody has asked for time to stand still.
    pub paused: bool,
    /// How many times real time, where the pace follows the clock.
    pub speed: f64,
    /// How fast the world runs.
    pub performance: Performance,
    /// Observed variables that exist, in order of their ids.
    pub observed: Vec<(VariableId, Value)>,
    /// What the directors of the world show, in their order.
    pub views: Vec<View>,
}

impl Snapshot {
    /// What the director shows whose views are of this type.
    pub fn view<T: Any>(&self) -> Option<&T> {
        self.views.iter().find_map(|view| view.downcast_ref())
    }

    /// Where a site is, world frame.
    pub fn site_pose(&self, site: &SiteCard) -> Option<Pose> {
        Some(self.body_pose(site.body)?.then(&site.pose))
    }

    /// Where something to be seen is, world frame.
    pub fn look_pose(&self, look: &Visual) -> Option<Pose> {
        Some(self.body_pose(look.body)?.then(&look.pose))
    }

    fn body_pose(&self, body: usize) -> Option<Pose> {
        Some(Pose { pos: *self.positions.get(body)?, quat: *self.orientations.get(body)? })
    }

    /// What one motor of an agent measures, in physical units.
    pub fn motor(&self, agent: &AgentCard, motor: usize) -> Option<f64> {
        (motor < agent.motors.len()).then(|| self.motors.get(agent.first_motor + motor).copied()).flatten()
    }

    /// The agent's outputs or infos, normalized, in order.
    pub fn sensed<'a>(&'a self, agent: &'a AgentCard, role: Role) -> impl Iterator<Item = f64> + 'a {
        let values = agent.values.iter().filter(move |value| value.role == role);
        values.filter_map(|value| value.normalized_from_sensors(&self.sensors))
    }
}

/// What is in the world. Changes only when robots or objects come and go.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// Counts the changes.
    pub generation: u64,
    /// All agents, in order of their ids.
    pub agents: Vec<AgentCard>,
    /// All variables, in order of their names.
    pub variables: Vec<VariableCard>,
    /// All events, in order of their names.
    pub events: Vec<EventCard>,
    /// Names of all bodies, as in the model.
    pub bodies: Vec<String>,
    /// The body each body hangs on, by its place in [`Catalogue::bodies`]; the world, at 0, hangs on itself.
    pub parents: Vec<usize>,
    /// Everything to be seen, by body; [`Visual::body`] is a place in [`Catalogue::bodies`].
    pub looks: Arc<[Visual]>,
    /// All sites, as in the model.
    pub sites: Vec<SiteCard>,
}

impl Catalogue {
    /// The agent with this id.
    pub fn agent(&self, id: AgentId) -> Option<&AgentCard> {
        self.agents.binary_search_by_key(&id, |card| card.id).ok().and_then(|index| self.agents.get(index))
    }

    /// The agent of this name.
    pub fn agent_named(&self, name: &str) -> Option<&AgentCard> {
        self.agents.iter().find(|card| card.name == name)
    }

    /// The variable of this name.
    pub fn variable_named(&self, name: &str) -> Option<&VariableCard> {
        let found = self.variables.binary_search_by(|card| (*card.name).cmp(name));
        found.ok().and_then(|index| self.variables.get(index))
    }

    /// The site of this name.
    pub fn site_named(&self, name: &str) -> Option<&SiteCard> {
        self.sites.iter().find(|card| card.name == name)
    }

    /// The event of this name.
    pub fn event_named(&self, name: &str) -> Option<&EventCard> {
        let found = self.events.binary_search_by(|card| (*card.name).cmp(name));
        found.ok().and_then(|index| self.events.get(index))
    }
}

/// What there is to know about an agent.
#[derive(Clone, Debug, Serialize)]
pub struct AgentCard {
    /// Its id.
    pub id: AgentId,
    /// Its name, unique in the world.
    pub name: String,
    /// Name of its model.
    pub robot: String,
    /// Its motors, in order.
    pub motors: Vec<MotorCard>,
    /// Its interface: inputs, then outputs, then infos.
    pub values: Vec<InterfaceValue>,
    /// Where its motors begin in [`Snapshot::motors`].
    #[serde(skip)]
    pub first_motor: usize,
}

impl AgentCard {
    /// How many values of this role it has.
    pub fn count(&self, role: Role) -> usize {
        self.values.iter().filter(|value| value.role == role).count()
    }
}

/// What there is to know about a motor.
#[derive(Clone, Debug, Serialize)]
pub struct MotorCard {
    /// Name within the agent.
    pub name: String,
    /// What its target means.
    pub kind: MotorKind,
    /// Range of the target, in physical units.
    pub range: Bounds,
    /// Largest torque, in N·m.
    pub max_torque: f64,
    /// Torque at the joint, in N·m, for a force of 1 of its actuator.
    pub gear: f64,
}

/// A marked place on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteCard {
    /// Name, as in the model: `<agent>:<site>` on a robot.
    pub name: String,
    /// The body's place in [`Catalogue::bodies`].
    pub body: usize,
    /// Where it is on the body.
    pub pose: Pose,
}

/// What there is to know about a variable.
#[derive(Clone, Debug, Serialize)]
pub struct VariableCard {
    /// Its id.
    pub id: VariableId,
    /// Its full name.
    pub name: Arc<str>,
    /// What it holds.
    pub kind: ValueKind,
    /// Whether it can be written at all.
    pub writable: bool,
}

/// What there is to know about an event.
#[derive(Clone, Debug, Serialize)]
pub struct EventCard {
    /// Its id.
    pub id: EventId,
    /// Its full name.
    pub name: Arc<str>,
}
