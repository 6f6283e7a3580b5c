use std::sync::Arc;

use arena::{Plan, Request};
use parking_lot::Mutex;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::robot::{body::StartPoses, fake_world::FakeWorld};

fn genotypes(design: &Design, count: usize) -> Vec<Genotype> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let net = design.parameters();
    let mut some = |count: usize, low: f64, high: f64| (0..count).map(|_| rng.random_range(low..=high)).collect();
    (0..count)
        .map(|nth| {
            let hidden = net.hidden_min + nth % (net.hidden_max - net.hidden_min + 1);
            Genotype {
                hidden,
                globals: some(net.globals.values, net.globals.low, net.globals.high),
                input_values: some(net.inputs * net.input.values, net.input.low, net.input.high),
                output_values: some(net.outputs * net.output.values, net.output.low, net.output.high),
                hidden_values: some(hidden * net.hidden.values, net.hidden.low, net.hidden.high),
                weights: some(net.weights(hidden), net.weight.low, net.weight.high),
            }
        })
        .collect()
}

fn short(name: &str) -> Arc<Design> {
    let mut file = crate::robot::library::body(name).unwrap();
    file.trial.steps = 30;
    file.trial.trials = 2;
    if file.trial.start == StartPoses::Placed {
        // what a world chooses depends on its seed and on the robots before
        file.trial.start = StartPoses::Random;
    }
    Arc::new(Design::new(file, None).unwrap())
}

fn key(nth: usize) -> Key {
    Key { owner: 0, generation: 1, individual: nth as u64 + 1 }
}

/// All outcomes, in the order of the keys.
fn finish(simulator: &mut Simulator, world: &mut dyn World) -> Vec<Outcome> {
    let mut all = Vec::new();
    while simulator.pending() > 0 {
        all.extend(simulator.round(world).unwrap());
    }
    all.sort_by_key(|finished| finished.key);
    all.into_iter().map(|finished| finished.outcome).collect()
}

#[test]
fn outcomes_depend_on_nobody_else() {
    for name in crate::robot::library::bodies() {
        let design = short(&name);
        let genotypes = genotypes(&design, 40);
        let with = |concurrent, order: &[usize]| {
            let mut simulator = Simulator::new(design.clone()).with_concurrent(concurrent);
            for &nth in order {
                simulator.submit(key(nth), &genotypes[nth]).unwrap();
            }
            let mut world = FakeWorld::default();
            let outcomes = finish(&mut simulator, &mut world);
            assert!(world.robots.is_empty() && simulator.is_idle());
            outcomes
        };
        let ahead: Vec<usize> = (0..40).collect();
        let back: Vec<usize> = (0..40).rev().collect();
        let alone = with(1, &ahead);
        assert!(alone.iter().any(|outcome| outcome.fitness != alone[0].fitness));
        assert_eq!(alone, with(32, &ahead), "{name}");
        assert_eq!(alone, with(32, &back), "{name}");
        for threads in [1, 2] {
            assert_eq!(
                evaluate_all(&design, 1, &genotypes, threads, || Ok(FakeWorld::default()), &|_| ()),
                Ok(alone.clone())
            );
        }
    }
}

#[test]
fn trials_are_divided_only_where_they_are_independent() {
    for (body, expected) in [("platine", true), ("sonar", true), ("liner", false)] {
        assert_eq!(short(body).has_independent_trials(), expected, "{body}");
    }
    let mut placed = crate::robot::library::body("platine").unwrap();
    placed.trial.start = StartPoses::Placed;
    assert!(!Design::new(placed, None).unwrap().has_independent_trials());
}

#[test]
fn one_exchange_serves_all() {
    let design = short("platine");
    let mut world = FakeWorld { keeps_log: true, ..FakeWorld::default() };
    let mut simulator = Simulator::new(design.clone()).with_concurrent(4);
    for (nth, genotype) in genotypes(&design, 6).iter().enumerate() {
        simulator.submit(key(nth), genotype).unwrap();
    }
    assert_eq!(simulator.pending(), 6);
    let outcomes = finish(&mut simulator, &mut world);
    assert_eq!(outcomes.len(), 6);
    let sizes: Vec<usize> = world.log.iter().map(Vec::len).take(4).collect();
    assert_eq!(sizes, [4, 8, 32, 4]);
    // a finished robot is gone before anything else is asked
    let kills: Vec<_> = world.log.iter().filter(|requests| matches!(requests[0], Request::Kill(_))).collect();
    assert!(
        !kills.is_empty()
            && kills.iter().all(|requests| requests.iter().all(|request| matches!(request, Request::Kill(_))))
    );
}

