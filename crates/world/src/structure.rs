//! Everything that is derived from the compiled model of a world.
//!
//! A [`Blueprint`] is plain data and can be built on any thread; the resulting [`Structure`] is swapped in between two
//! ticks, with the state carried over by name.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use physics::{Assembly, Attachment, Edit, Fault, Model, ModelError, Pose, Sim, SiteId, Visual};

use crate::{
    access::{POSITIONS, QUATERNION_LENGTHS, TIMESTEPS},
    agent::{Agent, AgentId, Resident, prefix_of},
    event::{AgentEvent, BoundWatch, CollisionWatch, Condition, EventId, Group, Watch, standard},
    interface::Interface,
    light::{self, LightSensor},
    setup::{MAX_AGENTS, NameError, Robot, Setup, check_name},
    snapshot::{AgentCard, Catalogue, EventCard, MotorCard, SiteCard},
    value::ValueKind,
    variable::{NameIds, VariableTable},
};

/// A world's model before it is compiled.
#[derive(Clone, Debug)]
pub struct Blueprint {
    assembly: Assembly,
    timestep: Option<f64>,
    pub(crate) residents: Vec<Resident>,
    watches: Vec<Watch>,
    /// Names and kinds of the directors' variables.
    director_variables: Vec<(String, ValueKind)>,
    names: NameIds,
    next_agent: u32,
    generation: u64,
}

/// Why a model cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// The model is invalid.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The start state is invalid.
    #[error("the model cannot be simulated: {0}")]
    Start(#[from] Fault),
    /// The physics step is out of range.
    #[error("the physics step is {seconds} s, outside {} to {} s", TIMESTEPS.0, TIMESTEPS.1)]
    TimeStep {
        /// The step that was requested.
        seconds: f64,
    },
    /// An agent's name is invalid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The world has the maximum number of agents.
    #[error("the world is full: it has {MAX_AGENTS} agents")]
    Full,
    /// An agent cannot start with this pose.
    #[error("`{name}` cannot start at {pose:?}: give it a finite position within {} m, and a rotation", POSITIONS.1)]
    Pose {
        /// The agent.
        name: String,
        /// The requested start pose.
        pose: Pose,
    },
    /// Building panicked: a bug.
    #[error("building the world failed with a bug: {message}")]
    Panicked {
        /// Message of the panic.
        message: String,
    },
    /// A watch refers to an unknown object.
    #[error("the watch `{watch}` refers to `{what}`, which is not in the world")]
    Watch {
        /// Event of the watch.
        watch: String,
        /// The name that was not found.
        what: String,
    },
    /// A watch refers to a variable that is not a number.
    #[error("the watch `{watch}` needs a number, and `{variable}` is a {kind}")]
    NotANumber {
        /// Event of the watch.
        watch: String,
        /// Full name of the variable.
        variable: String,
        /// Kind of the variable.
        kind: ValueKind,
    },
}

impl Blueprint {
    /// The blueprint of a new world.
    pub(crate) fn new(setup: &Setup, director_variables: Vec<(String, ValueKind)>) -> Result<Self, BuildError> {
        let mut blueprint = Self {
            director_variables,
            assembly: Assembly::new(setup.base.clone()),
            timestep: setup.timestep,
            residents: Vec::new(),
            watches: setup.watches.clone(),
            names: NameIds::default(),
            next_agent: 1,
            generation: 0,
        };
        for robot in &setup.robots {
            blueprint.add(robot)?;
        }
        Ok(blueprint)
    }

    pub(crate) fn add(&mut self, robot: &Robot) -> Result<AgentId, BuildError> {
        let taken: BTreeSet<_> = self.residents.iter().map(|resident| resident.name.as_str()).collect();
        check_name(&robot.name, &taken)?;
        if self.residents.len() >= MAX_AGENTS {
            return Err(BuildError::Full);
        }
        if !can_stand_at(&robot.pose) {
            return Err(BuildError::Pose { name: robot.name.clone(), pose: robot.pose });
        }
        let id = AgentId(self.next_agent);
        self.next_agent += 1;
        self.assembly.attachments.push(Attachment {
            prefix: prefix_of(&robot.name),
            source: robot.source.clone(),
            pose: robot.pose,
        });
        self.residents.push(Resident {
            id,
            name: robot.name.clone(),
            robot: robot.source.name().to_owned(),
            start: robot.pose,
        });
        Ok(id)
    }

