//! The frames of an open playback, and the writer that fills it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};
use wire::console::{self, PlaybackScene, Scene, TimelineMark};

/// Frames per second of a playback.
pub(super) const RATE: f64 = 25.0;
/// Marks on a timeline; later ones are dropped.
const MAX_MARKS: usize = 10_000;
/// Memory accounted for a frame in addition to its bytes.
const FRAME_OVERHEAD: usize = 32;
/// Memory accounted for a body or visual of a scene.
const VISUAL_BYTES: usize = 256;

/// A playback, as far as it is loaded. Dropping it cancels the loading.
#[derive(Debug)]
pub struct OpenPlayback(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    name: String,
    is_closed: AtomicBool,
    version: AtomicU64,
    content: Mutex<Content>,
    /// Memory in use by this playback.
    own_bytes: AtomicUsize,
    /// Memory in use by all playbacks.
    all_bytes: Arc<AtomicUsize>,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct Content {
    frames: Vec<Arc<[u8]>>,
    scenes: Vec<PlaybackScene>,
    marks: Vec<TimelineMark>,
    is_complete: bool,
    trouble: Option<String>,
}

impl OpenPlayback {
    pub(super) fn new(name: &str, all_bytes: Arc<AtomicUsize>, max_bytes: usize) -> (Arc<Self>, PlaybackWriter) {
        let shared = Arc::new(Shared {
            name: name.to_owned(),
            is_closed: AtomicBool::default(),
            version: AtomicU64::default(),
            content: Mutex::default(),
            own_bytes: AtomicUsize::default(),
            all_bytes,
            max_bytes,
        });
        (Arc::new(Self(shared.clone())), PlaybackWriter { shared, due: 0, last: None })
    }
}

impl session::console::Playback for OpenPlayback {
    fn state(&self, scenes_from: usize, marks_from: usize) -> console::PlaybackState {
        let content = self.0.content();
        console::PlaybackState {
            name: self.0.name.clone(),
            ready: content.frames.len(),
            complete: content.is_complete,
            trouble: content.trouble.clone(),
            rate: RATE,
            scenes: content.scenes.get(scenes_from..).unwrap_or_default().to_vec(),
            marks: content.marks.get(marks_from..).unwrap_or_default().to_vec(),
        }
    }

    fn frame(&self, number: usize) -> Option<Arc<[u8]>> {
        self.0.content().frames.get(number).cloned()
    }

    fn version(&self) -> u64 {
        self.0.version.load(Ordering::Relaxed)
    }
}

impl Drop for OpenPlayback {
    fn drop(&mut self) {
        self.0.is_closed.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock()
    }

    fn change(&self, change: impl FnOnce(&mut Content)) {
        change(&mut self.content());
        self.version.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.all_bytes.fetch_sub(self.own_bytes.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// Why loading stopped before the end of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LoadError {
    /// Every client has closed the playback.
    Closed,
    /// Human-readable cause, shown with the frames loaded so far.
    Failed(String),
}

impl LoadError {
    pub(super) fn new(cause: impl ToString) -> Self {
        Self::Failed(cause.to_string())
    }
}

/// Appends frames, scenes and marks to a playback while it is loaded.
#[derive(Debug)]
pub(super) struct PlaybackWriter {
    shared: Arc<Shared>,
    /// Number of frames up to the current time.
    due: usize,
    /// The last frame, repeated over gaps in time.
    last: Option<Arc<[u8]>>,
}

impl PlaybackWriter {
    /// Advances to a time of the playback, in s, and returns whether a frame is due then. Earlier frames that are missing
    /// are filled with copies of the last one.
    pub(super) fn advance_to(&mut self, seconds: f64) -> Result<bool, LoadError> {
        if self.shared.is_closed.load(Ordering::Relaxed) {
            return Err(LoadError::Closed);
        }
        // rounding errors must not delay a frame by a whole interval
        self.due = self.due.max((seconds * RATE + 1e-6).max(0.0) as usize + 1);
        let is_due = self.length() < self.due;
        while let (true, Some(last)) = (self.length() + 1 < self.due, self.last.clone()) {
            self.push(last, FRAME_OVERHEAD)?;
        }
        Ok(is_due)
    }

    /// Number of frames so far.
    pub(super) fn length(&self) -> usize {
        self.shared.content().frames.len()
    }

    /// Appends a frame.
    pub(super) fn push_frame(&mut self, frame: Vec<u8>) -> Result<(), LoadError> {
        let bytes = frame.len() + FRAME_OVERHEAD;
        let frame: Arc<[u8]> = frame.into();
        self.last = Some(frame.clone());
        self.push(frame, bytes)
    }

    fn push(&self, frame: Arc<[u8]>, bytes: usize) -> Result<(), LoadError> {
        self.reserve(bytes)?;
        self.shared.change(|content| content.frames.push(frame));
        Ok(())
    }

    /// Sets the scene of the frames from the next one on.
    pub(super) fn push_scene(&mut self, scene: Scene) -> Result<(), LoadError> {
        let meshes: usize = scene.meshes.iter().map(|mesh| 4 * (mesh.vertices.len() + mesh.faces.len())).sum();
        self.reserve(VISUAL_BYTES * (scene.looks.len() + scene.bodies.len()) + meshes)?;
        self.shared.change(|content| {
            content.scenes.push(PlaybackScene { from: content.frames.len(), scene });
        });
        Ok(())
    }

    /// Marks the next frame on the timeline.
    pub(super) fn push_mark(&self, text: String) {
        self.shared.change(|content| {
            if content.marks.len() < MAX_MARKS {
                content.marks.push(TimelineMark { frame: content.frames.len(), text });
            }
        });
    }

    /// Ends the loading, with a warning if the file was loaded completely.
    pub(super) fn finish(self, outcome: Result<Option<String>, LoadError>) {
        self.shared.change(|content| match outcome {
            Ok(warning) => (content.is_complete, content.trouble) = (true, warning),
            Err(LoadError::Failed(cause)) => content.trouble = Some(cause),
            Err(LoadError::Closed) => {}
        });
    }

    fn reserve(&self, bytes: usize) -> Result<(), LoadError> {
        let Shared { own_bytes, all_bytes, max_bytes, .. } = &*self.shared;
        if all_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > *max_bytes {
            all_bytes.fetch_sub(bytes, Ordering::Relaxed);
            return Err(LoadError::Failed(format!(
                "truncated: all playbacks together may use {} MB of memory; close others and open it again",
                max_bytes >> 20
            )));
        }
        own_bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }
}

/// Finds the goals and play mode changes of a game for its timeline.
#[derive(Debug, Default)]
pub(super) struct GameMarks {
    mode: Option<String>,
    score: Option<[u32; 2]>,
    /// Human-readable names of the play modes seen so far.
    titles: BTreeMap<String, String>,
}

impl GameMarks {
    /// Compares the game with its last state; returns the texts of the marks to set.
    pub(super) fn update(&mut self, mode: &str, score: [u32; 2], teams: [&str; 2]) -> Vec<String> {
        let mut marks = Vec::new();
        if let Some([left, right]) = self.score.replace(score)
            && (score[0] > left || score[1] > right)
        {
            let team = if score[0] > left { teams[0] } else { teams[1] };
            marks.push(format!("goal of {team}, {}:{}", score[0], score[1]));
        }
        let before = self.mode.replace(mode.to_owned());
        let is_goal = !marks.is_empty() && mode.to_lowercase().starts_with("goal_") && !mode.contains("kick");
        if before.is_some_and(|before| before != mode) && !is_goal {
            let title = self.titles.entry(mode.to_owned()).or_insert_with(|| mode_title(mode));
            marks.push(title.clone());
        }
        marks
    }
}

/// `corner kick left` for `corner_kick_left`, `kick in left` for `KickIn_Left`.
fn mode_title(mode: &str) -> String {
    let mut words = String::new();
    for letter in mode.chars() {
        match letter {
            '_' => words.push(' '),
            upper if upper.is_ascii_uppercase() => {
                if !words.is_empty() && !words.ends_with(' ') {
                    words.push(' ');
                }
                words.push(upper.to_ascii_lowercase());
            }
            other => words.push(other),
        }
    }
    words
}
