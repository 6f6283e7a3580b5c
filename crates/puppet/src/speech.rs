//! Speech: text with gesture tags becomes phrases, and phrases become audio with a timeline of gestures and jaw motion.
//!
//! ```text
//! text --script::parse--> Phrase --Voice::synthesise--> SpokenPhrase { samples --> Sink, timeline --> gestures and jaw }
//! ```
//!
//! A [`Voice`] synthesises a whole phrase much faster than real time. Its timeline is therefore known before it is played,
//! and audio, motion and recording follow the same one.

pub mod espeak;
mod library;
mod mouth;
pub mod script;
mod silent;
pub mod sink;
mod timeline;

pub use self::{
    library::find_espeak,
    script::{Mark, Phrase},
    silent::{SilentVoice, silent_timeline},
    timeline::{MAX_MARKS, MAX_MOUTH, MAX_SECONDS, Timeline},
};

/// Available voices: number on the wire (a combination of voice, gender and language) and name in espeak-ng.
pub const VOICES: [(u32, &str); 1] = [(0, "en-us")];

/// Voice, pitch and volume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoiceSettings {
    /// Factor on the voice's natural pitch, clamped to 0.5 to 2.
    pub pitch: f32,
    /// Clamped to 0 (silent) to 1.
    pub volume: f32,
    /// Number of one of the [`VOICES`].
    pub voice: u32,
}

impl Default for VoiceSettings {
    fn default() -> Self {
        Self { pitch: 1.0, volume: 1.0, voice: 0 }
    }
}

/// A synthesised phrase.
#[derive(Clone, Debug, PartialEq)]
pub struct SpokenPhrase {
    /// Gestures and jaw motion.
    pub timeline: Timeline,
    /// Sample rate, in Hz.
    pub rate: u32,
    /// Mono samples; empty if the phrase is silent, whatever the length of the timeline.
    pub samples: Vec<i16>,
}

/// Error of speech synthesis.
#[derive(Debug, thiserror::Error)]
pub enum VoiceError {
    /// The voice is not one of the [`VOICES`].
    #[error("unknown voice {voice}")]
    UnknownVoice {
        /// The requested number.
        voice: u32,
    },
    /// The phrase is longer, or has more marks, than those that [`script::parse`] produces.
    #[error("the phrase is too long: {reason}")]
    TooLong {
        /// The limit that is exceeded.
        reason: String,
    },
    /// The engine refused the request: its library or data are missing or incompatible.
    #[error("the speech engine cannot speak: {reason}")]
    Refused {
        /// Message of the engine.
        reason: String,
    },
    /// The engine's process repeatedly failed to start, exited, timed out or sent an invalid answer.
    #[error("the speech process fails: {reason}")]
    Failing {
        /// The last failure.
        reason: String,
    },
    /// The process has failed so often that it is not restarted for a while.
    #[error("the speech process failed {failures} times in a row and is suspended for a while")]
    Suspended {
        /// Number of failures.
        failures: u32,
    },
}

/// A speech synthesiser.
pub trait Voice: Send {
    /// Synthesises a phrase. Takes some milliseconds, or as long as the voice's deadline if something goes wrong.
    fn synthesise(&mut self, phrase: &Phrase, settings: VoiceSettings) -> Result<SpokenPhrase, VoiceError>;

    /// Human-readable name.
    fn name(&self) -> String;
}

/// The name of a voice in espeak-ng.
fn voice_name(voice: u32) -> Result<&'static str, VoiceError> {
    let known = VOICES.iter().find(|(number, _)| *number == voice);
    known.map(|&(_, name)| name).ok_or(VoiceError::UnknownVoice { voice })
}
