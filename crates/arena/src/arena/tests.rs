//! Identity, lifetime and placement.

use std::{num::NonZeroU16, sync::Arc, time::Duration};

use proptest::prelude::*;

use crate::{
    Arena, Beam, Body, Layer, Plan, Request, RequestError, Response, RobotId,
    arena::{MAX_POINTS, MAX_ROBOTS_OF_CONNECTION},
    testing::{ME, arena, beam, boxy, pose},
};

const OTHER: u64 = 2;

fn id(number: u16) -> RobotId {
    RobotId(NonZeroU16::new(number).unwrap())
}

fn seconds(value: u64) -> Duration {
    Duration::from_secs(value)
}

#[test]
fn identifiers_go_round_and_skip_the_living() {
    let mut arena = arena("");
    let mut create = |expected: u16| {
        assert_eq!(arena.create(0, ME, Duration::ZERO), Ok(id(expected)));
        arena.request(&Request::Kill(id(expected))).unwrap();
    };
    for expected in 1..=u16::MAX {
        create(expected);
    }
    create(1);
    let mut arena = super::tests::arena("");
    // each connection has a thousand
    let owner = |number: u16| 100 + u64::from(number / 1_000);
    for expected in 1..=u16::MAX {
        assert_eq!(arena.create(0, owner(expected), Duration::ZERO), Ok(id(expected)));
    }
    assert_eq!(arena.request(&Request::Create), Err(RequestError::Full));
    for gone in [500, 77] {
        arena.handle(owner(gone), 0, &Request::Kill(id(gone)), Duration::ZERO).unwrap();
    }
    assert_eq!(arena.request(&Request::Create), Ok(Some(Response::Created(id(77)))));
    assert_eq!(arena.request(&Request::Create), Ok(Some(Response::Created(id(500)))));
    assert_eq!(arena.request(&Request::Create), Err(RequestError::Full));
    assert_eq!(arena.len(), 65_535);
    // a full world makes room by who was silent for too long
    let later = seconds(301);
    arena.handle(owner(9), 0, &Request::Kill(id(9)), later).unwrap();
    assert_eq!(arena.handle(ME, 0, &Request::Create, later), Ok(Some(Response::Created(id(9)))));
    assert!(arena.create(0, ME, later).is_ok());
    assert_eq!(arena.len(), 2);
}

#[test]
fn a_connection_cannot_take_all_identifiers() {
    let mut arena = arena("");
    let (mut created, mut refused) = (0, 0);
    for _ in 0..65_534 {
        match arena.request(&Request::Create) {
            Ok(_) => created += 1,
            Err(error) => {
                assert_eq!(error, RequestError::TooManyRobots);
                refused += 1;
            }
        }
    }
    assert_eq!((created, created + refused), (MAX_ROBOTS_OF_CONNECTION, 65_534));
    assert!(arena.create(0, OTHER, Duration::ZERO).is_ok());
    // what is gone does not count
    arena.request(&Request::Kill(id(5))).unwrap();
    assert!(arena.request(&Request::Create).is_ok());
    assert_eq!(arena.request(&Request::Create), Err(RequestError::TooManyRobots));
    arena.disconnect(ME);
    assert!(arena.request(&Request::Create).is_ok());
}

