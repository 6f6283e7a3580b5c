//! Admission control of TCP connections: quotas, and one account of what all of them hold in memory.
//!
//! Each endpoint has a quota of its own, in total and per source, so that a crowd at one port does not block the others. A
//! connection that has not sent a message yet makes room for a new one when the quota is used up, the oldest first. When all
//! connections together hold too much, the one that holds most is closed.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::{access::Source, descriptors::Descriptors, limits, metrics::METRICS};

/// All TCP connections of the process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Admission(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    descriptors: Descriptors,
    connections: Mutex<Connections>,
    next_endpoint: AtomicU32,
}

impl Default for Admission {
    fn default() -> Self {
        Self::new(Descriptors::default())
    }
}

#[derive(Debug, Default)]
struct Connections {
    /// In the order of their arrival.
    open: BTreeMap<u64, Entry>,
    next: u64,
    /// Bytes that all connections hold.
    held: usize,
}

#[derive(Debug)]
struct Entry {
    protocol: &'static str,
    endpoint: u32,
    is_reserved: bool,
    peer: SocketAddr,
    has_sent: bool,
    held: usize,
    evict: watch::Sender<Option<Eviction>>,
}

/// Why a connection is closed in favour of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Eviction {
    /// It has sent nothing, and the limit of connections is reached.
    #[error("evicted: idle, and the connection limit is reached")]
    Silent,
    /// All connections together hold too much memory, and this one the most.
    #[error("memory limit for all connections exceeded; this one holds the most")]
    HoldsMost,
}

impl Admission {
    /// As many connections and conversations as there are descriptors for them.
    pub fn new(descriptors: Descriptors) -> Self {
        Self(Arc::new(Shared { descriptors, connections: Mutex::default(), next_endpoint: AtomicU32::new(0) }))
    }

    /// An endpoint with a quota of its own.
    pub(crate) fn endpoint(&self, protocol: &'static str) -> EndpointAdmission {
        let endpoint = self.0.next_endpoint.fetch_add(1, Ordering::Relaxed);
        EndpointAdmission { admission: self.clone(), protocol, endpoint, is_reserved: false }
    }

    /// An endpoint whose quota is available whatever happens at the others.
    pub(crate) fn reserved_endpoint(&self, protocol: &'static str) -> EndpointAdmission {
        EndpointAdmission { is_reserved: true, ..self.endpoint(protocol) }
    }

    /// Maximum number of conversations of a service.
    pub(crate) fn conversations(&self) -> usize {
        self.0.descriptors.conversations
    }

    /// Open connections of a protocol: a number that is unique for the process, and the address.
    pub(crate) fn connections(&self, protocol: &str) -> Vec<(u64, SocketAddr)> {
        let connections = self.0.connections.lock();
        let of_protocol = connections.open.iter().filter(|(_, entry)| entry.protocol == protocol);
        of_protocol.map(|(&number, entry)| (number, entry.peer)).collect()
    }
}

/// Admission at one endpoint.
#[derive(Clone, Debug)]
pub(crate) struct EndpointAdmission {
    admission: Admission,
    protocol: &'static str,
    endpoint: u32,
    is_reserved: bool,
}

impl EndpointAdmission {
    pub(crate) fn protocol(&self) -> &'static str {
        self.protocol
    }

    /// A permit for a connection, unless the quota is used up by connections that are in use.
    pub(crate) fn try_acquire(&self, peer: SocketAddr) -> Option<Permit> {
        let source = Source::of(peer);
        let mut connections = self.admission.0.connections.lock();
        let here = || connections.open.iter().filter(|(_, entry)| entry.endpoint == self.endpoint);
        let from_source = || here().filter(|(_, entry)| Source::of(entry.peer) == source);
        let all = || connections.open.iter().filter(|(_, entry)| !entry.is_reserved);
        let evicted = if from_source().count() >= limits::CONNECTIONS_PER_SOURCE {
            Some(oldest_silent(from_source())?)
        } else if here().count() >= limits::CONNECTIONS_PER_ENDPOINT {
            Some(oldest_silent(here())?)
        } else if !self.is_reserved && all().count() >= self.admission.0.descriptors.connections {
            Some(oldest_silent(all())?)
        } else {
            None
        };
        if let Some(number) = evicted {
            connections.evict(number, Eviction::Silent);
        }
        let (evict, evicted) = watch::channel(None);
        let number = connections.next;
        connections.next += 1;
        let &Self { protocol, endpoint, is_reserved, .. } = self;
        let entry = Entry { protocol, endpoint, is_reserved, peer, has_sent: false, held: 0, evict };
        connections.open.insert(number, entry);
        drop(connections);
        Some(Permit { admission: self.admission.clone(), number, held: 0, evicted })
    }
}

fn oldest_silent<'a>(mut among: impl Iterator<Item = (&'a u64, &'a Entry)>) -> Option<u64> {
    among.find(|(_, entry)| !entry.has_sent).map(|(&number, _)| number)
}

impl Connections {
    /// Closes a connection; it no longer counts.
    fn evict(&mut self, number: u64, reason: Eviction) {
        if let Some(entry) = self.remove(number) {
            METRICS.evictions.add(entry.protocol, 1);
            // a connection that has just ended needs no notice
            let _ = entry.evict.send(Some(reason));
        }
    }

    fn set_held(&mut self, bytes: usize) {
        self.held = bytes;
        METRICS.held_bytes.set(bytes as u64);
    }

    fn remove(&mut self, number: u64) -> Option<Entry> {
        let entry = self.open.remove(&number)?;
        self.set_held(self.held - entry.held);
        Some(entry)
    }
}

