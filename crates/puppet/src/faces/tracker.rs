//! Tracks faces across images.
//!
//! Tracks are extrapolated with their last velocity, and greedily assigned to the detections that match best. Tracking is
//! deterministic.

use super::boxes::overlap;
use super::{FaceDetection, MAX_FACES};

/// Number of detections after which a face is reported.
const HITS_TO_SHOW: u32 = 2;
/// Time without a detection after which a track is dropped, in s.
const MAX_UNSEEN: f32 = 0.5;
/// Maximum time between two images, in s; longer times are clamped.
const MAX_STEP: f32 = 1.0;
/// Maximum distance between prediction and detection, in mean box widths.
const REACH: f32 = 0.8;
/// Maximum ratio of the box widths of prediction and detection.
const GROWTH: f32 = 2.0;
/// Gains of the position and velocity correction.
const POSITION_GAIN: f32 = 0.6;
const VELOCITY_GAIN: f32 = 0.25;
/// Gain of the size correction; sizes change slowly.
const SIZE_GAIN: f32 = 0.3;
/// Fraction of the velocity that remains after one second.
const VELOCITY_DECAY: f32 = 0.3;

/// A tracked face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrackedFace {
    /// Unique identity, from 1.
    pub id: u64,
    /// The face with smoothed position and size. Eyes and mouth are `None` unless it was detected in the last image.
    pub face: FaceDetection,
    /// Time since the last detection, in s; 0 if it was detected in the last image.
    pub seen: f32,
}

#[derive(Clone, Copy, Debug)]
struct Track {
    tracked: TrackedFace,
    /// Velocity of the centre, in half image sizes per second.
    velocity: [f32; 2],
    hits: u32,
}

/// Tracks faces across images.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    tracks: Vec<Track>,
    shown: Vec<TrackedFace>,
    last_id: u64,
}

impl Tracker {
    /// A tracker without faces.
    pub fn new() -> Tracker {
        Tracker::default()
    }

    /// Takes the detections of an image, `dt` seconds after the last one. Returns the tracked faces, oldest first.
    pub fn update(&mut self, found: &[FaceDetection], dt: f32) -> &[TrackedFace] {
        let dt = step(dt);
        self.advance(dt);
        let found: Vec<FaceDetection> = found.iter().filter(|face| is_valid(face)).take(MAX_FACES).copied().collect();
        let assignment = assign(&self.tracks, &found);
        for (track, found) in self.tracks.iter_mut().zip(&assignment.by_track) {
            match found {
                Some(found) => track.correct(found, dt),
                // a single detection may have been false
                None if track.hits < HITS_TO_SHOW => track.tracked.seen = f32::INFINITY,
                None => {}
            }
        }
        self.tracks.retain(|track| track.tracked.seen <= MAX_UNSEEN);
        for (face, _) in found.iter().zip(&assignment.taken).filter(|(_, taken)| !**taken) {
            if self.tracks.len() < MAX_FACES {
                self.last_id += 1;
                let tracked = TrackedFace { id: self.last_id, face: *face, seen: 0.0 };
                self.tracks.push(Track { tracked, velocity: [0.0; 2], hits: 1 });
            }
        }
        self.show()
    }

    /// Extrapolates by `dt` seconds without an image. Returns the tracked faces.
    pub fn predict(&mut self, dt: f32) -> &[TrackedFace] {
        self.advance(step(dt));
        self.tracks.retain(|track| track.tracked.seen <= MAX_UNSEEN);
        self.show()
    }

    /// Compensates for a rotation of the camera since the last image: `by` is yaw and pitch (positive to the left and up),
    /// `span` the horizontal and vertical field of view, all in rad. Tracks that leave the image are dropped.
    pub fn compensate_rotation(&mut self, by: [f32; 2], span: [f32; 2]) {
        let moved = |position: f32, by: f32, span: f32| {
            let edge = (span / 2.0).tan();
            ((position * edge).atan() + by).tan() / edge
        };
        for Track { tracked: TrackedFace { face, .. }, .. } in &mut self.tracks {
            (face.x, face.y) = (moved(face.x, by[0], span[0]), moved(face.y, by[1], span[1]));
        }
        // also drops NaN
        self.tracks.retain(|track| track.tracked.face.x.abs() <= 1.0 && track.tracked.face.y.abs() <= 1.0);
    }

