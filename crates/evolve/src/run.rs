//! An evolutionary run and its folder.
//!
//! ```text
//! run.json         the configuration of the run
//! checkpoint.json  the state after the last finished generation; replaced atomically
//! log.csv          one line per generation, for spreadsheets
//! log.jsonl        the same, for programs
//! best.json        the best individual so far
//! bests.jsonl      the best individual of each generation, one per line; missing in runs of older versions
//! lock             held by the process that continues the run
//! ```
//!
//! A generation is finished when its checkpoint is on disk. A run that is interrupted before that repeats the generation
//! with the same individuals. When a run is resumed, log lines after the checkpoint are removed.

mod folder;
mod learnt;
mod preset;
mod site;

use std::path::Path;

use serde::{Deserialize, Serialize};

use self::folder::Folder;
pub use self::{
    folder::{FolderError, is_busy, read_best, read_best_of},
    learnt::learnt,
    preset::Preset,
    site::{LocalSite, SiteError},
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
    /// Total number of generations.
    pub generations: u64,
    /// The run ends once an individual has at least this fitness.
    pub target: Option<f64>,
    /// Where individuals are evaluated.
    #[serde(rename = "place")]
    pub site: EvaluationSite,
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

/// The best individual of a generation, or so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    let (config, Checkpoint { history, best, .. }) = folder::read_state(folder)?;
    Ok(Record { config, history, best })
}

/// The state that the next generation depends on.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Checkpoint {
    /// All finished generations.
    history: Vec<Generation>,
    best: Option<Best>,
    search: Search,
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
        crate::genotype::check(&config.parameters)?;
        let search = Search::new(config.algorithm, &config.settings, &config.parameters, config.seed)?;
        let checkpoint = Checkpoint { history: Vec::new(), best: None, search };
        let folder = Folder::begin(folder, &config, &checkpoint)?;
        Ok(Self { folder, config, checkpoint, asked: Vec::new() })
    }

    /// Continues a run after its last finished generation.
    ///
    /// # Errors
    ///
    /// The folder has no run, another process continues it, or a file is damaged.
    pub fn resume(folder: &Path) -> Result<Self, RunError> {
        let (folder, config, checkpoint): (_, RunConfig, Checkpoint) = Folder::resume(folder)?;
        crate::genotype::check(&config.parameters)?;
        folder.trim_logs(&checkpoint.history)?;
        folder.trim_bests(checkpoint.history.len() as u64)?;
        folder.save_best(checkpoint.best.as_ref())?;
        Ok(Self { folder, config, checkpoint, asked: Vec::new() })
    }

    /// The run's configuration.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The finished generations.
    pub fn history(&self) -> &[Generation] {
        &self.checkpoint.history
    }

    /// The best individual so far.
    pub fn best(&self) -> Option<&Best> {
        self.checkpoint.best.as_ref()
    }

    /// A snapshot of the run.
    pub fn record(&self) -> Record {
        let Checkpoint { history, best, .. } = &self.checkpoint;
        Record { config: self.config.clone(), history: history.clone(), best: best.clone() }
    }

    /// A human-readable line about the algorithm's state.
    pub fn describe(&self) -> String {
        self.checkpoint.search.describe()
    }

    /// Number of the next generation, from 1.
    pub fn next_generation(&self) -> u64 {
        self.checkpoint.history.len() as u64 + 1
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
        if best.as_ref().is_some_and(improves) {
            self.checkpoint.best.clone_from(&best);
        }
        self.checkpoint.history.push(statistics);
        self.asked.clear();
        // in this order: logs ahead of the checkpoint are trimmed when the run is resumed; the checkpoint is never ahead
        self.folder.log(self.checkpoint.history.last())?;
        self.folder.add_best(best.as_ref())?;
        self.folder.save(&self.checkpoint)?;
        self.folder.save_best(self.checkpoint.best.as_ref())?;
        self.checkpoint.history.last().ok_or(RunError::Folder(FolderError::Empty))
    }

    /// The best individual of the generation in progress.
    fn best_of(&self, evaluations: &[Evaluation]) -> Option<Best> {
        let individuals = (1_u64..).zip(self.asked.iter().zip(evaluations));
        let best = individuals.max_by(|(_, (_, a)), (_, (_, b))| a.fitness.total_cmp(&b.fitness));
        best.map(|(individual, (genotype, evaluation))| Best {
            generation: self.next_generation(),
            individual,
            fitness: evaluation.fitness,
            genotype: genotype.clone(),
            figures: evaluation.figures.clone(),
        })
    }

    fn statistics(&self, evaluations: &[Evaluation], best: Option<&Best>, diversity: f64) -> Generation {
        let count = evaluations.len().max(1) as f64;
        let before = self.checkpoint.history.last().map_or(0, |last| last.evaluations);
        // divided one by one: the sum may overflow
        let mean = evaluations.iter().map(|evaluation| evaluation.fitness / count).sum::<f64>();
        let bests = [best, self.checkpoint.best.as_ref()].into_iter().flatten();
        Generation {
            generation: self.next_generation(),
            evaluations: before + evaluations.len() as u64,
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
