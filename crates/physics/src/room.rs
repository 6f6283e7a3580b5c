//! Models and data made with a look first whether there is room for them.
//!
//! The wrapper's own calls end the process when the engine finds no memory. Each is tried under guard first, and the
//! trial thrown away.

use mujoco_rs::{
    mujoco_c::mjModel,
    wrappers::{MjData, MjModel},
};

use crate::{engine, guard::guarded};

/// The model in these bytes.
pub(crate) fn load(bytes: &[u8]) -> Result<MjModel, String> {
    let length = i64::try_from(bytes.len()).map_err(|e| e.to_string())?;
    // SAFETY: the bytes are as many as said and outlive the call
    try_model(|| unsafe { engine::mj_loadModelBuffer(bytes.as_ptr().cast(), length) })?;
    MjModel::from_buffer(bytes).map_err(|e| e.to_string())
}

/// A model of its own, equal to this one.
pub(crate) fn copy(model: &MjModel) -> Result<Box<MjModel>, String> {
    // SAFETY: the model is valid
    try_model(|| unsafe { engine::mj_copyModel(std::ptr::null_mut(), model.ffi()) })?;
    Ok(Box::new(model.clone()))
}

/// Data for the model, at its start.
pub(crate) fn make_data(model: Box<MjModel>) -> Result<MjData<Box<MjModel>>, String> {
    // SAFETY: the model is valid; the data, if any, is deleted at once and not used
    guarded(|| unsafe {
        let trial = engine::mj_makeData(model.ffi());
        if !trial.is_null() {
            engine::mj_deleteData(trial);
        }
    })?;
    MjData::try_new(model).map_err(|e| e.to_string())
}

/// Makes a model and throws it away.
fn try_model(make: impl FnOnce() -> *mut mjModel) -> Result<(), String> {
    guarded(|| {
        let trial = make();
        if !trial.is_null() {
            // SAFETY: the model is valid, and not used after this
            unsafe { engine::mj_deleteModel(trial) }
        }
    })
}
