//! What lies in a direction.

use std::{ffi::c_int, ptr};

use crate::{
    engine,
    id::{BodyId, GeomId},
    sim::Sim,
};

/// What a ray meets first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// From the ray's origin, in m.
    pub distance: f64,
    /// The geom met.
    pub geom: GeomId,
}

impl Sim {
    /// The first geom a ray meets.
    ///
    /// `origin` is in m, `direction` any length but zero, both world frame. Geoms whose colour is fully transparent are
    /// not seen. With `exclude`, neither are the geoms of that body, of the body at the top of its tree and of all
    /// others of that tree: a robot does not see itself.
    ///
    /// The engine can leave out one body only, so a ray that meets an excluded geom is cast again from 1 µm behind that
    /// point; what lies in that gap is missed, and so is all behind the 64th excluded surface.
    pub fn ray(&self, origin: [f64; 3], direction: [f64; 3], exclude: Option<BodyId>) -> Option<RayHit> {
        const STEP: f64 = 1e-6;
        const SURFACES: usize = 64;
        let length = direction.iter().map(|v| v * v).sum::<f64>().sqrt();
        let castable = length.is_finite() && length > 1e-15 && origin.iter().all(|v| v.is_finite());
        if !castable {
            return None;
        }
        let direction = direction.map(|v| v / length);
        let exclude = exclude.map(|body| self.model.body_root(body));
        let mut travelled = 0.0;
        for _ in 0..=SURFACES {
            let from = std::array::from_fn(|i| origin[i] + direction[i] * travelled);
            let hit = self.cast(from, direction, exclude)?;
            travelled += hit.distance;
            if exclude.is_none_or(|root| self.model.body_root(self.model.geom_body(hit.geom)) != root) {
                return Some(RayHit { distance: travelled, geom: hit.geom });
            }
            travelled += STEP;
        }
        None
    }

    /// One cast; `direction` is a unit vector.
    fn cast(&self, origin: [f64; 3], direction: [f64; 3], exclude: Option<BodyId>) -> Option<RayHit> {
        let mut geom: c_int = -1;
        let exclude = exclude.map_or(-1, |body| body.0.cast_signed());
        // SAFETY: model and data are valid and belong together; the vectors and the geom outlive the call, no groups
        // and no normal are asked for
        let distance = unsafe {
            engine::mj_ray(
                self.raw_model(),
                self.data.ffi(),
                &raw const origin,
                &raw const direction,
                ptr::null(),
                true,
                exclude,
                &raw mut geom,
                ptr::null_mut(),
            )
        };
        GeomId::of(geom).filter(|_| distance >= 0.0).map(|geom| RayHit { distance, geom })
    }
}
