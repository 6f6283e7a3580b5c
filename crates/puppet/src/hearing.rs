//! What the robot hears: sound from a microphone, a socket or a file is cut into utterances, and each utterance becomes
//! a few sentences with how sure the recogniser is of them.
//!
//! Sound is mono at [`RATE`], samples in -1..1, everywhere past [`AudioSource`].

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
pub use source::{AudioSource, Stopper, Tap, recorder};
pub use words::{veiled, word_errors};

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Samples a second of all sound that is recognised.
pub const RATE: u32 = 16_000;

/// Seconds of sound that are recognised at once at most. The model was trained on pieces up to 30 s, and the time it
/// takes grows faster than the length.
pub const MAX_SECONDS: usize = 20;

/// Sentences for one utterance at most.
pub const MAX_OPTIONS: usize = 16;

/// Bytes of one sentence at most.
pub const MAX_TEXT: usize = 1023;

/// One way to understand an utterance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    /// How sure the recogniser is, 0..1: the geometric mean of its tokens' probabilities.
    pub confidence: f32,
    /// What was said, with the capitals and punctuation that the recogniser gives it; at most [`MAX_TEXT`] bytes.
    pub text: String,
}

/// Why nothing can be heard.
#[derive(Debug, thiserror::Error)]
pub enum HearingError {
    /// A file of the recogniser cannot be read.
    #[error("{} cannot be read: {source}; fetch it with `scripts/fetch-puppet hearing`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file of the recogniser does not hold what it should.
    #[error("{} is not usable: {why}; fetch it again with `scripts/fetch-puppet hearing`", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is more sound than is recognised at once.
    #[error("{seconds:.1} s of sound are too much at once, at most {MAX_SECONDS} s are recognised")]
    TooLong {
        /// How long the sound is.
        seconds: f64,
    },
    /// The network failed on this sound.
    #[error("the recogniser failed: {why}")]
    Run {
        /// What it says.
        why: String,
    },
    /// Where sound comes from is not said in a known way.
    #[error("`{given}` is no source of sound: say microphone, none, tcp:PORT or the path of a WAV file")]
    NoSuchSource {
        /// What was said.
        given: String,
    },
    /// A source of sound cannot be opened.
    #[error("cannot listen to {what}: {source}")]
    Open {
        /// The source.
        what: String,
        /// Why.
        source: std::io::Error,
    },
    /// There is no program that records.
    #[error(
        "no program here records from a microphone: install pw-record (pipewire-bin after 1.0.5), parec (pulseaudio-utils) or arecord (alsa-utils)"
    )]
    NoRecorder,
    /// The bytes are no WAV file that can be read.
    #[error("the WAV file cannot be used: {why}")]
    Wav {
        /// What is wrong with it.
        why: &'static str,
    },
}
