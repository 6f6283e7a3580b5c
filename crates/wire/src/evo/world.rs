use super::{
    Layer, Line, NotFinite, body,
    error::{LineError, excerpt},
    put_line, put_number, put_numbers, put_whole,
    words::Words,
};
use std::{f64::consts::FRAC_PI_2, num::NonZeroU16};

/// Identifier of a robot: "1 ≤ ID ≤ 2^16-1".
pub type RobotId = NonZeroU16;

/// A requested pose of a robot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// x of the body's point (0, 0), in mm, 0 to 2000.
    pub x: f64,
    /// y of the body's point (0, 0), in mm, 0 to 2000.
    pub y: f64,
    /// Direction of the body's +y axis, in rad, counter-clockwise from the world's +x unless the world file changes the
    /// convention (D32).
    pub dir: f64,
}

/// A robot's actual position, with the state of its last move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    /// x of the body's point (0, 0), in mm, 0 to 2000.
    pub x: f64,
    /// y of the body's point (0, 0), in mm, 0 to 2000.
    pub y: f64,
    /// Height of the ground under the robot, in mm, -2000 to 2000.
    pub z: f64,
    /// Direction of the body's +y axis, in rad, as [`Pose::dir`], not wrapped.
    pub dir: f64,
    /// Pitch, in rad, within (-π/2, π/2); positive is nose up (TiltS).
    pub tilt_straight: f64,
    /// Roll, in rad, within (-π/2, π/2); positive is left side up (TiltC).
    pub tilt_across: f64,
    /// The blocked fraction of the move, 0 to 1.
    pub stress: f64,
    /// Whether the bottom layer is on deathly ground.
    pub death: bool,
}

/// A sensor's beam: a pyramid without roll whose apex is the sensor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beam {
    /// x of the apex, in mm.
    pub x: f64,
    /// y of the apex, in mm.
    pub y: f64,
    /// z of the apex, in mm above ground zero.
    pub z: f64,
    /// Direction of the beam's axis, in rad, as [`Pose::dir`].
    pub dir: f64,
    /// Tilt of the beam's axis, in rad, -π/2 to π/2; positive is up.
    pub tilt: f64,
    /// Full horizontal opening angle, in rad, 0 to π/2 (AngH).
    pub angle_h: f64,
    /// Full vertical opening angle, in rad, 0 to π/2 (AngV).
    pub angle_v: f64,
}

/// Reading of a visual sensor: the nearest point in its beam.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VisualReading {
    /// Distance from the apex, in mm; the world's maximum range if the beam is empty.
    pub distance: f64,
    /// Red, green and blue at that point; the world's background colour if the beam is empty.
    pub color: [u8; 3],
}

/// A message from a Robot Simulator to a World Simulator.
#[derive(Debug, Clone, PartialEq)]
pub enum ToWorld {
    /// Creates a robot. Answered by [`FromWorld::YourIdentifier`].
    CreateRobot,
    /// Removes a robot. Not answered.
    KillRobot(RobotId),
    /// Sets a robot's shape, from the bottom layer to the top. Answered by [`FromWorld::YourPosition`].
    BodyShape(RobotId, Vec<Layer>),
    /// Teleports a robot. Answered by [`FromWorld::YourPosition`].
    JumpTo(RobotId, Pose),
    /// Moves a robot. Answered by [`FromWorld::YourPosition`].
    MoveTo(RobotId, Pose),
    /// Reads a visual sensor. Answered by [`FromWorld::VisualSensorReading`].
    VisualSensor(RobotId, Beam),
    /// Reads a sonic sensor. Answered by [`FromWorld::SonicSensorReading`].
    SonicSensor(RobotId, Beam),
}

/// A message from a World Simulator to a Robot Simulator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FromWorld {
    /// The answer to [`ToWorld::CreateRobot`].
    YourIdentifier(RobotId),
    /// The answer to [`ToWorld::BodyShape`], [`ToWorld::JumpTo`] and [`ToWorld::MoveTo`].
    YourPosition(RobotId, Position),
    /// The answer to [`ToWorld::VisualSensor`].
    VisualSensorReading(RobotId, VisualReading),
    /// The answer to [`ToWorld::SonicSensor`]: the distance to the nearest object, in mm.
    SonicSensorReading(RobotId, f64),
}

