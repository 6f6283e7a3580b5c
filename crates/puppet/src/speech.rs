//! Speech: text with gestures in it becomes phrases, phrases become sound and a timeline of what happens meanwhile.
//!
//! ```text
//! text --script::read--> Phrase --Voice::say--> Spoken { samples --> Sink, timeline --> gestures and jaw }
//! ```
//!
//! A [`Voice`] makes all of a phrase at once, much faster than it is spoken. So whoever plays a phrase knows beforehand
//! when its gestures come and how the jaw moves, and what is heard, seen and recorded has the same timeline.

pub mod espeak;
mod mouth;
pub mod script;
mod silent;
pub mod sink;
mod timeline;
mod whereabouts;

pub use self::{
    script::{Mark, Phrase},
    silent::{SilentVoice, silent},
    timeline::{MAX_MARKS, MAX_MOUTH, MAX_SECONDS, Timeline},
    whereabouts::find,
};

/// The voices that can be asked for: number (the wire's combination of voice, gender and language) and the name that
/// espeak-ng has for it.
pub const VOICES: [(u32, &str); 1] = [(0, "en-us")];

/// How to speak.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Manner {
    /// Factor, 0.5 to 2; 1 is the voice as it is. Others are clamped.
    pub pitch: f32,
    /// 0 (silent) to 1. Others are clamped.
    pub volume: f32,
    /// One of [`VOICES`].
    pub voice: u32,
}

impl Default for Manner {
    fn default() -> Self {
        Self { pitch: 1.0, volume: 1.0, voice: 0 }
    }
}

/// A phrase that has been spoken.
#[derive(Clone, Debug, PartialEq)]
pub struct Spoken {
    /// What happens when.
    pub timeline: Timeline,
    /// Samples a second.
    pub rate: u32,
    /// One channel; none if there is nothing to be heard, however long the timeline is.
    pub samples: Vec<i16>,
}

/// Why a phrase was not spoken.
#[derive(Debug, thiserror::Error)]
pub enum VoiceError {
    /// There is no such voice; see [`VOICES`].
    #[error("there is no voice {voice}")]
    UnknownVoice {
        /// The number that was asked for.
        voice: u32,
    },
    /// The phrase is longer, or has more marks, than those that [`script::read`] makes.
    #[error("the phrase is too long: {reason}")]
    TooLong {
        /// What there is too much of.
        reason: String,
    },
    /// The voice is there and says that it cannot speak: a library or its data are missing or do not fit.
    #[error("the voice cannot speak: {reason}")]
    Refused {
        /// In its own words.
        reason: String,
    },
    /// The process that speaks cannot be started, dies, hangs or talks nonsense, again and again.
    #[error("the voice's process fails: {reason}")]
    Failing {
        /// What happened last.
        reason: String,
    },
    /// The process has failed so often that it is left alone for a while.
    #[error("the voice's process has failed {failures} times in a row and is not tried again yet")]
    Resting {
        /// How often.
        failures: u32,
    },
}

/// Something that speaks.
pub trait Voice: Send {
    /// Speaks a phrase. May take some milliseconds, or as long as the voice's deadline when something goes wrong.
    fn say(&mut self, phrase: &Phrase, manner: Manner) -> Result<Spoken, VoiceError>;

    /// What it is, for people.
    fn name(&self) -> String;
}

/// The name that espeak-ng has for a voice.
fn voice_name(voice: u32) -> Result<&'static str, VoiceError> {
    let known = VOICES.iter().find(|(number, _)| *number == voice);
    known.map(|&(_, name)| name).ok_or(VoiceError::UnknownVoice { voice })
}
