//! The plan view of an arena with the paths of robots.

use arena::{
    Body, Pose,
    plan::{ARENA_SIZE, Patch, Plan, Polygon},
};

use super::{Anchor, Svg, hex};

/// Pixels of a side of the arena.
const SIDE: f64 = 820.0;
const MARGIN: f64 = 30.0;
const TOP: f64 = 64.0;
/// Thickness of the walls, in pixels.
const WALL: f64 = 8.0;
/// Number of bodies drawn along a path.
const BODIES: usize = 12;
/// Colours of the trials of a robot.
const TRIALS: [&str; 6] = ["#1d4ed8", "#c2410c", "#15803d", "#7e22ce", "#b45309", "#0e7490"];
/// Distance of contour lines, in mm.
const CONTOUR: f64 = 20.0;

/// The path of a robot in one trial.
pub(crate) struct TrialPath {
    /// The start and the pose after each step.
    pub(crate) poses: Vec<Pose>,
    /// Whether each step was blocked; as long as `poses`.
    pub(crate) bumps: Vec<bool>,
    /// Whether it died at the end.
    pub(crate) died: bool,
}

/// A robot with its paths.
pub(crate) struct Robot<'a> {
    pub(crate) body: &'a Body,
    /// Index of its kind in the world's ports.
    pub(crate) kind: usize,
    /// One path per trial.
    pub(crate) paths: Vec<TrialPath>,
}

