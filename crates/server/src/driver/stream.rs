//! The driver of all stream protocols: one task per listener, one per connection.
//!
//! What a peer does not read in time closes that peer; whole messages only.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use socket2::{SockRef, TcpKeepalive};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc,
    task::{JoinError, JoinSet},
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info};

use super::{RefusalLog, now};
use crate::{
    access::AllowList,
    limits,
    roster::Client,
    session::{Outbox, Refusal, StreamService, StreamSession},
    sim_thread::{Delivery, SendError, SessionSender, SimHandle},
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
    doors: Doors,
    stop: CancellationToken,
) {
    let stopping = stop.clone();
    let converse = |stream, peer| {
        let (commands, deliveries) =
            sim.open_for(Client { protocol, peer: Some(peer), role: None }, service.wants_ticks())?;
        let connection = Connection {
            peer,
            session: service.open(peer),
            sim: sim.clone(),
            commands,
            refusals: RefusalLog::new(protocol),
            buffer: Vec::new(),
            heard: service.may_be_silent(),
            optional_queue: service.optional_queue(),
        };
        let stop = stopping.clone();
        Ok(async move {
            let reason = connection.run(stream, deliveries, stop).await;
            info!(protocol, %peer, "closed: {reason}");
        })
    };
    accept(listener, protocol, &allow, &doors, stop, converse).await;
}

/// Accepts connections and serves each, until the server stops or the world ends. Then waits for them to close.
pub(crate) async fn accept<F>(
    listener: TcpListener,
    protocol: &'static str,
    allow: &AllowList,
    doors: &Doors,
    stop: CancellationToken,
    serve: impl Fn(TcpStream, SocketAddr) -> Result<F, SendError>,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut refusals = RefusalLog::new(protocol);
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            Some(ended) = connections.join_next() => {
                note_end(protocol, ended);
                continue;
            }
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                refusals.note(&[Refusal { from: None, reason: format!("accepting a connection: {error}") }], now());
                // out of file handles, most likely: they do not come back at once
                let _ = timeout(limits::ACCEPT_PAUSE, stop.cancelled()).await;
                continue;
            }
        };
        if let Err(error) = prepare(&stream) {
            debug!(protocol, "socket options: {error}");
        }
        match admit(doors, allow, protocol, peer).and_then(|place| Ok((place, serve(stream, peer)?))) {
            Ok((place, served)) => {
                connections.spawn(async move {
                    served.await;
                    drop(place);
                });
            }
            Err(Shut::World(SendError::Ended)) => break,
            Err(shut) => refusals.note(&[Refusal { from: Some(peer), reason: shut.to_string() }], now()),
        }
    }
    while let Some(ended) = connections.join_next().await {
        note_end(protocol, ended);
    }
}

fn note_end(protocol: &'static str, ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        error!(protocol, "a connection did not end in order: {error}");
    }
}

