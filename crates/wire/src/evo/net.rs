use serde::{Deserialize, Serialize};

use super::{
    NotFinite,
    error::LineError,
    put_line, put_numbers, put_whole,
    words::{MAX_WHOLE, Words},
};

pub(super) const INDIVIDUAL: &str = "Individual";

/// Maximum of every count in [`NetParameters`] (D16).
pub const MAX_COUNT: usize = 1 << 20;
/// Maximum number of values of an individual (D5).
pub const MAX_VALUES: usize = 1 << 21;

/// Number and limits of the values of each neuron or weight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Genes {
    /// Number of values of each neuron or weight.
    pub values: usize,
    /// Minimum.
    pub low: f64,
    /// Maximum.
    pub high: f64,
}

/// The nets that a Robot Simulator accepts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NetParameters {
    /// Maximum number of concurrent evaluations (Cci).
    pub concurrent: usize,
    /// Global parameters; `values` is their number (Cgp, Lgp, Hgp).
    pub globals: Genes,
    /// Number of input neurons (Cin).
    pub inputs: usize,
    /// Values of each input neuron (Vin, Lin, Hin).
    pub input: Genes,
    /// Number of output neurons (Con).
    pub outputs: usize,
    /// Values of each output neuron (Von, Lon, Hon).
    pub output: Genes,
    /// Minimum number of hidden neurons (CIhn).
    pub hidden_min: usize,
    /// Maximum number of hidden neurons (CAhn).
    pub hidden_max: usize,
    /// Values of each hidden neuron (Vhn, Lhn, Hhn).
    pub hidden: Genes,
    /// Values of each weight (Vw, Lw, Hw).
    pub weight: Genes,
    /// Whether there are weights from input to output neurons (Fio).
    pub input_to_output: bool,
    /// Whether there are recurrent weights (Fre).
    pub recurrent: bool,
}

impl NetParameters {
    /// The number of values of an individual by kind: global, input, output, hidden, weight. `None` if the number of
    /// hidden neurons is out of range, or if there would be more than [`MAX_VALUES`] values.
    pub fn lengths(&self, hidden: usize) -> Option<[usize; 5]> {
        if !(self.hidden_min..=self.hidden_max).contains(&hidden) {
            return None;
        }
        let targets = hidden.checked_add(self.outputs)?;
        let weights = targets.checked_add(self.inputs)?.checked_mul(targets)?.checked_mul(self.weight.values)?;
        let lengths = [
            self.globals.values,
            self.inputs.checked_mul(self.input.values)?,
            self.outputs.checked_mul(self.output.values)?,
            hidden.checked_mul(self.hidden.values)?,
            weights,
        ];
        let sum = lengths.iter().try_fold(0_usize, |sum, &length| sum.checked_add(length))?;
        (sum <= MAX_VALUES).then_some(lengths)
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

    pub(super) fn decode(words: &mut Words<'_>) -> Result<Self, LineError> {
        Ok(Self {
            concurrent: words.count("Cci", MAX_COUNT)?,
            globals: genes(words, ["Cgp", "Lgp", "Hgp"])?,
            inputs: words.count("Cin", MAX_COUNT)?,
            input: genes(words, ["Vin", "Lin", "Hin"])?,
            outputs: words.count("Con", MAX_COUNT)?,
            output: genes(words, ["Von", "Lon", "Hon"])?,
            hidden_min: words.count("CIhn", MAX_COUNT)?,
            hidden_max: words.count("CAhn", MAX_COUNT)?,
            hidden: genes(words, ["Vhn", "Lhn", "Hhn"])?,
            weight: genes(words, ["Vw", "Lw", "Hw"])?,
            input_to_output: words.flag("Fio")?,
            recurrent: words.flag("Fre")?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) -> Result<(), NotFinite> {
        let put_genes = |out: &mut Vec<u8>, genes: &Genes| {
            put_whole(out, genes.values as u64);
            put_numbers(out, [&genes.low, &genes.high])
        };
        put_whole(out, self.concurrent as u64);
        put_genes(out, &self.globals)?;
        put_whole(out, self.inputs as u64);
        put_genes(out, &self.input)?;
        put_whole(out, self.outputs as u64);
        put_genes(out, &self.output)?;
        put_whole(out, self.hidden_min as u64);
        put_whole(out, self.hidden_max as u64);
        put_genes(out, &self.hidden)?;
        put_genes(out, &self.weight)?;
        put_whole(out, self.input_to_output.into());
        put_whole(out, self.recurrent.into());
        Ok(())
    }
}

fn genes(words: &mut Words<'_>, [count, low, high]: [&'static str; 3]) -> Result<Genes, LineError> {
    let values = words.count(count, MAX_COUNT)?;
    let [low, high] = words.numbers([low, high])?;
    Ok(Genes { values, low, high })
}

/// A genotype to evaluate.
///
/// The number of values of each kind depends on the net's parameters, which the message does not carry:
/// [`value_groups`](Self::value_groups).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Individual {
    /// Generation number (Gen).
    pub generation: u64,
    /// Number within the generation (Ind).
    pub number: u64,
    /// Number of hidden neurons (Chn).
    pub hidden: usize,
    /// All values in wire order: global, input, output, hidden, weights row by row.
    pub values: Vec<f64>,
}

/// The values of an individual by kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueGroups<'a> {
    /// Global parameters.
    pub globals: &'a [f64],
    /// Input neurons, neuron by neuron.
    pub inputs: &'a [f64],
    /// Output neurons, neuron by neuron.
    pub outputs: &'a [f64],
    /// Hidden neurons, neuron by neuron.
    pub hidden: &'a [f64],
    /// The weight matrix row by row, all values of a weight together (D17).
    pub weights: &'a [f64],
}

