//! The terrain: height, colour, and the steps and slopes that robots cannot climb.
//!
//! Each patch is cut out of what lies under it, which divides the arena into facets that do not overlap. Facets of
//! different height are joined by cliffs.

use glam::{DVec2, DVec3};

use crate::{
    plan::{ARENA_SIZE, Drops, MAX_ALTITUDE},
    polygon::{self, Piece},
    solid::Bounds,
    spatial_index::SpatialIndex,
};

/// Maximum number of facets of the ground.
pub(crate) const MAX_FACETS: usize = 2000;
/// Smaller differences of height or position count as none, in mm.
const LEVEL: f64 = 1e-6;
/// Smaller facets are dropped, in mm².
const MIN_FACET: f64 = 1e-3;

/// Height as a linear function of the position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plane {
    pub(crate) origin: DVec2,
    /// Height at the origin, in mm.
    pub(crate) height: f64,
    /// Rise per mm along x and y.
    pub(crate) slope: DVec2,
}

impl Plane {
    pub(crate) const ZERO: Self = Self { origin: DVec2::ZERO, height: 0.0, slope: DVec2::ZERO };

    pub(crate) fn at(&self, point: DVec2) -> f64 {
        self.height + self.slope.dot(point - self.origin)
    }
}

/// A convex, planar piece of the ground.
#[derive(Clone, Debug)]
pub(crate) struct Facet {
    pub(crate) piece: Piece,
    pub(crate) bounds: Bounds,
    pub(crate) plane: Plane,
    pub(crate) color: Option<[u8; 3]>,
    /// Whether it is too steep to climb.
    pub(crate) is_steep: bool,
    /// Height of its highest corner, in mm.
    pub(crate) top: f64,
}

/// The vertical face of a step.
#[derive(Clone, Debug)]
pub(crate) struct Cliff {
    pub(crate) corners: [DVec3; 4],
    pub(crate) normal: DVec2,
    pub(crate) bounds: Bounds,
}

/// Blocks robots that stand too far below it, or above if drops block.
#[derive(Clone, Debug)]
pub(crate) struct Barrier {
    pub(crate) piece: Piece,
    /// Two points at which the heights on both sides are known.
    ends: [DVec2; 2],
    high: [f64; 2],
    low: [f64; 2],
}

/// The ground of a world.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) facets: Vec<Facet>,
    pub(crate) cliffs: Vec<Cliff>,
    pub(crate) barriers: Vec<Barrier>,
    pub(crate) barrier_index: SpatialIndex,
    pub(crate) is_flat: bool,
    pub(crate) max_climb: f64,
    pub(crate) drops: Drops,
    color: [u8; 3],
    areas: Vec<(Bounds, Piece, [u8; 3])>,
}

/// A patch to be laid over the ground.
pub(crate) struct TerrainPatch {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) plane: Plane,
    pub(crate) color: Option<[u8; 3]>,
}

/// What robots can climb.
pub(crate) struct ClimbLimits {
    /// Highest step, in mm.
    pub(crate) max_climb: f64,
    /// Steepest slope, in rad.
    pub(crate) max_slope: f64,
    pub(crate) drops: Drops,
}

impl Ground {
    /// `None` if the patches divide the ground into more than [`MAX_FACETS`].
    pub(crate) fn new(
        patches: &[TerrainPatch],
        limits: &ClimbLimits,
        color: [u8; 3],
        areas: Vec<(Piece, [u8; 3])>,
    ) -> Option<Self> {
        let square = [[0.0, 0.0], [ARENA_SIZE, 0.0], [ARENA_SIZE, ARENA_SIZE], [0.0, ARENA_SIZE]].map(DVec2::from);
        let mut facets = vec![Facet::new(Piece::convex(square.to_vec()), Plane::ZERO, None, limits)];
        for patch in patches {
            for piece in &patch.pieces {
                let mut left: Vec<Facet> = Vec::new();
                for facet in &facets {
                    let pieces = difference(&facet.piece, piece);
                    left.extend(pieces.into_iter().map(|piece| Facet::new(piece, facet.plane, facet.color, limits)));
                }
                let inside = intersection(piece.points.clone(), &Piece::convex(square.to_vec()));
                left.extend(
                    to_pieces(inside).into_iter().map(|piece| Facet::new(piece, patch.plane, patch.color, limits)),
                );
                facets = left;
                if facets.len() > MAX_FACETS {
                    return None;
                }
            }
        }
        let is_flat = facets.iter().all(|facet| facet.plane.slope == DVec2::ZERO && facet.plane.height == 0.0);
        let mut ground = Self {
            facets,
            cliffs: Vec::new(),
            barriers: Vec::new(),
            barrier_index: SpatialIndex::default(),
            is_flat,
            max_climb: limits.max_climb,
            drops: limits.drops,
            color,
            areas: areas.into_iter().map(|(piece, color)| (Bounds::of(&piece.points), piece, color)).collect(),
        };
        if !is_flat {
            ground.add_cliffs();
            ground.add_slope_barriers();
            ground.barrier_index = SpatialIndex::new(ground.barriers.iter().map(|bar| Bounds::of(&bar.piece.points)));
        }
        Some(ground)
    }

