//! The neural net of an individual: `y_t = F(W · x_{t-1})`, updated synchronously.
//!
//! `x` holds the input, output and hidden neurons; `y` the output and hidden neurons. Everything starts at 0, so an input
//! takes one step to an output and two through a hidden neuron. The body file defines what the protocol leaves open:
//!
//! ```text
//! input   x = gain · activity + bias
//! neuron  u = bias + W · x        s = s + (u - s) · (1 - exp(-dt / tau))        y = F(global gain · gain · s)
//! ```
//!
//! A parameter that is not encoded in the genes is neutral: a bias of 0, a gain of 1, a tau of 0.

use serde::{Deserialize, Serialize};

use crate::{Genotype, NetParameters, genotype::Genes};

/// The transfer function F.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transfer {
    /// Hyperbolic tangent, -1 to 1.
    #[default]
    Tanh,
    /// 1 / (1 + exp(-u)), 0 to 1.
    Logistic,
    /// u clamped to -1..=1.
    LinearClamped,
    /// 1 above 0, otherwise 0.
    Step,
}

impl Transfer {
    /// F(u).
    pub fn apply(self, u: f64) -> f64 {
        match self {
            Self::Tanh => u.tanh(),
            Self::Logistic => 1.0 / (1.0 + (-u).exp()),
            Self::LinearClamped => u.clamp(-1.0, 1.0),
            Self::Step => f64::from(u8::from(u > 0.0)),
        }
    }

    /// Minimum and maximum of F.
    pub fn range(self) -> [f64; 2] {
        match self {
            Self::Tanh | Self::LinearClamped => [-1.0, 1.0],
            Self::Logistic | Self::Step => [0.0, 1.0],
        }
    }
}

/// What a value encoded in the genes means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParameterKind {
    /// Of a neuron: added to the sum. Of an input: added to its activity.
    Bias,
    /// A factor: of a neuron before F, of an input on its activity, as a global parameter on every neuron before F.
    Gain,
    /// Of a neuron: its time constant, in s.
    Tau,
    /// A global parameter: a factor on the wheels' full speed.
    Speed,
    /// The weight itself, always the first value of a weight.
    Weight,
    /// Of a weight: it is 0 unless this is above 0.
    Gate,
}

impl ParameterKind {
    /// Its name in body files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bias => "bias",
            Self::Gain => "gain",
            Self::Tau => "tau",
            Self::Speed => "speed",
            Self::Weight => "weight",
            Self::Gate => "gate",
        }
    }
}

/// The range that a gene encodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterSpec {
    /// What the value means.
    pub means: ParameterKind,
    /// Value of the lowest gene.
    pub low: f64,
    /// Value of the highest gene.
    pub high: f64,
}

/// The permitted nets and the meaning of their values.
#[derive(Clone, Debug, PartialEq)]
pub struct NetSpec {
    /// The message `NetParameters` for the Population Manager.
    pub parameters: NetParameters,
    /// The transfer function of all neurons.
    pub transfer: Transfer,
    /// Time between two steps, in s.
    pub dt: f64,
    /// The global parameters.
    pub globals: Vec<ParameterSpec>,
    /// The values of each input neuron.
    pub inputs: Vec<ParameterSpec>,
    /// The values of each output neuron.
    pub outputs: Vec<ParameterSpec>,
    /// The values of each hidden neuron.
    pub hidden: Vec<ParameterSpec>,
    /// The values of each weight.
    pub weights: Vec<ParameterSpec>,
}

/// Why a genotype does not fit a net.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenotypeError {
    /// The number of hidden neurons is out of range.
    #[error("the individual has {hidden} hidden neurons; {min} to {max} are allowed")]
    Hidden {
        /// The actual number.
        hidden: usize,
        /// The minimum.
        min: usize,
        /// The maximum.
        max: usize,
    },
    /// A wrong number of values.
    #[error("the individual has {found} values for its {of}; with its hidden neurons it needs {expected}")]
    Count {
        /// What the values belong to.
        of: &'static str,
        /// The actual number.
        found: usize,
        /// The required number.
        expected: usize,
    },
}

/// Weights from one neuron to a range of neurons, contiguous in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    from: u32,
    to: u32,
    count: u32,
}

