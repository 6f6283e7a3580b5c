//! Functions shared by the tests of the algorithms.

use super::{SearchContext, Settings};
use crate::genotype::{Genes, NetParameters};

/// Nets with genes of every kind.
pub(super) fn parameters() -> NetParameters {
    NetParameters {
        concurrent: 1,
        globals: Genes { values: 2, low: 0.0, high: 1.0 },
        inputs: 3,
        input: Genes { values: 1, low: -1.0, high: 1.0 },
        outputs: 2,
        output: Genes { values: 2, low: 1.0, high: 3.0 },
        hidden_min: 1,
        hidden_max: 5,
        hidden: Genes { values: 2, low: -5.0, high: -1.0 },
        weight: Genes { values: 1, low: -10.0, high: 10.0 },
        input_to_output: true,
        recurrent: true,
    }
}

pub(super) fn context(settings: Settings, parameters: NetParameters) -> SearchContext {
    SearchContext { settings, parameters }
}

/// A function to be minimised; all of these are 0 at best.
pub(super) type Function = fn(&[f64]) -> f64;

/// A bowl.
pub(super) fn sphere(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// Axes a thousand times as long as others.
pub(super) fn ellipsoid(x: &[f64]) -> f64 {
    let power = |index: usize| 1e6_f64.powf(index as f64 / (x.len() - 1) as f64);
    x.iter().enumerate().map(|(index, x)| power(index) * x * x).sum()
}

/// A bent valley; best where all are 1.
pub(super) fn rosenbrock(x: &[f64]) -> f64 {
    x.windows(2).map(|pair| 100.0 * (pair[1] - pair[0] * pair[0]).powi(2) + (1.0 - pair[0]).powi(2)).sum()
}

/// A bowl with many dents.
pub(super) fn rastrigin(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x - 10.0 * (std::f64::consts::TAU * x).cos() + 10.0).sum()
}
