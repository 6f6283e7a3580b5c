//! Threads that help with the physics of one world.
//!
//! MuJoCo solves independent groups of constraints (robots that do not touch each other) on a pool of threads. The result is
//! bit for bit the same with any number of threads: a step that fails, or runs out of memory, with their help is taken again
//! without it. What is measured decides only who computes, never what.

mod gauge;
mod pool;

use std::{fmt, num::NonZeroU8, str::FromStr, time::Duration};

use mujoco_rs::mujoco_c::mjData;

use self::gauge::{Gauge, Trial};
use self::pool::Pool;
pub(crate) use self::pool::on_engine_error;
use crate::{error::EngineError, guard::guarded};

/// Most threads that help one simulation.
pub const MAX_THREADS: u8 = 16;
/// Threads that `auto` uses at most; more make no 22 robots faster.
const MAX_AUTO_THREADS: u8 = 3;
/// Steps without help after one that had to be taken again.
const REST: u32 = 1_000;

/// How many threads help the one that steps a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// None: the thread that steps does everything.
    #[default]
    None,
    /// Always this many, at most [`MAX_THREADS`].
    Fixed(NonZeroU8),
    /// As many as there are idle cores, up to three, while steps are measured to be faster with their help.
    Auto,
}

/// The text is not a number of threads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected `auto` or a number of threads from 0 to {MAX_THREADS}, not `{text}`")]
pub struct ParseThreadsError {
    text: String,
}

/// Why threads cannot help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThreadsError {
    /// The system starts no more threads.
    #[error("failed to start {count} threads for the physics: {reason}")]
    Start {
        /// How many were to be started.
        count: u8,
        /// What the system reported.
        reason: String,
    },
    /// The pool of this MuJoCo library does not work as the one of the supported version.
    #[error("the thread pool of this MuJoCo library is not supported; set the number of threads to 0")]
    Unsupported,
    /// Pools of this process have failed too often.
    #[error("thread pools of the physics engine have failed too often in this process; set the number of threads to 0")]
    Failed,
}

impl Threads {
    /// How many threads to start on this machine.
    fn count(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Fixed(count) => count.get(),
            Self::Auto => {
                let cores = std::thread::available_parallelism().map_or(1, usize::from);
                u8::try_from(cores - 1).map_or(MAX_AUTO_THREADS, |others| others.min(MAX_AUTO_THREADS))
            }
        }
    }
}

impl TryFrom<u8> for Threads {
    type Error = ParseThreadsError;

    fn try_from(count: u8) -> Result<Self, Self::Error> {
        if count > MAX_THREADS {
            return Err(ParseThreadsError { text: count.to_string() });
        }
        Ok(NonZeroU8::new(count).map_or(Self::None, Self::Fixed))
    }
}

impl FromStr for Threads {
    type Err = ParseThreadsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let refused = || ParseThreadsError { text: text.chars().take(32).collect() };
        text.parse::<u8>().ok().and_then(|count| Self::try_from(count).ok()).ok_or_else(refused)
    }
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("0"),
            Self::Fixed(count) => count.fmt(f),
            Self::Auto => f.write_str("auto"),
        }
    }
}

/// The helping threads of a simulation, and when they help.
#[derive(Debug, Default)]
pub(crate) struct Helpers {
    setting: Threads,
    /// Number of threads to start.
    count: u8,
    pool: Option<Pool>,
    /// Measures for [`Threads::Auto`].
    gauge: Gauge,
    /// Steps left without help.
    rest: u32,
    /// No pool is started any more, because one has failed.
    is_retired: bool,
    has_helped: bool,
}

impl Helpers {
    /// Helpers of the same setting, whose threads start when they are first needed.
    pub(crate) fn fork(&self) -> Self {
        Self { setting: self.setting, count: self.count, ..Self::default() }
    }

    pub(crate) fn setting(&self) -> Threads {
        self.setting
    }

    /// Starts or ends threads.
    pub(crate) fn set(&mut self, setting: Threads, data: *mut mjData) -> Result<(), ThreadsError> {
        let count = setting.count();
        let running = std::mem::take(self).pool.filter(|pool| pool.size() == count);
        let pool = if running.is_none() && count > 0 { Some(Pool::start(count, data)?) } else { running };
        *self = Self { setting, count, pool, ..Self::default() };
        Ok(())
    }

    /// Whether the next step is to be taken in the two parts of which the second is [`assisted`](Self::assist).
    pub(crate) fn are_due(&mut self) -> bool {
        self.has_helped = false;
        if self.count == 0 || self.is_retired {
            return false;
        }
        if self.rest > 0 {
            self.rest -= 1;
            return false;
        }
        self.setting != Threads::Auto || self.gauge.begin_step() != Trial::Off
    }

    /// Calls the second part of a step, with the help of the threads or to compare with it.
    pub(crate) fn assist(&mut self, data: *mut mjData, work: impl FnOnce()) -> Result<(), EngineError> {
        if self.setting != Threads::Auto {
            return self.with_pool(data, work);
        }
        let trial = self.gauge.current();
        let began = now();
        let done = if trial == Trial::Helped { self.with_pool(data, work) } else { guarded(work) };
        self.gauge.record(now().saturating_sub(began));
        done
    }

    fn with_pool(&mut self, data: *mut mjData, work: impl FnOnce()) -> Result<(), EngineError> {
        if self.pool.is_none() {
            match Pool::start(self.count, data) {
                Ok(pool) => self.pool = Some(pool),
                Err(_) => self.is_retired = true,
            }
        }
        let Some(pool) = &self.pool else { return guarded(work) };
        self.has_helped = true;
        let done = pool.assist(data, work);
        if pool.has_lost_threads() {
            self.pool = None;
            self.is_retired = true;
        }
        done
    }

    /// Whether threads helped with the last step.
    pub(crate) fn have_helped(&self) -> bool {
        self.has_helped
    }

    /// After a step that is taken again: no help for a while.
    pub(crate) fn rest(&mut self) {
        self.has_helped = false;
        self.rest = REST;
        self.gauge = Gauge::default();
    }

    /// Number of threads that helped with the last step.
    pub(crate) fn helping(&self) -> u8 {
        self.pool.as_ref().filter(|_| self.has_helped).map_or(0, Pool::size)
    }
}

/// Time since the first call in this process.
#[expect(clippy::disallowed_methods, reason = "decides which threads compute a step, and has no effect on its result")]
fn now() -> Duration {
    use std::{sync::OnceLock, time::Instant};
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

#[cfg(test)]
mod tests;
