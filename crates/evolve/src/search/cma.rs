//! The (mu/mu_w, lambda)-CMA-ES for plain vectors, after Hansen's tutorial (arXiv 1604.00772), without bounds.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::variation::normal;
use super::{eigen, ranking};

/// Above this number of axes only the variances are adapted: a full covariance matrix would cost more time and evaluations
/// than it saves.
pub const SEPARABLE_ABOVE: usize = 200;

/// Covariance matrices with a larger condition number are reset.
const MAX_CONDITION: f64 = 1e14;

/// The shape of the sampling distribution.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Distribution {
    /// The covariance matrix in row-major order, and its eigenvectors as columns (`axes`) with the square roots of the
    /// eigenvalues (`lengths`), which are updated every few generations.
    Full { covariance: Vec<f64>, axes: Vec<f64>, lengths: Vec<f64>, age: f64 },
    /// Standard deviation along each axis.
    Separable { lengths: Vec<f64> },
}

/// A sample that awaits its fitness: its standard normal numbers, and its offset from the mean in units of sigma.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Sample {
    normals: Vec<f64>,
    offset: Vec<f64>,
}

/// The tutorial's constants (table 1), which depend on the number of axes and samples.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Rates {
    /// By rank, best first; those of the worse half are negative in an active update, otherwise 0.
    weights: Vec<f64>,
    mu_eff: f64,
    c_sigma: f64,
    d_sigma: f64,
    c_c: f64,
    c_1: f64,
    c_mu: f64,
    /// Expected length of a normal vector.
    chi: f64,
}

/// Covariance matrix adaptation. Maximises: the sample with the largest fitness is the best.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cma {
    mean: Vec<f64>,
    sigma: f64,
    lambda: usize,
    rates: Rates,
    #[serde(rename = "cloud")]
    distribution: Distribution,
    path_sigma: Vec<f64>,
    path_c: Vec<f64>,
    generation: i32,
    samples: Vec<Sample>,
    rng: ChaCha8Rng,
}

/// The tutorial's default number of samples.
pub fn default_lambda(axes: usize) -> usize {
    4 + (3.0 * (axes.max(1) as f64).ln()).floor() as usize
}

impl Rates {
    fn new(axes: usize, lambda: usize, active: bool) -> Self {
        let n = axes.max(1) as f64;
        let separable = axes > SEPARABLE_ABOVE;
        let raw: Vec<f64> = (1..=lambda).map(|rank| ((lambda as f64 + 1.0) / 2.0).ln() - (rank as f64).ln()).collect();
        let positive = || raw.iter().filter(|&&weight| weight > 0.0);
        let negative = || raw.iter().filter(|&&weight| weight < 0.0);
        let positive_sum: f64 = positive().sum();
        let mu_eff = positive_sum.powi(2) / positive().map(|weight| weight * weight).sum::<f64>();

        // the tutorial has no upper limit; with it, as in pycma, large populations do not contract too soon
        let c_sigma = ((mu_eff + 2.0) / (n + mu_eff + 5.0)).min(0.5);
        let d_sigma = 1.0 + 2.0 * (((mu_eff - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + c_sigma;
        let c_c = (4.0 + mu_eff / n) / (n + 4.0 + 2.0 * mu_eff / n);
        // without covariances there are fewer parameters, which allows faster learning (Ros and Hansen 2008)
        let speed = if separable { (n + 2.0) / 3.0 } else { 1.0 };
        let c_1 = (speed * 2.0 / ((n + 1.3).powi(2) + mu_eff)).min(0.5);
        let c_mu = speed * 2.0 * (0.25 + mu_eff - 2.0 + 1.0 / mu_eff) / ((n + 2.0).powi(2) + mu_eff);
        let c_mu = c_mu.min(1.0 - c_1);

        let negative_sum: f64 = -negative().sum::<f64>();
        let mu_eff_negative = negative_sum.powi(2) / negative().map(|weight| weight * weight).sum::<f64>();
        let scale =
            (1.0 + c_1 / c_mu).min(1.0 + 2.0 * mu_eff_negative / (mu_eff + 2.0)).min((1.0 - c_1 - c_mu) / (n * c_mu));
        let scale = if active && !separable { scale.max(0.0) / negative_sum } else { 0.0 };
        let weigh = |&weight: &f64| if weight > 0.0 { weight / positive_sum } else { weight * scale };
        let weights = raw.iter().map(weigh).collect();
        let chi = n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n));
        Self { weights, mu_eff, c_sigma, d_sigma, c_c, c_1, c_mu, chi }
    }
}

impl Distribution {
    fn isotropic(axes: usize) -> Self {
        if axes > SEPARABLE_ABOVE {
            return Self::Separable { lengths: vec![1.0; axes] };
        }
        let mut unit = vec![0.0; axes * axes];
        (0..axes).for_each(|axis| unit[axis * axes + axis] = 1.0);
        Self::Full { covariance: unit.clone(), axes: unit, lengths: vec![1.0; axes], age: 0.0 }
    }

