//! NSGA-II for nets of different sizes: good nets and small nets at once.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::fronts::Survivors;
use super::genes::{self, Frame};
use super::variation::{polynomial, reflect, sbx};
use super::{Evaluation, Setup, Strategy, WORST};
use crate::genotype::{Genotype, NetParameters};

/// Two objectives: fitness, and a small net. Of two nets that with fewer hidden neurons is smaller, and of two with the
/// same count that with the smaller mean absolute value of its weights.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct NsgaII {
    rng: ChaCha8Rng,
    survivors: Survivors<Genotype>,
}

/// What a net costs: the whole part is its count of hidden neurons, the rest is the mean absolute value of its weights
/// as a share of the largest one allowed.
fn cost(parameters: &NetParameters, genotype: &Genotype) -> f64 {
    genotype.hidden as f64 + 0.999 * genes::mean_weight(parameters, genotype)
}

impl NsgaII {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), survivors: Survivors::default() }
    }

    fn child(&mut self, setup: &Setup) -> Genotype {
        let Setup { settings, parameters } = setup;
        let rng = &mut self.rng;
        let (Some(a), Some(b)) = (self.survivors.parent(rng), self.survivors.parent(rng)) else {
            return genes::first(parameters, settings.hidden(parameters), rng);
        };
        let chances = [settings.add_neuron, settings.remove_neuron];
        let parent = genes::resize(parameters, a.solution.clone(), chances, rng);
        let frame = Frame::new(parameters, parent.hidden);
        let mut units = frame.units(&parent);
        if rng.random_bool(settings.crossover_rate) {
            let other = frame.units_or(&b.solution, &units);
            units = sbx(&units, &other, rng);
        }
        polynomial(&mut units, settings.mutation_rate, rng);
        frame.genotype(&units.into_iter().map(reflect).collect::<Vec<_>>())
    }
}

impl Strategy for NsgaII {
    fn ask(&mut self, setup: &Setup) -> Vec<Genotype> {
        (0..setup.population()).map(|_| self.child(setup)).collect()
    }

    fn tell(&mut self, setup: &Setup, asked: &[Genotype], evaluations: &[Evaluation]) {
        let newcomer = |(genotype, evaluation): (&Genotype, &Evaluation)| {
            // one that failed does not win by being small
            let failed = evaluation.fitness == WORST;
            let size = if failed { WORST } else { -cost(&setup.parameters, genotype) };
            (genotype.clone(), vec![evaluation.fitness, size])
        };
        self.survivors.select(asked.iter().zip(evaluations).map(newcomer), setup.population());
    }

    fn describe(&self, _: &Setup) -> String {
        let best = self.survivors.members().iter().filter(|member| member.front == 0);
        format!("{} on the front of good and small nets", best.count())
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{parameters, setup};
    use super::*;
    use crate::search::Settings;

    #[test]
    fn the_front_holds_good_large_nets_and_bad_small_ones() {
        let setup = setup(Settings { population: Some(40), ..Settings::default() }, parameters());
        let mut search = NsgaII::new(1);
        for _ in 0..60 {
            let asked = search.ask(&setup);
            let fitness = |net: &Genotype| net.hidden as f64 + net.globals[0];
            let evaluate = |net: &Genotype| Evaluation { fitness: fitness(net), behaviour: vec![] };
            search.tell(&setup, &asked, &asked.iter().map(evaluate).collect::<Vec<_>>());
        }
        for hidden in 1..=5 {
            let of_size = |net: &&Genotype| net.hidden == hidden;
            let nets = || search.survivors.members().iter().map(|member| &member.solution).filter(of_size);
            assert!(nets().any(|net| net.globals[0] > 0.9), "{hidden}");
        }
    }
}
