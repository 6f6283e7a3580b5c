//! Where the genes of a net are, for nets of any size; and changes that keep each gene with its neurons.
//!
//! Hidden neurons come last among the rows and among the columns of the weight matrix. So a weight has the same row and
//! column in nets of all sizes, but another index in the vector, and genes are found by [`Place`] and never by index.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::variation::{normal, reflect};
use crate::genotype::{Genes, Genotype, NetParameters};

/// Where a gene is, whatever the size of the net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Global(usize),
    Input(usize),
    Output(usize),
    Hidden(usize),
    Weight { row: usize, column: usize, value: usize },
}

/// A gene that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gene {
    pub(super) place: Place,
    low: f64,
    high: f64,
}

impl Gene {
    /// From 0..=1 to the gene's range.
    pub(super) fn value(&self, unit: f64) -> f64 {
        // the difference of the limits may be too large for a number, so it is not taken
        (self.low * (1.0 - unit) + self.high * unit).clamp(self.low, self.high)
    }

    /// From the gene's range to 0..=1.
    pub(super) fn unit(&self, value: f64) -> f64 {
        ((value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)).clamp(0.0, 1.0)
    }
}

/// What a value is that means nothing: 0, or the nearest that is allowed.
pub(super) fn rest(genes: Genes) -> f64 {
    if genes.values == 0 { 0.0 } else { 0.0_f64.clamp(genes.low, genes.high) }
}

/// A value drawn evenly from its range.
pub(super) fn drawn(of: Genes, rng: &mut ChaCha8Rng) -> f64 {
    Gene { place: Place::Global(0), low: of.low, high: of.high }.value(rng.random())
}

/// A value moved by a normal step of `sigma` times its range, and thrown back by the limits.
pub(super) fn moved(of: Genes, value: f64, sigma: f64, rng: &mut ChaCha8Rng) -> f64 {
    let gene = Gene { place: Place::Global(0), low: of.low, high: of.high };
    gene.value(reflect(gene.unit(value) + sigma * normal(rng)))
}

/// All genes of nets of one size that can be chosen: those of weights that exist, and with more than one value.
pub(super) struct Frame<'a> {
    pub(super) parameters: &'a NetParameters,
    pub(super) hidden: usize,
    pub(super) genes: Vec<Gene>,
}

impl<'a> Frame<'a> {
    pub(super) fn new(parameters: &'a NetParameters, hidden: usize) -> Self {
        let mut genes = Vec::new();
        let NetParameters { inputs, outputs, .. } = *parameters;
        let mut add = |of: Genes, count: usize, place: &dyn Fn(usize) -> Place| {
            let some = if of.low < of.high { count * of.values } else { 0 };
            genes.extend((0..some).map(|index| Gene { place: place(index), low: of.low, high: of.high }));
        };
        add(parameters.globals, 1, &Place::Global);
        add(parameters.input, inputs, &Place::Input);
        add(parameters.output, outputs, &Place::Output);
        add(parameters.hidden, hidden, &Place::Hidden);
        for row in 0..outputs + hidden {
            for column in 0..inputs + outputs + hidden {
                if parameters.connects(row, column) {
                    add(parameters.weight, 1, &|value| Place::Weight { row, column, value });
                }
            }
        }
        Self { parameters, hidden, genes }
    }

    /// The net with these genes, each from 0 to 1.
    pub(super) fn genotype(&self, units: &[f64]) -> Genotype {
        let mut genotype = blank(self.parameters, self.hidden);
        for (gene, &unit) in self.genes.iter().zip(units) {
            set(self.parameters, &mut genotype, gene.place, gene.value(unit));
        }
        genotype
    }

    /// The genes of a net, each from 0 to 1; those which it does not have as in `others`.
    pub(super) fn units_or(&self, genotype: &Genotype, others: &[f64]) -> Vec<f64> {
        let unit = |(gene, &other): (&Gene, &f64)| match get(self.parameters, genotype, gene.place) {
            Some(value) => gene.unit(value),
            None => other,
        };
        self.genes.iter().zip(others).map(unit).collect()
    }

    /// The genes of a net of this size, each from 0 to 1.
    pub(super) fn units(&self, genotype: &Genotype) -> Vec<f64> {
        self.units_or(genotype, &vec![0.5; self.genes.len()])
    }
}

/// A net whose weights are all 0.
pub(super) fn blank(parameters: &NetParameters, hidden: usize) -> Genotype {
    let filled = |of: Genes, count: usize| vec![rest(of); count * of.values];
    let mut genotype = Genotype {
        hidden,
        globals: filled(parameters.globals, 1),
        input_values: filled(parameters.input, parameters.inputs),
        output_values: filled(parameters.output, parameters.outputs),
        hidden_values: filled(parameters.hidden, hidden),
        weights: vec![0.0; parameters.weights(hidden)],
    };
    fill_weights(parameters, &mut genotype, rest(parameters.weight));
    genotype
}

