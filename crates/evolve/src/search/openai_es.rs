//! OpenAI-ES for nets of one size.

use serde::{Deserialize, Serialize};

use super::es::{Es, Pace};
use super::genes::Frame;
use super::variation::reflect;
use super::{Evaluation, Setup, Strategy};
use crate::genotype::Genotype;

/// The core's axes are the genes as shares of their ranges, counted from the middle, where it starts and whereto the
/// decay pulls. What it puts outside is thrown back as by a mirror.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OpenAiEs {
    core: Es,
}

impl OpenAiEs {
    pub(super) fn new(setup: &Setup, seed: u64) -> Self {
        let Setup { settings, parameters } = setup;
        let genes = Frame::new(parameters, settings.hidden(parameters)).genes.len();
        let pace =
            Pace { sigma: setup.sigma(), learning_rate: settings.learning_rate, weight_decay: settings.weight_decay };
        Self { core: Es::new(vec![0.0; genes], pace, setup.population(), seed) }
    }
}

impl Strategy for OpenAiEs {
    fn ask(&mut self, setup: &Setup) -> Vec<Genotype> {
        let frame = Frame::new(&setup.parameters, setup.settings.hidden(&setup.parameters));
        let unit = |x: f64| reflect(x + 0.5);
        let genotype = |sample: Vec<f64>| frame.genotype(&sample.into_iter().map(unit).collect::<Vec<_>>());
        self.core.ask().into_iter().map(genotype).collect()
    }

    fn tell(&mut self, _: &Setup, _: &[Genotype], evaluations: &[Evaluation]) {
        let fitness: Vec<f64> = evaluations.iter().map(|evaluation| evaluation.fitness).collect();
        self.core.tell(&fitness);
    }

    fn describe(&self, _: &Setup) -> String {
        let mean = self.core.mean();
        let distance = mean.iter().map(|x| x * x).sum::<f64>() / mean.len().max(1) as f64;
        format!("{} genes, {:.3} of the ranges from the middle", mean.len(), distance.sqrt())
    }
}