/// Draws the arena with robots and their paths. The trials of a single robot have different colours; several robots have those
/// of their kinds.
pub(crate) fn draw(plan: &Plan, title: &str, note: &str, robots: &[Robot<'_>]) -> Svg {
    let mut svg = Svg::new(SIDE + 2.0 * MARGIN, SIDE + TOP + 52.0);
    svg.text([MARGIN, 30.0], 19.0, "#111", Anchor::Start, title);
    svg.text([MARGIN, 51.0], 13.0, "#666", Anchor::Start, note);
    ground(&mut svg, plan);
    for port in plan.ports() {
        for zone in port.start.iter().filter(|zone| !is_everywhere(zone)) {
            let attributes =
                format!(r#"fill="{0}" fill-opacity="0.12" stroke="{0}" stroke-dasharray="5 4""#, hex(port.color.0));
            svg.polygon(zone.iter().map(|&point| at(point)), &attributes);
        }
    }
    obstacles(&mut svg, plan);
    for robot in robots {
        let kind_color = hex(plan.ports().get(robot.kind).map_or([70, 70, 70], |port| port.color.0));
        for (index, way) in robot.paths.iter().enumerate() {
            let color = if robots.len() > 1 { &kind_color } else { TRIALS[index % TRIALS.len()] };
            draw_way(&mut svg, way, robot.body, &kind_color, color);
        }
    }
    legend(&mut svg, robots.is_empty());
    svg
}

/// Maps arena coordinates, in mm with y up, to the picture.
fn at([x, y]: [f64; 2]) -> [f64; 2] {
    [MARGIN + x / ARENA_SIZE * SIDE, TOP + (1.0 - y / ARENA_SIZE) * SIDE]
}

fn is_everywhere(zone: &Polygon) -> bool {
    let whole = |value: f64| value <= 0.0 || value >= ARENA_SIZE;
    zone.iter().all(|&[x, y]| whole(x) && whole(y))
}

fn ground(svg: &mut Svg, plan: &Plan) {
    let (walls, floor) = (plan.walls(), plan.floor());
    let (color, around) = (hex(walls.color.0), SIDE + 2.0 * WALL);
    let (x, y) = (MARGIN - WALL, TOP - WALL);
    svg.push(format_args!(r#"<rect x="{x}" y="{y}" width="{around}" height="{around}" rx="3" fill="{color}"/>"#));
    let color = hex(floor.color.0);
    svg.push(format_args!(r#"<rect x="{MARGIN}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="{color}"/>"#));
    for area in &floor.areas {
        for outline in &area.outline {
            svg.polygon(outline.iter().map(|&point| at(point)), &format!(r#"fill="{}""#, hex(area.color.0)));
        }
    }
    for patch in plan.patches() {
        terrain(svg, patch);
    }
    svg.push(format_args!(
        "<defs><pattern id=\"death\" width=\"10\" height=\"10\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><rect width=\"10\" height=\"10\" fill=\"#7f1d1d\" fill-opacity=\"0.55\"/><rect \
         width=\"4\" height=\"10\" fill=\"#ef4444\" fill-opacity=\"0.8\"/></pattern></defs>"
    ));
    for outline in plan.deathly() {
        svg.polygon(outline.iter().map(|&point| at(point)), r##"fill="url(#death)" stroke="#7f1d1d""##);
    }
}

/// Draws terrain: high ground is light, low ground dark, with contour lines.
fn terrain(svg: &mut Svg, patch: &Patch) {
    let mean = patch.heights.iter().sum::<f64>() / patch.heights.len().max(1) as f64;
    let base = patch.color.map_or([214, 205, 186], |color| color.0);
    let shade = (1.0 + mean / 500.0).clamp(0.55, 1.25);
    let color = hex(base.map(|part| (f64::from(part) * shade).clamp(0.0, 255.0) as u8));
    let outline = || patch.outline.iter().map(|&point| at(point));
    svg.polygon(outline(), &format!(r##"fill="{color}" fill-opacity="0.85" stroke="#8a7f66" stroke-width="1""##));
    let low = patch.heights.iter().copied().fold(f64::INFINITY, f64::min);
    let high = patch.heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut level = (low / CONTOUR).floor() * CONTOUR + CONTOUR;
    while level < high {
        let crossings = contour(patch, level);
        svg.line(crossings.into_iter().map(at), r##"stroke="#8a7f66" stroke-width="0.8" stroke-opacity="0.7""##);
        level += CONTOUR;
    }
    let middle = centre(&patch.outline);
    let text = if high - low > 1.0 { format!("{low:.0} to {high:.0} mm") } else { format!("{mean:.0} mm") };
    svg.text(at(middle), 11.0, "#57503f", Anchor::Middle, &text);
}

fn centre(outline: &Polygon) -> [f64; 2] {
    let count = outline.len().max(1) as f64;
    let sum = outline.iter().fold([0.0, 0.0], |[x, y], point| [x + point[0], y + point[1]]);
    [sum[0] / count, sum[1] / count]
}

/// The points of the patch's edges at this height.
fn contour(patch: &Patch, level: f64) -> Vec<[f64; 2]> {
    let corners: Vec<([f64; 2], f64)> = patch.outline.iter().copied().zip(patch.heights.iter().copied()).collect();
    let next = corners.iter().cycle().skip(1);
    corners
        .iter()
        .zip(next)
        .filter(|((_, from), (_, to))| (*from < level) != (*to < level))
        .map(|((a, from), (b, to))| {
            let part = (level - from) / (to - from);
            [a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])]
        })
        .collect()
}

fn obstacles(svg: &mut Svg, plan: &Plan) {
    for obstacle in plan.obstacles() {
        let color = hex(obstacle.color.0);
        let opacity = if obstacle.material.visible { 1.0 } else { 0.35 };
        let attributes = format!(
            r##"fill="{color}" fill-opacity="{opacity}" stroke="#000" stroke-opacity="0.45" stroke-width="1.2""##
        );
        for outline in &obstacle.outline {
            svg.polygon(outline.iter().map(|&point| at(point)), &attributes);
        }
    }
}

fn draw_way(svg: &mut Svg, way: &TrialPath, body: &Body, body_color: &str, color: &str) {
    let points = way.poses.iter().map(|pose| at([pose.x, pose.y]));
    svg.line(points, r##"stroke="#fff" stroke-width="4.5" stroke-opacity="0.7" stroke-linejoin="round""##);
    let points = way.poses.iter().map(|pose| at([pose.x, pose.y]));
    svg.line(points, &format!(r#"stroke="{color}" stroke-width="2" stroke-linejoin="round""#));
    let every = (way.poses.len() / BODIES).max(1);
    for pose in way.poses.iter().step_by(every).chain(way.poses.last()) {
        outline(svg, body, pose, body_color);
    }
    for (pose, _) in way.poses.iter().zip(&way.bumps).filter(|(_, bumped)| **bumped) {
        let [x, y] = at([pose.x, pose.y]);
        svg.push(format_args!(r##"<circle cx="{x:.1}" cy="{y:.1}" r="2.6" fill="#dc2626"/>"##));
    }
    if let (Some(first), Some(last)) = (way.poses.first(), way.poses.last()) {
        let [x, y] = at([first.x, first.y]);
        svg.push(format_args!(
            r##"<circle cx="{x:.1}" cy="{y:.1}" r="6" fill="#fff" stroke="{color}" stroke-width="2.5"/>"##
        ));
        let [x, y] = at([last.x, last.y]);
        let fill = if way.died { "#dc2626" } else { color };
        svg.push(format_args!(r##"<circle cx="{x:.1}" cy="{y:.1}" r="6" fill="{fill}" stroke="#fff"/>"##));
    }
}

/// Draws the robot's layers at a pose, with its front marked.
fn outline(svg: &mut Svg, body: &Body, pose: &Pose, color: &str) {
    let (sin, cos) = pose.dir.sin_cos();
    // +y of the body points along the direction of travel
    let place = |[x, y]: [f64; 2]| at([pose.x + y * cos + x * sin, pose.y + y * sin - x * cos]);
    for polygon in body.layers().iter().flat_map(|layer| &layer.polygons) {
        let attributes =
            format!(r##"fill="{color}" fill-opacity="0.10" stroke="#222" stroke-width="0.6" stroke-opacity="0.55""##);
        svg.polygon(polygon.iter().map(|&point| place(point)), &attributes);
    }
    svg.line([place([0.0, 15.0]), place([0.0, 45.0])], r##"stroke="#222" stroke-width="1.4" stroke-opacity="0.7""##);
}

fn legend(svg: &mut Svg, is_empty: bool) {
    let y = TOP + SIDE + 34.0;
    let length = 200.0 / ARENA_SIZE * SIDE;
    svg.line([[MARGIN, y], [MARGIN + length, y]], r##"stroke="#444" stroke-width="2""##);
    svg.text([MARGIN + length + 8.0, y + 4.0], 12.0, "#444", Anchor::Start, "200 mm");
    if !is_empty {
        let text = "ring: start   disc: end   red dots: blocked moves";
        svg.text([MARGIN + SIDE, y + 4.0], 12.0, "#444", Anchor::End, text);
    }
}
