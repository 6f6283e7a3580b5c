//! Sensor readings: the nearest point in a beam.
//!
//! A beam is convex, so the nearest point in it cannot be occluded by anything else in it. It suffices to clip each face
//! that faces the sensor to the beam and to compare the nearest points.

use std::cell::LazyCell;

use glam::{DVec2, DVec3};

use crate::{
    Beam, VisualReading,
    material::{Material, Sonic},
    placement,
    plan::GroundSense,
    polygon::MAX_PIECE_POINTS,
    pyramid::Pyramid,
    robot::PhysicalState,
    solid::{Bounds, Solid},
    surroundings::Surroundings,
    transform::angle_from_dir,
};

/// A sensor within this distance of its own robot's bounding box is mounted on it and does not sense it, in mm.
const OWN_MARGIN: f64 = 10.0;

/// Ground that rises by at most this above the level from which it is sensed is not sensed, in mm.
const LEVEL_TOLERANCE: f64 = 1e-6;

/// The kind of sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Modality {
    /// Senses light.
    Visual,
    /// Senses sound.
    Sonic,
}

/// A solid that may be in the beam.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// Lower bound of its squared distance, in mm².
    min_squared: f64,
    index: u32,
}

/// Reads a sensor. `candidates` is scratch memory.
pub(crate) fn cast(
    surroundings: &Surroundings<'_>,
    beam: &Beam,
    modality: Modality,
    candidates: &mut Vec<Candidate>,
) -> VisualReading {
    let rules = surroundings.plan.rules();
    let mut cast = BeamCast {
        pyramid: Pyramid::new(beam, angle_from_dir(rules, beam.dir)),
        modality,
        best: rules.max_range * rules.max_range,
        color: rules.background.0,
    };
    let senses_ground = match rules.ground {
        GroundSense::BelowHorizon => beam.tilt + 0.5 * beam.angle_v < 0.0,
        GroundSense::Always => true,
        GroundSense::Never => false,
    };
    cast.ground(surroundings, senses_ground);
    cast.obstacles(surroundings, candidates);
    let (pyramid, best) = (cast.pyramid, cast.best);
    let is_candidate =
        |bounds: &Bounds| bounds.distance_squared(pyramid.apex.truncate()) < best && pyramid.may_intersect(bounds);
    for other in surroundings.others(is_candidate) {
        cast.solids(&other.solids);
    }
    if let Some(own) = surroundings.own().filter(|own| !own.is_unplaced && !is_mounted(own, cast.pyramid.apex)) {
        if own.solids.is_empty() {
            cast.solids(&placement::solids(&own.body, &own.transform, &own.ground_plane, cast.own_color(surroundings)));
        } else {
            cast.solids(&own.solids);
        }
    }
    VisualReading { distance: cast.best.sqrt(), color: cast.color }
}

/// Whether a sensor is mounted on its robot rather than fixed in the world.
///
/// On a slope the body is upright here, but a Robot Simulator may tilt it with its sensors. Both count.
fn is_mounted(own: &PhysicalState, apex: DVec3) -> bool {
    let [min, max] = own.body.bounds();
    let min = DVec2::from(min).extend(0.0) - OWN_MARGIN;
    let max = DVec2::from(max).extend(own.body.height()) + OWN_MARGIN;
    let is_near = |point: DVec3| point.cmpge(min).all() && point.cmple(max).all();
    let upright = own.transform.body_from_world(apex.truncate()).extend(apex.z - own.ground_plane.height);
    is_near(upright) || (own.ground_plane.slope != DVec2::ZERO && is_near(tilted(own, apex)))
}

/// The point in the frame of a body that is tilted with the ground under it.
fn tilted(own: &PhysicalState, point: DVec3) -> DVec3 {
    let (heading, slope) = (own.transform.heading, own.ground_plane.slope);
    let ahead = heading.extend(slope.dot(heading)).normalize();
    let up = (-slope).extend(1.0).normalize();
    let off = point - own.transform.origin.extend(own.ground_plane.height);
    DVec3::new(ahead.cross(up).dot(off), ahead.dot(off), up.dot(off))
}

