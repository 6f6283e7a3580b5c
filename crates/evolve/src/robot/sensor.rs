//! Sensors: their beams in the world, and the activity that a reading means.

use std::f64::consts::FRAC_PI_2;

use arena::{Beam, Position, Request, RobotId};

use super::body::{HeadFile, Mount, Reading, SensorFile, SensorKind};

/// Similarity from which a colour counts as the one that is looked for.
const SIMILAR: f64 = 0.92;

/// A sensor in mm and rad.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sensor {
    kind: SensorKind,
    mount: Mount,
    /// Right, ahead and up in the body's frame; x, y and z if mounted in the world.
    at: [f64; 3],
    direction: f64,
    tilt: f64,
    angle_h: f64,
    angle_v: f64,
    range: f64,
    reading: Reading,
    pub(super) noise: f64,
}

impl Sensor {
    pub(super) fn new(file: &SensorFile) -> Self {
        // rounding must not exceed the protocol's limit
        let opening = |degrees: f64| degrees.to_radians().min(FRAC_PI_2);
        Self {
            kind: file.kind,
            mount: file.mount,
            at: file.at,
            direction: file.direction.to_radians(),
            tilt: file.tilt.to_radians().clamp(-FRAC_PI_2, FRAC_PI_2),
            angle_h: opening(file.opening[0]),
            angle_v: opening(file.opening[1]),
            range: file.range,
            reading: file.reading,
            noise: file.noise,
        }
    }

    /// The request that reads the sensor.
    pub(super) fn request(&self, robot: RobotId, frame: &Frame, head: &Head) -> Request {
        let beam = frame.beam(self, head);
        match self.kind {
            SensorKind::Visual => Request::See(robot, beam),
            SensorKind::Sonic => Request::Hear(robot, beam),
        }
    }

    pub(super) fn kind(&self) -> SensorKind {
        self.kind
    }

    /// Activity of the input neuron, 0 to 1, without noise.
    pub(super) fn activity(&self, distance: f64, color: [u8; 3]) -> f64 {
        let fraction = (distance / self.range).clamp(0.0, 1.0);
        let [red, green, blue] = color.map(f64::from);
        let seen = match self.reading {
            Reading::Near => return 1.0 - fraction,
            Reading::Distance => return fraction,
            Reading::Red => red / 255.0,
            Reading::Green => green / 255.0,
            Reading::Blue => blue / 255.0,
            Reading::Brightness => (red + green + blue) / 765.0,
            Reading::Match(wanted) => similarity(color, wanted),
            Reading::NearColor(wanted) if is_similar(color, wanted) => return 1.0 - fraction,
            Reading::NearColor(_) => 0.0,
        };
        if distance <= self.range { seen } else { 0.0 }
    }
}

/// Whether a colour is the one that is looked for.
pub(super) fn is_similar(color: [u8; 3], wanted: [u8; 3]) -> bool {
    similarity(color, wanted) >= SIMILAR
}

/// 1 for equal colours, 0 for black and white.
fn similarity(color: [u8; 3], wanted: [u8; 3]) -> f64 {
    let squares = color.iter().zip(wanted).map(|(&a, b)| (f64::from(a) - f64::from(b)).powi(2));
    1.0 - (squares.sum::<f64>() / 3.0).sqrt() / 255.0
}

/// The head's orientation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Head {
    pivot: [f64; 2],
    angle: f64,
    sin: f64,
    cos: f64,
}

impl Head {
    pub(super) fn ahead(file: Option<&HeadFile>) -> Self {
        Self { pivot: file.map_or([0.0; 2], |file| file.pivot), angle: 0.0, sin: 0.0, cos: 1.0 }
    }

    pub(super) fn angle(&self) -> f64 {
        self.angle
    }

    /// Turns the head to an angle, in rad, counter-clockwise from straight ahead.
    pub(super) fn turn_to(&mut self, angle: f64) {
        self.angle = angle;
        (self.sin, self.cos) = angle.sin_cos();
    }

    /// A point of the head in the body's frame.
    pub(super) fn point(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let (x, y) = (x - self.pivot[0], y - self.pivot[1]);
        [self.pivot[0] + self.cos * x - self.sin * y, self.pivot[1] + self.sin * x + self.cos * y]
    }
}

/// The body's axes in the world.
///
/// On level ground the sensors are exactly where the body file puts them, rotated by the direction of travel. A tilted
/// robot is rotated as a rigid body about its point (0, 0) on the ground: its forward axis rises by TiltS, its left axis by
/// TiltC as far as the right angle between them allows. Beams have no roll in the protocol, so the roll of a tilted body is
/// lost: an opening stays level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    origin: [f64; 3],
    dir: f64,
    sin: f64,
    cos: f64,
    /// Ahead, left and up, if the robot is tilted.
    tilted: Option<[[f64; 3]; 3]>,
}

