//! The layout of the genes for nets of any size, and genetic operators that keep each gene with its neurons.
//!
//! Hidden neurons are the last rows and columns of the weight matrix. So a weight has the same row and column in nets of all
//! sizes, but a different index in the vector: genes are addressed by [`Locus`], never by index.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::variation::{normal, reflect};
use crate::genotype::{Genes, Genotype, NetParameters};

/// The position of a gene, independent of the size of the net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Locus {
    Global(usize),
    Input(usize),
    Output(usize),
    Hidden(usize),
    Weight { row: usize, column: usize, value: usize },
}

/// A gene that can vary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gene {
    pub(super) locus: Locus,
    low: f64,
    high: f64,
}

impl Gene {
    /// Scales from 0..=1 to the gene's range.
    pub(super) fn value(&self, unit: f64) -> f64 {
        // without the difference of the limits, which may overflow
        (self.low * (1.0 - unit) + self.high * unit).clamp(self.low, self.high)
    }

    /// Scales from the gene's range to 0..=1.
    pub(super) fn unit(&self, value: f64) -> f64 {
        ((value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)).clamp(0.0, 1.0)
    }
}

/// The neutral value: 0, or the nearest within the limits.
pub(super) fn neutral(genes: Genes) -> f64 {
    if genes.values == 0 { 0.0 } else { 0.0_f64.clamp(genes.low, genes.high) }
}

/// A uniformly random value.
pub(super) fn random_value(of: Genes, rng: &mut ChaCha8Rng) -> f64 {
    Gene { locus: Locus::Global(0), low: of.low, high: of.high }.value(rng.random())
}

/// A value mutated by a normal step of `sigma` times its range, reflected at the limits.
pub(super) fn mutated_value(of: Genes, value: f64, sigma: f64, rng: &mut ChaCha8Rng) -> f64 {
    let gene = Gene { locus: Locus::Global(0), low: of.low, high: of.high };
    gene.value(reflect(gene.unit(value) + sigma * normal(rng)))
}

/// The variable genes of nets of one size: those of existing weights, and with a range that is not empty.
pub(super) struct GenomeLayout<'a> {
    pub(super) parameters: &'a NetParameters,
    pub(super) hidden: usize,
    pub(super) genes: Vec<Gene>,
}

impl<'a> GenomeLayout<'a> {
    pub(super) fn new(parameters: &'a NetParameters, hidden: usize) -> Self {
        let mut genes = Vec::new();
        let NetParameters { inputs, outputs, .. } = *parameters;
        let mut add = |of: Genes, count: usize, locus: &dyn Fn(usize) -> Locus| {
            let some = if of.low < of.high { count * of.values } else { 0 };
            genes.extend((0..some).map(|index| Gene { locus: locus(index), low: of.low, high: of.high }));
        };
        add(parameters.globals, 1, &Locus::Global);
        add(parameters.input, inputs, &Locus::Input);
        add(parameters.output, outputs, &Locus::Output);
        add(parameters.hidden, hidden, &Locus::Hidden);
        for row in 0..outputs + hidden {
            for column in 0..inputs + outputs + hidden {
                if parameters.connects(row, column) {
                    add(parameters.weight, 1, &|value| Locus::Weight { row, column, value });
                }
            }
        }
        Self { parameters, hidden, genes }
    }

    /// The net with these genes, scaled to 0..=1.
    pub(super) fn genotype(&self, units: &[f64]) -> Genotype {
        let mut genotype = blank(self.parameters, self.hidden);
        for (gene, &unit) in self.genes.iter().zip(units) {
            set(self.parameters, &mut genotype, gene.locus, gene.value(unit));
        }
        genotype
    }

    /// The genes of a net, scaled to 0..=1; those it lacks are taken from `others`.
    pub(super) fn units_or(&self, genotype: &Genotype, others: &[f64]) -> Vec<f64> {
        let unit = |(gene, &other): (&Gene, &f64)| match get(self.parameters, genotype, gene.locus) {
            Some(value) => gene.unit(value),
            None => other,
        };
        self.genes.iter().zip(others).map(unit).collect()
    }

