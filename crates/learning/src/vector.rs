//! Many environments on several threads.
//!
//! Each thread has one world, in which the environments take turns: what is kept for an environment is its task and the state
//! of its world. So the memory in use hardly grows with their number, and stays in the processor's caches.

use parking_lot::Mutex;
use rayon::{ThreadPool, ThreadPoolBuilder};
use world::{World, world::Parked};

use crate::{
    env::{Course, Outcome, check_action},
    error::{EnvError, check_count},
    spaces::Spaces,
    task::TaskKind,
};

/// When an environment whose episode is over begins the next one. The names are Gymnasium's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Autoreset {
    /// In the step after the one that ended the episode. Its action is ignored, its reward is 0.
    #[default]
    NextStep,
    /// In the step that ended the episode, which returns the first observation of the next episode. The last one of the old
    /// episode is in [`VectorEnv::final_observations`].
    SameStep,
    /// When the caller says so.
    Disabled,
}

/// Several environments of one kind, stepped together.
pub struct VectorEnv {
    slots: Vec<Slot>,
    /// One for each thread.
    worlds: Vec<World>,
    /// None for one thread: the caller's.
    pool: Option<ThreadPool>,
    autoreset: Autoreset,
    spaces: Spaces,
}

/// One environment, and what its last step has led to.
struct Slot {
    course: Course,
    /// Its world, between its turns.
    parked: Parked,
    outcome: Outcome,
    /// The current observation.
    observation: Vec<f32>,
    /// The last observation of the episode that the last step has ended.
    final_observation: Vec<f32>,
}

/// What a step of all environments writes: a row or a number for each.
#[derive(Debug)]
pub struct Step<'a> {
    /// Observations, one row after another.
    pub observations: &'a mut [f32],
    /// Rewards.
    pub rewards: &'a mut [f64],
    /// See [`Outcome::terminated`].
    pub terminated: &'a mut [bool],
    /// See [`Outcome::truncated`].
    pub truncated: &'a mut [bool],
}

impl std::fmt::Debug for VectorEnv {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { slots, autoreset, .. } = self;
        f.debug_struct("VectorEnv")
            .field("environments", &slots.len())
            .field("autoreset", autoreset)
            .finish_non_exhaustive()
    }
}

impl VectorEnv {
    /// Builds `count` environments that run on `threads` threads. Episodes are truncated after `max_steps`, if given.
    ///
    /// # Errors
    /// If the world cannot be built, or there is not enough memory.
    pub fn new(
        kind: &TaskKind,
        count: usize,
        threads: usize,
        max_steps: Option<u32>,
        autoreset: Autoreset,
    ) -> Result<Self, EnvError> {
        let mut world = World::new(&kind.setup()?)?;
        let parked = world.parked();
        let course = |_| Course::new(kind, &mut world, max_steps);
        let courses = (0..count).map(course).collect::<Result<Vec<_>, _>>()?;
        let Some(spaces) = courses.first().map(|course| course.spaces().clone()) else { return Err(EnvError::Empty) };
        let (size, last) = (spaces.observation.len(), autoreset == Autoreset::SameStep);
        let slot = |course| Slot {
            course,
            parked: parked.clone(),
            outcome: Outcome::default(),
            observation: vec![0.0; size],
            final_observation: vec![0.0; if last { size } else { 0 }],
        };
        let slots: Vec<Slot> = courses.into_iter().map(slot).collect();
        // more threads than environments have nothing to do
        let threads = threads.clamp(1, count);
        let mut worlds = (1..threads).map(|_| world.fork()).collect::<Result<Vec<_>, _>>()?;
        worlds.push(world);
        let pool = if threads > 1 { Some(start_threads(threads)?) } else { None };
        Ok(Self { slots, worlds, pool, autoreset, spaces })
    }

    /// Number of environments.
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// Number of threads that they run on.
    pub fn threads(&self) -> usize {
        self.worlds.len()
    }

    /// Length of a step, in s.
    pub fn tick_seconds(&self) -> f64 {
        self.worlds.first().map_or(0.0, World::tick_seconds)
    }

    /// Sizes and bounds of the observation and the actions of one environment.
    pub fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    /// The world of one environment, to look at; `None` if there is none with this index.
    ///
    /// # Errors
    /// If the simulation cannot evaluate its state.
    pub fn world(&mut self, index: usize) -> Result<Option<&World>, EnvError> {
        let (Some(slot), Some(world)) = (self.slots.get(index), self.worlds.first_mut()) else { return Ok(None) };
        world.unpark(&slot.parked)?;
        world.refresh()?;
        Ok(Some(world))
    }

    /// Begins an episode in all environments, or in those of `mask`, and writes the observations of all. A seed makes it the
    /// first episode of that seed; without one, it is the next one.
    ///
    /// # Errors
    /// If a size is wrong; then nothing has changed. If a simulation cannot evaluate a start state.
    pub fn reset(
        &mut self,
        seeds: &[Option<u64>],
        mask: Option<&[bool]>,
        observations: &mut [f32],
    ) -> Result<(), EnvError> {
        let (count, size) = (self.slots.len(), self.spaces.observation.len());
        check_count("seeds", seeds.len(), count)?;
        check_count("numbers of a mask", mask.map_or(count, <[bool]>::len), count)?;
        check_count("numbers", observations.len(), count * size)?;
        let is_chosen = |index: usize| mask.is_none_or(|mask| mask.get(index) == Some(&true));
        let rows = observations.chunks_mut(size);
        let jobs = self.slots.iter_mut().enumerate().zip(rows);
        let jobs = jobs.map(|((index, slot), row)| Job { index, slot, action: &[], row });
        run(self.pool.as_ref(), &mut self.worlds, jobs, |world, Job { index, slot, row, .. }| {
            slot.outcome = Outcome::default();
            if is_chosen(index) {
                world.unpark(&slot.parked)?;
                slot.course.reset(world, seeds.get(index).copied().flatten())?;
                slot.course.observe(world, &mut slot.observation)?;
                world.park(&mut slot.parked);
            }
            row.copy_from_slice(&slot.observation);
            Ok(())
        })
    }

