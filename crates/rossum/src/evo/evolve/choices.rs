//! Options of a run: flags, a configuration file, and defaults.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Error, bail, ensure};
use clap::Args;
use evolve::{
    run::{
        Best, CoevolutionPreset, EvaluationSite, MAX_GROUP, Preset, RunConfig,
        coevolution::{CoevolutionConfig, MAX_OPPONENTS, PopulationConfig},
    },
    search::{Algorithm, Settings},
};
use serde::Deserialize;
use server::{driver::evo::DEFAULT_HOST, protocol::evo::local_site};

use super::companion::RayOptions;
use crate::evo::files;

const MAX_GENERATIONS: u64 = 1_000_000;
const MAX_THREADS: usize = 1_024;
const MAX_WORKERS: usize = 10_000;

#[derive(Debug, Args)]
pub(super) struct RunOptions {
    /// Run world, robots and population in this process
    #[arg(long)]
    all: bool,
    /// Addresses of Robot Simulators, which share the work; the default port is 7720
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',', conflicts_with = "all")]
    simulators: Option<Vec<String>>,
    /// As --all, but evaluate on the Ray cluster at this address; without an address, on this machine
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        default_missing_value = LOCAL_RAY,
        conflicts_with_all = ["simulators", "threads", "coevolve"]
    )]
    ray: Option<String>,
    /// With --ray: number of workers [default: one per processor of the cluster]
    #[arg(long, value_name = "COUNT")]
    workers: Option<usize>,
    /// With --ray: Python interpreter that has the package rossum-sim [default: python3]
    #[arg(long, value_name = "FILE", env = "ROSSUM_PYTHON")]
    python: Option<PathBuf>,
    /// With --all: name of a world (see `rossum world --list`), or a file ending in .toml
    #[arg(long, value_name = "WORLD")]
    world: Option<String>,
    /// With --all: name of a body (see `rossum robot --list`), or a file ending in .toml
    #[arg(long, value_name = "BODY")]
    body: Option<String>,
    /// With --all: fitness script instead of the body's own, by name or file ending in .toml
    #[arg(long, value_name = "FITNESS")]
    fitness: Option<String>,
    /// With --all: evolve two populations against each other, of the first two kinds of robots in the world. --body and
    /// --fitness then take one for each, separated by a comma
    #[arg(long, conflicts_with_all = ["simulators", "target"])]
    coevolve: bool,
    /// With --coevolve: number of opponents that each individual meets, one after the other [default: 2]
    #[arg(long, value_name = "COUNT")]
    opponents: Option<usize>,
    /// With --all, in a world whose robots meet: number of individuals that are evaluated together [default: 8]
    #[arg(long, value_name = "COUNT")]
    concurrent: Option<usize>,
    /// With --all: number of threads [default: one per processor]
    #[arg(long, value_name = "COUNT")]
    threads: Option<usize>,
    /// Search algorithm: ga, cma-es, openai-es, map-elites, neat or nsga2
    #[arg(long)]
    algorithm: Option<Algorithm>,
    /// Total number of generations; 0: until the run is stopped [default: 300, or 100 with --coevolve]
    #[arg(long, value_name = "COUNT")]
    generations: Option<u64>,
    /// Number of individuals per generation
    #[arg(long, value_name = "COUNT")]
    population: Option<usize>,
    /// Number of hidden neurons, where the algorithm does not choose it
    #[arg(long, value_name = "COUNT")]
    hidden: Option<usize>,
    /// End when an individual is as good as this
    #[arg(long, value_name = "FITNESS", allow_negative_numbers = true, value_parser = finite)]
    target: Option<f64>,
    /// Seed of the algorithm and, with --all, of the trials
    #[arg(long)]
    seed: Option<u64>,
    /// TOML file with these options and all settings of the algorithm; flags take precedence
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// The configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    all: bool,
    simulators: Option<Vec<String>>,
    ray: Option<String>,
    workers: Option<usize>,
    python: Option<PathBuf>,
    world: Option<String>,
    body: Option<String>,
    fitness: Option<String>,
    coevolve: bool,
    opponents: Option<usize>,
    concurrent: Option<usize>,
    threads: Option<usize>,
    algorithm: Option<Algorithm>,
    generations: Option<u64>,
    target: Option<f64>,
    seed: Option<u64>,
    settings: Settings,
}

