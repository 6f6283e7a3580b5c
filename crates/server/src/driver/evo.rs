//! The standalone servers of the evolving robots: the World Simulator and the Robot Simulator. Each has a thread of its
//! own for its sockets; neither touches the world of the scenario.
//!
//! ```text
//! Population Manager --7720--> Robot Simulator --7770--> World Simulator
//!                              (evaluation threads, each with a connection or an arena)
//! ```

mod line_connection;
mod link;
mod pool;
mod robot;
mod service_clock;
mod worker;
mod world;

pub use self::{
    link::WorldLink,
    worker::{RemoteWorld, WorldAt},
};

use std::{
    io::{self, ErrorKind},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs},
    sync::Arc,
    thread::{self, JoinHandle},
};

use arena::{Arena, Plan, plan::Isolation};
use evolve::robot::Design;
use ipnet::IpNet;
use session::evo::{robot::RobotSimulator, world::WorldSimulator};
use tokio::runtime;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error};

use self::{pool::Pool, worker::Worker};
use super::admission::Admission;
use crate::{
    access::{AllowList, check_bind},
    address::Address,
    config::ConfigError,
    protocol::EndpointId,
    serve::ServeError,
};

const PROTOCOL: &str = "evo";

/// Maximum length of an address, in bytes.
const MAX_ADDRESS: usize = 256;
/// The host that programs connect to by default: this machine.
pub const DEFAULT_HOST: &str = "127.0.0.1";
/// Default port of a Robot Simulator, and the last port tried when it is in use.
pub const ROBOT_PORTS: (u16, u16) = (7720, 7769);
/// Default port of a World Simulator, and the last port tried when it is in use.
pub const WORLD_PORTS: (u16, u16) = (7770, 7799);

/// An address, with the default port of its kind if it has none.
pub fn with_port(address: &str, port: u16) -> String {
    let has_port = address
        .rsplit_once(':')
        .is_some_and(|(host, port)| port.parse::<u16>().is_ok() && (!host.contains(':') || host.ends_with(']')));
    if has_port { address.to_owned() } else { format!("{address}:{port}") }
}

/// Whether a text may be an address as users write it: `host`, `host:port`, `1.2.3.4:7720` or `[::1]:7720`.
pub fn is_address(text: &str) -> bool {
    let is_plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | ':' | '-' | '_' | '[' | ']' | '%');
    (1..=MAX_ADDRESS).contains(&text.len()) && !text.starts_with('-') && text.chars().all(is_plain)
}

/// The address of a World Simulator with the default port if it has none; this machine's if it is empty.
pub fn world_target(address: &str) -> String {
    with_port(if address.is_empty() { DEFAULT_HOST } else { address }, WORLD_PORTS.0)
}

/// Finds a World Simulator at an address as in [`world_target`].
///
/// # Errors
///
/// When the host is unknown; the error is human-readable.
pub fn find_world(address: &str) -> Result<SocketAddr, String> {
    let mut found = world_target(address).to_socket_addrs().map_err(|error| format!("`{address}`: {error}"))?;
    found.next().ok_or_else(|| format!("`{address}`: unknown host"))
}

/// Addresses on which a standalone server listens, and the peers that may connect.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// Address of all sockets.
    pub bind: IpAddr,
    /// Networks that may connect besides this machine; required if `bind` is not a loopback address.
    pub allow: Vec<IpNet>,
    /// Whether to try the following ports, up to the last one of its kind, when a port is in use.
    pub next_free: bool,
    /// Account of connections that the server shares with others in this process.
    pub admission: Admission,
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            allow: Vec::new(),
            next_free: false,
            admission: Admission::default(),
        }
    }
}

impl ListenOptions {
    fn allow_list(&self) -> AllowList {
        AllowList::new(self.allow.clone())
    }

