//! Writes recordings.

use std::{
    collections::BTreeMap,
    io::{Seek, Write},
};

use serde::Serialize;

use super::{
    container::MAX_MESSAGE_BYTES,
    format::{RecordedSetup, SETUP_TOPIC, TICK_TOPIC, TickRecord},
};
use crate::{setup::Setup, world::World};

/// Why a recording was not written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file was not written.
    #[error("failed to write the recording: {0}")]
    Mcap(#[from] mcap::McapError),
    /// A record has no JSON form.
    #[error("failed to encode a record: {0}")]
    Json(#[from] serde_json::Error),
    /// A record is longer than a reader accepts.
    #[error("a record of {bytes} bytes is too long for a recording; its models must be smaller")]
    TooLong {
        /// Length of the record.
        bytes: usize,
    },
}

/// Writes a recording.
pub struct Recorder<W: Write + Seek> {
    writer: mcap::Writer<W>,
    ticks: u16,
    sequence: u32,
    tick_nanos: u64,
}

impl<W: Write + Seek> std::fmt::Debug for Recorder<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("sequence", &self.sequence).finish_non_exhaustive()
    }
}

impl<W: Write + Seek> Recorder<W> {
    /// Starts a recording of a world that was just built from `setup`.
    pub fn new(out: W, setup: &Setup, world: &World) -> Result<Self, RecordError> {
        let mut writer = mcap::WriteOptions::new()
            .profile("rossum")
            .library(concat!("rossum ", env!("CARGO_PKG_VERSION")))
            .create(out)?;
        let no_metadata = BTreeMap::new();
        let about = writer.add_channel(0, SETUP_TOPIC, "json", &no_metadata)?;
        let ticks = writer.add_channel(0, TICK_TOPIC, "json", &no_metadata)?;
        let text = encode(&RecordedSetup::new(setup, world.model_hash()))?;
        let header = mcap::records::MessageHeader { channel_id: about, sequence: 0, log_time: 0, publish_time: 0 };
        writer.write_to_known_channel(&header, &text)?;
        let tick_nanos = (world.tick_seconds() * 1e9) as u64;
        Ok(Self { writer, ticks, sequence: 0, tick_nanos })
    }

    /// Adds a tick.
    pub fn write(&mut self, record: &TickRecord) -> Result<(), RecordError> {
        let time = record.tick.saturating_mul(self.tick_nanos);
        let header = mcap::records::MessageHeader {
            channel_id: self.ticks,
            sequence: self.sequence,
            log_time: time,
            publish_time: time,
        };
        self.sequence = self.sequence.wrapping_add(1);
        Ok(self.writer.write_to_known_channel(&header, &encode(record)?)?)
    }

    /// Writes out everything so far, so that it is readable after a crash.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        Ok(self.writer.flush()?)
    }

    /// Completes the recording.
    pub fn finish(&mut self) -> Result<(), RecordError> {
        self.writer.finish()?;
        Ok(())
    }
}

/// The text of a message, if a reader accepts it.
fn encode(message: &impl Serialize) -> Result<Vec<u8>, RecordError> {
    /// More than the header of a message.
    const HEADER: usize = 64;
    let text = serde_json::to_vec(message)?;
    let is_short = (text.len() + HEADER) as u64 <= MAX_MESSAGE_BYTES;
    if is_short { Ok(text) } else { Err(RecordError::TooLong { bytes: text.len() }) }
}
