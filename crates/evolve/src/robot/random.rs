//! Seeded random numbers that depend only on the trial, not on the individual or the order of evaluations.

use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

/// Motor noise is clipped to this many standard deviations, which bounds the rotation in a step.
pub(super) const MOTOR_NOISE_SPAN: f64 = 4.0;

/// What the numbers are for. Each purpose has its own stream, so that an additional start pose does not change the noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Start = 1,
    Noise = 2,
    /// Which individuals meet.
    Encounters = 3,
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct RandomStream {
    rng: ChaCha8Rng,
    spare: Option<f64>,
}

impl RandomStream {
    /// The stream for a purpose in a trial.
    pub(crate) fn new(seed: u64, generation: u64, trial: u64, purpose: Purpose) -> Self {
        let mut key = [0; 32];
        for (part, number) in key.chunks_exact_mut(8).zip([seed, generation, trial, purpose as u64]) {
            part.copy_from_slice(&number.to_le_bytes());
        }
        Self { rng: ChaCha8Rng::from_seed(key), spare: None }
    }

    /// Uniform in `low..high`.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.rng.random::<f64>()
    }

    /// The numbers below `count` in random order.
    pub(crate) fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..count).collect();
        numbers.shuffle(&mut self.rng);
        numbers
    }

    /// Standard normal, by Marsaglia's polar method, which generates two at a time.
    pub(super) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (a, b) = (self.between(-1.0, 1.0), self.between(-1.0, 1.0));
            let square = a * a + b * b;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(b * factor);
                return a * factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_are_normal() {
        let mut stream = RandomStream::new(1, 0, 0, Purpose::Noise);
        let numbers: Vec<f64> = (0..100_000).map(|_| stream.normal()).collect();
        let mean = |power: i32| numbers.iter().map(|x| x.powi(power)).sum::<f64>() / numbers.len() as f64;
        for (power, expected) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
            assert!((mean(power) - expected).abs() < 0.1, "moment {power}: {}", mean(power));
        }
    }

    #[test]
    fn each_trial_and_purpose_has_its_own() {
        let first =
            |seed, generation, trial, purpose| RandomStream::new(seed, generation, trial, purpose).between(0.0, 1.0);
        let of = [
            first(1, 0, 0, Purpose::Start),
            first(2, 0, 0, Purpose::Start),
            first(1, 1, 0, Purpose::Start),
            first(1, 0, 1, Purpose::Start),
            first(1, 0, 0, Purpose::Noise),
        ];
        for (i, a) in of.iter().enumerate() {
            assert!(of.iter().skip(i + 1).all(|b| a != b));
        }
        assert_eq!(of[0], first(1, 0, 0, Purpose::Start));
    }
}
