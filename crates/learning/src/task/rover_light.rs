//! RoverLight: a rover finds a lamp.
//!
//! The rover starts in the middle of the field `flat`, with any heading; the lamp hangs above one corner, and boxes and posts
//! stand in between. Its light sensor looks up, so that it tells how bright a place is, and not where the lamp is: the rover
//! has to find out by driving. **Observation**, 13 numbers: how near something is for eight distance sensors, the speeds of
//! the wheels, as in RoverAvoid, then the brightness, its change in the last step (× 100), and its difference to the mean of
//! about the last second (× 20). **Action**, 2 numbers: the speeds that the wheels are to have. **Reward**: 30 × the change of
//! the brightness, −0.01 in each step, −0.05 in a step in which it touches something, and 10 when it arrives.
//! **Termination**: it arrives, which is within about 0.4 m of the point below the lamp.

use physics::Fault;
use world::{
    Setup, World,
    interface::{Bounds, InterfaceValue},
};

use super::{
    Task, Verdict,
    rover::{self, Rover, sensor},
};
use crate::{
    error::EnvError,
    random::Random,
    spaces::{Spaces, Writer, symmetric},
};

pub(super) const MAX_STEPS: u32 = 600;
/// Brightness at which the rover has arrived; it is 0.6 right below the lamp.
const ARRIVED: f64 = 0.5;
const ARRIVAL: f64 = 10.0;
/// Reward for a change of the brightness by 1.
const GAIN: f64 = 30.0;
const STEP_COST: f64 = 0.01;
const TOUCH_COST: f64 = 0.05;
/// Weight of the newest brightness in the mean: it follows within about a second.
const NEWEST: f64 = 0.05;
/// Scales of the observed change and difference.
const CHANGE_SCALE: f64 = 100.0;
const DIFFERENCE_SCALE: f64 = 20.0;
const OBSTACLES: [&str; 11] = [
    "wall-east",
    "wall-west",
    "wall-north",
    "wall-south",
    "box-1",
    "box-2",
    "box-3",
    "box-4",
    "post-1",
    "post-2",
    "post-3",
];

pub(super) fn setup() -> Result<Setup, EnvError> {
    rover::setup("flat", &OBSTACLES, ["(-0.4,-0.4,0.035)", "(0.4,0.4,0.035)"])
}

pub(super) struct RoverLight {
    spaces: Spaces,
    rover: Rover,
    light: InterfaceValue,
    brightness: f64,
    change: f64,
    mean: f64,
}

impl RoverLight {
    pub(super) fn new(world: &World) -> Result<Self, EnvError> {
        let mut observation: Vec<Bounds> = Rover::bounds().collect();
        observation.push(Bounds::positive(1.0));
        observation.extend(symmetric(1.0, 2));
        Ok(Self {
            spaces: Spaces { observation, actions: 2 },
            rover: Rover::new(world)?,
            light: sensor(world, "/Light")?,
            brightness: 0.0,
            change: 0.0,
            mean: 0.0,
        })
    }

    fn see(&self, world: &World) -> f64 {
        self.light.normalized_from_sensors(world.sim().sensor_values()).unwrap_or(0.0)
    }
}

impl Task for RoverLight {
    fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    fn reset(&mut self, world: &mut World, _random: Random) -> Result<(), Fault> {
        self.brightness = self.see(world);
        (self.change, self.mean) = (0.0, self.brightness);
        Ok(())
    }

    fn act(&mut self, world: &mut World, action: &[f32]) {
        self.rover.drive(world, action);
    }

    fn judge(&mut self, world: &mut World) -> Verdict {
        let brightness = self.see(world);
        self.change = brightness - self.brightness;
        self.brightness = brightness;
        self.mean += NEWEST * (brightness - self.mean);
        let terminated = brightness >= ARRIVED;
        let arrival = if terminated { ARRIVAL } else { 0.0 };
        let touch = if self.rover.has_touched(world) { TOUCH_COST } else { 0.0 };
        Verdict { reward: GAIN * self.change + arrival - touch - STEP_COST, terminated }
    }

    fn observe(&self, world: &World, out: &mut [f64]) {
        let mut out = Writer::new(out);
        self.rover.observe(world, &mut out);
        out.push(self.brightness);
        out.push(CHANGE_SCALE * self.change);
        out.push(DIFFERENCE_SCALE * (self.brightness - self.mean));
        out.finish();
    }
}
