//! One simulated world: agents with motors and sensors, variables, events, time, recordings.
//!
//! Independent of protocols, sockets and the wall clock: time is an argument. Units are SI and radians; x is forward, y left,
//! z up.

mod access;
pub mod agent;
pub mod change;
pub mod clock;
pub mod command;
pub mod director;
pub mod event;
pub mod interface;
mod journal;
mod light;
pub mod record;
pub mod runner;
pub mod setup;
pub mod snapshot;
pub mod structure;
pub mod value;
pub mod variable;
pub mod world;

pub use crate::{
    agent::{Action, AgentId, JointTarget},
    command::{Answer, Command, CommandRefusal},
    runner::Runner,
    setup::{Robot, Setup},
    snapshot::{Catalogue, Snapshot, Tick},
    value::{Value, ValueKind},
    variable::VariableId,
    world::{SessionId, World},
};