    /// The genes of a net of this size, scaled to 0..=1.
    pub(super) fn units(&self, genotype: &Genotype) -> Vec<f64> {
        self.units_or(genotype, &vec![0.5; self.genes.len()])
    }
}

/// A net with all values neutral.
pub(super) fn blank(parameters: &NetParameters, hidden: usize) -> Genotype {
    let filled = |of: Genes, count: usize| vec![neutral(of); count * of.values];
    let mut genotype = Genotype {
        hidden,
        globals: filled(parameters.globals, 1),
        input_values: filled(parameters.input, parameters.inputs),
        output_values: filled(parameters.output, parameters.outputs),
        hidden_values: filled(parameters.hidden, hidden),
        weights: vec![0.0; parameters.weights(hidden)],
    };
    fill_weights(parameters, &mut genotype, neutral(parameters.weight));
    genotype
}

/// Sets all existing weights to `value`.
fn fill_weights(parameters: &NetParameters, genotype: &mut Genotype, value: f64) {
    let columns = parameters.inputs + parameters.outputs + genotype.hidden;
    for (index, values) in genotype.weights.chunks_mut(parameters.weight.values.max(1)).enumerate() {
        if parameters.connects(index / columns, index % columns) {
            values.fill(value);
        }
    }
}

/// The index of a weight's value in the vector of a net; `None` if the net lacks a neuron.
pub(super) fn weight_index(parameters: &NetParameters, hidden: usize, locus: [usize; 3]) -> Option<usize> {
    let [row, column, value] = locus;
    let (rows, columns) = (parameters.outputs + hidden, parameters.inputs + parameters.outputs + hidden);
    (row < rows && column < columns).then(|| (row * columns + column) * parameters.weight.values + value)
}

/// A gene of a net; `None` if the net lacks its neuron.
pub(super) fn get(parameters: &NetParameters, genotype: &Genotype, locus: Locus) -> Option<f64> {
    let (values, index) = match locus {
        Locus::Global(index) => (&genotype.globals, index),
        Locus::Input(index) => (&genotype.input_values, index),
        Locus::Output(index) => (&genotype.output_values, index),
        Locus::Hidden(index) => (&genotype.hidden_values, index),
        Locus::Weight { row, column, value } => {
            (&genotype.weights, weight_index(parameters, genotype.hidden, [row, column, value])?)
        }
    };
    values.get(index).copied()
}

/// Sets a gene of a net; does nothing if the net lacks its neuron.
pub(super) fn set(parameters: &NetParameters, genotype: &mut Genotype, locus: Locus, value: f64) {
    let (values, index) = match locus {
        Locus::Global(index) => (&mut genotype.globals, Some(index)),
        Locus::Input(index) => (&mut genotype.input_values, Some(index)),
        Locus::Output(index) => (&mut genotype.output_values, Some(index)),
        Locus::Hidden(index) => (&mut genotype.hidden_values, Some(index)),
        Locus::Weight { row, column, value } => {
            let index = weight_index(parameters, genotype.hidden, [row, column, value]);
            (&mut genotype.weights, index)
        }
    };
    if let Some(gene) = index.and_then(|index| values.get_mut(index)) {
        *gene = value;
    }
}

/// A net with uniformly random genes.
pub(super) fn random(parameters: &NetParameters, hidden: usize, rng: &mut ChaCha8Rng) -> Genotype {
    let layout = GenomeLayout::new(parameters, hidden);
    let units: Vec<f64> = layout.genes.iter().map(|_| rng.random()).collect();
    layout.genotype(&units)
}

/// A net for the first generation: random, with up to `most` hidden neurons.
pub(super) fn first(parameters: &NetParameters, most: usize, rng: &mut ChaCha8Rng) -> Genotype {
    let hidden = rng.random_range(parameters.hidden_min..=most.max(parameters.hidden_min));
    random(parameters, hidden, rng)
}

