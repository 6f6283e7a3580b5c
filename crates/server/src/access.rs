//! Which peers may use the server, and how often.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Instant,
};

use ipnet::IpNet;
use session::TokenBucket;

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

/// Where a peer comes from, as far as quotas are concerned: all loopback addresses are one source, and so is an IPv6
/// network of 64 bits, which a single machine may use as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source(IpAddr);

impl Source {
    /// The source of a peer.
    pub fn of(peer: SocketAddr) -> Self {
        match peer.ip().to_canonical() {
            address if address.is_loopback() => Self(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Self(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into())
            }
            address => Self(address),
        }
    }
}

/// Limits how often each peer of a datagram socket may send.
///
/// Anybody can write a false address on a datagram, so that the replies go there. A peer that has not connected is served
/// at a low rate, and so are all such peers of one source together, unless it is this machine.
#[derive(Debug)]
pub struct RateLimit {
    peers: BTreeMap<SocketAddr, Peer>,
    /// What peers of a source that have not connected may send together.
    unconnected: SourceLimit,
}

impl Default for RateLimit {
    fn default() -> Self {
        Self { peers: BTreeMap::new(), unconnected: SourceLimit::new(limits::UNCONNECTED_DATAGRAMS_PER_SOURCE) }
    }
}

#[derive(Debug)]
struct Peer {
    is_connected: bool,
    bucket: TokenBucket,
}

impl Peer {
    fn new(address: SocketAddr, is_connected: bool) -> Self {
        let is_certain = is_connected || is_loopback(address);
        let limit = if is_certain { limits::CONNECTED_DATAGRAMS } else { limits::UNCONNECTED_DATAGRAMS };
        Self { is_connected, bucket: TokenBucket::new(limit) }
    }
}

/// Whether it is an address that nobody outside can forge.
fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

impl RateLimit {
    /// Whether this peer may send one more at `now`.
    pub fn admits(&mut self, peer: SocketAddr, now: Instant) -> bool {
        if self.peers.len() >= limits::PEERS && !self.peers.contains_key(&peer) {
            forget_longest_silent(&mut self.peers, |peer| (peer.is_connected, peer.bucket.last_used()));
        }
        let known = self.peers.entry(peer).or_insert_with(|| Peer::new(peer, false));
        let is_certain = known.is_connected || is_loopback(peer);
        known.bucket.try_take(1.0, now) && (is_certain || self.unconnected.admits(peer, now))
    }

    /// The peer has connected, or disconnected.
    pub fn set_connected(&mut self, peer: SocketAddr, is_connected: bool) {
        if self.peers.get(&peer).is_none_or(|known| known.is_connected != is_connected) {
            self.peers.insert(peer, Peer::new(peer, is_connected));
        }
    }

    /// Takes more tokens from a peer for a datagram that costs more than others.
    pub fn charge(&mut self, peer: SocketAddr, tokens: f64) {
        if let Some(peer) = self.peers.get_mut(&peer).filter(|peer| peer.is_connected) {
            peer.bucket.charge(tokens);
        }
    }
}

/// Limits how often something may happen for all peers of a source together.
#[derive(Debug)]
pub struct SourceLimit {
    /// At once, and per second in the long run.
    limit: (f64, f64),
    sources: BTreeMap<Source, TokenBucket>,
}

impl SourceLimit {
    /// This many at once, and this many per second in the long run.
    pub fn new(limit: (f64, f64)) -> Self {
        Self { limit, sources: BTreeMap::new() }
    }

    /// Whether it may happen once more at `now`.
    pub fn admits(&mut self, peer: SocketAddr, now: Instant) -> bool {
        let source = Source::of(peer);
        if self.sources.len() >= limits::PEERS && !self.sources.contains_key(&source) {
            forget_longest_silent(&mut self.sources, TokenBucket::last_used);
        }
        let limit = self.limit;
        self.sources.entry(source).or_insert_with(|| TokenBucket::new(limit)).try_take(1.0, now)
    }
}

