//! Algorithms and their settings.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use support::suggest;

use crate::genotype::{NetParameters, ParametersError};

/// A search algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Algorithm {
    /// A genetic algorithm for nets of different sizes.
    #[serde(rename = "ga")]
    Ga,
    /// Covariance matrix adaptation, for nets of one size.
    #[serde(rename = "cma-es")]
    CmaEs,
    /// The evolution strategy of Salimans et al. (2017), for nets of one size.
    #[serde(rename = "openai-es")]
    OpenAiEs,
    /// MAP-Elites: an archive of the best net for each behaviour.
    #[serde(rename = "map-elites")]
    MapElites,
    /// Neuroevolution of augmenting topologies.
    #[serde(rename = "neat")]
    Neat,
    /// Multi-objective search for good and small nets.
    #[serde(rename = "nsga2")]
    NsgaII,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Self; 6] = [Self::Ga, Self::CmaEs, Self::OpenAiEs, Self::MapElites, Self::Neat, Self::NsgaII];

    /// The name in settings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ga => "ga",
            Self::CmaEs => "cma-es",
            Self::OpenAiEs => "openai-es",
            Self::MapElites => "map-elites",
            Self::Neat => "neat",
            Self::NsgaII => "nsga2",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An unknown name of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", suggest::unknown("algorithm", .name, &Algorithm::ALL.map(Algorithm::name)))]
pub struct UnknownAlgorithm {
    /// The unknown name.
    pub name: String,
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let found = Self::ALL.into_iter().find(|algorithm| algorithm.name() == name);
        found.ok_or_else(|| UnknownAlgorithm { name: name.to_owned() })
    }
}

/// Settings of a search. Each algorithm ignores those it does not use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Number of individuals of a generation, 4 to 10,000. Default: 4 + 3 ln(genes) for `cma-es`, otherwise 100.
    pub population: Option<usize>,
    /// Number of hidden neurons: of every net for `cma-es` and `openai-es`, the maximum in the first generation for `ga`,
    /// `map-elites` and `nsga2`. Default: 4, or the nearest that the simulator permits. `neat` starts with the minimum.
    pub hidden: Option<usize>,
    /// Mutation step as a fraction of a gene's range, above 0 and at most 1; the initial step of `cma-es`. Default: 0.2 for
    /// `cma-es`, otherwise 0.05.
    pub sigma: Option<f64>,
    /// Probability that a gene of a child mutates (`ga`, `neat`, `nsga2`).
    pub mutation_rate: f64,
    /// Probability of two parents (`ga`, `neat`, `nsga2`) or of a mutation along the line between two (`map-elites`).
    pub crossover_rate: f64,
    /// Probability that a child gains a hidden neuron (`ga`, `map-elites`, `neat`, `nsga2`).
    pub add_neuron: f64,
    /// Probability that a child loses a hidden neuron (`ga`, `map-elites`, `nsga2`).
    pub remove_neuron: f64,
    /// Probability that a child gains a connection (`neat`).
    pub add_connection: f64,
    /// Number of the best individuals copied unchanged (`ga`).
    pub elites: usize,
    /// Size of the tournaments that select parents (`ga`), 1 to 100.
    pub tournament: usize,
    /// Whether bad individuals get negative weights (active `cma-es`, up to 200 genes).
    pub active: bool,
    /// Adam's learning rate per generation, as a fraction of a gene's range (`openai-es`).
    pub learning_rate: f64,
    /// Decay towards the middle of the ranges per generation, as a fraction of the distance (`openai-es`).
    pub weight_decay: f64,
    /// Cells of the archive along each axis (`map-elites`), 1 to 1,000.
    pub cells: usize,
    /// Minimum and maximum of each behaviour value (`map-elites`). Default: 0 and 1.
    pub behaviour_limits: Vec<[f64; 2]>,
    /// Standard deviation along the line between two parents, as a fraction of their distance (`map-elites`); other steps
    /// are then a fifth of `sigma`.
    pub line: f64,
    /// Initial distance above which two nets belong to different species (`neat`); it adapts to the number of species.
    pub species_threshold: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            population: None,
            hidden: None,
            sigma: None,
            mutation_rate: 0.1,
            crossover_rate: 0.7,
            add_neuron: 0.05,
            remove_neuron: 0.05,
            add_connection: 0.1,
            elites: 2,
            tournament: 3,
            active: true,
            learning_rate: 0.01,
            weight_decay: 0.005,
            cells: 20,
            behaviour_limits: Vec::new(),
            line: 0.2,
            species_threshold: 0.3,
        }
    }
}

/// Why settings are rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// A value outside its range.
    #[error("{name}: {value} is out of range {min}..={max}")]
    OutOfRange {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The minimum.
        min: f64,
        /// The maximum.
        max: f64,
    },
    /// Limits in the wrong order, or not finite.
    #[error("behaviour-limits: {low} must be below {high}")]
    Limits {
        /// The lower limit.
        low: f64,
        /// The upper limit.
        high: f64,
    },
    /// Invalid net parameters.
    #[error(transparent)]
    Parameters(#[from] ParametersError),
    /// The population would need too much memory.
    #[error("{population} individuals of {genes} genes are too many; reduce the population or the number of neurons")]
    TooLarge {
        /// Number of individuals of a generation.
        population: usize,
        /// Number of values of the largest net.
        genes: usize,
    },
}

