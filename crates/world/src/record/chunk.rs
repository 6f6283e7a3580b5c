//! Chunks: the compressed blocks of messages that a recording consists of.

use mcap::records::op;

use super::{container::MAX_CHUNK_BYTES, damage::DamageCause};

/// Bytes of the type and the length before each record.
pub(super) const HEAD: usize = 9;
/// Bytes of a chunk's own header with the name of its compression, without that name.
const FIXED_HEADER: usize = 40;
/// The only compression that recordings use.
const ZSTD: &[u8] = b"zstd";
/// As much of a chunk as is needed to recognise it.
pub(super) const RECOGNISABLE: usize = HEAD + FIXED_HEADER + ZSTD.len();

/// What a chunk claims about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChunkHeader {
    /// Length of the record after its head.
    pub(super) length: u64,
    unpacked: u64,
    crc: u32,
    is_packed: bool,
    packed: u64,
}

impl ChunkHeader {
    /// Reads type, length and header of a chunk. `None` if there is something else, or less than a whole header.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (_, rest) = bytes.split_first().filter(|(opcode, _)| **opcode == op::CHUNK)?;
        let (length, rest) = take_u64(rest)?;
        let (_start_time, rest) = take_u64(rest)?;
        let (_end_time, rest) = take_u64(rest)?;
        let (unpacked, rest) = take_u64(rest)?;
        let (crc, rest) = take_u32(rest)?;
        let (name_length, rest) = take_u32(rest)?;
        let (name, rest) = rest.split_at_checked(name_length as usize)?;
        let (packed, _) = take_u64(rest)?;
        let is_packed = match name {
            b"" => false,
            ZSTD => true,
            _ => return None,
        };
        Some(Self { length, unpacked, crc, is_packed, packed })
    }

    /// Whether the writer was stopped before it knew the lengths, or while it wrote them: this one is the last.
    pub(super) fn is_placeholder(&self) -> bool {
        self.packed == u64::MAX
    }

    /// Whether its lengths agree with each other.
    pub(super) fn is_consistent(&self) -> bool {
        self.packed.checked_add(self.header_bytes() as u64) == Some(self.length)
    }

    /// Refuses a chunk that would need too much memory.
    pub(super) fn check_size(&self) -> Result<(), DamageCause> {
        let is_small = self.unpacked <= MAX_CHUNK_BYTES && self.packed <= MAX_CHUNK_BYTES;
        if is_small { Ok(()) } else { Err(DamageCause::TooLarge) }
    }

    fn header_bytes(&self) -> usize {
        FIXED_HEADER + if self.is_packed { ZSTD.len() } else { 0 }
    }

    /// Unpacks the chunk, whose record, without the head, is `body`. Allocates no more than [`MAX_CHUNK_BYTES`].
    pub(super) fn unpack(&self, body: &[u8]) -> Result<Vec<u8>, DamageCause> {
        self.check_size()?;
        let packed = body.get(self.header_bytes()..).ok_or(DamageCause::Length)?;
        let size = usize::try_from(self.unpacked).map_err(|_| DamageCause::TooLarge)?;
        let content = if self.is_packed {
            zstd::bulk::decompress(packed, size).map_err(|_| DamageCause::Compression)?
        } else {
            packed.to_vec()
        };
        if content.len() != size {
            return Err(DamageCause::Length);
        }
        // 0 means that there is none
        if self.crc != 0 && crc32fast::hash(&content) != self.crc {
            return Err(DamageCause::Checksum);
        }
        Ok(content)
    }
}

/// The type and the length of a record.
pub(super) fn parse_head(bytes: &[u8]) -> Option<(u8, u64)> {
    let (&opcode, rest) = bytes.split_first()?;
    Some((opcode, take_u64(rest)?.0))
}

pub(super) fn take_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number), rest))
}

fn take_u64(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u64::from_le_bytes(*number), rest))
}
