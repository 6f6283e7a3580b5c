//! The list of runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use evolve::run::{self, EvaluationSite, FolderError, Status, Workers, coevolution};
use wire::console::{BestFitness, RunState, RunSummary, RunWorkers};

use super::{Inner, MAX_LISTED, RunProcess, process::Outcome};
use crate::jobs::is_name;

/// Modification time and length of a file, to detect whether it must be read again.
pub(super) type Stamp = (Option<SystemTime>, u64);

/// A summary of a run's folder.
#[derive(Clone, Debug)]
pub(super) struct Digest {
    summary: RunSummary,
    /// Whether its best individual has reached the target.
    is_reached: bool,
}

impl Inner {
    pub(super) fn list(&self) -> Vec<RunSummary> {
        let mut names = self.on_disk();
        let processes = self.processes().clone();
        let known = self.retain_digests(names.iter().map(|(name, _)| name.as_str()));
        // processes that have not created a folder
        let without_folder = processes.iter().filter(|(name, _)| !names.iter().any(|(known, _)| known == *name));
        let mut without_folder: Vec<_> =
            without_folder.map(|(name, entry)| (entry.number, name.clone(), entry)).collect();
        without_folder.sort_by_key(|(number, ..)| std::cmp::Reverse(*number));
        let mut runs: Vec<RunSummary> =
            without_folder.into_iter().map(|(_, name, entry)| unwritten(name, entry)).collect();
        names.truncate(MAX_LISTED.saturating_sub(runs.len()));
        for (name, _) in names {
            let digest = self.digest(&name, known.get(&name));
            let mut run = self.with_state(digest, processes.get(&name));
            // they change within a generation
            run.workers = workers(&self.folder.join(&name));
            runs.push(run);
        }
        runs.truncate(MAX_LISTED);
        runs
    }

    /// Names and start times of the folders that have a run, latest first.
    fn on_disk(&self) -> Vec<(String, Option<SystemTime>)> {
        // the folder is created with the first run
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let of_entry = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok().filter(|name| is_name(name))?;
            // symbolic links may lead anywhere
            entry.file_type().ok().filter(fs::FileType::is_dir)?;
            let configuration = ["run.json", "coevolution.json"].map(|name| entry.path().join(name));
            let began = configuration.iter().find_map(|path| fs::metadata(path).ok())?;
            Some((name, began.modified().ok()))
        };
        let mut found: Vec<_> = entries.filter_map(|entry| of_entry(entry.ok()?)).collect();
        found.sort_by(|(a, a_began), (b, b_began)| b_began.cmp(a_began).then_with(|| a.cmp(b)));
        found
    }

    /// Drops digests of removed runs; returns the others.
    fn retain_digests<'a>(&self, names: impl Iterator<Item = &'a str>) -> BTreeMap<String, (Stamp, Digest)> {
        let names: BTreeSet<&str> = names.collect();
        let mut digests = self.digests.lock();
        digests.retain(|name, _| names.contains(name.as_str()));
        digests.clone()
    }

    fn digest(&self, name: &str, known: Option<&(Stamp, Digest)>) -> Digest {
        let folder = self.folder.join(name);
        let stamp = stamp(&changing_file(&folder));
        if let Some((_, digest)) = known.filter(|(of, _)| *of == stamp) {
            return digest.clone();
        }
        let digest = read(name, &folder);
        let mut digests = self.digests.lock();
        digests.insert(name.to_owned(), (stamp, digest.clone()));
        digest
    }

    /// The summary with the state of the run's process.
    fn with_state(&self, digest: Digest, entry: Option<&RunProcess>) -> RunSummary {
        let Digest { mut summary, is_reached } = digest;
        if let Some(entry) = entry {
            // 0 for no end; a run that was resumed for fewer generations than it has is not finished by them
            summary.generations = match entry.request.run.generations {
                0 => 0,
                requested => summary.generations.max(requested),
            };
        }
        match entry.map(|entry| entry.process.outcome()) {
            Some(Outcome::Running) => summary.state = RunState::Running,
            _ if run::is_busy(&self.folder.join(&summary.name)) => {
                summary.state = RunState::Running;
                summary.words = "running in another process".to_owned();
            }
            Some(Outcome::Failed(words)) => (summary.state, summary.words) = (RunState::Failed, words),
            // a damaged run stays failed
            _ if summary.state == RunState::Failed => {}
            _ if is_reached || (summary.generations > 0 && summary.generation >= summary.generations) => {
                summary.state = RunState::Finished;
            }
            _ => summary.state = RunState::Stopped,
        }
        summary
    }
}

/// The file that changes last with each generation.
fn changing_file(folder: &Path) -> PathBuf {
    match coevolution::names(folder) {
        Ok(Some([_, second])) => folder.join(second).join("checkpoint.json"),
        // a damaged folder fails later, with the reason
        Ok(None) | Err(_) => folder.join("checkpoint.json"),
    }
}

