//! What is kept between runs for the user: the console's tokens, and what operators save for their desk.

use std::{
    collections::BTreeMap,
    env, fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use subtle::ConstantTimeEq;
use support::atomic_file;
use tracing::warn;
use wire::console::Role;

use crate::limits;

/// Random bytes of a token.
const TOKEN_BYTES: usize = 16;

/// The folder of what is kept: `ROSSUM_STATE`, or `rossum` where the system keeps such things for this user.
pub fn folder() -> PathBuf {
    let of = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    of("ROSSUM_STATE")
        .or_else(|| of("XDG_STATE_HOME").map(|state| state.join("rossum")))
        .or_else(|| of("HOME").map(|home| home.join(".local/state/rossum")))
        // nobody's but this process's
        .unwrap_or_else(|| env::temp_dir().join(format!("rossum-state-{}", std::process::id())))
}

/// Replaces a file at once, never in part; only its owner can read it.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    atomic_file::replace_private(path, text.as_bytes())
}

/// Keeps other servers of this user away from the folder while something in it is read and written again. Where there are
/// no locks there is no harm but theirs.
fn alone(folder: &Path) -> Option<fs::File> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).ok()?;
    let file =
        fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(folder.join("lock")).ok()?;
    file.lock().ok().map(|()| file)
}

/// Whether this user alone can read and write a file.
fn is_private(path: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(path).is_ok_and(|file| file.is_file() && file.uid() == own && file.mode() & 0o077 == 0)
}

/// What lets browsers in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    /// Of those who may do everything.
    pub operator: String,
    /// Of those who may look on.
    pub viewer: String,
}

impl Tokens {
    /// The user's tokens, which stay the same so that open pages find their server again; new ones the first time. If
    /// they cannot be kept, they are good for this run.
    pub fn of_user(folder: &Path) -> io::Result<Self> {
        let path = folder.join("tokens.toml");
        let _alone = alone(folder);
        match fs::read_to_string(&path).map(|text| toml::from_str::<Self>(&text)) {
            Ok(_) if !is_private(&path) => warn!("{} is open to others; new tokens are made", path.display()),
            Ok(Ok(tokens)) if tokens.are_sound() => return Ok(tokens),
            Ok(_) => warn!("{} does not hold the console's tokens; new ones are made", path.display()),
            Err(_) => {}
        }
        let tokens = Self { operator: random()?, viewer: random()? };
        let text = toml::to_string(&tokens).map_err(io::Error::other)?;
        if let Err(error) = replace(&path, &text) {
            warn!("the console's tokens are good for this run only: {} cannot be written: {error}", path.display());
        }
        Ok(tokens)
    }

    fn are_sound(&self) -> bool {
        let is_sound =
            |token: &str| token.len() >= TOKEN_BYTES && token.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_sound(&self.operator) && is_sound(&self.viewer) && self.operator != self.viewer
    }

    /// What somebody with this token may do.
    pub fn role(&self, token: &str) -> Option<Role> {
        let is = |own: &str| bool::from(own.as_bytes().ct_eq(token.as_bytes()));
        match (is(&self.operator), is(&self.viewer)) {
            (true, _) => Some(Role::Operator),
            (_, true) => Some(Role::Viewer),
            _ => None,
        }
    }
}

fn random() -> io::Result<String> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn desk_of(folder: &Path) -> PathBuf {
    folder.join("desk.json")
}

/// What is in the desk's file.
fn read_desk(path: &Path) -> BTreeMap<String, Value> {
    match fs::read_to_string(path).map(|text| serde_json::from_str(&text)) {
        Ok(Ok(saved)) => saved,
        Ok(Err(error)) => {
            warn!("{} cannot be read, and is not taken into account: {error}", path.display());
            BTreeMap::new()
        }
        Err(_) => BTreeMap::new(),
    }
}

/// What operators save for their desk, by key. Cheap to copy.
#[derive(Clone, Debug)]
pub struct Drawer(Arc<Inside>);

#[derive(Debug)]
struct Inside {
    folder: PathBuf,
    saved: Mutex<BTreeMap<String, (u64, Value)>>,
    version: AtomicU64,
    /// What the file held last. Held while it is read and written, which may take long.
    file: Mutex<BTreeMap<String, Value>>,
}

impl Drawer {
    /// What was saved before.
    pub fn open(folder: &Path) -> Self {
        let file = read_desk(&desk_of(folder));
        let saved = file.iter().map(|(key, value)| (key.clone(), (1, value.clone()))).collect();
        let (saved, version, file) = (Mutex::new(saved), AtomicU64::new(1), Mutex::new(file));
        Self(Arc::new(Inside { folder: folder.to_owned(), saved, version, file }))
    }

