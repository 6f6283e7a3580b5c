//! Sessions: the behaviour of each protocol, without sockets and without a clock.
//!
//! A session gets an [`Input`], looks at the latest [`Snapshot`], and puts replies and commands into an [`Outbox`].
//! Drivers own the sockets. This is the only place where `wire` and `world` meet.

use std::{
    fmt,
    net::SocketAddr,
    path::{Path, PathBuf},
    thread::JoinHandle,
    time::Instant,
};

use wire::{DecodeError, Message, Split, StreamMessage};
use world::{Answer, Catalogue, Command, Snapshot, clock::Pace, director::DynDirector};

use crate::{
    driver::evo::{Reception, Served},
    health::Health,
    limits,
    serve::ServeError,
    sim_thread::{SimHandle, Ticks},
};

pub mod console;
pub mod evo;
pub mod odcp;
pub mod osp;
pub mod oz;
pub mod soccer;

/// Every protocol this server speaks. A scenario switches one on with a section of its name.
pub const PROTOCOLS: &[Protocol] = &[evo::PROTOCOL, odcp::PROTOCOL, osp::PROTOCOL, oz::PROTOCOL, soccer::PROTOCOL];

/// A protocol, as the configuration sees it.
pub struct Protocol {
    /// Name of its section in a scenario.
    pub name: &'static str,
    /// What it is, for people.
    pub title: &'static str,
    /// Reads its section. Relative paths in it start at the folder.
    pub configure: Configure,
    /// Brings back the director of a recorded world from its description, if the protocol has one.
    pub direct: Option<Direct>,
}

/// Reads a section, or says what is wrong with it.
pub type Configure = fn(toml::Table, &Path) -> Result<Box<dyn Service>, toml::de::Error>;

/// Makes a director from its description, or says why not.
pub type Direct = fn(&str) -> Result<Box<dyn DynDirector>, String>;

/// Brings back the director of a recorded world.
pub fn direct(description: &str) -> Result<Box<dyn DynDirector>, String> {
    let (name, rest) = description.split_once(' ').unwrap_or((description, ""));
    let protocol = PROTOCOLS.iter().find(|protocol| protocol.name == name);
    let direct = protocol.and_then(|protocol| protocol.direct).ok_or_else(|| format!("`{name}` is not known"))?;
    direct(rest)
}

impl fmt::Debug for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A configured protocol.
pub trait Service: Send + Sync + fmt::Debug {
    /// Its section of the configuration, complete with defaults.
    fn config(&self) -> toml::Table;

    /// The director it wants for a world on this field, if it wants one; or why that cannot be.
    fn director(&self, _field: &str) -> Result<Option<Direction>, String> {
        Ok(None)
    }

    /// What it writes down of every tick, and where.
    fn logs(&self) -> Vec<Log> {
        Vec::new()
    }

    /// The sockets it wants in a world with these agents and this pace, or why that cannot be.
    fn endpoints(&self, world: &Catalogue, pace: Pace) -> Result<Vec<Endpoint>, String>;

    /// Starts servers that have nothing to do with the scenario's world; on any free ports if so wished.
    fn start_apart(&self, _reception: &Reception, _free_ports: bool) -> Result<Vec<Served>, ServeError> {
        Ok(Vec::new())
    }

    /// Whether what works beside the world works so hard that the world needs a processor of its own.
    fn is_busy_beside(&self) -> bool {
        false
    }

    /// What the console's desk shows of its robot, if it has one.
    fn desk(&self) -> Option<oz::Desk> {
        None
    }

    /// Starts what works beside the scenario's world on threads of its own.
    fn start_beside(&self, _sim: &SimHandle, _health: &Health) -> Result<Vec<Beside>, ServeError> {
        Ok(Vec::new())
    }
}

/// A thread that works beside the world, and ends with it.
pub struct Beside {
    thread: JoinHandle<()>,
    end: Option<Box<dyn FnOnce() + Send>>,
}

impl fmt::Debug for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Beside").field(&self.thread.thread().name()).finish()
    }
}

