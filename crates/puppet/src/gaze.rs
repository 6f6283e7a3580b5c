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
/// How long the gaze stays on a face that has disappeared, in s.
const REMEMBER: f32 = 1.5;
/// How long the gaze avoids a face that has disappeared, in s.
const AVOID: f32 = 3.0;
/// Direction for avoiding faces: yaw away from the face, and pitch, in rad.
const AWAY: [f32; 2] = [0.8, -0.25];
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

/// State of the gaze.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gaze {
    mode: LookAt,
    target: Direction,
    /// Direction of the neck, which lags behind the target.
    neck: Direction,
    /// Time since a face was last seen, in s.
    unseen: f32,
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
    }

    /// Takes the faces found in an image.
    pub(crate) fn see(&mut self, faces: &[FaceTarget]) {
        if faces.is_empty() {
            return;
        }
        let by_size = |a: &&FaceTarget, b: &&FaceTarget| a.size.total_cmp(&b.size);
        let largest = faces.iter().max_by(by_size);
        match self.mode {
            LookAt::Largest => self.target = largest.map_or(self.target, |face| face.direction),
            LookAt::Smallest => {
                self.target = faces.iter().min_by(by_size).map_or(self.target, |face| face.direction);
            }
            LookAt::Away => {
                let side = largest.map_or(0.0, |face| face.direction[0]);
                self.target = [if side >= 0.0 { -AWAY[0] } else { AWAY[0] }, AWAY[1]];
            }
            LookAt::Forward | LookAt::Down | LookAt::Up => {}
        }
        self.unseen = 0.0;
    }

    /// Advances by `dt` seconds and returns the offsets of neck and eyes.
    pub(crate) fn step(&mut self, dt: f32) -> Positions {
        self.unseen += dt;
        let memory = if self.mode == LookAt::Away { AVOID } else { REMEMBER };
        let follows = matches!(self.mode, LookAt::Largest | LookAt::Smallest | LookAt::Away);
        if follows && self.unseen > memory {
            self.target = [0.0, 0.0];
        }
        let part = 1.0 - (-dt / FOLLOW).exp();
        let reach = [travel(index::NECK_YAW) / 2.0 * REACH, travel(index::NECK_PITCH) / 2.0 * REACH];
        for ((neck, target), reach) in self.neck.iter_mut().zip(self.target).zip(reach) {
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

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: FaceTarget = FaceTarget { direction: [0.5, 0.1], size: 0.2 };
    const FAR: FaceTarget = FaceTarget { direction: [-0.4, 0.2], size: 0.01 };

    fn settled(mode: LookAt, faces: &[FaceTarget]) -> Positions {
        let mut gaze = Gaze::default();
        gaze.set_mode(mode);
        let step = |_| {
            gaze.see(faces);
            gaze.step(0.01)
        };
        (0..300).map(step).last().unwrap()
    }

    #[test]
    fn each_mode_points_the_neck() {
        let both = [FAR, NEAR];
        for (mode, faces, yaw, pitch) in [
            (LookAt::Forward, &both[..], 0.0, 0.0),
            (LookAt::Up, &both, 0.0, UP_OR_DOWN),
            (LookAt::Down, &both, 0.0, -UP_OR_DOWN),
            (LookAt::Largest, &both, 0.5, 0.1),
            (LookAt::Smallest, &both, -0.4, 0.2),
            (LookAt::Away, &both, -0.8, -0.25),
            (LookAt::Away, &[FAR], 0.8, -0.25),
            (LookAt::Away, &[], 0.0, 0.0),
            (LookAt::Largest, &[], 0.0, 0.0),
        ] {
            let offsets = settled(mode, faces);
            let found = [
                offsets[index::NECK_YAW] * travel(index::NECK_YAW),
                offsets[index::NECK_PITCH] * travel(index::NECK_PITCH),
            ];
            assert!((found[0] - yaw).abs() < 0.01 && (found[1] - pitch).abs() < 0.01, "{mode:?}: {found:?}");
            assert!(offsets[index::EYE_YAW_LEFT].abs() < 0.01, "{mode:?}: the eyes are centred");
        }
    }

    #[test]
    fn the_eyes_lead_the_neck() {
        let mut gaze = Gaze::default();
        gaze.set_mode(LookAt::Largest);
        gaze.see(&[NEAR]);
        let offsets = gaze.step(0.01);
        assert!(offsets[index::EYE_YAW_LEFT] > 0.4 && offsets[index::NECK_YAW] < 0.05);
        // a face that has disappeared is forgotten after a while
        let offsets = (0..500).map(|_| gaze.step(0.01)).last().unwrap();
        assert!(offsets[index::NECK_YAW].abs() < 0.01);
    }
}
