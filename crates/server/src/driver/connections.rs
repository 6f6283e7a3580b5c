//! Accepts TCP connections: checks the allow-list, acquires permits, and sets the options of the sockets.

use std::net::SocketAddr;

use session::Refusal;
use socket2::{SockRef, TcpKeepalive};
use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinError, JoinSet},
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error};

use super::{
    RefusalLog,
    admission::{EndpointAdmission, Permit},
    now,
};
use crate::{access::AllowList, limits, metrics::METRICS, sim_thread::SendError};

/// Accepts connections and serves each, until the server stops or the world ends. Then waits for them to close.
pub(crate) async fn accept<F>(
    listener: TcpListener,
    endpoint: EndpointAdmission,
    allow: &AllowList,
    stop: CancellationToken,
    serve: impl Fn(TcpStream, SocketAddr, Permit) -> Result<F, SendError>,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let protocol = endpoint.protocol();
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
                METRICS.accept_failures.add(protocol, 1);
                refusals.note(&[Refusal { from: None, reason: format!("accept failed: {error}") }], now());
                // most likely out of file descriptors, which are not freed at once
                let _ = timeout(limits::ACCEPT_PAUSE, stop.cancelled()).await;
                continue;
            }
        };
        if let Err(error) = set_options(&stream) {
            debug!(protocol, "setting socket options failed: {error}");
        }
        match admit(&endpoint, allow, peer).and_then(|permit| Ok(serve(stream, peer, permit)?)) {
            Ok(served) => {
                connections.spawn(served);
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
    SockRef::from(stream).set_tcp_keepalive(&keepalive)?;
    SockRef::from(stream).set_tcp_user_timeout(Some(limits::UNACKNOWLEDGED))
}

/// Why a connection is rejected.
#[derive(Debug, thiserror::Error)]
enum Rejection {
    #[error("address is not in the allow-list")]
    NotAllowed,
    #[error("too many connections")]
    QuotaUsedUp,
    #[error(transparent)]
    World(#[from] SendError),
}

fn admit(endpoint: &EndpointAdmission, allow: &AllowList, peer: SocketAddr) -> Result<Permit, Rejection> {
    if !allow.admits(peer) {
        return Err(Rejection::NotAllowed);
    }
    endpoint.try_acquire(peer).ok_or(Rejection::QuotaUsedUp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::admission::Admission;

    #[test]
    fn addresses_outside_the_allow_list_are_rejected() {
        let (endpoint, allow) =
            (Admission::default().endpoint("echo"), AllowList::new(vec!["192.0.2.0/24".parse().unwrap()]));
        assert!(admit(&endpoint, &allow, "192.0.2.1:9".parse().unwrap()).is_ok());
        assert!(matches!(admit(&endpoint, &allow, "198.51.100.1:9".parse().unwrap()), Err(Rejection::NotAllowed)));
    }

    #[tokio::test]
    async fn small_messages_are_sent_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (endpoint, allow) = (Admission::default().endpoint("echo"), AllowList::default());
        let (stop, nodelay) = (CancellationToken::new(), std::sync::OnceLock::new());
        let _client = TcpStream::connect(address).await.unwrap();
        let serve = |stream: TcpStream, _, _| {
            nodelay.set(stream.nodelay().unwrap()).unwrap();
            stop.cancel();
            Ok(std::future::ready(()))
        };
        accept(listener, endpoint, &allow, stop.clone(), serve).await;
        assert_eq!(nodelay.get(), Some(&true), "Nagle's algorithm is off");
    }

    #[tokio::test]
    async fn vanished_peers_are_detected_within_half_a_minute() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (_client, accepted) = tokio::join!(TcpStream::connect(listener.local_addr().unwrap()), async {
            listener.accept().await.unwrap()
        });
        set_options(&accepted.0).unwrap();
        let socket = SockRef::from(&accepted.0);
        // idle, or with data that is never acknowledged
        let probes = socket.tcp_keepalive_retries().unwrap();
        let idle = socket.tcp_keepalive_time().unwrap() + socket.tcp_keepalive_interval().unwrap() * probes;
        assert!(idle.as_secs() <= 30, "{idle:?}");
        assert!(socket.tcp_user_timeout().unwrap().unwrap().as_secs() < 30);
    }
}
