//! The files of a run.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    thread,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use support::atomic_file;

use super::{Best, Generation};

const START: &str = "run.json";
const CHECKPOINT: &str = "checkpoint.json";
const BEST: &str = "best.json";
const BESTS: &str = "bests.jsonl";
const LOCK: &str = "lock";
const CSV: &str = "log.csv";
const LINES: &str = "log.jsonl";
const HEADER: &str = "generation,evaluations,best,mean,worst,best_so_far,diversity,hidden";
/// So often the lock is tried: somebody who only asks whether a run is busy holds it for a moment, too.
const LOCK_TRIES: u32 = 1_000;

/// What can be wrong with the folder of a run.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file does not hold what it should.
    #[error("{} does not hold what a run writes into it: {error}", path.display())]
    Content {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: serde_json::Error,
    },
    /// Somebody else's run.
    #[error("there is a run in {} already; go on with it by --resume, or choose another folder", path.display())]
    Taken {
        /// The folder.
        path: PathBuf,
    },
    /// No run.
    #[error("there is no run in {} ({START} is missing)", path.display())]
    NoRun {
        /// The folder.
        path: PathBuf,
    },
    /// Another process works in the folder.
    #[error("another process goes on with the run in {}", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// The best of a generation is not there.
    #[error(
        "{} does not have the best of generation {generation}; runs of older versions keep only the best of all",
        path.display()
    )]
    NoBest {
        /// The file.
        path: PathBuf,
        /// Which one.
        generation: u64,
    },
    /// Nothing was evaluated.
    #[error("a generation needs at least one individual")]
    Empty,
}

/// The folder of a run; while it is held, no other process may go on with the run.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes the folder and says what the run is.
    pub(super) fn begin(path: &Path, start: &impl Serialize, checkpoint: &impl Serialize) -> Result<Self, FolderError> {
        fs::create_dir_all(path).map_err(at(path))?;
        if path.join(START).exists() {
            return Err(FolderError::Taken { path: path.to_owned() });
        }
        let folder = Self { path: path.to_owned(), _lock: lock(path)? };
        // logs and checkpoint first: a folder with a run in it has all of them
        folder.trim_logs(&[])?;
        folder.trim_bests(0)?;
        folder.save(checkpoint)?;
        folder.replace(START, &to_json(&path.join(START), start)?)?;
        Ok(folder)
    }

    /// Finds a run again: what it was started with and where it stands.
    pub(super) fn resume<S: DeserializeOwned, C: DeserializeOwned>(path: &Path) -> Result<(Self, S, C), FolderError> {
        is_run(path)?;
        let folder = Self { path: path.to_owned(), _lock: lock(path)? };
        let (start, checkpoint) = look(path)?;
        Ok((folder, start, checkpoint))
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

    /// Adds a generation to the logs.
    pub(super) fn log(&self, generation: Option<&Generation>) -> Result<(), FolderError> {
        let Some(generation) = generation else { return Ok(()) };
        self.append(CSV, &csv(generation))?;
        self.append(LINES, &line(&self.path.join(LINES), generation)?)
    }

    /// Makes the logs say what the checkpoint says.
    pub(super) fn trim_logs(&self, history: &[Generation]) -> Result<(), FolderError> {
        let table: String = history.iter().map(csv).collect();
        self.replace(CSV, format!("{HEADER}\n{table}").as_bytes())?;
        let path = self.path.join(LINES);
        let lines: String = history.iter().map(|generation| line(&path, generation)).collect::<Result<_, _>>()?;
        self.replace(LINES, lines.as_bytes())
    }

    /// Adds the best individual of a generation.
    pub(super) fn add_best(&self, best: Option<&Best>) -> Result<(), FolderError> {
        let Some(best) = best else { return Ok(()) };
        self.append(BESTS, &line(&self.path.join(BESTS), best)?)
    }

    /// Makes the file of the generations' bests end with what the checkpoint knows. Runs of older versions have none: it
    /// begins then.
    pub(super) fn trim_bests(&self, generations: u64) -> Result<(), FolderError> {
        let path = self.path.join(BESTS);
        let trim = || {
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
            let (mut lines, mut kept) = (Lines::new(&file), 0);
            while lines.next_number()?.is_some_and(|generation| generation <= generations) {
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

    fn append(&self, name: &str, text: &str) -> Result<(), FolderError> {
        let path = self.path.join(name);
        let write = || OpenOptions::new().append(true).open(&path)?.write_all(text.as_bytes());
        write().map_err(at(&path))
    }
}

/// What a run was started with and where it stands.
pub(super) fn look<S: DeserializeOwned, C: DeserializeOwned>(path: &Path) -> Result<(S, C), FolderError> {
    is_run(path)?;
    Ok((read(&path.join(START))?, read(&path.join(CHECKPOINT))?))
}

fn is_run(path: &Path) -> Result<(), FolderError> {
    let no_run = || FolderError::NoRun { path: path.to_owned() };
    path.join(START).exists().then_some(()).ok_or_else(no_run)
}

/// The best individual of a run, whether somebody works in its folder or not.
pub fn read_best(path: &Path) -> Result<Best, FolderError> {
    read(&if path.is_dir() { path.join(BEST) } else { path.to_owned() })
}

/// The best individual of a generation, counted from 1, whether somebody works in the folder or not.
pub fn read_best_of(folder: &Path, generation: u64) -> Result<Best, FolderError> {
    let path = folder.join(BESTS);
    let missing = || FolderError::NoBest { path: path.clone(), generation };
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing()),
        opened => opened.map_err(at(&path))?,
    };
    let mut lines = Lines::new(&file);
    while let Some(found) = lines.next_number().map_err(at(&path))? {
        if found == generation {
            return serde_json::from_slice(&lines.line)
                .map_err(|error| FolderError::Content { path: path.clone(), error });
        }
    }
    Err(missing())
}

/// Whether somebody goes on with the run in a folder right now.
pub fn is_busy(folder: &Path) -> bool {
    // a folder without a lock has never had a run in it
    let Ok(file) = File::open(folder.join(LOCK)) else { return false };
    matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock))
}

