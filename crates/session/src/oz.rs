//! Oz: puppeteering a social robot. Choices are in `protocols/oz/decisions.md`.
//!
//! The puppet itself is a director of the world (`puppet::director`). Sessions turn messages into its orders and its
//! events into messages. Voice, hearing and vision run on companion threads in `server`.

mod operator;
mod panel;

use serde::{Deserialize, Serialize};

pub use self::{
    operator::{OperatorOptions, OperatorSession, Operators, is_finite},
    panel::{Frame, Naming, NamingReply, OperatorPanel, PendingNaming, Presence, Sound},
};

/// Which operators may control the robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Control {
    /// All connected operators.
    All,
    /// The first operator that controls it, until it disconnects; the others only watch.
    One,
}

#[cfg(test)]
mod tests;