/// A query in progress.
struct BeamCast {
    pyramid: Pyramid,
    modality: Modality,
    /// Squared distance of the nearest point so far, in mm².
    best: f64,
    color: [u8; 3],
}

/// A planar face, relative to the apex.
struct Face<'a> {
    corners: &'a [DVec3],
    /// Height of the apex above its plane, in mm.
    height: f64,
    /// The foot of the perpendicular, if it is on the face.
    foot: Option<DVec3>,
}

impl BeamCast {
    fn own_color(&self, surroundings: &Surroundings<'_>) -> [u8; 3] {
        let kind = surroundings.robots.get(surroundings.me).map_or(0, |robot| robot.kind);
        surroundings.plan.ports()[kind].color.0
    }

    fn obstacles(&mut self, surroundings: &Surroundings<'_>, candidates: &mut Vec<Candidate>) {
        let scene = &surroundings.plan.scene;
        let apex = self.pyramid.apex.truncate();
        candidates.clear();
        scene.index.visit(
            |bounds| self.pyramid.may_intersect(bounds),
            |bounds, index| {
                let min_squared = bounds.distance_squared(apex);
                if min_squared < self.best {
                    candidates.push(Candidate { min_squared, index: index as u32 });
                }
            },
        );
        // few are visited before all others are farther than the hit: sorting them would cost more
        while let Some(next) = take_nearest(candidates).filter(|next| next.min_squared < self.best) {
            self.solid(&scene.solids[next.index as usize]);
        }
    }

    fn solids(&mut self, solids: &[Solid]) {
        let apex = self.pyramid.apex.truncate();
        for solid in solids {
            if solid.bounds.distance_squared(apex) < self.best && self.pyramid.may_intersect(&solid.bounds) {
                self.solid(solid);
            }
        }
    }

    fn solid(&mut self, solid: &Solid) {
        let Some(min_cosine) = self.reflection(&solid.material) else { return };
        let apex = self.pyramid.apex;
        let (low, high) = (solid.low - apex.z, solid.high - apex.z);
        let corners = &solid.piece.points;
        // the nearest point of the outline in the plan view, and the sides that face the apex
        let mut facing = 0_u32;
        let (mut flat_squared, mut nearest) = (f64::INFINITY, DVec2::ZERO);
        for (index, (corner, normal)) in corners.iter().zip(&solid.piece.normals).enumerate() {
            let from = *corner - apex.truncate();
            if normal.dot(from) < 0.0 {
                facing |= 1 << index;
                let to = corners[if index + 1 == corners.len() { 0 } else { index + 1 }] - apex.truncate();
                let point = nearest_to_zero(from, to);
                if point.length_squared() < flat_squared {
                    (flat_squared, nearest) = (point.length_squared(), point);
                }
            }
        }
        if facing == 0 {
            flat_squared = 0.0;
        }
        let rise = 0.0_f64.clamp(low, high);
        let bound = flat_squared + rise * rise;
        if bound >= self.best {
            return;
        }
        if bound == 0.0 && solid.encloses(apex) {
            (self.best, self.color) = (0.0, solid.color);
            return;
        }
        if min_cosine.is_none() && self.pyramid.contains(nearest.extend(rise)) {
            (self.best, self.color) = (bound, solid.color);
            return;
        }
        self.sides(solid, facing & solid.piece.outer, low, high, min_cosine);
        self.top_or_bottom(solid, low, high, min_cosine);
    }

    /// How the material reflects: `None` if it cannot be sensed, otherwise the minimum cosine of incidence, if limited.
    fn reflection(&self, material: &Material) -> Option<Option<f64>> {
        match (self.modality, material.sonic) {
            (Modality::Visual, _) => material.visible.then_some(None),
            (Modality::Sonic, Sonic::Absorb) => None,
            (Modality::Sonic, Sonic::Diffuse) => Some(None),
            (Modality::Sonic, Sonic::Specular { max_incidence }) => Some(Some(max_incidence.cos())),
        }
    }

