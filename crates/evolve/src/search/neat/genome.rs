//! The genome of NEAT: neurons and connections, each identified by its first appearance in the run.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::super::genes::{Locus, blank, mutated_value, random_value, set};
use crate::genotype::{Genes, Genotype, NetParameters};
use crate::search::SearchContext;

/// Fraction of the mutated genes that are replaced by random values.
const REPLACE_RATE: f64 = 0.1;
/// Probability that a connection disabled in either parent is disabled in the child.
const STAYS_DISABLED: f64 = 0.75;
/// Attempts to find a pair of neurons without a connection.
const CONNECTION_TRIES: usize = 20;

/// All neurons and connections of the run. Neurons are numbered: inputs, outputs, then hidden neurons by appearance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct InnovationHistory {
    /// Source and target of each connection; the index is its innovation number.
    ends: Vec<[usize; 2]>,
    /// A split connection and the hidden neuron that was inserted.
    splits: Vec<[usize; 2]>,
    /// Depth of each hidden neuron between the inputs (0) and the outputs (1).
    depths: Vec<f64>,
}

/// A hidden neuron.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Neuron {
    id: usize,
    values: Vec<f64>,
}

/// A connection; a disabled one is kept in the genome but is not part of the net.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Connection {
    innovation: usize,
    values: Vec<f64>,
    enabled: bool,
}

/// The genes of one net.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Genome {
    globals: Vec<f64>,
    input_values: Vec<f64>,
    output_values: Vec<f64>,
    /// Sorted by id.
    neurons: Vec<Neuron>,
    /// Sorted by innovation number.
    connections: Vec<Connection>,
}

impl InnovationHistory {
    /// The innovation number of a connection, a new one if it is new in the run.
    fn innovation(&mut self, ends: [usize; 2]) -> usize {
        self.ends.iter().position(|known| *known == ends).unwrap_or_else(|| {
            self.ends.push(ends);
            self.ends.len() - 1
        })
    }

    /// Depth of a neuron, and its id to order neurons of equal depth.
    fn order(&self, parameters: &NetParameters, id: usize) -> (f64, usize) {
        let fixed = parameters.inputs + parameters.outputs;
        let depth = if id < parameters.inputs { 0.0 } else { 1.0 };
        (id.checked_sub(fixed).map_or(depth, |hidden| self.depths[hidden]), id)
    }

    /// Whether the net parameters permit a connection.
    fn allows(&self, parameters: &NetParameters, [from, to]: [usize; 2]) -> bool {
        let fixed = parameters.inputs + parameters.outputs;
        let is_output = |id| (parameters.inputs..fixed).contains(&id);
        if to < parameters.inputs {
            false
        } else if from < parameters.inputs {
            parameters.input_to_output || to >= fixed
        } else {
            let forward =
                !is_output(from) && (is_output(to) || self.order(parameters, from) < self.order(parameters, to));
            parameters.recurrent || forward
        }
    }

    /// Registers a new hidden neuron; returns its id.
    fn add_neuron(&mut self, parameters: &NetParameters, depth: f64) -> usize {
        self.depths.push(depth);
        parameters.inputs + parameters.outputs + self.depths.len() - 1
    }
}

impl Genome {
    /// The smallest net that connects inputs and outputs, with random values.
    pub(super) fn first(parameters: &NetParameters, history: &mut InnovationHistory, rng: &mut ChaCha8Rng) -> Self {
        let NetParameters { inputs, outputs, .. } = *parameters;
        // if inputs do not connect to outputs directly, at least one hidden neuron is needed
        let needed = usize::from(!parameters.input_to_output);
        let hidden = parameters.hidden_min.max(needed).min(parameters.hidden_max);
        while history.depths.len() < hidden {
            history.add_neuron(parameters, 0.5);
        }
        let fixed = inputs + outputs;
        let mut pairs: Vec<[usize; 2]> = Vec::new();
        if parameters.input_to_output {
            pairs.extend((0..inputs).flat_map(|from| (inputs..fixed).map(move |to| [from, to])));
        }
        for neuron in fixed..fixed + hidden {
            pairs.extend((0..inputs).map(|from| [from, neuron]));
            pairs.extend((inputs..fixed).map(|to| [neuron, to]));
        }
        if history.ends.is_empty() {
            history.ends.clone_from(&pairs);
        }
        let mut some =
            |of: Genes, count: usize| (0..count * of.values).map(|_| random_value(of, rng)).collect::<Vec<f64>>();
        Self {
            globals: some(parameters.globals, 1),
            input_values: some(parameters.input, inputs),
            output_values: some(parameters.output, outputs),
            neurons: (fixed..fixed + hidden).map(|id| Neuron { id, values: some(parameters.hidden, 1) }).collect(),
            connections: (0..pairs.len())
                .map(|innovation| Connection { innovation, values: some(parameters.weight, 1), enabled: true })
                .collect(),
        }
    }