/// Why a peer is not let in.
#[derive(Debug, thiserror::Error)]
enum Shut {
    #[error("the address is not in the allow-list")]
    NotAllowed,
    #[error("there are too many connections")]
    Crowded,
    #[error(transparent)]
    World(#[from] SendError),
}

/// The connections of all stream protocols and of the console's pages. Cheap to copy.
#[derive(Clone, Debug, Default)]
pub struct Doors(Arc<Mutex<Guests>>);

#[derive(Debug, Default)]
struct Guests {
    /// Protocols and addresses, by ticket.
    inside: BTreeMap<u64, (&'static str, SocketAddr)>,
    next: u64,
}

impl Doors {
    fn hold(&self) -> MutexGuard<'_, Guests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who is connected over this protocol, with a number for each.
    pub(crate) fn guests(&self, protocol: &str) -> Vec<(u64, SocketAddr)> {
        let guests = self.hold();
        let of_it = guests.inside.iter().filter(|(_, (other, _))| *other == protocol);
        of_it.map(|(&ticket, &(_, peer))| (ticket, peer)).collect()
    }
}

fn admit(doors: &Doors, allow: &AllowList, protocol: &'static str, peer: SocketAddr) -> Result<Place, Shut> {
    if !allow.admits(peer) {
        return Err(Shut::NotAllowed);
    }
    Place::take(doors, protocol, peer).ok_or(Shut::Crowded)
}

/// One of the places for connections; given back when dropped.
struct Place {
    doors: Doors,
    ticket: u64,
}

impl Place {
    fn take(doors: &Doors, protocol: &'static str, peer: SocketAddr) -> Option<Self> {
        let mut guests = doors.hold();
        let here = guests.inside.values().filter(|(_, other)| other.ip() == peer.ip()).count();
        if guests.inside.len() >= limits::CONNECTIONS || here >= limits::CONNECTIONS_PER_ADDRESS {
            return None;
        }
        let ticket = guests.next;
        guests.next += 1;
        guests.inside.insert(ticket, (protocol, peer));
        Some(Self { doors: doors.clone(), ticket })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.doors.hold().inside.remove(&self.ticket);
    }
}

struct Connection {
    peer: SocketAddr,
    session: Box<dyn StreamSession>,
    sim: SimHandle,
    commands: SessionSender,
    refusals: RefusalLog,
    buffer: Vec<u8>,
    /// Whether it has said something, or need not.
    heard: bool,
    /// So many messages may wait for it to read them, and one that may be left out still goes with them.
    optional_queue: usize,
}

impl Connection {
    /// Runs until one side ends it; says why.
    async fn run(
        mut self,
        stream: TcpStream,
        mut deliveries: mpsc::Receiver<Delivery>,
        stop: CancellationToken,
    ) -> String {
        let (mut reading, writing) = stream.into_split();
        let (write, to_write) = mpsc::channel(limits::WRITE_QUEUE);
        let mut writer = std::pin::pin!(write_all(writing, to_write));
        let reason = tokio::select! {
            () = stop.cancelled() => "the server stops".to_owned(),
            reason = self.converse(&mut reading, &mut deliveries, &write) => reason,
            Err(error) = &mut writer => return format!("writing: {error}"),
        };
        drop(write);
        // what is in the queue still goes out
        match timeout(limits::LAST_WORDS, writer).await {
            Ok(Ok(())) => reason,
            Ok(Err(error)) => format!("{reason}; writing: {error}"),
            Err(_) => format!("{reason}; not all was written"),
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
        let silent = tokio::time::sleep_until(tokio::time::Instant::now() + limits::FIRST_MESSAGE);
        tokio::pin!(silent);
        loop {
            tokio::select! {
                () = &mut silent, if !self.heard => return "nothing was said in time".to_owned(),
                received = reading.read(&mut chunk) => match received {
                    Ok(0) => return "the peer left".to_owned(),
                    Ok(length) => {
                        self.buffer.extend_from_slice(chunk.get(..length).unwrap_or_default());
                        let unread = self.buffer.len();
                        self.session.bytes(self.peer, &mut self.buffer, &self.sim.latest(), &mut out);
                        // half a message is none
                        self.heard |= self.buffer.len() < unread;
                    }
                    Err(error) => return format!("reading: {error}"),
                },
                delivery = deliveries.recv() => match delivery {
                    Some(Delivery::Answer(answer)) => self.session.answer(answer, &self.sim.latest(), &mut out),
                    Some(Delivery::Tick(snapshot)) => self.session.tick(&snapshot, &mut out),
                    None => return "the session did not keep up with the world".to_owned(),
                },
            }
            if let Err(reason) = self.carry_out(out.take(), write) {
                return reason;
            }
        }
    }

    fn carry_out(&mut self, out: Outbox<Vec<u8>>, write: &mpsc::Sender<Vec<u8>>) -> Result<(), String> {
        self.refusals.note(&out.refusals, now());
        // what is sent in this turn has not had a chance to be read
        let mut waiting = write.max_capacity() - write.capacity();
        for (_, reply) in out.replies {
            write.try_send(reply).map_err(|_| "the peer does not read".to_owned())?;
        }
        for (_, reply) in out.optional {
            if waiting >= self.optional_queue || write.try_send(reply).is_err() {
                self.session.skipped();
            } else {
                waiting += 1;
            }
        }
        for command in out.commands {
            self.commands.send(command).map_err(|error| error.to_string())?;
        }
        if let Some(who) = out.end {
            self.sim.request_shutdown(who);
        }
        out.close.map_or(Ok(()), Err)
    }
}

/// Small messages go out at once; a peer that has vanished without a word, or has stopped reading, is found out.
fn prepare(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    SockRef::from(stream).set_send_buffer_size(limits::SEND_BUFFER)?;
    let keepalive = TcpKeepalive::new().with_time(limits::KEEPALIVE).with_interval(limits::KEEPALIVE_INTERVAL);
    SockRef::from(stream).set_tcp_keepalive(&keepalive)
}

/// Writes messages one by one; a peer that does not take one in time is given up.
async fn write_all(mut writing: OwnedWriteHalf, mut messages: mpsc::Receiver<Vec<u8>>) -> std::io::Result<()> {
    while let Some(message) = messages.recv().await {
        timeout(limits::WRITE, writing.write_all(&message)).await??;
    }
    writing.shutdown().await
}

#[cfg(test)]
mod tests;
