//! The protocols as the server sees them: their section of a scenario, and the endpoints, directors and threads they
//! bring. What they do is in the crate `session`.

use std::{
    fmt,
    path::{Path, PathBuf},
    thread::JoinHandle,
};

use ::session::{
    ConversationService, DatagramEffect, DatagramSession, LogSession, StreamService, console::PuppetAccess,
    soccer::Agents,
};
use serde::{Serialize, Serializer};
use support::output_file::Existing;
use world::{Catalogue, clock::Pace, director::DynDirector};

use crate::{driver::evo::ListenOptions, health::Health, serve::ServeError, sim_thread::SimHandle};

pub mod evo;
mod odcp;
mod osp;
pub mod oz;
mod soccer;

/// All protocols of this server. A scenario switches one on with a section of its name.
pub const PROTOCOLS: &[Protocol] = &[evo::PROTOCOL, odcp::PROTOCOL, osp::PROTOCOL, oz::PROTOCOL, soccer::PROTOCOL];

/// A protocol, as the configuration sees it.
pub struct Protocol {
    /// Name of its section in a scenario.
    pub name: &'static str,
    /// Human-readable title.
    pub title: &'static str,
    /// Parses its section. Relative paths in it are relative to the folder.
    pub configure: Configure,
    /// Restores the director of a recorded world from its description, if the protocol has one.
    pub restore_director: Option<RestoreDirector>,
}

/// Parses a section.
pub type Configure = fn(toml::Table, &Path) -> Result<Box<dyn Service>, toml::de::Error>;

/// Makes a director from its description in a recording. The error is human-readable.
pub type RestoreDirector = fn(&str) -> Result<Box<dyn DynDirector>, String>;

/// Restores the director of a recorded world.
///
/// # Errors
///
/// When the protocol is unknown or the description invalid; the error is human-readable.
pub fn restore_director(description: &str) -> Result<Box<dyn DynDirector>, String> {
    let (name, rest) = description.split_once(' ').unwrap_or((description, ""));
    let protocol = PROTOCOLS.iter().find(|protocol| protocol.name == name);
    let restore = protocol.and_then(|protocol| protocol.restore_director);
    restore.ok_or_else(|| format!("unknown director `{name}`"))?(rest)
}

impl fmt::Debug for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A configured protocol. Errors are human-readable.
pub trait Service: Send + Sync + fmt::Debug {
    /// Its section of the configuration, including defaults.
    fn config(&self) -> toml::Table;

    /// The director it needs in a world on this field, if any.
    fn director(&self, _field: &str) -> Result<Option<DirectorSetup>, String> {
        Ok(None)
    }

    /// Log files that it writes.
    fn logs(&self) -> Vec<Log> {
        Vec::new()
    }

    /// Files that it creates, which must not exist unless they may be replaced.
    fn output_files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The sockets it needs in a world with these agents and this pace.
    fn endpoints(&self, world: &Catalogue, pace: Pace) -> Result<Vec<Endpoint>, String>;

    /// The agents of a soccer game in a world of this pace, if the protocol has them: for programs that have the world in
    /// their own process.
    fn soccer_agents(&self, _pace: Pace) -> Result<Option<Agents>, String> {
        Ok(None)
    }

    /// Starts the simulators of the evolving robots, if the protocol has them; on any free ports if `free_ports`.
    fn start_simulators(
        &self,
        _options: &ListenOptions,
        _free_ports: bool,
    ) -> Result<Option<evo::Simulators>, ServeError> {
        Ok(None)
    }

    /// Whether its companion threads keep a core so busy that the sim thread needs one of its own.
    fn has_busy_companions(&self) -> bool {
        false
    }

    /// The puppet that the console controls, if the protocol has one.
    fn puppet(&self) -> Result<Option<PuppetAccess>, String> {
        Ok(None)
    }

