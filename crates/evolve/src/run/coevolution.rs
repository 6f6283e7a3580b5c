//! Two populations that evolve against each other in one world.
//!
//! ```text
//! coevolution.json  names of the populations: the kinds of their robots
//! evaluations.json  the last evaluations of both; replaced atomically
//! prey/             the run of one population
//! predator/         the run of the other
//! ```
//!
//! Each individual meets some of the other population, one after the other. Its fitness is the mean over these encounters.
//! A generation is finished when its evaluations are on disk. Both runs then learn from them, or do so when they are resumed.

use std::{
    io,
    path::{Path, PathBuf},
};

use arena::plan::Isolation;
use serde::{Deserialize, Serialize};
use support::atomic_file;

use super::{
    Best, Encounters, EvaluationSite, FolderError, Generation, LocalSite, Record, Run, RunConfig, RunError, SiteError,
    Status, encounters, folder, read_best_of, read_status,
};
use crate::{
    Genotype,
    robot::{Encounter, EvaluationError, EvaluationTask, GenotypeError, Outcome, WorldLost, in_parallel},
    search::{Algorithm, Evaluation, Settings},
};

const EVALUATIONS: &str = "evaluations.json";
/// Maximum number of opponents of an individual.
pub const MAX_OPPONENTS: usize = 100;

/// The configuration of two populations.
#[derive(Clone, Debug, PartialEq)]
pub struct CoevolutionConfig {
    /// The search algorithm of both.
    pub algorithm: Algorithm,
    /// The algorithm's settings.
    pub settings: Settings,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Total number of generations; `None` to go on until the user stops it.
    pub generations: Option<u64>,
    /// Text of the world file.
    pub world: String,
    /// Number of opponents of an individual.
    pub opponents: usize,
    /// The populations.
    pub populations: [PopulationConfig; 2],
}

/// The configuration of a population.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PopulationConfig {
    /// The kind of its robots, which is one of the world's ports.
    pub kind: String,
    /// Text of the body file.
    pub body: String,
    /// Text of the fitness file, if not the body's own script.
    pub fitness: Option<String>,
}

/// Why two populations cannot evolve against each other.
#[derive(Debug, thiserror::Error)]
pub enum CoevolutionError {
    /// An error of one of the runs.
    #[error(transparent)]
    Run(#[from] RunError),
    /// An error of the folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// An invalid world, body or fitness file.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// An evaluation failed.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// Too many opponents, or none.
    #[error("an individual has 1 to {MAX_OPPONENTS} opponents, not {0}")]
    Opponents(usize),
    /// The robots of the world do not meet.
    #[error("robots of different populations do not meet in this world; it needs `isolation = \"shared\"`")]
    Isolated,
    /// The world has no such kind of robots.
    #[error("the world has no robots of the kind `{kind}`; its kinds are {known}")]
    UnknownKind {
        /// The kind.
        kind: String,
        /// Those of the world.
        known: String,
    },
    /// Both populations have the same kind, or a folder cannot have its name.
    #[error("the kinds `{0}` and `{1}` need different names of letters, digits, `-` and `_`")]
    Names(String, String),
    /// The robots' trials differ.
    #[error("the trials of both bodies must be equal in number and in their `dt`")]
    Trials,
    /// The folder has one of the populations only, or they are not at the same generation.
    #[error("{}: the runs of the two populations do not belong together", .0.display())]
    Apart(PathBuf),
}

/// Names of the populations.
#[derive(Serialize, Deserialize)]
struct Pair {
    populations: [String; 2],
}

/// The evaluations of a generation.
#[derive(Serialize, Deserialize)]
struct Evaluated {
    generation: u64,
    evaluations: [Vec<Evaluation>; 2],
}

/// Two populations that evolve against each other.
#[derive(Debug)]
pub struct Coevolution {
    folder: PathBuf,
    runs: [Run; 2],
    rivals: Rivals,
}

impl Coevolution {
    /// Starts two runs in a new or empty folder.
    ///
    /// # Errors
    ///
    /// A file or setting is invalid, the robots do not meet, or the folder is not empty.
    pub fn begin(folder: &Path, config: CoevolutionConfig) -> Result<Self, CoevolutionError> {
        let CoevolutionConfig { algorithm, settings, seed, generations, world, opponents, populations } = config;
        let names = populations.each_ref().map(|population| population.kind.clone());
        let site = |own: usize| {
            let (PopulationConfig { kind, body, fitness }, rival) = (populations[own].clone(), names[1 - own].clone());
            let encounters = Encounters::Opponents { kind, rival, count: opponents };
            EvaluationSite::Local { world: world.clone(), body, fitness, seed, encounters }
        };
        let sites = [site(0), site(1)];
        let rivals = Rivals::new(&sites)?;
        let config = |own: usize| RunConfig {
            algorithm,
            settings: settings.clone(),
            // different random numbers
            seed: seed.wrapping_add(own as u64),
            parameters: rivals.sites[own].design.parameters().clone(),
            generations,
            target: None,
            site: sites[own].clone(),
        };
        let configs = [config(0), config(1)];
        configs.iter().try_for_each(RunConfig::check)?;
        folder::create(folder)?;
        let [one, other] = configs;
        let runs = [Run::begin(&folder.join(&names[0]), one)?, Run::begin(&folder.join(&names[1]), other)?];
        let path = folder.join(folder::PAIR);
        let pair = folder::to_json(&path, &Pair { populations: names })?;
        // last: a folder that has it has both runs
        atomic_file::replace(&path, &pair).map_err(folder::at(&path))?;
        Ok(Self { folder: folder.to_owned(), runs, rivals })
    }

