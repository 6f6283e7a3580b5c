//! The files of a run.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    thread,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use support::atomic_file;

use super::{Best, Generation, coevolution};

const CONFIG: &str = "run.json";
/// The file of a folder with two runs; see [`super::coevolution`].
pub(super) const PAIR: &str = "coevolution.json";
const CHECKPOINT: &str = "checkpoint.json";
const BEST: &str = "best.json";
const BESTS: &str = "bests.jsonl";
const LOCK: &str = "lock";
const CSV: &str = "log.csv";
const LINES: &str = "log.jsonl";
const HEADER: &str = "generation,evaluations,best,mean,worst,best_so_far,diversity,hidden";
/// Largest file, and longest line of one, that is read: far more than a checkpoint has.
const MAX_FILE: u64 = 1 << 29;
/// Attempts to take the lock: [`is_busy`] in another process also holds it for a moment.
const LOCK_TRIES: u32 = 1_000;

/// An error of a run's folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// A file has unexpected content.
    #[error("failed to parse {}: {error}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: serde_json::Error,
    },
    /// The folder has a run already.
    #[error("{} has a run already; continue it with --resume, or choose another folder", path.display())]
    Taken {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has files that are not of a run.
    #[error("{} is not empty: it has `{file}`; choose a new folder for the run", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
        /// Name of one of the files.
        file: String,
    },
    /// The folder has no run.
    #[error("no run in {}: {CONFIG} is missing", path.display())]
    NoRun {
        /// The folder.
        path: PathBuf,
    },
    /// Another process holds the lock.
    #[error("another process is continuing the run in {}", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// The best individual of a generation is not stored.
    #[error(
        "{} has no individual of generation {generation}; runs of older versions keep only the best of all generations",
        path.display()
    )]
    NoBest {
        /// The file.
        path: PathBuf,
        /// The generation, from 1.
        generation: u64,
    },
    /// No individuals were evaluated.
    #[error("a generation needs at least one individual")]
    Empty,
}

/// The folder of a run, locked against other processes.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Creates the folder with the files of a new run.
    pub(super) fn begin(
        path: &Path,
        config: &impl Serialize,
        checkpoint: &impl Serialize,
    ) -> Result<Self, FolderError> {
        create(path)?;
        let folder = Self { path: path.to_owned(), _lock: lock(path)? };
        // the configuration last: a folder that has it has all files
        folder.trim_logs(&[])?;
        folder.trim_bests(0)?;
        folder.save(checkpoint)?;
        folder.replace(CONFIG, &to_json(&path.join(CONFIG), config)?)?;
        Ok(folder)
    }

    /// Locks the folder and reads the configuration and the checkpoint.
    pub(super) fn resume<S: DeserializeOwned, C: DeserializeOwned>(path: &Path) -> Result<(Self, S, C), FolderError> {
        check_is_run(path)?;
        let folder = Self { path: path.to_owned(), _lock: lock(path)? };
        let (config, checkpoint) = read_state(path)?;
        Ok((folder, config, checkpoint))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn save(&self, checkpoint: &impl Serialize) -> Result<(), FolderError> {
        self.replace(CHECKPOINT, &to_json(&self.path.join(CHECKPOINT), checkpoint)?)
    }

    pub(super) fn save_best(&self, best: Option<&Best>) -> Result<(), FolderError> {
        let Some(best) = best else { return Ok(()) };
        self.replace(BEST, &to_json(&self.path.join(BEST), best)?)
    }

    /// Appends a generation to the logs.
    pub(super) fn log(&self, generation: &Generation) -> Result<(), FolderError> {
        self.append(CSV, &csv(generation))?;
        let path = self.path.join(LINES);
        let file = self.append(LINES, &line(&path, generation)?)?;
        // the checkpoint must not survive a power cut without it
        file.sync_data().map_err(at(&path))
    }

    /// Rewrites the logs to match the checkpoint.
    pub(super) fn trim_logs(&self, history: &[Generation]) -> Result<(), FolderError> {
        let table: String = history.iter().map(csv).collect();
        self.replace(CSV, format!("{HEADER}\n{table}").as_bytes())?;
        let path = self.path.join(LINES);
        let lines: String = history.iter().map(|generation| line(&path, generation)).collect::<Result<_, _>>()?;
        self.replace(LINES, lines.as_bytes())
    }

    /// Appends the best individual of a generation.
    pub(super) fn add_best(&self, best: Option<&Best>) -> Result<(), FolderError> {
        let Some(best) = best else { return Ok(()) };
        self.append(BESTS, &line(&self.path.join(BESTS), best)?).map(drop)
    }

    /// Truncates the file of each generation's best individual to match the checkpoint; creates it for runs of older
    /// versions.
    pub(super) fn trim_bests(&self, generations: u64) -> Result<(), FolderError> {
        let path = self.path.join(BESTS);
        let trim = || {
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
            let (mut lines, mut kept) = (LineReader::new(&file), 0);
            while lines.next_generation()?.is_some_and(|generation| generation <= generations) {
                kept += lines.line.len() as u64;
            }
            if file.metadata()?.len() > kept {
                file.set_len(kept)?;
            }
            file.sync_all()
        };
        trim().map_err(at(&path))
    }

    fn replace(&self, name: &str, content: &[u8]) -> Result<(), FolderError> {
        let path = self.path.join(name);
        atomic_file::replace(&path, content).map_err(at(&path))
    }

    fn append(&self, name: &str, text: &str) -> Result<File, FolderError> {
        let path = self.path.join(name);
        let write = || {
            let mut file = OpenOptions::new().append(true).open(&path)?;
            file.write_all(text.as_bytes())?;
            Ok(file)
        };
        write().map_err(at(&path))
    }
}

