//! Requests for new or resumed runs: validation, and the command line of the process.

use std::path::Path;

use arena::Plan;
use evolve::{
    robot::{
        BodyFile, library,
        suitability::{Objection, objections},
    },
    run::{EvaluationSite, Preset, Record},
    search::Algorithm,
};
use support::suggest;
use wire::console::{BodyChoice, Choice, EvolutionInfo, NewRun};

use super::list;
use crate::{driver::evo::is_address, jobs::MAX_NAME};

/// Maximum number of generations of a run.
const MAX_GENERATIONS: u64 = 1_000_000;
/// Maximum number of individuals of a generation.
const MAX_POPULATION: u64 = 10_000;
/// Maximum number of hidden neurons.
const MAX_HIDDEN: u64 = 1_000;
/// Maximum number of Robot Simulators.
const MAX_SIMULATORS: usize = 64;

/// Why a request for a run is invalid.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// An unknown algorithm, world, body or fitness script.
    #[error("{0}")]
    UnknownName(String),
    /// A number is out of range.
    #[error("{value} {what}: out of range {min}..={max}")]
    OutOfRange {
        /// What the number counts.
        what: &'static str,
        /// The number.
        value: u64,
        /// The minimum.
        min: u64,
        /// The maximum.
        max: u64,
    },
    /// The target fitness is not finite.
    #[error("the target fitness must be finite")]
    Target,
    /// Too many Robot Simulators.
    #[error("at most {MAX_SIMULATORS} Robot Simulators are allowed")]
    TooManySimulators,
    /// Not an address.
    #[error("invalid address {0:?}; expected one like 127.0.0.1:7720 or robots.example:7720")]
    Address(String),
    /// The run has as many generations as requested.
    #[error("the run has {0} generations already; set a higher total")]
    Complete(u64),
    /// The best individual has reached the target.
    #[error("the run has reached its target fitness")]
    TargetReached,
}

/// A validated request for a run.
#[derive(Clone, Debug)]
pub(super) struct RunRequest {
    pub(super) run: NewRun,
    /// Human-readable description of where its individuals are evaluated.
    pub(super) site: String,
}

impl RunRequest {
    /// Validates the request for a new run.
    pub(super) fn new(run: &NewRun, info: &EvolutionInfo) -> Result<Self, RequestError> {
        check_known("algorithm", &run.algorithm, &info.algorithms)?;
        let site = if run.simulators.is_empty() {
            let names = |kind: &str, choices: &[Choice], name: &str| {
                let known: Vec<_> = choices.iter().map(|choice| &choice.name).collect();
                check_known(kind, name, &known)
            };
            names("world", &info.worlds, &run.world)?;
            check_known("body", &run.body, &info.bodies.iter().map(|choice| &choice.name).collect::<Vec<_>>())?;
            run.fitness.as_deref().map_or(Ok(()), |fitness| names("fitness", &info.fitnesses, fitness))?;
            format!("{} in {}", run.body, run.world)
        } else {
            check_addresses(&run.simulators)?;
            run.simulators.join(", ")
        };
        check_range("generations", run.generations, 1, MAX_GENERATIONS)?;
        run.population
            .map_or(Ok(()), |population| check_range("individuals per generation", population, 2, MAX_POPULATION))?;
        run.hidden.map_or(Ok(()), |hidden| check_range("hidden neurons", hidden, 0, MAX_HIDDEN))?;
        if run.target.is_some_and(|target| !target.is_finite()) {
            return Err(RequestError::Target);
        }
        Ok(Self { run: run.clone(), site })
    }

    /// Validates the request to resume a run.
    pub(super) fn resume(record: &Record, generations: Option<u64>) -> Result<Self, RequestError> {
        let config = &record.config;
        generations.map_or(Ok(()), |generations| check_range("generations", generations, 1, MAX_GENERATIONS))?;
        let (wanted, done) = (generations.unwrap_or(config.generations), record.history.len() as u64);
        if done >= wanted {
            return Err(RequestError::Complete(done));
        }
        if list::is_reached(record) {
            return Err(RequestError::TargetReached);
        }
        let simulators = match &config.site {
            EvaluationSite::Local { .. } => Vec::new(),
            EvaluationSite::Simulators(simulators) => simulators.clone(),
        };
        let run = NewRun {
            simulators,
            world: String::new(),
            body: String::new(),
            fitness: None,
            algorithm: config.algorithm.to_string(),
            generations: wanted,
            population: None,
            hidden: None,
            seed: config.seed,
            target: config.target,
        };
        Ok(Self { run, site: list::describe_site(&config.site) })
    }

