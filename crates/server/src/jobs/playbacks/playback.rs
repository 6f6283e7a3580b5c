//! The frames of a film, and whoever adds to them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

use wire::console::{self, PlaybackScene, Scene, TimelineMark};

/// Frames a second.
pub(super) const RATE: f64 = 25.0;
/// Most marks on a time line.
const MAX_MARKS: usize = 10_000;
/// What a frame takes besides its bytes, and a look of a scene in all.
const FRAME_ROOM: usize = 32;
const LOOK_ROOM: usize = 256;

/// A film, as far as it is read. It is no longer read when this goes.
#[derive(Debug)]
pub struct OpenPlayback(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    name: String,
    is_left: AtomicBool,
    version: AtomicU64,
    content: Mutex<Content>,
    /// Bytes of this film, and of all.
    own: AtomicUsize,
    all: Arc<AtomicUsize>,
    most: usize,
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
    pub(super) fn new(name: &str, all: Arc<AtomicUsize>, most: usize) -> (Arc<Self>, PlaybackWriter) {
        let shared = Arc::new(Shared {
            name: name.to_owned(),
            is_left: AtomicBool::default(),
            version: AtomicU64::default(),
            content: Mutex::default(),
            own: AtomicUsize::default(),
            all,
            most,
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
        self.0.is_left.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Content)) {
        change(&mut self.content());
        self.version.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.all.fetch_sub(self.own.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// Why a film is not read any further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReadEnd {
    /// Nobody looks at it.
    Left,
    /// For a reason.
    Trouble(String),
}

impl ReadEnd {
    pub(super) fn new(reason: impl ToString) -> Self {
        Self::Trouble(reason.to_string())
    }
}

/// Takes what is read into a film.
#[derive(Debug)]
pub(super) struct PlaybackWriter {
    shared: Arc<Shared>,
    /// Frames there are by now, or should be.
    due: usize,
    last: Option<Arc<[u8]>>,
}

impl PlaybackWriter {
    /// Whether a frame is due at a time of the film, in s. Those before it that are missing are filled up.
    pub(super) fn wants(&mut self, seconds: f64) -> Result<bool, ReadEnd> {
        if self.shared.is_left.load(Ordering::Relaxed) {
            return Err(ReadEnd::Left);
        }
        // a little early is better than a whole frame late
        self.due = self.due.max((seconds * RATE + 1e-6).max(0.0) as usize + 1);
        let is_due = self.length() < self.due;
        while let (true, Some(last)) = (self.length() + 1 < self.due, self.last.clone()) {
            self.push(last, FRAME_ROOM)?;
        }
        Ok(is_due)
    }

    /// Frames that are there.
    pub(super) fn length(&self) -> usize {
        self.shared.content().frames.len()
    }

    /// Adds a frame.
    pub(super) fn add(&mut self, frame: Vec<u8>) -> Result<(), ReadEnd> {
        let room = frame.len() + FRAME_ROOM;
        let frame: Arc<[u8]> = frame.into();
        self.last = Some(frame.clone());
        self.push(frame, room)
    }

    fn push(&self, frame: Arc<[u8]>, room: usize) -> Result<(), ReadEnd> {
        self.take_room(room)?;
        self.shared.change(|content| content.frames.push(frame));
        Ok(())
    }

    /// From the next frame on it looks like this.
    pub(super) fn scene(&mut self, scene: Scene) -> Result<(), ReadEnd> {
        let meshes: usize = scene.meshes.iter().map(|mesh| 4 * (mesh.vertices.len() + mesh.faces.len())).sum();
        self.take_room(LOOK_ROOM * (scene.looks.len() + scene.bodies.len()) + meshes)?;
        self.shared.change(|content| {
            content.scenes.push(PlaybackScene { from: content.frames.len(), scene });
        });
        Ok(())
    }

    /// Something happens at the next frame.
    pub(super) fn mark(&self, text: String) {
        self.shared.change(|content| {
            if content.marks.len() < MAX_MARKS {
                content.marks.push(TimelineMark { frame: content.frames.len(), text });
            }
        });
    }

    /// All that there is has been read, or something came in between.
    pub(super) fn end(self, outcome: Result<Option<String>, ReadEnd>) {
        self.shared.change(|content| match outcome {
            Ok(trouble) => (content.is_complete, content.trouble) = (true, trouble),
            Err(ReadEnd::Trouble(trouble)) => content.trouble = Some(trouble),
            Err(ReadEnd::Left) => {}
        });
    }

    fn take_room(&self, bytes: usize) -> Result<(), ReadEnd> {
        let Shared { own, all, most, .. } = &*self.shared;
        if all.fetch_add(bytes, Ordering::Relaxed) + bytes > *most {
            all.fetch_sub(bytes, Ordering::Relaxed);
            let most = most >> 20;
            return Err(ReadEnd::Trouble(format!(
                "films may take {most} MB of memory, and that is used up; the rest is cut off"
            )));
        }
        own.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }
}

/// What is to be marked on the time line of a game.
#[derive(Debug, Default)]
pub(super) struct Marker {
    mode: Option<String>,
    score: Option<[u32; 2]>,
    /// Names of the play modes, for people.
    words: BTreeMap<String, String>,
}

impl Marker {
    /// Looks at a game; gives what has changed, for people.
    pub(super) fn look(&mut self, mode: &str, score: [u32; 2], teams: [&str; 2]) -> Vec<String> {
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
            let words = self.words.entry(mode.to_owned()).or_insert_with(|| mode_words(mode));
            marks.push(words.clone());
        }
        marks
    }
}

/// `corner_kick_left` and `KickIn_Left` as people say it.
fn mode_words(mode: &str) -> String {
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
