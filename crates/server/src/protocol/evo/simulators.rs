//! A server's own World Simulator and Robot Simulator. Operators can move them to other ports, and the robots to another
//! world.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use arena::Plan;
use parking_lot::Mutex;
use session::console::JobError;
use wire::console::{SimulatorPort, SimulatorSettings, SimulatorsInfo};

use super::{Config, PROTOCOL, design, plan};
use crate::{
    address::Address,
    driver::evo::{
        ListenOptions, RemoteWorld, RobotOptions, StandaloneServer, WorldAt, WorldOptions, find_world, is_address,
        serve_robot, serve_world, world_target,
    },
    serve::ServeError,
};

/// Maximum length of an invalid address in an error, in characters.
const MAX_SHOWN: usize = 100;

/// Why simulators cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum SimulatorsError {
    /// A simulator that the server does not have, or a wrong number of ports.
    #[error(
        "this server has {robots} Robot Simulator and {worlds} ports of its World Simulator; the settings do not fit"
    )]
    Other {
        /// Number of Robot Simulators.
        robots: usize,
        /// Number of ports of the World Simulator.
        worlds: usize,
    },
    /// Not an address.
    #[error("invalid address {0:?}; expected one like 127.0.0.1:7770 or worlds.example:7770")]
    Address(String),
    /// The server shuts down.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// A simulator did not start; it continues with its former settings.
    #[error("{0}; the former settings are kept")]
    Start(ServeError),
    /// A simulator started neither with the new settings nor with the former ones.
    #[error("{0}; it did not start again with its former settings either")]
    Ended(ServeError),
}

impl From<SimulatorsError> for JobError {
    fn from(error: SimulatorsError) -> Self {
        match error {
            // with addresses
            SimulatorsError::Start(_) | SimulatorsError::Ended(_) => error.to_string().into(),
            SimulatorsError::Other { .. } | SimulatorsError::Address(_) | SimulatorsError::ShuttingDown => {
                JobError::public(error.to_string())
            }
        }
    }
}

/// The simulators of a server. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Simulators(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    options: ListenOptions,
    /// Base of relative paths.
    folder: PathBuf,
    plan: Option<Arc<Plan>>,
    state: Mutex<State>,
    version: AtomicU64,
}

#[derive(Debug)]
struct State {
    /// With the ports that the servers listen on.
    config: Config,
    world: Option<StandaloneServer>,
    robot: Option<StandaloneServer>,
    is_stopped: bool,
}

impl Simulators {
    /// Starts the simulators of a scenario's section; on any free ports if `free_ports`.
    pub(super) fn start(
        mut config: Config,
        folder: &Path,
        options: ListenOptions,
        free_ports: bool,
    ) -> Result<Self, ServeError> {
        let plan = config.world.as_deref().map(|world| plan(world, folder)).transpose().map_err(refused)?;
        config.world_address = config.world_address.as_deref().map(world_target);
        if free_ports {
            config.robot_port = 0;
            config.world_ports = plan.iter().flat_map(|plan| plan.ports()).map(|_| 0).collect();
        }
        let state = State { config: Config::default(), world: None, robot: None, is_stopped: false };
        let folder = folder.to_owned();
        let inner = Inner { options, folder, plan, state: Mutex::new(state), version: AtomicU64::default() };
        let mut state = inner.state.lock();
        state.world = inner.start_world(&config)?;
        state.robot = inner.start_robot(&config)?;
        state.settle(config);
        drop(state);
        Ok(Self(Arc::new(inner)))
    }

    /// Their listening sockets.
    pub fn addresses(&self) -> Vec<Address> {
        self.0.state.lock().addresses().cloned().collect()
    }

    /// As shown in the console.
    pub fn info(&self) -> SimulatorsInfo {
        let state = self.0.state.lock();
        let port = |address: &Address| SimulatorPort {
            title: address.title.clone(),
            port: address.address.port(),
            addresses: address.reachable.iter().map(ToString::to_string).collect(),
        };
        let ports = |server: &Option<StandaloneServer>| -> Vec<SimulatorPort> {
            server.iter().flat_map(StandaloneServer::addresses).map(port).collect()
        };
        SimulatorsInfo {
            robot: ports(&state.robot).pop(),
            world: ports(&state.world),
            robot_world: state.config.world_address.clone(),
        }
    }

    /// Increases with every change.
    pub fn version(&self) -> u64 {
        self.0.version.load(Ordering::Relaxed)
    }