    /// Compatibility distance: the fraction of unmatched connections plus the mean difference of the matching weights as a
    /// fraction of their range.
    pub(super) fn distance(&self, other: &Self, parameters: &NetParameters) -> f64 {
        let most = self.connections.len().max(other.connections.len()).max(1) as f64;
        let (mut matching, mut difference) = (0_usize, 0.0);
        for connection in &self.connections {
            if let Some(same) = other.connection(connection.innovation) {
                matching += 1;
                let pairs = connection.values.iter().zip(&same.values);
                difference += pairs.map(|(a, b)| (a / 2.0 - b / 2.0).abs()).sum::<f64>();
            }
        }
        let single = self.connections.len() + other.connections.len() - 2 * matching;
        let Genes { values, low, high } = parameters.weight;
        let extent = (high / 2.0 - low / 2.0) * (values * matching) as f64;
        single as f64 / most + if extent > 0.0 { difference / extent } else { 0.0 }
    }

    fn connection(&self, innovation: usize) -> Option<&Connection> {
        let found = self.connections.binary_search_by_key(&innovation, |connection| connection.innovation);
        found.ok().map(|index| &self.connections[index])
    }

    /// Crossover: matching genes come from either parent, others from the fitter one.
    pub(super) fn cross(fitter: &Self, other: &Self, rng: &mut ChaCha8Rng) -> Self {
        let mut child = fitter.clone();
        let mut mix = |mine: &mut Vec<f64>, theirs: &Vec<f64>| {
            mine.iter_mut().zip(theirs).filter(|_| rng.random()).for_each(|(mine, theirs)| *mine = *theirs);
        };
        mix(&mut child.globals, &other.globals);
        mix(&mut child.input_values, &other.input_values);
        mix(&mut child.output_values, &other.output_values);
        for neuron in &mut child.neurons {
            if let Ok(index) = other.neurons.binary_search_by_key(&neuron.id, |neuron| neuron.id) {
                mix(&mut neuron.values, &other.neurons[index].values);
            }
        }
        for connection in &mut child.connections {
            if let Some(same) = other.connection(connection.innovation) {
                if rng.random() {
                    connection.values.clone_from(&same.values);
                }
                let off = !(connection.enabled && same.enabled);
                connection.enabled = !(off && rng.random_bool(STAYS_DISABLED));
            }
        }
        child
    }

    /// Mutates values and, with the configured probabilities, the structure.
    pub(super) fn mutate(&mut self, context: &SearchContext, history: &mut InnovationHistory, rng: &mut ChaCha8Rng) {
        let SearchContext { settings, parameters } = context;
        if rng.random_bool(settings.add_neuron) {
            self.add_neuron(parameters, history, rng);
        }
        if rng.random_bool(settings.add_connection) {
            self.add_connection(parameters, history, rng);
        }
        let mut change = |values: &mut Vec<f64>, of: Genes| {
            for value in values {
                if rng.random_bool(settings.mutation_rate) {
                    *value = if rng.random_bool(REPLACE_RATE) {
                        random_value(of, rng)
                    } else {
                        mutated_value(of, *value, context.sigma(), rng)
                    };
                }
            }
        };
        change(&mut self.globals, parameters.globals);
        change(&mut self.input_values, parameters.input);
        change(&mut self.output_values, parameters.output);
        self.neurons.iter_mut().for_each(|neuron| change(&mut neuron.values, parameters.hidden));
        self.connections.iter_mut().for_each(|connection| change(&mut connection.values, parameters.weight));
    }