/// Gives all weights that exist this value.
fn fill_weights(parameters: &NetParameters, genotype: &mut Genotype, value: f64) {
    let columns = parameters.inputs + parameters.outputs + genotype.hidden;
    for (index, values) in genotype.weights.chunks_mut(parameters.weight.values.max(1)).enumerate() {
        if parameters.connects(index / columns, index % columns) {
            values.fill(value);
        }
    }
}

/// The index of a weight's value in the vector of a net; none if the net has no such neuron.
pub(super) fn weight_index(parameters: &NetParameters, hidden: usize, place: [usize; 3]) -> Option<usize> {
    let [row, column, value] = place;
    let (rows, columns) = (parameters.outputs + hidden, parameters.inputs + parameters.outputs + hidden);
    (row < rows && column < columns).then(|| (row * columns + column) * parameters.weight.values + value)
}

/// A gene of a net; none if the net has no such neuron.
pub(super) fn get(parameters: &NetParameters, genotype: &Genotype, place: Place) -> Option<f64> {
    let (values, index) = match place {
        Place::Global(index) => (&genotype.globals, index),
        Place::Input(index) => (&genotype.input_values, index),
        Place::Output(index) => (&genotype.output_values, index),
        Place::Hidden(index) => (&genotype.hidden_values, index),
        Place::Weight { row, column, value } => {
            (&genotype.weights, weight_index(parameters, genotype.hidden, [row, column, value])?)
        }
    };
    values.get(index).copied()
}

/// Changes a gene of a net; a net without that neuron stays as it is.
pub(super) fn set(parameters: &NetParameters, genotype: &mut Genotype, place: Place, value: f64) {
    let (values, index) = match place {
        Place::Global(index) => (&mut genotype.globals, Some(index)),
        Place::Input(index) => (&mut genotype.input_values, Some(index)),
        Place::Output(index) => (&mut genotype.output_values, Some(index)),
        Place::Hidden(index) => (&mut genotype.hidden_values, Some(index)),
        Place::Weight { row, column, value } => {
            let index = weight_index(parameters, genotype.hidden, [row, column, value]);
            (&mut genotype.weights, index)
        }
    };
    if let Some(gene) = index.and_then(|index| values.get_mut(index)) {
        *gene = value;
    }
}

/// A net with genes drawn evenly from their ranges.
pub(super) fn random(parameters: &NetParameters, hidden: usize, rng: &mut ChaCha8Rng) -> Genotype {
    let frame = Frame::new(parameters, hidden);
    let units: Vec<f64> = frame.genes.iter().map(|_| rng.random()).collect();
    frame.genotype(&units)
}

/// A net for the first generation: random, of any size up to `most` hidden neurons.
pub(super) fn first(parameters: &NetParameters, most: usize, rng: &mut ChaCha8Rng) -> Genotype {
    let hidden = rng.random_range(parameters.hidden_min..=most.max(parameters.hidden_min));
    random(parameters, hidden, rng)
}

/// A child of two nets, as large as one of them. A neuron comes with its values and its incoming weights from one
/// parent; what that one does not have comes from the other.
pub(super) fn cross(parameters: &NetParameters, a: &Genotype, b: &Genotype, rng: &mut ChaCha8Rng) -> Genotype {
    let (size_of, other) = if rng.random() { (a, b) } else { (b, a) };
    let frame = Frame::new(parameters, size_of.hidden);
    let inputs: Vec<bool> = (0..parameters.inputs).map(|_| rng.random()).collect();
    let rows: Vec<bool> = (0..parameters.outputs + size_of.hidden).map(|_| rng.random()).collect();
    let mut child = size_of.clone();
    for gene in &frame.genes {
        let from_other = match gene.place {
            Place::Global(_) => rng.random(),
            Place::Input(index) => inputs[index / parameters.input.values],
            Place::Output(index) => rows[index / parameters.output.values],
            Place::Hidden(index) => rows[parameters.outputs + index / parameters.hidden.values],
            Place::Weight { row, .. } => rows[row],
        };
        if let Some(value) = get(parameters, other, gene.place).filter(|_| from_other) {
            set(parameters, &mut child, gene.place, value);
        }
    }
    child
}