/// The options with defaults filled in.
#[derive(Debug)]
pub(super) struct RunPlan {
    /// `None` with --all, or for the default address.
    pub(super) simulators: Option<Vec<String>>,
    /// `Some` if a Ray cluster evaluates.
    pub(super) ray: Option<RayOptions>,
    pub(super) world: String,
    pub(super) body: String,
    pub(super) fitness: Option<String>,
    /// Whether two populations evolve. `body` and `fitness` then have two parts.
    pub(super) coevolve: bool,
    opponents: usize,
    concurrent: usize,
    pub(super) threads: usize,
    pub(super) algorithm: Algorithm,
    pub(super) settings: Settings,
    pub(super) seed: u64,
    pub(super) target: Option<f64>,
    /// 0 for no last one.
    generations: Option<u64>,
    default_generations: u64,
    all: bool,
}

/// The address of no cluster: Ray is started on this machine.
const LOCAL_RAY: &str = "local";

/// Number of individuals that are evaluated together where robots meet, unless the user chooses otherwise.
const CONCURRENT: usize = 8;

/// What is evolved unless the user chooses otherwise.
struct Defaults {
    world: &'static str,
    body: String,
    algorithm: Algorithm,
    population: Option<usize>,
    generations: u64,
    opponents: usize,
}

impl Defaults {
    fn new(coevolve: bool) -> Self {
        let CoevolutionPreset { world, bodies, opponents, algorithm, population, generations } =
            CoevolutionPreset::default();
        if coevolve {
            let (body, population) = (bodies.join(","), Some(population));
            return Self { world, body, algorithm, population, generations, opponents };
        }
        let Preset { world, body, algorithm, generations, .. } = Preset::default();
        Self { world, body: body.to_owned(), algorithm, population: None, generations, opponents }
    }
}

impl RunOptions {
    pub(super) fn plan(&self) -> anyhow::Result<RunPlan> {
        let file = self.config.as_deref().map_or_else(|| Ok(File::default()), read)?;
        self.check(&file)?;
        let (all, coevolve) = (self.is_local(&file), self.coevolve || file.coevolve);
        let default = Defaults::new(coevolve);
        let ray = self.ray(&file);
        let mut settings = file.settings;
        settings.population = self.population.or(settings.population).or(default.population);
        settings.hidden = self.hidden.or(settings.hidden);
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        Ok(RunPlan {
            simulators: self.simulators.clone().or(file.simulators).filter(|_| !all),
            ray,
            world: self.world.clone().or(file.world).unwrap_or_else(|| default.world.to_owned()),
            body: self.body.clone().or(file.body).unwrap_or(default.body),
            fitness: self.fitness.clone().or(file.fitness),
            coevolve,
            opponents: self.opponents.or(file.opponents).unwrap_or(default.opponents),
            concurrent: self.concurrent.or(file.concurrent).unwrap_or(CONCURRENT),
            threads: self.threads.or(file.threads).unwrap_or_else(processors),
            algorithm: self.algorithm.or(file.algorithm).unwrap_or(default.algorithm),
            settings,
            seed: self.seed.or(file.seed).unwrap_or(1),
            target: self.target.or(file.target),
            generations: self.generations.or(file.generations),
            default_generations: default.generations,
            all,
        })
    }

    /// Whether world and robots are those of the run, and not of Robot Simulators.
    fn is_local(&self, file: &File) -> bool {
        self.all || file.all || self.ray.is_some() || file.ray.is_some()
    }

    fn ray(&self, file: &File) -> Option<RayOptions> {
        let address = self.ray.clone().or_else(|| file.ray.clone())?;
        let python = self.python.clone().or_else(|| file.python.clone()).unwrap_or_else(|| "python3".into());
        Some(RayOptions { address, workers: self.workers.or(file.workers), python })
    }

