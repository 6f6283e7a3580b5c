//! Audio sinks: the loudspeaker, a WAV file, or none.

mod player;
mod wav;

use std::{
    convert::Infallible,
    fmt, io,
    path::{Path, PathBuf},
    str::FromStr,
};

use serde::{Deserialize, Serialize};
use support::output_file::{Existing, OutputError};

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
    /// A WAV file.
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
    pub fn open(&self, existing: Existing) -> Result<Box<dyn Sink>, SinkError> {
        Ok(match self {
            Self::Speaker => Box::new(PlayerSink::find()?),
            Self::None => Box::new(MuteSink),
            Self::File(path) => Box::new(WavSink::create(path, existing)?),
        })
    }
}

/// Plays or stores phrases. None of the methods waits for the end of the audio, which is known from the timeline.
pub trait Sink: Send {
    /// Starts a phrase of mono samples at `rate` Hz. `now` is the time in s of a monotonic clock.
    fn start(&mut self, rate: u32, samples: &[i16], now: f64) -> Result<(), SinkError>;

    /// Stops the current phrase at once, as when the robot is reset. Does nothing if there is none.
    fn stop(&mut self, now: f64) -> Result<(), SinkError>;

    /// Returns the first failure since the last call, and releases what has ended. Does not block.
    fn check(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Error of an audio sink.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// No playback program is installed.
    #[error("no program for playing audio found; install pipewire-bin (after 1.0.5), pulseaudio-utils or alsa-utils")]
    NoPlayer,
    /// The playback program cannot be started.
    #[error("failed to start {program}: {source}")]
    Start {
        /// Name of the program.
        program: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The program exited before the end of the audio.
    #[error("{program} failed ({status}); is a loudspeaker connected?")]
    Ended {
        /// Name of the program.
        program: String,
        /// Exit status.
        status: String,
    },
    /// The file cannot be created.
    #[error(transparent)]
    Create(#[from] OutputError),
    /// The file cannot be written.
    #[error("failed to write {}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file has reached the maximum size of a WAV file, 4 GB.
    #[error("{} has reached the maximum size of a WAV file", path.display())]
    Full {
        /// Path of the file.
        path: PathBuf,
    },
    /// The sample rate differs from that of the file.
    #[error("{} has a sample rate of {first} Hz, not {rate} Hz", path.display())]
    Rate {
        /// Path of the file.
        path: PathBuf,
        /// Sample rate of the file, in Hz.
        first: u32,
        /// Sample rate of the phrase, in Hz.
        rate: u32,
    },
}

/// Discards all audio.
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

/// Samples as little-endian bytes.
fn little_endian(samples: &[i16]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()
}
