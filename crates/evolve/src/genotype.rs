//! What a net may look like, and the genes that describe one.

use serde::{Deserialize, Serialize};

/// How many values each neuron or weight has, and between which limits they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Genes {
    /// Values for each.
    pub values: usize,
    /// Lowest value.
    pub low: f64,
    /// Highest value.
    pub high: f64,
}

/// What nets a Robot Simulator can handle: the message `NetParameters`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetParameters {
    /// Greatest count of individuals at once (Cci).
    pub concurrent: usize,
    /// The global parameters: `values` is their count (Cgp).
    pub globals: Genes,
    /// Count of input neurons (Cin).
    pub inputs: usize,
    /// Of each input neuron.
    pub input: Genes,
    /// Count of output neurons (Con).
    pub outputs: usize,
    /// Of each output neuron.
    pub output: Genes,
    /// Least count of hidden neurons (CIhn).
    pub hidden_min: usize,
    /// Greatest count of hidden neurons (CAhn).
    pub hidden_max: usize,
    /// Of each hidden neuron.
    pub hidden: Genes,
    /// Of each weight.
    pub weight: Genes,
    /// Whether there are weights from input to output neurons (Fio).
    pub input_to_output: bool,
    /// Whether there are recurrent weights (Fre).
    pub recurrent: bool,
}

/// Why no run can be started with some parameters.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParametersError {
    /// Limits the wrong way round, or not numbers.
    #[error("the values of {of} cannot be between {low} and {high}")]
    Limits {
        /// What they limit.
        of: &'static str,
        /// The lowest value.
        low: f64,
        /// The highest value.
        high: f64,
    },
    /// The least count of hidden neurons is above the greatest.
    #[error("there cannot be at least {min} and at most {max} hidden neurons")]
    Hidden {
        /// The least count.
        min: usize,
        /// The greatest count.
        max: usize,
    },
    /// Nothing to control, or nobody to be tested.
    #[error("there must be at least one {of}")]
    None {
        /// What there is none of.
        of: &'static str,
    },
    /// More than a net may have.
    #[error("a net of {weights} weights is too large; at most {max} are allowed")]
    TooLarge {
        /// Weight values of the largest net.
        weights: usize,
        /// What is allowed.
        max: usize,
    },
}

/// Most weight values of a net.
pub const MAX_WEIGHTS: usize = 1 << 20;

impl NetParameters {
    /// Checks that a run can be started with these.
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
        for (of, count) in [("output neuron", self.outputs), ("individual at a time", self.concurrent)] {
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

    /// The same nets, whatever the count of individuals at once: what two Robot Simulators of a run must agree on.
    pub fn nets(&self) -> Self {
        Self { concurrent: 1, ..self.clone() }
    }

    /// Weight values (Nw) of a net with so many hidden neurons.
    pub fn weights(&self, hidden: usize) -> usize {
        let (rows, columns) = (self.outputs + hidden, self.inputs + self.outputs + hidden);
        rows.saturating_mul(columns).saturating_mul(self.weight.values)
    }

    /// Whether a weight exists: from the neuron of `column` (inputs, outputs, hidden) to that of `row` (outputs, hidden).
    /// The others are sent as 0 and have no effect.
    pub fn connects(&self, row: usize, column: usize) -> bool {
        let Some(source) = column.checked_sub(self.inputs) else {
            return self.input_to_output || row >= self.outputs;
        };
        let (from_output, to_output) = (source < self.outputs, row < self.outputs);
        // without recurrence a net runs from inputs through the hidden neurons, in their order, to the outputs
        self.recurrent || (!from_output && (to_output || source < row))
    }
}

/// The genes of an individual: the message `Individual` without its numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Genotype {
    /// Count of hidden neurons (Chn).
    pub hidden: usize,
    /// Global parameters.
    pub globals: Vec<f64>,
    /// Of the input neurons, neuron by neuron.
    pub input_values: Vec<f64>,
    /// Of the output neurons, neuron by neuron.
    pub output_values: Vec<f64>,
    /// Of the hidden neurons, neuron by neuron.
    pub hidden_values: Vec<f64>,
    /// Row by row of the matrix, all values of a weight together. Rows are output, then hidden neurons; columns are
    /// input, output, then hidden neurons.
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
                "the values of weights cannot be between 1 and -1",
            ),
            (
                NetParameters { weight: weight(0.0, f64::NAN), ..small() },
                "the values of weights cannot be between 0 and NaN",
            ),
            (NetParameters { hidden_min: 3, ..small() }, "there cannot be at least 3 and at most 2 hidden neurons"),
            (NetParameters { outputs: 0, ..small() }, "there must be at least one output neuron"),
            (NetParameters { concurrent: 0, ..small() }, "there must be at least one individual at a time"),
        ];
        for (parameters, expected) in cases {
            assert_eq!(parameters.check().map_err(|error| error.to_string()), Err(expected.to_owned()));
        }
        assert!(NetParameters { hidden_max: usize::MAX, ..small() }.check().is_err());
        assert_eq!(small().check(), Ok(()));
    }
}
