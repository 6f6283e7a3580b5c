//! One simulated world: robots, objects, time.
//!
//! Deterministic: the same setup, seed and entries per tick give the same states, bit for bit, on one machine and one
//! version of MuJoCo. A world is owned by one thread at a time.

mod build;
mod parked;
mod saves;
mod time;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use physics::{Fault, Pose, Sim, Threads, ThreadsError, Visual};

use self::saves::Saves;
pub use self::{
    build::SetupError,
    parked::Parked,
    saves::{MAX_SAVED_BYTES, MAX_SAVES, SaveError, SaveId},
};
use crate::{
    agent::{Action, Agent, AgentId},
    change::{Change, Ticket},
    clock::Pace,
    director::DynDirector,
    event::{AgentEvent, EventId, RecentEvents, routine, standard},
    light,
    record::Entry,
    snapshot::{Catalogue, Snapshot, Tick},
    structure::Structure,
    value::Value,
    variable::{Performance, VariableError, VariableId},
};

/// Most motor commands that wait for a tick.
const MAX_STAGED: usize = 16_384;

/// Identifies a session. Actions of several sessions in one tick are applied in order of their ids, whatever order their
/// packets took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// A physics step that failed and was repeated.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultReport {
    /// Name of the agent whose robot caused it, if known. Its motors were released.
    pub agent: Option<String>,
    /// The error of the physics engine.
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
    /// Where the settings put what is fixed; it returns there with each reset.
    placed: Vec<(VariableId, Value)>,
    /// Everything visible, with what has been moved where it is now.
    visuals: Arc<[Visual]>,
    observed: BTreeMap<VariableId, u32>,
    lockstep: BTreeSet<AgentId>,
    controllers: Arc<BTreeMap<AgentId, SessionId>>,
    pace: Pace,
    pub(crate) speed: f64,
    recent: Arc<RecentEvents>,
    /// Events that are not kept, as of a generation of the catalogue.
    routine: (u64, BTreeSet<EventId>),
    raised: BTreeSet<EventId>,
    outside: BTreeSet<EventId>,
    pub(crate) changes: VecDeque<(Ticket, Change)>,
    pub(crate) building: Option<(Ticket, Change)>,
    pub(crate) next_ticket: u64,
    failed: Option<Fault>,
    saves: Saves,
    fault_reports: Vec<FaultReport>,
    pub(crate) performance: Performance,
    pub(crate) journal: Option<Vec<Entry>>,
    /// Ticks before this one have been recorded,
    pub(crate) recorded: Tick,
    /// and so has a part of this one.
    pub(crate) half_recorded: bool,
    /// Called after each physics step.
    after_step: fn(),
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("tick", &self.tick).field("agents", &self.agents.len()).finish_non_exhaustive()
    }
}

