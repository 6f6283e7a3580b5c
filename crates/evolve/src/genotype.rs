//! The structure of nets and the genes that encode them.

use serde::{Deserialize, Serialize};
pub use wire::evo::{Genes, NetParameters};

/// Why net parameters are rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParametersError {
    /// Limits in the wrong order, or not finite.
    #[error("invalid limits {low} and {high} for the values of {of}")]
    Limits {
        /// What the limits apply to.
        of: &'static str,
        /// The lower limit.
        low: f64,
        /// The upper limit.
        high: f64,
    },
    /// The minimum number of hidden neurons exceeds the maximum.
    #[error("the minimum of {min} hidden neurons exceeds the maximum of {max}")]
    Hidden {
        /// The minimum.
        min: usize,
        /// The maximum.
        max: usize,
    },
    /// A number that must not be 0.
    #[error("at least one {of} is required")]
    None {
        /// What is missing.
        of: &'static str,
    },
    /// The largest net has too many weights.
    #[error("a net may have {weights} weights; at most {max} are allowed")]
    TooLarge {
        /// Number of weight values of the largest net.
        weights: usize,
        /// The limit.
        max: usize,
    },
}

/// Maximum number of weight values of a net.
pub const MAX_WEIGHTS: usize = 1 << 20;

/// Validates net parameters.
///
/// # Errors
///
/// The first contradiction or exceeded limit.
pub fn check(parameters: &NetParameters) -> Result<(), ParametersError> {
    for (of, genes) in [
        ("the global parameters", parameters.globals),
        ("input neurons", parameters.input),
        ("output neurons", parameters.output),
        ("hidden neurons", parameters.hidden),
        ("weights", parameters.weight),
    ] {
        let within = genes.low.is_finite() && genes.high.is_finite() && genes.low <= genes.high;
        if genes.values > 0 && !within {
            return Err(ParametersError::Limits { of, low: genes.low, high: genes.high });
        }
    }
    if parameters.hidden_min > parameters.hidden_max {
        return Err(ParametersError::Hidden { min: parameters.hidden_min, max: parameters.hidden_max });
    }
    for (of, count) in [("output neuron", parameters.outputs), ("concurrent evaluation", parameters.concurrent)] {
        if count == 0 {
            return Err(ParametersError::None { of });
        }
    }
    let sizes = [
        parameters.inputs,
        parameters.outputs,
        parameters.hidden_max,
        parameters.weight.values,
        parameters.globals.values,
    ];
    let largest = sizes.iter().all(|&size| size <= MAX_WEIGHTS).then(|| parameters.weights(parameters.hidden_max));
    match largest {
        Some(weights) if weights <= MAX_WEIGHTS => Ok(()),
        other => Err(ParametersError::TooLarge { weights: other.unwrap_or(usize::MAX), max: MAX_WEIGHTS }),
    }
}

/// The genes of an individual: the message `Individual` without its numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Genotype {
    /// Number of hidden neurons (Chn).
    pub hidden: usize,
    /// Global parameters.
    pub globals: Vec<f64>,
    /// Values of the input neurons, neuron by neuron.
    pub input_values: Vec<f64>,
    /// Values of the output neurons, neuron by neuron.
    pub output_values: Vec<f64>,
    /// Values of the hidden neurons, neuron by neuron.
    pub hidden_values: Vec<f64>,
    /// The weight matrix in row-major order, all values of a weight together. Rows are output and hidden neurons; columns
    /// are input, output and hidden neurons.
    pub weights: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> NetParameters {
        NetParameters {
            concurrent: 1,
            globals: Genes::default(),
            inputs: 2,
            input: Genes::default(),
            outputs: 2,
            output: Genes::default(),
            hidden_min: 0,
            hidden_max: 2,
            hidden: Genes::default(),
            weight: Genes { values: 1, low: -10.0, high: 10.0 },
            input_to_output: true,
            recurrent: true,
        }
    }

    #[test]
    fn parameters_without_sense_are_refused() {
        let weight = |low, high| Genes { values: 1, low, high };
        let cases = [
            (
                NetParameters { weight: weight(1.0, -1.0), ..small() },
                "invalid limits 1 and -1 for the values of weights",
            ),
            (
                NetParameters { weight: weight(0.0, f64::NAN), ..small() },
                "invalid limits 0 and NaN for the values of weights",
            ),
            (NetParameters { hidden_min: 3, ..small() }, "the minimum of 3 hidden neurons exceeds the maximum of 2"),
            (NetParameters { outputs: 0, ..small() }, "at least one output neuron is required"),
            (NetParameters { concurrent: 0, ..small() }, "at least one concurrent evaluation is required"),
        ];
        for (parameters, expected) in cases {
            assert_eq!(check(&parameters).map_err(|error| error.to_string()), Err(expected.to_owned()));
        }
        assert!(check(&NetParameters { hidden_max: usize::MAX, ..small() }).is_err());
        assert_eq!(check(&small()), Ok(()));
    }
}
