//! Gestures: short servo animations, read from TOML files.
//!
//! A file holds one gesture: its number on the wire, its tag in spoken text, and keyframes for each servo it moves. Keys
//! are offsets that are added to the servo's position; values between keys are eased, and every gesture starts and ends
//! at offset 0.

use std::{collections::BTreeMap, fs, io, path::PathBuf, sync::Arc};

use rust_embed::RustEmbed;
use serde::Deserialize;

use crate::servo::{Positions, servo_named};

/// Longest gesture, in s.
pub const MAX_SECONDS: f32 = 60.0;
/// Time in which a servo returns to 0 if its last key is not 0, in s.
const RETURN: f32 = 0.25;
/// Maximum number of keys per servo.
pub const MAX_KEYS: usize = 256;
/// Maximum size of a gesture file, in bytes.
pub const MAX_FILE: u64 = 64 * 1024;
/// Maximum number of gestures of a robot.
pub const MAX_GESTURES: usize = 256;

#[derive(RustEmbed)]
#[folder = "gestures/"]
struct Shipped;

/// Error of reading a gesture.
#[derive(Debug, thiserror::Error)]
pub enum GestureError {
    /// A file or folder could not be read.
    #[error("failed to read gestures from {}: {cause}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Error of the operating system.
        cause: io::Error,
    },
    /// The file is not TOML, or has an unknown key.
    #[error("{file}: {message}")]
    Syntax {
        /// Name of the file.
        file: String,
        /// Message of the TOML parser.
        message: String,
    },
    /// A value is out of range or conflicts with another gesture.
    #[error("{file}: {problem}")]
    Invalid {
        /// Name of the file.
        file: String,
        /// Description of the problem.
        problem: String,
    },
}

/// Contents of a gesture file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GestureFile {
    id: u32,
    tag: String,
    title: String,
    /// By servo name: pairs of a time in s and an offset.
    keys: BTreeMap<String, Vec<[f32; 2]>>,
}

/// A gesture: an animation of some servos.
#[derive(Clone, Debug, PartialEq)]
pub struct Gesture {
    /// Number on the wire.
    pub id: u32,
    /// Tag in spoken text, without brackets, in lower case.
    pub tag: String,
    /// Human-readable description.
    pub title: String,
    /// Duration, in s.
    pub seconds: f32,
    /// Index of each servo and its keys (time in s, offset), sorted by time.
    tracks: Vec<(usize, Vec<[f32; 2]>)>,
}

impl Gesture {
    fn parse(name: &str, text: &str) -> Result<Self, GestureError> {
        let syntax =
            |error: toml::de::Error| GestureError::Syntax { file: name.to_owned(), message: error.to_string() };
        let file: GestureFile = toml::from_str(text).map_err(syntax)?;
        Self::check(file).map_err(|problem| GestureError::Invalid { file: name.to_owned(), problem })
    }

    fn check(file: GestureFile) -> Result<Self, String> {
        let is_word = |tag: &str| !tag.is_empty() && tag.len() <= 32 && tag.chars().all(|c| c.is_ascii_alphanumeric());
        if !is_word(&file.tag) {
            return Err(format!("invalid tag `{}`: use 1 to 32 ASCII letters and digits", file.tag));
        }
        let mut tracks = Vec::new();
        for (name, keys) in file.keys {
            let servo = servo_named(&name).ok_or_else(|| format!("unknown servo `{name}`"))?;
            let is_valid = |&[time, offset]: &[f32; 2]| (0.0..=MAX_SECONDS).contains(&time) && offset.abs() <= 1.0;
            if keys.is_empty() || keys.len() > MAX_KEYS || !keys.iter().all(is_valid) {
                return Err(format!(
                    "`{name}` needs 1 to {MAX_KEYS} keys with times of 0 to {MAX_SECONDS} s and offsets of -1 to 1"
                ));
            }
            if !keys.is_sorted_by(|a, b| a[0] < b[0]) {
                return Err(format!("the keys of `{name}` are not sorted by time"));
            }
            tracks.push((servo, closed(keys)));
        }
        let seconds = tracks.iter().filter_map(|(_, keys)| keys.last()).fold(0.0, |last: f32, key| last.max(key[0]));
        if seconds <= 0.0 {
            return Err("no key after time 0".to_owned());
        }
        Ok(Self { id: file.id, tag: file.tag.to_ascii_lowercase(), title: file.title, seconds, tracks })
    }

