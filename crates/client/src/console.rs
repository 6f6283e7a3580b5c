//! A client for the console's WebSocket API.
//!
//! ```no_run
//! use client::console::{Client, Incoming};
//! use wire::console::{Command, Topic};
//!
//! // the URL that `rossum serve` prints
//! let mut client = Client::connect("http://127.0.0.1:1920/?token=0123456789abcdef0123456789abcdef")?;
//! println!("{}", client.hello().title);
//! client.send(Command::Watch { topics: vec![Topic::Poses] })?;
//! while let Incoming::Frame(bytes) = client.receive()? {
//!     println!("{:?}", wire::console::Frame::decode(&bytes));
//! }
//! # Ok::<(), client::console::ClientError>(())
//! ```

use std::{
    io,
    net::{TcpStream, ToSocketAddrs},
    time::Duration,
};

use tungstenite::{Message as WebFrame, WebSocket, client::client_with_config, protocol::WebSocketConfig};
use wire::console::{Command, Hello, Message, Request};

use crate::tls::{Fingerprint, Stream};

/// Default time limit for connecting and for [`Client::receive`].
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of a message, in bytes: a scene with many meshes.
const MAX_MESSAGE: usize = 64 << 20;

/// An error of a console client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The URL is invalid.
    #[error("`{url}` is not a console URL; expected http://HOST:PORT/?token=TOKEN, or https")]
    InvalidUrl {
        /// The URL as given.
        url: String,
    },
    /// The console uses TLS, and its fingerprint was not given.
    #[error("the console uses TLS; pass the fingerprint that the server prints")]
    Untrusted,
    /// The server rejected the WebSocket handshake, most likely because of a wrong token.
    #[error("the server rejected the connection: {reason}")]
    Refused {
        /// The error of the handshake.
        reason: String,
    },
    /// Connecting failed.
    #[error("failed to connect: {0}")]
    Io(#[from] io::Error),
    /// The connection was closed, timed out, or violated the WebSocket protocol.
    #[error("connection closed: {0}")]
    Closed(Box<tungstenite::Error>),
    /// The server sent an invalid message.
    #[error("the server sent an invalid message: {0}")]
    InvalidMessage(String),
}

impl From<tungstenite::Error> for ClientError {
    fn from(error: tungstenite::Error) -> Self {
        Self::Closed(Box::new(error))
    }
}

/// A message or frame from the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// A JSON message.
    Message(Box<Message>),
    /// A binary frame, to be decoded with [`wire::console::Frame::decode`].
    Frame(Vec<u8>),
}

/// A connection to a console.
#[derive(Debug)]
pub struct Client {
    socket: WebSocket<Stream>,
    hello: Hello,
    last_id: u64,
}

impl Client {
    /// Connects to the console at a URL printed by `rossum serve`.
    ///
    /// # Errors
    ///
    /// If the URL is invalid or needs TLS, the server is unreachable or the token is wrong.
    pub fn connect(url: &str) -> Result<Self, ClientError> {
        Self::connect_with(url, None)
    }

    /// Connects to the console at a URL printed by `rossum serve`, with TLS if it is an `https` URL. The server's certificate
    /// must have this fingerprint.
    ///
    /// # Errors
    ///
    /// If the URL is invalid, the server is unreachable or has another certificate, or the token is wrong.
    pub fn connect_trusting(url: &str, fingerprint: Fingerprint) -> Result<Self, ClientError> {
        Self::connect_with(url, Some(fingerprint))
    }

    fn connect_with(url: &str, fingerprint: Option<Fingerprint>) -> Result<Self, ClientError> {
        let invalid_url = || ClientError::InvalidUrl { url: url.to_owned() };
        let (scheme, rest) = url.split_once("://").ok_or_else(invalid_url)?;
        let (host, token) = rest.split_once("/?").ok_or_else(invalid_url)?;
        let address = host.to_socket_addrs()?.next().ok_or_else(invalid_url)?;
        let stream = TcpStream::connect_timeout(&address, REPLY_TIMEOUT)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(REPLY_TIMEOUT))?;
        let stream = match (scheme, fingerprint) {
            ("http", _) => Stream::Plain(stream),
            ("https", Some(fingerprint)) => Stream::encrypt(stream, fingerprint)?,
            ("https", None) => return Err(ClientError::Untrusted),
            _ => return Err(invalid_url()),
        };
        let config = WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
        let (mut socket, _) = client_with_config(format!("ws://{host}/api?{token}"), stream, Some(config))
            .map_err(|error| ClientError::Refused { reason: error.to_string() })?;
        match read(&mut socket)? {
            Incoming::Message(message) => match *message {
                Message::Hello(hello) => Ok(Self { socket, hello: *hello, last_id: 0 }),
                other => Err(ClientError::InvalidMessage(format!("expected a hello, got {}", other.to_text()))),
            },
            Incoming::Frame(_) => Err(ClientError::InvalidMessage("expected a hello, got a frame".to_owned())),
        }
    }

    /// The server's first message.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Sends a command and returns its id, which the server repeats in the answer.
    ///
    /// # Errors
    ///
    /// If the connection is closed.
    pub fn send(&mut self, command: Command) -> Result<u64, ClientError> {
        self.last_id += 1;
        let asked = Request { id: Some(self.last_id), command };
        self.socket.send(WebFrame::Text(asked.to_text().into()))?;
        Ok(self.last_id)
    }

    /// Waits for the next message or frame, for [`REPLY_TIMEOUT`] unless changed by [`set_timeout`](Self::set_timeout).
    ///
    /// # Errors
    ///
    /// If nothing arrives in time or the connection is closed.
    pub fn receive(&mut self) -> Result<Incoming, ClientError> {
        read(&mut self.socket)
    }

    /// Sets the time limit of [`receive`](Self::receive).
    ///
    /// # Errors
    ///
    /// If the timeout is zero or the system call fails.
    pub fn set_timeout(&mut self, timeout: Duration) -> Result<(), ClientError> {
        Ok(self.socket.get_ref().tcp().set_read_timeout(Some(timeout))?)
    }
}

fn read(socket: &mut WebSocket<Stream>) -> Result<Incoming, ClientError> {
    loop {
        match socket.read()? {
            WebFrame::Text(text) => {
                let message = Message::decode(&text).map_err(|error| ClientError::InvalidMessage(error.to_string()))?;
                return Ok(Incoming::Message(Box::new(message)));
            }
            WebFrame::Binary(bytes) => return Ok(Incoming::Frame(bytes.into())),
            WebFrame::Close(_) => return Err(tungstenite::Error::ConnectionClosed.into()),
            WebFrame::Ping(_) | WebFrame::Pong(_) | WebFrame::Frame(_) => {}
        }
    }
}
