//! What the server provides to console sessions.

use core::net::SocketAddr;
use std::{fmt, sync::Arc};

use puppet::gesture::Gestures;
use wire::console::{Address, Component, Gauge, LogLine, PlaybackState, Role};
use world::{SessionId, Snapshot};

use crate::oz::{Control, OperatorPanel};

/// What the console shows besides the world.
pub trait Backend: Send + Sync {
    /// Why the simulation has failed, if it is stopped until a reset.
    fn failure(&self) -> Option<String>;
    /// Clients with a session in this world.
    fn clients(&self) -> Vec<ConnectedClient>;
    /// Connections of the standalone servers: a stable number, the protocol and the address.
    fn standalone_clients(&self) -> Vec<(u64, &'static str, SocketAddr)>;
    /// All listening sockets; one that is reachable at several addresses is listed once for each.
    fn addresses(&self) -> Vec<Address>;
    /// Health of the server's parts.
    fn health(&self) -> Vec<Component>;
    /// The metrics that the console shows.
    fn gauges(&self, world: &Snapshot) -> Vec<Gauge>;
    /// Log lines from this number on, and the number of the next.
    fn log_since(&self, number: u64) -> (Vec<LogLine>, u64);
    /// Changes whenever an evolutionary run of this server has progressed, or its simulators have changed.
    fn runs_version(&self) -> u64;
    /// Players per team and status of the demo game, if it is running.
    fn demo(&self) -> Option<(u8, String)>;
    /// Changes whenever an operator has saved something.
    fn saved_version(&self) -> u64;
    /// Keys and values saved since this version.
    fn saved_since(&self, version: u64) -> Vec<(String, serde_json::Value)>;
}

/// A client with a session in this world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectedClient {
    /// Its session.
    pub session: SessionId,
    /// Name of the protocol.
    pub protocol: &'static str,
    /// Its address; none for a shared socket that no peer has used yet.
    pub peer: Option<SocketAddr>,
    /// Its role, for clients of the console.
    pub role: Option<Role>,
}

/// A recording or log that is open for viewing, as far as it has been read.
pub trait Playback: fmt::Debug + Send + Sync {
    /// Changes with the state.
    fn version(&self) -> u64;
    /// The state, with scenes and marks from these indices on.
    fn state(&self, scenes_from: usize, marks_from: usize) -> PlaybackState;
    /// Encoded poses of a frame, if it has been read.
    fn frame(&self, number: usize) -> Option<Arc<[u8]>>;
}

/// The puppet that operators control from the console.
#[derive(Clone, Debug)]
pub struct PuppetAccess {
    /// What its operators share.
    pub panel: Arc<OperatorPanel>,
    /// Name of its agent.
    pub robot: String,
    /// Its short name.
    pub name: String,
    /// Who may move it.
    pub control: Control,
    /// Its gestures.
    pub gestures: Gestures,
}
