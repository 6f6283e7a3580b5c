//! The MuJoCo functions in use, declared such that an engine error can unwind through them.
//!
//! `mujoco-rs` declares the same functions as plain `C`; unwinding through those aborts the process.

use std::ffi::{c_char, c_int, c_void};

use mujoco_rs::mujoco_c::{
    mjData, mjModel, mjSpec, mjString, mjVFS, mjfLogHandler, mjsActuator, mjsBody, mjsElement, mjsFrame, mjsGeom,
    mjsSensor, mjtNum, mjtObj, mjtSize,
};

/// A task of a pool: model, data, argument, number of the thread (0 for the one that steps) and of the task.
pub(crate) type Task = unsafe extern "C-unwind" fn(*const mjModel, *mut mjData, *mut c_void, c_int, c_int);

unsafe extern "C-unwind" {
    pub(crate) fn mju_setLogHandler(handler: mjfLogHandler) -> mjfLogHandler;

    pub(crate) fn mj_defaultVFS(vfs: *mut mjVFS);
    pub(crate) fn mj_addBufferVFS(vfs: *mut mjVFS, name: *const c_char, buffer: *const c_void, nbuffer: c_int)
    -> c_int;
    pub(crate) fn mj_deleteVFS(vfs: *mut mjVFS);

    pub(crate) fn mj_parseXML(
        filename: *const c_char,
        vfs: *const mjVFS,
        error: *mut c_char,
        error_sz: c_int,
    ) -> *mut mjSpec;
    pub(crate) fn mj_makeSpec() -> *mut mjSpec;
    pub(crate) fn mj_deleteSpec(s: *mut mjSpec);
    pub(crate) fn mj_compile(s: *mut mjSpec, vfs: *const mjVFS) -> *mut mjModel;
    pub(crate) fn mj_copyModel(dest: *mut mjModel, src: *const mjModel) -> *mut mjModel;
    pub(crate) fn mj_loadModelBuffer(buffer: *const c_void, buffer_sz: mjtSize) -> *mut mjModel;
    pub(crate) fn mj_deleteModel(m: *mut mjModel);
    pub(crate) fn mj_sizeModel(m: *const mjModel) -> mjtSize;
    pub(crate) fn mj_saveModel(m: *const mjModel, filename: *const c_char, buffer: *mut c_void, buffer_sz: mjtSize);

    pub(crate) fn mjs_getError(s: *mut mjSpec) -> *const c_char;
    pub(crate) fn mjs_discardVisual(s: *mut mjSpec, vfs: *const mjVFS) -> c_int;
    pub(crate) fn mjs_findBody(s: *const mjSpec, name: *const c_char) -> *mut mjsBody;
    pub(crate) fn mjs_findElement(s: *const mjSpec, kind: mjtObj, name: *const c_char) -> *mut mjsElement;
    pub(crate) fn mjs_asGeom(element: *mut mjsElement) -> *mut mjsGeom;
    pub(crate) fn mjs_asActuator(element: *mut mjsElement) -> *mut mjsActuator;
    pub(crate) fn mjs_asSensor(element: *mut mjsElement) -> *mut mjsSensor;
    pub(crate) fn mjs_firstElement(s: *const mjSpec, kind: mjtObj) -> *mut mjsElement;
    pub(crate) fn mjs_nextElement(s: *const mjSpec, element: *const mjsElement) -> *mut mjsElement;
    pub(crate) fn mjs_getName(element: *mut mjsElement) -> *mut mjString;
    pub(crate) fn mjs_setName(element: *mut mjsElement, name: *const c_char) -> c_int;
    pub(crate) fn mjs_getString(source: *const mjString) -> *const c_char;
    pub(crate) fn mjs_addFrame(body: *mut mjsBody, parentframe: *mut mjsFrame) -> *mut mjsFrame;
    pub(crate) fn mjs_getFrame(element: *const mjsElement) -> *mut mjsFrame;
    pub(crate) fn mjs_setFrame(dest: *mut mjsElement, frame: *mut mjsFrame) -> c_int;
    pub(crate) fn mjs_firstChild(body: *const mjsBody, kind: mjtObj, recurse: c_int) -> *mut mjsElement;
    pub(crate) fn mjs_nextChild(body: *const mjsBody, child: *const mjsElement, recurse: c_int) -> *mut mjsElement;
    pub(crate) fn mjs_setDeepCopy(s: *mut mjSpec, deepcopy: c_int) -> c_int;
    pub(crate) fn mjs_attach(
        parent: *mut mjsElement,
        child: *const mjsElement,
        prefix: *const c_char,
        suffix: *const c_char,
    ) -> *mut mjsElement;

    pub(crate) fn mj_makeData(m: *const mjModel) -> *mut mjData;
    pub(crate) fn mj_copyData(dest: *mut mjData, m: *const mjModel, src: *const mjData) -> *mut mjData;
    pub(crate) fn mj_deleteData(d: *mut mjData);
    pub(crate) fn mj_resetData(m: *const mjModel, d: *mut mjData);
    pub(crate) fn mj_step(m: *const mjModel, d: *mut mjData);
    pub(crate) fn mj_step1(m: *const mjModel, d: *mut mjData);
    pub(crate) fn mj_step2(m: *const mjModel, d: *mut mjData);
    pub(crate) fn mj_forward(m: *const mjModel, d: *mut mjData);
    pub(crate) fn mj_setConst(m: *mut mjModel, d: *mut mjData);
    pub(crate) fn mj_stateSize(m: *const mjModel, sig: c_int) -> c_int;
    pub(crate) fn mj_getState(m: *const mjModel, d: *const mjData, state: *mut mjtNum, sig: c_int);
    pub(crate) fn mj_setState(m: *const mjModel, d: *mut mjData, state: *const mjtNum, sig: c_int);
    pub(crate) fn mj_contactForce(m: *const mjModel, d: *const mjData, id: c_int, result: *mut [mjtNum; 6]);
    pub(crate) fn mj_objectVelocity(
        m: *const mjModel,
        d: *const mjData,
        objtype: c_int,
        objid: c_int,
        res: *mut [mjtNum; 6],
        flg_local: c_int,
    );
    pub(crate) fn mju_threadpool(d: *mut mjData, nthread: c_int);
    /// Exported by the library, but not declared in its headers.
    pub(crate) fn mju_dispatch(m: *const mjModel, d: *mut mjData, func: Task, arg: *mut c_void, ntask: c_int);
    /// For the tests of `threads/pool.rs`.
    #[cfg(test)]
    pub(crate) fn mju_error(msg: *const c_char, ...);
    pub(crate) fn mju_rayGeom(
        pos: *const [mjtNum; 3],
        mat: *const [mjtNum; 9],
        size: *const [mjtNum; 3],
        pnt: *const [mjtNum; 3],
        vec: *const [mjtNum; 3],
        geomtype: c_int,
        normal: *mut [mjtNum; 3],
    ) -> mjtNum;
    /// Reference for the tests of `ray.rs`.
    #[cfg(test)]
    pub(crate) fn mj_ray(
        m: *const mjModel,
        d: *const mjData,
        pnt: *const [mjtNum; 3],
        vec: *const [mjtNum; 3],
        geomgroup: *const u8,
        flg_static: bool,
        bodyexclude: c_int,
        geomid: *mut c_int,
        normal: *mut [mjtNum; 3],
    ) -> mjtNum;
}

/// Rays at geoms whose shape is part of the model.
macro_rules! declare_shape_rays {
    ($($name:ident),*) => {
        unsafe extern "C-unwind" {
            $(pub(crate) fn $name(
                m: *const mjModel,
                d: *const mjData,
                geomid: c_int,
                pnt: *const [mjtNum; 3],
                vec: *const [mjtNum; 3],
                normal: *mut [mjtNum; 3],
            ) -> mjtNum;)*
        }
    };
}

declare_shape_rays!(mj_rayMesh, mj_rayHfield);
