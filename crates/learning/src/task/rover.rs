//! The rover, as its tasks use it.

use world::{
    Action, AgentId, Setup, World,
    event::{Condition, EventId, Watch},
    interface::{Bounds, InterfaceValue},
    setup::Randomise,
};

use super::{AGENT, agent, field, missing, with_robot};
use crate::{error::EnvError, spaces::Writer};

/// Length of a physics step, in s, and number of them in a tick: 50 ms, as in the scenario `arena`.
const TIMESTEP: f64 = 0.01;
const STEPS_PER_TICK: u32 = 5;
/// Number of distance sensors.
const DISTANCES: usize = 8;
/// Name of the event that the rover touches an obstacle.
const TOUCH: &str = "Touch";

/// Wheels and sensors of the rover.
pub(super) struct Rover {
    agent: AgentId,
    /// Index and largest speed of each motor, left first, in rad/s.
    wheels: [(usize, f64); 2],
    distances: Vec<InterfaceValue>,
    speeds: [InterfaceValue; 2],
    touch: EventId,
}

/// A rover on a field, among obstacles of these names, that starts between two points with any heading.
pub(super) fn setup(field_name: &str, obstacles: &[&str], start: [&str; 2]) -> Result<Setup, EnvError> {
    let mut setup = with_robot(field(field_name)?, "rover")?;
    (setup.timestep, setup.steps_per_tick) = (Some(TIMESTEP), STEPS_PER_TICK);
    let randomise = |property: &str, [min, max]: [&str; 2]| Randomise {
        variable: format!("/Sim/{AGENT}/{property}"),
        min: min.to_owned(),
        max: max.to_owned(),
    };
    setup.randomise = vec![randomise("Position", start), randomise("Heading", ["-3.14159", "3.14159"])];
    let second = obstacles.iter().map(|&name| name.to_owned()).collect();
    let condition = Condition::Collision { name: TOUCH.to_owned(), first: vec![AGENT.to_owned()], second };
    setup.watches = vec![Watch { condition, ends_try: false }];
    Ok(setup)
}

impl Rover {
    pub(super) fn new(world: &World) -> Result<Self, EnvError> {
        let card = agent(world)?;
        let wheel = |side: &str| {
            let name = format!("{side}/Wheel");
            let found = card.motors.iter().position(|motor| motor.name == name);
            let found = found.and_then(|index| card.motors.get(index).map(|motor| (index, motor.range.max)));
            found.ok_or_else(|| missing(format_args!("motor `{name}`")))
        };
        let distances: Vec<_> =
            card.values.iter().filter(|value| value.name.starts_with("/Distance/")).cloned().collect();
        if distances.len() != DISTANCES {
            return Err(missing("row of eight distance sensors"));
        }
        let event = format!("/Collision/{TOUCH}");
        let touch = world.catalogue().event_named(&event).map(|card| card.id);
        Ok(Self {
            agent: card.id,
            wheels: [wheel("Left")?, wheel("Right")?],
            distances,
            speeds: [sensor(world, "/Left/Wheel/Velocity")?, sensor(world, "/Right/Wheel/Velocity")?],
            touch: touch.ok_or_else(|| missing(format_args!("event `{event}`")))?,
        })
    }

    /// Bounds of what [`Rover::observe`] writes.
    pub(super) fn bounds() -> impl Iterator<Item = Bounds> {
        let unit = std::iter::repeat_n(Bounds::positive(1.0), DISTANCES);
        unit.chain([Bounds::symmetric(1.0), Bounds::symmetric(1.0)])
    }

    /// Sets the speeds of the wheels, as fractions of the largest.
    pub(super) fn drive(&self, world: &mut World, action: &[f32]) {
        let wheels = self.wheels.iter().zip(action);
        let set = wheels.map(|(&(motor, top), &part)| Action::Set {
            motor,
            target: Some(f64::from(part) * top),
            torque: None,
        });
        world.move_motors(self.agent, set);
    }

    /// How near what is in front of each distance sensor is: 0 is out of range, 1 touches it.
    pub(super) fn nearness(&self, world: &World) -> impl Iterator<Item = f64> {
        let readings = world.sim().sensor_values();
        self.distances.iter().map(|value| 1.0 - value.normalized_from_sensors(readings).unwrap_or(1.0))
    }

    /// Speeds of the wheels, left first, as fractions of the largest.
    pub(super) fn speeds(&self, world: &World) -> [f64; 2] {
        let readings = world.sim().sensor_values();
        self.speeds.each_ref().map(|value| value.normalized_from_sensors(readings).unwrap_or(0.0))
    }

    /// Whether it has touched an obstacle since the last call.
    pub(super) fn has_touched(&self, world: &mut World) -> bool {
        world.take_events().contains(&self.touch)
    }

    /// Writes eight times how near something is, and the speeds of the wheels.
    pub(super) fn observe(&self, world: &World, out: &mut Writer<'_>) {
        out.extend(self.nearness(world));
        out.extend(self.speeds(world));
    }
}

/// The sensor of this name.
pub(super) fn sensor(world: &World, name: &str) -> Result<InterfaceValue, EnvError> {
    let found = agent(world)?.values.into_iter().find(|value| value.name == name);
    found.ok_or_else(|| missing(format_args!("sensor `{name}`")))
}
