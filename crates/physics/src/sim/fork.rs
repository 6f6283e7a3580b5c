//! Copies of a simulation, from which it continues.

use std::collections::BTreeSet;

use super::{Sim, engine_fault};
use crate::{
    alloc, engine,
    guard::{Fault, guarded},
    state::{State, read_state, write_state},
};

impl Sim {
    /// A copy of this simulation: state, parameters and everything derived from them. Both continue bit for bit alike.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn fork(&self) -> Result<Self, Fault> {
        let own = alloc::copy(self.data.model()).map_err(engine_fault)?;
        let mut fork = Self {
            model: self.model.clone(),
            data: alloc::make_data(own).map_err(engine_fault)?,
            good: Vec::new(),
            before: vec![0.0; self.before.len()],
            controls: self.controls.clone(),
            prepared: None,
            helpers: self.helpers.fork(),
            rangefinders: self.rangefinders.clone(),
            user_sensors: Vec::new(),
            earlier_warnings: 0,
            tuned: BTreeSet::new(),
            pending: None,
        };
        fork.copy_from(self)?;
        Ok(fork)
    }

    /// Memory that a copy takes, in bytes; an upper bound, as pages that are never written take none.
    pub fn bytes(&self) -> usize {
        let (model, data) = (self.data.model().ffi(), self.data.ffi());
        // the memory for contacts is written as far as it is used
        let used = model.nbuffer.saturating_add(data.nbuffer).saturating_add(data.maxuse_arena);
        usize::try_from(used).unwrap_or(usize::MAX)
    }

    /// Becomes a copy of another simulation of the same model, as by [`fork`](Self::fork), without allocating.
    ///
    /// # Errors
    /// If the other simulation is of another model; nothing is changed then.
    pub fn copy_from(&mut self, other: &Self) -> Result<(), Fault> {
        if self.model.fingerprint() != other.model.fingerprint() {
            return Err(Fault::Engine { cause: "the simulation to be copied is of another model".to_owned() });
        }
        let own = self.tune();
        // SAFETY: both models are valid and have the same sizes, as they are copies of one compiled model
        guarded(|| unsafe { engine::mj_copyModel(own.ffi_mut(), other.raw_model()) }).map_err(engine_fault)?;
        let (model, data) = self.raw();
        // SAFETY: model and data are valid and belong together, and the data copied is that of a model of the same sizes
        guarded(|| unsafe { engine::mj_copyData(data, model, other.data.ffi()) }).map_err(engine_fault)?;
        self.good.clone_from(&other.good);
        self.user_sensors.clone_from(&other.user_sensors);
        self.earlier_warnings = other.earlier_warnings;
        self.tuned.clone_from(&other.tuned);
        self.pending.clone_from(&other.pending);
        Ok(())
    }

    /// Saves the state as [`state`](Self::state) does, into a saved one, without allocating.
    ///
    /// # Panics
    /// If the saved state is of another model.
    pub fn save_state(&self, state: &mut State) {
        assert!(self.is_own(state), "a state is saved into one of the same model");
        read_state(&self.data, &mut state.values);
    }

    /// Continues from a saved state without evaluating it: poses, sensor values and contacts are out of date before the next
    /// step or [`forward`](Self::forward). With the same parameters, that step is bit for bit the same as in the simulation
    /// that the state was saved from.
    ///
    /// # Errors
    /// If the state is of another model; nothing is changed then.
    pub fn load_state(&mut self, state: &State) -> Result<(), Fault> {
        if !self.is_own(state) {
            return Err(Fault::Engine { cause: "the state belongs to another model".to_owned() });
        }
        write_state(&mut self.data, &state.values);
        self.good.copy_from_slice(&state.values);
        self.pending = None;
        Ok(())
    }

    fn is_own(&self, state: &State) -> bool {
        state.fingerprint == self.model.fingerprint() && state.values.len() == self.good.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sim_of;

    const MODEL: &str = r#"<mujoco><worldbody>
        <geom name="floor" type="plane" size="5 5 .1"/>
        <body name="box" pos="0 0 .3"><freejoint/><geom name="box" type="box" size=".1 .1 .1"/></body>
        <body name="arm" pos="1 0 1"><joint name="hinge"/><geom size=".05 .2" type="capsule"/></body>
      </worldbody>
      <actuator><motor name="motor" joint="hinge"/></actuator>
      <sensor><jointpos joint="hinge"/></sensor></mujoco>"#;

    fn run(sim: &mut Sim, steps: usize) -> Vec<u64> {
        let readings = |sim: &Sim| sim.sensor_values().iter().map(|value| value.to_bits()).sum::<u64>();
        (0..steps)
            .map(|_| {
                sim.step().unwrap();
                sim.hash() ^ readings(sim).rotate_left(7)
            })
            .collect()
    }

    #[test]
    fn a_fork_continues_bit_for_bit_and_so_does_what_returns_to_it() {
        let mut sim = sim_of(MODEL);
        let (hinge, floor) = (sim.model().joint_named("hinge").unwrap(), sim.model().geom_named("floor").unwrap());
        let motor = sim.model().actuator_named("motor").unwrap();
        sim.set_ctrl(motor, 0.3);
        sim.set_joint_damping(hinge, 0.1);
        run(&mut sim, 100);
        let saved = sim.fork().unwrap();
        let readings = sim.sensor_values().to_vec();
        let expected = run(&mut sim, 300);
        assert_eq!(run(&mut saved.fork().unwrap(), 300), expected);

        // other parameters, another control and a moved floor do not survive
        sim.set_joint_damping(hinge, 5.0);
        sim.set_body_mass(sim.model().body_named("box").unwrap(), 9.0);
        sim.move_fixed_geom(floor, crate::Pose { pos: [0.0, 0.0, -1.0], ..crate::Pose::IDENTITY });
        sim.set_ctrl(motor, -1.0);
        run(&mut sim, 50);
        sim.copy_from(&saved).unwrap();
        assert_eq!(sim.sensor_values(), readings);
        assert_eq!(sim.moved_geoms().count(), 0);
        assert_eq!(run(&mut sim, 300), expected);
    }

    #[test]
    fn simulations_take_turns_in_one() {
        let (mut shared, mut alone) = (sim_of(MODEL), [sim_of(MODEL), sim_of(MODEL)]);
        let hinge = shared.model().joint_named("hinge").unwrap();
        alone[1].set_joint_velocity(hinge, 2.0);
        let mut states = alone.each_ref().map(Sim::state);
        for _ in 0..200 {
            for (sim, state) in alone.iter_mut().zip(&mut states) {
                shared.load_state(state).unwrap();
                assert_eq!(run(&mut shared, 1), run(sim, 1));
                shared.save_state(state);
            }
        }
        let before = shared.hash();
        assert!(shared.load_state(&sim_of(&MODEL.replace("0 0 .3", "0 0 .4")).state()).is_err());
        assert_eq!(shared.hash(), before);
    }

    #[test]
    fn a_simulation_of_another_model_is_refused() {
        let mut one = sim_of(MODEL);
        let other = sim_of(&MODEL.replace("0 0 .3", "0 0 .4"));
        let before = one.hash();
        assert!(one.copy_from(&other).unwrap_err().to_string().contains("another model"));
        assert_eq!(one.hash(), before);
    }
}
