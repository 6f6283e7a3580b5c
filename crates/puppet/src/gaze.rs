//! Where the robot looks: ahead, up, down, after a face, or away from all of them.
//!
//! Directions are angles from straight ahead of the trunk, in rad: to the robot's left and up are positive. The camera
//! moves with the head, so a face in the picture is where the head pointed when the picture was taken, and as far beside
//! that as the picture says.

use serde::{Deserialize, Serialize};

use crate::servo::{COUNT, Positions, SERVOS, place};

/// Travel of a servo, in rad.
pub(crate) fn travel(place: usize) -> f32 {
    SERVOS.get(place).map_or(1.0, |servo| servo.upper - servo.lower)
}

/// How far the neck turns for a look, of half its travel.
const REACH: f32 = 0.95;
/// Time in s in which the neck does two thirds of the way; the eyes are there before it.
const FOLLOW: f32 = 0.2;
/// How long a face that is no longer seen is looked at, in s.
const REMEMBER: f32 = 1.5;
/// How long the robot avoids a face that it no longer sees, in s.
const AVOID: f32 = 3.0;
/// Where it looks in order to avoid faces: so far to the other side, and down.
const AWAY: [f32; 2] = [0.8, -0.25];
/// How far up or down it looks when told to.
const UP_OR_DOWN: f32 = 0.4;

/// What to look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LookAt {
    /// Ahead.
    #[default]
    Forward,
    /// Down.
    Down,
    /// Up.
    Up,
    /// At the largest face, which is the closest.
    Largest,
    /// At the smallest one.
    Smallest,
    /// Not at any face.
    Away,
}

/// All modes; the place in the list is the number on the wire.
pub const LOOK_ATS: [LookAt; 6] =
    [LookAt::Forward, LookAt::Down, LookAt::Up, LookAt::Largest, LookAt::Smallest, LookAt::Away];

/// A direction: to the left and up, in rad.
pub(crate) type Direction = [f32; 2];

/// A face, as far as the gaze is concerned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Target {
    /// Where it is.
    pub(crate) direction: Direction,
    /// Its share of the picture.
    pub(crate) size: f32,
}

/// The gaze and its wish.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gaze {
    mode: LookAt,
    wanted: Direction,
    /// Where the neck is on its way.
    neck: Direction,
    /// Since faces were seen, in s.
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
        self.wanted = match mode {
            LookAt::Up => [0.0, UP_OR_DOWN],
            LookAt::Down => [0.0, -UP_OR_DOWN],
            LookAt::Forward | LookAt::Largest | LookAt::Smallest | LookAt::Away => [0.0, 0.0],
        };
    }

    /// Faces were looked for; these were found.
    pub(crate) fn see(&mut self, faces: &[Target]) {
        if faces.is_empty() {
            return;
        }
        let by_size = |a: &&Target, b: &&Target| a.size.total_cmp(&b.size);
        let largest = faces.iter().max_by(by_size);
        match self.mode {
            LookAt::Largest => self.wanted = largest.map_or(self.wanted, |face| face.direction),
            LookAt::Smallest => {
                self.wanted = faces.iter().min_by(by_size).map_or(self.wanted, |face| face.direction);
            }
            LookAt::Away => {
                let side = largest.map_or(0.0, |face| face.direction[0]);
                self.wanted = [if side >= 0.0 { -AWAY[0] } else { AWAY[0] }, AWAY[1]];
            }
            LookAt::Forward | LookAt::Down | LookAt::Up => {}
        }
        self.unseen = 0.0;
    }

    /// Lets time pass, and tells the offsets of neck and eyes.
    pub(crate) fn step(&mut self, dt: f32) -> Positions {
        self.unseen += dt;
        let memory = if self.mode == LookAt::Away { AVOID } else { REMEMBER };
        let follows = matches!(self.mode, LookAt::Largest | LookAt::Smallest | LookAt::Away);
        if follows && self.unseen > memory {
            self.wanted = [0.0, 0.0];
        }
        let part = 1.0 - (-dt / FOLLOW).exp();
        let reach = [travel(place::NECK_YAW) / 2.0 * REACH, travel(place::NECK_PITCH) / 2.0 * REACH];
        for ((neck, wanted), reach) in self.neck.iter_mut().zip(self.wanted).zip(reach) {
            *neck += (wanted.clamp(-reach, reach) - *neck) * part;
        }
        let [yaw, pitch] = self.neck;
        let [eye_yaw, eye_pitch] = [self.wanted[0] - yaw, self.wanted[1] - pitch];
        let mut offsets = [0.0; COUNT];
        offsets[place::NECK_YAW] = yaw / travel(place::NECK_YAW);
        offsets[place::NECK_PITCH] = pitch / travel(place::NECK_PITCH);
        offsets[place::EYE_YAW_LEFT] = (eye_yaw / travel(place::EYE_YAW_LEFT)).clamp(-0.45, 0.45);
        offsets[place::EYE_YAW_RIGHT] = offsets[place::EYE_YAW_LEFT];
        offsets[place::EYES_PITCH] = (eye_pitch / travel(place::EYES_PITCH)).clamp(-0.45, 0.45);
        offsets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: Target = Target { direction: [0.5, 0.1], size: 0.2 };
    const FAR: Target = Target { direction: [-0.4, 0.2], size: 0.01 };

    fn settled(mode: LookAt, faces: &[Target]) -> Positions {
        let mut gaze = Gaze::default();
        gaze.set_mode(mode);
        let step = |_| {
            gaze.see(faces);
            gaze.step(0.01)
        };
        (0..300).map(step).last().unwrap()
    }

    #[test]
    fn the_neck_points_where_the_mode_says() {
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
                offsets[place::NECK_YAW] * travel(place::NECK_YAW),
                offsets[place::NECK_PITCH] * travel(place::NECK_PITCH),
            ];
            assert!((found[0] - yaw).abs() < 0.01 && (found[1] - pitch).abs() < 0.01, "{mode:?}: {found:?}");
            assert!(offsets[place::EYE_YAW_LEFT].abs() < 0.01, "{mode:?}: the eyes have come to rest");
        }
    }

    #[test]
    fn the_eyes_are_there_before_the_neck() {
        let mut gaze = Gaze::default();
        gaze.set_mode(LookAt::Largest);
        gaze.see(&[NEAR]);
        let offsets = gaze.step(0.01);
        assert!(offsets[place::EYE_YAW_LEFT] > 0.4 && offsets[place::NECK_YAW] < 0.05);
        // a face that has gone is forgotten after a while
        let offsets = (0..500).map(|_| gaze.step(0.01)).last().unwrap();
        assert!(offsets[place::NECK_YAW].abs() < 0.01);
    }
}
