//! Gaze: where the robot looks.
//!
//! Directions are yaw and pitch relative to the trunk, in rad; positive to the robot's left and up. The camera moves with
//! the head, so the direction of a face is the head's direction when the image was taken plus the face's offset in it.

use serde::{Deserialize, Serialize};

use crate::servo::{COUNT, Positions, SERVOS, index};

/// Range of a servo, in rad.
pub(crate) fn travel(index: usize) -> f32 {
    SERVOS.get(index).map_or(1.0, |servo| servo.upper - servo.lower)
}

/// Largest deflection of the neck, as a fraction of half its travel.
const REACH: f32 = 0.95;
/// Time constant of the neck, in s; the eyes move at once.
const FOLLOW: f32 = 0.2;
/// How far a face may have moved between two images, in rad.
const SAME_FACE: f32 = 0.35;
/// How long a face is remembered that should be in view but is not, in s.
const REMEMBER: f32 = 1.0;
/// How long a face out of view is remembered, in s.
const REMEMBER_UNSEEN: f32 = 20.0;
/// Maximum number of faces that are remembered.
const MAX_FACES: usize = 16;
/// Field of view until the first image arrives, in rad.
const VIEW: [f32; 2] = [1.0, 0.75];
/// How far away from all faces the gaze turns, and stays, relative to the edge of its view.
const CLEAR: f32 = 1.3;
const STILL_CLEAR: f32 = 1.1;
/// Grid of the directions that are considered for turning away, in rad.
const YAW_STEP: f32 = 0.1;
const PITCHES: [f32; 3] = [-0.25, 0.0, 0.25];
/// Pitch for looking up or down, in rad.
const UP_OR_DOWN: f32 = 0.4;

/// Gaze mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LookAt {
    /// Straight ahead.
    #[default]
    Forward,
    /// Down.
    Down,
    /// Up.
    Up,
    /// At the largest face, taken to be the closest.
    Largest,
    /// At the smallest face.
    Smallest,
    /// Away from all faces.
    Away,
}

/// All modes, indexed by their number on the wire.
pub const LOOK_ATS: [LookAt; 6] =
    [LookAt::Forward, LookAt::Down, LookAt::Up, LookAt::Largest, LookAt::Smallest, LookAt::Away];

/// Yaw (positive to the left) and pitch (positive up), in rad.
pub(crate) type Direction = [f32; 2];

/// A face that the gaze may follow or avoid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FaceTarget {
    /// Relative to the trunk.
    pub(crate) direction: Direction,
    /// Area, as a fraction of the image.
    pub(crate) size: f32,
}

/// What the camera shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct View {
    /// Where it points, relative to the trunk.
    pub(crate) center: Direction,
    /// Horizontal and vertical field of view, in rad.
    pub(crate) span: [f32; 2],
    /// Whether it turns with the head.
    pub(crate) turns: bool,
}

impl Default for View {
    fn default() -> Self {
        Self { center: [0.0, 0.0], span: VIEW, turns: true }
    }
}

impl View {
    /// How far a direction is from another, relative to the edge of the view: less than 1 is within.
    fn distance(&self, from: Direction, to: Direction) -> f32 {
        let part = |axis: usize| (to[axis] - from[axis]).abs() / (self.span[axis] / 2.0).max(0.01);
        part(0).max(part(1))
    }
}

/// A face that was seen.
#[derive(Clone, Copy, Debug)]
struct KnownFace {
    target: FaceTarget,
    /// Time since it was seen, while it was in view and out of view, in s.
    unseen: [f32; 2],
}

/// State of the gaze.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gaze {
    mode: LookAt,
    target: Direction,
    /// Direction of the neck, which lags behind the target.
    neck: Direction,
    view: View,
    /// The faces seen lately, in view or not.
    faces: Vec<KnownFace>,
}

impl Gaze {
    pub(crate) fn mode(&self) -> LookAt {
        self.mode
    }

    pub(crate) fn set_mode(&mut self, mode: LookAt) {
        if mode == self.mode {
            return;
        }
        self.mode = mode;
        self.target = match mode {
            LookAt::Up => [0.0, UP_OR_DOWN],
            LookAt::Down => [0.0, -UP_OR_DOWN],
            LookAt::Forward | LookAt::Largest | LookAt::Smallest | LookAt::Away => [0.0, 0.0],
        };
        self.choose();
    }

