//! Beams against rays that are cast one by one, and scenes whose answer is known.

use std::{
    f64::consts::{FRAC_PI_2, FRAC_PI_3, FRAC_PI_4, FRAC_PI_6, PI},
    fmt::Write,
};

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{
    Arena, Beam, Plan, RobotId,
    testing::{arena, beam, boxy, pose},
};

/// Obstacles of all sorts, on the ground and in the air.
fn field(random: &mut ChaCha8Rng) -> Arena {
    let mut text = "isolation = \"per-robot\"\nsensors.ground = \"always\"\n".to_owned();
    for _ in 0..12 {
        let mut draw = |min: f64, max: f64| min + (max - min) * random.random::<f64>();
        let (x, y, radius) = (draw(150.0, 1850.0), draw(150.0, 1850.0), draw(20.0, 120.0));
        let (sides, base, height) = (draw(3.0, 9.0) as usize, draw(-40.0, 120.0).max(0.0), draw(10.0, 200.0));
        let shape = format!("{{ disc = [{x}, {y}, {radius}], sides = {sides} }}");
        write!(text, "[[obstacle]]\nshape = {shape}\nbase = {base}\nheight = {height}\ncolor = \"#123456\"\n").unwrap();
    }
    arena(&text)
}

fn observer(arena: &mut Arena) -> RobotId {
    arena.born(&boxy(0.1, 0.1, 0.1))
}

/// Where a ray first meets the world, worked out from the plan's outlines alone.
fn cast(plan: &Plan, from: [f64; 3], along: [f64; 3]) -> f64 {
    let mut nearest = plan.rules().max_range;
    let scale = along.iter().map(|value| value * value).sum::<f64>().sqrt();
    let along = along.map(|value| value / scale);
    let wall = |points: [[f64; 2]; 4]| (points.to_vec(), 0.0, plan.walls().height);
    let solids = plan.obstacles().iter().map(|obstacle| (obstacle.outline[0].clone(), obstacle.low, obstacle.high));
    let walls = [
        wall([[-20.0, -20.0], [2020.0, -20.0], [2020.0, 0.0], [-20.0, 0.0]]),
        wall([[-20.0, 2000.0], [2020.0, 2000.0], [2020.0, 2020.0], [-20.0, 2020.0]]),
        wall([[-20.0, 0.0], [0.0, 0.0], [0.0, 2000.0], [-20.0, 2000.0]]),
        wall([[2000.0, 0.0], [2020.0, 0.0], [2020.0, 2000.0], [2000.0, 2000.0]]),
    ];
    for (points, low, high) in solids.chain(walls) {
        let (mut enter, mut leave) = (0.0_f64, f64::INFINITY);
        let mut cut = |normal: [f64; 3], offset: f64| {
            let dot = |point: [f64; 3]| normal[0] * point[0] + normal[1] * point[1] + normal[2] * point[2];
            let (speed, beyond) = (dot(along), dot(from) - offset);
            if speed < 0.0 {
                enter = enter.max(-beyond / speed);
            } else if speed > 0.0 {
                leave = leave.min(-beyond / speed);
            } else if beyond > 0.0 {
                leave = -1.0;
            }
        };
        for (i, a) in points.iter().enumerate() {
            let b = points[(i + 1) % points.len()];
            let normal = [b[1] - a[1], a[0] - b[0], 0.0];
            cut(normal, normal[0] * a[0] + normal[1] * a[1]);
        }
        cut([0.0, 0.0, 1.0], high);
        cut([0.0, 0.0, -1.0], -low);
        if enter <= leave {
            nearest = nearest.min(enter);
        }
    }
    if along[2] < 0.0 {
        let floor = -from[2] / along[2];
        let (x, y) = (from[0] + floor * along[0], from[1] + floor * along[1]);
        if (0.0..=2000.0).contains(&x) && (0.0..=2000.0).contains(&y) {
            nearest = nearest.min(floor);
        }
    }
    nearest
}

/// The least of many rays that fill the beam.
fn sampled(plan: &Plan, beam: &Beam, count: usize) -> f64 {
    let ((sin, cos), (rise, level)) = (beam.dir.sin_cos(), beam.tilt.sin_cos());
    let share = |i: usize| 2.0 * i as f64 / (count - 1) as f64 - 1.0;
    let (wide, high) = ((0.5 * beam.angle_h).tan(), (0.5 * beam.angle_v).tan());
    let across = if wide == 0.0 { 1 } else { count };
    let upward = if high == 0.0 { 1 } else { count };
    let mut nearest = f64::INFINITY;
    for i in 0..across {
        for j in 0..upward {
            let left = if across == 1 { 0.0 } else { share(i) * wide };
            let up = if upward == 1 { 0.0 } else { share(j) * high };
            let along = [
                level * cos - left * sin - up * rise * cos,
                level * sin + left * cos - up * rise * sin,
                rise + up * level,
            ];
            nearest = nearest.min(cast(plan, [beam.x, beam.y, beam.z], along));
        }
    }
    nearest
}

