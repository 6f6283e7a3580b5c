//! Many environments at once.
#![allow(clippy::unwrap_used, reason = "a failing call fails the test")]

mod drivers;

use drivers::*;
use learning::{Autoreset, Env, EnvError, Outcome, Random, Step, TaskKind, VectorEnv};

/// What a step of all environments returns.
#[derive(Clone, Debug, PartialEq)]
struct Batch {
    observations: Vec<f32>,
    rewards: Vec<f64>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
}

fn reset(envs: &mut VectorEnv, seed: u64) -> Vec<f32> {
    let seeds: Vec<_> = (0..envs.count() as u64).map(|index| Some(seed + index)).collect();
    let mut observations = vec![0.0; envs.count() * envs.spaces().observation.len()];
    envs.reset(&seeds, None, &mut observations).unwrap();
    observations
}

fn try_step(envs: &mut VectorEnv, actions: &[f32], resets: Option<&[bool]>) -> Result<Batch, EnvError> {
    let count = envs.count();
    let mut batch = Batch {
        observations: vec![0.0; count * envs.spaces().observation.len()],
        rewards: vec![0.0; count],
        terminated: vec![false; count],
        truncated: vec![false; count],
    };
    let Batch { observations, rewards, terminated, truncated } = &mut batch;
    envs.step(actions, resets, Step { observations, rewards, terminated, truncated })?;
    Ok(batch)
}

/// Random actions for some steps.
fn run(envs: &mut VectorEnv, steps: usize) -> Vec<Batch> {
    let mut random = Random::new(7);
    let count = envs.count() * envs.spaces().actions;
    (0..steps).map(|_| try_step(envs, &random_action(&mut random, count), None).unwrap()).collect()
}

#[test]
fn threads_do_not_change_a_bit() {
    for (kind, steps) in [(TaskKind::RoverAvoid, 150), (TaskKind::T1Walk, 60), (TaskKind::T1Kick, 40), (pendulum(), 40)]
    {
        let mut runs = Vec::new();
        for threads in [1, 2, 3, 7] {
            let mut envs = VectorEnv::new(&kind, 6, threads, Some(25), Autoreset::NextStep).unwrap();
            assert_eq!(envs.threads(), threads.min(6));
            runs.push((reset(&mut envs, 3), run(&mut envs, steps)));
        }
        assert!(runs.iter().all(|run| *run == runs[0]), "{}", kind.name());
        let has_ended = runs[0].1.iter().any(|batch| batch.truncated.contains(&true));
        assert!(has_ended, "{}", kind.name());
    }
}

#[test]
fn each_environment_does_what_it_does_alone() {
    const COUNT: usize = 4;
    for kind in [TaskKind::RoverAvoid, TaskKind::RoverLight, TaskKind::ASeriesWalk, TaskKind::T1Stand, pendulum()] {
        for autoreset in [Autoreset::NextStep, Autoreset::SameStep] {
            let mut envs = VectorEnv::new(&kind, COUNT, 2, Some(30), autoreset).unwrap();
            let first = reset(&mut envs, 11);
            let batches = run(&mut envs, 100);
            let (size, actions) = (envs.spaces().observation.len(), envs.spaces().actions);
            for index in 0..COUNT {
                let mut alone = Env::new(&kind, Some(30)).unwrap();
                alone.reset(Some(11 + index as u64)).unwrap();
                assert_eq!(observed(&mut alone), first[index * size..][..size]);
                let mut random = Random::new(7);
                for (number, batch) in batches.iter().enumerate() {
                    let all = random_action(&mut random, COUNT * actions);
                    let mut outcome = Outcome::default();
                    if alone.is_over() {
                        alone.reset(None).unwrap();
                    } else {
                        outcome = alone.step(&all[index * actions..][..actions]).unwrap();
                    }
                    if autoreset == Autoreset::SameStep && outcome.is_over() {
                        alone.reset(None).unwrap();
                    }
                    let had = Outcome {
                        reward: batch.rewards[index],
                        terminated: batch.terminated[index],
                        truncated: batch.truncated[index],
                    };
                    assert_eq!(had, outcome, "{}, {index}, step {number}", kind.name());
                    assert_eq!(observed(&mut alone), batch.observations[index * size..][..size]);
                }
            }
        }
    }
}

