//! A model before it is compiled: MuJoCo's `mjSpec`.

use std::{
    collections::BTreeSet,
    ffi::{CStr, CString, c_char, c_int, c_void},
    ptr::{self, NonNull},
};

use mujoco_rs::{
    mujoco_c::{mjModel, mjSpec, mjVFS, mjsElement, mjsFrame, mjtDisableBit, mjtEnableBit, mjtObj},
    wrappers::mj_editing::{MjsActuator, MjsCompiler, MjsFrame, MjsGeom, MjsSensor},
};

use crate::{
    engine,
    error::EngineError,
    guard::guarded,
    pose::Pose,
    source::{Source, TextFile},
};

/// An owned `mjSpec`: parsed, attached to, edited, then compiled.
pub(crate) struct ModelSpec(NonNull<mjSpec>);

/// Files that the engine reads from memory instead of from disk.
struct MemoryFiles(mjVFS);

impl MemoryFiles {
    fn new(files: &[TextFile]) -> Result<Self, EngineError> {
        let mut vfs = mjVFS { impl_: ptr::null_mut() };
        // SAFETY: `vfs` is initialised here, before its first use
        guarded(|| unsafe { engine::mj_defaultVFS(&raw mut vfs) })?;
        let mut memory = Self(vfs);
        for file in files {
            let name = c_string(&file.path)?;
            let too_long = |_| EngineError::TooLong { file: file.path.clone() };
            let length = c_int::try_from(file.text.len()).map_err(too_long)?;
            // SAFETY: name and text outlive the call, which copies the text; `length` is its length
            let status = guarded(|| unsafe {
                engine::mj_addBufferVFS(&raw mut memory.0, name.as_ptr(), file.text.as_ptr().cast::<c_void>(), length)
            })?;
            if status != 0 {
                return Err(EngineError::FileRefused { file: file.path.clone(), status });
            }
        }
        Ok(memory)
    }
}

impl Drop for MemoryFiles {
    fn drop(&mut self) {
        // SAFETY: initialised in `new`, and not used after this
        unsafe { engine::mj_deleteVFS(&raw mut self.0) }
    }
}

impl ModelSpec {
    /// Parses the text of a source. Mesh and texture files are read from its folder when it is compiled.
    pub(crate) fn parse(source: &Source) -> Result<Self, EngineError> {
        let files = source.text_files();
        let Some(main) = files.first() else { return Err(EngineError::EmptySource) };
        let memory = MemoryFiles::new(files)?;
        let name = c_string(&main.path)?;
        let mut error = [0 as c_char; 1024];
        let spec = guarded(|| {
            // SAFETY: name, files and the error buffer (of the given size) outlive the call
            unsafe { engine::mj_parseXML(name.as_ptr(), &raw const memory.0, error.as_mut_ptr(), 1024) }
        })?;
        NonNull::new(spec).map(Self).ok_or_else(|| {
            // SAFETY: the buffer is initialised with zeros, and MuJoCo terminates what it writes with one
            let message = unsafe { CStr::from_ptr(error.as_ptr()) };
            EngineError::Reported(message.to_string_lossy().into_owned())
        })
    }

    /// An empty model.
    pub(crate) fn empty() -> Result<Self, EngineError> {
        // SAFETY: takes no argument and returns a new spec
        let spec = guarded(|| unsafe { engine::mj_makeSpec() })?;
        NonNull::new(spec).map(Self).ok_or_else(|| EngineError::OutOfMemory { what: "a model".to_owned() })
    }

    /// Removes what does not affect the motion: geoms that cannot collide, textures, materials, unused meshes. Bodies keep
    /// the inertia of the removed geoms.
    pub(crate) fn discard_visual(&mut self) -> Result<(), EngineError> {
        // SAFETY: the spec is valid
        let removed = guarded(|| unsafe { engine::mjs_discardVisual(self.0.as_ptr(), ptr::null()) })?;
        if removed < 0 { Err(self.error()) } else { Ok(()) }
    }

    /// Sets the options that are the same for all models, whatever the author wrote.
    pub(crate) fn set_common_options(&mut self) {
        // SAFETY: the spec is valid, and `self` is borrowed mutably
        let spec = unsafe { self.0.as_mut() };
        // the arena is sized after compiling, see `assembly`
        spec.memory = -1;
        spec.nstack = -1;
        spec.njmax = -1;
        spec.nconmax = -1;
        // `Sim` handles an invalid state itself
        spec.option.disableflags |= mjtDisableBit::mjDSBL_AUTORESET as c_int;
        // whether a body sleeps is not part of the state that is saved and restored
        spec.option.enableflags &= !(mjtEnableBit::mjENBL_SLEEP as c_int);
        // an engine error on a thread of the engine could not be caught
        self.compiler().set_usethread(false);
    }

