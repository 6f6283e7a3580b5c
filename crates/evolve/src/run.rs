//! An evolutionary run and its folder: what it was started with, where it stands, and what it found.
//!
//! ```text
//! run.json         what the run was started with
//! checkpoint.json  the last finished generation and all that the next one needs; replaced at once, never in part
//! log.csv          a line for each generation, for spreadsheets
//! log.jsonl        the same, for programs
//! best.json        the best individual so far
//! bests.jsonl      the best individual of each generation, one a line; runs of older versions do not have it
//! lock             held by whoever goes on with the run
//! ```
//!
//! A generation is finished when its checkpoint is on disk. Whoever is stopped before that repeats the generation, with
//! the same individuals; lines of generations that no checkpoint knows are removed when the run goes on.

mod folder;
mod place;

use std::path::Path;

use serde::{Deserialize, Serialize};

use self::folder::Folder;
pub use self::{
    folder::{FolderError, is_busy, read_best, read_best_of},
    place::{Here, PlaceError},
};
use crate::{
    Genotype, NetParameters, ParametersError,
    search::{Algorithm, Evaluation, Search, Settings, SettingsError, TellError},
};

/// What a run is started with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// How genotypes are moved on.
    pub algorithm: Algorithm,
    /// The algorithm's settings.
    pub settings: Settings,
    /// Of everything random in the algorithm.
    pub seed: u64,
    /// What nets the Robot Simulator takes.
    pub parameters: NetParameters,
    /// How many generations there are to be in all.
    pub generations: u64,
    /// The run ends with an individual that is as good as this.
    pub target: Option<f64>,
    /// Where the individuals are tested, for people and for those who go on with the run.
    pub place: Place,
}

/// Where individuals are tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// In the same process.
    Here {
        /// The world's file, as text.
        world: String,
        /// The body's file, as text.
        body: String,
        /// The fitness, as text, if not the body's own.
        fitness: Option<String>,
        /// Seed of world and trials.
        seed: u64,
    },
    /// By Robot Simulators at these addresses.
    Simulators(Vec<String>),
}

/// One finished generation, as the log has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// Counted from 1.
    pub generation: u64,
    /// Individuals tested so far, this generation included.
    pub evaluations: u64,
    /// Highest fitness of the generation.
    pub best: f64,
    /// Mean fitness of the generation.
    pub mean: f64,
    /// Lowest fitness of the generation.
    pub worst: f64,
    /// Highest fitness so far.
    pub best_so_far: f64,
    /// How different the individuals are, as the algorithm measures it.
    pub diversity: f64,
    /// Hidden neurons of the best individual.
    pub hidden: usize,
}

/// The best individual of a generation, or so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// In which generation it was tested.
    pub generation: u64,
    /// Its number in that generation, counted from 1.
    pub individual: u64,
    /// What it reached.
    pub fitness: f64,
    /// Its genes.
    pub genotype: Genotype,
}

/// A run as it stands, to be looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// What it was started with.
    pub start: Start,
    /// The finished generations.
    pub history: Vec<Generation>,
    /// The best individual so far.
    pub best: Option<Best>,
}

/// Looks at a run, whether somebody goes on with it or not.
pub fn read(folder: &Path) -> Result<Record, FolderError> {
    let (start, Checkpoint { history, best, .. }) = folder::look(folder)?;
    Ok(Record { start, history, best })
}

/// All that the next generation needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Checkpoint {
    /// Finished generations, all of them.
    history: Vec<Generation>,
    best: Option<Best>,
    search: Search,
}