    fn hold(&self) -> MutexGuard<'_, BTreeMap<String, (u64, Value)>> {
        self.0.saved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Saves something, in the file as well. What other servers of this user have saved there since stays, and is taken
    /// over.
    pub fn save(&self, key: &str, value: Value) -> Result<(), String> {
        if key.is_empty() || key.len() > limits::DESK_KEY {
            return Err(format!("a key has 1 to {} bytes", limits::DESK_KEY));
        }
        if value.to_string().len() > limits::DESK_VALUE {
            return Err(format!("more than {} bytes cannot be saved under one key", limits::DESK_VALUE));
        }
        let mut file = self.0.file.lock().unwrap_or_else(PoisonError::into_inner);
        let _alone = alone(&self.0.folder);
        let path = desk_of(&self.0.folder);
        let mut others = read_desk(&path);
        others.retain(|key, value| file.get(key) != Some(value));
        let all = self.put(others, key, value)?;
        let text = serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?;
        replace(&path, &text).map_err(|error| {
            format!("it is kept until the server ends, because {} cannot be written: {error}", path.display())
        })?;
        *file = all;
        Ok(())
    }

    /// Puts something among the rest, and what others have saved; gives all of it.
    fn put(&self, others: BTreeMap<String, Value>, key: &str, value: Value) -> Result<BTreeMap<String, Value>, String> {
        let mut saved = self.hold();
        if saved.len() >= limits::DESK_KEYS && !saved.contains_key(key) {
            return Err(format!("there are {} keys already", limits::DESK_KEYS));
        }
        let version = self.0.version.load(Ordering::Relaxed) + 1;
        let news = others.into_iter().take(limits::DESK_KEYS).chain([(key.to_owned(), value)]);
        saved.extend(news.map(|(key, value)| (key, (version, value))));
        self.0.version.store(version, Ordering::Relaxed);
        Ok(saved.iter().map(|(key, (_, value))| (key.clone(), value.clone())).collect())
    }

    /// Counts what was saved.
    pub fn version(&self) -> u64 {
        self.0.version.load(Ordering::Relaxed)
    }

    /// What was saved after a version.
    pub fn since(&self, version: u64) -> Vec<(String, Value)> {
        let saved = self.hold();
        let new = saved.iter().filter(|(_, (saved, _))| *saved > version);
        new.map(|(key, (_, value))| (key.clone(), value.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn tokens_stay_and_nobody_else_reads_them() {
        let folder = tempfile::tempdir().unwrap();
        let first = Tokens::of_user(folder.path()).unwrap();
        assert_eq!(Tokens::of_user(folder.path()).unwrap(), first);
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
        let anew = Tokens::of_user(folder.path()).unwrap();
        assert_ne!(anew, first);
        assert_eq!(Tokens::of_user(folder.path()).unwrap(), anew);
        // a file that somebody has spoilt
        for text in ["", "operator = \"\"\nviewer = \"\"", "operator = 3"] {
            fs::write(folder.path().join("tokens.toml"), text).unwrap();
            let tokens = Tokens::of_user(folder.path()).unwrap();
            assert!(tokens.are_sound() && tokens != first, "{text}");
        }
    }

    #[test]
    fn tokens_are_made_also_where_nothing_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(Tokens::of_user(&file.join("below")).unwrap().are_sound());
    }

    #[test]
    fn two_servers_of_one_user_share_tokens_and_desk() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = std::thread::scope(|scope| {
            let made: Vec<_> = (0..8).map(|_| scope.spawn(|| Tokens::of_user(folder.path()).unwrap())).collect();
            made.into_iter().map(|made| made.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(tokens.iter().all(|token| token == &tokens[0]), "{tokens:?}");
        let (one, other) = (Drawer::open(folder.path()), Drawer::open(folder.path()));
        one.save("hotkeys", 1.into()).unwrap();
        other.save("macros", 2.into()).unwrap();
        one.save("script", 3.into()).unwrap();
        let version = one.version();
        other.save("hotkeys", 4.into()).unwrap();
        one.save("script", 5.into()).unwrap();
        let pairs = |drawer: &Drawer, since| {
            drawer.since(since).into_iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>()
        };
        assert_eq!(pairs(&one, version), ["hotkeys 4", "script 5"], "what is new, and no more");
        assert_eq!(pairs(&Drawer::open(folder.path()), 0), ["hotkeys 4", "macros 2", "script 5"]);
    }

    #[test]
    fn the_desk_keeps_what_is_saved_within_limits() {
        let folder = tempfile::tempdir().unwrap();
        let drawer = Drawer::open(folder.path());
        assert!(drawer.since(0).is_empty());
        let before = drawer.version();
        drawer.save("macros", serde_json::json!([1, 2])).unwrap();
        assert_eq!(drawer.since(before), [("macros".to_owned(), serde_json::json!([1, 2]))]);
        assert!(drawer.since(drawer.version()).is_empty());
        assert_eq!(Drawer::open(folder.path()).since(0), drawer.since(0));
        assert!(drawer.save("", Value::Null).is_err() && drawer.save(&"k".repeat(65), Value::Null).is_err());
        assert!(drawer.save("big", Value::String("x".repeat(limits::DESK_VALUE))).is_err());
        for index in 1..limits::DESK_KEYS {
            drawer.save(&index.to_string(), Value::Null).unwrap();
        }
        assert!(drawer.save("one more", Value::Null).is_err());
        fs::write(folder.path().join("desk.json"), "{").unwrap();
        assert!(Drawer::open(folder.path()).since(0).is_empty());
    }
}
