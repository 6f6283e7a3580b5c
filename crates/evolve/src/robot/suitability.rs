//! Which worlds, robots and fitness scripts suit each other.
//!
//! A combination is unsuitable if nothing that is evolved could raise its fitness. The reasons are derived from the files, so
//! they also cover user files. They are warnings only.

use arena::{Color, Plan, plan::Isolation};

use super::{
    BodyFileError, Design,
    body::{InternalInput, Reading},
    library,
    script::{Input, ScriptErrorKind},
    sensor::is_similar,
};

/// Why a combination is unsuitable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsuitable {
    /// The script reads a group of sensors that detect nothing in the world.
    #[error("nothing in this world has the colour that the robot's `{group}` sensors look for")]
    NothingToSee {
        /// Name of the group.
        group: String,
    },
    /// No sensor detects anything in the world.
    #[error("the robot's sensors detect nothing in this world")]
    Blind,
    /// The script rewards height in a level world.
    #[error("this fitness depends on the height of the ground, and this world is level")]
    Level,
    /// The script rewards height, and the robot has no sense that could lead it up.
    #[error(
        "this fitness depends on the height of the ground, and the robot has neither a compass nor a sense of tilt"
    )]
    NoWayUp,
}

/// Checks a robot, with its fitness script, against a world in which it is one of the first kind.
///
/// # Errors
///
/// The first reason why the combination is unsuitable.
pub fn check(design: &Design, world: &Plan) -> Result<(), Unsuitable> {
    // robots of its own kind, if it meets them
    let others = (world.rules().isolation != Isolation::PerRobot).then_some(0);
    check_with(design, world, others)
}

/// Checks a robot, with its fitness script, against a world in which it meets robots of this kind.
///
/// # Errors
///
/// As [`check`].
pub fn check_rival(design: &Design, world: &Plan, rival: usize) -> Result<(), Unsuitable> {
    check_with(design, world, Some(rival))
}

fn check_with(design: &Design, world: &Plan, others: Option<usize>) -> Result<(), Unsuitable> {
    let sensors = &design.file().sensors;
    let others = others.and_then(|kind| world.ports().get(kind)).map(|port| port.color);
    let detects = |nth: usize| sensors.get(nth).is_some_and(|sensor| detects(sensor.reading, world, others));
    if !(0..sensors.len()).any(detects) {
        return Err(Unsuitable::Blind);
    }
    let inputs = || design.script.inputs().iter().map(|(_, input)| *input);
    for input in inputs() {
        let (Input::GroupMax(nth) | Input::GroupMin(nth) | Input::GroupMean(nth)) = input else { continue };
        let Some((name, members)) = design.groups.get(usize::from(nth)) else { continue };
        if !members.iter().any(|&nth| detects(usize::from(nth))) {
            return Err(Unsuitable::NothingToSee { group: name.clone() });
        }
    }
    if inputs().any(|input| matches!(input, Input::Z | Input::StartZ | Input::TiltS | Input::TiltC)) {
        use InternalInput as I;
        let leads_up = |input: &I| matches!(input, I::TiltS | I::TiltC | I::CompassX | I::CompassY);
        if !design.internal_inputs().iter().any(leads_up) {
            return Err(Unsuitable::NoWayUp);
        }
        if world.patches().is_empty() {
            return Err(Unsuitable::Level);
        }
    }
    Ok(())
}

/// A combination of built-in files that is unsuitable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// Name of the body.
    pub body: String,
    /// Name of the fitness script.
    pub fitness: String,
    /// The worlds in which it is unsuitable.
    pub extent: Extent,
    /// Human-readable reason.
    pub reason: String,
}

/// The worlds in which a combination is unsuitable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of them.
    Everywhere,
    /// One of them.
    World {
        /// Name of the world.
        name: String,
        /// The kind of the robot, if it meets robots of another kind.
        kind: Option<String>,
    },
}

/// The two kinds of robots that can evolve against each other in a world: its first ones, if they meet.
pub fn rivals(world: &Plan) -> Option<[&str; 2]> {
    let [one, other, ..] = world.ports() else { return None };
    (world.rules().isolation == Isolation::Shared).then_some([&one.kind, &other.kind])
}