    /// Continues after the last finished generation.
    ///
    /// # Errors
    ///
    /// The folder has no two runs, another process continues them, or a file is damaged.
    pub fn resume(folder: &Path) -> Result<Self, CoevolutionError> {
        let names = names(folder)?.ok_or_else(|| FolderError::NoRun { path: folder.to_owned() })?;
        let mut runs = [Run::resume(&folder.join(&names[0]))?, Run::resume(&folder.join(&names[1]))?];
        let path = folder.join(EVALUATIONS);
        if path.exists() {
            let Evaluated { generation, evaluations } = folder::read(&path)?;
            for (run, evaluations) in runs.iter_mut().zip(&evaluations) {
                if run.next_generation() == generation {
                    run.ask();
                    run.tell(evaluations)?;
                }
            }
        }
        if runs[0].next_generation() != runs[1].next_generation() {
            return Err(CoevolutionError::Apart(folder.to_owned()));
        }
        let rivals = Rivals::new(&runs.each_ref().map(|run| run.config().site.clone()))?;
        Ok(Self { folder: folder.to_owned(), runs, rivals })
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The runs of the populations.
    pub fn runs(&self) -> &[Run; 2] {
        &self.runs
    }

    /// The populations' robots and world.
    pub fn rivals(&self) -> &Rivals {
        &self.rivals
    }

    /// Number of the next generation, from 1.
    pub fn next_generation(&self) -> u64 {
        self.runs[0].next_generation()
    }

    /// Number of encounters of the next generation.
    pub fn encounters(&mut self) -> usize {
        self.pairs().len()
    }

    fn pairs(&mut self) -> Vec<[usize; 2]> {
        let generation = self.next_generation();
        let sizes = self.runs.each_mut().map(|run| run.ask().len());
        encounters::pairs(self.rivals.sites[0].seed, generation, sizes, self.rivals.opponents)
    }

    /// Evaluates and finishes the next generation of both. The results do not depend on the number of threads. `progress` is
    /// called with the number of finished encounters.
    ///
    /// # Errors
    ///
    /// The world fails, or a file cannot be written.
    pub fn generation(
        &mut self,
        threads: usize,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<[Generation; 2], CoevolutionError> {
        let (generation, pairs) = (self.next_generation(), self.pairs());
        let individuals = self.runs.each_mut().map(|run| run.ask().to_vec());
        let meet = |nth: usize| -> Result<[Outcome; 2], EvaluationError> {
            let genotypes = [0, 1].map(|side| &individuals[side][pairs[nth][side]]);
            let numbers = pairs[nth].map(|index| index as u64 + 1);
            Ok(both(self.rivals.encounter([generation; 2], numbers, genotypes, 0)?.run()?)?)
        };
        let outcomes = in_parallel(pairs.len(), threads, meet, progress)?;
        let mut evaluations = individuals.map(|individuals| vec![Sum::default(); individuals.len()]);
        for (pair, outcomes) in pairs.iter().zip(outcomes) {
            for ((side, index), outcome) in evaluations.iter_mut().zip(pair).zip(outcomes) {
                side[*index].add(outcome);
            }
        }
        let evaluations = evaluations.map(|side| side.into_iter().map(Sum::mean).collect());
        let evaluated = Evaluated { generation, evaluations };
        let path = self.folder.join(EVALUATIONS);
        let json = folder::to_json(&path, &evaluated)?;
        atomic_file::replace(&path, &json).map_err(folder::at(&path))?;
        let [one, other] = &mut self.runs;
        let [of_one, of_other] = &evaluated.evaluations;
        Ok([one.tell(of_one)?.clone(), other.tell(of_other)?.clone()])
    }
}

/// The sum of an individual's outcomes.
#[derive(Clone, Debug, Default)]
struct Sum {
    count: f64,
    evaluation: Option<Evaluation>,
}

impl Sum {
    fn add(&mut self, outcome: Outcome) {
        self.count += 1.0;
        let more = Evaluation::from(outcome);
        match &mut self.evaluation {
            None => self.evaluation = Some(more),
            Some(Evaluation { fitness, behaviour, figures }) => {
                *fitness += more.fitness;
                behaviour.iter_mut().zip(more.behaviour).for_each(|(sum, value)| *sum += value);
                // those of an outcome are missing if one is not finite
                figures.truncate(more.figures.len());
                figures.iter_mut().zip(more.figures).for_each(|(sum, value)| *sum += value);
            }
        }
    }

    fn mean(self) -> Evaluation {
        let Some(Evaluation { fitness, behaviour, figures }) = self.evaluation else { return Evaluation::default() };
        let means = |values: Vec<f64>| values.into_iter().map(|value| value / self.count).collect();
        Evaluation { fitness: fitness / self.count, behaviour: means(behaviour), figures: means(figures) }
    }
}

/// The robots of two populations, and the world in which they meet.
#[derive(Clone, Debug)]
pub struct Rivals {
    sites: [LocalSite; 2],
    names: [String; 2],
    /// Indices of the kinds.
    kinds: [usize; 2],
    opponents: usize,
}

impl Rivals {
    /// The robots and the world of two runs.
    ///
    /// # Errors
    ///
    /// A file is invalid, or the robots do not meet.
    pub fn new(sites: &[EvaluationSite; 2]) -> Result<Self, CoevolutionError> {
        let local = |site: &EvaluationSite| {
            let local = site.local()?;
            let encounters = local.map(|local| (local.encounters.clone(), local));
            match encounters {
                Some((Encounters::Opponents { kind, rival, count }, site)) => Ok((site, kind, rival, count)),
                _ => Err(CoevolutionError::Apart(PathBuf::new())),
            }
        };
        let [(one, name, rival, opponents), (other, other_name, ..)] = [local(&sites[0])?, local(&sites[1])?];
        if rival != other_name || !are_names([&name, &other_name]) {
            return Err(CoevolutionError::Names(name, other_name));
        }
        if !(1..=MAX_OPPONENTS).contains(&opponents) {
            return Err(CoevolutionError::Opponents(opponents));
        }
        if one.world.rules().isolation != Isolation::Shared {
            return Err(CoevolutionError::Isolated);
        }
        let trials = |site: &LocalSite| (site.design.file().trial.trials, site.design.file().trial.dt);
        if trials(&one) != trials(&other) {
            return Err(CoevolutionError::Trials);
        }
        let ports = one.world.ports();
        let kind = |name: &str| {
            let known = || ports.iter().map(|port| port.kind.as_str()).collect::<Vec<_>>().join(", ");
            let unknown = || CoevolutionError::UnknownKind { kind: name.to_owned(), known: known() };
            ports.iter().position(|port| port.kind == name).ok_or_else(unknown)
        };
        let kinds = [kind(&name)?, kind(&other_name)?];
        Ok(Self { names: [name, other_name], kinds, opponents, sites: [one, other] })
    }

    /// Names of the populations.
    pub fn names(&self) -> &[String; 2] {
        &self.names
    }

    /// The robots of each population, with their world.
    pub fn sites(&self) -> &[LocalSite; 2] {
        &self.sites
    }

    /// Indices of their kinds in the world's ports.
    pub fn kinds(&self) -> [usize; 2] {
        self.kinds
    }

    /// Number of opponents of an individual.
    pub fn opponents(&self) -> usize {
        self.opponents
    }

    /// An encounter of one individual of each population. Records at most the first `positions` positions of each.
    ///
    /// # Errors
    ///
    /// A genotype does not fit its design.
    fn encounter(
        &self,
        generations: [u64; 2],
        numbers: [u64; 2],
        genotypes: [&Genotype; 2],
        positions: usize,
    ) -> Result<Encounter, GenotypeError> {
        let [one, _] = &self.sites;
        let mut encounter = Encounter::new(one.world.clone(), one.arena_seed(generations[0].max(generations[1])));
        for (side, site) in self.sites.iter().enumerate() {
            let task = EvaluationTask::new(site.design.clone(), genotypes[side], generations[side], numbers[side])?;
            encounter = encounter.with(self.kinds[side], task.with_path_of(positions));
        }
        Ok(encounter)
    }

    /// An encounter of the best individuals of two generations. Records at most the first `positions` positions of each.
    ///
    /// # Errors
    ///
    /// A genotype does not fit its design.
    pub fn duel(&self, bests: [&Best; 2], positions: usize) -> Result<Encounter, GenotypeError> {
        let numbers = bests.map(|best| best.individual);
        self.encounter(bests.map(|best| best.generation), numbers, bests.map(|best| &best.genotype), positions)
    }

    /// What each population has learnt, in words: how its best individual does against the other's best of the first
    /// generation, compared with its own of the first generation.
    fn learnt(&self, first: &[Best; 2], last: &[Best; 2]) -> Result<[String; 2], EvaluationError> {
        let outcomes = |bests| -> Result<[Outcome; 2], EvaluationError> { Ok(both(self.duel(bests, 0)?.run()?)?) };
        let [one, other] = outcomes([&first[0], &first[1]])?;
        let ([now, _], [_, other_now]) = (outcomes([&last[0], &first[1]])?, outcomes([&first[0], &last[1]])?);
        let generation = last[0].generation;
        Ok([self.sentence(0, generation, &one, &now), self.sentence(1, generation, &other, &other_now)])
    }

    fn sentence(&self, side: usize, generation: u64, before: &Outcome, now: &Outcome) -> String {
        let summary = self.sites[side].design.summary();
        let words = |outcome: &Outcome| {
            let fitness = || format!("has fitness {:.3}", outcome.fitness);
            summary.fill(&outcome.figures).unwrap_or_else(fitness)
        };
        let (own, rival) = (&self.names[side], &self.names[1 - side]);
        let begin = format!("against the best {rival} of the first generation, the best {own}");
        match generation {
            1 => format!("{begin} {}; it is still one of the first generation", words(before)),
            _ => format!("{begin} {}; the best of the first generation {}", words(now), words(before)),
        }
    }
}

/// The outcomes of two robots.
fn both(outcomes: Vec<Outcome>) -> Result<[Outcome; 2], WorldLost> {
    outcomes
        .try_into()
        .map_err(|outcomes: Vec<Outcome>| WorldLost::new(format!("{} outcomes for two robots", outcomes.len())))
}

/// Names of the populations in a folder; `None` if it does not have two.
///
/// # Errors
///
/// The file is damaged.
pub fn names(folder: &Path) -> Result<Option<[String; 2]>, FolderError> {
    let path = folder.join(folder::PAIR);
    if !path.exists() {
        return Ok(None);
    }
    let Pair { populations: [one, other] } = folder::read(&path)?;
    // they are names of folders, and must not lead elsewhere
    match are_names([&one, &other]) {
        true => Ok(Some([one, other])),
        false => Err(folder::at(&path)(io::Error::other("not the names of two populations"))),
    }
}

/// Whether these can be the names of two populations and of their folders.
fn are_names(names: [&str; 2]) -> bool {
    let is_valid = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
    names[0] != names[1] && names.iter().all(|name| !name.is_empty() && name.chars().all(is_valid))
}

/// A population.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Population {
    /// Its name, which is the kind of its robots.
    pub name: String,
    /// Its run.
    #[serde(flatten)]
    pub record: Record,
}

/// Reads the populations in a folder, which may be in progress; `None` if it does not have two.
///
/// # Errors
///
/// A file is missing or damaged.
pub fn read(folder: &Path) -> Result<Option<[Population; 2]>, FolderError> {
    let Some([one, other]) = names(folder)? else { return Ok(None) };
    let population = |name: String| {
        let record = super::read(&folder.join(&name))?;
        Ok::<_, FolderError>(Population { name, record })
    };
    Ok(Some([population(one)?, population(other)?]))
}

/// The robots of the populations in a folder, and the best individual of each in a generation; by default in the last one.
///
/// # Errors
///
/// The folder does not have two populations, the generation is not finished, or a file is damaged.
pub fn bests(folder: &Path, generation: Option<u64>) -> Result<(Rivals, [Best; 2]), CoevolutionError> {
    let names = names(folder)?.ok_or_else(|| FolderError::NoRun { path: folder.to_owned() })?;
    let [one, other] = names.map(|name| folder.join(name));
    let [of_one, of_other] = [read_status(&one)?, read_status(&other)?];
    let last = |status: &Status| status.last.as_ref().map_or(0, |last| last.generation);
    let generation = generation.unwrap_or_else(|| last(&of_one).min(last(&of_other)));
    let bests = [read_best_of(&one, generation)?, read_best_of(&other, generation)?];
    Ok((Rivals::new(&[of_one.config.site, of_other.config.site])?, bests))
}

/// What the populations in a folder have learnt, in words; `None` before the end of the first generation.
pub fn learnt(folder: &Path) -> Option<[String; 2]> {
    let (_, first) = bests(folder, Some(1)).ok()?;
    let (rivals, last) = bests(folder, None).ok()?;
    rivals.learnt(&first, &last).ok()
}

#[cfg(test)]
mod tests;