fn random_beam(random: &mut ChaCha8Rng, angle_h: f64, angle_v: f64) -> Beam {
    let mut draw = |min: f64, max: f64| min + (max - min) * random.random::<f64>();
    let at = [draw(5.0, 1995.0), draw(5.0, 1995.0), draw(1.0, 250.0)];
    beam(at, draw(-4.0, 4.0), draw(-1.2, 1.2), angle_h, angle_v)
}

/// `far` is how many of 100 beams may differ by more than 3 %, because the samples miss a corner.
fn check_against_rays(angle_h: f64, angle_v: f64, count: usize, far: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(angle_h.to_bits() ^ angle_v.to_bits());
    let mut differ = 0;
    for _ in 0..10 {
        let mut arena = field(&mut random);
        let id = observer(&mut arena);
        for _ in 0..10 {
            let beam = random_beam(&mut random, angle_h, angle_v);
            let exact = arena.seen(id, beam).distance;
            let sampled = sampled(arena.plan(), &beam, count);
            assert!(exact <= sampled + 1e-6, "{beam:?}: {exact} is farther than the sampled {sampled}");
            differ += usize::from(sampled - exact > 1.0 + 0.03 * exact);
        }
    }
    assert!(differ <= far, "{angle_h} x {angle_v}: {differ} of 100 differ");
}

#[test]
fn beams_find_what_dense_rays_find() {
    check_against_rays(FRAC_PI_6, FRAC_PI_6, 41, 3);
    check_against_rays(FRAC_PI_2, FRAC_PI_2, 61, 3);
    check_against_rays(FRAC_PI_3, 0.1, 41, 3);
    check_against_rays(0.02, 0.02, 5, 3);
}

#[test]
fn fans_find_what_dense_rays_find() {
    check_against_rays(FRAC_PI_4, 0.0, 801, 3);
    check_against_rays(0.0, FRAC_PI_4, 801, 3);
}

#[test]
fn rays_find_what_a_ray_finds() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for _ in 0..20 {
        let mut arena = field(&mut random);
        let id = observer(&mut arena);
        for _ in 0..100 {
            let beam = random_beam(&mut random, 0.0, 0.0);
            let (exact, expected) = (arena.seen(id, beam).distance, sampled(arena.plan(), &beam, 2));
            assert!((exact - expected).abs() < 1e-6 * (1.0 + expected), "{beam:?}: {exact}, {expected}");
        }
    }
}

const BLOCK: &str = "[[obstacle]]\nshape = { box = [1500, 1000, 200, 200] }\nheight = 100\ncolor = \"#c0392b\"\n";

#[test]
fn known_scenes() {
    let check = |world: &str, look: Beam, distance: f64, color: [u8; 3]| {
        let mut arena = arena(world);
        let id = arena.born_at(&boxy(60.0, 80.0, 20.0), pose(1000.0, 1000.0, 0.0));
        let sight = arena.seen(id, look);
        assert!((sight.distance - distance).abs() < 1e-9, "{world}{look:?}: {sight:?}, expected {distance}");
        assert_eq!(sight.color, color, "{world}{look:?}");
    };
    let (red, wall, floor) = ([192, 57, 43], [0xec, 0xe5, 0xd8], [0xd9, 0xd4, 0xc7]);
    let ahead = |opening: f64| beam([1040.0, 1000.0, 25.0], 0.0, 0.0, opening, opening);
    check(BLOCK, ahead(FRAC_PI_6), 360.0, red);
    check(BLOCK, ahead(0.0), 360.0, red);
    check("", ahead(FRAC_PI_6), 960.0, wall);
    // over the wall there is nothing
    check("", beam([1000.0, 1000.0, 50.0], 0.0, 0.5, 0.1, 0.1), 5000.0, [0, 0, 0]);
    check("sensors.background = \"#0000ff\"\n", beam([0.0, 0.0, 900.0], 0.0, 1.0, 0.0, 0.0), 5000.0, [0, 0, 255]);
    check("sensors.max_range = 300\n", ahead(FRAC_PI_6), 300.0, [0, 0, 0]);
    // the floor counts only below the horizon, unless the world says otherwise
    let down = beam([1040.0, 1000.0, 25.0], 0.0, -FRAC_PI_2, 0.1, 0.1);
    check("", down, 25.0, floor);
    check("sensors.ground = \"never\"\n", down, 5000.0, [0, 0, 0]);
    check("sensors.ground = \"always\"\n", ahead(FRAC_PI_6), 25.0 / (PI / 12.0).sin(), floor);
    check("[[floor.area]]\nshape = { box = [1040, 1000, 20, 20] }\ncolor = \"#010203\"\n", down, 25.0, [1, 2, 3]);
    // inside an obstacle
    check(BLOCK, beam([1500.0, 1000.0, 25.0], 1.0, 0.0, 0.1, 0.1), 0.0, red);
    // from above: the lid, and one's own robot seen by a camera at the ceiling
    check(BLOCK, beam([1500.0, 1000.0, 600.0], 0.0, -FRAC_PI_2, 0.1, 0.1), 500.0, red);
    check(BLOCK, beam([1000.0, 1000.0, 600.0], 0.0, -FRAC_PI_2, 0.1, 0.1), 580.0, [0xf3, 0x9c, 0x12]);
    // under a bridge
    let bridge =
        "[[obstacle]]\nshape = { box = [1500, 1000, 200, 2000] }\nbase = 50\nheight = 50\ncolor = \"#c0392b\"\n";
    check(bridge, ahead(0.0), 960.0, wall);
    check(bridge, beam([1500.0, 1000.0, 20.0], 0.0, FRAC_PI_2, 0.2, 0.2), 30.0, red);
    // clockwise from +y
    check(
        &format!("[directions]\nzero = \"y\"\nsense = \"cw\"\n{BLOCK}"),
        beam([1040.0, 1000.0, 25.0], FRAC_PI_2, 0.0, 0.1, 0.1),
        360.0,
        red,
    );
}