    pub(crate) fn remove(&mut self, agent: AgentId) -> bool {
        let Some(index) = self.residents.iter().position(|resident| resident.id == agent) else { return false };
        let prefix = self.residents.remove(index).prefix();
        self.assembly.attachments.retain(|part| part.prefix != prefix);
        self.assembly.edits.retain(|Edit::GeomSize { geom, .. }| !geom.starts_with(&prefix));
        true
    }

    pub(crate) fn resize(&mut self, geom: String, size: [f64; 3]) {
        self.assembly.edits.retain(|Edit::GeomSize { geom: other, .. }| *other != geom);
        self.assembly.edits.push(Edit::GeomSize { geom, size });
    }

    /// Compiles the model and derives everything from it. Slow; runs on any thread.
    pub fn build(mut self) -> Result<Structure, BuildError> {
        let model = self.assembly.compile()?;
        let visuals = self.assembly.visuals()?.into();
        let mut sim = Sim::new(model)?;
        let seconds = self.timestep.unwrap_or(sim.timestep());
        if !(TIMESTEPS.0..=TIMESTEPS.1).contains(&seconds) {
            return Err(BuildError::TimeStep { seconds });
        }
        if let Some(timestep) = self.timestep {
            sim.set_timestep(timestep);
        }
        self.generation += 1;
        let model = sim.model();
        let interfaces: BTreeMap<AgentId, Interface> =
            self.residents.iter().map(|resident| (resident.id, Interface::of(model, &resident.prefix()))).collect();

        let described = self.residents.iter().filter_map(|r| interfaces.get(&r.id).map(|interface| (r, interface)));
        let variables = VariableTable::new(model, described, &self.director_variables, &mut self.names);
        let events = event_cards(&self.residents, &self.watches, &mut self.names);

        let mut catalogue = Catalogue {
            generation: self.generation,
            agents: agent_cards(&self.residents, &interfaces),
            variables: variables.cards.clone(),
            events,
            bodies: model.bodies().map(|body| model.body_name(body).to_owned()).collect(),
            parents: model.bodies().map(|body| model.body_parent(body).index()).collect(),
            sites: model.sites().map(|site| site_card(model, site)).collect(),
        };
        catalogue.events.sort_by(|a, b| a.name.cmp(&b.name));
        let (collisions, bounds) = resolve_watches(&self.watches, model, &catalogue)?;
        let light_sensors = light::sensors(model, &self.residents);
        let catalogue = Arc::new(catalogue);
        Ok(Structure {
            blueprint: self,
            sim,
            visuals,
            interfaces,
            variables,
            catalogue,
            collisions,
            bounds,
            light_sensors,
        })
    }
}

fn can_stand_at(pose: &Pose) -> bool {
    let length = pose.quat.iter().map(|x| x * x).sum::<f64>().sqrt();
    pose.pos.iter().all(|x| (POSITIONS.0..=POSITIONS.1).contains(x))
        && (QUATERNION_LENGTHS.0..=QUATERNION_LENGTHS.1).contains(&length)
}

fn site_card(model: &Model, site: SiteId) -> SiteCard {
    let body = model.site_body(site).index();
    SiteCard { name: model.site_name(site).to_owned(), body, pose: model.site_pose(site) }
}

fn agent_cards(residents: &[Resident], interfaces: &BTreeMap<AgentId, Interface>) -> Vec<AgentCard> {
    let mut first_motor = 0;
    let mut cards = Vec::new();
    for resident in residents {
        let Some(interface) = interfaces.get(&resident.id) else { continue };
        let motors: Vec<_> = interface
            .motors
            .iter()
            .map(|motor| MotorCard {
                name: motor.name.clone(),
                kind: motor.kind,
                range: motor.range,
                max_torque: motor.max_torque,
                gear: motor.gear(),
            })
            .collect();
        let count = motors.len();
        cards.push(AgentCard {
            id: resident.id,
            name: resident.name.clone(),
            robot: resident.robot.clone(),
            motors,
            values: interface.values.clone(),
            first_motor,
        });
        first_motor += count;
    }
    cards
}