    /// Maps standard normal numbers to an offset.
    fn stretch(&self, normals: &[f64]) -> Vec<f64> {
        match self {
            Self::Separable { lengths } => normals.iter().zip(lengths).map(|(z, length)| z * length).collect(),
            Self::Full { axes, lengths, .. } => {
                let scaled: Vec<f64> = normals.iter().zip(lengths).map(|(z, length)| z * length).collect();
                multiply(axes, &scaled)
            }
        }
    }

    /// Maps standard normal numbers to an offset as if all lengths were 1.
    fn rotate(&self, normals: &[f64]) -> Vec<f64> {
        match self {
            Self::Separable { .. } => normals.to_vec(),
            Self::Full { axes, .. } => multiply(axes, normals),
        }
    }

    fn lengths(&self) -> &[f64] {
        match self {
            Self::Separable { lengths } | Self::Full { lengths, .. } => lengths,
        }
    }
}

/// Multiplies a matrix with a vector.
fn multiply(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(vector.len().max(1)).map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum()).collect()
}

impl Cma {
    /// Starts at `mean` with steps of `sigma` and `lambda` samples a generation (at least 4), with active updates.
    pub fn new(mean: Vec<f64>, sigma: f64, lambda: usize, seed: u64) -> Self {
        Self::with_rng(mean, sigma, lambda, true, ChaCha8Rng::seed_from_u64(seed))
    }

    pub(super) fn with_rng(mean: Vec<f64>, sigma: f64, lambda: usize, active: bool, rng: ChaCha8Rng) -> Self {
        let (axes, lambda) = (mean.len(), lambda.max(4));
        Self {
            sigma,
            lambda,
            rates: Rates::new(axes, lambda, active),
            distribution: Distribution::isotropic(axes),
            path_sigma: vec![0.0; axes],
            path_c: vec![0.0; axes],
            generation: 0,
            samples: Vec::new(),
            rng,
            mean,
        }
    }

    /// The mean of the distribution: the best estimate, even with noisy evaluations.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The step size.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// The largest standard deviation of the samples in any direction.
    pub fn spread(&self) -> f64 {
        self.sigma * self.distribution.lengths().iter().copied().fold(0.0, f64::max)
    }

    /// The random number generator, for a restart.
    pub(super) fn rng(&self) -> &ChaCha8Rng {
        &self.rng
    }

    /// The samples of the next generation.
    pub fn ask(&mut self) -> Vec<Vec<f64>> {
        self.samples.clear();
        for _ in 0..self.lambda {
            let normals: Vec<f64> = self.mean.iter().map(|_| normal(&mut self.rng)).collect();
            let offset = self.distribution.stretch(&normals);
            self.samples.push(Sample { normals, offset });
        }
        let point = |sample: &Sample| -> Vec<f64> {
            self.mean.iter().zip(&sample.offset).map(|(mean, offset)| mean + self.sigma * offset).collect()
        };
        self.samples.iter().map(point).collect()
    }

