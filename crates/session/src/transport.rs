//! Sessions as drivers see them: bytes in, bytes out.

use core::net::SocketAddr;
use std::time::Instant;

use bytes::Bytes;
use wire::{Message, Split, StreamMessage};
use world::{Answer, Snapshot};

use crate::{
    Context, Input, Outbox, Session, StreamEffect, StreamOutbox, Ticks,
    contract::{ConversationEffect, DatagramEffect, DatagramOutbox},
    limits,
};

/// What a driver passes to a session in addition to received bytes: the same variants as in [`Input`].
#[derive(Debug)]
pub enum Notice {
    /// [`Input::Opened`].
    Opened,
    /// [`Input::Answer`].
    Answer(Answer),
    /// [`Input::Tick`].
    Tick,
    /// [`Input::Timeout`].
    Timeout,
    /// [`Input::CommunicationReset`].
    CommunicationReset,
}

impl<R> From<Notice> for Input<R> {
    fn from(notice: Notice) -> Self {
        match notice {
            Notice::Opened => Self::Opened,
            Notice::Answer(answer) => Self::Answer(answer),
            Notice::Tick => Self::Tick,
            Notice::Timeout => Self::Timeout,
            Notice::CommunicationReset => Self::CommunicationReset,
        }
    }
}

/// A session whose messages are datagrams; `E` is its [`Session::Effect`].
pub trait DatagramSession<E>: Send {
    /// Handles one datagram.
    fn receive(&mut self, from: SocketAddr, datagram: &[u8], context: Context<'_>, out: &mut Outbox<Vec<u8>, E>);
    /// Handles everything else.
    fn notify(&mut self, notice: Notice, context: Context<'_>, out: &mut Outbox<Vec<u8>, E>);
    /// See [`Session::timeout`].
    fn timeout(&self) -> Option<Instant>;
    /// See [`Session::is_needed`].
    fn is_needed(&self) -> bool;
    /// See [`Session::wants_ticks`].
    fn wants_ticks(&self) -> bool;
}

/// What [`StreamSession::receive`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Messages handled.
    pub messages: usize,
    /// Whether the limit of the turn was reached, and complete messages may be left.
    pub is_over: bool,
}

/// What a session on a byte stream produces, with encoded replies.
pub type BytesOutbox = StreamOutbox<Bytes>;

/// A message that a session sends on a byte stream.
pub trait StreamReply {
    /// The message with its framing.
    fn encoded(&self) -> Bytes;
}

impl<R: StreamMessage> StreamReply for R {
    fn encoded(&self) -> Bytes {
        encoded(self)
    }
}

pub(crate) fn encoded<R: StreamMessage>(reply: &R) -> Bytes {
    let mut bytes = Vec::new();
    reply.encode_in_stream(&mut bytes);
    bytes.into()
}

/// A session whose messages travel in a byte stream.
pub trait StreamSession: Send {
    /// Handles complete messages at the beginning of the buffer and removes them, up to the limit of a turn, so that
    /// other peers are served.
    fn receive(&mut self, from: SocketAddr, buffer: &mut Vec<u8>, context: Context<'_>, out: &mut BytesOutbox) -> Turn;
    /// Handles everything else.
    fn notify(&mut self, notice: Notice, context: Context<'_>, out: &mut BytesOutbox);
    /// See [`Session::reply_dropped`].
    fn reply_dropped(&mut self);
}

/// Decodes and encodes the datagrams of a session.
#[derive(Debug)]
pub struct OverDatagrams<S>(pub S);

impl<S> DatagramSession<DatagramEffect> for OverDatagrams<S>
where
    S: Session<Request: Message, Reply: Message, Effect = DatagramEffect>,
{
    fn receive(&mut self, from: SocketAddr, datagram: &[u8], context: Context<'_>, out: &mut DatagramOutbox<Vec<u8>>) {
        let mut typed = Outbox::default();
        self.0.handle(decoded(from, datagram), context, &mut typed);
        append_encoded(out, typed);
    }

    fn notify(&mut self, notice: Notice, context: Context<'_>, out: &mut DatagramOutbox<Vec<u8>>) {
        let mut typed = Outbox::default();
        self.0.handle(notice.into(), context, &mut typed);
        append_encoded(out, typed);
    }

    fn timeout(&self) -> Option<Instant> {
        self.0.timeout()
    }

    fn is_needed(&self) -> bool {
        self.0.is_needed()
    }

    fn wants_ticks(&self) -> bool {
        self.0.wants_ticks()
    }
}

fn append_encoded<R: Message>(out: &mut DatagramOutbox<Vec<u8>>, typed: DatagramOutbox<R>) {
    let Outbox { replies, mut commands, mut refusals, mut effects } = typed;
    out.replies.extend(replies.into_iter().map(|(to, reply)| (to, reply.to_bytes())));
    out.commands.append(&mut commands);
    out.refusals.append(&mut refusals);
    out.effects.append(&mut effects);
}

/// Splits a stream into the messages of a session, decodes and encodes them.
#[derive(Debug)]
pub struct OverStream<S>(pub S);

impl<S> OverStream<S>
where
    S: Session<Request: StreamMessage, Reply: StreamReply, Effect = StreamEffect<<S as Session>::Reply>>,
{
    fn handle(&mut self, input: Input<S::Request>, context: Context<'_>, out: &mut BytesOutbox) {
        let mut typed = Outbox::default();
        self.0.handle(input, context, &mut typed);
        let Outbox { replies, mut commands, mut refusals, effects } = typed;
        out.replies.extend(replies.iter().map(|(to, reply)| (*to, reply.encoded())));
        out.commands.append(&mut commands);
        out.refusals.append(&mut refusals);
        out.effects.extend(effects.into_iter().map(|effect| match effect {
            StreamEffect::SendDroppable(reply) => StreamEffect::SendDroppable(reply.encoded()),
            StreamEffect::Close(reason) => StreamEffect::Close(reason),
            StreamEffect::StopServer(who) => StreamEffect::StopServer(who),
        }));
    }
}

impl<S> StreamSession for OverStream<S>
where
    S: Session<Request: StreamMessage, Reply: StreamReply, Effect = StreamEffect<<S as Session>::Reply>>,
{
    fn receive(&mut self, from: SocketAddr, buffer: &mut Vec<u8>, context: Context<'_>, out: &mut BytesOutbox) -> Turn {
        let (mut done, mut turn) = (0, Turn::default());
        while !out.is_closing() {
            if turn.messages >= limits::MESSAGES_PER_TURN || out.bytes() >= limits::BYTES_PER_TURN {
                turn.is_over = true;
                break;
            }
            let rest = buffer.get(done..).unwrap_or_default();
            match S::Request::split(rest) {
                Ok(Some(Split { message, consumed })) => {
                    let input = decoded(from, rest.get(message).unwrap_or_default());
                    done += consumed;
                    turn.messages += 1;
                    self.handle(input, context, out);
                }
                Ok(None) => break,
                Err(error) => out.close(error),
            }
        }
        buffer.drain(..done.min(buffer.len()));
        turn
    }

    fn notify(&mut self, notice: Notice, context: Context<'_>, out: &mut BytesOutbox) {
        self.handle(notice.into(), context, out);
    }

    fn reply_dropped(&mut self) {
        self.0.reply_dropped();
    }
}

fn decoded<R: Message>(from: SocketAddr, bytes: &[u8]) -> Input<R> {
    match R::decode(bytes) {
        Ok(message) => Input::Message { from, message },
        Err(error) => Input::Malformed { from, error },
    }
}

/// Opens a session for each connection.
pub trait StreamService: Send + Sync {
    /// When its sessions are notified of ticks.
    fn ticks(&self) -> Ticks;

    /// Whether a peer may listen without ever sending anything.
    fn may_be_silent(&self) -> bool {
        false
    }

    /// A droppable message is dropped when this many messages are queued already.
    fn droppable_queue(&self) -> usize {
        limits::DROPPABLE_QUEUE
    }

    /// A session for a new peer.
    fn open(&self, peer: SocketAddr) -> Box<dyn StreamSession>;
}

/// Opens a session for each peer that greets the service's port with a datagram.
pub trait ConversationService: Send + Sync {
    /// When its sessions are notified of ticks.
    fn ticks(&self) -> Ticks;

    /// Interprets a datagram at the service's own port.
    fn greet(&self, peer: SocketAddr, datagram: &[u8]) -> Greeting;
}

/// What a datagram at the port of a service means.
pub enum Greeting {
    /// Begin a conversation.
    Begin(Box<dyn DatagramSession<ConversationEffect>>),
    /// Send a reply and refuse the conversation.
    Reply {
        /// The datagram to send.
        datagram: Vec<u8>,
        /// Why no conversation begins.
        reason: String,
    },
    /// End all conversations, if the peer has one.
    ResetCommunication,
    /// Ignore the datagram, for this reason.
    Ignore(String),
}

/// Writes a log entry for every tick.
pub trait LogSession: Send {
    /// Appends what a tick adds to the log.
    fn tick(&mut self, world: &Snapshot, out: &mut Vec<u8>);
}