#[test]
fn a_world_that_dies_costs_no_result() {
    let design = short("platine");
    let genotypes = genotypes(&design, 3);
    let expected = evaluate_all(&design, 1, &genotypes, 1, || Ok(FakeWorld::default()), &|_| ()).unwrap();
    let mut simulator = Simulator::new(design);
    for (nth, genotype) in genotypes.iter().enumerate() {
        simulator.submit(key(nth), genotype).unwrap();
    }
    let mut dying = FakeWorld { fails_after: Some(20), ..FakeWorld::default() };
    let lost = loop {
        match simulator.round(&mut dying) {
            Ok(finished) => assert!(finished.is_empty()),
            Err(lost) => break lost,
        }
    };
    assert_eq!(lost.to_string(), "the world is lost: the connection was closed");
    assert_eq!(finish(&mut simulator, &mut FakeWorld::default()), expected);
}

#[test]
fn who_is_given_up_leaves_the_world() {
    let design = short("sonar");
    let genotypes = genotypes(&design, 5);
    let mut simulator = Simulator::new(design).with_concurrent(3);
    for (nth, genotype) in genotypes.iter().enumerate() {
        simulator.submit(Key { owner: nth as u64 % 2, ..key(nth) }, genotype).unwrap();
    }
    let mut world = FakeWorld::default();
    for _ in 0..5 {
        simulator.round(&mut world).unwrap();
    }
    assert_eq!((world.robots.len(), simulator.pending()), (3, 5));
    assert_eq!(simulator.abort(&mut world, |key| key.owner == 0), Ok(3));
    assert_eq!((world.robots.len(), simulator.pending()), (1, 2));
    assert_eq!(simulator.abort(&mut world, |_| true), Ok(2));
    assert!(world.robots.is_empty() && simulator.is_idle());
}

#[test]
fn progress_is_told() {
    let design = short("platine");
    let told = Mutex::new(Vec::new());
    let tell = |done| told.lock().push(done);
    evaluate_all(&design, 1, &genotypes(&design, 5), 2, || Ok(FakeWorld::default()), &tell).unwrap();
    let mut told = told.into_inner();
    told.sort_unstable();
    assert_eq!(told, [1, 2, 3, 4, 5]);
}

#[test]
fn errors_stop_an_evaluation() {
    let design = short("platine");
    let mut genotypes = genotypes(&design, 8);
    let lost = || -> Result<FakeWorld, WorldLost> { Err(WorldLost::new("nobody there")) };
    assert_eq!(evaluate_all(&design, 1, &genotypes, 2, lost, &|_| ()), Err(WorldLost::new("nobody there").into()));
    genotypes[5].weights.pop();
    let outcome = evaluate_all(&design, 1, &genotypes, 2, || Ok(FakeWorld::default()), &|_| ());
    assert!(matches!(outcome, Err(EvaluationError::Genotype(_))));
    assert_eq!(evaluate_all(&design, 1, &[], 2, || Ok(FakeWorld::default()), &|_| ()), Ok(vec![]));
}

#[test]
fn shipped_bodies_in_shipped_worlds() {
    for world in Plan::names() {
        let plan = Arc::new(Plan::built_in(&world).unwrap().unwrap());
        for body in crate::robot::library::bodies() {
            let design = short(&body);
            let genotypes = genotypes(&design, 6);
            let with = |threads, seed| {
                evaluate_all(&design, 1, &genotypes, threads, || Ok(InProcessWorld::new(plan.clone(), seed)), &|_| ())
                    .unwrap()
            };
            let outcomes = with(1, 1);
            assert!(outcomes.iter().any(|outcome| outcome.blocked == 0), "{body} in {world}");
            assert_eq!(outcomes, with(2, 2), "{body} in {world}");
        }
    }
}
