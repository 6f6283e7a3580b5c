//! Accepts TCP connections: checks the allow-list and the connection limit, and sets the options of their sockets.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

use parking_lot::Mutex;
use session::Refusal;
use socket2::{SockRef, TcpKeepalive};
use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinError, JoinSet},
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error};

use super::{RefusalLog, now};
use crate::{access::AllowList, limits, sim_thread::SendError};

/// Accepts connections and serves each, until the server stops or the world ends. Then waits for them to close.
pub(crate) async fn accept<F>(
    listener: TcpListener,
    protocol: &'static str,
    allow: &AllowList,
    limit: &ConnectionLimit,
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
                log_panic(protocol, ended);
                continue;
            }
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                refusals.note(&[Refusal { from: None, reason: format!("accept failed: {error}") }], now());
                // most likely out of file descriptors, which are not freed at once
                let _ = timeout(limits::ACCEPT_PAUSE, stop.cancelled()).await;
                continue;
            }
        };
        if let Err(error) = set_options(&stream) {
            debug!(protocol, "setting socket options failed: {error}");
        }
        match admit(limit, allow, protocol, peer).and_then(|permit| Ok((permit, serve(stream, peer)?))) {
            Ok((permit, served)) => {
                connections.spawn(async move {
                    served.await;
                    drop(permit);
                });
            }
            Err(Rejection::World(SendError::Ended)) => break,
            Err(rejection) => refusals.note(&[Refusal { from: Some(peer), reason: rejection.to_string() }], now()),
        }
    }
    while let Some(ended) = connections.join_next().await {
        log_panic(protocol, ended);
    }
}

fn log_panic(protocol: &'static str, ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        error!(protocol, "connection task failed: {error}");
    }
}

/// Sends small messages at once, and detects peers that have vanished or have stopped reading.
fn set_options(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    SockRef::from(stream).set_send_buffer_size(limits::SEND_BUFFER)?;
    let keepalive = TcpKeepalive::new().with_time(limits::KEEPALIVE).with_interval(limits::KEEPALIVE_INTERVAL);
    SockRef::from(stream).set_tcp_keepalive(&keepalive)
}

/// Why a connection is rejected.
#[derive(Debug, thiserror::Error)]
enum Rejection {
    #[error("address is not in the allow-list")]
    NotAllowed,
    #[error("too many connections")]
    LimitReached,
    #[error(transparent)]
    World(#[from] SendError),
}

fn admit(
    limit: &ConnectionLimit,
    allow: &AllowList,
    protocol: &'static str,
    peer: SocketAddr,
) -> Result<Permit, Rejection> {
    if !allow.admits(peer) {
        return Err(Rejection::NotAllowed);
    }
    limit.try_acquire(protocol, peer).ok_or(Rejection::LimitReached)
}

/// Limits the TCP connections of all protocols and of the console together, in total and per address. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct ConnectionLimit(Arc<Mutex<Connections>>);

#[derive(Debug, Default)]
struct Connections {
    /// Protocols and addresses, by number.
    open: BTreeMap<u64, (&'static str, SocketAddr)>,
    next: u64,
}

impl ConnectionLimit {
    /// Open connections of a protocol: a number that is unique for the process, and the address.
    pub(crate) fn connections(&self, protocol: &str) -> Vec<(u64, SocketAddr)> {
        let connections = self.0.lock();
        let of_protocol = connections.open.iter().filter(|(_, (other, _))| *other == protocol);
        of_protocol.map(|(&number, &(_, peer))| (number, peer)).collect()
    }

    fn try_acquire(&self, protocol: &'static str, peer: SocketAddr) -> Option<Permit> {
        let mut connections = self.0.lock();
        let from_address = connections.open.values().filter(|(_, other)| other.ip() == peer.ip()).count();
        if connections.open.len() >= limits::CONNECTIONS || from_address >= limits::CONNECTIONS_PER_ADDRESS {
            return None;
        }
        let number = connections.next;
        connections.next += 1;
        connections.open.insert(number, (protocol, peer));
        Some(Permit { limit: self.clone(), number })
    }
}

/// Permission for one connection; returned when dropped.
#[derive(Debug)]
struct Permit {
    limit: ConnectionLimit,
    number: u64,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.limit.0.lock().open.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_limited_and_addresses_outside_the_allow_list_are_rejected() {
        let (limit, allow) = (ConnectionLimit::default(), AllowList::new(vec!["192.0.2.0/24".parse().unwrap()]));
        let peer = |last: u8| SocketAddr::from(([192, 0, 2, last], 9));
        let permits: Vec<_> = (0..limits::CONNECTIONS)
            .map(|number| {
                admit(&limit, &allow, "echo", peer((number / limits::CONNECTIONS_PER_ADDRESS) as u8)).unwrap()
            })
            .collect();
        assert!(matches!(admit(&limit, &allow, "echo", peer(200)), Err(Rejection::LimitReached)));
        drop(permits);
        assert!(admit(&limit, &allow, "echo", peer(200)).is_ok());
        assert!(matches!(admit(&limit, &allow, "echo", "198.51.100.1:9".parse().unwrap()), Err(Rejection::NotAllowed)));
        assert!(limit.connections("echo").is_empty());
    }
}
