use super::{ClientError, now};
use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    time::Duration,
};
use wire::evo::{Line, LineBuffer, LineError};

/// Bytes read at once.
const READ: usize = 64 * 1024;

/// A connection on which lines are exchanged.
#[derive(Debug)]
pub(super) struct Link {
    stream: TcpStream,
    lines: LineBuffer,
    chunk: Vec<u8>,
    /// As the socket has it; asking for the same again costs a system call.
    timeout: Option<Duration>,
}

impl Link {
    /// Tries the addresses one by one, each for so long.
    pub(super) fn connect(address: impl ToSocketAddrs, patience: Duration) -> Result<Self, ClientError> {
        let mut failure = ClientError::NoAddress;
        for address in address.to_socket_addrs()? {
            match Self::connect_to(address, patience) {
                Ok(link) => return Ok(link),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn connect_to(address: SocketAddr, patience: Duration) -> Result<Self, ClientError> {
        let stream = TcpStream::connect_timeout(&address, patience)?;
        // a line is never held back to be sent together with the next
        stream.set_nodelay(true)?;
        Ok(Self { stream, lines: LineBuffer::default(), chunk: vec![0; READ], timeout: None })
    }

    pub(super) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends lines in one piece.
    pub(super) fn send(&mut self, lines: &[u8]) -> Result<(), ClientError> {
        Ok(self.stream.write_all(lines)?)
    }

    /// The next message; `Ok(None)` if none came in time. What has arrived of it is kept.
    pub(super) fn receive<M: Line>(&mut self, patience: Duration) -> Result<Option<M>, ClientError> {
        let mut deadline = None;
        loop {
            while let Some(line) = self.lines.next_line()? {
                match M::decode(line) {
                    // a newer server may know more messages
                    Err(LineError::Blank | LineError::UnknownName { .. }) => {}
                    decoded => return Ok(Some(decoded?)),
                }
            }
            let time = now();
            let left = deadline.get_or_insert(time + patience).saturating_duration_since(time);
            if left.is_zero() || !self.fill(left)? {
                return Ok(None);
            }
        }
    }

    /// Reads what is there, or waits for it.
    fn fill(&mut self, patience: Duration) -> Result<bool, ClientError> {
        if self.timeout != Some(patience) {
            self.stream.set_read_timeout(Some(patience))?;
            self.timeout = Some(patience);
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
                    // the server closed while something of ours was on its way
                    ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => return Err(ClientError::Closed),
                    _ => return Err(error.into()),
                },
            }
        }
    }
}
