use std::sync::Arc;

use arena::{Position, Request, Response};

use super::*;
use crate::robot::{
    BodyFile,
    body::InternalInput,
    fake_world::FakeWorld,
    simulator::{World, WorldLost},
};

const BODY: &str = r#"
title = "for tests"
inputs = ["stress", "head", "constant"]
[[layer]]
height = 20
polygons = [[[-30, 40], [30, 40], [30, -40], [-30, -40]]]
[[sensor]]
name = "nose"
groups = ["all"]
kind = "visual"
at = [0, 40, 10]
range = 500
noise = 0.05
[[sensor]]
name = "ear"
groups = ["all"]
kind = "sonic"
mount = "head"
at = [0, 40, 10]
direction = 90
range = 2000
reading = "distance"
[wheels]
axle = 50
max_speed = 100
noise = 0.05
[head]
limits = [-40, 40]
max_speed = 100
layers = [1]
shape_every = 10
[net]
transfer = "linear-clamped"
[trial]
steps = 5
trials = 2
[fitness]
worst = -7
behaviour = ["x", "1 / 0"]
[fitness.own]
each_step = "way = way + distance"
at_end = "fitness = way"
"#;

pub(crate) fn design(change: impl FnOnce(&mut BodyFile)) -> Arc<Design> {
    let mut file = BodyFile::parse(BODY).unwrap();
    change(&mut file);
    Arc::new(Design::new(file, None).unwrap())
}

/// Both wheels at half speed, the head at `head`: weights from the constant input.
pub(crate) fn drives(head: f64) -> Genotype {
    let mut weights = vec![0.0; 3 * 8];
    for (row, value) in [0.5, 0.5, head].into_iter().enumerate() {
        weights[row * 8 + 4] = value;
    }
    Genotype { weights, ..Genotype::default() }
}

fn word(request: &Request) -> &'static str {
    match request {
        Request::Create => "create",
        Request::Kill(_) => "kill",
        Request::Shape(..) => "shape",
        Request::Jump(..) => "jump",
        Request::Move(..) => "move",
        Request::See(..) => "see",
        Request::Hear(..) => "hear",
    }
}

fn run(trial: &mut EvaluationTask, world: &mut FakeWorld) -> Result<Vec<String>, WorldLost> {
    let mut log = Vec::new();
    while trial.outcome().is_none() {
        let (mut requests, mut responses) = (Vec::new(), Vec::new());
        let expected = trial.requests(&mut requests);
        log.push(requests.iter().map(word).collect::<Vec<_>>().join(" "));
        world.exchange(&requests, &mut responses)?;
        assert_eq!(responses.len(), expected);
        trial.handle_responses(&responses)?;
    }
    Ok(log)
}

fn test(design: &Arc<Design>, genotype: &Genotype, world: &mut FakeWorld) -> (Vec<String>, Outcome) {
    let mut trial = EvaluationTask::new(design.clone(), genotype, 1, 1).unwrap();
    let log = run(&mut trial, world).unwrap();
    let farewell = trial.take_kill_request();
    assert!(matches!(farewell, Some(Request::Kill(_))) && trial.take_kill_request().is_none());
    (log, trial.into_outcome().unwrap())
}

fn quiet(file: &mut BodyFile) {
    file.trial.noise = 0.0;
    file.trial.start = StartPoses::Zone([500.0, 500.0, 1500.0, 1500.0]);
}

#[test]
fn all_sensors_of_a_step_are_asked_together() {
    let (log, outcome) = test(&design(quiet), &drives(0.0), &mut FakeWorld::default());
    let step = ["see hear", "move"];
    let mut expected = vec!["create", "shape jump"];
    expected.extend(step.repeat(5));
    expected.push("jump");
    expected.extend(step.repeat(5));
    assert_eq!(log, expected);
    // five steps of 5 mm; the second behaviour is not finite
    assert!((outcome.fitness - 25.0).abs() < 1e-9, "{outcome:?}");
    assert_eq!((outcome.steps, outcome.not_finite, outcome.behaviour[1]), (10, 2, 0.0));
}

