//! Polygons: validation and decomposition into convex pieces.

use glam::DVec2;

/// Maximum number of points of a polygon.
pub const MAX_POLYGON_POINTS: usize = 256;
/// Maximum number of points of a convex piece; queries keep pieces in arrays of this size.
pub(crate) const MAX_PIECE_POINTS: usize = 16;
/// Less area than this is none, in mm².
const MIN_AREA: f64 = 1e-6;
/// Points closer than this to each other, or to the line through their neighbours, are merged, in mm.
const MERGE: f64 = 1e-9;

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
    if is_self_intersecting(&points) {
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

fn remove_collinear(points: &mut Vec<DVec2>) -> Result<(), PolygonError> {
    let mut at = 0;
    while at < points.len() && points.len() >= 3 {
        let count = points.len();
        let (before, here, after) = (points[(at + count - 1) % count], points[at], points[(at + 1) % count]);
        let (come, go) = (here - before, after - here);
        if come.perp_dot(go).abs() <= MERGE * come.length().max(go.length()) {
            if come.dot(go) < 0.0 {
                return Err(if count == 3 { PolygonError::NoArea } else { PolygonError::SelfIntersecting });
            }
            points.remove(at);
            at = at.saturating_sub(1);
        } else {
            at += 1;
        }
    }
    Ok(())
}

fn is_self_intersecting(points: &[DVec2]) -> bool {
    let count = points.len();
    let side = |i: usize| (points[i], points[(i + 1) % count]);
    (0..count).any(|i| {
        let after_next = i + 2;
        // the last side is a neighbour of the first
        (after_next..count).any(|j| (i > 0 || j + 1 < count) && segments_intersect(side(i), side(j)))
    })
}

fn segments_intersect((a, b): (DVec2, DVec2), (c, d): (DVec2, DVec2)) -> bool {
    let turn = |p: DVec2, q: DVec2, r: DVec2| (q - p).perp_dot(r - p);
    let (c_of_ab, d_of_ab) = (turn(a, b, c), turn(a, b, d));
    let (a_of_cd, b_of_cd) = (turn(c, d, a), turn(c, d, b));
    if c_of_ab * d_of_ab > 0.0 || a_of_cd * b_of_cd > 0.0 {
        return false;
    }
    // collinear segments still have to overlap
    let (low, high) = (a.min(b), a.max(b));
    let (other_low, other_high) = (c.min(d), c.max(d));
    low.cmple(other_high).all() && other_low.cmple(high).all()
}

/// Decomposes a validated polygon into convex pieces: ear clipping, then merging as long as the result stays convex
/// (Hertel and Mehlhorn).
pub(crate) fn decompose(points: &[DVec2]) -> Result<Vec<Piece>, PolygonError> {
    let count = points.len();
    let turn = |a: usize, b: usize, c: usize| (points[b] - points[a]).perp_dot(points[c] - points[b]);
    if count <= MAX_PIECE_POINTS && (0..count).all(|i| turn(i, (i + 1) % count, (i + 2) % count) > 0.0) {
        return Ok(vec![Piece::convex(points.to_vec())]);
    }
    let mut loops: Vec<Vec<usize>> = clip_ears(points)?;
    let cuts: Vec<(usize, usize)> = loops
        .iter()
        .flat_map(|corners| (0..3).map(|i| (corners[i], corners[(i + 1) % 3])))
        .filter(|&(from, to)| from < to && to - from != 1 && to - from != count - 1)
        .collect();
    for (from, to) in cuts {
        merge(&mut loops, from, to, |corners| {
            let many = corners.len();
            many <= MAX_PIECE_POINTS
                && (0..many).all(|i| turn(corners[i], corners[(i + 1) % many], corners[(i + 2) % many]) >= 0.0)
        });
    }
    Ok(loops.iter().map(|corners| piece(points, corners)).collect())
}

fn piece(points: &[DVec2], corners: &[usize]) -> Piece {
    let mut outer = 0;
    for (i, &from) in corners.iter().enumerate() {
        let to = corners[(i + 1) % corners.len()];
        if to == (from + 1) % points.len() {
            outer |= 1 << i;
        }
    }
    Piece::new(corners.iter().map(|&i| points[i]).collect(), outer)
}

/// Joins the two loops on both sides of a cut if the result passes `is_fit`.
fn merge(loops: &mut Vec<Vec<usize>>, from: usize, to: usize, is_fit: impl Fn(&[usize]) -> bool) {
    let has = |corners: &[usize], a: usize, b: usize| {
        (0..corners.len()).find(|&i| corners[i] == a && corners[(i + 1) % corners.len()] == b)
    };
    let find = |a, b| loops.iter().enumerate().find_map(|(index, corners)| has(corners, a, b).map(|at| (index, at)));
    let (Some((left, left_at)), Some((right, right_at))) = (find(from, to), find(to, from)) else { return };
    let turned = |corners: &[usize], start: usize| -> Vec<usize> {
        corners.iter().cycle().skip(start).take(corners.len()).copied().collect()
    };
    let mut joined = turned(&loops[left], left_at + 1);
    let rest = turned(&loops[right], right_at + 1);
    joined.extend(&rest[1..rest.len() - 1]);
    if is_fit(&joined) {
        loops[left] = joined;
        loops.remove(right);
    }
}

fn clip_ears(points: &[DVec2]) -> Result<Vec<Vec<usize>>, PolygonError> {
    let mut rest: Vec<usize> = (0..points.len()).collect();
    let mut ears = Vec::with_capacity(points.len());
    while rest.len() > 3 {
        let at = (0..rest.len()).find(|&at| is_ear(points, &rest, at)).ok_or(PolygonError::SelfIntersecting)?;
        let count = rest.len();
        ears.push(vec![rest[(at + count - 1) % count], rest[at], rest[(at + 1) % count]]);
        rest.remove(at);
    }
    ears.push(rest);
    Ok(ears)
}

fn is_ear(points: &[DVec2], rest: &[usize], at: usize) -> bool {
    let count = rest.len();
    let corner = |i: usize| points[rest[(i + count) % count]];
    let (a, b, c) = (corner(at + count - 1), corner(at), corner(at + 1));
    if (b - a).perp_dot(c - b) <= 0.0 {
        return false;
    }
    let is_inside =
        |p: DVec2| (b - a).perp_dot(p - a) >= 0.0 && (c - b).perp_dot(p - b) >= 0.0 && (a - c).perp_dot(p - c) >= 0.0;
    (2..count - 1).all(|step| !is_inside(corner(at + step)))
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

    proptest! {
        /// A star with arms of any length is simple, whatever its winding.
        #[test]
        fn pieces_are_convex_and_keep_the_area(
            radii in prop::collection::vec(5.0..200.0_f64, 3..80), at in (-500.0..500.0, -500.0..500.0), turned: bool,
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
