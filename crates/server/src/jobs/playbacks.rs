//! Recordings and logs in a folder, and their playbacks.
//!
//! A recording is simulated again; a soccer log is shown as it is. Either is loaded once, on a thread of its own, into
//! frames that can be requested in any order, and is freed when the last client closes it.

mod log;
mod playback;
mod recording;
mod scene_tree;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::SystemTime,
};

use parking_lot::Mutex;
use wire::console::{PlaybackEntry, PlaybackKind};

pub use self::playback::OpenPlayback;
use self::playback::PlaybackWriter;
use super::{checked_name, is_name};

/// Playbacks that may be loading at once.
pub const MAX_LOADING: usize = 3;
/// Playbacks that may be open at once.
pub const MAX_OPEN: usize = 8;
/// Memory for the frames and scenes of all playbacks, in bytes.
pub const MAX_BYTES: usize = 512 << 20;
/// Entries in the list of recordings and logs.
pub const MAX_LISTED: usize = 500;

/// Start of every line of a log.
pub(crate) const LOG_START: &[u8] = b"((RSMP";

/// The recordings and logs in a folder, and the playbacks opened from it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Playbacks(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    /// Open playbacks by name; entries of closed ones are removed by the next [`Playbacks::open`].
    open: Mutex<BTreeMap<String, Weak<OpenPlayback>>>,
    /// Number of playbacks being loaded.
    loading: Arc<AtomicUsize>,
    /// Memory in use by all playbacks.
    bytes: Arc<AtomicUsize>,
    max_bytes: usize,
}

impl Playbacks {
    /// Playbacks of the files directly in this folder, which need not exist.
    pub fn new(folder: PathBuf) -> Self {
        Self::with_max_bytes(folder, MAX_BYTES)
    }

    fn with_max_bytes(folder: PathBuf, max_bytes: usize) -> Self {
        // absolute, because it is shown to people
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        let (open, loading, bytes) = (Mutex::default(), Arc::default(), Arc::default());
        Self(Arc::new(Inner { folder, open, loading, bytes, max_bytes }))
    }

    /// The folder and its recordings and logs, newest first, at most [`MAX_LISTED`].
    pub fn list(&self) -> (String, Vec<PlaybackEntry>) {
        let shown = self.0.folder.display().to_string();
        // the folder may be missing
        let Ok(entries) = fs::read_dir(&self.0.folder) else { return (shown, Vec::new()) };
        let of_entry = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok().filter(|name| is_name(name))?;
            // no symbolic links: they may lead out of the folder
            let found = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            let kind = kind_of(&entry.path())?;
            Some((found.modified().ok(), PlaybackEntry { name, bytes: found.len(), kind }))
        };
        let mut found: Vec<(Option<SystemTime>, PlaybackEntry)> =
            entries.filter_map(|entry| of_entry(entry.ok()?)).collect();
        found.sort_by(|(a, a_entry), (b, b_entry)| b.cmp(a).then_with(|| a_entry.name.cmp(&b_entry.name)));
        (shown, found.into_iter().map(|(_, entry)| entry).take(MAX_LISTED).collect())
    }

    /// Opens a playback and starts to load it. Clients that open the same file share one playback; loading stops when the
    /// last of them drops it.
    pub fn open(&self, name: &str) -> Result<Arc<OpenPlayback>, String> {
        let name = checked_name(name)?;
        let mut open = self.0.open.lock();
        open.retain(|_, playback| playback.strong_count() > 0);
        if let Some(playback) = open.get(name).and_then(Weak::upgrade) {
            return Ok(playback);
        }
        if open.len() >= MAX_OPEN {
            return Err(format!("{MAX_OPEN} playbacks are open already; close one first"));
        }
        if self.0.loading.load(Ordering::Relaxed) >= MAX_LOADING {
            return Err(format!("{MAX_LOADING} playbacks are loading already; try again in a moment"));
        }
        let path = self.0.folder.join(name);
        let missing = || format!("no file named `{name}` in `{}`", self.0.folder.display());
        // no symbolic links: they may lead out of the folder
        path.symlink_metadata().ok().filter(fs::Metadata::is_file).ok_or_else(missing)?;
        let kind = kind_of(&path).ok_or_else(|| format!("`{name}` is neither a recording nor a soccer log"))?;
        let (playback, writer) = OpenPlayback::new(name, self.0.bytes.clone(), self.0.max_bytes);
        let guard = LoadingGuard::new(&self.0.loading);
        let load = move || {
            load(&path, kind, writer);
            drop(guard);
        };
        let started = thread::Builder::new().name("playback".into()).spawn(load);
        started.map_err(|error| format!("failed to start loading `{name}`: {error}"))?;
        open.insert(name.to_owned(), Arc::downgrade(&playback));
        Ok(playback)
    }
}

/// Counts a playback as loading until it is dropped.
struct LoadingGuard(Arc<AtomicUsize>);

impl LoadingGuard {
    fn new(loading: &Arc<AtomicUsize>) -> Self {
        loading.fetch_add(1, Ordering::Relaxed);
        Self(loading.clone())
    }
}

impl Drop for LoadingGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The kind of a file, by its extension and, for logs, its first bytes.
fn kind_of(path: &Path) -> Option<PlaybackKind> {
    match path.extension()?.to_str()? {
        "mcap" => Some(PlaybackKind::Recording),
        "log" | "txt" => {
            let mut start = [0; LOG_START.len()];
            File::open(path).ok()?.read_exact(&mut start).ok()?;
            (start == LOG_START).then_some(PlaybackKind::Log)
        }
        _ => None,
    }
}

fn load(path: &Path, kind: PlaybackKind, mut writer: PlaybackWriter) {
    // ticks are urgent, loading is not
    crate::cpu_affinity::avoid_first();
    let outcome = match kind {
        PlaybackKind::Recording => recording::load(path, &mut writer),
        PlaybackKind::Log => log::load(path, &mut writer),
    };
    writer.finish(outcome);
}
