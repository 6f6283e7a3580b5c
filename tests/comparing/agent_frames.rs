//! Comparison of the frames that agents receive from two servers.

use std::collections::BTreeSet;

use super::{
    Differences,
    expression::{Node, check_digits, numbers, shape},
};

/// Tolerances between two servers. They run different versions of the engine, and contacts diverge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance {
    /// Positions of the torso and distances of detections, in m.
    pub(crate) position: f64,
    /// Joint angles and directions of detections, in degrees.
    pub(crate) angle_deg: f64,
    /// Joint velocities and gyro rates, in deg/s.
    pub(crate) rate_deg: f64,
    /// Accelerations, in m/s².
    pub(crate) acceleration: f64,
}

/// Checks the structure and formatting of a frame.
pub(crate) fn check_style(frame: &str) {
    let (body, see) = split_see(frame);
    for part in body.split_inclusive("))") {
        let digits = if part.contains("(n torso_quat)") || part.contains("(n torso_pos)") { 3 } else { 2 };
        check_digits(part, digits);
    }
    check_digits(see.unwrap_or_default(), 2);
}

/// Checks that both frames have the same parts in the same order, with numbers within the tolerance.
pub(crate) fn compare(place: &str, theirs: &str, ours: &str, tolerance: Tolerance, found: &mut Differences) {
    check_style(theirs);
    check_style(ours);
    let ((their_body, their_see), (our_body, our_see)) = (split_see(theirs), split_see(ours));
    if shape(our_body) != shape(their_body) {
        return found.check_equal(our_body, their_body, place);
    }
    for (theirs, ours) in Node::read(their_body).iter().zip(&Node::read(our_body)) {
        let Some(most) = most_off(theirs, tolerance) else { continue };
        for (index, (their_value, our_value)) in values(theirs).into_iter().zip(values(ours)).enumerate() {
            // the second of a joint's numbers is its rate
            let most = if theirs.head() == "HJ" && index == 1 { tolerance.rate_deg } else { most };
            found.check(difference(theirs.head(), their_value, our_value) <= most, || {
                let name = theirs.list()[1].list()[1].word();
                format!("{place}: {name} is {our_value} instead of {their_value}, {most} off are allowed")
            });
        }
    }
    found.check(our_see.is_some() == their_see.is_some(), || format!("{place}: only one of them sees"));
    if let (Some(theirs), Some(ours)) = (their_see, our_see) {
        compare_seen(place, &seen(theirs), &seen(ours), tolerance, found);
    }
}

/// Tolerance of the numbers of a part. Time and game are compared elsewhere.
fn most_off(part: &Node, tolerance: Tolerance) -> Option<f64> {
    Some(match part.head() {
        "quat" => tolerance.angle_deg.to_radians(),
        "pos" => tolerance.position,
        "GYR" => tolerance.rate_deg,
        "ACC" => tolerance.acceleration,
        "HJ" => tolerance.angle_deg,
        _ => return None,
    })
}

fn values(part: &Node) -> Vec<f64> {
    let numbers = part.list().iter().skip(1).flat_map(|part| part.list().iter().skip(1));
    numbers.filter_map(|node| node.word().parse().ok()).collect()
}

/// Difference of two values of a part; quaternions may have either sign.
fn difference(head: &str, one: f64, other: f64) -> f64 {
    if head == "quat" { (one - other).abs().min((one + other).abs()) } else { (one - other).abs() }
}

fn split_see(frame: &str) -> (&str, Option<&str>) {
    match frame.find("(See ") {
        Some(begin) => (&frame[..begin], Some(&frame[begin..])),
        None => (frame, None),
    }
}

/// A detection with its encoded distance, azimuth and elevation.
type Seen = (String, String);

fn seen(see: &str) -> Vec<Seen> {
    let [Node::List(parts)] = &Node::read(see)[..] else { panic!("no list: {see}") };
    let mut things = Vec::new();
    for part in &parts[1..] {
        match part.head() {
            "P" => {
                let [_, team, id, markers @ ..] = part.list() else { panic!("no player: {part:?}") };
                let who = format!("P {} {}", team.list()[1].word(), id.list()[1].word());
                things.extend(markers.iter().map(|marker| (format!("{who} {}", marker.head()), polar(marker))));
            }
            name => things.push((name.to_owned(), polar(part))),
        }
    }
    things
}

fn polar(thing: &Node) -> String {
    let pol = &thing.list()[1];
    assert_eq!(pol.head(), "pol", "{thing:?}");
    pol.list()[1..].iter().map(Node::word).collect::<Vec<_>>().join(" ")
}

/// Checks that both have the same detections in the same order, within the tolerance.
fn compare_seen(place: &str, theirs: &[Seen], ours: &[Seen], tolerance: Tolerance, found: &mut Differences) {
    const EDGE_DEG: f64 = 60.0;
    let names = |seen: &[Seen]| seen.iter().map(|(name, _)| name.clone()).collect::<BTreeSet<_>>();
    let (their_names, our_names) = (names(theirs), names(ours));
    let is_common = |(name, _): &&Seen| their_names.contains(name) && our_names.contains(name);
    // objects that only one of them sees must be at the edge of the field of view
    for (name, polar) in theirs.iter().chain(ours).filter(|seen| !is_common(seen)) {
        let [_, azimuth, elevation] = triple(polar);
        let from_edge = EDGE_DEG - azimuth.abs().max(elevation.abs());
        found.check(from_edge <= 2.0 * tolerance.angle_deg, || {
            format!("{place}: only one of them sees {name}, at {polar}")
        });
    }
    for ((name, theirs), (our_name, ours)) in theirs.iter().filter(is_common).zip(ours.iter().filter(is_common)) {
        found.check_equal(our_name, name, &format!("{place}: the order of what is seen"));
        let ([distance, azimuth, elevation], [our_distance, our_azimuth, our_elevation]) =
            (triple(theirs), triple(ours));
        // a small position error changes the direction of near objects
        let angle = tolerance.angle_deg + (tolerance.position / distance.max(0.01)).atan().to_degrees();
        let turned = (azimuth - our_azimuth).abs().max((elevation - our_elevation).abs());
        let is_there = (distance - our_distance).abs() <= 2.0 * tolerance.position && turned <= angle;
        found.check(is_there, || format!("{place}: {name} is seen at {ours} instead of {theirs}"));
    }
}

fn triple(polar: &str) -> [f64; 3] {
    numbers(polar).try_into().unwrap_or_else(|_| panic!("`{polar}` is no direction"))
}

/// The world's time of a frame, in cycles of 20 ms. It is encoded slightly too low.
pub(crate) fn cycle(frame: &str) -> i64 {
    let time = numbers(frame)[0];
    (time * 50.0 - 0.25).ceil() as i64
}

/// Game time and everything else of the game.
pub(crate) fn game(frame: &str) -> (f64, String) {
    let (_, rest) = frame.split_once("(GS (t ").expect("a game");
    let (time, rest) = rest.split_once(')').expect("a time");
    let end = rest.find("))").expect("an end");
    (time.parse().expect("a time"), rest[..=end].to_owned())
}

/// Position of the torso.
pub(crate) fn position(frame: &str) -> [f64; 3] {
    let (_, rest) = frame.split_once("_pos) (p ").expect("a position");
    let (text, _) = rest.split_once(')').expect("an end");
    triple(text)
}
