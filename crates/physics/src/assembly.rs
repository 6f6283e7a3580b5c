//! A world assembled from a field and robots, then compiled.

use xxhash_rust::xxh3::xxh3_64;

use crate::{
    alloc,
    error::{EngineError, ModelError},
    guard::one_line,
    model::Model,
    pose::Pose,
    source::Source,
    spec::{Bundle, ModelSpec},
    vet::{Use, vet},
};

pub(crate) mod visuals;

/// A robot, ball or other model that is attached to the base.
///
/// Every body of its worldbody is added with everything that belongs to it: joints, geoms, sites, actuators, sensors,
/// contact pairs and exclusions, each with the prefix before its name. Geoms, lights and cameras directly in its worldbody
/// are its author's scenery and are left out.
///
/// Unnamed actuators and sensors get the name of the joint, site or body they belong to, or `actuator1`, `sensor1` and so on
/// if that name is taken.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// Prefix of every name; unique in the assembly.
    pub prefix: String,
    /// The model to attach.
    pub source: Source,
    /// Pose of the model's origin, world frame: a robot whose torso is at z = 0.6735 in its file, placed at (1, 2, 0), has
    /// its torso at (1, 2, 0.6735).
    pub pose: Pose,
}

/// A change that requires compiling, because other values depend on it.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Sets the size of a geom. Mass and inertia change with it if the model derives them from geoms.
    GeomSize {
        /// Full name of the geom, with the prefix of its model.
        geom: String,
        /// Size, in m; what the three numbers mean depends on the [`Shape`](crate::Shape). Not negative.
        size: [f64; 3],
    },
}

/// The models that make up a world.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The field; its options and gravity are the world's.
    pub base: Source,
    /// What is attached to it, in the order of the compiled model.
    pub attachments: Vec<Attachment>,
    /// Changes that are made before compiling, in this order.
    pub edits: Vec<Edit>,
}

impl Assembly {
    /// The base alone.
    pub fn new(base: Source) -> Self {
        Self { base, attachments: Vec::new(), edits: Vec::new() }
    }

    /// Compiles the model. The result depends only on the assembly and the files it refers to.
    ///
    /// Geoms that cannot collide are left out: they are only for display, see [`Assembly::visuals`]. The base's options
    /// apply to all. The engine's automatic reset and its sleeping are switched off.
    ///
    /// # Errors
    /// If the engine refuses the model, an attachment has no body, or an edit names an unknown geom.
    pub fn compile(&self) -> Result<Model, ModelError> {
        self.vet()?;
        let mut world = self.join(&self.attachments)?;
        self.edits.iter().try_for_each(|edit| apply(edit, &mut world))?;
        // again: attaching may have changed them
        world.set_common_options();
        let compiled = world.compile().and_then(|bytes| finish(&bytes));
        compiled.map_err(|reason| engine_error(&self.blamed(&reason), &reason))
    }

    /// Checks the sources that are used for the first time.
    fn vet(&self) -> Result<(), ModelError> {
        vet(&self.base, Use::Base)?;
        self.attachments.iter().try_for_each(|a| vet(&a.source, Use::Attached { prefix: &a.prefix }))
    }

    /// The base with these models attached, before edits.
    fn join(&self, attachments: &[Attachment]) -> Result<ModelSpec, ModelError> {
        let mut base = prepare(&self.base)?;
        // a source that is attached several times is parsed once
        let mut parsed: Vec<(&Source, ModelSpec, Bundle)> = Vec::new();
        for attachment in attachments {
            let index = match parsed.iter().position(|(source, ..)| source.is(&attachment.source)) {
                Some(index) => index,
                None => {
                    let (spec, bundle) = bundled(&attachment.source, prepare(&attachment.source)?)?;
                    parsed.push((&attachment.source, spec, bundle));
                    parsed.len() - 1
                }
            };
            let (_, spec, bundle) = &parsed[index];
            base.attach(spec, bundle, &attachment.prefix, attachment.pose)
                .map_err(|reason| engine_error(&attachment.description(), &reason))?;
        }
        Ok(base)
    }