/// Maximum number of genes of a generation.
const MAX_GENES: usize = 1 << 27;

impl Settings {
    /// Validates all settings for nets of these parameters.
    ///
    /// # Errors
    ///
    /// The first invalid setting or parameter.
    pub fn check(&self, parameters: &NetParameters) -> Result<(), SettingsError> {
        crate::genotype::check(parameters)?;
        let count = |count: usize| count as f64;
        let (fewest, most) = (count(parameters.hidden_min), count(parameters.hidden_max));
        let population = self.population.unwrap_or(100);
        for (name, value, min, max) in [
            ("population", count(population), 4.0, 10_000.0),
            ("hidden", self.hidden.map_or(fewest, count), fewest, most),
            ("sigma", self.sigma.unwrap_or(1.0), 1e-6, 1.0),
            ("mutation-rate", self.mutation_rate, 0.0, 1.0),
            ("crossover-rate", self.crossover_rate, 0.0, 1.0),
            ("add-neuron", self.add_neuron, 0.0, 1.0),
            ("remove-neuron", self.remove_neuron, 0.0, 1.0),
            ("add-connection", self.add_connection, 0.0, 1.0),
            ("elites", count(self.elites), 0.0, count(population) - 1.0),
            ("tournament", count(self.tournament), 1.0, 100.0),
            ("learning-rate", self.learning_rate, 0.0, 1.0),
            ("weight-decay", self.weight_decay, 0.0, 1.0),
            ("cells", count(self.cells), 1.0, 1_000.0),
            ("line", self.line, 0.0, 10.0),
            ("species-threshold", self.species_threshold, 1e-3, 1e3),
        ] {
            if !(min..=max).contains(&value) {
                return Err(SettingsError::OutOfRange { name, value, min, max });
            }
        }
        for &[low, high] in &self.behaviour_limits {
            if !(low.is_finite() && high.is_finite() && low < high) {
                return Err(SettingsError::Limits { low, high });
            }
        }
        let genes = largest(parameters);
        if population.saturating_mul(genes) > MAX_GENES {
            return Err(SettingsError::TooLarge { population, genes });
        }
        Ok(())
    }

    /// Number of hidden neurons of nets of one size, or the maximum of the first generation.
    pub(super) fn hidden(&self, parameters: &NetParameters) -> usize {
        self.hidden.unwrap_or(4).clamp(parameters.hidden_min, parameters.hidden_max)
    }
}

/// Number of values of the largest net.
fn largest(parameters: &NetParameters) -> usize {
    let NetParameters { globals, inputs, input, outputs, output, hidden_max, hidden, .. } = parameters;
    let neurons = [(inputs, input), (outputs, output), (hidden_max, hidden)];
    let values = neurons.map(|(&count, genes)| count.saturating_mul(genes.values));
    let weights = parameters.weights(*hidden_max);
    values.into_iter().fold(weights.saturating_add(globals.values), usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::samples::parameters;

    #[test]
    fn algorithms_have_one_name_everywhere() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
            assert_eq!(serde_json::to_string(&algorithm).unwrap(), format!("\"{algorithm}\""));
        }
        let error = "annealing".parse::<Algorithm>().unwrap_err();
        let expected = "unknown algorithm `annealing`; available: ga, cma-es, openai-es, map-elites, neat, nsga2";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn settings_are_read_with_defaults() {
        let read = |text: &str| toml::from_str::<Settings>(text);
        assert_eq!(read("").unwrap(), Settings::default());
        let expected = Settings { population: Some(30), sigma: Some(0.1), ..Settings::default() };
        assert_eq!(read("population = 30\nsigma = 0.1").unwrap(), expected);
        assert!(read("popluation = 30").is_err());
    }

    #[test]
    fn settings_without_sense_are_refused() {
        let good = Settings::default;
        let cases = [
            (Settings { population: Some(3), ..good() }, "population: 3 is out of range 4..=10000"),
            (Settings { hidden: Some(7), ..good() }, "hidden: 7 is out of range 1..=5"),
            (Settings { sigma: Some(f64::NAN), ..good() }, "sigma: NaN is out of range 0.000001..=1"),
            (Settings { mutation_rate: -0.1, ..good() }, "mutation-rate: -0.1 is out of range 0..=1"),
            (Settings { elites: 100, ..good() }, "elites: 100 is out of range 0..=99"),
            (Settings { tournament: 0, ..good() }, "tournament: 0 is out of range 1..=100"),
            (Settings { cells: 0, ..good() }, "cells: 0 is out of range 1..=1000"),
            (Settings { behaviour_limits: vec![[1.0, 1.0]], ..good() }, "behaviour-limits: 1 must be below 1"),
        ];
        for (settings, expected) in cases {
            assert_eq!(settings.check(&parameters()).map_err(|error| error.to_string()), Err(expected.to_owned()));
        }
        assert_eq!(good().check(&parameters()), Ok(()));
        let large = NetParameters { inputs: 100_000, outputs: 10, hidden_min: 0, hidden_max: 0, ..parameters() };
        let many = Settings { population: Some(10_000), ..good() };
        assert!(matches!(many.check(&large), Err(SettingsError::TooLarge { population: 10_000, .. })));
        assert!(good().check(&NetParameters { outputs: 0, ..parameters() }).is_err());
    }
}
