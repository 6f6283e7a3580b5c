//! The list of connected clients, which the health page and the console show.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

use parking_lot::Mutex;
use wire::console::Role;
use world::SessionId;

/// A connected client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Name of the protocol.
    pub protocol: &'static str,
    /// Its address. `None` for a shared socket until a peer uses it.
    pub peer: Option<SocketAddr>,
    /// The role of a browser; `None` for other clients.
    pub role: Option<Role>,
}

/// All connected clients, by session. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Roster(Arc<Mutex<BTreeMap<SessionId, Client>>>);

impl Roster {
    pub(crate) fn enter(&self, session: SessionId, client: Client) {
        self.0.lock().insert(session, client);
    }

    pub(crate) fn leave(&self, session: SessionId) {
        self.0.lock().remove(&session);
    }

    /// Sets the peer that last used a session's shared socket.
    pub(crate) fn note_peer(&self, session: SessionId, peer: SocketAddr) {
        if let Some(client) = self.0.lock().get_mut(&session) {
            client.peer = Some(peer);
        }
    }

    /// All connected clients, in the order in which they connected.
    pub fn clients(&self) -> Vec<(SessionId, Client)> {
        self.0.lock().iter().map(|(&session, client)| (session, client.clone())).collect()
    }
}