/// Tolerance of angle limits, in rad: clients round π/2 (D41).
const ANGLE_SLACK: f64 = 0.001;

impl ToWorld {
    /// Whether the message is answered.
    pub fn is_answered(&self) -> bool {
        !matches!(self, Self::KillRobot(_))
    }
}

mod name {
    pub(super) const CREATE_ROBOT: &str = "CreateRobot";
    pub(super) const KILL_ROBOT: &str = "KillRobot";
    pub(super) const BODY_SHAPE: &str = "BodyShape";
    pub(super) const JUMP_TO: &str = "JumpTo";
    pub(super) const MOVE_TO: &str = "MoveTo";
    pub(super) const VISUAL_SENSOR: &str = "VisualSensor";
    pub(super) const SONIC_SENSOR: &str = "SonicSensor";
    pub(super) const YOUR_IDENTIFIER: &str = "YourIdentifier";
    pub(super) const YOUR_POSITION: &str = "YourPosition";
    pub(super) const VISUAL_SENSOR_READING: &str = "VisualSensorReading";
    pub(super) const SONIC_SENSOR_READING: &str = "SonicSensorReading";
}

impl Line for ToWorld {
    fn decode(line: &[u8]) -> Result<Self, LineError> {
        let (found, rest) = Words::name(line)?;
        let after = |name| Words::after(name, rest);
        let mut words;
        let message = match found {
            b"CreateRobot" => {
                words = after(name::CREATE_ROBOT);
                Self::CreateRobot
            }
            b"KillRobot" => {
                words = after(name::KILL_ROBOT);
                Self::KillRobot(id(&mut words)?)
            }
            b"BodyShape" => {
                words = after(name::BODY_SHAPE);
                Self::BodyShape(id(&mut words)?, body::decode(&mut words)?)
            }
            b"JumpTo" => {
                words = after(name::JUMP_TO);
                Self::JumpTo(id(&mut words)?, pose(&mut words)?)
            }
            b"MoveTo" => {
                words = after(name::MOVE_TO);
                Self::MoveTo(id(&mut words)?, pose(&mut words)?)
            }
            b"VisualSensor" => {
                words = after(name::VISUAL_SENSOR);
                Self::VisualSensor(id(&mut words)?, beam(&mut words)?)
            }
            b"SonicSensor" => {
                words = after(name::SONIC_SENSOR);
                Self::SonicSensor(id(&mut words)?, beam(&mut words)?)
            }
            _ => return Err(LineError::UnknownName { name: excerpt(found) }),
        };
        words.end()?;
        Ok(message)
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), NotFinite> {
        match self {
            Self::CreateRobot => put_line(out, name::CREATE_ROBOT, |_| Ok(())),
            Self::KillRobot(id) => put_message(out, name::KILL_ROBOT, *id, |_| Ok(())),
            Self::BodyShape(id, layers) => put_message(out, name::BODY_SHAPE, *id, |out| body::encode(layers, out)),
            Self::JumpTo(id, pose) => put_message(out, name::JUMP_TO, *id, |out| put_pose(out, pose)),
            Self::MoveTo(id, pose) => put_message(out, name::MOVE_TO, *id, |out| put_pose(out, pose)),
            Self::VisualSensor(id, beam) => put_message(out, name::VISUAL_SENSOR, *id, |out| put_beam(out, beam)),
            Self::SonicSensor(id, beam) => put_message(out, name::SONIC_SENSOR, *id, |out| put_beam(out, beam)),
        }
    }
}

impl Line for FromWorld {
    fn decode(line: &[u8]) -> Result<Self, LineError> {
        let (found, rest) = Words::name(line)?;
        let after = |name| Words::after(name, rest);
        let mut words;
        let message = match found {
            b"YourIdentifier" => {
                words = after(name::YOUR_IDENTIFIER);
                Self::YourIdentifier(id(&mut words)?)
            }
            b"YourPosition" => {
                words = after(name::YOUR_POSITION);
                Self::YourPosition(id(&mut words)?, position(&mut words)?)
            }
            b"VisualSensorReading" => {
                words = after(name::VISUAL_SENSOR_READING);
                Self::VisualSensorReading(id(&mut words)?, sight(&mut words)?)
            }
            b"SonicSensorReading" => {
                words = after(name::SONIC_SENSOR_READING);
                Self::SonicSensorReading(id(&mut words)?, words.number("Dist")?)
            }
            _ => return Err(LineError::UnknownName { name: excerpt(found) }),
        };
        words.end()?;
        Ok(message)
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), NotFinite> {
        match self {
            Self::YourIdentifier(id) => put_message(out, name::YOUR_IDENTIFIER, *id, |_| Ok(())),
            Self::YourPosition(id, position) => {
                put_message(out, name::YOUR_POSITION, *id, |out| put_position(out, position))
            }
            Self::VisualSensorReading(id, VisualReading { distance, color }) => {
                put_message(out, name::VISUAL_SENSOR_READING, *id, |out| {
                    put_number(out, *distance)?;
                    color.iter().for_each(|&part| put_whole(out, part.into()));
                    Ok(())
                })
            }
            Self::SonicSensorReading(id, distance) => {
                put_message(out, name::SONIC_SENSOR_READING, *id, |out| put_number(out, *distance))
            }
        }
    }
}

