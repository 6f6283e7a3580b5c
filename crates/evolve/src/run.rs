//! An evolutionary run and its folder.
//!
//! ```text
//! run.json         the configuration of the run
//! checkpoint.json  the state after the last finished generation; replaced atomically
//! log.jsonl        one line per generation
//! log.csv          the same, for spreadsheets
//! best.json        the best individual so far
//! bests.jsonl      the best individual of each generation, one per line; missing in runs of older versions
//! workers.json     what the workers have done, if the run is evaluated on a cluster
//! lock             held by the process that continues the run
//! ```
//!
//! A generation is finished when its checkpoint is on disk. A run that is interrupted before that repeats the generation
//! with the same individuals. When a run is resumed, log lines after the checkpoint are removed.
//!
//! Two populations that evolve against each other are two runs in one folder; see [`coevolution`].

pub mod coevolution;
mod encounters;
mod folder;
mod learnt;
mod preset;
mod site;
mod workers;

use std::path::Path;

use serde::{Deserialize, Serialize};

use self::folder::Folder;
pub use self::{
    encounters::Encounters,
    folder::{FolderError, is_busy, read_best, read_best_of},
    learnt::learnt,
    preset::{CoevolutionPreset, Preset},
    site::{LocalSite, MAX_GROUP, SiteError},
    workers::{Workers, read_workers, save_workers},
};
use crate::{
    Genotype, NetParameters, ParametersError,
    search::{Algorithm, Evaluation, Search, Settings, SettingsError, TellError},
};

/// The configuration of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunConfig {
    /// The search algorithm.
    pub algorithm: Algorithm,
    /// The algorithm's settings.
    pub settings: Settings,
    /// Seed of all random numbers of the algorithm.
    pub seed: u64,
    /// The nets that the Robot Simulator accepts.
    pub parameters: NetParameters,
    /// Total number of generations; `None` to go on until the user stops it.
    pub generations: Option<u64>,
    /// The run ends once an individual has at least this fitness.
    pub target: Option<f64>,
    /// Where individuals are evaluated.
    #[serde(rename = "place")]
    pub site: EvaluationSite,
}

impl RunConfig {
    /// Checks the settings and the net parameters.
    fn check(&self) -> Result<(), RunError> {
        crate::genotype::check(&self.parameters)?;
        Ok(self.settings.check(&self.parameters)?)
    }
}

/// Where individuals are evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvaluationSite {
    /// In the process of the run.
    #[serde(rename = "here")]
    Local {
        /// Text of the world file.
        world: String,
        /// Text of the body file.
        body: String,
        /// Text of the fitness file, if not the body's own script.
        fitness: Option<String>,
        /// Seed of the world and the trials.
        seed: u64,
        /// Evaluation partners of an individual; none in runs of older versions.
        #[serde(default, rename = "company")]
        encounters: Encounters,
    },
    /// By Robot Simulators at these addresses.
    Simulators(Vec<String>),
}

/// Statistics of a finished generation, as logged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// Number of the generation, from 1.
    pub generation: u64,
    /// Evaluations so far, including this generation.
    pub evaluations: u64,
    /// Highest fitness of the generation.
    pub best: f64,
    /// Mean fitness of the generation.
    pub mean: f64,
    /// Lowest fitness of the generation.
    pub worst: f64,
    /// Highest fitness so far.
    pub best_so_far: f64,
    /// Diversity of the individuals; see [`Search::diversity`].
    pub diversity: f64,
    /// Hidden neurons of the best individual.
    pub hidden: usize,
}

/// At most about `count` generations that are evenly spread over these, with the last one.
pub fn thinned(history: &[Generation], count: usize) -> impl Iterator<Item = &Generation> + Clone {
    let every = history.len().div_ceil(count.max(1)).max(1);
    let last = history.len();
    (1..).zip(history).filter(move |(nth, _)| nth % every == 0 || *nth == last || *nth == 1).map(|(_, line)| line)
}

/// The best individual of a generation, or so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// Number of its generation, from 1.
    pub generation: u64,
    /// Its number in that generation, from 1.
    pub individual: u64,
    /// Its fitness.
    pub fitness: f64,
    /// Its genes.
    pub genotype: Genotype,
    /// The figures of the fitness script's summary; empty in runs of older versions, and if Robot Simulators evaluate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<f64>,
    /// The individuals of its generation that it met, in the order in which they moved; see [`Encounters::Group`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub companions: Vec<Genotype>,
    /// The number of companions that moved before it.
    #[serde(default, skip_serializing_if = "is_0")]
    pub place: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_0(number: &usize) -> bool {
    *number == 0
}

