//! Evolutionary runs: a folder of them, and the processes that are at them.
//!
//! A run is a process of `rossum evolve`, so that a fault of one costs nobody else, and a server that is stopped loses
//! nothing: each finished generation is on disk. If the server is killed so that it cannot end its processes, each goes on
//! up to the end of its generation, finds that nobody reads what it prints, and ends, too; such a run can go on later.
//! Runs that somebody else began in the folder are shown as well. Those are busy while their folder is locked.

mod list;
mod look;
mod order;
mod process;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use evolve::run;
use wire::console::{EvolutionInfo, NewRun, Replay, RunDetail, RunSummary};

use self::{
    list::{Digest, Stamp},
    order::Order,
    process::Process,
};
use super::checked_name;

/// Processes at once.
pub const MAX_PROCESSES: usize = 4;
/// Most runs in the list.
pub const MAX_LISTED: usize = 200;
/// Processes that have ended and are remembered for what they said.
const MAX_ENDED: usize = 50;
/// A process that was asked to end has so long to do it.
const PATIENCE: Duration = Duration::from_secs(3);
/// And so long if the server ends.
const LAST_PATIENCE: Duration = Duration::from_millis(500);

/// Evolutionary runs: a folder of them, and the processes that are at them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Runs(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    program: PathBuf,
    version: Arc<AtomicU64>,
    ended: AtomicBool,
    info: OnceLock<EvolutionInfo>,
    /// By the runs' names. Those that have ended are kept for a while.
    processes: Mutex<BTreeMap<String, Attempt>>,
    digests: Mutex<BTreeMap<String, (Stamp, Digest)>>,
    /// One individual is looked at at a time.
    looking: Mutex<()>,
}

/// A process that is at a run, or was.
#[derive(Clone, Debug)]
struct Attempt {
    /// Counts them.
    number: u64,
    process: Arc<Process>,
    /// What it was begun for.
    order: Order,
}

impl Runs {
    /// Runs in a folder, which need not exist yet. `program` is this program: a run is a process of
    /// `program evolve ...`.
    pub fn new(folder: PathBuf, program: PathBuf) -> Self {
        // for people, who want to find it
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        Self(Arc::new(Inner {
            folder,
            program,
            version: Arc::default(),
            ended: AtomicBool::default(),
            info: OnceLock::new(),
            processes: Mutex::default(),
            digests: Mutex::default(),
            looking: Mutex::default(),
        }))
    }

    /// What can be chosen. Where this server's simulators listen is for the caller to fill in.
    pub fn info(&self) -> EvolutionInfo {
        self.0.info.get_or_init(|| order::info(&self.0.folder)).clone()
    }

    /// All runs, the latest first, [`MAX_LISTED`] at most.
    pub fn list(&self) -> Vec<RunSummary> {
        self.0.list()
    }

    /// Begins a run, and tells its name.
    pub fn start(&self, run: &NewRun) -> Result<String, String> {
        let order = Order::new(run, &self.info())?;
        let mut processes = self.0.processes();
        self.0.check_room(&processes)?;
        let stem = order.stem();
        let numbered = (2..).map(|number| format!("{stem}-{number}"));
        let is_free = |name: &String| !self.0.folder.join(name).exists() && !processes.contains_key(name);
        let name = std::iter::once(stem.clone()).chain(numbered).find(is_free).unwrap_or(stem);
        let arguments = order.arguments(&self.0.folder.join(&name));
        self.0.begin(&mut processes, &name, arguments, order)?;
        Ok(name)
    }

    /// Asks the process that is at a run to end. Nothing finished is lost, and the run can go on later.
    pub fn stop(&self, name: &str) -> Result<(), String> {
        let name = checked_name(name)?;
        let found = self.0.processes().get(name).map(|attempt| attempt.process.clone());
        match found.filter(|process| process.is_running()) {
            Some(process) => process.stop(PATIENCE),
            None if run::is_busy(&self.0.folder.join(name)) => {
                Err(format!("another program goes on with {name}; stop it there"))
            }
            None => Err(format!("nobody goes on with {name}; there is nothing to stop")),
        }
    }