/// Lines of individuals, one after the other, so that there is never more than one in memory.
struct Lines<'a> {
    reader: BufReader<&'a File>,
    /// The last one.
    line: Vec<u8>,
}

impl<'a> Lines<'a> {
    fn new(file: &'a File) -> Self {
        Self { reader: BufReader::new(file), line: Vec::new() }
    }

    /// Reads the next line and gives its generation; none at the end, which may be a line that is not whole.
    fn next_number(&mut self) -> io::Result<Option<u64>> {
        #[derive(Deserialize)]
        struct Numbered {
            generation: u64,
        }
        self.line.clear();
        self.reader.read_until(b'\n', &mut self.line)?;
        if !self.line.ends_with(b"\n") {
            return Ok(None);
        }
        Ok(serde_json::from_slice(&self.line).ok().map(|Numbered { generation }| generation))
    }
}

fn at(path: &Path) -> impl Fn(io::Error) -> FolderError {
    let path = path.to_owned();
    move |error| FolderError::File { path: path.clone(), error }
}

/// Gone with the process, however it ends.
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

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, FolderError> {
    let bytes = fs::read(path).map_err(at(path))?;
    serde_json::from_slice(&bytes).map_err(|error| FolderError::Content { path: path.to_owned(), error })
}

fn to_json(path: &Path, content: &impl Serialize) -> Result<Vec<u8>, FolderError> {
    serde_json::to_vec(content).map_err(|error| FolderError::Content { path: path.to_owned(), error })
}

fn line(path: &Path, content: &impl Serialize) -> Result<String, FolderError> {
    let text = serde_json::to_string(content).map_err(|error| FolderError::Content { path: path.to_owned(), error })?;
    Ok(text + "\n")
}

fn csv(line: &Generation) -> String {
    let Generation { generation, evaluations, best, mean, worst, best_so_far, diversity, hidden } = line;
    // with an exponent where there would be hundreds of digits
    format!("{generation},{evaluations},{best:?},{mean:?},{worst:?},{best_so_far:?},{diversity:?},{hidden}\n")
}
