//! Shapes of the world file as polygons.

use std::f64::consts::TAU;

use glam::DVec2;

use super::{Polygon, file::Outline};
use crate::polygon::{self, Piece, PolygonError};

/// How far shapes may extend beyond the arena, in mm.
const OVERHANG: f64 = 1000.0;
const MAX_COORDINATE: f64 = super::ARENA_SIZE + OVERHANG;
const MAX_LINE_POINTS: usize = 256;

/// A shape as drawn and as convex pieces.
pub(super) struct Shape {
    pub(super) polygons: Vec<Polygon>,
    pub(super) pieces: Vec<Piece>,
}

/// Why a shape is rejected.
#[derive(Debug, thiserror::Error)]
pub(super) enum OutlineError {
    #[error("the polygon {0}")]
    Polygon(#[from] PolygonError),
    #[error("`{key}` requires `{shape}`")]
    Misplaced { key: &'static str, shape: &'static str },
    #[error("a shape needs exactly one of `points`, `box`, `disc` and `line`")]
    NotOneShape,
    #[error("a box needs a width and depth above 0 and a finite rotation, not {width} x {depth} rotated by {turn_deg}")]
    Box { width: f64, depth: f64, turn_deg: f64 },
    #[error("a disc needs a radius above 0 and 3 to 64 sides, not {radius} and {sides}")]
    Disc { radius: f64, sides: usize },
    #[error("a line needs a `width`")]
    NoWidth,
    #[error("the width of a line must be above 0 and at most {MAX_COORDINATE}, not {width}")]
    Width { width: f64 },
    #[error("a line needs 2 to {MAX_LINE_POINTS} points")]
    LinePoints,
    #[error("a point of the line is too far away")]
    TooFar,
    #[error("a line has the same point twice in a row")]
    RepeatedPoint,
    #[error("a line turns back too sharply")]
    SharpTurn,
}

pub(super) fn shape(outline: &Outline) -> Result<Shape, OutlineError> {
    let polygons = polygons(outline)?;
    let mut pieces = Vec::new();
    for points in &polygons {
        let points = polygon::validate(points, MAX_COORDINATE)?;
        pieces.extend(polygon::decompose(&points)?);
    }
    Ok(Shape { polygons, pieces })
}

fn polygons(outline: &Outline) -> Result<Vec<Polygon>, OutlineError> {
    for (is_set, key, shape, is_shape) in [
        (outline.turn_deg.is_some(), "turn_deg", "box", outline.r#box.is_some()),
        (outline.sides.is_some(), "sides", "disc", outline.disc.is_some()),
        (outline.width.is_some(), "width", "line", outline.line.is_some()),
        (outline.closed.is_some(), "closed", "line", outline.line.is_some()),
    ] {
        if is_set && !is_shape {
            return Err(OutlineError::Misplaced { key, shape });
        }
    }
    match (&outline.points, outline.r#box, outline.disc, &outline.line) {
        (Some(points), None, None, None) => Ok(vec![points.clone()]),
        (None, Some(sizes), None, None) => rectangle(sizes, outline.turn_deg.unwrap_or(0.0)),
        (None, None, Some(sizes), None) => disc(sizes, outline.sides.unwrap_or(16)),
        (None, None, None, Some(line)) => band(line, outline.width, outline.closed.unwrap_or(false)),
        _ => Err(OutlineError::NotOneShape),
    }
}

fn rectangle([x, y, width, depth]: [f64; 4], turn_deg: f64) -> Result<Vec<Polygon>, OutlineError> {
    if !(width > 0.0 && depth > 0.0 && turn_deg.is_finite()) {
        return Err(OutlineError::Box { width, depth, turn_deg });
    }
    let turn = DVec2::from_angle(turn_deg.to_radians());
    let corner = |right: f64, up: f64| {
        let offset = turn.rotate(DVec2::new(right * 0.5 * width, up * 0.5 * depth));
        [x + offset.x, y + offset.y]
    };
    Ok(vec![vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)]])
}

fn disc([x, y, radius]: [f64; 3], sides: usize) -> Result<Vec<Polygon>, OutlineError> {
    if radius.is_nan() || radius <= 0.0 || !(3..=64).contains(&sides) {
        return Err(OutlineError::Disc { radius, sides });
    }
    let corner = |i: usize| (i as f64 + 0.5) * TAU / sides as f64;
    Ok(vec![(0..sides).map(|i| [x + radius * corner(i).cos(), y + radius * corner(i).sin()]).collect()])
}

/// One polygon per segment, with mitred corners, so that neighbours meet without a gap.
fn band(line: &[[f64; 2]], width: Option<f64>, closed: bool) -> Result<Vec<Polygon>, OutlineError> {
    let width = width.ok_or(OutlineError::NoWidth)?;
    if !(width > 0.0 && width <= MAX_COORDINATE) {
        return Err(OutlineError::Width { width });
    }
    if line.len() < 2 || line.len() > MAX_LINE_POINTS {
        return Err(OutlineError::LinePoints);
    }
    if line.iter().flatten().any(|value| !value.is_finite() || value.abs() > MAX_COORDINATE) {
        return Err(OutlineError::TooFar);
    }
    let points: Vec<DVec2> = line.iter().copied().map(DVec2::from).collect();
    let count = points.len();
    let segments = if closed { count } else { count - 1 };
    let across: Vec<DVec2> =
        (0..segments).map(|i| (points[(i + 1) % count] - points[i]).normalize_or_zero().perp()).collect();
    if across.contains(&DVec2::ZERO) {
        return Err(OutlineError::RepeatedPoint);
    }
    let mitre = |i: usize| -> Result<DVec2, OutlineError> {
        let after = across[i.min(segments - 1)];
        let before = match (i, closed) {
            (0, true) => across[segments - 1],
            (0, false) => after,
            _ => across[i - 1],
        };
        let cosine = before.dot(after);
        // beyond this, the outer corner would stick out by more than twice the width
        if cosine < -0.8 {
            return Err(OutlineError::SharpTurn);
        }
        Ok((before + after) * (0.5 * width / (1.0 + cosine)))
    };
    let offsets: Vec<DVec2> = (0..count).map(mitre).collect::<Result<_, _>>()?;
    Ok((0..segments)
        .map(|i| {
            let j = (i + 1) % count;
            let corners =
                [points[i] - offsets[i], points[j] - offsets[j], points[j] + offsets[j], points[i] + offsets[i]];
            corners.map(<[f64; 2]>::from).to_vec()
        })
        .collect())
}
