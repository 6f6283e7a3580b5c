//! Recordings: everything needed to run a world again, bit for bit.
//!
//! A recording is an MCAP file with two topics of JSON messages. `/rossum/setup` has one message: the setup of the world and
//! the hash of its model. `/rossum/tick` has a message for each tick with inputs and for each tick whose state hash is
//! recorded.

mod chunk;
mod container;
mod damage;
mod format;
mod reader;
mod replay;
mod writer;

pub use self::{
    damage::{Damage, DamageCause},
    format::{Entry, RecordedRobot, RecordedSource, TickRecord},
    reader::RecordReader,
    replay::{Directors, ReplayError, Verdict, no_director, replay, replay_with_threads},
    writer::{RecordError, Recorder},
};
