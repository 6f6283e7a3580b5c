//! What is fixed in the world can be moved and turned by whoever writes its position and orientation.

mod worlds;

use world::{AgentId, Setup, Value, World, setup::Randomise, variable::VariableError};
use worlds::*;

const BOX: &str = "/Sim/World/box-1/Position";
const TURN: &str = "/Sim/World/box-1/Orientation";
/// A quarter turn about the z axis.
const SIDEWAYS: [f64; 4] = [std::f64::consts::FRAC_1_SQRT_2, 0.0, 0.0, std::f64::consts::FRAC_1_SQRT_2];

fn rover() -> World {
    build(&setup(flat(), vec![robot("Rover", "rover", 0.0, 0.0)]))
}

fn distances(world: &World) -> Vec<f64> {
    (1..=8).map(|sensor| number(world, &format!("/Sim/Rover/Distance/{sensor}"))).collect()
}

#[test]
fn a_box_is_sensed_where_it_was_moved() {
    let mut world = rover();
    ticks(&mut world, 50);
    let free = distances(&world);
    assert_eq!([free[2], free[3]], [1.0; 2], "nothing in front");
    write(&mut world, BOX, Value::Point3D([0.4, 0.0, 0.08]));
    write(&mut world, TURN, Value::Quaternion(SIDEWAYS.map(|x| 3.0 * x)));
    assert_eq!(point(&world, BOX), [0.4, 0.0, 0.08]);
    let Value::Quaternion(turn) = read(&world, TURN) else { panic!("not a quaternion") };
    assert!(turn.iter().zip(SIDEWAYS).all(|(a, b)| close(*a, b, 1e-12)), "{turn:?}");
    // before any time has passed: it now reaches from 0.3 m to 0.5 m
    let near = distances(&world);
    let front = |reading: f64| 0.1063 + 0.8 * reading * 15_f64.to_radians().cos();
    assert!(close(front(near[2]), 0.3, 0.005) && close(front(near[3]), 0.3, 0.005), "{near:?}");
    ticks(&mut world, 1);
    assert!(close(front(distances(&world)[2]), 0.3, 0.005));
    // lengthwise it is 0.3 m long
    write(&mut world, TURN, Value::Quaternion([1.0, 0.0, 0.0, 0.0]));
    assert!(close(front(distances(&world)[2]), 0.25, 0.005));
}

#[test]
fn a_robot_collides_with_what_was_moved() {
    let drive = |moved: Option<[f64; 3]>| {
        let mut world = rover();
        for wheel in ["Left", "Right"] {
            write(&mut world, &format!("/Sim/Rover/{wheel}/Wheel/DesiredVelocity"), Value::NormalizedDouble(1.0));
        }
        if let Some(place) = moved {
            write(&mut world, BOX, Value::Point3D(place));
            write(&mut world, TURN, Value::Quaternion([1.0, 0.0, 0.0, 0.0]));
        }
        ticks(&mut world, 400);
        assert_eq!(world.failure(), None);
        let bumped = number(&world, "/Sim/Rover/Bumper/Left") + number(&world, "/Sim/Rover/Bumper/Right");
        (point(&world, "/Sim/Rover/Position"), bumped)
    };
    let (free, untouched) = drive(None);
    let (stopped, bumped) = drive(Some([0.5, 0.0, 0.08]));
    assert!(free[0] > 0.6 && untouched == 0.0, "{free:?}");
    assert!(stopped[0] < 0.35 && bumped > 0.0, "{stopped:?} {bumped}");
    // a box under a robot lifts it
    let mut world = rover();
    ticks(&mut world, 50);
    let low = point(&world, "/Sim/Rover/Position")[2];
    write(&mut world, BOX, Value::Point3D([0.0, 0.0, -0.06]));
    ticks(&mut world, 100);
    assert!(point(&world, "/Sim/Rover/Position")[2] > low + 0.01);
}

#[test]
fn a_reset_returns_everything_to_its_start() {
    let run = |world: &mut World| {
        world.reset(Some(5));
        ticks(world, 100);
        world.state_hash()
    };
    let mut world = rover();
    let (start, wanted) = (point(&world, BOX), run(&mut world));
    write(&mut world, BOX, Value::Point3D([0.1, 0.0, 0.2]));
    write(&mut world, TURN, Value::Quaternion(SIDEWAYS));
    ticks(&mut world, 20);
    assert_eq!(run(&mut world), wanted, "to the bit");
    assert_eq!(point(&world, BOX), start);
}

