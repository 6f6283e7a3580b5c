//! Where the individuals of a run are evaluated.

use std::sync::Arc;

use arena::{Plan, PlanError};

use super::EvaluationSite;
use crate::robot::{BodyFile, BodyFileError, Design, FitnessFile};

/// World and robots of a run that evaluates its individuals in its own process.
#[derive(Clone, Debug)]
pub struct LocalSite {
    /// The robots' design.
    pub design: Arc<Design>,
    /// The world.
    pub world: Arc<Plan>,
    /// Seed of the world and the trials.
    pub seed: u64,
}

/// Why a [`LocalSite`] cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SiteError {
    /// An invalid world file.
    #[error("invalid world: {0}")]
    World(#[from] PlanError),
    /// An invalid body file.
    #[error("invalid body: {0}")]
    Body(BodyFileError),
    /// An invalid fitness file.
    #[error("invalid fitness: {0}")]
    Fitness(BodyFileError),
}

impl EvaluationSite {
    /// Parses the world and robots; `None` if Robot Simulators evaluate the individuals.
    ///
    /// # Errors
    ///
    /// A file is invalid.
    pub fn local(&self) -> Result<Option<LocalSite>, SiteError> {
        let Self::Local { world, body, fitness, seed } = self else { return Ok(None) };
        let world = Plan::parse(world)?;
        let mut file = BodyFile::parse(body).map_err(SiteError::Body)?;
        file.trial.seed = *seed;
        let fitness = fitness.as_deref().map(FitnessFile::parse).transpose().map_err(SiteError::Fitness)?;
        let design = Design::new(file, fitness).map_err(SiteError::Body)?;
        Ok(Some(LocalSite { design: Arc::new(design), world: Arc::new(world), seed: *seed }))
    }
}
