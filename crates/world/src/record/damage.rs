//! What is wrong with a damaged recording, and where.

use std::fmt;

use super::container::{MAX_CHUNK_BYTES, MAX_DAMAGES};

/// A damaged place of a recording. A recording that was merely cut off is not damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where the damaged record starts in the file, in bytes.
    pub offset: u64,
    /// Number of the damaged chunk, counted from 0 in the order of the file; `None` if something else is damaged.
    pub chunk: Option<u64>,
    /// Tick of the last record that was read before it.
    pub after_tick: Option<u64>,
    /// What is wrong.
    pub cause: DamageCause,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}", self.offset)?;
        if let Some(chunk) = self.chunk {
            write!(f, ", chunk {chunk}")?;
        }
        if let Some(tick) = self.after_tick {
            write!(f, ", after tick {tick}")?;
        }
        write!(f, ": {}", self.cause)
    }
}

/// How a damaged place was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DamageCause {
    /// The first bytes are not those of an MCAP file.
    #[error("the file does not start like a recording")]
    StartSignature,
    /// A record has a type that does not belong there.
    #[error("a record of type {found:#04x} does not belong here")]
    Type {
        /// The type.
        found: u8,
    },
    /// The length of a record contradicts its content or the size of the file.
    #[error("the record has a wrong length")]
    Length,
    /// A chunk claims to be larger than any chunk of a recording.
    #[error("the chunk claims more than {MAX_CHUNK_BYTES} bytes")]
    TooLarge,
    /// A chunk cannot be decompressed.
    #[error("the chunk cannot be decompressed")]
    Compression,
    /// A chunk does not match its checksum.
    #[error("the chunk does not match its checksum")]
    Checksum,
    /// A chunk matches its checksum but contains something other than messages.
    #[error("the chunk does not consist of messages")]
    Content,
    /// All chunks match their checksums, but the data as a whole does not.
    #[error("the data up to here does not match its checksum, although each chunk does")]
    BetweenChunks,
    /// The index after the data is damaged. It does not matter for replays.
    #[error("the index at the end does not match its checksum")]
    Index,
    /// The last bytes are not those of an MCAP file.
    #[error("the file does not end like a recording")]
    EndSignature,
    /// Something follows the end of the recording.
    #[error("{bytes} bytes follow the end of the recording")]
    Trailing {
        /// Their number.
        bytes: u64,
    },
    /// The rest of the file was not read.
    #[error("more than {MAX_DAMAGES} places are damaged; the rest was not read")]
    GivenUp,
}