fn forget_longest_silent<K: Copy + Ord, V, T: Ord>(known: &mut BTreeMap<K, V>, last: impl Fn(&V) -> T) {
    let longest = known.iter().min_by_key(|(_, value)| last(value)).map(|(&key, _)| key);
    if let Some(key) = longest {
        known.remove(&key);
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
    fn loopback_addresses_and_ipv6_networks_are_one_source() {
        for (a, b, same) in [
            ("127.0.0.1:1", "127.9.9.9:2", true),
            ("127.0.0.1:1", "[::1]:2", true),
            ("127.0.0.1:1", "[::ffff:127.1.1.1]:2", true),
            ("192.0.2.1:1", "192.0.2.1:2", true),
            ("192.0.2.1:1", "192.0.2.2:1", false),
            ("[2001:db8::1]:1", "[2001:db8::ffff:2]:1", true),
            ("[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false),
        ] {
            assert_eq!(Source::of(peer(a)) == Source::of(peer(b)), same, "{a} {b}");
        }
    }

    #[test]
    fn an_open_bind_needs_a_list() {
        let any = "0.0.0.0".parse().unwrap();
        assert!(check_bind(any, &[]).is_err());
        assert!(check_bind(any, &["10.0.0.0/8".parse().unwrap()]).is_ok());
        assert!(check_bind("127.0.0.1".parse().unwrap(), &[]).is_ok());
    }

    /// Datagrams served of a million within a second.
    fn served(limit: &mut RateLimit, from: impl Fn(u64) -> SocketAddr, start: Instant, cost: f64) -> f64 {
        let mut served = 0;
        for i in 0..1_000_000 {
            let peer = from(i);
            if limit.admits(peer, start + Duration::from_micros(i)) {
                limit.charge(peer, cost);
                served += 1;
            }
        }
        f64::from(served)
    }

    #[test]
    fn a_flood_is_cut_to_the_rate_and_others_are_not() {
        let (mut limit, start) = (RateLimit::default(), Instant::now());
        let (loud, quiet) = (peer("192.0.2.1:1"), peer("192.0.2.2:2"));
        let most = |(burst, rate): (f64, f64)| burst + rate;
        let near = |served: f64, most: f64| (most - 5.0..=most).contains(&served);
        let unconnected = served(&mut limit, |_| loud, start, 0.0);
        assert!(near(unconnected, most(limits::UNCONNECTED_DATAGRAMS)), "{unconnected} served");
        // from as many false ports as there are
        let from = |i: u64| SocketAddr::new(loud.ip(), (i % 60_000) as u16 + 1);
        let forged = served(&mut limit, from, start + Duration::from_secs(60), 0.0);
        assert!(near(forged, most(limits::UNCONNECTED_DATAGRAMS_PER_SOURCE)), "{forged} served");
        assert!(limit.admits(quiet, start + Duration::from_secs(61)));
        limit.set_connected(loud, true);
        let connected = served(&mut limit, |_| loud, start + Duration::from_secs(70), 0.0);
        assert!(near(connected, most(limits::CONNECTED_DATAGRAMS)), "{connected} served");
        // and far fewer of those that cost more
        let costly = served(&mut limit, |_| loud, start + Duration::from_secs(71), limits::COMMAND_COST);
        let most_costly = limits::CONNECTED_DATAGRAMS.1 / (1.0 + limits::COMMAND_COST);
        assert!((costly - most_costly).abs() < 5.0, "{costly} served");
        assert!(limit.admits(quiet, start + Duration::from_secs(72)));
        // on this machine nobody has to connect first
        let local = served(&mut limit, |_| peer("127.0.0.1:9"), start + Duration::from_secs(80), 0.0);
        assert!(near(local, most(limits::CONNECTED_DATAGRAMS)), "{local} served");
    }

    #[test]
    fn the_number_of_remembered_peers_is_bounded() {
        let (mut limit, start) = (RateLimit::default(), Instant::now());
        for port in 0..limits::PEERS as u64 + 100 {
            let address = SocketAddr::from(([127, 0, (port >> 16) as u8, 1], port as u16));
            limit.admits(address, start + Duration::from_micros(port));
        }
        assert_eq!(limit.peers.len(), limits::PEERS);
        for number in 0..limits::PEERS as u64 + 100 {
            let [a, b] = (number as u16).to_be_bytes();
            limit.admits(SocketAddr::from(([10, 0, a, b], 9)), start);
        }
        assert_eq!(limit.unconnected.sources.len(), limits::PEERS);
    }
}
