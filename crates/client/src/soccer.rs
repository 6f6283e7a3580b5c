//! Clients for the two ports of the soccer league: one that plays, one that watches and commands.
//!
//! ```no_run
//! use client::soccer::{Agent, Monitor};
//! use wire::soccer::{AgentMessage, Command, Effector};
//!
//! # fn main() -> Result<(), client::soccer::ClientError> {
//! let mut player = Agent::join("127.0.0.1:60000", "T1", "Reds", 2)?;
//! let told = player.receive()?;
//! println!("at {:?}", told.positions);
//! player.send(&AgentMessage::from(vec![Effector::Sync]))?;
//!
//! let mut monitor = Monitor::connect("127.0.0.1:60001")?;
//! monitor.send(&[Command::KickOff(None)])
//! # }
//! ```

use std::{
    io::{self, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    time::Duration,
};

use wire::{
    DecodeError, Message, StreamMessage,
    soccer::{
        AgentMessage, Command, Effector, Init, InvalidName, MonitorMessage, MonitorRequest, MonitorUpdate, Name,
        Perception,
    },
};

/// How long a message is waited for. In sync mode the others may take their time.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What went wrong between a client and the server.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The system could not send or receive; a server that ends the connection is reported here, too.
    #[error("could not talk to the server: {0}")]
    Io(#[from] io::Error),
    /// The server sent something that is no message.
    #[error("the server sent a bad message: {0}")]
    BadMessage(#[from] DecodeError),
    /// A name cannot be sent. Nothing was.
    #[error(transparent)]
    InvalidName(#[from] InvalidName),
}

/// A player.
#[derive(Debug)]
pub struct Agent(Frames);

impl Agent {
    /// Connects, and asks to play. Whether the server agrees shows when it is told something.
    ///
    /// # Errors
    ///
    /// When nobody listens there, or a name has characters that names cannot have.
    pub fn join(address: impl ToSocketAddrs, model: &str, team: &str, number: u8) -> Result<Self, ClientError> {
        let init = Init { model: Name::new(model)?, team: Name::new(team)?, number };
        let mut agent = Self(Frames::connect(address)?);
        agent.send(&AgentMessage::from(vec![Effector::Init(init)]))?;
        Ok(agent)
    }

    /// Sends one message: all that the player wants in one cycle.
    ///
    /// # Errors
    ///
    /// When the connection has ended.
    pub fn send(&mut self, message: &AgentMessage) -> Result<(), ClientError> {
        self.0.send(message)
    }

    /// What the player is told next.
    ///
    /// # Errors
    ///
    /// When the connection has ended, nothing comes within [`PATIENCE`], or it cannot be read.
    pub fn receive(&mut self) -> Result<Perception, ClientError> {
        Ok(Perception::decode(self.0.receive::<Perception>()?)?)
    }

    /// What the player is told next, as it was sent.
    ///
    /// # Errors
    ///
    /// As for [`receive`](Self::receive).
    pub fn receive_bytes(&mut self) -> Result<&[u8], ClientError> {
        self.0.receive::<Perception>()
    }
}

/// One who watches the game and may interfere with it.
#[derive(Debug)]
pub struct Monitor {
    frames: Frames,
    /// Counts what is to be acknowledged.
    asked: u64,
}

impl Monitor {
    /// Connects. Pictures of the game follow by themselves.
    ///
    /// # Errors
    ///
    /// When nobody listens there.
    pub fn connect(address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        Ok(Self { frames: Frames::connect(address)?, asked: 0 })
    }

    /// Asks for something.
    ///
    /// # Errors
    ///
    /// When the connection has ended.
    pub fn send(&mut self, commands: &[Command]) -> Result<(), ClientError> {
        self.frames.send(&MonitorRequest::from(commands.to_vec()))
    }

    /// Asks for something, and waits until the server has taken it. Pictures that come meanwhile are dropped. This is
    /// for trainers: the league's server does not answer.
    ///
    /// # Errors
    ///
    /// When the connection has ended, or nothing comes within [`PATIENCE`].
    pub fn command(&mut self, commands: &[Command]) -> Result<(), ClientError> {
        self.asked += 1;
        let asked = self.asked;
        self.send(&[commands, &[Command::Acknowledge(asked)]].concat())?;
        while MonitorMessage::decode(self.receive_bytes()?)? != MonitorMessage::Acknowledged(asked) {}
        Ok(())
    }

    /// The next picture.
    ///
    /// # Errors
    ///
    /// When the connection has ended, nothing comes within [`PATIENCE`], or it cannot be read.
    pub fn receive(&mut self) -> Result<MonitorUpdate, ClientError> {
        loop {
            if let MonitorMessage::Update(update) = MonitorMessage::decode(self.receive_bytes()?)? {
                return Ok(*update);
            }
        }
    }

    /// The next message, as it was sent.
    ///
    /// # Errors
    ///
    /// As for [`receive`](Self::receive).
    pub fn receive_bytes(&mut self) -> Result<&[u8], ClientError> {
        self.frames.receive::<MonitorMessage>()
    }
}

/// A connection that carries whole messages.
#[derive(Debug)]
struct Frames {
    stream: TcpStream,
    /// What has come; the first bytes are of the last message that was taken.
    buffer: Vec<u8>,
    taken: usize,
}

impl Frames {
    fn connect(address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream, buffer: Vec::new(), taken: 0 })
    }

    fn send(&mut self, message: &impl StreamMessage) -> Result<(), ClientError> {
        let mut bytes = Vec::new();
        message.encode_in_stream(&mut bytes);
        Ok(self.stream.write_all(&bytes)?)
    }

    fn receive<M: StreamMessage>(&mut self) -> Result<&[u8], ClientError> {
        const CHUNK: usize = 64 * 1024;
        self.buffer.drain(..self.taken);
        self.taken = 0;
        let split = loop {
            if let Some(split) = M::split(&self.buffer)? {
                break split;
            }
            let begin = self.buffer.len();
            self.buffer.resize(begin + CHUNK, 0);
            let read = self.stream.read(self.buffer.get_mut(begin..).unwrap_or_default());
            self.buffer.truncate(begin + read.as_ref().map_or(0, |length| *length));
            if read? == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
        };
        self.taken = split.consumed;
        Ok(self.buffer.get(split.message).unwrap_or_default())
    }
}
