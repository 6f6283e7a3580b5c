//! RoboCup's MuJoCo soccer league: agents and monitors. Choices are in `protocols/soccer/decisions.md`.

mod agent;
mod broadcast;
mod models;
mod monitor;
mod scene_graph;
mod senses;
#[cfg(test)]
mod testing;
mod updates;

use serde::{Deserialize, Serialize};

pub use self::{
    agent::{AgentOptions, AgentSession, Agents},
    models::Models,
    monitor::{MonitorLog, MonitorReply, MonitorSession, Monitors},
};

/// Accuracy of the robots' vision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VisionModel {
    /// Exact positions of everything in the field of view.
    Ideal,
    /// Noisy and incomplete, and occluded by other robots.
    Noisy,
}
