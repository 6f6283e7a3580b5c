//! Decomposition of a polygon into convex pieces: ear clipping, then merging as long as the result stays convex (Hertel and
//! Mehlhorn).

use std::collections::{BTreeSet, HashMap};

use glam::DVec2;

use super::{MAX_PIECE_POINTS, Piece, PolygonError, Ring, WorkBudget};

/// Cost of comparing a corner with an ear, in units of a [`WorkBudget`].
const COMPARE_COST: usize = 2;
/// Ears of polygons with at most this many points are clipped in the order of the points, which makes few pieces. Of larger
/// ones, the shortest cut comes first: a long one is compared with many corners.
const FEW_POINTS: usize = 256;

/// Decomposes a validated polygon into convex pieces.
pub(crate) fn decompose(points: &[DVec2]) -> Result<Vec<Piece>, PolygonError> {
    let count = points.len();
    let turn = |a: usize, b: usize, c: usize| (points[b] - points[a]).perp_dot(points[c] - points[b]);
    if count <= MAX_PIECE_POINTS && (0..count).all(|i| turn(i, (i + 1) % count, (i + 2) % count) > 0.0) {
        return Ok(vec![Piece::convex(points.to_vec())]);
    }
    let triangles = EarClipping::new(points)?.run()?;
    let cuts: Vec<(usize, usize)> = triangles
        .iter()
        .flat_map(|corners| (0..3).map(|i| (corners[i], corners[(i + 1) % 3])))
        .filter(|&(from, to)| from < to && to - from != 1 && to - from != count - 1)
        .collect();
    let mut loops = Loops::new(triangles);
    for (from, to) in cuts {
        loops.merge(from, to, |corners| {
            let many = corners.len();
            many <= MAX_PIECE_POINTS
                && (0..many).all(|i| turn(corners[i], corners[(i + 1) % many], corners[(i + 2) % many]) >= 0.0)
        });
    }
    Ok(loops.corners.iter().filter(|corners| !corners.is_empty()).map(|corners| piece(points, corners)).collect())
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

/// Convex loops of corners that are joined along their cuts.
struct Loops {
    /// Empty where a loop has become part of another one.
    corners: Vec<Vec<usize>>,
    /// The loop to the left of a directed side or cut.
    left_of: HashMap<(usize, usize), usize>,
}

impl Loops {
    fn new(triangles: Vec<Vec<usize>>) -> Self {
        let mut loops = Self { corners: triangles, left_of: HashMap::new() };
        (0..loops.corners.len()).for_each(|index| loops.note(index, index));
        loops
    }

    /// Notes that the sides of the loop at `index` belong to `owner`.
    fn note(&mut self, index: usize, owner: usize) {
        let corners = &self.corners[index];
        let next = corners.iter().cycle().skip(1);
        self.left_of.extend(corners.iter().zip(next).map(|(from, to)| ((*from, *to), owner)));
    }

    /// Joins the two loops on both sides of a cut if the result passes `is_fit`.
    fn merge(&mut self, from: usize, to: usize, is_fit: impl Fn(&[usize]) -> bool) {
        let loops = (self.left_of.get(&(from, to)), self.left_of.get(&(to, from)));
        let (Some(&left), Some(&right)) = loops else { return };
        let joined = [(left, to), (right, from)].into_iter().flat_map(|(index, first)| {
            let corners = &self.corners[index];
            let start = corners.iter().position(|corner| *corner == first).unwrap_or_default();
            // the last corner is the first one of the other loop
            corners.iter().cycle().skip(start).take(corners.len() - 1).copied()
        });
        let joined: Vec<usize> = joined.collect();
        if is_fit(&joined) {
            self.note(right, left);
            self.corners[right].clear();
            self.corners[left] = joined;
        }
    }
}

/// A polygon of which ears, corners without another corner in their triangle, are clipped one by one.
struct EarClipping<'a> {
    points: &'a [DVec2],
    rest: Ring,
    is_clipped: Vec<bool>,
    /// Corners that are reflex at first, by x. Others are in no ear unless one of these is as well.
    reflex: Vec<(DVec2, usize)>,
    /// Each with its rank: the lowest is clipped first.
    ears: BTreeSet<(u64, usize)>,
    rank: Vec<u64>,
    budget: WorkBudget,
}

