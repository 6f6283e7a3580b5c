//! Where the individuals of a run are evaluated.

use std::sync::Arc;

use arena::{Plan, PlanError};

use super::{Best, Encounters, EvaluationSite, encounters};
use crate::{
    Genotype,
    robot::{
        BodyFile, BodyFileError, Design, Encounter, EvaluationError, EvaluationTask, FitnessFile, GenotypeError,
        InProcessWorld, Key, Outcome, WorldLost, evaluate_all, evaluate_alone, in_parallel,
    },
};

/// Maximum number of individuals that are evaluated together.
pub const MAX_GROUP: usize = 100;

/// World and robots of a run that evaluates its individuals in its own process.
#[derive(Clone, Debug)]
pub struct LocalSite {
    /// The robots' design.
    pub design: Arc<Design>,
    /// The world.
    pub world: Arc<Plan>,
    /// Seed of the world and the trials.
    pub seed: u64,
    /// Evaluation partners of an individual.
    pub encounters: Encounters,
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
        let Self::Local { world, body, fitness, seed, encounters } = self else { return Ok(None) };
        let world = Plan::parse(world)?;
        let mut file = BodyFile::parse(body).map_err(SiteError::Body)?;
        file.trial.seed = *seed;
        let fitness = fitness.as_deref().map(FitnessFile::parse).transpose().map_err(SiteError::Fitness)?;
        let design = Design::new(file, fitness).map_err(SiteError::Body)?;
        let encounters = encounters.clone();
        Ok(Some(LocalSite { design: Arc::new(design), world: Arc::new(world), seed: *seed, encounters }))
    }
}

