//! What a beam finds: the nearest point of everything in it.
//!
//! A beam is convex. So whatever is nearest in it cannot be hidden by something else in it, and the nearest point of each
//! face that looks at the sensor, cut to the beam, is all there is to compare.

use std::cell::LazyCell;

use glam::{DVec2, DVec3};

use crate::{
    Beam, Sight,
    material::{Material, Sonic},
    place::{self, Around},
    plan::GroundSense,
    polygon::MAX_PIECE_POINTS,
    pyramid::Pyramid,
    robot::Shaped,
    solid::{Bounds, Solid},
    stance::angle_from_dir,
};

/// A sensor that is so close to its own robot's bounding box belongs to it, and does not find it, in mm.
const OWN_MARGIN: f64 = 10.0;

/// What rises by no more than this above the level from which ground counts is still level with it, in mm.
const GRAZED: f64 = 1e-6;

/// Which sense is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Light.
    See,
    /// Sound.
    Hear,
}

/// Something that may be in the beam.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// It is no nearer than this, squared.
    bound: f64,
    index: u32,
}

/// What the beam finds.
pub(crate) fn nearest(around: &Around<'_>, beam: &Beam, mode: Mode, candidates: &mut Vec<Candidate>) -> Sight {
    let rules = around.plan.rules();
    let mut search = Search {
        pyramid: Pyramid::new(beam, angle_from_dir(rules, beam.dir)),
        mode,
        best: rules.max_range * rules.max_range,
        color: rules.background.0,
    };
    let finds_ground = match rules.ground {
        GroundSense::BelowHorizon => beam.tilt + 0.5 * beam.angle_v < 0.0,
        GroundSense::Always => true,
        GroundSense::Never => false,
    };
    search.ground(around, finds_ground);
    search.obstacles(around, candidates);
    let (pyramid, reach) = (search.pyramid, search.best);
    let may_be_found =
        |bounds: &Bounds| bounds.distance_squared(pyramid.apex.truncate()) < reach && pyramid.may_meet(bounds);
    for other in around.others(may_be_found) {
        search.robot(&other.solids);
    }
    if let Some(own) = around.own().filter(|own| !own.is_lost && !is_mounted(own, search.pyramid.apex)) {
        if own.solids.is_empty() {
            search.robot(&place::solids(&own.body, &own.stance, &own.stand, search.own_color(around)));
        } else {
            search.robot(&own.solids);
        }
    }
    Sight { distance: search.best.sqrt(), color: search.color }
}

/// Whether a sensor sits on its robot, rather than somewhere in the world.
///
/// On a slope the body is upright here; a Robot Simulator may tilt it with its sensors. Either is right.
fn is_mounted(own: &Shaped, apex: DVec3) -> bool {
    let [min, max] = own.body.bounds();
    let min = DVec2::from(min).extend(0.0) - OWN_MARGIN;
    let max = DVec2::from(max).extend(own.body.height()) + OWN_MARGIN;
    let is_near = |place: DVec3| place.cmpge(min).all() && place.cmple(max).all();
    let upright = own.stance.body_from_world(apex.truncate()).extend(apex.z - own.stand.height);
    is_near(upright) || (own.stand.slope != DVec2::ZERO && is_near(tilted(own, apex)))
}

/// The place in the frame of a body that is tilted as the ground under it.
fn tilted(own: &Shaped, place: DVec3) -> DVec3 {
    let (heading, slope) = (own.stance.heading, own.stand.slope);
    let ahead = heading.extend(slope.dot(heading)).normalize();
    let up = (-slope).extend(1.0).normalize();
    let off = place - own.stance.at.extend(own.stand.height);
    DVec3::new(ahead.cross(up).dot(off), ahead.dot(off), up.dot(off))
}

struct Search {
    pyramid: Pyramid,
    mode: Mode,
    /// Squared distance of the nearest point so far.
    best: f64,
    color: [u8; 3],
}

/// A flat piece of a surface, seen from the apex.
struct Side<'a> {
    corners: &'a [DVec3],
    /// How far the apex is above its plane, in mm.
    height: f64,
    /// The foot of the perpendicular, if it is on the face.
    foot: Option<DVec3>,
}

