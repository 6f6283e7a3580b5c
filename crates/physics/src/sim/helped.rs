//! Steps with the help of other threads.

use super::{Sim, prepared::Sensing};
use crate::{
    error::EngineError,
    state::write_state,
    threads::{Threads, ThreadsError},
};

impl Sim {
    /// Sets how many threads help the one that calls [`step`](Self::step). Results are bit for bit the same with any number.
    ///
    /// The threads are not part of the state. A [`fork`](Self::fork) has as many of its own, which start with its first step.
    ///
    /// # Errors
    /// If the threads do not start; none help then.
    pub fn set_threads(&mut self, threads: Threads) -> Result<(), ThreadsError> {
        let (_, data) = self.raw();
        self.helpers.set(threads, data)
    }

    /// How many threads help, as it was set.
    pub fn threads(&self) -> Threads {
        self.helpers.setting()
    }

    /// Number of threads that helped with the last step. None help with models that have deformable bodies or the
    /// integrator RK4.
    pub fn helping_threads(&self) -> u8 {
        self.helpers.helping()
    }

    /// Takes over the threads of a simulation that this one replaces.
    pub fn adopt_threads(&mut self, from: &mut Self) {
        self.helpers = std::mem::take(&mut from.helpers);
    }

    /// Whether threads can help with this model.
    pub(super) fn takes_help(&self) -> bool {
        self.has_two_parts() && self.model.compiled().ffi().nflex == 0
    }

    /// Takes a step again without help, from the state it started from.
    pub(super) fn repeat_alone(&mut self, sensing: Sensing, has_failed: bool) -> Result<(), EngineError> {
        self.helpers.rest();
        if has_failed {
            // a step without sensors leaves them as they are
            let readings = self.data.sensordata().to_vec();
            self.rebuild();
            self.data.sensordata_mut().copy_from_slice(&readings);
        } else {
            write_state(&mut self.data, &self.good);
        }
        self.whole_step(sensing, false)
    }
}