    /// Splits a connection by a new neuron and disables it. The net behaves nearly as before.
    fn add_neuron(&mut self, parameters: &NetParameters, history: &mut InnovationHistory, rng: &mut ChaCha8Rng) {
        let enabled: Vec<usize> =
            (0..self.connections.len()).filter(|&index| self.connections[index].enabled).collect();
        if self.neurons.len() >= parameters.hidden_max || enabled.is_empty() {
            return;
        }
        let split = enabled[rng.random_range(0..enabled.len())];
        let Connection { innovation, values: onward, .. } = self.connections[split].clone();
        let [from, to] = history.ends[innovation];
        let depths = [from, to].map(|id| history.order(parameters, id).0);
        let depth = 0.5 * (depths[0] + depths[1]);
        // between neurons of equal depth, a new one would not be feed-forward
        let between = depths[0] < depth && depth < depths[1];
        if !(parameters.recurrent || between) {
            return;
        }
        let has = |id: usize| self.neurons.iter().any(|neuron| neuron.id == id);
        let known = history.splits.iter().find(|&&[connection, id]| connection == innovation && !has(id));
        let id = known.map(|&[_, id]| id).unwrap_or_else(|| {
            let id = history.add_neuron(parameters, depth);
            history.splits.push([innovation, id]);
            id
        });
        self.connections[split].enabled = false;
        let values = (0..parameters.hidden.values).map(|_| random_value(parameters.hidden, rng)).collect();
        let index = self.neurons.partition_point(|neuron| neuron.id < id);
        self.neurons.insert(index, Neuron { id, values });
        let one = if onward.is_empty() { 0.0 } else { 1.0_f64.clamp(parameters.weight.low, parameters.weight.high) };
        self.insert(history.innovation([from, id]), vec![one; onward.len()]);
        self.insert(history.innovation([id, to]), onward);
    }

    fn add_connection(&mut self, parameters: &NetParameters, history: &mut InnovationHistory, rng: &mut ChaCha8Rng) {
        let fixed = parameters.inputs + parameters.outputs;
        let ids: Vec<usize> = (0..fixed).chain(self.neurons.iter().map(|neuron| neuron.id)).collect();
        for _ in 0..CONNECTION_TRIES {
            let ends = [0; 2].map(|_| ids[rng.random_range(0..ids.len())]);
            let known = history.ends.iter().position(|known| *known == ends);
            let present = known.is_some_and(|innovation| self.connection(innovation).is_some());
            if history.allows(parameters, ends) && !present {
                let values = (0..parameters.weight.values).map(|_| random_value(parameters.weight, rng)).collect();
                self.insert(history.innovation(ends), values);
                return;
            }
        }
    }

    /// Adds a connection, or enables it with new values.
    fn insert(&mut self, innovation: usize, values: Vec<f64>) {
        let connection = Connection { innovation, values, enabled: true };
        match self.connections.binary_search_by_key(&innovation, |connection| connection.innovation) {
            Ok(index) => self.connections[index] = connection,
            Err(index) => self.connections.insert(index, connection),
        }
    }

    /// The net in the protocol's form: hidden neurons sorted by depth, and 0 for missing connections.
    pub(super) fn genotype(&self, parameters: &NetParameters, history: &InnovationHistory) -> Genotype {
        let NetParameters { inputs, outputs, .. } = *parameters;
        let mut sorted: Vec<&Neuron> = self.neurons.iter().collect();
        let order = |neuron: &Neuron| history.order(parameters, neuron.id);
        sorted.sort_by(|a, b| order(a).0.total_cmp(&order(b).0).then(a.id.cmp(&b.id)));
        let mut genotype = blank(parameters, sorted.len());
        genotype.globals.clone_from(&self.globals);
        genotype.input_values.clone_from(&self.input_values);
        genotype.output_values.clone_from(&self.output_values);
        genotype.hidden_values = sorted.iter().flat_map(|neuron| neuron.values.iter().copied()).collect();
        let column = |id: usize| {
            let hidden = sorted.iter().position(|neuron| neuron.id == id);
            hidden.map_or(id, |index| inputs + outputs + index)
        };
        for connection in self.connections.iter().filter(|connection| connection.enabled) {
            let [from, to] = history.ends[connection.innovation].map(column);
            for (value, &x) in connection.values.iter().enumerate() {
                // unlike columns, rows do not include the inputs
                set(parameters, &mut genotype, Locus::Weight { row: to - inputs, column: from, value }, x);
            }
        }
        genotype
    }

    /// Number of enabled connections.
    pub(super) fn size(&self) -> usize {
        self.connections.iter().filter(|connection| connection.enabled).count()
    }
}