#[test]
fn settings_and_randomisation_say_where_things_start() {
    let settings = vec![(BOX.to_owned(), "(0.4,0,0.08)".to_owned())];
    let [min, max] = ["(-1,-1,0.1)", "(-0.5,1,0.1)"].map(str::to_owned);
    let randomise = vec![Randomise { variable: "/Sim/World/box-2/Position".into(), min, max }];
    let mut world = build(&Setup { settings, randomise, ..setup(flat(), vec![robot("Rover", "rover", 0.0, 0.0)]) });
    let drawn = |world: &mut World, seed| {
        world.reset(Some(seed));
        assert_eq!(point(world, BOX), [0.4, 0.0, 0.08], "each try begins as set");
        let place = point(world, "/Sim/World/box-2/Position");
        assert!((-1.0..=-0.5).contains(&place[0]) && place[2] == 0.1, "{place:?}");
        place
    };
    let first = drawn(&mut world, 1);
    write(&mut world, BOX, Value::Point3D([0.2, 1.0, 0.3]));
    assert_ne!(drawn(&mut world, 2), first);
    assert_eq!(drawn(&mut world, 1), first);
}

#[test]
fn what_was_moved_is_seen_there_also_after_others_have_joined() {
    let mut world = rover();
    let seen_at = |world: &World, place: [f64; 3]| {
        let snapshot = world.snapshot();
        let is_there = |look: &&physics::Visual| snapshot.visual_pose(look).is_some_and(|pose| pose.pos == place);
        snapshot.visuals.iter().filter(is_there).count()
    };
    let (start, there) = (point(&world, BOX), [0.6, 0.1, 0.3]);
    assert_eq!([seen_at(&world, start), seen_at(&world, there)], [1, 0]);
    let before = world.snapshot().visuals.clone();
    write(&mut world, BOX, Value::Point3D(there));
    assert_eq!([seen_at(&world, start), seen_at(&world, there)], [0, 1]);
    let guest = join(&mut world, robot("Guest", "rover", 0.0, 1.0));
    assert_eq!(point(&world, BOX), there);
    assert_eq!([seen_at(&world, start), seen_at(&world, there)], [0, 1]);
    write(&mut world, "/Sim/World/box-1/Size", Value::Point3D([0.2, 0.2, 0.2]));
    leave(&mut world, guest);
    assert_eq!([seen_at(&world, start), seen_at(&world, there)], [0, 1]);
    world.reset(None);
    assert_eq!([seen_at(&world, start), seen_at(&world, there)], [1, 0]);
    assert_eq!(world.snapshot().visuals.len(), before.len());
}

#[test]
fn fixed_bodies_and_robots_on_them_are_moved() {
    let mut world = build(&setup(text("bench", BENCH), vec![text_robot("Cart", CART, 0.0, 3.0)]));
    write(&mut world, "/Sim/World/post/Position", Value::Point3D([1.0, 1.0, 0.5]));
    write(&mut world, "/Sim/World/post/Orientation", Value::Quaternion(SIDEWAYS));
    assert_eq!(point(&world, "/Sim/World/post/Position"), [1.0, 1.0, 0.5]);
    write(&mut world, "/Sim/World/ball/Position", Value::Point3D([1.0, 1.0, 2.0]));
    ticks(&mut world, 300);
    assert!(point(&world, "/Sim/World/ball/Position")[2] > 1.0, "it lies on the post");
    world.reset(None);
    assert_eq!(point(&world, "/Sim/World/post/Position"), [-5.0, 0.0, 0.5]);
    // a cart hangs on a joint: where it is depends on that
    let cart = world.catalogue().agent_named("Cart").map(|card| card.id);
    assert_eq!(cart, Some(AgentId(1)));
    for name in ["/Sim/Cart/Position", "/Sim/World/spinner/Geom/Position", "/Sim/World/ball/Geom/Position"] {
        let error = try_write(&mut world, name, Value::Point3D([0.0; 3])).expect_err(name);
        assert!(matches!(error, VariableError::Fixed { .. }), "{error:?}");
    }
}