#[test]
fn a_head_that_turns_is_told_with_the_move() {
    let (log, _) = test(&design(quiet), &drives(1.0), &mut FakeWorld::default());
    // 10 degrees a step up to 40; ahead again for the second trial
    assert_eq!(
        log[2..12].join(", "),
        "see hear, shape move, see hear, shape move, see hear, shape move, see hear, shape move, see hear, move"
    );
    assert_eq!(log[12], "shape jump");
}

#[test]
fn a_blocked_head_stays() {
    let mut world = FakeWorld { blocks_shapes: true, keeps_log: true, ..FakeWorld::default() };
    let (log, _) = test(
        &design(|file| {
            quiet(file);
            file.trial.trials = 1;
        }),
        &drives(1.0),
        &mut world,
    );
    // it tries each time, from straight ahead
    assert_eq!(log[2..].join(", "), ["see hear, shape move"; 5].join(", "));
    let ears = world.log.iter().flatten().filter_map(|request| match request {
        Request::Hear(_, beam) => Some(beam.dir),
        _ => None,
    });
    let ears: Vec<f64> = ears.collect();
    assert!(ears.iter().all(|dir| *dir == ears[0]), "{ears:?}");
}

#[test]
fn another_start_is_tried_when_one_is_blocked() {
    let zone = design(quiet);
    let mut world = FakeWorld { refuses: 3, keeps_log: true, ..FakeWorld::default() };
    let (log, outcome) = test(&zone, &drives(0.0), &mut world);
    assert_eq!(log[..6].join(", "), "create, shape jump, jump, jump, jump, see hear");
    assert_eq!(outcome.blocked, 0);
    let jumps: Vec<Pose> = world
        .log
        .iter()
        .flatten()
        .filter_map(|request| match request {
            Request::Jump(_, pose) => Some(*pose),
            _ => None,
        })
        .collect();
    assert!(jumps.windows(2).all(|pair| pair[0] != pair[1]));

    let poses = |count: usize| {
        design(move |file| {
            quiet(file);
            file.trial.start = StartPoses::Poses(vec![[1000.0, 1000.0, 90.0]; count]);
        })
    };
    let (_, outcome) = test(&poses(4), &drives(0.0), &mut FakeWorld { refuses: 3, ..FakeWorld::default() });
    assert_eq!(outcome.blocked, 0);
    let (_, outcome) = test(&poses(3), &drives(0.0), &mut FakeWorld { refuses: 3, ..FakeWorld::default() });
    assert_eq!((outcome.blocked, outcome.steps), (1, 5));
    assert!((outcome.fitness - (25.0 - 7.0) / 2.0).abs() < 1e-9);
    let (_, outcome) = test(&zone, &drives(0.0), &mut FakeWorld { refuses: u32::MAX, ..FakeWorld::default() });
    assert_eq!((outcome.blocked, outcome.fitness), (2, -7.0));
}

#[test]
fn a_trial_ends_early_on_deathly_ground_or_when_stuck() {
    let mut deathly = FakeWorld { deathly_from: Some(1012.0), ..FakeWorld::default() };
    let ahead = |file: &mut BodyFile| {
        quiet(file);
        file.trial.start = StartPoses::Poses(vec![[1000.0, 1000.0, 0.0], [1500.0, 1000.0, 0.0]]);
    };
    // 5 mm a step, twice from the first pose: the second is no place to start
    let (_, outcome) = test(&design(ahead), &drives(0.0), &mut deathly);
    assert_eq!((outcome.steps, outcome.deaths, outcome.blocked), (6, 2, 0));
    let lives = design(|file| {
        quiet(file);
        file.trial.end_on_death = false;
    });
    assert_eq!(test(&lives, &drives(0.0), &mut deathly).1.steps, 10);
    let stuck = design(|file| {
        quiet(file);
        file.trial.stuck_after = 3;
        file.trial.stuck_within = 7.0;
    });
    assert_eq!(test(&stuck, &drives(0.0), &mut FakeWorld::default()).1.steps, 10);
    let still = Genotype { weights: vec![0.0; 24], ..Genotype::default() };
    assert_eq!(test(&stuck, &still, &mut FakeWorld::default()).1.steps, 6);
    let fitness = crate::robot::FitnessFile { may_stand: true, ..stuck.fitness().clone() };
    let patient = Arc::new(Design::new(stuck.file().clone(), Some(fitness)).unwrap());
    assert_eq!(test(&patient, &still, &mut FakeWorld::default()).1.steps, 10);
}

