//! The evolution strategy of Salimans et al. (2017), "OpenAI-ES", for plain vectors, without bounds.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::ranking;
use super::variation::normal;

/// Adam's usual decay rates, and the term that avoids division by zero.
const ADAM: [f64; 3] = [0.9, 0.999, 1e-8];

/// Settings of an [`Es`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EsSettings {
    /// Standard deviation of the samples.
    pub sigma: f64,
    /// Adam's learning rate.
    pub learning_rate: f64,
    /// Decay of the mean towards 0 per generation, as a fraction of its distance.
    pub weight_decay: f64,
}

/// Follows an estimate of the gradient from ranks of mirrored samples, by Adam. Maximises.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Es {
    mean: Vec<f64>,
    #[serde(rename = "pace")]
    settings: EsSettings,
    population: usize,
    /// Adam's first and second moments of the gradient.
    slope: Vec<f64>,
    squares: Vec<f64>,
    generation: i32,
    /// The offset of each pair that awaits its fitness, in units of sigma.
    offsets: Vec<Vec<f64>>,
    rng: ChaCha8Rng,
}

impl Es {
    /// Starts at `mean`. Samples are mirrored pairs; the last sample of an odd population is the mean itself.
    pub fn new(mean: Vec<f64>, settings: EsSettings, population: usize, seed: u64) -> Self {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        let (slope, squares) = (vec![0.0; mean.len()], vec![0.0; mean.len()]);
        Self { mean, settings, population: population.max(2), slope, squares, generation: 0, offsets: Vec::new(), rng }
    }

    /// The current mean.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The samples of the next generation.
    pub fn ask(&mut self) -> Vec<Vec<f64>> {
        self.offsets =
            (0..self.population / 2).map(|_| self.mean.iter().map(|_| normal(&mut self.rng)).collect()).collect();
        let point = |offset: &Vec<f64>, side: f64| -> Vec<f64> {
            self.mean.iter().zip(offset).map(|(mean, offset)| mean + side * self.settings.sigma * offset).collect()
        };
        let mut points: Vec<Vec<f64>> =
            self.offsets.iter().flat_map(|offset| [point(offset, 1.0), point(offset, -1.0)]).collect();
        if self.population % 2 == 1 {
            points.push(self.mean.clone());
        }
        points
    }

    /// Passes the fitness of the samples, in order. Does nothing if the number is wrong.
    pub fn tell(&mut self, fitness: &[f64]) {
        if fitness.len() != self.population || self.offsets.is_empty() {
            return;
        }
        let pairs = self.offsets.len();
        let ranks = centred_ranks(&fitness[..2 * pairs]);
        let mut gradient = vec![0.0; self.mean.len()];
        for (offset, ranks) in self.offsets.iter().zip(ranks.chunks_exact(2)) {
            let weight = (ranks[0] - ranks[1]) / (2.0 * pairs as f64 * self.settings.sigma);
            gradient.iter_mut().zip(offset).for_each(|(sum, offset)| *sum += weight * offset);
        }
        self.offsets.clear();
        self.generation = self.generation.saturating_add(1);
        self.step(&gradient);
    }

    fn step(&mut self, gradient: &[f64]) {
        let [first, second, tiny] = ADAM;
        let unbias = |rate: f64| 1.0 - rate.powi(self.generation);
        let EsSettings { learning_rate, weight_decay, .. } = self.settings;
        for (axis, slope) in gradient.iter().enumerate() {
            self.slope[axis] = first * self.slope[axis] + (1.0 - first) * slope;
            self.squares[axis] = second * self.squares[axis] + (1.0 - second) * slope * slope;
            let (mean, square) = (self.slope[axis] / unbias(first), self.squares[axis] / unbias(second));
            // decoupled weight decay: independent of the scale of the gradient
            self.mean[axis] += learning_rate * mean / (square.sqrt() + tiny) - weight_decay * self.mean[axis];
        }
    }
}

/// Ranks from -0.5 for the worst to 0.5 for the best; equal ones share their mean rank.
fn centred_ranks(fitness: &[f64]) -> Vec<f64> {
    let order = ranking(fitness);
    let mut ranks = vec![0.0; fitness.len()];
    let last = (fitness.len() - 1).max(1) as f64;
    let mut before = 0;
    for group in order.chunk_by(|&a, &b| fitness[a] == fitness[b]) {
        let rank = 0.5 - (before as f64 + (group.len() - 1) as f64 / 2.0) / last;
        group.iter().for_each(|&index| ranks[index] = rank);
        before += group.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::super::samples::{Function, ellipsoid, rastrigin, rosenbrock, sphere};
    use super::*;

    #[test]
    fn ranks_are_centred_and_shared() {
        let cases: [(&[f64], &[f64]); 4] = [
            (&[1.0, 3.0, 2.0], &[-0.5, 0.5, 0.0]),
            (&[7.0, 7.0], &[0.0, 0.0]),
            (&[1.0, 1.0, 0.0], &[0.25, 0.25, -0.5]),
            (&[f64::MIN, 0.0], &[-0.5, 0.5]),
        ];
        for (fitness, expected) in cases {
            assert_eq!(centred_ranks(fitness), expected);
        }
    }

    #[test]
    fn standard_functions_are_approached() {
        // (function, axes, start, below which value it must come); it cannot settle, as its step does not shrink
        let cases: [(&str, Function, usize, f64, f64); 4] = [
            ("sphere", sphere, 10, 3.0, 1e-2),
            ("ellipsoid", ellipsoid, 4, 1.0, 100.0),
            ("rosenbrock", rosenbrock, 4, 0.0, 0.5),
            // it stays in a dent, but comes down into one near
            ("rastrigin", rastrigin, 5, 0.4, 1.0),
        ];
        for (name, function, axes, start, target) in cases {
            let settings = EsSettings { sigma: 0.05, learning_rate: 0.02, weight_decay: 0.0 };
            let mut es = Es::new(vec![start; axes], settings, 40, 1);
            for _ in 0..1_500 {
                let fitness: Vec<f64> = es.ask().iter().map(|x| -function(x)).collect();
                es.tell(&fitness);
            }
            assert!(function(es.mean()) < target, "{name}: {}", function(es.mean()));
        }
    }

    #[test]
    fn decay_pulls_to_zero_and_odd_populations_hold_the_mean() {
        let settings = EsSettings { sigma: 0.1, learning_rate: 0.0, weight_decay: 0.1 };
        let mut es = Es::new(vec![1.0, -2.0], settings, 5, 1);
        let points = es.ask();
        assert_eq!((points.len(), &points[4]), (5, &vec![1.0, -2.0]));
        es.tell(&[0.0; 5]);
        assert_eq!(es.mean(), [0.9, -1.8]);
        es.tell(&[0.0; 4]);
        assert_eq!(es.mean(), [0.9, -1.8]);
    }
}
