//! Starts and stops a server: a world with its sockets, recording, companions and console.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use ipnet::IpNet;
use physics::ThreadsError;
use session::{
    ConversationService, DatagramEffect, DatagramSession, StreamService,
    console::{PuppetAccess, ServerInfo, Shared},
};
use support::output_file::{self, Existing, OutputError};
use tokio::{
    fs::File,
    net::{TcpListener, UdpSocket},
    sync::oneshot,
    task::JoinSet,
    time::{Instant, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};
use wire::console::Role;
use world::{Setup, World, world::SetupError};

use crate::{
    access::AllowList,
    address::{Address, Endpoints},
    config::{ConfigError, Scenario, ServerConfig},
    descriptors::Descriptors,
    driver::{
        admission::Admission,
        console::{ConsoleServer, JobContext, Jobs, ServerBackend},
        conversation, datagram,
        evo::ListenOptions,
        log, stream,
    },
    health::Health,
    http,
    jobs::{Demo, Playbacks, Runs},
    limits,
    protocol::{Companion, DirectorSetup, Endpoint, EndpointId, EndpointKind, Log, evo::Simulators},
    recording::{Recording, StartError},
    sim_thread::{SendError, SimHandle, SimOptions, SimThread},
    tls::{Encryption, TlsError},
    user_data::{self, LiveTokens, SavedItems, today},
};

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The scenario is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The world could not be built.
    #[error(transparent)]
    World(#[from] SetupError),
    /// The recording could not be started.
    #[error(transparent)]
    Recording(#[from] StartError),
    /// A file that the server is to write exists already.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A protocol cannot be served.
    #[error("[{protocol}]: {reason}")]
    Protocol {
        /// Name of the protocol and of its section.
        protocol: &'static str,
        /// Human-readable cause.
        reason: String,
    },
    /// A socket could not be opened.
    #[error("cannot listen on {address} for {title}: {cause}{}", hint(.cause))]
    Bind {
        /// The address to listen on.
        address: SocketAddr,
        /// Human-readable name of the endpoint.
        title: String,
        /// Error of the operating system.
        cause: io::Error,
    },
    /// A log could not be opened.
    #[error("failed to create the log `{path}`: {cause}", path = .path.display())]
    Log {
        /// File of the log.
        path: PathBuf,
        /// Error of the file system.
        cause: io::Error,
    },
    /// The threads that are to help with the physics do not start.
    #[error(transparent)]
    Threads(#[from] ThreadsError),
    /// A thread, or the runtime on it, could not be started.
    #[error("failed to start a thread: {0}")]
    Thread(io::Error),
    /// The path of this program is unknown, so it cannot be started again for a run.
    #[error("cannot determine the path of this program: {0}")]
    Program(io::Error),
    /// A part of the server could not open its session with the simulation.
    #[error("failed to open a session with the simulation: {0}")]
    Session(#[from] SendError),
    /// The console cannot use TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The operating system has no random numbers for the console's tokens.
    #[error("failed to create the console's tokens: {0}")]
    Tokens(io::Error),
}

fn hint(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::AddrInUse => "; is another server running? Stop it, or change the port in the scenario",
        io::ErrorKind::PermissionDenied => "; ports below 1024 need special privileges",
        _ => "",
    }
}

/// Why a server should be stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// A client requested it; its description.
    Asked(String),
    /// The sim thread has ended.
    WorldEnded,
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    endpoints: Endpoints,
    tokens: LiveTokens,
    /// Host name for links to the console, if it has one.
    name: Option<String>,
    /// Fingerprint of the console's certificate, if it uses TLS.
    fingerprint: Option<String>,
    sim: SimThread,
    recording: Option<Recording>,
    tasks: JoinSet<()>,
    companions: Vec<Companion>,
    jobs: ConsoleJobs,
    stop: CancellationToken,
}

impl Server {
    /// Builds the world, opens all sockets and starts the simulation.
    pub async fn start(scenario: &Scenario, record: Option<&Path>) -> Result<Self, ServeError> {
        let existing = Existing::from(scenario.base.server.overwrite);
        for (_, service) in &scenario.services {
            service.output_files().iter().try_for_each(|path| output_file::check(path, existing))?;
        }
        let (setup, world) = build_world(scenario)?;
        let encryption = Encryption::of(scenario)?;
        let fingerprint = encryption.as_ref().map(|encryption| encryption.fingerprint.clone());
        // sockets first: a port in use must not leave an empty recording behind
        let sockets = Sockets::open(scenario, &world, encryption.is_some()).await?;
        let admission = Admission::new(Descriptors::raise_limit());
        let simulators = start_simulators(scenario, &admission)?;
        let logs = open_logs(scenario, existing).await?;
        let (recording, sender) = match record {
            Some(path) => {
                let (recording, sender) = Recording::start(path, existing, &setup, &world)?;
                (Some(recording), Some((sender, scenario.base.world.hash_every)))
            }
            None => (None, None),
        };
        let steady = scenario.services.iter().any(|(_, service)| service.has_busy_companions());
        let (pace, tick_seconds) = (scenario.base.world.pace, world.tick_seconds());
        let options = SimOptions { pace, silence: scenario.silence(), steady, recording: sender };
        let sim = SimThread::start(world, options).map_err(ServeError::Thread)?;

        let allow = AllowList::new(scenario.base.server.allow.clone());
        let stop = CancellationToken::new();
        let endpoints = Endpoints { fixed: sockets.addresses.clone(), simulators };
        let health = Health::default();
        let mut companions = Vec::new();
        for (_, service) in &scenario.services {
            companions.extend(service.start_companions(sim.handle(), &health, existing)?);
        }
        let lifetime = scenario.base.server.token_lifetime();
        let tokens = LiveTokens::open(&user_data::folder(), lifetime, today()).map_err(ServeError::Tokens)?;
        let jobs = ConsoleJobs::of(scenario)?;
        let about = http::About { title: scenario.base.title.clone(), endpoints: endpoints.clone(), health };
        let server = console_server(scenario, &about, sim.handle(), admission.clone(), &jobs, tick_seconds, record)?;
        let console = http::Console { tokens: tokens.clone(), server };
        let (tls, names) = (encryption.map(|encryption| encryption.acceptor), scenario.base.server.names.clone());
        let name = names.first().cloned();
        let pages = http::Pages { sim: sim.handle().clone(), about, console, tls, names };
        let mut tasks = sockets.run(sim.handle(), pages, &allow, admission, &stop);
        for (file, Log { path, session }) in logs {
            tasks.spawn(log::run(file, path.display().to_string(), session, sim.handle().clone(), stop.clone()));
        }
        Ok(Self { endpoints, tokens, name, fingerprint, sim, recording, tasks, companions, jobs, stop })
    }

    /// The console's link for a role, with its token.
    pub fn console(&self, role: Role) -> String {
        let console = self.endpoints.fixed.iter().find(|address| address.id == EndpointId::Console);
        let Some(console @ Address { kind, address, .. }) = console else { return String::new() };
        let tokens = self.tokens.current(today());
        let host = match &self.name {
            Some(name) => format!("{name}:{}", address.port()),
            None => console.local().to_string(),
        };
        format!("{kind}://{host}/?token={}", tokens.of(role).secret)
    }

    /// SHA-256 fingerprint of the console's certificate, if it uses TLS.
    pub fn fingerprint(&self) -> Option<&str> {
        self.fingerprint.as_deref()
    }

    /// All listening sockets.
    pub fn addresses(&self) -> Vec<Address> {
        self.endpoints.all()
    }

    /// Handle of the sim thread.
    pub fn sim(&self) -> &SimHandle {
        self.sim.handle()
    }

    /// Waits until a client requests a shutdown or the world ends.
    pub fn ended(&self) -> impl Future<Output = End> + Send + use<> {
        let (world_ended, mut asked) = (self.sim.handle().ended(), self.sim.handle().shutdown_requests());
        async move {
            tokio::select! {
                Ok(who) = asked.wait_for(Option::is_some) => End::Asked(who.clone().unwrap_or_default()),
                () = world_ended => End::WorldEnded,
            }
        }
    }

    /// Notifies the clients, ends the world and completes the recording. Takes at most [`limits::SHUTDOWN_TIMEOUT`].
    pub async fn stop(mut self) {
        let deadline = Instant::now() + limits::SHUTDOWN_TIMEOUT;
        self.stop.cancel();
        let simulators = self.endpoints.simulators;
        simulators.iter().for_each(Simulators::cancel);
        let all_done = async {
            while let Some(ended) = self.tasks.join_next().await {
                if let Err(error) = ended {
                    error!("socket task failed: {error}");
                }
            }
        };
        if timeout(limits::SHUTDOWN_TIMEOUT / 2, all_done).await.is_err() {
            warn!("connections aborted: not closed in time");
            self.tasks.abort_all();
        }
        let (sim, recording, companions, jobs) = (self.sim, self.recording, self.companions, self.jobs);
        let end = move || {
            simulators.iter().for_each(Simulators::stop);
            sim.stop();
            // request all to stop before joining the first; the recording does not wait for any of them
            let companions: Vec<_> = companions.into_iter().map(Companion::stop).collect();
            if let Some(recording) = recording {
                recording.finish();
            }
            jobs.end();
            companions.into_iter().for_each(Companion::join);
        };
        if let Err(error) = finish_by(deadline, end).await {
            warn!("shutdown of the world or its recording failed: {error}");
        }
    }
}

/// Runs `finish`, which may block forever, on a detached thread and waits for it until a deadline.
async fn finish_by(deadline: Instant, finish: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let (done, finished) = oneshot::channel();
    // the runtime would wait for a thread of its own without a deadline
    thread::Builder::new().name("end".into()).spawn(move || {
        finish();
        // fails after the deadline
        let _ = done.send(());
    })?;
    match timeout_at(deadline, finished).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(io::Error::other("the shutdown thread panicked")),
        Err(late) => Err(late.into()),
    }
}

/// Builds the world of a scenario, with its protocols' directors.
pub fn build_world(scenario: &Scenario) -> Result<(Setup, World), ServeError> {
    let mut setup = scenario.setup()?;
    let mut directors = Vec::new();
    for (protocol, service) in &scenario.services {
        let refused = |reason| ServeError::Protocol { protocol, reason };
        let wanted = service.director(&scenario.base.world.field).map_err(refused)?;
        let Some(DirectorSetup { description, director }) = wanted else { continue };
        setup.directors.push(format!("{protocol} {description}"));
        directors.push(director);
    }
    let mut world = World::with_directors(&setup, directors)?;
    world.set_threads(scenario.base.world.threads)?;
    Ok((setup, world))
}

/// Sockets that are bound but not served yet.
struct Sockets {
    addresses: Vec<Address>,
    open: Vec<(&'static str, Bound)>,
    page: TcpListener,
}

enum Bound {
    Datagram(UdpSocket, Box<dyn DatagramSession<DatagramEffect>>),
    Stream(TcpListener, Box<dyn StreamService>),
    Conversation(UdpSocket, Box<dyn ConversationService>),
}

impl Sockets {
    async fn open(scenario: &Scenario, world: &World, encrypts: bool) -> Result<Self, ServeError> {
        let &ServerConfig { bind, http_port, free_ports, ref allow, .. } = &scenario.base.server;
        let chosen = |port| SocketAddr::new(bind, if free_ports { 0 } else { port });
        let (mut addresses, mut open) = (Vec::new(), Vec::new());
        for (protocol, service) in &scenario.services {
            let endpoints = service.endpoints(world.catalogue(), scenario.base.world.pace);
            for endpoint in endpoints.map_err(|reason| ServeError::Protocol { protocol, reason })? {
                let (address, bound) = open_endpoint(chosen(endpoint.port), endpoint, allow).await?;
                addresses.push(address);
                open.push((*protocol, bound));
            }
        }
        let (title, address) = ("Console", chosen(http_port));
        let (page, address) = listen(address, title).await?;
        let kind = if encrypts { "https" } else { "http" };
        addresses.push(Address::new(EndpointId::Console, title, kind, address, allow));
        Ok(Self { addresses, open, page })
    }

    fn run(
        self,
        sim: &SimHandle,
        pages: http::Pages,
        allow: &AllowList,
        admission: Admission,
        stop: &CancellationToken,
    ) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        for (protocol, bound) in self.open {
            let (sim, allow, stop) = (sim.clone(), allow.clone(), stop.clone());
            match bound {
                Bound::Datagram(socket, session) => {
                    tasks.spawn(datagram::run(socket, protocol, session, sim, allow, stop));
                }
                Bound::Conversation(socket, service) => {
                    let most = admission.conversations();
                    tasks.spawn(conversation::Port { socket, protocol, service, sim, allow, most, stop }.run());
                }
                Bound::Stream(listener, service) => {
                    tasks.spawn(stream::run(listener, protocol, service, sim, allow, admission.clone(), stop));
                }
            }
        }
        tasks.spawn(http::run(self.page, pages, allow.clone(), admission, stop.clone()));
        tasks
    }
}

/// State of the console's jobs.
#[derive(Clone, Debug)]
struct ConsoleJobs {
    runs: Runs,
    demo: Demo,
    playbacks: Playbacks,
}

impl ConsoleJobs {
    fn of(scenario: &Scenario) -> Result<Self, ServeError> {
        let ServerConfig { runs, recordings, .. } = &scenario.base.server;
        let program = std::env::current_exe().map_err(ServeError::Program)?;
        Ok(Self {
            runs: Runs::new(runs.clone(), program),
            demo: Demo::new(),
            playbacks: Playbacks::new(recordings.clone()),
        })
    }

    fn end(&self) {
        self.demo.stop();
        self.runs.end();
    }
}

/// The puppet of a scenario, if it has one.
fn puppet(scenario: &Scenario) -> Result<Option<PuppetAccess>, ServeError> {
    for (protocol, service) in &scenario.services {
        let puppet = service.puppet().map_err(|reason| ServeError::Protocol { protocol, reason })?;
        if puppet.is_some() {
            return Ok(puppet);
        }
    }
    Ok(None)
}

/// Builds the state that all console connections share.
fn console_server(
    scenario: &Scenario,
    about: &http::About,
    sim: &SimHandle,
    admission: Admission,
    ConsoleJobs { runs, demo, playbacks }: &ConsoleJobs,
    tick_seconds: f64,
    record: Option<&Path>,
) -> Result<ConsoleServer, ServeError> {
    let endpoints = &about.endpoints;
    let simulators = endpoints.simulators.clone();
    let puppet = puppet(scenario)?;
    let (saved, recording) = (SavedItems::open(&user_data::folder()), record.map(|path| path.display().to_string()));
    let backend = ServerBackend {
        sim: sim.clone(),
        health: about.health.clone(),
        endpoints: endpoints.clone(),
        admission,
        runs: runs.clone(),
        demo: demo.clone(),
        saved: saved.clone(),
        recording: recording.clone(),
    };
    let context = JobContext {
        sim: sim.clone(),
        soccer_agents: endpoints
            .fixed
            .iter()
            .find(|address| address.id == EndpointId::SoccerAgents)
            .map(Address::local),
        panel: puppet.as_ref().map(|puppet| Arc::clone(&puppet.panel)),
        simulators,
        runs: runs.clone(),
        demo: demo.clone(),
        playbacks: playbacks.clone(),
        saved,
    };
    let info = ServerInfo {
        title: about.title.clone(),
        tick_seconds,
        pace: scenario.base.world.pace.name().to_owned(),
        evolution: endpoints.simulators.is_some().then(|| runs.info()),
        recording,
    };
    Ok(ConsoleServer {
        sim: sim.clone(),
        shared: Arc::new(Shared::new(info, Box::new(backend), puppet)),
        jobs: Arc::new(Jobs::new(context)),
    })
}

/// Starts the simulators of the evolving robots, if the scenario has them.
fn start_simulators(scenario: &Scenario, admission: &Admission) -> Result<Option<Simulators>, ServeError> {
    let &ServerConfig { bind, ref allow, free_ports, .. } = &scenario.base.server;
    let options = ListenOptions { bind, allow: allow.clone(), next_free: false, admission: admission.clone() };
    for (_, service) in &scenario.services {
        if let Some(simulators) = service.start_simulators(&options, free_ports)? {
            return Ok(Some(simulators));
        }
    }
    Ok(None)
}

/// Creates the protocols' log files.
async fn open_logs(scenario: &Scenario, existing: Existing) -> Result<Vec<(File, Log)>, ServeError> {
    let mut logs = Vec::new();
    for log in scenario.services.iter().flat_map(|(_, service)| service.logs()) {
        let opened = log::open(&log.path, existing).await;
        let file = opened.map_err(|cause| ServeError::Log { path: log.path.clone(), cause })?;
        logs.push((file, log));
    }
    Ok(logs)
}

async fn open_endpoint(
    wanted: SocketAddr,
    endpoint: Endpoint,
    allow: &[IpNet],
) -> Result<(Address, Bound), ServeError> {
    let Endpoint { id, title, kind, port: _ } = endpoint;
    Ok(match kind {
        EndpointKind::Datagram(session) => {
            let (socket, address) = bind(wanted, &title).await?;
            (Address::new(id, title, "udp", address, allow), Bound::Datagram(socket, session))
        }
        EndpointKind::Conversation(service) => {
            let (socket, address) = bind(wanted, &title).await?;
            (Address::new(id, title, "udp", address, allow), Bound::Conversation(socket, service))
        }
        EndpointKind::Stream(service) => {
            let (listener, address) = listen(wanted, &title).await?;
            (Address::new(id, title, "tcp", address, allow), Bound::Stream(listener, service))
        }
    })
}

async fn bind(wanted: SocketAddr, title: &str) -> Result<(UdpSocket, SocketAddr), ServeError> {
    let failed = |cause| ServeError::Bind { address: wanted, title: title.to_owned(), cause };
    let socket = UdpSocket::bind(wanted).await.map_err(failed)?;
    let address = socket.local_addr().map_err(failed)?;
    Ok((socket, address))
}

async fn listen(wanted: SocketAddr, title: &str) -> Result<(TcpListener, SocketAddr), ServeError> {
    let failed = |cause| ServeError::Bind { address: wanted, title: title.to_owned(), cause };
    let listener = TcpListener::bind(wanted).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::testing::DEADLINE;

    #[tokio::test]
    async fn a_blocked_shutdown_is_abandoned() {
        let soon = || Instant::now() + DEADLINE;
        finish_by(soon(), || ()).await.unwrap();
        let error = finish_by(soon(), || panic!("a mistake")).await.unwrap_err();
        assert!(error.to_string().contains("panic"), "{error}");

        // a disk that blocks; the paused clock advances when all tasks are idle
        tokio::time::pause();
        let (release, hang) = sync_channel::<()>(1);
        let began = Instant::now();
        let late = finish_by(began + limits::SHUTDOWN_TIMEOUT, move || assert!(hang.recv().is_err())).await;
        assert_eq!(late.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() < 2 * limits::SHUTDOWN_TIMEOUT, "{:?}", began.elapsed());
        drop(release);
    }
}