fn id(words: &mut Words<'_>) -> Result<RobotId, LineError> {
    let whole = words.whole("ID", 1, u16::MAX.into())?;
    let out_of_range = LineError::OutOfRange { field: "ID", value: whole as f64, min: 1, max: u16::MAX.into() };
    u16::try_from(whole).ok().and_then(NonZeroU16::new).ok_or(out_of_range)
}

fn pose(words: &mut Words<'_>) -> Result<Pose, LineError> {
    let [x, y, dir] = words.numbers(["X", "Y", "Dir"])?;
    Ok(Pose { x, y, dir })
}

fn beam(words: &mut Words<'_>) -> Result<Beam, LineError> {
    let [x, y, z, dir, tilt, angle_h, angle_v] = words.numbers(["X", "Y", "Z", "Dir", "Tilt", "AngH", "AngV"])?;
    for (field, value, min) in [("Tilt", tilt, -FRAC_PI_2), ("AngH", angle_h, 0.0), ("AngV", angle_v, 0.0)] {
        if value < min - ANGLE_SLACK || value > FRAC_PI_2 + ANGLE_SLACK {
            return Err(LineError::Angle { field, value, min, max: FRAC_PI_2 });
        }
    }
    Ok(Beam { x, y, z, dir, tilt, angle_h, angle_v })
}

fn position(words: &mut Words<'_>) -> Result<Position, LineError> {
    let fields = ["X", "Y", "Z", "Dir", "TiltS", "TiltC", "Stress"];
    let [x, y, z, dir, tilt_straight, tilt_across, stress] = words.numbers(fields)?;
    let death = words.flag("Death")?;
    Ok(Position { x, y, z, dir, tilt_straight, tilt_across, stress, death })
}

fn sight(words: &mut Words<'_>) -> Result<VisualReading, LineError> {
    let distance = words.number("Dist")?;
    // the document does not ask for whole numbers
    let mut part = |field| match words.whole(field, 0, u8::MAX.into()) {
        Ok(part) => Ok(part as u8),
        Err(LineError::NotWhole { value, .. }) if (0.0..=255.0).contains(&value) => Ok(value.round() as u8),
        Err(error) => Err(error),
    };
    Ok(VisualReading { distance, color: [part("CR")?, part("CG")?, part("CB")?] })
}

fn put_message(
    out: &mut Vec<u8>,
    name: &str,
    id: RobotId,
    values: impl FnOnce(&mut Vec<u8>) -> Result<(), NotFinite>,
) -> Result<(), NotFinite> {
    put_line(out, name, |out| {
        put_whole(out, id.get().into());
        values(out)
    })
}

fn put_pose(out: &mut Vec<u8>, Pose { x, y, dir }: &Pose) -> Result<(), NotFinite> {
    put_numbers(out, [x, y, dir])
}

fn put_beam(out: &mut Vec<u8>, beam: &Beam) -> Result<(), NotFinite> {
    let Beam { x, y, z, dir, tilt, angle_h, angle_v } = beam;
    put_numbers(out, [x, y, z, dir, tilt, angle_h, angle_v])
}

fn put_position(out: &mut Vec<u8>, position: &Position) -> Result<(), NotFinite> {
    let Position { x, y, z, dir, tilt_straight, tilt_across, stress, death } = position;
    put_numbers(out, [x, y, z, dir, tilt_straight, tilt_across, stress])?;
    put_whole(out, (*death).into());
    Ok(())
}