#[test]
fn materials() {
    let check = |material: &str, turn_deg: f64, seen: bool, heard: bool| {
        let shape = format!("{{ box = [1500, 1000, 20, 800], turn_deg = {turn_deg} }}");
        let mut arena = arena(&format!(
            "[[material]]\nname = \"curtain\"\nvisible = false\nsonic = \"absorb\"\n\
             [[material]]\nname = \"mirror\"\nvisible = true\nsonic = \"specular\"\nmax_incidence_deg = 10\n\
             [[obstacle]]\nshape = {shape}\nheight = 150\ncolor = \"#c0392b\"\nmaterial = \"{material}\"\n"
        ));
        let id = arena.born_at(&boxy(60.0, 80.0, 20.0), pose(1000.0, 1000.0, 0.0));
        // narrow, so that the angle of incidence is the wall's turn
        let look = beam([1040.0, 1000.0, 25.0], 0.0, 0.0, 0.01, 0.01);
        assert_eq!(arena.seen(id, look).distance < 600.0, seen, "{material} {turn_deg} seen");
        assert_eq!(arena.heard(id, look) < 600.0, heard, "{material} {turn_deg} heard");
    };
    for turn in [0.0, 40.0] {
        check("wood", turn, true, true);
        check("wallpaper", turn, true, true);
        check("glass", turn, false, true);
        check("cotton", turn, true, false);
        check("curtain", turn, false, false);
    }
    check("smooth", 0.0, true, true);
    check("smooth", 15.0, true, true);
    check("smooth", 25.0, true, false);
    check("mirror", 8.0, true, true);
    check("mirror", 12.0, true, false);
}

#[test]
fn a_wide_beam_hears_a_mirroring_wall_where_it_is_hit_upright() {
    let mut arena = arena(
        "[[obstacle]]\nshape = { box = [1500, 1000, 20, 1800], turn_deg = 30 }\nheight = 150\ncolor = \"#c0392b\"\n\
         material = \"smooth\"\n",
    );
    let id = arena.born_at(&boxy(60.0, 80.0, 20.0), pose(1000.0, 1000.0, 0.0));
    let look = |angle_h| beam([1000.0, 1000.0, 25.0], 0.0, 0.0, angle_h, 0.01);
    let upright = 500.0 * FRAC_PI_6.cos() - 10.0;
    assert!((arena.heard(id, look(1.2)) - upright).abs() < 1e-6);
    // the beam's edge is 15 degrees from the normal, which is near enough for a smooth wall
    let slanted = upright / FRAC_PI_6.mul_add(0.5, 0.0).cos();
    assert!((arena.heard(id, look(FRAC_PI_6)) - slanted).abs() < 1e-6);
    assert!(arena.heard(id, look(0.01)) > 900.0);
}

