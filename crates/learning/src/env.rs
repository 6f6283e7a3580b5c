//! One environment.

use world::World;

use crate::{
    error::{EnvError, check_count},
    random::{Random, episode_seed},
    spaces::Spaces,
    task::{Task, TaskKind, Verdict},
};

/// A task in a world of its own.
pub struct Env {
    pub(crate) world: World,
    pub(crate) course: Course,
}

/// The episodes of one environment. Its world is an argument: several environments may take turns in one.
pub(crate) struct Course {
    task: Box<dyn Task>,
    max_steps: Option<u32>,
    seed: u64,
    /// Number of the episode since the seed was set.
    episode: u64,
    /// Steps in this episode.
    steps: u32,
    phase: Phase,
    /// The last action, clamped.
    action: Vec<f32>,
    /// The observation before it is clamped.
    observation: Vec<f64>,
}

/// Where an environment is in its episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// None has begun.
    Idle,
    /// It can be stepped.
    Running,
    /// It has ended.
    Over,
}

/// What a step has led to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Reward of the step.
    pub reward: f64,
    /// Whether the episode has ended by what happened in it.
    pub terminated: bool,
    /// Whether the episode has ended because it has reached its largest number of steps.
    pub truncated: bool,
}

impl Outcome {
    /// Whether the episode is over.
    pub fn is_over(&self) -> bool {
        self.terminated || self.truncated
    }
}

impl std::fmt::Debug for Env {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Course { seed, episode, steps, .. } = &self.course;
        let mut shown = f.debug_struct("Env");
        shown.field("seed", seed).field("episode", episode).field("steps", steps).finish_non_exhaustive()
    }
}

impl Env {
    /// Builds the world of a task. Episodes are truncated after `max_steps`, if given; [`TaskKind::max_steps`] suggests a
    /// number. The first episode begins with [`Env::reset`].
    ///
    /// # Errors
    /// If the world cannot be built.
    pub fn new(kind: &TaskKind, max_steps: Option<u32>) -> Result<Self, EnvError> {
        let mut world = World::new(&kind.setup()?)?;
        let course = Course::new(kind, &mut world, max_steps)?;
        Ok(Self { world, course })
    }

    /// Sizes and bounds of observations and actions.
    pub fn spaces(&self) -> &Spaces {
        self.course.spaces()
    }

    /// The world, to look at.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Whether an episode has begun and is not over.
    pub fn has_episode(&self) -> bool {
        self.course.has_episode()
    }

    /// Whether an episode has ended, and no other has begun.
    pub fn is_over(&self) -> bool {
        self.course.is_over()
    }

    /// Begins an episode: with a seed the first of that seed, otherwise the next one.
    ///
    /// # Errors
    /// If the simulation cannot evaluate the start state.
    pub fn reset(&mut self, seed: Option<u64>) -> Result<(), EnvError> {
        self.course.reset(&mut self.world, seed)
    }

    /// Takes a step: one tick of the world. If the simulation fails in it, the episode is terminated without a reward.
    ///
    /// # Errors
    /// If there is no episode, or the action is none. Nothing has changed then.
    pub fn step(&mut self, action: &[f32]) -> Result<Outcome, EnvError> {
        self.course.step(&mut self.world, action)
    }

    /// Writes the current observation.
    ///
    /// # Errors
    /// If `out` has another size than an observation.
    pub fn observe(&mut self, out: &mut [f32]) -> Result<(), EnvError> {
        self.course.observe(&self.world, out)
    }
}

impl Course {
    pub(crate) fn new(kind: &TaskKind, world: &mut World, max_steps: Option<u32>) -> Result<Self, EnvError> {
        let task = kind.task(world)?;
        let Spaces { observation, actions } = task.spaces();
        let (action, observation) = (vec![0.0; *actions], vec![0.0; observation.len()]);
        Ok(Self { task, max_steps, seed: 0, episode: 0, steps: 0, phase: Phase::Idle, action, observation })
    }

    pub(crate) fn spaces(&self) -> &Spaces {
        self.task.spaces()
    }

    pub(crate) fn has_episode(&self) -> bool {
        self.phase == Phase::Running
    }

    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// See [`Env::reset`].
    pub(crate) fn reset(&mut self, world: &mut World, seed: Option<u64>) -> Result<(), EnvError> {
        match seed {
            Some(seed) => (self.seed, self.episode) = (seed, 0),
            None => self.episode += 1,
        }
        let seed = episode_seed(self.seed, self.episode);
        (self.steps, self.phase) = (0, Phase::Idle);
        world.reset(Some(seed));
        if let Some(fault) = world.failure() {
            return Err(fault.clone().into());
        }
        self.task.reset(world, Random::new(seed))?;
        // those of the reset, and of the episode before it
        world.take_events();
        world.take_fault_reports();
        self.phase = Phase::Running;
        Ok(())
    }

    /// See [`Env::step`].
    pub(crate) fn step(&mut self, world: &mut World, action: &[f32]) -> Result<Outcome, EnvError> {
        self.act(world, action)?;
        world.tick();
        Ok(self.judge(world))
    }

    /// The part of a step before time passes.
    pub(crate) fn act(&mut self, world: &mut World, action: &[f32]) -> Result<(), EnvError> {
        if !self.has_episode() {
            return Err(EnvError::NoEpisode);
        }
        check_action(action, self.action.len())?;
        for (own, given) in self.action.iter_mut().zip(action) {
            *own = given.clamp(-1.0, 1.0);
        }
        self.task.act(world, &self.action);
        Ok(())
    }

    /// The part of a step after time has passed.
    pub(crate) fn judge(&mut self, world: &mut World) -> Outcome {
        self.steps = self.steps.saturating_add(1);
        let Verdict { reward, terminated } = self.task.judge(world);
        let failed = world.failure().is_some() || !world.take_fault_reports().is_empty();
        let outcome = Outcome {
            reward: if failed { 0.0 } else { reward },
            terminated: terminated || failed,
            truncated: self.max_steps.is_some_and(|most| self.steps >= most),
        };
        self.phase = if outcome.is_over() { Phase::Over } else { Phase::Running };
        outcome
    }

    /// See [`Env::observe`].
    pub(crate) fn observe(&mut self, world: &World, out: &mut [f32]) -> Result<(), EnvError> {
        check_count("numbers", out.len(), self.observation.len())?;
        self.task.observe(world, &mut self.observation);
        let bounds = &self.task.spaces().observation;
        for ((out, value), bounds) in out.iter_mut().zip(&self.observation).zip(bounds) {
            debug_assert!(!value.is_nan(), "an observation is a number");
            *out = bounds.clamp(*value) as f32;
        }
        Ok(())
    }
}

/// Checks size and values of an action.
pub(crate) fn check_action(action: &[f32], wanted: usize) -> Result<(), EnvError> {
    check_count("actions", action.len(), wanted)?;
    match action.iter().find(|value| !value.is_finite()) {
        Some(&value) => Err(EnvError::NotFinite { value }),
        None => Ok(()),
    }
}
