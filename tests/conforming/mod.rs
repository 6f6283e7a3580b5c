//! The conformance suite of the Oz clients: its cases, the harnesses that have them played, and the results.

#![allow(dead_code, reason = "each test file uses only some of this")]

pub(crate) mod case;
pub(crate) mod generate;
pub(crate) mod harness;
pub(crate) mod player;
pub(crate) mod programs;
mod rust;
pub(crate) mod scene;
pub(crate) mod streams;
pub(crate) mod table;
