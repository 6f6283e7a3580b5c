//! What can be asked of an arena, and what it answers: the messages between Robot Simulator and World Simulator without
//! their spelling.

use std::{num::NonZeroU16, sync::Arc};

use crate::{Beam, Body, Pose, Position, Sight};

/// A robot's identifier, unique in its arena, 1 to 65,535.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RobotId(pub NonZeroU16);

/// Something to be asked of an arena.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// A new robot. Answered with [`Answer::Created`].
    Create,
    /// The robot's end. Not answered.
    Kill(RobotId),
    /// The robot's shape. Answered with [`Answer::Placed`].
    Shape(RobotId, Arc<Body>),
    /// A new place at once. Answered with [`Answer::Placed`].
    Jump(RobotId, Pose),
    /// A move. Answered with [`Answer::Placed`].
    Move(RobotId, Pose),
    /// What a visual sensor sees. Answered with [`Answer::Seen`].
    See(RobotId, Beam),
    /// What a sonic sensor hears. Answered with [`Answer::Heard`].
    Hear(RobotId, Beam),
}

/// What an arena answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// The new robot's identifier.
    Created(RobotId),
    /// Where the robot is now.
    Placed(Position),
    /// What the visual sensor sees.
    Seen(Sight),
    /// How far the sonic sensor hears, in mm.
    Heard(f64),
}
