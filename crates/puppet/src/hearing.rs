//! Hearing: audio from a microphone, a socket or a file is segmented into utterances, and each utterance is recognised
//! as a list of hypotheses with confidences.
//!
//! Everything downstream of [`AudioSource`] is mono at [`RATE`] with samples in -1..1.

mod model;
mod resample;
mod search;
mod segment;
mod source;
mod tokens;
mod words;

pub mod wav;

pub use model::Recogniser;
pub use resample::{Resampler, resample};
pub use segment::{Segmenter, Utterance};
pub use source::{AudioSource, AudioStream, StopHandle, recorder};
pub use words::{hashed_words, word_errors};

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Sample rate of all audio that is recognised, in Hz.
pub const RATE: u32 = 16_000;

/// Maximum length of an utterance, in s. The model was trained on up to 30 s, and the time it takes grows faster than
/// the length.
pub const MAX_SECONDS: usize = 20;

/// Maximum number of hypotheses for one utterance.
pub const MAX_OPTIONS: usize = 16;

/// Maximum length of a hypothesis, in bytes.
pub const MAX_TEXT: usize = 1023;

/// What an utterance may have been.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hypothesis {
    /// Confidence, 0 to 1: the geometric mean of the token probabilities.
    pub confidence: f32,
    /// The text, with capitals and punctuation; at most [`MAX_TEXT`] bytes.
    pub text: String,
}

/// Error of an audio source or of the recogniser.
#[derive(Debug, thiserror::Error)]
pub enum HearingError {
    /// A model file cannot be read.
    #[error("failed to read {}: {source}; download it with `scripts/fetch-puppet hearing`", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A model file is corrupt or not the expected model.
    #[error("{} is invalid: {reason}; download it again with `scripts/fetch-puppet hearing`", path.display())]
    Invalid {
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem.
        reason: String,
    },
    /// The utterance is longer than [`MAX_SECONDS`].
    #[error("utterance of {seconds:.1} s is too long; at most {MAX_SECONDS} s are recognised")]
    TooLong {
        /// Length of the utterance, in s.
        seconds: f64,
    },
    /// The neural network failed.
    #[error("speech recognition failed: {reason}")]
    Run {
        /// Message of the runtime.
        reason: String,
    },
    /// The text does not describe an audio source.
    #[error("`{given}` is not an audio source; use `microphone`, `none`, `tcp:PORT` or the path of a WAV file")]
    UnknownSource {
        /// The text, shortened.
        given: String,
    },
    /// An audio source cannot be opened.
    #[error("failed to open {name}: {source}")]
    Open {
        /// Name of the source.
        name: String,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// No recording program is installed.
    #[error(
        "no program for recording audio found; install pw-record (pipewire-bin after 1.0.5), parec (pulseaudio-utils) or arecord (alsa-utils)"
    )]
    NoRecorder,
    /// The file is not a supported WAV file.
    #[error("unsupported WAV file: {reason}")]
    Wav {
        /// Description of the problem.
        reason: &'static str,
    },
}
