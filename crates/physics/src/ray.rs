//! Ray casting.

use std::{ffi::c_int, ptr};

use mujoco_rs::wrappers::{MjData, MjModel, MjtGeomBase};

use crate::{
    engine,
    id::{BodyId, GeomId},
    sim::Sim,
};

/// The first hit of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// Distance from the ray's origin, in m.
    pub distance: f64,
    /// The geom that was hit.
    pub geom: GeomId,
}

impl Sim {
    /// Finds the first geom that a ray hits. `None` if there is none, or if `direction` is zero or not finite.
    ///
    /// `origin` is in m, `direction` has any length, both world frame. Geoms that are fully transparent are ignored. With
    /// `exclude`, so are all geoms of that body's kinematic tree: a robot does not see itself.
    pub fn ray(&self, origin: [f64; 3], direction: [f64; 3], exclude: Option<BodyId>) -> Option<RayHit> {
        let length = dot(direction, direction).sqrt();
        let castable = length.is_finite() && length > 1e-15 && origin.iter().all(|v| v.is_finite());
        if !castable {
            return None;
        }
        let scene = Scene::of(&self.data);
        let exclude = exclude.map(|body| self.model.body_root(body));
        let is_own = |geom| exclude.is_some_and(|root| self.model.body_root(self.model.geom_body(geom)) == root);
        let seen = self.model.geoms().filter(|geom| !is_own(*geom) && scene.is_visible(*geom));
        scene.first(seen, &Ray { origin, direction: direction.map(|v| v / length) }, f64::INFINITY)
    }
}

/// A ray; its direction is a unit vector.
pub(crate) struct Ray {
    pub(crate) origin: [f64; 3],
    pub(crate) direction: [f64; 3],
}

/// The geoms in their current poses. Flexible bodies are ignored.
pub(crate) struct Scene<'a> {
    model: &'a MjModel,
    data: &'a MjData<Box<MjModel>>,
    centres: &'a [[f64; 3]],
    turns: &'a [[f64; 9]],
    bounds: &'a [f64],
    sizes: &'a [[f64; 3]],
    kinds: &'a [MjtGeomBase],
}

impl<'a> Scene<'a> {
    pub(crate) fn of(data: &'a MjData<Box<MjModel>>) -> Self {
        let model = data.model();
        Self {
            model,
            data,
            centres: data.geom_xpos(),
            turns: data.geom_xmat(),
            bounds: model.geom_rbound(),
            sizes: model.geom_size(),
            kinds: model.geom_type(),
        }
    }

    /// Whether the geom is not fully transparent.
    pub(crate) fn is_visible(&self, geom: GeomId) -> bool {
        // materials are discarded from the model of a simulation
        self.model.geom_rgba()[geom.index()][3] != 0.0
    }

    /// Whether the geom may be within `distance` of a point, by its bounding sphere.
    pub(crate) fn is_near(&self, geom: GeomId, point: [f64; 3], distance: f64) -> bool {
        let (way, bound) = (sub(self.centres[geom.index()], point), self.bound(geom));
        bound.is_none_or(|bound| dot(way, way) <= (distance + bound) * (distance + bound))
    }

    /// The first of these geoms that a ray hits within `range`.
    pub(crate) fn first(&self, geoms: impl IntoIterator<Item = GeomId>, ray: &Ray, mut range: f64) -> Option<RayHit> {
        let mut first = None;
        for geom in geoms {
            if self.may_hit(geom, ray, range)
                && let Some(distance) = self.hit(geom, ray).filter(|distance| *distance < range)
            {
                range = distance;
                first = Some(RayHit { distance, geom });
            }
        }
        first
    }

    /// Radius of the geom's bounding sphere; `None` if it is infinite.
    fn bound(&self, geom: GeomId) -> Option<f64> {
        // with a margin for rounding errors
        Some(self.bounds[geom.index()] * 1.000_001).filter(|bound| *bound > 0.0)
    }

    /// Whether the ray passes near the geom within `range`: a cheap test before the exact one.
    fn may_hit(&self, geom: GeomId, ray: &Ray, range: f64) -> bool {
        let Some(bound) = self.bound(geom) else { return true };
        let way = sub(self.centres[geom.index()], ray.origin);
        let along = dot(way, ray.direction);
        along >= -bound && along - bound <= range && dot(way, way) - along * along <= bound * bound
    }

    /// Distance along the ray at which it hits the geom.
    fn hit(&self, geom: GeomId, ray: &Ray) -> Option<f64> {
        let (index, id) = (geom.index(), geom.0.cast_signed());
        let (point, way) = (&raw const ray.origin, &raw const ray.direction);
        let (model, data, normal) = (self.model.ffi(), self.data.ffi(), ptr::null_mut());
        // SAFETY: model and data are valid and belong together; the geom exists, or `kinds` would not have it, and is of the
        // kind that each function takes; the vectors outlive the call, and the normal may be null
        let distance = unsafe {
            match self.kinds[index] {
                MjtGeomBase::mjGEOM_MESH => engine::mj_rayMesh(model, data, id, point, way, normal),
                MjtGeomBase::mjGEOM_HFIELD => engine::mj_rayHfield(model, data, id, point, way, normal),
                kind @ (MjtGeomBase::mjGEOM_PLANE
                | MjtGeomBase::mjGEOM_SPHERE
                | MjtGeomBase::mjGEOM_CAPSULE
                | MjtGeomBase::mjGEOM_ELLIPSOID
                | MjtGeomBase::mjGEOM_CYLINDER
                | MjtGeomBase::mjGEOM_BOX) => engine::mju_rayGeom(
                    &raw const self.centres[index],
                    &raw const self.turns[index],
                    &raw const self.sizes[index],
                    point,
                    way,
                    kind as c_int,
                    normal,
                ),
                // the engine has no function for the others, such as signed distance fields: rays pass through them
                _ => return None,
            }
        };
        Some(distance).filter(|distance| *distance >= 0.0)
    }
}

fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[cfg(test)]
mod tests;