/// Why a run cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// With the run's folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// With the algorithm's settings.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// With what the Robot Simulator says of its nets.
    #[error(transparent)]
    Parameters(#[from] ParametersError),
    /// The evaluations do not fit what was asked.
    #[error(transparent)]
    Tell(#[from] TellError),
}

/// An evolutionary run.
#[derive(Debug)]
pub struct Run {
    folder: Folder,
    start: Start,
    checkpoint: Checkpoint,
    /// The generation that is under way.
    asked: Vec<Genotype>,
}

impl Run {
    /// Begins a run in a folder that is new or empty.
    pub fn begin(folder: &Path, start: Start) -> Result<Self, RunError> {
        start.parameters.check()?;
        let search = Search::new(start.algorithm, &start.settings, &start.parameters, start.seed)?;
        let checkpoint = Checkpoint { history: Vec::new(), best: None, search };
        let folder = Folder::begin(folder, &start, &checkpoint)?;
        Ok(Self { folder, start, checkpoint, asked: Vec::new() })
    }

    /// Goes on with a run after its last finished generation.
    pub fn resume(folder: &Path) -> Result<Self, RunError> {
        let (folder, start, checkpoint): (_, Start, Checkpoint) = Folder::resume(folder)?;
        folder.trim_logs(&checkpoint.history)?;
        folder.trim_bests(checkpoint.history.len() as u64)?;
        folder.save_best(checkpoint.best.as_ref())?;
        Ok(Self { folder, start, checkpoint, asked: Vec::new() })
    }

    /// What the run was started with.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// The finished generations.
    pub fn history(&self) -> &[Generation] {
        &self.checkpoint.history
    }

    /// The best individual so far.
    pub fn best(&self) -> Option<&Best> {
        self.checkpoint.best.as_ref()
    }

    /// The run as it stands.
    pub fn record(&self) -> Record {
        let Checkpoint { history, best, .. } = &self.checkpoint;
        Record { start: self.start.clone(), history: history.clone(), best: best.clone() }
    }

    /// The algorithm and how it stands, for people.
    pub fn describe(&self) -> String {
        self.checkpoint.search.describe()
    }

    /// The number of the generation that is to be tested next, counted from 1.
    pub fn next_generation(&self) -> u64 {
        self.checkpoint.history.len() as u64 + 1
    }

    /// The individuals of the next generation.
    pub fn ask(&mut self) -> &[Genotype] {
        self.asked = self.checkpoint.search.ask();
        &self.asked
    }

    /// Finishes the generation that was asked for. When this returns, nothing of it can be lost.
    pub fn tell(&mut self, evaluations: &[Evaluation]) -> Result<&Generation, RunError> {
        let diversity = self.checkpoint.search.diversity();
        self.checkpoint.search.tell(evaluations)?;
        let generation = self.next_generation();
        let fitness = |evaluation: &Evaluation| evaluation.fitness;
        let best = (1_u64..)
            .zip(self.asked.iter().zip(evaluations))
            .max_by(|(_, (_, a)), (_, (_, b))| fitness(a).total_cmp(&fitness(b)))
            .map(|(individual, (genotype, evaluation))| Best {
                generation,
                individual,
                fitness: evaluation.fitness,
                genotype: genotype.clone(),
            });
        let count = evaluations.len().max(1) as f64;
        let before = self.checkpoint.history.last().map_or(0, |last| last.evaluations);
        let improves = |best: &Best| self.checkpoint.best.as_ref().is_none_or(|old| best.fitness > old.fitness);
        let line = Generation {
            generation,
            evaluations: before + evaluations.len() as u64,
            best: best.as_ref().map_or(0.0, |best| best.fitness),
            // each by itself: the sum may be beyond all numbers
            mean: evaluations
                .iter()
                .map(|evaluation| evaluation.fitness / count)
                .sum::<f64>()
                .clamp(f64::MIN, f64::MAX),
            worst: evaluations.iter().map(fitness).min_by(f64::total_cmp).unwrap_or_default(),
            best_so_far: [best.as_ref(), self.checkpoint.best.as_ref()]
                .into_iter()
                .flatten()
                .map(|best| best.fitness)
                .max_by(f64::total_cmp)
                .unwrap_or_default(),
            diversity,
            hidden: best.as_ref().map_or(0, |best| best.genotype.hidden),
        };
        let (improves, of_this) = (best.as_ref().is_some_and(improves), best.clone());
        if improves {
            self.checkpoint.best = best;
        }
        self.checkpoint.history.push(line);
        self.asked.clear();
        // in this order: a log may run ahead of the checkpoint, and is trimmed then; the checkpoint runs ahead of nothing
        self.folder.log(self.checkpoint.history.last())?;
        self.folder.add_best(of_this.as_ref())?;
        self.folder.save(&self.checkpoint)?;
        self.folder.save_best(self.checkpoint.best.as_ref())?;
        self.checkpoint.history.last().ok_or(RunError::Folder(FolderError::Empty))
    }

    /// The run's folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

#[cfg(test)]
mod tests;