    /// The tracked faces, oldest first.
    pub fn faces(&self) -> &[TrackedFace] {
        &self.shown
    }

    fn advance(&mut self, dt: f32) {
        for Track { tracked, velocity, .. } in &mut self.tracks {
            tracked.seen += dt;
            tracked.face.x = (tracked.face.x + velocity[0] * dt).clamp(-1.0, 1.0);
            tracked.face.y = (tracked.face.y + velocity[1] * dt).clamp(-1.0, 1.0);
            *velocity = velocity.map(|velocity| velocity * VELOCITY_DECAY.powf(dt));
            if dt > 0.0 {
                (tracked.face.eyes, tracked.face.mouth) = (None, None);
            }
        }
    }

    fn show(&mut self) -> &[TrackedFace] {
        self.shown.clear();
        self.shown.extend(self.tracks.iter().filter(|track| track.hits >= HITS_TO_SHOW).map(|track| track.tracked));
        &self.shown
    }
}

impl Track {
    fn correct(&mut self, found: &FaceDetection, dt: f32) {
        let face = &mut self.tracked.face;
        // time since the last detection, including the last step
        let passed = self.tracked.seen.max(dt);
        let off = [found.x - face.x, found.y - face.y];
        // the velocity is known from the second detection on
        let gain = if self.hits == 1 { 1.0 } else { VELOCITY_GAIN };
        if passed > 0.0 {
            for (velocity, off) in self.velocity.iter_mut().zip(off) {
                *velocity += gain * off / passed;
            }
        }
        face.x += POSITION_GAIN * off[0];
        face.y += POSITION_GAIN * off[1];
        face.width += SIZE_GAIN * (found.width - face.width);
        face.height += SIZE_GAIN * (found.height - face.height);
        face.confidence = found.confidence;
        (face.eyes, face.mouth) = (found.eyes, found.mouth);
        self.tracked.seen = 0.0;
        self.hits = self.hits.saturating_add(1);
    }
}

/// Assignment of detections to tracks.
struct Assignment {
    by_track: Vec<Option<FaceDetection>>,
    taken: Vec<bool>,
}

fn assign(tracks: &[Track], found: &[FaceDetection]) -> Assignment {
    let mut candidates = Vec::new();
    for (track_index, track) in tracks.iter().enumerate() {
        for (face_index, face) in found.iter().enumerate() {
            if let Some(fit) = fit(&track.tracked.face, face) {
                candidates.push((fit, track_index, face_index));
            }
        }
    }
    // ties are broken in favour of older tracks and more certain detections
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut assignment = Assignment { by_track: vec![None; tracks.len()], taken: vec![false; found.len()] };
    for (_, track, face) in candidates {
        if assignment.by_track[track].is_none() && !assignment.taken[face] {
            assignment.by_track[track] = Some(found[face]);
            assignment.taken[face] = true;
        }
    }
    assignment
}

/// How well a detection matches a prediction; higher is better. `None` if they cannot be the same face.
fn fit(expected: &FaceDetection, face: &FaceDetection) -> Option<f32> {
    let (width, height) = ((expected.width + face.width) / 2.0, (expected.height + face.height) / 2.0);
    let ratio = expected.width / face.width;
    if !(1.0 / GROWTH..=GROWTH).contains(&ratio) {
        return None;
    }
    // positions are relative to half the image size, widths and heights to the whole
    let distance = ((face.x - expected.x) / (2.0 * width)).hypot((face.y - expected.y) / (2.0 * height));
    (distance <= REACH).then(|| overlap(edges(expected), edges(face)) - distance)
}

fn edges(face: &FaceDetection) -> [f32; 4] {
    [face.x - face.width, face.y - face.height, face.x + face.width, face.y + face.height]
}

fn is_valid(face: &FaceDetection) -> bool {
    let finite = [face.confidence, face.x, face.y, face.width, face.height].iter().all(|number| number.is_finite());
    finite && face.width > 0.0 && face.height > 0.0
}

