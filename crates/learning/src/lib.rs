//! Tasks for robots that learn, and environments that step them.
//!
//! A [`Task`] defines what a robot perceives, what its actions mean, and what is rewarded. An [`Env`] is a task in a world of
//! its own; a [`VectorEnv`] steps many of them on several threads. An [`Env`] can also judge how a robot moves elsewhere
//! ([`Motion`]). The conventions are those of Gymnasium: an episode is *terminated* by what happens in it, and *truncated* by a
//! limit of its length.
//!
//! Everything is deterministic: a seed and a sequence of actions give the same observations and rewards, bit for bit, in an
//! environment alone and among others, on any number of threads.

mod env;
mod error;
mod random;
mod spaces;
pub mod task;
mod twin;
mod vector;

pub use crate::{
    env::{Env, Outcome},
    error::EnvError,
    random::Random,
    spaces::Spaces,
    task::{Mjcf, Part, Task, TaskKind},
    twin::Motion,
    vector::{Autoreset, Step, VectorEnv},
};