    fn sides(&mut self, solid: &Solid, facing: u32, low: f64, high: f64, min_cosine: Option<f64>) {
        let apex = self.pyramid.apex.truncate();
        let corners = &solid.piece.points;
        let mut left = facing;
        while left != 0 {
            let index = left.trailing_zeros() as usize;
            left &= left - 1;
            let normal = solid.piece.normals[index];
            let from = corners[index] - apex;
            let to = corners[if index + 1 == corners.len() { 0 } else { index + 1 }] - apex;
            let height = -normal.dot(from);
            let foot = normal * -height;
            let along = to - from;
            let is_on = low <= 0.0 && high >= 0.0 && (foot - from).dot(along) >= 0.0 && (to - foot).dot(along) >= 0.0;
            let quad = [from.extend(low), to.extend(low), to.extend(high), from.extend(high)];
            let face = Face { corners: &quad, height, foot: is_on.then(|| foot.extend(0.0)) };
            if self.face(&face, min_cosine).is_some() {
                self.color = solid.color;
            }
        }
    }

    /// The top or bottom, whichever faces the apex.
    fn top_or_bottom(&mut self, solid: &Solid, low: f64, high: f64, min_cosine: Option<f64>) {
        let level = if high < 0.0 {
            high
        } else if low > 0.0 {
            low
        } else {
            return;
        };
        if level * level >= self.best {
            return;
        }
        let apex = self.pyramid.apex.truncate();
        let mut lid = [DVec3::ZERO; MAX_PIECE_POINTS];
        for (corner, point) in lid.iter_mut().zip(&solid.piece.points) {
            *corner = (*point - apex).extend(level);
        }
        let foot = solid.piece.contains(apex).then(|| DVec3::new(0.0, 0.0, level));
        let face = Face { corners: &lid[..solid.piece.points.len()], height: level.abs(), foot };
        if self.face(&face, min_cosine).is_some() {
            self.color = solid.color;
        }
    }

    /// Records a face's nearest point in the beam if it is nearer than the best so far.
    ///
    /// The nearest point also has the smallest angle of incidence, so that a specular face reflects if that point does.
    #[inline]
    fn face(&mut self, face: &Face<'_>, min_cosine: Option<f64>) -> Option<DVec3> {
        let height = face.height * face.height;
        if height >= self.best {
            return None;
        }
        let (square, point) = match face.foot.filter(|foot| self.pyramid.contains(*foot)) {
            Some(foot) => (height, foot),
            None => self.pyramid.nearest(face.corners, self.best)?,
        };
        if min_cosine.is_some_and(|cosine| height < cosine * cosine * square * (1.0 - 1e-12)) {
            return None;
        }
        self.best = square;
        Some(point)
    }

