//! T1Walk: a humanoid walks at a commanded velocity.
//!
//! The T1 stands on an endless floor and has 1,000 steps of 20 ms. Every 5 s it is given another velocity: −0.4 to 0.8 m/s
//! ahead, up to 0.3 m/s to either side, and turning by up to 0.8 rad/s; each fifth command is to stand. **Observation**, 47
//! numbers: the 42 of T1Stand, the command (m/s, m/s, rad/s), and sine and cosine of a clock of 1.5 Hz, both 0 while the
//! command is to stand. **Action**, 12 numbers: target angles of the leg joints, as in T1Stand. **Reward**: exp(−e² / 0.1) for
//! the error `e` of the velocity over the ground, 0.5 × exp(−e² / 0.25) for that of turning, 0.3 for being up; while it is to
//! walk, 0.3 × how far the foot whose half of the clock it is has been lifted (of 5 cm), less the same for the other foot. From
//! that is subtracted: 2 × lean², 20 × the square of the height's error (m), the square of the vertical speed, 0.05 × the
//! squares of tilting speeds, 0.01 × the square of the action's change, 0.0002 × the squares of the joint speeds. It is never
//! below 0, so that falling never pays. **Termination**: it falls.

use std::f64::consts::TAU;

use physics::{BodyId, Fault};
use world::{World, interface::Bounds};

use super::{
    Task, Verdict,
    legs::{Legs, heading, own, seen_from},
    missing,
    t1::POSTURE,
};
use crate::{
    error::EnvError,
    random::Random,
    spaces::{Spaces, Writer, symmetric},
};

pub(super) const MAX_STEPS: u32 = 1_000;
/// Largest deviation of the leg joints at the start, in rad.
const NOISE: f64 = 0.05;
/// Steps until the next command.
const COMMAND_STEPS: u32 = 250;
/// Ranges of the commands: ahead and to the left in m/s, turning left in rad/s.
const AHEAD: [f64; 2] = [-0.4, 0.8];
const ASIDE: f64 = 0.3;
const TURNING: f64 = 0.8;
/// Fraction of commands to stand.
const STANDING: f64 = 0.2;
/// Part of a walking cycle that passes in a step.
const CLOCK: f64 = 1.5 * 0.02;
/// Height of the feet's frames above the ground when they stand, and how far a foot is to be lifted, in m.
const ANKLE: f64 = 0.03;
const LIFT: f64 = 0.05;

pub(super) struct T1Walk {
    spaces: Spaces,
    legs: Legs,
    feet: [BodyId; 2],
    random: Random,
    command: [f64; 3],
    /// 0 to 0.5: the left foot is to be in the air; 0.5 to 1: the right one.
    phase: f64,
    /// Steps until the next command.
    left: u32,
}

impl T1Walk {
    pub(super) fn new(world: &mut World) -> Result<Self, EnvError> {
        let legs = Legs::new(world, &POSTURE)?;
        let mut observation: Vec<Bounds> = legs.bounds().collect();
        observation.extend(symmetric(1.0, 5));
        let foot = |name: &str| {
            let found = world.sim().model().body_named(&own(name));
            found.ok_or_else(|| missing(format_args!("body `{name}`")))
        };
        Ok(Self {
            feet: [foot("left_foot_link")?, foot("right_foot_link")?],
            spaces: Spaces { observation, actions: legs.count() },
            legs,
            random: Random::new(0),
            command: [0.0; 3],
            phase: 0.0,
            left: 0,
        })
    }

    fn draw_command(&mut self) {
        self.left = COMMAND_STEPS;
        let random = &mut self.random;
        let stands = random.between(0.0, 1.0) < STANDING;
        let command = [random.between(AHEAD[0], AHEAD[1]), random.around(ASIDE), random.around(TURNING)];
        self.command = if stands { [0.0; 3] } else { command };
    }

    fn is_to_walk(&self) -> bool {
        self.command != [0.0; 3]
    }

    /// How far the foot that is to be in the air is lifted more than the other one, -1 to 1.
    fn stepping(&self, world: &World) -> f64 {
        let lifted = |foot| ((world.sim().body_pose(foot).pos[2] - ANKLE) / LIFT).clamp(0.0, 1.0);
        let [left, right] = self.feet.map(lifted);
        if self.phase < 0.5 { left - right } else { right - left }
    }
}

impl Task for T1Walk {
    fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    fn reset(&mut self, world: &mut World, random: Random) -> Result<(), Fault> {
        self.random = random;
        self.draw_command();
        self.phase = 0.0;
        self.legs.stand(world, [0.0; 3], NOISE, &mut self.random)
    }

    fn act(&mut self, world: &mut World, action: &[f32]) {
        self.legs.act(world, action);
    }

    fn judge(&mut self, world: &mut World) -> Verdict {
        let legs = &self.legs;
        let pose = legs.pose(world);
        let [x, y, vertical] = legs.velocity(world);
        let [tilt_x, tilt_y, turning] = legs.spin(world);
        let [ahead, aside] = seen_from(heading(&pose), [x, y]);
        let [want_ahead, want_aside, want_turning] = self.command;
        let error = (ahead - want_ahead).powi(2) + (aside - want_aside).powi(2);
        let stepping = if self.is_to_walk() { self.stepping(world) } else { 0.0 };
        let reward =
            (-error / 0.1).exp() + 0.5 * (-(turning - want_turning).powi(2) / 0.25).exp() + 0.3 + 0.3 * stepping
                - 2.0 * legs.lean(world)
                - 20.0 * (pose.pos[2] - legs.height()).powi(2)
                - vertical * vertical
                - 0.05 * (tilt_x * tilt_x + tilt_y * tilt_y)
                - 0.01 * legs.jerk()
                - 0.0002 * legs.bustle(world);
        let terminated = legs.has_fallen(world);
        // the next observation shows the next command and phase
        self.phase = (self.phase + CLOCK).fract();
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.draw_command();
        }
        Verdict { reward: if terminated { 0.0 } else { reward.max(0.0) }, terminated }
    }

    fn observe(&self, world: &World, out: &mut [f64]) {
        let mut out = Writer::new(out);
        self.legs.observe(world, &mut out);
        out.extend(self.command);
        let (sin, cos) = (TAU * self.phase).sin_cos();
        out.extend(if self.is_to_walk() { [sin, cos] } else { [0.0; 2] });
        out.finish();
    }
}