    /// Checks the options, together with those of the file.
    fn check(&self, file: &File) -> anyhow::Result<()> {
        let (all, coevolve) = (self.is_local(file), self.coevolve || file.coevolve);
        let (ray, workers) = (self.ray.is_some() || file.ray.is_some(), self.workers.or(file.workers));
        ensure!(ray || workers.is_none(), "--workers requires --ray");
        ensure!(!(ray && coevolve), "--ray cannot be used with --coevolve");
        ensure_within("--workers", workers, MAX_WORKERS)?;
        let names = [(&self.world, &file.world), (&self.body, &file.body), (&self.fitness, &file.fitness)];
        ensure!(
            all || names.into_iter().all(|(flag, file)| flag.is_none() && file.is_none()),
            "--world, --body and --fitness require --all; otherwise the Robot Simulator defines them"
        );
        ensure!(all || !coevolve, "--coevolve requires --all");
        let (opponents, concurrent) = (self.opponents.or(file.opponents), self.concurrent.or(file.concurrent));
        ensure!(coevolve || opponents.is_none(), "--opponents requires --coevolve");
        ensure!(all || concurrent.is_none(), "--concurrent requires --all");
        ensure!(!coevolve || concurrent.is_none(), "--concurrent cannot be used with --coevolve; use --opponents");
        ensure!(!coevolve || self.target.or(file.target).is_none(), "--target cannot be used with --coevolve");
        ensure_within("--opponents", opponents, MAX_OPPONENTS)?;
        ensure_within("--concurrent", concurrent, MAX_GROUP)?;
        ensure_within("--threads", self.threads.or(file.threads), MAX_THREADS)?;
        let generations = self.generations.or(file.generations);
        let is_valid = generations.is_none_or(|generations| generations <= MAX_GENERATIONS);
        ensure!(is_valid, "--generations: out of range 0..={MAX_GENERATIONS}");
        Ok(())
    }
}

/// Checks a number from 1 on.
fn ensure_within(option: &str, count: Option<usize>, max: usize) -> anyhow::Result<()> {
    let is_valid = count.is_none_or(|count| (1..=max).contains(&count));
    ensure!(is_valid, "{option}: out of range 1..={max}");
    Ok(())
}

/// The two parts of an option.
fn two<'a>(option: &str, names: &'a str) -> anyhow::Result<[&'a str; 2]> {
    let (one, other) = names
        .split_once(',')
        .with_context(|| format!("{option} {names}: --coevolve needs one for each population, separated by a comma"))?;
    Ok([one, other])
}

fn finite(text: &str) -> anyhow::Result<f64> {
    let number: f64 = text.parse()?;
    ensure!(number.is_finite(), "{text} is not finite");
    Ok(number)
}

fn read(path: &Path) -> anyhow::Result<File> {
    let text = fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("failed to parse {}", path.display()))
}

impl RunPlan {
    /// Total number of generations; `None` to go on until the run is stopped.
    pub(super) fn generations(&self) -> Option<u64> {
        Some(self.generations.unwrap_or(self.default_generations)).filter(|generations| *generations > 0)
    }

    /// Whether there is a generation of this number.
    pub(super) fn has_generation(&self, number: u64) -> bool {
        self.generations().is_none_or(|generations| number <= generations)
    }

    /// Fills in missing options from the run's configuration.
    pub(super) fn complete_from(&mut self, config: &RunConfig) {
        self.generations = self.generations.or(Some(config.generations.unwrap_or_default()));
        self.target = self.target.or(config.target);
    }

    /// Where individuals are evaluated. A run stores the files' texts, so that it can be resumed when they change.
    pub(super) fn site(&self) -> anyhow::Result<EvaluationSite> {
        if !self.all {
            let default = || vec![DEFAULT_HOST.to_owned()];
            return Ok(EvaluationSite::Simulators(self.simulators.clone().unwrap_or_else(default)));
        }
        local_site(&self.world, &self.body, self.fitness.as_deref(), self.seed, self.concurrent).map_err(Error::msg)
    }

    /// The configuration of two populations.
    pub(super) fn coevolution(&self) -> anyhow::Result<CoevolutionConfig> {
        let world = files::world(&self.world)?;
        let plan = files::plan(&world)?;
        let [one, other, ..] = plan.ports() else {
            bail!("the world has one kind of robots only; --coevolve needs two")
        };
        let bodies = two("--body", &self.body)?;
        let fitness = self.fitness.as_deref().map(|names| two("--fitness", names)).transpose()?;
        let population = |side: usize, kind: &str| -> anyhow::Result<PopulationConfig> {
            let fitness = fitness.map(|names| files::fitness(names[side])).transpose()?;
            Ok(PopulationConfig { kind: kind.to_owned(), body: files::body(bodies[side])?, fitness })
        };
        Ok(CoevolutionConfig {
            algorithm: self.algorithm,
            settings: self.settings.clone(),
            seed: self.seed,
            generations: self.generations(),
            opponents: self.opponents,
            populations: [population(0, &one.kind)?, population(1, &other.kind)?],
            world,
        })
    }