impl Beside {
    /// A thread that finds out by itself that the world has ended.
    pub fn new(thread: JoinHandle<()>) -> Self {
        Self { thread, end: None }
    }

    /// A thread that has to be told.
    pub fn with_end(thread: JoinHandle<()>, end: impl FnOnce() + Send + 'static) -> Self {
        Self { thread, end: Some(Box::new(end)) }
    }

    /// Tells the thread that the world has ended, if it does not find out by itself.
    #[must_use]
    pub fn end(mut self) -> Self {
        if let Some(end) = self.end.take() {
            end();
        }
        self
    }

    /// Waits for the end of the thread.
    pub fn join(self) {
        let name = self.thread.thread().name().unwrap_or_default().to_owned();
        if self.thread.join().is_err() {
            tracing::error!("the thread {name} ended with a panic");
        }
    }
}

/// A director, and how a recording describes it.
pub struct Direction {
    /// For [`Protocol::direct`].
    pub description: String,
    /// The director.
    pub director: Box<dyn DynDirector>,
}

impl fmt::Debug for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.description)
    }
}

/// A file that is written to while the world runs.
pub struct Log {
    /// Where. What it has already stays.
    pub path: PathBuf,
    /// What writes.
    pub session: Box<dyn LogSession>,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Log({})", self.path.display())
    }
}

/// Writes something down of every tick.
pub trait LogSession: Send {
    /// A tick passed.
    fn tick(&mut self, world: &Snapshot, out: &mut Vec<u8>);
}

/// A socket to open.
#[derive(Debug)]
pub struct Endpoint {
    /// What answers there, for people: `ODCP of ASeries`.
    pub title: String,
    /// Port; 0 for any free one.
    pub port: u16,
    /// What to run on it.
    pub kind: EndpointKind,
}

/// What runs on a socket.
pub enum EndpointKind {
    /// One session for all who send datagrams to the socket.
    Datagram(Box<dyn DatagramSession>),
    /// A session for each connection.
    Stream(Box<dyn StreamService>),
    /// A session, with a socket of its own, for each peer that greets the socket.
    Conversation(Box<dyn ConversationService>),
}

impl fmt::Debug for EndpointKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Datagram(_) => f.write_str("Datagram"),
            Self::Stream(_) => f.write_str("Stream"),
            Self::Conversation(_) => f.write_str("Conversation"),
        }
    }
}

/// What a session is told.
#[derive(Debug)]
pub enum Input<R> {
    /// A peer sent a message.
    Message {
        /// Who.
        from: SocketAddr,
        /// What.
        message: R,
    },
    /// A peer sent something that is no message.
    Malformed {
        /// Who.
        from: SocketAddr,
        /// What is wrong with it.
        error: DecodeError,
    },
    /// The world answered.
    Answer(Answer),
    /// A tick passed, and left the world as the snapshot shows it. Only for sessions that want every tick.
    Tick,
}

/// What a session wants done.
#[derive(Debug)]
pub struct Outbox<R> {
    /// Messages, and to whom.
    pub replies: Vec<(SocketAddr, R)>,
    /// Messages that may be left out when a peer is behind with reading. They go out after the others.
    pub optional: Vec<(SocketAddr, R)>,
    /// What is asked of the world, in this order.
    pub commands: Vec<Command>,
    /// Whether the replies may wait a moment for what comes of the commands, and then go out with it.
    pub may_wait: bool,
    /// What was not done, and why.
    pub refusals: Vec<Refusal>,
    /// Why the session is over, if it is. Replies are still sent.
    pub close: Option<String>,
    /// Who wants the whole server to end, if somebody does.
    pub end: Option<String>,
    /// Whether all conversations of the service are to end.
    pub disband: bool,
}

impl<R> Default for Outbox<R> {
    fn default() -> Self {
        Self {
            replies: Vec::new(),
            optional: Vec::new(),
            commands: Vec::new(),
            may_wait: false,
            refusals: Vec::new(),
            close: None,
            end: None,
            disband: false,
        }
    }
}

