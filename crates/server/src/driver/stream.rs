//! The driver of stream protocols: one task per listener, one per connection.
//!
//! Messages are written whole; a peer that does not read in time is dropped.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use session::{
    BytesOutbox, Context, Notice, Outbox, StreamEffect, StreamService, StreamSession, Turn, limits::WRITE_QUEUE,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc::{self, error::TrySendError},
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::{
    RefusalLog,
    admission::{Admission, Permit},
    connections::accept,
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
    admission: Admission,
    stop: CancellationToken,
) {
    let stopping = stop.clone();
    let converse = |stream, peer, permit: Permit| {
        let (commands, deliveries) =
            sim.open_for(Client { protocol, peer: Some(peer), role: None }, service.ticks())?;
        let connection = Connection {
            peer,
            session: service.open(peer),
            sim: sim.clone(),
            commands,
            refusals: RefusalLog::new(protocol),
            buffer: Vec::new(),
            permit,
            has_sent: false,
            may_be_silent: service.may_be_silent(),
            unsent: Arc::default(),
            droppable_queue: service.droppable_queue(),
        };
        let stop = stopping.clone();
        Ok(async move {
            let reason = connection.run(stream, deliveries, stop).await;
            info!(protocol, %peer, "closed: {reason}");
        })
    };
    accept(listener, admission.endpoint(protocol), &allow, stop, converse).await;
}

struct Connection {
    peer: SocketAddr,
    session: Box<dyn StreamSession>,
    sim: SimHandle,
    commands: SessionSender,
    refusals: RefusalLog,
    buffer: Vec<u8>,
    permit: Permit,
    /// Whether the peer has sent a complete message.
    has_sent: bool,
    /// Whether it may listen without ever sending one.
    may_be_silent: bool,
    /// Bytes in the write queue.
    unsent: Arc<AtomicUsize>,
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
        let unsent = Arc::clone(&self.unsent);
        let mut writer = std::pin::pin!(write_all(writing, to_write, &unsent));
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
        write: &mpsc::Sender<Bytes>,
    ) -> String {
        let mut chunk = vec![0; READ];
        let mut out = Outbox::default();
        let first_message = tokio::time::sleep_until(tokio::time::Instant::now() + limits::FIRST_MESSAGE_TIMEOUT);
        tokio::pin!(first_message);
        let mut turn = Turn::default();
        self.session.notify(Notice::Opened, Context::new(&self.sim.latest(), now()), &mut out);
        loop {
            if let Err(reason) = self.execute(out.take(), write) {
                return reason;
            }
            self.permit.set_held(self.buffer.len() + self.unsent.load(Ordering::Relaxed));
            tokio::select! {
                () = &mut first_message, if !self.has_sent && !self.may_be_silent => {
                    return "no message in time".to_owned();
                }
                eviction = self.permit.evicted() => return eviction.to_string(),
                // the rest of what was read, after the others have had their turn
                () = tokio::task::yield_now(), if turn.is_over => turn = self.receive(&mut out),
                received = reading.read(&mut chunk), if !turn.is_over => match received {
                    Ok(0) => return "closed by the peer".to_owned(),
                    Ok(length) => {
                        self.buffer.extend_from_slice(chunk.get(..length).unwrap_or_default());
                        turn = self.receive(&mut out);
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
        }
    }

    /// Handles received messages for one turn.
    fn receive(&mut self, out: &mut BytesOutbox) -> Turn {
        let turn = self.session.receive(self.peer, &mut self.buffer, Context::new(&self.sim.latest(), now()), out);
        // an incomplete message does not count
        if !self.has_sent && turn.messages > 0 {
            self.has_sent = true;
            self.permit.note_message();
        }
        turn
    }

    /// Queues a message. Fails if the queue is full.
    fn enqueue(&self, message: Bytes, write: &mpsc::Sender<Bytes>) -> Result<(), TrySendError<Bytes>> {
        let length = message.len();
        self.unsent.fetch_add(length, Ordering::Relaxed);
        write.try_send(message).inspect_err(|_| {
            self.unsent.fetch_sub(length, Ordering::Relaxed);
        })
    }

    fn execute(&mut self, out: BytesOutbox, write: &mpsc::Sender<Bytes>) -> Result<(), String> {
        let Outbox { replies, commands, refusals, effects } = out;
        self.refusals.note(&refusals, now());
        // what is queued in this turn has not had a chance to be read
        let mut queued = write.max_capacity() - write.capacity();
        for (_, reply) in replies {
            self.enqueue(reply, write).map_err(|_| "send queue full".to_owned())?;
        }
        let mut closed = Ok(());
        for effect in effects {
            match effect {
                StreamEffect::SendDroppable(reply) => {
                    if queued >= self.droppable_queue || self.enqueue(reply, write).is_err() {
                        self.session.reply_dropped();
                    } else {
                        queued += 1;
                    }
                }
                StreamEffect::Close(reason) => closed = closed.and(Err(reason)),
                StreamEffect::StopServer(who) => self.sim.request_shutdown(who),
            }
        }
        for command in commands {
            self.commands.send(command).map_err(|error| error.to_string())?;
        }
        closed
    }
}

/// Writes messages one by one; a peer that does not read one in time is dropped.
async fn write_all(
    mut writing: OwnedWriteHalf,
    mut messages: mpsc::Receiver<Bytes>,
    unsent: &AtomicUsize,
) -> std::io::Result<()> {
    while let Some(message) = messages.recv().await {
        timeout(limits::WRITE_TIMEOUT, writing.write_all(&message)).await??;
        unsent.fetch_sub(message.len(), Ordering::Relaxed);
    }
    writing.shutdown().await
}

#[cfg(test)]
mod tests;
