//! Many trials at once in one world.

mod in_process;

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use arena::{Request, Response};

pub use self::in_process::{InProcess, OtherDirections};
use super::{Design, GenotypeError, Outcome, Trial, trial::WrongAnswer};
use crate::Genotype;

/// A world that robots can be tested in.
pub trait World {
    /// Asks everything at once, and adds the answers in the same order. [`Request::Kill`] has none.
    fn exchange(&mut self, asks: &[Request], answers: &mut Vec<Response>) -> Result<(), WorldLost>;
}

/// The world does not answer, or not as it should. Its robots are lost.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the world is lost: {reason}")]
pub struct WorldLost {
    /// What happened.
    pub reason: String,
}

impl WorldLost {
    /// With a reason.
    pub fn new(reason: impl ToString) -> Self {
        Self { reason: reason.to_string() }
    }
}

impl From<WrongAnswer> for WorldLost {
    fn from(answer: WrongAnswer) -> Self {
        Self::new(answer)
    }
}

/// Who an individual is. Two may have the same key; each is tested and reported by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Who wants to know, such as a connection.
    pub owner: u64,
    /// Number of its generation.
    pub generation: u64,
    /// Number of the individual.
    pub individual: u64,
}

/// An individual whose test has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Who it is.
    pub key: Key,
    /// What came of it.
    pub outcome: Outcome,
}

#[derive(Debug)]
struct Seat {
    key: Key,
    trial: Trial,
    /// Whether it has asked something in this round...
    has_asked: bool,
    /// ...and how many answers it waits for.
    waits: usize,
}

/// Tests individuals, several at a time, with one exchange for all.
#[derive(Debug)]
pub struct Simulator {
    design: Arc<Design>,
    concurrent: usize,
    live: Vec<Seat>,
    queue: VecDeque<Seat>,
    farewells: Vec<Request>,
    asks: Vec<Request>,
    answers: Vec<Response>,
}

