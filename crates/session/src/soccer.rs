//! RoboCup's MuJoCo soccer league: agents and monitors. Choices are in `protocols/soccer/decisions.md`.

mod agent;
mod models;
mod monitor;
mod scene_graph;
mod senses;
#[cfg(test)]
mod testing;

use serde::{Deserialize, Serialize};

pub use self::{
    agent::{AgentOptions, AgentSession, Agents},
    models::Models,
    monitor::{MonitorLog, MonitorSession, Monitors},
};

/// How well robots see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VisionModel {
    /// Everything in the field of view, exactly.
    Ideal,
    /// With errors and misses, and not through other robots.
    Noisy,
}
