//! Who is connected, for people.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use wire::console::Role;
use world::SessionId;

/// Somebody who is connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Name of the protocol.
    pub protocol: &'static str,
    /// Where it is; not known of a socket for everybody until somebody uses it.
    pub peer: Option<SocketAddr>,
    /// What it may do, if it is a browser.
    pub role: Option<Role>,
}

/// All who are connected, by their sessions. Cheap to copy.
#[derive(Clone, Debug, Default)]
pub struct Roster(Arc<Mutex<BTreeMap<SessionId, Client>>>);

impl Roster {
    fn hold(&self) -> MutexGuard<'_, BTreeMap<SessionId, Client>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn enter(&self, session: SessionId, client: Client) {
        self.hold().insert(session, client);
    }

    pub(crate) fn leave(&self, session: SessionId) {
        self.hold().remove(&session);
    }

    /// Somebody uses a socket that is for everybody.
    pub(crate) fn note_peer(&self, session: SessionId, peer: SocketAddr) {
        if let Some(client) = self.hold().get_mut(&session) {
            client.peer = Some(peer);
        }
    }

    /// All who are connected, in the order in which they came.
    pub fn clients(&self) -> Vec<(SessionId, Client)> {
        self.hold().iter().map(|(&session, client)| (session, client.clone())).collect()
    }
}
