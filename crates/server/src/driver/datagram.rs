//! The driver of all datagram protocols: one task per socket.

use std::net::SocketAddr;

use session::{Context, DatagramEffect, DatagramOutbox, DatagramSession, Notice, Outbox, Refusal};
use tokio::{net::UdpSocket, sync::mpsc};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{RefusalLog, now};
use crate::{
    access::{AllowList, RateLimit},
    limits,
    metrics::METRICS,
    roster::Client,
    sim_thread::{Delivery, SendError, SessionSender, SimHandle, Ticks},
};

/// Runs a session on a socket until the server stops or the world ends.
pub async fn run(
    socket: UdpSocket,
    protocol: &'static str,
    session: Box<dyn DatagramSession<DatagramEffect>>,
    sim: SimHandle,
    allow: AllowList,
    stop: CancellationToken,
) {
    let (commands, deliveries) = match sim.open_for(shared_socket(protocol), Ticks::Never) {
        Ok(opened) => opened,
        Err(error) => return warn!(protocol, "cannot serve: {error}"),
    };
    let refusals = RefusalLog::new(protocol);
    let driver =
        Driver { socket, protocol, session, sim, commands, allow, rate: RateLimit::default(), refusals, peer: None };
    driver.run(deliveries, stop).await;
}

struct Driver {
    socket: UdpSocket,
    protocol: &'static str,
    session: Box<dyn DatagramSession<DatagramEffect>>,
    sim: SimHandle,
    commands: SessionSender,
    allow: AllowList,
    rate: RateLimit,
    refusals: RefusalLog,
    /// The peer that sent the last command.
    peer: Option<SocketAddr>,
}

/// The roster entry of a shared socket, whose peer is known once it is used.
fn shared_socket(protocol: &'static str) -> Client {
    Client { protocol, peer: None, role: None }
}

impl Driver {
    async fn run(mut self, mut deliveries: mpsc::Receiver<Delivery>, stop: CancellationToken) {
        let mut buffer = vec![0; limits::MAX_DATAGRAM];
        let mut out = Outbox::default();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                received = self.socket.recv_from(&mut buffer) => match received {
                    Ok((length, from)) => self.datagram(from, buffer.get(..length).unwrap_or_default(), &mut out),
                    // on some systems the error of an earlier send to a closed port
                    Err(error) => debug!(protocol = self.protocol, "receive failed: {error}"),
                },
                delivery = deliveries.recv() => match delivery {
                    Some(Delivery::Answer(answer)) => {
                        self.session.notify(Notice::Answer(answer), Context::new(&self.sim.latest(), now()), &mut out);
                    }
                    Some(Delivery::Tick(snapshot)) => self.session.notify(Notice::Tick, Context::new(&snapshot, now()), &mut out),
                    // the session's queue was full, or the world has ended
                    None => match self.sim.open_for(shared_socket(self.protocol), Ticks::Never) {
                        Ok((commands, reopened)) => {
                            (self.commands, self.peer) = (commands, None);
                            deliveries = reopened;
                        }
                        Err(SendError::Full) => {}
                        Err(SendError::Ended) => return,
                    },
                },
            }
            if !self.execute(out.take()) {
                return;
            }
        }
    }

    fn datagram(&mut self, from: SocketAddr, bytes: &[u8], out: &mut DatagramOutbox<Vec<u8>>) {
        METRICS.datagrams.add(self.protocol, 1);
        if !self.allow.admits(from) {
            out.refuse(Some(from), "address is not in the allow-list");
        } else if !self.rate.admits(from, now()) {
            METRICS.rate_limited.add(self.protocol, 1);
        } else {
            self.session.receive(from, bytes, Context::new(&self.sim.latest(), now()), out);
            if !out.commands.is_empty() {
                self.rate.charge(from, limits::COMMAND_COST);
                if self.peer.replace(from) != Some(from) {
                    self.commands.note_peer(from);
                }
            }
        }
    }

    /// Executes the session's output. False when the world has ended.
    fn execute(&mut self, out: DatagramOutbox<Vec<u8>>) -> bool {
        let Outbox { replies, commands, mut refusals, effects } = out;
        for effect in effects {
            match effect {
                DatagramEffect::Connected(peer) => self.rate.set_connected(peer, true),
                DatagramEffect::Disconnected(peer) => self.rate.set_connected(peer, false),
            }
        }
        for command in commands {
            match self.commands.send(command) {
                Ok(()) => {}
                Err(SendError::Full) => refusals.push(Refusal { from: None, reason: SendError::Full.to_string() }),
                Err(SendError::Ended) => return false,
            }
        }
        for (to, reply) in replies {
            // a full socket buffer loses the datagram, as the network might
            if let Err(error) = self.socket.try_send_to(&reply, to) {
                refusals.push(Refusal { from: Some(to), reason: format!("reply not sent: {error}") });
            }
        }
        self.refusals.note(&refusals, now());
        true
    }
}

#[cfg(test)]
mod tests;
