//! A world put together from a field and robots, then compiled.

use mujoco_rs::wrappers::MjModel;
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    error::ModelError,
    guard::guarded,
    model::Model,
    pose::Pose,
    source::Source,
    spec::{Bundle, Spec},
};

/// One robot, ball or other thing to be added to the base.
///
/// Every body of its worldbody is added, with all that belongs to them: joints, geoms, sites, actuators, sensors,
/// contact pairs and exclusions, each with the prefix before its name. Geoms, lights and cameras that stand directly in
/// its worldbody are scenery for its author and stay behind.
#[derive(Clone, Debug)]
pub struct Part {
    /// Put before every name; unique in the assembly.
    pub prefix: String,
    /// The model.
    pub source: Source,
    /// Where the model's origin goes, world frame: a robot whose torso is at z = 0.6735 in its own file, placed at
    /// (1, 2, 0), has its torso at (1, 2, 0.6735).
    pub pose: Pose,
}

/// A change that needs the compiler, because other values follow from it.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Another size for a geom; mass and inertia follow when the model derives them from geoms.
    GeomSize {
        /// Full name of the geom, with its part's prefix.
        geom: String,
        /// Size, in m; what the three numbers mean depends on the [`Shape`](crate::Shape). Not negative.
        size: [f64; 3],
    },
}

/// What a world is made of.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The field: its options, gravity and scenery are the world's.
    pub base: Source,
    /// What stands on it, in the order in which it appears in the model.
    pub parts: Vec<Part>,
    /// Changes made before compiling, in this order.
    pub edits: Vec<Edit>,
}

impl Assembly {
    /// The base alone.
    pub fn new(base: Source) -> Self {
        Self { base, parts: Vec::new(), edits: Vec::new() }
    }

    /// Compiles. Depends on nothing but the assembly and the files it refers to; may run on any thread.
    ///
    /// Geoms that touch nothing are left out: they only carry looks. The base's options hold for all. The engine's
    /// habit of resetting a world that went bad is switched off, as is sleeping.
    ///
    /// # Errors
    /// When the engine refuses the model, a part is empty, or an edit names a geom that is not there.
    pub fn compile(&self) -> Result<Model, ModelError> {
        let mut base = prepare(&self.base)?;
        // a source that several parts use is parsed once
        let mut robots: Vec<(&Source, Spec, Bundle)> = Vec::new();
        for part in &self.parts {
            let place = match robots.iter().position(|(source, ..)| source.is(&part.source)) {
                Some(place) => place,
                None => {
                    let mut spec = prepare(&part.source)?;
                    // by itself first: attaching leaves out, without a word, what refers to something missing
                    spec.compile().map_err(|reason| engine_error(part.source.name(), reason))?;
                    let bundle = spec
                        .bundle_bodies()
                        .map_err(|reason| engine_error(part.source.name(), reason))?
                        .ok_or_else(|| ModelError::Empty { model: part.source.name().to_owned() })?;
                    robots.push((&part.source, spec, bundle));
                    robots.len() - 1
                }
            };
            let (_, spec, bundle) = &robots[place];
            base.attach(spec, bundle, &part.prefix, part.pose)
                .map_err(|reason| engine_error(&format!("{} as {:?}", part.source.name(), part.prefix), reason))?;
        }
        self.edits.iter().try_for_each(|edit| self.apply(edit, &mut base))?;
        base.settle_options();
        let refused = |reason| engine_error(self.base.name(), reason);
        finish(&base.compile().map_err(refused)?).map_err(refused)
    }

    fn apply(&self, edit: &Edit, spec: &mut Spec) -> Result<(), ModelError> {
        let Edit::GeomSize { geom, size } = edit;
        let bad = |reason: &str| ModelError::BadEdit { geom: geom.clone(), size: *size, reason: reason.to_owned() };
        if !size.iter().all(|s| s.is_finite() && *s >= 0.0) {
            return Err(bad("sizes are finite and not negative"));
        }
        match spec.set_geom_size(geom, *size) {
            Ok(true) => Ok(()),
            Ok(false) => Err(bad("there is no geom of that name that can touch anything")),
            Err(reason) => Err(bad(&reason)),
        }
    }
}

fn engine_error(model: &str, reason: String) -> ModelError {
    ModelError::Engine { model: model.to_owned(), reason }
}

fn prepare(source: &Source) -> Result<Spec, ModelError> {
    let refused = |reason| engine_error(source.name(), reason);
    let mut spec = Spec::parse(source).map_err(refused)?;
    spec.discard_visual().map_err(refused)?;
    Ok(spec)
}

/// Loads the compiled bytes, and gives the model room to work in.
fn finish(bytes: &[u8]) -> Result<Model, String> {
    /// Room for contacts and scratch values: this much for any model, and this much more for each body. Reserved, not
    /// used, until there are contacts.
    const ARENA_BYTES: i64 = 16 << 20;
    const ARENA_BYTES_A_BODY: i64 = 256 << 10;

    let mut model = guarded(|| MjModel::from_buffer(bytes))?.map_err(|e| e.to_string())?;
    let timestep = model.opt().timestep;
    if !(timestep.is_finite() && timestep > 0.0) {
        return Err(format!("its time step is {timestep} s; it must be positive"));
    }
    let room = ARENA_BYTES + ARENA_BYTES_A_BODY * model.nbody();
    // SAFETY: the arena's size is only read when data is made, and there is none yet
    let raw = unsafe { model.ffi_mut() };
    raw.narena = raw.narena.max(room);
    Ok(Model::new(model, xxh3_64(bytes)))
}

#[cfg(test)]
mod tests;
