//! An environment judges a robot that moves elsewhere as it judges its own.
#![allow(clippy::unwrap_used, reason = "a failing call fails the test")]

mod drivers;

use drivers::*;
use learning::{Env, EnvError, Motion, TaskKind};

const STEPS: usize = 160;

/// Works against the fall with the ankles.
fn stand(seen: &[f32]) -> Vec<f32> {
    let [ahead, aside, _, roll, pitch] = std::array::from_fn(|index| seen[index]);
    let mut action = vec![0.0; 12];
    for leg in [0, 6] {
        action[leg + 4] = 2.0 * ahead + 1.2 * pitch;
        action[leg + 5] = 2.0 * aside - 1.2 * roll;
    }
    action
}

/// A step of `twin` whose time passes in `other`. Returns the twin's observation, reward, and the push that its task has given.
fn follow(twin: &mut Env, other: &Env, action: &[f32]) -> (Vec<f32>, f64, [f64; 3]) {
    let before = twin.motion().unwrap().velocity;
    twin.act(action).unwrap();
    let after = twin.motion().unwrap().velocity;
    twin.follow(&other.motion().unwrap()).unwrap();
    let outcome = twin.judge().unwrap();
    (observed(twin), outcome.reward, std::array::from_fn(|axis| after[axis] - before[axis]))
}

#[test]
fn rewards_are_those_of_the_robot_that_is_followed() {
    let mut env = env(&TaskKind::T1Stand);
    let mut twin = Env::new(&TaskKind::T1Stand, Some(500)).unwrap();
    let mut pushes = 0;
    for seed in [3, 4] {
        env.reset(Some(seed)).unwrap();
        twin.reset(Some(seed)).unwrap();
        assert_eq!((observed(&mut env), env.motion().unwrap()), (observed(&mut twin), twin.motion().unwrap()));
        for number in 0..STEPS {
            let action = stand(&observed(&mut env));
            let (seen, outcome) = step(&mut env, &action).unwrap();
            let (also_seen, reward, push) = follow(&mut twin, &env, &action);
            assert!((outcome.reward - reward).abs() < 1e-9, "step {number}: {} {reward}", outcome.reward);
            assert_eq!(env.is_over(), twin.is_over());
            // sensors are a physics step old, those of the twin are not
            let differs = |(a, b): (&f32, &f32)| (a - b).abs() > 0.05;
            assert!(!seen[..3].iter().zip(&also_seen[..3]).any(differs), "{seen:?} {also_seen:?}");
            assert_eq!(seen[30..], also_seen[30..], "the last action");
            let strength = push[0].hypot(push[1]);
            assert!(strength == 0.0 || (0.299..0.801).contains(&strength), "{push:?}");
            pushes += usize::from(strength > 0.0);
            if outcome.is_over() {
                break;
            }
        }
    }
    assert!(pushes >= 2, "{pushes} pushes");
}

#[test]
fn motors_are_told_what_the_action_means() {
    let mut twin = env(&TaskKind::T1Walk);
    twin.reset(Some(1)).unwrap();
    let knee = |twin: &Env| {
        let motors = twin.motors().unwrap();
        assert_eq!(motors.len(), 23);
        motors.into_iter().find(|(name, _)| name == "lle4").unwrap().1
    };
    assert_eq!(knee(&twin).q, 0.84);
    let mut action = [0.0; 12];
    action[3] = -0.5;
    twin.act(&action).unwrap();
    let target = knee(&twin);
    assert!((target.q - (0.84 - 0.25)).abs() < 1e-12);
    assert_eq!((target.dq, target.kp, target.kd, target.tau), (0.0, 200.0, 5.0, 0.0));
}

#[test]
fn what_is_no_motion_of_the_robot_is_refused_and_changes_nothing() {
    let mut twin = env(&TaskKind::T1Stand);
    assert!(matches!(twin.act(&[0.0; 12]), Err(EnvError::NoEpisode)));
    assert!(matches!(twin.judge(), Err(EnvError::NoEpisode)));
    twin.reset(Some(1)).unwrap();
    let good = twin.motion().unwrap();
    let bad = [
        Motion { joints: good.joints[1..].to_vec(), ..good.clone() },
        Motion { velocity: [0.0, f64::NAN, 0.0], ..good.clone() },
        Motion { joints: vec![[0.0, f64::INFINITY]; good.joints.len()], ..good.clone() },
        Motion { pose: physics::Pose { quat: [0.0; 4], ..good.pose }, ..good.clone() },
    ];
    for motion in bad {
        let error = twin.follow(&motion).unwrap_err();
        assert!(error.is_misuse(), "{error}");
        assert_eq!(twin.motion().unwrap(), good);
    }
    let lying = Motion { pose: physics::Pose { quat: [0.0, 2.0, 0.0, 0.0], ..good.pose }, ..good };
    twin.act(&[0.0; 12]).unwrap();
    twin.follow(&lying).unwrap();
    let outcome = twin.judge().unwrap();
    assert!(outcome.terminated && outcome.reward == 0.0);
    assert!(matches!(twin.judge(), Err(EnvError::NoEpisode)));
}

#[test]
fn robots_without_target_angles_have_no_twin() {
    let mut rover = env(&TaskKind::RoverAvoid);
    rover.reset(Some(1)).unwrap();
    assert!(rover.motors().is_err());
}
