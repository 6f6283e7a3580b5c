//! The list of runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::SystemTime,
};

use evolve::run::{self, EvaluationSite, Record};
use wire::console::{RunState, RunSummary};

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
            runs.push(self.with_state(digest, processes.get(&name)));
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
            let began = fs::metadata(entry.path().join("run.json")).ok()?;
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
        let stamp = stamp(&folder.join("checkpoint.json"));
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
            summary.generations = summary.generations.max(entry.request.run.generations);
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
            _ if is_reached || summary.generation >= summary.generations => summary.state = RunState::Finished,
            _ => summary.state = RunState::Stopped,
        }
        summary
    }
}

fn stamp(file: &Path) -> Stamp {
    fs::metadata(file).map_or((None, 0), |found| (found.modified().ok(), found.len()))
}

fn read(name: &str, folder: &Path) -> Digest {
    match run::read(folder) {
        Ok(record) => Digest { is_reached: is_reached(&record), summary: summary(name, &record) },
        Err(error) => Digest {
            summary: RunSummary {
                name: name.to_owned(),
                algorithm: String::new(),
                place: String::new(),
                seed: 0,
                generations: 0,
                generation: 0,
                best: None,
                state: RunState::Failed,
                words: error.to_string(),
                here: false,
            },
            is_reached: false,
        },
    }
}

/// Whether the best individual has reached the target.
pub(super) fn is_reached(Record { config, best, .. }: &Record) -> bool {
    config.target.zip(best.as_ref()).is_some_and(|(target, best)| best.fitness >= target)
}

fn summary(name: &str, record: &Record) -> RunSummary {
    let Record { config, history, best } = record;
    RunSummary {
        name: name.to_owned(),
        algorithm: config.algorithm.to_string(),
        place: describe_site(&config.site),
        seed: config.seed,
        generations: config.generations,
        generation: history.len() as u64,
        best: best.as_ref().map(|best| best.fitness),
        state: RunState::Stopped,
        words: String::new(),
        here: matches!(config.site, EvaluationSite::Local { .. }),
    }
}

/// Human-readable description of where individuals are evaluated.
pub(super) fn describe_site(site: &EvaluationSite) -> String {
    match site {
        EvaluationSite::Local { world, body, .. } => format!("{} in {}", title(body), title(world)),
        EvaluationSite::Simulators(simulators) => simulators.join(", "),
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
        best: None,
        state,
        words,
        here: run.simulators.is_empty(),
    }
}
