//! OpenAI-ES for nets of one size.

use serde::{Deserialize, Serialize};

use super::es::{Es, EsSettings};
use super::genes::GenomeLayout;
use super::variation::reflect;
use super::{Evaluation, SearchContext, Strategy};
use crate::genotype::Genotype;

/// The core's axes are the genes as fractions of their ranges, relative to the middle, where it starts and towards which the
/// decay pulls. Samples outside the ranges are reflected.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OpenAiEs {
    core: Es,
}

impl OpenAiEs {
    pub(super) fn new(context: &SearchContext, seed: u64) -> Self {
        let SearchContext { settings, parameters } = context;
        let genes = GenomeLayout::new(parameters, settings.hidden(parameters)).genes.len();
        let settings = EsSettings {
            sigma: context.sigma(),
            learning_rate: settings.learning_rate,
            weight_decay: settings.weight_decay,
        };
        Self { core: Es::new(vec![0.0; genes], settings, context.population(), seed) }
    }
}

impl Strategy for OpenAiEs {
    fn ask(&mut self, context: &SearchContext) -> Vec<Genotype> {
        let layout = GenomeLayout::new(&context.parameters, context.settings.hidden(&context.parameters));
        let unit = |x: f64| reflect(x + 0.5);
        let genotype = |sample: Vec<f64>| layout.genotype(&sample.into_iter().map(unit).collect::<Vec<_>>());
        self.core.ask().into_iter().map(genotype).collect()
    }

    fn tell(&mut self, _: &SearchContext, _: &[Genotype], evaluations: &[Evaluation]) {
        let fitness: Vec<f64> = evaluations.iter().map(|evaluation| evaluation.fitness).collect();
        self.core.tell(&fitness);
    }

    fn describe(&self, _: &SearchContext) -> String {
        let mean = self.core.mean();
        let distance = mean.iter().map(|x| x * x).sum::<f64>() / mean.len().max(1) as f64;
        format!("{} genes, {:.3} of the ranges from the middle", mean.len(), distance.sqrt())
    }
}
