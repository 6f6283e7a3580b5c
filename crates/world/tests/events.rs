//! What is raised, when, and under which name.

mod worlds;

use world::{
    Action, AgentId, SessionId, Setup, Value, World,
    event::{AgentEvent, Condition, Watch, standard},
};
use worlds::*;

fn collision(name: &str, first: &[&str], second: &[&str]) -> Watch {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let condition = Condition::Collision { name: name.to_owned(), first: owned(first), second: owned(second) };
    Watch { condition, ends_try: false }
}

fn bound(name: &str, variable: &str, min: Option<f64>, max: Option<f64>) -> Watch {
    let condition = Condition::Bound { name: name.to_owned(), variable: variable.to_owned(), min, max };
    Watch { condition, ends_try: false }
}

fn with_watches(setup: Setup, watches: Vec<Watch>) -> World {
    build(&Setup { watches, ..setup })
}

/// Ticks in which the event was raised.
fn raised(world: &mut World, event: &str, count: u64) -> Vec<u64> {
    (0..count)
        .filter(|_| {
            world.tick();
            events(world).iter().any(|name| name == event)
        })
        .collect()
}

#[test]
fn steps_and_resets_and_tries() {
    let mut world = bench();
    let first = events(&mut world);
    for name in [standard::RESET, standard::RANDOMIZE, standard::RESET_DONE, standard::NEXT_TRY] {
        assert!(first.iter().any(|n| n == name), "{name} at the start");
    }
    assert!(!first.iter().any(|n| n == standard::TRY_COMPLETED), "no try came before");
    world.tick();
    let mut step = events(&mut world);
    step.sort();
    let mut wanted = [standard::NEXT_STEP, standard::STEP_COMPLETED, standard::UPDATE_SENSORS];
    wanted.sort_unstable();
    assert_eq!(step, wanted);
    assert_eq!(events(&mut world), [""; 0], "events are told once");
    world.reset(None);
    assert!(events(&mut world).iter().any(|n| n == standard::TRY_COMPLETED));
    assert_eq!(read(&world, "/Control/CurrentTry"), Value::Integer(2));
    assert_eq!(read(&world, "/Control/CurrentStep"), Value::Integer(0));
}

#[test]
fn motors_and_agents_raise_events_under_the_agent_s_name() {
    let mut world = build(&arena());
    let rover = world.catalogue().agent_named("Rover").unwrap().id;
    events(&mut world);
    world.stage(rover, SessionId(0), 0, vec![Action::Set { motor: 0, target: Some(1.0), torque: None }]);
    world.tick();
    assert!(events(&mut world).iter().any(|n| n == standard::UPDATE_MOTORS));
    for event in AgentEvent::ALL {
        world.raise_agent_event(rover, event);
        assert_eq!(events(&mut world), [format!("/Agent/Rover/{event:?}")]);
    }
    world.raise_agent_event(AgentId(99), AgentEvent::Fault);
    assert_eq!(events(&mut world), [""; 0]);
}

#[test]
fn a_collision_is_raised_between_the_named_and_nobody_else() {
    let base = Setup::new(text("bench", BENCH));
    let watches = vec![
        collision("Down", &["ball"], &["floor"]),
        collision("Swapped", &["floor"], &["ball"]),
        collision("Any", &["ball"], &["*"]),
        collision("Never", &["ball"], &["slope", "cart"]),
    ];
    let mut world = with_watches(base, watches);
    // 1.9 m of free fall take 0.622 s
    let mut hits = Vec::new();
    while hits.is_empty() {
        world.tick();
        hits = events(&mut world).into_iter().filter(|name| name.starts_with("/Collision/")).collect();
        assert!(number(&world, "/Simulation/SimulationTime") < 0.7, "the ball has not met the floor");
    }
    assert!(number(&world, "/Simulation/SimulationTime") > 0.61);
    hits.sort();
    assert_eq!(hits, ["/Collision/Any", "/Collision/Down", "/Collision/Swapped"]);
}

#[test]
fn robots_collide_as_groups() {
    let robots = vec![robot("Left", "rover", 0.0, 0.0), robot("Right", "rover", 0.5, 0.0)];
    let mut world = with_watches(setup(flat(), robots), vec![collision("Meet", &["Left"], &["Right"])]);
    assert_eq!(raised(&mut world, "/Collision/Meet", 20), [0; 0]);
    write(&mut world, "/Sim/Left/Position", Value::Point3D([0.35, 0.0, 0.035]));
    assert_eq!(raised(&mut world, "/Collision/Meet", 3).first(), Some(&0));
}

