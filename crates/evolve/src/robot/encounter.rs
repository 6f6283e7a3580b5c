//! Robots that are evaluated together in one arena, where they see and hit each other.
//!
//! They take their steps together: all sense before the first one moves, and they move in the order in which they joined.
//! Trials begin together as well. A robot whose trial ends early stays where it is until the others' have ended. So an
//! encounter has the same outcomes each time, whatever else happens in the process.

use std::sync::Arc;

use arena::{Plan, Request, Response};

use super::{EvaluationTask, InProcessWorld, Outcome, WorldLost};

/// Robots in an arena of their own.
#[derive(Debug)]
pub struct Encounter {
    world: InProcessWorld,
    /// Each with its kind.
    robots: Vec<(usize, EvaluationTask)>,
}

impl Encounter {
    /// An arena without robots. The poses that the world chooses depend on the seed.
    pub fn new(plan: Arc<Plan>, seed: u64) -> Self {
        Self { world: InProcessWorld::new(plan, seed), robots: Vec::new() }
    }

    /// Adds a robot. `kind` is an index into the world's ports.
    #[must_use]
    pub fn with(mut self, kind: usize, task: EvaluationTask) -> Self {
        self.robots.push((kind, task));
        self
    }

    /// Evaluates all robots; the outcomes are in their order.
    ///
    /// # Errors
    ///
    /// The world does not respond as it should.
    pub fn run(self) -> Result<Vec<Outcome>, WorldLost> {
        self.watched(|_, _, _, _| ())
    }

    /// As [`run`](Self::run). `watch` is called with the index of a robot, its evaluation, its requests and the responses,
    /// before the evaluation handles them.
    pub(super) fn watched(
        mut self,
        mut watch: impl FnMut(usize, &EvaluationTask, &[Request], &[Response]),
    ) -> Result<Vec<Outcome>, WorldLost> {
        let (mut requests, mut responses) = (Vec::new(), Vec::new());
        // the robots that are furthest behind continue
        while let Some(progress) = self.live().map(EvaluationTask::progress).min() {
            for (index, (kind, task)) in self.robots.iter_mut().enumerate() {
                if task.outcome().is_some() || task.progress() != progress {
                    continue;
                }
                requests.clear();
                responses.clear();
                task.requests(&mut requests);
                self.world.exchange_as(*kind, &requests, &mut responses)?;
                watch(index, task, &requests, &responses);
                task.handle_responses(&responses)?;
            }
        }
        Ok(self.robots.into_iter().filter_map(|(_, task)| task.into_outcome()).collect())
    }

    fn live(&self) -> impl Iterator<Item = &EvaluationTask> {
        self.robots.iter().map(|(_, task)| task).filter(|task| task.outcome().is_none())
    }
}

#[cfg(test)]
mod tests;