impl Search {
    fn own_color(&self, around: &Around<'_>) -> [u8; 3] {
        let kind = around.robots.get(around.me).map_or(0, |robot| robot.kind);
        around.plan.ports()[kind].color.0
    }

    fn obstacles(&mut self, around: &Around<'_>, candidates: &mut Vec<Candidate>) {
        let scene = &around.plan.scene;
        let apex = self.pyramid.apex.truncate();
        candidates.clear();
        scene.blocks.visit(
            |bounds| self.pyramid.may_meet(bounds),
            |bounds, index| {
                let bound = bounds.distance_squared(apex);
                if bound < self.best {
                    candidates.push(Candidate { bound, index: index as u32 });
                }
            },
        );
        // few are looked at before the rest is farther than what was found: sorting them all would be a waste
        while let Some(next) = take_nearest(candidates).filter(|next| next.bound < self.best) {
            self.solid(&scene.solids[next.index as usize]);
        }
    }

    fn robot(&mut self, solids: &[Solid]) {
        let apex = self.pyramid.apex.truncate();
        for solid in solids {
            if solid.bounds.distance_squared(apex) < self.best && self.pyramid.may_meet(&solid.bounds) {
                self.solid(solid);
            }
        }
    }

    fn solid(&mut self, solid: &Solid) {
        let Some(specular) = self.surface(&solid.material) else { return };
        let apex = self.pyramid.apex;
        let (low, high) = (solid.low - apex.z, solid.high - apex.z);
        let corners = &solid.piece.points;
        // the nearest point of all, seen from above, and which sides look here
        let mut facing = 0_u32;
        let (mut beside, mut nearest) = (f64::INFINITY, DVec2::ZERO);
        for (index, (corner, normal)) in corners.iter().zip(&solid.piece.normals).enumerate() {
            let from = *corner - apex.truncate();
            if normal.dot(from) < 0.0 {
                facing |= 1 << index;
                let to = corners[if index + 1 == corners.len() { 0 } else { index + 1 }] - apex.truncate();
                let point = nearest_to_zero(from, to);
                if point.length_squared() < beside {
                    (beside, nearest) = (point.length_squared(), point);
                }
            }
        }
        if facing == 0 {
            beside = 0.0;
        }
        let rise = 0.0_f64.clamp(low, high);
        let bound = beside + rise * rise;
        if bound >= self.best {
            return;
        }
        if bound == 0.0 && solid.encloses(apex) {
            (self.best, self.color) = (0.0, solid.color);
            return;
        }
        if specular.is_none() && self.pyramid.contains(nearest.extend(rise)) {
            (self.best, self.color) = (bound, solid.color);
            return;
        }
        self.sides(solid, facing & solid.piece.outer, low, high, specular);
        self.lids(solid, low, high, specular);
    }

    /// What the material does to this sense: nothing to be found, or the least cosine of incidence, if there is one.
    fn surface(&self, material: &Material) -> Option<Option<f64>> {
        match (self.mode, material.sonic) {
            (Mode::See, _) => material.visible.then_some(None),
            (Mode::Hear, Sonic::Absorb) => None,
            (Mode::Hear, Sonic::Diffuse) => Some(None),
            (Mode::Hear, Sonic::Specular { max_incidence }) => Some(Some(max_incidence.cos())),
        }
    }