    /// Passes the fitness of the samples, in order. Does nothing if the number is wrong.
    pub fn tell(&mut self, fitness: &[f64]) {
        if fitness.len() != self.samples.len() || fitness.is_empty() {
            return;
        }
        let samples = std::mem::take(&mut self.samples);
        let ranked: Vec<&Sample> = ranking(fitness).into_iter().map(|index| &samples[index]).collect();
        let step = |of: fn(&Sample) -> &Vec<f64>| -> Vec<f64> {
            let mut sum = vec![0.0; self.mean.len()];
            for (sample, &weight) in ranked.iter().zip(&self.rates.weights).filter(|(_, weight)| **weight > 0.0) {
                sum.iter_mut().zip(of(sample)).for_each(|(sum, x)| *sum += weight * x);
            }
            sum
        };
        let (moved, normals) = (step(|sample| &sample.offset), step(|sample| &sample.normals));
        self.mean.iter_mut().zip(&moved).for_each(|(mean, moved)| *mean += self.sigma * moved);
        self.generation = self.generation.saturating_add(1);
        let is_usual = self.update_paths(&moved, &normals);
        self.adapt_distribution(&ranked, is_usual);
        let length = self.path_sigma.iter().map(|x| x * x).sum::<f64>().sqrt();
        let Rates { c_sigma, d_sigma, chi, .. } = self.rates;
        self.sigma *= ((c_sigma / d_sigma) * (length / chi - 1.0)).min(1.0).exp();
    }

    /// Updates both evolution paths; returns whether the path of the step size is of a usual length.
    fn update_paths(&mut self, moved: &[f64], normals: &[f64]) -> bool {
        let Rates { mu_eff, c_sigma, c_c, chi, .. } = self.rates;
        let gain = (c_sigma * (2.0 - c_sigma) * mu_eff).sqrt();
        for (path, step) in self.path_sigma.iter_mut().zip(self.distribution.rotate(normals)) {
            *path = (1.0 - c_sigma) * *path + gain * step;
        }
        let squares: f64 = self.path_sigma.iter().map(|x| x * x).sum();
        let seen = 1.0 - (1.0 - c_sigma).powi(2 * self.generation.min(1 << 20));
        let is_usual = (squares / seen).sqrt() < (1.4 + 2.0 / (self.mean.len() as f64 + 1.0)) * chi;
        let gain = if is_usual { (c_c * (2.0 - c_c) * mu_eff).sqrt() } else { 0.0 };
        for (path, step) in self.path_c.iter_mut().zip(moved) {
            *path = (1.0 - c_c) * *path + gain * step;
        }
        is_usual
    }

    fn adapt_distribution(&mut self, ranked: &[&Sample], is_usual: bool) {
        let Rates { weights, c_c, c_1, c_mu, .. } = &self.rates;
        let n = self.mean.len();
        let lost = if is_usual { 0.0 } else { c_1 * c_c * (2.0 - c_c) };
        let keep = 1.0 + lost - c_1 - c_mu * weights.iter().sum::<f64>();
        match &mut self.distribution {
            Distribution::Separable { lengths } => {
                for (axis, length) in lengths.iter_mut().enumerate() {
                    let squares = |(sample, weight): (&&Sample, &f64)| weight * sample.offset[axis].powi(2);
                    let seen: f64 = ranked.iter().zip(weights).map(squares).sum();
                    let variance = keep * *length * *length + c_1 * self.path_c[axis].powi(2) + c_mu * seen;
                    *length = variance.sqrt();
                }
            }
            Distribution::Full { covariance, axes, lengths, age } => {
                covariance.iter_mut().for_each(|entry| *entry *= keep);
                add_outer(covariance, &self.path_c, *c_1);
                for (sample, &weight) in ranked.iter().zip(weights) {
                    // a negative weight uses only the direction, or the matrix might lose its positive definiteness
                    let squares: f64 = sample.normals.iter().map(|z| z * z).sum();
                    let balance = if weight < 0.0 { n as f64 / squares.max(f64::MIN_POSITIVE) } else { 1.0 };
                    add_outer(covariance, &sample.offset, c_mu * weight * balance);
                }
                *age += 1.0;
                if *age * (c_1 + c_mu) * n as f64 * 10.0 >= 1.0 {
                    *age = 0.0;
                    let (values, vectors) = eigen::decompose(covariance, n);
                    *lengths = values.iter().map(|value| value.sqrt()).collect();
                    *axes = vectors;
                }
            }
        }
        self.reset_if_degenerate();
    }

