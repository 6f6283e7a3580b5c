//! The visuals of an assembly, combined from those of its sources.

use std::{
    slice,
    sync::{Arc, OnceLock},
};

use super::{Assembly, Edit, bad_edit, bundled, engine_error, resize};
use crate::{
    alloc,
    error::{EngineError, ModelError},
    pose::Pose,
    source::Source,
    spec::ModelSpec,
    visual::{Visual, visuals_of},
};

#[derive(Debug)]
struct SourceVisuals {
    visuals: Vec<Visual>,
    /// Number of its bodies, including the world.
    bodies: usize,
    /// Whether bodies without joints are merged into their parents.
    fuses_static: bool,
}

/// The visuals of a source in each of its roles, computed on first use.
#[derive(Debug, Default)]
pub(crate) struct VisualCache([OnceLock<Arc<SourceVisuals>>; 3]);

/// The role of a source in an assembly.
#[derive(Clone, Copy)]
enum Role {
    Base,
    Attached,
    /// Attached to a base that merges bodies without joints into their parents.
    AttachedFused,
}

impl Assembly {
    /// Everything to draw of the assembled world, sorted by body, within a body in the order of the model's text. Bodies
    /// have the indices of the model that [`Assembly::compile`] returns.
    ///
    /// Geoms of the groups 0 to 2 are visible, whether they can collide or not. The visuals of a source are cached in it.
    ///
    /// # Errors
    /// If the engine refuses a source, an attachment has no body, or an edit names an unknown geom.
    pub fn visuals(&self) -> Result<Vec<Visual>, ModelError> {
        self.vet()?;
        let mut edits = Edits { all: &self.edits, used: vec![false; self.edits.len()] };
        let base = edits.source_visuals(&self.base, Role::Base, "", slice::from_ref(&&self.base))?;
        let role = if base.fuses_static { Role::AttachedFused } else { Role::Attached };
        let mut visuals = base.visuals.clone();
        let mut next = base.bodies;
        let sources: Vec<&Source> = self.attachments.iter().map(|attachment| &attachment.source).collect();
        for attachment in &self.attachments {
            let own = edits.source_visuals(&attachment.source, role, &attachment.prefix, &sources)?;
            let pose = attachment.pose.normalized();
            visuals.extend(own.visuals.iter().map(|visual| match visual.body {
                0 => Visual { pose: pose.then(&visual.pose), ..visual.clone() },
                body => Visual { body: next + body - 1, ..visual.clone() },
            }));
            next += own.bodies - 1;
        }
        edits.all_used()?;
        // stable: what attachments fix to the world comes after the base's own
        visuals.sort_by_key(|visual| visual.body);
        Ok(visuals)
    }
}

/// The edits of an assembly, and which of them have been applied.
struct Edits<'a> {
    all: &'a [Edit],
    used: Vec<bool>,
}

impl Edits<'_> {
    /// The visuals of a source under this prefix. `sources` are all sources in that role: one with the same text may have
    /// them in its cache.
    fn source_visuals(
        &mut self,
        source: &Source,
        role: Role,
        prefix: &str,
        sources: &[&Source],
    ) -> Result<Arc<SourceVisuals>, ModelError> {
        if let Some(edited) = self.edited(source, role, prefix)? {
            return Ok(Arc::new(edited));
        }
        let cached = |source: &Source| source.visual_cache().0[role as usize].get().cloned();
        if let Some(known) = cached(source) {
            return Ok(known);
        }
        let known = sources.iter().filter(|other| other.is(source)).find_map(|other| cached(other));
        let known = match known {
            Some(known) => known,
            None => Arc::new(SourceVisuals::of(source, &mut joined(source, role)?)?),
        };
        Ok(source.visual_cache().0[role as usize].get_or_init(|| known).clone())
    }

    /// The visuals of a source with the edits of its geoms; `None` if there are no such edits.
    fn edited(&mut self, source: &Source, role: Role, prefix: &str) -> Result<Option<SourceVisuals>, ModelError> {
        let named = |edit: &Edit| edit.geom().starts_with(prefix);
        if !self.all.iter().any(named) {
            return Ok(None);
        }
        let mut spec = joined(source, role)?;
        let mut any = false;
        for (edit, used) in self.all.iter().zip(&mut self.used).filter(|(edit, _)| named(edit)) {
            if resize(&mut spec, edit, edit.geom().strip_prefix(prefix).unwrap_or_default())? {
                (any, *used) = (true, true);
            }
        }
        any.then(|| SourceVisuals::of(source, &mut spec)).transpose()
    }

    fn all_used(&self) -> Result<(), ModelError> {
        let lost = self.all.iter().zip(&self.used).find(|(_, used)| !**used);
        lost.map_or(Ok(()), |(edit, _)| Err(bad_edit(edit, "no geom of that name")))
    }
}

impl SourceVisuals {
    fn of(source: &Source, spec: &mut ModelSpec) -> Result<Self, ModelError> {
        let model = spec.compile().and_then(|bytes| alloc::load(&bytes));
        let model = model.map_err(|reason| engine_error(source.name(), &reason))?;
        Ok(Self { visuals: visuals_of(&model), bodies: model.body_parentid().len(), fuses_static: spec.fuses_static() })
    }
}

/// A source's model with all that is only for display.
fn visible(source: &Source) -> Result<ModelSpec, ModelError> {
    let mut spec = ModelSpec::parse(source).map_err(|reason| engine_error(source.name(), &reason))?;
    spec.set_common_options();
    spec.keep_visual();
    Ok(spec)
}

/// The model of a base, or that of an attachment on an empty base.
fn joined(source: &Source, role: Role) -> Result<ModelSpec, ModelError> {
    let refused = |reason: EngineError| engine_error(source.name(), &reason);
    let spec = visible(source)?;
    if matches!(role, Role::Base) {
        return Ok(spec);
    }
    let mut ground = ModelSpec::empty().map_err(refused)?;
    let (spec, bundle) = bundled(source, spec)?;
    ground.attach(&spec, &bundle, "", Pose::IDENTITY).map_err(refused)?;
    ground.set_common_options();
    ground.set_fuses_static(matches!(role, Role::AttachedFused));
    Ok(ground)
}

#[cfg(test)]
mod tests;