/// Permission for one connection; returned when dropped.
#[derive(Debug)]
pub struct Permit {
    admission: Admission,
    number: u64,
    /// Bytes that it is charged for.
    held: usize,
    evicted: watch::Receiver<Option<Eviction>>,
}

impl Permit {
    /// The peer has sent a complete message: the connection no longer makes room for others.
    pub(crate) fn note_message(&self) {
        if let Some(entry) = self.admission.0.connections.lock().open.get_mut(&self.number) {
            entry.has_sent = true;
        }
    }

    /// Charges the connection for the bytes that it holds: received and not handled yet, or queued and not sent yet.
    /// Small amounts are free.
    pub(crate) fn set_held(&mut self, bytes: usize) {
        let bytes = if bytes <= limits::FREE_BYTES { 0 } else { bytes };
        if bytes == self.held {
            return;
        }
        self.held = bytes;
        let mut connections = self.admission.0.connections.lock();
        let Some(entry) = connections.open.get_mut(&self.number) else { return };
        let before = std::mem::replace(&mut entry.held, bytes);
        let held = connections.held + bytes - before;
        connections.set_held(held);
        if connections.held > limits::HELD_BYTES {
            let most = connections.open.iter().max_by_key(|(_, entry)| entry.held).map(|(&number, _)| number);
            if let Some(number) = most {
                connections.evict(number, Eviction::HoldsMost);
            }
        }
    }

    /// Waits until the connection has to be closed in favour of others.
    pub(crate) async fn evicted(&self) -> Eviction {
        let mut evicted = self.evicted.clone();
        match evicted.wait_for(Option::is_some).await.map(|reason| *reason) {
            Ok(Some(reason)) => reason,
            // the entry is there as long as the permit, or was evicted
            Ok(None) | Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.admission.0.connections.lock().remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8, port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, last], port))
    }

    fn eviction(permit: &Permit) -> Option<Eviction> {
        *permit.evicted.borrow()
    }

    #[test]
    fn a_full_endpoint_admits_nobody_else_and_other_endpoints_do() {
        let admission = Admission::default();
        let (full, other) = (admission.endpoint("full"), admission.endpoint("other"));
        let permits: Vec<_> = (0..limits::CONNECTIONS_PER_ENDPOINT)
            .map(|number| {
                let permit = full.try_acquire(peer((number / limits::CONNECTIONS_PER_SOURCE) as u8, 9)).unwrap();
                permit.note_message();
                permit
            })
            .collect();
        assert!(full.try_acquire(peer(200, 9)).is_none(), "all are in use");
        assert!(other.try_acquire(peer(200, 9)).is_some());
        assert_eq!(admission.connections("full").len(), limits::CONNECTIONS_PER_ENDPOINT);
        assert!(permits.iter().all(|permit| eviction(permit).is_none()));
        drop(permits);
        assert!(full.try_acquire(peer(200, 9)).is_some());
        assert!(admission.connections("full").is_empty());
    }

    #[test]
    fn a_reserved_endpoint_admits_when_all_others_are_full() {
        let admission = Admission::new(Descriptors { connections: 2, conversations: 0 });
        let (crowded, console) = (admission.endpoint("crowded"), admission.reserved_endpoint("console"));
        let permits = [1, 2].map(|last| crowded.try_acquire(peer(last, 9)).unwrap());
        permits.iter().for_each(Permit::note_message);
        let _consoles = [1, 2, 3].map(|last| console.try_acquire(peer(last, 9)).unwrap());
        assert!(crowded.try_acquire(peer(3, 9)).is_none());
        drop(permits);
        assert!(crowded.try_acquire(peer(3, 9)).is_some(), "consoles do not count");
    }

    #[test]
    fn the_oldest_silent_connection_makes_room() {
        let endpoint = Admission::default().endpoint("test");
        let elsewhere = endpoint.try_acquire(peer(2, 1)).unwrap();
        let permits: Vec<_> = (0..limits::CONNECTIONS_PER_SOURCE as u16)
            .map(|port| endpoint.try_acquire(peer(1, port)).unwrap())
            .collect();
        permits[0].note_message();
        let newcomer = endpoint.try_acquire(peer(1, 999)).unwrap();
        let evicted: Vec<_> = permits.iter().map(|permit| eviction(permit).is_some()).collect();
        let expected: Vec<_> = (0..permits.len()).map(|index| index == 1).collect();
        assert_eq!(evicted, expected, "neither the first, which has sent something, nor a later one");
        assert!(eviction(&elsewhere).is_none(), "nobody from another address");
        for permit in permits.iter().skip(2).chain([&newcomer]) {
            permit.note_message();
        }
        assert!(endpoint.try_acquire(peer(1, 1_000)).is_none(), "all are in use");
    }

    #[test]
    fn the_connection_that_holds_most_is_closed_when_all_hold_too_much() {
        let admission = Admission::default();
        let mut permits: Vec<_> =
            (1..=3).map(|last| admission.endpoint("test").try_acquire(peer(last, 9)).unwrap()).collect();
        for (permit, bytes) in permits.iter_mut().zip([limits::FREE_BYTES, limits::HELD_BYTES / 2, limits::HELD_BYTES])
        {
            permit.set_held(bytes);
        }
        let reasons: Vec<_> = permits.iter().map(eviction).collect();
        assert_eq!(reasons, [None, None, Some(Eviction::HoldsMost)]);
        // it no longer counts
        permits[1].set_held(limits::HELD_BYTES);
        assert_eq!(eviction(&permits[1]), None);
        permits[0].set_held(limits::FREE_BYTES + 1);
        assert_eq!(eviction(&permits[1]), Some(Eviction::HoldsMost));
        assert_eq!(admission.0.connections.lock().held, limits::FREE_BYTES + 1);
        drop(permits);
        assert_eq!(admission.0.connections.lock().held, 0);
    }
}
