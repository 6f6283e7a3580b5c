//! Health of the server's components, and the log.

use serde::{Deserialize, Serialize};

/// Health of one component of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Component {
    /// Human-readable name.
    pub name: String,
    /// Whether it works.
    pub works: bool,
    /// Human-readable details.
    pub words: String,
}

/// A metric to show and plot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Gauge {
    /// Human-readable name.
    pub name: String,
    /// Unit of the value; may be empty.
    pub unit: String,
    /// Current value.
    pub value: f64,
    /// Explanation.
    pub help: String,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LogLine {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub time: f64,
    /// `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`.
    pub level: String,
    /// The message with its fields.
    pub text: String,
}
