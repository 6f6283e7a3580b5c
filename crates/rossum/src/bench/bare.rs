//! The engine with nothing around it, which takes the steps again that a world has taken.

use std::time::Duration;

use anyhow::ensure;
use physics::{ActuatorId, Sim, State};
use world::{Setup, World};

use super::cpu_time;

/// A world's twin without the world.
pub(super) struct Bare {
    sim: Sim,
    actuators: Vec<ActuatorId>,
    steps_per_tick: u32,
}

impl Bare {
    pub(super) fn new(setup: &Setup) -> anyhow::Result<Self> {
        let sim = World::new(setup)?.into_sim();
        let actuators = sim.model().actuators().collect();
        Ok(Self { sim, actuators, steps_per_tick: setup.steps_per_tick })
    }

    /// The controls of the tick that has just passed.
    pub(super) fn controls(&self, world: &World) -> Vec<f64> {
        self.actuators.iter().map(|actuator| world.sim().ctrl(*actuator)).collect()
    }

    /// Goes the way that a world went from `start`, with these controls a tick. How much processor time it took.
    pub(super) fn follow(&mut self, world: &World, start: &State, controls: &[Vec<f64>]) -> anyhow::Result<Duration> {
        // the same gains
        self.sim.carry_over(world.sim());
        self.sim.restore(start)?;
        let mut took = Duration::ZERO;
        for values in controls {
            for (actuator, value) in self.actuators.iter().zip(values) {
                self.sim.set_ctrl(*actuator, *value);
            }
            let began = cpu_time();
            for _ in 0..self.steps_per_tick {
                self.sim.step_unguarded();
            }
            took += cpu_time() - began;
        }
        ensure!(self.sim.hash() == world.sim().hash(), "the bare engine went another way: the comparison is not fair");
        Ok(took)
    }
}
