//! The Robot Simulator's thread for its managers; the testing is done by others.

use std::{
    collections::{BTreeMap, VecDeque, btree_map::Entry},
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use ::metrics::{Counter, counter, describe_counter};
use evolve::{NetParameters, robot::Key};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::{
    PROTOCOL, Reception,
    pipe::Pipe,
    pool::{Mailbox, Pool},
};
use crate::{
    driver::{RefusalLog, now, stream::accept},
    limits,
    session::{
        Refusal,
        evo::robot::{Heard, ManagerSession, Order, share},
    },
};

/// Runs until it is stopped.
pub(super) async fn run(
    listener: TcpListener,
    parameters: NetParameters,
    places: usize,
    pool: Arc<Pool>,
    reception: Reception,
    stop: CancellationToken,
) {
    describe_counter!("rossum_evo_individuals_total", "Individuals that the Robot Simulator has tested");
    let individuals = counter!("rossum_evo_individuals_total");
    let office = Arc::new(Office { parameters, places, pool, next: AtomicU64::new(1), individuals });
    let stopping = stop.clone();
    let serve = |stream, peer| {
        let (office, stop) = (Arc::clone(&office), stopping.clone());
        Ok(async move {
            let reason = office.converse(stream, peer, stop).await;
            info!(protocol = PROTOCOL, %peer, "closed: {reason}");
        })
    };
    accept(listener, PROTOCOL, &reception.allow_list(), &reception.doors, stop, serve).await;
}

struct Office {
    parameters: NetParameters,
    places: usize,
    pool: Arc<Pool>,
    next: AtomicU64,
    individuals: Counter,
}

impl Office {
    /// Talks to one manager until one side ends it; says why.
    async fn converse(&self, stream: TcpStream, peer: SocketAddr, stop: CancellationToken) -> String {
        let owner = self.next.fetch_add(1, Ordering::Relaxed);
        let (mailbox, managers) = self.pool.join(owner);
        let share = share(self.places, managers);
        info!(protocol = PROTOCOL, %peer, "a manager with {share} of {} places", self.places);
        let mut desk = Desk {
            peer,
            session: ManagerSession::new(owner, &self.parameters, share),
            refusals: RefusalLog::new(PROTOCOL),
            out: Vec::new(),
            unfinished: 0,
            finished: 0,
            twins: BTreeMap::new(),
        };
        let mut pipe = Pipe::new(stream);
        let reason = tokio::select! {
            () = stop.cancelled() => "the server stops".to_owned(),
            reason = self.exchange(&mut desk, &mailbox, &mut pipe) => reason,
        };
        self.pool.leave(owner);
        pipe.close(&desk.out).await;
        match desk.unfinished {
            0 => reason,
            unfinished => format!("{reason}; {unfinished} individuals were not tested to the end"),
        }
    }

    async fn exchange(&self, desk: &mut Desk, mailbox: &Mailbox, pipe: &mut Pipe) -> String {
        loop {
            desk.tell(mailbox, &self.pool);
            let are_left = match desk.take_lines(pipe, &self.pool) {
                Ok(are_left) => are_left,
                Err(reason) => {
                    desk.refuse(reason.clone());
                    return reason;
                }
            };
            if let Err(reason) = pipe.write(&mut desk.out) {
                return reason;
            }
            if are_left && desk.has_room() {
                // others are on this thread, too
                tokio::task::yield_now().await;
            } else if let Err(reason) = pipe.wait(desk.has_room(), &mailbox.news).await {
                return reason;
            }
            self.individuals.increment(std::mem::take(&mut desk.finished));
        }
    }
}

/// What there is of one manager.
struct Desk {
    peer: SocketAddr,
    session: ManagerSession,
    refusals: RefusalLog,
    out: Vec<u8>,
    unfinished: usize,
    finished: u64,
    /// Individuals under way, each with those of the same numbers that wait until it is done, so that answers come in
    /// their order.
    twins: BTreeMap<Key, VecDeque<Order>>,
}

impl Desk {
    fn has_room(&self) -> bool {
        self.unfinished < limits::EVO_ORDERS && self.out.len() < limits::EVO_OUTPUT
    }

    fn refuse(&mut self, reason: String) {
        self.refusals.note(&[Refusal { from: Some(self.peer), reason }], now());
    }

    /// Puts into words what came of individuals.
    fn tell(&mut self, mailbox: &Mailbox, pool: &Pool) {
        for tested in mailbox.take() {
            match self.twins.get_mut(&tested.key).and_then(VecDeque::pop_front) {
                Some(twin) => pool.submit(twin),
                None => {
                    self.twins.remove(&tested.key);
                }
            }
            self.unfinished = self.unfinished.saturating_sub(1);
            self.finished += 1;
            if let Some(remark) = tested.remark {
                self.refuse(remark);
            }
            // the simulator has seen to it that a fitness is finite
            if let Err(error) = self.session.tested(tested.key, tested.fitness, &mut self.out) {
                self.refuse(error.to_string());
            }
        }
    }

    /// Takes lines up to a limit; says whether some may be left, or why it is over.
    fn take_lines(&mut self, pipe: &mut Pipe, pool: &Pool) -> Result<bool, String> {
        for _ in 0..limits::EVO_LINES_PER_TURN {
            if !self.has_room() {
                return Ok(true);
            }
            let Some(line) = pipe.lines.next_line().map_err(|error| error.to_string())? else { return Ok(false) };
            match self.session.line(line, &mut self.out) {
                Heard::Done => {}
                Heard::Order(order) => {
                    self.unfinished += 1;
                    match self.twins.entry(order.key) {
                        Entry::Occupied(first) => first.into_mut().push_back(order),
                        Entry::Vacant(place) => {
                            place.insert(VecDeque::new());
                            pool.submit(order);
                        }
                    }
                }
                Heard::Refused(reason) => self.refuse(reason),
                Heard::Over(reason) => return Err(reason),
            }
        }
        Ok(true)
    }
}
