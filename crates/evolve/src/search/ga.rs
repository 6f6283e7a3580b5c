//! A genetic algorithm over nets of different sizes.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{Evaluation, Setup, Strategy, genes, ranking};
use crate::genotype::Genotype;

/// Tournaments choose parents, a neuron is inherited with its incoming weights, and the best ones stay. The best are
/// tested again with each generation, so that one lucky trial does not last.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ga {
    rng: ChaCha8Rng,
    /// The last generation, the best first.
    parents: Vec<Genotype>,
}

impl Ga {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), parents: Vec::new() }
    }

    /// The best of some drawn at random. Parents are in order, so that is the one with the lowest index.
    fn tournament(&mut self, size: usize) -> usize {
        (0..size).map(|_| self.rng.random_range(0..self.parents.len())).min().unwrap_or_default()
    }

    fn child(&mut self, setup: &Setup) -> Genotype {
        let Setup { settings, parameters } = setup;
        let mother = self.tournament(settings.tournament);
        let mut child = if self.rng.random_bool(settings.crossover_rate) {
            let father = self.tournament(settings.tournament);
            genes::cross(parameters, &self.parents[mother], &self.parents[father], &mut self.rng)
        } else {
            self.parents[mother].clone()
        };
        child = genes::resize(parameters, child, [settings.add_neuron, settings.remove_neuron], &mut self.rng);
        genes::mutate(parameters, &mut child, settings.mutation_rate, setup.sigma(), &mut self.rng);
        child
    }
}

impl Strategy for Ga {
    fn ask(&mut self, setup: &Setup) -> Vec<Genotype> {
        let Setup { settings, parameters } = setup;
        let population = setup.population();
        if self.parents.is_empty() {
            let most = settings.hidden(parameters);
            return (0..population).map(|_| genes::first(parameters, most, &mut self.rng)).collect();
        }
        let mut next: Vec<Genotype> = self.parents.iter().take(settings.elites).cloned().collect();
        while next.len() < population {
            next.push(self.child(setup));
        }
        next
    }

    fn tell(&mut self, _: &Setup, asked: &[Genotype], evaluations: &[Evaluation]) {
        let fitness: Vec<f64> = evaluations.iter().map(|evaluation| evaluation.fitness).collect();
        self.parents = ranking(&fitness).into_iter().map(|index| asked[index].clone()).collect();
    }

    fn describe(&self, _: &Setup) -> String {
        let hidden = self.parents.iter().map(|net| net.hidden);
        match (hidden.clone().min(), hidden.max()) {
            (Some(fewest), Some(most)) => format!("{fewest} to {most} hidden neurons"),
            _ => "no parents yet".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{parameters, setup};
    use super::*;
    use crate::search::Settings;

    #[test]
    fn the_best_stay_as_they_are() {
        let setup = setup(Settings { population: Some(10), elites: 3, ..Settings::default() }, parameters());
        let mut ga = Ga::new(1);
        let first = ga.ask(&setup);
        let fitness = [0.0, 5.0, 1.0, 2.0, 9.0, 7.0, 3.0, 4.0, 6.0, 8.0];
        ga.tell(&setup, &first, &fitness.map(|fitness| Evaluation { fitness, behaviour: vec![] }));
        let second = ga.ask(&setup);
        assert_eq!(second[..3], [4, 9, 5].map(|index: usize| first[index].clone()));
        assert!(!first.contains(&second[3]));
    }
}
