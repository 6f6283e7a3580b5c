//! A sensor's beam as planes through its apex, and the clipping of faces.

use glam::{DVec2, DVec3};

use crate::{Beam, polygon::MAX_PIECE_POINTS, solid::Bounds};

/// Beams narrower than this are flat, in rad: planes at such a small angle no longer separate inside from outside.
const FLAT: f64 = 1e-6;
/// Maximum number of corners of a face after each plane has cut one off.
const MAX_CORNERS: usize = MAX_PIECE_POINTS + 6;

/// A pyramid; a fan if it is flat in one direction, a ray if flat in both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pyramid {
    pub(crate) apex: DVec3,
    /// Inward normals of the planes that bound it.
    between: [DVec3; 4],
    between_count: usize,
    /// Normals of the planes it lies in, if flat.
    within: [DVec3; 2],
    within_count: usize,
    /// Inward normals of the wedge that contains it in the plan view; `None` if it is too steep.
    wedge: Option<[DVec2; 2]>,
}

impl Pyramid {
    /// `angle` is the beam's direction, counter-clockwise from +x.
    pub(crate) fn new(beam: &Beam, angle: f64) -> Self {
        let ((sin, cos), (rise, level)) = (angle.sin_cos(), beam.tilt.sin_cos());
        let forward = DVec3::new(level * cos, level * sin, rise);
        let left = DVec3::new(-sin, cos, 0.0);
        let up = DVec3::new(-rise * cos, -rise * sin, level);
        let mut pyramid = Self {
            apex: DVec3::new(beam.x, beam.y, beam.z),
            between: [forward; 4],
            between_count: 0,
            within: [DVec3::ZERO; 2],
            within_count: 0,
            wedge: None,
        };
        let mut reach = [(0.0, 0.0); 2];
        for ((opening, across), reach) in [(beam.angle_h, left), (beam.angle_v, up)].into_iter().zip(&mut reach) {
            if opening < FLAT {
                pyramid.within[pyramid.within_count] = across;
                pyramid.within_count += 1;
            } else {
                let (sin, cos) = (0.5 * opening).sin_cos();
                pyramid.between[pyramid.between_count] = forward * sin - across * cos;
                pyramid.between[pyramid.between_count + 1] = forward * sin + across * cos;
                pyramid.between_count += 2;
                *reach = (cos, sin);
            }
        }
        if pyramid.between_count == 0 {
            // a ray: only this plane excludes what is behind the apex
            pyramid.between_count = 1;
        }
        let tangent = |(cos, sin): (f64, f64)| if cos > 0.0 { sin / cos } else { 0.0 };
        let (wide, high) = (tangent(reach[0]) + 1e-9, tangent(reach[1]) + 1e-9);
        pyramid.wedge = wedge(level, rise, wide, high, DVec2::new(cos, sin));
        pyramid
    }

    /// Whether a point relative to the apex is inside. Always `false` for a flat beam.
    #[inline]
    pub(crate) fn contains(&self, point: DVec3) -> bool {
        self.within_count == 0
            && self.between[0].dot(point) >= 0.0
            && self.between[1].dot(point) >= 0.0
            && self.between[2].dot(point) >= 0.0
            && self.between[3].dot(point) >= 0.0
    }

    /// Whether something within the bounds may be inside, judged in the plan view.
    #[inline]
    pub(crate) fn may_intersect(&self, bounds: &Bounds) -> bool {
        let Some(wedge) = &self.wedge else { return true };
        wedge.iter().all(|normal| {
            let x = if normal.x > 0.0 { bounds.max.x } else { bounds.min.x } - self.apex.x;
            let y = if normal.y > 0.0 { bounds.max.y } else { bounds.min.y } - self.apex.y;
            normal.x * x + normal.y * y >= 0.0
        })
    }

    /// The nearest point of a face in the beam and its squared distance, if that is below `best`. Coordinates are relative
    /// to the apex, which must not lie in the face's plane.
    #[inline]
    pub(crate) fn nearest(&self, corners: &[DVec3], best: f64) -> Option<(f64, DVec3)> {
        let mut face = ClippedFace { corners: [DVec3::ZERO; MAX_CORNERS], count: corners.len() };
        face.corners[..corners.len()].copy_from_slice(corners);
        for normal in &self.within[..self.within_count] {
            face.section(*normal);
        }
        for normal in &self.between[..self.between_count] {
            if face.count == 0 {
                return None;
            }
            face.clip(*normal);
        }
        face.nearest(best)
    }
}

/// The narrowest wedge in the plan view that contains the pyramid.
fn wedge(level: f64, rise: f64, wide: f64, high: f64, heading: DVec2) -> Option<[DVec2; 2]> {
    // how far the pyramid's edges reach along the heading; the shorter one spreads most
    let ahead = level - rise.abs() * high;
    if ahead < 1e-6 {
        return None;
    }
    let spread = wide / ahead;
    let side = heading.perp();
    Some([heading * spread - side, heading * spread + side])
}

struct ClippedFace {
    corners: [DVec3; MAX_CORNERS],
    count: usize,
}

impl ClippedFace {
    /// Keeps the half-space that the normal points to.
    #[inline]
    fn clip(&mut self, normal: DVec3) {
        let mut sides = [0.0; MAX_CORNERS];
        let (mut inside, mut outside) = (false, false);
        for (side, corner) in sides.iter_mut().zip(&self.corners[..self.count]) {
            *side = normal.dot(*corner);
            inside |= *side >= 0.0;
            outside |= *side < 0.0;
        }
        if !outside {
            return;
        }
        if !inside {
            self.count = 0;
            return;
        }
        let mut kept = [DVec3::ZERO; MAX_CORNERS];
        let mut count = 0;
        let (mut before, mut before_side) = (self.corners[self.count - 1], sides[self.count - 1]);
        for (corner, &side) in self.corners[..self.count].iter().zip(&sides) {
            if (side >= 0.0) != (before_side >= 0.0) && count < MAX_CORNERS {
                kept[count] = before + (*corner - before) * (before_side / (before_side - side));
                count += 1;
            }
            if side >= 0.0 && count < MAX_CORNERS {
                kept[count] = *corner;
                count += 1;
            }
            (before, before_side) = (*corner, side);
        }
        self.corners = kept;
        self.count = count;
    }

    /// Keeps the intersection with the plane through the apex.
    fn section(&mut self, normal: DVec3) {
        let mut kept = [DVec3::ZERO; MAX_CORNERS];
        let mut count = 0;
        let mut keep = |point| {
            if count < MAX_CORNERS {
                kept[count] = point;
                count += 1;
            }
        };
        for index in 0..self.count {
            let (a, b) = (self.corners[index], self.corners[(index + 1) % self.count]);
            let (side_a, side_b) = (normal.dot(a), normal.dot(b));
            if side_a == 0.0 {
                keep(a);
            } else if side_a * side_b < 0.0 {
                keep(a + (b - a) * (side_a / (side_a - side_b)));
            }
        }
        self.corners = kept;
        self.count = count;
    }

    #[inline]
    fn nearest(&self, best: f64) -> Option<(f64, DVec3)> {
        let mut found = None;
        let mut best = best;
        let corners = &self.corners[..self.count];
        let mut before = *corners.last()?;
        for corner in corners {
            let along = *corner - before;
            let length = along.length_squared();
            let ahead = -before.dot(along);
            let point = if ahead <= 0.0 {
                before
            } else if ahead >= length {
                *corner
            } else {
                before + along * (ahead / length)
            };
            let square = point.length_squared();
            if square < best {
                best = square;
                found = Some((square, point));
            }
            before = *corner;
        }
        found
    }
}