    fn listen(
        &self,
        id: EndpointId,
        port: u16,
        last: u16,
        title: String,
    ) -> Result<(TcpListener, Address), ServeError> {
        check_bind(self.bind, &self.allow).map_err(ConfigError::from)?;
        let last = if self.next_free && port != 0 { last.max(port) } else { port };
        let mut tried = port;
        loop {
            let wanted = SocketAddr::new(self.bind, tried);
            let bound = TcpListener::bind(wanted).and_then(|listener| {
                listener.set_nonblocking(true)?;
                let address = listener.local_addr()?;
                Ok((listener, address))
            });
            match bound {
                Ok((listener, address)) => return Ok((listener, Address::new(id, title, "tcp", address, &self.allow))),
                Err(cause) if cause.kind() == ErrorKind::AddrInUse && tried < last => tried += 1,
                Err(cause) => {
                    let address = SocketAddr::new(self.bind, port);
                    return Err(ServeError::Bind { address, title, cause });
                }
            }
        }
    }
}

/// Options of a World Simulator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorldOptions {
    /// Seed of the robots' random start positions.
    pub seed: u64,
    /// A port for each kind of robot, 0 for any free one; empty for the plan's own.
    pub ports: Vec<u16>,
    /// Whether an invalid request gets a substitute reply instead of closing the connection (D31).
    pub lenient: bool,
}

/// Options of a Robot Simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotOptions {
    /// Port for managers; 0 for any free one.
    pub port: u16,
    /// Evaluation threads; 0 chooses automatically.
    pub threads: usize,
    /// Individuals evaluated at once by all threads together; 0 for the number in the body file, at least one per
    /// thread.
    pub concurrent: usize,
}

impl Default for RobotOptions {
    fn default() -> Self {
        Self { port: ROBOT_PORTS.0, threads: 0, concurrent: 0 }
    }
}

/// A server on threads of its own. It ends with [`stop`](Self::stop), or when dropped.
#[derive(Debug)]
pub struct StandaloneServer {
    addresses: Vec<Address>,
    stop: CancellationToken,
    pool: Option<Arc<Pool>>,
    threads: Vec<JoinHandle<()>>,
}

impl StandaloneServer {
    /// Its listening sockets.
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Asks it to end without waiting.
    pub fn cancel(&self) {
        self.stop.cancel();
        if let Some(pool) = &self.pool {
            pool.close();
        }
    }

    /// Ends it and waits for its threads.
    pub fn stop(mut self) {
        self.cancel();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                error!(protocol = PROTOCOL, "thread panicked");
            }
        }
    }
}

