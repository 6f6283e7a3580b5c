//! CMA-ES for nets of one size.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::cma::{Cma, SEPARABLE_ABOVE, usual_lambda};
use super::genes::Frame;
use super::variation::reflect;
use super::{Evaluation, Setup, Strategy};
use crate::genotype::Genotype;

/// Below this spread, as a share of the ranges, a search has settled.
const SETTLED: f64 = 1e-9;
/// Above this spread, as a share of the ranges, samples are but noise.
const LOST: f64 = 1e3;

/// The core works on genes from 0 to 1 and knows no limits: what it puts outside is thrown back as by a mirror, so that
/// the space has no edge where samples would heap up. It starts in the middle of the ranges. Once it has settled, it
/// starts again somewhere else.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CmaEs {
    core: Cma,
    starts: u64,
}

impl CmaEs {
    pub(super) fn new(setup: &Setup, seed: u64) -> Self {
        let genes = Frame::new(&setup.parameters, setup.settings.hidden(&setup.parameters)).genes.len();
        Self { core: core(setup, vec![0.5; genes], ChaCha8Rng::seed_from_u64(seed)), starts: 1 }
    }
}

fn core(setup: &Setup, mean: Vec<f64>, rng: ChaCha8Rng) -> Cma {
    let lambda = setup.settings.population.unwrap_or(usual_lambda(mean.len()));
    Cma::with_rng(mean, setup.settings.sigma.unwrap_or(0.2), lambda, setup.settings.active, rng)
}

impl Strategy for CmaEs {
    fn ask(&mut self, setup: &Setup) -> Vec<Genotype> {
        let frame = Frame::new(&setup.parameters, setup.settings.hidden(&setup.parameters));
        let genotype = |sample: Vec<f64>| frame.genotype(&sample.into_iter().map(reflect).collect::<Vec<_>>());
        self.core.ask().into_iter().map(genotype).collect()
    }

    fn tell(&mut self, setup: &Setup, _: &[Genotype], evaluations: &[Evaluation]) {
        let fitness: Vec<f64> = evaluations.iter().map(|evaluation| evaluation.fitness).collect();
        self.core.tell(&fitness);
        let axes = self.core.mean().len();
        let usable = (SETTLED..LOST).contains(&self.core.spread()) && self.core.mean().iter().all(|x| x.is_finite());
        if axes > 0 && !usable {
            let mut rng = self.core.rng().clone();
            let mean = (0..axes).map(|_| rng.random()).collect();
            self.core = core(setup, mean, rng);
            self.starts += 1;
        }
    }

    fn describe(&self, _: &Setup) -> String {
        let axes = self.core.mean().len();
        let kind = if axes > SEPARABLE_ABOVE { "variances only" } else { "all covariances" };
        format!("{axes} genes, {kind}, step {:.2e}, start {}", self.core.sigma(), self.starts)
    }
}