#[test]
fn the_shapes_of_a_connection_have_a_limit() {
    let mut arena = arena("isolation = \"per-robot\"");
    let ring = |radius: f64| {
        (0..250)
            .map(|n| f64::from(n) * std::f64::consts::TAU / 250.0)
            .map(move |a| [radius * a.cos(), radius * a.sin()])
            .collect()
    };
    let body = Arc::new(
        Body::new((1..=4).map(|n| Layer { height: 1.0, polygons: vec![ring(f64::from(n))] }).collect()).unwrap(),
    );
    let most = MAX_POINTS / body.points();
    let shape = |arena: &mut Arena| {
        let robot = arena.create(0, ME, Duration::ZERO).unwrap();
        (robot, arena.request(&Request::Shape(robot, body.clone())))
    };
    for _ in 0..most {
        assert!(shape(&mut arena).1.is_ok());
    }
    assert_eq!(shape(&mut arena).1, Err(RequestError::TooManyPoints));
    // the same again is no more; others have their own; what is gone does not count
    arena.request(&Request::Shape(id(1), body.clone())).unwrap();
    let other = arena.create(0, OTHER, Duration::ZERO).unwrap();
    assert!(arena.handle(OTHER, 0, &Request::Shape(other, body.clone()), Duration::ZERO).is_ok());
    arena.request(&Request::Kill(id(1))).unwrap();
    assert!(shape(&mut arena).1.is_ok());
    arena.disconnect(ME);
    assert!(shape(&mut arena).1.is_ok());
}

#[test]
fn refusals() {
    let mut arena = arena("");
    let robot = arena.create(0, ME, Duration::ZERO).unwrap();
    let look: Beam = beam([1000.0, 1000.0, 10.0], 0.0, 0.0, 0.1, 0.1);
    let shapeless = [
        Request::Jump(robot, pose(1.0, 1.0, 0.0)),
        Request::Move(robot, pose(1.0, 1.0, 0.0)),
        Request::See(robot, look),
        Request::Hear(robot, look),
    ];
    for ask in &shapeless {
        assert_eq!(arena.request(ask), Err(RequestError::NoShape(robot)), "{ask:?}");
    }
    let foreign = |ask: &Request, arena: &mut Arena| arena.handle(OTHER, 0, ask, Duration::ZERO);
    arena.shaped_as(robot, &boxy(60.0, 80.0, 20.0));
    for ask in shapeless.iter().chain(&[Request::Kill(robot), Request::Shape(robot, boxy(1.0, 1.0, 1.0))]) {
        assert_eq!(foreign(ask, &mut arena), Err(RequestError::NotOwner(robot)), "{ask:?}");
        assert!(arena.robot(robot).is_some());
    }
    assert_eq!(arena.request(&Request::See(id(9), look)), Err(RequestError::UnknownRobot(id(9))));
    assert_eq!(arena.request(&Request::Kill(robot)), Ok(None));
    assert_eq!(arena.request(&Request::Kill(robot)), Ok(None));
    assert_eq!(arena.request(&Request::See(robot, look)), Err(RequestError::UnknownRobot(robot)));

    let mut arena = super::tests::arena("shared_ids = true\n");
    let robot = arena.born(&boxy(60.0, 80.0, 20.0));
    assert!(foreign(&Request::See(robot, look), &mut arena).is_ok());
}

#[test]
fn the_silent_and_the_disconnected_go() {
    let check = |world: &str, at: u64, gone: &[RobotId]| {
        let mut arena = arena(world);
        arena.create(0, ME, seconds(0)).unwrap();
        let spoke = arena.create(0, ME, seconds(0)).unwrap();
        let body = boxy(60.0, 80.0, 20.0);
        arena.handle(ME, 0, &Request::Shape(spoke, body), seconds(100)).unwrap();
        assert_eq!(arena.reap(seconds(at)), gone, "{world} {at}");
    };
    check("", 300, &[]);
    check("", 301, &[id(1)]);
    check("", 401, &[id(1), id(2)]);
    check("idle_timeout = 10\n", 105, &[id(1)]);
    check("idle_timeout = 0\n", 1_000_000, &[]);

    let mut arena = arena("");
    for owner in [ME, OTHER, ME] {
        arena.create(0, owner, Duration::ZERO).unwrap();
    }
    arena.disconnect(ME);
    assert_eq!(arena.robots().map(|robot| robot.id).collect::<Vec<_>>(), [id(2)]);
}

