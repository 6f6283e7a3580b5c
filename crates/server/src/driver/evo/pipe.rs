//! One connection of lines: what was read, and what is to be written. Nothing here waits for a peer that does not read.

use std::{io::ErrorKind, time::Instant};

use socket2::{SockRef, TcpKeepalive};
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    sync::Notify,
    time::{sleep_until, timeout},
};
use tracing::debug;
use wire::evo::LineBuffer;

use super::PROTOCOL;
use crate::{driver::now, limits};

/// Bytes read at once.
const READ: usize = 64 * 1024;

pub(super) struct Pipe {
    stream: TcpStream,
    pub(super) lines: LineBuffer,
    chunk: Vec<u8>,
    /// Since when the peer takes nothing, while something is there for it.
    behind: Option<Instant>,
}

impl Pipe {
    pub(super) fn new(stream: TcpStream) -> Self {
        if let Err(error) = prepare(&stream) {
            debug!(protocol = PROTOCOL, "socket options: {error}");
        }
        Self { stream, lines: LineBuffer::default(), chunk: vec![0; READ], behind: None }
    }

    /// Writes as much as the peer takes at once, and takes it out of `out`.
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
                Err(error) => break Err(format!("writing: {error}")),
            }
        };
        out.drain(..written.min(out.len()));
        self.behind = match self.behind {
            _ if out.is_empty() => None,
            Some(since) if written == 0 => Some(since),
            _ => Some(now()),
        };
        result
    }

    /// Waits until there is something to do: lines to be taken, room for what is to be written, or news.
    pub(super) async fn wait(&mut self, wants_lines: bool, news: &Notify) -> Result<(), String> {
        let patience = self.behind.map(|since| since + limits::WRITE);
        tokio::select! {
            ready = self.stream.readable(), if wants_lines => {
                ready.map_err(|error| format!("reading: {error}"))?;
                self.read()
            }
            ready = self.stream.writable(), if self.behind.is_some() => {
                ready.map_err(|error| format!("writing: {error}"))
            }
            () = news.notified() => Ok(()),
            () = sleep_until(patience.unwrap_or_else(now).into()), if patience.is_some() => {
                Err("the peer does not read".to_owned())
            }
        }
    }

    fn read(&mut self) -> Result<(), String> {
        match self.stream.try_read(&mut self.chunk) {
            Ok(0) if self.lines.is_empty() => Err("the peer left".to_owned()),
            Ok(0) => Err("the peer left in the middle of a line".to_owned()),
            Ok(length) => {
                self.lines.push(self.chunk.get(..length).unwrap_or_default());
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(format!("reading: {error}")),
        }
    }

    /// What is still to be written goes out, if the peer takes it soon.
    pub(super) async fn close(mut self, rest: &[u8]) {
        let last_words = async {
            self.stream.write_all(rest).await?;
            self.stream.shutdown().await
        };
        match timeout(limits::LAST_WORDS, last_words).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => debug!(protocol = PROTOCOL, "closing: {error}"),
            Err(_) => debug!(protocol = PROTOCOL, "closing: not all was written"),
        }
    }
}

/// Small messages go out at once; a peer that has vanished without a word is found out.
fn prepare(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    SockRef::from(stream).set_send_buffer_size(limits::SEND_BUFFER)?;
    let keepalive = TcpKeepalive::new().with_time(limits::KEEPALIVE).with_interval(limits::KEEPALIVE_INTERVAL);
    SockRef::from(stream).set_tcp_keepalive(&keepalive)
}
