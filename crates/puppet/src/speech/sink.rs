//! Where the sound goes: to the loudspeaker, into a file, or nowhere.

mod player;
mod wav;

use std::{
    convert::Infallible,
    fmt, io,
    path::{Path, PathBuf},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

pub use self::{
    player::{PLAYERS, PlayerSink},
    wav::WavSink,
};

/// Where the robot's voice is played. Written as `speaker`, `none` or the path of a WAV file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "String", into = "String")]
pub enum AudioOutput {
    /// The default loudspeaker.
    Speaker,
    /// Nowhere.
    None,
    /// A WAV file, which is overwritten.
    File(PathBuf),
}

impl FromStr for AudioOutput {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "speaker" => Self::Speaker,
            "none" => Self::None,
            path => Self::File(path.into()),
        })
    }
}

impl From<String> for AudioOutput {
    fn from(text: String) -> Self {
        let Ok(output) = text.parse();
        output
    }
}

impl fmt::Display for AudioOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Speaker => f.write_str("speaker"),
            Self::None => f.write_str("none"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

impl From<AudioOutput> for String {
    fn from(output: AudioOutput) -> Self {
        output.to_string()
    }
}

impl AudioOutput {
    /// Makes the path of a file relative to `folder`.
    pub fn resolve(&mut self, folder: &Path) {
        if let Self::File(path) = self {
            *path = folder.join(&*path);
        }
    }

    /// Opens the loudspeaker or creates the file.
    pub fn open(&self) -> Result<Box<dyn Sink>, SinkError> {
        Ok(match self {
            Self::Speaker => Box::new(PlayerSink::find()?),
            Self::None => Box::new(MuteSink),
            Self::File(path) => Box::new(WavSink::create(path)?),
        })
    }
}

/// Something that takes the sound of phrases. Nothing here waits for the sound to be over: whoever speaks knows from the
/// timeline when that is.
pub trait Sink: Send {
    /// Begins a phrase, at `now`: the time in seconds of any clock that goes on. One channel, `rate` samples a second.
    fn start(&mut self, rate: u32, samples: &[i16], now: f64) -> Result<(), SinkError>;

    /// Ends the sound at once, at `now`, as when the robot is reset. Does nothing if there is none.
    fn stop(&mut self, now: f64) -> Result<(), SinkError>;

    /// Says what has failed since it was asked last, and keeps nothing of what has ended. It does not wait.
    fn check(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Why there is no sound.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// None of the programs that play sound is here.
    #[error("there is no program that plays sound; install pipewire-bin (after 1.0.5), pulseaudio-utils or alsa-utils")]
    NoPlayer,
    /// The program that plays sound cannot be started.
    #[error("{program} cannot be started: {source}")]
    Start {
        /// Which one.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The program ended before it had played everything.
    #[error("{program} ended early ({status}); is there a loudspeaker?")]
    Ended {
        /// Which one.
        program: String,
        /// How it ended.
        status: String,
    },
    /// The file cannot be written.
    #[error("{path} cannot be written: {source}")]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is full: it can have no more than four gigabytes.
    #[error("{path} is full")]
    Full {
        /// Which one.
        path: PathBuf,
    },
    /// A file has one rate only.
    #[error("{path} has {first} samples a second, not {rate}")]
    Rate {
        /// Which file.
        path: PathBuf,
        /// Its rate.
        first: u32,
        /// The new phrase's.
        rate: u32,
    },
}

/// Takes the sound and lets nobody hear it.
#[derive(Clone, Copy, Debug, Default)]
pub struct MuteSink;

impl Sink for MuteSink {
    fn start(&mut self, _rate: u32, _samples: &[i16], _now: f64) -> Result<(), SinkError> {
        Ok(())
    }

    fn stop(&mut self, _now: f64) -> Result<(), SinkError> {
        Ok(())
    }
}

/// As players and files have it.
fn little_endian(samples: &[i16]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()
}
