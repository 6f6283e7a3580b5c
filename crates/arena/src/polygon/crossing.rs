//! Whether two sides of a polygon intersect.

use glam::DVec2;

use super::{PolygonError, WorkBudget};

/// Cost of comparing two sides, in units of a [`WorkBudget`].
const COMPARE_COST: usize = 2;

/// A side, with its extent along the axis by which the sides are sorted and along the other one.
#[derive(Clone, Copy)]
struct Side {
    low: f64,
    high: f64,
    low_across: f64,
    high_across: f64,
    /// Index of its first point.
    from: usize,
}

/// Whether two sides have a point in common, apart from the one where neighbours meet.
pub(super) fn is_self_intersecting(points: &[DVec2]) -> Result<bool, PolygonError> {
    let count = points.len();
    let ends = |from: usize| (points[from], points[(from + 1) % count]);
    let are_neighbours = |a: usize, b: usize| (a + 1) % count == b || (b + 1) % count == a;
    let budget = WorkBudget::new();
    let sides = sorted(points);
    for (at, side) in sides.iter().enumerate() {
        let others = sides[at + 1..].iter().take_while(|other| other.low <= side.high);
        let mut compared = 0;
        for other in others {
            compared += 1;
            let is_near = other.low_across <= side.high_across && side.low_across <= other.high_across;
            if is_near
                && !are_neighbours(side.from, other.from)
                && segments_intersect(ends(side.from), ends(other.from))
            {
                return Ok(true);
            }
        }
        budget.spend(COMPARE_COST * compared)?;
    }
    Ok(false)
}

/// The sides in the order of their lower ends along the axis on which fewer of them overlap.
fn sorted(points: &[DVec2]) -> Vec<Side> {
    let count = points.len();
    let next = |from: usize| points[(from + 1) % count];
    let total: DVec2 = (0..count).map(|from| (next(from) - points[from]).abs()).sum();
    let size = points.iter().fold(DVec2::NEG_INFINITY, |all, point| all.max(*point))
        - points.iter().fold(DVec2::INFINITY, |all, point| all.min(*point));
    let is_along_x = total.x * size.y <= total.y * size.x;
    let oriented = |point: DVec2| if is_along_x { point } else { DVec2::new(point.y, point.x) };
    let side = |from: usize| {
        let (a, b) = (oriented(points[from]), oriented(next(from)));
        let (low, high) = (a.min(b), a.max(b));
        Side { low: low.x, high: high.x, low_across: low.y, high_across: high.y, from }
    };
    let mut sides: Vec<Side> = (0..count).map(side).collect();
    sides.sort_unstable_by(|a, b| a.low.total_cmp(&b.low).then(a.from.cmp(&b.from)));
    sides
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
