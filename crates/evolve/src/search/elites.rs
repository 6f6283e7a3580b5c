//! MAP-Elites for nets of different sizes.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::archive::{Archive, Axis};
use super::genes::{self, Frame};
use super::variation::{gaussian, iso_line, reflect};
use super::{Evaluation, Setup, Strategy, WORST};
use crate::genotype::Genotype;

/// Most entries of a behaviour that become axes of the archive, the first ones.
pub(super) const MAX_AXES: usize = 4;

/// The axes are the entries of the behaviour if the first generation has one, else two features of the net: its count of
/// hidden neurons, and the mean absolute value of its weights. A child is a random elite moved by normal steps, or by
/// steps along the line to another elite, and may gain or lose a hidden neuron.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MapElites {
    rng: ChaCha8Rng,
    /// None until the first generation is known.
    archive: Option<Archive<Genotype>>,
    by_behaviour: bool,
}

impl MapElites {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), archive: None, by_behaviour: false }
    }

    fn child(&mut self, setup: &Setup) -> Genotype {
        let Setup { settings, parameters } = setup;
        let rng = &mut self.rng;
        let draw = |rng: &mut ChaCha8Rng| self.archive.as_ref().and_then(|archive| archive.sample(rng));
        let (Some(parent), Some(other)) = (draw(rng), draw(rng)) else {
            return genes::first(parameters, settings.hidden(parameters), rng);
        };
        let chances = [settings.add_neuron, settings.remove_neuron];
        let parent = genes::resize(parameters, parent.solution.clone(), chances, rng);
        let frame = Frame::new(parameters, parent.hidden);
        let units = frame.units(&parent);
        let child = if rng.random_bool(settings.crossover_rate) {
            // a neuron that the other does not have is where the parent has it, so the line does not move it
            let other = frame.units_or(&other.solution, &units);
            iso_line(&units, &other, [setup.sigma() / 5.0, settings.line], rng)
        } else {
            gaussian(&units, setup.sigma(), rng)
        };
        frame.genotype(&child.into_iter().map(reflect).collect::<Vec<_>>())
    }
}

/// The axes for behaviours of so many entries, or for features of the net.
fn axes(setup: &Setup, entries: usize) -> Vec<Axis> {
    let Setup { settings, parameters } = setup;
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
    fn ask(&mut self, setup: &Setup) -> Vec<Genotype> {
        (0..setup.population()).map(|_| self.child(setup)).collect()
    }

    fn tell(&mut self, setup: &Setup, asked: &[Genotype], evaluations: &[Evaluation]) {
        let archive = self.archive.get_or_insert_with(|| {
            let entries = evaluations.iter().map(|evaluation| evaluation.behaviour.len()).max().unwrap_or_default();
            self.by_behaviour = entries > 0;
            Archive::new(axes(setup, entries))
        });
        for (genotype, Evaluation { fitness, behaviour }) in asked.iter().zip(evaluations) {
            // one that failed has no behaviour worth a cell
            if *fitness == WORST || (self.by_behaviour && behaviour.is_empty()) {
                continue;
            }
            if self.by_behaviour {
                archive.add(genotype.clone(), *fitness, behaviour);
            } else {
                let features = [genotype.hidden as f64, genes::mean_weight(&setup.parameters, genotype)];
                archive.add(genotype.clone(), *fitness, &features);
            }
        }
    }

    fn describe(&self, _: &Setup) -> String {
        let Some(archive) = &self.archive else {
            return "archive not begun".to_owned();
        };
        let of = if self.by_behaviour { "behaviour" } else { "size and weights" };
        format!("{} of {} cells of {of} filled", archive.elites().len(), archive.cells())
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{parameters, setup};
    use super::*;
    use crate::search::Settings;

    fn run(behave: fn(&Genotype) -> Vec<f64>) -> MapElites {
        let settings = Settings { cells: 10, behaviour_limits: vec![[-10.0, 10.0]], ..Settings::default() };
        let setup = setup(settings, parameters());
        let mut elites = MapElites::new(1);
        for _ in 0..40 {
            let asked = elites.ask(&setup);
            let evaluate = |net: &Genotype| Evaluation { fitness: -net.globals[1], behaviour: behave(net) };
            let evaluations: Vec<Evaluation> = asked.iter().map(evaluate).collect();
            elites.tell(&setup, &asked, &evaluations);
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
