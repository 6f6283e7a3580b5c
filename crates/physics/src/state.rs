//! Saved states of a simulation.

use xxhash_rust::xxh3::xxh3_64;

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
