//! A world put together from a field and robots, then compiled.

use xxhash_rust::xxh3::xxh3_64;

use crate::{
    error::ModelError,
    guard::one_line,
    model::Model,
    pose::Pose,
    room,
    source::Source,
    spec::{Bundle, Spec},
};

pub(crate) mod looks;

/// One robot, ball or other thing to be added to the base.
///
/// Every body of its worldbody is added, with all that belongs to them: joints, geoms, sites, actuators, sensors,
/// contact pairs and exclusions, each with the prefix before its name. Geoms, lights and cameras that stand directly in
/// its worldbody are scenery for its author and stay behind.
///
/// Actuators and sensors without a name get one: that of the joint, site or body they belong to, or `actuator1`,
/// `sensor1` and so on where another of their kind has it.
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
        let mut world = self.join(&self.parts)?;
        self.edits.iter().try_for_each(|edit| apply(edit, &mut world))?;
        // again, whatever the parts brought along
        world.settle_options();
        let compiled = world.compile().and_then(|bytes| finish(&bytes));
        compiled.map_err(|reason| engine_error(&self.blamed(&reason), &reason))
    }

    /// The base with these parts on it, before edits.
    fn join(&self, parts: &[Part]) -> Result<Spec, ModelError> {
        let mut base = prepare(&self.base)?;
        // a source that several parts use is parsed once
        let mut robots: Vec<(&Source, Spec, Bundle)> = Vec::new();
        for part in parts {
            let place = match robots.iter().position(|(source, ..)| source.is(&part.source)) {
                Some(place) => place,
                None => {
                    let (spec, bundle) = bundled(&part.source, prepare(&part.source)?)?;
                    robots.push((&part.source, spec, bundle));
                    robots.len() - 1
                }
            };
            let (_, spec, bundle) = &robots[place];
            base.attach(spec, bundle, &part.prefix, part.pose)
                .map_err(|reason| engine_error(&part.described(), &reason))?;
        }
        Ok(base)
    }

    /// Name of the model that the engine's words are about: the part whose prefix they mention, else the first part
    /// without which the rest compiles, else the base.
    fn blamed(&self, reason: &str) -> String {
        let mentioned = |part: &&Part| !part.prefix.is_empty() && reason.contains(&format!("'{}", part.prefix));
        if let Some(part) = self.parts.iter().filter(mentioned).max_by_key(|part| part.prefix.len()) {
            return part.described();
        }
        let compiles = |count: usize| self.join(&self.parts[..count]).is_ok_and(|mut world| world.compile().is_ok());
        if self.parts.is_empty() || !compiles(0) || compiles(self.parts.len()) {
            return self.base.name().to_owned();
        }
        let (mut good, mut bad) = (0, self.parts.len());
        while bad - good > 1 {
            let middle = usize::midpoint(good, bad);
            if compiles(middle) { good = middle } else { bad = middle }
        }
        self.parts[good].described()
    }
}

impl Edit {
    /// Full name of the geom it is about.
    fn geom(&self) -> &str {
        let Self::GeomSize { geom, .. } = self;
        geom
    }
}

impl Part {
    /// What messages call it.
    fn described(&self) -> String {
        format!("{} as {:?}", self.source.name(), self.prefix)
    }
}

fn apply(edit: &Edit, spec: &mut Spec) -> Result<(), ModelError> {
    let found = resize(spec, edit, edit.geom())?;
    if found { Ok(()) } else { Err(bad_edit(edit, "there is no geom of that name that can touch anything")) }
}

/// Gives the geom that the model calls `name` the size of the edit; `false` when there is none.
fn resize(spec: &mut Spec, edit: &Edit, name: &str) -> Result<bool, ModelError> {
    let Edit::GeomSize { size, .. } = edit;
    if !size.iter().all(|s| s.is_finite() && *s >= 0.0) {
        return Err(bad_edit(edit, "sizes are finite and not negative"));
    }
    spec.set_geom_size(name, *size).map_err(|reason| bad_edit(edit, &one_line(&reason)))
}

fn bad_edit(edit: &Edit, reason: &str) -> ModelError {
    let Edit::GeomSize { geom, size } = edit;
    ModelError::BadEdit { geom: geom.clone(), size: *size, reason: reason.to_owned() }
}

fn engine_error(model: &str, reason: &str) -> ModelError {
    ModelError::Engine { model: model.to_owned(), reason: one_line(reason) }
}

fn prepare(source: &Source) -> Result<Spec, ModelError> {
    let refused = |reason: String| engine_error(source.name(), &reason);
    let mut spec = Spec::parse(source).map_err(refused)?;
    spec.settle_options();
    spec.discard_visual().map_err(refused)?;
    Ok(spec)
}

/// A part's model, found good by itself: attaching leaves out, without a word, what refers to something missing.
fn bundled(source: &Source, mut spec: Spec) -> Result<(Spec, Bundle), ModelError> {
    let refused = |reason: String| engine_error(source.name(), &reason);
    spec.name_all().map_err(refused)?;
    spec.compile().map_err(refused)?;
    let bundle = spec.bundle_bodies().map_err(refused)?;
    let bundle = bundle.ok_or_else(|| ModelError::Empty { model: source.name().to_owned() })?;
    Ok((spec, bundle))
}

/// Loads the compiled bytes, and gives the model room to work in.
fn finish(bytes: &[u8]) -> Result<Model, String> {
    /// Room for contacts and scratch values: this much for any model, this much more for each body, and this much at
    /// most. Reserved, not used, until there are contacts; contacts beyond it are left out and counted as warnings.
    const ARENA_BYTES: i64 = 16 << 20;
    const ARENA_BYTES_A_BODY: i64 = 256 << 10;
    const ARENA_BYTES_MOST: i64 = 1 << 30;

    let mut model = room::load(bytes)?;
    let timestep = model.opt().timestep;
    if !(timestep.is_finite() && timestep > 0.0) {
        return Err(format!("its time step is {timestep} s; it must be positive"));
    }
    let room = ARENA_BYTES.saturating_add(ARENA_BYTES_A_BODY.saturating_mul(model.nbody()));
    // SAFETY: the arena's size is only read when data is made, and there is none yet
    let raw = unsafe { model.ffi_mut() };
    raw.narena = raw.narena.max(room).min(ARENA_BYTES_MOST);
    Ok(Model::new(model, xxh3_64(bytes)))
}

#[cfg(test)]
mod tests;