    /// An unused folder for a new run, named after the world, body and algorithm.
    pub(super) fn folder(&self) -> PathBuf {
        let stem = |text: &str| {
            Path::new(text).file_stem().map_or_else(|| text.to_owned(), |stem| stem.to_string_lossy().into_owned())
        };
        let bodies: Vec<String> = self.body.split(',').map(stem).collect();
        let what =
            if self.all { format!("{}-{}", stem(&self.world), bodies.join("-")) } else { "simulators".to_owned() };
        let name = format!("{what}-{}-{}", self.algorithm, self.seed);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        std::iter::once(name.clone())
            .chain(numbered)
            .map(|name| Path::new("runs").join(name))
            .find(|folder| !folder.exists())
            .unwrap_or_else(|| Path::new("runs").join(name))
    }

    pub(super) fn is_reached(&self, best: Option<&Best>) -> bool {
        self.target.zip(best).is_some_and(|(target, best)| best.fitness >= target)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use evolve::run::Encounters;
    use server::driver::evo::{ROBOT_PORTS, with_port};

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        choices: RunOptions,
    }

    fn plan(flags: &[&str]) -> anyhow::Result<RunPlan> {
        let flags = std::iter::once(&"evolve").chain(flags);
        Flags::try_parse_from(flags)?.choices.plan()
    }