    /// The ground. A sensor that does not sense the ground still senses what rises above the apex, and, like obstacles,
    /// cliffs and slopes too steep to climb, except for what lies below the ground under the sensor.
    fn ground(&mut self, surroundings: &Surroundings<'_>, senses_ground: bool) {
        let ground = &surroundings.plan.scene.ground;
        if !senses_ground && ground.is_flat {
            return;
        }
        let apex = self.pyramid.apex;
        // the level from which ground is sensed, relative to the apex
        let from = if senses_ground { f64::NEG_INFINITY } else { 0.0 };
        let from_barrier = LazyCell::new(|| from.min(from + ground.height(apex.truncate()) - apex.z));
        for facet in &ground.facets {
            let from = if facet.is_steep { *from_barrier } else { from };
            if facet.top - apex.z <= from + LEVEL_TOLERANCE || !self.pyramid.may_intersect(&facet.bounds) {
                continue;
            }
            let height = (apex.z - facet.plane.at(apex.truncate())) / (1.0 + facet.plane.slope.length_squared()).sqrt();
            if height < 0.0 && senses_ground && facet.piece.contains(apex.truncate()) {
                (self.best, self.color) = (0.0, ground.color(apex.truncate()));
            }
            if height <= 0.0 || height * height >= self.best {
                continue;
            }
            let corners = facet.piece.points.iter().map(|point| point.extend(facet.plane.at(*point)) - apex);
            let (corners, count) = clip_below(corners, from);
            let upright = facet.plane.slope.extend(-1.0);
            let foot = upright * (height / upright.length());
            let is_on = foot.z >= from && facet.piece.contains((apex + foot).truncate());
            let face = Face { corners: &corners[..count], height, foot: is_on.then_some(foot) };
            if let Some(point) = self.face(&face, None) {
                self.color = ground.color((apex + point).truncate());
            }
        }
        for cliff in &ground.cliffs {
            let height = cliff.normal.dot(apex.truncate() - cliff.corners[0].truncate());
            if height <= 0.0 || height * height >= self.best || !self.pyramid.may_intersect(&cliff.bounds) {
                continue;
            }
            let corners = cliff.corners.map(|corner| corner - apex);
            if corners.iter().all(|corner| corner.z <= *from_barrier + LEVEL_TOLERANCE) {
                continue;
            }
            let foot = foot_on_cliff(&corners, (cliff.normal * -height).extend(0.0));
            let (corners, count) = clip_below(corners.into_iter(), *from_barrier);
            if let Some(point) = self.face(&Face { corners: &corners[..count], height, foot }, None) {
                // the upper ground is just behind the edge
                self.color = ground.color((apex + point).truncate() - cliff.normal * 0.01);
            }
        }
    }
}

/// Clips a face to what lies above a level; returns its corners and their count.
fn clip_below(corners: impl Iterator<Item = DVec3> + Clone, level: f64) -> ([DVec3; MAX_PIECE_POINTS + 1], usize) {
    let mut kept = [DVec3::ZERO; MAX_PIECE_POINTS + 1];
    let mut count = 0;
    let mut keep = |corner| {
        kept[count] = corner;
        count += 1;
    };
    let next = corners.clone().cycle().skip(1);
    for (corner, next) in corners.zip(next) {
        if corner.z >= level {
            keep(corner);
        }
        if (corner.z < level && next.z > level) || (corner.z > level && next.z < level) {
            // exactly at the level, so that a horizontal fan still hits it
            keep(corner.lerp(next, (level - corner.z) / (next.z - corner.z)).truncate().extend(level));
        }
    }
    (kept, count)
}

/// The foot of the perpendicular, if it is on the cliff.
fn foot_on_cliff([from_low, to_low, to_high, from_high]: &[DVec3; 4], foot: DVec3) -> Option<DVec3> {
    let along = (*to_low - *from_low).truncate();
    let fraction = (foot - *from_low).truncate().dot(along) / along.length_squared();
    let (low, high) = (from_low.lerp(*to_low, fraction).z, from_high.lerp(*to_high, fraction).z);
    ((0.0..=1.0).contains(&fraction) && low <= 0.0 && high >= 0.0).then_some(foot)
}

#[inline]
fn nearest_to_zero(from: DVec2, to: DVec2) -> DVec2 {
    let along = to - from;
    let ahead = -from.dot(along);
    let length = along.length_squared();
    if ahead <= 0.0 {
        from
    } else if ahead >= length {
        to
    } else {
        from + along * (ahead / length)
    }
}

fn take_nearest(candidates: &mut Vec<Candidate>) -> Option<Candidate> {
    let mut best = 0;
    for (index, candidate) in candidates.iter().enumerate() {
        if candidate.min_squared < candidates[best].min_squared {
            best = index;
        }
    }
    (!candidates.is_empty()).then(|| candidates.swap_remove(best))
}

#[cfg(test)]
mod tests;