#[test]
fn isolation() {
    // two robots of one connection and one of another, in a row
    let check = |isolation: &str, meets_own: bool, meets_other: bool| {
        let mut arena = arena(&format!("isolation = \"{isolation}\"\n"));
        let body = boxy(60.0, 80.0, 40.0);
        let mut born = |owner: u64, x: f64| {
            let robot = arena.create(0, owner, Duration::ZERO).unwrap();
            arena.handle(owner, 0, &Request::Shape(robot, body.clone()), Duration::ZERO).unwrap();
            arena.handle(owner, 0, &Request::Jump(robot, pose(x, 1000.0, 0.0)), Duration::ZERO).unwrap();
            robot
        };
        let (robot, _own, _other) = (born(ME, 1000.0), born(ME, 1300.0), born(OTHER, 700.0));
        let seen = |arena: &mut Arena, dir: f64| {
            let x = 1000.0 + 41.0 * dir.cos();
            arena.seen(robot, beam([x, 1000.0, 20.0], dir, 0.0, 0.1, 0.1)).distance
        };
        assert_eq!(seen(&mut arena, 0.0) < 250.0, meets_own, "{isolation}");
        assert_eq!(seen(&mut arena, std::f64::consts::PI) < 250.0, meets_other, "{isolation}");
        assert_eq!(arena.jumped(robot, pose(1310.0, 1000.0, 0.0)).stress > 0.0, meets_own, "{isolation}");
        arena.jumped(robot, pose(1000.0, 1000.0, 0.0));
        assert_eq!(arena.moved(robot, pose(720.0, 1000.0, 0.0)).stress > 0.0, meets_other, "{isolation}");
    };
    check("shared", true, true);
    check("per-connection", true, false);
    check("per-robot", false, false);
}

#[test]
fn random_places_follow_from_the_seed_and_the_number_of_robots() {
    let places = |seed: u64, others: usize| {
        let mut arena = Arena::new(Arc::new(Plan::parse("title = \"t\"\nisolation = \"per-robot\"").unwrap()), seed);
        let ids: Vec<_> = (0..3).map(|_| arena.create(0, ME, Duration::ZERO).unwrap()).collect();
        // in which order they are shaped does not matter
        let mut order = ids.clone();
        order.rotate_left(others);
        for robot in order {
            arena.shaped_as(robot, &boxy(60.0, 80.0, 20.0));
        }
        ids.iter().map(|robot| arena.robot(*robot).unwrap().position.unwrap().x).collect::<Vec<_>>()
    };
    assert_eq!(places(1, 0), places(1, 2));
    assert_ne!(places(1, 0), places(2, 0));
    assert_ne!(places(1, 0)[0], places(1, 0)[1]);
}

#[test]
fn robots_start_in_their_zone_and_not_on_deathly_ground() {
    let world = "[[zone]]\nname = \"west\"\nshape = { box = [200, 1000, 200, 1600] }\n\
                 [[port]]\nport = 7770\nzone = \"west\"\n\
                 [[deathly]]\nshape = { box = [200, 500, 400, 1000] }\n";
    let mut arena = arena(world);
    for _ in 0..50 {
        let robot = arena.create(0, ME, Duration::ZERO).unwrap();
        let position = arena.shaped_as(robot, &boxy(30.0, 40.0, 20.0));
        assert!((100.0..=300.0).contains(&position.x) && (1000.0..=1800.0).contains(&position.y), "{position:?}");
        assert!(!position.death && position.stress == 0.0);
    }
}

#[test]
fn a_robot_without_room_is_lost_until_it_jumps() {
    let world = "[[zone]]\nname = \"cell\"\nshape = { box = [500, 500, 50, 50] }\n\
                 [[port]]\nport = 7770\nzone = \"cell\"\n\
                 [[obstacle]]\nshape = { box = [500, 500, 100, 100] }\nheight = 50\ncolor = \"#000000\"\n";
    let mut arena = arena(world);
    let robot = arena.create(0, ME, Duration::ZERO).unwrap();
    assert_eq!(arena.shaped_as(robot, &boxy(60.0, 80.0, 20.0)).stress, 1.0);
    assert_eq!(arena.moved(robot, pose(900.0, 500.0, 0.0)).stress, 1.0);
    assert_eq!(arena.jumped(robot, pose(900.0, 500.0, 0.0)).stress, 0.0);
    assert_eq!(arena.moved(robot, pose(950.0, 500.0, 0.0)).stress, 0.0);
}

