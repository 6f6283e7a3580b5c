//! What somebody wants to have evolved, checked, and how the program is told.

use std::path::Path;

use arena::Plan;
use evolve::{
    robot::{InProcessWorld, library},
    run::{EvaluationSite, Record},
    search::Algorithm,
};
use support::suggest;
use wire::console::{Choice, EvolutionInfo, NewRun};

use super::list;
use crate::jobs::MAX_NAME;

/// Most generations of a run.
const MAX_GENERATIONS: u64 = 1_000_000;
/// Most individuals of a generation.
const MAX_POPULATION: u64 = 10_000;
/// Most hidden neurons.
const MAX_HIDDEN: u64 = 1_000;
/// Most Robot Simulators.
const MAX_SIMULATORS: usize = 64;
/// Longest address of one, in bytes.
const MAX_ADDRESS: usize = 256;

/// A run that was asked for.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) run: NewRun,
    /// Where its individuals are tested, for people.
    pub(super) place: String,
}

impl Order {
    /// Checks every name and number.
    pub(super) fn new(run: &NewRun, info: &EvolutionInfo) -> Result<Self, String> {
        check_known("algorithm", &run.algorithm, &info.algorithms)?;
        let place = if run.simulators.is_empty() {
            let names = |kind: &str, choices: &[Choice], name: &str| {
                let known: Vec<_> = choices.iter().map(|choice| &choice.name).collect();
                check_known(kind, name, &known)
            };
            names("world", &info.worlds, &run.world)?;
            names("body", &info.bodies, &run.body)?;
            run.fitness.as_deref().map_or(Ok(()), |fitness| names("fitness", &info.fitnesses, fitness))?;
            format!("{} in {}", run.body, run.world)
        } else {
            check_addresses(&run.simulators)?;
            run.simulators.join(", ")
        };
        within("generations", run.generations, 1, MAX_GENERATIONS)?;
        run.population
            .map_or(Ok(()), |population| within("individuals of a generation", population, 2, MAX_POPULATION))?;
        run.hidden.map_or(Ok(()), |hidden| within("hidden neurons", hidden, 0, MAX_HIDDEN))?;
        if run.target.is_some_and(|target| !target.is_finite()) {
            return Err("no fitness can be as good as that".to_owned());
        }
        Ok(Self { run: run.clone(), place })
    }

    /// The order of a run that is to go on.
    pub(super) fn again(record: &Record, generations: Option<u64>) -> Result<Self, String> {
        let config = &record.config;
        generations.map_or(Ok(()), |generations| within("generations", generations, 1, MAX_GENERATIONS))?;
        let (wanted, done) = (generations.unwrap_or(config.generations), record.history.len() as u64);
        if done >= wanted {
            return Err(format!("it has {done} generations already; say how many there are to be in all"));
        }
        if list::is_reached(record) {
            return Err("its best individual is as good as was wanted; there is nothing left to do".to_owned());
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
        Ok(Self { run, place: list::place(&config.site) })
    }

    /// What a run's folder is called, without a number.
    pub(super) fn stem(&self) -> String {
        let NewRun { simulators, world, body, algorithm, seed, .. } = &self.run;
        match simulators.is_empty() {
            true => format!("{world}-{body}-{algorithm}-{seed}"),
            false => format!("simulators-{algorithm}-{seed}"),
        }
    }

    /// How the program is told.
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

    /// How the program is told to go on.
    pub(super) fn arguments_again(&self, folder: &Path, generations: Option<u64>) -> Vec<String> {
        let mut arguments = vec!["evolve".to_owned(), format!("--resume={}", folder.display()), "--json".to_owned()];
        arguments.extend(generations.map(|generations| format!("--generations={generations}")));
        arguments
    }
}

fn within(what: &str, count: u64, min: u64, max: u64) -> Result<(), String> {
    (min..=max).contains(&count).then_some(()).ok_or_else(|| format!("there can be {min} to {max} {what}, not {count}"))
}

fn check_known(kind: &str, name: &str, names: &[impl AsRef<str>]) -> Result<(), String> {
    if names.iter().any(|known| known.as_ref() == name) {
        return Ok(());
    }
    let name: String = name.chars().take(MAX_NAME).collect();
    Err(suggest::unknown(kind, &name, names).to_string())
}

fn check_addresses(addresses: &[String]) -> Result<(), String> {
    if addresses.len() > MAX_SIMULATORS {
        return Err(format!("{MAX_SIMULATORS} Robot Simulators at most can share the work"));
    }
    let is_plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | ':' | '-' | '_' | '[' | ']' | '%');
    let is_address = |address: &&String| {
        (1..=MAX_ADDRESS).contains(&address.len()) && !address.starts_with('-') && address.chars().all(is_plain)
    };
    match addresses.iter().find(|address| !is_address(address)) {
        None => Ok(()),
        Some(wrong) => {
            let wrong: String = wrong.chars().take(MAX_NAME).collect();
            Err(format!("{wrong:?} is no address; one looks like 127.0.0.1:7720 or robots.example:7720"))
        }
    }
}

/// What can be chosen.
pub(super) fn info(folder: &Path) -> EvolutionInfo {
    let world = |name: String| {
        let plan = Plan::built_in(&name)?.ok().filter(|plan| InProcessWorld::check(plan).is_ok())?;
        Some(Choice { title: plan.title().to_owned(), name })
    };
    let body = |name: String| Some(Choice { title: library::body(&name).ok()?.title, name });
    let fitness = |name: String| Some(Choice { title: library::script(&name).ok()?.title, name });
    EvolutionInfo {
        worlds: Plan::names().into_iter().filter_map(world).collect(),
        bodies: library::bodies().into_iter().filter_map(body).collect(),
        fitnesses: library::scripts().into_iter().filter_map(fitness).collect(),
        algorithms: Algorithm::ALL.iter().map(ToString::to_string).collect(),
        robot_simulator: None,
        world_simulator: None,
        folder: folder.display().to_string(),
    }
}
