//! Environments and controllers for the tests.
#![allow(dead_code, reason = "each test file uses its own part of this")]

use learning::{Env, EnvError, Mjcf, Outcome, Part, Random, TaskKind};
use physics::{Limits, Pose, Source};

/// A pole on a hinge with a motor.
pub(crate) const PENDULUM: &str = r#"<mujoco model="pole">
  <option timestep="0.002"/>
  <worldbody>
    <body name="pole" pos="0 0 1">
      <joint name="hinge" axis="0 1 0" damping="0.01"/>
      <geom type="capsule" size=".02" fromto="0 0 0 0 0 -.6"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="hinge" gear="2" ctrlrange="-1 1"/></actuator>
  <sensor><jointpos name="angle" joint="hinge"/></sensor>
</mujoco>"#;

pub(crate) fn pendulum() -> TaskKind {
    let source = Source::from_text("pole", PENDULUM, &Limits::default()).unwrap();
    let base = source.scenery(&Limits::default()).unwrap();
    TaskKind::Mjcf(Box::new(Mjcf {
        source,
        base,
        pose: Pose::IDENTITY,
        timestep: None,
        steps_per_tick: 5,
        observation: Part::ALL.to_vec(),
        noise: 0.1,
    }))
}

/// All tasks, and a user's model.
pub(crate) fn kinds() -> Vec<TaskKind> {
    TaskKind::NAMED.into_iter().chain([pendulum()]).collect()
}

pub(crate) fn env(kind: &TaskKind) -> Env {
    Env::new(kind, Some(kind.max_steps())).unwrap_or_else(|error| panic!("{}: {error}", kind.name()))
}

pub(crate) fn observed(env: &mut Env) -> Vec<f32> {
    let mut observation = vec![0.0; env.spaces().observation.len()];
    env.observe(&mut observation).unwrap();
    observation
}

pub(crate) fn random_action(random: &mut Random, count: usize) -> Vec<f32> {
    (0..count).map(|_| random.around(1.0) as f32).collect()
}

/// A step, and the observation after it.
pub(crate) fn step(env: &mut Env, action: &[f32]) -> Result<(Vec<f32>, Outcome), EnvError> {
    let outcome = env.step(action)?;
    Ok((observed(env), outcome))
}

/// Mean return of a controller over the first episodes of some seeds, and the mean number of steps.
pub(crate) fn play(kind: &TaskKind, mut controller: impl FnMut(&[f32], &mut Random) -> Vec<f32>) -> (f64, f64) {
    const SEEDS: u64 = 8;
    let mut env = env(kind);
    let (mut total, mut steps) = (0.0, 0);
    for seed in 0..SEEDS {
        env.reset(Some(seed)).unwrap();
        let mut random = Random::new(seed);
        loop {
            let action = controller(&observed(&mut env), &mut random);
            let outcome = env.step(&action).unwrap();
            total += outcome.reward;
            steps += 1;
            if outcome.is_over() {
                break;
            }
        }
    }
    (total / SEEDS as f64, f64::from(steps) / SEEDS as f64)
}
