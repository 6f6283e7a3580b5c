//! One simulated world: robots, objects, time.
//!
//! Deterministic: the same setup, seed and entries per tick give the same states, bit for bit, on one machine and one
//! version of MuJoCo. Exactly one thread owns a world.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use physics::{Fault, Pose, Sim};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{
    agent::{Action, Agent, AgentId},
    event::{AgentEvent, EventId, standard},
    light,
    record::{Entry, ReplayError},
    setup::{Randomise, Robot, Setup, draw},
    snapshot::{Catalogue, Snapshot, Tick},
    structure::{Blueprint, BuildError, Structure},
    value::{ParseError, Value},
    variable::{Binding, GeomPart, Performance, VariableError, VariableId},
};

/// How often a failing physics step is tried again, each time with a stronger remedy.
const REMEDIES: u32 = 3;

/// Orders what several sessions did in the same tick, whatever order their packets took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// Identifies a request for a change of the model until it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// A change that needs a newly compiled model.
#[derive(Clone, Debug)]
pub enum Change {
    /// A robot comes.
    Join(Robot),
    /// A robot goes.
    Leave(AgentId),
    /// An object changes its size.
    Resize {
        /// Name of the geom in the model.
        geom: String,
        /// As MuJoCo counts it: half sizes or radius and half length, in m.
        size: [f64; 3],
    },
}

/// What came of a [`Change`].
#[derive(Debug)]
pub enum Changed {
    /// The robot is there.
    Joined(AgentId),
    /// The robot has gone.
    Left(AgentId),
    /// The object has its new size.
    Resized,
    /// Nothing happened.
    Refused(BuildError),
    /// There is no such agent.
    NoSuchAgent(AgentId),
}

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
    #[error("`{variable}` cannot be randomised: only numbers and points can")]
    CannotDraw {
        /// Full name.
        variable: String,
    },
}

struct Staged {
    agent: AgentId,
    session: SessionId,
    sequence: u64,
    actions: Vec<Action>,
}

/// The world.
pub struct World {
    pub(crate) structure: Structure,
    pub(crate) agents: BTreeMap<AgentId, Agent>,
    staged: Vec<Staged>,
    tick: Tick,
    pub(crate) step: u64,
    pub(crate) tries: u64,
    pub(crate) seed: u64,
    pub(crate) steps_per_tick: u32,
    pub(crate) paused: bool,
    randomise: Vec<(VariableId, Value, Value)>,
    observed: BTreeMap<VariableId, u32>,
    raised: BTreeSet<EventId>,
    outside: BTreeSet<EventId>,
    changes: VecDeque<(Ticket, Change)>,
    building: Option<(Ticket, Change)>,
    next_ticket: u64,
    failed: Option<Fault>,
    pub(crate) performance: Performance,
    journal: Option<Vec<Entry>>,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("tick", &self.tick).field("agents", &self.agents.len()).finish_non_exhaustive()
    }
}