    /// Name of the model that an error is about: the attachment whose prefix the message mentions, else the first one that
    /// makes the compilation fail, else the base.
    fn blamed(&self, reason: &EngineError) -> String {
        let message = reason.to_string();
        let is_mentioned = |a: &&Attachment| !a.prefix.is_empty() && message.contains(&format!("'{}", a.prefix));
        if let Some(mentioned) = self.attachments.iter().filter(is_mentioned).max_by_key(|a| a.prefix.len()) {
            return mentioned.description();
        }
        let compiles =
            |count: usize| self.join(&self.attachments[..count]).is_ok_and(|mut world| world.compile().is_ok());
        if self.attachments.is_empty() || !compiles(0) || compiles(self.attachments.len()) {
            return self.base.name().to_owned();
        }
        let (mut good, mut bad) = (0, self.attachments.len());
        while bad - good > 1 {
            let middle = usize::midpoint(good, bad);
            if compiles(middle) { good = middle } else { bad = middle }
        }
        self.attachments[good].description()
    }
}

impl Edit {
    /// Full name of the edited geom.
    fn geom(&self) -> &str {
        let Self::GeomSize { geom, .. } = self;
        geom
    }
}

impl Attachment {
    /// Name of the model in messages.
    fn description(&self) -> String {
        format!("{} as {:?}", self.source.name(), self.prefix)
    }
}

fn apply(edit: &Edit, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let found = resize(spec, edit, edit.geom())?;
    if found { Ok(()) } else { Err(bad_edit(edit, "no geom of that name can collide")) }
}

/// Applies an edit to the geom `name`; `false` if there is no such geom.
fn resize(spec: &mut ModelSpec, edit: &Edit, name: &str) -> Result<bool, ModelError> {
    let Edit::GeomSize { size, .. } = edit;
    if !size.iter().all(|s| s.is_finite() && *s >= 0.0) {
        return Err(bad_edit(edit, "sizes must be finite and not negative"));
    }
    spec.set_geom_size(name, *size).map_err(|reason| bad_edit(edit, &one_line(&reason.to_string())))
}

fn bad_edit(edit: &Edit, reason: &str) -> ModelError {
    let Edit::GeomSize { geom, size } = edit;
    ModelError::BadEdit { geom: geom.clone(), size: *size, reason: reason.to_owned() }
}

fn engine_error(model: &str, reason: &EngineError) -> ModelError {
    ModelError::Engine { model: model.to_owned(), reason: one_line(&reason.to_string()) }
}

fn prepare(source: &Source) -> Result<ModelSpec, ModelError> {
    let refused = |reason: EngineError| engine_error(source.name(), &reason);
    let mut spec = ModelSpec::parse(source).map_err(refused)?;
    spec.set_common_options();
    spec.discard_visual().map_err(refused)?;
    Ok(spec)
}

/// A model that can be attached. It is compiled by itself first: attaching would silently drop elements that refer to
/// something missing.
fn bundled(source: &Source, mut spec: ModelSpec) -> Result<(ModelSpec, Bundle), ModelError> {
    let refused = |reason: EngineError| engine_error(source.name(), &reason);
    spec.name_unnamed().map_err(refused)?;
    spec.compile().map_err(refused)?;
    let bundle = spec.bundle_bodies().map_err(refused)?;
    let bundle = bundle.ok_or_else(|| ModelError::Empty { model: source.name().to_owned() })?;
    Ok((spec, bundle))
}

/// Loads the compiled bytes, and sets the size of the arena.
fn finish(bytes: &[u8]) -> Result<Model, EngineError> {
    /// Memory for contacts and temporary values: a base amount, an amount per body, and a maximum. It is reserved, and only
    /// used when there are contacts; contacts that do not fit are dropped and counted as warnings.
    const ARENA_BYTES: i64 = 16 << 20;
    const ARENA_BYTES_PER_BODY: i64 = 256 << 10;
    const MAX_ARENA_BYTES: i64 = 1 << 30;

    let mut model = alloc::load(bytes)?;
    let timestep = model.opt().timestep;
    if !(timestep.is_finite() && timestep > 0.0) {
        return Err(EngineError::TimeStep { seconds: timestep });
    }
    let arena = ARENA_BYTES.saturating_add(ARENA_BYTES_PER_BODY.saturating_mul(model.nbody()));
    // SAFETY: the arena's size is only read when data is made, and there is none yet
    let raw = unsafe { model.ffi_mut() };
    raw.narena = raw.narena.max(arena).min(MAX_ARENA_BYTES);
    Ok(Model::new(model, xxh3_64(bytes)))
}

#[cfg(test)]
mod tests;