/// The net of an individual.
#[derive(Clone, Debug)]
pub struct Net {
    transfer: Transfer,
    inputs: usize,
    outputs: usize,
    /// x: input, output, hidden.
    x: Vec<f64>,
    sums: Vec<f64>,
    /// The existing weights, span by span; this keeps the order of additions within each sum.
    weights: Vec<f64>,
    spans: Vec<Span>,
    bias: Vec<f64>,
    gain: Vec<f64>,
    /// Fraction by which a neuron's state approaches its sum in a step; empty if 1 for all.
    blend: Vec<f64>,
    state: Vec<f64>,
    /// Gain and bias of each input; empty if neutral.
    scale: Vec<[f64; 2]>,
    speed: f64,
    clamped: usize,
}

impl Net {
    /// Decodes a genotype. Values outside their limits are clamped and counted.
    ///
    /// # Errors
    ///
    /// The genotype has a wrong number of neurons or values.
    pub fn new(spec: &NetSpec, genotype: &Genotype) -> Result<Self, GenotypeError> {
        let parameters = &spec.parameters;
        check(parameters, genotype)?;
        let mut clamped = 0;
        let out = &mut clamped;
        let globals = DecodedGenes::new(&genotype.globals, parameters.globals, &spec.globals, out);
        let inputs = DecodedGenes::new(&genotype.input_values, parameters.input, &spec.inputs, out);
        let outputs = DecodedGenes::new(&genotype.output_values, parameters.output, &spec.outputs, out);
        let hidden = DecodedGenes::new(&genotype.hidden_values, parameters.hidden, &spec.hidden, out);
        let weights = DecodedGenes::new(&genotype.weights, parameters.weight, &spec.weights, out);

        let neurons = |means, default| -> Vec<f64> {
            let outputs = outputs.each(means, default, parameters.outputs);
            outputs.chain(hidden.each(means, default, genotype.hidden)).collect()
        };
        let global = |means| globals.each(means, 1.0, 1).product::<f64>();
        let blend: Vec<f64> = neurons(ParameterKind::Tau, 0.0).iter().map(|tau| blend(spec.dt, *tau)).collect();
        let scale: Vec<[f64; 2]> = inputs
            .each(ParameterKind::Gain, 1.0, parameters.inputs)
            .zip(inputs.each(ParameterKind::Bias, 0.0, parameters.inputs))
            .map(|(gain, bias)| [gain, bias])
            .collect();
        let rows = parameters.outputs + genotype.hidden;
        let (spans, weights) = spans(parameters, rows, &weights);
        Ok(Self {
            transfer: spec.transfer,
            inputs: parameters.inputs,
            outputs: parameters.outputs,
            x: vec![0.0; parameters.inputs + rows],
            sums: vec![0.0; rows],
            weights,
            spans,
            bias: neurons(ParameterKind::Bias, 0.0),
            gain: neurons(ParameterKind::Gain, 1.0)
                .into_iter()
                .map(|gain| gain * global(ParameterKind::Gain))
                .collect(),
            blend: if blend.iter().all(|blend| *blend == 1.0) { Vec::new() } else { blend },
            state: vec![0.0; rows],
            scale: if scale.iter().all(|scale| *scale == [1.0, 0.0]) { Vec::new() } else { scale },
            speed: global(ParameterKind::Speed),
            clamped,
        })
    }

    /// Activities of the input neurons, to be set before a step.
    pub fn inputs_mut(&mut self) -> &mut [f64] {
        &mut self.x[..self.inputs]
    }

    /// Updates all neurons synchronously.
    pub fn step(&mut self) {
        for (x, [gain, bias]) in self.x.iter_mut().zip(&self.scale) {
            *x = *x * gain + bias;
        }
        self.sums.copy_from_slice(&self.bias);
        let mut weights = self.weights.as_slice();
        for span in &self.spans {
            let x = self.x[span.from as usize];
            let (of_span, rest) = weights.split_at(span.count as usize);
            weights = rest;
            for (sum, weight) in self.sums[span.to as usize..].iter_mut().zip(of_span) {
                *sum += weight * x;
            }
        }
        if !self.blend.is_empty() {
            for ((sum, state), blend) in self.sums.iter_mut().zip(&mut self.state).zip(&self.blend) {
                *state += (*sum - *state) * blend;
                *sum = *state;
            }
        }
        for ((y, sum), gain) in self.x[self.inputs..].iter_mut().zip(&self.sums).zip(&self.gain) {
            *y = self.transfer.apply(sum * gain);
        }
    }

    /// Activities of the output neurons.
    pub fn outputs(&self) -> &[f64] {
        &self.x[self.inputs..self.inputs + self.outputs]
    }

    /// Activities of the hidden neurons.
    pub fn hidden(&self) -> &[f64] {
        &self.x[self.inputs + self.outputs..]
    }