    /// Takes a step in each environment. `actions` has a row for each. In environments where `resets` is true, the next episode
    /// begins instead, as if their last one had ended under [`Autoreset::NextStep`].
    ///
    /// # Errors
    /// If a size or an action is wrong, or an environment has no episode; then nothing has changed. If a simulation cannot
    /// evaluate a start state.
    pub fn step(&mut self, actions: &[f32], resets: Option<&[bool]>, step: Step<'_>) -> Result<(), EnvError> {
        let (count, size) = (self.slots.len(), self.spaces.observation.len());
        check_count("numbers", step.observations.len(), count * size)?;
        check_count("rewards", step.rewards.len(), count)?;
        check_count("flags", step.terminated.len(), count)?;
        check_count("flags", step.truncated.len(), count)?;
        check_count("numbers of a mask", resets.map_or(count, <[bool]>::len), count)?;
        check_action(actions, count * self.spaces.actions)?;
        let autoreset = self.autoreset;
        let is_reset = |slot: &Slot, index: usize| {
            let by_itself = autoreset == Autoreset::NextStep && slot.course.is_over();
            by_itself || resets.is_some_and(|resets| resets.get(index) == Some(&true))
        };
        if self.slots.iter().enumerate().any(|(index, slot)| !slot.course.has_episode() && !is_reset(slot, index)) {
            return Err(EnvError::NoEpisode);
        }
        let rows = actions.chunks(self.spaces.actions).zip(step.observations.chunks_mut(size));
        let jobs = self.slots.iter_mut().enumerate().zip(rows);
        let jobs = jobs.map(|((index, slot), (action, row))| Job { index, slot, action, row });
        run(self.pool.as_ref(), &mut self.worlds, jobs, |world, Job { index, slot, action, row }| {
            world.unpark(&slot.parked)?;
            if is_reset(slot, index) {
                slot.outcome = Outcome::default();
                slot.course.reset(world, None)?;
            } else {
                slot.outcome = slot.course.step(world, action)?;
                if autoreset == Autoreset::SameStep && slot.outcome.is_over() {
                    slot.course.observe(world, &mut slot.final_observation)?;
                    slot.course.reset(world, None)?;
                }
            }
            slot.course.observe(world, &mut slot.observation)?;
            world.park(&mut slot.parked);
            row.copy_from_slice(&slot.observation);
            Ok(())
        })?;
        let flags = step.terminated.iter_mut().zip(step.truncated);
        for ((slot, reward), (terminated, truncated)) in self.slots.iter().zip(step.rewards).zip(flags) {
            let outcome = slot.outcome;
            (*reward, *terminated, *truncated) = (outcome.reward, outcome.terminated, outcome.truncated);
        }
        Ok(())
    }

    /// The last observations of the episodes that the last step has ended, with the indices of their environments. For
    /// [`Autoreset::SameStep`].
    pub fn final_observations(&self) -> impl Iterator<Item = (usize, &[f32])> {
        let ended = self.slots.iter().enumerate().filter(|(_, slot)| slot.outcome.is_over());
        ended.map(|(index, slot)| (index, slot.final_observation.as_slice())).filter(|(_, row)| !row.is_empty())
    }
}

/// The work on one environment.
struct Job<'a> {
    index: usize,
    slot: &'a mut Slot,
    action: &'a [f32],
    /// Where its observation is written.
    row: &'a mut [f32],
}

fn start_threads(count: usize) -> Result<ThreadPool, EnvError> {
    let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(|thread| format!("envs-{thread}")).build();
    pool.map_err(|cause| EnvError::Threads { reason: cause.to_string() })
}

/// Does all jobs, each in one of the worlds. The error returned is that of the first environment that has one, whichever
/// thread was first.
fn run<'a>(
    pool: Option<&ThreadPool>,
    worlds: &mut [World],
    jobs: impl Iterator<Item = Job<'a>> + Send,
    work: impl Fn(&mut World, Job<'a>) -> Result<(), EnvError> + Sync,
) -> Result<(), EnvError> {
    let jobs = Mutex::new(jobs);
    let error: Mutex<Option<(usize, EnvError)>> = Mutex::new(None);
    // one at a time, as steps take differently long
    let toil = |world: &mut World| loop {
        let Some(job) = jobs.lock().next() else { return };
        let index = job.index;
        if let Err(cause) = work(world, job) {
            let mut error = error.lock();
            if error.as_ref().is_none_or(|(first, _)| index < *first) {
                *error = Some((index, cause));
            }
        }
    };
    match pool {
        Some(pool) => pool.in_place_scope(|scope| {
            for world in worlds {
                scope.spawn(|_| toil(world));
            }
        }),
        None => worlds.iter_mut().take(1).for_each(toil),
    }
    error.into_inner().map_or(Ok(()), |(_, cause)| Err(cause))
}
