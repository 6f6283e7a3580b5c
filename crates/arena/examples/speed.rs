//! How fast the arena answers: `cargo run --release -p arena --example speed`.

use std::{
    f64::consts::{FRAC_PI_4, PI},
    fmt::Write,
    hint::black_box,
    sync::Arc,
    time::{Duration, SystemTime},
};

use arena::{Arena, Beam, Body, Layer, Plan, Pose, Request, Response, RobotId};

const STEPS: usize = 200_000;
const CONNECTION: u64 = 1;

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
fn main() {
    let mut arena = Arena::new(Arc::new(Plan::parse(&field(50)).expect("the field is a world")), 7);
    let id = create(&mut arena);
    println!("a beam of 30 x 30 degrees among 50 obstacles: {:.3} us", beams(&mut arena, id));
    println!("a move of 10 mm: {:.3} us", moves(&mut arena, id));
    report("50 obstacles", &mut arena, id);
    for name in Plan::names() {
        let plan = Plan::built_in(&name).expect("it is listed").expect("it is checked by a test");
        let mut arena = Arena::new(Arc::new(plan), 7);
        let id = create(&mut arena);
        report(&name, &mut arena, id);
    }
}

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
fn report(name: &str, arena: &mut Arena, id: RobotId) {
    let (each, bumps, path) = robot_steps(arena, id);
    let rate = 1e6 / each;
    println!(
        "{name}: 8 beams and a move {each:.2} us, {rate:.0} robot-steps per CPU second ({path:.0} m, {bumps} bumps)"
    );
}

/// Obstacles of 3 to 8 corners, all over the arena.
fn field(count: usize) -> String {
    let mut random = 7_u64;
    let mut draw = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut text = "title = \"field\"\nisolation = \"per-robot\"\n".to_owned();
    for _ in 0..count {
        let (x, y, radius) = (draw() * 1800.0 + 100.0, draw() * 1800.0 + 100.0, 30.0 + 60.0 * draw());
        let (sides, height) = (3 + (draw() * 6.0) as usize, 20.0 + 200.0 * draw());
        let shape = format!("{{ disc = [{x}, {y}, {radius}], sides = {sides} }}");
        write!(text, "[[obstacle]]\nshape = {shape}\nheight = {height}\ncolor = \"#336699\"\n").expect("memory");
    }
    text
}

fn create(arena: &mut Arena) -> RobotId {
    let polygon = vec![[-30.0, 40.0], [30.0, 40.0], [30.0, -40.0], [-30.0, -40.0]];
    let body = Body::new(vec![Layer { height: 20.0, polygons: vec![polygon] }]).expect("the body is one");
    let id = arena.create(0, CONNECTION, Duration::ZERO).expect("there is room");
    ask(arena, &Request::Shape(id, Arc::new(body)));
    id
}

fn ask(arena: &mut Arena, ask: &Request) -> Response {
    arena.handle(CONNECTION, 0, ask, Duration::ZERO).expect("it is allowed").expect("it has an answer")
}

fn pose(arena: &Arena, id: RobotId) -> Pose {
    let position = arena.robot(id).and_then(|robot| robot.position).expect("it has a place");
    Pose { x: position.x, y: position.y, dir: position.dir }
}

fn beam(pose: &Pose, index: usize) -> Beam {
    let dir = pose.dir + index as f64 * FRAC_PI_4;
    let (x, y) = (pose.x + 45.0 * dir.cos(), pose.y + 45.0 * dir.sin());
    Beam { x, y, z: 25.0, dir, tilt: 0.0, angle_h: PI / 6.0, angle_v: PI / 6.0 }
}

fn ahead(pose: &Pose, by: f64, turn: f64) -> Pose {
    Pose { x: pose.x + by * pose.dir.cos(), y: pose.y + by * pose.dir.sin(), dir: pose.dir + turn }
}

fn jump_somewhere(arena: &mut Arena, id: RobotId, seed: usize) {
    let share = |factor: f64, i: usize| ((seed + i) as f64 * factor).fract();
    for i in 0..1000 {
        let target = Pose { x: 2000.0 * share(0.618, i), y: 2000.0 * share(0.733, i), dir: 6.0 * share(0.271, i) };
        let Response::Placed(position) = ask(arena, &Request::Jump(id, target)) else { continue };
        if position.stress == 0.0 {
            return;
        }
    }
}

/// CPU time that the work takes, in s.
fn timed(work: impl FnOnce()) -> f64 {
    let start = cpu_time();
    work();
    cpu_time() - start
}

/// Of this process so far, in s; the time of day where the system does not tell.
fn cpu_time() -> f64 {
    let scheduled = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = scheduled.as_deref().and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    #[expect(clippy::disallowed_methods, reason = "measuring time is what the example is for")]
    let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
    nanoseconds.map_or_else(clock, |nanoseconds| nanoseconds * 1e-9)
}

fn beams(arena: &mut Arena, id: RobotId) -> f64 {
    let surroundings: Vec<Pose> = (0..STEPS)
        .map(|i| {
            let share = i as f64 / STEPS as f64;
            Pose { x: 50.0 + 1900.0 * share, y: 50.0 + 1900.0 * (share * 97.0).fract(), dir: share * 1000.0 }
        })
        .collect();
    let time = timed(|| {
        for pose in &surroundings {
            black_box(ask(arena, &Request::See(id, beam(pose, 0))));
        }
    });
    time / STEPS as f64 * 1e6
}

fn moves(arena: &mut Arena, id: RobotId) -> f64 {
    let time = timed(|| {
        for i in 0..STEPS {
            let here = pose(arena, id);
            let Response::Placed(position) =
                ask(arena, &Request::Move(id, ahead(&here, 10.0, (i as f64 * 0.7).sin() * 0.1)))
            else {
                continue;
            };
            if position.stress > 0.0 {
                jump_somewhere(arena, id, i);
            }
        }
    });
    time / STEPS as f64 * 1e6
}

/// A robot that turns away from what it sees: time per step in us, bumps, and its way in m.
fn robot_steps(arena: &mut Arena, id: RobotId) -> (f64, usize, f64) {
    let (mut bumps, mut path) = (0, 0.0);
    let time = timed(|| {
        for i in 0..STEPS {
            let here = pose(arena, id);
            let mut seen = [0.0; 8];
            for (index, seen) in seen.iter_mut().enumerate() {
                let Response::Seen(sight) = ask(arena, &Request::See(id, beam(&here, index))) else { continue };
                *seen = sight.distance.min(120.0);
            }
            let turn = 0.004 * (seen[1] + seen[2] - seen[7] - seen[6]) + if seen[0] < 60.0 { 0.25 } else { 0.0 };
            let speed = if seen[0] < 20.0 { 0.0 } else { 4.0 };
            let target = ahead(&here, speed, turn);
            let Response::Placed(position) = ask(arena, &Request::Move(id, target)) else { continue };
            path += 0.001 * (position.x - here.x).hypot(position.y - here.y);
            if position.stress > 0.0 {
                bumps += 1;
                jump_somewhere(arena, id, i);
            }
        }
    });
    (time / STEPS as f64 * 1e6, bumps, path)
}
