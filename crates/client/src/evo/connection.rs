use super::{ClientError, now};
use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    time::Duration,
};
use wire::evo::{Line, LineBuffer, LineError};

/// Size of the read buffer, in bytes.
const READ: usize = 64 * 1024;

/// A TCP connection that exchanges lines.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    lines: LineBuffer,
    chunk: Vec<u8>,
    /// The socket's current read timeout, to save system calls.
    timeout: Option<Duration>,
}

impl Connection {
    /// Tries the addresses in turn, each with the timeout.
    pub(super) fn connect(address: impl ToSocketAddrs, timeout: Duration) -> Result<Self, ClientError> {
        let mut failure = ClientError::NoAddress;
        for address in address.to_socket_addrs()? {
            match Self::connect_to(address, timeout) {
                Ok(connection) => return Ok(connection),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn connect_to(address: SocketAddr, timeout: Duration) -> Result<Self, ClientError> {
        let stream = TcpStream::connect_timeout(&address, timeout)?;
        // disable Nagle's algorithm: lines are sent at once
        stream.set_nodelay(true)?;
        Ok(Self { stream, lines: LineBuffer::default(), chunk: vec![0; READ], timeout: None })
    }

    pub(super) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends lines with one write.
    pub(super) fn send(&mut self, lines: &[u8]) -> Result<(), ClientError> {
        Ok(self.stream.write_all(lines)?)
    }

    /// The next message; `Ok(None)` after the timeout. A partly received message is kept.
    pub(super) fn receive<M: Line>(&mut self, timeout: Duration) -> Result<Option<M>, ClientError> {
        let mut deadline = None;
        loop {
            while let Some(line) = self.lines.next_line()? {
                match M::decode(line) {
                    // a newer server may send more messages
                    Err(LineError::Blank | LineError::UnknownName { .. }) => {}
                    decoded => return Ok(Some(decoded?)),
                }
            }
            let time = now();
            let left = deadline.get_or_insert(time + timeout).saturating_duration_since(time);
            if left.is_zero() || !self.fill(left)? {
                return Ok(None);
            }
        }
    }

    /// Reads available bytes, waiting for at most the timeout; returns whether there were any.
    fn fill(&mut self, timeout: Duration) -> Result<bool, ClientError> {
        if self.timeout != Some(timeout) {
            self.stream.set_read_timeout(Some(timeout))?;
            self.timeout = Some(timeout);
        }
        loop {
            match self.stream.read(&mut self.chunk) {
                Ok(0) => return Err(ClientError::Closed),
                Ok(length) => {
                    self.lines.push(self.chunk.get(..length).unwrap_or_default());
                    return Ok(true);
                }
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => return Ok(false),
                    // the server closed while data was in transit
                    ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => return Err(ClientError::Closed),
                    _ => return Err(error.into()),
                },
            }
        }
    }
}