    fn sides(&mut self, solid: &Solid, facing: u32, low: f64, high: f64, specular: Option<f64>) {
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
            let side = Side { corners: &quad, height, foot: is_on.then(|| foot.extend(0.0)) };
            if self.face(&side, specular).is_some() {
                self.color = solid.color;
            }
        }
    }

    /// Top or bottom, if it looks here.
    fn lids(&mut self, solid: &Solid, low: f64, high: f64, specular: Option<f64>) {
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
        let side = Side { corners: &lid[..solid.piece.points.len()], height: level.abs(), foot };
        if self.face(&side, specular).is_some() {
            self.color = solid.color;
        }
    }

    /// Takes note of a face's nearest point in the beam, if there is none nearer yet.
    ///
    /// The nearest point is also the one that the beam hits most upright, so that a mirroring face counts if that one
    /// does.
    #[inline]
    fn face(&mut self, side: &Side<'_>, specular: Option<f64>) -> Option<DVec3> {
        let height = side.height * side.height;
        if height >= self.best {
            return None;
        }
        let (square, point) = match side.foot.filter(|foot| self.pyramid.contains(*foot)) {
            Some(foot) => (height, foot),
            None => self.pyramid.nearest(side.corners, self.best)?,
        };
        if specular.is_some_and(|cosine| height < cosine * cosine * square * (1.0 - 1e-12)) {
            return None;
        }
        self.best = square;
        Some(point)
    }

    /// The floor, if the beam finds it. If not, what rises above the eye is there all the same; so are steps, and slopes
    /// too steep to climb, as obstacles are, but not what of them lies lower than the ground under the sensor.
    fn ground(&mut self, around: &Around<'_>, finds_ground: bool) {
        let ground = &around.plan.scene.ground;
        if !finds_ground && ground.is_flat {
            return;
        }
        let apex = self.pyramid.apex;
        // where the ground begins to count, seen from the apex
        let from = if finds_ground { f64::NEG_INFINITY } else { 0.0 };
        let from_barrier = LazyCell::new(|| from.min(from + ground.height(apex.truncate()) - apex.z));
        for facet in &ground.facets {
            let from = if facet.is_steep { *from_barrier } else { from };
            if facet.top - apex.z <= from + GRAZED || !self.pyramid.may_meet(&facet.bounds) {
                continue;
            }
            let height = (apex.z - facet.plane.at(apex.truncate())) / (1.0 + facet.plane.slope.length_squared()).sqrt();
            if height < 0.0 && finds_ground && facet.piece.contains(apex.truncate()) {
                (self.best, self.color) = (0.0, ground.color(apex.truncate()));
            }
            if height <= 0.0 || height * height >= self.best {
                continue;
            }
            let corners = facet.piece.points.iter().map(|point| point.extend(facet.plane.at(*point)) - apex);
            let (corners, count) = above(corners, from);
            let upright = facet.plane.slope.extend(-1.0);
            let foot = upright * (height / upright.length());
            let is_on = foot.z >= from && facet.piece.contains((apex + foot).truncate());
            let side = Side { corners: &corners[..count], height, foot: is_on.then_some(foot) };
            if let Some(point) = self.face(&side, None) {
                self.color = ground.color((apex + point).truncate());
            }
        }
        for cliff in &ground.cliffs {
            let height = cliff.normal.dot(apex.truncate() - cliff.corners[0].truncate());
            if height <= 0.0 || height * height >= self.best || !self.pyramid.may_meet(&cliff.bounds) {
                continue;
            }
            let corners = cliff.corners.map(|corner| corner - apex);
            if corners.iter().all(|corner| corner.z <= *from_barrier + GRAZED) {
                continue;
            }
            let foot = foot_on_cliff(&corners, (cliff.normal * -height).extend(0.0));
            let (corners, count) = above(corners.into_iter(), *from_barrier);
            if let Some(point) = self.face(&Side { corners: &corners[..count], height, foot }, None) {
                // just behind the edge is the upper ground
                self.color = ground.color((apex + point).truncate() - cliff.normal * 0.01);
            }
        }
    }
}

/// The corners of what of a face lies above a level, and how many there are.
fn above(corners: impl Iterator<Item = DVec3> + Clone, level: f64) -> ([DVec3; MAX_PIECE_POINTS + 1], usize) {
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
            // exactly there, where a level fan cuts it
            keep(corner.lerp(next, (level - corner.z) / (next.z - corner.z)).truncate().extend(level));
        }
    }
    (kept, count)
}

/// The foot of the perpendicular, if it is between the lower and the upper edge.
fn foot_on_cliff([from_low, to_low, to_high, from_high]: &[DVec3; 4], foot: DVec3) -> Option<DVec3> {
    let along = (*to_low - *from_low).truncate();
    let share = (foot - *from_low).truncate().dot(along) / along.length_squared();
    let (low, high) = (from_low.lerp(*to_low, share).z, from_high.lerp(*to_high, share).z);
    ((0.0..=1.0).contains(&share) && low <= 0.0 && high >= 0.0).then_some(foot)
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
        if candidate.bound < candidates[best].bound {
            best = index;
        }
    }
    (!candidates.is_empty()).then(|| candidates.swap_remove(best))
}

#[cfg(test)]
mod tests;
