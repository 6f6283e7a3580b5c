//! Motion that needs no operator: a wandering head, wandering eyes, a lively face, blinking.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::servo::{Positions, place};

/// Shortest and longest time between two places, in s.
const PAUSE: (f32, f32) = (0.5, 2.5);
/// Longest that lids take for a blink, in s.
const BLINK: f32 = 0.16;
/// Most blinks a second.
pub(crate) const MAX_BLINKS: f32 = 10.0;

/// Servos that move together, and how far from where they would be.
type Group = &'static [(&'static [usize], f32)];

/// What wanders at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Head,
    Eyes,
    Face,
}

impl Part {
    fn groups(self) -> Group {
        match self {
            Self::Head => &[(&[place::NECK_YAW], 0.25), (&[place::NECK_ROLL], 0.12), (&[place::NECK_PITCH], 0.15)],
            Self::Eyes => &[(&[place::EYE_YAW_LEFT, place::EYE_YAW_RIGHT], 0.4), (&[place::EYES_PITCH], 0.3)],
            Self::Face => &[(&[place::BROWS], 0.35), (&[place::SMILE_LEFT, place::SMILE_RIGHT], 0.35)],
        }
    }

    /// How long it takes from one place to the next, in s.
    fn travel(self) -> f32 {
        match self {
            Self::Head => 0.8,
            Self::Eyes => 0.06,
            Self::Face => 0.4,
        }
    }
}

/// A part that wanders from place to place.
#[derive(Clone, Debug)]
pub(crate) struct Wander {
    part: Part,
    from: Vec<f32>,
    to: Vec<f32>,
    /// Since it left the last place, in s.
    time: f32,
    /// When it leaves again.
    stay: f32,
}

impl Wander {
    pub(crate) fn new(part: Part) -> Self {
        let still = vec![0.0; part.groups().len()];
        Self { part, from: still.clone(), to: still, time: 0.0, stay: 0.0 }
    }

    /// Lets time pass, and adds its offsets.
    pub(crate) fn step(&mut self, random: &mut ChaCha8Rng, dt: f32, offsets: &mut Positions, weight: f32) {
        self.time += dt;
        if self.time >= self.stay {
            self.from.clone_from(&self.to);
            for (to, (_, reach)) in self.to.iter_mut().zip(self.part.groups()) {
                *to = random.random_range(-1.0..=1.0) * reach;
            }
            self.time = 0.0;
            self.stay = self.part.travel() + random.random_range(PAUSE.0..PAUSE.1);
        }
        let part = (self.time / self.part.travel()).clamp(0.0, 1.0);
        let eased = part * part * (3.0 - 2.0 * part);
        for ((servos, _), (from, to)) in self.part.groups().iter().zip(self.from.iter().zip(&self.to)) {
            for &servo in *servos {
                offsets[servo] += weight * (from + (to - from) * eased);
            }
        }
    }
}

/// The lids.
#[derive(Clone, Debug)]
pub(crate) struct Blink {
    /// Blinks a second.
    speed: f32,
    /// Until the next one, in s.
    wait: f32,
    /// Since the last one began, in s.
    time: f32,
}

impl Blink {
    pub(crate) fn new(speed: f32) -> Self {
        Self { speed, wait: f32::INFINITY, time: f32::INFINITY }
    }

    pub(crate) fn speed(&self) -> f32 {
        self.speed
    }

    /// From now on so often a second.
    pub(crate) fn set_speed(&mut self, speed: f32) {
        let speed = speed.clamp(0.0, MAX_BLINKS);
        if speed != self.speed {
            (self.speed, self.wait) = (speed, f32::INFINITY);
        }
    }

    /// Lets time pass, and tells how far the lids are shut, 0 to 1.
    pub(crate) fn step(&mut self, random: &mut ChaCha8Rng, dt: f32) -> f32 {
        if self.speed > 0.0 {
            if self.wait.is_infinite() {
                // nobody blinks like a clock; on average it is as often as was asked for
                self.wait = random.random_range(0.5..1.5) / self.speed;
            }
            self.wait -= dt;
            if self.wait <= 0.0 {
                self.time = 0.0;
                self.wait += random.random_range(0.5..1.5) / self.speed;
            }
        }
        let length = if self.speed > 0.0 { BLINK.min(0.6 / self.speed) } else { BLINK };
        let part = self.time / length;
        self.time += dt;
        // down in a third of the time, then up again
        (part * 3.0).min((1.0 - part) * 1.5).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::servo::COUNT;

    #[test]
    fn blinks_come_as_often_as_asked_for() {
        for speed in [0.1f32, 2.0, 10.0] {
            let mut random = ChaCha8Rng::seed_from_u64(3);
            let mut blink = Blink::new(0.0);
            blink.set_speed(speed);
            let seconds = 600.0;
            let shut: Vec<bool> = (0..(seconds / 0.01) as usize).map(|_| blink.step(&mut random, 0.01) > 0.5).collect();
            let count = shut.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f32;
            assert!((count / seconds / speed - 1.0).abs() < 0.15, "{speed}: {count} in {seconds} s");
        }
        let (mut random, mut blink) = (ChaCha8Rng::seed_from_u64(3), Blink::new(0.0));
        assert!((0..10_000).all(|_| blink.step(&mut random, 0.01) == 0.0), "0 is never");
    }

    #[test]
    fn wandering_is_bounded_smooth_and_the_same_for_the_same_seed() {
        for part in [Part::Head, Part::Eyes, Part::Face] {
            let path = |seed| {
                let (mut random, mut wander) = (ChaCha8Rng::seed_from_u64(seed), Wander::new(part));
                let step = |_| {
                    let mut offsets = [0.0; COUNT];
                    wander.step(&mut random, 0.01, &mut offsets, 1.0);
                    offsets
                };
                (0..3000).map(step).collect::<Vec<_>>()
            };
            let first = path(1);
            assert_eq!(first, path(1));
            assert_ne!(first, path(2));
            assert!(first.iter().flatten().all(|offset| offset.abs() <= 0.4));
            let (low, high) = first.iter().flatten().fold((0f32, 0f32), |(l, h), &x| (l.min(x), h.max(x)));
            assert!(low < -0.05 && high > 0.05, "{part:?} moves: {low} to {high}");
            let moved = first
                .iter()
                .flat_map(|o| (0..COUNT).filter(|&s| o[s] != 0.0))
                .collect::<std::collections::BTreeSet<_>>();
            let own: std::collections::BTreeSet<_> =
                part.groups().iter().flat_map(|(s, _)| s.iter().copied()).collect();
            assert_eq!(moved, own);
        }
    }
}
