//! The algorithms of the Population Manager, by ask and tell.
//!
//! A [`Search`] hands out the nets of a generation and is told how good each was. Fitness is maximised, by the
//! algorithms' cores for plain vectors too. The whole state can be written and read: a search that was read goes on bit
//! for bit as if it had never stopped.

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
use crate::genotype::{Genotype, NetParameters};

/// How good an individual was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The more the better. What is not finite counts as worse than all others.
    pub fitness: f64,
    /// What it did, in numbers; empty when the simulator says nothing but a fitness. With a value that is not finite it
    /// counts as empty.
    pub behaviour: Vec<f64>,
}

/// The fitness of those that have none. It is finite, so that a state can be written as JSON.
const WORST: f64 = f64::MIN;

/// Why a search did not accept evaluations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TellError {
    /// Not as many as individuals were asked for; it waits for as many.
    #[error("{told} evaluations were given for a generation of {asked} individuals")]
    Count {
        /// Individuals of the generation.
        asked: usize,
        /// Evaluations given.
        told: usize,
    },
    /// Before asking, or twice.
    #[error("evaluations were given, but no generation waits for any")]
    NotAsked,
}

/// The best individual so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Best {
    genotype: Genotype,
    fitness: f64,
}

/// What an algorithm works with.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Setup {
    settings: Settings,
    parameters: NetParameters,
}

impl Setup {
    /// Individuals of a generation, of an algorithm without a rule of its own.
    fn population(&self) -> usize {
        self.settings.population.unwrap_or(100)
    }

    /// Typical step of a gene, of an algorithm without a rule of its own.
    fn sigma(&self) -> f64 {
        self.settings.sigma.unwrap_or(0.05)
    }
}

/// What an algorithm knows between two generations.
trait Strategy {
    /// The next generation.
    fn ask(&mut self, setup: &Setup) -> Vec<Genotype>;
    /// How good its individuals were: as many evaluations, in the same order, with finite numbers.
    fn tell(&mut self, setup: &Setup, asked: &[Genotype], evaluations: &[Evaluation]);
    /// What is special about it, for people.
    fn describe(&self, setup: &Setup) -> String;
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum State {
    Ga(ga::Ga),
    CmaEs(cma_es::CmaEs),
    OpenAiEs(openai_es::OpenAiEs),
    MapElites(elites::MapElites),
    Neat(Box<neat::Neat>),
    NsgaII(nsga2::NsgaII),
}

impl State {
    fn new(algorithm: Algorithm, setup: &Setup, seed: u64) -> Self {
        match algorithm {
            Algorithm::Ga => Self::Ga(ga::Ga::new(seed)),
            Algorithm::CmaEs => Self::CmaEs(cma_es::CmaEs::new(setup, seed)),
            Algorithm::OpenAiEs => Self::OpenAiEs(openai_es::OpenAiEs::new(setup, seed)),
            Algorithm::MapElites => Self::MapElites(elites::MapElites::new(seed)),
            Algorithm::Neat => Self::Neat(Box::new(neat::Neat::new(setup, seed))),
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
    setup: Setup,
    /// Generations asked for.
    generation: u64,
    asked: Vec<Genotype>,
    waiting: bool,
    best: Option<Best>,
    state: State,
}

impl Search {
    /// A search that has not begun. With the same seed and evaluations it goes the same way.
    pub fn new(
        algorithm: Algorithm,
        settings: &Settings,
        parameters: &NetParameters,
        seed: u64,
    ) -> Result<Self, SettingsError> {
        settings.check(parameters)?;
        let setup = Setup { settings: settings.clone(), parameters: parameters.clone() };
        let state = State::new(algorithm, &setup, seed);
        Ok(Self { algorithm, setup, generation: 0, asked: Vec::new(), waiting: false, best: None, state })
    }

    /// The individuals of the next generation; those of the same one until [`Search::tell`] has been called.
    pub fn ask(&mut self) -> Vec<Genotype> {
        if !self.waiting {
            self.asked = self.state.strategy_mut().ask(&self.setup);
            self.generation += 1;
            self.waiting = true;
        }
        self.asked.clone()
    }

    /// How good the individuals of the generation were, in their order.
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
                self.best = Some(Best { genotype: genotype.clone(), fitness });
            }
        }
        self.state.strategy_mut().tell(&self.setup, &self.asked, &evaluations);
        self.waiting = false;
        Ok(())
    }

    /// The best individual so far and its fitness.
    pub fn best(&self) -> Option<(&Genotype, f64)> {
        self.best.as_ref().map(|best| (&best.genotype, best.fitness))
    }

    /// How different the individuals of the last generation asked for are, whatever their sizes: for each the root mean
    /// square of its genes' distances from their means, as shares of their ranges, and of that the mean. 0 when all are
    /// the same, about 0.29 when all genes are evenly spread.
    pub fn diversity(&self) -> f64 {
        genes::diversity(&self.setup.parameters, &self.asked)
    }

    /// Generations asked for, so the number of the last one.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The settings it was started with.
    pub fn settings(&self) -> &Settings {
        &self.setup.settings
    }

    /// The parameters it was started with.
    pub fn parameters(&self) -> &NetParameters {
        &self.setup.parameters
    }

    /// Where it is, in one line for people.
    pub fn describe(&self) -> String {
        let best = self.best().map_or("none evaluated yet".to_owned(), |(_, fitness)| format!("best {fitness:?}"));
        let special = self.state.strategy().describe(&self.setup);
        format!("{}: generation {}, {best}, {special}", self.algorithm, self.generation)
    }
}

/// An evaluation with nothing in it that is not finite.
fn finite(evaluation: &Evaluation) -> Evaluation {
    let Evaluation { fitness, behaviour } = evaluation;
    Evaluation {
        fitness: if fitness.is_finite() { *fitness } else { WORST },
        behaviour: if behaviour.iter().all(|x| x.is_finite()) { behaviour.clone() } else { Vec::new() },
    }
}

/// Indices of the evaluations, the best first; equal ones stay in their order, and what is no number comes last.
fn ranking(fitness: &[f64]) -> Vec<usize> {
    let key = |index: usize| if fitness[index].is_nan() { f64::NEG_INFINITY } else { fitness[index] };
    let mut order: Vec<usize> = (0..fitness.len()).collect();
    order.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
    order
}