/// Crossover: a child with the size of one parent. Each neuron inherits its values and incoming weights from one parent;
/// what that one lacks comes from the other.
pub(super) fn cross(parameters: &NetParameters, a: &Genotype, b: &Genotype, rng: &mut ChaCha8Rng) -> Genotype {
    let (size_of, other) = if rng.random() { (a, b) } else { (b, a) };
    let layout = GenomeLayout::new(parameters, size_of.hidden);
    let inputs: Vec<bool> = (0..parameters.inputs).map(|_| rng.random()).collect();
    let rows: Vec<bool> = (0..parameters.outputs + size_of.hidden).map(|_| rng.random()).collect();
    let mut child = size_of.clone();
    for gene in &layout.genes {
        let from_other = match gene.locus {
            Locus::Global(_) => rng.random(),
            Locus::Input(index) => inputs[index / parameters.input.values],
            Locus::Output(index) => rows[index / parameters.output.values],
            Locus::Hidden(index) => rows[parameters.outputs + index / parameters.hidden.values],
            Locus::Weight { row, .. } => rows[row],
        };
        if let Some(value) = get(parameters, other, gene.locus).filter(|_| from_other) {
            set(parameters, &mut child, gene.locus, value);
        }
    }
    child
}

/// Mutates each gene with probability `rate`, but at least one, by normal steps of `sigma` times its range.
pub(super) fn mutate(parameters: &NetParameters, genotype: &mut Genotype, rate: f64, sigma: f64, rng: &mut ChaCha8Rng) {
    let layout = GenomeLayout::new(parameters, genotype.hidden);
    if layout.genes.is_empty() {
        return;
    }
    let forced = rng.random_range(0..layout.genes.len());
    for (index, gene) in layout.genes.iter().enumerate() {
        if (index == forced && rate > 0.0) || rng.random_bool(rate) {
            let unit = gene.unit(get(parameters, genotype, gene.locus).unwrap_or_default());
            set(parameters, genotype, gene.locus, gene.value(reflect(unit + sigma * normal(rng))));
        }
    }
}

/// Adds or removes a hidden neuron with these probabilities, within the limits.
pub(super) fn resize(
    parameters: &NetParameters,
    genotype: Genotype,
    [add, remove]: [f64; 2],
    rng: &mut ChaCha8Rng,
) -> Genotype {
    let (grow, shrink) = (rng.random_bool(add), rng.random_bool(remove));
    if grow && genotype.hidden < parameters.hidden_max {
        // random incoming and neutral outgoing weights, so that the net behaves as before
        let mut larger = random(parameters, genotype.hidden + 1, rng);
        let newcomer = parameters.inputs + parameters.outputs + genotype.hidden;
        for gene in &GenomeLayout::new(parameters, genotype.hidden + 1).genes {
            let value = match gene.locus {
                Locus::Weight { column, .. } if column == newcomer => Some(neutral(parameters.weight)),
                locus => get(parameters, &genotype, locus),
            };
            if let Some(value) = value {
                set(parameters, &mut larger, gene.locus, value);
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
    for gene in &GenomeLayout::new(parameters, genotype.hidden - 1).genes {
        let old = match gene.locus {
            Locus::Hidden(index) if index >= gone * parameters.hidden.values => {
                Locus::Hidden(index + parameters.hidden.values)
            }
            Locus::Weight { row, column, value } => {
                Locus::Weight { row: old_row(row), column: old_column(column), value }
            }
            locus => locus,
        };
        set(parameters, &mut smaller, gene.locus, get(parameters, genotype, old).unwrap_or_default());
    }
    smaller
}

/// Mean absolute value of the existing weights, as a fraction of the maximum, 0 to 1.
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

/// The mean over the nets of the root mean square deviation of their genes from the genes' means, as fractions of their
/// ranges; see [`Search::diversity`](super::Search::diversity).
pub(super) fn diversity(parameters: &NetParameters, nets: &[Genotype]) -> f64 {
    let largest = nets.iter().map(|net| net.hidden).max().unwrap_or_default();
    let layout = GenomeLayout::new(parameters, largest);
    let (mut sums, mut counts) = (vec![0.0; layout.genes.len()], vec![0_usize; layout.genes.len()]);
    let units = |net| {
        let unit = move |gene: &Gene| get(parameters, net, gene.locus).map(|value| gene.unit(value));
        layout.genes.iter().map(unit).enumerate().filter_map(|(index, unit)| Some((index, unit?)))
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
