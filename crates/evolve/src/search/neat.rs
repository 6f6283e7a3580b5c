//! NEAT: nets that grow by neurons and connections (Stanley and Miikkulainen 2002).

mod genome;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use self::genome::{Genome, History};
use super::{Evaluation, Setup, Strategy, WORST, ranking};
use crate::genotype::Genotype;

/// Generations without a better one after which a species dies out.
const PATIENCE: usize = 20;
/// Share of a species that may have children.
const BREEDING: f64 = 0.3;
/// Members from which on the best of a species is taken over unchanged.
const CHAMPION_FROM: usize = 5;
/// How likely the second parent is of another species.
const STRANGER: f64 = 0.01;
/// By what factor the threshold changes while there are too many or too few species.
const ADJUST: f64 = 1.1;

/// Nets that are like each other, so that new structures have time before they compete with the others.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Species {
    representative: Genome,
    /// Indices into the generation, the best first.
    members: Vec<usize>,
    best: f64,
    /// Generations since it became better.
    stale: usize,
}

/// Differs from the original in that a species' share of the children depends on the ranks of its members in place of
/// their fitness, which may be of any scale and negative, and in that the threshold follows the count of species.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Neat {
    rng: ChaCha8Rng,
    history: History,
    genomes: Vec<Genome>,
    fitness: Vec<f64>,
    species: Vec<Species>,
    threshold: f64,
}

impl Neat {
    pub(super) fn new(setup: &Setup, seed: u64) -> Self {
        Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
            history: History::default(),
            genomes: Vec::new(),
            fitness: Vec::new(),
            species: Vec::new(),
            threshold: setup.settings.species_threshold,
        }
    }

    /// Puts each net into the first species whose representative is near, or into a new one.
    fn speciate(&mut self, setup: &Setup) {
        self.species.iter_mut().for_each(|species| species.members.clear());
        for index in ranking(&self.fitness) {
            let genome = &self.genomes[index];
            let near =
                |species: &&mut Species| genome.distance(&species.representative, &setup.parameters) < self.threshold;
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
        let wanted = (setup.population() / 10).clamp(2, 10);
        match self.species.len() {
            count if count > wanted => self.threshold *= ADJUST,
            count if count < wanted => self.threshold /= ADJUST,
            _ => {}
        }
        self.threshold = self.threshold.clamp(1e-3, 1e3);
    }

    /// Lets species die out that have not become better for long, but not the two best.
    fn cull(&mut self) {
        self.species.sort_by(|a, b| self.fitness[b.members[0]].total_cmp(&self.fitness[a.members[0]]));
        let mut place = 0;
        self.species.retain(|species| {
            place += 1;
            place <= 2 || species.stale < PATIENCE
        });
    }

    /// How many children each species has: in proportion to the mean rank of its members.
    fn shares(&self, population: usize) -> Vec<usize> {
        let mut score = vec![0.0; self.fitness.len()];
        for (rank, index) in ranking(&self.fitness).into_iter().enumerate() {
            score[index] = (self.fitness.len() - rank) as f64;
        }
        let mean = |species: &Species| {
            species.members.iter().map(|&index| score[index]).sum::<f64>() / species.members.len() as f64
        };
        let means: Vec<f64> = self.species.iter().map(mean).collect();
        let total: f64 = means.iter().sum();
        // rounding the running sum gives whole numbers with the right total
        let (mut sum, mut given) = (0.0, 0);
        let mut share = |mean: &f64| {
            sum += mean;
            let until = (population as f64 * sum / total).round() as usize;
            std::mem::replace(&mut given, until).abs_diff(until)
        };
        means.iter().map(&mut share).collect()
    }

    fn breed(&mut self, setup: &Setup) -> Vec<Genome> {
        self.cull();
        let mut next = Vec::new();
        for (species, share) in self.shares(setup.population()).into_iter().enumerate() {
            let members = self.species[species].members.clone();
            let parents = ((members.len() as f64 * BREEDING).ceil() as usize).max(2).min(members.len());
            for number in 0..share {
                if number == 0 && members.len() >= CHAMPION_FROM {
                    next.push(self.genomes[members[0]].clone());
                } else {
                    next.push(self.child(setup, &members[..parents]));
                }
            }
        }
        next
    }

    fn child(&mut self, setup: &Setup, parents: &[usize]) -> Genome {
        let rng = &mut self.rng;
        let a = parents[rng.random_range(0..parents.len())];
        let mut child = self.genomes[a].clone();
        if rng.random_bool(setup.settings.crossover_rate) {
            let b = if rng.random_bool(STRANGER) {
                rng.random_range(0..self.genomes.len())
            } else {
                parents[rng.random_range(0..parents.len())]
            };
            let (fitter, other) = if self.fitness[a] >= self.fitness[b] { (a, b) } else { (b, a) };
            child = Genome::cross(&self.genomes[fitter], &self.genomes[other], rng);
        }
        child.mutate(setup, &mut self.history, rng);
        child
    }
}

impl Strategy for Neat {
    fn ask(&mut self, setup: &Setup) -> Vec<Genotype> {
        self.genomes = if self.genomes.is_empty() {
            let first = |_| Genome::first(&setup.parameters, &mut self.history, &mut self.rng);
            (0..setup.population()).map(first).collect()
        } else {
            self.breed(setup)
        };
        self.genomes.iter().map(|genome| genome.genotype(&setup.parameters, &self.history)).collect()
    }

    fn tell(&mut self, setup: &Setup, _: &[Genotype], evaluations: &[Evaluation]) {
        self.fitness = evaluations.iter().map(|evaluation| evaluation.fitness).collect();
        self.speciate(setup);
    }

    fn describe(&self, _: &Setup) -> String {
        let connections = self.genomes.iter().map(Genome::size).max().unwrap_or_default();
        format!("{} species, up to {connections} connections", self.species.len())
    }
}

#[cfg(test)]
mod tests;