/// Moves each gene with the chance `rate`, but at least one, by normal steps of `sigma` times its range.
pub(super) fn mutate(parameters: &NetParameters, genotype: &mut Genotype, rate: f64, sigma: f64, rng: &mut ChaCha8Rng) {
    let frame = Frame::new(parameters, genotype.hidden);
    if frame.genes.is_empty() {
        return;
    }
    let sure = rng.random_range(0..frame.genes.len());
    for (index, gene) in frame.genes.iter().enumerate() {
        if (index == sure && rate > 0.0) || rng.random_bool(rate) {
            let unit = gene.unit(get(parameters, genotype, gene.place).unwrap_or_default());
            set(parameters, genotype, gene.place, gene.value(reflect(unit + sigma * normal(rng))));
        }
    }
}

/// Adds or takes away a hidden neuron, with these chances and within the limits.
pub(super) fn resize(
    parameters: &NetParameters,
    genotype: Genotype,
    [add, remove]: [f64; 2],
    rng: &mut ChaCha8Rng,
) -> Genotype {
    let (grow, shrink) = (rng.random_bool(add), rng.random_bool(remove));
    if grow && genotype.hidden < parameters.hidden_max {
        // the newcomer listens at random and is not heard yet, so that the net does the same as before
        let mut larger = random(parameters, genotype.hidden + 1, rng);
        let newcomer = parameters.inputs + parameters.outputs + genotype.hidden;
        for gene in &Frame::new(parameters, genotype.hidden + 1).genes {
            let value = match gene.place {
                Place::Weight { column, .. } if column == newcomer => Some(rest(parameters.weight)),
                place => get(parameters, &genotype, place),
            };
            if let Some(value) = value {
                set(parameters, &mut larger, gene.place, value);
            }
        }
        larger
    } else if shrink && genotype.hidden > parameters.hidden_min {
        without(parameters, &genotype, rng.random_range(0..genotype.hidden))
    } else {
        genotype
    }
}

/// A net without one of its hidden neurons.
fn without(parameters: &NetParameters, genotype: &Genotype, gone: usize) -> Genotype {
    let NetParameters { inputs, outputs, .. } = *parameters;
    let mut smaller = blank(parameters, genotype.hidden - 1);
    let old_row = |row: usize| if row >= outputs + gone { row + 1 } else { row };
    let old_column = |column: usize| if column >= inputs + outputs + gone { column + 1 } else { column };
    for gene in &Frame::new(parameters, genotype.hidden - 1).genes {
        let old = match gene.place {
            Place::Hidden(index) if index >= gone * parameters.hidden.values => {
                Place::Hidden(index + parameters.hidden.values)
            }
            Place::Weight { row, column, value } => {
                Place::Weight { row: old_row(row), column: old_column(column), value }
            }
            place => place,
        };
        set(parameters, &mut smaller, gene.place, get(parameters, genotype, old).unwrap_or_default());
    }
    smaller
}

/// Mean of the absolute values of the weights that exist, as a share of the largest one allowed, 0 to 1.
pub(super) fn mean_weight(parameters: &NetParameters, genotype: &Genotype) -> f64 {
    let columns = parameters.inputs + parameters.outputs + genotype.hidden;
    let largest = parameters.weight.low.abs().max(parameters.weight.high.abs());
    let (mut sum, mut count) = (0.0, 0_usize);
    for (index, values) in genotype.weights.chunks(parameters.weight.values.max(1)).enumerate() {
        if parameters.connects(index / columns, index % columns) {
            sum += values.iter().map(|value| value.abs() / largest).sum::<f64>();
            count += values.len();
        }
    }
    if count == 0 || largest == 0.0 { 0.0 } else { sum / count as f64 }
}

/// How different nets are: for each net the root mean square of its genes' distances from their means, as shares of
/// their ranges; of that the mean over the nets. 0 when all are the same, about 0.29 when genes are evenly spread.
pub(super) fn diversity(parameters: &NetParameters, nets: &[Genotype]) -> f64 {
    let largest = nets.iter().map(|net| net.hidden).max().unwrap_or_default();
    let frame = Frame::new(parameters, largest);
    let (mut sums, mut counts) = (vec![0.0; frame.genes.len()], vec![0_usize; frame.genes.len()]);
    let units = |net| {
        let unit = move |gene: &Gene| get(parameters, net, gene.place).map(|value| gene.unit(value));
        frame.genes.iter().map(unit).enumerate().filter_map(|(index, unit)| Some((index, unit?)))
    };
    for (index, unit) in nets.iter().flat_map(units) {
        sums[index] += unit;
        counts[index] += 1;
    }
    let distance = |net| {
        let (mut squares, mut count) = (0.0, 0_usize);
        for (index, unit) in units(net) {
            squares += (unit - sums[index] / counts[index] as f64).powi(2);
            count += 1;
        }
        (squares / count.max(1) as f64).sqrt()
    };
    nets.iter().map(distance).sum::<f64>() / nets.len().max(1) as f64
}

#[cfg(test)]
mod tests;
