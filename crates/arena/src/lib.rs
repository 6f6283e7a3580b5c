//! The World Simulator of the evolving robots: an arena of 2 x 2 m with layered polygons, terrain and materials, in which
//! robots are placed, move, see and hear. It is separate from the MuJoCo world of the crates `physics` and `world`.
//!
//! Units are millimetres and radians, as in the protocol. No sockets, no clock: the owner of an [`Arena`] passes the time
//! in.

pub mod arena;
pub mod body;
mod ground;
pub mod material;
mod placement;
pub mod plan;
pub mod polygon;
mod pyramid;
pub mod request;
mod robot;
mod sense;
mod separation;
mod solid;
mod spatial_index;
mod surroundings;
mod sweep;
#[cfg(test)]
mod testing;
mod transform;

pub use crate::{
    arena::{Arena, MAX_ROBOTS_OF_CONNECTION, RequestError, RobotView},
    body::{Body, BodyError, Layer},
    material::{Color, Material, Sonic},
    plan::{Plan, PlanError},
    request::{Request, Response, RobotId},
};
pub use wire::evo::{Beam, Pose, Position, VisualReading};
