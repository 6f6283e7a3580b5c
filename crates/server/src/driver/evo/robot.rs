//! The Robot Simulator's thread, on which all its managers are served; evaluations run on other threads.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use parking_lot::Mutex;
use session::{
    Refusal,
    evo::{LineServer, Received, robot::RobotSimulator},
};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::{
    ListenOptions, PROTOCOL,
    line_connection::{ConnectionIds, LineConnection},
    pool::{Mailbox, Pool},
};
use crate::{
    driver::{RefusalLog, admission::Permit, connections::accept, now},
    metrics::METRICS,
};

/// Runs until stopped.
pub(super) async fn run(
    listener: TcpListener,
    simulator: RobotSimulator,
    pool: Arc<Pool>,
    options: ListenOptions,
    stop: CancellationToken,
) {
    let server = Arc::new(Server {
        // never contended: all tasks are on this thread, and none holds it across an await
        simulator: Mutex::new(simulator),
        pool,
        ids: ConnectionIds::default(),
    });
    let stopping = stop.clone();
    let serve = |stream, peer, permit| {
        let (server, stop) = (Arc::clone(&server), stopping.clone());
        Ok(async move {
            let reason = server.converse((stream, permit), peer, stop).await;
            info!(protocol = PROTOCOL, %peer, "closed: {reason}");
        })
    };
    accept(listener, options.admission.endpoint(PROTOCOL), &options.allow_list(), stop, serve).await;
}

struct Server {
    simulator: Mutex<RobotSimulator>,
    pool: Arc<Pool>,
    ids: ConnectionIds,
}

impl Server {
    /// Serves one manager until one side closes the connection; returns the reason.
    async fn converse(
        &self,
        (stream, permit): (TcpStream, Permit),
        peer: SocketAddr,
        stop: CancellationToken,
    ) -> String {
        let connection = self.ids.next();
        let mailbox = self.pool.join(connection);
        let share = {
            let mut simulator = self.simulator.lock();
            simulator.open(connection, 0);
            simulator.share(connection)
        };
        info!(protocol = PROTOCOL, %peer, share, "manager connected");
        let mut lines = LineConnection::new(stream, permit);
        let reason = tokio::select! {
            () = stop.cancelled() => "server is stopping".to_owned(),
            reason = self.exchange(connection, peer, &mailbox, &mut lines) => reason,
        };
        self.pool.leave(connection);
        let (rest, unfinished) = {
            let mut simulator = self.simulator.lock();
            let rest = simulator.output(connection).map(std::mem::take).unwrap_or_default();
            let unfinished = simulator.unfinished(connection);
            simulator.close(connection, Duration::ZERO);
            (rest, unfinished)
        };
        lines.close(&rest).await;
        match unfinished {
            0 => reason,
            unfinished => format!("{reason}; {unfinished} individuals were not evaluated"),
        }
    }

    async fn exchange(
        &self,
        connection: u64,
        peer: SocketAddr,
        mailbox: &Mailbox,
        lines: &mut LineConnection,
    ) -> String {
        let mut refusals = RefusalLog::new(PROTOCOL);
        let refusal = |reason| Refusal { from: Some(peer), reason };
        loop {
            let remarks = self.report_results(mailbox);
            let (received, written) = {
                let mut simulator = self.simulator.lock();
                let received = simulator.receive(connection, &mut lines.lines, || Duration::ZERO);
                match simulator.output(connection) {
                    Some(out) => (received, lines.write(out)),
                    None => return "connection is unknown to the simulator".to_owned(),
                }
            };
            let Received { outputs, refusals: refused, close, lines: handled, backlog } = received;
            lines.note_turn(handled);
            outputs.into_iter().for_each(|request| self.pool.submit(request));
            refusals.note(&remarks.into_iter().chain(refused).map(refusal).collect::<Vec<_>>(), now());
            if let Some(reason) = close {
                refusals.note(&[refusal(reason.clone())], now());
                return reason;
            }
            if let Err(reason) = written {
                return reason;
            }
            if let Err(reason) = lines.wait_after(backlog, &mailbox.arrived).await {
                return reason;
            }
        }
    }

    /// Reports finished evaluations, and returns what is worth logging about them.
    fn report_results(&self, mailbox: &Mailbox) -> Vec<String> {
        let (mut remarks, results) = (Vec::new(), mailbox.take());
        let mut simulator = self.simulator.lock();
        METRICS.evo_individuals.add(results.len() as u64);
        for result in results {
            remarks.extend(result.remark);
            match simulator.evaluated(result.key, result.fitness) {
                Ok(next) => next.into_iter().for_each(|request| self.pool.submit(request)),
                // the evaluation ensures that a fitness is finite
                Err(error) => remarks.push(error.to_string()),
            }
        }
        remarks
    }
}
