//! Recordings and logs in a folder, and films made from them.
//!
//! A recording is run again; a log of a soccer game is shown as it is. Either is read once, on a thread of its own, into
//! frames that can be asked for in any order, and is let go when nobody looks at it any more.

mod log;
mod playback;
mod recording;
#[cfg(test)]
mod tests;
mod tree;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::SystemTime,
};

use wire::console::{PlaybackEntry, PlaybackKind};

pub use self::playback::OpenPlayback;
use self::playback::PlaybackWriter;
use super::{checked_name, is_name};

/// Playbacks that are being read at once.
pub const MAX_READ: usize = 3;
/// Playbacks that are kept.
pub const MAX_FILMS: usize = 8;
/// Bytes of frames of all films.
pub const MAX_BYTES: usize = 512 << 20;
/// Most films in the list.
pub const MAX_LISTED: usize = 500;

/// How every line of a log begins.
const LOG_START: &[u8] = b"((RSMP";

/// Recordings and logs in a folder, and films made from them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Playbacks(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    /// By their names, as long as somebody looks at them.
    open: Mutex<BTreeMap<String, Weak<OpenPlayback>>>,
    /// How many are being read.
    reading: Arc<AtomicUsize>,
    /// Bytes of all frames.
    bytes: Arc<AtomicUsize>,
    most_bytes: usize,
}

impl Playbacks {
    /// Those in this folder, and in none below.
    pub fn new(folder: PathBuf) -> Self {
        Self::with_room(folder, MAX_BYTES)
    }

    fn with_room(folder: PathBuf, most_bytes: usize) -> Self {
        // for people, who want to find it
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        let (open, reading, bytes) = (Mutex::default(), Arc::default(), Arc::default());
        Self(Arc::new(Inner { folder, open, reading, bytes, most_bytes }))
    }

    /// The folder, and what is in it, the latest first, [`MAX_LISTED`] at most.
    pub fn list(&self) -> (String, Vec<PlaybackEntry>) {
        let shown = self.0.folder.display().to_string();
        // there need not be a folder
        let Ok(entries) = fs::read_dir(&self.0.folder) else { return (shown, Vec::new()) };
        let of_entry = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok().filter(|name| is_name(name))?;
            // no links: they may lead anywhere
            let found = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            let kind = kind_of(&entry.path())?;
            Some((found.modified().ok(), PlaybackEntry { name, bytes: found.len(), kind }))
        };
        let mut films: Vec<(Option<SystemTime>, PlaybackEntry)> =
            entries.filter_map(|entry| of_entry(entry.ok()?)).collect();
        films.sort_by(|(a, a_card), (b, b_card)| b.cmp(a).then_with(|| a_card.name.cmp(&b_card.name)));
        (shown, films.into_iter().map(|(_, card)| card).take(MAX_LISTED).collect())
    }

    /// Begins to read one. The same is shared as long as somebody looks at it; when nobody does any more, it is no longer
    /// read.
    pub fn open(&self, name: &str) -> Result<Arc<OpenPlayback>, String> {
        let name = checked_name(name)?;
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, film| film.strong_count() > 0);
        if let Some(film) = open.get(name).and_then(Weak::upgrade) {
            return Ok(film);
        }
        if open.len() >= MAX_FILMS {
            return Err(format!("{MAX_FILMS} films are being looked at already; somebody has to close one"));
        }
        if self.0.reading.load(Ordering::Relaxed) >= MAX_READ {
            return Err(format!("{MAX_READ} films are being read already; try again in a moment"));
        }
        let path = self.0.folder.join(name);
        let missing = || format!("there is no film {name} in {}", self.0.folder.display());
        // no links: they may lead anywhere
        path.symlink_metadata().ok().filter(fs::Metadata::is_file).ok_or_else(missing)?;
        let kind = kind_of(&path).ok_or_else(|| format!("{name} is neither a recording nor a log of a game"))?;
        let (film, playback) = OpenPlayback::new(name, self.0.bytes.clone(), self.0.most_bytes);
        let turn = Turn::new(&self.0.reading);
        let read = move || {
            read(&path, kind, playback);
            drop(turn);
        };
        let begun = thread::Builder::new().name("film".into()).spawn(read);
        begun.map_err(|error| format!("the film could not be read: {error}"))?;
        open.insert(name.to_owned(), Arc::downgrade(&film));
        Ok(film)
    }
}

/// One that is being read.
struct Turn(Arc<AtomicUsize>);

impl Turn {
    fn new(reading: &Arc<AtomicUsize>) -> Self {
        reading.fetch_add(1, Ordering::Relaxed);
        Self(reading.clone())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a file is, by its name and beginning.
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

fn read(path: &Path, kind: PlaybackKind, mut playback: PlaybackWriter) {
    // computing is not urgent, ticks are
    crate::cpu_affinity::avoid_first();
    let outcome = match kind {
        PlaybackKind::Recording => recording::read(path, &mut playback),
        PlaybackKind::Log => log::read(path, &mut playback),
    };
    playback.end(outcome);
}
