//! Immutable views of the world for other threads.

use std::{any::Any, collections::BTreeMap, sync::Arc};

use physics::{Pose, Visual};
use serde::Serialize;

use crate::{
    agent::AgentId,
    director::View,
    event::{EventId, RecentEvents},
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
    /// Number of ticks that have passed.
    pub tick: Tick,
    /// Ticks since the last reset.
    pub step: u64,
    /// Number of tries since the start; a reset begins a new one.
    pub tries: u64,
    /// Simulated time since the last reset, in s.
    pub time: f64,
    /// Names and kinds of everything in the world.
    pub catalogue: Arc<Catalogue>,
    /// Everything visible, by body; [`Visual::body`] is an index in [`Catalogue::bodies`]. Replaced when something changes.
    pub visuals: Arc<[Visual]>,
    /// Positions of all bodies, in m, world frame, in the order of [`Catalogue::bodies`].
    pub positions: Vec<[f64; 3]>,
    /// Orientations of all bodies, w first, world frame.
    pub orientations: Vec<[f64; 4]>,
    /// All sensor values, in physical units.
    pub sensors: Vec<f64>,
    /// Readings of all motors, in physical units.
    pub motors: Vec<f64>,
    /// Events since the previous tick, in order of their ids.
    pub events: Vec<EventId>,
    /// Recent events, for readers that do not see every snapshot.
    pub recent: Arc<RecentEvents>,
    /// Agents that the world waits for at each tick, in order of their ids.
    pub lockstep: Vec<AgentId>,
    /// The session that controls an agent: it added the agent, votes for it or was the last to move it. Agents of sessions
    /// that have ended are not listed.
    pub controllers: Arc<BTreeMap<AgentId, SessionId>>,
    /// Whether time was paused by a command.
    pub paused: bool,
    /// Multiple of real time, where the pace follows the clock.
    pub speed: f64,
    /// Measured speed of the world.
    pub performance: Performance,
    /// Observed variables that exist, in order of their ids.
    pub observed: Vec<(VariableId, Value)>,
    /// The directors' views, in their order.
    pub views: Vec<View>,
}

impl Snapshot {
    /// The director's view of this type.
    pub fn view<T: Any>(&self) -> Option<&T> {
        self.views.iter().find_map(|view| view.downcast_ref())
    }

    /// Pose of a site, world frame.
    pub fn site_pose(&self, site: &SiteCard) -> Option<Pose> {
        Some(self.body_pose(site.body)?.then(&site.pose))
    }

    /// Pose of something visible, world frame.
    pub fn visual_pose(&self, visual: &Visual) -> Option<Pose> {
        Some(self.body_pose(visual.body)?.then(&visual.pose))
    }

    fn body_pose(&self, body: usize) -> Option<Pose> {
        Some(Pose { pos: *self.positions.get(body)?, quat: *self.orientations.get(body)? })
    }

    /// Reading of one motor of an agent, in physical units.
    pub fn motor(&self, agent: &AgentCard, motor: usize) -> Option<f64> {
        (motor < agent.motors.len()).then(|| self.motors.get(agent.first_motor + motor).copied()).flatten()
    }

    /// The agent's outputs or infos, normalized, in order.
    pub fn sensed<'a>(&'a self, agent: &'a AgentCard, role: Role) -> impl Iterator<Item = f64> + 'a {
        let values = agent.values.iter().filter(move |value| value.role == role);
        values.filter_map(|value| value.normalized_from_sensors(&self.sensors))
    }
}

/// Names and kinds of everything in the world. Changes only with the model.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// Number of models so far.
    pub generation: u64,
    /// All agents, in order of their ids.
    pub agents: Vec<AgentCard>,
    /// All variables, in order of their names.
    pub variables: Vec<VariableCard>,
    /// All events, in order of their names.
    pub events: Vec<EventCard>,
    /// Names of all bodies, as in the model.
    pub bodies: Vec<String>,
    /// Index of each body's parent in [`Catalogue::bodies`]; the world, at 0, is its own parent.
    pub parents: Vec<usize>,
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

/// Description of an agent.
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
    /// Index of its first motor in [`Snapshot::motors`].
    #[serde(skip)]
    pub first_motor: usize,
}

impl AgentCard {
    /// Number of its values with this role.
    pub fn count(&self, role: Role) -> usize {
        self.values.iter().filter(|value| value.role == role).count()
    }
}

/// Description of a motor.
#[derive(Clone, Debug, Serialize)]
pub struct MotorCard {
    /// Name within the agent.
    pub name: String,
    /// Meaning of its target.
    pub kind: MotorKind,
    /// Range of the target, in physical units.
    pub range: Bounds,
    /// Largest torque, in N·m.
    pub max_torque: f64,
    /// Torque at the joint, in N·m, for a force of 1 of its actuator.
    pub gear: f64,
}

/// A site: a named frame on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteCard {
    /// Name, as in the model: `<agent>:<site>` on a robot.
    pub name: String,
    /// Index of its body in [`Catalogue::bodies`].
    pub body: usize,
    /// Pose in the body's frame.
    pub pose: Pose,
}

/// Description of a variable.
#[derive(Clone, Debug, Serialize)]
pub struct VariableCard {
    /// Its id.
    pub id: VariableId,
    /// Its full name.
    pub name: Arc<str>,
    /// Kind of its value.
    pub kind: ValueKind,
    /// Whether it can be written.
    pub writable: bool,
}

/// Description of an event.
#[derive(Clone, Debug, Serialize)]
pub struct EventCard {
    /// Its id.
    pub id: EventId,
    /// Its full name.
    pub name: Arc<str>,
}
