//! ASeriesWalk: a small servo humanoid walks ahead.
//!
//! The A-Series stands on an endless floor with slightly bent knees and has 500 steps of 20 ms. **Observation**, 42 numbers:
//! gravity, angular velocity, angles and speeds of the twelve leg joints, and the last action (`legs.rs` has the scales).
//! **Action**, 12 numbers: target angles of the leg servos, up to 0.6 rad around the posture; the others hold still. Servos
//! are slow, 3.5 rad/s, and weak. **Reward**: speed ahead over 0.2 m/s, at most 1; 0.2 for being up; less 0.5 × speed
//! sideways over 0.2 m/s (at most 1), 0.1 × |turning| (rad/s), 0.5 × lean², 0.01 × the square of the action's change.
//! **Termination**: it falls.

use physics::Fault;
use world::{Setup, World};

use super::{
    Task, Verdict,
    floor::floor,
    legs::{Legs, Posture},
    with_robot,
};
use crate::{
    error::EnvError,
    random::Random,
    spaces::{Spaces, Writer},
};

pub(super) const MAX_STEPS: u32 = 500;
/// Physics steps of 5 ms in a tick.
const STEPS_PER_TICK: u32 = 4;
/// Speed that is rewarded with 1, in m/s.
const SPEED: f64 = 0.2;
/// Largest deviation of the leg joints at the start, in rad.
const NOISE: f64 = 0.05;

/// The right leg's joints turn the other way. `HipYaw` and `AnkleYaw` swing forwards, see the model.
const POSTURE: Posture = Posture {
    legs: &[
        ("Left/HipRoll", 0.0),
        ("Left/HipPitch", 0.0),
        ("Left/HipYaw", -0.3),
        ("Left/Knee", -0.6),
        ("Left/AnkleYaw", 0.3),
        ("Left/AnklePitch", 0.0),
        ("Right/HipRoll", 0.0),
        ("Right/HipPitch", 0.0),
        ("Right/HipYaw", 0.3),
        ("Right/Knee", 0.6),
        ("Right/AnkleYaw", -0.3),
        ("Right/AnklePitch", 0.0),
    ],
    others: &[],
    gains: |_| None,
    soles: ["Left/Foot", "Right/Foot"],
    scale: 0.6,
    sensors: None,
};

pub(super) fn setup() -> Result<Setup, EnvError> {
    Ok(Setup { steps_per_tick: STEPS_PER_TICK, ..with_robot(floor()?, "aseries")? })
}

pub(super) struct ASeriesWalk {
    spaces: Spaces,
    legs: Legs,
}

impl ASeriesWalk {
    pub(super) fn new(world: &mut World) -> Result<Self, EnvError> {
        let legs = Legs::new(world, &POSTURE)?;
        Ok(Self { spaces: Spaces { observation: legs.bounds().collect(), actions: legs.count() }, legs })
    }
}

impl Task for ASeriesWalk {
    fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    fn reset(&mut self, world: &mut World, mut random: Random) -> Result<(), Fault> {
        self.legs.stand(world, [0.0; 3], NOISE, &mut random)
    }

    fn act(&mut self, world: &mut World, action: &[f32]) {
        self.legs.act(world, action);
    }

    fn judge(&mut self, world: &mut World) -> Verdict {
        let [ahead, aside, _] = self.legs.velocity(world);
        let [.., turning] = self.legs.spin(world);
        let reward = (ahead / SPEED).clamp(-1.0, 1.0) + 0.2
            - 0.5 * (aside.abs() / SPEED).min(1.0)
            - 0.1 * turning.abs().min(5.0)
            - 0.5 * self.legs.lean(world)
            - 0.01 * self.legs.jerk();
        Verdict { reward, terminated: self.legs.has_fallen(world) }
    }

    fn observe(&self, world: &World, out: &mut [f64]) {
        let mut out = Writer::new(out);
        self.legs.observe(world, &mut out);
        out.finish();
    }
}