fn event_cards(residents: &[Resident], watches: &[Watch], names: &mut NameIds) -> Vec<EventCard> {
    let standard = standard::ALL.iter().map(|&name| name.to_owned());
    let agents = residents.iter().flat_map(|r| AgentEvent::ALL.iter().map(|event| event.name(&r.name)));
    let watched = watches.iter().map(Watch::event_name);
    standard
        .chain(agents)
        .chain(watched)
        .map(|name| {
            let name: Arc<str> = name.into();
            EventCard { id: names.event(&name), name }
        })
        .collect()
}

/// A watch without objects is an error only in the first model: later they may have left.
fn resolve_watches(
    watches: &[Watch],
    model: &physics::Model,
    catalogue: &Catalogue,
) -> Result<(Vec<CollisionWatch>, Vec<BoundWatch>), BuildError> {
    let must_exist = catalogue.generation == 1;
    let missing = |watch: &Watch, what: String| BuildError::Watch { watch: watch.event_name(), what };
    let (mut collisions, mut bounds) = (Vec::new(), Vec::new());
    for watch in watches {
        let Some(event) = catalogue.event_named(&watch.event_name()).map(|card| card.id) else { continue };
        let ends_try = watch.ends_try;
        match &watch.condition {
            Condition::Collision { first, second, .. } => {
                let groups = [first, second].map(|names| (names, Group::new(model, names)));
                if let Some((names, _)) = groups.iter().find(|(_, group)| must_exist && group.is_empty()) {
                    return Err(missing(watch, names.join(" or ")));
                }
                let [(_, first), (_, second)] = groups;
                collisions.push(CollisionWatch { event, ends_try, first, second });
            }
            Condition::Bound { variable, min, max, .. } => match catalogue.variable_named(variable) {
                Some(card) if !card.kind.is_number() => {
                    let (watch, variable, kind) = (watch.event_name(), variable.clone(), card.kind);
                    return Err(BuildError::NotANumber { watch, variable, kind });
                }
                Some(card) => bounds.push(BoundWatch {
                    event,
                    ends_try,
                    variable: card.id,
                    min: min.unwrap_or(f64::NEG_INFINITY),
                    max: max.unwrap_or(f64::INFINITY),
                }),
                None if must_exist => return Err(missing(watch, variable.clone())),
                None => {}
            },
        }
    }
    Ok((collisions, bounds))
}

/// A compiled model at its start state, and what is derived from it.
pub struct Structure {
    pub(crate) blueprint: Blueprint,
    pub(crate) sim: Sim,
    /// Everything visible, as compiled.
    pub(crate) visuals: Arc<[Visual]>,
    pub(crate) interfaces: BTreeMap<AgentId, Interface>,
    pub(crate) variables: VariableTable,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) collisions: Vec<CollisionWatch>,
    pub(crate) bounds: Vec<BoundWatch>,
    pub(crate) light_sensors: Vec<LightSensor>,
}

impl std::fmt::Debug for Structure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Structure").field("generation", &self.catalogue.generation).finish_non_exhaustive()
    }
}

impl Structure {
    /// A copy that shares the compiled model.
    pub(crate) fn fork(&self) -> Result<Self, Fault> {
        Ok(Self {
            blueprint: self.blueprint.clone(),
            sim: self.sim.fork()?,
            visuals: Arc::clone(&self.visuals),
            interfaces: self.interfaces.clone(),
            variables: self.variables.clone(),
            catalogue: Arc::clone(&self.catalogue),
            collisions: self.collisions.clone(),
            bounds: self.bounds.clone(),
            light_sensors: self.light_sensors.clone(),
        })
    }

    pub(crate) fn fresh_agents(&self) -> BTreeMap<AgentId, Agent> {
        self.interfaces.iter().map(|(&id, interface)| (id, Agent::new(interface.clone()))).collect()
    }

    pub(crate) fn resident(&self, agent: AgentId) -> Option<&Resident> {
        self.blueprint.residents.iter().find(|resident| resident.id == agent)
    }

    pub(crate) fn event(&self, name: &str) -> Option<EventId> {
        self.catalogue.event_named(name).map(|card| card.id)
    }

    /// The agent that a name of the model belongs to.
    pub(crate) fn owner(&self, name: &str) -> Option<AgentId> {
        self.blueprint
            .residents
            .iter()
            .find(|resident| name.starts_with(&resident.prefix()))
            .map(|resident| resident.id)
    }
}
