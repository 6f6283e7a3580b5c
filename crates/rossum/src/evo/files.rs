//! Worlds, bodies and fitness scripts of the evolving robots, built in or from files.

use std::{path::Path, sync::Arc};

use anyhow::{Context, Error};
use arena::plan::Plan;
use evolve::robot::{BodyFile, Design, FitnessFile};
use server::protocol::evo::{body_text, fitness_text, world_text};

/// The text of a world.
pub(crate) fn world(name: &str) -> anyhow::Result<String> {
    world_text(name, Path::new("")).map_err(Error::msg)
}

/// The text of a body.
pub(crate) fn body(name: &str) -> anyhow::Result<String> {
    body_text(name, Path::new("")).map_err(Error::msg)
}

/// The text of a fitness script.
pub(crate) fn fitness(name: &str) -> anyhow::Result<String> {
    fitness_text(name, Path::new("")).map_err(Error::msg)
}

/// Parses a world.
pub(crate) fn plan(text: &str) -> anyhow::Result<Arc<Plan>> {
    Ok(Arc::new(Plan::parse(text).context("invalid world")?))
}

/// Parses a body, with another fitness script and another seed of its trials if given.
pub(crate) fn design(body: &str, fitness: Option<&str>, seed: Option<u64>) -> anyhow::Result<Arc<Design>> {
    let mut file = BodyFile::parse(body).context("invalid body")?;
    file.trial.seed = seed.unwrap_or(file.trial.seed);
    let fitness = fitness.map(FitnessFile::parse).transpose().context("invalid fitness")?;
    Ok(Arc::new(Design::new(file, fitness).context("invalid body")?))
}
