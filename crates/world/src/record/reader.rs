//! Reads recordings.

use std::collections::BTreeMap;

use mcap::sans_io::{LinearReadEvent, LinearReader, LinearReaderOptions};

use super::{
    format::{FORMAT_VERSION, MAX_GAP, RecordedSetup, SETUP_TOPIC, TICK_TOPIC, TickRecord},
    replay::ReplayError,
};
use crate::setup::Setup;

/// Longest record, in bytes: far more than any setup has.
const MAX_RECORD_BYTES: usize = 1 << 28;

/// Reads the records of a recording without replaying it. Ends early where the recording is damaged.
pub struct RecordReader<'a> {
    /// The setup of the world.
    pub setup: Setup,
    /// Whether the recording was completed and is undamaged as far as it was read; if not, records may be missing.
    pub complete: bool,
    messages: Messages<'a>,
    tick: u64,
}

impl<'a> RecordReader<'a> {
    /// Reads the setup. The iterator yields the records.
    pub fn new(recording: &'a [u8]) -> Result<Self, ReplayError> {
        let mut messages = Messages::new(recording);
        let Some(Ok(Message { topic, data })) = messages.next() else { return Err(ReplayError::NoSetup) };
        if topic != SETUP_TOPIC {
            return Err(ReplayError::NoSetup);
        }
        let setup: RecordedSetup =
            serde_json::from_slice(&data).map_err(|cause| ReplayError::Message { topic, cause })?;
        if setup.format != FORMAT_VERSION {
            return Err(ReplayError::Format { found: setup.format });
        }
        Ok(Self { setup: setup.restore()?, complete: recording.ends_with(mcap::MAGIC), messages, tick: 0 })
    }
}

impl Iterator for RecordReader<'_> {
    type Item = Result<TickRecord, ReplayError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Ok(Message { topic, data }) = self.messages.next()? else {
                self.complete = false;
                return None;
            };
            if topic != TICK_TOPIC {
                continue;
            }
            let record: Result<TickRecord, _> = serde_json::from_slice(&data);
            let record = record.map_err(|cause| ReplayError::Message { topic, cause }).and_then(|record| {
                let (tick, next) = (std::mem::replace(&mut self.tick, record.tick), record.tick);
                if next.saturating_sub(tick) > MAX_GAP { Err(ReplayError::Gap { tick, next }) } else { Ok(record) }
            });
            return Some(record);
        }
    }
}

/// One message of a recording.
pub(super) struct Message {
    pub(super) topic: String,
    pub(super) data: Vec<u8>,
}

/// The file is damaged from here on.
pub(super) struct Damaged;

/// The messages of a recording, up to its end or to the first damage.
pub(super) struct Messages<'a> {
    unread: &'a [u8],
    reader: LinearReader,
    topics: BTreeMap<u16, String>,
}

impl<'a> Messages<'a> {
    pub(super) fn new(recording: &'a [u8]) -> Self {
        // a damaged length would let the reader allocate without bound
        let options =
            LinearReaderOptions::default().with_skip_end_magic(true).with_record_length_limit(MAX_RECORD_BYTES);
        Self { unread: recording, reader: LinearReader::new_with_options(options), topics: BTreeMap::new() }
    }
}

impl Iterator for Messages<'_> {
    type Item = Result<Message, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.reader.next_event()? {
                Ok(LinearReadEvent::ReadRequest(wanted)) => {
                    let (read, unread) = self.unread.split_at(wanted.min(self.unread.len()));
                    self.reader.insert(read.len()).copy_from_slice(read);
                    self.reader.notify_read(read.len());
                    self.unread = unread;
                }
                Ok(LinearReadEvent::Record { data, opcode }) => match mcap::parse_record(opcode, data) {
                    Ok(mcap::records::Record::Channel(channel)) => {
                        self.topics.insert(channel.id, channel.topic);
                    }
                    Ok(mcap::records::Record::Message { header, data }) => {
                        let topic = self.topics.get(&header.channel_id).cloned().ok_or(Damaged);
                        return Some(topic.map(|topic| Message { topic, data: data.into_owned() }));
                    }
                    Ok(mcap::records::Record::DataEnd(_)) => return None,
                    Ok(_) => {}
                    Err(_) => return Some(Err(Damaged)),
                },
                Err(_) => return Some(Err(Damaged)),
            }
        }
    }
}
