//! Evolutionary runs: a folder of runs, and the processes that work on them.
//!
//! Each run is a `rossum evolve` process, so that a crash affects no other run, and a stopped server loses nothing: every
//! finished generation is on disk. If the server is killed without stopping its processes, each continues to the end of its
//! generation, fails to print its result, and exits; such a run can be resumed later. Runs of other processes in the folder
//! are listed as well; they are busy while their folder is locked.

mod details;
mod list;
mod process;
mod request;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use evolve::{
    robot::{EvaluationError, GenotypeError, WorldLost},
    run::{self, FolderError, SiteError, coevolution::CoevolutionError},
};
use parking_lot::{Mutex, MutexGuard};
use session::console::JobError;
use wire::console::{EvolutionInfo, NewRun, Replay, RunDetail, RunSummary};

use self::{
    list::{Digest, Progress, Stamp},
    process::{Process, StartError},
    request::{RequestError, RunRequest},
};
use super::checked_name;

/// Maximum number of concurrent processes.
pub const MAX_PROCESSES: usize = 4;
/// Maximum number of listed runs.
pub const MAX_LISTED: usize = 200;
/// Maximum number of ended processes that are kept for their output.
const MAX_ENDED: usize = 50;
/// Time that a process has to exit after it was asked to.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);
/// The same when the server shuts down.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

/// Why an operation on a run fails.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// The name is not a valid name of a run.
    #[error("{0}")]
    Name(String),
    /// The folder has no run of this name.
    #[error("no run named `{0}`")]
    UnknownRun(String),
    /// A value of the request is invalid.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// No process works on the run.
    #[error("run `{0}` is not running")]
    NotRunning(String),
    /// A process of this server works on the run.
    #[error("run `{0}` is running already")]
    AlreadyRunning(String),
    /// A process that this server did not start works on the run.
    #[error("run `{0}` belongs to another process; stop it there")]
    OtherProcess(String),
    /// [`MAX_PROCESSES`] are running.
    #[error("{0} runs are in progress, and more would only slow them down; stop one first")]
    TooMany(usize),
    /// The server shuts down.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// The process cannot be started or stopped.
    #[error(transparent)]
    Process(#[from] StartError),
    /// The run's files cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The run has no finished generation.
    #[error("run `{0}` has no finished generation yet")]
    NoGeneration(String),
    /// Robot Simulators evaluated the run's individuals.
    #[error(
        "the individuals were evaluated by Robot Simulators; only runs that evaluate in their own process can be replayed"
    )]
    NotLocal,
    /// The run's world or body is invalid.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// The individual cannot be evaluated again.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// The two populations of a run do not belong together.
    #[error(transparent)]
    Coevolution(#[from] CoevolutionError),
}

impl From<GenotypeError> for RunsError {
    fn from(error: GenotypeError) -> Self {
        EvaluationError::from(error).into()
    }
}

impl From<WorldLost> for RunsError {
    fn from(error: WorldLost) -> Self {
        EvaluationError::from(error).into()
    }
}

impl From<RunsError> for JobError {
    fn from(error: RunsError) -> Self {
        use RunsError as E;
        match error {
            // with paths, addresses, or causes that may contain them
            E::Request(_) | E::Process(_) | E::Folder(_) | E::Site(_) | E::Evaluation(_) | E::Coevolution(_) => {
                error.to_string().into()
            }
            E::Name(_)
            | E::UnknownRun(_)
            | E::NotRunning(_)
            | E::AlreadyRunning(_)
            | E::OtherProcess(_)
            | E::TooMany(_)
            | E::ShuttingDown
            | E::NoGeneration(_)
            | E::NotLocal => JobError::public(error.to_string()),
        }
    }
}

/// A folder of evolutionary runs and the processes that work on them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Runs(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    program: PathBuf,
    version: Arc<AtomicU64>,
    ended: AtomicBool,
    info: OnceLock<EvolutionInfo>,
    /// By name of the run, including processes that have ended recently.
    processes: Mutex<BTreeMap<String, RunProcess>>,
    digests: Mutex<BTreeMap<String, (Stamp, Digest)>>,
}

/// A current or former process of a run.
#[derive(Clone, Debug)]
struct RunProcess {
    /// Sequence number of the process.
    number: u64,
    process: Arc<Process>,
    /// What it was started for.
    request: RunRequest,
}

impl Runs {
    /// Runs in a folder, which need not exist yet. `program` is the `rossum` executable: a run is a process of
    /// `program evolve ...`.
    pub fn new(folder: PathBuf, program: PathBuf) -> Self {
        // absolute, so that users can find it
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        Self(Arc::new(Inner {
            folder,
            program,
            version: Arc::default(),
            ended: AtomicBool::default(),
            info: OnceLock::new(),
            processes: Mutex::default(),
            digests: Mutex::default(),
        }))
    }

    /// The options for new runs. The caller fills in the addresses of this server's simulators.
    pub fn info(&self) -> EvolutionInfo {
        self.0.info.get_or_init(|| request::info(&self.0.folder)).clone()
    }

    /// All runs, latest first, at most [`MAX_LISTED`].
    pub fn list(&self) -> Vec<RunSummary> {
        self.0.list()
    }

