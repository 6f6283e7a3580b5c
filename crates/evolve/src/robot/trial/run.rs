//! What a robot feels and does from step to step.

use std::f64::consts::FRAC_PI_2;

use arena::{BeamHit, Pose, Position, Request, Response, RobotId};

use super::{WrongAnswer, wrong};
use crate::robot::{
    Design, Net,
    body::{Feeling, SensorKind},
    noise::{Chance, MOTOR_NOISE_SPAN, Purpose},
    script::{Input, Memory},
    sense::{Frame, Head},
};

/// What a sensor found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Finding {
    activity: f64,
    distance: f64,
    color: [u8; 3],
}

const NOWHERE: Position =
    Position { x: 0.0, y: 0.0, z: 0.0, dir: 0.0, tilt_straight: 0.0, tilt_across: 0.0, stress: 0.0, death: false };

/// A robot in its present trial.
#[derive(Clone, Debug)]
pub(super) struct Run {
    net: Net,
    memory: Memory,
    noise: Chance,
    findings: Vec<Finding>,
    head: Head,
    /// Number of the shape that the head has now, and of that which the world knows.
    shape: usize,
    shown: Option<usize>,
    frame: Frame,
    start: Position,
    position: Position,
    /// Parts of their full speed: left and right.
    wheels: [f64; 2],
    /// How far the last step went, in mm.
    moved: f64,
    step: u32,
    /// Where the robot was when it last left a spot, and the step of it.
    spot: ([f64; 2], u32),
}

impl Run {
    pub(super) fn new(design: &Design, net: Net) -> Self {
        Self {
            net,
            memory: design.script.memory(),
            noise: Chance::new(0, 0, 0, Purpose::Noise),
            findings: vec![Finding::default(); design.senses.len()],
            head: Head::ahead(design.file().head.as_ref()),
            shape: design.rest(),
            shown: None,
            frame: Frame::new(&NOWHERE),
            start: NOWHERE,
            position: NOWHERE,
            wheels: [0.0; 2],
            moved: 0.0,
            step: 0,
            spot: ([0.0; 2], 0),
        }
    }

    pub(super) fn clamped(&self) -> usize {
        self.net.clamped()
    }

    /// The world is another one, which has not been told the shape.
    pub(super) fn forget_shape(&mut self) {
        self.shown = None;
    }

    /// A new trial: everything as at first, but for what the world knows.
    pub(super) fn begin(&mut self, design: &Design, noise: Chance) {
        self.net.reset();
        self.memory.clear();
        self.noise = noise;
        self.findings.fill(Finding::default());
        self.head = Head::ahead(design.file().head.as_ref());
        self.shape = design.rest();
        (self.wheels, self.moved, self.step) = ([0.0; 2], 0.0, 0);
    }

    /// The trial's start is found.
    pub(super) fn start(&mut self, design: &Design, position: Position) {
        (self.start, self.position) = (position, position);
        self.frame = Frame::new(&position);
        self.spot = ([position.x, position.y], 0);
        self.feed(design);
        design.script.start(&mut self.memory);
    }

    /// Asks for a shape if the world knows another.
    pub(super) fn ask_shape(&self, design: &Design, robot: RobotId, out: &mut Vec<Request>) {
        if self.shown != Some(self.shape) {
            out.push(Request::Shape(robot, design.shapes[self.shape].clone()));
        }
    }

    /// Takes what was answered to a jump or move, and to a shape before it.
    pub(super) fn take_placed(&mut self, design: &Design, answers: &[Response]) -> Result<Position, WrongAnswer> {
        match (answers, self.shown) {
            (&[Response::Placed(position)], Some(shown)) if shown == self.shape => Ok(position),
            (&[Response::Placed(shaped), Response::Placed(position)], shown) if shown != Some(self.shape) => {
                match shown {
                    // no room for the head: the world keeps the old shape
                    Some(shown) if shaped.stress >= 1.0 => {
                        self.shape = shown;
                        self.head.turn_to(design.head.map_or(0.0, |head| head.shape_angle(shown)));
                    }
                    _ => self.shown = Some(self.shape),
                }
                Ok(position)
            }
            _ => Err(wrong("a position for each shape, jump and move", answers)),
        }
    }

    pub(super) fn ask_senses(&self, design: &Design, robot: RobotId, out: &mut Vec<Request>) {
        out.extend(design.senses.iter().map(|sense| sense.ask(robot, &self.frame, &self.head)));
    }

