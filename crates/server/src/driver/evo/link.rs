//! The Robot Simulator's connection to a World Simulator in another process.

use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
};

use arena::{Request, Response};
use evolve::robot::{World, WorldLost};
use wire::evo::{FromWorld, Line, LineBuffer, LineError};

use session::evo::convert::{answer_from_message, message_from_ask, robot_of};

use crate::limits;

/// Bytes read at once.
const READ: usize = 64 * 1024;

/// Pipelined requests are sent in batches of about this many bytes, each after the answers to the previous one: both sides never
/// wait for each other to read, however small the socket buffers are.
const BATCH: usize = 16 * 1024;

/// A connection to a World Simulator.
#[derive(Debug)]
pub struct WorldLink {
    stream: TcpStream,
    lines: LineBuffer,
    chunk: Vec<u8>,
    out: Vec<u8>,
    is_pipelined: bool,
}

impl WorldLink {
    /// Connects to a World Simulator. Unless it is pipelined, each request waits for the answer to the one before.
    ///
    /// # Errors
    ///
    /// When the connection fails or times out.
    pub fn connect(address: SocketAddr, is_pipelined: bool) -> Result<Self, WorldLost> {
        let lost = |error: std::io::Error| WorldLost::new(format!("{address}: {error}"));
        let stream = TcpStream::connect_timeout(&address, limits::EVO_CONNECT_TIMEOUT).map_err(lost)?;
        stream.set_nodelay(true).map_err(lost)?;
        // a world in lockstep answers when all its robots have moved
        stream.set_read_timeout(Some(limits::EVO_ANSWER_TIMEOUT)).map_err(lost)?;
        stream.set_write_timeout(Some(limits::EVO_ANSWER_TIMEOUT)).map_err(lost)?;
        Ok(Self { stream, lines: LineBuffer::default(), chunk: vec![0; READ], out: Vec::new(), is_pipelined })
    }

    /// A second handle of the socket, for another thread to close it.
    pub(super) fn stream(&self) -> std::io::Result<TcpStream> {
        self.stream.try_clone()
    }

    fn receive(&mut self) -> Result<FromWorld, WorldLost> {
        loop {
            while let Some(line) = self.lines.next_line().map_err(WorldLost::new)? {
                match FromWorld::decode(line) {
                    // a newer world may know more messages
                    Err(LineError::Blank | LineError::UnknownName { .. }) => {}
                    decoded => return decoded.map_err(WorldLost::new),
                }
            }
            // a world that writes a line in several parts may hold the next one back until the last is acknowledged
            acknowledge_at_once(&self.stream);
            match self.stream.read(&mut self.chunk) {
                Ok(0) => return Err(WorldLost::new("the World Simulator has closed the connection")),
                Ok(length) => self.lines.push(self.chunk.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Err(WorldLost::new(format!("no answer within {} s", limits::EVO_ANSWER_TIMEOUT.as_secs())));
                }
                Err(error) => return Err(WorldLost::new(error)),
            }
        }
    }
}

impl World for WorldLink {
    fn exchange(&mut self, asks: &[Request], answers: &mut Vec<Response>) -> Result<(), WorldLost> {
        let mut rest = asks;
        while !rest.is_empty() {
            self.out.clear();
            let mut sent = 0;
            for ask in rest {
                message_from_ask(ask).encode(&mut self.out).map_err(WorldLost::new)?;
                sent += 1;
                if !self.is_pipelined || self.out.len() >= BATCH {
                    break;
                }
            }
            self.stream.write_all(&self.out).map_err(WorldLost::new)?;
            let (asked, later) = rest.split_at(sent);
            for ask in asked.iter().filter(|ask| !matches!(ask, Request::Kill(_))) {
                let message = self.receive()?;
                let answer = answer_from_message(robot_of(ask), message);
                answers
                    .push(answer.ok_or_else(|| WorldLost::new("the World Simulator has answered for another robot"))?);
            }
            rest = later;
        }
        Ok(())
    }
}

/// Has the system acknowledge what it receives without delay. It forgets this, so it is told before each read.
fn acknowledge_at_once(stream: &TcpStream) {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::net::sockopt::set_tcp_quickack(stream, true) {
        tracing::debug!(protocol = super::PROTOCOL, "cannot acknowledge at once: {error}");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = stream;
}
