//! What worlds may say, and that those that come with the program are sound.

use std::{sync::Arc, time::Duration};

use super::*;
use crate::{
    Arena,
    testing::{arena, beam, boxy, pose},
};

#[test]
fn mistakes_are_named_with_a_remedy() {
    let check = |text: &str, expected: &str| {
        let error = Plan::parse(&format!("title = \"t\"\n{text}")).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    };
    let block = |rest: &str| format!("[[obstacle]]\nheight = 10\ncolor = \"#000000\"\n{rest}\n");
    check("isolaton = \"shared\"", "did you mean `isolation`");
    check("isolation = \"per-robt\"", "did you mean `per-robot`");
    check("[walls]\nhight = 3", "did you mean `height`");
    check("[walls]\ncolor = \"red\"", "is not a colour like");
    check("[walls]\nheight = -1", "walls.height: -1 is out of range 0..=2000");
    check("[walls]\nheight = nan", "walls.height: NaN");
    check("[walls]\nmaterial = \"glas\"", "did you mean `glass`");
    check("[sensors]\nmax_range = inf", "sensors.max_range");
    check("idle_timeout = -1", "idle_timeout");
    check("idle_timeout = 1e-300", "is out of range 1..=");
    check("lockstep = { timeout = 0 }", "lockstep.timeout");
    check("lockstep = { timeout = 26 }", "lockstep.timeout");
    check(&block("shape = {}"), "obstacle 1: a shape needs exactly one of");
    check(&block("shape = { box = [1, 2, 3, 4], disc = [1, 2, 3] }"), "a shape needs exactly one of");
    check(&block("shape = { box = [1, 2, 3, 4], sides = 3 }"), "`sides` requires `disc`");
    check(&block("shape = { box = [1, 2, 0, 4] }"), "not 0 x 4");
    check(&block("shape = { disc = [1, 2, 3], sides = 2 }"), "3 to 64 sides");
    check(&block("shape = { line = [[1, 2], [3, 4]] }"), "needs a `width`");
    check(&block("shape = { line = [[1, 2]], width = 3 }"), "2 to 256 points");
    check(&block("shape = { line = [[0, 0], [9, 0], [0, 0]], width = 3 }"), "turns back too sharply");
    check(&block("shape = { line = [[0, 0], [0, 0]], width = 3 }"), "same point twice");
    check(&block("shape = { points = [[0, 0], [9, 9], [9, 0], [0, 9]] }"), "intersects itself");
    check(&block("shape = { points = [[0, 0], [9, 9], [1e9, 0]] }"), "too large");
    check(&block("shape = { disc = [1, 2, 3] }\nbase = 5000"), "base");
    check(&block("shape = { disc = [1, 2, 3] }").repeat(2001), "at most 2000");
    check("[[material]]\nname = \"glass\"\nvisible = true\nsonic = \"absorb\"", "duplicate name");
    check("[[material]]\nname = \"m\"\nvisible = true\nsonic = \"specular\"", "max_incidence_deg");
    check("[[terrain.patch]]\nshape = { disc = [900, 900, 30] }", "either `height` or `ramp`");
    check("[[terrain.patch]]\nshape = { disc = [900, 900, 30] }\nheight = 3000", "2000");
    check("[[terrain.patch]]\nshape = { disc = [900, 900, 30] }\nramp = { from = [0, 0, 0], to = [0, 0, 9] }", "1 mm");
    check("[[port]]\nport = 7770\n[[port]]\nport = 7770", "must be unique");
    check(
        "[[zone]]\nname = \"west\"\nshape = { disc = [1, 2, 3] }\n[[port]]\nport = 1\nzone = \"wst\"",
        "did you mean `west`",
    );
    check("[[zone]]\nname = \"out\"\nshape = { box = [2500, 500, 900, 900] }", "zone `out`: is outside the arena");
    check("title = 3", "duplicate key");
    assert!(Plan::parse("").is_err());
    assert!(matches!(Plan::parse(&" ".repeat(2 << 20)), Err(PlanError::TooLong { .. })));
}

