//! Watches the camera's pictures: finds, follows and names the faces in them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Detector, Embedder, FacesError, Names, Tracked, Tracker};
use crate::camera::Image;

/// A face without a name is asked for it again after so many seconds.
const UNNAMED_AGAIN: f32 = 1.0;
/// A face with a name is asked for it again after so many seconds, as two faces may have been taken for one another.
const NAMED_AGAIN: f32 = 5.0;

/// A face loses its name when it was asked for it so many times in a row and was nobody known.
const MAX_MISSES: u32 = 2;

/// A face in view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Face {
    /// Its identity, as long as it is in view.
    pub id: u64,
    /// How certain it is that this is a face, 0 to 1.
    pub confidence: f32,
    /// Centre of its box, -1 at the left edge to 1 at the right edge of the picture.
    pub x: f32,
    /// Centre of its box, -1 at the upper edge to 1 at the lower edge of the picture.
    pub y: f32,
    /// Width of its box, as a part of the picture's, 0 to 1.
    pub width: f32,
    /// Height of its box, as a part of the picture's, 0 to 1.
    pub height: f32,
    /// Its name, empty if it is not known.
    pub name: String,
}

/// What is known of one who is in view.
#[derive(Clone, Debug, Default)]
struct Acquaintance {
    name: String,
    /// Seconds until it is asked for its name again.
    wait: f32,
    /// How often in a row it was nobody known.
    misses: u32,
}

impl Acquaintance {
    /// It was asked for its name: who it is, if that is somebody known.
    fn answered(&mut self, name: Option<&str>) {
        self.misses = if name.is_some() { 0 } else { self.misses.saturating_add(1) };
        match name {
            Some(name) => name.clone_into(&mut self.name),
            // one picture may be a bad one
            None if self.misses >= MAX_MISSES => self.name.clear(),
            None => {}
        }
    }
}

/// Finds, follows and names faces.
#[derive(Debug)]
pub struct Watcher {
    detector: Detector,
    tracker: Tracker,
    embedder: Embedder,
    names: Names,
    in_view: BTreeMap<u64, Acquaintance>,
    /// The last picture, for naming a face in it.
    last: Image,
}

impl Watcher {
    /// Reads the networks from the folder that `scripts/fetch-puppet faces` gives. `names` are those known so far.
    pub fn load(folder: &Path, names: Names) -> Result<Watcher, FacesError> {
        Ok(Watcher::new(Detector::load(folder)?, Embedder::load(folder)?, names))
    }

    /// A watcher that has seen nothing yet.
    pub fn new(detector: Detector, embedder: Embedder, names: Names) -> Watcher {
        let (tracker, last) = (Tracker::new(), Image::new(1, 1));
        Watcher { detector, tracker, embedder, names, in_view: BTreeMap::new(), last }
    }

    /// Looks at a picture, `dt` seconds after the last one. Gives the faces in view, who came first first.
    ///
    /// One face at most is asked for its name in each picture, as that takes longer than finding all of them.
    pub fn look(&mut self, image: &Image, dt: f32) -> Vec<Face> {
        let found = self.detector.detect(image);
        self.tracker.update(&found, dt);
        self.last.clone_from(image);
        self.wait(dt);
        self.ask();
        self.faces()
    }

    /// The camera has turned since the last picture, by so much to the left and up, with pictures that span so much, all in
    /// rad: see [`Tracker::turned`].
    pub fn turned(&mut self, by: [f32; 2], span: [f32; 2]) {
        self.tracker.turned(by, span);
    }

    /// Goes on for `dt` seconds without a picture: where the faces in view are expected to be now.
    pub fn predict(&mut self, dt: f32) -> Vec<Face> {
        self.tracker.predict(dt);
        self.wait(dt);
        self.faces()
    }

    /// Gives a face in view a name, the largest face if none is said, and says which one it was.
    pub fn enrol(&mut self, id: Option<u64>, name: &str) -> Result<u64, FacesError> {
        let area = |tracked: &&Tracked| tracked.face.width * tracked.face.height;
        let faces = self.tracker.faces().iter();
        let tracked = match id {
            Some(id) => faces.clone().find(|tracked| tracked.id == id),
            None => faces.max_by(|a, b| area(a).total_cmp(&area(b)).then(b.id.cmp(&a.id))),
        };
        let tracked = tracked.ok_or(FacesError::NoFace { id })?;
        let embedding = self.embedder.embed(&self.last, &tracked.face)?;
        self.names.enrol(name, &embedding)?;
        let acquaintance = Acquaintance { name: name.into(), wait: NAMED_AGAIN, misses: 0 };
        self.in_view.insert(tracked.id, acquaintance);
        // others may be the same one, or may have been taken for it
        for (_, other) in self.in_view.iter_mut().filter(|(id, _)| **id != tracked.id) {
            other.wait = 0.0;
        }
        Ok(tracked.id)
    }

    /// Forgets a name with all its faces, also those in view; says whether it was there.
    pub fn forget(&mut self, name: &str) -> bool {
        for acquaintance in self.in_view.values_mut().filter(|other| other.name == name) {
            *acquaintance = Acquaintance::default();
        }
        self.names.forget(name)
    }

    /// The names known so far, to be saved.
    pub fn names(&self) -> &Names {
        &self.names
    }

    fn wait(&mut self, dt: f32) {
        let faces = self.tracker.faces();
        self.in_view.retain(|id, _| faces.iter().any(|tracked| tracked.id == *id));
        for tracked in faces {
            let acquaintance = self.in_view.entry(tracked.id).or_default();
            acquaintance.wait -= dt.max(0.0);
        }
    }

    /// Asks for the name of the one that waits longest and was found in the last picture.
    fn ask(&mut self) {
        let wait = |tracked: &Tracked| self.in_view.get(&tracked.id).map_or(0.0, |other| other.wait);
        let faces = self.tracker.faces().iter().filter(|tracked| tracked.seen == 0.0 && wait(tracked) <= 0.0);
        let Some(tracked) = faces.min_by(|a, b| wait(a).total_cmp(&wait(b))) else { return };
        let acquaintance = self.in_view.entry(tracked.id).or_default();
        match self.embedder.embed(&self.last, &tracked.face) {
            Ok(embedding) => acquaintance.answered(self.names.name_of(&embedding)),
            // that says nothing about who it is
            Err(error) => tracing::warn!(%error, "a face cannot be asked for its name"),
        }
        acquaintance.wait = if acquaintance.name.is_empty() { UNNAMED_AGAIN } else { NAMED_AGAIN };
    }

    fn faces(&self) -> Vec<Face> {
        let face = |tracked: &Tracked| Face {
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
    fn a_name_is_taken_back_after_two_misses_in_a_row() {
        let mut one = Acquaintance::default();
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
            one.answered(answer);
            assert_eq!(one.name, expected);
        }
    }
}
