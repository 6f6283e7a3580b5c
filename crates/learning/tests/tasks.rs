//! What holds for every task, and what controllers written by hand reach.
#![allow(clippy::unwrap_used, reason = "a failing call fails the test")]

mod drivers;

use drivers::*;
use learning::{Random, TaskKind};

/// Random actions for at least this many steps of each task.
const STEPS: u32 = 3_000;

#[test]
fn names_and_spaces() {
    for (kind, observation, actions) in [
        (TaskKind::RoverAvoid, 10, 2),
        (TaskKind::RoverLight, 13, 2),
        (TaskKind::ASeriesWalk, 42, 12),
        (TaskKind::T1Stand, 42, 12),
        (TaskKind::T1Walk, 47, 12),
        (TaskKind::T1Kick, 48, 12),
        (TaskKind::T1Dribble, 50, 12),
        (pendulum(), 3, 1),
    ] {
        let env = env(&kind);
        assert_eq!((env.spaces().observation.len(), env.spaces().actions), (observation, actions), "{}", kind.name());
        let named = TaskKind::named(kind.name()).map(|kind| kind.name());
        assert_eq!(named, Some(kind.name()).filter(|_| !matches!(kind, TaskKind::Mjcf(_))));
    }
    assert!(TaskKind::named("Nothing").is_none());
}

#[test]
fn whatever_a_policy_does_observations_stay_within_their_bounds() {
    for kind in kinds() {
        let (mut env, mut random) = (env(&kind), Random::new(1));
        let bounds = env.spaces().observation.clone();
        let actions = env.spaces().actions;
        let mut varies = vec![false; bounds.len()];
        env.reset(Some(1)).unwrap();
        let first = observed(&mut env);
        for number in 0..STEPS {
            // beyond the bounds at times; those are clamped
            let action: Vec<f32> = random_action(&mut random, actions).iter().map(|x| x * 1.5).collect();
            let (observation, outcome) = step(&mut env, &action).unwrap();
            for (index, (value, bounds)) in observation.iter().zip(&bounds).enumerate() {
                let within = (bounds.min as f32..=bounds.max as f32).contains(value);
                assert!(within, "{}, step {number}: number {index} is {value}", kind.name());
                varies[index] |= *value != first[index];
            }
            assert!(outcome.reward.is_finite());
            if outcome.is_over() {
                env.reset(None).unwrap();
            }
        }
        // of the rover's distance sensors, those at the back may have seen nothing
        let dead: Vec<usize> = (0..varies.len()).filter(|&index| !varies[index]).collect();
        assert!(dead.iter().all(|index| kind.name().starts_with("Rover") && *index < 8), "{} {dead:?}", kind.name());
    }
}

#[test]
fn a_seed_and_actions_give_the_same_episode() {
    for kind in kinds() {
        let (mut one, mut other) = (env(&kind), env(&kind));
        let mut random = Random::new(5);
        // what went on before is forgotten
        other.reset(Some(9)).unwrap();
        for _ in 0..20 {
            other.step(&random_action(&mut random, other.spaces().actions)).unwrap();
        }
        let mut starts = Vec::new();
        for seed in [Some(4), None, Some(5), Some(4)] {
            one.reset(seed).unwrap();
            other.reset(seed).unwrap();
            starts.push(observed(&mut one));
            assert_eq!(observed(&mut one), observed(&mut other), "{}", kind.name());
            while one.has_episode() {
                let action = random_action(&mut random, one.spaces().actions);
                let [(seen, had), (also_seen, also_had)] =
                    [&mut one, &mut other].map(|env| step(env, &action).unwrap());
                assert_eq!((seen, had), (also_seen, also_had), "{}", kind.name());
            }
        }
        assert_eq!(starts[0], starts[3]);
        assert!(starts[0] != starts[1] && starts[0] != starts[2] && starts[1] != starts[2], "{}", kind.name());
    }
}

/// Whether an episode ends as wanted within its steps, with the same action all the time.
fn check_end(kind: &TaskKind, action: &[f32], terminated: bool) {
    let mut env = env(kind);
    env.reset(Some(3)).unwrap();
    for number in 1..=kind.max_steps() {
        let outcome = env.step(action).unwrap();
        if outcome.is_over() {
            assert_eq!(outcome.terminated, terminated, "{} after {number} steps", kind.name());
            assert_eq!(outcome.truncated, number == kind.max_steps(), "{}", kind.name());
            assert!(env.is_over() && env.step(action).unwrap_err().is_misuse());
            return;
        }
    }
    panic!("{} is truncated at its limit", kind.name());
}