/// An individual does not match the parameters of a net.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// The number of hidden neurons is not allowed.
    #[error("Chn is {hidden}, outside {min}..={max}, or the net would be too large")]
    Hidden {
        /// The number as received.
        hidden: usize,
        /// Minimum.
        min: usize,
        /// Maximum.
        max: usize,
    },
    /// The number of values is wrong.
    #[error("an individual with {hidden} hidden neurons has {expected} values, not {found}")]
    Values {
        /// Number of hidden neurons.
        hidden: usize,
        /// Number of values the net needs.
        expected: usize,
        /// Number of values received.
        found: usize,
    },
}

impl Individual {
    /// Splits the values by kind, according to the net's parameters.
    ///
    /// # Errors
    ///
    /// [`ShapeError`] if they do not match the parameters.
    pub fn value_groups(&self, net: &NetParameters) -> Result<ValueGroups<'_>, ShapeError> {
        let Self { hidden, ref values, .. } = *self;
        let wrong = ShapeError::Hidden { hidden, min: net.hidden_min, max: net.hidden_max };
        let lengths = net.lengths(hidden).ok_or(wrong)?;
        let expected = lengths.iter().sum();
        if values.len() != expected {
            return Err(ShapeError::Values { hidden, expected, found: values.len() });
        }
        let mut rest = values.as_slice();
        let [globals, inputs, outputs, hidden, weights] = lengths.map(|length| {
            let (part, others) = rest.split_at_checked(length).unwrap_or_default();
            rest = others;
            part
        });
        Ok(ValueGroups { globals, inputs, outputs, hidden, weights })
    }

    /// Appends the message [`ToRobot::Individual`](super::ToRobot::Individual) with its line terminator.
    ///
    /// # Errors
    ///
    /// As [`Line::encode`](super::Line::encode).
    pub fn encode_line(&self, out: &mut Vec<u8>) -> Result<(), NotFinite> {
        put_line(out, INDIVIDUAL, |out| self.encode(out))
    }

    pub(super) fn decode(words: &mut Words<'_>) -> Result<Self, LineError> {
        Ok(Self {
            generation: words.whole("Gen", 0, MAX_WHOLE)?,
            number: words.whole("Ind", 0, MAX_WHOLE)?,
            hidden: words.count("Chn", MAX_COUNT)?,
            values: words.all("a value of the individual", MAX_VALUES)?,
        })
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), NotFinite> {
        put_whole(out, self.generation);
        put_whole(out, self.number);
        put_whole(out, self.hidden as u64);
        put_numbers(out, &self.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> NetParameters {
        let weight = Genes { values: 1, low: -10.0, high: 10.0 };
        NetParameters { inputs: 2, outputs: 2, hidden_max: 2, weight, ..NetParameters::default() }
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
}