    /// Keeps the geoms that cannot collide, whatever the author wrote.
    pub(crate) fn keep_visual(&mut self) {
        self.compiler().set_discardvisual(false);
    }

    /// Whether bodies without joints are merged into their parents (`fusestatic`).
    pub(crate) fn fuses_static(&mut self) -> bool {
        self.compiler().fusestatic()
    }

    pub(crate) fn set_fuses_static(&mut self, fuses_static: bool) {
        self.compiler().set_fusestatic(fuses_static);
    }

    fn compiler(&mut self) -> &mut MjsCompiler {
        // SAFETY: the spec is valid; the handle is a view of the settings at this address, which live as long as the spec
        unsafe { &mut *(&raw mut self.0.as_mut().compiler).cast::<MjsCompiler>() }
    }

    /// Names the unnamed actuators and sensors, so that they can be found by prefix once attached: after the joint, site or
    /// body they belong to if that name is free, else `actuator1`, `sensor1` and so on.
    pub(crate) fn name_unnamed(&mut self) -> Result<(), EngineError> {
        // SAFETY: the element is an actuator, and there is no other handle to it
        let of_actuator =
            |element| unsafe { &*engine::mjs_asActuator(element).cast::<MjsActuator>() }.target().to_owned();
        self.name_unnamed_of_kind(mjtObj::mjOBJ_ACTUATOR, "actuator", of_actuator)?;
        // SAFETY: the element is a sensor, and there is no other handle to it
        let of_sensor = |element| unsafe { &*engine::mjs_asSensor(element).cast::<MjsSensor>() }.objname().to_owned();
        self.name_unnamed_of_kind(mjtObj::mjOBJ_SENSOR, "sensor", of_sensor)
    }

    fn name_unnamed_of_kind(
        &mut self,
        kind: mjtObj,
        word: &str,
        target: impl Fn(*mut mjsElement) -> String,
    ) -> Result<(), EngineError> {
        let (mut taken, mut unnamed) = (BTreeSet::new(), Vec::new());
        // SAFETY: the spec is valid, and so are its elements, none of which is added or removed here; names are copied
        guarded(|| unsafe {
            let mut element = engine::mjs_firstElement(self.0.as_ptr(), kind);
            while !element.is_null() {
                let name = CStr::from_ptr(engine::mjs_getString(engine::mjs_getName(element)));
                if name.is_empty() {
                    unnamed.push(element);
                } else {
                    taken.insert(name.to_string_lossy().into_owned());
                }
                element = engine::mjs_nextElement(self.0.as_ptr(), element);
            }
        })?;
        let mut numbered = (1_u32..).map(|number| format!("{word}{number}"));
        for element in unnamed {
            let wanted = Some(target(element)).filter(|name| !name.is_empty() && !taken.contains(name));
            let Some(name) = wanted.or_else(|| numbered.find(|name| !taken.contains(name))) else { break };
            let text = c_string(&name)?;
            // SAFETY: as above; the engine copies the name
            if guarded(|| unsafe { engine::mjs_setName(element, text.as_ptr()) })? != 0 {
                return Err(self.error());
            }
            taken.insert(name);
        }
        Ok(())
    }

    /// Puts all bodies of the worldbody into one frame, so that they can be attached together. `None` if there are none.
    pub(crate) fn bundle_bodies(&mut self) -> Result<Option<Bundle>, EngineError> {
        guarded(|| {
            // SAFETY: the spec is valid; every element below belongs to it and outlives this function
            unsafe {
                let world = engine::mjs_findBody(self.0.as_ptr(), c"world".as_ptr());
                let mut tops = Vec::new();
                let mut body = engine::mjs_firstChild(world, mjtObj::mjOBJ_BODY, 0);
                while !body.is_null() {
                    // a body that the author put into frames is moved with the outermost one
                    let mut top = body;
                    let mut frame = engine::mjs_getFrame(top);
                    while !frame.is_null() {
                        top = element_of(frame);
                        frame = engine::mjs_getFrame(top);
                    }
                    if !tops.contains(&top) {
                        tops.push(top);
                    }
                    body = engine::mjs_nextChild(world, body, 0);
                }
                if tops.is_empty() {
                    return None;
                }
                let bundle = engine::mjs_addFrame(world, ptr::null_mut());
                for top in tops {
                    engine::mjs_setFrame(top, bundle);
                }
                Some(Bundle(element_of(bundle)))
            }
        })
    }

