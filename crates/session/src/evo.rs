//! Evolving robots in a simulated world: a World Simulator and a Robot Simulator. Choices are in
//! `protocols/evo/decisions.md`.
//!
//! The robots live in an arena of their own, not in the scenario's world, which is why both servers implement
//! [`LineServer`] and not [`Session`](crate::Session).

pub mod convert;
pub mod robot;
pub mod world;

use std::time::Duration;

use wire::evo::LineBuffer;

/// A standalone server: all connections of one simulator, which exchange lines with it.
///
/// Times count from any fixed instant. Connections have numbers that are never reused.
pub trait LineServer {
    /// Result of a line in addition to its reply.
    type Output;

    /// A client has connected. `port` is the index of the port.
    fn open(&mut self, connection: u64, port: usize);

    /// A connection has ended.
    fn close(&mut self, connection: u64, now: Duration);

    /// Handles lines of a connection up to a limit, so that others get their turn. `clock` returns the time, as some
    /// lines take long.
    fn receive(
        &mut self,
        connection: u64,
        lines: &mut LineBuffer,
        clock: impl Fn() -> Duration,
    ) -> Received<Self::Output>;

    /// Bytes to be sent on a connection; the driver removes what it has sent. None after [`close`](Self::close).
    fn output(&mut self, connection: u64) -> Option<&mut Vec<u8>>;
}

/// Result of handling lines.
#[derive(Debug, PartialEq, Eq)]
pub struct Received<O> {
    /// See [`LineServer::Output`].
    pub outputs: Vec<O>,
    /// Requests that were refused, and why.
    pub refusals: Vec<String>,
    /// Why the connection is to be closed, if it is. Replies so far are still sent.
    pub close: Option<String>,
    /// Number of lines handled.
    pub lines: usize,
    /// Why lines may be left.
    pub backlog: Backlog,
}

impl<O> Default for Received<O> {
    fn default() -> Self {
        Self { outputs: Vec::new(), refusals: Vec::new(), close: None, lines: 0, backlog: Backlog::Empty }
    }
}

/// Why lines of a connection are left unhandled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backlog {
    /// None is left.
    Empty,
    /// The connection has used up its turn.
    TurnOver,
    /// Too much output is queued.
    OutputFull,
    /// Waits for other connections; the server reports when it can continue.
    Blocked,
}
