//! NSGA-II for nets of different sizes, with fitness and net size as objectives.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::fronts::Survivors;
use super::genes::{self, GenomeLayout};
use super::variation::{polynomial, reflect, sbx};
use super::{Evaluation, SearchContext, Strategy, WORST};
use crate::genotype::{Genotype, NetParameters};

/// Two objectives: fitness and a small net. The size is the number of hidden neurons; among equals, the mean absolute value
/// of the weights.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct NsgaII {
    rng: ChaCha8Rng,
    survivors: Survivors<Genotype>,
}

/// The size of a net: its number of hidden neurons plus, as the fractional part, the mean absolute value of its weights as a
/// fraction of the maximum.
fn net_size(parameters: &NetParameters, genotype: &Genotype) -> f64 {
    genotype.hidden as f64 + 0.999 * genes::mean_weight(parameters, genotype)
}

impl NsgaII {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), survivors: Survivors::default() }
    }

    fn child(&mut self, context: &SearchContext) -> Genotype {
        let SearchContext { settings, parameters } = context;
        let rng = &mut self.rng;
        let (Some(a), Some(b)) = (self.survivors.parent(rng), self.survivors.parent(rng)) else {
            return genes::first(parameters, settings.hidden(parameters), rng);
        };
        let chances = [settings.add_neuron, settings.remove_neuron];
        let parent = genes::resize(parameters, a.solution.clone(), chances, rng);
        let layout = GenomeLayout::new(parameters, parent.hidden);
        let mut units = layout.units(&parent);
        if rng.random_bool(settings.crossover_rate) {
            let other = layout.units_or(&b.solution, &units);
            units = sbx(&units, &other, rng);
        }
        polynomial(&mut units, settings.mutation_rate, rng);
        layout.genotype(&units.into_iter().map(reflect).collect::<Vec<_>>())
    }
}

impl Strategy for NsgaII {
    fn ask(&mut self, context: &SearchContext) -> Vec<Genotype> {
        (0..context.population()).map(|_| self.child(context)).collect()
    }

    fn tell(&mut self, context: &SearchContext, asked: &[Genotype], evaluations: &[Evaluation]) {
        let newcomer = |(genotype, evaluation): (&Genotype, &Evaluation)| {
            // a failed individual must not win by being small
            let failed = evaluation.fitness == WORST;
            let size = if failed { WORST } else { -net_size(&context.parameters, genotype) };
            (genotype.clone(), vec![evaluation.fitness, size])
        };
        self.survivors.select(asked.iter().zip(evaluations).map(newcomer), context.population());
    }

    fn describe(&self, _: &SearchContext) -> String {
        let best = self.survivors.members().iter().filter(|member| member.front == 0);
        format!("{} nets on the first front", best.count())
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{context, parameters};
    use super::*;
    use crate::search::Settings;

    #[test]
    fn the_front_holds_good_large_nets_and_bad_small_ones() {
        let context = context(Settings { population: Some(40), ..Settings::default() }, parameters());
        let mut search = NsgaII::new(1);
        for _ in 0..60 {
            let asked = search.ask(&context);
            let fitness = |net: &Genotype| net.hidden as f64 + net.globals[0];
            let evaluate = |net: &Genotype| Evaluation { fitness: fitness(net), ..Evaluation::default() };
            search.tell(&context, &asked, &asked.iter().map(evaluate).collect::<Vec<_>>());
        }
        for hidden in 1..=5 {
            let of_size = |net: &&Genotype| net.hidden == hidden;
            let nets = || search.survivors.members().iter().map(|member| &member.solution).filter(of_size);
            assert!(nets().any(|net| net.globals[0] > 0.9), "{hidden}");
        }
    }
}
