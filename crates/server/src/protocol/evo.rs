//! The `[evo]` section of a scenario, and its worlds, bodies and fitness scripts by name or from files.

mod simulators;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use ::world::{Catalogue, clock::Pace};
use arena::{
    Plan,
    plan::{Directions, Isolation},
};
use evolve::{
    robot::{BodyFile, Design, library},
    run::{Encounters, EvaluationSite},
};
use serde::{Deserialize, Serialize};
use support::suggest;

pub use self::simulators::{Simulators, SimulatorsError};
use super::{Endpoint, Protocol, Service};
use crate::{
    driver::evo::{ListenOptions, ROBOT_PORTS},
    serve::ServeError,
};

/// Evolving robots in the list of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "evo",
    title: "Evolving robots in a simulated world",
    configure: |section, folder| {
        Ok(Box::new(EvoService { config: section.try_into::<Config>()?, folder: folder.to_owned() }))
    },
    restore_director: None,
};

/// The `[evo]` section of a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Name of a world, or path of a world file ending in .toml. Without one there is no World Simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    world: Option<String>,
    /// Name of a body, or path of a body file ending in .toml. Without one there is no Robot Simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// TCP ports of the World Simulator, one for each kind of robot; empty for those of the world file.
    world_ports: Vec<u16>,
    /// TCP port of the Robot Simulator; 0 for any free one.
    robot_port: u16,
    /// World Simulator that the Robot Simulator uses, as `host` or `host:port`; empty for this machine. Without one it runs
    /// in this process.
    #[serde(skip_serializing_if = "Option::is_none")]
    world_address: Option<String>,
    /// Whether requests to it are sent without waiting for the answers to earlier ones, which is faster. It must expect
    /// it, as `rossum world` does.
    world_pipeline: bool,
    /// Its convention for directions.
    world_directions: Directions,
    /// Seed of the robots' random start positions.
    seed: u64,
    /// Whether an invalid request gets a substitute reply instead of closing the connection.
    lenient: bool,
    /// Evaluation threads of the Robot Simulator; 0 chooses automatically.
    threads: usize,
    /// Individuals evaluated at once; 0 for the number in the body file.
    concurrent: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            world: None,
            body: None,
            world_ports: Vec::new(),
            robot_port: ROBOT_PORTS.0,
            world_address: None,
            world_pipeline: false,
            world_directions: Directions::default(),
            seed: 1,
            lenient: false,
            threads: 0,
            concurrent: 0,
        }
    }
}

#[derive(Debug)]
struct EvoService {
    config: Config,
    /// Base of relative paths.
    folder: PathBuf,
}

impl Service for EvoService {
    fn config(&self) -> toml::Table {
        toml::Table::try_from(&self.config).unwrap_or_default()
    }

    fn endpoints(&self, _: &Catalogue, _: Pace) -> Result<Vec<Endpoint>, String> {
        Ok(Vec::new())
    }

    fn start_simulators(&self, options: &ListenOptions, free_ports: bool) -> Result<Option<Simulators>, ServeError> {
        Simulators::start(self.config.clone(), &self.folder, options.clone(), free_ports).map(Some)
    }
}

/// Loads a world by name, or from a file relative to `folder`.
///
/// # Errors
///
/// When the name is unknown, or the file is missing or invalid. The error is human-readable.
pub fn plan(name: &str, folder: &Path) -> Result<Arc<Plan>, String> {
    let plan = Plan::parse(&world_text(name, folder)?);
    plan.map(Arc::new).map_err(|error| format!("world `{name}`: {error}"))
}

/// Loads a body by name, or from a file relative to `folder`.
///
/// # Errors
///
/// When the name is unknown, or the file is missing or invalid. The error is human-readable.
pub fn design(name: &str, folder: &Path) -> Result<Arc<Design>, String> {
    let design = BodyFile::parse(&body_text(name, folder)?).and_then(|file| Design::new(file, None));
    design.map(Arc::new).map_err(|error| format!("body `{name}`: {error}"))
}

/// World and robots of a run that evaluates its individuals in its own process, by names or `.toml` files. In a world that
/// robots share, individuals are evaluated in groups of at most `concurrent`.
///
/// # Errors
///
/// When a name is unknown, or a file is missing or invalid. The error is human-readable.
pub fn local_site(
    world: &str,
    body: &str,
    fitness: Option<&str>,
    seed: u64,
    concurrent: usize,
) -> Result<EvaluationSite, String> {
    let here = Path::new("");
    let world = world_text(world, here)?;
    let plan = Plan::parse(&world).map_err(|error| format!("invalid world: {error}"))?;
    let encounters = match plan.rules().isolation {
        Isolation::PerRobot => Encounters::Nobody,
        Isolation::Shared | Isolation::PerConnection => Encounters::Group(concurrent),
    };
    let fitness = fitness.map(|name| fitness_text(name, here)).transpose()?;
    Ok(EvaluationSite::Local { world, body: body_text(body, here)?, fitness, seed, encounters })
}

/// The text of a world by name, or of a file relative to `folder`.
///
/// # Errors
///
/// When the name is unknown, or the file is missing or invalid. The error is human-readable.
pub fn world_text(name: &str, folder: &Path) -> Result<String, String> {
    text(name, folder, || {
        Plan::built_in_text(name)
            .ok_or_else(|| format!("{}; or a path ending in .toml", suggest::unknown("world", name, &Plan::names())))
    })
}

/// The text of a body by name, or of a file relative to `folder`.
///
/// # Errors
///
/// When the name is unknown, or the file is missing or invalid. The error is human-readable.
pub fn body_text(name: &str, folder: &Path) -> Result<String, String> {
    text(name, folder, || library::body_text(name).map_err(|error| error.to_string()))
}

/// The text of a fitness script by name, or of a file relative to `folder`.
///
/// # Errors
///
/// When the name is unknown, or the file is missing or invalid. The error is human-readable.
pub fn fitness_text(name: &str, folder: &Path) -> Result<String, String> {
    text(name, folder, || library::script_text(name).map_err(|error| error.to_string()))
}

fn text(name: &str, folder: &Path, shipped: impl FnOnce() -> Result<String, String>) -> Result<String, String> {
    if !name.ends_with(".toml") {
        return shipped();
    }
    let path = folder.join(name);
    fs::read_to_string(&path).map_err(|error| format!("failed to read `{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests;