    pub(super) fn take_senses(&mut self, design: &Design, answers: &[Response]) -> Result<(), WrongAnswer> {
        if answers.len() != design.senses.len() {
            return Err(wrong("one reading for each sensor", answers));
        }
        let noise = design.file().trial.noise;
        for ((sense, finding), answer) in design.senses.iter().zip(&mut self.findings).zip(answers) {
            let (distance, color) = match (*answer, sense.kind()) {
                (Response::Seen(BeamHit { distance, color }), SensorKind::Visual) => (distance, color),
                (Response::Heard(distance), SensorKind::Sonic) => (distance, [0; 3]),
                (other, _) => return Err(wrong("a reading of the sensor's kind", &[other])),
            };
            let mut activity = sense.activity(distance, color);
            let deviation = noise * sense.noise;
            if deviation > 0.0 {
                activity = (activity + deviation * self.noise.normal()).clamp(0.0, 1.0);
            }
            *finding = Finding { activity, distance, color };
        }
        Ok(())
    }

    /// Runs the net on what was sensed, and gives the pose that the robot wants to reach.
    pub(super) fn act(&mut self, design: &Design) -> Pose {
        let compass = self.frame.compass();
        let (sensed, felt) = self.net.inputs_mut().split_at_mut(self.findings.len());
        for (input, finding) in sensed.iter_mut().zip(&self.findings) {
            *input = finding.activity;
        }
        let head = self.head.angle();
        for (input, feeling) in felt.iter_mut().zip(design.feelings()) {
            *input = feel(*feeling, &self.position, self.wheels, compass, || {
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
        let angle = goal.clamp(now - head.reach, now + head.reach);
        if angle != now {
            self.head.turn_to(angle);
        }
        // a head that trembles does not need a new shape each time
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
        design.drive.arrive(Pose { x, y, dir }, left, right)
    }

    /// Takes the position after a move. False if the trial is over.
    pub(super) fn arrive(&mut self, design: &Design, position: Position) -> bool {
        let trial = &design.file().trial;
        self.step += 1;
        let (dx, dy) = (position.x - self.position.x, position.y - self.position.y);
        self.moved = (dx * dx + dy * dy).sqrt();
        self.position = position;
        self.frame = Frame::new(&position);
        self.feed(design);
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

    /// Runs the end of the script.
    pub(super) fn fitness(&mut self, design: &Design) -> f64 {
        design.script.at_end(&mut self.memory)
    }

    pub(super) fn behaviour<'a>(&'a mut self, design: &'a Design) -> impl Iterator<Item = f64> + 'a {
        design.script.behaviour(&mut self.memory)
    }

    /// Tells the script what it wants to know.
    fn feed(&mut self, design: &Design) {
        for &(place, input) in design.script.feeds() {
            let value = self.input(design, input);
            self.memory.set(place, value);
        }
    }

    fn input(&self, design: &Design, input: Input) -> f64 {
        let finding = |nth: u16| &self.findings[usize::from(nth)];
        let group = |nth: u16| {
            let members = design.groups[usize::from(nth)].1.iter();
            members.map(|&nth| finding(nth).activity)
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
            Input::Speed => 0.5 * (left + right),
            Input::Turn => 0.5 * (right - left),
            Input::Left => left,
            Input::Right => right,
            Input::Stress => stress,
            Input::Death => f64::from(u8::from(death)),
            Input::TiltS => tilt_straight,
            Input::TiltC => tilt_across,
            Input::Head => self.head.angle(),
            Input::Activity(nth) => finding(nth).activity,
            Input::SensorDistance(nth) => finding(nth).distance,
            Input::Color(nth, color) => f64::from(finding(nth).color[usize::from(color)]) / 255.0,
            Input::GroupMax(nth) => group(nth).fold(0.0, f64::max),
            Input::GroupMin(nth) => group(nth).fold(1.0, f64::min),
            Input::GroupMean(nth) => group(nth).sum::<f64>() / group(nth).len() as f64,
        }
    }
}

fn feel(
    feeling: Feeling,
    position: &Position,
    [left, right]: [f64; 2],
    [cos, sin]: [f64; 2],
    head: impl Fn() -> f64,
) -> f64 {
    match feeling {
        Feeling::Constant => 1.0,
        Feeling::Bumper => f64::from(u8::from(position.stress > 0.0)),
        Feeling::Stress => position.stress,
        Feeling::Death => f64::from(u8::from(position.death)),
        Feeling::TiltS => position.tilt_straight / FRAC_PI_2,
        Feeling::TiltC => position.tilt_across / FRAC_PI_2,
        Feeling::CompassX => cos,
        Feeling::CompassY => sin,
        Feeling::OdometryLeft => left,
        Feeling::OdometryRight => right,
        Feeling::Head => head(),
    }
}
