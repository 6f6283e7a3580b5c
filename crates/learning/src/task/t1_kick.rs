//! T1Kick: a humanoid kicks a ball in a given direction.
//!
//! The T1 stands in the middle of the soccer field, the ball in front of its right foot, a few centimetres off a place drawn
//! at random; it has 250 steps of 20 ms. The direction is up to 0.4 rad off straight ahead. **Observation**, 48 numbers: the 42
//! of T1Stand, then position (m) and velocity (× 0.2 s/m) of the ball and the direction as a unit vector, all seen from the
//! robot's torso, x ahead and y to the left. **Action**, 12 numbers: target angles of the leg joints, as in T1Stand.
//! **Reward**: 0.4 × the ball's speed in the direction (m/s, up to 8), less 0.2 × its speed across it; 2 × how far the right
//! foot has come nearer to the ball (m); 0.1 for being up; less 0.2 × lean² and 0.003 × the square of the action's change.
//! **Termination**: it falls, which costs 5.

use physics::{BodyId, Fault};
use world::{World, interface::Bounds};

use super::{
    Task, Verdict,
    legs::{Legs, heading, own, seen_from},
    missing,
    t1::{Ball, POSTURE, along},
};
use crate::{
    error::EnvError,
    random::Random,
    spaces::{Spaces, Writer, symmetric},
};

pub(super) const MAX_STEPS: u32 = 250;
/// Largest deviation of the leg joints at the start, in rad.
const NOISE: f64 = 0.03;
/// Where the ball is at the start, seen from the torso, and how far off it may be, in m.
const BALL: [f64; 2] = [0.37, -0.12];
const BALL_OFF: f64 = 0.03;
/// Largest direction to either side, in rad.
const DIRECTION: f64 = 0.4;
const FALL: f64 = 5.0;
/// Scale of the observed velocity of the ball.
const BALL_SPEED_SCALE: f64 = 0.2;

pub(super) struct T1Kick {
    spaces: Spaces,
    legs: Legs,
    ball: Ball,
    foot: BodyId,
    /// World frame, in rad.
    direction: f64,
    /// Distance of the foot from the ball, in m.
    distance: f64,
}

impl T1Kick {
    pub(super) fn new(world: &mut World) -> Result<Self, EnvError> {
        let legs = Legs::new(world, &POSTURE)?;
        let mut observation: Vec<Bounds> = legs.bounds().collect();
        observation.extend(symmetric(20.0, 2).chain(symmetric(4.0, 2)).chain(symmetric(1.0, 2)));
        let foot = world.sim().model().body_named(&own("right_foot_link"));
        Ok(Self {
            spaces: Spaces { observation, actions: legs.count() },
            legs,
            ball: Ball::new(world)?,
            foot: foot.ok_or_else(|| missing("right foot"))?,
            direction: 0.0,
            distance: 0.0,
        })
    }

    fn foot_to_ball(&self, world: &World) -> f64 {
        let ([x, y], [foot_x, foot_y, _]) = (self.ball.position(world), world.sim().body_pose(self.foot).pos);
        (x - foot_x).hypot(y - foot_y)
    }
}

impl Task for T1Kick {
    fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    fn reset(&mut self, world: &mut World, mut random: Random) -> Result<(), Fault> {
        self.direction = random.around(DIRECTION);
        self.ball.place(world, BALL.map(|x| x + random.around(BALL_OFF)));
        self.legs.stand(world, [0.0; 3], NOISE, &mut random)?;
        self.distance = self.foot_to_ball(world);
        Ok(())
    }

    fn act(&mut self, world: &mut World, action: &[f32]) {
        self.legs.act(world, action);
    }

    fn judge(&mut self, world: &mut World) -> Verdict {
        let [on, across] = along(self.ball.velocity(world), self.direction);
        let nearer = self.distance - self.foot_to_ball(world);
        self.distance -= nearer;
        // a ball that rolls away is no loss
        let approach = if on > 0.1 { 0.0 } else { nearer };
        let reward = 0.4 * on.clamp(-1.0, 8.0) - 0.2 * across.abs().min(8.0) + 2.0 * approach + 0.1
            - 0.2 * self.legs.lean(world)
            - 0.003 * self.legs.jerk();
        let terminated = self.legs.has_fallen(world);
        Verdict { reward: if terminated { -FALL } else { reward }, terminated }
    }

    fn observe(&self, world: &World, out: &mut [f64]) {
        let mut out = Writer::new(out);
        self.legs.observe(world, &mut out);
        observe_ball(&self.legs, &self.ball, self.direction, world, &mut out);
        out.finish();
    }
}

/// Writes position and velocity of the ball and the direction it is to go, seen from the torso.
pub(super) fn observe_ball(legs: &Legs, ball: &Ball, direction: f64, world: &World, out: &mut Writer<'_>) {
    let pose = legs.pose(world);
    let (facing, [x, y]) = (heading(&pose), ball.position(world));
    out.extend(seen_from(facing, [x - pose.pos[0], y - pose.pos[1]]));
    out.extend(seen_from(facing, ball.velocity(world)).map(|speed| BALL_SPEED_SCALE * speed));
    out.extend([(direction - facing).cos(), (direction - facing).sin()]);
}