    /// Resets all activities to 0.
    pub fn reset(&mut self) {
        self.x.fill(0.0);
        self.state.fill(0.0);
    }

    /// The factor on the wheels' full speed; 1 if the genes do not encode it.
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// The existing weights: index of the source (inputs, outputs, hidden), of the target (outputs, hidden), and weight.
    pub fn connections(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let ends = self
            .spans
            .iter()
            .flat_map(|span| (span.to..span.to + span.count).map(move |to| (span.from as usize, to as usize)));
        ends.zip(&self.weights).map(|((from, to), weight)| (from, to, *weight))
    }

    /// Number of values clamped to their limits.
    pub fn clamped(&self) -> usize {
        self.clamped
    }
}

fn check(parameters: &NetParameters, genotype: &Genotype) -> Result<(), GenotypeError> {
    let (min, max) = (parameters.hidden_min, parameters.hidden_max);
    if genotype.hidden < min || genotype.hidden > max {
        return Err(GenotypeError::Hidden { hidden: genotype.hidden, min, max });
    }
    let counts = [
        ("global parameters", genotype.globals.len(), parameters.globals.values),
        ("input neurons", genotype.input_values.len(), parameters.inputs * parameters.input.values),
        ("output neurons", genotype.output_values.len(), parameters.outputs * parameters.output.values),
        ("hidden neurons", genotype.hidden_values.len(), genotype.hidden * parameters.hidden.values),
        ("weights", genotype.weights.len(), parameters.weights(genotype.hidden)),
    ];
    match counts.into_iter().find(|(_, found, expected)| found != expected) {
        Some((of, found, expected)) => Err(GenotypeError::Count { of, found, expected }),
        None => Ok(()),
    }
}

/// The existing weights by column, in spans of consecutive rows.
fn spans(parameters: &NetParameters, rows: usize, weights: &DecodedGenes<'_>) -> (Vec<Span>, Vec<f64>) {
    let (mut spans, mut packed): (Vec<Span>, Vec<f64>) = (Vec::new(), Vec::new());
    let columns = parameters.inputs + rows;
    for column in 0..columns {
        let mut last = None;
        for row in (0..rows).filter(|&row| parameters.connects(row, column)) {
            let nth = row * columns + column;
            let open = weights.get(nth, ParameterKind::Gate, 1.0) > 0.0;
            packed.push(if open { weights.get(nth, ParameterKind::Weight, 0.0) } else { 0.0 });
            match spans.last_mut() {
                Some(span) if last.is_some_and(|last| last + 1 == row) => span.count += 1,
                // at most MAX_WEIGHTS neurons
                _ => spans.push(Span { from: column as u32, to: row as u32, count: 1 }),
            }
            last = Some(row);
        }
    }
    (spans, packed)
}

/// The fraction by which a neuron's state approaches its sum in a step.
fn blend(dt: f64, tau: f64) -> f64 {
    if tau > 0.0 { -(-dt / tau).exp_m1() } else { 1.0 }
}

/// Decoded genes, neuron by neuron.
struct DecodedGenes<'a> {
    specs: &'a [ParameterSpec],
    values: Vec<f64>,
}

impl<'a> DecodedGenes<'a> {
    fn new(values: &[f64], genes: Genes, specs: &'a [ParameterSpec], clamped: &mut usize) -> Self {
        let decode = |(value, &gene): (&ParameterSpec, &f64)| {
            let within = gene >= genes.low && gene <= genes.high;
            *clamped += usize::from(!within);
            let gene = if gene.is_nan() { genes.low } else { gene.clamp(genes.low, genes.high) };
            if (value.low, value.high) == (genes.low, genes.high) || genes.low == genes.high {
                return gene;
            }
            value.low + (value.high - value.low) * ((gene - genes.low) / (genes.high - genes.low))
        };
        Self { specs, values: specs.iter().cycle().zip(values).map(decode).collect() }
    }

    /// The value of a kind for one neuron or weight.
    fn get(&self, nth: usize, means: ParameterKind, default: f64) -> f64 {
        match self.specs.iter().position(|value| value.means == means) {
            Some(at) => self.values.get(nth * self.specs.len() + at).copied().unwrap_or(default),
            None => default,
        }
    }

    fn each(&self, means: ParameterKind, default: f64, count: usize) -> impl Iterator<Item = f64> {
        (0..count).map(move |nth| self.get(nth, means, default))
    }
}

#[cfg(test)]
mod tests;