    /// Adds a cliff wherever a facet is higher than its neighbour, and a barrier where it is too high to climb.
    fn add_cliffs(&mut self) {
        for (upper_index, upper) in self.facets.iter().enumerate() {
            for (lower_index, lower) in self.facets.iter().enumerate() {
                if upper_index == lower_index || !upper.bounds.grown(LEVEL).intersects(&lower.bounds) {
                    continue;
                }
                for (from, to, normal) in shared_sides(&upper.piece, &lower.piece) {
                    let rise = |point: DVec2| upper.plane.at(point) - lower.plane.at(point);
                    if let Some([a, b]) = segment_above(from, to, rise(from), rise(to), LEVEL) {
                        let on = |facet: &Facet, point: DVec2| point.extend(facet.plane.at(point));
                        let corners = [on(lower, a), on(lower, b), on(upper, b), on(upper, a)];
                        self.cliffs.push(Cliff { corners, normal, bounds: Bounds::of(&[a, b]) });
                    }
                    if let Some(ends) = segment_above(from, to, rise(from), rise(to), self.max_climb) {
                        self.barriers.push(Barrier {
                            piece: Piece::segment(ends[0], ends[1]),
                            ends,
                            high: ends.map(|end| upper.plane.at(end)),
                            low: ends.map(|end| lower.plane.at(end)),
                        });
                    }
                }
            }
        }
    }

    fn add_slope_barriers(&mut self) {
        for facet in self.facets.iter().filter(|facet| facet.is_steep) {
            let heights = facet.piece.points.iter().map(|point| facet.plane.at(*point));
            let (low, high) = heights
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), height| (low.min(height), high.max(height)));
            if high - low > self.max_climb {
                let middle = 0.5 * (facet.bounds.min + facet.bounds.max);
                let piece = facet.piece.clone();
                self.barriers.push(Barrier { piece, ends: [middle; 2], high: [high; 2], low: [low; 2] });
            }
        }
    }

    fn facet_at(&self, point: DVec2) -> &Facet {
        let point = point.clamp(DVec2::ZERO, DVec2::splat(ARENA_SIZE));
        let here = Bounds { min: point, max: point }.grown(LEVEL);
        let found =
            self.facets.iter().rev().find(|facet| facet.bounds.intersects(&here) && facet.piece.contains(point));
        // dropped facets leave gaps that a point can hit
        found.unwrap_or(&self.facets[0])
    }

    /// Height in mm above ground zero.
    pub(crate) fn height(&self, point: DVec2) -> f64 {
        if self.is_flat { 0.0 } else { self.facet_at(point).plane.at(point).clamp(-MAX_ALTITUDE, MAX_ALTITUDE) }
    }

    pub(crate) fn color(&self, point: DVec2) -> [u8; 3] {
        let painted =
            self.areas.iter().rev().find(|(bounds, piece, _)| {
                bounds.intersects(&Bounds { min: point, max: point }) && piece.contains(point)
            });
        match painted {
            Some((_, _, color)) => *color,
            None if self.is_flat && self.facets.len() == 1 => self.color,
            None => self.facet_at(point).color.unwrap_or(self.color),
        }
    }

    /// The least-squares plane through the ground under a robot's contact points. Its origin is `reference`.
    pub(crate) fn plane_under(&self, reference: DVec2, contacts: impl Iterator<Item = DVec2>) -> Plane {
        let level = |height| Plane { origin: reference, height, slope: DVec2::ZERO };
        if self.is_flat {
            return level(0.0);
        }
        let (mut count, mut x, mut y, mut z) = (0.0, 0.0, 0.0, 0.0);
        let (mut xx, mut xy, mut yy, mut xz, mut yz) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for contact in contacts {
            let (off, rise) = (contact - reference, self.height(contact));
            count += 1.0;
            x += off.x;
            y += off.y;
            z += rise;
            xx += off.x * off.x;
            xy += off.x * off.y;
            yy += off.y * off.y;
            xz += off.x * rise;
            yz += off.y * rise;
        }
        let (middle, mean) = (DVec2::new(x, y) / count, z / count);
        xx -= x * middle.x;
        xy -= x * middle.y;
        yy -= y * middle.y;
        xz -= x * mean;
        yz -= y * mean;
        let determinant = xx * yy - xy * xy;
        if determinant <= 1e-9 * (xx + yy) * (xx + yy) {
            return level(mean);
        }
        let slope = DVec2::new(yy * xz - xy * yz, xx * yz - xy * xz) / determinant;
        let height = (mean - slope.dot(middle)).clamp(-MAX_ALTITUDE, MAX_ALTITUDE);
        Plane { origin: reference, height, slope }
    }
}

