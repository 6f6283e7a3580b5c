//! The World Simulator's thread, on which all its connections are served.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use session::{
    Refusal,
    evo::{LineServer, world::WorldSimulator},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinSet,
    time::sleep_until,
};
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::{
    ListenOptions, PROTOCOL,
    line_connection::{ConnectionIds, LineConnection},
    service_clock::ServiceClock,
};
use crate::{
    driver::{RefusalLog, admission::Permit, connections::accept, now},
    limits,
    metrics::METRICS,
};

/// Runs until stopped. Each listener is for one kind of robot.
pub(super) async fn run(
    listeners: Vec<TcpListener>,
    simulator: WorldSimulator,
    options: ListenOptions,
    stop: CancellationToken,
) {
    let server = Arc::new(Server {
        // never contended: all tasks are on this thread, and none holds it across an await
        simulator: Mutex::new(simulator),
        wakers: Mutex::default(),
        ids: ConnectionIds::default(),
        clock: ServiceClock::new(now()),
        timeout_changed: Notify::new(),
        timeout: AtomicU64::new(u64::MAX),
    });
    let mut acceptors = JoinSet::new();
    for (kind, listener) in listeners.into_iter().enumerate() {
        let (server, options, stop) = (Arc::clone(&server), options.clone(), stop.clone());
        acceptors.spawn(async move {
            let stopping = stop.clone();
            let serve = |stream, peer, permit| {
                let (server, stop) = (Arc::clone(&server), stopping.clone());
                Ok(async move {
                    let reason = server.converse((stream, permit), peer, kind, stop).await;
                    info!(protocol = PROTOCOL, %peer, "closed: {reason}");
                })
            };
            accept(listener, options.admission.endpoint(PROTOCOL), &options.allow_list(), stop, serve).await;
        });
    }
    tokio::select! {
        () = server.watch_time() => {}
        () = async { while acceptors.join_next().await.is_some() {} } => {}
    }
}

struct Server {
    simulator: Mutex<WorldSimulator>,
    /// Wakes the task of a connection.
    wakers: Mutex<BTreeMap<u64, Arc<Notify>>>,
    ids: ConnectionIds,
    clock: ServiceClock,
    /// The simulator's timeout has changed.
    timeout_changed: Notify,
    /// The simulator's timeout, in ns since the beginning; the largest number if there is none.
    timeout: AtomicU64,
}

impl Server {
    fn time(&self) -> Duration {
        self.clock.at(now())
    }

    /// Serves one connection until one side closes it; returns the reason.
    async fn converse(
        &self,
        (stream, permit): (TcpStream, Permit),
        peer: SocketAddr,
        kind: usize,
        stop: CancellationToken,
    ) -> String {
        info!(protocol = PROTOCOL, %peer, "opened");
        let connection = self.ids.next();
        let waker = Arc::new(Notify::new());
        self.wakers.lock().insert(connection, Arc::clone(&waker));
        self.simulator.lock().open(connection, kind);
        let mut lines = LineConnection::new(stream, permit);
        let reason = tokio::select! {
            () = stop.cancelled() => "server is stopping".to_owned(),
            reason = self.exchange(connection, peer, &mut lines, &waker) => reason,
        };
        let rest = self.simulator.lock().output(connection).map(std::mem::take).unwrap_or_default();
        self.wakers.lock().remove(&connection);
        // its robots are removed at once, whether or not it reads the rest of its output
        self.simulator.lock().close(connection, self.time());
        self.wake_unblocked();
        lines.close(&rest).await;
        reason
    }

    async fn exchange(&self, connection: u64, peer: SocketAddr, lines: &mut LineConnection, waker: &Notify) -> String {
        let mut refusals = RefusalLog::new(PROTOCOL);
        loop {
            let (received, written) = {
                let mut simulator = self.simulator.lock();
                let received = simulator.receive(connection, &mut lines.lines, || self.time());
                match simulator.output(connection) {
                    Some(out) => (received, lines.write(out)),
                    None => return "connection is unknown to the simulator".to_owned(),
                }
            };
            if let Some(never) = received.outputs.into_iter().next() {
                match never {}
            }
            lines.note_turn(received.lines);
            self.wake_unblocked();
            METRICS.lines.add(PROTOCOL, received.lines as u64);
            let refusal = |reason| Refusal { from: Some(peer), reason };
            refusals.note(&received.refusals.into_iter().map(refusal).collect::<Vec<_>>(), now());
            if let Some(reason) = received.close {
                refusals.note(&[refusal(reason.clone())], now());
                return reason;
            }
            if let Err(reason) = written {
                return reason;
            }
            if let Err(reason) = lines.wait_after(received.backlog, waker).await {
                return reason;
            }
        }
    }

    /// Wakes the tasks of unblocked connections, and the one that watches the time.
    fn wake_unblocked(&self) {
        let (unblocked, timeout) = {
            let mut simulator = self.simulator.lock();
            (simulator.take_unblocked(), simulator.timeout())
        };
        let timeout = timeout.map_or(u64::MAX, |at| at.as_nanos() as u64);
        if self.timeout.swap(timeout, Ordering::Relaxed) != timeout {
            self.timeout_changed.notify_one();
        }
        if unblocked.is_empty() {
            return;
        }
        let wakers = self.wakers.lock();
        for waker in unblocked.iter().filter_map(|connection| wakers.get(connection)) {
            waker.notify_one();
        }
    }

    async fn watch_time(&self) {
        loop {
            let regular = self.time() + limits::EVO_REAP_INTERVAL;
            let due = self.simulator.lock().timeout().map_or(regular, |due| due.min(regular));
            tokio::select! {
                () = sleep_until(self.clock.instant_of(due).into()) => {}
                () = self.timeout_changed.notified() => {}
            }
            // time in which the server was stopped does not count as silence
            self.clock.woke_up(due, now());
            let silent = {
                let mut simulator = self.simulator.lock();
                METRICS.evo_robots.set(simulator.arena().len() as u64);
                simulator.tick(self.time())
            };
            if !silent.is_empty() {
                info!(protocol = PROTOCOL, robots = silent.len(), "robots removed: no request in time");
            }
            self.wake_unblocked();
        }
    }
}
