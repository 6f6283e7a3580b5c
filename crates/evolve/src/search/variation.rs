//! Variation operators for genes scaled to 0..=1.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A standard normal number.
pub(super) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    // Box-Muller; the second number is discarded to keep no state between calls
    let (radius, angle): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - radius).ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// Reflects a number at both ends into 0..=1. NaN becomes 0.5.
pub(super) fn reflect(unit: f64) -> f64 {
    if (0.0..=1.0).contains(&unit) {
        return unit;
    }
    let phase = unit.rem_euclid(2.0);
    if phase.is_nan() { 0.5 } else { phase.min(2.0 - phase).clamp(0.0, 1.0) }
}

/// Gaussian mutation: normal steps of `sigma` along each axis.
pub fn gaussian(parent: &[f64], sigma: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    parent.iter().map(|x| x + sigma * normal(rng)).collect()
}

/// Iso+line mutation (Vassiliades and Mouret 2018): normal steps of `iso` along each axis, and of `line` times the distance
/// along the line to another elite.
pub fn iso_line(parent: &[f64], other: &[f64], [iso, line]: [f64; 2], rng: &mut ChaCha8Rng) -> Vec<f64> {
    let along = line * normal(rng);
    parent.iter().zip(other).map(|(a, b)| a + iso * normal(rng) + along * (b - a)).collect()
}

/// The usual distribution index of [`sbx`] and [`polynomial`]; higher values keep children closer to their parents.
const DISTRIBUTION_INDEX: f64 = 20.0;

/// Simulated binary crossover (Deb and Agrawal 1995); each axis is crossed with probability 0.5.
pub fn sbx(a: &[f64], b: &[f64], rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut axis = |(&a, &b): (&f64, &f64)| {
        let (crossed, side, u): (bool, bool, f64) = (rng.random(), rng.random(), rng.random());
        if !crossed {
            return a;
        }
        let spread: f64 = if u <= 0.5 { 2.0 * u } else { 0.5 / (1.0 - u) };
        let spread = spread.powf(1.0 / (DISTRIBUTION_INDEX + 1.0));
        let sign = if side { 1.0 } else { -1.0 };
        0.5 * (a + b) + 0.5 * sign * spread * (a - b)
    };
    a.iter().zip(b).map(&mut axis).collect()
}

/// Polynomial mutation (Deb and Goyal 1996) of each axis with probability `rate`.
pub fn polynomial(point: &mut [f64], rate: f64, rng: &mut ChaCha8Rng) {
    for x in point {
        if rng.random_bool(rate) {
            let u: f64 = rng.random();
            let power = 1.0 / (DISTRIBUTION_INDEX + 1.0);
            *x += if u < 0.5 { (2.0 * u).powf(power) - 1.0 } else { 1.0 - (2.0 * (1.0 - u)).powf(power) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn reflection_folds_everything_between_0_and_1() {
        let cases = [(0.0, 0.0), (1.0, 1.0), (0.3, 0.3), (1.25, 0.75), (-0.25, 0.25), (2.25, 0.25), (-1.75, 0.25)];
        for (unit, expected) in cases {
            assert_eq!(reflect(unit), expected, "{unit}");
        }
        for odd in [f64::NAN, f64::INFINITY, f64::MIN, 1e300] {
            assert!((0.0..=1.0).contains(&reflect(odd)), "{odd}");
        }
    }

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let numbers: Vec<f64> = (0..10_000).map(|_| normal(&mut rng)).collect();
        let mean = numbers.iter().sum::<f64>() / 1e4;
        let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e4;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }

    #[test]
    fn children_of_one_point_stay_there() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let point = [0.2, 0.8];
        assert_eq!(iso_line(&point, &[0.9, 0.1], [0.0, 0.0], &mut rng), point);
        let child = sbx(&point, &point, &mut rng);
        assert!(child.iter().zip(point).all(|(a, b)| (a - b).abs() < 1e-12));
        assert_eq!(gaussian(&point, 0.0, &mut rng), point);
    }
}
