//! Motion without an operator: random motion of head, eyes and face, and blinking.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::servo::{Positions, index};

/// Shortest and longest pause between two random targets, in s.
const PAUSE: (f32, f32) = (0.5, 2.5);
/// Longest duration of a blink, in s.
const BLINK: f32 = 0.16;
/// Parts of a blink in which the lids close and open; in between they are shut, so that they are seen to be.
const CLOSING: f32 = 0.25;
const OPENING: f32 = 0.375;
/// Part of the time to the next blink that a blink may take, so that the lids open before it.
const BUSY: f32 = 0.8;
/// Maximum blink rate, in blinks per second.
pub(crate) const MAX_BLINKS: f32 = 10.0;

/// Servos that move together, and their largest offset.
type Group = &'static [(&'static [usize], f32)];

/// A region of the body that moves at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Region {
    Head,
    Eyes,
    Face,
}

impl Region {
    fn groups(self) -> Group {
        match self {
            Self::Head => &[(&[index::NECK_YAW], 0.25), (&[index::NECK_ROLL], 0.12), (&[index::NECK_PITCH], 0.15)],
            Self::Eyes => &[(&[index::EYE_YAW_LEFT, index::EYE_YAW_RIGHT], 0.4), (&[index::EYES_PITCH], 0.3)],
            Self::Face => &[(&[index::BROWS], 0.35), (&[index::SMILE_LEFT, index::SMILE_RIGHT], 0.35)],
        }
    }

    /// Duration of the motion from one target to the next, in s.
    fn travel(self) -> f32 {
        match self {
            Self::Head => 0.8,
            Self::Eyes => 0.06,
            Self::Face => 0.4,
        }
    }
}

/// Moves a region from one random target to the next.
#[derive(Clone, Debug)]
pub(crate) struct Wander {
    region: Region,
    from: Vec<f32>,
    to: Vec<f32>,
    /// Time since it left the last target, in s.
    time: f32,
    /// Time at which it leaves for the next target, in s.
    stay: f32,
}

impl Wander {
    pub(crate) fn new(region: Region) -> Self {
        let still = vec![0.0; region.groups().len()];
        Self { region, from: still.clone(), to: still, time: 0.0, stay: 0.0 }
    }

    /// Advances by `dt` seconds and adds the weighted offsets.
    pub(crate) fn step(&mut self, random: &mut ChaCha8Rng, dt: f32, offsets: &mut Positions, weight: f32) {
        self.time += dt;
        if self.time >= self.stay {
            self.from.clone_from(&self.to);
            for (to, (_, reach)) in self.to.iter_mut().zip(self.region.groups()) {
                *to = random.random_range(-1.0..=1.0) * reach;
            }
            self.time = 0.0;
            self.stay = self.region.travel() + random.random_range(PAUSE.0..PAUSE.1);
        }
        let part = (self.time / self.region.travel()).clamp(0.0, 1.0);
        let eased = part * part * (3.0 - 2.0 * part);
        for ((servos, _), (from, to)) in self.region.groups().iter().zip(self.from.iter().zip(&self.to)) {
            for &servo in *servos {
                offsets[servo] += weight * (from + (to - from) * eased);
            }
        }
    }
}

/// Closes and opens the eyelids at random intervals.
#[derive(Clone, Debug)]
pub(crate) struct Blink {
    /// Mean rate, in blinks per second.
    rate: f32,
    /// Time until the next blink, in s.
    wait: f32,
    /// Time since the last blink started, in s.
    time: f32,
}

impl Blink {
    pub(crate) fn new(rate: f32) -> Self {
        Self { rate, wait: f32::INFINITY, time: f32::INFINITY }
    }

    pub(crate) fn rate(&self) -> f32 {
        self.rate
    }

    /// Sets the mean rate, clamped to 0 to [`MAX_BLINKS`] per second.
    pub(crate) fn set_rate(&mut self, rate: f32) {
        let rate = rate.clamp(0.0, MAX_BLINKS);
        if rate != self.rate {
            (self.rate, self.wait) = (rate, f32::INFINITY);
        }
    }

    /// Advances by `dt` seconds and returns how far the lids are closed, 0 to 1.
    pub(crate) fn step(&mut self, random: &mut ChaCha8Rng, dt: f32) -> f32 {
        if self.rate > 0.0 {
            if self.wait.is_infinite() {
                self.wait = self.interval(random);
            }
            self.wait -= dt;
            if self.wait <= 0.0 {
                self.time = 0.0;
                self.wait += self.interval(random);
            }
        }
        let part = self.time / BLINK.min(BUSY * self.shortest_interval());
        self.time += dt;
        (part / CLOSING).min((1.0 - part) / OPENING).clamp(0.0, 1.0)
    }

    /// Time from one blink to the next, in s: irregular, which looks natural, with the mean of the rate.
    fn interval(&self, random: &mut ChaCha8Rng) -> f32 {
        let shortest = self.shortest_interval();
        random.random_range(shortest..=(2.0 / self.rate - shortest).max(shortest))
    }

    /// The highest rate leaves no room for irregularity. Infinite at a rate of 0.
    fn shortest_interval(&self) -> f32 {
        (0.5 / self.rate).max(1.0 / MAX_BLINKS)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::servo::COUNT;

    #[test]
    fn blinks_keep_the_rate() {
        for (rate, tolerance) in [(0.1f32, 0.15), (2.0, 0.03), (5.0, 0.02), (9.0, 0.01), (10.0, 0.001)] {
            let mut random = ChaCha8Rng::seed_from_u64(3);
            let mut blink = Blink::new(0.0);
            blink.set_rate(rate);
            let seconds = 600.0;
            // shut and open in turn
            let (mut shut, mut count) = (false, 0.0);
            for _ in 0..(seconds / 0.005) as usize {
                let closed = blink.step(&mut random, 0.005);
                assert!((0.0..=1.0).contains(&closed), "{closed}");
                if (!shut && closed == 1.0) || (shut && closed == 0.0) {
                    shut = !shut;
                    count += 0.5;
                }
            }
            assert!((count / seconds / rate - 1.0).abs() < tolerance, "{rate}: {count} in {seconds} s");
        }
        let (mut random, mut blink) = (ChaCha8Rng::seed_from_u64(3), Blink::new(0.0));
        assert!((0..10_000).all(|_| blink.step(&mut random, 0.01) == 0.0), "a rate of 0 never blinks");
    }

    #[test]
    fn random_motion_is_bounded_and_reproducible() {
        for region in [Region::Head, Region::Eyes, Region::Face] {
            let path = |seed| {
                let (mut random, mut wander) = (ChaCha8Rng::seed_from_u64(seed), Wander::new(region));
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
            assert!(low < -0.05 && high > 0.05, "{region:?} moves: {low} to {high}");
            let moved = first
                .iter()
                .flat_map(|o| (0..COUNT).filter(|&s| o[s] != 0.0))
                .collect::<std::collections::BTreeSet<_>>();
            let own: std::collections::BTreeSet<_> =
                region.groups().iter().flat_map(|(s, _)| s.iter().copied()).collect();
            assert_eq!(moved, own);
        }
    }
}