impl Drop for StandaloneServer {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// Starts a World Simulator. All ports lead into the same arena; each is for one kind of robots.
///
/// # Errors
///
/// When a port is in use, or there are not as many ports as the plan has kinds.
pub fn serve_world(
    plan: &Arc<Plan>,
    options: &WorldOptions,
    listen: &ListenOptions,
) -> Result<StandaloneServer, ServeError> {
    let kinds = plan.ports();
    let ports =
        if options.ports.is_empty() { kinds.iter().map(|kind| kind.port).collect() } else { options.ports.clone() };
    if ports.len() != kinds.len() {
        let reason =
            format!("the world has {} kinds of robots and needs a port for each, got {}", kinds.len(), ports.len());
        return Err(ServeError::Protocol { protocol: PROTOCOL, reason });
    }
    let (mut listeners, mut addresses) = (Vec::new(), Vec::new());
    for (kind, port) in kinds.iter().zip(ports) {
        let title = match kinds.len() {
            1 => "World Simulator".to_owned(),
            _ => format!("World Simulator for {}", kind.kind),
        };
        let (listener, address) = listen.listen(EndpointId::WorldSimulator, port, WORLD_PORTS.1, title)?;
        listeners.push(listener);
        addresses.push(address);
    }
    let simulator = WorldSimulator::new(Arena::new(Arc::clone(plan), options.seed), options.lenient);
    let (stop, listen) = (CancellationToken::new(), listen.clone());
    let stopping = stop.clone();
    let thread = start("evo world", move || async move {
        let listeners = listeners.into_iter().map(tokio::net::TcpListener::from_std).collect::<io::Result<Vec<_>>>();
        match listeners {
            Ok(listeners) => world::run(listeners, simulator, listen, stopping).await,
            Err(error) => error!(protocol = PROTOCOL, "cannot listen: {error}"),
        }
    })?;
    Ok(StandaloneServer { addresses, stop, pool: None, threads: vec![thread] })
}

/// Starts a Robot Simulator.
///
/// # Errors
///
/// When the port is in use.
pub fn serve_robot(
    design: &Arc<Design>,
    world_at: &WorldAt,
    options: &RobotOptions,
    listen: &ListenOptions,
) -> Result<StandaloneServer, ServeError> {
    let (listener, address) =
        listen.listen(EndpointId::RobotSimulator, options.port, ROBOT_PORTS.1, "Robot Simulator".to_owned())?;
    let (threads, slots) = choose_threads(design, world_at, options);
    let pool = Arc::new(Pool::default());
    let (stop, listen) = (CancellationToken::new(), listen.clone());
    let simulator = RobotSimulator::new(design.parameters().clone(), slots);
    let (stopping, submitting) = (stop.clone(), Arc::clone(&pool));
    let thread = start("evo robot", move || async move {
        match tokio::net::TcpListener::from_std(listener) {
            Ok(listener) => robot::run(listener, simulator, submitting, listen, stopping).await,
            Err(error) => error!(protocol = PROTOCOL, "cannot listen: {error}"),
        }
    })?;
    let mut served =
        StandaloneServer { addresses: vec![address], stop, pool: Some(Arc::clone(&pool)), threads: vec![thread] };
    for number in 0..threads {
        let concurrent = slots / threads + usize::from(number < slots % threads);
        let (world_at, design, pool) = (world_at.clone(), Arc::clone(design), Arc::clone(&pool));
        let worker = Worker { number, world_at, design, concurrent: concurrent.max(1), pool };
        let spawned = thread::Builder::new().name(format!("evo eval {number}")).spawn(move || worker.run());
        served.threads.push(spawned.map_err(ServeError::Thread)?);
    }
    debug!(protocol = PROTOCOL, threads, slots, "robot simulator started");
    Ok(served)
}

/// Number of evaluation threads, and of individuals evaluated at once by all of them. Individuals that share an arena need
/// to be on one thread. Where requests wait for each other's answers, each individual needs a connection, and a thread, of
/// its own: the world may answer a move only when all robots have requested theirs.
fn choose_threads(design: &Design, world_at: &WorldAt, options: &RobotOptions) -> (usize, usize) {
    let slots = if options.concurrent == 0 { design.parameters().concurrent } else { options.concurrent };
    let threads = match world_at {
        WorldAt::Remote(remote) if !remote.is_pipelined => slots.min(crate::limits::EVO_CONNECTIONS_TO_WORLD),
        _ if options.threads > 0 => options.threads,
        WorldAt::InProcess(plan, _) if plan.rules().isolation == Isolation::PerRobot => {
            thread::available_parallelism().map_or(1, usize::from)
        }
        WorldAt::InProcess(..) | WorldAt::Remote(_) => 1,
    };
    let slots = if options.concurrent == 0 { slots.max(threads) } else { slots };
    (threads.min(slots), slots)
}

/// Starts a thread with a runtime of its own.
fn start<F: Future<Output = ()>>(
    name: &str,
    task: impl FnOnce() -> F + Send + 'static,
) -> Result<JoinHandle<()>, ServeError> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Thread)?;
    let run = move || runtime.block_on(async { task().await });
    thread::Builder::new().name(name.to_owned()).spawn(run).map_err(ServeError::Thread)
}

#[cfg(test)]
mod tests;
