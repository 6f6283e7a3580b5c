//! Reads recordings.

use std::{
    collections::VecDeque,
    io::{Read, Seek},
};

use super::{
    container::{Container, Message, Part, Topic},
    damage::{Damage, DamageCause},
    format::{FORMAT_VERSION, MAX_GAP, RecordedSetup, SETUP_TOPIC, TICK_TOPIC, TickRecord},
    replay::ReplayError,
};
use crate::setup::Setup;

/// Reads the records of a recording without replaying it. Ends with an error where records are missing.
pub struct RecordReader<R> {
    /// The setup of the world.
    pub setup: Setup,
    records: Records<R>,
    damage: Vec<Damage>,
    tick: u64,
}

impl<R: Read + Seek> RecordReader<R> {
    /// Reads the setup. The iterator yields the records.
    ///
    /// # Errors
    /// If the recording has no setup, or an invalid one.
    pub fn new(recording: R) -> Result<Self, ReplayError> {
        let (setup, records) = Records::open(recording)?;
        Ok(Self { setup: setup.restore()?, records, damage: Vec::new(), tick: 0 })
    }

    /// Whether the recording has its end; if not, it was cut off. Known when all records have been read.
    pub fn is_complete(&self) -> bool {
        self.records.is_complete()
    }

    /// The damaged places so far.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }
}

impl<R: Read + Seek> Iterator for RecordReader<R> {
    type Item = Result<TickRecord, ReplayError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.records.next().transpose()? {
                Ok(Found::Damage(damage)) => self.damage.push(damage),
                Ok(Found::Missing { records }) => {
                    let damage = self.damage.last().cloned();
                    return Some(Err(ReplayError::Missing { records, after: self.tick, damage }));
                }
                Ok(Found::Tick(record)) => {
                    let (tick, next) = (std::mem::replace(&mut self.tick, record.tick), record.tick);
                    let is_far = next.saturating_sub(tick) > MAX_GAP;
                    return Some(if is_far { Err(ReplayError::Gap { tick, next }) } else { Ok(record) });
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// What a recording contains after its setup.
pub(super) enum Found {
    Tick(TickRecord),
    /// The file is damaged; whether records are missing shows later.
    Damage(Damage),
    /// Records are missing here.
    Missing {
        records: u64,
    },
}

/// The records of a recording, as far as they can be read.
pub(super) struct Records<R> {
    container: Container<R>,
    /// Damage before the setup.
    early: VecDeque<Damage>,
    next_sequence: u32,
    /// Read, but after records that are missing.
    held: Option<TickRecord>,
    last_tick: Option<u64>,
    is_at_end: bool,
}

impl<R: Read + Seek> Records<R> {
    /// Reads the setup.
    pub(super) fn open(recording: R) -> Result<(RecordedSetup, Self), ReplayError> {
        let mut container = Container::new(recording)?;
        let mut early = VecDeque::new();
        let message = loop {
            match container.next()? {
                Some(Part::Damage(damage)) => early.push_back(damage),
                Some(Part::Message(message)) if message.topic == Topic::Setup => break message,
                Some(Part::Message(_)) | None => return Err(without_setup(early)),
            }
        };
        let invalid = |cause| ReplayError::Message { topic: SETUP_TOPIC, cause };
        let setup: RecordedSetup = serde_json::from_slice(&message.data).map_err(invalid)?;
        if setup.format != FORMAT_VERSION {
            return Err(ReplayError::Format { found: setup.format });
        }
        let records = Self { container, early, next_sequence: 0, held: None, last_tick: None, is_at_end: false };
        Ok((setup, records))
    }

    pub(super) fn is_complete(&self) -> bool {
        self.container.is_complete()
    }

    pub(super) fn next(&mut self) -> Result<Option<Found>, ReplayError> {
        if let Some(damage) = self.early.pop_front() {
            return Ok(Some(Found::Damage(damage)));
        }
        if let Some(record) = self.held.take() {
            return Ok(Some(self.tick(record)));
        }
        loop {
            match self.container.next()? {
                Some(Part::Damage(damage)) => {
                    return Ok(Some(Found::Damage(Damage { after_tick: self.last_tick, ..damage })));
                }
                Some(Part::Message(message)) if message.topic == Topic::Tick => {
                    return self.tick_message(&message).map(Some);
                }
                Some(Part::Message(_)) => {}
                None if std::mem::replace(&mut self.is_at_end, true) => return Ok(None),
                None => {
                    // the sequence wraps at 32 bits
                    let recorded = self.container.tick_messages().map_or(self.next_sequence, |count| count as u32);
                    let records = u64::from(recorded.wrapping_sub(self.next_sequence));
                    if records > 0 {
                        return Ok(Some(Found::Missing { records }));
                    }
                }
            }
        }
    }

    fn tick_message(&mut self, message: &Message) -> Result<Found, ReplayError> {
        let invalid = |cause| ReplayError::Message { topic: TICK_TOPIC, cause };
        let record: TickRecord = serde_json::from_slice(&message.data).map_err(invalid)?;
        let missing = message.sequence.wrapping_sub(self.next_sequence);
        self.next_sequence = message.sequence.wrapping_add(1);
        if missing == 0 {
            return Ok(self.tick(record));
        }
        self.held = Some(record);
        Ok(Found::Missing { records: missing.into() })
    }

    fn tick(&mut self, record: TickRecord) -> Found {
        self.last_tick = Some(record.tick);
        Found::Tick(record)
    }
}

/// Why there is no setup.
fn without_setup(damage: VecDeque<Damage>) -> ReplayError {
    match damage.into_iter().next() {
        Some(damage) if damage.cause != DamageCause::StartSignature => ReplayError::SetupDamaged { damage },
        _ => ReplayError::NoSetup,
    }
}
