//! Worlds, bodies and fitness scripts of the evolving robots: those that come with the program by their name, others by
//! their file.

use std::{fs, path::Path, sync::Arc};

use anyhow::{Context, anyhow};
use arena::plan::Plan;
use evolve::robot::{BodyFile, Design, FitnessFile, library};

/// The text of a world.
pub(crate) fn world(name: &str) -> anyhow::Result<String> {
    let unknown = || {
        anyhow!(
            "there is no world {name:?}; there are {}, and files whose names end in .toml",
            Plan::names().join(", ")
        )
    };
    from_file(name).unwrap_or_else(|| Plan::shipped_text(name).ok_or_else(unknown))
}

/// The text of a body.
pub(crate) fn body(name: &str) -> anyhow::Result<String> {
    from_file(name).unwrap_or_else(|| Ok(library::body_text(name)?))
}

/// The text of a fitness script.
pub(crate) fn fitness(name: &str) -> anyhow::Result<String> {
    from_file(name).unwrap_or_else(|| Ok(library::script_text(name)?))
}

fn from_file(name: &str) -> Option<anyhow::Result<String>> {
    let is_file = Path::new(name).extension().is_some_and(|extension| extension == "toml");
    is_file.then(|| fs::read_to_string(name).with_context(|| format!("cannot read {name}")))
}

/// A checked world.
pub(crate) fn plan(text: &str) -> anyhow::Result<Arc<Plan>> {
    Ok(Arc::new(Plan::parse(text).context("the world is no good")?))
}

/// A checked body with its fitness, and with this seed for its trials if there is one.
pub(crate) fn design(body: &str, fitness: Option<&str>, seed: Option<u64>) -> anyhow::Result<Arc<Design>> {
    let mut file = BodyFile::parse(body).context("the body is no good")?;
    file.trial.seed = seed.unwrap_or(file.trial.seed);
    let fitness = fitness.map(FitnessFile::parse).transpose().context("the fitness is no good")?;
    Ok(Arc::new(Design::new(file, fitness).context("the body is no good")?))
}
