use super::{ClientError, now};
use std::{
    io::{self, ErrorKind, Read, Write},
    net::{Shutdown, TcpStream, ToSocketAddrs},
    time::{Duration, Instant},
};
use wire::{DecodeError, StreamMessage};

/// Bytes read at once.
const READ: usize = 64 * 1024;

/// The system takes no time-out of zero.
const SHORTEST: Duration = Duration::from_millis(1);

/// How long a robot that was told goodbye is read for its own, and how often.
const LAST_PATIENCE: Duration = Duration::from_millis(250);
const LAST_READS: usize = 64;

/// A connection on which whole messages are exchanged.
#[derive(Debug)]
pub(super) struct Link {
    stream: TcpStream,
    /// What has come.
    buffer: Vec<u8>,
    /// How much of it was taken.
    taken: usize,
    /// A request was sent in part: nothing after it would make sense to the robot.
    is_broken: bool,
}

impl Link {
    /// Tries the addresses one by one, until the deadline.
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
                    // a request is never held back to be sent together with the next
                    stream.set_nodelay(true)?;
                    stream.set_write_timeout(Some(timeout.max(SHORTEST)))?;
                    return Ok(Self { stream, buffer: Vec::new(), taken: 0, is_broken: false });
                }
                Err(error) => failure = error.into(),
            }
        }
        Err(failure)
    }

    /// Sends a request in one piece.
    pub(super) fn send(&mut self, message: &impl StreamMessage) -> Result<(), ClientError> {
        if self.is_broken {
            return Err(ClientError::Closed);
        }
        let mut bytes = Vec::new();
        message.encode_in_stream(&mut bytes);
        self.stream.write_all(&bytes).map_err(|error| {
            self.is_broken = true;
            _ = self.stream.shutdown(Shutdown::Both);
            failure(error)
        })
    }

    /// The next message; `None` if its end has not come by the deadline. What has arrived of it is kept.
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

    /// Ends the connection, once the robot has read what it was told: whoever closes with pictures still unread may
    /// take back what was sent. That it has ended already is no news.
    pub(super) fn close(&mut self) {
        _ = self.stream.shutdown(Shutdown::Write);
        for _ in 0..LAST_READS {
            self.buffer.clear();
            self.taken = 0;
            if self.fill(LAST_PATIENCE).is_err() || self.buffer.is_empty() {
                break;
            }
        }
        _ = self.stream.shutdown(Shutdown::Both);
    }

    fn take<M: StreamMessage>(&mut self) -> Result<Option<M>, DecodeError> {
        let rest = self.buffer.get(self.taken..).unwrap_or_default();
        let Some(split) = M::split(rest)? else { return Ok(None) };
        let message = M::decode(rest.get(split.message).unwrap_or_default());
        self.taken += split.consumed;
        message.map(Some)
    }

    /// Reads what is there, or waits for it. Nothing may have come in the end.
    fn fill(&mut self, patience: Duration) -> Result<(), ClientError> {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        self.stream.set_read_timeout(Some(patience.max(SHORTEST)))?;
        let begin = self.buffer.len();
        self.buffer.resize(begin + READ, 0);
        let read = self.stream.read(self.buffer.get_mut(begin..).unwrap_or_default());
        self.buffer.truncate(begin + read.as_ref().map_or(0, |&length| length));
        match read {
            Ok(0) => Err(ClientError::Closed),
            Ok(_) => Ok(()),
            Err(error) => match error.kind() {
                ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut => Ok(()),
                _ => Err(failure(error)),
            },
        }
    }
}

/// The robot may have closed while something of ours was on its way.
fn failure(error: io::Error) -> ClientError {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => ClientError::Closed,
        _ => error.into(),
    }
}
