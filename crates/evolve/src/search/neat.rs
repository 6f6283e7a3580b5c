//! NEAT: neuroevolution of augmenting topologies (Stanley and Miikkulainen 2002).

mod genome;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use self::genome::{Genome, InnovationHistory};
use super::{Evaluation, SearchContext, Strategy, WORST, ranking};
use crate::genotype::Genotype;

/// Generations without improvement after which a species is removed.
const MAX_STAGNATION: usize = 20;
/// Fraction of a species that may have children.
const BREEDING_FRACTION: f64 = 0.3;
/// Minimum size of a species whose champion is copied unchanged.
const CHAMPION_MIN_MEMBERS: usize = 5;
/// Probability that the second parent comes from any species.
const INTERSPECIES_RATE: f64 = 0.01;
/// Factor by which the threshold changes while there are too many or too few species.
const THRESHOLD_STEP: f64 = 1.1;

/// Similar nets, which compete mostly with each other, so that new structures have time to improve.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Species {
    representative: Genome,
    /// Indices into the generation, best first.
    members: Vec<usize>,
    best: f64,
    /// Generations since the last improvement.
    stale: usize,
}

/// Differs from the original in two ways: a species' share of the children depends on the ranks of its members instead of
/// their fitness, which may be of any scale and negative; and the threshold adapts to the number of species.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Neat {
    rng: ChaCha8Rng,
    history: InnovationHistory,
    genomes: Vec<Genome>,
    fitness: Vec<f64>,
    species: Vec<Species>,
    threshold: f64,
}

impl Neat {
    pub(super) fn new(context: &SearchContext, seed: u64) -> Self {
        Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
            history: InnovationHistory::default(),
            genomes: Vec::new(),
            fitness: Vec::new(),
            species: Vec::new(),
            threshold: context.settings.species_threshold,
        }
    }

    /// Assigns each net to the first species whose representative is near, or to a new one.
    fn speciate(&mut self, context: &SearchContext) {
        self.species.iter_mut().for_each(|species| species.members.clear());
        for index in ranking(&self.fitness) {
            let genome = &self.genomes[index];
            let near =
                |species: &&mut Species| genome.distance(&species.representative, &context.parameters) < self.threshold;
            match self.species.iter_mut().find(near) {
                Some(species) => species.members.push(index),
                None => self.species.push(Species {
                    representative: genome.clone(),
                    members: vec![index],
                    best: WORST,
                    stale: 0,
                }),
            }
        }
        self.species.retain(|species| !species.members.is_empty());
        for species in &mut self.species {
            let best = self.fitness[species.members[0]];
            species.stale = if best > species.best { 0 } else { species.stale + 1 };
            species.best = species.best.max(best);
            let chosen = self.rng.random_range(0..species.members.len());
            species.representative = self.genomes[species.members[chosen]].clone();
        }
        let wanted = (context.population() / 10).clamp(2, 10);
        match self.species.len() {
            count if count > wanted => self.threshold *= THRESHOLD_STEP,
            count if count < wanted => self.threshold /= THRESHOLD_STEP,
            _ => {}
        }
        self.threshold = self.threshold.clamp(1e-3, 1e3);
    }

    /// Removes stagnant species except for the two best.
    fn cull(&mut self) {
        self.species.sort_by(|a, b| self.fitness[b.members[0]].total_cmp(&self.fitness[a.members[0]]));
        let mut rank = 0;
        self.species.retain(|species| {
            rank += 1;
            rank <= 2 || species.stale < MAX_STAGNATION
        });
    }

    /// Number of children of each species, proportional to the mean rank of its members.
    fn offspring_counts(&self, population: usize) -> Vec<usize> {
        let mut score = vec![0.0; self.fitness.len()];
        for (rank, index) in ranking(&self.fitness).into_iter().enumerate() {
            score[index] = (self.fitness.len() - rank) as f64;
        }
        let mean = |species: &Species| {
            species.members.iter().map(|&index| score[index]).sum::<f64>() / species.members.len() as f64
        };
        let means: Vec<f64> = self.species.iter().map(mean).collect();
        let total: f64 = means.iter().sum();
        // rounding the running sum keeps the total exact
        let (mut sum, mut given) = (0.0, 0);
        let mut share = |mean: &f64| {
            sum += mean;
            let until = (population as f64 * sum / total).round() as usize;
            std::mem::replace(&mut given, until).abs_diff(until)
        };
        means.iter().map(&mut share).collect()
    }

    fn breed(&mut self, context: &SearchContext) -> Vec<Genome> {
        self.cull();
        let mut next = Vec::new();
        for (species, share) in self.offspring_counts(context.population()).into_iter().enumerate() {
            let members = self.species[species].members.clone();
            let parents = ((members.len() as f64 * BREEDING_FRACTION).ceil() as usize).max(2).min(members.len());
            for number in 0..share {
                if number == 0 && members.len() >= CHAMPION_MIN_MEMBERS {
                    next.push(self.genomes[members[0]].clone());
                } else {
                    next.push(self.child(context, &members[..parents]));
                }
            }
        }
        next
    }

    fn child(&mut self, context: &SearchContext, parents: &[usize]) -> Genome {
        let rng = &mut self.rng;
        let a = parents[rng.random_range(0..parents.len())];
        let mut child = self.genomes[a].clone();
        if rng.random_bool(context.settings.crossover_rate) {
            let b = if rng.random_bool(INTERSPECIES_RATE) {
                rng.random_range(0..self.genomes.len())
            } else {
                parents[rng.random_range(0..parents.len())]
            };
            let (fitter, other) = if self.fitness[a] >= self.fitness[b] { (a, b) } else { (b, a) };
            child = Genome::cross(&self.genomes[fitter], &self.genomes[other], rng);
        }
        child.mutate(context, &mut self.history, rng);
        child
    }
}

impl Strategy for Neat {
    fn ask(&mut self, context: &SearchContext) -> Vec<Genotype> {
        self.genomes = if self.genomes.is_empty() {
            let first = |_| Genome::first(&context.parameters, &mut self.history, &mut self.rng);
            (0..context.population()).map(first).collect()
        } else {
            self.breed(context)
        };
        self.genomes.iter().map(|genome| genome.genotype(&context.parameters, &self.history)).collect()
    }

    fn tell(&mut self, context: &SearchContext, _: &[Genotype], evaluations: &[Evaluation]) {
        self.fitness = evaluations.iter().map(|evaluation| evaluation.fitness).collect();
        self.speciate(context);
    }

    fn describe(&self, _: &SearchContext) -> String {
        let connections = self.genomes.iter().map(Genome::size).max().unwrap_or_default();
        format!("{} species, up to {connections} connections", self.species.len())
    }
}

#[cfg(test)]
mod tests;