/// The numbers of steps after which rewards are paid, episodes end and final observations are there: a rover that stands
/// still, with episodes of three steps.
fn check_autoreset(autoreset: Autoreset, ends: &[usize], pauses: &[usize]) {
    let kind = TaskKind::RoverLight;
    let mut envs = VectorEnv::new(&kind, 2, 1, Some(3), autoreset).unwrap();
    let mut before = reset(&mut envs, 1);
    for number in 1..=9 {
        let batch = try_step(&mut envs, &[0.0; 4], None).unwrap();
        let is_end = ends.contains(&number);
        assert_eq!(batch.truncated, [is_end; 2], "{autoreset:?}, step {number}");
        assert_eq!(batch.terminated, [false; 2]);
        // each step costs something, a reset does not
        let is_pause = pauses.contains(&number);
        assert_eq!(batch.rewards.iter().all(|reward| *reward == 0.0), is_pause, "{autoreset:?}, step {number}");
        let finals: Vec<_> = envs.final_observations().map(|(index, row)| (index, row.to_vec())).collect();
        if is_end && autoreset == Autoreset::SameStep {
            assert_eq!(finals.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [0, 1]);
            // brightness: the rover has not moved, and the next one starts somewhere else
            assert!((finals[0].1[10] - before[10]).abs() < 1e-3, "{finals:?} {before:?}");
            assert_ne!(finals[0].1[10], batch.observations[10]);
        } else {
            assert!(finals.is_empty());
        }
        before = batch.observations;
    }
}

#[test]
fn episodes_begin_when_the_mode_says() {
    check_autoreset(Autoreset::NextStep, &[3, 7], &[4, 8]);
    check_autoreset(Autoreset::SameStep, &[3, 6, 9], &[]);
}

#[test]
fn without_autoreset_the_caller_resets() {
    let mut envs = VectorEnv::new(&TaskKind::RoverLight, 3, 2, Some(2), Autoreset::Disabled).unwrap();
    let actions = [0.0; 6];
    let error = try_step(&mut envs, &actions, None).unwrap_err();
    assert!(matches!(error, EnvError::NoEpisode), "there was no reset");
    let first = reset(&mut envs, 1);
    try_step(&mut envs, &actions, None).unwrap();
    let last = try_step(&mut envs, &actions, None).unwrap();
    assert_eq!(last.truncated, [true; 3]);
    assert!(matches!(try_step(&mut envs, &actions, None), Err(EnvError::NoEpisode)));

    let mut observations = vec![0.0; first.len()];
    envs.reset(&[Some(1), None, None], Some(&[true, true, false]), &mut observations).unwrap();
    assert_eq!(observations[..13], first[..13], "the first begins with its seed");
    assert_ne!(observations[13..26], first[13..26], "the second goes on to another episode");
    assert_eq!(observations[26..], last.observations[26..], "the third stays at its end");
    assert!(matches!(try_step(&mut envs, &actions, None), Err(EnvError::NoEpisode)));
    let batch = try_step(&mut envs, &actions, Some(&[false, false, true])).unwrap();
    assert_eq!(batch.rewards[2], 0.0);
    assert!(batch.rewards[..2].iter().all(|reward| *reward < 0.0));
    let batch = try_step(&mut envs, &actions, None).unwrap();
    assert_eq!(batch.truncated, [true, true, false]);
}

#[test]
fn wrong_sizes_are_refused() {
    let none = VectorEnv::new(&TaskKind::RoverAvoid, 0, 1, None, Autoreset::NextStep);
    assert!(matches!(none, Err(EnvError::Empty)));
    let mut envs = VectorEnv::new(&TaskKind::RoverAvoid, 2, 1, None, Autoreset::NextStep).unwrap();
    reset(&mut envs, 1);
    let before = envs.world(0).unwrap().unwrap().state_hash();
    for (actions, resets) in [(vec![0.0; 3], None), (vec![f32::NAN; 4], None), (vec![0.0; 4], Some(&[true][..]))] {
        assert!(try_step(&mut envs, &actions, resets).unwrap_err().is_misuse(), "{actions:?}");
    }
    assert!(envs.reset(&[None], None, &mut [0.0; 20]).unwrap_err().is_misuse());
    assert!(envs.reset(&[None; 2], None, &mut [0.0; 19]).unwrap_err().is_misuse());
    assert_eq!(envs.world(0).unwrap().unwrap().state_hash(), before);
}
