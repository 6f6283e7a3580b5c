//! How the parts of the server are, and its log.

use serde::{Deserialize, Serialize};

/// How a part is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Component {
    /// Which.
    pub name: String,
    /// Whether it does what it is there for.
    pub works: bool,
    /// In words.
    pub words: String,
}

/// A number for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gauge {
    /// Which.
    pub name: String,
    /// Of the value.
    pub unit: String,
    /// Now.
    pub value: f64,
    /// What it means.
    pub help: String,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// In s since 1970.
    pub time: f64,
    /// `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`.
    pub level: String,
    /// What it says.
    pub text: String,
}