impl<R> Outbox<R> {
    /// Sends a message.
    pub fn send(&mut self, to: SocketAddr, reply: R) {
        self.replies.push((to, reply));
    }

    /// Sends a message, unless the peer is behind with reading.
    pub fn send_if_read(&mut self, to: SocketAddr, reply: R) {
        self.optional.push((to, reply));
    }

    /// Asks something of the world.
    pub fn ask(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// Says that something was not done. It is counted and logged.
    pub fn refuse(&mut self, from: Option<SocketAddr>, reason: impl fmt::Display) {
        self.refusals.push(Refusal { from, reason: reason.to_string() });
    }

    /// Ends the session.
    pub fn close(&mut self, reason: impl fmt::Display) {
        self.close.get_or_insert_with(|| reason.to_string());
    }

    /// Ends the server, for everybody.
    pub fn end(&mut self, who: impl fmt::Display) {
        self.end.get_or_insert_with(|| who.to_string());
    }

    /// Takes everything out.
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }
}

/// Something that was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Whose request it was, if it was somebody's.
    pub from: Option<SocketAddr>,
    /// Why.
    pub reason: String,
}

/// The behaviour of one protocol towards its peers.
pub trait Session: Send + 'static {
    /// What peers send.
    type Request: Message;
    /// What peers are sent.
    type Reply: Message;

    /// Takes one input. `world` is the latest snapshot.
    fn handle(&mut self, input: Input<Self::Request>, world: &Snapshot, out: &mut Outbox<Self::Reply>);

    /// An optional message was left out.
    fn skipped(&mut self) {}
}

/// A [`Session`] whose messages are datagrams, seen from the driver: bytes in, bytes out.
pub trait DatagramSession: Send {
    /// Takes one datagram.
    fn datagram(&mut self, from: SocketAddr, bytes: &[u8], world: &Snapshot, out: &mut Outbox<Vec<u8>>);
    /// Takes an answer of the world.
    fn answer(&mut self, answer: Answer, world: &Snapshot, out: &mut Outbox<Vec<u8>>);
}

impl<S: Session> DatagramSession for S {
    fn datagram(&mut self, from: SocketAddr, bytes: &[u8], world: &Snapshot, out: &mut Outbox<Vec<u8>>) {
        let input = match S::Request::decode(bytes) {
            Ok(message) => Input::Message { from, message },
            Err(error) => Input::Malformed { from, error },
        };
        handle_encoded(self, input, world, out, S::Reply::encode);
    }

    fn answer(&mut self, answer: Answer, world: &Snapshot, out: &mut Outbox<Vec<u8>>) {
        handle_encoded(self, Input::Answer(answer), world, out, S::Reply::encode);
    }
}

/// Makes a session for each connection.
pub trait StreamService: Send + Sync {
    /// When its sessions want to be told of every tick.
    fn wants_ticks(&self) -> Ticks;
    /// Whether a peer may listen without ever saying anything.
    fn may_be_silent(&self) -> bool {
        false
    }

    /// A message that may be left out is, when so many wait already.
    fn optional_queue(&self) -> usize {
        limits::OPTIONAL_QUEUE
    }

    /// A session for a new peer.
    fn open(&self, peer: SocketAddr) -> Box<dyn StreamSession>;
}

/// A [`Session`] whose messages travel in a stream, seen from the driver: bytes in, bytes out.
pub trait StreamSession: Send {
    /// Takes all whole messages out of the buffer.
    fn bytes(&mut self, from: SocketAddr, buffer: &mut Vec<u8>, world: &Snapshot, out: &mut Outbox<Vec<u8>>);
    /// Takes an answer of the world.
    fn answer(&mut self, answer: Answer, world: &Snapshot, out: &mut Outbox<Vec<u8>>);
    /// A tick passed.
    fn tick(&mut self, world: &Snapshot, out: &mut Outbox<Vec<u8>>);
    /// An optional message was left out.
    fn skipped(&mut self);
}