#[test]
fn chance_is_the_same_for_everybody() {
    let noisy = design(|_| {});
    let of = |design: &Arc<Design>, generation, genotype: &Genotype| {
        let mut trial = EvaluationTask::new(design.clone(), genotype, generation, 1).unwrap().with_path();
        run(&mut trial, &mut FakeWorld::default()).unwrap();
        trial.into_outcome().unwrap()
    };
    let first = of(&noisy, 1, &drives(0.0));
    assert_eq!(first, of(&noisy, 2, &drives(0.0)));
    assert_eq!(first.path.len(), 12);
    assert_ne!(first.path[0].position, first.path[6].position);
    assert_eq!(first.path[0].position, of(&noisy, 1, &drives(1.0)).path[0].position);
    let fresh = design(|file| file.trial.fresh_each_generation = true);
    assert_ne!(of(&fresh, 1, &drives(0.0)), of(&fresh, 2, &drives(0.0)));
    assert_eq!(of(&fresh, 2, &drives(0.0)), of(&fresh, 2, &drives(0.0)));
    let other = design(|file| file.trial.seed = 2);
    assert_ne!(first, of(&other, 1, &drives(0.0)));
}

#[test]
fn answers_of_another_kind_are_refused() {
    let placed = Response::Placed(Position {
        x: 0.0,
        y: 0.0,
        z: 0.0,
        dir: 0.0,
        tilt_straight: 0.0,
        tilt_across: 0.0,
        stress: 0.0,
        death: false,
    });
    let mut world = FakeWorld::default();
    let advance = |trial: &mut EvaluationTask, world: &mut FakeWorld| {
        let (mut requests, mut responses) = (Vec::new(), Vec::new());
        trial.requests(&mut requests);
        world.exchange(&requests, &mut responses).unwrap();
        trial.handle_responses(&responses).unwrap();
    };
    let mut trial = EvaluationTask::new(design(quiet), &drives(0.0), 1, 1).unwrap();
    for wrong in [vec![placed], vec![], vec![Response::Heard(1.0), placed], vec![placed], vec![placed]] {
        let _ = trial.requests(&mut Vec::new());
        if matches!(trial.phase, Phase::Move) {
            trial.handle_responses(&wrong).unwrap();
        } else {
            assert!(trial.handle_responses(&wrong).is_err(), "{:?}", trial.phase);
            advance(&mut trial, &mut world);
        }
    }
}

#[test]
fn whoever_is_given_up_asks_nothing_more() {
    let mut trial = EvaluationTask::new(design(quiet), &drives(0.0), 1, 1).unwrap();
    assert_eq!(trial.abort(), None);
    trial.restart();
    let mut world = FakeWorld::default();
    for _ in 0..3 {
        let (mut requests, mut responses) = (Vec::new(), Vec::new());
        trial.requests(&mut requests);
        world.exchange(&requests, &mut responses).unwrap();
        trial.handle_responses(&responses).unwrap();
    }
    assert!(matches!(trial.abort(), Some(Request::Kill(_))));
    let mut requests = Vec::new();
    assert_eq!((trial.requests(&mut requests), requests, trial.outcome()), (0, vec![], None));
}

