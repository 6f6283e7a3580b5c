use physics::{Limits, Source};
use world::{
    Robot, Setup,
    record::{Entry, ReplayError},
};

use super::*;
use crate::{
    faces::Face,
    puppet::{PuppetOrder, PuppetView},
    servo::rest,
};

fn source(path: &str) -> Source {
    let path = format!("{}/../../models/{path}", env!("CARGO_MANIFEST_DIR"));
    Source::from_file(path.as_ref(), &Limits::default()).unwrap()
}

fn config() -> PuppetConfig {
    PuppetConfig { robot: "Alice".to_owned(), blinks: 0.0, gestures: Vec::new() }
}

fn stage() -> World {
    stage_of(PuppetDirector::new(&config()).unwrap())
}

fn stage_of(director: PuppetDirector) -> World {
    let mut setup = Setup::new(source("fields/flat/field.xml"));
    setup.robots = vec![Robot {
        name: "Alice".to_owned(),
        source: source("robots/alice/robot.xml"),
        pose: physics::Pose::IDENTITY,
    }];
    setup.timestep = Some(0.005);
    setup.steps_per_tick = 2;
    World::with_directors(&setup, vec![Box::new(director)]).unwrap()
}

fn tell(world: &mut World, order: PuppetOrder) {
    world.order::<PuppetDirector>(AttributedOrder::new("test", order)).unwrap();
}

fn run(world: &mut World, seconds: f64) {
    for _ in 0..(seconds / world.tick_seconds()) as usize {
        world.tick();
    }
}

/// Angles of all servos' joints, in rad.
fn angles(world: &World) -> Vec<f64> {
    let snapshot = world.snapshot();
    let card = snapshot.catalogue.agent_named("Alice").unwrap();
    (0..COUNT).map(|motor| snapshot.motor(card, motor).unwrap()).collect()
}