    #[test]
    fn flags_win_over_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.toml");
        fs::write(&file, "all = true\nworld = \"maze\"\nalgorithm = \"neat\"\ngenerations = 7\n[settings]\npopulation = 30\nelites = 5\n").unwrap();
        let file = file.to_str().unwrap();
        let read = plan(&["--config", file]).unwrap();
        let seen = (read.algorithm, read.generations(), read.settings.population, read.settings.elites);
        assert_eq!(seen, (Algorithm::Neat, Some(7), Some(30), 5));
        let read = plan(&["--all", "--config", file, "--generations", "9", "--population", "12"]).unwrap();
        assert_eq!((read.generations(), read.settings.population, read.settings.elites), (Some(9), Some(12), 5));
    }

    #[test]
    fn a_run_may_have_no_last_generation() {
        let endless = plan(&["--generations", "0"]).unwrap();
        assert!(endless.generations().is_none() && endless.has_generation(u64::MAX));
        let last = plan(&["--generations", "3"]).unwrap();
        assert!(last.has_generation(3) && !last.has_generation(4));
    }

    #[test]
    fn individuals_meet_where_robots_do() {
        let encounters = |flags: &[&str]| match plan(&[&["--all"], flags].concat()).unwrap().site().unwrap() {
            EvaluationSite::Local { encounters, .. } => encounters,
            EvaluationSite::Simulators(_) => panic!("not local"),
        };
        assert_eq!(encounters(&[]), Encounters::Nobody);
        assert_eq!(encounters(&["--world", "coevolution"]), Encounters::Group(8));
        assert_eq!(encounters(&["--world", "coevolution", "--concurrent", "3"]), Encounters::Group(3));
    }

    #[test]
    fn two_populations_have_a_body_and_a_fitness_each() {
        let pair = |flags: &[&str]| plan(&[&["--all", "--coevolve"], flags].concat()).unwrap().coevolution();
        let [prey, predator] = pair(&[]).unwrap().populations;
        assert_eq!([prey.kind, predator.kind], ["prey", "predator"]);
        assert!(prey.body.contains("Prey") && predator.body.contains("Predator") && predator.fitness.is_none());
        let [one, other] = pair(&["--body", "sonar,platine", "--fitness", "distance,homing"]).unwrap().populations;
        assert!(one.body.contains("Sonar") && other.fitness.unwrap().contains("home"));
        for (flags, expected) in [
            (&["--body", "prey"][..], "separated by a comma"),
            (&["--fitness", "escape"], "separated by a comma"),
            (&["--body", "prey,snake"], "snake"),
            (&["--world", "maze"], "one kind of robots only"),
        ] {
            let error = format!("{:#}", pair(flags).unwrap_err());
            assert!(error.contains(expected), "{flags:?}: {error}");
        }
    }

    #[test]
    fn by_default_the_robot_simulator_of_this_machine_evaluates() {
        let EvaluationSite::Simulators(simulators) = plan(&[]).unwrap().site().unwrap() else { panic!("not local") };
        let addresses: Vec<String> = simulators.iter().map(|address| with_port(address, ROBOT_PORTS.0)).collect();
        assert_eq!(addresses, ["127.0.0.1:7720"]);
    }

    #[test]
    fn by_default_the_preset_is_evolved() {
        let Preset { world, body, algorithm, generations, .. } = Preset::default();
        let plan = plan(&["--all"]).unwrap();
        assert_eq!((plan.world.as_str(), plan.body.as_str(), &plan.fitness), (world, body, &None));
        assert_eq!((plan.algorithm, plan.generations()), (algorithm, Some(generations)));
    }

    #[test]
    fn invalid_options_are_refused() {
        for (flags, expected) in [
            (&["--all", "--threads", "0"][..], "1..=1024"),
            (&["--all", "--generations", "1000001"], "0..=1000000"),
            (&["--coevolve"], "requires --all"),
            (&["--all", "--opponents", "3"], "requires --coevolve"),
            (&["--all", "--coevolve", "--opponents", "0"], "1..=100"),
            (&["--all", "--coevolve", "--concurrent", "3"], "cannot be used with"),
            (&["--all", "--coevolve", "--target", "1"], "cannot be used with"),
            (&["--all", "--simulators", "127.0.0.1"], "cannot be used with"),
            (&["--ray", "--simulators", "127.0.0.1"], "cannot be used with"),
            (&["--ray", "--threads", "2"], "cannot be used with"),
            (&["--ray", "--coevolve"], "cannot be used with"),
            (&["--ray", "--workers", "0"], "1..=10000"),
            (&["--all", "--workers", "2"], "--workers requires --ray"),
            (&["--algorithm", "annealing"], "available: ga, cma-es"),
            (&["--world", "maze"], "require --all"),
            (&["--target", "nan"], "nan is not finite"),
            (&["--config", "/nowhere.toml"], "/nowhere.toml"),
        ] {
            let error = plan(flags).map(|plan| plan.seed).unwrap_err();
            assert!(format!("{error:#}").contains(expected), "{flags:?}: {error:#}");
        }
    }

    #[test]
    fn ray_evaluates_on_this_machine_or_on_a_cluster() {
        let ray = |flags: &[&str]| plan(flags).unwrap().ray;
        let options = |address: &str, workers, python: &str| {
            Some(RayOptions { address: address.to_owned(), workers, python: python.into() })
        };
        assert_eq!(ray(&["--all"]), None);
        assert_eq!(ray(&["--ray", "--python", "p"]), options("local", None, "p"));
        let flags = ["--ray", "10.0.0.1:6379", "--workers", "3", "--python", "p", "--world", "maze"];
        assert_eq!(ray(&flags), options("10.0.0.1:6379", Some(3), "p"));
        assert!(plan(&flags).unwrap().site().unwrap().local().unwrap().is_some());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.toml");
        fs::write(&file, "ray = \"auto\"\nworkers = 5\npython = \"q\"\n").unwrap();
        let file = file.to_str().unwrap();
        let read = ray(&["--config", file]).unwrap();
        assert_eq!((read.address.as_str(), read.workers), ("auto", Some(5)));
        assert_eq!(
            ray(&["--config", file, "--ray", "--workers", "2", "--python", "p"]),
            options("local", Some(2), "p")
        );
    }

    #[test]
    fn a_target_ends_a_run_once_it_is_reached() {
        let read = plan(&["--target", "-0.5"]).unwrap();
        let best = |fitness| Best { fitness, ..Best::default() };
        assert!(!read.is_reached(None) && !read.is_reached(Some(&best(-0.6))) && read.is_reached(Some(&best(-0.5))));
    }
}
