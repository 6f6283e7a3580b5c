//! What the workers of a run have done that is evaluated on a cluster, for those who watch it.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};
use support::atomic_file;

use super::folder::{self, FolderError, at};

const WORKERS: &str = "workers.json";

/// The workers of a run, and how far the generation in progress is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workers {
    /// Workers that are ready.
    pub workers: u64,
    /// Workers lost since the run was begun or resumed; each is replaced.
    pub lost: u64,
    /// Tasks handed out again since then, because their worker was lost.
    pub retried: u64,
    /// Finished individuals of the generation.
    pub finished: u64,
    /// Individuals of the generation.
    pub total: u64,
}

/// Writes what the workers of the run in a folder have done.
///
/// # Errors
///
/// The file cannot be written.
pub fn save_workers(folder: &Path, workers: &Workers) -> Result<(), FolderError> {
    let path = folder.join(WORKERS);
    atomic_file::replace(&path, &folder::to_json(&path, workers)?).map_err(at(&path))
}

/// What the workers of the run in a folder have done; `None` if it has none.
///
/// # Errors
///
/// The file is damaged.
pub fn read_workers(folder: &Path) -> Result<Option<Workers>, FolderError> {
    match folder::read(&folder.join(WORKERS)) {
        Err(FolderError::File { error, .. }) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Forgets the workers of a run that is resumed, which may go on without any.
pub(super) fn forget(folder: &Path) -> Result<(), FolderError> {
    let path = folder.join(WORKERS);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(&path)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_written_read_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_workers(folder.path()).unwrap(), None);
        forget(folder.path()).unwrap();
        let workers = Workers { workers: 2, lost: 1, retried: 3, finished: 5, total: 8 };
        save_workers(folder.path(), &workers).unwrap();
        assert_eq!(read_workers(folder.path()).unwrap(), Some(workers));
        fs::write(folder.path().join(WORKERS), "{").unwrap();
        assert!(read_workers(folder.path()).unwrap_err().to_string().contains(WORKERS));
        forget(folder.path()).unwrap();
        assert_eq!(read_workers(folder.path()).unwrap(), None);
    }
}