#[test]
fn a_bound_is_raised_once_each_time_it_is_crossed() {
    let watches = vec![
        bound("Far", "/Sim/World/rail/Angle", None, Some(0.1)),
        bound("Near", "/Sim/World/rail/Angle", Some(-0.1), None),
    ];
    let mut world = with_watches(Setup::new(text("bench", BENCH)), watches);
    write(&mut world, "/Sim/World/rail/Velocity", Value::Double(1.0));
    // 1 m/s in steps of 2 ms
    let far = raised(&mut world, "/Bound/Far", 100);
    assert!(matches!(far.as_slice(), [49..=51]), "{far:?}");
    write(&mut world, "/Sim/World/rail/Velocity", Value::Double(-1.0));
    assert_eq!(raised(&mut world, "/Bound/Far", 80), [0; 0], "coming back is no crossing");
    write(&mut world, "/Sim/World/rail/Velocity", Value::Double(1.0));
    assert_eq!(raised(&mut world, "/Bound/Far", 100).len(), 1, "out again");
    world.reset(None);
    write(&mut world, "/Sim/World/rail/Velocity", Value::Double(-1.0));
    assert_eq!(raised(&mut world, "/Bound/Near", 100).len(), 1);
}

#[test]
fn a_watch_may_end_the_try() {
    let watches =
        || vec![collision("Down", &["ball"], &["floor"]), bound("Late", "/Simulation/SimulationTime", None, Some(0.1))];
    for ending in [None, Some(0), Some(1)] {
        let mut watches = watches();
        let event = ending.and_then(|index| watches.get_mut(index)).map(|watch| {
            watch.ends_try = true;
            watch.event_name()
        });
        let setup = || Setup::new(text("bench", BENCH));
        let ends = raised(&mut with_watches(setup(), watches.clone()), standard::TERMINATE_TRY, 320);
        let met = event.map(|event| raised(&mut with_watches(setup(), watches), &event, 320)).unwrap_or_default();
        assert_eq!((ends.is_empty(), &ends), (ending.is_none(), &met), "{ending:?}");
    }
}

#[test]
fn a_watch_without_an_end_is_recorded_as_before() {
    let mut watch = bound("Late", "/Simulation/SimulationTime", None, Some(60.0));
    let before = r#"{"Bound":{"name":"Late","variable":"/Simulation/SimulationTime","min":null,"max":60.0}}"#;
    assert_eq!(serde_json::to_string(&watch).unwrap(), before);
    assert_eq!(serde_json::from_str::<Watch>(before).unwrap(), watch);
    watch.ends_try = true;
    let text = serde_json::to_string(&watch).unwrap();
    assert_eq!(serde_json::from_str::<Watch>(&text).unwrap(), watch, "{text}");
}

#[test]
fn a_watch_that_can_see_nothing_is_a_mistake() {
    for (watch, says) in [
        (collision("W", &["nobody"], &["floor"]), "nobody"),
        (collision("W", &["ball"], &["nobody"]), "nobody"),
        (bound("W", "/Sim/World/nobody/Angle", None, Some(1.0)), "/Sim/World/nobody/Angle"),
        (bound("W", "/Sim/World/ball/Position", None, Some(1.0)), "needs a number"),
    ] {
        let setup = Setup { watches: vec![watch.clone()], ..Setup::new(text("bench", BENCH)) };
        let error = World::new(&setup).expect_err(says).to_string();
        assert!(error.contains(says) && error.contains(&watch.event_name()), "{error}");
    }
}

#[test]
fn a_watch_outlives_what_it_looks_at() {
    let robots = vec![robot("Rover", "rover", 0.0, 0.0)];
    let watches =
        vec![collision("Ground", &["Rover"], &["floor"]), bound("Turn", "/Sim/Rover/Heading", None, Some(9.0))];
    let mut world = with_watches(setup(flat(), robots), watches);
    assert!(!raised(&mut world, "/Collision/Ground", 20).is_empty());
    let rover = world.catalogue().agent_named("Rover").unwrap().id;
    leave(&mut world, rover);
    assert!(events(&mut world).iter().any(|n| n == standard::ENVIRONMENT_CHANGED));
    assert_eq!(raised(&mut world, "/Collision/Ground", 20), [0; 0]);
    join(&mut world, robot("Rover", "rover", 0.0, 0.0));
    assert!(!raised(&mut world, "/Collision/Ground", 20).is_empty(), "it is seen again under the same name");
}
