//! Message codecs for every protocol Rossum speaks.
//!
//! This crate is pure: no I/O, no clock, no randomness. It knows neither worlds nor sockets. Every message encodes
//! *and* decodes, so that server, clients, tests and fuzzers share one definition.
//!
//! Each protocol is a module with its message enums. A codec reports what is wrong with the input; the caller decides
//! the consequence for the peer (ignore, reject, close). Where a protocol's document is silent or contradicts itself,
//! `protocols/<name>/decisions.md` records the choice and the reason.
//!
//! ```
//! use wire::{Message, odcp};
//!
//! assert_eq!(odcp::Request::decode(&[150]), Ok(odcp::Request::GetMotors));
//! assert_eq!(odcp::Reply::Connected.to_bytes(), [6, 15, 0, 0, 0, 1, 0, 0, 0]);
//! ```

#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

pub mod console;
mod error;
pub mod evo;
pub mod odcp;
pub mod osp;
pub mod oz;
mod reader;
pub mod soccer;

pub use error::DecodeError;
pub use reader::Reader;

/// A message that fills one datagram or one frame.
///
/// Decoding an encoded message yields the same message. Encoding a decoded message may yield other bytes: decoders
/// accept more than encoders write (trailing bytes, values out of range).
pub trait Message: Sized {
    /// Decodes one message from a whole datagram or frame.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] if the bytes are not a valid message. Never panics, whatever the input.
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError>;

    /// Appends the encoded message to `out`.
    fn encode(&self, out: &mut Vec<u8>);

    /// Encodes the message into a new buffer.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out);
        out
    }
}

/// A message that is framed in a byte stream.
pub trait StreamMessage: Message {
    /// Locates the first complete message at the start of `buffer`; `Ok(None)` if it is still incomplete.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] if the buffer can never become a valid message. The stream is then unusable.
    fn split(buffer: &[u8]) -> Result<Option<Split>, DecodeError>;

    /// Appends the message with its framing to `out`.
    fn encode_in_stream(&self, out: &mut Vec<u8>);
}

/// The location of a message in a stream buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Range of the bytes to decode.
    pub message: std::ops::Range<usize>,
    /// Number of bytes to consume, including the framing.
    pub consumed: usize,
}
