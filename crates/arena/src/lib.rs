//! The world of the evolving robots, as the World Simulator holds it: an arena of 2 x 2 m with layered polygons, terrain
//! and materials, in which robots are placed, move, see and hear.
//!
//! Everything here is in millimetres and radians, as the protocol says it. No sockets, no clock: whoever owns an
//! [`Arena`] passes the time in.

pub mod arena;
pub mod ask;
mod blocks;
pub mod body;
mod gap;
mod ground;
pub mod material;
mod place;
pub mod plan;
pub mod polygon;
pub mod pose;
mod pyramid;
mod robot;
mod sense;
mod solid;
mod stance;
mod sweep;
#[cfg(test)]
mod testing;

pub use crate::{
    arena::{Arena, Refusal, RobotView},
    ask::{Answer, Ask, RobotId},
    body::{Body, BodyError, Layer},
    material::{Color, Material, Sonic},
    plan::{Plan, PlanError},
    pose::{Beam, Pose, Position, Sight},
};
