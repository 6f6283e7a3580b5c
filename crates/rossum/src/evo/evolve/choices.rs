//! Options of a run: flags, a configuration file, and defaults.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use clap::Args;
use evolve::{
    run::{Best, EvaluationSite, Preset, RunConfig},
    search::{Algorithm, Settings},
};
use serde::Deserialize;
use server::driver::evo::DEFAULT_HOST;

/// The flags.
#[derive(Debug, Args)]
pub(super) struct RunOptions {
    /// Run world, robots and population in this process
    #[arg(long)]
    all: bool,
    /// Addresses of Robot Simulators, which share the work; the default port is 7720
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',', conflicts_with = "all")]
    simulators: Option<Vec<String>>,
    /// With --all: name of a world (see `rossum world --list`), or a file ending in .toml
    #[arg(long, value_name = "WORLD")]
    world: Option<String>,
    /// With --all: name of a body (see `rossum robot --list`), or a file ending in .toml
    #[arg(long, value_name = "BODY")]
    body: Option<String>,
    /// With --all: fitness script instead of the body's own, by name or file ending in .toml
    #[arg(long, value_name = "FITNESS")]
    fitness: Option<String>,
    /// With --all: number of threads [default: one per processor]
    #[arg(long, value_name = "COUNT")]
    threads: Option<usize>,
    /// Search algorithm: ga, cma-es, openai-es, map-elites, neat or nsga2
    #[arg(long)]
    algorithm: Option<Algorithm>,
    /// Total number of generations
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
    world: Option<String>,
    body: Option<String>,
    fitness: Option<String>,
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
    pub(super) world: String,
    pub(super) body: String,
    pub(super) fitness: Option<String>,
    pub(super) threads: usize,
    pub(super) algorithm: Algorithm,
    pub(super) settings: Settings,
    pub(super) seed: u64,
    pub(super) target: Option<f64>,
    generations: Option<u64>,
    all: bool,
}

impl RunOptions {
    pub(super) fn plan(&self) -> anyhow::Result<RunPlan> {
        let file = self.config.as_deref().map_or_else(|| Ok(File::default()), read)?;
        let all = self.all || file.all;
        let mut settings = file.settings;
        settings.population = self.population.or(settings.population);
        settings.hidden = self.hidden.or(settings.hidden);
        let simulators = self.simulators.clone().or(file.simulators).filter(|_| !all);
        let threads = self.threads.or(file.threads);
        let threads = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        ensure!((1..=1_024).contains(&threads), "--threads: {threads} is out of range 1..=1024");
        let generations = self.generations.or(file.generations);
        let is_valid = generations.is_none_or(|generations| (1..=1_000_000).contains(&generations));
        ensure!(is_valid, "--generations: out of range 1..=1000000");
        let names = [(&self.world, &file.world), (&self.body, &file.body), (&self.fitness, &file.fitness)];
        ensure!(
            all || names.into_iter().all(|(flag, file)| flag.is_none() && file.is_none()),
            "--world, --body and --fitness require --all; otherwise the Robot Simulator defines them"
        );
        let preset = Preset::default();
        Ok(RunPlan {
            simulators,
            world: self.world.clone().or(file.world).unwrap_or_else(|| preset.world.to_owned()),
            body: self.body.clone().or(file.body).unwrap_or_else(|| preset.body.to_owned()),
            fitness: self.fitness.clone().or(file.fitness),
            threads,
            algorithm: self.algorithm.or(file.algorithm).unwrap_or(preset.algorithm),
            settings,
            seed: self.seed.or(file.seed).unwrap_or(1),
            target: self.target.or(file.target),
            generations,
            all,
        })
    }
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
    /// Total number of generations.
    pub(super) fn generations(&self) -> u64 {
        self.generations.unwrap_or(Preset::default().generations)
    }

    /// Fills in missing options from the run's configuration.
    pub(super) fn complete_from(&mut self, config: &RunConfig) {
        self.generations = self.generations.or(Some(config.generations));
        self.target = self.target.or(config.target);
    }

    /// Where individuals are evaluated. A run stores the files' texts, so that it can be resumed when they change.
    pub(super) fn site(&self) -> anyhow::Result<EvaluationSite> {
        if !self.all {
            let default = || vec![DEFAULT_HOST.to_owned()];
            return Ok(EvaluationSite::Simulators(self.simulators.clone().unwrap_or_else(default)));
        }
        Ok(EvaluationSite::Local {
            world: crate::evo::files::world(&self.world)?,
            body: crate::evo::files::body(&self.body)?,
            fitness: self.fitness.as_deref().map(crate::evo::files::fitness).transpose()?,
            seed: self.seed,
        })
    }

    /// An unused folder for a new run, named after the world, body and algorithm.
    pub(super) fn folder(&self) -> PathBuf {
        let stem = |text: &str| {
            Path::new(text).file_stem().map_or_else(|| text.to_owned(), |stem| stem.to_string_lossy().into_owned())
        };
        let what =
            if self.all { format!("{}-{}", stem(&self.world), stem(&self.body)) } else { "simulators".to_owned() };
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
        assert_eq!(seen, (Algorithm::Neat, 7, Some(30), 5));
        let read = plan(&["--all", "--config", file, "--generations", "9", "--population", "12"]).unwrap();
        assert_eq!((read.generations(), read.settings.population, read.settings.elites), (9, Some(12), 5));
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
        assert_eq!((plan.algorithm, plan.generations()), (algorithm, generations));
    }

    #[test]
    fn invalid_options_are_refused() {
        for (flags, expected) in [
            (&["--all", "--threads", "0"][..], "1..=1024"),
            (&["--all", "--generations", "0"], "1..=1000000"),
            (&["--all", "--simulators", "127.0.0.1"], "cannot be used with"),
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
    fn a_target_ends_a_run_once_it_is_reached() {
        let read = plan(&["--target", "-0.5"]).unwrap();
        let best =
            |fitness| Best { generation: 1, individual: 1, fitness, genotype: Default::default(), figures: Vec::new() };
        assert!(!read.is_reached(None) && !read.is_reached(Some(&best(-0.6))) && read.is_reached(Some(&best(-0.5))));
    }
}