impl Simulator {
    /// A simulator for robots of this design; as many at a time as its file says.
    pub fn new(design: Arc<Design>) -> Self {
        let concurrent = design.parameters().concurrent;
        Self {
            design,
            concurrent,
            live: Vec::new(),
            queue: VecDeque::new(),
            farewells: Vec::new(),
            asks: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// With another number of individuals at a time, at least 1.
    #[must_use]
    pub fn with_concurrent(mut self, concurrent: usize) -> Self {
        self.concurrent = concurrent.max(1);
        self
    }

    /// The design.
    pub fn design(&self) -> &Arc<Design> {
        &self.design
    }

    /// Takes an individual. It waits while as many as allowed are tested.
    pub fn submit(&mut self, key: Key, genotype: &Genotype) -> Result<(), GenotypeError> {
        let trial = Trial::new(self.design.clone(), genotype, key.generation, key.individual)?;
        self.submit_trial(key, trial);
        Ok(())
    }

    /// Takes a trial that was made elsewhere, such as one that notes its path.
    pub fn submit_trial(&mut self, key: Key, trial: Trial) {
        self.queue.push_back(Seat { key, trial, has_asked: false, waits: 0 });
    }

    /// Individuals that are tested now or wait.
    pub fn pending(&self) -> usize {
        self.live.len() + self.queue.len()
    }

    /// Whether nothing is left to be asked.
    pub fn is_idle(&self) -> bool {
        self.pending() == 0 && self.farewells.is_empty()
    }

    /// Adds everything that can be asked now, and gives the number of answers. They go to [`take`](Self::take).
    pub fn asks(&mut self, out: &mut Vec<Request>) -> usize {
        out.append(&mut self.farewells);
        let free = self.concurrent.saturating_sub(self.live.len()).min(self.queue.len());
        self.live.extend(self.queue.drain(..free));
        // whoever is ready to move waits for those who still sense, so that all moves go out together: in a world in
        // lockstep a single one would wait for the others
        let is_early = self.live.iter().any(|seat| !seat.trial.moves());
        let mut waits = 0;
        for seat in &mut self.live {
            seat.has_asked = !(is_early && seat.trial.moves());
            seat.waits = if seat.has_asked { seat.trial.asks(out) } else { 0 };
            waits += seat.waits;
        }
        waits
    }

    /// Takes the answers to the last [`asks`](Self::asks), and gives the individuals whose tests have ended.
    pub fn take(&mut self, mut answers: &[Response]) -> Result<Vec<Finished>, WorldLost> {
        let expected: usize = self.live.iter().map(|seat| seat.waits).sum();
        if answers.len() != expected {
            return Err(WorldLost::new(format!("{} answers instead of {expected}", answers.len())));
        }
        let mut ended = false;
        for seat in self.live.iter_mut().filter(|seat| seat.has_asked) {
            let (own, rest) = answers.split_at(seat.waits);
            seat.trial.take(own)?;
            seat.waits = 0;
            answers = rest;
            ended |= seat.trial.outcome().is_some();
        }
        Ok(if ended { self.dismiss() } else { Vec::new() })
    }

    fn dismiss(&mut self) -> Vec<Finished> {
        let mut finished = Vec::new();
        for mut seat in self.live.extract_if(.., |seat| seat.trial.outcome().is_some()) {
            self.farewells.extend(seat.trial.farewell());
            finished.extend(seat.trial.into_outcome().map(|outcome| Finished { key: seat.key, outcome }));
        }
        finished
    }

    /// One exchange for all, and gives the individuals whose tests have ended; their robots are gone from the world.
    ///
    /// If the world is lost, all unfinished tests begin again with the next round, which may go to another world.
    pub fn round(&mut self, world: &mut dyn World) -> Result<Vec<Finished>, WorldLost> {
        let result = self.exchange(world);
        if result.is_err() {
            self.restart();
        }
        result
    }

    fn exchange(&mut self, world: &mut dyn World) -> Result<Vec<Finished>, WorldLost> {
        let mut asks = std::mem::take(&mut self.asks);
        let mut answers = std::mem::take(&mut self.answers);
        asks.clear();
        answers.clear();
        self.asks(&mut asks);
        let result = world.exchange(&asks, &mut answers).and_then(|()| self.take(&answers));
        (self.asks, self.answers) = (asks, answers);
        let finished = result?;
        // they are finished all the same; a world that is lost will be noticed in the next round
        let _ = self.say_farewells(world);
        Ok(finished)
    }

    /// Begins all unfinished tests again, for a world that knows nothing of them.
    pub fn restart(&mut self) {
        self.farewells.clear();
        for seat in self.live.iter_mut() {
            seat.waits = 0;
            seat.trial.restart();
        }
    }

    /// Gives up some individuals and tells the world. Gives their number.
    pub fn abort(&mut self, world: &mut dyn World, which: impl Fn(&Key) -> bool) -> Result<usize, WorldLost> {
        let before = self.pending();
        self.queue.retain(|seat| !which(&seat.key));
        for mut seat in self.live.extract_if(.., |seat| which(&seat.key)) {
            self.farewells.extend(seat.trial.abort());
        }
        self.say_farewells(world)?;
        Ok(before - self.pending())
    }

    fn say_farewells(&mut self, world: &mut dyn World) -> Result<(), WorldLost> {
        if self.farewells.is_empty() {
            return Ok(());
        }
        self.answers.clear();
        let said = world.exchange(&self.farewells, &mut self.answers);
        self.farewells.clear();
        said
    }
}

/// Why not everybody could be tested.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvaluationError {
    /// Somebody cannot be tested at all.
    #[error(transparent)]
    Genotype(#[from] GenotypeError),
    /// Nobody can be tested any more.
    #[error(transparent)]
    World(#[from] WorldLost),
}

/// Tests all individuals of a generation on several threads, each with a world of its own and one robot in it at a time, so
/// that the outcomes depend neither on the number of threads nor on the order. They are numbered from 1. `progress` is told
/// how many are done.
pub fn evaluate_all<W: World>(
    design: &Arc<Design>,
    generation: u64,
    genotypes: &[Genotype],
    threads: usize,
    world: impl Fn() -> Result<W, WorldLost> + Sync,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Outcome>, EvaluationError> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let outcomes: Mutex<Vec<Option<Outcome>>> = Mutex::new(vec![None; genotypes.len()]);
    let test = || -> Result<(), EvaluationError> {
        let mut world = world()?;
        let mut simulator = Simulator::new(design.clone()).with_concurrent(1);
        loop {
            let nth = next.fetch_add(1, Ordering::Relaxed);
            let Some(genotype) = genotypes.get(nth) else { return Ok(()) };
            let key = Key { owner: 0, generation, individual: nth as u64 + 1 };
            simulator.submit(key, genotype)?;
            while simulator.pending() > 0 {
                if let Some(finished) = simulator.round(&mut world)?.pop() {
                    outcomes.lock().unwrap_or_else(PoisonError::into_inner)[nth] = Some(finished.outcome);
                    progress(1 + done.fetch_add(1, Ordering::Relaxed));
                }
            }
        }
    };
    // nobody needs the others' outcomes once one is missing
    let work = || test().inspect_err(|_| next.store(genotypes.len(), Ordering::Relaxed));
    let threads = threads.clamp(1, genotypes.len().max(1));
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut result = work();
        for other in others {
            match other.join() {
                Ok(other) => result = result.clone().and(other),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        result
    })?;
    Ok(outcomes.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect())
}

#[cfg(test)]
mod tests;
