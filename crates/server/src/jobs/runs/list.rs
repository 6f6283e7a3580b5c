//! What runs there are, in a line each.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::PoisonError,
    time::SystemTime,
};

use evolve::run::{self, EvaluationSite, Record};
use wire::console::{RunState, RunSummary};

use super::{Attempt, Inner, MAX_LISTED, process::Outcome};
use crate::jobs::is_name;

/// When a file was last written, and how long it is: whether it has to be read again.
pub(super) type Stamp = (Option<SystemTime>, u64);

/// What is in a run's folder, in short.
#[derive(Clone, Debug)]
pub(super) struct Digest {
    summary: RunSummary,
    /// Whether its best individual is as good as was wanted.
    is_reached: bool,
}

impl Inner {
    pub(super) fn list(&self) -> Vec<RunSummary> {
        let mut names = self.on_disk();
        let attempts = self.processes().clone();
        let known = self.keep_digests(names.iter().map(|(name, _)| name.as_str()));
        // those that never got as far as to have a folder
        let homeless = attempts.iter().filter(|(name, _)| !names.iter().any(|(known, _)| known == *name));
        let mut homeless: Vec<_> = homeless.map(|(name, attempt)| (attempt.number, name.clone(), attempt)).collect();
        homeless.sort_by_key(|(number, ..)| std::cmp::Reverse(*number));
        let mut runs: Vec<RunSummary> = homeless.into_iter().map(|(_, name, attempt)| bare(name, attempt)).collect();
        names.truncate(MAX_LISTED.saturating_sub(runs.len()));
        for (name, _) in names {
            let digest = self.digest(&name, known.get(&name));
            runs.push(self.shown(digest, attempts.get(&name)));
        }
        runs.truncate(MAX_LISTED);
        runs
    }

    /// Names of folders with a run in them, and when it began; the latest first.
    fn on_disk(&self) -> Vec<(String, Option<SystemTime>)> {
        // there is no folder before there is a run
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let of_entry = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok().filter(|name| is_name(name))?;
            // no links: they may lead anywhere
            entry.file_type().ok().filter(fs::FileType::is_dir)?;
            let began = fs::metadata(entry.path().join("run.json")).ok()?;
            Some((name, began.modified().ok()))
        };
        let mut found: Vec<_> = entries.filter_map(|entry| of_entry(entry.ok()?)).collect();
        found.sort_by(|(a, a_began), (b, b_began)| b_began.cmp(a_began).then_with(|| a.cmp(b)));
        found
    }

    /// Forgets digests of runs that are gone, and gives the others.
    fn keep_digests<'a>(&self, names: impl Iterator<Item = &'a str>) -> BTreeMap<String, (Stamp, Digest)> {
        let names: BTreeSet<&str> = names.collect();
        let mut digests = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
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
        let mut digests = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
        digests.insert(name.to_owned(), (stamp, digest.clone()));
        digest
    }

    /// With what is known of those who are at it.
    fn shown(&self, digest: Digest, attempt: Option<&Attempt>) -> RunSummary {
        let Digest { mut summary, is_reached } = digest;
        if let Some(attempt) = attempt {
            summary.generations = summary.generations.max(attempt.order.run.generations);
        }
        match attempt.map(|attempt| attempt.process.outcome()) {
            Some(Outcome::Running) => summary.state = RunState::Running,
            _ if run::is_busy(&self.folder.join(&summary.name)) => {
                summary.state = RunState::Running;
                summary.words = "another program goes on with it".to_owned();
            }
            Some(Outcome::Failed(words)) => (summary.state, summary.words) = (RunState::Failed, words),
            // what cannot be read stays so
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

/// Whether the best individual is as good as was wanted.
pub(super) fn is_reached(Record { config, best, .. }: &Record) -> bool {
    config.target.zip(best.as_ref()).is_some_and(|(target, best)| best.fitness >= target)
}

fn summary(name: &str, record: &Record) -> RunSummary {
    let Record { config, history, best } = record;
    RunSummary {
        name: name.to_owned(),
        algorithm: config.algorithm.to_string(),
        place: place(&config.site),
        seed: config.seed,
        generations: config.generations,
        generation: history.len() as u64,
        best: best.as_ref().map(|best| best.fitness),
        state: RunState::Stopped,
        words: String::new(),
        here: matches!(config.site, EvaluationSite::Local { .. }),
    }
}

/// Where individuals are tested, for people.
pub(super) fn place(place: &EvaluationSite) -> String {
    match place {
        EvaluationSite::Local { world, body, .. } => format!("{} in {}", title(body), title(world)),
        EvaluationSite::Simulators(simulators) => simulators.join(", "),
    }
}

/// The title of a file, up to its colon.
fn title(text: &str) -> String {
    let table: Option<toml::Table> = toml::from_str(text).ok();
    let title = table.as_ref().and_then(|table| table.get("title")?.as_str()).unwrap_or("a file without a title");
    title.split(':').next().unwrap_or_default().to_owned()
}

/// A run of which there is nothing on disk yet, or never will be.
fn bare(name: String, attempt: &Attempt) -> RunSummary {
    let run = &attempt.order.run;
    let (state, words) = match attempt.process.outcome() {
        // such as that it waits for somebody
        Outcome::Running => (RunState::Running, attempt.process.said()),
        Outcome::Failed(words) => (RunState::Failed, words),
        Outcome::Ended => (RunState::Failed, "the process ended without a run".to_owned()),
        Outcome::Stopped => (RunState::Stopped, String::new()),
    };
    RunSummary {
        name,
        algorithm: run.algorithm.clone(),
        place: attempt.order.place.clone(),
        seed: run.seed,
        generations: run.generations,
        generation: 0,
        best: None,
        state,
        words,
        here: run.simulators.is_empty(),
    }
}
