//! Shared by the clients of UDP protocols.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Instant;

/// Maximum size of a datagram. A smaller buffer would silently truncate.
pub(crate) const MAX_DATAGRAM_BYTES: usize = 65_535;

/// Binds a socket of the address family of `peer` to any free port.
pub(crate) fn bind_for(peer: SocketAddr) -> io::Result<UdpSocket> {
    match peer {
        SocketAddr::V4(_) => UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)),
    }
}

/// Whether a read timed out (systems use either kind) or was interrupted.
pub(crate) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[expect(clippy::disallowed_methods, reason = "a client is a driver: it waits for the network")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
