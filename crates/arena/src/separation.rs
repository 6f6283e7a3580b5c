//! Signed distance between two convex polygons: how far they are apart, or how deep they overlap.

use glam::DVec2;

use crate::{
    polygon::{MAX_PIECE_POINTS, Piece},
    transform::Transform,
};

/// Below this distance, the lower bound of the separating axis is replaced by the exact distance, in mm.
const NEAR: f64 = 1.0;

/// A signed distance and its direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Separation {
    /// In mm; negative if they overlap: the penetration depth.
    pub(crate) distance: f64,
    /// Unit vector from the second polygon to the first.
    pub(crate) normal: DVec2,
}

/// A piece of a body in world coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedPiece {
    points: [DVec2; MAX_PIECE_POINTS],
    normals: [DVec2; MAX_PIECE_POINTS],
    count: usize,
}

impl PlacedPiece {
    #[inline]
    pub(crate) fn new(piece: &Piece, transform: &Transform) -> Self {
        let mut placed =
            Self { points: [DVec2::ZERO; MAX_PIECE_POINTS], normals: [DVec2::ZERO; MAX_PIECE_POINTS], count: 0 };
        let rotation = Transform { origin: DVec2::ZERO, heading: transform.heading };
        for (point, normal) in piece.points.iter().zip(&piece.normals) {
            placed.points[placed.count] = transform.world_from_body(*point);
            placed.normals[placed.count] = rotation.world_from_body(*normal);
            placed.count += 1;
        }
        placed
    }

    #[inline]
    pub(crate) fn points(&self) -> &[DVec2] {
        &self.points[..self.count]
    }

    #[inline]
    fn normals(&self) -> &[DVec2] {
        &self.normals[..self.count]
    }

    /// The separation along the best separating axis: a lower bound of the distance if positive, otherwise the penetration
    /// depth.
    #[inline]
    pub(crate) fn separating_axis(&self, other: &Piece) -> Separation {
        let mut widest = Separation { distance: f64::NEG_INFINITY, normal: DVec2::X };
        for (corner, normal) in other.points.iter().zip(&other.normals) {
            let distance = lowest(self.points(), *normal) - normal.dot(*corner);
            if distance > widest.distance {
                widest = Separation { distance, normal: *normal };
            }
        }
        for (corner, normal) in self.points().iter().zip(self.normals()) {
            let distance = lowest(&other.points, *normal) - normal.dot(*corner);
            if distance > widest.distance {
                widest = Separation { distance, normal: -*normal };
            }
        }
        widest
    }

    /// A lower bound of the distance, exact if it is below [`NEAR`].
    #[inline]
    pub(crate) fn separation(&self, other: &Piece) -> Separation {
        let bound = self.separating_axis(other);
        if bound.distance <= 0.0 || bound.distance > NEAR {
            return bound;
        }
        self.exact(other).filter(|exact| exact.distance > bound.distance).unwrap_or(bound)
    }

    /// The exact separation, from all pairs of a corner and a side; `None` if they touch.
    fn exact(&self, other: &Piece) -> Option<Separation> {
        let mut nearest = DVec2::INFINITY;
        let mut nearest_squared = f64::INFINITY;
        let mut consider = |off: DVec2| {
            if off.length_squared() < nearest_squared {
                (nearest_squared, nearest) = (off.length_squared(), off);
            }
        };
        for point in self.points() {
            each_side(&other.points, |a, b| consider(*point - closest_on_segment(a, b, *point)));
        }
        for point in &other.points {
            each_side(self.points(), |a, b| consider(closest_on_segment(a, b, *point) - *point));
        }
        let distance = nearest_squared.sqrt();
        (distance > 1e-9).then(|| Separation { distance, normal: nearest / distance })
    }
}

#[inline]
fn lowest(points: &[DVec2], normal: DVec2) -> f64 {
    points.iter().map(|point| normal.dot(*point)).fold(f64::INFINITY, f64::min)
}

#[inline]
fn each_side(points: &[DVec2], mut visit: impl FnMut(DVec2, DVec2)) {
    let mut before = points[points.len() - 1];
    for point in points {
        visit(before, *point);
        before = *point;
    }
}

/// The point of the segment from `from` to `to` that is nearest to `point`.
#[inline]
pub(crate) fn closest_on_segment(from: DVec2, to: DVec2, point: DVec2) -> DVec2 {
    let along = to - from;
    let length = along.length_squared();
    let fraction = if length > 0.0 { ((point - from).dot(along) / length).clamp(0.0, 1.0) } else { 0.0 };
    from + along * fraction
}

#[cfg(test)]
mod tests {
    use parry2d_f64::{
        math::{Pose, Vector},
        query,
        shape::ConvexPolygon,
    };
    use proptest::prelude::*;

    use super::*;

    fn regular(sides: usize, radius: f64) -> Piece {
        let corner = |i: usize| DVec2::from_angle(i as f64 * std::f64::consts::TAU / sides as f64) * radius;
        Piece::convex((0..sides).map(corner).collect())
    }

    proptest! {
        #[test]
        fn distances_are_those_of_parry(
            sides in (3..10_usize, 3..10_usize), radii in (5.0..90.0_f64, 5.0..90.0_f64),
            at in (-150.0..150.0_f64, -150.0..150.0_f64), angle in -4.0..4.0_f64,
        ) {
            let (one, other) = (regular(sides.0, radii.0), regular(sides.1, radii.1));
            let transform = Transform::new(DVec2::new(at.0, at.1), angle);
            let placed = PlacedPiece::new(&one, &transform);
            let parry = |points: &[DVec2]| {
                ConvexPolygon::from_convex_polyline(points.iter().map(|p| Vector::new(p.x, p.y)).collect()).unwrap()
            };
            let (mine, theirs) = (parry(placed.points()), parry(&other.points));
            let expected = query::distance(&Pose::identity(), &mine, &Pose::identity(), &theirs).unwrap().distance;
            let bound = placed.separating_axis(&other);
            if bound.distance <= 0.0 {
                prop_assert!(expected < 1e-6, "{} {expected}", bound.distance);
            } else {
                let exact = placed.exact(&other).unwrap();
                prop_assert!((exact.distance - expected).abs() < 1e-6, "{} {expected}", exact.distance);
                prop_assert!(bound.distance <= exact.distance + 1e-9);
            }
        }
    }
}
