//! One simulated world: robots, objects, time.
//!
//! Deterministic: the same setup, seed and entries per tick give the same states, bit for bit, on one machine and one
//! version of MuJoCo. Exactly one thread at a time has a world.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use physics::{Fault, Pose, Sim};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{
    agent::{Action, Agent, AgentId},
    change::{Change, Changed, Ticket},
    director::DynDirector,
    event::{AgentEvent, EventId, Recent, incessant, standard},
    light,
    record::Entry,
    setup::{Randomise, Setup, draw},
    snapshot::{Catalogue, Snapshot, Tick},
    structure::{Blueprint, BuildError, Structure},
    value::{ParseError, Value},
    variable::{Binding, Performance, VariableError, VariableId},
};

/// Commands to motors that wait for a tick.
const STAGED: usize = 16_384;
/// Faults that are kept for whoever asks; further ones are only counted.
const FAULT_REPORTS: usize = 16;
/// How often a failing physics step is tried again, each time with a stronger remedy.
const REMEDIES: u32 = 3;

/// Orders what several sessions did in the same tick, whatever order their packets took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// Why a setup cannot become a world.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The model is no good.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A setting or a randomised variable does not exist or does not take this value.
    #[error("`{variable}` in the settings: {cause}")]
    Variable {
        /// Full name.
        variable: String,
        /// Why.
        cause: VariableError,
    },
    /// A setting's text is not a value.
    #[error("`{variable}` in the settings: {cause}")]
    Text {
        /// Full name.
        variable: String,
        /// Why.
        cause: ParseError,
    },
    /// A randomised variable is of a kind that cannot be drawn.
    #[error("`{variable}` cannot be randomised: only numbers and points can, and no sizes")]
    CannotDraw {
        /// Full name.
        variable: String,
    },
}

/// A physics step that failed and was tried again.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultReport {
    /// Whose robot caused it, as far as that can be told. Its motors were released.
    pub agent: Option<String>,
    /// What happened.
    pub cause: Fault,
}

pub(crate) struct Staged {
    pub(crate) agent: AgentId,
    session: SessionId,
    sequence: u64,
    actions: Vec<Action>,
}

/// The world.
pub struct World {
    pub(crate) structure: Structure,
    pub(crate) directors: Vec<Box<dyn DynDirector>>,
    pub(crate) agents: BTreeMap<AgentId, Agent>,
    pub(crate) staged: Vec<Staged>,
    tick: Tick,
    pub(crate) step: u64,
    pub(crate) tries: u64,
    pub(crate) seed: u64,
    pub(crate) steps_per_tick: u32,
    pub(crate) paused: bool,
    randomise: Vec<(VariableId, Value, Value)>,
    observed: BTreeMap<VariableId, u32>,
    lockstep: BTreeSet<AgentId>,
    controllers: Arc<BTreeMap<AgentId, SessionId>>,
    speed: f64,
    recent: Arc<Recent>,
    /// Events that are not kept, as of a generation of the catalogue.
    incessant: (u64, BTreeSet<EventId>),
    raised: BTreeSet<EventId>,
    outside: BTreeSet<EventId>,
    pub(crate) changes: VecDeque<(Ticket, Change)>,
    pub(crate) building: Option<(Ticket, Change)>,
    pub(crate) next_ticket: u64,
    failed: Option<Fault>,
    fault_reports: Vec<FaultReport>,
    pub(crate) performance: Performance,
    pub(crate) journal: Option<Vec<Entry>>,
    /// Ticks before this one have been recorded...
    pub(crate) recorded: Tick,
    /// ...and a part of this one.
    pub(crate) half_recorded: bool,
    /// Called after each physics step.
    breathe: fn(),
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("tick", &self.tick).field("agents", &self.agents.len()).finish_non_exhaustive()
    }
}

impl World {
    /// Builds a world that nobody directs and brings it to the start of its first try.
    pub fn new(setup: &Setup) -> Result<Self, SetupError> {
        Self::with_directors(setup, Vec::new())
    }