impl World {
    /// Names and kinds of everything in the world.
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.structure.catalogue
    }

    /// The simulation, read-only.
    pub fn sim(&self) -> &Sim {
        &self.structure.sim
    }

    /// Drops everything but the simulation.
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

    /// Whether time was paused by a command.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Seed of the current try.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Hash of the state: equal for worlds whose states are equal, bit for bit.
    pub fn state_hash(&self) -> u64 {
        self.structure.sim.hash()
    }

    /// Hash of the model: equal for worlds whose models are equal.
    pub fn model_hash(&self) -> u64 {
        self.structure.sim.model().fingerprint()
    }

    /// The fault that stopped time until the next reset.
    pub fn failure(&self) -> Option<&Fault> {
        self.failed.as_ref()
    }

    /// Takes the faults since the last call that the world recovered from.
    pub fn take_fault_reports(&mut self) -> Vec<FaultReport> {
        std::mem::take(&mut self.fault_reports)
    }

    /// Sets the measured performance, for snapshots and variables.
    pub fn set_performance(&mut self, performance: Performance) {
        self.performance = Performance { faults: self.performance.faults, ..performance };
    }

    /// Sets whether the world waits for this agent's votes, for snapshots.
    pub fn set_lockstep(&mut self, agent: AgentId, is_lockstep: bool) {
        if is_lockstep {
            self.lockstep.insert(agent);
        } else {
            self.lockstep.remove(&agent);
        }
    }

    /// Sets the session that controls this agent, for snapshots.
    pub fn set_controller(&mut self, agent: AgentId, session: Option<SessionId>) {
        if self.controllers.get(&agent).copied() != session {
            let controllers = Arc::make_mut(&mut self.controllers);
            match session {
                Some(session) => controllers.insert(agent, session),
                None => controllers.remove(&agent),
            };
        }
    }

    pub(crate) fn has_controller(&self, agent: AgentId) -> bool {
        self.controllers.contains_key(&agent)
    }

    /// Removes a session from the controllers of all agents.
    pub(crate) fn remove_controller(&mut self, session: SessionId) {
        if self.controllers.values().any(|controller| *controller == session) {
            Arc::make_mut(&mut self.controllers).retain(|_, controller| *controller != session);
        }
    }

    /// The pace that the world is run at.
    pub(crate) fn pace(&self) -> Pace {
        self.pace
    }

    /// Sets the pace that the world is run at, for variables.
    pub(crate) fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
    }

    /// Multiple of real time, where the pace follows the clock.
    pub(crate) fn speed(&self) -> f64 {
        self.speed
    }

    /// Sets the multiple of real time.
    pub(crate) fn set_speed(&mut self, speed: f64) {
        self.speed = speed;
    }

    /// Sets a function to call after each physics step, such as to yield the core to other threads.
    pub fn set_after_step(&mut self, after_step: fn()) {
        self.after_step = after_step;
    }

    /// Sets how many threads help with the physics. States do not depend on it, so that recordings do not contain it. Threads
    /// stay with the world when robots join and leave; a fork has as many of its own.
    ///
    /// # Errors
    /// If the threads do not start; none help then.
    pub fn set_threads(&mut self, threads: Threads) -> Result<(), ThreadsError> {
        self.structure.sim.set_threads(threads)
    }

    // --- actions -----------------------------------------------------------------------------------------------------

    /// Keeps actions for the next tick. Drops invalid ones, and all once too many wait because time stands still. Returns
    /// false if any was dropped.
    pub fn stage(&mut self, agent: AgentId, session: SessionId, sequence: u64, mut actions: Vec<Action>) -> bool {
        let given = actions.len();
        actions.retain(Action::is_valid);
        let kept = actions.len();
        if self.staged.len() >= MAX_STAGED {
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
        // keeps its capacity for the next tick
        self.staged = staged;
    }

    /// Carries out actions now.
    pub(crate) fn act(&mut self, agent: AgentId, actions: Vec<Action>) {
        let Some(robot) = self.agents.get_mut(&agent) else { return };
        for action in &actions {
            robot.apply(*action);
        }
        robot.update_sim(&mut self.structure.sim);
        self.raise(standard::UPDATE_MOTORS);
        self.enter_journal(|| Entry::Act { agent, actions });
    }

    // --- events ------------------------------------------------------------------------------------------------------

    pub(crate) fn raise(&mut self, name: &str) {
        if let Some(event) = self.structure.event(name) {
            self.raised.insert(event);
        }
    }

    /// Raises an event of one agent.
    pub fn raise_agent_event(&mut self, agent: AgentId, event: AgentEvent) {
        if let Some(name) = self.structure.resident(agent).map(|resident| event.name(&resident.name)) {
            self.raise(&name);
        }
    }

    fn watch_collisions(&mut self) {
        let mut ends_try = false;
        for watch in &self.structure.collisions {
            if watch.happens(&self.structure.sim) {
                self.raised.insert(watch.event);
                ends_try |= watch.ends_try;
            }
        }
        self.terminate_try(ends_try);
    }

    fn watch_bounds(&mut self) {
        let mut ends_try = false;
        for watch in &self.structure.bounds {
            let Some(value) = self.read(watch.variable).ok().and_then(|value| value.as_number()) else { continue };
            if value >= watch.min && value <= watch.max {
                self.outside.remove(&watch.event);
            } else if self.outside.insert(watch.event) {
                self.raised.insert(watch.event);
                ends_try |= watch.ends_try;
            }
        }
        self.terminate_try(ends_try);
    }

    fn terminate_try(&mut self, is_over: bool) {
        if is_over {
            self.raise(standard::TERMINATE_TRY);
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

    /// Writes a variable. The value takes effect at once; a size does when the change of the returned ticket has been
    /// carried out.
    ///
    /// # Errors
    /// The reason why it was not written. Nothing has changed then.
    pub fn write(&mut self, variable: VariableId, value: Value) -> Result<Option<Ticket>, VariableError> {
        let binding = self.structure.variables.binding(variable).ok_or(VariableError::Unknown)?;
        let before = binding.affects_poses().then(|| self.structure.sim.state());
        let ticket = self.write_now(variable, &value)?;
        let name = self.structure.variables.card(variable).map(|card| card.name.to_string()).unwrap_or_default();
        if let Some(before) = before {
            // derived quantities are up to date when they are read next
            if let Err(cause) = self.structure.sim.forward() {
                self.failed = self.structure.sim.restore(&before).err().or(self.failed.take());
                return Err(VariableError::Refused { name, cause });
            }
            light::update_sensors(&mut self.structure.sim, &self.structure.light_sensors);
        }
        if binding.is_pose_of_geom() {
            self.update_visuals();
        }
        // a new size enters the journal when it takes effect
        if ticket.is_none() {
            self.enter_journal(|| Entry::Write { variable: name, value });
        }
        Ok(ticket)
    }

    /// Moves what is visible of moved geoms.
    pub(crate) fn update_visuals(&mut self) {
        let Structure { sim, visuals, .. } = &self.structure;
        let mut moved = sim.moved_geoms().peekable();
        if moved.peek().is_none() {
            self.visuals = Arc::clone(visuals);
            return;
        }
        let mut now = visuals.to_vec();
        for (geom, pose) in moved {
            for (visual, moved) in visuals.iter().zip(&mut now).filter(|(visual, _)| visual.shows(sim.model(), geom)) {
                *moved = Visual { pose, ..visual.clone() };
            }
        }
        self.visuals = now.into();
    }

    /// Readings of all motors of an agent, in physical units: the angle, the speed, or the signal it was given.
    pub fn motor_readings(&self, agent: AgentId) -> Vec<f64> {
        self.agents.get(&agent).map(|agent| agent.readings(self.sim()).collect()).unwrap_or_default()
    }

    /// Start pose of the agent's robot.
    pub fn start_of(&self, agent: AgentId) -> Option<Pose> {
        self.structure.resident(agent).map(|resident| resident.start)
    }

    /// Poses of the agent's root body: now, and at its start.
    pub fn root_poses(&self, agent: AgentId) -> Option<[Pose; 2]> {
        let sim = &self.structure.sim;
        let root = self.structure.resident(agent)?.root(sim.model())?;
        Some([sim.body_pose(root), sim.start_pose(root)])
    }

    // --- snapshots ---------------------------------------------------------------------------------------------------

    /// The state after a tick or a reset, with the events that were raised since the last call.
    pub fn take_snapshot(&mut self) -> Arc<Snapshot> {
        let events = self.take_events();
        self.build_snapshot(events)
    }

    /// The events that were raised since the last call, in order of their ids, for callers that need no snapshot.
    pub fn take_events(&mut self) -> Vec<EventId> {
        let events: Vec<EventId> = std::mem::take(&mut self.raised).into_iter().collect();
        self.keep_events(&events);
        events
    }

    fn keep_events(&mut self, events: &[EventId]) {
        let generation = self.structure.catalogue.generation;
        if self.routine.0 != generation {
            self.routine = (generation, routine(&self.structure.catalogue));
        }
        let (tick, time) = (self.tick, self.structure.sim.time());
        for event in events.iter().filter(|event| !self.routine.1.contains(event)) {
            Arc::make_mut(&mut self.recent).add(tick, time, *event);
        }
    }

    /// The current state, without events: these wait for [`World::take_snapshot`].
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.build_snapshot(Vec::new())
    }

    fn build_snapshot(&self, events: Vec<EventId>) -> Arc<Snapshot> {
        let sim = &self.structure.sim;
        Arc::new(Snapshot {
            tick: self.tick,
            step: self.step,
            tries: self.tries,
            time: sim.time(),
            catalogue: Arc::clone(&self.structure.catalogue),
            visuals: Arc::clone(&self.visuals),
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