impl World {
    /// Builds a world and brings it to the start of its first try.
    pub fn new(setup: &Setup) -> Result<Self, SetupError> {
        let structure = Blueprint::new(setup)?.build()?;
        let agents = structure.fresh_agents();
        let mut world = Self {
            structure,
            agents,
            staged: Vec::new(),
            tick: Tick(0),
            step: 0,
            tries: 0,
            seed: setup.seed,
            steps_per_tick: setup.steps_per_tick.max(1),
            paused: false,
            randomise: Vec::new(),
            observed: BTreeMap::new(),
            raised: BTreeSet::new(),
            outside: BTreeSet::new(),
            changes: VecDeque::new(),
            building: None,
            next_ticket: 0,
            failed: None,
            performance: Performance::default(),
            journal: None,
        };
        for (name, text) in &setup.settings {
            let (id, value) = world.parse(name, text)?;
            world.write(id, value).map_err(|cause| SetupError::Variable { variable: name.clone(), cause })?;
        }
        for Randomise { variable, min, max } in &setup.randomise {
            let (id, min) = world.parse(variable, min)?;
            let (_, max) = world.parse(variable, max)?;
            if draw(&min, &max, || 0.0).is_none() {
                return Err(SetupError::CannotDraw { variable: variable.clone() });
            }
            world.randomise.push((id, min, max));
        }
        world.settle();
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

    /// Tells how fast the world runs.
    pub fn note_performance(&mut self, performance: Performance) {
        self.performance = Performance { faults: self.performance.faults, ..performance };
    }

    // --- actions -----------------------------------------------------------------------------------------------------

    /// Keeps actions for the next tick. What is not finite is not kept; false if anything was dropped.
    pub fn stage(&mut self, agent: AgentId, session: SessionId, sequence: u64, mut actions: Vec<Action>) -> bool {
        let given = actions.len();
        actions.retain(Action::is_finite);
        let kept = actions.len();
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
        for _ in 0..self.steps_per_tick {
            if self.failed.is_some() {
                break;
            }
            self.physics_step();
        }
        light::shine(&mut self.structure.sim, &self.structure.light_sensors);
        self.raise(standard::UPDATE_SENSORS);
        self.watch_bounds();
        self.raise(standard::STEP_COMPLETED);
        self.tick.0 += 1;
        self.step += 1;
    }

    fn physics_step(&mut self) {
        for remedy in 0..=REMEDIES {
            for agent in self.agents.values() {
                agent.drive(&mut self.structure.sim);
            }
            match self.structure.sim.step() {
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

    /// Writes a variable. It takes effect with the next physics step; a size does so once the model is compiled anew.
    pub fn write(&mut self, variable: VariableId, value: Value) -> Result<(), VariableError> {
        self.write_now(variable, &value)?;
        let binding = self.structure.variables.binding(variable);
        let is_resize = matches!(binding, Some(Binding::Geom(_, GeomPart::Size)));
        // a new size is entered when it takes effect
        if !is_resize && let Some(card) = self.structure.variables.card(variable) {
            let variable = card.name.to_string();
            self.enter_journal(|| Entry::Write { variable, value });
        }
        Ok(())
    }

    // --- changes of the model ----------------------------------------------------------------------------------------

    /// Asks for a change of the model. It is carried out by [`World::next_blueprint`] and [`World::install`].
    pub fn request(&mut self, change: Change) -> Ticket {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.changes.push_back((ticket, change));
        ticket
    }

    /// The next model to compile, if a change is wanted and none is being compiled. Changes that are refused without
    /// compiling anything are answered on the way.
    pub fn next_blueprint(&mut self, answers: &mut Vec<(Ticket, Changed)>) -> Option<Blueprint> {
        while self.building.is_none() {
            let (ticket, change) = self.changes.pop_front()?;
            let mut blueprint = self.structure.blueprint.clone();
            let refusal = match &change {
                Change::Join(robot) => blueprint.add(robot).err().map(|error| Changed::Refused(error.into())),
                Change::Leave(agent) => (!blueprint.remove(*agent)).then_some(Changed::NoSuchAgent(*agent)),
                Change::Resize { geom, size, .. } => {
                    blueprint.resize(geom.clone(), *size);
                    None
                }
            };
            if let Some(refusal) = refusal {
                answers.push((ticket, refusal));
                continue;
            }
            self.building = Some((ticket, change));
            return Some(blueprint);
        }
        None
    }

    /// Swaps in what became of [`World::next_blueprint`], with everyone's state carried over by name.
    pub fn install(&mut self, built: Result<Structure, BuildError>) -> Option<(Ticket, Changed)> {
        let (ticket, change) = self.building.take()?;
        let changed = match built {
            Ok(structure) => self.swap_in(structure, change),
            Err(error) => Changed::Refused(error),
        };
        Some((ticket, changed))
    }

    fn swap_in(&mut self, mut structure: Structure, change: Change) -> Changed {
        structure.sim.carry_over(&self.structure.sim);
        self.structure = structure;
        let mut agents = std::mem::take(&mut self.agents);
        self.agents = self.structure.fresh_agents();
        for (id, agent) in &mut self.agents {
            if let Some(mut before) = agents.remove(id) {
                before.moved_to(agent.interface.clone());
                *agent = before;
            }
        }
        self.raise(standard::ENVIRONMENT_CHANGED);
        match change {
            Change::Join(robot) => {
                let id = self.structure.blueprint.residents.last().map_or(AgentId(0), |resident| resident.id);
                self.enter_journal(|| Entry::Join((&robot).into()));
                Changed::Joined(id)
            }
            Change::Leave(agent) => {
                self.staged.retain(|staged| staged.agent != agent);
                self.enter_journal(|| Entry::Leave { agent });
                Changed::Left(agent)
            }
            Change::Resize { geom, size } => {
                self.enter_journal(|| Entry::Resize { geom, size });
                Changed::Resized
            }
        }
    }

    /// Does what a recording says was done.
    pub fn apply(&mut self, entry: Entry) -> Result<(), ReplayError> {
        match entry {
            Entry::Act { agent, actions } => self.act(agent, actions),
            Entry::Write { variable, value } => {
                let id = self.catalogue().variable_named(&variable).map(|card| card.id);
                id.ok_or(VariableError::Unknown)
                    .and_then(|id| self.write(id, value))
                    .map_err(|cause| ReplayError::Write { variable, cause })?;
            }
            Entry::Reset { seed } => self.reset(Some(seed)),
            Entry::Join(robot) => self.change_now(Change::Join(robot.restore()?))?,
            Entry::Leave { agent } => self.change_now(Change::Leave(agent))?,
            Entry::Resize { geom, size } => self.change_now(Change::Resize { geom, size })?,
        }
        Ok(())
    }

    fn change_now(&mut self, change: Change) -> Result<(), ReplayError> {
        self.request(change);
        for (_, changed) in self.settle() {
            match changed {
                Changed::Joined(_) | Changed::Left(_) | Changed::Resized => {}
                Changed::Refused(cause) => return Err(ReplayError::Build(cause)),
                Changed::NoSuchAgent(agent) => return Err(ReplayError::NoSuchAgent { agent }),
            }
        }
        Ok(())
    }

    /// Carries out all wanted changes at once, here and now.
    pub fn settle(&mut self) -> Vec<(Ticket, Changed)> {
        let mut answers = Vec::new();
        while let Some(blueprint) = self.next_blueprint(&mut answers) {
            answers.extend(self.install(blueprint.build()));
        }
        answers
    }

    /// Where the agent's robot starts.
    pub fn start_of(&self, agent: AgentId) -> Option<Pose> {
        self.structure.resident(agent).map(|resident| resident.start)
    }

    // --- showing and recording ---------------------------------------------------------------------------------------

    /// What the world looks like now. Takes the raised events out.
    pub fn snapshot(&mut self) -> Arc<Snapshot> {
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
            observed: self.observed.keys().filter_map(|&id| Some((id, self.read(id).ok()?))).collect(),
            events: std::mem::take(&mut self.raised).into_iter().collect(),
        })
    }

    /// From now on every change is kept for [`World::take_journal`].
    pub fn keep_journal(&mut self) {
        self.journal.get_or_insert_default();
    }

    /// What happened since the last call.
    pub fn take_journal(&mut self) -> Vec<Entry> {
        self.journal.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn enter_journal(&mut self, entry: impl FnOnce() -> Entry) {
        if let Some(journal) = &mut self.journal {
            journal.push(entry());
        }
    }
}
