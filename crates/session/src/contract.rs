//! The contract between a session and its driver.

use core::net::SocketAddr;
use std::{fmt, sync::Arc, time::Instant};

use bytes::Bytes;
use wire::DecodeError;
use world::{Answer, Command, Snapshot};

/// The behaviour of one protocol towards its peers.
pub trait Session: Send + 'static {
    /// A message from a peer.
    type Request;
    /// A message to a peer.
    type Reply;
    /// What the session can ask of its driver besides sending replies and commands. Each transport has its own type,
    /// so that a session cannot ask for something its driver does not do: [`StreamEffect`], [`ConversationEffect`],
    /// [`DatagramEffect`].
    type Effect;

    /// Handles one input.
    fn handle(
        &mut self,
        input: Input<Self::Request>,
        context: Context<'_>,
        out: &mut Outbox<Self::Reply, Self::Effect>,
    );

    /// When the session wants an [`Input::Timeout`], if nothing else happens before.
    fn timeout(&self) -> Option<Instant> {
        None
    }

    /// Whether the world waits for this peer, so that it must not be evicted in favour of a new one.
    fn is_needed(&self) -> bool {
        false
    }

    /// Whether it has a use for [`Input::Tick`]s other than those of resets. Many clients that only ask now and then would
    /// otherwise cost time in every tick.
    fn wants_ticks(&self) -> bool {
        true
    }

    /// A droppable reply was dropped because the peer is slow to read.
    fn reply_dropped(&mut self) {}
}

/// The world and the time at which an input is handled.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The latest snapshot; for [`Input::Tick`], that of the tick.
    pub world: &'a Arc<Snapshot>,
    /// The current time.
    pub now: Instant,
}

impl<'a> Context<'a> {
    /// A context of a snapshot and a time.
    #[must_use]
    pub fn new(world: &'a Arc<Snapshot>, now: Instant) -> Self {
        Self { world, now }
    }
}

/// What happens to a session.
#[derive(Debug)]
pub enum Input<R> {
    /// The session has been opened. A conversation gets it again when its peer repeats the greeting.
    Opened,
    /// A peer sent a message.
    Message {
        /// Its address.
        from: SocketAddr,
        /// The decoded message.
        message: R,
    },
    /// A peer sent something that does not decode.
    Malformed {
        /// Its address.
        from: SocketAddr,
        /// Why the bytes are invalid.
        error: DecodeError,
    },
    /// The world answers a command of this session.
    Answer(Answer),
    /// The world has completed a tick; how often this is sent depends on [`Ticks`].
    Tick,
    /// The time of [`Session::timeout`] has come.
    Timeout,
    /// All conversations of the service end.
    CommunicationReset,
}

/// When a session gets an [`Input::Tick`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ticks {
    /// Never; it reads the latest snapshot when it needs one.
    Never,
    /// At the end of each tick.
    AtEnd,
    /// At the end of each tick, except for those that pass while it is still busy with earlier ones.
    WhenFree,
    /// When the next tick begins, so that the session works while the physics does.
    AtNext,
    /// At the end of each tick and after each reset.
    AndResets,
}

/// What a session wants done. A driver destructures it and matches every effect.
#[derive(Debug)]
pub struct Outbox<R, E> {
    /// Messages and their recipients, in order.
    pub replies: Vec<(SocketAddr, R)>,
    /// Commands to the world, in order.
    pub commands: Vec<Command>,
    /// Requests that were refused, to be counted and logged.
    pub refusals: Vec<Refusal>,
    /// What the driver is to do besides, in order.
    pub effects: Vec<E>,
}

impl<R, E> Default for Outbox<R, E> {
    fn default() -> Self {
        Self { replies: Vec::new(), commands: Vec::new(), refusals: Vec::new(), effects: Vec::new() }
    }
}

impl<R, E> Outbox<R, E> {
    /// Sends a message.
    pub fn send(&mut self, to: SocketAddr, reply: R) {
        self.replies.push((to, reply));
    }

    /// Sends a command to the world.
    pub fn command(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// Reports a refused request.
    pub fn refuse(&mut self, from: Option<SocketAddr>, reason: impl fmt::Display) {
        self.refusals.push(Refusal { from, reason: reason.to_string() });
    }

    /// Takes everything out.
    #[must_use]
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }
}

/// A refused request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The peer that made the request; none if it cannot be attributed.
    pub from: Option<SocketAddr>,
    /// The cause.
    pub reason: String,
}

/// What the driver of a datagram socket that all peers share can do for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramEffect {
    /// The peer has connected, and may send at the full rate.
    Connected(SocketAddr),
    /// The peer has disconnected.
    Disconnected(SocketAddr),
}

/// What the driver of a stream can do for a session.
#[derive(Debug, PartialEq, Eq)]
pub enum StreamEffect<R> {
    /// Send a message unless the peer is slow to read. Goes out after the replies.
    SendDroppable(R),
    /// Close the connection once the replies are written. The text is the cause.
    Close(String),
    /// Stop the whole server. The text describes the requesting client.
    StopServer(String),
}

/// What the driver of a conversation can do for a session.
#[derive(Debug, PartialEq, Eq)]
pub enum ConversationEffect {
    /// The replies may be held back for a moment, to go out together with the next ones.
    HoldReplies,
    /// End the conversation once the replies are sent. The text is the cause.
    Close(String),
    /// End all conversations of the service.
    ResetCommunication,
}

/// Output of a session on a shared datagram socket.
pub type DatagramOutbox<R> = Outbox<R, DatagramEffect>;
/// Output of a session on a stream.
pub type StreamOutbox<R> = Outbox<R, StreamEffect<R>>;
/// Output of a session with a datagram socket of its own.
pub type ConversationOutbox = Outbox<Vec<u8>, ConversationEffect>;

impl<R> StreamOutbox<R> {
    /// Sends a message to the connection's peer, unless it is slow to read.
    pub fn send_droppable(&mut self, reply: R) {
        self.effects.push(StreamEffect::SendDroppable(reply));
    }

    /// Closes the connection.
    pub fn close(&mut self, reason: impl fmt::Display) {
        self.effects.push(StreamEffect::Close(reason.to_string()));
    }

    /// Stops the server.
    pub fn stop_server(&mut self, who: impl fmt::Display) {
        self.effects.push(StreamEffect::StopServer(who.to_string()));
    }

    /// Whether the session has asked to close the connection.
    pub fn is_closing(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, StreamEffect::Close(_)))
    }
}

impl ConversationOutbox {
    /// Ends the conversation.
    pub fn close(&mut self, reason: impl fmt::Display) {
        self.effects.push(ConversationEffect::Close(reason.to_string()));
    }
}

impl StreamOutbox<Bytes> {
    /// Size of all messages to be sent.
    pub fn bytes(&self) -> usize {
        let droppable = self.effects.iter().map(|effect| match effect {
            StreamEffect::SendDroppable(message) => message.len(),
            StreamEffect::Close(_) | StreamEffect::StopServer(_) => 0,
        });
        self.replies.iter().map(|(_, reply)| reply.len()).chain(droppable).sum()
    }
}
