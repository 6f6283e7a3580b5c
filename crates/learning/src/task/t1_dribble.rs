//! T1Dribble: a humanoid dribbles a ball in a given direction.
//!
//! The T1 stands in the middle of the soccer field, the ball 0.4 to 0.8 m in front of it and up to 0.3 m to a side; it has
//! 1,000 steps of 20 ms. The direction is up to 1 rad off straight ahead. **Observation**, 50 numbers: the 42 of T1Stand,
//! position and velocity of the ball and the direction as in T1Kick, then sine and cosine of a clock of 1.5 Hz. **Action**, 12
//! numbers: target angles of the leg joints, as in T1Stand. **Reward**: the ball's speed in the direction over 0.6 m/s (−1 to
//! 1), 0.5 × the robot's speed towards the ball over 0.5 m/s (−1 to 1) while it is further than 0.4 m away, 0.5 ×
//! exp(−2 × distance) for the ball's distance (m), 0.2 for being up; less lean², 0.5 × the square of the vertical speed,
//! 0.01 × the square of the action's change and 0.0002 × the squares of the joint speeds; never below 0. **Termination**: it
//! falls, or the ball is further away than 3 m.

use std::f64::consts::TAU;

use physics::Fault;
use world::{World, interface::Bounds};

use super::{
    Task, Verdict,
    legs::Legs,
    t1::{Ball, POSTURE, along},
    t1_kick::observe_ball,
};
use crate::{
    error::EnvError,
    random::Random,
    spaces::{Spaces, Writer, symmetric},
};

pub(super) const MAX_STEPS: u32 = 1_000;
/// Largest deviation of the leg joints at the start, in rad.
const NOISE: f64 = 0.05;
/// Where the ball is at the start, in m.
const BALL_AHEAD: [f64; 2] = [0.4, 0.8];
const BALL_ASIDE: f64 = 0.3;
/// Largest direction to either side, in rad.
const DIRECTION: f64 = 1.0;
/// Speeds that are rewarded fully, in m/s.
const BALL_SPEED: f64 = 0.6;
const SPEED: f64 = 0.5;
/// Distances of the ball, in m: nearer than the first the robot need not walk to it, beyond the second it is lost.
const NEAR: f64 = 0.4;
const LOST: f64 = 3.0;
/// Part of a walking cycle that passes in a step.
const CLOCK: f64 = 1.5 * 0.02;

pub(super) struct T1Dribble {
    spaces: Spaces,
    legs: Legs,
    ball: Ball,
    /// World frame, in rad.
    direction: f64,
    phase: f64,
}

impl T1Dribble {
    pub(super) fn new(world: &mut World) -> Result<Self, EnvError> {
        let legs = Legs::new(world, &POSTURE)?;
        let mut observation: Vec<Bounds> = legs.bounds().collect();
        observation.extend(symmetric(20.0, 2).chain(symmetric(4.0, 2)).chain(symmetric(1.0, 4)));
        let spaces = Spaces { observation, actions: legs.count() };
        Ok(Self { spaces, legs, ball: Ball::new(world)?, direction: 0.0, phase: 0.0 })
    }
}

impl Task for T1Dribble {
    fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    fn reset(&mut self, world: &mut World, mut random: Random) -> Result<(), Fault> {
        self.direction = random.around(DIRECTION);
        self.phase = 0.0;
        let place = [random.between(BALL_AHEAD[0], BALL_AHEAD[1]), random.around(BALL_ASIDE)];
        self.ball.place(world, place);
        self.legs.stand(world, [0.0; 3], NOISE, &mut random)
    }

    fn act(&mut self, world: &mut World, action: &[f32]) {
        self.legs.act(world, action);
    }

    fn judge(&mut self, world: &mut World) -> Verdict {
        let legs = &self.legs;
        let ([ball_x, ball_y], [x, y, _]) = (self.ball.position(world), legs.pose(world).pos);
        let way = [ball_x - x, ball_y - y];
        let distance = way[0].hypot(way[1]);
        let [vx, vy, vertical] = legs.velocity(world);
        let approach = along([vx, vy], way[1].atan2(way[0]))[0];
        let approach = if distance > NEAR { (approach / SPEED).clamp(-1.0, 1.0) } else { 0.0 };
        let [on, _] = along(self.ball.velocity(world), self.direction);
        let reward = (on / BALL_SPEED).clamp(-1.0, 1.0) + 0.5 * approach + 0.5 * (-2.0 * distance).exp() + 0.2
            - legs.lean(world)
            - 0.5 * vertical * vertical
            - 0.01 * legs.jerk()
            - 0.0002 * legs.bustle(world);
        let terminated = legs.has_fallen(world) || distance > LOST;
        self.phase = (self.phase + CLOCK).fract();
        Verdict { reward: if terminated { 0.0 } else { reward.max(0.0) }, terminated }
    }

    fn observe(&self, world: &World, out: &mut [f64]) {
        let mut out = Writer::new(out);
        self.legs.observe(world, &mut out);
        observe_ball(&self.legs, &self.ball, self.direction, world, &mut out);
        let (sin, cos) = (TAU * self.phase).sin_cos();
        out.extend([sin, cos]);
        out.finish();
    }
}
