//! What a run evolves unless the user chooses otherwise.

use crate::search::Algorithm;

/// A choice of world, robot and algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Name of the world.
    pub world: &'static str,
    /// Name of the body.
    pub body: &'static str,
    /// Name of the fitness script, which is the body's own.
    pub fitness: &'static str,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Number of generations.
    pub generations: u64,
}

/// Chosen so that a robot has visibly learnt something within a minute on two cores, whatever the seed.
impl Default for Preset {
    fn default() -> Self {
        Self { world: "blocks", body: "platine", fitness: "exploration", algorithm: Algorithm::CmaEs, generations: 300 }
    }
}

#[cfg(test)]
mod tests {
    use arena::Plan;

    use super::*;
    use crate::robot::{Design, suitability};

    #[test]
    fn the_preset_makes_sense() {
        let Preset { world, body, fitness, .. } = Preset::default();
        let design = Design::built_in(body).unwrap();
        assert_eq!(design.file().fitness.script.as_deref(), Some(fitness));
        assert_eq!(suitability::check(&design, &Plan::built_in(world).unwrap().unwrap()), Ok(()));
        assert!(!design.fitness().summary.is_empty());
    }
}
