//! Files that are kept for a user between runs of the server: the console's tokens, and what operators save in it.

mod tokens;

use std::{
    collections::BTreeMap,
    env, fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use serde_json::Value;
use support::atomic_file;
use tracing::warn;

pub use self::tokens::{LiveTokens, Token, Tokens, today, tokens_path};
use crate::limits;

/// The folder of these files: `ROSSUM_STATE`, or else `rossum` in the user's state folder according to XDG.
pub fn folder() -> PathBuf {
    let path_in = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    path_in("ROSSUM_STATE")
        .or_else(|| path_in("XDG_STATE_HOME").map(|state| state.join("rossum")))
        .or_else(|| path_in("HOME").map(|home| home.join(".local/state/rossum")))
        // without a home nothing is kept: the folder is this process's own
        .unwrap_or_else(|| env::temp_dir().join(format!("rossum-state-{}", std::process::id())))
}

/// Replaces a file atomically; only its owner can read it.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    atomic_file::replace_private(path, text.as_bytes())
}

/// Keeps other servers of this user from changing the folder until the returned file is dropped. `None` where files cannot be
/// locked: then the last writer wins.
pub(crate) fn lock(folder: &Path) -> Option<fs::File> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).ok()?;
    let file =
        fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(folder.join("lock")).ok()?;
    file.lock().ok().map(|()| file)
}

/// Whether only this user can read and write a file.
pub(crate) fn is_private(path: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(path).is_ok_and(|file| file.is_file() && file.uid() == own && file.mode() & 0o077 == 0)
}

fn saved_items_path(folder: &Path) -> PathBuf {
    folder.join("desk.json")
}

/// An empty map if the file is missing or invalid.
fn read_saved_items(path: &Path) -> BTreeMap<String, Value> {
    match fs::read_to_string(path).map(|text| serde_json::from_str(&text)) {
        Ok(Ok(saved)) => saved,
        Ok(Err(error)) => {
            warn!(path = %path.display(), %error, "saved items ignored: failed to parse the file");
            BTreeMap::new()
        }
        Err(_) => BTreeMap::new(),
    }
}

/// Why an item was not saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The key is empty or too long.
    #[error("a key must have 1 to {} bytes", limits::SAVED_KEY)]
    KeyLength,
    /// The value's JSON is too long.
    #[error("a value must not exceed {} bytes", limits::SAVED_VALUE)]
    TooLarge,
    /// There is no room for another key.
    #[error("at most {} keys can be saved", limits::SAVED_ITEMS)]
    TooMany,
    /// The file could not be written; the item is kept until the server ends.
    #[error("kept only until the server ends: failed to write {}: {cause}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system reported.
        cause: io::Error,
    },
}

/// Items that operators save in the console, by key: JSON that only the console understands. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SavedItems(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    /// Each with the version that it was saved in.
    saved: Mutex<BTreeMap<String, (u64, Value)>>,
    version: AtomicU64,
    /// The contents of the file when it was last read or written. Locked during either, which may take long.
    file: Mutex<BTreeMap<String, Value>>,
}

impl SavedItems {
    /// Reads what was saved before.
    pub fn open(folder: &Path) -> Self {
        let file = read_saved_items(&saved_items_path(folder));
        let saved = file.iter().map(|(key, value)| (key.clone(), (1, value.clone()))).collect();
        let (saved, version, file) = (Mutex::new(saved), AtomicU64::new(1), Mutex::new(file));
        Self(Arc::new(Inner { folder: folder.to_owned(), saved, version, file }))
    }

    /// Saves an item and writes the file. Items that other servers of this user have written to it since are read.
    ///
    /// # Errors
    /// If a limit is exceeded, or the file cannot be written: then the item is kept until the server ends.
    pub fn save(&self, key: &str, value: Value) -> Result<(), SaveError> {
        if key.is_empty() || key.len() > limits::SAVED_KEY {
            return Err(SaveError::KeyLength);
        }
        if value.to_string().len() > limits::SAVED_VALUE {
            return Err(SaveError::TooLarge);
        }
        let mut file = self.0.file.lock();
        let _lock = lock(&self.0.folder);
        let path = saved_items_path(&self.0.folder);
        let mut others = read_saved_items(&path);
        others.retain(|key, value| file.get(key) != Some(value));
        let all = self.insert(others, key, value)?;
        let text = serde_json::to_string_pretty(&all).map_err(io::Error::other);
        text.and_then(|text| replace(&path, &text)).map_err(|cause| SaveError::Write { path, cause })?;
        *file = all;
        Ok(())
    }

    /// Adds an item and those of other servers; returns all of them.
    fn insert(
        &self,
        others: BTreeMap<String, Value>,
        key: &str,
        value: Value,
    ) -> Result<BTreeMap<String, Value>, SaveError> {
        let mut saved = self.0.saved.lock();
        if saved.len() >= limits::SAVED_ITEMS && !saved.contains_key(key) {
            return Err(SaveError::TooMany);
        }
        let version = self.0.version.load(Ordering::Relaxed) + 1;
        let news = others.into_iter().take(limits::SAVED_ITEMS).chain([(key.to_owned(), value)]);
        saved.extend(news.map(|(key, value)| (key, (version, value))));
        self.0.version.store(version, Ordering::Relaxed);
        Ok(saved.iter().map(|(key, (_, value))| (key.clone(), value.clone())).collect())
    }

    /// Increases with every save.
    pub fn version(&self) -> u64 {
        self.0.version.load(Ordering::Relaxed)
    }

    /// The items that were saved after a version.
    pub fn since(&self, version: u64) -> Vec<(String, Value)> {
        let saved = self.0.saved.lock();
        let new = saved.iter().filter(|(_, (saved, _))| *saved > version);
        new.map(|(key, (_, value))| (key.clone(), value.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_servers_of_one_user_share_saved_items() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (SavedItems::open(folder.path()), SavedItems::open(folder.path()));
        one.save("hotkeys", 1.into()).unwrap();
        other.save("macros", 2.into()).unwrap();
        one.save("script", 3.into()).unwrap();
        let version = one.version();
        other.save("hotkeys", 4.into()).unwrap();
        one.save("script", 5.into()).unwrap();
        let pairs = |items: &SavedItems, since| {
            items.since(since).into_iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>()
        };
        assert_eq!(pairs(&one, version), ["hotkeys 4", "script 5"], "what is new, and no more");
        assert_eq!(pairs(&SavedItems::open(folder.path()), 0), ["hotkeys 4", "macros 2", "script 5"]);
    }

    #[test]
    fn items_are_saved_within_limits() {
        let folder = tempfile::tempdir().unwrap();
        let items = SavedItems::open(folder.path());
        assert!(items.since(0).is_empty());
        let before = items.version();
        items.save("macros", serde_json::json!([1, 2])).unwrap();
        assert_eq!(items.since(before), [("macros".to_owned(), serde_json::json!([1, 2]))]);
        assert!(items.since(items.version()).is_empty());
        assert_eq!(SavedItems::open(folder.path()).since(0), items.since(0));
        assert!(items.save("", Value::Null).is_err() && items.save(&"k".repeat(65), Value::Null).is_err());
        assert!(items.save("big", Value::String("x".repeat(limits::SAVED_VALUE))).is_err());
        for index in 1..limits::SAVED_ITEMS {
            items.save(&index.to_string(), Value::Null).unwrap();
        }
        assert!(items.save("one more", Value::Null).is_err());
        fs::write(folder.path().join("desk.json"), "{").unwrap();
        assert!(SavedItems::open(folder.path()).since(0).is_empty());
    }
}