#[test]
fn defaults() {
    let plan = Plan::parse("title = \"t\"").unwrap();
    assert_eq!(*plan.rules(), Rules::default());
    assert_eq!(plan.ports().len(), 1);
    assert_eq!((plan.ports()[0].port, plan.ports()[0].kind.as_str()), (7770, "robot"));
    let plan = Plan::parse("title = \"t\"\nidle_timeout = 0\nlockstep = { timeout = 2.5 }").unwrap();
    assert_eq!((plan.rules().idle_timeout, plan.rules().lockstep), (None, Some(Duration::from_millis(2500))));
}

#[test]
fn built_in_worlds_have_room_for_robots() {
    let names = Plan::names();
    assert_eq!(names, ["blocks", "cliff", "coevolution", "empty", "line", "materials", "maze", "obstacles"]);
    for name in names {
        let plan = Arc::new(Plan::built_in(&name).unwrap().unwrap_or_else(|error| panic!("{name}: {error}")));
        let kinds = plan.ports().len();
        let mut arena = Arena::new(plan, 1);
        for number in 0..20_u64 {
            let id = arena.create(number as usize % kinds, 1, Duration::ZERO).unwrap();
            let position = arena.shaped_as(id, &boxy(60.0, 80.0, 40.0));
            assert_eq!((position.stress, position.death), (0.0, false), "{name}: {position:?}");
        }
    }
    assert!(Plan::built_in("nowhere").is_none());
}

#[test]
fn the_cliff_can_be_climbed_and_fallen_from() {
    let mut arena = Arena::new(Arc::new(Plan::built_in("cliff").unwrap().unwrap()), 1);
    let id = arena.born_at(&boxy(60.0, 80.0, 40.0), pose(1000.0, 300.0, 1.57));
    let up = arena.moved(id, pose(1000.0, 1200.0, 1.57));
    assert_eq!((up.stress, up.z, up.death), (0.0, 150.0, false));
    let rim = arena.moved(id, pose(1560.0, 1200.0, 1.57));
    assert_eq!((rim.stress, rim.death), (0.0, true));
    let fallen = arena.moved(id, pose(1800.0, 1200.0, 1.57));
    assert_eq!((fallen.stress, fallen.z, fallen.death), (0.0, 0.0, false));
}

#[test]
fn the_line_can_be_seen_all_along() {
    let mut arena = Arena::new(Arc::new(Plan::built_in("line").unwrap().unwrap()), 1);
    let id = arena.born(&boxy(10.0, 10.0, 10.0));
    let line = Plan::built_in("line").unwrap().unwrap();
    for stretch in &line.floor().areas[0].outline {
        let (x, y) = stretch.iter().fold((0.0, 0.0), |(x, y), point| (x + point[0] / 4.0, y + point[1] / 4.0));
        let below = arena.seen(id, beam([x, y, 15.0], 0.0, -std::f64::consts::FRAC_PI_2, 0.0, 0.0));
        assert!((below.distance - 15.0).abs() < 1e-9);
        assert!(below.color == [0x2c, 0x3e, 0x50] || below.color == [0xe7, 0x4c, 0x3c], "{x} {y}: {below:?}");
    }
}

#[test]
fn obstacles_stand_on_the_ground() {
    let arena = arena(
        "[[terrain.patch]]\nshape = { box = [500, 500, 400, 400] }\nramp = { from = [300, 500, 0], to = [700, 500, 80] }\n\
         [[obstacle]]\nshape = { box = [500, 500, 100, 100] }\nheight = 10\ncolor = \"#000000\"\n",
    );
    let obstacle = &arena.plan().obstacles()[0];
    assert!((obstacle.low - 30.0).abs() < 1e-9 && (obstacle.high - 60.0).abs() < 1e-9, "{obstacle:?}");
    assert_eq!(arena.plan().height(300.0, 500.0), 0.0);
    assert!((arena.plan().height(500.0, 500.0) - 40.0).abs() < 1e-9);
}
