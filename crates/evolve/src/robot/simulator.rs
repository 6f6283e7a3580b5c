//! Many concurrent evaluations in one world.

mod directions;
mod in_process;

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
};

use arena::{Request, Response};

pub use self::{directions::Redirected, in_process::InProcessWorld};
use super::{Design, EvaluationTask, GenotypeError, Outcome, evaluation::UnexpectedResponse, parallel::in_parallel};
use crate::Genotype;

/// A world in which robots can be evaluated.
pub trait World {
    /// Sends all requests and appends the responses in the same order. [`Request::Kill`] has none.
    ///
    /// # Errors
    ///
    /// The connection failed, or the world refused a request.
    fn exchange(&mut self, requests: &[Request], responses: &mut Vec<Response>) -> Result<(), WorldLost>;
}

/// The world failed or responded incorrectly. Its robots are lost.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the world is lost: {reason}")]
pub struct WorldLost {
    /// The cause, human-readable.
    pub reason: String,
}

impl WorldLost {
    /// A lost world with its cause.
    pub fn new(reason: impl ToString) -> Self {
        Self { reason: reason.to_string() }
    }
}

impl From<UnexpectedResponse> for WorldLost {
    fn from(response: UnexpectedResponse) -> Self {
        Self::new(response)
    }
}

/// Identifies an individual. Two may have the same key; each is evaluated and reported separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The client of the result, such as a connection.
    pub owner: u64,
    /// Number of its generation.
    pub generation: u64,
    /// Number of the individual.
    pub individual: u64,
}

/// A finished evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// The individual.
    pub key: Key,
    /// Its result.
    pub outcome: Outcome,
}

#[derive(Debug)]
struct Slot {
    key: Key,
    task: EvaluationTask,
    /// Whether it has sent requests in this round.
    has_requested: bool,
    /// Number of responses it awaits.
    awaited: usize,
}

/// Evaluates several individuals at a time, with one exchange for all.
#[derive(Debug)]
pub struct Simulator {
    design: Arc<Design>,
    concurrent: usize,
    live: Vec<Slot>,
    queue: VecDeque<Slot>,
    kills: Vec<Request>,
    requests: Vec<Request>,
    responses: Vec<Response>,
}

impl Simulator {
    /// A simulator for robots of this design, with the concurrency of its body file.
    pub fn new(design: Arc<Design>) -> Self {
        let concurrent = design.parameters().concurrent;
        Self {
            design,
            concurrent,
            live: Vec::new(),
            queue: VecDeque::new(),
            kills: Vec::new(),
            requests: Vec::new(),
            responses: Vec::new(),
        }
    }

    /// Sets the number of concurrent evaluations, at least 1.
    #[must_use]
    pub fn with_concurrent(mut self, concurrent: usize) -> Self {
        self.concurrent = concurrent.max(1);
        self
    }

    /// The robots' design.
    pub fn design(&self) -> &Arc<Design> {
        &self.design
    }

    /// Queues an individual.
    ///
    /// # Errors
    ///
    /// The genotype does not fit the design's net.
    pub fn submit(&mut self, key: Key, genotype: &Genotype) -> Result<(), GenotypeError> {
        let task = EvaluationTask::new(self.design.clone(), genotype, key.generation, key.individual)?;
        self.submit_task(key, task);
        Ok(())
    }

    /// Queues an evaluation created by the caller, such as one that records its path.
    pub fn submit_task(&mut self, key: Key, task: EvaluationTask) {
        self.queue.push_back(Slot { key, task, has_requested: false, awaited: 0 });
    }

    /// Number of running and queued evaluations.
    pub fn pending(&self) -> usize {
        self.live.len() + self.queue.len()
    }

    /// Whether there is nothing left to send.
    pub fn is_idle(&self) -> bool {
        self.pending() == 0 && self.kills.is_empty()
    }

    /// Appends all requests that can be made now; returns the number of responses to pass to
    /// [`handle_responses`](Self::handle_responses).
    pub fn requests(&mut self, out: &mut Vec<Request>) -> usize {
        out.append(&mut self.kills);
        let free = self.concurrent.saturating_sub(self.live.len()).min(self.queue.len());
        self.live.extend(self.queue.drain(..free));
        // a robot that is ready to move waits for those that still sense, so that all moves are sent together: in a lockstep
        // world a single move would wait for the others
        let is_early = self.live.iter().any(|slot| !slot.task.is_moving());
        let mut awaited = 0;
        for slot in &mut self.live {
            slot.has_requested = !(is_early && slot.task.is_moving());
            slot.awaited = if slot.has_requested { slot.task.requests(out) } else { 0 };
            awaited += slot.awaited;
        }
        awaited
    }

    /// Handles the responses to the last [`requests`](Self::requests); returns the evaluations that have finished.
    ///
    /// # Errors
    ///
    /// The responses do not match the requests.
    pub fn handle_responses(&mut self, mut responses: &[Response]) -> Result<Vec<Finished>, WorldLost> {
        let expected: usize = self.live.iter().map(|slot| slot.awaited).sum();
        if responses.len() != expected {
            return Err(WorldLost::new(format!("{} responses instead of {expected}", responses.len())));
        }
        let mut ended = false;
        for slot in self.live.iter_mut().filter(|slot| slot.has_requested) {
            let (own, rest) = responses.split_at(slot.awaited);
            slot.task.handle_responses(own)?;
            slot.awaited = 0;
            responses = rest;
            ended |= slot.task.outcome().is_some();
        }
        Ok(if ended { self.take_finished() } else { Vec::new() })
    }

