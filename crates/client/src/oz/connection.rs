use super::{ClientError, now};
use std::{
    io::{self, ErrorKind, Read, Write},
    net::{Shutdown, TcpStream, ToSocketAddrs},
    time::{Duration, Instant},
};
use wire::{DecodeError, StreamMessage};

/// Size of a read, in bytes.
const READ: usize = 64 * 1024;

/// Timeouts of zero are not allowed.
const SHORTEST: Duration = Duration::from_millis(1);

/// Timeout and maximum number of reads while waiting for the robot to close the connection.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(250);
const CLOSE_READS: usize = 64;

/// A TCP connection that exchanges messages.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    /// Received bytes.
    buffer: Vec<u8>,
    /// Number of bytes consumed.
    taken: usize,
    /// The stream has ended or is out of sync.
    is_broken: bool,
}

impl Connection {
    /// Tries all addresses in order until the deadline.
    pub(super) fn connect(
        address: impl ToSocketAddrs,
        timeout: Duration,
        deadline: Instant,
    ) -> Result<Self, ClientError> {
        let mut failure = ClientError::NoAddress;
        for address in address.to_socket_addrs()? {
            let left = deadline.saturating_duration_since(now()).max(SHORTEST);
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) => {
                    // requests are sent without delay
                    stream.set_nodelay(true)?;
                    stream.set_write_timeout(Some(timeout.max(SHORTEST)))?;
                    return Ok(Self { stream, buffer: Vec::new(), taken: 0, is_broken: false });
                }
                Err(error) => failure = error.into(),
            }
        }
        Err(failure)
    }

    /// Whether the stream has ended or is out of sync.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Sends a request in one piece.
    pub(super) fn send(&mut self, message: &impl StreamMessage) -> Result<(), ClientError> {
        if self.is_broken {
            return Err(ClientError::Closed);
        }
        let mut bytes = Vec::new();
        message.encode_in_stream(&mut bytes);
        self.stream.write_all(&bytes).map_err(|error| {
            self.give_up();
            failure(error)
        })
    }

    /// The first word of the stream, which remains in it; `None` if it has not arrived by the deadline.
    pub(super) fn first_word(&mut self, deadline: Instant) -> Result<Option<u32>, ClientError> {
        loop {
            if let Some(&word) = self.buffer.first_chunk() {
                return Ok(Some(u32::from_be_bytes(word)));
            }
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() {
                return Ok(None);
            }
            self.fill(left)?;
        }
    }

    /// The next message; `None` if it is not complete by the deadline. Received bytes are kept.
    pub(super) fn receive<M: StreamMessage>(&mut self, deadline: Instant) -> Result<Option<M>, ClientError> {
        let mut is_first_read = true;
        loop {
            if let Some(message) = self.take()? {
                return Ok(Some(message));
            }
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() && !is_first_read {
                return Ok(None);
            }
            is_first_read = false;
            self.fill(left)?;
        }
    }

    /// Nothing more can be sent or received.
    fn give_up(&mut self) {
        self.is_broken = true;
        _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Closes the connection after the robot has read all requests: closing a socket with unread images would reset the
    /// connection and discard them. Errors are ignored.
    pub(super) fn close(&mut self) {
        _ = self.stream.shutdown(Shutdown::Write);
        for _ in 0..CLOSE_READS {
            self.buffer.clear();
            self.taken = 0;
            if self.fill(CLOSE_TIMEOUT).is_err() || self.buffer.is_empty() {
                break;
            }
        }
        _ = self.stream.shutdown(Shutdown::Both);
    }

    fn take<M: StreamMessage>(&mut self) -> Result<Option<M>, DecodeError> {
        let rest = self.buffer.get(self.taken..).unwrap_or_default();
        let split = match M::split(rest) {
            Ok(Some(split)) => split,
            Ok(None) => return Ok(None),
            Err(error) => {
                self.give_up();
                return Err(error);
            }
        };
        let rest = self.buffer.get(self.taken..).unwrap_or_default();
        let message = M::decode(rest.get(split.message).unwrap_or_default());
        self.taken += split.consumed;
        message.map(Some)
    }

    /// Reads available bytes, or waits for some. Nothing may have been read on timeout.
    fn fill(&mut self, timeout: Duration) -> Result<(), ClientError> {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        self.stream.set_read_timeout(Some(timeout.max(SHORTEST)))?;
        let begin = self.buffer.len();
        self.buffer.resize(begin + READ, 0);
        let read = self.stream.read(self.buffer.get_mut(begin..).unwrap_or_default());
        self.buffer.truncate(begin + read.as_ref().map_or(0, |&length| length));
        match read {
            Ok(1..) => Ok(()),
            Err(error)
                if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
            {
                Ok(())
            }
            end => {
                self.give_up();
                let error = end.map_or_else(failure, |_| ClientError::Closed);
                let is_closed = matches!(error, ClientError::Closed);
                Err(if is_closed && !self.buffer.is_empty() { ClientError::Truncated } else { error })
            }
        }
    }
}

/// Maps errors that mean the robot has closed the connection.
fn failure(error: io::Error) -> ClientError {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => ClientError::Closed,
        _ => error.into(),
    }
}
