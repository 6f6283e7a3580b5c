//! The driver of all datagram protocols: one task per socket.

use std::net::SocketAddr;

use tokio::{net::UdpSocket, sync::mpsc};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{RefusalLog, now};
use crate::{
    access::{AllowList, RateLimit},
    limits, metrics,
    roster::Client,
    session::{DatagramSession, Outbox, Refusal},
    sim_thread::{Delivery, SendError, SessionSender, SimHandle, Ticks},
};

/// Runs a session on a socket until the server stops or the world ends.
pub async fn run(
    socket: UdpSocket,
    protocol: &'static str,
    session: Box<dyn DatagramSession>,
    sim: SimHandle,
    allow: AllowList,
    stop: CancellationToken,
) {
    let (commands, deliveries) = match sim.open_for(everybody(protocol), Ticks::Never) {
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
    session: Box<dyn DatagramSession>,
    sim: SimHandle,
    commands: SessionSender,
    allow: AllowList,
    rate: RateLimit,
    refusals: RefusalLog,
    /// Who asked something of the world last.
    peer: Option<SocketAddr>,
}

/// Whoever uses a socket: who that is, is seen then.
fn everybody(protocol: &'static str) -> Client {
    Client { protocol, peer: None, role: None }
}

impl Driver {
    async fn run(mut self, mut deliveries: mpsc::Receiver<Delivery>, stop: CancellationToken) {
        let mut buffer = vec![0; limits::DATAGRAM];
        let mut out = Outbox::default();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                received = self.socket.recv_from(&mut buffer) => match received {
                    Ok((length, from)) => self.datagram(from, buffer.get(..length).unwrap_or_default(), &mut out),
                    // on some systems a peer that has gone shows up here; it concerns nobody else
                    Err(error) => debug!(protocol = self.protocol, "receiving: {error}"),
                },
                delivery = deliveries.recv() => match delivery {
                    Some(Delivery::Answer(answer)) => self.session.answer(answer, &self.sim.latest(), &mut out),
                    Some(Delivery::Tick(_)) => {}
                    // too many answers came at once, or the world has ended
                    None => match self.sim.open_for(everybody(self.protocol), Ticks::Never) {
                        Ok((commands, reopened)) => {
                            (self.commands, self.peer) = (commands, None);
                            deliveries = reopened;
                        }
                        Err(SendError::Full) => {}
                        Err(SendError::Ended) => return,
                    },
                },
            }
            if !self.carry_out(out.take()) {
                return;
            }
        }
    }

    fn datagram(&mut self, from: SocketAddr, bytes: &[u8], out: &mut Outbox<Vec<u8>>) {
        metrics::datagram(self.protocol);
        if !self.allow.admits(from) {
            out.refuse(Some(from), "the address is not in the allow-list");
        } else if !self.rate.admits(from, now()) {
            metrics::rate_limited(self.protocol);
        } else {
            self.session.datagram(from, bytes, &self.sim.latest(), out);
            if !out.commands.is_empty() {
                self.rate.charge(from, limits::COMMAND_COST);
                if self.peer.replace(from) != Some(from) {
                    self.commands.note_peer(from);
                }
            }
        }
    }

    /// Does what the session wants. False when the world has ended.
    fn carry_out(&mut self, out: Outbox<Vec<u8>>) -> bool {
        let mut refusals = out.refusals;
        for command in out.commands {
            match self.commands.send(command) {
                Ok(()) => {}
                Err(SendError::Full) => refusals.push(Refusal { from: None, reason: SendError::Full.to_string() }),
                Err(SendError::Ended) => return false,
            }
        }
        for (to, reply) in out.replies {
            // a socket whose buffer is full loses the datagram, as the network might
            if let Err(error) = self.socket.try_send_to(&reply, to) {
                refusals.push(Refusal { from: Some(to), reason: format!("the reply was not sent: {error}") });
            }
        }
        self.refusals.note(&refusals, now());
        true
    }
}

#[cfg(test)]
mod tests;
