//! Upright prisms: the shape of obstacles, walls and robots in ray casts and collision sweeps.

use glam::{DVec2, DVec3};

use crate::{material::Material, polygon::Piece};

/// A convex prism. Heights are in mm above ground zero.
#[derive(Clone, Debug)]
pub(crate) struct Solid {
    pub(crate) piece: Piece,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) bounds: Bounds,
    pub(crate) color: [u8; 3],
    pub(crate) material: Material,
}

/// An axis-aligned rectangle, in mm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) min: DVec2,
    pub(crate) max: DVec2,
}

impl Bounds {
    pub(crate) const EMPTY: Self = Self { min: DVec2::INFINITY, max: DVec2::NEG_INFINITY };

    pub(crate) fn of(points: &[DVec2]) -> Self {
        points.iter().fold(Self::EMPTY, |bounds, point| bounds.union(Self { min: *point, max: *point }))
    }

    /// The square of half-width `radius` around a point.
    pub(crate) fn around(point: DVec2, radius: f64) -> Self {
        Self { min: point, max: point }.grown(radius)
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    pub(crate) fn grown(self, by: f64) -> Self {
        Self { min: self.min - by, max: self.max + by }
    }

    pub(crate) fn intersects(&self, other: &Self) -> bool {
        self.min.x <= other.max.x && self.min.y <= other.max.y && other.min.x <= self.max.x && other.min.y <= self.max.y
    }

    /// Squared distance to a point, in mm².
    pub(crate) fn distance_squared(&self, point: DVec2) -> f64 {
        (self.min - point).max(point - self.max).max(DVec2::ZERO).length_squared()
    }
}

impl Solid {
    pub(crate) fn new(piece: Piece, low: f64, high: f64, color: [u8; 3], material: Material) -> Self {
        let bounds = Bounds::of(&piece.points);
        Self { piece, low, high, bounds, color, material }
    }

    /// Whether the point is strictly inside.
    pub(crate) fn encloses(&self, point: DVec3) -> bool {
        let flat = point.truncate();
        point.z > self.low
            && point.z < self.high
            && self
                .piece
                .points
                .iter()
                .zip(&self.piece.normals)
                .all(|(corner, normal)| normal.dot(flat - *corner) < 0.0)
    }
}
