//! The container of a recording: an MCAP file, read with bounded memory and checked against its checksums.
//!
//! After damage, reading goes on at the next chunk that can be recognised. A file that merely ends too early, because its
//! writer was killed or its disk was full, is not damaged: what remains of its last record is the beginning of a valid one.

use std::{
    collections::BTreeMap,
    io::{self, Read, Seek, SeekFrom},
};

use mcap::records::{Record, op};

use super::{
    chunk::{ChunkHeader, HEAD, RECOGNISABLE, parse_head, take_u32},
    damage::{Damage, DamageCause},
    format::{SETUP_TOPIC, TICK_TOPIC},
};

/// Longest message of a recording, in bytes: a setup or a joining robot with the largest model text.
pub(super) const MAX_MESSAGE_BYTES: u64 = 8 << 20;
/// Largest chunk, compressed or not: a writer ends a chunk with the message that exceeds 1 MiB.
pub(super) const MAX_CHUNK_BYTES: u64 = MAX_MESSAGE_BYTES + (2 << 20);
/// Damaged places after which reading ends.
pub(super) const MAX_DAMAGES: usize = 100;
/// Largest record that is neither a message nor a chunk and whose content matters.
const MAX_SMALL_RECORD: u64 = 1 << 16;
/// How much is read at once where only a checksum or a search needs it.
const BLOCK: usize = 1 << 16;

/// One part of a recording, in the order of the file.
pub(super) enum Part {
    Message(Message),
    Damage(Damage),
}

/// One message of a recording.
pub(super) struct Message {
    pub(super) topic: Topic,
    pub(super) sequence: u32,
    pub(super) data: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Setup,
    Tick,
    Other,
}

/// Reads the messages of a recording.
pub(super) struct Container<R> {
    file: R,
    length: u64,
    /// Whether the file ends as a complete one does.
    has_end: bool,
    stage: Stage,
    /// Where the next record starts.
    offset: u64,
    /// Where a search for the next chunk starts: after the last chunk, or in it if it was damaged.
    search_from: u64,
    /// Checksum of the data so far; `None` after damage.
    checksum: Option<crc32fast::Hasher>,
    chunk: Chunk,
    chunks: u64,
    topics: BTreeMap<u16, Topic>,
    damages: usize,
    is_complete: bool,
    tick_messages: Option<u64>,
}

enum Stage {
    Start,
    Data,
    /// The index that starts here.
    Index(u64),
    Done,
}

/// The unpacked content of a chunk, as far as it has not been read.
#[derive(Default)]
struct Chunk {
    content: Vec<u8>,
    read: usize,
    offset: u64,
    number: u64,
}

/// What a step found.
type Step = Result<(), DamageCause>;

impl<R: Read + Seek> Container<R> {
    pub(super) fn new(mut file: R) -> io::Result<Self> {
        let length = file.seek(SeekFrom::End(0))?;
        let mut container = Self {
            file,
            length,
            has_end: false,
            stage: Stage::Start,
            offset: 0,
            search_from: 0,
            checksum: Some(crc32fast::Hasher::new()),
            chunk: Chunk::default(),
            chunks: 0,
            topics: BTreeMap::new(),
            damages: 0,
            is_complete: false,
            tick_messages: None,
        };
        let end = length.saturating_sub(mcap::MAGIC.len() as u64);
        // the start has the same signature
        container.has_end =
            end >= mcap::MAGIC.len() as u64 && container.read_up_to(end, mcap::MAGIC.len())? == mcap::MAGIC;
        Ok(container)
    }

    /// Whether the recording has its end, even if damaged. Known when all parts have been read.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Number of tick messages that the index counts, if it is undamaged. Known when all parts have been read.
    pub(super) fn tick_messages(&self) -> Option<u64> {
        self.tick_messages
    }

