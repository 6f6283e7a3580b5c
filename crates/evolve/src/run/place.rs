//! Where the individuals of a run are tested, ready for use.

use std::sync::Arc;

use arena::{Plan, PlanError};

use super::Place;
use crate::robot::{BodyFile, BodyFileError, Design, FitnessFile, InProcess, simulator::OtherDirections};

/// World and robots of a run whose individuals are tested in its own process.
#[derive(Clone, Debug)]
pub struct Here {
    /// The robots.
    pub design: Arc<Design>,
    /// Their world.
    pub world: Arc<Plan>,
    /// Of world and trials.
    pub seed: u64,
}

/// Why nobody can be tested there.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlaceError {
    /// With the world's file.
    #[error("the world is no good: {0}")]
    World(#[from] PlanError),
    /// With its directions.
    #[error(transparent)]
    Directions(#[from] OtherDirections),
    /// With the body's file.
    #[error("the body is no good: {0}")]
    Body(BodyFileError),
    /// With the fitness.
    #[error("the fitness is no good: {0}")]
    Fitness(BodyFileError),
}

impl Place {
    /// World and robots as the run keeps them; `None` if its individuals are tested elsewhere.
    pub fn here(&self) -> Result<Option<Here>, PlaceError> {
        let Self::Here { world, body, fitness, seed } = self else { return Ok(None) };
        let world = Plan::parse(world)?;
        InProcess::suits(&world)?;
        let mut file = BodyFile::parse(body).map_err(PlaceError::Body)?;
        file.trial.seed = *seed;
        let fitness = fitness.as_deref().map(FitnessFile::parse).transpose().map_err(PlaceError::Fitness)?;
        let design = Design::new(file, fitness).map_err(PlaceError::Body)?;
        Ok(Some(Here { design: Arc::new(design), world: Arc::new(world), seed: *seed }))
    }
}