#[test]
fn the_model_matches_the_servo_table() {
    let text = std::fs::read_to_string(format!("{}/../../models/robots/alice/robot.xml", env!("CARGO_MANIFEST_DIR")));
    let text = text.unwrap();
    let world = stage();
    let card = world.catalogue().agent_named("Alice").unwrap();
    let motors: Vec<&str> = card.motors.iter().map(|motor| motor.name.as_str()).collect();
    assert_eq!(motors, SERVOS.map(|servo| servo.name));
    for servo in &SERVOS {
        let joint = text.split("<joint ").find(|joint| joint.starts_with(&format!("name=\"{}\"", servo.name))).unwrap();
        let range = joint.split("range=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        let range: Vec<f32> = range.split_whitespace().map(|number| number.parse().unwrap()).collect();
        assert_eq!(range, [servo.lower, servo.upper], "{}", servo.name);
    }
    PuppetDirector::check(world.catalogue(), "Alice").unwrap();
    let nobody = PuppetDirector::check(world.catalogue(), "Bob").unwrap_err();
    assert_eq!(nobody, NotAPuppet::NoRobot { robot: "Bob".to_owned() });
}

#[test]
fn the_robot_stands_and_its_joints_follow_the_mixer() {
    let mut world = stage();
    tell(&mut world, PuppetOrder::Expression(1));
    tell(&mut world, PuppetOrder::Gesture(4));
    run(&mut world, 1.0);
    let nodding = angles(&world);
    assert!(nodding[index::NECK_PITCH] < -0.35, "{}", nodding[index::NECK_PITCH]);
    assert!(nodding[index::SMILE_LEFT] > 0.4 && nodding[index::BROWS] > 0.15);
    run(&mut world, 9.0);
    let angles = angles(&world);
    assert!(angles[index::NECK_PITCH].abs() < 0.05, "the nod is over");
    let snapshot = world.snapshot();
    let eye = snapshot.site_pose(snapshot.catalogue.site_named("Alice:eye").unwrap()).unwrap();
    assert!(eye.pos[2] > 0.8, "she stands: {:?}", eye.pos);
}

/// Height of her eyes, in m.
fn eye_height(world: &World) -> f64 {
    let snapshot = world.snapshot();
    snapshot.site_pose(snapshot.catalogue.site_named("Alice:eye").unwrap()).unwrap().pos[2]
}

#[test]
fn a_reset_raises_a_robot_that_has_fallen() {
    let mut world = stage();
    run(&mut world, 1.0);
    let standing = eye_height(&world);
    tell(&mut world, PuppetOrder::Weigh(crate::mixer::Subsystem::Direct, 1.0));
    tell(&mut world, PuppetOrder::Servos(vec![0.5; COUNT]));
    run(&mut world, 6.0);
    assert!(eye_height(&world) < 0.5 * standing, "{} is not fallen", eye_height(&world));
    tell(&mut world, PuppetOrder::Reset);
    world.tick();
    assert!((eye_height(&world) - standing).abs() < 0.02, "{} after a tick", eye_height(&world));
    let snapshot = world.snapshot();
    assert_eq!(snapshot.view::<PuppetView>().unwrap().positions, rest());
    for _ in 0..10 {
        run(&mut world, 0.5);
        assert!((eye_height(&world) - standing).abs() < 0.02, "she stays up: {}", eye_height(&world));
    }
    // and can be used
    tell(&mut world, PuppetOrder::Gesture(4));
    run(&mut world, 1.0);
    assert!(angles(&world)[index::NECK_PITCH] < -0.35);
}

#[test]
fn a_reset_does_not_move_a_robot_that_stands() {
    let mut world = stage();
    run(&mut world, 1.0);
    tell(&mut world, PuppetOrder::Weigh(crate::mixer::Subsystem::Direct, 1.0));
    tell(&mut world, PuppetOrder::Servo(0, 1.0));
    run(&mut world, 2.0);
    let (waist, height) = (angles(&world)[0], eye_height(&world));
    assert!(waist > 0.5, "{waist}");
    tell(&mut world, PuppetOrder::Reset);
    world.tick();
    assert!((angles(&world)[0] - waist).abs() < 0.05, "the servos return at their own speed");
    assert!((eye_height(&world) - height).abs() < 0.01);
    run(&mut world, 3.0);
    assert!(angles(&world)[0].abs() < 0.05, "back at rest");
}

/// Faces that her eyes see of people at these places, in an image with this field of view.
fn seen(world: &World, people: &[[f64; 3]], span: [f32; 2]) -> Vec<Face> {
    let snapshot = world.snapshot();
    let eye = snapshot.site_pose(snapshot.catalogue.site_named("Alice:eye").unwrap()).unwrap();
    let half = span.map(|span| (span / 2.0).tan());
    let face = |&place: &[f64; 3]| {
        let [forward, left, up] =
            eye.inverse().then(&physics::Pose { pos: place, ..physics::Pose::IDENTITY }).pos.map(|part| part as f32);
        let (x, y) = (-left / forward / half[0], -up / forward / half[1]);
        let size = 0.1 / forward;
        let is_seen = forward > 0.0 && x.abs() < 1.0 && y.abs() < 1.0;
        is_seen.then(|| Face { id: 0, confidence: 0.9, x, y, width: size, height: size, name: String::new() })
    };
    people.iter().filter_map(face).collect()
}

#[test]
fn she_turns_away_from_faces_and_stays_there() {
    const SPAN: [f32; 2] = [1.07, 0.84];
    let crowds = [
        &[[1.5, 0.6, 0.95], [1.5, -0.6, 0.95]][..],
        &[[1.6, 0.0, 0.95]],
        &[[1.5, 0.4, 0.8], [1.2, -0.2, 1.0]],
        &[[1.5, -0.5, 1.2], [1.5, -0.1, 0.7], [2.0, 0.3, 1.0]],
    ];
    // how many images are taken before the faces of one are found
    for (people, late) in crowds.into_iter().flat_map(|people| [(people, 0), (people, 2), (people, 5)]) {
        let mut world = stage();
        run(&mut world, 0.5);
        let (mut images, mut with_faces) = (std::collections::VecDeque::new(), 0);
        for tick in 0..1200 {
            if tick == 100 {
                tell(&mut world, PuppetOrder::LookAt(5));
            }
            world.tick();
            if tick % 3 == 0 {
                let faces = seen(&world, people, SPAN);
                with_faces += usize::from(tick > 300 && !faces.is_empty());
                images.push_back((world.tick_count().0, faces));
            }
            if images.len() > late {
                let (tick, faces) = images.pop_front().unwrap();
                tell(&mut world, PuppetOrder::See { tick: Some(tick), span: SPAN, faces });
            }
        }
        assert_eq!(with_faces, 0, "{people:?}, {late} late: images with faces after two seconds");
    }
}

#[test]
fn targets_of_others_stay_until_the_mixer_moves_the_servo() {
    let mut world = stage();
    run(&mut world, 0.2);
    let alice = world.catalogue().agent_named("Alice").unwrap().id;
    let waist = vec![Action::Set { motor: 0, target: Some(0.5), torque: None }];
    assert!(world.stage(alice, world::SessionId(1), 1, waist));
    run(&mut world, 2.0);
    assert!((angles(&world)[0] - 0.5).abs() < 0.05, "pushed to {}", angles(&world)[0]);
    tell(&mut world, PuppetOrder::Weigh(crate::mixer::Subsystem::Direct, 1.0));
    tell(&mut world, PuppetOrder::Servo(0, 0.25));
    run(&mut world, 3.0);
    assert!((angles(&world)[0] + 0.4).abs() < 0.05, "the mixer has it again: {}", angles(&world)[0]);
}

#[test]
fn the_eyelids_follow_every_blink() {
    for (rate, seconds) in [(2.0, 30.0), (10.0, 10.0)] {
        let mut world = stage();
        tell(&mut world, PuppetOrder::Blink(rate));
        run(&mut world, 0.5);
        let (mut shut, mut blinks) = (false, 0.0);
        for _ in 0..(seconds / world.tick_seconds()) as usize {
            world.tick();
            let lids = angles(&world)[index::EYELIDS];
            // closed is at -1.35 rad, and rest at 0
            if (!shut && lids < -1.25) || (shut && lids > -0.1) {
                shut = !shut;
                blinks += 0.5;
            }
        }
        let expected = f64::from(rate) * seconds;
        assert!((blinks - expected).abs() < 0.1 * expected, "{blinks} blinks in {seconds} s at {rate} per second");
    }
}

#[test]
fn a_reset_of_the_world_resets_the_puppet() {
    let mut world = stage();
    tell(&mut world, PuppetOrder::Speak("Hello [yess] there.".to_owned()));
    tell(&mut world, PuppetOrder::Expression(4));
    run(&mut world, 2.0);
    world.reset(None);
    let snapshot = world.take_snapshot();
    let view = snapshot.view::<PuppetView>().unwrap();
    assert!(view.speech_request.is_none() && view.expression == 0 && view.positions == rest());
}

#[test]
fn descriptions_round_trip() {
    let mut config = config();
    config
        .gestures
        .push(("wave.toml".to_owned(), "id = 20\ntag = 'wave'\ntitle = ''\n[keys]\nwaist = [[1, 0.1]]".to_owned()));
    assert_eq!(PuppetConfig::from_description(&config.description()), Ok(config.clone()));
    assert_eq!(config.all_gestures().unwrap().tagged("wave"), Some(20));
    config.gestures[0].1.clear();
    assert!(PuppetDirector::new(&config).is_err());
    PuppetConfig::from_description("{").unwrap_err();
}

#[test]
fn invalid_orders_are_refused() {
    let mut world = stage();
    for order in ["", "Reset", r#"{"who":"x","order":"Dance"}"#, r#"{"who":"x","order":{"Blink":1e999}}"#] {
        let entry = Entry::Order { to: PuppetDirector::NAME.to_owned(), order: order.to_owned() };
        assert!(matches!(world.apply(entry), Err(ReplayError::Order { .. })), "{order}");
    }
}

#[test]
fn hardware_follows_the_simulated_servos() {
    struct Real(std::sync::mpsc::SyncSender<Positions>);
    impl Hardware for Real {
        fn move_to(&mut self, positions: &Positions) {
            self.0.try_send(*positions).unwrap();
        }
    }
    let (moves, moved) = std::sync::mpsc::sync_channel(100);
    let director = PuppetDirector::new(&config()).unwrap().with_hardware(Box::new(Real(moves)));
    let mut world = stage_of(director);
    tell(&mut world, PuppetOrder::Gesture(5));
    (0..20).for_each(|_| world.tick());
    let moved: Vec<Positions> = moved.try_iter().collect();
    assert_eq!(moved.len(), 20, "once a tick");
    assert_eq!(moved.last().unwrap(), &world.snapshot().view::<PuppetView>().unwrap().positions);
    assert!(moved.last().unwrap()[index::NECK_PITCH] < 0.5);
}