/// All unsuitable combinations of built-in files.
///
/// # Errors
///
/// A built-in file is invalid.
pub fn objections() -> Result<Vec<Objection>, BodyFileError> {
    let worlds: Vec<(String, Plan)> =
        Plan::names().into_iter().filter_map(|name| Some((name.clone(), Plan::built_in(&name)?.ok()?))).collect();
    let mut found = Vec::new();
    for body in library::bodies() {
        for fitness in library::scripts() {
            let mut object = |extent: Extent, reason: String| {
                found.push(Objection { body: body.clone(), fitness: fitness.clone(), extent, reason });
            };
            let within =
                |name: &str, kind: Option<&str>| Extent::World { name: name.to_owned(), kind: kind.map(str::to_owned) };
            match Design::new(library::body(&body)?, Some(library::script(&fitness)?)) {
                Ok(design) => {
                    for (name, world) in &worlds {
                        check(&design, world).unwrap_or_else(|reason| object(within(name, None), reason.to_string()));
                        for (kind, own) in rivals(world).into_iter().flatten().enumerate() {
                            check_rival(&design, world, 1 - kind)
                                .unwrap_or_else(|reason| object(within(name, Some(own)), reason.to_string()));
                        }
                    }
                }
                Err(BodyFileError::Script(error)) if matches!(error.kind, ScriptErrorKind::NoSensors { .. }) => {
                    object(Extent::Everywhere, error.kind.to_string());
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(found)
}

/// Whether there is anything in the world, or another robot, that a sensor with this reading detects.
fn detects(reading: Reading, world: &Plan, others: Option<Color>) -> bool {
    let (Reading::Match(wanted) | Reading::NearColor(wanted)) = reading else { return true };
    let floor = world.floor();
    let obstacles =
        world.obstacles().iter().filter(|obstacle| obstacle.material.visible).map(|obstacle| obstacle.color);
    let grounds =
        floor.areas.iter().map(|area| area.color).chain(world.patches().iter().filter_map(|patch| patch.color));
    let mut colors = obstacles.chain(grounds).chain([floor.color, world.walls().color]).chain(others);
    colors.any(|color| is_similar(color.0, wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_about(of: &Objection, body: &str, fitness: &str, world: &str, kind: Option<&str>) -> bool {
        let here = match &of.extent {
            Extent::Everywhere => true,
            Extent::World { name, kind: of_kind } => name == world && of_kind.as_deref() == kind,
        };
        of.body == body && of.fitness == fitness && here
    }

    fn reason(body: &str, fitness: &str, world: &str, kind: Option<&str>) -> Option<String> {
        let objections = objections().unwrap();
        let found = objections.iter().find(|objection| is_about(objection, body, fitness, world, kind));
        found.map(|objection| objection.reason.clone())
    }

    #[test]
    fn combinations_without_sense_have_a_reason() {
        for (body, fitness, world, expected) in [
            ("platine", "avoidance", "obstacles", None),
            ("platine", "distance", "maze", None),
            ("platine", "homing", "empty", None),
            ("platine", "line", "line", Some("the robot has no sensors in the group `line`")),
            ("platine", "climb", "cliff", Some("neither a compass nor a sense of tilt")),
            ("liner", "line", "line", None),
            ("liner", "line", "cliff", Some("the robot's sensors detect nothing in this world")),
            ("liner", "avoidance", "line", Some("no sensors in the group `obstacle`")),
            ("liner", "distance", "maze", Some("the robot's sensors detect nothing")),
            ("sonar", "climb", "cliff", None),
            ("sonar", "climb", "maze", Some("this world is level")),
            ("sonar", "phototaxis", "obstacles", None),
            ("sonar", "phototaxis", "materials", Some("nothing in this world has the colour that the robot's `light`")),
        ] {
            let found = reason(body, fitness, world, None);
            let fits = match expected {
                None => found.is_none(),
                Some(expected) => found.as_ref().is_some_and(|found| found.contains(expected)),
            };
            assert!(fits, "{body}, {fitness}, {world}: {found:?}");
        }
    }

    #[test]
    fn hunters_and_hunted_need_each_other() {
        let nothing = Some("nothing in this world has the colour that the robot's");
        for (body, fitness, world, kind, expected) in [
            ("prey", "escape", "coevolution", Some("prey"), None),
            ("predator", "pursuit", "coevolution", Some("predator"), None),
            ("platine", "exploration", "coevolution", Some("predator"), None),
            // there are no others of their colour
            ("prey", "escape", "coevolution", Some("predator"), nothing),
            ("predator", "pursuit", "coevolution", Some("prey"), nothing),
            ("prey", "escape", "coevolution", None, nothing),
            ("predator", "pursuit", "empty", None, nothing),
            ("prey", "pursuit", "coevolution", Some("prey"), Some("no sensors in the group `quarry`")),
            // those of its own kind have the colour of prey
            ("predator", "pursuit", "coevolution", None, None),
        ] {
            let found = reason(body, fitness, world, kind);
            let fits = match expected {
                None => found.is_none(),
                Some(expected) => found.as_ref().is_some_and(|found| found.contains(expected)),
            };
            assert!(fits, "{body}, {fitness}, {world}, {kind:?}: {found:?}");
        }
        let plan = |name: &str| Plan::built_in(name).unwrap().unwrap();
        assert_eq!(rivals(&plan("coevolution")), Some(["prey", "predator"]));
        assert_eq!(rivals(&plan("maze")), None);
    }

    #[test]
    fn every_body_script_and_world_is_of_use() {
        let objections = objections().unwrap();
        let (bodies, scripts, worlds) = (library::bodies(), library::scripts(), Plan::names());
        let mut suitable = Vec::new();
        for body in &bodies {
            for script in &scripts {
                for world in &worlds {
                    let plan = Plan::built_in(world).unwrap().unwrap();
                    let kinds = [None].into_iter().chain(rivals(&plan).into_iter().flatten().map(Some));
                    let makes_sense = |kind| !objections.iter().any(|of| is_about(of, body, script, world, kind));
                    if kinds.into_iter().any(makes_sense) {
                        suitable.push([body, script, world]);
                    }
                }
            }
        }
        for name in bodies.iter().chain(&scripts).chain(&worlds) {
            assert!(suitable.iter().any(|combination| combination.contains(&name)), "{name}");
        }
        for body in &bodies {
            let own = library::body(body).unwrap().fitness.script.unwrap();
            assert!(suitable.iter().any(|[of, script, _]| *of == body && **script == own), "{body} with {own}");
        }
    }
}
