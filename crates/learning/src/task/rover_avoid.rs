//! RoverAvoid: a rover drives fast without touching anything.
//!
//! The rover starts south of the block in the arena, with any heading, and drives for 600 steps of 50 ms. **Observation**, 10
//! numbers: for each of the eight distance sensors how near something is (0 nothing within 0.8 m, 1 touching), then the
//! speeds of the left and the right wheel as fractions of the largest. **Action**, 2 numbers: the speeds that the wheels are
//! to have. **Reward**, at most 1: speed × (1 − turning) × clearance, where the speed counts forwards only and the clearance
//! falls from 1 to 0 over the last 10 cm; it is the fitness of `examples/osp`. **Termination**: the rover touches a wall or an
//! obstacle, which costs 5.

use physics::Fault;
use world::{Setup, World};

use super::{
    Task, Verdict,
    rover::{self, Rover},
};
use crate::{
    error::EnvError,
    random::Random,
    spaces::{Spaces, Writer},
};

pub(super) const MAX_STEPS: u32 = 600;
/// What touching something costs.
const CRASH: f64 = 5.0;
/// Slope of the clearance: it is 1 where an eighth of the sensors' range is left.
const CLEARANCE: f64 = 8.0;
const OBSTACLES: [&str; 9] = ["East", "West", "North", "South", "Block", "Plank", "Crate", "Post1", "Post2"];

pub(super) fn setup() -> Result<Setup, EnvError> {
    rover::setup("arena", &OBSTACLES, ["(-1,-1.25,0.035)", "(1,-1,0.035)"])
}

pub(super) struct RoverAvoid {
    spaces: Spaces,
    rover: Rover,
}

impl RoverAvoid {
    pub(super) fn new(world: &World) -> Result<Self, EnvError> {
        let spaces = Spaces { observation: Rover::bounds().collect(), actions: 2 };
        Ok(Self { spaces, rover: Rover::new(world)? })
    }
}

impl Task for RoverAvoid {
    fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    fn reset(&mut self, _world: &mut World, _random: Random) -> Result<(), Fault> {
        Ok(())
    }

    fn act(&mut self, world: &mut World, action: &[f32]) {
        self.rover.drive(world, action);
    }

    fn judge(&mut self, world: &mut World) -> Verdict {
        if self.rover.has_touched(world) {
            return Verdict { reward: -CRASH, terminated: true };
        }
        let [left, right] = self.rover.speeds(world);
        let nearest = self.rover.nearness(world).fold(0.0, f64::max);
        let (speed, turning) = ((left + right).max(0.0) / 2.0, (left - right).abs() / 2.0);
        let clearance = (CLEARANCE * (1.0 - nearest)).min(1.0);
        Verdict { reward: speed * (1.0 - turning) * clearance, terminated: false }
    }

    fn observe(&self, world: &World, out: &mut [f64]) {
        let mut out = Writer::new(out);
        self.rover.observe(world, &mut out);
        out.finish();
    }
}
