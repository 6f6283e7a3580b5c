//! Polygons: validation and decomposition into convex pieces.

mod crossing;
mod decomposition;

use std::cell::Cell;

use glam::DVec2;

pub(crate) use self::decomposition::decompose;

/// Maximum number of points of a polygon.
pub const MAX_POLYGON_POINTS: usize = 8192;
/// Maximum number of points of a convex piece; queries keep pieces in arrays of this size.
pub(crate) const MAX_PIECE_POINTS: usize = 16;
/// Less area than this is none, in mm².
const MIN_AREA: f64 = 1e-6;
/// Points closer than this to each other, or to the line through their neighbours, are merged, in mm.
const MERGE: f64 = 1e-9;
/// Work on a polygon, in units of about 1 ns. Outlines of thousands of points need a fraction of it, unless most of their
/// sides are as long as the whole.
const MAX_WORK: usize = 20_000_000;

/// Why a polygon is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolygonError {
    /// Fewer than 3 points.
    #[error("has fewer than 3 points")]
    TooFew,
    /// More than [`MAX_POLYGON_POINTS`] points.
    #[error("has more than {MAX_POLYGON_POINTS} points")]
    TooMany,
    /// A coordinate is too large or not finite.
    #[error("has a coordinate that is not finite or too large")]
    OutOfRange,
    /// The points are collinear, or nearly.
    #[error("has no area")]
    NoArea,
    /// Two sides intersect.
    #[error("intersects itself")]
    SelfIntersecting,
    /// It takes too long to check or to decompose.
    #[error("is too intricate; use fewer points")]
    TooIntricate,
}

/// The work that may still be done on a polygon.
struct WorkBudget(Cell<usize>);

impl WorkBudget {
    fn new() -> Self {
        Self(Cell::new(MAX_WORK))
    }

    fn spend(&self, amount: usize) -> Result<(), PolygonError> {
        let left = self.0.get().checked_sub(amount).ok_or(PolygonError::TooIntricate)?;
        self.0.set(left);
        Ok(())
    }
}

/// A convex polygon, counter-clockwise, of at most [`MAX_PIECE_POINTS`] points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) points: Vec<DVec2>,
    /// Outward unit normals; the one at `i` belongs to the side from point `i` to the next.
    pub(crate) normals: Vec<DVec2>,
    /// Bit `i` is set if side `i` is part of the outline rather than a cut between two pieces.
    pub(crate) outer: u32,
}

impl Piece {
    fn new(points: Vec<DVec2>, outer: u32) -> Self {
        let normals = normals(&points);
        Self { points, normals, outer }
    }

    /// A segment as a degenerate polygon of two points.
    pub(crate) fn segment(from: DVec2, to: DVec2) -> Self {
        Self::new(vec![from, to], 0b11)
    }

    /// From points that are convex and counter-clockwise already.
    pub(crate) fn convex(points: Vec<DVec2>) -> Self {
        debug_assert!(points.len() <= MAX_PIECE_POINTS);
        let all = (1_u32 << points.len()) - 1;
        Self::new(points, all)
    }

    /// Whether the point is inside or on the boundary.
    pub(crate) fn contains(&self, point: DVec2) -> bool {
        self.points.iter().zip(&self.normals).all(|(corner, normal)| normal.dot(point - *corner) <= MERGE)
    }
}

fn normals(points: &[DVec2]) -> Vec<DVec2> {
    let next = points.iter().cycle().skip(1);
    points.iter().zip(next).map(|(a, b)| (*b - *a).normalize_or_zero()).map(|along| -along.perp()).collect()
}

/// Area in mm², positive if the points go counter-clockwise.
pub(crate) fn signed_area(points: &[DVec2]) -> f64 {
    let next = points.iter().cycle().skip(1);
    0.5 * points.iter().zip(next).map(|(a, b)| a.perp_dot(*b)).sum::<f64>()
}

/// The points counter-clockwise, without duplicates and without points in the middle of a straight side.
///
/// `limit` is the largest coordinate allowed, in mm.
pub(crate) fn validate(points: &[[f64; 2]], limit: f64) -> Result<Vec<DVec2>, PolygonError> {
    if points.len() > MAX_POLYGON_POINTS {
        return Err(PolygonError::TooMany);
    }
    if points.iter().flatten().any(|value| !value.is_finite() || value.abs() > limit) {
        return Err(PolygonError::OutOfRange);
    }
    if points.len() < 3 {
        return Err(PolygonError::TooFew);
    }
    let mut points: Vec<DVec2> = points.iter().copied().map(DVec2::from).collect();
    points.dedup_by(|a, b| a.distance(*b) <= MERGE);
    while points.len() > 1 && points[0].distance(points[points.len() - 1]) <= MERGE {
        points.pop();
    }
    remove_collinear(&mut points)?;
    if points.len() < 3 {
        return Err(PolygonError::NoArea);
    }
    if crossing::is_self_intersecting(&points)? {
        return Err(PolygonError::SelfIntersecting);
    }
    if signed_area(&points).abs() < MIN_AREA {
        return Err(PolygonError::NoArea);
    }
    if signed_area(&points) < 0.0 {
        points.reverse();
    }
    Ok(points)
}

