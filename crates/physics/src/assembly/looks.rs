//! What an assembly looks like, put together from what its sources look like by themselves.

use std::{
    slice,
    sync::{Arc, OnceLock},
};

use super::{Assembly, Edit, bad_edit, bundled, engine_error, resize};
use crate::{
    error::ModelError,
    look::{Look, looks_of},
    pose::Pose,
    room,
    source::Source,
    spec::Spec,
};

/// What one source looks like.
#[derive(Debug)]
struct Appearance {
    looks: Vec<Look>,
    /// How many bodies it has, the world counted.
    bodies: usize,
    /// Whether bodies that cannot move become one with what they are fixed to.
    fuses: bool,
}

/// What a source looks like in each of its roles, once somebody has asked.
#[derive(Debug, Default)]
pub(crate) struct Wardrobe([OnceLock<Arc<Appearance>>; 3]);

/// What a source is in an assembly.
#[derive(Clone, Copy)]
enum Role {
    Base,
    Part,
    /// A part whose bodies become one with what they are fixed to, because the base wants it so.
    FusedPart,
}

impl Assembly {
    /// Everything to be seen in the assembled world, by body, in the order of the author's geoms. Bodies have the
    /// places that they have in the model that [`Assembly::compile`] gives.
    ///
    /// A geom is seen when it is in one of the groups 0 to 2, whether it touches anything or not. What a source looks
    /// like is kept with it, so that asking again costs little. May run on any thread.
    ///
    /// # Errors
    /// When the engine refuses a source with its looks, a part is empty, or an edit names a geom that is not there.
    pub fn looks(&self) -> Result<Vec<Look>, ModelError> {
        let mut edits = Edits { all: &self.edits, used: vec![false; self.edits.len()] };
        let base = edits.appearance(&self.base, Role::Base, "", slice::from_ref(&&self.base))?;
        let role = if base.fuses { Role::FusedPart } else { Role::Part };
        let mut looks = base.looks.clone();
        let mut next = base.bodies;
        let sources: Vec<&Source> = self.parts.iter().map(|part| &part.source).collect();
        for part in &self.parts {
            let appearance = edits.appearance(&part.source, role, &part.prefix, &sources)?;
            let place = part.pose.normalized();
            looks.extend(appearance.looks.iter().map(|look| match look.body {
                0 => Look { pose: place.then(&look.pose), ..look.clone() },
                body => Look { body: next + body - 1, ..look.clone() },
            }));
            next += appearance.bodies - 1;
        }
        edits.all_used()?;
        // what parts fix to the world comes after what the base does
        looks.sort_by_key(|look| look.body);
        Ok(looks)
    }
}

/// The edits of an assembly, and which of them have found their geom.
struct Edits<'a> {
    all: &'a [Edit],
    used: Vec<bool>,
}

impl Edits<'_> {
    /// What a source looks like under this prefix. `sources` are all in that role: one of the same text may know already.
    fn appearance(
        &mut self,
        source: &Source,
        role: Role,
        prefix: &str,
        sources: &[&Source],
    ) -> Result<Arc<Appearance>, ModelError> {
        if let Some(edited) = self.edited(source, role, prefix)? {
            return Ok(Arc::new(edited));
        }
        let kept = |source: &Source| source.wardrobe().0[role as usize].get().cloned();
        if let Some(known) = kept(source) {
            return Ok(known);
        }
        let known = sources.iter().filter(|other| other.is(source)).find_map(|other| kept(other));
        let known = match known {
            Some(known) => known,
            None => Arc::new(Appearance::of(source, &mut joined(source, role)?)?),
        };
        Ok(source.wardrobe().0[role as usize].get_or_init(|| known).clone())
    }

    /// What a source looks like with the edits that are about its geoms; none when there is no such edit.
    fn edited(&mut self, source: &Source, role: Role, prefix: &str) -> Result<Option<Appearance>, ModelError> {
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
        any.then(|| Appearance::of(source, &mut spec)).transpose()
    }

    fn all_used(&self) -> Result<(), ModelError> {
        let lost = self.all.iter().zip(&self.used).find(|(_, used)| !**used);
        lost.map_or(Ok(()), |(edit, _)| Err(bad_edit(edit, "there is no geom of that name")))
    }
}

impl Appearance {
    fn of(source: &Source, spec: &mut Spec) -> Result<Self, ModelError> {
        let model = spec.compile().and_then(|bytes| room::load(&bytes));
        let model = model.map_err(|reason| engine_error(source.name(), &reason))?;
        Ok(Self { looks: looks_of(&model), bodies: model.body_parentid().len(), fuses: spec.fuses() })
    }
}

/// A source's model with its looks.
fn visible(source: &Source) -> Result<Spec, ModelError> {
    let mut spec = Spec::parse(source).map_err(|reason| engine_error(source.name(), &reason))?;
    spec.settle_options();
    spec.keep_visual();
    Ok(spec)
}

/// The model of a base, or that of a part on a base without anything.
fn joined(source: &Source, role: Role) -> Result<Spec, ModelError> {
    let refused = |reason: String| engine_error(source.name(), &reason);
    let spec = visible(source)?;
    if matches!(role, Role::Base) {
        return Ok(spec);
    }
    let mut ground = Spec::empty().map_err(refused)?;
    let (spec, bundle) = bundled(source, spec)?;
    ground.attach(&spec, &bundle, "", Pose::IDENTITY).map_err(refused)?;
    ground.settle_options();
    ground.set_fuses(matches!(role, Role::FusedPart));
    Ok(ground)
}

#[cfg(test)]
mod tests;