#[test]
fn a_robot_may_stay_where_the_world_places_it() {
    let stays = design(|file| {
        quiet(file);
        file.trial.start = StartPoses::Placed;
    });
    let outcome = |crowds| {
        let mut world = FakeWorld { crowds, ..FakeWorld::default() };
        let mut trial = EvaluationTask::new(stays.clone(), &drives(0.0), 1, 1).unwrap().with_path();
        let log = run(&mut trial, &mut world).unwrap();
        (log, trial.into_outcome().unwrap())
    };
    // each trial has a new robot, and the one before is gone
    let (log, found) = outcome(0);
    let steps = "see hear, move, ".repeat(5);
    assert_eq!(log.join(", ") + ", ", format!("create, shape, {steps}kill create, shape, {steps}"));
    let starts: Vec<_> = found.path.chunk_by(|a, b| a.trial == b.trial).map(|path| path[0].position).collect();
    assert!(starts.iter().map(|start| (start.x, start.y, start.dir)).eq([(1.0, 9.0, 1.0), (2.0, 9.0, 1.0)]));
    assert!((found.fitness - 25.0).abs() < 1e-9);
    // another one, if there is no room, and the worst fitness if there is none at all
    let (log, found) = outcome(2);
    assert_eq!(
        (log[..7].join(", ").as_str(), found.blocked),
        ("create, shape, kill create, shape, kill create, shape, see hear", 0)
    );
    let (_, found) = outcome(u32::MAX);
    assert_eq!((found.blocked, found.fitness), (2, -7.0));
}

/// Stress is the touch of a bumper, and part of the power that a robot takes.
#[test]
fn stress_reaches_the_net_and_the_script_and_height_the_script() {
    let power = |input: InternalInput, weight: f64| {
        let design = design(|file| {
            quiet(file);
            (file.trial.trials, file.inputs[0]) = (1, input);
            file.trial.start = StartPoses::Poses(vec![[1990.0, 1000.0, 0.0]]);
            let own = file.fitness.own.as_mut().unwrap();
            own.start = "height = z".to_owned();
            own.each_step = "power = power + distance + 2 * (z - height) + 100 * stress\nheight = z".to_owned();
            own.at_end = "fitness = power".to_owned();
        });
        // two steps of 5 mm to the wall, one into it; then back, if the net feels it, and to the wall again
        let mut genotype = drives(0.0);
        genotype.weights[2] = weight;
        genotype.weights[8 + 2] = weight;
        test(&design, &genotype, &mut FakeWorld { slope: 0.1, ..FakeWorld::default() }).1.fitness
    };
    for (input, weight) in [(InternalInput::Stress, -2.0), (InternalInput::Bumper, -1.0)] {
        let felt = power(input, weight);
        assert!((felt - (20.0 + 2.0 * 1.0 + 50.0)).abs() < 1e-9, "{input:?}: {felt}");
    }
    let pushes_on = power(InternalInput::Stress, 0.0);
    assert!((pushes_on - (10.0 + 2.0 * 1.0 + 150.0)).abs() < 1e-9, "{pushes_on}");
}

#[test]
fn squares_are_counted_and_figures_averaged() {
    // half a metre along four squares, and into a wall
    let outcome = |summary: &str| {
        let design = design(|file| {
            quiet(file);
            file.trial.steps = 100;
            file.trial.start = StartPoses::Poses(vec![[110.0, 1010.0, 0.0], [1910.0, 1010.0, 0.0]]);
            file.fitness.own.as_mut().unwrap().summary = summary.to_owned();
        });
        test(&design, &drives(0.0), &mut FakeWorld::default()).1
    };
    assert_eq!(outcome("visits {squares_visited} squares in {t} s").figures, [2.5, 10.0]);
    assert_eq!(outcome("visits {squares_visited / 0} squares").figures, [0.0; 0]);
    assert_eq!(outcome("").figures, [0.0; 0]);
}
