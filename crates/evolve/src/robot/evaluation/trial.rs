//! One trial of a robot: sensing, control and movement, step by step.

use std::f64::consts::FRAC_PI_2;

use arena::{Pose, Position, Request, Response, RobotId, VisualReading, plan::ARENA_SIZE};

use super::{SQUARES_PER_SIDE, UnexpectedResponse, unexpected};
use crate::robot::{
    Design, Net,
    body::{InternalInput, SensorKind},
    random::{MOTOR_NOISE_SPAN, Purpose, RandomStream},
    script::{Input, Memory},
    sensor::{Frame, Head},
};

/// The last reading of a sensor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct SensorState {
    activity: f64,
    distance: f64,
    color: [u8; 3],
}

const NOWHERE: Position =
    Position { x: 0.0, y: 0.0, z: 0.0, dir: 0.0, tilt_straight: 0.0, tilt_across: 0.0, stress: 0.0, death: false };

/// A robot in its current trial.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    net: Net,
    memory: Memory,
    noise: RandomStream,
    readings: Vec<SensorState>,
    head: Head,
    /// Index of the current shape.
    shape: usize,
    /// Index of the shape last sent to the world.
    sent_shape: Option<usize>,
    frame: Frame,
    start: Position,
    position: Position,
    /// Left and right, as fractions of full speed.
    wheels: [f64; 2],
    /// Distance of the last step, in mm.
    moved: f64,
    /// A bit for each square of the arena that the robot has visited.
    visited: u128,
    step: u32,
    /// Where and at which step the robot last left a spot, to detect that it is stuck.
    spot: ([f64; 2], u32),
}

impl Trial {
    pub(super) fn new(design: &Design, net: Net) -> Self {
        Self {
            net,
            memory: design.script.memory(),
            noise: RandomStream::new(0, 0, 0, Purpose::Noise),
            readings: vec![SensorState::default(); design.sensors.len()],
            head: Head::ahead(design.file().head.as_ref()),
            shape: design.neutral_shape(),
            sent_shape: None,
            frame: Frame::new(&NOWHERE),
            start: NOWHERE,
            position: NOWHERE,
            wheels: [0.0; 2],
            moved: 0.0,
            visited: 0,
            step: 0,
            spot: ([0.0; 2], 0),
        }
    }

    pub(super) fn clamped(&self) -> usize {
        self.net.clamped()
    }

    /// To be called for a new world, which does not know the shape.
    pub(super) fn forget_shape(&mut self) {
        self.sent_shape = None;
    }

    /// Resets everything for a new trial except for what the world knows.
    pub(super) fn begin(&mut self, design: &Design, noise: RandomStream) {
        self.net.reset();
        self.memory.clear();
        self.noise = noise;
        self.readings.fill(SensorState::default());
        self.head = Head::ahead(design.file().head.as_ref());
        self.shape = design.neutral_shape();
        (self.wheels, self.moved, self.step) = ([0.0; 2], 0.0, 0);
    }

    /// Starts the trial at a free pose.
    pub(super) fn start(&mut self, design: &Design, position: Position) {
        (self.start, self.position) = (position, position);
        self.frame = Frame::new(&position);
        self.spot = ([position.x, position.y], 0);
        self.visited = square(&position);
        self.update_inputs(design);
        design.script.start(&mut self.memory);
    }

    /// Sends the shape if the world knows another.
    pub(super) fn request_shape(&self, design: &Design, robot: RobotId, out: &mut Vec<Request>) {
        if self.sent_shape != Some(self.shape) {
            out.push(Request::Shape(robot, design.shapes[self.shape].clone()));
        }
    }

    /// Handles the response to a jump or move, and to a shape sent before it.
    pub(super) fn handle_placed(
        &mut self,
        design: &Design,
        responses: &[Response],
    ) -> Result<Position, UnexpectedResponse> {
        match (responses, self.sent_shape) {
            (&[Response::Placed(position)], Some(sent_shape)) if sent_shape == self.shape => Ok(position),
            (&[Response::Placed(shaped), Response::Placed(position)], sent_shape) if sent_shape != Some(self.shape) => {
                match sent_shape {
                    // no room for the turned head: the world keeps the old shape
                    Some(sent_shape) if shaped.stress >= 1.0 => {
                        self.shape = sent_shape;
                        self.head.turn_to(design.head.map_or(0.0, |head| head.shape_angle(sent_shape)));
                    }
                    _ => self.sent_shape = Some(self.shape),
                }
                Ok(position)
            }
            _ => Err(unexpected("a position for each shape, jump and move", responses)),
        }
    }

