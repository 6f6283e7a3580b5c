//! Steps begun ahead of time.
//!
//! More than half of a step does not depend on the controls: where things are, what touches what, what looks into the
//! distance sees. It can be done while a world waits for whoever controls it. It is done in data of its own, so that
//! all that can be read of the simulation stays as it was.

use std::{ffi::c_int, ops::Range};

use mujoco_rs::{
    mujoco_c::{mjModel, mjtDisableBit, mjtIntegrator},
    wrappers::{MjData, MjModel},
};

use super::{Sim, count_warnings, write_state};
use crate::{engine, guard::guarded, room};

/// Data in which a step can be begun.
#[derive(Debug)]
pub(super) struct Ahead {
    /// Its model is never used: it is there because data has to have one.
    data: MjData<Box<MjModel>>,
    /// The state that the step starts from.
    start: Vec<f64>,
    begun: Option<Sight>,
}

/// Whether a step reads the sensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    Seeing,
    Blind,
}

impl Sim {
    /// Does the part of the next step that does not depend on controls, as far as can be known now. A step from another
    /// state, or after a parameter has changed, starts from scratch. What the step leads to is the same, to the last
    /// bit; nothing that can be read changes before.
    ///
    /// `blind`: the next step will be [`step_blind`](Self::step_blind). Where there is no room for a second set of data
    /// nothing is begun; a fault is left for the step to meet.
    pub fn begin_step(&mut self, blind: bool) {
        let sight = self.sight(blind);
        let is_of_two_parts = self.data.model_opt().integrator != mjtIntegrator::mjINT_RK4 as c_int;
        // the past that sensors look into is written by a step's first part
        if self.has_history() || !is_of_two_parts || self.pending.is_some() {
            return;
        }
        let Some(mut ahead) = self.ahead.take().or_else(|| self.make_ahead().ok()) else { return };
        write_state(&mut ahead.data, &self.good);
        ahead.start.copy_from_slice(&self.good);
        ahead.data.sensordata_mut().copy_from_slice(self.data.sensordata());
        let begun = self.with_sight(sight, |model| {
            // SAFETY: the model is valid, and the data was made for one of the same sizes; after an error it is
            // thrown away
            guarded(|| unsafe { engine::mj_step1(model, ahead.data.ffi_mut()) })
        });
        if begun.is_ok() {
            if sight == Sight::Seeing {
                self.distance_sensors.read(&mut ahead.data);
            }
            ahead.begun = Some(sight);
            self.ahead = Some(ahead);
        } else {
            self.earlier_warnings += count_warnings(&ahead.data);
        }
    }

    /// Takes a step, from where one was begun if that is the same.
    pub(super) fn finish_step(&mut self, sight: Sight) -> Result<(), String> {
        let Some(mut ahead) = self.ahead.take_if(|ahead| ahead.begun.take() == Some(sight)) else {
            return self.whole_step(sight);
        };
        if !self.starts_from(&ahead.start) {
            self.ahead = Some(ahead);
            return self.whole_step(sight);
        }
        ahead.data.ctrl_mut().copy_from_slice(self.data.ctrl());
        // SAFETY: as in `begin_step`
        let done = self.with_sight(sight, |model| guarded(|| unsafe { engine::mj_step2(model, ahead.data.ffi_mut()) }));
        if done.is_err() {
            self.earlier_warnings += count_warnings(&ahead.data);
            return done;
        }
        std::mem::swap(&mut self.data, &mut ahead.data);
        // SAFETY: both models are of the same sizes, and nothing else refers to them
        unsafe { std::mem::swap(self.data.model_mut(), ahead.data.model_mut()) };
        self.ahead = Some(ahead);
        Ok(())
    }

    fn whole_step(&mut self, sight: Sight) -> Result<(), String> {
        let (_, data) = self.raw();
        // SAFETY: model and data are valid and belong together; after an error the data is thrown away
        self.with_sight(sight, |model| guarded(|| unsafe { engine::mj_step(model, data) }))?;
        if sight == Sight::Seeing {
            self.distance_sensors.read(&mut self.data);
        }
        Ok(())
    }

    /// What was begun no longer counts.
    pub(crate) fn forget_begun(&mut self) {
        if let Some(ahead) = &mut self.ahead {
            ahead.begun = None;
        }
    }

    pub(super) fn sight(&self, blind: bool) -> Sight {
        // sensors that look into the past need every step
        if blind && !self.has_history() { Sight::Blind } else { Sight::Seeing }
    }

    fn has_history(&self) -> bool {
        self.model.compiled().ffi().nhistory > 0
    }

    /// Has the engine read the sensors or not while it works with the model.
    fn with_sight<T>(&mut self, sight: Sight, work: impl FnOnce(*const mjModel) -> T) -> T {
        let flags = self.data.model_opt().disableflags;
        if sight == Sight::Blind {
            self.data.model_opt_mut().disableflags = flags | mjtDisableBit::mjDSBL_SENSOR as c_int;
        }
        let done = work(self.raw_model());
        self.data.model_opt_mut().disableflags = flags;
        done
    }

    /// Whether the state that the next step starts from is this one, apart from controls.
    fn starts_from(&self, state: &[f64]) -> bool {
        let same = |range: Range<usize>| {
            let both = self.good.get(range.clone()).zip(state.get(range));
            both.is_some_and(|(a, b)| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()))
        };
        same(0..self.controls.start) && same(self.controls.end..self.good.len())
    }

    fn make_ahead(&self) -> Result<Ahead, String> {
        let data = room::copy(self.data.model()).and_then(room::make_data)?;
        Ok(Ahead { data, start: self.good.clone(), begun: None })
    }
}

impl Ahead {
    /// Warnings of the engine in this data.
    pub(super) fn warnings(&self) -> u64 {
        count_warnings(&self.data)
    }
}