    /// Goes on with a run, until there are so many generations in all, or as many as planned.
    pub fn resume(&self, name: &str, generations: Option<u64>) -> Result<(), String> {
        let name = checked_name(name)?;
        let mut processes = self.0.processes();
        if processes.get(name).is_some_and(|attempt| attempt.process.is_running()) {
            return Err(format!("{name} goes on already"));
        }
        self.0.check_room(&processes)?;
        let folder = self.0.folder_of(name)?;
        if run::is_busy(&folder) {
            return Err(format!("another program goes on with {name}"));
        }
        let record = run::read(&folder).map_err(|error| error.to_string())?;
        let order = Order::again(&record, generations)?;
        self.0.begin(&mut processes, name, order.arguments_again(&folder, generations), order)
    }

    /// A run at length, its first 100,000 generations at most.
    pub fn detail(&self, name: &str) -> Result<RunDetail, String> {
        let name = checked_name(name)?;
        let record = run::read(&self.0.folder_of(name)?).map_err(|error| error.to_string())?;
        Ok(look::detail(name, &record))
    }

    /// Tests the best individual of a generation again, or the best of all.
    pub fn replay(&self, name: &str, generation: Option<u64>) -> Result<Replay, String> {
        let name = checked_name(name)?;
        let folder = self.0.folder_of(name)?;
        let record = run::read(&folder).map_err(|error| error.to_string())?;
        let best = match generation {
            Some(generation) => run::read_best_of(&folder, generation).map_err(|error| error.to_string())?,
            None => record.best.clone().ok_or_else(|| format!("no generation of {name} is finished yet"))?,
        };
        let _one = self.0.looking.lock().unwrap_or_else(PoisonError::into_inner);
        look::replay(name, &record.config.site, &best)
    }

    /// Counts what changes: a process began, ended, or finished a generation. What other programs do does not count.
    pub fn version(&self) -> u64 {
        self.0.version.load(Ordering::Relaxed)
    }

    /// Ends all processes, and waits until they have; no more begin.
    pub fn end(&self) {
        self.0.end();
    }
}

impl Inner {
    fn processes(&self) -> MutexGuard<'_, BTreeMap<String, Attempt>> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folder of a run that is there. A link may lead anywhere, and is none.
    fn folder_of(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.folder.join(name);
        let is_folder = folder.symlink_metadata().is_ok_and(|found| found.is_dir());
        is_folder.then_some(folder).ok_or_else(|| format!("there is no run {name}"))
    }

    fn check_room(&self, processes: &BTreeMap<String, Attempt>) -> Result<(), String> {
        if self.ended.load(Ordering::Relaxed) {
            return Err("the server is about to end".to_owned());
        }
        let running = processes.values().filter(|attempt| attempt.process.is_running()).count();
        if running >= MAX_PROCESSES {
            return Err(format!("{running} runs go on already, and more would only be slower; stop one first"));
        }
        Ok(())
    }

    fn begin(
        &self,
        processes: &mut BTreeMap<String, Attempt>,
        name: &str,
        arguments: Vec<String>,
        order: Order,
    ) -> Result<(), String> {
        let process = Process::start(&self.program, &arguments, &self.version)?;
        let number = processes.values().map(|attempt| attempt.number + 1).max().unwrap_or_default();
        processes.insert(name.to_owned(), Attempt { number, process, order });
        while processes.len() > MAX_ENDED + MAX_PROCESSES {
            let ended = processes.iter().filter(|(_, attempt)| !attempt.process.is_running());
            let Some(oldest) = ended.min_by_key(|(_, attempt)| attempt.number).map(|(name, _)| name.clone()) else {
                break;
            };
            processes.remove(&oldest);
        }
        self.version.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        let processes: Vec<_> = self.processes().values().map(|attempt| attempt.process.clone()).collect();
        // all are told before the first is waited for
        processes.iter().for_each(|process| process.ask_to_end());
        processes.iter().for_each(|process| process.end_within(LAST_PATIENCE));
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end();
    }
}
