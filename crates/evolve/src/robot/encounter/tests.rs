use super::*;
use crate::{
    Genotype,
    robot::{Design, library},
};

/// A world without obstacles in which two kinds meet: the first in the west, the second in the east.
const WORLD: &str = r##"
title = "two kinds"
isolation = "shared"
[[zone]]
name = "west"
shape = { box = [400, 1000, 40, 40] }
[[zone]]
name = "east"
shape = { box = [1600, 1000, 40, 40] }
[[port]]
port = 7770
kind = "prey"
color = "#27ae60"
zone = "west"
[[port]]
port = 7771
kind = "predator"
color = "#c0392b"
zone = "east"
"##;

fn plan(text: &str) -> Arc<Plan> {
    Arc::new(Plan::parse(text).unwrap())
}

/// A body whose trials have this many steps, with this fitness script.
fn design(body: &str, start: [f64; 3], steps: u32, at_end: &str) -> Arc<Design> {
    let mut file = library::body(body).unwrap();
    file.trial.start = crate::robot::body::StartPoses::Poses(vec![start]);
    (file.trial.trials, file.trial.steps, file.trial.noise) = (2, steps, 0.0);
    let mut fitness = library::script(file.fitness.script.as_deref().unwrap()).unwrap();
    fitness.each_step = "bumps = bumps + if(stress > 0, 1, 0)\nseen = max(seen, ".to_owned()
        + if body == "prey" { "max(threat))" } else { "max(quarry))" };
    (fitness.summary, fitness.at_end) = (String::new(), at_end.to_owned());
    Arc::new(Design::new(file, Some(fitness)).unwrap())
}

/// Both wheels at this activity, from the constant input, which is the last one.
fn drives(design: &Design, activity: f64) -> Genotype {
    let parameters = design.parameters();
    let mut weights = vec![0.0; parameters.weights(0)];
    for row in 0..2 {
        weights[row * (parameters.inputs + 2) + parameters.inputs - 1] = activity;
    }
    Genotype { weights, ..Genotype::default() }
}

fn task(design: &Arc<Design>, activity: f64) -> EvaluationTask {
    EvaluationTask::new(design.clone(), &drives(design, activity), 1, 1).unwrap().with_path()
}

#[test]
fn robots_see_and_hit_each_other() {
    let (stands, drives) = (0.0, 5.0);
    let prey = design("prey", [1000.0, 1000.0, 0.0], 100, "fitness = seen");
    let predator = design("predator", [1500.0, 1000.0, 180.0], 100, "fitness = bumps");
    let plan = plan(WORLD);
    let both =
        |activity| Encounter::new(plan.clone(), 1).with(0, task(&prey, stands)).with(1, task(&predator, activity));
    let [hunted, hunter] = &both(drives).run().unwrap()[..] else { panic!("two outcomes") };
    assert!(hunted.fitness > 0.9 && hunter.fitness > 50.0, "{} {}", hunted.fitness, hunter.fitness);
    let end = hunter.path.last().unwrap().position;
    assert!((end.x - 1090.0).abs() < 1.0, "it stops in front of the other: {end:?}");
    // one that stays away is seen, and not hit
    let [hunted, hunter] = &both(stands).run().unwrap()[..] else { panic!("two outcomes") };
    assert!((0.3..0.5).contains(&hunted.fitness) && hunter.fitness == 0.0, "{} {}", hunted.fitness, hunter.fitness);
    // and alone, nothing is seen
    let alone = Encounter::new(plan.clone(), 1).with(0, task(&prey, stands)).run().unwrap();
    assert_eq!(alone[0].fitness, 0.0);
}

#[test]
fn they_sense_before_they_move_and_begin_trials_together() {
    let prey = design("prey", [400.0, 1000.0, 0.0], 3, "fitness = seen");
    let predator = design("predator", [1600.0, 1000.0, 180.0], 5, "fitness = seen");
    let encounter = Encounter::new(plan(WORLD), 1).with(0, task(&prey, 5.0)).with(1, task(&predator, 5.0));
    let mut log = String::new();
    encounter
        .watched(|robot, _, requests, _| {
            let action = match requests.last() {
                Some(Request::See(..)) => 's',
                Some(Request::Move(..)) => 'm',
                Some(Request::Jump(..)) => 'j',
                _ => 'c',
            };
            log.extend(['0', '1'][robot..=robot].iter().chain([&action, &' ']));
        })
        .unwrap();
    let (both, second) = ("0s 1s 0m 1m ".repeat(3), "1s 1m ".repeat(2));
    assert_eq!(log, format!("0c 1c {0}{0}", format!("0j 1j {both}{second}")));
}

#[test]
fn an_encounter_has_the_same_outcomes_each_time() {
    let plan = Arc::new(Plan::built_in("coevolution").unwrap().unwrap());
    let designs = ["prey", "predator"].map(|name| Arc::new(Design::built_in(name).unwrap()));
    let outcomes = |seed| {
        let mut encounter = Encounter::new(plan.clone(), seed);
        for (kind, design) in designs.iter().enumerate() {
            encounter = encounter.with(kind, task(design, 1.0)).with(kind, task(design, 2.0));
        }
        encounter.run().unwrap()
    };
    assert_eq!(outcomes(1), outcomes(1));
    assert_ne!(outcomes(1), outcomes(2), "the world places them elsewhere");
    // each kind where the world has its zone
    for (outcome, zone) in outcomes(1).iter().zip([60.0..440.0, 60.0..440.0, 1560.0..1940.0, 1560.0..1940.0]) {
        assert!(zone.contains(&outcome.path[0].position.x), "{:?}", outcome.path[0]);
    }
}
