//! Bytes to messages and back, for every protocol Rossum speaks.
//!
//! This crate is pure: no I/O, no clock, no randomness. It knows neither worlds nor sockets. Every message encodes
//! *and* decodes, so that server, clients, tests and fuzzers share one definition.
//!
//! Each protocol is a module with its message enums. The codec says what is wrong with some bytes; what that costs the
//! peer (ignore, refuse, close) is decided by whoever called it. Where a protocol's document is silent or contradicts
//! itself, `protocols/<name>/decisions.md` has the choice and the reason.
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
/// What decodes, encoded, decodes to the same message. The bytes may differ: a decoder forgives more than an encoder
/// writes (surplus bytes, values out of range).
pub trait Message: Sized {
    /// Reads one message from all the bytes of a datagram or frame.
    ///
    /// # Errors
    ///
    /// Says what is wrong with bytes that mean no message. No bytes make it panic.
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError>;

    /// Appends the message's bytes to `out`.
    fn encode(&self, out: &mut Vec<u8>);

    /// The message's bytes.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out);
        out
    }
}

/// A message that travels in a stream of bytes, among others.
pub trait StreamMessage: Message {
    /// Finds the first whole message at the beginning of `buffer`; `Ok(None)` when its end has not arrived.
    ///
    /// # Errors
    ///
    /// Says why what follows can never become a message. Such a stream cannot be read any further.
    fn split(buffer: &[u8]) -> Result<Option<Split>, DecodeError>;

    /// Appends the message to `out` as it stands in the stream.
    fn encode_in_stream(&self, out: &mut Vec<u8>);
}

/// Where a message lies in a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The bytes to decode.
    pub message: std::ops::Range<usize>,
    /// How many bytes it takes up with its frame.
    pub consumed: usize,
}
