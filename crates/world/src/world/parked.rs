//! Many worlds that take turns in one.
//!
//! A learner steps hundreds of worlds that differ in nothing but their states. As worlds of their own they would fill the
//! caches: each has a copy of the model and of everything that is derived from the state. Parked, a world is little more than
//! the row of numbers that its future depends on.

use std::collections::BTreeSet;

use physics::{Fault, State};

use super::World;
use crate::{
    agent::{AgentId, MotorCommand},
    event::EventId,
};

/// A world that waits for its turn in another one of the same setup.
#[derive(Clone, Debug)]
pub struct Parked {
    state: State,
    commands: Vec<(AgentId, Vec<MotorCommand>)>,
    outside: BTreeSet<EventId>,
    step: u64,
    tries: u64,
    seed: u64,
    failed: Option<Fault>,
}

impl World {
    /// What this world's future depends on, apart from parameters of the model: a world whose parameters are written, or that
    /// has directors, cannot take turns.
    pub fn parked(&self) -> Parked {
        debug_assert!(self.directors.is_empty(), "a world with directors cannot be parked");
        Parked {
            state: self.structure.sim.state(),
            commands: self.agents.iter().map(|(&id, agent)| (id, agent.commands().to_vec())).collect(),
            outside: self.outside.clone(),
            step: self.step,
            tries: self.tries,
            seed: self.seed,
            failed: self.failed.clone(),
        }
    }

    /// Parks this world, without allocating, where one of the same agents was parked before.
    pub fn park(&self, parked: &mut Parked) {
        self.structure.sim.save_state(&mut parked.state);
        for ((_, commands), agent) in parked.commands.iter_mut().zip(self.agents.values()) {
            commands.clear();
            commands.extend_from_slice(agent.commands());
        }
        parked.outside.clone_from(&self.outside);
        (parked.step, parked.tries, parked.seed) = (self.step, self.tries, self.seed);
        parked.failed.clone_from(&self.failed);
    }

    /// Becomes a parked world. The next tick is bit for bit what it would have been there; what can be read is out of date
    /// before it, or before [`World::refresh`]. Actions that wait for a tick, and events that were not taken, are dropped.
    ///
    /// # Errors
    /// If the parked world has another model; nothing has changed then.
    pub fn unpark(&mut self, parked: &Parked) -> Result<(), Fault> {
        self.structure.sim.load_state(&parked.state)?;
        for (id, commands) in &parked.commands {
            if let Some(agent) = self.agents.get_mut(id) {
                agent.set_commands(&mut self.structure.sim, commands);
            }
        }
        self.outside.clone_from(&parked.outside);
        (self.step, self.tries, self.seed) = (parked.step, parked.tries, parked.seed);
        self.failed.clone_from(&parked.failed);
        self.staged.clear();
        self.raised.clear();
        self.fault_reports.clear();
        Ok(())
    }
}