impl Facet {
    fn new(piece: Piece, plane: Plane, color: Option<[u8; 3]>, limits: &ClimbLimits) -> Self {
        let bounds = Bounds::of(&piece.points);
        let top = piece.points.iter().map(|point| plane.at(*point)).fold(f64::NEG_INFINITY, f64::max);
        Self { piece, bounds, plane, color, is_steep: plane.slope.length().atan() > limits.max_slope, top }
    }
}

impl Barrier {
    /// Whether a prism of a robot that stands on `robot_plane` cannot pass. `low` and `high` are the prism's, above the
    /// ground.
    pub(crate) fn blocks(&self, ground: &Ground, robot_plane: &Plane, low: f64, high: f64) -> bool {
        let along = self.ends[1] - self.ends[0];
        let length = along.length_squared();
        let fraction =
            if length > 0.0 { ((robot_plane.origin - self.ends[0]).dot(along) / length).clamp(0.0, 1.0) } else { 0.0 };
        let own = robot_plane.at(self.ends[0] + fraction * along);
        let top = self.high[0] + fraction * (self.high[1] - self.high[0]);
        let foot = self.low[0] + fraction * (self.low[1] - self.low[0]);
        if top - own > ground.max_climb {
            return own + low < top && own + high > foot;
        }
        ground.drops == Drops::Block && low == 0.0 && own - foot > ground.max_climb
    }
}

/// The part of a segment on which a value that changes linearly along it exceeds `min`.
fn segment_above(from: DVec2, to: DVec2, at_from: f64, at_to: f64, min: f64) -> Option<[DVec2; 2]> {
    let fraction = || (min - at_from) / (at_to - at_from);
    match (at_from > min, at_to > min) {
        (true, true) => Some([from, to]),
        (true, false) => Some([from, from.lerp(to, fraction())]),
        (false, true) => Some([from.lerp(to, fraction()), to]),
        (false, false) => None,
    }
    .filter(|[a, b]| a.distance(*b) > LEVEL)
}

/// Segments that two neighbours fraction, in the first one's direction, with its normal.
fn shared_sides(one: &Piece, other: &Piece) -> Vec<(DVec2, DVec2, DVec2)> {
    let mut shared = Vec::new();
    let side = |piece: &Piece, i: usize| (piece.points[i], piece.points[(i + 1) % piece.points.len()]);
    for (i, normal) in one.normals.iter().enumerate() {
        let (from, to) = side(one, i);
        let (along, length) = ((to - from).normalize_or_zero(), from.distance(to));
        for (j, other_normal) in other.normals.iter().enumerate() {
            let (start, end) = side(other, j);
            let is_on_line = normal.dot(start - from).abs() < LEVEL && normal.dot(end - from).abs() < LEVEL;
            if normal.dot(*other_normal) > -0.5 || !is_on_line {
                continue;
            }
            let (low, high) = (along.dot(end - from).max(0.0), along.dot(start - from).min(length));
            if high - low > LEVEL {
                shared.push((from + along * low, from + along * high, *normal));
            }
        }
    }
    shared
}

/// The part of a convex polygon on the inner side of a line, or on the outer one.
fn clip(points: &[DVec2], corner: DVec2, normal: DVec2, outer: bool) -> Vec<DVec2> {
    let sign = if outer { -1.0 } else { 1.0 };
    let beyond = |point: DVec2| sign * normal.dot(point - corner);
    let mut kept = Vec::with_capacity(points.len() + 1);
    for (i, &a) in points.iter().enumerate() {
        let b = points[(i + 1) % points.len()];
        let (da, db) = (beyond(a), beyond(b));
        if da <= 0.0 {
            kept.push(a);
        }
        if (da < 0.0 && db > 0.0) || (da > 0.0 && db < 0.0) {
            kept.push(a.lerp(b, da / (da - db)));
        }
    }
    kept
}

/// The intersection of two convex polygons.
pub(crate) fn intersection(mut points: Vec<DVec2>, cutter: &Piece) -> Vec<DVec2> {
    for (corner, normal) in cutter.points.iter().zip(&cutter.normals) {
        points = clip(&points, *corner, *normal, false);
    }
    points
}

/// Convex pieces of `piece` without `cutter`.
fn difference(piece: &Piece, cutter: &Piece) -> Vec<Piece> {
    if polygon::signed_area(&intersection(piece.points.clone(), cutter)) < MIN_FACET {
        return vec![piece.clone()];
    }
    let mut rest = piece.points.clone();
    let mut pieces = Vec::new();
    for (corner, normal) in cutter.points.iter().zip(&cutter.normals) {
        pieces.extend(to_pieces(clip(&rest, *corner, *normal, true)));
        rest = clip(&rest, *corner, *normal, false);
    }
    pieces
}

/// Pieces of a size that queries can handle; empty if the area is negligible.
fn to_pieces(points: Vec<DVec2>) -> Vec<Piece> {
    if points.len() < 3 || polygon::signed_area(&points) < MIN_FACET {
        return Vec::new();
    }
    let raw: Vec<[f64; 2]> = points.iter().copied().map(Into::into).collect();
    polygon::validate(&raw, f64::INFINITY).and_then(|points| polygon::decompose(&points)).unwrap_or_default()
}
