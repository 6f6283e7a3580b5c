//! Listens on the port at which peers begin, and starts a conversation with each.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use session::{ConversationEffect, ConversationService, DatagramSession, Greeting, Refusal};
use tokio::{
    net::UdpSocket,
    runtime::Handle,
    sync::mpsc,
    task::{JoinError, JoinSet},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

use super::{
    Conversation, Request,
    share::Share,
    worker::{Spinner, WorkerThread},
};
use crate::{
    access::{AllowList, RateLimit, Source, SourceLimit},
    driver::{RefusalLog, now},
    limits,
    metrics::METRICS,
    roster::Client,
    sim_thread::SimHandle,
};

/// A port at which peers begin conversations.
pub struct Port {
    /// The socket that peers greet.
    pub socket: UdpSocket,
    /// Name of the protocol.
    pub protocol: &'static str,
    /// Begins the sessions.
    pub service: Box<dyn ConversationService>,
    /// The world that the sessions act on.
    pub sim: SimHandle,
    /// Who may connect.
    pub allow: AllowList,
    /// Maximum number of concurrent conversations.
    pub most: usize,
    /// Ends the port and its conversations.
    pub stop: CancellationToken,
}

impl Port {
    /// Accepts peers and runs a conversation with each until the server stops or the world ends.
    pub async fn run(self) {
        let protocol = self.protocol;
        let worker = match WorkerThread::start(protocol, self.sim.clone()) {
            Ok(worker) => worker,
            Err(error) => return error!(protocol, "cannot serve: {error}"),
        };
        let (reset, resets) = mpsc::channel(1);
        let acceptor = Acceptor {
            port: self,
            rate: RateLimit::default(),
            greetings: SourceLimit::new(limits::GREETINGS),
            refusals: RefusalLog::new(protocol),
            began: now(),
            last_reset: None,
            reset,
            peers: BTreeMap::new(),
            conversations: JoinSet::new(),
            worker: worker.handle.clone(),
            spinner: Arc::clone(&worker.spinner),
            share: Arc::default(),
        };
        acceptor.run(resets).await;
        worker.end.cancel();
    }
}

/// A conversation, seen from the acceptor.
struct Peer {
    greeting: Vec<u8>,
    connected: Instant,
    activity: Arc<Activity>,
    requests: mpsc::Sender<Request>,
}

impl Peer {
    /// Whether a greeting is the one with which this conversation began, duplicated or delayed by the network. Otherwise
    /// the peer has restarted.
    fn is_repeated(&self, greeting: &[u8], now: Instant) -> bool {
        let is_fresh = self.activity.is_fresh.load(Ordering::Relaxed);
        self.greeting == greeting && (is_fresh || now.duration_since(self.connected) < limits::REPEATED_GREETING)
    }
}

/// When a peer was last active. Written by the conversation, read by the acceptor.
pub(super) struct Activity {
    /// Whether nothing has been received but the greeting.
    is_fresh: AtomicBool,
    /// Time of the last datagram, in µs since the acceptor began; [`Activity::NEEDED`] while the world waits for the peer.
    last: AtomicU64,
    began: Instant,
}

impl Activity {
    const NEEDED: u64 = u64::MAX;

    fn new(began: Instant, connected: Instant) -> Self {
        let activity = Self { is_fresh: AtomicBool::new(true), last: AtomicU64::default(), began };
        activity.set_last(connected, false);
        activity
    }

    pub(super) fn datagram_received(&self) {
        self.is_fresh.store(false, Ordering::Relaxed);
    }

    /// Time of the last datagram, unless the world waits for the peer.
    fn last(&self) -> Option<Instant> {
        match self.last.load(Ordering::Relaxed) {
            Self::NEEDED => None,
            last => Some(self.began + Duration::from_micros(last)),
        }
    }

    pub(super) fn set_last(&self, received: Instant, is_needed: bool) {
        let since_began = received.saturating_duration_since(self.began).as_micros() as u64;
        self.last.store(if is_needed { Self::NEEDED } else { since_began }, Ordering::Relaxed);
    }
}

struct Acceptor {
    port: Port,
    rate: RateLimit,
    /// How often conversations may begin.
    greetings: SourceLimit,
    refusals: RefusalLog,
    began: Instant,
    /// When all conversations were last ended.
    last_reset: Option<Instant>,
    reset: mpsc::Sender<SocketAddr>,
    peers: BTreeMap<SocketAddr, Peer>,
    conversations: JoinSet<()>,
    worker: Handle,
    spinner: Arc<Spinner>,
    share: Arc<Share>,
}

impl Acceptor {
    async fn run(mut self, mut resets: mpsc::Receiver<SocketAddr>) {
        let mut buffer = vec![0; limits::MAX_DATAGRAM];
        let ended = self.port.sim.ended();
        tokio::pin!(ended);
        let mut idle_check = tokio::time::interval(limits::IDLE_CHECK_INTERVAL);
        loop {
            tokio::select! {
                () = self.port.stop.cancelled() => break,
                () = &mut ended => break,
                _ = idle_check.tick() => self.close_idle(),
                Some(ended) = self.conversations.join_next() => self.conversation_ended(ended),
                Some(peer) = resets.recv() => self.reset_communication(peer),
                received = self.port.socket.recv_from(&mut buffer) => match received {
                    Ok((length, from)) => self.datagram(from, buffer.get(..length).unwrap_or_default()),
                    // on some systems the error of an earlier send to a closed port
                    Err(error) => debug!(protocol = self.port.protocol, "receive failed: {error}"),
                },
            }
        }
        while let Some(ended) = self.conversations.join_next().await {
            self.conversation_ended(ended);
        }
    }

    fn conversation_ended(&mut self, ended: Result<(), JoinError>) {
        if let Err(error) = ended {
            error!(protocol = self.port.protocol, "conversation task failed: {error}");
        }
        self.forget_ended();
    }

    fn forget_ended(&mut self) {
        self.peers.retain(|_, peer| !peer.requests.is_closed());
    }

    fn datagram(&mut self, from: SocketAddr, bytes: &[u8]) {
        METRICS.datagrams.add(self.port.protocol, 1);
        if !self.port.allow.admits(from) {
            return self.refuse(from, "address is not in the allow-list");
        }
        if !self.rate.admits(from, now()) {
            return METRICS.rate_limited.add(self.port.protocol, 1);
        }
        match self.port.service.greet(from, bytes) {
            Greeting::Begin(session) => self.greeted(from, bytes, session),
            Greeting::Reply { datagram, reason } => {
                // a full socket buffer loses the datagram, as the network might
                if let Err(error) = self.port.socket.try_send_to(&datagram, from) {
                    self.refuse(from, format!("reply not sent: {error}"));
                }
                self.refuse(from, reason);
            }
            Greeting::ResetCommunication if self.peers.contains_key(&from) => self.reset_communication(from),
            Greeting::ResetCommunication => self.refuse(from, "communication reset by a peer without a conversation"),
            Greeting::Ignore(reason) => self.refuse(from, reason),
        }
    }

    fn refuse(&mut self, from: SocketAddr, reason: impl Into<String>) {
        self.refusals.note(&[Refusal { from: Some(from), reason: reason.into() }], now());
    }

    fn greeted(&mut self, peer: SocketAddr, greeting: &[u8], session: Box<dyn DatagramSession<ConversationEffect>>) {
        self.forget_ended();
        if let Some(known) = self.peers.get(&peer) {
            if known.is_repeated(greeting, now()) {
                // a full queue contains the same request
                let _ = known.requests.try_send(Request::Greet);
                return;
            }
            self.close(peer, "the peer has restarted");
        }
        if !self.greetings.admits(peer, now()) {
            return METRICS.rate_limited.add(self.port.protocol, 1);
        }
        if let Err(reason) = self.make_room(peer) {
            return self.refuse(peer, reason);
        }
        if let Err(error) = self.begin(peer, greeting, session) {
            self.refuse(peer, format!("cannot begin a conversation: {error}"));
        }
    }

    /// Evicts a peer if a limit is reached: the oldest one that has only greeted, if there are many of those; otherwise
    /// the one that has been silent for longest, among those the world does not wait for.
    fn make_room(&mut self, peer: SocketAddr) -> Result<(), &'static str> {
        let source = Source::of(peer);
        let from_source = |other: &SocketAddr| Source::of(*other) == source;
        let half_open = |known: &Peer| known.activity.is_fresh.load(Ordering::Relaxed);
        let count = |is_counted: &dyn Fn(&SocketAddr, &Peer) -> bool| {
            self.peers.iter().filter(|(other, known)| is_counted(other, known)).count()
        };
        let is_evictable: &dyn Fn(&SocketAddr, &Peer) -> bool =
            if count(&|other, known| from_source(other) && half_open(known)) >= limits::HALF_OPEN_CONVERSATIONS {
                &|other, known| from_source(other) && half_open(known)
            } else if count(&|other, _| from_source(other)) >= limits::CONVERSATIONS_PER_SOURCE {
                &|other, _| from_source(other)
            } else if self.peers.len() >= self.port.most {
                &|_, _| true
            } else {
                return Ok(());
            };
        let evicted = self
            .peers
            .iter()
            .filter(|(other, known)| known.activity.last().is_some() && is_evictable(other, known))
            .min_by_key(|(_, known)| known.activity.last())
            .map(|(&other, _)| other)
            .ok_or("too many conversations")?;
        self.close(evicted, "evicted in favour of a new peer");
        Ok(())
    }

    /// Ends conversations in which nothing happens.
    fn close_idle(&mut self) {
        let now = now();
        let is_idle = |known: &Peer| {
            let timeout = if known.activity.is_fresh.load(Ordering::Relaxed) {
                limits::HALF_OPEN_TIMEOUT
            } else {
                limits::IDLE_TIMEOUT
            };
            known.activity.last().is_some_and(|last| now.saturating_duration_since(last) >= timeout)
        };
        let idle: Vec<_> = self.peers.iter().filter(|(_, known)| is_idle(known)).map(|(&peer, _)| peer).collect();
        for peer in idle {
            self.close(peer, "idle");
        }
    }

    fn close(&mut self, peer: SocketAddr, reason: &'static str) {
        if let Some(known) = self.peers.remove(&peer) {
            // a conversation that has just ended needs no request
            let _ = known.requests.try_send(Request::Close(reason));
        }
    }

    fn begin(
        &mut self,
        peer: SocketAddr,
        greeting: &[u8],
        session: Box<dyn DatagramSession<ConversationEffect>>,
    ) -> io::Result<()> {
        let mut address = self.port.socket.local_addr()?;
        address.set_port(0);
        let socket = std::net::UdpSocket::bind(address)?;
        socket.connect(peer)?;
        socket.set_nonblocking(true)?;
        let socket = {
            let _worker = self.worker.enter();
            UdpSocket::from_std(socket)?
        };
        let client = Client { protocol: self.port.protocol, peer: Some(peer), role: None };
        let opened = self.port.sim.open_for(client, self.port.service.ticks());
        let (commands, deliveries) = opened.map_err(io::Error::other)?;
        let connected = now();
        let activity = Arc::new(Activity::new(self.began, connected));
        let (requests, requested) = mpsc::channel(limits::CONVERSATION_REQUESTS);
        let conversation = Conversation {
            socket,
            peer,
            protocol: self.port.protocol,
            session,
            sim: self.port.sim.clone(),
            commands,
            reset: self.reset.clone(),
            spinner: Arc::clone(&self.spinner),
            share: Arc::clone(&self.share),
            is_needed: false,
            activity: Arc::clone(&activity),
            received: connected,
            held: Vec::new(),
            held_until: None,
            refusals: RefusalLog::new(self.port.protocol),
        };
        let (protocol, stop) = (self.port.protocol, self.port.stop.clone());
        let converse = async move {
            let reason = conversation.run(deliveries, requested, stop).await;
            info!(protocol, %peer, "closed: {reason}");
        };
        self.conversations.spawn_on(converse, &self.worker);
        self.peers.insert(peer, Peer { greeting: greeting.to_vec(), connected, activity, requests });
        info!(protocol, %peer, "opened");
        Ok(())
    }

    fn reset_communication(&mut self, peer: SocketAddr) {
        let now = now();
        if self.last_reset.is_some_and(|last| now.duration_since(last) < limits::COMMUNICATION_RESET_INTERVAL) {
            return self.refuse(peer, "communication was reset a moment ago");
        }
        self.last_reset = Some(now);
        warn!(protocol = self.port.protocol, %peer, conversations = self.peers.len(), "communication reset");
        for (_, known) in std::mem::take(&mut self.peers) {
            // a conversation that has just ended needs no request
            let _ = known.requests.try_send(Request::ResetCommunication);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INIT: &[u8] = &[5, 1, 1];

    #[test]
    fn a_delayed_greeting_is_a_repeated_one_and_a_later_one_is_not() {
        let connected = now();
        let peer = |is_fresh: bool| {
            let activity = Activity::new(connected, connected);
            if !is_fresh {
                activity.datagram_received();
            }
            Peer { greeting: INIT.to_vec(), connected, activity: Arc::new(activity), requests: mpsc::channel(1).0 }
        };
        let (delayed, later) = (connected + limits::REPEATED_GREETING / 2, connected + limits::REPEATED_GREETING);
        for (is_fresh, greeting, now, wanted) in [
            (true, INIT, delayed, true),
            (true, INIT, later, true),
            (false, INIT, delayed, true),
            (false, INIT, later, false),
            (true, &[5, 1, 1, 120], delayed, false),
            (false, &[5, 1, 1, 120], delayed, false),
        ] {
            assert_eq!(peer(is_fresh).is_repeated(greeting, now), wanted, "{is_fresh} {greeting:?}");
        }
    }
}
