//! Time passes: ticks, physics steps and resets.

use physics::{Fault, Sim};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{FaultReport, World};
use crate::{
    agent::AgentId,
    event::{AgentEvent, standard},
    light,
    record::Entry,
    setup::draw,
};

/// Most fault reports that are kept; further ones are only counted.
const FAULT_REPORTS: usize = 16;
/// How often a failed physics step is repeated, each time with a stronger remedy.
const REMEDIES: u32 = 3;

impl World {
    /// Takes one tick. After a failure nothing moves until the next reset.
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
            self.physics_step(if left > 0 { Sim::step_without_sensors } else { Sim::step });
            (self.after_step)();
        }
        self.for_each_director(|director, world| director.after_physics(world));
        light::update_sensors(&mut self.structure.sim, &self.structure.light_sensors);
        self.raise(standard::UPDATE_SENSORS);
        self.watch_bounds();
        self.raise(standard::STEP_COMPLETED);
        self.tick.0 += 1;
        self.step += 1;
    }

    /// Does the part of the next tick that does not depend on commands. The result of the tick is the same, and nothing
    /// that can be read changes before it.
    pub fn prepare(&mut self) {
        if self.failed.is_none() {
            self.structure.sim.prepare_step(self.steps_per_tick > 1);
        }
    }

    fn physics_step(&mut self, step: fn(&mut Sim) -> Result<(), Fault>) {
        for remedy in 0..=REMEDIES {
            for agent in self.agents.values() {
                agent.drive(&mut self.structure.sim);
            }
            match step(&mut self.structure.sim) {
                Ok(()) => return self.watch_collisions(),
                Err(fault) if remedy < REMEDIES => self.recover(&fault, remedy),
                Err(fault) => self.failed = Some(fault),
            }
        }
    }

    /// Applies a remedy to a failed step, after the state before it was restored. First the motors of the robot that
    /// caused the fault are released, then the robot is put back to its start pose; if that does not help, or the cause
    /// is unknown, all robots are.
    fn recover(&mut self, fault: &Fault, remedy: u32) {
        self.performance.faults += 1;
        let culprit = match fault {
            Fault::NotFinite { what, .. } => self.structure.owner(what),
            Fault::Engine { .. } => None,
        };
        if self.fault_reports.len() < FAULT_REPORTS {
            let agent = culprit.and_then(|agent| self.structure.resident(agent)).map(|resident| resident.name.clone());
            self.fault_reports.push(FaultReport { agent, cause: fault.clone() });
        }
        let affected: Vec<AgentId> = match culprit {
            Some(agent) if remedy + 1 < REMEDIES => vec![agent],
            _ => self.agents.keys().copied().collect(),
        };
        for agent in affected {
            self.release(agent);
            if remedy > 0 {
                self.put_back(agent);
            }
            self.raise_agent_event(agent, AgentEvent::Fault);
        }
        if culprit.is_none() && remedy + 1 == REMEDIES {
            self.structure.sim.reset();
            self.return_placed();
        }
    }

    /// Releases the motors of an agent and puts its robot back to its start pose, at rest. For directors: it is not recorded,
    /// as the order that it follows from is.
    pub fn restart_agent(&mut self, agent: AgentId) {
        self.release(agent);
        self.put_back(agent);
    }

    fn release(&mut self, agent: AgentId) {
        if let Some(robot) = self.agents.get_mut(&agent) {
            robot.release();
            robot.update_sim(&mut self.structure.sim);
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

    /// Moves what the settings have placed back to that place, after everything else has returned to its place in the model.
    fn return_placed(&mut self) {
        for (variable, value) in self.placed.clone() {
            // it may belong to a robot that has left
            let _ = self.write_now(variable, &value);
        }
        self.update_visuals();
    }

    /// Begins a new try: everything returns to its start state, including fixed objects that were moved, motors are
    /// released, and random parameters are drawn from the seed; without a seed, from the current one. Other written
    /// parameters stay.
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
            agent.update_sim(&mut self.structure.sim);
        }
        self.return_placed();
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        for (variable, min, max) in self.randomise.clone() {
            if let Some(value) = draw(&min, &max, || random.random::<f64>()) {
                // the variable may belong to a robot that has left
                let _ = self.write_now(variable, &value);
            }
        }
        self.update_visuals();
        self.for_each_director(|director, world| director.reset(world));
        if let Err(fault) = self.structure.sim.forward() {
            self.failed = Some(fault);
        }
        light::update_sensors(&mut self.structure.sim, &self.structure.light_sensors);
        self.step = 0;
        self.tries += 1;
        for event in [standard::RANDOMIZE, standard::RESET_DONE, standard::NEXT_TRY] {
            self.raise(event);
        }
        let seed = self.seed;
        self.enter_journal(|| Entry::Reset { seed });
    }
}