#[test]
fn what_rises_above_the_eye_is_seen_and_the_floor_is_not() {
    let world = "[terrain]\nmax_climb = 5\n\
                 [[terrain.patch]]\nshape = { box = [1500, 1000, 400, 400] }\nheight = 50\ncolor = \"#0a0b0c\"\n\
                 [[terrain.patch]]\nshape = { box = [1100, 1600, 400, 400] }\n\
                 ramp = { from = [900, 1600, 0], to = [1300, 1600, 80] }\n";
    let mut arena = arena(world);
    let id = arena.born_at(&boxy(60.0, 80.0, 20.0), pose(500.0, 500.0, 0.0));
    let at_step = arena.seen(id, beam([1000.0, 1000.0, 25.0], 0.0, 0.0, 0.1, 0.1));
    assert_eq!((at_step.distance, at_step.color), (300.0, [10, 11, 12]));
    let at_ramp = arena.seen(id, beam([700.0, 1600.0, 25.0], 0.0, 0.0, 0.1, 0.0));
    // where the ramp is as high as the eye; lower down it is floor
    assert!((at_ramp.distance - 325.0).abs() < 1e-9, "{at_ramp:?}");
    let over_ramp = arena.seen(id, beam([700.0, 1600.0, 90.0], 0.0, 0.0, 0.1, 0.2));
    assert_eq!(over_ramp.distance, 1300.0);
    // looking down on the ramp, half-way up
    let down = arena.seen(id, beam([1100.0, 1600.0, 100.0], 0.0, -FRAC_PI_2, 0.0, 0.0));
    assert!((down.distance - 60.0).abs() < 1e-9, "{down:?}");
    let under = arena.seen(id, beam([1500.0, 1000.0, 25.0], 0.0, -FRAC_PI_2, 0.1, 0.1));
    assert_eq!(under.distance, 0.0);
}

#[test]
fn a_ramp_hides_what_is_behind_and_a_pit_is_not_seen_through_the_floor() {
    let mut arena = Arena::new(std::sync::Arc::new(Plan::built_in("cliff").unwrap().unwrap()), 1);
    let id = arena.born(&boxy(60.0, 80.0, 40.0));
    let lamp = [0xf1, 0xc4, 0x0f];
    let ahead = arena.seen(id, beam([1000.0, 300.0, 25.0], FRAC_PI_2, 0.0, 0.1, 0.1));
    assert!(ahead.color != lamp && ahead.distance < 300.0, "{ahead:?}");
    // over the edge of the plateau
    assert_eq!(arena.seen(id, beam([1000.0, 300.0, 180.0], FRAC_PI_2, 0.05, 0.1, 0.0)).color, lamp);
    // across the pit, whose far wall is below the ground here: the side of the ramp behind it
    let across = arena.seen(id, beam([200.0, 720.0, 25.0], 0.0, 0.0, 0.1, 0.6));
    assert_eq!(across.distance, 560.0);
}

#[test]
fn a_tilted_robot_does_not_see_itself() {
    let world = "[[terrain.patch]]\nshape = { box = [1000, 1000, 1600, 1600] }\n\
                 ramp = { from = [200, 1000, 0], to = [1800, 1000, 480] }\n";
    let mut arena = arena(world);
    for dir in [0.0, 1.0, PI] {
        let id = arena.born_at(&boxy(100.0, 110.0, 100.0), pose(1000.0, 1000.0, dir));
        let at = *arena.robot(id).unwrap().position.unwrap();
        // 105 mm above the bottom, at the middle of the lower side: outside of the upright box if it looks uphill
        let (sin, cos) = 0.3_f64.atan().sin_cos();
        let (x, z) = (1000.0 - 50.0 * cos - 105.0 * sin, at.z - 50.0 * sin + 105.0 * cos);
        assert!(arena.seen(id, beam([x, 1000.0, z], 0.0, 0.3_f64.atan(), 0.3, 0.3)).distance > 200.0, "{dir}");
        arena.request(&crate::Request::Kill(id)).unwrap();
    }
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![-10.0..10.0, -3000.0..3000.0, prop::num::f64::NORMAL, Just(0.0), Just(1e-300), Just(f64::MAX)]
}

proptest! {
    #[test]
    fn nothing_gives_a_distance_that_is_not_finite(
        at in prop::array::uniform3(any_number()), angles in prop::array::uniform4(any_number()), hear: bool,
    ) {
        let mut arena = arena(
            "[[terrain.patch]]\nshape = { box = [500, 500, 400, 400] }\nramp = { from = [300, 500, 0], to = [700, 500, 80] }\n\
             [[obstacle]]\nshape = { box = [1500, 1000, 200, 200] }\nheight = 100\ncolor = \"#c0392b\"\nmaterial = \"smooth\"\n",
        );
        let id = arena.born(&boxy(60.0, 80.0, 20.0));
        let look = beam(at, angles[0], angles[1], angles[2], angles[3]);
        let distance = if hear { arena.heard(id, look) } else { arena.seen(id, look).distance };
        prop_assert!((0.0..=5000.0).contains(&distance), "{distance}");
    }
}