    /// Starts a run and returns its name.
    ///
    /// # Errors
    ///
    /// The request is invalid, too many runs are in progress, or the process does not start.
    pub fn start(&self, run: &NewRun) -> Result<String, RunsError> {
        let request = RunRequest::new(run, &self.info())?;
        let mut processes = self.0.processes();
        self.0.check_capacity(&processes)?;
        let stem = request.stem();
        let numbered = (2..).map(|number| format!("{stem}-{number}"));
        let is_free = |name: &String| !self.0.folder.join(name).exists() && !processes.contains_key(name);
        let name = std::iter::once(stem.clone()).chain(numbered).find(is_free).unwrap_or(stem);
        let arguments = request.arguments(&self.0.folder.join(&name));
        self.0.begin(&mut processes, &name, arguments, request)?;
        Ok(name)
    }

    /// Stops the process of a run. Finished generations are kept, and the run can be resumed.
    ///
    /// # Errors
    ///
    /// No process of this server works on the run.
    pub fn stop(&self, name: &str) -> Result<(), RunsError> {
        let name = checked_name(name).map_err(RunsError::Name)?;
        let found = self.0.processes().get(name).map(|entry| entry.process.clone());
        match found.filter(|process| process.is_running()) {
            Some(process) => Ok(process.stop(STOP_TIMEOUT)?),
            None if run::is_busy(&self.0.folder.join(name)) => Err(RunsError::OtherProcess(name.to_owned())),
            None => Err(RunsError::NotRunning(name.to_owned())),
        }
    }

    /// Resumes a run, up to a total of `generations`, or as many as planned.
    ///
    /// # Errors
    ///
    /// The run is unknown, running or complete, or the process does not start.
    pub fn resume(&self, name: &str, generations: Option<u64>) -> Result<(), RunsError> {
        let name = checked_name(name).map_err(RunsError::Name)?;
        let mut processes = self.0.processes();
        if processes.get(name).is_some_and(|entry| entry.process.is_running()) {
            return Err(RunsError::AlreadyRunning(name.to_owned()));
        }
        self.0.check_capacity(&processes)?;
        let folder = self.0.folder_of(name)?;
        if run::is_busy(&folder) {
            return Err(RunsError::OtherProcess(name.to_owned()));
        }
        let request = RunRequest::resume(&Progress::read(&folder)?, generations)?;
        self.0.begin(&mut processes, name, request.resume_arguments(&folder, generations), request)
    }

    /// The details of a run, with some of its generations if there are thousands.
    ///
    /// # Errors
    ///
    /// The run is unknown, or its files are damaged.
    pub fn detail(&self, name: &str) -> Result<RunDetail, RunsError> {
        let name = checked_name(name).map_err(RunsError::Name)?;
        let folder = self.0.folder_of(name)?;
        Ok(details::detail(name, &folder)?)
    }

    /// Evaluates the best individual of a generation again, or the best of all. Keeps a core busy meanwhile.
    ///
    /// # Errors
    ///
    /// The run or generation is unknown, or the individual cannot be evaluated here.
    pub fn replay(&self, name: &str, generation: Option<u64>) -> Result<Replay, RunsError> {
        let name = checked_name(name).map_err(RunsError::Name)?;
        details::replay(name, &self.0.folder_of(name)?, generation)
    }

    /// Increases with every change: a process started, ended, or finished a generation. Other programs' changes do not
    /// count.
    pub fn version(&self) -> u64 {
        self.0.version.load(Ordering::Relaxed)
    }

    /// Stops all processes and waits for them; refuses new ones.
    pub fn end(&self) {
        self.0.end();
    }
}

impl Inner {
    fn processes(&self) -> MutexGuard<'_, BTreeMap<String, RunProcess>> {
        self.processes.lock()
    }

    /// The folder of an existing run. A symbolic link is rejected: it may lead anywhere.
    fn folder_of(&self, name: &str) -> Result<PathBuf, RunsError> {
        let folder = self.folder.join(name);
        let is_folder = folder.symlink_metadata().is_ok_and(|found| found.is_dir());
        is_folder.then_some(folder).ok_or_else(|| RunsError::UnknownRun(name.to_owned()))
    }

    fn check_capacity(&self, processes: &BTreeMap<String, RunProcess>) -> Result<(), RunsError> {
        if self.ended.load(Ordering::Relaxed) {
            return Err(RunsError::ShuttingDown);
        }
        let running = processes.values().filter(|entry| entry.process.is_running()).count();
        if running >= MAX_PROCESSES {
            return Err(RunsError::TooMany(running));
        }
        Ok(())
    }

    fn begin(
        &self,
        processes: &mut BTreeMap<String, RunProcess>,
        name: &str,
        arguments: Vec<String>,
        request: RunRequest,
    ) -> Result<(), RunsError> {
        let process = Process::start(&self.program, &arguments, &self.version)?;
        let number = processes.values().map(|entry| entry.number + 1).max().unwrap_or_default();
        processes.insert(name.to_owned(), RunProcess { number, process, request });
        while processes.len() > MAX_ENDED + MAX_PROCESSES {
            let ended = processes.iter().filter(|(_, entry)| !entry.process.is_running());
            let Some(oldest) = ended.min_by_key(|(_, entry)| entry.number).map(|(name, _)| name.clone()) else {
                break;
            };
            processes.remove(&oldest);
        }
        self.version.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        let processes: Vec<_> = self.processes().values().map(|entry| entry.process.clone()).collect();
        // all are asked before the first is awaited
        processes.iter().for_each(|process| process.request_stop());
        processes.iter().for_each(|process| process.wait_or_kill(SHUTDOWN_TIMEOUT));
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end();
    }
}