#[test]
fn episodes_end() {
    // a rover that drives ahead touches something, a humanoid that bends one knee falls
    let one_leg = [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, -1.0, -1.0, 0.0];
    let one_servo_leg = [0.0, 1.0, -1.0, -1.0, -1.0, 1.0, 0.0, 1.0, -1.0, 0.0, 0.0, -1.0];
    check_end(&TaskKind::RoverAvoid, &[1.0, 1.0], true);
    check_end(&TaskKind::RoverAvoid, &[0.0, 0.0], false);
    check_end(&TaskKind::RoverLight, &[0.0, 0.0], false);
    check_end(&TaskKind::ASeriesWalk, &one_servo_leg, true);
    for kind in [TaskKind::T1Stand, TaskKind::T1Walk, TaskKind::T1Kick, TaskKind::T1Dribble] {
        check_end(&kind, &one_leg, true);
    }
    check_end(&pendulum(), &[0.5], false);
}

#[test]
fn wrong_actions_change_nothing() {
    for kind in [TaskKind::RoverAvoid, pendulum()] {
        let mut env = env(&kind);
        let count = env.spaces().actions;
        let before = env.world().state_hash();
        assert!(env.step(&vec![0.0; count]).unwrap_err().is_misuse(), "there was no reset");
        assert_eq!(env.world().state_hash(), before);
        env.reset(Some(1)).unwrap();
        let before = env.world().state_hash();
        for action in [vec![], vec![0.0; count + 1], vec![f32::NAN; count], vec![f32::INFINITY; count]] {
            assert!(env.step(&action).unwrap_err().is_misuse(), "{action:?}");
        }
        assert_eq!(env.world().state_hash(), before);
        assert!(env.observe(&mut [0.0; 99]).unwrap_err().is_misuse());
    }
}

/// Compares a controller with doing nothing and with random actions.
fn check_controller(kind: &TaskKind, margin: f64, controller: impl FnMut(&[f32], &mut Random) -> Vec<f32>) {
    let count = env(kind).spaces().actions;
    let (by_hand, steps) = play(kind, controller);
    let (by_none, _) = play(kind, |_, _| vec![0.0; count]);
    let (by_chance, _) = play(kind, |_, random| random_action(random, count));
    let best = by_none.max(by_chance);
    let figures = format!("{by_hand:.1} in {steps} steps, nothing {by_none:.1}, random {by_chance:.1}");
    assert!(by_hand > best + margin, "{}: {figures}", kind.name());
}

/// Wheels of a rover that turns away from what is near: the sensors on one side slow the wheel on the other.
fn avoid(observation: &[f32]) -> [f32; 2] {
    let side = |weights: [(usize, f32); 3]| weights.iter().map(|(sensor, weight)| weight * observation[*sensor]).sum();
    let (left, right): (f32, f32) = (side([(0, 0.3), (1, 0.9), (2, 1.6)]), side([(5, 0.3), (4, 0.9), (3, 1.6)]));
    // at a wall straight ahead it makes up its mind
    let (left, right) = if left >= right { (left, right * 0.5) } else { (left * 0.5, right) };
    [1.0 - 1.4 * right, 1.0 - 1.4 * left]
}

#[test]
fn a_rover_that_avoids_by_hand() {
    check_controller(&TaskKind::RoverAvoid, 100.0, |observation, _| avoid(observation).to_vec());
}

#[test]
fn a_rover_that_finds_the_light_by_hand() {
    // drives on while it gets brighter, and in a bend while it does not
    check_controller(&TaskKind::RoverLight, 5.0, |observation, _| {
        let [left, right] = avoid(observation);
        let gets_darker = observation[12] < 0.0;
        vec![left, if gets_darker { right - 0.7 } else { right }]
    });
}

#[test]
fn a_t1_that_stands_by_hand() {
    // ankles and hips answer each tilt
    check_controller(&TaskKind::T1Stand, 50.0, |observation, _| {
        let [lean_x, lean_y, _, spin_x, spin_y] = [0, 1, 2, 3, 4].map(|index| observation[index]);
        let (pitch, roll) = (lean_x, -lean_y);
        let (hip, ankle, ankle_roll) = (0.8 * pitch, 1.6 * pitch + 0.8 * spin_y, 0.6 * roll + 0.8 * spin_x);
        let leg = [hip, 0.0, 0.0, 0.0, ankle, ankle_roll];
        [leg, leg].concat()
    });
}
