//! The driver of conversations: datagram protocols in which each peer gets a socket of its own.
//!
//! A task, the reception, listens on the port where peers begin. The conversations themselves run on one thread of
//! their own, which takes the world's turns ([`SimHandle::drive`]): from a peer's vote to the news of its tick nobody
//! else has to wake up.

use std::{
    collections::BTreeMap,
    io::{self, ErrorKind},
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use tokio::{
    net::UdpSocket,
    runtime::{self, Handle},
    sync::{Notify, mpsc},
    task::{JoinError, JoinSet},
    time::sleep_until,
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

use super::{RefusalLog, now};
use crate::{
    access::{AllowList, RateLimit},
    limits, metrics,
    roster::Client,
    session::{ConversationService, ConversationSession, Greeting, Outbox, Refusal},
    sim_thread::{Delivery, SendError, SessionSender, SimHandle},
};

/// Listens for peers and talks to each, until the server stops or the world ends.
pub async fn run(
    socket: UdpSocket,
    protocol: &'static str,
    service: Box<dyn ConversationService>,
    sim: SimHandle,
    allow: AllowList,
    stop: CancellationToken,
) {
    let place = match Place::start(protocol, sim.clone()) {
        Ok(place) => place,
        Err(error) => return error!(protocol, "cannot serve: {error}"),
    };
    let (disband, disbanding) = mpsc::channel(1);
    let reception = Reception {
        socket,
        protocol,
        service,
        sim,
        allow,
        rate: RateLimit::default(),
        refusals: RefusalLog::new(protocol),
        began: now(),
        disbanded: None,
        disband,
        guests: BTreeMap::new(),
        talks: JoinSet::new(),
        place: place.handle.clone(),
        alertness: Arc::clone(&place.alertness),
        stop,
    };
    reception.run(disbanding).await;
    place.end.cancel();
}

/// The thread on which the conversations of a protocol run.
struct Place {
    handle: Handle,
    end: CancellationToken,
    alertness: Arc<Alertness>,
}

impl Place {
    fn start(protocol: &'static str, sim: SimHandle) -> io::Result<Self> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let (handle, end) = (runtime.handle().clone(), CancellationToken::new());
        let (ended, alertness) = (end.clone(), Arc::new(Alertness::default()));
        let stay_alert = Arc::clone(&alertness).stay_alert(sim);
        let run = async move {
            tokio::select! {
                () = ended.cancelled() => {}
                () = stay_alert => {}
            }
        };
        thread::Builder::new().name(protocol.to_owned()).spawn(move || runtime.block_on(run))?;
        Ok(Self { handle, end, alertness })
    }
}

/// Keeps the thread of the conversations awake for a moment after each datagram. A client in lockstep sends the next one
/// at once, and waking up would take longer than all the rest. The moment is used to prepare the next tick.
#[derive(Default)]
struct Alertness {
    /// Datagrams so far.
    heard: AtomicU64,
    again: Notify,
}

impl Alertness {
    fn hear(&self) {
        self.heard.fetch_add(1, Ordering::Relaxed);
        self.again.notify_one();
    }

    async fn stay_alert(self: Arc<Self>, sim: SimHandle) {
        loop {
            self.again.notified().await;
            let (mut heard, mut since) = (self.heard.load(Ordering::Relaxed), now());
            let mut is_prepared = false;
            loop {
                let latest = self.heard.load(Ordering::Relaxed);
                let time = now();
                if latest != heard {
                    (heard, since) = (latest, time);
                    is_prepared = false;
                } else if !is_prepared {
                    sim.prepare();
                    is_prepared = true;
                } else if time.duration_since(since) >= limits::ALERT {
                    break;
                }
                // whoever is to send it may be on this core
                thread::yield_now();
                // looks at the sockets
                tokio::task::yield_now().await;
            }
        }
    }
}

/// A conversation, seen from the reception.
struct Guest {
    greeting: Vec<u8>,
    came: Instant,
    pulse: Arc<Pulse>,
    notes: mpsc::Sender<Note>,
}

impl Guest {
    /// Whether a greeting is the one with which this conversation began, doubled or late on its way. Otherwise the peer
    /// has started again.
    fn is_repeated(&self, greeting: &[u8], now: Instant) -> bool {
        let is_fresh = self.pulse.is_fresh.load(Ordering::Relaxed);
        self.greeting == greeting && (is_fresh || now.duration_since(self.came) < limits::LATE_GREETING)
    }
}

/// How a conversation is going. Written by the conversation, read by the reception.
struct Pulse {
    /// Whether nothing has come in but the greeting.
    is_fresh: AtomicBool,
    /// When something came in last, in µs since the reception began; [`Pulse::NEEDED`] while the world waits for it.
    heard: AtomicU64,
}

impl Pulse {
    const NEEDED: u64 = u64::MAX;
}

fn since(began: Instant, heard: Instant) -> u64 {
    heard.saturating_duration_since(began).as_micros() as u64
}

/// What the reception tells a conversation.
enum Note {
    /// The peer has sent its greeting again.
    Greeted,
    /// All conversations end.
    Disbanded,
    /// This one ends, for this reason.
    Over(&'static str),
}

struct Reception {
    socket: UdpSocket,
    protocol: &'static str,
    service: Box<dyn ConversationService>,
    sim: SimHandle,
    allow: AllowList,
    rate: RateLimit,
    refusals: RefusalLog,
    began: Instant,
    /// When all conversations ended last.
    disbanded: Option<Instant>,
    disband: mpsc::Sender<SocketAddr>,
    guests: BTreeMap<SocketAddr, Guest>,
    talks: JoinSet<()>,
    place: Handle,
    alertness: Arc<Alertness>,
    stop: CancellationToken,
}

impl Reception {
    async fn run(mut self, mut disbanding: mpsc::Receiver<SocketAddr>) {
        let mut buffer = vec![0; limits::DATAGRAM];
        let ended = self.sim.ended();
        tokio::pin!(ended);
        loop {
            tokio::select! {
                () = self.stop.cancelled() => break,
                () = &mut ended => break,
                Some(ended) = self.talks.join_next() => self.note_end(ended),
                Some(peer) = disbanding.recv() => self.disband_for(peer),
                received = self.socket.recv_from(&mut buffer) => match received {
                    Ok((length, from)) => self.datagram(from, buffer.get(..length).unwrap_or_default()),
                    // on some systems a peer that has gone shows up here; it concerns nobody else
                    Err(error) => debug!(protocol = self.protocol, "receiving: {error}"),
                },
            }
        }
        while let Some(ended) = self.talks.join_next().await {
            self.note_end(ended);
        }
    }

    fn note_end(&mut self, ended: Result<(), JoinError>) {
        if let Err(error) = ended {
            error!(protocol = self.protocol, "a conversation did not end in order: {error}");
        }
        self.guests.retain(|_, guest| !guest.notes.is_closed());
    }

    fn datagram(&mut self, from: SocketAddr, bytes: &[u8]) {
        metrics::datagram(self.protocol);
        if !self.allow.admits(from) {
            return self.refuse(from, "the address is not in the allow-list");
        }
        if !self.rate.admits(from, now()) {
            return metrics::rate_limited(self.protocol);
        }
        match self.service.greet(from, bytes) {
            Greeting::Begin(session) => self.welcome(from, bytes, session),
            Greeting::Answer(answer, reason) => {
                // a socket whose buffer is full loses the datagram, as the network might
                if let Err(error) = self.socket.try_send_to(&answer, from) {
                    self.refuse(from, format!("the answer was not sent: {error}"));
                }
                self.refuse(from, reason);
            }
            Greeting::Disband if self.guests.contains_key(&from) => self.disband_for(from),
            Greeting::Disband => self.refuse(from, "only a peer that has a conversation can end all of them"),
            Greeting::Nothing(reason) => self.refuse(from, reason),
        }
    }

    fn refuse(&mut self, from: SocketAddr, reason: impl Into<String>) {
        self.refusals.note(&[Refusal { from: Some(from), reason: reason.into() }], now());
    }

    fn welcome(&mut self, peer: SocketAddr, greeting: &[u8], session: Box<dyn ConversationSession>) {
        self.rate.charge(peer, limits::COMMAND_COST);
        self.guests.retain(|_, guest| !guest.notes.is_closed());
        if let Some(guest) = self.guests.get(&peer) {
            if guest.is_repeated(greeting, now()) {
                // a full queue has a note of the same in it
                let _ = guest.notes.try_send(Note::Greeted);
                return;
            }
            // whoever is at the door cannot be inside
            let _ = guest.notes.try_send(Note::Over("the peer began anew"));
            self.guests.remove(&peer);
        }
        if let Err(reason) = self.make_room(peer) {
            return self.refuse(peer, reason);
        }
        if let Err(error) = self.begin(peer, greeting, session) {
            self.refuse(peer, format!("no conversation: {error}"));
        }
    }

    /// Somebody who was silent for long, and whom nobody waits for, makes room for somebody new.
    fn make_room(&mut self, peer: SocketAddr) -> Result<(), &'static str> {
        let here = self.guests.keys().filter(|guest| guest.ip() == peer.ip()).count();
        let is_full = self.guests.len() >= limits::CONVERSATIONS;
        if !is_full && here < limits::CONVERSATIONS_PER_ADDRESS {
            return Ok(());
        }
        let heard = |guest: &Guest| guest.pulse.heard.load(Ordering::Relaxed);
        let silent = self
            .guests
            .iter()
            .filter(|(other, guest)| (is_full || other.ip() == peer.ip()) && heard(guest) != Pulse::NEEDED)
            .min_by_key(|(_, guest)| heard(guest))
            .map(|(&other, _)| other);
        let guest = silent.and_then(|other| self.guests.remove(&other)).ok_or("there are too many conversations")?;
        // one that has just ended has made room, too
        let _ = guest.notes.try_send(Note::Over("somebody new needed the place"));
        Ok(())
    }

    fn begin(&mut self, peer: SocketAddr, greeting: &[u8], session: Box<dyn ConversationSession>) -> io::Result<()> {
        let mut address = self.socket.local_addr()?;
        address.set_port(0);
        let socket = std::net::UdpSocket::bind(address)?;
        socket.connect(peer)?;
        socket.set_nonblocking(true)?;
        let client = Client { protocol: self.protocol, peer: Some(peer), role: None };
        let opened = self.sim.open_for(client, self.service.wants_ticks());
        let (commands, deliveries) = opened.map_err(io::Error::other)?;
        let heard = now();
        let pulse =
            Arc::new(Pulse { is_fresh: AtomicBool::new(true), heard: AtomicU64::new(since(self.began, heard)) });
        let (notes, noted) = mpsc::channel(limits::NOTES);
        let talk = Talk {
            // what it sends does not wait until the runtime knows that the socket can
            sending: socket.try_clone()?,
            peer,
            protocol: self.protocol,
            session,
            sim: self.sim.clone(),
            commands,
            disband: self.disband.clone(),
            alertness: Arc::clone(&self.alertness),
            pulse: Arc::clone(&pulse),
            began: self.began,
            heard,
            held: Vec::new(),
            held_until: None,
            refusals: RefusalLog::new(self.protocol),
        };
        let (protocol, stop) = (self.protocol, self.stop.clone());
        let converse = async move {
            let reason = match UdpSocket::from_std(socket) {
                Ok(socket) => talk.run(&socket, deliveries, noted, stop).await,
                Err(error) => error.to_string(),
            };
            info!(protocol, %peer, "closed: {reason}");
        };
        self.talks.spawn_on(converse, &self.place);
        self.guests.insert(peer, Guest { greeting: greeting.to_vec(), came: heard, pulse, notes });
        info!(protocol, %peer, "opened");
        Ok(())
    }

    fn disband_for(&mut self, peer: SocketAddr) {
        let now = now();
        if self.disbanded.is_some_and(|last| now.duration_since(last) < limits::DISBAND_INTERVAL) {
            return self.refuse(peer, "all conversations have ended a moment ago");
        }
        self.disbanded = Some(now);
        warn!(protocol = self.protocol, %peer, "a peer ends all conversations: {}", self.guests.len());
        for (_, guest) in std::mem::take(&mut self.guests) {
            // one that has ended needs no note
            let _ = guest.notes.try_send(Note::Disbanded);
        }
    }
}

/// One conversation.
struct Talk {
    sending: std::net::UdpSocket,
    peer: SocketAddr,
    protocol: &'static str,
    session: Box<dyn ConversationSession>,
    sim: SimHandle,
    commands: SessionSender,
    disband: mpsc::Sender<SocketAddr>,
    alertness: Arc<Alertness>,
    pulse: Arc<Pulse>,
    began: Instant,
    heard: Instant,
    /// Replies that are to be sent, now or with what comes of the commands...
    held: Vec<Vec<u8>>,
    /// ...but not longer.
    held_until: Option<Instant>,
    refusals: RefusalLog,
}

impl Talk {
    /// Runs until one side ends it; says why.
    async fn run(
        mut self,
        socket: &UdpSocket,
        mut deliveries: mpsc::Receiver<Delivery>,
        mut notes: mpsc::Receiver<Note>,
        stop: CancellationToken,
    ) -> String {
        let mut buffer = vec![0; limits::DATAGRAM];
        let mut out = Outbox::default();
        let mut in_a_row = 0;
        // rings at the time it was set to or later ones: most deadlines pass by unneeded, and setting it takes time
        let alarm = sleep_until(now().into());
        tokio::pin!(alarm);
        let mut rings_at = None;
        self.session.greeted(&mut out);
        loop {
            if let Err(reason) = self.carry_out(out.take()) {
                return reason;
            }
            if in_a_row >= limits::DATAGRAMS_IN_A_ROW {
                in_a_row = 0;
                // others are on this thread, too
                tokio::task::yield_now().await;
            }
            let wakes_at = self.session.wakes_at().into_iter().chain(self.held_until).min();
            let is_due = wakes_at.is_some_and(|at| at <= now());
            if let Some(at) = wakes_at.filter(|at| !is_due && rings_at.is_none_or(|rings_at| *at < rings_at)) {
                alarm.as_mut().reset(at.into());
                rings_at = Some(at);
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => return "the server stops".to_owned(),
                delivery = deliveries.recv() => match delivery {
                    Some(Delivery::Answer(answer)) => self.session.answer(answer, &self.sim.latest(), &mut out),
                    Some(Delivery::Tick(snapshot)) => self.session.moved(&snapshot, now(), &mut out),
                    None => return "the session did not keep up with the world, or the world has ended".to_owned(),
                },
                note = notes.recv() => match note {
                    Some(Note::Greeted) => self.session.greeted(&mut out),
                    Some(Note::Disbanded) => {
                        self.session.disbanded(&mut out);
                        out.close("all conversations end");
                    }
                    Some(Note::Over(reason)) => return reason.to_owned(),
                    None => return "nobody knows of it any more".to_owned(),
                },
                received = socket.recv(&mut buffer) => match received {
                    Ok(length) => {
                        in_a_row += 1;
                        self.alertness.hear();
                        metrics::datagram(self.protocol);
                        self.heard = now();
                        let datagram = buffer.get(..length).unwrap_or_default();
                        self.session.datagram(datagram, &self.sim.latest(), self.heard, &mut out);
                        self.pulse.is_fresh.store(false, Ordering::Relaxed);
                    }
                    // its system says so: nobody has the peer's port any more
                    Err(error) if error.kind() == ErrorKind::ConnectionRefused => return "the peer has gone".to_owned(),
                    Err(error) => debug!(protocol = self.protocol, peer = %self.peer, "receiving: {error}"),
                },
                // a timer would take a millisecond
                () = tokio::task::yield_now(), if is_due => self.wake(&mut out),
                () = &mut alarm, if rings_at.is_some() => rings_at = None,
            }
        }
    }

    fn wake(&mut self, out: &mut Outbox<Vec<u8>>) {
        let now = now();
        if self.held_until.is_some_and(|until| until <= now) {
            out.replies.extend(self.held.drain(..).map(|reply| (self.peer, reply)));
        }
        self.session.wake(now, out);
    }

    /// Does what the session wants; says why the conversation is over, if it is.
    fn carry_out(&mut self, out: Outbox<Vec<u8>>) -> Result<(), String> {
        let mut refusals = out.refusals;
        if !out.commands.is_empty() {
            for command in out.commands {
                self.commands.enqueue(command).map_err(|error: SendError| error.to_string())?;
            }
            self.sim.drive();
        }
        let is_news = !out.replies.is_empty() && !out.may_wait;
        self.held.extend(out.replies.into_iter().map(|(_, reply)| reply));
        if is_news || out.close.is_some() {
            self.held_until = None;
            self.send_held(&mut refusals)?;
        } else if out.may_wait {
            self.held_until.get_or_insert_with(|| now() + limits::HELD);
        }
        self.refusals.note(&refusals, now());
        let heard = if self.session.is_needed() { Pulse::NEEDED } else { since(self.began, self.heard) };
        self.pulse.heard.store(heard, Ordering::Relaxed);
        if out.disband {
            // a full queue has the same wish in it
            let _ = self.disband.try_send(self.peer);
        }
        if let Some(who) = out.end {
            self.sim.request_shutdown(who);
        }
        out.close.map_or(Ok(()), Err)
    }

    /// Sends what waits to be sent; says why the conversation is over, if it is.
    fn send_held(&mut self, refusals: &mut Vec<Refusal>) -> Result<(), String> {
        for reply in self.held.drain(..) {
            // a socket whose buffer is full loses the datagram, as the network might
            match self.sending.send(&reply) {
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    return Err("the peer has gone".to_owned());
                }
                Err(error) => {
                    refusals.push(Refusal { from: Some(self.peer), reason: format!("a reply was not sent: {error}") });
                }
                Ok(_) => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
