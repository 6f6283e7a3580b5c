//! Allocation of models and data that reports a lack of memory.
//!
//! The wrapper's own functions exit the process when the engine runs out of memory. Each allocation is tried under guard
//! first, and the result of the trial is freed.

use mujoco_rs::{
    mujoco_c::mjModel,
    wrappers::{MjData, MjModel},
};

use crate::{engine, error::EngineError, guard::guarded};

/// Loads a compiled model.
pub(crate) fn load(bytes: &[u8]) -> Result<MjModel, EngineError> {
    let out_of_memory = |_| EngineError::OutOfMemory { what: format!("a model of {} bytes", bytes.len()) };
    let length = i64::try_from(bytes.len()).map_err(out_of_memory)?;
    // SAFETY: the length is that of the bytes, which outlive the call
    try_model(|| unsafe { engine::mj_loadModelBuffer(bytes.as_ptr().cast(), length) })?;
    MjModel::from_buffer(bytes).map_err(|e| EngineError::Reported(e.to_string()))
}

pub(crate) fn copy(model: &MjModel) -> Result<Box<MjModel>, EngineError> {
    // SAFETY: the model is valid
    try_model(|| unsafe { engine::mj_copyModel(std::ptr::null_mut(), model.ffi()) })?;
    Ok(Box::new(model.clone()))
}

/// Allocates data for a model, in the model's initial state.
pub(crate) fn make_data(model: Box<MjModel>) -> Result<MjData<Box<MjModel>>, EngineError> {
    // SAFETY: the model is valid; the data, if any, is freed at once and not used
    guarded(|| unsafe {
        let trial = engine::mj_makeData(model.ffi());
        if !trial.is_null() {
            engine::mj_deleteData(trial);
        }
    })?;
    MjData::try_new(model).map_err(|e| EngineError::Reported(e.to_string()))
}

/// Makes a model and frees it.
fn try_model(make: impl FnOnce() -> *mut mjModel) -> Result<(), EngineError> {
    guarded(|| {
        let trial = make();
        if !trial.is_null() {
            // SAFETY: the model is valid, and not used after this
            unsafe { engine::mj_deleteModel(trial) }
        }
    })
}