    /// Restarts the simulators whose settings have changed, which disconnects their clients.
    ///
    /// # Errors
    ///
    /// The settings do not fit the simulators, or one does not start; then it keeps its former settings.
    pub fn change(&self, settings: &SimulatorSettings) -> Result<(), SimulatorsError> {
        let mut state = self.0.state.lock();
        if state.is_stopped {
            return Err(SimulatorsError::ShuttingDown);
        }
        let SimulatorSettings { robot_port, world_ports, robot_world } = settings;
        let (robots, worlds) = (usize::from(state.config.body.is_some()), state.config.world_ports.len());
        if usize::from(robot_port.is_some()) != robots || world_ports.len() != worlds {
            return Err(SimulatorsError::Other { robots, worlds });
        }
        if let Some(address) = robot_world.as_deref().filter(|address| !address.is_empty() && !is_address(address)) {
            return Err(SimulatorsError::Address(address.chars().take(MAX_SHOWN).collect()));
        }
        let result = self.0.change(&mut state, |config| config.world_ports.clone_from(world_ports)).and_then(|()| {
            self.0.change(&mut state, |config| {
                config.robot_port = robot_port.unwrap_or(config.robot_port);
                config.world_address = robot_world.as_deref().map(world_target);
            })
        });
        self.0.version.fetch_add(1, Ordering::Relaxed);
        result
    }

    /// Asks them to end without waiting.
    pub fn cancel(&self) {
        let mut state = self.0.state.lock();
        state.is_stopped = true;
        state.servers().for_each(StandaloneServer::cancel);
    }

    /// Ends them and waits for their threads.
    pub fn stop(&self) {
        let mut state = self.0.state.lock();
        state.is_stopped = true;
        let servers = [state.world.take(), state.robot.take()];
        servers.into_iter().flatten().for_each(StandaloneServer::stop);
    }
}

impl State {
    fn servers(&self) -> impl Iterator<Item = &StandaloneServer> {
        self.world.iter().chain(&self.robot)
    }

    fn addresses(&self) -> impl Iterator<Item = &Address> {
        self.servers().flat_map(StandaloneServer::addresses)
    }

    /// Keeps the settings that the servers run with.
    fn settle(&mut self, config: Config) {
        self.config = config;
        let port = |address: &Address| address.address.port();
        self.config.world_ports = self.world.iter().flat_map(StandaloneServer::addresses).map(port).collect();
        if let Some(address) = self.robot.iter().flat_map(StandaloneServer::addresses).next() {
            self.config.robot_port = port(address);
        }
    }
}

impl Inner {
    /// Restarts what a change of the settings affects.
    fn change(&self, state: &mut State, apply: impl FnOnce(&mut Config)) -> Result<(), SimulatorsError> {
        let former = state.config.clone();
        let mut config = former.clone();
        apply(&mut config);
        let restarts_world = config.world_ports != former.world_ports;
        let restarts_robot = (config.robot_port, &config.world_address) != (former.robot_port, &former.world_address);
        // a port may be needed by the server that replaces another
        for (restarts, server) in [(restarts_world, &mut state.world), (restarts_robot, &mut state.robot)] {
            if let Some(server) = server.take_if(|_| restarts) {
                server.stop();
            }
        }
        let mut start = |config: Config| -> Result<(), ServeError> {
            if restarts_world {
                state.world = self.start_world(&config)?;
            }
            if restarts_robot {
                state.robot = self.start_robot(&config)?;
            }
            state.settle(config);
            Ok(())
        };
        let Err(error) = start(config) else { return Ok(()) };
        Err(if start(former).is_ok() { SimulatorsError::Start(error) } else { SimulatorsError::Ended(error) })
    }

    fn start_world(&self, config: &Config) -> Result<Option<StandaloneServer>, ServeError> {
        let Some(plan) = &self.plan else { return Ok(None) };
        let options = WorldOptions { seed: config.seed, ports: config.world_ports.clone(), lenient: config.lenient };
        serve_world(plan, &options, &self.options).map(Some)
    }

    fn start_robot(&self, config: &Config) -> Result<Option<StandaloneServer>, ServeError> {
        let Some(body) = &config.body else { return Ok(None) };
        let design = design(body, &self.folder).map_err(refused)?;
        let world_at = self.world_at(config).map_err(refused)?;
        let &Config { robot_port: port, threads, concurrent, .. } = config;
        serve_robot(&design, &world_at, &RobotOptions { port, threads, concurrent }, &self.options).map(Some)
    }

    fn world_at(&self, config: &Config) -> Result<WorldAt, String> {
        match (&config.world_address, &self.plan) {
            (Some(address), _) => {
                let address = find_world(address).map_err(|error| format!("world_address {error}"))?;
                let (is_pipelined, directions) = (config.world_pipeline, config.world_directions);
                Ok(WorldAt::Remote(RemoteWorld { address, is_pipelined, directions }))
            }
            (None, Some(plan)) => Ok(WorldAt::InProcess(Arc::clone(plan), config.seed)),
            (None, None) => Err("the Robot Simulator needs a `world`, or the `world_address` of one".to_owned()),
        }
    }
}

fn refused(reason: String) -> ServeError {
    ServeError::Protocol { protocol: PROTOCOL.name, reason }
}

#[cfg(test)]
mod tests;
