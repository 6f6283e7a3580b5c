//! Detects, tracks and recognises the faces in a sequence of images.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Detector, Embedder, FacesError, Names, TrackedFace, Tracker};
use crate::camera::Image;

/// Interval between recognition attempts of an unknown face, in s.
const UNKNOWN_INTERVAL: f32 = 1.0;
/// Interval between recognitions of a known face, in s, as two tracks may have been swapped.
const KNOWN_INTERVAL: f32 = 5.0;

/// Number of consecutive failed recognitions after which a face loses its name.
const MAX_MISSES: u32 = 2;

/// A face in view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Face {
    /// Identity of the face while it is in view.
    pub id: u64,
    /// Confidence of the detection, 0 to 1.
    pub confidence: f32,
    /// Centre of the bounding box, -1 (left edge of the image) to 1 (right edge).
    pub x: f32,
    /// Centre of the bounding box, -1 (top of the image) to 1 (bottom).
    pub y: f32,
    /// Width of the bounding box, as a fraction of the image width, 0 to 1.
    pub width: f32,
    /// Height of the bounding box, as a fraction of the image height, 0 to 1.
    pub height: f32,
    /// Name, empty if unknown.
    pub name: String,
}

/// Recognition state of a face in view.
#[derive(Clone, Debug, Default)]
struct Recognition {
    name: String,
    /// Time until the next attempt, in s.
    wait: f32,
    /// Consecutive failed attempts.
    misses: u32,
}

impl Recognition {
    /// Takes the result of an attempt: the name, or `None` if the face is unknown.
    fn update(&mut self, name: Option<&str>) {
        self.misses = if name.is_some() { 0 } else { self.misses.saturating_add(1) };
        match name {
            Some(name) => name.clone_into(&mut self.name),
            // a single failure may be due to a bad image
            None if self.misses >= MAX_MISSES => self.name.clear(),
            None => {}
        }
    }
}

/// Detects, tracks and recognises faces.
#[derive(Debug)]
pub struct Watcher {
    detector: Detector,
    tracker: Tracker,
    embedder: Embedder,
    names: Names,
    in_view: BTreeMap<u64, Recognition>,
    /// The last image, for enrolling a face in it.
    last: Image,
}

impl Watcher {
    /// Loads the models that `scripts/fetch-puppet faces` has downloaded into `folder`.
    pub fn load(folder: &Path, names: Names) -> Result<Watcher, FacesError> {
        Ok(Watcher::new(Detector::load(folder)?, Embedder::load(folder)?, names))
    }

    /// A watcher before its first image.
    pub fn new(detector: Detector, embedder: Embedder, names: Names) -> Watcher {
        let (tracker, last) = (Tracker::new(), Image::new(1, 1));
        Watcher { detector, tracker, embedder, names, in_view: BTreeMap::new(), last }
    }

    /// Processes an image, `dt` seconds after the last one. Returns the faces in view, oldest first.
    ///
    /// Recognises at most one face per image, as that takes longer than detecting all of them.
    pub fn process(&mut self, image: &Image, dt: f32) -> Vec<Face> {
        let found = self.detector.detect(image);
        self.tracker.update(&found, dt);
        self.last.clone_from(image);
        self.wait(dt);
        self.recognise_one();
        self.faces()
    }

    /// Compensates for a rotation of the camera since the last image; see [`Tracker::compensate_rotation`].
    pub fn compensate_rotation(&mut self, by: [f32; 2], span: [f32; 2]) {
        self.tracker.compensate_rotation(by, span);
    }

    /// Extrapolates by `dt` seconds without an image. Returns the faces in view.
    pub fn predict(&mut self, dt: f32) -> Vec<Face> {
        self.tracker.predict(dt);
        self.wait(dt);
        self.faces()
    }

    /// Enrols a face in view, or the largest one if `id` is `None`, under a name. Returns its id.
    pub fn enrol(&mut self, id: Option<u64>, name: &str) -> Result<u64, FacesError> {
        let area = |tracked: &&TrackedFace| tracked.face.width * tracked.face.height;
        let faces = self.tracker.faces().iter();
        let tracked = match id {
            Some(id) => faces.clone().find(|tracked| tracked.id == id),
            None => faces.max_by(|a, b| area(a).total_cmp(&area(b)).then(b.id.cmp(&a.id))),
        };
        let tracked = tracked.ok_or(FacesError::NoFace { id })?;
        let embedding = self.embedder.embed(&self.last, &tracked.face)?;
        self.names.enrol(name, &embedding)?;
        let recognition = Recognition { name: name.into(), wait: KNOWN_INTERVAL, misses: 0 };
        self.in_view.insert(tracked.id, recognition);
        // other faces may belong to the same person, or may have been mistaken for them
        for (_, other) in self.in_view.iter_mut().filter(|(id, _)| **id != tracked.id) {
            other.wait = 0.0;
        }
        Ok(tracked.id)
    }

    /// Removes a name, also from faces in view. Returns whether it was known.
    pub fn forget(&mut self, name: &str) -> bool {
        for recognition in self.in_view.values_mut().filter(|other| other.name == name) {
            *recognition = Recognition::default();
        }
        self.names.forget(name)
    }

    /// The known names.
    pub fn names(&self) -> &Names {
        &self.names
    }

    fn wait(&mut self, dt: f32) {
        let faces = self.tracker.faces();
        self.in_view.retain(|id, _| faces.iter().any(|tracked| tracked.id == *id));
        for tracked in faces {
            let recognition = self.in_view.entry(tracked.id).or_default();
            recognition.wait -= dt.max(0.0);
        }
    }

    /// Recognises the face that has waited longest, of those detected in the last image.
    fn recognise_one(&mut self) {
        let wait = |tracked: &TrackedFace| self.in_view.get(&tracked.id).map_or(0.0, |other| other.wait);
        let faces = self.tracker.faces().iter().filter(|tracked| tracked.seen == 0.0 && wait(tracked) <= 0.0);
        let Some(tracked) = faces.min_by(|a, b| wait(a).total_cmp(&wait(b))) else { return };
        let recognition = self.in_view.entry(tracked.id).or_default();
        match self.embedder.embed(&self.last, &tracked.face) {
            Ok(embedding) => recognition.update(self.names.name_of(&embedding)),
            // does not count as a failed recognition
            Err(error) => tracing::warn!(%error, "face recognition failed"),
        }
        recognition.wait = if recognition.name.is_empty() { UNKNOWN_INTERVAL } else { KNOWN_INTERVAL };
    }

    fn faces(&self) -> Vec<Face> {
        let face = |tracked: &TrackedFace| Face {
            id: tracked.id,
            confidence: tracked.face.confidence,
            x: tracked.face.x,
            y: tracked.face.y,
            width: tracked.face.width,
            height: tracked.face.height,
            name: self.in_view.get(&tracked.id).map(|other| other.name.clone()).unwrap_or_default(),
        };
        self.tracker.faces().iter().map(face).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_dropped_after_two_consecutive_misses() {
        let mut one = Recognition::default();
        for (answer, expected) in [
            (None, ""),
            (Some("Ada"), "Ada"),
            (None, "Ada"),
            (Some("Ada"), "Ada"),
            (None, "Ada"),
            (Some("Bob"), "Bob"),
            (None, "Bob"),
            (None, ""),
            (None, ""),
            (Some("Ada"), "Ada"),
        ] {
            one.update(answer);
            assert_eq!(one.name, expected);
        }
    }
}