#[test]
fn a_new_shape_is_corrected_by_as_little_as_possible() {
    let check = |world: &str, at: [f64; 2], body: Arc<Body>, moved: f64, stress: f64| {
        let mut arena = arena(world);
        let robot = arena.born_at(&boxy(20.0, 20.0, 20.0), pose(at[0], at[1], 0.0));
        let position = arena.shaped_as(robot, &body);
        let off = (position.x - at[0]).hypot(position.y - at[1]);
        assert!((off - moved).abs() < 0.5, "{position:?}, expected to be moved by {moved}");
        assert_eq!((position.stress, position.dir), (stress, 0.0));
        if stress > 0.0 {
            assert_eq!(arena.robot(robot).unwrap().body.unwrap().height(), 20.0, "it keeps its old shape");
        }
    };
    let block = "[[obstacle]]\nshape = { box = [1200, 1000, 100, 400] }\nheight = 100\ncolor = \"#c0392b\"\n";
    check("", [1000.0, 1000.0], boxy(60.0, 80.0, 30.0), 0.0, 0.0);
    check("", [15.0, 1000.0], boxy(60.0, 80.0, 30.0), 25.0, 0.0);
    check("", [15.0, 15.0], boxy(60.0, 80.0, 30.0), 15.0_f64.hypot(25.0), 0.0);
    check(block, [1130.0, 1000.0], boxy(60.0, 80.0, 30.0), 20.0, 0.0);
    check("", [1000.0, 1000.0], boxy(3500.0, 80.0, 30.0), 0.0, 1.0);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it is about how long it takes")]
fn no_shape_keeps_the_world_busy_for_long() {
    use std::{fmt::Write, time::Instant};
    let mut world = "isolation = \"shared\"\n".to_owned();
    for index in 0..2000 {
        let (x, y) = (index % 50 * 40 + 20, index / 50 * 50 + 25);
        let shape = format!("shape = {{ disc = [{x}, {y}, 5], sides = 16 }}");
        write!(world, "[[obstacle]]\n{shape}\nheight = 10\ncolor = \"#000000\"\n").unwrap();
    }
    // as many triangles as a body may have, all over a square
    let comb = |size: f64| {
        let tooth = |index: u32| {
            let (x, y) = (f64::from(index % 52) * size / 52.0, f64::from(index / 52) * size / 52.0);
            vec![[x, y], [x + 2.0, y], [x, y + 2.0]]
        };
        Arc::new(Body::new(vec![Layer { height: 40.0, polygons: (0..2700).map(tooth).collect() }]).unwrap())
    };
    let mut arena = arena(&world);
    for number in 0..20_000 {
        let connection = 100 + number / 1_000;
        let dust = arena.create(0, connection, Duration::ZERO).unwrap();
        arena.handle(connection, 0, &Request::Shape(dust, boxy(0.01, 0.01, 1.0)), Duration::ZERO).unwrap();
    }
    let robot = arena.born(&boxy(1.0, 1.0, 1.0));
    let mut longest = Duration::ZERO;
    for body in
        [boxy(900.0, 900.0, 40.0), boxy(3500.0, 80.0, 40.0), boxy(1990.0, 1990.0, 40.0), comb(1800.0), comb(300.0)]
    {
        let new = arena.create(0, ME, Duration::ZERO).unwrap();
        for id in [new, robot] {
            let start = Instant::now();
            arena.shaped_as(id, &body);
            longest = longest.max(start.elapsed());
        }
    }
    // some tens of milliseconds, with much left for a slow and busy machine
    assert!(longest < Duration::from_millis(500), "{longest:?}");
    let turned = (0..20).map(|step| {
        let start = Instant::now();
        arena.moved(robot, pose(1000.0, 1000.0, f64::from(step)));
        start.elapsed()
    });
    assert!(turned.max() < Some(Duration::from_millis(500)));
    let look = |_| {
        let start = Instant::now();
        arena.seen(robot, beam([1000.0, 1000.0, 30.0], 0.0, 0.0, 1.0, 1.0));
        start.elapsed()
    };
    assert!((0..20).map(look).min() < Some(Duration::from_millis(1)));
}

#[test]
fn a_new_shape_may_be_turned_if_that_is_the_only_way() {
    let canyon = "[[obstacle]]\nshape = { box = [1000, 450, 2000, 900] }\nheight = 100\ncolor = \"#c0392b\"\n\
                  [[obstacle]]\nshape = { box = [1000, 1550, 2000, 900] }\nheight = 100\ncolor = \"#c0392b\"\n";
    let mut arena = arena(canyon);
    let robot = arena.born_at(&boxy(20.0, 20.0, 20.0), pose(1000.0, 1000.0, 0.0));
    // a body's width is across its direction
    let position = arena.shaped_as(robot, &boxy(300.0, 40.0, 20.0));
    assert_eq!(position.stress, 0.0);
    assert!(position.dir.sin().abs() > 0.8, "{position:?}");
}

proptest! {
    #[test]
    fn new_robots_collide_with_nothing(
        seed: u64, sizes in prop::collection::vec((10.0..150.0_f64, 10.0..150.0_f64), 1..20),
    ) {
        let world = Plan::built_in("obstacles").unwrap().unwrap();
        let mut arena = Arena::new(Arc::new(world), seed);
        for (width, depth) in sizes {
            let id = arena.create(0, ME, Duration::ZERO).unwrap();
            let position = arena.shaped_as(id, &boxy(width, depth, 30.0));
            prop_assert_eq!(position.stress, 0.0);
            let again = arena.jumped(id, pose(position.x, position.y, position.dir));
            prop_assert_eq!(again.stress, 0.0);
        }
    }

    #[test]
    fn the_same_asks_give_the_same_answers(seed: u64, steps in prop::collection::vec((-50.0..50.0_f64, -1.0..1.0_f64), 1..30)) {
        let run = || {
            let mut arena = Arena::new(Arc::new(Plan::built_in("obstacles").unwrap().unwrap()), seed);
            let id = arena.born(&boxy(60.0, 80.0, 20.0));
            let mut answers = Vec::new();
            for (by, turn) in &steps {
                let at = *arena.robot(id).unwrap().position.unwrap();
                let target = pose(at.x + by * at.dir.cos(), at.y + by * at.dir.sin(), at.dir + turn);
                answers.push(format!("{:?}", arena.moved(id, target)));
                let look = beam([at.x, at.y, 25.0], at.dir, 0.0, 0.5, 0.5);
                answers.push(format!("{:?}", arena.seen(id, look)));
            }
            answers
        };
        prop_assert_eq!(run(), run());
    }
}

#[test]
fn a_body_may_be_in_the_air_around_its_reference_point() {
    let mut arena = arena("");
    let ring = Layer { height: 20.0, polygons: vec![vec![[100.0, 0.0], [140.0, 0.0], [140.0, 40.0], [100.0, 40.0]]] };
    let robot = arena.born_at(&Arc::new(Body::new(vec![ring]).unwrap()), pose(1000.0, 1000.0, 0.0));
    // the reference point stays in the arena even if the body would fit
    assert_eq!(arena.jumped(robot, pose(1000.0, 2050.0, 0.0)).stress, 1.0);
    let position = arena.moved(robot, pose(1000.0, 2050.0, 0.0));
    assert!(position.stress > 0.0 && position.y < 2000.0, "{position:?}");
}
