//! Random numbers of an episode.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A stream of random numbers, determined by its seed.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number between `min` and `max`, uniformly.
    pub fn between(&mut self, min: f64, max: f64) -> f64 {
        min + self.0.random::<f64>() * (max - min)
    }

    /// A number between `-most` and `most`, uniformly.
    pub fn around(&mut self, most: f64) -> f64 {
        self.between(-most, most)
    }
}

/// The seed of one episode of an environment. Neighbouring seeds and episodes have nothing in common.
pub(crate) fn episode_seed(seed: u64, episode: u64) -> u64 {
    mix(mix(seed) ^ episode)
}

/// The finalizer of SplitMix64.
fn mix(x: u64) -> u64 {
    let mut x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn episodes_of_neighbouring_seeds_differ() {
        let seeds: BTreeSet<u64> =
            (0..50).flat_map(|seed| (0..50).map(move |episode| episode_seed(seed, episode))).collect();
        assert_eq!(seeds.len(), 2_500);
    }

    #[test]
    fn numbers_stay_between_their_bounds() {
        let mut random = Random::new(3);
        let numbers: Vec<f64> = (0..1_000).map(|_| random.between(-2.0, 5.0)).collect();
        assert!(numbers.iter().all(|x| (-2.0..5.0).contains(x)));
        assert!(numbers.iter().any(|x| *x < -1.5) && numbers.iter().any(|x| *x > 4.5));
    }
}