impl Frame {
    pub(super) fn new(position: &Position) -> Self {
        let (sin, cos) = position.dir.sin_cos();
        let level = position.tilt_straight == 0.0 && position.tilt_across == 0.0;
        Self {
            origin: [position.x, position.y, position.z],
            dir: position.dir,
            sin,
            cos,
            tilted: (!level).then(|| axes(sin, cos, position.tilt_straight, position.tilt_across)),
        }
    }

    /// Cosine and sine of the direction of travel.
    pub(super) fn compass(&self) -> [f64; 2] {
        [self.cos, self.sin]
    }

    fn beam(&self, sense: &Sensor, head: &Head) -> Beam {
        let [right, ahead, up] = sense.at;
        let ([right, ahead], direction) = match sense.mount {
            Mount::Body => ([right, ahead], sense.direction),
            Mount::Head => (head.point([right, ahead]), sense.direction + head.angle),
            Mount::World => {
                let [x, y, z] = sense.at;
                let (dir, tilt) = (sense.direction, sense.tilt);
                return Beam { x, y, z, dir, tilt, angle_h: sense.angle_h, angle_v: sense.angle_v };
            }
        };
        let [x, y, z] = self.origin;
        let (angle_h, angle_v) = (sense.angle_h, sense.angle_v);
        let Some([along, left, top]) = self.tilted else {
            return Beam {
                x: x + ahead * self.cos + right * self.sin,
                y: y + ahead * self.sin - right * self.cos,
                z: z + up,
                dir: self.dir + direction,
                tilt: sense.tilt,
                angle_h,
                angle_v,
            };
        };
        let mix = |a: f64, l: f64, u: f64, axis: usize| a * along[axis] + l * left[axis] + u * top[axis];
        let ((sin_t, cos_t), (sin_d, cos_d)) = (sense.tilt.sin_cos(), direction.sin_cos());
        let looks = |axis| mix(cos_t * cos_d, cos_t * sin_d, sin_t, axis);
        let (dx, dy) = (looks(0), looks(1));
        // a vertical beam has no direction; keep the sensor's direction on the body
        let dir = if dx.hypot(dy) < 1e-9 { self.dir + direction } else { dy.atan2(dx) };
        Beam {
            x: x + mix(ahead, -right, up, 0),
            y: y + mix(ahead, -right, up, 1),
            z: z + mix(ahead, -right, up, 2),
            dir,
            tilt: looks(2).clamp(-1.0, 1.0).asin(),
            angle_h,
            angle_v,
        }
    }
}

/// Orthonormal forward, left and up axes of a tilted robot.
fn axes(sin: f64, cos: f64, tilt_straight: f64, tilt_across: f64) -> [[f64; 3]; 3] {
    let ((sin_s, cos_s), (sin_c, cos_c)) = (tilt_straight.sin_cos(), tilt_across.sin_cos());
    let ahead = [cos_s * cos, cos_s * sin, sin_s];
    let towards_left = [-cos_c * sin, cos_c * cos, sin_c];
    let up = cross(ahead, towards_left);
    let length = up.iter().map(|part| part * part).sum::<f64>().sqrt();
    // tilts are below a right angle, so the two are never parallel
    let up = up.map(|part| part / length.max(f64::MIN_POSITIVE));
    [ahead, cross(up, ahead), up]
}