    /// Adds the gesture's offsets at `time`, in s since its start.
    pub fn add_to(&self, offsets: &mut Positions, time: f32) {
        for (servo, keys) in &self.tracks {
            if let Some(offset) = offsets.get_mut(*servo) {
                *offset += offset_at(keys, time);
            }
        }
    }
}

/// Adds keys so that the track starts and ends at offset 0.
fn closed(mut keys: Vec<[f32; 2]>) -> Vec<[f32; 2]> {
    if keys.first().is_some_and(|first| first[0] > 0.0) {
        keys.insert(0, [0.0, 0.0]);
    }
    if let Some(&[time, offset]) = keys.last()
        && offset != 0.0
    {
        keys.push([time + RETURN, 0.0]);
    }
    keys
}

/// The offset at a time, eased between keys with a smoothstep.
fn offset_at(keys: &[[f32; 2]], time: f32) -> f32 {
    let next = keys.partition_point(|key| key[0] <= time);
    let from = next.checked_sub(1).and_then(|last| keys.get(last));
    match (from, keys.get(next)) {
        (Some(from), Some(to)) => {
            let part = (time - from[0]) / (to[0] - from[0]);
            from[1] + (to[1] - from[1]) * part * part * (3.0 - 2.0 * part)
        }
        (Some(key), None) | (None, Some(key)) => key[1],
        (None, None) => 0.0,
    }
}

/// The gestures of a robot, by number.
#[derive(Clone, Debug, Default)]
pub struct Gestures(BTreeMap<u32, Arc<Gesture>>);

impl Gestures {
    /// The protocol's thirteen gestures.
    pub fn shipped() -> Result<Self, GestureError> {
        let mut gestures = Self::default();
        for name in Shipped::iter() {
            let file = Shipped::get(&name).map(|file| file.data.into_owned()).unwrap_or_default();
            gestures.add(&name, &String::from_utf8_lossy(&file))?;
        }
        Ok(gestures)
    }

    /// Parses a gesture from the `text` of the file called `name`, and adds it. Replaces a gesture of the same number.
    pub fn add(&mut self, name: &str, text: &str) -> Result<(), GestureError> {
        let gesture = Gesture::parse(name, text)?;
        let invalid = |problem| Err(GestureError::Invalid { file: name.to_owned(), problem });
        let tagged = self.0.values().find(|other| other.tag == gesture.tag && other.id != gesture.id);
        if let Some(other) = tagged {
            return invalid(format!("gesture {} already has the tag `{}`", other.id, gesture.tag));
        }
        if self.0.len() >= MAX_GESTURES && !self.0.contains_key(&gesture.id) {
            return invalid(format!("more than {MAX_GESTURES} gestures"));
        }
        self.0.insert(gesture.id, Arc::new(gesture));
        Ok(())
    }

    /// The gesture with this number.
    pub fn get(&self, id: u32) -> Option<&Arc<Gesture>> {
        self.0.get(&id)
    }

    /// Number of the gesture with this tag, ignoring case.
    pub fn tagged(&self, tag: &str) -> Option<u32> {
        self.0.values().find(|gesture| gesture.tag.eq_ignore_ascii_case(tag)).map(|gesture| gesture.id)
    }

    /// All gestures, by number.
    pub fn iter(&self) -> impl Iterator<Item = &Gesture> {
        self.0.values().map(AsRef::as_ref)
    }
}