/// Creates the folder of a new run. Refuses one whose files it could replace. A lock is left by a run that failed to begin.
pub(super) fn create(path: &Path) -> Result<(), FolderError> {
    fs::create_dir_all(path).map_err(at(path))?;
    if path.join(CONFIG).exists() || path.join(PAIR).exists() {
        return Err(FolderError::Taken { path: path.to_owned() });
    }
    for entry in fs::read_dir(path).map_err(at(path))? {
        let name = entry.map_err(at(path))?.file_name();
        if name != LOCK {
            let file = name.to_string_lossy().into_owned();
            return Err(FolderError::NotEmpty { path: path.to_owned(), file });
        }
    }
    Ok(())
}

/// The logged generations of a run up to the given one.
pub(super) fn read_history(folder: &Path, generations: u64) -> Result<Vec<Generation>, FolderError> {
    let path = folder.join(LINES);
    let file = File::open(&path).map_err(at(&path))?;
    let (mut lines, mut history) = (LineReader::new(&file), Vec::new());
    while lines.next_generation().map_err(at(&path))?.is_some_and(|generation| generation <= generations) {
        let line = serde_json::from_slice(&lines.line);
        history.push(line.map_err(|error| FolderError::Content { path: path.clone(), error })?);
    }
    Ok(history)
}

/// The configuration and the checkpoint of a run.
pub(super) fn read_state<S: DeserializeOwned, C: DeserializeOwned>(path: &Path) -> Result<(S, C), FolderError> {
    check_is_run(path)?;
    Ok((read(&path.join(CONFIG))?, read(&path.join(CHECKPOINT))?))
}

fn check_is_run(path: &Path) -> Result<(), FolderError> {
    let no_run = || FolderError::NoRun { path: path.to_owned() };
    path.join(CONFIG).exists().then_some(()).ok_or_else(no_run)
}

/// The best individual of a run, which may be in progress. `path` is its folder or a file with an individual.
///
/// # Errors
///
/// The file is missing or damaged.
pub fn read_best(path: &Path) -> Result<Best, FolderError> {
    read(&if path.is_dir() { path.join(BEST) } else { path.to_owned() })
}

