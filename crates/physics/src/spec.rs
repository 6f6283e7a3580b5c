//! A model that can still be changed: parsed, attached to, edited, then compiled.

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
    guard::guarded,
    pose::Pose,
    source::{Source, TextFile},
};

/// An `mjSpec` that we own. Errors are the engine's own words.
pub(crate) struct Spec(NonNull<mjSpec>);

/// Files the engine finds in memory and so does not look for on disk.
struct MemoryFiles(mjVFS);

impl MemoryFiles {
    fn new(files: &[TextFile]) -> Result<Self, String> {
        let mut vfs = mjVFS { impl_: ptr::null_mut() };
        // SAFETY: `vfs` is ours and is initialised here, before anything else uses it
        guarded(|| unsafe { engine::mj_defaultVFS(&raw mut vfs) })?;
        let mut memory = Self(vfs);
        for file in files {
            let name = c_string(&file.path)?;
            let length = c_int::try_from(file.text.len()).map_err(|_| format!("{} is too long", file.path))?;
            // SAFETY: name and text outlive the call, which copies the text; `length` is its length
            let status = guarded(|| unsafe {
                engine::mj_addBufferVFS(&raw mut memory.0, name.as_ptr(), file.text.as_ptr().cast::<c_void>(), length)
            })?;
            if status != 0 {
                return Err(format!("{} cannot be handed to the engine (status {status})", file.path));
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

impl Spec {
    /// Parses the text of a source. Mesh and texture files are read from its folder when it is compiled.
    pub(crate) fn parse(source: &Source) -> Result<Self, String> {
        let files = source.text_files();
        let Some(main) = files.first() else { return Err("the source is empty".to_owned()) };
        let memory = MemoryFiles::new(files)?;
        let name = c_string(&main.path)?;
        let mut error = [0 as c_char; 1024];
        let spec = guarded(|| {
            // SAFETY: name, files and the error buffer (of the given size) outlive the call
            unsafe { engine::mj_parseXML(name.as_ptr(), &raw const memory.0, error.as_mut_ptr(), 1024) }
        })?;
        NonNull::new(spec).map(Self).ok_or_else(|| {
            // SAFETY: MuJoCo ends what it writes to the buffer with a zero, and the buffer starts out as zeros
            unsafe { CStr::from_ptr(error.as_ptr()) }.to_string_lossy().into_owned()
        })
    }

    /// A model of nothing.
    pub(crate) fn empty() -> Result<Self, String> {
        // SAFETY: takes nothing and gives a spec that is ours
        let spec = guarded(|| unsafe { engine::mj_makeSpec() })?;
        NonNull::new(spec).map(Self).ok_or_else(|| "there is no room for a model".to_owned())
    }

    /// Removes what has no influence on the motion: geoms that touch nothing, textures, materials, meshes nobody uses.
    /// Bodies keep the inertia those geoms gave them.
    pub(crate) fn discard_visual(&mut self) -> Result<(), String> {
        // SAFETY: the spec is valid
        let removed = guarded(|| unsafe { engine::mjs_discardVisual(self.0.as_ptr(), ptr::null()) })?;
        if removed < 0 { Err(self.error()) } else { Ok(()) }
    }

    /// Sets what every model of ours has in common, whatever its author wrote.
    pub(crate) fn settle_options(&mut self) {
        // SAFETY: the spec is valid and nobody else has it
        let spec = unsafe { self.0.as_mut() };
        // the arena is sized after compiling, see `assembly`
        spec.memory = -1;
        spec.nstack = -1;
        spec.njmax = -1;
        spec.nconmax = -1;
        // a state that went bad is for us to deal with
        spec.option.disableflags |= mjtDisableBit::mjDSBL_AUTORESET as c_int;
        // what sleeps is not part of the state that is saved and restored
        spec.option.enableflags &= !(mjtEnableBit::mjENBL_SLEEP as c_int);
        // an engine error on a thread that is not ours could not be caught
        self.compiler().set_usethread(false);
    }

    /// Keeps the geoms that touch nothing, whatever the author wrote.
    pub(crate) fn keep_visual(&mut self) {
        self.compiler().set_discardvisual(false);
    }

    /// Whether bodies that cannot move become one with what they are fixed to.
    pub(crate) fn fuses(&mut self) -> bool {
        self.compiler().fusestatic()
    }

    /// Says whether they do.
    pub(crate) fn set_fuses(&mut self, fuses: bool) {
        self.compiler().set_fusestatic(fuses);
    }

    fn compiler(&mut self) -> &mut MjsCompiler {
        // SAFETY: the spec is valid; the handle stands for the settings at this address, which live as long as the spec
        unsafe { &mut *(&raw mut self.0.as_mut().compiler).cast::<MjsCompiler>() }
    }

    /// Names the actuators and sensors that have no name, so that they can be found by prefix once attached: after the
    /// joint, site or body they belong to while that name is free, else `actuator1`, `sensor1` and so on.
    pub(crate) fn name_all(&mut self) -> Result<(), String> {
        // SAFETY: the element is an actuator, and nobody else has a handle to it
        let of_actuator =
            |element| unsafe { &*engine::mjs_asActuator(element).cast::<MjsActuator>() }.target().to_owned();
        self.name_kind(mjtObj::mjOBJ_ACTUATOR, "actuator", of_actuator)?;
        // SAFETY: the element is a sensor, and nobody else has a handle to it
        let of_sensor = |element| unsafe { &*engine::mjs_asSensor(element).cast::<MjsSensor>() }.objname().to_owned();
        self.name_kind(mjtObj::mjOBJ_SENSOR, "sensor", of_sensor)
    }

    /// Names what has no name among the elements of one kind.
    fn name_kind(
        &mut self,
        kind: mjtObj,
        word: &str,
        target: impl Fn(*mut mjsElement) -> String,
    ) -> Result<(), String> {
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

    /// Puts all bodies of this model's world into one frame, so that they can be attached together.
    ///
    /// Returns nothing when there are none.
    pub(crate) fn bundle_bodies(&mut self) -> Result<Option<Bundle>, String> {
        guarded(|| {
            // SAFETY: the spec is valid; every element below belongs to it and outlives this function
            unsafe {
                let world = engine::mjs_findBody(self.0.as_ptr(), c"world".as_ptr());
                let mut tops = Vec::new();
                let mut body = engine::mjs_firstChild(world, mjtObj::mjOBJ_BODY, 0);
                while !body.is_null() {
                    // a body in a frame of its author's comes along with the outermost such frame
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
    /// `owner` is the spec the bundle was made of.
    pub(crate) fn attach(&mut self, owner: &Spec, bundle: &Bundle, prefix: &str, pose: Pose) -> Result<(), String> {
        debug_assert!(owner.0 != self.0, "a model is not attached to itself");
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

    /// Sets the size of a geom; `false` when there is no geom of that name.
    pub(crate) fn set_geom_size(&mut self, geom: &str, size: [f64; 3]) -> Result<bool, String> {
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
                    // size wins over the two end points; those still say where the geom is
                    settle_end_points(handle);
                }
                true
            }
        })
    }

    /// Compiles to the bytes of a model file.
    pub(crate) fn compile(&mut self) -> Result<Vec<u8>, String> {
        // SAFETY: the spec is valid
        let model = guarded(|| unsafe { engine::mj_compile(self.0.as_ptr(), ptr::null()) })?;
        if model.is_null() {
            return Err(self.error());
        }
        // SAFETY: the model is valid
        let saved = guarded(|| unsafe { save(model) });
        // SAFETY: the model is ours and is not used after this
        guarded(|| unsafe { engine::mj_deleteModel(model) })?;
        saved?
    }

    fn error(&self) -> String {
        // SAFETY: the spec is valid; the text it returns is zero-terminated and copied at once
        unsafe {
            let text = engine::mjs_getError(self.0.as_ptr());
            if text.is_null() {
                return "no reason given".to_owned();
            }
            CStr::from_ptr(text).to_string_lossy().trim().to_owned()
        }
    }
}

impl Drop for Spec {
    fn drop(&mut self) {
        // SAFETY: the spec is ours and is not used after this
        unsafe { engine::mj_deleteSpec(self.0.as_ptr()) }
    }
}

/// All bodies of one model's world, ready to be attached; belongs to the [`Spec`] it was made of.
pub(crate) struct Bundle(*mut mjsElement);

/// The bytes of a model file.
///
/// # Safety
/// The model must be valid.
unsafe fn save(model: *const mjModel) -> Result<Vec<u8>, String> {
    // SAFETY: the model is valid
    let size = unsafe { engine::mj_sizeModel(model) };
    let length = usize::try_from(size).unwrap_or(0);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| format!("there is no room for its {length} bytes"))?;
    bytes.resize(length, 0_u8);
    // SAFETY: the model is valid, and the buffer has the size it asks for
    unsafe { engine::mj_saveModel(model, ptr::null(), bytes.as_mut_ptr().cast::<c_void>(), size) };
    Ok(bytes)
}

/// The element a frame stands for.
///
/// # Safety
/// The frame must be valid.
unsafe fn element_of(frame: *mut mjsFrame) -> *mut mjsElement {
    // SAFETY: `element` is the first field of every `mjs` struct
    unsafe { *frame.cast::<*mut mjsElement>() }
}

/// Replaces a geom's two end points by the pose they mean, so that its size is free.
fn settle_end_points(geom: &mut MjsGeom) {
    let [ax, ay, az, bx, by, bz] = *geom.fromto();
    *geom.pos_mut() = [(ax + bx) / 2.0, (ay + by) / 2.0, (az + bz) / 2.0];
    *geom.quat_mut() = Pose::quat_of_z_axis([ax - bx, ay - by, az - bz]);
    geom.alt_mut().switch_quat();
    *geom.fromto_mut() = [f64::NAN; 6];
}

fn c_string(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| format!("{text:?} contains a zero character"))
}