impl<S> StreamSession for S
where
    S: Session<Request: StreamMessage, Reply: StreamMessage>,
{
    fn bytes(&mut self, from: SocketAddr, buffer: &mut Vec<u8>, world: &Snapshot, out: &mut Outbox<Vec<u8>>) {
        let mut done = 0;
        while out.close.is_none() {
            let rest = buffer.get(done..).unwrap_or_default();
            match S::Request::split(rest) {
                Ok(Some(Split { message, consumed })) => {
                    let input = match S::Request::decode(rest.get(message).unwrap_or_default()) {
                        Ok(message) => Input::Message { from, message },
                        Err(error) => Input::Malformed { from, error },
                    };
                    done += consumed;
                    handle_encoded(self, input, world, out, S::Reply::encode_in_stream);
                }
                Ok(None) => break,
                Err(error) => out.close(error),
            }
        }
        buffer.drain(..done.min(buffer.len()));
    }

    fn answer(&mut self, answer: Answer, world: &Snapshot, out: &mut Outbox<Vec<u8>>) {
        handle_encoded(self, Input::Answer(answer), world, out, S::Reply::encode_in_stream);
    }

    fn tick(&mut self, world: &Snapshot, out: &mut Outbox<Vec<u8>>) {
        handle_encoded(self, Input::Tick, world, out, S::Reply::encode_in_stream);
    }

    fn skipped(&mut self) {
        Session::skipped(self);
    }
}

/// Makes a session for each peer that greets it with a datagram.
pub trait ConversationService: Send + Sync {
    /// When its sessions want to be told of every tick.
    fn wants_ticks(&self) -> Ticks;

    /// What a datagram at the service's own port means.
    fn greet(&self, peer: SocketAddr, datagram: &[u8]) -> Greeting;
}

/// What a datagram at the port of a service means.
pub enum Greeting {
    /// A conversation begins.
    Begin(Box<dyn ConversationSession>),
    /// There is nothing to talk about, for this reason, but an answer.
    Answer(Vec<u8>, String),
    /// All conversations are to end, if the peer has one.
    Disband,
    /// Nothing, for this reason.
    Nothing(String),
}

/// A session with one peer over datagrams. `now` is the time.
pub trait ConversationSession: Send {
    /// The peer has just sent its greeting, or has sent it again and nothing else.
    fn greeted(&mut self, out: &mut Outbox<Vec<u8>>);
    /// Takes one datagram.
    fn datagram(&mut self, datagram: &[u8], world: &Snapshot, now: Instant, out: &mut Outbox<Vec<u8>>);
    /// Takes an answer of the world.
    fn answer(&mut self, answer: Answer, world: &Snapshot, out: &mut Outbox<Vec<u8>>);
    /// A tick passed, or the world was reset.
    fn moved(&mut self, world: &Snapshot, now: Instant, out: &mut Outbox<Vec<u8>>);
    /// When it wants to be called for no other reason than that.
    fn wakes_at(&self) -> Option<Instant>;
    /// That time has come.
    fn wake(&mut self, now: Instant, out: &mut Outbox<Vec<u8>>);
    /// All conversations end.
    fn disbanded(&mut self, out: &mut Outbox<Vec<u8>>);
    /// Whether others wait for this peer, so that it must not be dropped for somebody new.
    fn is_needed(&self) -> bool;
}

fn handle_encoded<S: Session>(
    session: &mut S,
    input: Input<S::Request>,
    world: &Snapshot,
    out: &mut Outbox<Vec<u8>>,
    encode: impl Fn(&S::Reply, &mut Vec<u8>),
) {
    let mut typed = Outbox::default();
    session.handle(input, world, &mut typed);
    let encoded = |(to, reply): (SocketAddr, S::Reply)| {
        let mut bytes = Vec::new();
        encode(&reply, &mut bytes);
        (to, bytes)
    };
    out.replies.extend(typed.replies.into_iter().map(encoded));
    out.optional.extend(typed.optional.into_iter().map(encoded));
    out.commands.append(&mut typed.commands);
    out.refusals.append(&mut typed.refusals);
    if let Some(reason) = typed.close {
        out.close(reason);
    }
    if let Some(who) = typed.end {
        out.end(who);
    }
}