    fn take_finished(&mut self) -> Vec<Finished> {
        let mut finished = Vec::new();
        for mut slot in self.live.extract_if(.., |slot| slot.task.outcome().is_some()) {
            self.kills.extend(slot.task.take_kill_request());
            finished.extend(slot.task.into_outcome().map(|outcome| Finished { key: slot.key, outcome }));
        }
        finished
    }

    /// Makes one exchange for all evaluations; returns those that have finished, whose robots are removed from the world.
    ///
    /// # Errors
    ///
    /// The world is lost. All unfinished evaluations restart with the next round, possibly in another world.
    pub fn round(&mut self, world: &mut dyn World) -> Result<Vec<Finished>, WorldLost> {
        let result = self.exchange(world);
        if result.is_err() {
            self.restart();
        }
        result
    }

    fn exchange(&mut self, world: &mut dyn World) -> Result<Vec<Finished>, WorldLost> {
        let mut requests = std::mem::take(&mut self.requests);
        let mut responses = std::mem::take(&mut self.responses);
        requests.clear();
        responses.clear();
        self.requests(&mut requests);
        let result = world.exchange(&requests, &mut responses).and_then(|()| self.handle_responses(&responses));
        (self.requests, self.responses) = (requests, responses);
        let finished = result?;
        // the results are valid anyway; a lost world shows in the next round
        let _ = self.send_kills(world);
        Ok(finished)
    }

    /// Restarts all unfinished evaluations, in a world that does not know them.
    pub fn restart(&mut self) {
        self.kills.clear();
        for slot in self.live.iter_mut() {
            slot.awaited = 0;
            slot.task.restart();
        }
    }

    /// Aborts the evaluations for which `which` holds and removes their robots from the world; returns their number.
    ///
    /// # Errors
    ///
    /// The world is lost.
    pub fn abort(&mut self, world: &mut dyn World, which: impl Fn(&Key) -> bool) -> Result<usize, WorldLost> {
        let before = self.pending();
        self.queue.retain(|slot| !which(&slot.key));
        for mut slot in self.live.extract_if(.., |slot| which(&slot.key)) {
            self.kills.extend(slot.task.abort());
        }
        self.send_kills(world)?;
        Ok(before - self.pending())
    }

    fn send_kills(&mut self, world: &mut dyn World) -> Result<(), WorldLost> {
        if self.kills.is_empty() {
            return Ok(());
        }
        self.responses.clear();
        let said = world.exchange(&self.kills, &mut self.responses);
        self.kills.clear();
        said
    }
}

/// Why an evaluation failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvaluationError {
    /// A genotype does not fit the design.
    #[error(transparent)]
    Genotype(#[from] GenotypeError),
    /// The world is lost.
    #[error(transparent)]
    World(#[from] WorldLost),
}

/// Tasks for each thread below which individuals are divided into their trials, so that no thread waits long for the last one.
const TASKS_PER_THREAD: usize = 100;

/// Evaluates all individuals of a generation on several threads. Each has a world of its own, so that the results depend
/// neither on the number of threads nor on the order. Individuals are numbered from 1. `progress` is called with the number of
/// finished evaluations.
///
/// # Errors
///
/// A genotype does not fit the design, or a world is lost.
pub fn evaluate_all<W: World>(
    design: &Arc<Design>,
    generation: u64,
    genotypes: &[Genotype],
    threads: usize,
    world: impl Fn() -> Result<W, WorldLost> + Sync,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Outcome>, EvaluationError> {
    let evaluate = |nth: usize, trial: Option<u32>| {
        let key = Key { owner: 0, generation, individual: nth as u64 + 1 };
        evaluate_alone(design, key, &genotypes[nth], trial, world()?)
    };
    let is_few = threads > 1 && genotypes.len() < threads.saturating_mul(TASKS_PER_THREAD);
    if !(is_few && design.has_independent_trials()) {
        return in_parallel(genotypes.len(), threads, |nth| evaluate(nth, None), progress);
    }
    let trials = design.file().trial.trials;
    let left: Vec<_> = genotypes.iter().map(|_| AtomicU32::new(trials)).collect();
    let finished = AtomicUsize::new(0);
    let evaluate_trial = |nth: usize| -> Result<Outcome, EvaluationError> {
        let (individual, trial) = (nth / trials as usize, (nth % trials as usize) as u32);
        let outcome = evaluate(individual, Some(trial))?;
        if left[individual].fetch_sub(1, Ordering::Relaxed) == 1 {
            progress(1 + finished.fetch_add(1, Ordering::Relaxed));
        }
        Ok(outcome)
    };
    let outcomes = in_parallel(genotypes.len() * trials as usize, threads, evaluate_trial, &|_| ())?;
    let mut outcomes = outcomes.into_iter();
    Ok(genotypes.iter().map(|_| Outcome::of_trials(design, outcomes.by_ref().take(trials as usize))).collect())
}

/// Evaluates one individual in a world of its own, or only one of its trials, for [`Outcome::of_trials`].
pub(crate) fn evaluate_alone(
    design: &Arc<Design>,
    key: Key,
    genotype: &Genotype,
    trial: Option<u32>,
    mut world: impl World,
) -> Result<Outcome, EvaluationError> {
    let task = EvaluationTask::new(design.clone(), genotype, key.generation, key.individual)?;
    let task = if let Some(trial) = trial { task.of_trial(trial) } else { task };
    let mut simulator = Simulator::new(design.clone()).with_concurrent(1);
    simulator.submit_task(key, task);
    loop {
        if let Some(finished) = simulator.round(&mut world)?.pop() {
            return Ok(finished.outcome);
        }
    }
}

#[cfg(test)]
mod tests;
