//! The world of the evolving robots, as the World Simulator holds it: an arena of 2 x 2 m with layered polygons, terrain
//! and materials, in which robots are placed, move, see and hear.
//!
//! Everything here is in millimetres and radians, as the protocol says it. No sockets, no clock: whoever owns an
//! [`Arena`] passes the time in.

pub mod ask;
pub mod body;
pub mod pose;

pub use crate::{
    ask::{Answer, Ask, RobotId},
    body::{Body, BodyError, Layer},
    pose::{Beam, Pose, Position, Sight},
};
