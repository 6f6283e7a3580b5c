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

/// What two populations evolve unless the user chooses otherwise. NEAT keeps different ways to hunt and to flee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoevolutionPreset {
    /// Name of the world.
    pub world: &'static str,
    /// Names of the bodies, which have their own fitness scripts.
    pub bodies: [&'static str; 2],
    /// Number of opponents of an individual.
    pub opponents: usize,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Number of individuals of a generation.
    pub population: usize,
    /// Number of generations.
    pub generations: u64,
}

impl Default for CoevolutionPreset {
    fn default() -> Self {
        Self {
            world: "coevolution",
            bodies: ["prey", "predator"],
            opponents: 2,
            algorithm: Algorithm::Neat,
            population: 40,
            generations: 100,
        }
    }
}

#[cfg(test)]
mod tests {
    use arena::Plan;

    use super::*;
    use crate::robot::{Design, suitability};

    #[test]
    fn the_preset_of_two_populations_makes_sense() {
        let CoevolutionPreset { world, bodies, .. } = CoevolutionPreset::default();
        let world = Plan::built_in(world).unwrap().unwrap();
        assert_eq!(suitability::rivals(&world), Some(bodies), "each kind has the body of its name");
        for (kind, body) in bodies.into_iter().enumerate() {
            let design = Design::built_in(body).unwrap();
            assert_eq!(suitability::check_rival(&design, &world, 1 - kind), Ok(()));
            assert!(!design.fitness().summary.is_empty());
        }
    }

    #[test]
    fn the_preset_makes_sense() {
        let Preset { world, body, fitness, .. } = Preset::default();
        let design = Design::built_in(body).unwrap();
        assert_eq!(design.file().fitness.script.as_deref(), Some(fitness));
        assert_eq!(suitability::check(&design, &Plan::built_in(world).unwrap().unwrap()), Ok(()));
        assert!(!design.fitness().summary.is_empty());
    }
}
