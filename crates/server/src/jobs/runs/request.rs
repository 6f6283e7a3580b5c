//! Requests for new or resumed runs: validation, and the command line of the process.

use std::{iter, path::Path};

use arena::Plan;
use evolve::{
    robot::{
        BodyFile, library,
        suitability::{Extent, Objection, objections, rivals},
    },
    run::{CoevolutionPreset, EvaluationSite, Preset},
    search::Algorithm,
};
use support::suggest;
use wire::console::{BodyChoice, Choice, EvolutionInfo, NewRun, Rival, WorldChoice};

use super::list::Progress;
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
    /// Two populations have no target fitness.
    #[error("co-evolution has no target fitness")]
    TargetOfTwo,
    /// The world does not have two kinds of robots that meet.
    #[error("two populations cannot evolve against each other in the world `{0}`")]
    NoRivals(String),
    /// Two populations and Robot Simulators.
    #[error(
        "two populations evolve against each other in the run's own process; with Robot Simulators, start a run for each"
    )]
    RivalElsewhere,
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
            check_known("world", &run.world, &info.worlds.iter().map(|choice| &choice.name).collect::<Vec<_>>())?;
            for (body, fitness) in populations(run) {
                check_known("body", body, &info.bodies.iter().map(|choice| &choice.name).collect::<Vec<_>>())?;
                fitness.map_or(Ok(()), |fitness| names("fitness", &info.fitnesses, fitness))?;
            }
            let kinds = info.worlds.iter().find(|world| world.name == run.world).map(|world| world.kinds.len());
            if run.rival.is_some() && kinds != Some(2) {
                return Err(RequestError::NoRivals(run.world.clone()));
            }
            let bodies: Vec<&str> = populations(run).map(|(body, _)| body).collect();
            format!("{} in {}", bodies.join(" and "), run.world)
        } else if run.rival.is_some() {
            return Err(RequestError::RivalElsewhere);
        } else {
            check_addresses(&run.simulators)?;
            run.simulators.join(", ")
        };
        check_range("generations", run.generations, 0, MAX_GENERATIONS)?;
        run.population
            .map_or(Ok(()), |population| check_range("individuals per generation", population, 2, MAX_POPULATION))?;
        run.hidden.map_or(Ok(()), |hidden| check_range("hidden neurons", hidden, 0, MAX_HIDDEN))?;
        if run.target.is_some_and(|target| !target.is_finite()) {
            return Err(RequestError::Target);
        }
        if run.target.is_some() && run.rival.is_some() {
            return Err(RequestError::TargetOfTwo);
        }
        Ok(Self { run: run.clone(), site })
    }

    /// Validates the request to resume a run.
    pub(super) fn resume(progress: &Progress, generations: Option<u64>) -> Result<Self, RequestError> {
        let config = &progress.status.config;
        generations.map_or(Ok(()), |generations| check_range("generations", generations, 0, MAX_GENERATIONS))?;
        let wanted = generations.or(config.generations).unwrap_or_default();
        let done = progress.generation();
        if wanted > 0 && done >= wanted {
            return Err(RequestError::Complete(done));
        }
        if progress.is_reached() {
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
            rival: None,
        };
        Ok(Self { run, site: progress.place() })
    }

    /// Name of the run's folder, without a number.
    pub(super) fn stem(&self) -> String {
        let NewRun { simulators, world, algorithm, seed, .. } = &self.run;
        let bodies: Vec<&str> = populations(&self.run).map(|(body, _)| body).collect();
        match simulators.is_empty() {
            true => format!("{world}-{}-{algorithm}-{seed}", bodies.join("-")),
            false => format!("simulators-{algorithm}-{seed}"),
        }
    }

    /// The command line of a new run.
    pub(super) fn arguments(&self, folder: &Path) -> Vec<String> {
        let NewRun { simulators, world, algorithm, generations, population, hidden, seed, target, rival, .. } =
            &self.run;
        let mut arguments = vec!["evolve".to_owned()];
        if simulators.is_empty() {
            let bodies: Vec<&str> = populations(&self.run).map(|(body, _)| body).collect();
            let fitnesses: Option<Vec<&str>> = populations(&self.run).map(|(_, fitness)| fitness).collect();
            arguments.push("--all".to_owned());
            arguments.extend(rival.as_ref().map(|_| "--coevolve".to_owned()));
            arguments.extend([format!("--world={world}"), format!("--body={}", bodies.join(","))]);
            arguments.extend(fitnesses.map(|fitnesses| format!("--fitness={}", fitnesses.join(","))));
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

/// Body and fitness of each population.
fn populations(run: &NewRun) -> impl Iterator<Item = (&str, Option<&str>)> {
    let rival = run.rival.iter().map(|rival| (rival.body.as_str(), rival.fitness.as_deref()));
    iter::once((run.body.as_str(), run.fitness.as_deref())).chain(rival)
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
        let kinds = rivals(&plan).into_iter().flatten().map(str::to_owned).collect();
        Some(WorldChoice { title: plan.title().to_owned(), name, kinds })
    };
    let body = |name: String| {
        let BodyFile { title, fitness, .. } = library::body(&name).ok()?;
        Some(BodyChoice { title, name, fitness: fitness.script.unwrap_or_default() })
    };
    let fitness = |name: String| Some(Choice { title: library::script(&name).ok()?.title, name });
    let objection = |Objection { body, fitness, extent, reason }| {
        let (world, kind) = match extent {
            Extent::Everywhere => (None, None),
            Extent::World { name, kind } => (Some(name), kind),
        };
        wire::console::Objection { body, fitness, world, kind, reason }
    };
    EvolutionInfo {
        worlds: Plan::names().into_iter().filter_map(world).collect(),
        bodies: library::bodies().into_iter().filter_map(body).collect(),
        fitnesses: library::scripts().into_iter().filter_map(fitness).collect(),
        algorithms: Algorithm::ALL.iter().map(ToString::to_string).collect(),
        objections: objections().unwrap_or_default().into_iter().map(objection).collect(),
        default_run: default_run(),
        default_coevolution: default_coevolution(),
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
        rival: None,
    }
}

/// What two populations evolve unless the user chooses otherwise.
fn default_coevolution() -> NewRun {
    let CoevolutionPreset { world, bodies: [one, other], algorithm, population, generations, .. } =
        CoevolutionPreset::default();
    NewRun {
        world: world.to_owned(),
        body: one.to_owned(),
        fitness: None,
        algorithm: algorithm.to_string(),
        generations,
        population: Some(population as u64),
        rival: Some(Rival { body: other.to_owned(), fitness: None }),
        ..default_run()
    }
}
