//! MAP-Elites for nets of different sizes.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::archive::{Archive, Axis};
use super::genes::{self, GenomeLayout};
use super::variation::{gaussian, iso_line, reflect};
use super::{Evaluation, SearchContext, Strategy, WORST};
use crate::genotype::Genotype;

/// Maximum number of axes of the archive; further behaviour values are ignored.
pub(super) const MAX_AXES: usize = 4;

/// The axes are the behaviour values if the first generation has any, otherwise two features of the net: its number of
/// hidden neurons and the mean absolute value of its weights. A child is a random elite with Gaussian or iso+line mutation
/// (towards another elite), and may gain or lose a hidden neuron.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MapElites {
    rng: ChaCha8Rng,
    /// `None` until the first generation is evaluated.
    archive: Option<Archive<Genotype>>,
    by_behaviour: bool,
}

impl MapElites {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), archive: None, by_behaviour: false }
    }

    fn child(&mut self, context: &SearchContext) -> Genotype {
        let SearchContext { settings, parameters } = context;
        let rng = &mut self.rng;
        let draw = |rng: &mut ChaCha8Rng| self.archive.as_ref().and_then(|archive| archive.sample(rng));
        let (Some(parent), Some(other)) = (draw(rng), draw(rng)) else {
            return genes::first(parameters, settings.hidden(parameters), rng);
        };
        let chances = [settings.add_neuron, settings.remove_neuron];
        let parent = genes::resize(parameters, parent.solution.clone(), chances, rng);
        let layout = GenomeLayout::new(parameters, parent.hidden);
        let units = layout.units(&parent);
        let child = if rng.random_bool(settings.crossover_rate) {
            // genes of a neuron that the other lacks are taken from the parent, so that the line does not move them
            let other = layout.units_or(&other.solution, &units);
            iso_line(&units, &other, [context.sigma() / 5.0, settings.line], rng)
        } else {
            gaussian(&units, context.sigma(), rng)
        };
        layout.genotype(&child.into_iter().map(reflect).collect::<Vec<_>>())
    }
}

/// The axes for behaviours of `entries` values, or for features of the net if 0.
fn axes(context: &SearchContext, entries: usize) -> Vec<Axis> {
    let SearchContext { settings, parameters } = context;
    let cells = settings.cells;
    if entries > 0 {
        let limits = settings.behaviour_limits.iter().copied().chain(std::iter::repeat([0.0, 1.0]));
        return limits.take(entries.min(MAX_AXES)).map(|[low, high]| Axis { low, high, cells }).collect();
    }
    let (fewest, most) = (parameters.hidden_min as f64, parameters.hidden_max as f64);
    let sizes = parameters.hidden_max - parameters.hidden_min + 1;
    vec![Axis { low: fewest - 0.5, high: most + 0.5, cells: cells.min(sizes) }, Axis { low: 0.0, high: 1.0, cells }]
}

impl Strategy for MapElites {
    fn ask(&mut self, context: &SearchContext) -> Vec<Genotype> {
        (0..context.population()).map(|_| self.child(context)).collect()
    }

    fn tell(&mut self, context: &SearchContext, asked: &[Genotype], evaluations: &[Evaluation]) {
        let archive = self.archive.get_or_insert_with(|| {
            let entries = evaluations.iter().map(|evaluation| evaluation.behaviour.len()).max().unwrap_or_default();
            self.by_behaviour = entries > 0;
            Archive::new(axes(context, entries))
        });
        for (genotype, Evaluation { fitness, behaviour, .. }) in asked.iter().zip(evaluations) {
            // a failed individual has no meaningful behaviour
            if *fitness == WORST || (self.by_behaviour && behaviour.is_empty()) {
                continue;
            }
            if self.by_behaviour {
                archive.add(genotype.clone(), *fitness, behaviour);
            } else {
                let features = [genotype.hidden as f64, genes::mean_weight(&context.parameters, genotype)];
                archive.add(genotype.clone(), *fitness, &features);
            }
        }
    }

    fn describe(&self, _: &SearchContext) -> String {
        let Some(archive) = &self.archive else {
            return "empty archive".to_owned();
        };
        let of = if self.by_behaviour { "behaviour" } else { "size and weights" };
        format!("{} of {} cells of {of} filled", archive.elites().len(), archive.cells())
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{context, parameters};
    use super::*;
    use crate::search::Settings;

    fn run(behave: fn(&Genotype) -> Vec<f64>) -> MapElites {
        let settings = Settings { cells: 10, behaviour_limits: vec![[-10.0, 10.0]], ..Settings::default() };
        let context = context(settings, parameters());
        let mut elites = MapElites::new(1);
        for _ in 0..40 {
            let asked = elites.ask(&context);
            let evaluate = |net: &Genotype| Evaluation {
                fitness: -net.globals[1],
                behaviour: behave(net),
                ..Evaluation::default()
            };
            let evaluations: Vec<Evaluation> = asked.iter().map(evaluate).collect();
            elites.tell(&context, &asked, &evaluations);
        }
        elites
    }

    #[test]
    fn behaviours_are_covered_and_elites_good() {
        let elites = run(|net| vec![net.weights[0], net.globals[0]]);
        let archive = elites.archive.unwrap();
        assert!(archive.coverage() > 0.95, "{}", archive.coverage());
        assert!(archive.qd_score(-1.0) / archive.elites().len() as f64 > 0.9);
    }

    #[test]
    fn without_behaviour_sizes_and_weights_are_covered() {
        let elites = run(|_| vec![]);
        assert_eq!(elites.archive.as_ref().map(Archive::cells), Some(5 * 10));
        let sizes: std::collections::BTreeSet<usize> =
            elites.archive.unwrap().elites().iter().map(|elite| elite.solution.hidden).collect();
        assert_eq!(Vec::from_iter(sizes), [1, 2, 3, 4, 5]);
    }
}