/// Path and text of each TOML file in a folder, sorted by path.
pub fn read_folder(folder: &std::path::Path) -> Result<Vec<(String, String)>, GestureError> {
    let failed = |cause| GestureError::Read { path: folder.to_owned(), cause };
    let mut paths = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(failed)?;
    paths.sort_by_key(fs::DirEntry::path);
    let mut texts = Vec::new();
    for path in paths.into_iter().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "toml"))
    {
        let failed = |cause| GestureError::Read { path: path.clone(), cause };
        if fs::metadata(&path).map_err(failed)?.len() > MAX_FILE {
            return Err(failed(io::Error::other(format!("larger than {MAX_FILE} bytes"))));
        }
        texts.push((path.display().to_string(), fs::read_to_string(&path).map_err(failed)?));
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::servo::index;

    #[test]
    fn the_protocols_gestures_are_built_in() {
        let gestures = Gestures::shipped().unwrap();
        let tags: Vec<_> = gestures.iter().map(|gesture| (gesture.id, gesture.tag.as_str())).collect();
        let expected = [
            "braisel", "braises", "frownl", "frowns", "yesl", "yess", "yesl3", "yess3", "nol", "nos", "nol3", "nos3",
            "wob",
        ];
        assert_eq!(tags, (0..).zip(expected).collect::<Vec<_>>());
        assert_eq!(gestures.tagged("YesS"), Some(5));
        for gesture in gestures.iter() {
            let mut offsets = [0.0; crate::servo::COUNT];
            gesture.add_to(&mut offsets, 0.0);
            gesture.add_to(&mut offsets, gesture.seconds);
            assert!(offsets.iter().all(|offset| offset.abs() < 1e-6), "{} does not start and end at rest", gesture.tag);
        }
    }

    #[test]
    fn servos_move_smoothly_between_keys() {
        let text = "id = 40\ntag = 'Up'\ntitle = 'up'\n[keys]\nbrows = [[0.0, 0.0], [1.0, 0.4], [2.0, 0.0]]";
        let gesture = Gesture::parse("up", text).unwrap();
        assert_eq!((gesture.seconds, gesture.tag.as_str()), (2.0, "up"));
        for (time, offset) in [(0.0, 0.0), (0.5, 0.2), (1.0, 0.4), (1.5, 0.2), (2.0, 0.0), (9.0, 0.0)] {
            let mut offsets = [0.0; crate::servo::COUNT];
            gesture.add_to(&mut offsets, time);
            assert!((offsets[index::BROWS] - offset).abs() < 1e-6, "{time}: {}", offsets[index::BROWS]);
        }
    }

    #[test]
    fn invalid_gestures_are_refused() {
        let check = |text: &str, says: &str| {
            let error = Gestures::shipped().unwrap().add("mine.toml", text).unwrap_err().to_string();
            assert!(error.starts_with("mine.toml: ") && error.contains(says), "{text}: {error}");
        };
        let with = |rest: &str| format!("id = 50\ntag = 'mine'\ntitle = ''\n{rest}");
        check("id = ", "TOML");
        check(&with("colour = 3\n[keys]\nbrows = [[1, 0]]"), "unknown field `colour`");
        check(&with("[keys]\ntail = [[1, 0]]"), "unknown servo `tail`");
        check(&with("[keys]\nbrows = [[1, 0], [0.5, 0]]"), "not sorted by time");
        check(&with("[keys]\nbrows = [[1, 2]]"), "offsets of -1 to 1");
        check(&with("[keys]\nbrows = [[1, nan]]"), "offsets of -1 to 1");
        check(&with("[keys]\nbrows = [[1e9, 0]]"), "times of 0 to 60");
        check(&with("[keys]\nbrows = []"), "needs 1 to");
        check(&with("[keys]"), "no key after time 0");
        check(&with("[keys]\nbrows = [[1, 0]]").replace("mine", "a b"), "invalid tag `a b`");
        check(&with("[keys]\nbrows = [[1, 0]]").replace("mine", "WOB"), "gesture 12 already has the tag");
    }
}