    /// Builds a world and brings it to the start of its first try.
    pub fn with_directors(setup: &Setup, directors: Vec<Box<dyn DynDirector>>) -> Result<Self, SetupError> {
        let variables = directors.iter().flat_map(|director| director.variables());
        let kinds = variables.map(|(name, value)| (name, value.kind())).collect();
        let structure = Blueprint::new(setup, kinds)?.build()?;
        let agents = structure.fresh_agents();
        let mut world = Self {
            structure,
            directors,
            agents,
            staged: Vec::new(),
            tick: Tick(0),
            step: 0,
            tries: 0,
            seed: setup.seed,
            steps_per_tick: 1,
            paused: false,
            randomise: Vec::new(),
            observed: BTreeMap::new(),
            lockstep: BTreeSet::new(),
            controllers: Arc::default(),
            speed: 1.0,
            recent: Arc::default(),
            incessant: (u64::MAX, BTreeSet::new()),
            raised: BTreeSet::new(),
            outside: BTreeSet::new(),
            changes: VecDeque::new(),
            building: None,
            next_ticket: 0,
            failed: None,
            fault_reports: Vec::new(),
            performance: Performance::default(),
            journal: None,
            recorded: Tick(0),
            half_recorded: false,
            breathe: || {},
        };
        let steps_per_tick = ("/Simulation/IterationsPerStep".to_owned(), setup.steps_per_tick.to_string());
        for (name, text) in std::iter::once(&steps_per_tick).chain(&setup.settings) {
            let (id, value) = world.parse(name, text)?;
            world.write(id, value).map_err(|cause| SetupError::Variable { variable: name.clone(), cause })?;
        }
        for Randomise { variable, min, max } in &setup.randomise {
            let (id, min) = world.parse(variable, min)?;
            let (_, max) = world.parse(variable, max)?;
            let binding = world.structure.variables.binding(id);
            if draw(&min, &max, || 0.0).is_none() || binding.is_some_and(Binding::needs_compiler) {
                return Err(SetupError::CannotDraw { variable: variable.clone() });
            }
            // what takes both ends takes everything between
            for end in [&min, &max] {
                let refused = |cause| SetupError::Variable { variable: variable.clone(), cause };
                world.write_now(id, end).map_err(refused)?;
            }
            world.randomise.push((id, min, max));
        }
        for (_, changed) in world.settle() {
            if let Changed::Refused(cause) = changed {
                return Err(cause.into());
            }
        }
        world.reset(None);
        Ok(world)
    }

    fn parse(&self, name: &str, text: &str) -> Result<(VariableId, Value), SetupError> {
        let variable = || name.to_owned();
        let card = self
            .catalogue()
            .variable_named(name)
            .ok_or_else(|| SetupError::Variable { variable: variable(), cause: VariableError::Unknown })?;
        let value = card.kind.parse(text).map_err(|cause| SetupError::Text { variable: variable(), cause })?;
        Ok((card.id, value))
    }