    /// Handles the response to the shape of a new robot.
    pub(super) fn handle_shaped(&mut self, responses: &[Response]) -> Result<Position, UnexpectedResponse> {
        let &[Response::Placed(position)] = responses else { return Err(unexpected("a position", responses)) };
        self.sent_shape = Some(self.shape);
        Ok(position)
    }

    pub(super) fn request_readings(&self, design: &Design, robot: RobotId, out: &mut Vec<Request>) {
        out.extend(design.sensors.iter().map(|sensor| sensor.request(robot, &self.frame, &self.head)));
    }

    pub(super) fn handle_readings(
        &mut self,
        design: &Design,
        responses: &[Response],
    ) -> Result<(), UnexpectedResponse> {
        if responses.len() != design.sensors.len() {
            return Err(unexpected("one reading for each sensor", responses));
        }
        let noise = design.file().trial.noise;
        for ((sensor, reading), response) in design.sensors.iter().zip(&mut self.readings).zip(responses) {
            let (distance, color) = match (*response, sensor.kind()) {
                (Response::Seen(VisualReading { distance, color }), SensorKind::Visual) => (distance, color),
                (Response::Heard(distance), SensorKind::Sonic) => (distance, [0; 3]),
                (other, _) => return Err(unexpected("a reading of the sensor's kind", &[other])),
            };
            let mut activity = sensor.activity(distance, color);
            let deviation = noise * sensor.noise;
            if deviation > 0.0 {
                activity = (activity + deviation * self.noise.normal()).clamp(0.0, 1.0);
            }
            *reading = SensorState { activity, distance, color };
        }
        Ok(())
    }

    /// Steps the net on the readings; returns the pose to move to.
    pub(super) fn act(&mut self, design: &Design) -> Pose {
        let compass = self.frame.compass();
        let (sensed, internal) = self.net.inputs_mut().split_at_mut(self.readings.len());
        for (input, reading) in sensed.iter_mut().zip(&self.readings) {
            *input = reading.activity;
        }
        let head = self.head.angle();
        for (value, input) in internal.iter_mut().zip(design.internal_inputs()) {
            *value = internal_input(*input, &self.position, self.wheels, compass, || {
                design.head.map_or(0.0, |of| 2.0 * (head - of.limits[0]) / (of.limits[1] - of.limits[0]) - 1.0)
            });
        }
        self.net.step();
        self.turn_head(design);
        self.drive(design)
    }

    fn turn_head(&mut self, design: &Design) {
        let (Some(head), Some(output)) = (design.head, self.net.outputs().get(2)) else { return };
        let goal = (output * head.angle[0] + head.angle[1]).clamp(head.limits[0], head.limits[1]);
        let now = self.head.angle();
        let angle = goal.clamp(now - head.max_turn, now + head.max_turn);
        if angle != now {
            self.head.turn_to(angle);
        }
        // a jittering head does not need a new shape each time
        if (angle - head.shape_angle(self.shape)).abs() >= head.shape_every {
            self.shape = head.nearest_shape(angle);
        }
    }

    fn drive(&mut self, design: &Design) -> Pose {
        let file = design.file();
        let deviation = file.wheels.noise * file.trial.noise;
        let [factor, summand] = design.wheel;
        let full = self.net.speed();
        for (wheel, output) in self.wheels.iter_mut().zip(self.net.outputs()) {
            *wheel = full * (factor * output + summand);
            if deviation > 0.0 {
                *wheel *= 1.0 + deviation * self.noise.normal().clamp(-MOTOR_NOISE_SPAN, MOTOR_NOISE_SPAN);
            }
        }
        let [left, right] = self.wheels.map(|part| part * file.wheels.max_speed * file.trial.dt);
        let Position { x, y, dir, .. } = self.position;
        design.drive.pose_after(Pose { x, y, dir }, left, right)
    }

