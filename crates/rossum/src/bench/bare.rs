//! The bare physics engine, which repeats the steps of a world.

use std::time::Duration;

use anyhow::ensure;
use physics::{ActuatorId, Sim, State};
use world::{Setup, World};

use super::cpu_time;

/// The physics of a world without the world.
pub(super) struct BareEngine {
    sim: Sim,
    actuators: Vec<ActuatorId>,
    steps_per_tick: u32,
}

impl BareEngine {
    pub(super) fn new(setup: &Setup) -> anyhow::Result<Self> {
        let sim = World::new(setup)?.into_sim();
        let actuators = sim.model().actuators().collect();
        Ok(Self { sim, actuators, steps_per_tick: setup.steps_per_tick })
    }

    /// The controls of the world's last tick.
    pub(super) fn controls(&self, world: &World) -> Vec<f64> {
        self.actuators.iter().map(|actuator| world.sim().ctrl(*actuator)).collect()
    }

    /// Repeats the world's ticks from `start` with these controls per tick. Returns the CPU time.
    pub(super) fn follow(&mut self, world: &World, start: &State, controls: &[Vec<f64>]) -> anyhow::Result<Duration> {
        // copies the gains
        self.sim.carry_over(world.sim());
        self.sim.restore(start)?;
        let mut elapsed = Duration::ZERO;
        for values in controls {
            for (actuator, value) in self.actuators.iter().zip(values) {
                self.sim.set_ctrl(*actuator, *value);
            }
            let began = cpu_time();
            for _ in 0..self.steps_per_tick {
                self.sim.step_unguarded();
            }
            elapsed += cpu_time() - began;
        }
        ensure!(
            self.sim.hash() == world.sim().hash(),
            "the bare engine diverged from the world: the comparison is invalid"
        );
        Ok(elapsed)
    }
}
