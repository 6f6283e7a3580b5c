//! The algorithms of the Population Manager, with an ask-tell interface.
//!
//! [`Search::ask`] returns the nets of a generation, [`Search::tell`] takes their evaluations. Fitness is maximised, also by
//! the algorithms' cores for plain vectors. The whole state is serialisable: a restored search continues bit for bit as if
//! it had never stopped.

mod cma_es;
mod elites;
mod ga;
mod genes;
mod neat;
mod nsga2;
mod openai_es;
mod settings;
mod variation;

pub mod archive;
pub mod cma;
pub mod eigen;
pub mod es;
pub mod fronts;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::settings::{Algorithm, Settings, SettingsError, UnknownAlgorithm};
pub use self::variation::{gaussian, iso_line, polynomial, sbx};
use crate::{
    genotype::{Genotype, NetParameters},
    robot::Outcome,
};

/// The result of evaluating an individual.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Higher is better. A value that is not finite counts as worse than all others.
    pub fitness: f64,
    /// The behaviour descriptor; empty if the simulator only reports a fitness. With a value that is not finite it counts as
    /// empty.
    pub behaviour: Vec<f64>,
    /// The figures of the fitness script's summary; empty if the simulator only reports a fitness.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<f64>,
}

impl From<Outcome> for Evaluation {
    fn from(Outcome { fitness, behaviour, figures, .. }: Outcome) -> Self {
        Self { fitness, behaviour, figures }
    }
}

/// Replaces a fitness that is not finite. Finite itself, so that the state can be written as JSON.
const WORST: f64 = f64::MIN;

/// Why a search rejects evaluations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TellError {
    /// A wrong number of evaluations.
    #[error("{told} evaluations for a generation of {asked} individuals")]
    Count {
        /// Number of individuals of the generation.
        asked: usize,
        /// Number of evaluations.
        told: usize,
    },
    /// No generation awaits evaluations.
    #[error("no generation awaits evaluations")]
    NotAsked,
}

/// The best individual so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct BestSoFar {
    genotype: Genotype,
    fitness: f64,
}

/// The settings and the net parameters of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SearchContext {
    settings: Settings,
    parameters: NetParameters,
}

impl SearchContext {
    /// Number of individuals of a generation, for algorithms without a rule of their own.
    fn population(&self) -> usize {
        self.settings.population.unwrap_or(100)
    }

    /// Mutation step as a fraction of a gene's range, for algorithms without a rule of their own.
    fn sigma(&self) -> f64 {
        self.settings.sigma.unwrap_or(0.05)
    }
}

/// An algorithm with its state between two generations.
trait Strategy {
    /// Creates the next generation.
    fn ask(&mut self, context: &SearchContext) -> Vec<Genotype>;
    /// Learns from the evaluations of the generation, one for each individual, in order and finite.
    fn tell(&mut self, context: &SearchContext, asked: &[Genotype], evaluations: &[Evaluation]);
    /// A human-readable summary of its state.
    fn describe(&self, context: &SearchContext) -> String;
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum StrategyState {
    Ga(ga::Ga),
    CmaEs(cma_es::CmaEs),
    OpenAiEs(openai_es::OpenAiEs),
    MapElites(elites::MapElites),
    Neat(Box<neat::Neat>),
    NsgaII(nsga2::NsgaII),
}

impl StrategyState {
    fn new(algorithm: Algorithm, context: &SearchContext, seed: u64) -> Self {
        match algorithm {
            Algorithm::Ga => Self::Ga(ga::Ga::new(seed)),
            Algorithm::CmaEs => Self::CmaEs(cma_es::CmaEs::new(context, seed)),
            Algorithm::OpenAiEs => Self::OpenAiEs(openai_es::OpenAiEs::new(context, seed)),
            Algorithm::MapElites => Self::MapElites(elites::MapElites::new(seed)),
            Algorithm::Neat => Self::Neat(Box::new(neat::Neat::new(context, seed))),
            Algorithm::NsgaII => Self::NsgaII(nsga2::NsgaII::new(seed)),
        }
    }

    fn strategy(&self) -> &dyn Strategy {
        match self {
            Self::Ga(strategy) => strategy,
            Self::CmaEs(strategy) => strategy,
            Self::OpenAiEs(strategy) => strategy,
            Self::MapElites(strategy) => strategy,
            Self::Neat(strategy) => strategy.as_ref(),
            Self::NsgaII(strategy) => strategy,
        }
    }