    /// Name of the run's folder, without a number.
    pub(super) fn stem(&self) -> String {
        let NewRun { simulators, world, body, algorithm, seed, .. } = &self.run;
        match simulators.is_empty() {
            true => format!("{world}-{body}-{algorithm}-{seed}"),
            false => format!("simulators-{algorithm}-{seed}"),
        }
    }

    /// The command line of a new run.
    pub(super) fn arguments(&self, folder: &Path) -> Vec<String> {
        let NewRun { simulators, world, body, fitness, algorithm, generations, population, hidden, seed, target } =
            &self.run;
        let mut arguments = vec!["evolve".to_owned()];
        if simulators.is_empty() {
            arguments.extend(["--all".to_owned(), format!("--world={world}"), format!("--body={body}")]);
            arguments.extend(fitness.as_ref().map(|fitness| format!("--fitness={fitness}")));
        } else {
            arguments.push(format!("--simulators={}", simulators.join(",")));
        }
        arguments.extend([
            format!("--algorithm={algorithm}"),
            format!("--generations={generations}"),
            format!("--seed={seed}"),
        ]);
        arguments.extend(population.map(|population| format!("--population={population}")));
        arguments.extend(hidden.map(|hidden| format!("--hidden={hidden}")));
        arguments.extend(target.map(|target| format!("--target={target}")));
        arguments.extend(["--json".to_owned(), format!("--out={}", folder.display())]);
        arguments
    }

    /// The command line of a resumed run.
    pub(super) fn resume_arguments(&self, folder: &Path, generations: Option<u64>) -> Vec<String> {
        let mut arguments = vec!["evolve".to_owned(), format!("--resume={}", folder.display()), "--json".to_owned()];
        arguments.extend(generations.map(|generations| format!("--generations={generations}")));
        arguments
    }
}

fn check_range(what: &'static str, value: u64, min: u64, max: u64) -> Result<(), RequestError> {
    let error = RequestError::OutOfRange { what, value, min, max };
    (min..=max).contains(&value).then_some(()).ok_or(error)
}

fn check_known(kind: &str, name: &str, names: &[impl AsRef<str>]) -> Result<(), RequestError> {
    if names.iter().any(|known| known.as_ref() == name) {
        return Ok(());
    }
    let name: String = name.chars().take(MAX_NAME).collect();
    Err(RequestError::UnknownName(suggest::unknown(kind, &name, names).to_string()))
}

fn check_addresses(addresses: &[String]) -> Result<(), RequestError> {
    if addresses.len() > MAX_SIMULATORS {
        return Err(RequestError::TooManySimulators);
    }
    match addresses.iter().find(|address| !is_address(address)) {
        None => Ok(()),
        Some(invalid) => Err(RequestError::Address(invalid.chars().take(MAX_NAME).collect())),
    }
}

/// The options for new runs.
pub(super) fn info(folder: &Path) -> EvolutionInfo {
    let world = |name: String| {
        let plan = Plan::built_in(&name)?.ok()?;
        Some(Choice { title: plan.title().to_owned(), name })
    };
    let body = |name: String| {
        let BodyFile { title, fitness, .. } = library::body(&name).ok()?;
        Some(BodyChoice { title, name, fitness: fitness.script.unwrap_or_default() })
    };
    let fitness = |name: String| Some(Choice { title: library::script(&name).ok()?.title, name });
    let objection =
        |Objection { body, fitness, world, reason }| wire::console::Objection { body, fitness, world, reason };
    EvolutionInfo {
        worlds: Plan::names().into_iter().filter_map(world).collect(),
        bodies: library::bodies().into_iter().filter_map(body).collect(),
        fitnesses: library::scripts().into_iter().filter_map(fitness).collect(),
        algorithms: Algorithm::ALL.iter().map(ToString::to_string).collect(),
        objections: objections().unwrap_or_default().into_iter().map(objection).collect(),
        default_run: default_run(),
        folder: folder.display().to_string(),
    }
}

/// What a new run evolves unless the user chooses otherwise.
fn default_run() -> NewRun {
    let Preset { world, body, fitness, algorithm, generations } = Preset::default();
    NewRun {
        simulators: Vec::new(),
        world: world.to_owned(),
        body: body.to_owned(),
        fitness: Some(fitness.to_owned()),
        algorithm: algorithm.to_string(),
        generations,
        population: None,
        hidden: None,
        seed: 1,
        target: None,
    }
}
