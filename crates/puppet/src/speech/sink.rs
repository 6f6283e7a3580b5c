//! Where the sound goes: to the loudspeaker, into a file, or nowhere.

mod player;
mod wav;

use std::{io, path::PathBuf};

pub use self::{
    player::{PLAYERS, PlayerSink},
    wav::WavSink,
};

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