    fn strategy_mut(&mut self) -> &mut dyn Strategy {
        match self {
            Self::Ga(strategy) => strategy,
            Self::CmaEs(strategy) => strategy,
            Self::OpenAiEs(strategy) => strategy,
            Self::MapElites(strategy) => strategy,
            Self::Neat(strategy) => strategy.as_mut(),
            Self::NsgaII(strategy) => strategy,
        }
    }
}

/// A search for good nets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Search {
    algorithm: Algorithm,
    #[serde(rename = "setup")]
    context: SearchContext,
    /// Number of generations asked for.
    generation: u64,
    asked: Vec<Genotype>,
    waiting: bool,
    best: Option<BestSoFar>,
    state: StrategyState,
}

impl Search {
    /// A new search. The same seed and evaluations give the same individuals.
    ///
    /// # Errors
    ///
    /// A setting or parameter is invalid.
    pub fn new(
        algorithm: Algorithm,
        settings: &Settings,
        parameters: &NetParameters,
        seed: u64,
    ) -> Result<Self, SettingsError> {
        settings.check(parameters)?;
        let context = SearchContext { settings: settings.clone(), parameters: parameters.clone() };
        let state = StrategyState::new(algorithm, &context, seed);
        Ok(Self { algorithm, context, generation: 0, asked: Vec::new(), waiting: false, best: None, state })
    }

    /// The individuals of the next generation; the same ones again until [`Search::tell`] is called.
    pub fn ask(&mut self) -> Vec<Genotype> {
        if !self.waiting {
            self.asked = self.state.strategy_mut().ask(&self.context);
            self.generation += 1;
            self.waiting = true;
        }
        self.asked.clone()
    }

    /// Passes the evaluations of the generation, in order.
    ///
    /// # Errors
    ///
    /// The number is wrong, or no generation awaits evaluations.
    pub fn tell(&mut self, evaluations: &[Evaluation]) -> Result<(), TellError> {
        if !self.waiting {
            return Err(TellError::NotAsked);
        }
        if evaluations.len() != self.asked.len() {
            return Err(TellError::Count { asked: self.asked.len(), told: evaluations.len() });
        }
        let evaluations: Vec<Evaluation> = evaluations.iter().map(finite).collect();
        for (genotype, &Evaluation { fitness, .. }) in self.asked.iter().zip(&evaluations) {
            if fitness > self.best.as_ref().map_or(WORST, |best| best.fitness) {
                self.best = Some(BestSoFar { genotype: genotype.clone(), fitness });
            }
        }
        self.state.strategy_mut().tell(&self.context, &self.asked, &evaluations);
        self.waiting = false;
        Ok(())
    }

    /// The best individual so far and its fitness.
    pub fn best(&self) -> Option<(&Genotype, f64)> {
        self.best.as_ref().map(|best| (&best.genotype, best.fitness))
    }

    /// Diversity of the last generation: the mean over its individuals of the root mean square deviation of their genes from
    /// the genes' means, as fractions of their ranges. 0 if all are equal, about 0.29 if all genes are uniformly distributed.
    pub fn diversity(&self) -> f64 {
        genes::diversity(&self.context.parameters, &self.asked)
    }

    /// Number of the last generation asked for, from 1.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The settings it was started with.
    pub fn settings(&self) -> &Settings {
        &self.context.settings
    }

    /// The parameters it was started with.
    pub fn parameters(&self) -> &NetParameters {
        &self.context.parameters
    }

    /// A human-readable line about its state.
    pub fn describe(&self) -> String {
        let best = self.best().map_or("none evaluated yet".to_owned(), |(_, fitness)| format!("best {fitness:?}"));
        let details = self.state.strategy().describe(&self.context);
        format!("{}: generation {}, {best}, {details}", self.algorithm, self.generation)
    }
}

/// The evaluation with values that are not finite replaced.
fn finite(evaluation: &Evaluation) -> Evaluation {
    let Evaluation { fitness, behaviour, figures } = evaluation;
    Evaluation {
        fitness: if fitness.is_finite() { *fitness } else { WORST },
        behaviour: if behaviour.iter().all(|x| x.is_finite()) { behaviour.clone() } else { Vec::new() },
        figures: figures.clone(),
    }
}

/// Indices of the evaluations, best first. Equal ones keep their order, and NaN comes last.
fn ranking(fitness: &[f64]) -> Vec<usize> {
    let key = |index: usize| if fitness[index].is_nan() { f64::NEG_INFINITY } else { fitness[index] };
    let mut order: Vec<usize> = (0..fitness.len()).collect();
    order.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
    order
}
