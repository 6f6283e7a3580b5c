//! A genetic algorithm for nets of different sizes.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{Evaluation, SearchContext, Strategy, genes, ranking};
use crate::genotype::Genotype;

/// Tournament selection, crossover by neuron with its incoming weights, and elitism. Elites are evaluated again in each
/// generation, so that a lucky trial does not persist.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ga {
    rng: ChaCha8Rng,
    /// The last generation, best first.
    parents: Vec<Genotype>,
}

impl Ga {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), parents: Vec::new() }
    }

    /// The best of `size` random parents. As they are sorted, the lowest index wins.
    fn tournament(&mut self, size: usize) -> usize {
        (0..size).map(|_| self.rng.random_range(0..self.parents.len())).min().unwrap_or_default()
    }

    fn child(&mut self, context: &SearchContext) -> Genotype {
        let SearchContext { settings, parameters } = context;
        let mother = self.tournament(settings.tournament);
        let mut child = if self.rng.random_bool(settings.crossover_rate) {
            let father = self.tournament(settings.tournament);
            genes::cross(parameters, &self.parents[mother], &self.parents[father], &mut self.rng)
        } else {
            self.parents[mother].clone()
        };
        child = genes::resize(parameters, child, [settings.add_neuron, settings.remove_neuron], &mut self.rng);
        genes::mutate(parameters, &mut child, settings.mutation_rate, context.sigma(), &mut self.rng);
        child
    }
}

impl Strategy for Ga {
    fn ask(&mut self, context: &SearchContext) -> Vec<Genotype> {
        let SearchContext { settings, parameters } = context;
        let population = context.population();
        if self.parents.is_empty() {
            let most = settings.hidden(parameters);
            return (0..population).map(|_| genes::first(parameters, most, &mut self.rng)).collect();
        }
        let mut next: Vec<Genotype> = self.parents.iter().take(settings.elites).cloned().collect();
        while next.len() < population {
            next.push(self.child(context));
        }
        next
    }

    fn tell(&mut self, _: &SearchContext, asked: &[Genotype], evaluations: &[Evaluation]) {
        let fitness: Vec<f64> = evaluations.iter().map(|evaluation| evaluation.fitness).collect();
        self.parents = ranking(&fitness).into_iter().map(|index| asked[index].clone()).collect();
    }

    fn describe(&self, _: &SearchContext) -> String {
        let hidden = self.parents.iter().map(|net| net.hidden);
        match (hidden.clone().min(), hidden.max()) {
            (Some(fewest), Some(most)) => format!("{fewest} to {most} hidden neurons"),
            _ => "no parents yet".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{context, parameters};
    use super::*;
    use crate::search::Settings;

    #[test]
    fn the_best_stay_as_they_are() {
        let context = context(Settings { population: Some(10), elites: 3, ..Settings::default() }, parameters());
        let mut ga = Ga::new(1);
        let first = ga.ask(&context);
        let fitness = [0.0, 5.0, 1.0, 2.0, 9.0, 7.0, 3.0, 4.0, 6.0, 8.0];
        ga.tell(&context, &first, &fitness.map(|fitness| Evaluation { fitness, ..Evaluation::default() }));
        let second = ga.ask(&context);
        assert_eq!(second[..3], [4, 9, 5].map(|index: usize| first[index].clone()));
        assert!(!first.contains(&second[3]));
    }
}
