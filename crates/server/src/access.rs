//! Which peers may use the server, and how often.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    time::Instant,
};

use ipnet::IpNet;

use crate::limits;

/// Addresses that are served. Loopback addresses always are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowList(Vec<IpNet>);

impl AllowList {
    /// Serves loopback addresses and these networks.
    pub fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    /// Whether this peer is served.
    pub fn admits(&self, peer: SocketAddr) -> bool {
        let address = peer.ip().to_canonical();
        address.is_loopback() || self.0.iter().any(|network| network.contains(&address))
    }
}

/// The server would listen on an address that other machines can reach, without an allow-list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "binding to {address} admits other machines; list those that may connect in `allow` of [server], for example \
     allow = [\"192.168.1.0/24\"]"
)]
pub struct OpenBind {
    /// The address to listen on.
    pub address: IpAddr,
}

/// Refuses an address other than a loopback address if there is no allow-list.
pub fn check_bind(address: IpAddr, allow: &[IpNet]) -> Result<(), OpenBind> {
    if address.is_loopback() || !allow.is_empty() { Ok(()) } else { Err(OpenBind { address }) }
}

/// Limits how often each peer may send: a token bucket per peer, see [`limits::DATAGRAMS_PER_SECOND`].
#[derive(Debug, Default)]
pub struct RateLimit {
    peers: BTreeMap<SocketAddr, Bucket>,
}

#[derive(Debug)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl RateLimit {
    /// Whether this peer may send one more at `now`.
    pub fn admits(&mut self, peer: SocketAddr, now: Instant) -> bool {
        if self.peers.len() >= limits::PEERS && !self.peers.contains_key(&peer) {
            self.forget_longest_silent();
        }
        let full = Bucket { tokens: limits::DATAGRAM_BURST, at: now };
        let bucket = self.peers.entry(peer).or_insert(full);
        let gained = now.saturating_duration_since(bucket.at).as_secs_f64() * limits::DATAGRAMS_PER_SECOND;
        bucket.tokens = (bucket.tokens + gained).min(limits::DATAGRAM_BURST);
        bucket.at = now;
        if bucket.tokens < 1.0 {
            return false;
        }
        bucket.tokens -= 1.0;
        true
    }

    /// Takes more tokens from a peer for a datagram that costs more than others.
    pub fn charge(&mut self, peer: SocketAddr, tokens: f64) {
        if let Some(bucket) = self.peers.get_mut(&peer) {
            bucket.tokens -= tokens;
        }
    }

    fn forget_longest_silent(&mut self) {
        let longest = self.peers.iter().min_by_key(|(_, bucket)| bucket.at).map(|(&peer, _)| peer);
        if let Some(peer) = longest {
            self.peers.remove(&peer);
        }
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "an Instant can only be had from the system; the tests move it themselves"
)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn peer(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn loopback_and_the_list_are_served() {
        let list = AllowList::new(vec!["10.1.0.0/16".parse().unwrap()]);
        for (address, served) in [
            ("127.0.0.1:5", true),
            ("127.9.9.9:5", true),
            ("[::1]:5", true),
            ("[::ffff:127.0.0.1]:5", true),
            ("10.1.2.3:5", true),
            ("[::ffff:10.1.2.3]:5", true),
            ("10.2.2.3:5", false),
            ("192.0.2.1:5", false),
        ] {
            assert_eq!(list.admits(peer(address)), served, "{address}");
        }
    }

    #[test]
    fn an_open_bind_needs_a_list() {
        let any = "0.0.0.0".parse().unwrap();
        assert!(check_bind(any, &[]).is_err());
        assert!(check_bind(any, &["10.0.0.0/8".parse().unwrap()]).is_ok());
        assert!(check_bind("127.0.0.1".parse().unwrap(), &[]).is_ok());
    }

    #[test]
    fn a_flood_is_cut_to_the_rate_and_others_are_not() {
        let (mut limit, start) = (RateLimit::default(), Instant::now());
        let (loud, quiet) = (peer("127.0.0.1:1"), peer("127.0.0.1:2"));
        let mut served = 0;
        // a million datagrams within a second
        for i in 0..1_000_000 {
            served += u32::from(limit.admits(loud, start + Duration::from_micros(i)));
        }
        let most = limits::DATAGRAM_BURST + limits::DATAGRAMS_PER_SECOND;
        assert!((most - 5.0..=most).contains(&f64::from(served)), "{served} served");
        // and far fewer of those that cost more
        let mut costly = 0;
        for i in 0..1_000_000 {
            if limit.admits(loud, start + Duration::from_secs(1) + Duration::from_micros(i)) {
                limit.charge(loud, limits::COMMAND_COST);
                costly += 1;
            }
        }
        let most = limits::DATAGRAMS_PER_SECOND / (1.0 + limits::COMMAND_COST);
        assert!((f64::from(costly) - most).abs() < 5.0, "{costly} served");
        assert!(limit.admits(quiet, start + Duration::from_secs(1)));
    }

    #[test]
    fn the_number_of_remembered_peers_is_bounded() {
        let (mut limit, start) = (RateLimit::default(), Instant::now());
        for port in 0..limits::PEERS as u64 + 100 {
            let address = SocketAddr::from(([127, 0, (port >> 16) as u8, 1], port as u16));
            limit.admits(address, start + Duration::from_micros(port));
        }
        assert_eq!(limit.peers.len(), limits::PEERS);
    }
}