/// The best individual of a generation, from 1, of a run that may be in progress.
///
/// # Errors
///
/// The generation is not stored, or the file is damaged.
pub fn read_best_of(folder: &Path, generation: u64) -> Result<Best, FolderError> {
    let path = folder.join(BESTS);
    let missing = || FolderError::NoBest { path: path.clone(), generation };
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing()),
        opened => opened.map_err(at(&path))?,
    };
    let mut lines = LineReader::new(&file);
    while let Some(found) = lines.next_generation().map_err(at(&path))? {
        if found == generation {
            return serde_json::from_slice(&lines.line)
                .map_err(|error| FolderError::Content { path: path.clone(), error });
        }
    }
    Err(missing())
}

/// Whether a process is continuing the run in a folder, or the two runs.
pub fn is_busy(folder: &Path) -> bool {
    if let Ok(Some([one, _])) = coevolution::names(folder) {
        return is_busy(&folder.join(one));
    }
    // a folder without a lock file has never had a run
    let Ok(file) = File::open(folder.join(LOCK)) else { return false };
    matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock))
}

/// Reads lines of individuals one by one, to keep at most one in memory.
struct LineReader<'a> {
    reader: BufReader<&'a File>,
    /// The current line.
    line: Vec<u8>,
}

impl<'a> LineReader<'a> {
    fn new(file: &'a File) -> Self {
        Self { reader: BufReader::new(file), line: Vec::new() }
    }

    /// Reads the next line and returns its generation; `None` at the end or at an incomplete line.
    fn next_generation(&mut self) -> io::Result<Option<u64>> {
        #[derive(Deserialize)]
        struct Numbered {
            generation: u64,
        }
        self.line.clear();
        self.reader.by_ref().take(MAX_FILE).read_until(b'\n', &mut self.line)?;
        if !self.line.ends_with(b"\n") {
            return Ok(None);
        }
        Ok(serde_json::from_slice(&self.line).ok().map(|Numbered { generation }| generation))
    }
}

pub(super) fn at(path: &Path) -> impl Fn(io::Error) -> FolderError {
    let path = path.to_owned();
    move |error| FolderError::File { path: path.clone(), error }
}

/// Takes the lock, which the system releases when the process ends.
fn lock(path: &Path) -> Result<File, FolderError> {
    let file = File::create(path.join(LOCK)).map_err(at(path))?;
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) => thread::yield_now(),
            Err(fs::TryLockError::Error(error)) => return Err(at(path)(error)),
        }
    }
    Err(FolderError::Busy { path: path.to_owned() })
}

pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, FolderError> {
    let file = File::open(path).map_err(at(path))?;
    if file.metadata().map_err(at(path))?.len() > MAX_FILE {
        return Err(at(path)(io::Error::other(format!("it has more than {} MiB", MAX_FILE >> 20))));
    }
    let mut bytes = Vec::new();
    // it may grow meanwhile
    file.take(MAX_FILE).read_to_end(&mut bytes).map_err(at(path))?;
    serde_json::from_slice(&bytes).map_err(|error| FolderError::Content { path: path.to_owned(), error })
}

pub(super) fn to_json(path: &Path, content: &impl Serialize) -> Result<Vec<u8>, FolderError> {
    serde_json::to_vec(content).map_err(|error| FolderError::Content { path: path.to_owned(), error })
}

fn line(path: &Path, content: &impl Serialize) -> Result<String, FolderError> {
    let text = serde_json::to_string(content).map_err(|error| FolderError::Content { path: path.to_owned(), error })?;
    Ok(text + "\n")
}

fn csv(line: &Generation) -> String {
    let Generation { generation, evaluations, best, mean, worst, best_so_far, diversity, hidden } = line;
    // `{:?}` uses an exponent instead of hundreds of digits
    format!("{generation},{evaluations},{best:?},{mean:?},{worst:?},{best_so_far:?},{diversity:?},{hidden}\n")
}
