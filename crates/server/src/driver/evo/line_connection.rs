//! A connection that carries lines. Writing never waits for a peer that does not read.

use std::{
    io::ErrorKind,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use session::{evo::Backlog, limits::EVO_OUTPUT};

use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    sync::Notify,
    time::{sleep_until, timeout},
};
use tracing::debug;
use wire::evo::LineBuffer;

use super::PROTOCOL;
use crate::{
    driver::{admission::Permit, now},
    limits,
};

/// Bytes read at once.
const READ: usize = 64 * 1024;

/// Numbers the connections of a server.
#[derive(Default)]
pub(super) struct ConnectionIds(AtomicU64);

impl ConnectionIds {
    /// The next number, from 1.
    pub(super) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

pub(super) struct LineConnection {
    stream: TcpStream,
    permit: Permit,
    /// Whether the peer has sent a complete line.
    has_sent: bool,
    pub(super) lines: LineBuffer,
    chunk: Vec<u8>,
    /// Bytes queued for the peer.
    unsent: usize,
    /// Since when the peer has not read what is queued for it.
    stalled: Option<Instant>,
}

impl LineConnection {
    pub(super) fn new(stream: TcpStream, permit: Permit) -> Self {
        Self {
            stream,
            permit,
            has_sent: false,
            lines: LineBuffer::default(),
            chunk: vec![0; READ],
            unsent: 0,
            stalled: None,
        }
    }

    /// Writes as much as the socket takes at once, and removes it from `out`.
    pub(super) fn write(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        let mut written = 0;
        let result = loop {
            let rest = out.get(written..).unwrap_or_default();
            if rest.is_empty() {
                break Ok(());
            }
            match self.stream.try_write(rest) {
                Ok(length) => written += length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break Ok(()),
                Err(error) => break Err(format!("write failed: {error}")),
            }
        };
        out.drain(..written.min(out.len()));
        self.unsent = out.len();
        self.stalled = match self.stalled {
            _ if out.is_empty() => None,
            Some(since) if written == 0 => Some(since),
            _ => Some(now()),
        };
        result
    }

    /// Accounts for handled lines and for what the connection holds.
    pub(super) fn note_turn(&mut self, handled: usize) {
        if handled > 0 && !self.has_sent {
            self.has_sent = true;
            self.permit.note_message();
        }
        self.permit.set_held(self.lines.len() + self.unsent);
    }

    /// Waits until a turn that ended with this backlog can be followed by another.
    pub(super) async fn wait_after(&mut self, backlog: Backlog, wake: &Notify) -> Result<(), String> {
        let has_room = self.unsent < EVO_OUTPUT;
        match backlog {
            Backlog::Empty => self.wait(has_room, wake).await,
            Backlog::Blocked => self.wait(false, wake).await,
            Backlog::OutputFull if !has_room => self.wait(false, wake).await,
            Backlog::OutputFull | Backlog::TurnOver => {
                // let the other connections on this thread run
                tokio::task::yield_now().await;
                Ok(())
            }
        }
    }

    /// Waits until there is something to do: input, room for output, or a wake-up.
    async fn wait(&mut self, wants_lines: bool, wake: &Notify) -> Result<(), String> {
        let deadline = self.stalled.map(|since| since + limits::WRITE_TIMEOUT);
        tokio::select! {
            ready = self.stream.readable(), if wants_lines => {
                ready.map_err(|error| format!("read failed: {error}"))?;
                self.read()
            }
            ready = self.stream.writable(), if self.stalled.is_some() => {
                ready.map_err(|error| format!("write failed: {error}"))
            }
            () = wake.notified() => Ok(()),
            eviction = self.permit.evicted() => Err(eviction.to_string()),
            () = sleep_until(deadline.unwrap_or_else(now).into()), if deadline.is_some() => {
                Err("the peer does not read".to_owned())
            }
        }
    }

    fn read(&mut self) -> Result<(), String> {
        match self.stream.try_read(&mut self.chunk) {
            Ok(0) if self.lines.is_empty() => Err("closed by the peer".to_owned()),
            Ok(0) => Err("closed by the peer in the middle of a line".to_owned()),
            Ok(length) => {
                self.lines.push(self.chunk.get(..length).unwrap_or_default());
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(format!("read failed: {error}")),
        }
    }

    /// Closes the connection after writing `rest`, if the peer reads it soon.
    pub(super) async fn close(mut self, rest: &[u8]) {
        let finish = async {
            self.stream.write_all(rest).await?;
            self.stream.shutdown().await
        };
        match timeout(limits::FLUSH_TIMEOUT, finish).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => debug!(protocol = PROTOCOL, "close failed: {error}"),
            Err(_) => debug!(protocol = PROTOCOL, "closed before all output was written"),
        }
    }
}
