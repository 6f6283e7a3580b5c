//! CMA-ES for nets of one size.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::cma::{Cma, SEPARABLE_ABOVE, default_lambda};
use super::genes::GenomeLayout;
use super::variation::reflect;
use super::{Evaluation, SearchContext, Strategy};
use crate::genotype::Genotype;

/// Below this spread, as a fraction of the ranges, a search has converged.
const CONVERGED: f64 = 1e-9;
/// Above this spread, as a fraction of the ranges, a search has diverged.
const DIVERGED: f64 = 1e3;

/// The core works on genes scaled to 0..=1, without bounds: samples outside are reflected, so that they do not accumulate at
/// the limits. It starts in the middle of the ranges and restarts at a random point once it has converged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CmaEs {
    core: Cma,
    starts: u64,
}

impl CmaEs {
    pub(super) fn new(context: &SearchContext, seed: u64) -> Self {
        let genes = GenomeLayout::new(&context.parameters, context.settings.hidden(&context.parameters)).genes.len();
        Self { core: core(context, vec![0.5; genes], ChaCha8Rng::seed_from_u64(seed)), starts: 1 }
    }
}

fn core(context: &SearchContext, mean: Vec<f64>, rng: ChaCha8Rng) -> Cma {
    let lambda = context.settings.population.unwrap_or(default_lambda(mean.len()));
    Cma::with_rng(mean, context.settings.sigma.unwrap_or(0.2), lambda, context.settings.active, rng)
}

impl Strategy for CmaEs {
    fn ask(&mut self, context: &SearchContext) -> Vec<Genotype> {
        let layout = GenomeLayout::new(&context.parameters, context.settings.hidden(&context.parameters));
        let genotype = |sample: Vec<f64>| layout.genotype(&sample.into_iter().map(reflect).collect::<Vec<_>>());
        self.core.ask().into_iter().map(genotype).collect()
    }

    fn tell(&mut self, context: &SearchContext, _: &[Genotype], evaluations: &[Evaluation]) {
        let fitness: Vec<f64> = evaluations.iter().map(|evaluation| evaluation.fitness).collect();
        self.core.tell(&fitness);
        let axes = self.core.mean().len();
        let usable =
            (CONVERGED..DIVERGED).contains(&self.core.spread()) && self.core.mean().iter().all(|x| x.is_finite());
        if axes > 0 && !usable {
            let mut rng = self.core.rng().clone();
            let mean = (0..axes).map(|_| rng.random()).collect();
            self.core = core(context, mean, rng);
            self.starts += 1;
        }
    }

    fn describe(&self, _: &SearchContext) -> String {
        let axes = self.core.mean().len();
        let kind = if axes > SEPARABLE_ABOVE { "variances only" } else { "all covariances" };
        format!("{axes} genes, {kind}, step {:.2e}, start {}", self.core.sigma(), self.starts)
    }
}