/// Neighbours of each point of a polygon, from which points can be removed.
struct Ring {
    before: Vec<usize>,
    after: Vec<usize>,
    count: usize,
}

impl Ring {
    fn new(count: usize) -> Self {
        Self {
            before: (0..count).map(|at| (at + count - 1) % count).collect(),
            after: (0..count).map(|at| (at + 1) % count).collect(),
            count,
        }
    }

    fn remove(&mut self, at: usize) {
        let (before, after) = (self.before[at], self.after[at]);
        self.after[before] = after;
        self.before[after] = before;
        self.count -= 1;
    }
}

fn remove_collinear(points: &mut Vec<DVec2>) -> Result<(), PolygonError> {
    if points.len() < 3 {
        return Ok(());
    }
    let mut ring = Ring::new(points.len());
    let (mut first, mut at) = (0, 0);
    while ring.count >= 3 {
        let (before, after) = (ring.before[at], ring.after[at]);
        let (come, go) = (points[at] - points[before], points[after] - points[at]);
        if come.perp_dot(go).abs() > MERGE * come.length().max(go.length()) {
            if after == first {
                break;
            }
            at = after;
            continue;
        }
        if come.dot(go) < 0.0 {
            return Err(if ring.count == 3 { PolygonError::NoArea } else { PolygonError::SelfIntersecting });
        }
        ring.remove(at);
        // the one before may be in the middle of a side now
        (first, at) = if at == first { (after, after) } else { (first, before) };
    }
    let mut kept = Vec::with_capacity(ring.count);
    for _ in 0..ring.count {
        kept.push(points[first]);
        first = ring.after[first];
    }
    *points = kept;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use proptest::prelude::*;

    use super::*;

    fn check(points: &[[f64; 2]], expected: Result<usize, PolygonError>) {
        let found = validate(points, 1e4).and_then(|points| decompose(&points)).map(|pieces| pieces.len());
        assert_eq!(found, expected, "{points:?}");
    }

    #[test]
    fn polygons_are_checked_and_divided() {
        check(&[[-30.0, 40.0], [30.0, 40.0], [30.0, -40.0], [-30.0, -40.0]], Ok(1));
        check(&[[0.0, 0.0], [9.0, 0.0], [9.0, 9.0], [0.0, 9.0], [0.0, 0.0]], Ok(1));
        check(&[[0.0, 0.0], [5.0, 0.0], [9.0, 0.0], [9.0, 9.0], [0.0, 9.0]], Ok(1));
        // an L and a U
        check(&[[0.0, 0.0], [9.0, 0.0], [9.0, 3.0], [3.0, 3.0], [3.0, 9.0], [0.0, 9.0]], Ok(2));
        check(&[[0.0, 0.0], [9.0, 0.0], [9.0, 9.0], [6.0, 9.0], [6.0, 3.0], [3.0, 3.0], [3.0, 9.0], [0.0, 9.0]], Ok(3));
        check(&[[0.0, 0.0], [9.0, 0.0]], Err(PolygonError::TooFew));
        check(&[[0.0, 0.0], [9.0, 0.0], [4.0, 0.0]], Err(PolygonError::NoArea));
        check(&[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], Err(PolygonError::NoArea));
        check(&[[0.0, 0.0], [9.0, 9.0], [9.0, 0.0], [0.0, 9.0]], Err(PolygonError::SelfIntersecting));
        check(&[[0.0, 0.0], [9.0, 0.0], [9.0, 9.0], [4.0, 0.0], [0.0, 9.0]], Err(PolygonError::SelfIntersecting));
        check(&[[0.0, 0.0], [9.0, 0.0], [20.0, 0.0], [9.0, 0.0], [9.0, 9.0]], Err(PolygonError::SelfIntersecting));
        check(&[[0.0, f64::NAN], [9.0, 0.0], [9.0, 9.0]], Err(PolygonError::OutOfRange));
        check(&[[0.0, 0.0], [1e5, 0.0], [9.0, 9.0]], Err(PolygonError::OutOfRange));
        check(&[[0.0, 0.0]; MAX_POLYGON_POINTS + 1], Err(PolygonError::TooMany));
    }

    type Points = Vec<[f64; 2]>;

    /// Points around (0, 0), at a radius that depends on their number.
    fn around(count: usize, radius: impl Fn(usize) -> f64) -> Points {
        let at = |i: usize| {
            let angle = i as f64 * TAU / count as f64;
            [radius(i) * angle.cos(), radius(i) * angle.sin()]
        };
        (0..count).map(at).collect()
    }

    /// Teeth from a base line, each shifted along the next one by `slant`.
    fn comb(teeth: usize, length: f64, slant: f64) -> Points {
        let tooth = |i: usize| [[i as f64, 0.0], [i as f64 + 0.4 + slant, length], [i as f64 + 0.8, 0.0]];
        (0..teeth).flat_map(tooth).chain([[teeth as f64, -5.0], [0.0, -5.0]]).collect()
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "it is about how long it takes")]
    fn outlines_with_thousands_of_points_are_decomposed_in_time() {
        let most = MAX_POLYGON_POINTS;
        let gear = |i: usize| if (i / 8).is_multiple_of(2) { 50.0 } else { 55.0 };
        let rough = |i: usize| 50.0 + (i * 7919 % 1000) as f64 / 200.0;
        let noise = |i: usize| (i * 7919 % 1000) as f64 / 100_000.0;
        let square = |i: usize| {
            let (along, across) = ((i % (most / 4)) as f64 / (most / 4) as f64 - 0.5, 0.5 + noise(i));
            let [x, y] = [[along, -across], [across, along], [-along, across], [-across, -along]][i / (most / 4)];
            [200.0 * x, 200.0 * y]
        };
        let spiky = |i: usize| if i.is_multiple_of(2) { 2.0 } else { 1000.0 };
        let straight = |i: usize| [i as f64 / 10.0, 0.0];
        let sampled = (0..most - 2).map(straight).chain([[819.0, 9.0], [0.0, 9.0]]).collect();
        for (name, points, is_allowed) in [
            ("a circle", around(most, |_| 100.0), true),
            ("a gear", around(most, gear), true),
            ("a rough outline", around(most, rough), true),
            ("a straight side of many points", sampled, true),
            ("a rough square", (0..most).map(square).collect(), true),
            ("short teeth", comb(500, 3.0, 0.0), true),
            ("long teeth", comb(500, 900.0, 0.0), true),
            ("slanted teeth", comb(500, 900.0, 900.0), true),
            // refused before it takes long
            ("thousands of spikes", around(most, spiky), false),
            ("thousands of slanted teeth", comb(2700, 6000.0, 6000.0), false),
        ] {
            let start = std::time::Instant::now();
            let pieces = validate(&points, 1e4).and_then(|points| Ok((signed_area(&points), decompose(&points)?)));
            let took = start.elapsed();
            match pieces {
                Ok((area, pieces)) => {
                    let sum: f64 = pieces.iter().map(|piece| signed_area(&piece.points)).sum();
                    assert!((sum - area).abs() < 1e-6 * area, "{name}: {sum} {area}");
                    assert!(is_allowed, "{name}");
                }
                Err(error) => assert_eq!((error, is_allowed), (PolygonError::TooIntricate, false), "{name}"),
            }
            // some tens of milliseconds, with much left for a slow and busy machine
            assert!(took.as_millis() < 1_000, "{name}: {took:?}");
        }
    }

    proptest! {
        /// A star with arms of any length is simple, whatever its winding.
        #[test]
        fn pieces_are_convex_and_keep_the_area(
            radii in prop::collection::vec(5.0..200.0_f64, 3..300), at in (-500.0..500.0, -500.0..500.0), turned: bool,
        ) {
            let mut star: Vec<[f64; 2]> = radii.iter().enumerate().map(|(i, radius)| {
                let angle = i as f64 * TAU / radii.len() as f64;
                [at.0 + radius * angle.cos(), at.1 + radius * angle.sin()]
            }).collect();
            if turned {
                star.reverse();
            }
            let points = validate(&star, 1e4).unwrap();
            let pieces = decompose(&points).unwrap();
            let mut area = 0.0;
            for piece in &pieces {
                prop_assert!(piece.points.len() <= MAX_PIECE_POINTS);
                for (corner, normal) in piece.points.iter().zip(&piece.normals) {
                    prop_assert!(piece.points.iter().all(|other| normal.dot(*other - *corner) < 1e-6));
                }
                area += signed_area(&piece.points);
            }
            prop_assert!((area - signed_area(&points)).abs() < 1e-6 * area);
            let outer: u32 = pieces.iter().map(|piece| piece.outer.count_ones()).sum();
            prop_assert_eq!(outer as usize, points.len());
        }
    }
}
