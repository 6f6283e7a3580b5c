//! Requests to an arena and its responses: the messages between Robot Simulator and World Simulator, independent of
//! their encoding.

use std::{num::NonZeroU16, sync::Arc};

use crate::{Beam, Body, Pose, Position, VisualReading};

/// A robot's identifier, unique in its arena, 1 to 65,535.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RobotId(pub NonZeroU16);

/// A request to an arena.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Creates a robot without a shape. Answered with [`Response::Created`].
    Create,
    /// Removes the robot. Not answered.
    Kill(RobotId),
    /// Sets the robot's shape. Answered with [`Response::Placed`].
    Shape(RobotId, Arc<Body>),
    /// Places the robot without moving it there. Answered with [`Response::Placed`].
    Jump(RobotId, Pose),
    /// Moves the robot until it arrives or is blocked. Answered with [`Response::Placed`].
    Move(RobotId, Pose),
    /// Reads a visual sensor. Answered with [`Response::Seen`].
    See(RobotId, Beam),
    /// Reads a sonic sensor. Answered with [`Response::Heard`].
    Hear(RobotId, Beam),
}

/// The response to a [`Request`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Response {
    /// The new robot's identifier.
    Created(RobotId),
    /// The robot's position after the request.
    Placed(Position),
    /// The visual sensor's reading.
    Seen(VisualReading),
    /// The sonic sensor's reading: a distance, in mm.
    Heard(f64),
}