    /// Attaches a copy of a bundle of another spec to the world of this one; every name gets the prefix.
    ///
    /// `owner` is the spec the bundle was made from.
    pub(crate) fn attach(
        &mut self,
        owner: &ModelSpec,
        bundle: &Bundle,
        prefix: &str,
        pose: Pose,
    ) -> Result<(), EngineError> {
        debug_assert!(owner.0 != self.0, "a model cannot be attached to itself");
        let prefix = c_string(prefix)?;
        let attached = guarded(|| {
            // SAFETY: both specs are valid, and so is the bundle, which lives as long as `owner`. The frame was just
            // made, so the handle is the only one. The copy is deep: `owner` can be attached again and dropped.
            unsafe {
                let world = engine::mjs_findBody(self.0.as_ptr(), c"world".as_ptr());
                let frame = engine::mjs_addFrame(world, ptr::null_mut());
                let handle = &mut *frame.cast::<MjsFrame>();
                *handle.pos_mut() = pose.pos;
                *handle.quat_mut() = pose.quat;
                engine::mjs_setDeepCopy(self.0.as_ptr(), 1);
                engine::mjs_attach(element_of(frame), bundle.0, prefix.as_ptr(), c"".as_ptr())
            }
        })?;
        if attached.is_null() { Err(self.error()) } else { Ok(()) }
    }

    /// Sets the size of a geom; `false` if there is no geom of that name.
    pub(crate) fn set_geom_size(&mut self, geom: &str, size: [f64; 3]) -> Result<bool, EngineError> {
        let geom = c_string(geom)?;
        guarded(|| {
            // SAFETY: the spec is valid; the handle is the only one to that geom
            unsafe {
                let element = engine::mjs_findElement(self.0.as_ptr(), mjtObj::mjOBJ_GEOM, geom.as_ptr());
                if element.is_null() {
                    return false;
                }
                let handle = &mut *engine::mjs_asGeom(element).cast::<MjsGeom>();
                let keep_length = !handle.fromto()[0].is_nan();
                *handle.size_mut() = size;
                if keep_length {
                    // the size takes precedence over the two end points, which still define the pose
                    replace_end_points(handle);
                }
                true
            }
        })
    }

    /// Compiles to the bytes of a model file.
    pub(crate) fn compile(&mut self) -> Result<Vec<u8>, EngineError> {
        // SAFETY: the spec is valid
        let model = guarded(|| unsafe { engine::mj_compile(self.0.as_ptr(), ptr::null()) })?;
        if model.is_null() {
            return Err(self.error());
        }
        // SAFETY: the model is valid
        let saved = guarded(|| unsafe { save(model) });
        // SAFETY: the model was made above, and is not used after this
        guarded(|| unsafe { engine::mj_deleteModel(model) })?;
        saved?
    }

    fn error(&self) -> EngineError {
        // SAFETY: the spec is valid; the text it returns is zero-terminated and copied at once
        unsafe {
            let text = engine::mjs_getError(self.0.as_ptr());
            if text.is_null() {
                return EngineError::Reported("no reason given".to_owned());
            }
            EngineError::Reported(CStr::from_ptr(text).to_string_lossy().trim().to_owned())
        }
    }
}

impl Drop for ModelSpec {
    fn drop(&mut self) {
        // SAFETY: the spec is owned, and not used after this
        unsafe { engine::mj_deleteSpec(self.0.as_ptr()) }
    }
}

/// All bodies of one model's worldbody, ready to be attached; valid as long as the [`ModelSpec`] it was made from.
pub(crate) struct Bundle(*mut mjsElement);

/// The bytes of a model file.
///
/// # Safety
/// The model must be valid.
unsafe fn save(model: *const mjModel) -> Result<Vec<u8>, EngineError> {
    // SAFETY: the model is valid
    let size = unsafe { engine::mj_sizeModel(model) };
    let length = usize::try_from(size).unwrap_or(0);
    let mut bytes = Vec::new();
    let out_of_memory = |_| EngineError::OutOfMemory { what: format!("its {length} bytes") };
    bytes.try_reserve_exact(length).map_err(out_of_memory)?;
    bytes.resize(length, 0_u8);
    // SAFETY: the model is valid, and the buffer has the size it asks for
    unsafe { engine::mj_saveModel(model, ptr::null(), bytes.as_mut_ptr().cast::<c_void>(), size) };
    Ok(bytes)
}

/// The frame as an element.
///
/// # Safety
/// The frame must be valid.
unsafe fn element_of(frame: *mut mjsFrame) -> *mut mjsElement {
    // SAFETY: `element` is the first field of every `mjs` struct
    unsafe { *frame.cast::<*mut mjsElement>() }
}

/// Replaces a geom's two end points by the equivalent pose, so that its length can be set.
fn replace_end_points(geom: &mut MjsGeom) {
    let [ax, ay, az, bx, by, bz] = *geom.fromto();
    *geom.pos_mut() = [(ax + bx) / 2.0, (ay + by) / 2.0, (az + bz) / 2.0];
    *geom.quat_mut() = Pose::quat_of_z_axis([ax - bx, ay - by, az - bz]);
    geom.alt_mut().switch_quat();
    *geom.fromto_mut() = [f64::NAN; 6];
}

fn c_string(text: &str) -> Result<CString, EngineError> {
    CString::new(text).map_err(|_| EngineError::ZeroCharacter(text.to_owned()))
}
