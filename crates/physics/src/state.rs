//! Saved states of a simulation.

use std::ffi::c_int;

use mujoco_rs::{
    mujoco_c::{mjModel, mjtState},
    wrappers::{MjData, MjModel},
};
use xxhash_rust::xxh3::xxh3_64;

use crate::{engine, model::at};

/// The components of the state that are saved, restored and hashed: everything the next step depends on. Forces applied
/// from outside are left out: they are never set here, and would double the size.
pub(crate) const STATE: c_int = mjtState::mjSTATE_INTEGRATION as c_int
    & !(mjtState::mjSTATE_QFRC_APPLIED as c_int | mjtState::mjSTATE_XFRC_APPLIED as c_int);

/// A saved state: time, positions, velocities, activations, controls, mocap poses and the solver's warm start.
///
/// Restored into a [`Sim`](crate::Sim) of the same model and parameters, the simulation continues bit for bit as it did
/// from there.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// In the engine's own order, time first.
    pub(crate) values: Box<[f64]>,
    /// Fingerprint of the model it belongs to.
    pub(crate) fingerprint: u64,
}

impl State {
    /// Simulation time, in s.
    pub fn time(&self) -> f64 {
        self.values.first().copied().unwrap_or_default()
    }

    /// Hash of the state, equal to [`Sim::hash`](crate::Sim::hash) when it was saved.
    pub fn hash(&self) -> u64 {
        hash(&self.values)
    }
}

pub(crate) fn hash(values: &[f64]) -> u64 {
    // SAFETY: any f64 is eight valid bytes, and the slice is as long as the values
    let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) };
    xxh3_64(bytes)
}

/// `values` must have the size of the state: as many as the last good state of the simulation.
pub(crate) fn read_state(data: &MjData<Box<MjModel>>, values: &mut [f64]) {
    debug_assert!(fits(data, values.len()), "{} values", values.len());
    // SAFETY: model and data are valid and belong together, and the buffer has as many values as the engine writes
    unsafe { engine::mj_getState(data.model().ffi(), data.ffi(), values.as_mut_ptr(), STATE) }
}

/// `values` must have the size of the state: as many as the last good state of the simulation.
pub(crate) fn write_state(data: &mut MjData<Box<MjModel>>, values: &[f64]) {
    debug_assert!(fits(data, values.len()), "{} values", values.len());
    let model: *const mjModel = data.model().ffi();
    // SAFETY: model and data are valid and belong together, and the buffer has as many values as the engine reads
    unsafe { engine::mj_setState(model, data.ffi_mut(), values.as_ptr(), STATE) }
}

/// Whether a state has this many values.
fn fits(data: &MjData<Box<MjModel>>, values: usize) -> bool {
    // SAFETY: the model is valid
    at(unsafe { engine::mj_stateSize(data.model().ffi(), STATE) }) == values
}
