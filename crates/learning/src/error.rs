//! What can go wrong with an environment.

use library::LibraryError;
use physics::{Fault, ModelError};
use world::world::{SaveError, SetupError};

/// Why an environment was not built, reset or stepped.
#[derive(Debug, thiserror::Error)]
pub enum EnvError {
    /// A model of the task is not in the library.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The scenery of a task or of a user's model is invalid.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The world cannot be built.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The world cannot be copied.
    #[error(transparent)]
    Fork(#[from] SaveError),
    /// The task needs something that its model does not have.
    #[error("the model has no {what}, which the task needs")]
    Missing {
        /// Kind and name of what is missing.
        what: String,
    },
    /// The simulation failed, and a reset did not help.
    #[error("the simulation failed: {0}")]
    Fault(#[from] Fault),
    /// The threads were not started.
    #[error("the threads of the environments cannot be started: {reason}")]
    Threads {
        /// The system's message.
        reason: String,
    },
    /// There would be no environment.
    #[error("a vector of environments has at least one")]
    Empty,
    /// There are too many or too few numbers.
    #[error("{given} {what}, where {wanted} are needed")]
    Count {
        /// What was counted.
        what: &'static str,
        /// How many were given.
        given: usize,
        /// How many are needed.
        wanted: usize,
    },
    /// An action is not a number.
    #[error("an action is {value}; actions are numbers from -1 to 1")]
    NotFinite {
        /// The action.
        value: f32,
    },
    /// A motion has numbers that are not finite, or no orientation.
    #[error("a motion has finite numbers, and an orientation of about length 1")]
    NoMotion,
    /// The episode is over, or none has begun.
    #[error("the episode is over, or none has begun: call reset first")]
    NoEpisode,
}

impl EnvError {
    /// Whether the caller is to blame: an argument is wrong, or the call is not allowed now.
    pub fn is_misuse(&self) -> bool {
        matches!(self, Self::Empty | Self::Count { .. } | Self::NotFinite { .. } | Self::NoMotion | Self::NoEpisode)
    }
}

/// Checks a number of numbers.
pub(crate) fn check_count(what: &'static str, given: usize, wanted: usize) -> Result<(), EnvError> {
    if given == wanted { Ok(()) } else { Err(EnvError::Count { what, given, wanted }) }
}
