//! What each protocol does, without I/O.
//!
//! A session is a state machine between `wire` (what bytes mean) and `world` (what happens): inputs in, replies and
//! commands out. There are no sockets, threads, files or async code in this crate, and time is an argument, so that
//! every session runs in memory. Drivers in `server` own the sockets; `tests/arrows.rs` enforces the boundary.
//!
//! There are three contracts:
//!
//! - [`Session`]: protocols in front of the scenario's world (soccer, OSP, ODCP, Oz, the console). A session reads the
//!   latest [`Snapshot`](world::Snapshot) and sends [`Command`](world::Command)s.
//! - [`LineServer`](evo::LineServer): the standalone servers of the evolving robots. They never meet that world: their
//!   connections share state of their own and apply backpressure to each other, so that the driver pulls output
//!   instead of being handed it.
//! - [`LogSession`]: the soccer log. It has no peer, and only reads the snapshot of every tick.

mod contract;
pub mod limits;
mod token_bucket;
mod transport;

pub mod console;
pub mod evo;
pub mod odcp;
pub mod osp;
pub mod oz;
pub mod soccer;

#[cfg(test)]
mod testing;

pub use self::{
    contract::{
        Context, ConversationEffect, ConversationOutbox, DatagramEffect, DatagramOutbox, Input, Outbox, Refusal,
        Session, StreamEffect, StreamOutbox, Ticks,
    },
    token_bucket::TokenBucket,
    transport::{
        BytesOutbox, ConversationService, DatagramSession, Greeting, LogSession, Notice, OverDatagrams, OverStream,
        StreamReply, StreamService, StreamSession, Turn,
    },
};
