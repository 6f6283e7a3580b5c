//! Files that are kept for a user between runs of the server: the console's tokens, and what operators save in it.

mod tokens;

use std::{
    collections::BTreeMap,
    env, fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use rustix::fs::OFlags;
use serde_json::Value;
use support::atomic_file;
use tracing::warn;

pub use self::tokens::{LiveTokens, Token, Tokens, today, tokens_path};
use crate::limits;

/// Copies of unreadable files that are kept.
const MAX_COPIES: u32 = 20;

/// The folder of these files: `ROSSUM_STATE`, or else `rossum` in the user's state folder according to XDG. Without a home,
/// it is a new folder that nobody else can have prepared, the same throughout this process.
pub fn folder() -> PathBuf {
    static WITHOUT_HOME: OnceLock<PathBuf> = OnceLock::new();
    let path_in = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    path_in("ROSSUM_STATE")
        .or_else(|| path_in("XDG_STATE_HOME").map(|state| state.join("rossum")))
        .or_else(|| path_in("HOME").map(|home| home.join(".local/state/rossum")))
        .unwrap_or_else(|| WITHOUT_HOME.get_or_init(|| temporary_folder(&env::temp_dir())).clone())
}

/// A new folder that only this user can enter, under a name that cannot be guessed.
fn temporary_folder(parent: &Path) -> PathBuf {
    let create = || {
        let path = parent.join(format!("rossum-state-{}", tokens::random_secret()?));
        // fails if there is anything of that name, including a link
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        let (made, own) = (fs::symlink_metadata(&path)?, rustix::process::geteuid().as_raw());
        let is_private = made.is_dir() && made.uid() == own && made.mode() & 0o077 == 0;
        if is_private { Ok(path) } else { Err(io::Error::other("others have access to the new folder")) }
    };
    create().unwrap_or_else(|error: io::Error| {
        warn!(%error, "no folder for tokens and saved items: they are valid for this run only");
        // nothing can be created below a device
        PathBuf::from("/dev/null/rossum")
    })
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
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    let file = options.open(folder.join("lock")).ok()?;
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

/// Empty if the file is missing.
fn read_saved_items(path: &Path) -> io::Result<BTreeMap<String, Value>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(serde_json::from_str(&text)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(error),
    }
}

/// Moves a file that cannot be read out of the way, so that what it contains is not lost when it is replaced.
fn set_aside(path: &Path, why: &io::Error) -> io::Result<()> {
    let copy = |number: u32| path.with_extension(format!("unreadable-{number}.json"));
    let free = (1..=MAX_COPIES).map(copy).find(|copy| fs::symlink_metadata(copy).is_err());
    let Some(copy) = free else {
        return Err(io::Error::other(format!("it cannot be read ({why}), and there are {MAX_COPIES} copies already")));
    };
    fs::rename(path, &copy)?;
    warn!(path = %path.display(), copy = %copy.display(), "unreadable saved items moved to a backup: {why}");
    Ok(())
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
        let path = saved_items_path(folder);
        let file = read_saved_items(&path).unwrap_or_else(|error| {
            warn!(path = %path.display(), "saved items ignored: {error}");
            BTreeMap::new()
        });
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
        let (mut others, unreadable) = match read_saved_items(&path) {
            Ok(others) => (others, None),
            Err(error) => (BTreeMap::new(), Some(error)),
        };
        others.retain(|key, value| file.get(key) != Some(value));
        let all = self.insert(others, key, value)?;
        let write = || {
            let text = serde_json::to_string_pretty(&all)?;
            unreadable.map_or(Ok(()), |error| set_aside(&path, &error))?;
            replace(&path, &text)
        };
        write().map_err(|cause| SaveError::Write { path, cause })?;
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

    #[test]
    fn an_unreadable_file_is_kept_as_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (number, damaged) in [&b"{\"macros\": [1, 2"[..], b"\xff\xfe"].into_iter().enumerate() {
            fs::write(at("desk.json"), damaged).unwrap();
            let items = SavedItems::open(folder.path());
            assert_eq!(fs::read(at("desk.json")).unwrap(), damaged, "reading changes nothing");
            items.save("script", 1.into()).unwrap();
            let copy = at(&format!("desk.unreadable-{}.json", number + 1));
            assert_eq!(fs::read(copy).unwrap(), damaged);
            assert_eq!(SavedItems::open(folder.path()).since(0), [("script".to_owned(), 1.into())]);
        }
        // with too many copies, the last one stays where it is
        for number in 1..=MAX_COPIES {
            fs::write(at(&format!("desk.unreadable-{number}.json")), "{").unwrap();
        }
        fs::write(at("desk.json"), "precious").unwrap();
        assert!(SavedItems::open(folder.path()).save("script", 1.into()).is_err());
        assert_eq!(fs::read_to_string(at("desk.json")).unwrap(), "precious");
    }

    #[test]
    fn a_folder_among_temporary_files_is_new_and_private() {
        let parent = tempfile::tempdir().unwrap();
        let (one, other) = (temporary_folder(parent.path()), temporary_folder(parent.path()));
        assert_ne!(one, other);
        for folder in [&one, &other] {
            let made = fs::symlink_metadata(folder).unwrap();
            assert!(made.is_dir() && made.mode() & 0o777 == 0o700, "{:o}", made.mode());
            SavedItems::open(folder).save("script", 1.into()).unwrap();
        }
        // where none can be made, nothing is written anywhere
        let nowhere = temporary_folder(&parent.path().join("missing"));
        assert!(SavedItems::open(&nowhere).save("script", 1.into()).is_err() && !nowhere.exists());
    }

    #[test]
    fn a_lock_is_not_opened_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        std::os::unix::fs::symlink(&target, folder.path().join("lock")).unwrap();
        assert!(lock(folder.path()).is_none() && !target.exists());
    }
}
