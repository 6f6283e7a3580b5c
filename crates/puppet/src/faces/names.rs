//! The names of known faces, and their file.

use std::path::Path;

use serde::{Deserialize, Serialize};
use support::atomic_file;

use super::embedder::Embedding;
use super::{FacesError, read};

/// Maximum length of a name, in bytes: the limit of Oz clients.
pub const MAX_NAME_BYTES: usize = 1023;
/// Maximum number of names.
pub const MAX_NAMES: usize = 256;
/// Maximum number of samples per name; a further one replaces the oldest.
pub const MAX_SAMPLES: usize = 8;
/// Maximum distance between two embeddings of the same person.
pub const NAME_DISTANCE: f32 = 0.45;

/// Maximum size of the file, in bytes.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// Known people: names with sample embeddings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    people: Vec<Person>,
}

#[derive(Clone, Debug, PartialEq)]
struct Person {
    name: String,
    samples: Vec<Embedding>,
}

/// A person in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    samples: Vec<Vec<f32>>,
}

impl Names {
    /// Without any names.
    pub fn new() -> Names {
        Names::default()
    }

    /// Adds a sample to a name, which may be new.
    pub fn enrol(&mut self, name: &str, embedding: &Embedding) -> Result<(), FacesError> {
        check(name)?;
        if !embedding.iter().all(|number| number.is_finite()) {
            return Err(FacesError::NotFinite);
        }
        let index = match self.people.iter().position(|person| person.name == name) {
            Some(index) => index,
            None if self.people.len() == MAX_NAMES => return Err(FacesError::Full),
            None => {
                self.people.push(Person { name: name.into(), samples: Vec::new() });
                self.people.len() - 1
            }
        };
        let samples = &mut self.people[index].samples;
        if samples.len() == MAX_SAMPLES {
            samples.remove(0);
        }
        samples.push(*embedding);
        Ok(())
    }

    /// The name of the closest sample within [`NAME_DISTANCE`].
    pub fn name_of(&self, embedding: &Embedding) -> Option<&str> {
        let distance = |person: &Person| {
            let distances = person.samples.iter().map(|sample| distance(sample, embedding));
            distances.fold(f32::INFINITY, f32::min)
        };
        let nearest = self.people.iter().map(|person| (distance(person), person)).min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.filter(|(distance, _)| *distance <= NAME_DISTANCE).map(|(_, person)| person.name.as_str())
    }

    /// Removes a name with all its samples. Returns whether it was known.
    pub fn forget(&mut self, name: &str) -> bool {
        let before = self.people.len();
        self.people.retain(|person| person.name != name);
        self.people.len() < before
    }

    /// All names, in the order of enrolment.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.people.iter().map(|person| person.name.as_str())
    }

    /// Loads names from a file.
    pub fn load(path: &Path) -> Result<Names, FacesError> {
        let bytes = read(path, MAX_FILE_BYTES).map_err(|error| match error {
            FacesError::Read { path, source } => FacesError::ReadNames { path, source },
            other => other,
        })?;
        let invalid = |reason: String| FacesError::Invalid { path: path.into(), reason };
        let entries: Vec<Entry> = serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
        let mut names = Names::new();
        for Entry { name, samples } in entries {
            if names.iter().any(|other| other == name) || samples.is_empty() || samples.len() > MAX_SAMPLES {
                return Err(invalid(format!("{name:?} is duplicated or does not have 1 to {MAX_SAMPLES} samples")));
            }
            for sample in samples {
                let length = sample.len();
                let sample = Embedding::try_from(sample)
                    .map_err(|_| invalid(format!("{name:?} has a sample of {length} values instead of 128")))?;
                names.enrol(&name, &sample).map_err(|error| invalid(error.to_string()))?;
            }
        }
        Ok(names)
    }

    /// Writes the names to a file, which is replaced atomically.
    pub fn save(&self, path: &Path) -> Result<(), FacesError> {
        let entry = |person: &Person| Entry {
            name: person.name.clone(),
            samples: person.samples.iter().map(|sample| sample.to_vec()).collect(),
        };
        let entries: Vec<Entry> = self.people.iter().map(entry).collect();
        let failed = |source| FacesError::Write { path: path.into(), source };
        let text = serde_json::to_vec(&entries).map_err(|error| failed(error.into()))?;
        atomic_file::replace(path, &text).map_err(failed)
    }
}

fn check(name: &str) -> Result<(), FacesError> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
        return Err(FacesError::Name { bytes: name.len() });
    }
    Ok(())
}

