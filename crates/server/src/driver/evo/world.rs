//! The World Simulator's thread: all connections of one world, one after the other.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use ::metrics::{Counter, counter, describe_counter, describe_gauge, gauge};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinSet,
    time::sleep_until,
};
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::{PROTOCOL, Reception, pipe::Pipe};
use crate::{
    driver::{RefusalLog, now, stream::accept},
    limits,
    session::{Refusal, evo::world::WorldSimulator},
};

/// Runs until it is stopped. Each listener is for one kind of robots.
pub(super) async fn run(
    listeners: Vec<TcpListener>,
    simulator: WorldSimulator,
    reception: Reception,
    stop: CancellationToken,
) {
    describe_counter!("rossum_lines_total", "Lines received, by protocol");
    describe_gauge!("rossum_evo_robots", "Robots that live in the World Simulator");
    let floor = Arc::new(Floor {
        // nobody ever waits for it: all tasks are on this thread, and none keeps it while it waits
        simulator: Mutex::new(simulator),
        bells: Mutex::default(),
        next: AtomicU64::new(1),
        began: now(),
        clock: Notify::new(),
        due: AtomicU64::new(u64::MAX),
        lines: counter!("rossum_lines_total", "protocol" => PROTOCOL),
    });
    let mut doors = JoinSet::new();
    for (kind, listener) in listeners.into_iter().enumerate() {
        let (floor, reception, stop) = (Arc::clone(&floor), reception.clone(), stop.clone());
        doors.spawn(async move {
            let stopping = stop.clone();
            let serve = |stream, peer| {
                let (floor, stop) = (Arc::clone(&floor), stopping.clone());
                Ok(async move {
                    let reason = floor.converse(stream, peer, kind, stop).await;
                    info!(protocol = PROTOCOL, %peer, "closed: {reason}");
                })
            };
            accept(listener, PROTOCOL, &reception.allow_list(), &reception.doors, stop, serve).await;
        });
    }
    tokio::select! {
        () = floor.watch_time() => {}
        () = async { while doors.join_next().await.is_some() {} } => {}
    }
}

struct Floor {
    simulator: Mutex<WorldSimulator>,
    /// How to call the task of a connection.
    bells: Mutex<BTreeMap<u64, Arc<Notify>>>,
    next: AtomicU64,
    began: Instant,
    /// The time of the next thing to be done by itself has changed...
    clock: Notify,
    /// ...and is this, in ns since the beginning; the largest if there is none.
    due: AtomicU64,
    lines: Counter,
}

impl Floor {
    fn simulator(&self) -> MutexGuard<'_, WorldSimulator> {
        self.simulator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bells(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Notify>>> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn time(&self) -> Duration {
        now().duration_since(self.began)
    }

    /// Talks to one peer until one side ends it; says why.
    async fn converse(&self, stream: TcpStream, peer: SocketAddr, kind: usize, stop: CancellationToken) -> String {
        info!(protocol = PROTOCOL, %peer, "opened");
        let connection = self.next.fetch_add(1, Ordering::Relaxed);
        let bell = Arc::new(Notify::new());
        self.bells().insert(connection, Arc::clone(&bell));
        self.simulator().open(connection, kind);
        let mut pipe = Pipe::new(stream);
        let reason = tokio::select! {
            () = stop.cancelled() => "the server stops".to_owned(),
            reason = self.exchange(connection, peer, &mut pipe, &bell) => reason,
        };
        let rest = self.simulator().out(connection).map(std::mem::take).unwrap_or_default();
        self.bells().remove(&connection);
        // its robots are gone at once, whether or not it takes its last words
        self.simulator().close(connection, self.time());
        self.ring();
        pipe.close(&rest).await;
        reason
    }

    async fn exchange(&self, connection: u64, peer: SocketAddr, pipe: &mut Pipe, bell: &Notify) -> String {
        let mut refusals = RefusalLog::new(PROTOCOL);
        loop {
            let (turn, written, has_room) = {
                let mut simulator = self.simulator();
                let turn = simulator.lines(connection, &mut pipe.lines, || self.time());
                match simulator.out(connection) {
                    Some(out) => (turn, pipe.write(out), out.len() < limits::EVO_OUTPUT),
                    None => return "nobody knows of it any more".to_owned(),
                }
            };
            self.ring();
            self.lines.increment(turn.lines as u64);
            let refusal = |reason| Refusal { from: Some(peer), reason };
            refusals.note(&turn.refusals.into_iter().map(refusal).collect::<Vec<_>>(), now());
            if let Some(reason) = turn.close {
                refusals.note(&[refusal(reason.clone())], now());
                return reason;
            }
            if let Err(reason) = written {
                return reason;
            }
            if turn.is_unfinished || (turn.is_full && has_room) {
                // others are on this thread, too
                tokio::task::yield_now().await;
            } else if let Err(reason) = pipe.wait(has_room && !turn.is_held, bell).await {
                return reason;
            }
        }
    }

    /// Calls the tasks of connections for which something was done, and the one that watches the time.
    fn ring(&self) {
        let (stirred, wakes_at) = {
            let mut simulator = self.simulator();
            (simulator.take_stirred(), simulator.wakes_at())
        };
        let due = wakes_at.map_or(u64::MAX, |at| at.as_nanos() as u64);
        if self.due.swap(due, Ordering::Relaxed) != due {
            self.clock.notify_one();
        }
        if stirred.is_empty() {
            return;
        }
        let bells = self.bells();
        for bell in stirred.iter().filter_map(|connection| bells.get(connection)) {
            bell.notify_one();
        }
    }

    async fn watch_time(&self) {
        loop {
            let regular = self.time() + limits::EVO_REAP_INTERVAL;
            let due = self.simulator().wakes_at().map_or(regular, |due| due.min(regular));
            tokio::select! {
                () = sleep_until((self.began + due).into()) => {}
                () = self.clock.notified() => {}
            }
            let silent = {
                let mut simulator = self.simulator();
                gauge!("rossum_evo_robots").set(simulator.arena().len() as f64);
                simulator.tick(self.time())
            };
            if !silent.is_empty() {
                info!(protocol = PROTOCOL, "{} robots were silent for too long and are gone", silent.len());
            }
            self.ring();
        }
    }
}
