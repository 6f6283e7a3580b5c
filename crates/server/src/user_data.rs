//! Files that are kept for a user between runs of the server: the console's tokens, and what operators save in it.

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
use serde::{Deserialize, Serialize};
use serde_json::Value;
use subtle::ConstantTimeEq;
use support::atomic_file;
use tracing::warn;
use wire::console::Role;

use crate::limits;

/// Random bytes of a token.
const TOKEN_BYTES: usize = 16;

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
fn replace(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    atomic_file::replace_private(path, text.as_bytes())
}

/// Keeps other servers of this user from changing the folder until the returned file is dropped. `None` where files cannot be
/// locked: then the last writer wins.
fn lock(folder: &Path) -> Option<fs::File> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).ok()?;
    let file =
        fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(folder.join("lock")).ok()?;
    file.lock().ok().map(|()| file)
}

/// Whether only this user can read and write a file.
fn is_private(path: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(path).is_ok_and(|file| file.is_file() && file.uid() == own && file.mode() & 0o077 == 0)
}

/// The secrets that admit browsers to the console.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    /// Admits operators, who may do everything.
    pub operator: String,
    /// Admits viewers, who may only watch.
    pub viewer: String,
}

impl Tokens {
    /// Reads the user's tokens, or makes new ones the first time. They stay the same so that open pages can reconnect after
    /// a restart. If they cannot be written, a warning is logged and they are valid for this run.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn load_or_create(folder: &Path) -> io::Result<Self> {
        let path = folder.join("tokens.toml");
        let _lock = lock(folder);
        match fs::read_to_string(&path).map(|text| toml::from_str::<Self>(&text)) {
            Ok(_) if !is_private(&path) => {
                warn!(path = %path.display(), "tokens replaced: other users could read the file")
            }
            Ok(Ok(tokens)) if tokens.are_valid() => return Ok(tokens),
            Ok(_) => warn!(path = %path.display(), "tokens replaced: the file is invalid"),
            Err(_) => {}
        }
        let tokens = Self { operator: random_token()?, viewer: random_token()? };
        let text = toml::to_string(&tokens).map_err(io::Error::other)?;
        if let Err(error) = replace(&path, &text) {
            warn!(path = %path.display(), %error, "tokens not saved, valid for this run only");
        }
        Ok(tokens)
    }

    fn are_valid(&self) -> bool {
        let is_valid =
            |token: &str| token.len() >= TOKEN_BYTES && token.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_valid(&self.operator) && is_valid(&self.viewer) && self.operator != self.viewer
    }

    /// The role that a token gives; compares in constant time.
    pub fn role(&self, token: &str) -> Option<Role> {
        let matches = |own: &str| bool::from(own.as_bytes().ct_eq(token.as_bytes()));
        match (matches(&self.operator), matches(&self.viewer)) {
            (true, _) => Some(Role::Operator),
            (_, true) => Some(Role::Viewer),
            _ => None,
        }
    }
}

fn random_token() -> io::Result<String> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
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
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn tokens_are_kept_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let first = Tokens::load_or_create(folder.path()).unwrap();
        assert_eq!(Tokens::load_or_create(folder.path()).unwrap(), first);
        assert_eq!(first.operator.len(), 2 * TOKEN_BYTES);
        assert_eq!(first.role(&first.operator), Some(Role::Operator));
        assert_eq!(first.role(&first.viewer), Some(Role::Viewer));
        for wrong in ["", "a", &first.operator[1..], &format!("{}0", first.operator)] {
            assert_eq!(first.role(wrong), None, "{wrong}");
        }
        let mode = fs::metadata(folder.path().join("tokens.toml")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // a file that others could read
        fs::set_permissions(folder.path().join("tokens.toml"), fs::Permissions::from_mode(0o644)).unwrap();
        let new = Tokens::load_or_create(folder.path()).unwrap();
        assert_ne!(new, first);
        assert_eq!(Tokens::load_or_create(folder.path()).unwrap(), new);
        // a file that is damaged
        for text in ["", "operator = \"\"\nviewer = \"\"", "operator = 3"] {
            fs::write(folder.path().join("tokens.toml"), text).unwrap();
            let tokens = Tokens::load_or_create(folder.path()).unwrap();
            assert!(tokens.are_valid() && tokens != first, "{text}");
        }
    }

    #[test]
    fn tokens_are_made_even_if_they_cannot_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(Tokens::load_or_create(&file.join("below")).unwrap().are_valid());
    }

    #[test]
    fn two_servers_of_one_user_share_tokens_and_saved_items() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = std::thread::scope(|scope| {
            let made: Vec<_> = (0..8).map(|_| scope.spawn(|| Tokens::load_or_create(folder.path()).unwrap())).collect();
            made.into_iter().map(|made| made.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(tokens.iter().all(|token| token == &tokens[0]), "{tokens:?}");
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
