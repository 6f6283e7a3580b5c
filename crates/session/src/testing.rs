//! Small worlds to test with.

use library::ModelKind;
use physics::Pose;
use world::{
    AgentId, Setup, World,
    event::{Condition, Watch},
    setup::{Randomise, Robot},
};

/// The first agent of the small world: a rover at rest.
pub(crate) const ROVER: AgentId = AgentId(1);

/// A setup on a field of the library with one robot of the library.
pub(crate) fn setup_with(field: &str, robot: Option<(&str, &str)>) -> Setup {
    let mut setup = Setup::new(library::named_model(ModelKind::Field, field).unwrap());
    setup.steps_per_tick = 4;
    setup.robots.extend(robot.map(|(name, model)| Robot {
        name: name.to_owned(),
        source: library::named_model(ModelKind::Robot, model).unwrap(),
        pose: Pose::facing(0.0, 0.0, 0.0, 0.0),
    }));
    setup
}

/// The world of the scenario `small`: one rover with two motors, at rest.
pub(crate) fn small_setup() -> Setup {
    let mut setup = setup_with("flat", Some(("Rover", "rover")));
    setup.seed = 1;
    setup.settings = [("/Simulation/Gravitation".to_owned(), "9.81".to_owned())].into_iter().collect();
    setup.randomise.push(Randomise {
        variable: "/Sim/Rover/Heading".to_owned(),
        min: "-3.14159".to_owned(),
        max: "3.14159".to_owned(),
    });
    setup.watches = [
        Condition::Collision { name: "Bump".to_owned(), first: vec!["Rover".to_owned()], second: vec!["*".to_owned()] },
        Condition::Bound {
            name: "Late".to_owned(),
            variable: "/Simulation/SimulationTime".to_owned(),
            min: None,
            max: Some(60.0),
        },
    ]
    .map(|condition| Watch { condition, ends_try: false })
    .to_vec();
    setup
}

pub(crate) fn small_world() -> World {
    let world = World::new(&small_setup()).unwrap();
    assert_eq!(world.catalogue().agents.first().map(|card| card.id), Some(ROVER));
    world
}
