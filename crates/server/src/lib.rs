//! The server: sessions in front of a world, sockets in front of sessions.
//!
//! `wire` says what bytes mean and `world` what happens; [`session`] is the only place where they meet.

pub mod access;
pub mod backstage;
pub mod config;
mod cpu_affinity;
pub mod driver;
pub mod health;
pub mod http;
pub mod library;
pub mod limits;
pub mod log_buffer;
pub mod log_player;
pub mod metrics;
pub mod recording;
pub mod roster;
pub mod serve;
pub mod session;
pub mod sim_thread;
#[cfg(test)]
mod testing;
pub mod user_data;

pub use crate::{
    config::Scenario,
    serve::{ServeError, Server},
};