fn step(dt: f32) -> f32 {
    if dt.is_finite() { dt.clamp(0.0, MAX_STEP) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DT: f32 = 1.0 / 30.0;

    fn face(x: f32, y: f32, width: f32) -> FaceDetection {
        let eyes = Some([[x - 1.0, y], [x + 1.0, y]]);
        FaceDetection { confidence: 0.9, x, y, width, height: width * 4.0 / 3.0, eyes, mouth: Some([x, y]) }
    }

    fn ids(tracked: &[TrackedFace]) -> Vec<u64> {
        tracked.iter().map(|tracked| tracked.id).collect()
    }

    #[test]
    fn a_face_is_shown_when_it_is_found_again() {
        let mut tracker = Tracker::new();
        assert!(tracker.update(&[face(0.0, 0.0, 0.2)], DT).is_empty());
        assert_eq!(ids(tracker.update(&[face(0.01, 0.0, 0.2)], DT)), [1]);
        // a single detection elsewhere is not a face
        assert_eq!(ids(tracker.update(&[face(0.02, 0.0, 0.2), face(0.8, 0.8, 0.1)], DT)), [1]);
        assert_eq!(ids(tracker.update(&[face(0.03, 0.0, 0.2)], DT)), [1]);
        assert_eq!(ids(tracker.update(&[face(0.03, 0.0, 0.2), face(0.8, 0.8, 0.1)], DT)), [1]);
        assert_eq!(ids(tracker.update(&[face(0.03, 0.0, 0.2), face(0.8, 0.8, 0.1)], DT)), [1, 3]);
    }

    #[test]
    fn a_still_face_keeps_its_identity_while_the_head_turns() {
        let (span, mut tracker) = ([1.07_f32, 0.84], Tracker::new());
        let at = |yaw: f32| (0.4 - yaw).tan() / -(span[0] / 2.0).tan();
        let mut yaw = 0.0;
        // to where it is within a fifth of a second
        for picture in 0..20 {
            let before = std::mem::replace(&mut yaw, (picture as f32 * 0.07).min(0.4));
            tracker.compensate_rotation([yaw - before, 0.0], span);
            let tracked = tracker.update(&[face(at(yaw), 0.0, 0.09)], DT);
            assert!(picture == 0 || (ids(tracked) == [1] && (tracked[0].face.x - at(yaw)).abs() < 0.01), "{picture}");
        }
        // tracks outside the image or at NaN are dropped
        tracker.compensate_rotation([1.0, 0.0], span);
        assert_eq!(tracker.update(&[], DT), []);
        tracker.update(&[face(0.0, 0.0, 0.2)], DT);
        tracker.compensate_rotation([f32::NAN, 0.0], span);
        assert_eq!(tracker.update(&[face(0.0, 0.0, 0.2)], DT), []);
    }

    #[test]
    fn tracks_survive_short_gaps() {
        for (gap, stays) in [(1, true), (7, true), (13, true), (17, false)] {
            let mut tracker = Tracker::new();
            // moves by the image width in four seconds
            let at = |frame: usize| face(-0.6 + 0.5 * DT * frame as f32, 0.1, 0.15);
            for frame in 0..30 {
                tracker.update(&[at(frame)], DT);
            }
            for _ in 0..gap {
                tracker.update(&[], DT);
            }
            assert_eq!(tracker.faces().is_empty(), !stays, "{gap} pictures without");
            let expected = at(29 + gap);
            if let [tracked] = tracker.faces() {
                assert!((tracked.face.x - expected.x).abs() < 0.08, "{} is not near {}", tracked.face.x, expected.x);
                assert!((tracked.seen - gap as f32 * DT).abs() < 1e-3);
                assert_eq!(tracked.face.eyes, None);
            }
            tracker.update(&[at(30 + gap)], DT);
            tracker.update(&[at(31 + gap)], DT);
            assert_eq!(ids(tracker.faces()), [if stays { 1 } else { 2 }], "after {gap} pictures without");
            assert_eq!(tracker.faces()[0].seen, 0.0);
            assert_eq!(tracker.faces()[0].face.eyes, at(31 + gap).eyes);
        }
    }

    #[test]
    fn faces_keep_their_identities_when_they_cross() {
        // two that walk past each other, the nearer one hiding the other for a while
        for (hidden, offset) in [(0.0, 0.0), (0.12, 0.0), (0.12, 0.1), (0.2, 0.05)] {
            let mut tracker = Tracker::new();
            for frame in 0..90 {
                let x = -0.9 + 0.6 * DT * frame as f32;
                let (near, far) = (face(x, 0.0, 0.2), face(-x, offset, 0.16));
                let found = if (near.x - far.x).abs() < hidden { vec![near] } else { vec![far, near] };
                tracker.update(&found, DT);
            }
            let x = -0.9 + 0.6 * DT * 89.0;
            let of = |id| tracker.faces().iter().find(|tracked| tracked.id == id).map(|tracked| tracked.face);
            let (far, near) = (of(1).unwrap(), of(2).unwrap());
            assert_eq!(tracker.faces().len(), 2, "hidden within {hidden}");
            assert!((near.x - x).abs() < 0.1 && (far.x + x).abs() < 0.1, "hidden within {hidden}: {near:?} {far:?}");
        }
    }

    #[test]
    fn predictions_extrapolate_the_motion() {
        let mut tracker = Tracker::new();
        let at = |time: f32| face(-0.5 + 0.6 * time, 0.2 * time, 0.2);
        // ten detections and thirty predictions per second
        for index in 0..12 {
            let time = 0.1 * index as f32;
            tracker.update(&[at(time)], DT);
            for part in [1.0, 2.0] {
                let time = time + part * DT;
                let faces = tracker.predict(DT);
                if index > 6 {
                    let (is, wanted) = (faces[0].face, at(time));
                    assert!((is.x - wanted.x).abs() < 0.03 && (is.y - wanted.y).abs() < 0.03, "{is:?} at {time}");
                    assert!((faces[0].seen - part * DT).abs() < 1e-5);
                }
            }
        }
        assert_eq!(ids(tracker.faces()), [1]);
        assert!(tracker.predict(0.6).is_empty());
    }

    #[test]
    fn a_jump_starts_another_track() {
        let mut tracker = Tracker::new();
        for x in [0.0, 0.0, 0.7, 0.7] {
            tracker.update(&[face(x, 0.0, 0.1)], DT);
        }
        assert_eq!(ids(tracker.faces()), [1, 2]);
        let mut tracker = Tracker::new();
        for width in [0.1, 0.1, 0.4, 0.4] {
            tracker.update(&[face(0.0, 0.0, width)], DT);
        }
        assert_eq!(ids(tracker.faces()), [1, 2], "too large at once");
    }

    #[test]
    fn jitter_is_smoothed() {
        let mut tracker = Tracker::new();
        let (mut most, mut least) = (f32::MIN, f32::MAX);
        for frame in 0..60 {
            let off = if frame % 2 == 0 { 0.01 } else { -0.01 };
            let tracked = tracker.update(&[face(off, 0.0, 0.2 + off)], DT);
            if frame > 30 {
                (most, least) = (most.max(tracked[0].face.width), least.min(tracked[0].face.width));
            }
        }
        assert!(most - least < 0.01, "{least} to {most}");
    }

    #[test]
    fn detections_are_limited_and_validated() {
        let crowd: Vec<FaceDetection> = (0..40).map(|index| face(-0.95 + 0.048 * index as f32, 0.0, 0.02)).collect();
        let mut tracker = Tracker::new();
        for _ in 0..3 {
            tracker.update(&crowd, DT);
        }
        assert_eq!(tracker.faces().len(), MAX_FACES);
        let strange =
            [face(f32::NAN, 0.0, 0.1), face(0.0, f32::INFINITY, 0.1), face(0.0, 0.0, 0.0), face(0.0, 0.0, -1.0)];
        for dt in [DT, f32::NAN, -1.0, f32::INFINITY, 0.0] {
            let mut tracker = Tracker::new();
            tracker.update(&strange, dt);
            assert!(tracker.update(&strange, dt).is_empty());
            tracker.update(&[face(0.0, 0.0, 0.1)], dt);
            let faces = tracker.update(&[face(0.01, 0.0, 0.1)], dt).to_vec();
            assert!(faces.len() == 1 && is_valid(&faces[0].face), "{dt}: {faces:?}");
        }
    }
}