fn cross([ax, ay, az]: [f64; 3], [bx, by, bz]: [f64; 3]) -> [f64; 3] {
    [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_4, PI};

    use super::*;

    #[test]
    fn the_colour_may_decide_whether_something_is_seen() {
        let red = [192, 57, 43];
        let sensor =
            Sensor { range: 200.0, reading: Reading::NearColor(red), ..sensor(Mount::Body, [0.0; 3], 0.0, 0.0) };
        for (distance, color, expected) in [
            (50.0, red, 0.75),
            (50.0, [190, 60, 40], 0.75),
            (50.0, [39, 174, 96], 0.0),
            (300.0, red, 0.0),
            (0.0, red, 1.0),
        ] {
            assert_eq!(sensor.activity(distance, color), expected, "{distance} {color:?}");
        }
    }

    fn sensor(mount: Mount, at: [f64; 3], direction: f64, tilt: f64) -> Sensor {
        Sensor::new(&SensorFile {
            name: "s".to_owned(),
            groups: Vec::new(),
            kind: SensorKind::Visual,
            mount,
            at,
            direction,
            tilt,
            opening: [90.0, 0.0],
            range: 100.0,
            reading: Reading::Near,
            noise: 0.0,
        })
    }

    fn position(dir: f64, tilt_straight: f64, tilt_across: f64) -> Position {
        Position { x: 100.0, y: 200.0, z: 5.0, dir, tilt_straight, tilt_across, stress: 0.0, death: false }
    }

    #[test]
    fn beams_start_at_the_sensor() {
        let mut left = Head { pivot: [0.0, 10.0], ..Head::ahead(None) };
        left.turn_to(FRAC_PI_2);
        let (body, top, world) = (Mount::Body, Mount::Head, Mount::World);
        let q = FRAC_PI_4;
        let half = 20.0 * q.cos();
        let cases = [
            // sensor, position; x, y, z, dir and tilt of the beam
            (sensor(body, [0.0, 20.0, 7.0], 0.0, 0.0), position(0.0, 0.0, 0.0), [120.0, 200.0, 12.0, 0.0, 0.0]),
            (
                sensor(body, [20.0, 0.0, 7.0], -90.0, 0.0),
                position(0.0, 0.0, 0.0),
                [100.0, 180.0, 12.0, -FRAC_PI_2, 0.0],
            ),
            (
                sensor(body, [20.0, 0.0, 0.0], 0.0, -45.0),
                position(FRAC_PI_2, 0.0, 0.0),
                [120.0, 200.0, 5.0, FRAC_PI_2, -q],
            ),
            (sensor(top, [0.0, 30.0, 0.0], 0.0, 0.0), position(0.0, 0.0, 0.0), [110.0, 220.0, 5.0, FRAC_PI_2, 0.0]),
            (
                sensor(world, [1.0, 2.0, 3.0], 90.0, -90.0),
                position(1.0, 0.3, 0.2),
                [1.0, 2.0, 3.0, FRAC_PI_2, -FRAC_PI_2],
            ),
            // uphill, and the left side up
            (
                sensor(body, [0.0, 20.0, 0.0], 0.0, 0.0),
                position(0.0, q, 0.0),
                [100.0 + half, 200.0, 5.0 + half, 0.0, q],
            ),
            (
                sensor(body, [0.0, 0.0, 20.0], 180.0, 0.0),
                position(0.0, q, 0.0),
                [100.0 - half, 200.0, 5.0 + half, PI, -q],
            ),
            (
                sensor(body, [-20.0, 0.0, 0.0], 90.0, 0.0),
                position(0.0, 0.0, q),
                [100.0, 200.0 + half, 5.0 + half, FRAC_PI_2, q],
            ),
            (
                sensor(body, [0.0, 0.0, 0.0], 30.0, -90.0),
                position(0.0, 1e-300, 0.0),
                [100.0, 200.0, 5.0, PI / 6.0, -FRAC_PI_2],
            ),
        ];
        for (nth, (sensor, position, expected)) in cases.iter().enumerate() {
            let beam = Frame::new(position).beam(sensor, &left);
            let found = [beam.x, beam.y, beam.z, beam.dir, beam.tilt];
            let close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
            assert!(close, "case {nth}: {found:?} instead of {expected:?}");
            assert_eq!((beam.angle_h, beam.angle_v), (FRAC_PI_2, 0.0));
        }
    }

    #[test]
    fn a_little_tilt_changes_little() {
        let sensor = sensor(Mount::Body, [10.0, 20.0, 30.0], 40.0, -20.0);
        let beam = |tilt: f64| Frame::new(&position(0.7, tilt, -tilt)).beam(&sensor, &Head::ahead(None));
        let (level, tilted) = (beam(0.0), beam(1e-9));
        for (a, b) in [
            (level.x, tilted.x),
            (level.y, tilted.y),
            (level.z, tilted.z),
            (level.dir, tilted.dir),
            (level.tilt, tilted.tilt),
        ] {
            assert!((a - b).abs() < 1e-6, "{level:?} {tilted:?}");
        }
    }

    #[test]
    fn activities_say_what_was_found() {
        let cases = [
            (Reading::Near, 25.0, 0.75),
            (Reading::Near, 500.0, 0.0),
            (Reading::Distance, 25.0, 0.25),
            (Reading::Distance, 500.0, 1.0),
            (Reading::Red, 25.0, 1.0),
            (Reading::Green, 25.0, 0.2),
            (Reading::Blue, 25.0, 0.0),
            (Reading::Brightness, 25.0, 0.4),
            (Reading::Red, 500.0, 0.0),
            (Reading::Match([255, 51, 0]), 25.0, 1.0),
            (Reading::Match([255, 51, 0]), 101.0, 0.0),
        ];
        for (reading, distance, expected) in cases {
            let sense = Sensor { reading, ..sensor(Mount::Body, [0.0; 3], 0.0, 0.0) };
            let found = sense.activity(distance, [255, 51, 0]);
            assert!((found - expected).abs() < 1e-12, "{reading:?} at {distance}: {found}");
        }
    }
}