/// A snapshot of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// Its configuration.
    #[serde(rename = "start")]
    pub config: RunConfig,
    /// The finished generations.
    pub history: Vec<Generation>,
    /// The best individual so far.
    pub best: Option<Best>,
}

/// Reads a run, which may be in progress.
///
/// # Errors
///
/// The folder has no run, or a file is missing or damaged.
pub fn read(folder: &Path) -> Result<Record, FolderError> {
    let (config, checkpoint): (_, Checkpoint) = folder::read_state(folder)?;
    let history = folder::read_history(folder, checkpoint.finished())?;
    Ok(Record { config, history, best: checkpoint.best })
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// Its configuration.
    pub config: RunConfig,
    /// The last finished generation.
    pub last: Option<Generation>,
    /// The best individual so far.
    pub best: Option<Best>,
}

/// Reads how far a run is, which may be in progress. Takes the same time however long it has run.
///
/// # Errors
///
/// As [`read`].
pub fn read_status(folder: &Path) -> Result<Status, FolderError> {
    let (config, Checkpoint { last, mut history, best, .. }) = folder::read_state(folder)?;
    Ok(Status { config, last: last.or_else(|| history.pop()), best })
}

/// The state that the next generation depends on.
#[derive(Debug, Serialize, Deserialize)]
struct Checkpoint {
    /// The last finished generation.
    #[serde(default)]
    last: Option<Generation>,
    best: Option<Best>,
    search: Search,
    /// All finished generations, in runs of older versions.
    #[serde(default, skip_serializing)]
    history: Vec<Generation>,
}

impl Checkpoint {
    fn last(&self) -> Option<&Generation> {
        self.last.as_ref().or(self.history.last())
    }

    /// Number of finished generations.
    fn finished(&self) -> u64 {
        self.last().map_or(0, |last| last.generation)
    }
}