    /// The next message or damaged place; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Part>> {
        loop {
            let (offset, chunk) = (self.chunk.offset, Some(self.chunk.number));
            match self.next_message() {
                Ok(Some(message)) => return Ok(Some(Part::Message(message))),
                Ok(None) => {}
                Err(cause) => {
                    self.chunk.content.clear();
                    return Ok(Some(self.damage(offset, chunk, cause)));
                }
            }
            let (offset, chunks, in_index) = (self.offset, self.chunks, matches!(self.stage, Stage::Index(_)));
            let step = match self.stage {
                Stage::Start => self.start()?,
                Stage::Data => self.record()?,
                Stage::Index(start) => self.index(start)?,
                Stage::Done => return Ok(None),
            };
            if let Err(cause) = step {
                let chunk = (self.chunks > chunks).then_some(chunks);
                let offset = if in_index { self.offset } else { offset };
                return Ok(Some(self.damage(offset, chunk, cause)));
            }
        }
    }

    fn damage(&mut self, offset: u64, chunk: Option<u64>, cause: DamageCause) -> Part {
        self.damages += 1;
        self.checksum = None;
        let cause = if self.damages > MAX_DAMAGES {
            self.stage = Stage::Done;
            DamageCause::GivenUp
        } else {
            cause
        };
        Part::Damage(Damage { offset, chunk, after_tick: None, cause })
    }

    /// The next message of the current chunk.
    fn next_message(&mut self) -> Result<Option<Message>, DamageCause> {
        loop {
            let Some(rest) = self.chunk.content.get(self.chunk.read..).filter(|rest| !rest.is_empty()) else {
                return Ok(None);
            };
            let (opcode, length) = parse_head(rest).ok_or(DamageCause::Content)?;
            let end = usize::try_from(length).ok().and_then(|length| HEAD.checked_add(length));
            let end = end.ok_or(DamageCause::Content)?;
            let body = rest.get(HEAD..end).ok_or(DamageCause::Content)?;
            let is_small = length <= if opcode == op::MESSAGE { MAX_MESSAGE_BYTES } else { MAX_SMALL_RECORD };
            if !is_small {
                return Err(DamageCause::TooLarge);
            }
            self.chunk.read += end;
            match mcap::parse_record(opcode, body).map_err(|_| DamageCause::Content)? {
                Record::Channel(channel) => {
                    let topic = match channel.topic.as_str() {
                        SETUP_TOPIC => Topic::Setup,
                        TICK_TOPIC => Topic::Tick,
                        _ => Topic::Other,
                    };
                    self.topics.insert(channel.id, topic);
                }
                Record::Message { header, data } => {
                    let topic = *self.topics.get(&header.channel_id).ok_or(DamageCause::Content)?;
                    return Ok(Some(Message { topic, sequence: header.sequence, data: data.into_owned() }));
                }
                Record::Schema { .. } => {}
                _ => return Err(DamageCause::Content),
            }
        }
    }

    fn start(&mut self) -> io::Result<Step> {
        let start = self.read_up_to(0, mcap::MAGIC.len())?;
        self.stage = Stage::Data;
        self.offset = start.len() as u64;
        self.search_from = self.offset;
        if start == mcap::MAGIC {
            self.add_to_checksum(&start);
            return Ok(Ok(()));
        }
        // all that is left of a file that was cut off
        let is_beginning = mcap::MAGIC.starts_with(&start);
        Ok(if is_beginning { Ok(()) } else { Err(DamageCause::StartSignature) })
    }

    /// Reads the next record of the data.
    fn record(&mut self) -> io::Result<Step> {
        let start = self.read_up_to(self.offset, RECOGNISABLE)?;
        let Some((opcode, length)) = parse_head(&start) else { return self.lose_track(&start, DamageCause::Length) };
        let end = (HEAD as u64).checked_add(length).and_then(|length| self.offset.checked_add(length));
        let Some(end) = end.filter(|end| *end <= self.length) else {
            return self.lose_track(&start, DamageCause::Length);
        };
        match opcode {
            op::CHUNK => return self.read_chunk(&start, end),
            op::DATA_END => return self.end_of_data(&start, end),
            op::MESSAGE_INDEX if !is_message_index(&start, length) => {
                return self.lose_track(&start, DamageCause::Length);
            }
            op::HEADER if self.offset == mcap::MAGIC.len() as u64 => {
                if !self.is_header(length)? {
                    return self.lose_track(&start, DamageCause::Length);
                }
            }
            // a tool may have added these; channels are in chunks
            op::MESSAGE_INDEX | op::ATTACHMENT | op::METADATA => {}
            found => return self.lose_track(&start, DamageCause::Type { found }),
        }
        self.add_range_to_checksum(self.offset, end)?;
        self.offset = end;
        Ok(Ok(()))
    }

    /// Whether the record here is a header of this length.
    fn is_header(&mut self, length: u64) -> io::Result<bool> {
        let length = length.min(MAX_SMALL_RECORD) as usize;
        let body = self.read_up_to(self.offset + HEAD as u64, length)?;
        let header = mcap::parse_record(op::HEADER, &body);
        // two texts, each with its length before it
        Ok(matches!(header, Ok(Record::Header(header)) if header.profile.len() + header.library.len() + 8 == length))
    }

    /// Reads the chunk that begins with `start`.
    fn read_chunk(&mut self, start: &[u8], end: u64) -> io::Result<Step> {
        let (offset, number) = (self.offset, self.chunks);
        let Some(header) = ChunkHeader::parse(start) else { return self.lose_track(start, DamageCause::Compression) };
        if !header.is_consistent() {
            return self.lose_track(start, DamageCause::Length);
        }
        if let Err(cause) = header.check_size() {
            return self.lose_track(start, cause);
        }
        let length = usize::try_from(end - offset).unwrap_or(usize::MAX);
        let record = self.read_up_to(offset, length)?;
        match header.unpack(record.get(HEAD..).unwrap_or_default()) {
            Ok(content) => {
                self.add_to_checksum(&record);
                self.chunks += 1;
                self.chunk = Chunk { content, read: 0, offset, number };
                (self.offset, self.search_from) = (end, end);
                Ok(Ok(()))
            }
            Err(cause) => self.lose_track(start, cause),
        }
    }

    /// Goes on at the next chunk, or at the end of the data. Returns the cause, unless the file was merely cut off.
    fn lose_track(&mut self, start: &[u8], cause: DamageCause) -> io::Result<Step> {
        if start.first() == Some(&op::CHUNK) {
            self.chunks += 1;
            self.search_from = self.offset + 1;
        }
        if let Some(found) = self.find_chunk(self.search_from)? {
            self.offset = found;
            return Ok(Err(cause));
        }
        if self.has_end {
            self.is_complete = true;
            self.stage = self.find_index()?.map_or(Stage::Done, Stage::Index);
            return Ok(Err(cause));
        }
        self.stage = Stage::Done;
        let is_cut_off = cause == DamageCause::Length && is_beginning(start, self.length - self.offset);
        let is_cut_off = is_cut_off || self.is_zero_from(self.offset)?;
        Ok(if is_cut_off { Ok(()) } else { Err(cause) })
    }

    /// Compares the data with its checksum.
    fn end_of_data(&mut self, start: &[u8], end: u64) -> io::Result<Step> {
        let recorded = start.get(HEAD..).and_then(take_u32).filter(|_| end - self.offset == HEAD as u64 + 4);
        let Some((recorded, _)) = recorded else { return self.lose_track(start, DamageCause::Length) };
        let found = self.checksum.take().map(crc32fast::Hasher::finalize);
        self.stage = Stage::Index(end);
        // 0 means that there is none
        let differs = recorded != 0 && found.is_some_and(|found| found != recorded);
        Ok(if differs { Err(DamageCause::BetweenChunks) } else { Ok(()) })
    }

    /// Checks the index after the data, and the end of the file.
    fn index(&mut self, start: u64) -> io::Result<Step> {
        /// Bytes of a footer.
        const FOOTER: usize = 20;
        self.stage = Stage::Done;
        self.is_complete = self.has_end;
        self.offset = start;
        self.checksum = Some(crc32fast::Hasher::new());
        let (mut at, mut statistics) = (start, Vec::new());
        loop {
            let head = self.read_up_to(at, HEAD + FOOTER)?;
            let Some((opcode, length)) = parse_head(&head) else { return Ok(self.cut_off()) };
            let end = (HEAD as u64).checked_add(length).and_then(|length| at.checked_add(length));
            let Some(end) = end.filter(|end| *end <= self.length) else { return Ok(self.cut_off()) };
            match opcode {
                op::FOOTER if length == FOOTER as u64 => {
                    let (checked, recorded) = head.split_at_checked(HEAD + FOOTER - 4).unwrap_or_default();
                    self.add_to_checksum(checked);
                    let recorded = take_u32(recorded).map_or(0, |(crc, _)| crc);
                    let found = self.checksum.take().map(crc32fast::Hasher::finalize);
                    if recorded != 0 && found != Some(recorded) {
                        return Ok(Err(DamageCause::Index));
                    }
                    self.tick_messages = self.count_ticks(&statistics);
                    return self.end_of_file(end);
                }
                op::STATISTICS if length <= MAX_SMALL_RECORD => {
                    statistics = self.read_up_to(at + HEAD as u64, length as usize)?;
                }
                op::SCHEMA | op::CHANNEL | op::CHUNK_INDEX | op::ATTACHMENT_INDEX => {}
                op::METADATA_INDEX | op::SUMMARY_OFFSET => {}
                _ => return Ok(Err(DamageCause::Index)),
            }
            self.add_range_to_checksum(at, end)?;
            at = end;
        }
    }

    /// The index ends too early.
    fn cut_off(&self) -> Step {
        if self.has_end { Err(DamageCause::Index) } else { Ok(()) }
    }

    fn end_of_file(&mut self, at: u64) -> io::Result<Step> {
        self.offset = at;
        let found = self.read_up_to(at, mcap::MAGIC.len())?;
        self.is_complete = found.len() == mcap::MAGIC.len();
        let trailing = (self.length - at).saturating_sub(found.len() as u64);
        Ok(if found != mcap::MAGIC.get(..found.len()).unwrap_or_default() {
            Err(DamageCause::EndSignature)
        } else if trailing > 0 {
            Err(DamageCause::Trailing { bytes: trailing })
        } else {
            Ok(())
        })
    }

    fn count_ticks(&self, statistics: &[u8]) -> Option<u64> {
        let Ok(Record::Statistics(statistics)) = mcap::parse_record(op::STATISTICS, statistics) else { return None };
        let ticks = statistics.channel_message_counts.iter();
        Some(ticks.filter(|(id, _)| self.topics.get(id) == Some(&Topic::Tick)).map(|(_, count)| count).sum())
    }

    /// Where the footer says that the index starts.
    fn find_index(&mut self) -> io::Result<Option<u64>> {
        const FOOTER: u64 = (HEAD + 20 + mcap::MAGIC.len()) as u64;
        let footer = self.read_up_to(self.length.saturating_sub(FOOTER), HEAD + 20)?;
        let start = match footer.get(HEAD..).map(|body| mcap::parse_record(op::FOOTER, body)) {
            Some(Ok(Record::Footer(footer))) => footer.summary_start,
            _ => return Ok(None),
        };
        Ok((start > self.search_from && start < self.length).then_some(start))
    }

    /// Finds the next chunk or end of the data that can be recognised.
    fn find_chunk(&mut self, from: u64) -> io::Result<Option<u64>> {
        const DATA_END: [u8; HEAD] = [op::DATA_END, 4, 0, 0, 0, 0, 0, 0, 0];
        let mut at = from;
        while at < self.length {
            let block = self.read_up_to(at, BLOCK + RECOGNISABLE)?;
            for (index, _) in block.iter().enumerate().take(BLOCK) {
                let Some(rest) = block.get(index..) else { break };
                let room = (self.length - at - index as u64).saturating_sub(HEAD as u64);
                let is_chunk = |header: ChunkHeader| header.is_consistent() && header.length <= room;
                if ChunkHeader::parse(rest).is_some_and(is_chunk) || (rest.starts_with(&DATA_END) && room >= 4) {
                    return Ok(Some(at + index as u64));
                }
            }
            at += BLOCK as u64;
        }
        Ok(None)
    }

    /// Whether only zeros follow, as after a power failure.
    fn is_zero_from(&mut self, from: u64) -> io::Result<bool> {
        let mut at = from;
        while at < self.length {
            let block = self.read_up_to(at, BLOCK)?;
            if block.iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
            at += BLOCK as u64;
        }
        Ok(from < self.length)
    }

    fn add_to_checksum(&mut self, bytes: &[u8]) {
        if let Some(checksum) = &mut self.checksum {
            checksum.update(bytes);
        }
    }

    fn add_range_to_checksum(&mut self, from: u64, to: u64) -> io::Result<()> {
        let mut at = from;
        while at < to && self.checksum.is_some() {
            let length = usize::try_from(to - at).unwrap_or(usize::MAX).min(BLOCK);
            let block = self.read_up_to(at, length)?;
            self.add_to_checksum(&block);
            at += length as u64;
        }
        Ok(())
    }

    /// Reads this many bytes, or fewer at the end of the file.
    fn read_up_to(&mut self, from: u64, length: usize) -> io::Result<Vec<u8>> {
        let room = usize::try_from(self.length.saturating_sub(from)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length.min(room)];
        self.file.seek(SeekFrom::Start(from))?;
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Whether a message index has the length that it says.
fn is_message_index(start: &[u8], length: u64) -> bool {
    let entries = start.get(HEAD + 2..).and_then(take_u32);
    entries.is_some_and(|(bytes, _)| u64::from(bytes) + 6 == length)
}

/// Whether the last bytes of a file, which begin with `start`, can be the beginning of a record whose end is missing.
fn is_beginning(start: &[u8], available: u64) -> bool {
    let Some((opcode, length)) = parse_head(start) else { return true };
    if ChunkHeader::parse(start).is_some_and(|chunk| chunk.is_placeholder()) {
        return true;
    }
    if length.saturating_add(HEAD as u64) <= available {
        return false;
    }
    match opcode {
        op::CHUNK if start.len() < RECOGNISABLE => true,
        op::CHUNK => ChunkHeader::parse(start).is_some_and(|chunk| chunk.is_consistent()),
        op::MESSAGE_INDEX => start.len() < HEAD + 6 || is_message_index(start, length),
        op::HEADER | op::ATTACHMENT | op::METADATA | op::DATA_END => length <= MAX_CHUNK_BYTES,
        _ => false,
    }
}