    /// Takes the faces found in an image.
    pub(crate) fn see(&mut self, faces: &[FaceTarget], view: View) {
        self.view = view;
        let mut known = std::mem::take(&mut self.faces);
        for &target in faces {
            let distance = |face: &KnownFace| {
                let [yaw, pitch] = face.target.direction;
                (yaw - target.direction[0]).hypot(pitch - target.direction[1])
            };
            let nearest = (0..known.len()).min_by(|&a, &b| distance(&known[a]).total_cmp(&distance(&known[b])));
            if let Some(same) = nearest.filter(|&index| distance(&known[index]) < SAME_FACE) {
                known.remove(same);
            }
            self.faces.push(KnownFace { target, unseen: [0.0, 0.0] });
        }
        self.faces.append(&mut known);
        self.faces.truncate(MAX_FACES);
        self.choose();
    }

    /// Forgets faces that have gone, or that have not been in view for long.
    fn forget(&mut self, dt: f32) {
        let center = if self.view.turns { self.neck } else { self.view.center };
        let (view, before) = (self.view, self.faces.len());
        self.faces.retain_mut(|face| {
            let is_in_view = view.distance(center, face.target.direction) < 1.0;
            face.unseen[usize::from(!is_in_view)] += dt;
            face.unseen[0] < REMEMBER && face.unseen[1] < REMEMBER_UNSEEN
        });
        if self.faces.len() != before {
            self.choose();
        }
    }

    /// Chooses where to look in the modes that depend on faces.
    fn choose(&mut self) {
        let by_size = |a: &&KnownFace, b: &&KnownFace| a.target.size.total_cmp(&b.target.size);
        let followed = match self.mode {
            LookAt::Largest => self.faces.iter().max_by(by_size),
            LookAt::Smallest => self.faces.iter().min_by(by_size),
            LookAt::Away => return self.turn_away(),
            LookAt::Forward | LookAt::Down | LookAt::Up => return,
        };
        self.target = followed.map_or([0.0, 0.0], |face| face.target.direction);
    }

    /// Turns to a direction without faces, and stays there as long as none comes near.
    fn turn_away(&mut self) {
        let clearance = |direction: Direction| {
            let distances = self.faces.iter().map(|face| self.view.distance(direction, face.target.direction));
            distances.fold(CLEAR, f32::min)
        };
        if clearance(self.target) >= STILL_CLEAR {
            return;
        }
        let [reach, _] = reach();
        let steps = (reach / YAW_STEP) as i32;
        let candidates = (-steps..=steps).flat_map(|step| PITCHES.map(|pitch| [step as f32 * YAW_STEP, pitch]));
        // of the directions that are clear, the nearest one
        let score = |direction: Direction| {
            let turn = (direction[0] - self.target[0]).hypot(direction[1] - self.target[1]);
            clearance(direction) - 0.05 * turn
        };
        let best = candidates.max_by(|&a, &b| score(a).total_cmp(&score(b)));
        self.target = best.unwrap_or(self.target);
    }

    /// Advances by `dt` seconds and returns the offsets of neck and eyes.
    pub(crate) fn step(&mut self, dt: f32) -> Positions {
        self.forget(dt);
        let part = 1.0 - (-dt / FOLLOW).exp();
        for ((neck, target), reach) in self.neck.iter_mut().zip(self.target).zip(reach()) {
            *neck += (target.clamp(-reach, reach) - *neck) * part;
        }
        let [yaw, pitch] = self.neck;
        let [eye_yaw, eye_pitch] = [self.target[0] - yaw, self.target[1] - pitch];
        let mut offsets = [0.0; COUNT];
        offsets[index::NECK_YAW] = yaw / travel(index::NECK_YAW);
        offsets[index::NECK_PITCH] = pitch / travel(index::NECK_PITCH);
        offsets[index::EYE_YAW_LEFT] = (eye_yaw / travel(index::EYE_YAW_LEFT)).clamp(-0.45, 0.45);
        offsets[index::EYE_YAW_RIGHT] = offsets[index::EYE_YAW_LEFT];
        offsets[index::EYES_PITCH] = (eye_pitch / travel(index::EYES_PITCH)).clamp(-0.45, 0.45);
        offsets
    }
}

