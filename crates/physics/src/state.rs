//! All that a simulation's future depends on, apart from its model.

use xxhash_rust::xxh3::xxh3_64;

/// A saved state: time, positions, velocities, activations, controls, mocap poses and the solver's warm start.
///
/// Restored into a [`Sim`](crate::Sim) of the same model, the simulation goes on bit for bit as it did the first time.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// In the engine's own order, time first.
    pub(crate) values: Box<[f64]>,
    /// Of the model it belongs to.
    pub(crate) fingerprint: u64,
}

impl State {
    /// Simulation time, in s.
    pub fn time(&self) -> f64 {
        self.values.first().copied().unwrap_or_default()
    }

    /// Equal states have equal numbers; the same as [`Sim::hash`](crate::Sim::hash).
    pub fn hash(&self) -> u64 {
        hash(&self.values)
    }
}

pub(crate) fn hash(values: &[f64]) -> u64 {
    // SAFETY: any f64 is eight valid bytes, and the slice is as long as the values
    let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) };
    xxh3_64(bytes)
}