    /// What is in the world.
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.structure.catalogue
    }

    /// The simulation, to look at.
    pub fn sim(&self) -> &Sim {
        &self.structure.sim
    }

    /// The simulation alone.
    pub fn into_sim(self) -> Sim {
        self.structure.sim
    }

    /// The tick that comes next.
    pub fn tick_count(&self) -> Tick {
        self.tick
    }

    /// Length of a tick in simulated time, in s.
    pub fn tick_seconds(&self) -> f64 {
        self.structure.sim.timestep() * f64::from(self.steps_per_tick)
    }

    /// Whether somebody asked for time to stand still.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Seed of the current try.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// A number that two worlds share when their states are equal, bit for bit.
    pub fn state_hash(&self) -> u64 {
        self.structure.sim.hash()
    }

    /// A number that two worlds share when their models are equal.
    pub fn model_hash(&self) -> u64 {
        self.structure.sim.model().fingerprint()
    }

    /// Why time stands still for good, until a reset.
    pub fn failure(&self) -> Option<&Fault> {
        self.failed.as_ref()
    }

    /// Faults since the last call that the world got over.
    pub fn take_fault_reports(&mut self) -> Vec<FaultReport> {
        std::mem::take(&mut self.fault_reports)
    }

    /// Tells how fast the world runs.
    pub fn note_performance(&mut self, performance: Performance) {
        self.performance = Performance { faults: self.performance.faults, ..performance };
    }

    /// Tells whether somebody steps the world for this agent.
    pub fn note_lockstep(&mut self, agent: AgentId, is_in: bool) {
        if is_in {
            self.lockstep.insert(agent);
        } else {
            self.lockstep.remove(&agent);
        }
    }

    /// Tells who moves this agent, if anybody does.
    pub fn set_controller(&mut self, agent: AgentId, session: Option<SessionId>) {
        if self.controllers.get(&agent).copied() != session {
            let controllers = Arc::make_mut(&mut self.controllers);
            match session {
                Some(session) => controllers.insert(agent, session),
                None => controllers.remove(&agent),
            };
        }
    }

    /// Whether nobody moves this agent.
    pub(crate) fn has_no_controller(&self, agent: AgentId) -> bool {
        !self.controllers.contains_key(&agent)
    }

    /// Tells that a session has ended.
    pub fn note_end(&mut self, session: SessionId) {
        if self.controllers.values().any(|hand| *hand == session) {
            Arc::make_mut(&mut self.controllers).retain(|_, hand| *hand != session);
        }
    }

    /// Tells how many times real time the world is to run.
    pub fn note_speed(&mut self, speed: f64) {
        self.speed = speed;
    }

    /// Has something called after each physics step, which must not take long: others may need the core.
    pub fn breathe_with(&mut self, breathe: fn()) {
        self.breathe = breathe;
    }

    // --- actions -----------------------------------------------------------------------------------------------------

    /// Keeps actions for the next tick. What is not sound is not kept, and neither is anything once too much is waiting
    /// because time stands still; false if anything was dropped.
    pub fn stage(&mut self, agent: AgentId, session: SessionId, sequence: u64, mut actions: Vec<Action>) -> bool {
        let given = actions.len();
        actions.retain(Action::is_sound);
        let kept = actions.len();
        if self.staged.len() >= STAGED {
            return false;
        }
        if self.agents.contains_key(&agent) && kept > 0 {
            self.staged.push(Staged { agent, session, sequence, actions });
        }
        kept == given
    }

    fn apply_staged(&mut self) {
        let mut staged = std::mem::take(&mut self.staged);
        staged.sort_by_key(|staged| (staged.agent, staged.session, staged.sequence));
        for Staged { agent, actions, .. } in staged.drain(..) {
            self.act(agent, actions);
        }
        // keeps its room for the next tick
        self.staged = staged;
    }

    /// Carries out actions now.
    pub(crate) fn act(&mut self, agent: AgentId, actions: Vec<Action>) {
        let Some(robot) = self.agents.get_mut(&agent) else { return };
        for action in &actions {
            robot.obey(*action);
        }
        robot.command(&mut self.structure.sim);
        self.raise(standard::UPDATE_MOTORS);
        self.enter_journal(|| Entry::Act { agent, actions });
    }

    // --- time --------------------------------------------------------------------------------------------------------

    /// Lets one tick pass. After a failure nothing moves until the next reset.
    pub fn tick(&mut self) {
        self.apply_staged();
        self.raise(standard::NEXT_STEP);
        self.for_each_director(|director, world| director.before_physics(world));
        for left in (0..self.steps_per_tick).rev() {
            if self.failed.is_some() {
                break;
            }
            self.for_each_director(|director, world| director.before_step(world));
            // sensors are read when the tick is over
            self.physics_step(if left > 0 { Sim::step_blind } else { Sim::step });
            (self.breathe)();
        }
        self.for_each_director(|director, world| director.after_physics(world));
        light::shine(&mut self.structure.sim, &self.structure.light_sensors);
        self.raise(standard::UPDATE_SENSORS);
        self.watch_bounds();
        self.raise(standard::STEP_COMPLETED);
        self.tick.0 += 1;
        self.step += 1;
    }

    /// Does what can be done of the next tick before anybody has said what to do in it. What the tick leads to is the
    /// same; nothing that can be read changes before.
    pub fn prepare(&mut self) {
        if self.failed.is_none() {
            self.structure.sim.begin_step(self.steps_per_tick > 1);
        }
    }

    fn physics_step(&mut self, step: fn(&mut Sim) -> Result<(), Fault>) {
        for remedy in 0..=REMEDIES {
            for agent in self.agents.values() {
                agent.drive(&mut self.structure.sim);
            }
            match step(&mut self.structure.sim) {
                Ok(()) => return self.watch_collisions(),
                Err(fault) if remedy < REMEDIES => self.treat(&fault, remedy),
                Err(fault) => self.failed = Some(fault),
            }
        }
    }

    /// The state before the step is back already. First the motors of the robot that caused the fault are released,
    /// then the robot is put back where it started; if that does not help, or nobody can be named, everyone is.
    fn treat(&mut self, fault: &Fault, remedy: u32) {
        self.performance.faults += 1;
        let culprit = match fault {
            Fault::NotFinite { what, .. } => self.structure.owner(what),
            Fault::Engine { .. } => None,
        };
        if self.fault_reports.len() < FAULT_REPORTS {
            let agent = culprit.and_then(|agent| self.structure.resident(agent)).map(|resident| resident.name.clone());
            self.fault_reports.push(FaultReport { agent, cause: fault.clone() });
        }
        let patients: Vec<AgentId> = match culprit {
            Some(agent) if remedy + 1 < REMEDIES => vec![agent],
            _ => self.agents.keys().copied().collect(),
        };
        for agent in patients {
            if let Some(robot) = self.agents.get_mut(&agent) {
                robot.release();
                robot.command(&mut self.structure.sim);
            }
            if remedy > 0 {
                self.put_back(agent);
            }
            self.tell(agent, AgentEvent::Fault);
        }
        if culprit.is_none() && remedy + 1 == REMEDIES {
            self.structure.sim.reset();
        }
    }

    fn put_back(&mut self, agent: AgentId) {
        let Some(resident) = self.structure.resident(agent) else { return };
        if let Some(root) = resident.root(self.structure.sim.model()) {
            let start = self.structure.sim.start_pose(root);
            self.structure.sim.rest(root);
            self.structure.sim.place(root, start);
        }
    }

    /// Begins a new try: everything back to its start, motors released, random parameters drawn from the seed.
    /// Without a seed the current one is used again. Written parameters stay.
    pub fn reset(&mut self, seed: Option<u64>) {
        self.raise(standard::RESET);
        if self.step > 0 {
            self.raise(standard::TRY_COMPLETED);
        }
        self.seed = seed.unwrap_or(self.seed);
        self.failed = None;
        self.staged.clear();
        self.outside.clear();
        self.structure.sim.reset();
        for agent in self.agents.values_mut() {
            agent.release();
            agent.command(&mut self.structure.sim);
        }
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        for (variable, min, max) in self.randomise.clone() {
            if let Some(value) = draw(&min, &max, || random.random::<f64>()) {
                // what is randomised may have left the world since
                let _ = self.write_now(variable, &value);
            }
        }
        self.for_each_director(|director, world| director.reset(world));
        if let Err(fault) = self.structure.sim.forward() {
            self.failed = Some(fault);
        }
        light::shine(&mut self.structure.sim, &self.structure.light_sensors);
        self.step = 0;
        self.tries += 1;
        for event in [standard::RANDOMIZE, standard::RESET_DONE, standard::NEXT_TRY] {
            self.raise(event);
        }
        let seed = self.seed;
        self.enter_journal(|| Entry::Reset { seed });
    }

    // --- events ------------------------------------------------------------------------------------------------------

    pub(crate) fn raise(&mut self, name: &str) {
        if let Some(event) = self.structure.event(name) {
            self.raised.insert(event);
        }
    }

    /// Raises an event of one agent.
    pub fn tell(&mut self, agent: AgentId, event: AgentEvent) {
        if let Some(name) = self.structure.resident(agent).map(|resident| event.name(&resident.name)) {
            self.raise(&name);
        }
    }

    fn watch_collisions(&mut self) {
        for watch in &self.structure.collisions {
            if watch.happens(&self.structure.sim) {
                self.raised.insert(watch.event);
            }
        }
    }

    fn watch_bounds(&mut self) {
        for watch in &self.structure.bounds {
            let Some(value) = self.read(watch.variable).ok().and_then(|value| value.as_number()) else { continue };
            if value >= watch.min && value <= watch.max {
                self.outside.remove(&watch.event);
            } else if self.outside.insert(watch.event) {
                self.raised.insert(watch.event);
            }
        }
    }

    // --- variables ---------------------------------------------------------------------------------------------------

    /// Adds a variable to every snapshot, until as many calls of [`World::unobserve`] end it.
    pub fn observe(&mut self, variable: VariableId) {
        *self.observed.entry(variable).or_default() += 1;
    }

    /// Ends one [`World::observe`].
    pub fn unobserve(&mut self, variable: VariableId) {
        if let Some(count) = self.observed.get_mut(&variable) {
            *count -= 1;
            if *count == 0 {
                self.observed.remove(&variable);
            }
        }
    }

    /// Writes a variable, or changes nothing and says why. It takes effect at once; a size does so when the change of
    /// the returned ticket is carried out.
    pub fn write(&mut self, variable: VariableId, value: Value) -> Result<Option<Ticket>, VariableError> {
        let binding = self.structure.variables.binding(variable).ok_or(VariableError::Unknown)?;
        let before = binding.moves_things().then(|| self.structure.sim.state());
        let ticket = self.write_now(variable, &value)?;
        let name = self.structure.variables.card(variable).map(|card| card.name.to_string()).unwrap_or_default();
        if let Some(before) = before {
            // whoever reads now finds everything where it was put
            if let Err(cause) = self.structure.sim.forward() {
                self.failed = self.structure.sim.restore(&before).err().or(self.failed.take());
                return Err(VariableError::Refused { name, cause });
            }
            light::shine(&mut self.structure.sim, &self.structure.light_sensors);
        }
        // a new size is entered when it takes effect
        if ticket.is_none() {
            self.enter_journal(|| Entry::Write { variable: name, value });
        }
        Ok(ticket)
    }

    /// Where the agent's robot starts.
    pub fn start_of(&self, agent: AgentId) -> Option<Pose> {
        self.structure.resident(agent).map(|resident| resident.start)
    }

    // --- showing -----------------------------------------------------------------------------------------------------

    /// The state after a tick or a reset, with the events that were raised since the last call.
    pub fn take_snapshot(&mut self) -> Arc<Snapshot> {
        let events: Vec<EventId> = std::mem::take(&mut self.raised).into_iter().collect();
        self.keep_events(&events);
        self.look(events)
    }

    fn keep_events(&mut self, events: &[EventId]) {
        let generation = self.structure.catalogue.generation;
        if self.incessant.0 != generation {
            self.incessant = (generation, incessant(&self.structure.catalogue));
        }
        let (tick, time) = (self.tick, self.structure.sim.time());
        for event in events.iter().filter(|event| !self.incessant.1.contains(event)) {
            Arc::make_mut(&mut self.recent).add(tick, time, *event);
        }
    }

    /// The current state, without events: these wait for [`World::take_snapshot`].
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.look(Vec::new())
    }

    fn look(&self, events: Vec<EventId>) -> Arc<Snapshot> {
        let sim = &self.structure.sim;
        Arc::new(Snapshot {
            tick: self.tick,
            step: self.step,
            tries: self.tries,
            time: sim.time(),
            catalogue: Arc::clone(&self.structure.catalogue),
            positions: sim.positions().to_vec(),
            orientations: sim.orientations().to_vec(),
            sensors: sim.sensor_values().to_vec(),
            motors: self.agents.values().flat_map(|agent| agent.readings(sim)).collect(),
            recent: Arc::clone(&self.recent),
            lockstep: self.lockstep.iter().copied().collect(),
            controllers: Arc::clone(&self.controllers),
            paused: self.paused,
            speed: self.speed,
            performance: self.performance,
            observed: self.observed.keys().filter_map(|&id| Some((id, self.read(id).ok()?))).collect(),
            events,
            views: self.directors.iter().map(|director| director.view()).collect(),
        })
    }
}