    /// Starts threads that work for the scenario's world.
    fn start_companions(
        &self,
        _sim: &SimHandle,
        _health: &Health,
        _existing: Existing,
    ) -> Result<Vec<Companion>, ServeError> {
        Ok(Vec::new())
    }
}

/// A thread that works for the world, and ends with it.
pub struct Companion {
    thread: JoinHandle<()>,
    stop: Option<Box<dyn FnOnce() + Send>>,
}

impl fmt::Debug for Companion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Companion").field(&self.thread.thread().name()).finish()
    }
}

impl Companion {
    /// A thread that notices the end of the world by itself.
    pub fn new(thread: JoinHandle<()>) -> Self {
        Self { thread, stop: None }
    }

    /// A thread that has to be stopped.
    pub fn with_stop(thread: JoinHandle<()>, stop: impl FnOnce() + Send + 'static) -> Self {
        Self { thread, stop: Some(Box::new(stop)) }
    }

    /// Asks the thread to stop, if it does not notice the end of the world by itself.
    #[must_use]
    pub fn stop(mut self) -> Self {
        if let Some(stop) = self.stop.take() {
            stop();
        }
        self
    }

    /// Waits for the thread to end.
    pub fn join(self) {
        let name = self.thread.thread().name().unwrap_or_default().to_owned();
        if self.thread.join().is_err() {
            tracing::error!(thread = name, "companion thread panicked");
        }
    }
}

/// A director, and its description in recordings.
pub struct DirectorSetup {
    /// For [`Protocol::restore_director`].
    pub description: String,
    /// The director.
    pub director: Box<dyn DynDirector>,
}

impl fmt::Debug for DirectorSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.description)
    }
}

/// A file that is appended to while the world runs.
pub struct Log {
    /// Path of the file. Existing content is kept.
    pub path: PathBuf,
    /// Produces the lines.
    pub session: Box<dyn LogSession>,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Log({})", self.path.display())
    }
}

/// Identifies what listens on a socket. Its text is the `id` of an address in the output of `--json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndpointId {
    /// Soccer agents.
    SoccerAgents,
    /// Soccer monitors and trainers.
    SoccerMonitors,
    /// The port that OSP clients greet.
    Osp,
    /// The ODCP port of one agent.
    Odcp {
        /// Name of the agent.
        agent: String,
    },
    /// Operators of the puppet.
    Oz,
    /// A port of the World Simulator.
    WorldSimulator,
    /// The port of the Robot Simulator for Population Managers.
    RobotSimulator,
    /// The web console.
    Console,
}

impl fmt::Display for EndpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SoccerAgents => f.write_str("soccer-agents"),
            Self::SoccerMonitors => f.write_str("soccer-monitors"),
            Self::Osp => f.write_str("osp"),
            Self::Odcp { agent } => write!(f, "odcp:{agent}"),
            Self::Oz => f.write_str("oz"),
            Self::WorldSimulator => f.write_str("world-simulator"),
            Self::RobotSimulator => f.write_str("robot-simulator"),
            Self::Console => f.write_str("console"),
        }
    }
}

impl Serialize for EndpointId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A socket to open.
#[derive(Debug)]
pub struct Endpoint {
    /// Identifies the socket.
    pub id: EndpointId,
    /// Human-readable title: `ODCP of ASeries`.
    pub title: String,
    /// Port; 0 for any free one.
    pub port: u16,
    /// The session or service behind it.
    pub kind: EndpointKind,
}

/// The session or service behind a socket.
pub enum EndpointKind {
    /// One session for all peers of a UDP socket.
    Datagram(Box<dyn DatagramSession<DatagramEffect>>),
    /// A session for each TCP connection.
    Stream(Box<dyn StreamService>),
    /// A session, with a UDP socket of its own, for each peer that greets the port.
    Conversation(Box<dyn ConversationService>),
}

impl fmt::Debug for EndpointKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Datagram(_) => f.write_str("Datagram"),
            Self::Stream(_) => f.write_str("Stream"),
            Self::Conversation(_) => f.write_str("Conversation"),
        }
    }
}