    /// Handles the position after a move. Returns `false` if the trial has ended.
    pub(super) fn handle_move(&mut self, design: &Design, position: Position) -> bool {
        let trial = &design.file().trial;
        self.step += 1;
        let (dx, dy) = (position.x - self.position.x, position.y - self.position.y);
        self.moved = (dx * dx + dy * dy).sqrt();
        self.position = position;
        self.visited |= square(&position);
        self.frame = Frame::new(&position);
        self.update_inputs(design);
        design.script.each_step(&mut self.memory);
        let ([x, y], since) = self.spot;
        let (dx, dy) = (position.x - x, position.y - y);
        if dx * dx + dy * dy > trial.stuck_within * trial.stuck_within {
            self.spot = ([position.x, position.y], self.step);
        } else if trial.stuck_after > 0 && self.step - since >= trial.stuck_after && !design.fitness().may_stand {
            return false;
        }
        self.step < trial.steps && !(trial.end_on_death && position.death)
    }

    /// Runs the script's `at_end`.
    pub(super) fn fitness(&mut self, design: &Design) -> f64 {
        design.script.at_end(&mut self.memory)
    }

    /// The figures of the script's summary. To be called after [`fitness`](Self::fitness).
    pub(super) fn figures<'a>(&'a mut self, design: &'a Design) -> impl Iterator<Item = f64> + 'a {
        design.script.figures(&mut self.memory)
    }

    pub(super) fn behaviour<'a>(&'a mut self, design: &'a Design) -> impl Iterator<Item = f64> + 'a {
        design.script.behaviour(&mut self.memory)
    }

    /// Updates the script's inputs.
    fn update_inputs(&mut self, design: &Design) {
        for &(slot, input) in design.script.inputs() {
            let value = self.input(design, input);
            self.memory.set(slot, value);
        }
    }

    fn input(&self, design: &Design, input: Input) -> f64 {
        let reading = |nth: u16| &self.readings[usize::from(nth)];
        let group = |nth: u16| {
            let members = design.groups[usize::from(nth)].1.iter();
            members.map(|&nth| reading(nth).activity)
        };
        let Position { x, y, z, dir, tilt_straight, tilt_across, stress, death } = self.position;
        let [left, right] = self.wheels;
        match input {
            Input::Time => f64::from(self.step) * design.file().trial.dt,
            Input::Dt => design.file().trial.dt,
            Input::Step => f64::from(self.step),
            Input::Steps => f64::from(design.file().trial.steps),
            Input::X => x,
            Input::Y => y,
            Input::Z => z,
            Input::Dir => dir,
            Input::StartX => self.start.x,
            Input::StartY => self.start.y,
            Input::StartZ => self.start.z,
            Input::StartDir => self.start.dir,
            Input::Distance => self.moved,
            Input::SquaresVisited => f64::from(self.visited.count_ones()),
            Input::Speed => 0.5 * (left + right),
            Input::Turn => 0.5 * (right - left),
            Input::Left => left,
            Input::Right => right,
            Input::Stress => stress,
            Input::Death => f64::from(u8::from(death)),
            Input::TiltS => tilt_straight,
            Input::TiltC => tilt_across,
            Input::Head => self.head.angle(),
            Input::Activity(nth) => reading(nth).activity,
            Input::SensorDistance(nth) => reading(nth).distance,
            Input::Color(nth, color) => f64::from(reading(nth).color[usize::from(color)]) / 255.0,
            Input::GroupMax(nth) => group(nth).fold(0.0, f64::max),
            Input::GroupMin(nth) => group(nth).fold(1.0, f64::min),
            Input::GroupMean(nth) => group(nth).sum::<f64>() / group(nth).len() as f64,
        }
    }
}

/// The bit of the square that a robot is in.
fn square(position: &Position) -> u128 {
    let nth = |at: f64| ((at / ARENA_SIZE * f64::from(SQUARES_PER_SIDE)) as u32).min(SQUARES_PER_SIDE - 1);
    1 << (nth(position.y) * SQUARES_PER_SIDE + nth(position.x))
}

fn internal_input(
    input: InternalInput,
    position: &Position,
    [left, right]: [f64; 2],
    [cos, sin]: [f64; 2],
    head: impl Fn() -> f64,
) -> f64 {
    match input {
        InternalInput::Constant => 1.0,
        InternalInput::Bumper => f64::from(u8::from(position.stress > 0.0)),
        InternalInput::Stress => position.stress,
        InternalInput::Death => f64::from(u8::from(position.death)),
        InternalInput::TiltS => position.tilt_straight / FRAC_PI_2,
        InternalInput::TiltC => position.tilt_across / FRAC_PI_2,
        InternalInput::CompassX => cos,
        InternalInput::CompassY => sin,
        InternalInput::OdometryLeft => left,
        InternalInput::OdometryRight => right,
        InternalInput::Head => head(),
    }
}
