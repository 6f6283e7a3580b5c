//! T1Stand: a humanoid keeps standing when it is pushed.
//!
//! The T1 stands on an endless floor for 500 steps of 20 ms and is pushed in a random direction every 1.5 to 3 s: its torso's
//! velocity changes at once by 0.3 to 0.8 m/s. **Observation**, 42 numbers: gravity, angular velocity, angles and speeds of
//! the twelve leg joints, and the last action (`legs.rs` has the scales), all as players of the soccer league perceive it.
//! **Action**, 12 numbers: target angles of the leg joints, up to 0.5 rad around a posture with bent knees, for a
//! proportional-derivative controller within the torques of the model. **Reward**, at most 1: 0.4 for being up, 0.3 ×
//! exp(−lean² / 0.05), 0.3 × exp(−speed² / 0.1); less 0.005 × the square of the action's change and 0.0001 × the squares of
//! the joint speeds; never below 0. **Termination**: it falls.

use std::f64::consts::PI;

use physics::Fault;
use world::World;

use super::{Task, Verdict, legs::Legs, t1::POSTURE};
use crate::{
    error::EnvError,
    random::Random,
    spaces::{Spaces, Writer},
};

pub(super) const MAX_STEPS: u32 = 500;
/// Largest deviation of the leg joints at the start, in rad.
const NOISE: f64 = 0.1;
/// Steps between two pushes.
const PAUSE: [f64; 2] = [75.0, 150.0];
/// Changes of velocity by a push, in m/s.
const PUSH: [f64; 2] = [0.3, 0.8];

pub(super) struct T1Stand {
    spaces: Spaces,
    legs: Legs,
    random: Random,
    /// Steps until the next push.
    pause: u32,
}

impl T1Stand {
    pub(super) fn new(world: &mut World) -> Result<Self, EnvError> {
        let legs = Legs::new(world, &POSTURE)?;
        let spaces = Spaces { observation: legs.bounds().collect(), actions: legs.count() };
        Ok(Self { spaces, legs, random: Random::new(0), pause: 0 })
    }

    fn draw_pause(&mut self) {
        self.pause = self.random.between(PAUSE[0], PAUSE[1]) as u32;
    }
}

impl Task for T1Stand {
    fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    fn reset(&mut self, world: &mut World, random: Random) -> Result<(), Fault> {
        self.random = random;
        self.draw_pause();
        self.legs.stand(world, [0.0; 3], NOISE, &mut self.random)
    }

    fn act(&mut self, world: &mut World, action: &[f32]) {
        self.legs.act(world, action);
        self.pause = self.pause.saturating_sub(1);
        if self.pause == 0 {
            self.draw_pause();
            let (speed, direction) = (self.random.between(PUSH[0], PUSH[1]), self.random.around(PI));
            self.legs.push(world, [speed * direction.cos(), speed * direction.sin()]);
        }
    }

    fn judge(&mut self, world: &mut World) -> Verdict {
        let [x, y, _] = self.legs.velocity(world);
        let reward = 0.4 + 0.3 * (-self.legs.lean(world) / 0.05).exp() + 0.3 * (-(x * x + y * y) / 0.1).exp()
            - 0.005 * self.legs.jerk()
            - 0.0001 * self.legs.bustle(world);
        let terminated = self.legs.has_fallen(world);
        Verdict { reward: if terminated { 0.0 } else { reward.max(0.0) }, terminated }
    }

    fn observe(&self, world: &World, out: &mut [f64]) {
        let mut out = Writer::new(out);
        self.legs.observe(world, &mut out);
        out.finish();
    }
}
