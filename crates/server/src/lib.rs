//! The server: sockets, threads and HTTP in front of sessions, and sessions in front of a world.
//!
//! What a protocol does is in the crate `session`; its configuration is in [`protocol`].

pub mod access;
pub mod address;
pub mod config;
mod cpu_affinity;
pub mod descriptors;
pub mod driver;
pub mod health;
pub mod http;
pub mod jobs;
pub mod limits;
pub mod log_buffer;
pub mod log_player;
pub mod metrics;
pub mod model_check;
pub mod protocol;
pub mod recording;
pub mod roster;
pub mod serve;
pub mod sim_thread;
#[cfg(test)]
mod testing;
pub mod tls;
pub mod user_data;

pub use crate::{
    config::Scenario,
    serve::{ServeError, Server},
};
