//! The thread that owns a world.
//!
//! It takes commands from a bounded inbox, advances time, and publishes one snapshot per tick. It never blocks on a client,
//! a file or the model compiler: a client that falls behind is dropped, the world goes on.
//!
//! | module | contents |
//! | --- | --- |
//! | `handle` | [`SimThread`], [`SimHandle`], [`SessionSender`]: what other threads see |
//! | `handoff` | which thread takes the next turn: the sim thread, or a session thread in its place |
//! | `sim_loop` | one turn: handle waiting messages, let a tick pass if one is due, deliver the results |
//! | `subscriber` | the sessions, as the loop sees them |
//! | `builder` | the thread that compiles models |
//! | `meter` | tick rate, overruns and faults |
//!
//! Waking another thread costs more than a tick of a small world, and a round trip costs it twice. There are two ways
//! around it. While the sim thread sleeps, the session thread that brings the last missing vote may run the tick itself
//! ([`SimHandle::drive`]). Or the sim thread is kept awake for a moment ([`SimHandle::prepare`]): it then computes part of
//! the next tick while the vote is on its way, and runs the tick as soon as the vote arrives.

mod builder;
mod handle;
mod handoff;
mod meter;
mod sim_loop;
mod subscriber;
mod sync;

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use tokio::sync::mpsc;
use world::{
    Answer, Command, SessionId, Snapshot,
    clock::Pace,
    structure::{BuildError, Structure},
};

pub use self::handle::{SendError, SessionSender, SimHandle, SimThread};
use crate::recording::RecordingSender;

/// Prefix of the report about a world that has failed.
pub(crate) const STANDSTILL: &str = "the simulation has failed and is halted until it is reset";

/// What the world sends to a session.
#[derive(Debug)]
pub enum Delivery {
    /// The answer to one of the session's commands.
    Answer(Answer),
    /// The world after a tick, as requested by [`Ticks`].
    Tick(Arc<Snapshot>),
}

pub use session::Ticks;

/// How to run a world.
#[derive(Debug)]
pub struct SimOptions {
    /// How simulated time relates to wall time.
    pub pace: Pace,
    /// A lockstep agent that keeps another client waiting for this long loses its vote.
    pub silence: Duration,
    /// Whether ticks must start on time even while other threads of the server are busy.
    pub steady: bool,
    /// Where ticks are recorded, and after how many ticks the state is hashed.
    pub recording: Option<(RecordingSender, u64)>,
}

/// A message in the inbox of the sim thread.
enum Message {
    Open { session: SessionId, deliveries: mpsc::Sender<Delivery>, ticks: Ticks, wants_ticks: Arc<AtomicBool> },
    Close { session: SessionId },
    Command { session: SessionId, sequence: u64, command: Command },
    Built(Box<Result<Structure, BuildError>>),
    Stop,
}

#[cfg(test)]
mod handoff_model;
#[cfg(test)]
mod tests;
