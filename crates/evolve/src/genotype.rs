//! The structure of nets and the genes that encode them.

use serde::{Deserialize, Serialize};

/// Number and limits of the values of each neuron or weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Genes {
    /// Number of values of each neuron or weight.
    pub values: usize,
    /// Minimum.
    pub low: f64,
    /// Maximum.
    pub high: f64,
}

/// The nets that a Robot Simulator accepts: the message `NetParameters`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetParameters {
    /// Maximum number of concurrent evaluations (Cci).
    pub concurrent: usize,
    /// Global parameters; `values` is their number (Cgp).
    pub globals: Genes,
    /// Number of input neurons (Cin).
    pub inputs: usize,
    /// Values of each input neuron.
    pub input: Genes,
    /// Number of output neurons (Con).
    pub outputs: usize,
    /// Values of each output neuron.
    pub output: Genes,
    /// Minimum number of hidden neurons (CIhn).
    pub hidden_min: usize,
    /// Maximum number of hidden neurons (CAhn).
    pub hidden_max: usize,
    /// Values of each hidden neuron.
    pub hidden: Genes,
    /// Values of each weight.
    pub weight: Genes,
    /// Whether input neurons connect to output neurons (Fio).
    pub input_to_output: bool,
    /// Whether there are recurrent weights (Fre).
    pub recurrent: bool,
}

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

impl NetParameters {
    /// Validates the parameters.
    ///
    /// # Errors
    ///
    /// The first contradiction or exceeded limit.
    pub fn check(&self) -> Result<(), ParametersError> {
        for (of, genes) in [
            ("the global parameters", self.globals),
            ("input neurons", self.input),
            ("output neurons", self.output),
            ("hidden neurons", self.hidden),
            ("weights", self.weight),
        ] {
            let within = genes.low.is_finite() && genes.high.is_finite() && genes.low <= genes.high;
            if genes.values > 0 && !within {
                return Err(ParametersError::Limits { of, low: genes.low, high: genes.high });
            }
        }
        if self.hidden_min > self.hidden_max {
            return Err(ParametersError::Hidden { min: self.hidden_min, max: self.hidden_max });
        }
        for (of, count) in [("output neuron", self.outputs), ("concurrent evaluation", self.concurrent)] {
            if count == 0 {
                return Err(ParametersError::None { of });
            }
        }
        let sizes = [self.inputs, self.outputs, self.hidden_max, self.weight.values, self.globals.values];
        let largest = sizes.iter().all(|&size| size <= MAX_WEIGHTS).then(|| self.weights(self.hidden_max));
        match largest {
            Some(weights) if weights <= MAX_WEIGHTS => Ok(()),
            other => Err(ParametersError::TooLarge { weights: other.unwrap_or(usize::MAX), max: MAX_WEIGHTS }),
        }
    }

    /// The parameters without the concurrency: what all Robot Simulators of a run must agree on.
    pub fn nets(&self) -> Self {
        Self { concurrent: 1, ..self.clone() }
    }

    /// Number of weight values (Nw) of a net with `hidden` hidden neurons.
    pub fn weights(&self, hidden: usize) -> usize {
        let (rows, columns) = (self.outputs + hidden, self.inputs + self.outputs + hidden);
        rows.saturating_mul(columns).saturating_mul(self.weight.values)
    }

    /// Whether the weight from the neuron of `column` (inputs, outputs, hidden) to that of `row` (outputs, hidden) exists.
    /// Other weights are sent as 0 and have no effect.
    pub fn connects(&self, row: usize, column: usize) -> bool {
        let Some(source) = column.checked_sub(self.inputs) else {
            return self.input_to_output || row >= self.outputs;
        };
        let (from_output, to_output) = (source < self.outputs, row < self.outputs);
        // without recurrence, activity flows from the inputs through the hidden neurons, in order, to the outputs
        self.recurrent || (!from_output && (to_output || source < row))
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
    fn the_count_of_weights_follows_the_hidden_neurons() {
        let parameters = small();
        // 3.1: the example has eight
        assert_eq!([0, 1, 2].map(|hidden| parameters.weights(hidden)), [8, 15, 24]);
    }

    #[test]
    fn flags_say_which_weights_exist() {
        let matrix = |parameters: &NetParameters| -> Vec<String> {
            let row = |row| (0..6).map(|column| if parameters.connects(row, column) { 'x' } else { '.' }).collect();
            (0..4).map(row).collect()
        };
        let cases = [
            ((true, true), ["xxxxxx", "xxxxxx", "xxxxxx", "xxxxxx"]),
            ((false, true), ["..xxxx", "..xxxx", "xxxxxx", "xxxxxx"]),
            ((true, false), ["xx..xx", "xx..xx", "xx....", "xx..x."]),
            ((false, false), ["....xx", "....xx", "xx....", "xx..x."]),
        ];
        for ((input_to_output, recurrent), expected) in cases {
            assert_eq!(matrix(&NetParameters { input_to_output, recurrent, ..small() }), expected);
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
            assert_eq!(parameters.check().map_err(|error| error.to_string()), Err(expected.to_owned()));
        }
        assert!(NetParameters { hidden_max: usize::MAX, ..small() }.check().is_err());
        assert_eq!(small().check(), Ok(()));
    }
}
