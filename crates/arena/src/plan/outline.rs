//! Shapes of the world file, as polygons.

use std::f64::consts::TAU;

use glam::DVec2;

use super::{Polygon, file::Outline};
use crate::polygon::{self, Piece};

/// Things may stick out of the arena by this much, in mm.
const OVERHANG: f64 = 1000.0;
const LARGEST: f64 = super::ARENA_SIZE + OVERHANG;

/// A shape, as it was drawn and as convex pieces.
pub(super) struct Shape {
    pub(super) polygons: Vec<Polygon>,
    pub(super) pieces: Vec<Piece>,
}

pub(super) fn shape(outline: &Outline) -> Result<Shape, String> {
    let polygons = polygons(outline)?;
    let mut pieces = Vec::new();
    for points in &polygons {
        let points = polygon::checked(points, LARGEST).map_err(|flaw| format!("the polygon {flaw}"))?;
        pieces.extend(polygon::pieces(&points).map_err(|flaw| format!("the polygon {flaw}"))?);
    }
    Ok(Shape { polygons, pieces })
}

fn polygons(outline: &Outline) -> Result<Vec<Polygon>, String> {
    let belongs = |is_there: bool, key: &str, to: &str, owner: bool| match is_there && !owner {
        true => Err(format!("`{key}` belongs to `{to}`, which is not there")),
        false => Ok(()),
    };
    belongs(outline.turn_deg.is_some(), "turn_deg", "box", outline.r#box.is_some())?;
    belongs(outline.sides.is_some(), "sides", "disc", outline.disc.is_some())?;
    belongs(outline.width.is_some(), "width", "line", outline.line.is_some())?;
    belongs(outline.closed.is_some(), "closed", "line", outline.line.is_some())?;
    match (&outline.points, outline.r#box, outline.disc, &outline.line) {
        (Some(points), None, None, None) => Ok(vec![points.clone()]),
        (None, Some(sizes), None, None) => rectangle(sizes, outline.turn_deg.unwrap_or(0.0)),
        (None, None, Some(sizes), None) => disc(sizes, outline.sides.unwrap_or(16)),
        (None, None, None, Some(line)) => band(line, outline.width, outline.closed.unwrap_or(false)),
        _ => Err("a shape is one of `points`, `box`, `disc` and `line`".to_owned()),
    }
}

fn rectangle([x, y, width, depth]: [f64; 4], turn_deg: f64) -> Result<Vec<Polygon>, String> {
    if !(width > 0.0 && depth > 0.0 && turn_deg.is_finite()) {
        return Err(format!("a box of {width} x {depth} turned by {turn_deg} is not possible"));
    }
    let turn = DVec2::from_angle(turn_deg.to_radians());
    let corner = |right: f64, up: f64| {
        let offset = turn.rotate(DVec2::new(right * 0.5 * width, up * 0.5 * depth));
        [x + offset.x, y + offset.y]
    };
    Ok(vec![vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)]])
}

fn disc([x, y, radius]: [f64; 3], sides: usize) -> Result<Vec<Polygon>, String> {
    if radius.is_nan() || radius <= 0.0 || !(3..=64).contains(&sides) {
        return Err(format!("a disc needs a radius above 0 and 3 to 64 sides, not {radius} and {sides}"));
    }
    let corner = |i: usize| (i as f64 + 0.5) * TAU / sides as f64;
    Ok(vec![(0..sides).map(|i| [x + radius * corner(i).cos(), y + radius * corner(i).sin()]).collect()])
}

/// One polygon per stretch, with mitred corners, so that neighbours meet without a gap.
fn band(line: &[[f64; 2]], width: Option<f64>, closed: bool) -> Result<Vec<Polygon>, String> {
    let width = width.ok_or("a line needs a `width`")?;
    if !(width > 0.0 && width <= LARGEST) {
        return Err(format!("a line cannot be {width} wide"));
    }
    if line.len() < 2 || line.len() > polygon::MAX_POLYGON_POINTS {
        return Err(format!("a line has 2 to {} points", polygon::MAX_POLYGON_POINTS));
    }
    if line.iter().flatten().any(|value| !value.is_finite() || value.abs() > LARGEST) {
        return Err("a point of the line is too far away".to_owned());
    }
    let points: Vec<DVec2> = line.iter().copied().map(DVec2::from).collect();
    let count = points.len();
    let stretches = if closed { count } else { count - 1 };
    let across: Vec<DVec2> =
        (0..stretches).map(|i| (points[(i + 1) % count] - points[i]).normalize_or_zero().perp()).collect();
    if across.contains(&DVec2::ZERO) {
        return Err("a line has the same point twice in a row".to_owned());
    }
    let mitre = |i: usize| -> Result<DVec2, String> {
        let after = across[i.min(stretches - 1)];
        let before = match (i, closed) {
            (0, true) => across[stretches - 1],
            (0, false) => after,
            _ => across[i - 1],
        };
        let cosine = before.dot(after);
        // beyond this, the outer corner would stick out by more than twice the width
        if cosine < -0.8 {
            return Err("a line turns back too sharply".to_owned());
        }
        Ok((before + after) * (0.5 * width / (1.0 + cosine)))
    };
    let offsets: Vec<DVec2> = (0..count).map(mitre).collect::<Result<_, _>>()?;
    Ok((0..stretches)
        .map(|i| {
            let j = (i + 1) % count;
            let corners =
                [points[i] - offsets[i], points[j] - offsets[j], points[j] + offsets[j], points[i] + offsets[i]];
            corners.map(<[f64; 2]>::from).to_vec()
        })
        .collect())
}
