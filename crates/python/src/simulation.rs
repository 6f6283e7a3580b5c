//! A world with its recording, without anything of Python.

use std::path::Path;

use physics::{Limits, Pose, Source, Threads};
use pyo3::PyResult;
use server::{Scenario, serve::build_world};
use world::{Action, AgentId, Robot, SessionId, Setup, World, event::EventId};

use crate::{
    error,
    recording::{Recording, RecordingOptions},
};

/// All actions of a Python program come from one session.
const SESSION: SessionId = SessionId(0);

/// A world that a Python program steps.
pub(crate) struct Simulation {
    pub(crate) world: World,
    pub(crate) title: String,
    recording: Option<Recording>,
    /// Number of the next action.
    sequence: u64,
    /// The events of the last step or reset.
    events: Vec<EventId>,
}

impl Simulation {
    /// The world of a scenario. `seed` and `threads` replace those of the scenario.
    pub(crate) fn of_scenario(
        mut scenario: Scenario,
        seed: Option<u64>,
        threads: Option<Threads>,
        record: Option<RecordingOptions>,
    ) -> PyResult<Self> {
        if let Some(seed) = seed {
            scenario.base.world.seed = seed;
            scenario.check().map_err(error::failed)?;
        }
        scenario.base.world.threads = threads.unwrap_or(scenario.base.world.threads);
        let (setup, world) = build_world(&scenario).map_err(error::failed)?;
        Self::new(scenario.base.title.clone(), &setup, world, record, scenario.base.world.hash_every)
    }

    /// The world of a user's model, in its own scenery or on a field.
    pub(crate) fn of_model(model: Model, record: Option<RecordingOptions>) -> PyResult<Self> {
        let Model { source, base, name, pose, timestep, steps_per_tick, seed, threads } = model;
        let title = source.name().to_owned();
        let setup =
            Setup { robots: vec![Robot { name, source, pose }], timestep, steps_per_tick, seed, ..Setup::new(base) };
        let mut world = World::new(&setup).map_err(error::failed)?;
        world.set_threads(threads).map_err(error::failed)?;
        Self::new(title, &setup, world, record, HASH_EVERY)
    }

    fn new(
        title: String,
        setup: &Setup,
        mut world: World,
        record: Option<RecordingOptions>,
        hash_every: u64,
    ) -> PyResult<Self> {
        let recording = record.map(|options| Recording::start(options, setup, &mut world, hash_every)).transpose()?;
        Ok(Self { world, title, recording, sequence: 0, events: Vec::new() })
    }

    /// Takes one tick, and records it.
    pub(crate) fn tick(&mut self) -> PyResult<()> {
        self.world.tick();
        if let Some(recording) = &mut self.recording {
            recording.tick(&mut self.world)?;
        }
        self.world.failure().map_or(Ok(()), |fault| Err(error::failed(format_args!("the simulation failed: {fault}"))))
    }

    /// Begins a new try.
    pub(crate) fn reset(&mut self, seed: Option<u64>) -> PyResult<()> {
        self.world.reset(seed);
        self.collect_events();
        self.world.failure().map_or(Ok(()), |fault| Err(error::failed(format_args!("the reset failed: {fault}"))))
    }

    /// Commands motors for the next tick.
    pub(crate) fn act(&mut self, agent: AgentId, actions: Vec<Action>) -> PyResult<()> {
        self.sequence += 1;
        if self.world.stage(agent, SESSION, self.sequence, actions) {
            return Ok(());
        }
        Err(error::invalid("a motor command is not finite, is too large, or too many wait for a step"))
    }

    /// Carries out changes of the model that were requested, such as a new size.
    pub(crate) fn settle(&mut self) -> PyResult<()> {
        for (_, changed) in self.world.settle() {
            if let world::change::ChangeOutcome::Refused(cause) = changed {
                return Err(error::failed(cause));
            }
        }
        Ok(())
    }

    /// Keeps the events since the last call for [`Simulation::events`].
    pub(crate) fn collect_events(&mut self) {
        self.events = self.world.take_events();
    }

    /// Names of the events of the last step or reset.
    pub(crate) fn events(&self) -> Vec<String> {
        let cards = &self.world.catalogue().events;
        cards.iter().filter(|card| self.events.contains(&card.id)).map(|card| card.name.to_string()).collect()
    }

    /// Completes the recording, if there is one.
    pub(crate) fn finish(mut self) -> PyResult<()> {
        self.recording.take().map_or(Ok(()), |recording| recording.finish(&mut self.world))
    }
}

/// Interval at which a recording of a user's model contains a hash of the state, in ticks.
const HASH_EVERY: u64 = 50;

/// A robot of a user, and the world around it.
pub(crate) struct Model {
    pub(crate) source: Source,
    pub(crate) base: Source,
    pub(crate) name: String,
    pub(crate) pose: Pose,
    pub(crate) timestep: Option<f64>,
    pub(crate) steps_per_tick: u32,
    pub(crate) seed: u64,
    pub(crate) threads: Threads,
}

impl Model {
    /// Reads a model: a path, the name of a robot, or text that begins with `<`. Without a field it gets its own scenery.
    pub(crate) fn source(model: &str) -> PyResult<Source> {
        if model.trim_start().starts_with('<') {
            return Source::from_text("model", model, &Limits::default()).map_err(error::failed);
        }
        library::model(library::ModelKind::Robot, model, Path::new("")).map_err(error::failed)
    }

    /// The world around the model: a field, or the model's own scenery.
    pub(crate) fn base(source: &Source, field: Option<&str>) -> PyResult<Source> {
        match field {
            Some(field) => library::model(library::ModelKind::Field, field, Path::new("")).map_err(error::failed),
            None => source.scenery(&Limits::default()).map_err(error::failed),
        }
    }
}