impl LocalSite {
    /// Evaluates a generation on several threads. The results depend neither on their number nor on the order. Individuals
    /// are numbered from 1. `progress` is called with the number of finished evaluations.
    ///
    /// # Errors
    ///
    /// A genotype does not fit the design, the world fails, or individuals of another population are needed.
    pub fn evaluate(
        &self,
        generation: u64,
        individuals: &[Genotype],
        threads: usize,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Outcome>, EvaluationError> {
        if let Encounters::Nobody = self.encounters {
            let world = || Ok(InProcessWorld::new(self.world.clone(), self.arena_seed(generation)));
            return evaluate_all(&self.design, generation, individuals, threads, world, progress);
        }
        let groups = self.groups(generation, individuals.len())?;
        let evaluate = |nth: usize| {
            let members: Vec<_> = groups[nth].iter().map(|&member| (member as u64 + 1, &individuals[member])).collect();
            self.evaluate_group(generation, &members)
        };
        let done = |count: usize| progress(groups.iter().take(count).map(Vec::len).sum());
        let outcomes = in_parallel(groups.len(), threads, evaluate, &done)?;
        let mut outcomes: Vec<_> = groups.iter().flatten().zip(outcomes.into_iter().flatten()).collect();
        outcomes.sort_by_key(|(member, _)| **member);
        Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
    }

    /// Divides a generation into groups that can be evaluated independently, anywhere and in any order. Each consists of
    /// the indices of its members; it has one where robots do not meet.
    ///
    /// # Errors
    ///
    /// Individuals of another population are needed.
    pub fn groups(&self, generation: u64, individuals: usize) -> Result<Vec<Vec<usize>>, EvaluationError> {
        match self.encounters {
            Encounters::Nobody => Ok((0..individuals).map(|individual| vec![individual]).collect()),
            Encounters::Group(size) => Ok(encounters::groups(self.seed, generation, individuals, size)),
            Encounters::Opponents { ref rival, .. } => {
                Err(WorldLost::new(format!("individuals of the population `{rival}` are needed")).into())
            }
        }
    }

    /// Evaluates a group of a generation: its members in the group's order, each with its number, from 1. The outcomes are
    /// in the same order.
    ///
    /// # Errors
    ///
    /// A genotype does not fit the design, the world fails, or there are too many members or none.
    pub fn evaluate_group(
        &self,
        generation: u64,
        members: &[(u64, &Genotype)],
    ) -> Result<Vec<Outcome>, EvaluationError> {
        match (&self.encounters, members) {
            (Encounters::Nobody, &[(number, genotype)]) => {
                let world = InProcessWorld::new(self.world.clone(), self.arena_seed(generation));
                let key = Key { owner: 0, generation, individual: number };
                Ok(vec![evaluate_alone(&self.design, key, genotype, None, world)?])
            }
            (Encounters::Group(size), [_, ..]) if members.len() <= (*size).max(1) => {
                Ok(self.group(generation, members.iter().copied(), 0)?.run()?)
            }
            _ => Err(WorldLost::new(format!("a group of {} cannot be evaluated here", members.len())).into()),
        }
    }

    /// The evaluation of a run's individual again, with its evaluation partners. Records at most the first `positions`
    /// positions of each. Returns it with the number of the individual's robot.
    ///
    /// # Errors
    ///
    /// A genotype does not fit the design, or there are too many individuals.
    pub fn encounter(&self, best: &Best, positions: usize) -> Result<(Encounter, usize), EvaluationError> {
        if best.companions.len() >= MAX_GROUP {
            return Err(WorldLost::new(format!("more than {MAX_GROUP} individuals that meet")).into());
        }
        let (before, after) = best.companions.split_at(best.place.min(best.companions.len()));
        // numbers only matter to those who ask for them
        let robots = before.iter().chain([&best.genotype]).chain(after).map(|genotype| (best.individual, genotype));
        Ok((self.group(best.generation, robots, positions)?, before.len()))
    }

    /// Robots of the world's first kind in an arena of their own.
    fn group<'a>(
        &self,
        generation: u64,
        robots: impl Iterator<Item = (u64, &'a Genotype)>,
        positions: usize,
    ) -> Result<Encounter, GenotypeError> {
        let mut encounter = Encounter::new(self.world.clone(), self.arena_seed(generation));
        for (number, genotype) in robots {
            let task = EvaluationTask::new(self.design.clone(), genotype, generation, number)?;
            encounter = encounter.with(0, task.with_path_of(positions));
        }
        Ok(encounter)
    }

    /// Seed of the poses that the world chooses.
    pub(super) fn arena_seed(&self, generation: u64) -> u64 {
        match self.design.file().trial.fresh_each_generation {
            // an odd factor keeps the seeds of different generations apart
            true => self.seed ^ generation.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            false => self.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        robot::library,
        search::{Algorithm, Search, Settings},
    };

    fn site(world: &str, encounters: Encounters) -> LocalSite {
        let (world, body) = (Plan::built_in_text(world).unwrap(), library::body_text("platine").unwrap());
        let site = EvaluationSite::Local { world, body, fitness: None, seed: 7, encounters };
        site.local().unwrap().unwrap()
    }

    fn individuals(site: &LocalSite, count: usize) -> Vec<Genotype> {
        let settings = Settings { population: Some(count), ..Settings::default() };
        Search::new(Algorithm::Ga, &settings, site.design.parameters(), 1).unwrap().ask()
    }

    #[test]
    fn groups_that_are_evaluated_one_by_one_have_the_outcomes_of_the_generation() {
        for (world, encounters) in [("blocks", Encounters::Nobody), ("coevolution", Encounters::Group(3))] {
            let site = site(world, encounters);
            let individuals = individuals(&site, 7);
            let expected = site.evaluate(5, &individuals, 2, &|_| ()).unwrap();
            let mut seen = 0;
            // in any order
            for group in site.groups(5, 7).unwrap().into_iter().rev() {
                let members: Vec<_> = group.iter().map(|&member| (member as u64 + 1, &individuals[member])).collect();
                let outcomes = site.evaluate_group(5, &members).unwrap();
                assert!(group.iter().map(|&member| &expected[member]).eq(&outcomes), "{world}: {group:?}");
                seen += group.len();
            }
            assert_eq!(seen, 7, "{world}");
        }
    }

    #[test]
    fn a_group_that_does_not_fit_is_refused() {
        let (alone, three) = (site("blocks", Encounters::Nobody), site("coevolution", Encounters::Group(3)));
        for (site, count, is_valid) in
            [(&alone, 0, false), (&alone, 1, true), (&alone, 2, false), (&three, 0, false), (&three, 4, false)]
        {
            let individuals = individuals(site, 4);
            let members: Vec<_> = (1..).zip(&individuals).take(count).collect();
            assert_eq!(site.evaluate_group(1, &members).is_ok(), is_valid, "{count} in {:?}", site.encounters);
        }
        let opponents = Encounters::Opponents { kind: "prey".into(), rival: "predator".into(), count: 2 };
        let error = site("coevolution", opponents).groups(1, 4).unwrap_err().to_string();
        assert!(error.contains("`predator`"), "{error}");
    }
}