/// Euclidean distance of two embeddings.
fn distance(a: &Embedding, b: &Embedding) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An embedding at this distance from the origin, along one axis.
    fn at(axis: usize, distance: f32) -> Embedding {
        let mut embedding = [0.0; 128];
        embedding[axis] = distance;
        embedding
    }

    fn known() -> Names {
        let mut names = Names::new();
        for (name, axis, distance) in [("Ada", 0, 0.0), ("Karel", 1, 1.0), ("Ada", 2, 1.0)] {
            names.enrol(name, &at(axis, distance)).unwrap();
        }
        names
    }

    #[test]
    fn a_face_has_the_name_of_the_closest_sample() {
        let names = known();
        for (axis, distance, name) in [
            (0, 0.1, Some("Ada")),
            (0, 0.44, Some("Ada")),
            (0, 0.46, None),
            (1, 0.4, Some("Ada")),
            (1, 0.5, None),
            (1, 0.7, Some("Karel")),
            (2, 1.3, Some("Ada")),
            (3, 1.0, None),
            (0, f32::NAN, None),
        ] {
            assert_eq!(names.name_of(&at(axis, distance)), name, "axis {axis}, {distance}");
        }
        assert_eq!(Names::new().name_of(&at(0, 0.0)), None);
        assert_eq!(names.iter().collect::<Vec<_>>(), ["Ada", "Karel"]);
    }

    #[test]
    fn a_name_can_be_forgotten() {
        let mut names = known();
        assert!(names.forget("Ada") && !names.forget("Ada"));
        assert_eq!(names.name_of(&at(0, 0.0)), None);
        assert_eq!(names.name_of(&at(1, 1.0)), Some("Karel"));
    }

    #[test]
    fn names_and_samples_are_limited() {
        let mut names = Names::new();
        for bad in ["", "a\nb", "\u{7f}", &"x".repeat(MAX_NAME_BYTES + 1)] {
            assert!(matches!(names.enrol(bad, &at(0, 0.0)), Err(FacesError::Name { .. })), "{bad:?}");
        }
        assert!(matches!(names.enrol("Ada", &at(0, f32::NAN)), Err(FacesError::NotFinite)));
        assert_eq!(names, Names::new());
        names.enrol(&"ü".repeat(MAX_NAME_BYTES / 2), &at(0, 5.0)).unwrap();
        for index in 0..=MAX_SAMPLES {
            names.enrol("Ada", &at(index, 9.0)).unwrap();
        }
        assert_eq!(names.name_of(&at(0, 9.0)), None, "the oldest sample is replaced");
        assert_eq!(names.name_of(&at(MAX_SAMPLES, 9.0)), Some("Ada"));
        for index in 2..MAX_NAMES {
            names.enrol(&index.to_string(), &at(0, index as f32)).unwrap();
        }
        assert!(matches!(names.enrol("one more", &at(0, 0.0)), Err(FacesError::Full)));
        names.enrol("Ada", &at(0, 0.0)).unwrap();
    }

    #[test]
    fn names_round_trip_through_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("names.json");
        let names = known();
        names.save(&path).unwrap();
        assert_eq!(Names::load(&path).unwrap(), names);
        names.save(&path).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
        assert!(matches!(names.save(&folder.path().join("no/names.json")), Err(FacesError::Write { .. })));
        let missing = Names::load(&folder.path().join("none")).unwrap_err();
        assert!(matches!(missing, FacesError::ReadNames { .. }));
        assert!(missing.to_string().contains("rossum oz enrol"), "{missing}");
    }

    #[test]
    fn invalid_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("names.json");
        let zeros = vec!["0.5"; 128].join(",");
        let huge = vec!["1e39"; 128].join(",");
        let many = vec![format!("[{zeros}]"); MAX_SAMPLES + 1].join(",");
        let long = "x".repeat(MAX_NAME_BYTES + 1);
        for text in [
            "",
            "{}",
            "[{\"name\":\"Ada\"}]",
            "[{\"name\":\"Ada\",\"samples\":[]}]",
            "[{\"name\":\"Ada\",\"samples\":[[1.0,2.0]]}]",
            "[{\"name\":\"Ada\",\"samples\":[[null]]}]",
            &format!("[{{\"name\":\"\",\"samples\":[[{zeros}]]}}]"),
            &format!("[{{\"name\":\"{long}\",\"samples\":[[{zeros}]]}}]"),
            &format!("[{{\"name\":\"Ada\",\"samples\":[[{huge}]]}}]"),
            &format!("[{{\"name\":\"Ada\",\"samples\":[{many}]}}]"),
            &format!("[{{\"name\":\"Ada\",\"samples\":[[{zeros}]],\"more\":1}}]"),
            &format!("[{{\"name\":\"Ada\",\"samples\":[[{zeros}]]}},{{\"name\":\"Ada\",\"samples\":[[{zeros}]]}}]"),
        ] {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(Names::load(&path), Err(FacesError::Invalid { .. })), "{text}");
        }
        std::fs::write(&path, vec![b' '; MAX_FILE_BYTES as usize + 1]).unwrap();
        assert!(matches!(Names::load(&path), Err(FacesError::TooLarge { .. })));
    }
}