/// How far a run is.
pub(super) struct Progress {
    /// Its population, or the first of two that evolve against each other.
    pub(super) status: Status,
    /// Names of both, and how far the second one is.
    rivals: Option<([String; 2], Box<Status>)>,
}

impl Progress {
    pub(super) fn read(folder: &Path) -> Result<Self, FolderError> {
        let Some(names) = coevolution::names(folder)? else {
            return Ok(Self { status: run::read_status(folder)?, rivals: None });
        };
        let [one, other] = names.each_ref().map(|name| run::read_status(&folder.join(name)));
        Ok(Self { status: one?, rivals: Some((names, Box::new(other?))) })
    }

    /// Number of finished generations.
    pub(super) fn generation(&self) -> u64 {
        let finished = |status: &Status| status.last.as_ref().map_or(0, |last| last.generation);
        let second = self.rivals.as_ref().map_or(u64::MAX, |(_, second)| finished(second));
        finished(&self.status).min(second)
    }

    /// Whether the best individual has reached the target.
    pub(super) fn is_reached(&self) -> bool {
        let Status { config, best, .. } = &self.status;
        config.target.zip(best.as_ref()).is_some_and(|(target, best)| best.fitness >= target)
    }

    fn best(&self) -> Vec<BestFitness> {
        let best = |population: &str, fitness| BestFitness { population: population.to_owned(), fitness };
        match &self.rivals {
            None => self.status.best.iter().map(|found| best("", found.fitness)).collect(),
            // a fitness that depends on the others has no best so far
            Some((names, second)) => {
                let last = names.iter().zip([&self.status.last, &second.last]);
                last.filter_map(|(name, last)| Some(best(name, last.as_ref()?.best))).collect()
            }
        }
    }

    /// Human-readable description of where individuals are evaluated.
    pub(super) fn place(&self) -> String {
        match (&self.status.config.site, &self.rivals) {
            (EvaluationSite::Local { world, .. }, Some((names, _))) => {
                format!("{} in {}", names.join(" and "), title(world))
            }
            (EvaluationSite::Local { world, body, .. }, None) => format!("{} in {}", title(body), title(world)),
            (EvaluationSite::Simulators(simulators), _) => simulators.join(", "),
        }
    }
}

fn stamp(file: &Path) -> Stamp {
    fs::metadata(file).map_or((None, 0), |found| (found.modified().ok(), found.len()))
}

fn read(name: &str, folder: &Path) -> Digest {
    match Progress::read(folder) {
        Ok(progress) => Digest { is_reached: progress.is_reached(), summary: summary(name, &progress) },
        Err(error) => Digest {
            summary: RunSummary {
                name: name.to_owned(),
                algorithm: String::new(),
                place: String::new(),
                seed: 0,
                generations: 0,
                generation: 0,
                best: Vec::new(),
                state: RunState::Failed,
                words: error.to_string(),
                here: false,
                workers: None,
            },
            is_reached: false,
        },
    }
}

fn summary(name: &str, progress: &Progress) -> RunSummary {
    let config = &progress.status.config;
    RunSummary {
        name: name.to_owned(),
        algorithm: config.algorithm.to_string(),
        place: progress.place(),
        seed: config.seed,
        generations: config.generations.unwrap_or_default(),
        generation: progress.generation(),
        best: progress.best(),
        state: RunState::Stopped,
        words: String::new(),
        here: matches!(config.site, EvaluationSite::Local { .. }),
        workers: None,
    }
}

/// What the workers of a run on a cluster have done.
fn workers(folder: &Path) -> Option<RunWorkers> {
    match run::read_workers(folder) {
        Ok(workers) => workers.map(|Workers { workers, lost, retried, finished, total }| RunWorkers {
            workers,
            lost,
            retried,
            finished,
            total,
        }),
        Err(error) => {
            tracing::debug!("{error}");
            None
        }
    }
}

/// The title of a world or body file, up to its colon.
fn title(text: &str) -> String {
    let table: Option<toml::Table> = toml::from_str(text).ok();
    let title = table.as_ref().and_then(|table| table.get("title")?.as_str()).unwrap_or("a file without a title");
    title.split(':').next().unwrap_or_default().to_owned()
}

/// The summary of a run without a folder.
fn unwritten(name: String, entry: &RunProcess) -> RunSummary {
    let run = &entry.request.run;
    let (state, words) = match entry.process.outcome() {
        // such as that it waits for a Robot Simulator
        Outcome::Running => (RunState::Running, entry.process.last_line()),
        Outcome::Failed(words) => (RunState::Failed, words),
        Outcome::Ended => (RunState::Failed, "the process ended without creating a run".to_owned()),
        Outcome::Stopped => (RunState::Stopped, String::new()),
    };
    RunSummary {
        name,
        algorithm: run.algorithm.clone(),
        place: entry.request.site.clone(),
        seed: run.seed,
        generations: run.generations,
        generation: 0,
        best: Vec::new(),
        state,
        words,
        here: run.simulators.is_empty(),
        workers: None,
    }
}