/// Largest deflection of the neck, in rad.
fn reach() -> Direction {
    [index::NECK_YAW, index::NECK_PITCH].map(|servo| travel(servo) / 2.0 * REACH)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: FaceTarget = FaceTarget { direction: [0.45, 0.1], size: 0.2 };
    const FAR: FaceTarget = FaceTarget { direction: [-0.4, 0.2], size: 0.01 };
    const AHEAD: FaceTarget = FaceTarget { direction: [0.0, 0.0], size: 0.1 };

    /// People around a robot whose camera turns with its head, 30 images a second.
    struct Room {
        gaze: Gaze,
        people: Vec<FaceTarget>,
    }

    impl Room {
        fn new(mode: LookAt, people: &[FaceTarget]) -> Self {
            let mut gaze = Gaze::default();
            gaze.set_mode(mode);
            Self { gaze, people: people.to_vec() }
        }

        fn in_view(&self) -> Vec<FaceTarget> {
            let is_in_view = |face: &&FaceTarget| self.gaze.view.distance(self.gaze.neck, face.direction) < 1.0;
            self.people.iter().filter(is_in_view).copied().collect()
        }

        /// Lets time pass; returns the images with faces, and how often the gaze has changed its target.
        fn pass(&mut self, seconds: usize) -> (usize, usize) {
            let (mut with_faces, mut changes) = (0, 0);
            for _ in 0..seconds * 30 {
                let (faces, before) = (self.in_view(), self.gaze.target);
                with_faces += usize::from(!faces.is_empty());
                self.gaze.see(&faces, View { center: self.gaze.neck, ..View::default() });
                changes += usize::from(self.gaze.target != before);
                for _ in 0..3 {
                    self.gaze.step(1.0 / 90.0);
                }
            }
            (with_faces, changes)
        }

        fn neck(&self) -> Direction {
            self.gaze.neck
        }
    }

    #[test]
    fn each_mode_points_the_neck() {
        let both = [FAR, NEAR];
        for (mode, faces, [yaw, pitch]) in [
            (LookAt::Forward, &both[..], [0.0, 0.0]),
            (LookAt::Up, &both, [0.0, UP_OR_DOWN]),
            (LookAt::Down, &both, [0.0, -UP_OR_DOWN]),
            (LookAt::Largest, &both, [0.45, 0.1]),
            (LookAt::Smallest, &both, [-0.4, 0.2]),
            (LookAt::Away, &[], [0.0, 0.0]),
            (LookAt::Largest, &[], [0.0, 0.0]),
        ] {
            let mut room = Room::new(mode, faces);
            room.pass(3);
            let found = room.neck();
            assert!((found[0] - yaw).abs() < 0.01 && (found[1] - pitch).abs() < 0.01, "{mode:?}: {found:?}");
        }
    }

    #[test]
    fn it_looks_away_from_all_faces_and_stays_there() {
        for people in [&[AHEAD][..], &[NEAR], &[FAR], &[FAR, NEAR], &[AHEAD, NEAR]] {
            let mut room = Room::new(LookAt::Away, people);
            room.pass(2);
            let (with_faces, changes) = room.pass(30);
            assert_eq!((with_faces, changes), (0, 0), "{people:?}: {:?}", room.neck());
            // one more comes to where it looks
            room.people.push(FaceTarget { direction: room.neck(), size: 0.1 });
            let (with_faces, changes) = room.pass(5);
            assert!(with_faces < 45 && changes <= 4, "{with_faces} images with faces, {changes} changes");
        }
    }

    #[test]
    fn a_face_out_of_view_is_remembered() {
        // from the larger one, the smaller one cannot be seen
        let (large, small) = (NEAR, FaceTarget { direction: [-0.45, 0.0], ..FAR });
        let mut room = Room::new(LookAt::Largest, &[large, small]);
        room.pass(3);
        assert!(!room.in_view().contains(&small));
        room.gaze.set_mode(LookAt::Smallest);
        room.pass(3);
        assert!((room.neck()[0] + 0.45).abs() < 0.01, "{:?}", room.neck());
    }

    #[test]
    fn the_eyes_lead_the_neck() {
        let mut gaze = Gaze::default();
        gaze.set_mode(LookAt::Largest);
        gaze.see(&[NEAR], View::default());
        let offsets = gaze.step(0.01);
        assert!(offsets[index::EYE_YAW_LEFT] > 0.35 && offsets[index::NECK_YAW] < 0.05);
        // a face that has gone is forgotten after a while
        let offsets = (0..500).map(|_| gaze.step(0.01)).last().unwrap();
        assert!(offsets[index::NECK_YAW].abs() < 0.01);
    }
}
