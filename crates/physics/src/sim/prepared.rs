//! Steps that are computed in part before their controls are known.
//!
//! More than half of a step does not depend on the controls: kinematics, collision detection, distance sensors. It can be
//! done while a world waits for its controllers. It is done in separate data, so that everything that can be read from the
//! simulation stays as it is.

use std::{ffi::c_int, ops::Range};

use mujoco_rs::{
    mujoco_c::{mjData, mjtDisableBit, mjtIntegrator},
    wrappers::{MjData, MjModel},
};

use super::{Sim, count_warnings};
use crate::{alloc, engine, error::EngineError, guard::guarded, state::write_state};

/// The first part of a step, in data of its own.
#[derive(Debug)]
pub(super) struct PreparedStep {
    /// Its model is never used; the wrapper requires one.
    data: MjData<Box<MjModel>>,
    /// The state that the step starts from.
    start: Vec<f64>,
    /// How the first part was computed; `None` if there is none, or if it is out of date.
    computed: Option<Sensing>,
}

/// Whether a step evaluates the sensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sensing {
    On,
    Off,
}

impl Sim {
    /// Computes the part of the next step that does not depend on the controls. The result of the step is bit for bit the
    /// same, and nothing that can be read changes before it. If the state or a parameter changes until then, the work is
    /// discarded.
    ///
    /// `without_sensors`: the next step will be [`step_without_sensors`](Self::step_without_sensors). If the engine fails, or
    /// there is no memory for a second set of data, nothing is prepared, and the step reports the fault.
    pub fn prepare_step(&mut self, without_sensors: bool) {
        let sensing = self.sensing(without_sensors);
        // the first part of a step writes the history of delayed sensors
        if self.has_history() || !self.has_two_parts() || self.pending.is_some() {
            return;
        }
        let Some(mut prepared) = self.prepared.take().or_else(|| self.new_prepared().ok()) else { return };
        write_state(&mut prepared.data, &self.good);
        prepared.start.copy_from_slice(&self.good);
        prepared.data.sensordata_mut().copy_from_slice(self.data.sensordata());
        let computed = self.with_sensing(sensing, |sim| {
            // SAFETY: the model is valid, and the data was made for one of the same sizes; after an error it is dropped
            guarded(|| unsafe { engine::mj_step1(sim.raw_model(), prepared.data.ffi_mut()) })
        });
        if computed.is_ok() {
            if sensing == Sensing::On {
                self.rangefinders.measure(&mut prepared.data);
            }
            prepared.computed = Some(sensing);
            self.prepared = Some(prepared);
        } else {
            self.earlier_warnings += count_warnings(&prepared.data);
        }
    }

    /// Takes a step, and uses the prepared part if it fits.
    pub(super) fn finish_step(&mut self, sensing: Sensing) -> Result<(), EngineError> {
        let is_helped = self.takes_help() && self.helpers.are_due();
        let Some(mut prepared) = self.prepared.take_if(|prepared| prepared.computed.take() == Some(sensing)) else {
            return self.whole_step(sensing, is_helped);
        };
        if !self.starts_from(&prepared.start) {
            self.prepared = Some(prepared);
            return self.whole_step(sensing, is_helped);
        }
        prepared.data.ctrl_mut().copy_from_slice(self.data.ctrl());
        // SAFETY: only passed to the engine, which keeps its invariants
        let data = unsafe { prepared.data.ffi_mut() };
        let done = self.with_sensing(sensing, |sim| sim.second_part(data, is_helped));
        if done.is_err() {
            self.earlier_warnings += count_warnings(&prepared.data);
            return done;
        }
        std::mem::swap(&mut self.data, &mut prepared.data);
        // SAFETY: both models are of the same sizes, and nothing else refers to them
        unsafe { std::mem::swap(self.data.model_mut(), prepared.data.model_mut()) };
        self.prepared = Some(prepared);
        Ok(())
    }

    /// Takes a step that is not prepared.
    pub(super) fn whole_step(&mut self, sensing: Sensing, is_helped: bool) -> Result<(), EngineError> {
        let (_, data) = self.raw();
        self.with_sensing(sensing, |sim| {
            let model = sim.raw_model();
            if !is_helped {
                // SAFETY: model and data are valid and belong together; after an error the data is dropped
                return guarded(|| unsafe { engine::mj_step(model, data) });
            }
            // SAFETY: as above
            guarded(|| unsafe { engine::mj_step1(model, data) })?;
            sim.second_part(data, true)
        })?;
        if sensing == Sensing::On {
            self.rangefinders.measure(&mut self.data);
        }
        Ok(())
    }

    /// Takes the part of a step that depends on the controls.
    fn second_part(&mut self, data: *mut mjData, is_helped: bool) -> Result<(), EngineError> {
        let model = self.raw_model();
        // SAFETY: as for the first part, which was computed in this data
        let step = || unsafe { engine::mj_step2(model, data) };
        if is_helped { self.helpers.assist(data, step) } else { guarded(step) }
    }

    /// Whether a step can be taken in two parts.
    pub(super) fn has_two_parts(&self) -> bool {
        self.data.model_opt().integrator != mjtIntegrator::mjINT_RK4 as c_int
    }

    /// Called when a parameter changes.
    pub(crate) fn discard_prepared(&mut self) {
        if let Some(prepared) = &mut self.prepared {
            prepared.computed = None;
        }
    }

    pub(super) fn sensing(&self, without_sensors: bool) -> Sensing {
        // delayed sensors need every step
        if without_sensors && !self.has_history() { Sensing::Off } else { Sensing::On }
    }

    fn has_history(&self) -> bool {
        self.model.compiled().ffi().nhistory > 0
    }

    /// Calls `work` with the sensors of the model switched on or off.
    fn with_sensing<T>(&mut self, sensing: Sensing, work: impl FnOnce(&mut Self) -> T) -> T {
        let flags = self.data.model_opt().disableflags;
        if sensing == Sensing::Off {
            self.data.model_opt_mut().disableflags = flags | mjtDisableBit::mjDSBL_SENSOR as c_int;
        }
        let done = work(self);
        self.data.model_opt_mut().disableflags = flags;
        done
    }

    /// Whether the next step starts from this state, apart from the controls.
    fn starts_from(&self, state: &[f64]) -> bool {
        let same = |range: Range<usize>| {
            let both = self.good.get(range.clone()).zip(state.get(range));
            both.is_some_and(|(a, b)| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()))
        };
        same(0..self.controls.start) && same(self.controls.end..self.good.len())
    }

    fn new_prepared(&self) -> Result<PreparedStep, EngineError> {
        let data = alloc::copy(self.data.model()).and_then(alloc::make_data)?;
        Ok(PreparedStep { data, start: self.good.clone(), computed: None })
    }
}

impl PreparedStep {
    /// Warnings that the engine has counted in this data.
    pub(super) fn warnings(&self) -> u64 {
        count_warnings(&self.data)
    }
}