    /// Resets the distribution if it has degenerated.
    fn reset_if_degenerate(&mut self) {
        let lengths = self.distribution.lengths();
        let longest = lengths.iter().copied().fold(0.0, f64::max);
        let bad = |&length: &f64| !(length.is_finite() && length > 0.0 && (longest / length).powi(2) < MAX_CONDITION);
        if lengths.iter().any(bad) {
            self.distribution = Distribution::isotropic(self.mean.len());
            self.path_c.fill(0.0);
        }
    }
}

/// Adds `weight` times the outer product of a vector with itself.
fn add_outer(matrix: &mut [f64], vector: &[f64], weight: f64) {
    for (row, a) in matrix.chunks_exact_mut(vector.len().max(1)).zip(vector) {
        row.iter_mut().zip(vector).for_each(|(entry, b)| *entry += weight * (a * b));
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{Function, ellipsoid, rastrigin, rosenbrock, sphere};
    use super::*;

    /// Evaluations until the function is below the target.
    fn evaluations(function: Function, mut cma: Cma, target: f64, most: usize) -> Option<usize> {
        let mut count = 0;
        while count < most {
            let values: Vec<f64> = cma.ask().iter().map(|x| function(x)).collect();
            count += values.len();
            if values.iter().any(|&value| value < target) {
                return Some(count);
            }
            cma.tell(&values.iter().map(|value| -value).collect::<Vec<_>>());
        }
        None
    }

    #[test]
    fn standard_functions_are_minimised() {
        let cases: [(&str, Function, usize, usize, usize); 5] = [
            ("sphere", sphere, 10, 10, 4_000),
            ("ellipsoid", ellipsoid, 10, 10, 10_000),
            ("rosenbrock", rosenbrock, 8, 10, 10_000),
            ("rastrigin", rastrigin, 5, 200, 20_000),
            // separable, as there are so many axes
            ("ellipsoid", ellipsoid, 201, 20, 150_000),
        ];
        for (name, function, axes, lambda, most) in cases {
            let cma = Cma::new(vec![3.0; axes], 2.0, lambda, 1);
            let count = evaluations(function, cma, 1e-8, most);
            assert!(count.is_some(), "{name} of {axes} axes: not within {most} evaluations");
        }
    }

    #[test]
    fn the_weights_are_those_of_the_tutorial() {
        // equations 49 to 53: positive ones sum to 1, negative ones to the least of three bounds
        let rates = Rates::new(10, 10, true);
        let (positive, negative): (Vec<f64>, Vec<f64>) = rates.weights.iter().partition(|&&weight| weight > 0.0);
        assert!((positive.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((rates.mu_eff - 3.167_299).abs() < 1e-5, "{}", rates.mu_eff);
        let bound = (1.0 - rates.c_1 - rates.c_mu) / (10.0 * rates.c_mu);
        assert!(-negative.iter().sum::<f64>() <= bound.min(1.0 + rates.c_1 / rates.c_mu) + 1e-12);
        assert!(Rates::new(10, 10, false).weights.iter().all(|&weight| weight >= 0.0));
    }

    #[test]
    fn flat_and_odd_fitness_leaves_finite_samples() {
        for value in [0.0, f64::MIN, f64::MAX] {
            let mut cma = Cma::new(vec![0.0; 3], 1.0, 6, 1);
            for _ in 0..300 {
                assert!(cma.ask().iter().flatten().all(|x| x.is_finite()));
                cma.tell(&[value; 6]);
            }
        }
        let mut none = Cma::new(vec![], 1.0, 4, 1);
        assert_eq!(none.ask(), vec![Vec::<f64>::new(); 4]);
        none.tell(&[1.0; 4]);
        none.tell(&[1.0; 3]);
    }
}
