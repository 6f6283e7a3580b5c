//! Saved states of a world, to which it can return.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use physics::{Fault, Sim, Visual};
use serde::{Deserialize, Serialize};

use super::World;
use crate::{
    agent::{Agent, AgentId},
    director::DynDirector,
    event::EventId,
    record::Entry,
};

/// Saved states that a world keeps.
pub const MAX_SAVES: usize = 1_024;
/// Memory of all saved states of a world, in bytes.
pub const MAX_SAVED_BYTES: usize = 1 << 30;

/// Identifies a saved state of a world; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SaveId(pub u64);

/// Why a state is not saved or restored. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SaveError {
    /// Too many states are saved.
    #[error("the world keeps at most {MAX_SAVES} saved states; discard some")]
    TooMany,
    /// The saved states are too large.
    #[error("the saved states of a world may take {} MiB; discard some", MAX_SAVED_BYTES >> 20)]
    TooLarge,
    /// A director cannot be saved.
    #[error("a world with the director `{director}` cannot be saved")]
    Director {
        /// Name of the director.
        director: &'static str,
    },
    /// There is no saved state with this id.
    #[error("the saved state was discarded, or is of another world")]
    Unknown,
    /// The model was recompiled in the meantime.
    #[error("robots have joined or left, or an object was resized, since the state was saved")]
    ModelChanged,
    /// The physics engine failed.
    #[error(transparent)]
    Engine(#[from] Fault),
}

/// What a world returns to. Its catalogue, observed variables, pace and number of ticks stay.
struct Saved {
    /// Generation of the catalogue.
    generation: u64,
    sim: Sim,
    agents: BTreeMap<AgentId, Agent>,
    directors: Vec<Box<dyn DynDirector>>,
    visuals: Arc<[Visual]>,
    outside: BTreeSet<EventId>,
    step: u64,
    tries: u64,
    seed: u64,
    failed: Option<Fault>,
}

/// The saved states of a world.
#[derive(Default)]
pub(super) struct Saves {
    next: u64,
    bytes: usize,
    kept: BTreeMap<SaveId, Saved>,
}

impl World {
    /// Saves everything that the future depends on: the state of the simulation, parameters, motor commands and directors.
    ///
    /// # Errors
    /// If there is no room, or a director cannot be saved.
    pub fn save(&mut self) -> Result<SaveId, SaveError> {
        let sim = self.sim();
        if self.saves.kept.len() >= MAX_SAVES {
            return Err(SaveError::TooMany);
        }
        let bytes = self.saves.bytes + sim.bytes();
        if bytes > MAX_SAVED_BYTES {
            return Err(SaveError::TooLarge);
        }
        let saved = Saved {
            generation: self.structure.catalogue.generation,
            sim: sim.fork()?,
            agents: self.agents.clone(),
            directors: fork_all(&self.directors)?,
            visuals: Arc::clone(&self.visuals),
            outside: self.outside.clone(),
            step: self.step,
            tries: self.tries,
            seed: self.seed,
            failed: self.failed.clone(),
        };
        let id = SaveId(self.saves.next);
        self.saves.next += 1;
        self.saves.bytes = bytes;
        self.saves.kept.insert(id, saved);
        self.enter_journal(|| Entry::Save { save: id });
        Ok(id)
    }

    /// Returns to a saved state, which stays saved. The world then continues bit for bit as it did from there. Actions that
    /// wait for the next tick are dropped.
    ///
    /// # Errors
    /// If the state is not saved any more, or is of another model.
    pub fn restore(&mut self, id: SaveId) -> Result<(), SaveError> {
        let saves = std::mem::take(&mut self.saves);
        let restored = saves.kept.get(&id).ok_or(SaveError::Unknown).and_then(|saved| self.return_to(saved));
        self.saves = saves;
        restored?;
        self.enter_journal(|| Entry::Restore { save: id });
        Ok(())
    }

    fn return_to(&mut self, saved: &Saved) -> Result<(), SaveError> {
        if saved.generation != self.structure.catalogue.generation {
            return Err(SaveError::ModelChanged);
        }
        let directors = fork_all(&saved.directors)?;
        self.structure.sim.copy_from(&saved.sim)?;
        self.directors = directors;
        self.agents.clone_from(&saved.agents);
        self.visuals = Arc::clone(&saved.visuals);
        self.outside.clone_from(&saved.outside);
        (self.step, self.tries, self.seed) = (saved.step, saved.tries, saved.seed);
        self.failed.clone_from(&saved.failed);
        self.staged.clear();
        self.raised.clear();
        Ok(())
    }

    /// A copy of this world, without compiling its model again. Both continue bit for bit alike. Actions that wait for the
    /// next tick, requested changes of the model, saved states and the journal are not copied.
    ///
    /// # Errors
    /// If there is not enough memory, or a director cannot be copied.
    pub fn fork(&self) -> Result<Self, SaveError> {
        Ok(Self {
            structure: self.structure.fork()?,
            directors: fork_all(&self.directors)?,
            agents: self.agents.clone(),
            staged: Vec::new(),
            tick: self.tick,
            step: self.step,
            tries: self.tries,
            seed: self.seed,
            steps_per_tick: self.steps_per_tick,
            paused: self.paused,
            randomise: self.randomise.clone(),
            placed: self.placed.clone(),
            visuals: Arc::clone(&self.visuals),
            observed: self.observed.clone(),
            lockstep: self.lockstep.clone(),
            controllers: Arc::clone(&self.controllers),
            pace: self.pace,
            speed: self.speed,
            recent: Arc::clone(&self.recent),
            routine: self.routine.clone(),
            raised: self.raised.clone(),
            outside: self.outside.clone(),
            changes: VecDeque::new(),
            building: None,
            next_ticket: self.next_ticket,
            failed: self.failed.clone(),
            saves: Saves::default(),
            fault_reports: self.fault_reports.clone(),
            performance: self.performance,
            journal: None,
            recorded: self.tick,
            half_recorded: false,
            after_step: self.after_step,
        })
    }

    /// Frees a saved state.
    pub fn discard(&mut self, id: SaveId) {
        if let Some(saved) = self.saves.kept.remove(&id) {
            self.saves.bytes -= saved.sim.bytes();
            self.enter_journal(|| Entry::Discard { save: id });
        }
    }
}

fn fork_all(directors: &[Box<dyn DynDirector>]) -> Result<Vec<Box<dyn DynDirector>>, SaveError> {
    let fork = |director: &dyn DynDirector| director.fork().ok_or(SaveError::Director { director: director.name() });
    directors.iter().map(|director| fork(director.as_ref())).collect()
}
