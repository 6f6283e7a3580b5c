//! A client of the console's WebSocket: what the browser can do, a program can.
//!
//! ```no_run
//! use client::console::{Client, Incoming};
//! use wire::console::{Command, Topic};
//!
//! // the link that `rossum serve` prints
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

/// How long the server may take to answer.
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
/// No message is longer: a scene with many meshes.
const MAX_MESSAGE: usize = 64 << 20;

/// Why something was not heard or said.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The link is none.
    #[error("`{link}` is no link of a console; one begins with http:// and has a token")]
    Link {
        /// The link.
        link: String,
    },
    /// The server did not open the console: a wrong token, most likely.
    #[error("the console does not open: {reason}")]
    Refused {
        /// Why.
        reason: String,
    },
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// The connection has ended, or does not keep to its rules.
    #[error("the connection has ended: {0}")]
    Ended(Box<tungstenite::Error>),
    /// A message cannot be read.
    #[error("the server sent something unreadable: {0}")]
    Unreadable(String),
}

impl From<tungstenite::Error> for ClientError {
    fn from(error: tungstenite::Error) -> Self {
        Self::Ended(Box::new(error))
    }
}

/// What a server says.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// A message.
    Message(Box<Message>),
    /// A frame, for [`wire::console::Frame::decode`].
    Frame(Vec<u8>),
}

/// A connection.
#[derive(Debug)]
pub struct Client {
    socket: WebSocket<TcpStream>,
    hello: Hello,
    last_id: u64,
}

impl Client {
    /// Connects to the console of a link, as `rossum serve` prints it.
    ///
    /// # Errors
    ///
    /// When there is no server, or the token is wrong.
    pub fn connect(link: &str) -> Result<Self, ClientError> {
        let no_link = || ClientError::Link { link: link.to_owned() };
        let (host, token) = link.strip_prefix("http://").and_then(|rest| rest.split_once("/?")).ok_or_else(no_link)?;
        let address = host.to_socket_addrs()?.next().ok_or_else(no_link)?;
        let stream = TcpStream::connect_timeout(&address, REPLY_TIMEOUT)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(REPLY_TIMEOUT))?;
        let config = WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
        let (mut socket, _) = client_with_config(format!("ws://{host}/api?{token}"), stream, Some(config))
            .map_err(|error| ClientError::Refused { reason: error.to_string() })?;
        match read(&mut socket)? {
            Incoming::Message(message) => match *message {
                Message::Hello(hello) => Ok(Self { socket, hello: *hello, last_id: 0 }),
                other => Err(ClientError::Unreadable(format!("no hello but {}", other.to_text()))),
            },
            Incoming::Frame(_) => Err(ClientError::Unreadable("no hello but a frame".to_owned())),
        }
    }

    /// What the server said first.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Sends a command, and says under which number the server answers.
    ///
    /// # Errors
    ///
    /// When the connection has ended.
    pub fn send(&mut self, command: Command) -> Result<u64, ClientError> {
        self.last_id += 1;
        let asked = Request { id: Some(self.last_id), command };
        self.socket.send(WebFrame::Text(asked.to_text().into()))?;
        Ok(self.last_id)
    }

    /// Waits for what the server says next, up to [`REPLY_TIMEOUT`].
    ///
    /// # Errors
    ///
    /// When nothing comes in time, or the connection has ended.
    pub fn receive(&mut self) -> Result<Incoming, ClientError> {
        read(&mut self.socket)
    }

    /// How long [`receive`](Self::receive) waits.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn set_patience(&mut self, patience: Duration) -> Result<(), ClientError> {
        Ok(self.socket.get_ref().set_read_timeout(Some(patience))?)
    }
}

fn read(socket: &mut WebSocket<TcpStream>) -> Result<Incoming, ClientError> {
    loop {
        match socket.read()? {
            WebFrame::Text(text) => {
                let message = Message::decode(&text).map_err(|error| ClientError::Unreadable(error.to_string()))?;
                return Ok(Incoming::Message(Box::new(message)));
            }
            WebFrame::Binary(bytes) => return Ok(Incoming::Frame(bytes.into())),
            WebFrame::Close(_) => return Err(tungstenite::Error::ConnectionClosed.into()),
            WebFrame::Ping(_) | WebFrame::Pong(_) | WebFrame::Frame(_) => {}
        }
    }
}
