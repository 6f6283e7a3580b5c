//! Clients for the two ports of the soccer league: players and monitors.
//!
//! ```no_run
//! use client::soccer::{Agent, Monitor};
//! use wire::soccer::{AgentMessage, Command, Effector};
//!
//! # fn main() -> Result<(), client::soccer::ClientError> {
//! let mut player = Agent::join("127.0.0.1:60000", "T1", "Reds", 2)?;
//! let perception = player.receive()?;
//! println!("at {:?}", perception.positions);
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

/// Time limit for receiving a message. In sync mode other players may be slow.
pub const RECEIVE_TIMEOUT: Duration = Duration::from_secs(30);

/// An error of a soccer client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Sending or receiving failed; includes connections closed by the server.
    #[error("communication with the server failed: {0}")]
    Io(#[from] io::Error),
    /// The server sent an invalid message.
    #[error("the server sent an invalid message: {0}")]
    BadMessage(#[from] DecodeError),
    /// A name is invalid. Nothing was sent.
    #[error(transparent)]
    InvalidName(#[from] InvalidName),
}

/// A player.
#[derive(Debug)]
pub struct Agent(Connection);

impl Agent {
    /// Connects and sends the init. If the server rejects it, [`receive`](Self::receive) fails.
    ///
    /// # Errors
    ///
    /// If the connection fails or a name is invalid.
    pub fn join(address: impl ToSocketAddrs, model: &str, team: &str, number: u8) -> Result<Self, ClientError> {
        let init = Init { model: Name::new(model)?, team: Name::new(team)?, number };
        let mut agent = Self(Connection::connect(address)?);
        agent.send(&AgentMessage::from(vec![Effector::Init(init)]))?;
        Ok(agent)
    }

    /// Sends the effectors of one cycle.
    ///
    /// # Errors
    ///
    /// If the connection is closed.
    pub fn send(&mut self, message: &AgentMessage) -> Result<(), ClientError> {
        self.0.send(message)
    }

    /// Receives the next perception.
    ///
    /// # Errors
    ///
    /// If the connection is closed, nothing arrives within [`RECEIVE_TIMEOUT`], or the message is invalid.
    pub fn receive(&mut self) -> Result<Perception, ClientError> {
        Ok(Perception::decode(self.0.receive::<Perception>()?)?)
    }

    /// Receives the next perception without decoding it.
    ///
    /// # Errors
    ///
    /// As [`receive`](Self::receive).
    pub fn receive_bytes(&mut self) -> Result<&[u8], ClientError> {
        self.0.receive::<Perception>()
    }
}

/// A monitor, which watches the game and may send commands.
#[derive(Debug)]
pub struct Monitor {
    connection: Connection,
    /// Number of acknowledgements requested.
    asked: u64,
}

impl Monitor {
    /// Connects. The server then sends updates of its own accord.
    ///
    /// # Errors
    ///
    /// If the connection fails.
    pub fn connect(address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        Ok(Self { connection: Connection::connect(address)?, asked: 0 })
    }

    /// Sends commands.
    ///
    /// # Errors
    ///
    /// If the connection is closed.
    pub fn send(&mut self, commands: &[Command]) -> Result<(), ClientError> {
        self.connection.send(&MonitorRequest::from(commands.to_vec()))
    }

    /// Sends commands and waits until the server has applied them. Drops updates that arrive meanwhile. For trainers
    /// only: the league's server does not acknowledge commands.
    ///
    /// # Errors
    ///
    /// If the connection is closed or nothing arrives within [`RECEIVE_TIMEOUT`].
    pub fn command(&mut self, commands: &[Command]) -> Result<(), ClientError> {
        self.asked += 1;
        let asked = self.asked;
        self.send(&[commands, &[Command::Acknowledge(asked)]].concat())?;
        while MonitorMessage::decode(self.receive_bytes()?)? != MonitorMessage::Acknowledged(asked) {}
        Ok(())
    }

    /// Receives the next update.
    ///
    /// # Errors
    ///
    /// If the connection is closed, nothing arrives within [`RECEIVE_TIMEOUT`], or the message is invalid.
    pub fn receive(&mut self) -> Result<MonitorUpdate, ClientError> {
        loop {
            if let MonitorMessage::Update(update) = MonitorMessage::decode(self.receive_bytes()?)? {
                return Ok(*update);
            }
        }
    }

    /// Receives the next message without decoding it.
    ///
    /// # Errors
    ///
    /// As [`receive`](Self::receive).
    pub fn receive_bytes(&mut self) -> Result<&[u8], ClientError> {
        self.connection.receive::<MonitorMessage>()
    }
}

/// A TCP connection that carries framed messages.
#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    /// Received bytes, starting with the last message returned.
    buffer: Vec<u8>,
    consumed: usize,
}

impl Connection {
    fn connect(address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(RECEIVE_TIMEOUT))?;
        Ok(Self { stream, buffer: Vec::new(), consumed: 0 })
    }

    fn send(&mut self, message: &impl StreamMessage) -> Result<(), ClientError> {
        let mut bytes = Vec::new();
        message.encode_in_stream(&mut bytes);
        Ok(self.stream.write_all(&bytes)?)
    }

    fn receive<M: StreamMessage>(&mut self) -> Result<&[u8], ClientError> {
        const CHUNK: usize = 64 * 1024;
        self.buffer.drain(..self.consumed);
        self.consumed = 0;
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
        self.consumed = split.consumed;
        Ok(self.buffer.get(split.message).unwrap_or_default())
    }
}
