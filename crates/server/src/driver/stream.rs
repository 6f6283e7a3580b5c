//! The driver of stream protocols: one task per listener, one per connection.
//!
//! Messages are written whole; a peer that does not read in time is dropped.

use std::net::SocketAddr;

use session::{Context, Notice, Outbox, StreamAction, StreamOutbox, StreamService, StreamSession, limits::WRITE_QUEUE};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::{
    RefusalLog,
    connections::{ConnectionLimit, accept},
    now,
};
use crate::{
    access::AllowList,
    limits,
    roster::Client,
    sim_thread::{Delivery, SessionSender, SimHandle},
};

/// Bytes read at once.
const READ: usize = 16 * 1024;

/// Runs a session on each connection, until the server stops or the world ends. Then waits for the connections to close.
pub async fn run(
    listener: TcpListener,
    protocol: &'static str,
    service: Box<dyn StreamService>,
    sim: SimHandle,
    allow: AllowList,
    limit: ConnectionLimit,
    stop: CancellationToken,
) {
    let stopping = stop.clone();
    let converse = |stream, peer| {
        let (commands, deliveries) =
            sim.open_for(Client { protocol, peer: Some(peer), role: None }, service.ticks())?;
        let connection = Connection {
            peer,
            session: service.open(peer),
            sim: sim.clone(),
            commands,
            refusals: RefusalLog::new(protocol),
            buffer: Vec::new(),
            has_sent: service.may_be_silent(),
            droppable_queue: service.droppable_queue(),
        };
        let stop = stopping.clone();
        Ok(async move {
            let reason = connection.run(stream, deliveries, stop).await;
            info!(protocol, %peer, "closed: {reason}");
        })
    };
    accept(listener, protocol, &allow, &limit, stop, converse).await;
}

struct Connection {
    peer: SocketAddr,
    session: Box<dyn StreamSession>,
    sim: SimHandle,
    commands: SessionSender,
    refusals: RefusalLog,
    buffer: Vec<u8>,
    /// Whether the peer has sent a complete message, or need not.
    has_sent: bool,
    /// See [`StreamService::droppable_queue`].
    droppable_queue: usize,
}

impl Connection {
    /// Runs until one side closes it; returns the reason.
    async fn run(
        mut self,
        stream: TcpStream,
        mut deliveries: mpsc::Receiver<Delivery>,
        stop: CancellationToken,
    ) -> String {
        let (mut reading, writing) = stream.into_split();
        let (write, to_write) = mpsc::channel(WRITE_QUEUE);
        let mut writer = std::pin::pin!(write_all(writing, to_write));
        let reason = tokio::select! {
            () = stop.cancelled() => "server is stopping".to_owned(),
            reason = self.converse(&mut reading, &mut deliveries, &write) => reason,
            Err(error) = &mut writer => return format!("write failed: {error}"),
        };
        drop(write);
        // queued messages are still sent
        match timeout(limits::FLUSH_TIMEOUT, writer).await {
            Ok(Ok(())) => reason,
            Ok(Err(error)) => format!("{reason}; write failed: {error}"),
            Err(_) => format!("{reason}; some messages were not sent"),
        }
    }

    async fn converse(
        &mut self,
        reading: &mut OwnedReadHalf,
        deliveries: &mut mpsc::Receiver<Delivery>,
        write: &mpsc::Sender<Vec<u8>>,
    ) -> String {
        let mut chunk = vec![0; READ];
        let mut out = Outbox::default();
        let first_message = tokio::time::sleep_until(tokio::time::Instant::now() + limits::FIRST_MESSAGE_TIMEOUT);
        tokio::pin!(first_message);
        self.session.notify(Notice::Opened, Context::new(&self.sim.latest(), now()), &mut out);
        loop {
            tokio::select! {
                () = &mut first_message, if !self.has_sent => return "no message in time".to_owned(),
                received = reading.read(&mut chunk) => match received {
                    Ok(0) => return "closed by the peer".to_owned(),
                    Ok(length) => {
                        self.buffer.extend_from_slice(chunk.get(..length).unwrap_or_default());
                        let unread = self.buffer.len();
                        self.session.receive(self.peer, &mut self.buffer, Context::new(&self.sim.latest(), now()), &mut out);
                        // an incomplete message does not count
                        self.has_sent |= self.buffer.len() < unread;
                    }
                    Err(error) => return format!("read failed: {error}"),
                },
                delivery = deliveries.recv() => match delivery {
                    Some(Delivery::Answer(answer)) => {
                        self.session.notify(Notice::Answer(answer), Context::new(&self.sim.latest(), now()), &mut out);
                    }
                    Some(Delivery::Tick(snapshot)) => self.session.notify(Notice::Tick, Context::new(&snapshot, now()), &mut out),
                    None => return "session queue full".to_owned(),
                },
            }
            if let Err(reason) = self.execute(out.take(), write) {
                return reason;
            }
        }
    }

    fn execute(&mut self, out: StreamOutbox<Vec<u8>>, write: &mpsc::Sender<Vec<u8>>) -> Result<(), String> {
        let Outbox { replies, commands, refusals, actions } = out;
        self.refusals.note(&refusals, now());
        // what is queued in this turn has not had a chance to be read
        let mut queued = write.max_capacity() - write.capacity();
        for (_, reply) in replies {
            write.try_send(reply).map_err(|_| "send queue full".to_owned())?;
        }
        let mut closed = Ok(());
        for action in actions {
            match action {
                StreamAction::SendDroppable(reply) => {
                    if queued >= self.droppable_queue || write.try_send(reply).is_err() {
                        self.session.reply_dropped();
                    } else {
                        queued += 1;
                    }
                }
                StreamAction::Close(reason) => closed = closed.and(Err(reason)),
                StreamAction::StopServer(who) => self.sim.request_shutdown(who),
            }
        }
        for command in commands {
            self.commands.send(command).map_err(|error| error.to_string())?;
        }
        closed
    }
}

/// Writes messages one by one; a peer that does not read one in time is dropped.
async fn write_all(mut writing: OwnedWriteHalf, mut messages: mpsc::Receiver<Vec<u8>>) -> std::io::Result<()> {
    while let Some(message) = messages.recv().await {
        timeout(limits::WRITE_TIMEOUT, writing.write_all(&message)).await??;
    }
    writing.shutdown().await
}

#[cfg(test)]
mod tests;