/// Why a run cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// An error of the run's folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Invalid settings of the algorithm.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Invalid net parameters of the Robot Simulator.
    #[error(transparent)]
    Parameters(#[from] ParametersError),
    /// The evaluations do not match the generation.
    #[error(transparent)]
    Tell(#[from] TellError),
}

/// An evolutionary run.
#[derive(Debug)]
pub struct Run {
    folder: Folder,
    config: RunConfig,
    checkpoint: Checkpoint,
    /// The finished generations.
    history: Vec<Generation>,
    /// The individuals of the generation in progress.
    asked: Vec<Genotype>,
}

impl Run {
    /// Starts a run in a new or empty folder.
    ///
    /// # Errors
    ///
    /// Invalid settings or parameters, or the folder has a run already or is not writable.
    pub fn begin(folder: &Path, config: RunConfig) -> Result<Self, RunError> {
        config.check()?;
        let search = Search::new(config.algorithm, &config.settings, &config.parameters, config.seed)?;
        let checkpoint = Checkpoint { last: None, best: None, search, history: Vec::new() };
        let folder = Folder::begin(folder, &config, &checkpoint)?;
        Ok(Self { folder, config, checkpoint, history: Vec::new(), asked: Vec::new() })
    }

    /// Continues a run after its last finished generation.
    ///
    /// # Errors
    ///
    /// The folder has no run, another process continues it, or a file is damaged.
    pub fn resume(folder: &Path) -> Result<Self, RunError> {
        let (folder, config, checkpoint): (_, RunConfig, Checkpoint) = Folder::resume(folder)?;
        crate::genotype::check(&config.parameters)?;
        let history = folder::read_history(folder.path(), checkpoint.finished())?;
        folder.trim_logs(&history)?;
        folder.trim_bests(checkpoint.finished())?;
        folder.save_best(checkpoint.best.as_ref())?;
        workers::forget(folder.path())?;
        Ok(Self { folder, config, checkpoint, history, asked: Vec::new() })
    }

    /// The run's configuration.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The finished generations.
    pub fn history(&self) -> &[Generation] {
        &self.history
    }

    /// The best individual so far.
    pub fn best(&self) -> Option<&Best> {
        self.checkpoint.best.as_ref()
    }

    /// A snapshot of the run.
    pub fn record(&self) -> Record {
        let best = self.checkpoint.best.clone();
        Record { config: self.config.clone(), history: self.history.clone(), best }
    }

    /// A human-readable line about the algorithm's state.
    pub fn describe(&self) -> String {
        self.checkpoint.search.describe()
    }

    /// Number of the next generation, from 1.
    pub fn next_generation(&self) -> u64 {
        // a checkpoint may say anything
        self.checkpoint.finished().saturating_add(1)
    }

    /// The individuals of the next generation.
    pub fn ask(&mut self) -> &[Genotype] {
        self.asked = self.checkpoint.search.ask();
        &self.asked
    }

    /// Finishes the generation and writes its checkpoint. Evaluations are in the order of [`ask`](Self::ask).
    ///
    /// # Errors
    ///
    /// The number of evaluations is wrong, or a file cannot be written.
    pub fn tell(&mut self, evaluations: &[Evaluation]) -> Result<&Generation, RunError> {
        let diversity = self.checkpoint.search.diversity();
        self.checkpoint.search.tell(evaluations)?;
        let best = self.best_of(evaluations);
        let statistics = self.statistics(evaluations, best.as_ref(), diversity);
        let improves = |best: &Best| self.checkpoint.best.as_ref().is_none_or(|old| best.fitness > old.fitness);
        let is_improved = best.as_ref().is_some_and(improves);
        if is_improved {
            self.checkpoint.best.clone_from(&best);
        }
        self.checkpoint.last = Some(statistics.clone());
        self.asked.clear();
        // in this order: logs ahead of the checkpoint are trimmed when the run is resumed; the checkpoint is never ahead
        self.folder.log(&statistics)?;
        self.folder.add_best(best.as_ref())?;
        self.folder.save(&self.checkpoint)?;
        if is_improved {
            self.folder.save_best(best.as_ref())?;
        }
        self.history.push(statistics);
        self.history.last().ok_or(RunError::Folder(FolderError::Empty))
    }

    /// The best individual of the generation in progress.
    fn best_of(&self, evaluations: &[Evaluation]) -> Option<Best> {
        let individuals = (1_u64..).zip(self.asked.iter().zip(evaluations));
        let best = individuals.max_by(|(_, (_, a)), (_, (_, b))| a.fitness.total_cmp(&b.fitness));
        best.map(|(individual, (genotype, evaluation))| {
            let (place, companions) = self.companions(individual as usize - 1);
            Best {
                generation: self.next_generation(),
                individual,
                fitness: evaluation.fitness,
                genotype: genotype.clone(),
                figures: evaluation.figures.clone(),
                companions,
                place,
            }
        })
    }

    /// The evaluation partners of an individual of the generation in progress, and how many of them moved before it.
    fn companions(&self, individual: usize) -> (usize, Vec<Genotype>) {
        let EvaluationSite::Local { seed, encounters: Encounters::Group(size), .. } = &self.config.site else {
            return (0, Vec::new());
        };
        let groups = encounters::groups(*seed, self.next_generation(), self.asked.len(), *size);
        let group = groups.into_iter().find(|group| group.contains(&individual)).unwrap_or_default();
        let place = group.iter().position(|member| *member == individual).unwrap_or_default();
        let others = group.iter().filter(|member| **member != individual);
        (place, others.map(|member| self.asked[*member].clone()).collect())
    }

    fn statistics(&self, evaluations: &[Evaluation], best: Option<&Best>, diversity: f64) -> Generation {
        let count = evaluations.len().max(1) as f64;
        let before = self.checkpoint.last().map_or(0, |last| last.evaluations);
        // divided one by one: the sum may overflow
        let mean = evaluations.iter().map(|evaluation| evaluation.fitness / count).sum::<f64>();
        let bests = [best, self.checkpoint.best.as_ref()].into_iter().flatten();
        Generation {
            generation: self.next_generation(),
            evaluations: before.saturating_add(evaluations.len() as u64),
            best: best.map_or(0.0, |best| best.fitness),
            mean: mean.clamp(f64::MIN, f64::MAX),
            worst: evaluations.iter().map(|evaluation| evaluation.fitness).min_by(f64::total_cmp).unwrap_or_default(),
            best_so_far: bests.map(|best| best.fitness).max_by(f64::total_cmp).unwrap_or_default(),
            diversity,
            hidden: best.map_or(0, |best| best.genotype.hidden),
        }
    }

    /// The run's folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

#[cfg(test)]
mod tests;