impl<'a> EarClipping<'a> {
    fn new(points: &'a [DVec2]) -> Result<Self, PolygonError> {
        let count = points.len();
        let mut clipping = Self {
            points,
            rest: Ring::new(count),
            is_clipped: vec![false; count],
            reflex: Vec::new(),
            ears: BTreeSet::new(),
            rank: vec![0; count],
            budget: WorkBudget::new(),
        };
        clipping.reflex = (0..count).filter(|&at| !clipping.is_convex(at)).map(|at| (points[at], at)).collect();
        clipping.reflex.sort_unstable_by(|(a, at), (b, other)| a.x.total_cmp(&b.x).then(at.cmp(other)));
        clipping.find_ears()?;
        Ok(clipping)
    }

    fn find_ears(&mut self) -> Result<(), PolygonError> {
        for at in 0..self.points.len() {
            if !self.is_clipped[at] {
                self.look_at(at)?;
            }
        }
        Ok(())
    }

    /// The triangles, in the order in which they are clipped.
    fn run(mut self) -> Result<Vec<Vec<usize>>, PolygonError> {
        let mut triangles = Vec::with_capacity(self.points.len());
        while self.rest.count > 3 {
            if self.ears.is_empty() {
                // rounding may have hidden one
                self.find_ears()?;
            }
            let (_, at) = self.ears.pop_first().ok_or(PolygonError::SelfIntersecting)?;
            let (before, after) = (self.rest.before[at], self.rest.after[at]);
            triangles.push(vec![before, at, after]);
            self.rest.remove(at);
            self.is_clipped[at] = true;
            self.look_at(before)?;
            self.look_at(after)?;
        }
        let rest: Vec<usize> = (0..self.points.len()).filter(|at| !self.is_clipped[*at]).collect();
        triangles.push(rest);
        Ok(triangles)
    }

    /// Notes whether a corner is an ear now.
    fn look_at(&mut self, at: usize) -> Result<(), PolygonError> {
        self.ears.remove(&(self.rank[at], at));
        if self.is_ear(at)? {
            let [before, _, after] = self.triangle(at).map(|corner| self.points[corner]);
            // the bits of positive numbers are in the order of the numbers
            self.rank[at] = if self.points.len() > FEW_POINTS { before.distance_squared(after).to_bits() } else { 0 };
            self.ears.insert((self.rank[at], at));
        }
        Ok(())
    }

    fn triangle(&self, at: usize) -> [usize; 3] {
        [self.rest.before[at], at, self.rest.after[at]]
    }

    fn is_convex(&self, at: usize) -> bool {
        let [a, b, c] = self.triangle(at).map(|corner| self.points[corner]);
        (b - a).perp_dot(c - b) > 0.0
    }

    fn is_ear(&self, at: usize) -> Result<bool, PolygonError> {
        if !self.is_convex(at) {
            return Ok(false);
        }
        let corners = self.triangle(at);
        let [a, b, c] = corners.map(|corner| self.points[corner]);
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let first = self.reflex.partition_point(|(point, _)| point.x < low.x);
        let beyond = self.reflex.partition_point(|(point, _)| point.x <= high.x);
        self.budget.spend(COMPARE_COST * (beyond - first))?;
        let is_inside = |p: DVec2| {
            p.y >= low.y
                && p.y <= high.y
                && (b - a).perp_dot(p - a) >= 0.0
                && (c - b).perp_dot(p - b) >= 0.0
                && (a - c).perp_dot(p - c) >= 0.0
        };
        let is_in_the_way =
            |(point, other): &(DVec2, usize)| is_inside(*point) && !self.is_clipped[*other] && !corners.contains(other);
        Ok(!self.reflex[first..beyond].iter().any(is_in_the_way))
    }
}
