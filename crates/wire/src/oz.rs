//! Oz 1.0: remote control of a social robot over TCP.
//!
//! All numbers are big-endian. A message is a 32-bit id followed by its fields; only the reply to a version request has
//! no id. There is no framing: the end of a message follows from its id and the lengths in it. Where the document is
//! silent or wrong, `protocols/oz/decisions.md` records our choice; D-numbers refer to it.
//!
//! | from | to | message |
//! | --- | --- | --- |
//! | client | server | [`Request`] |
//! | server | client | [`Reply`]: a [`Welcome`], then [`Event`]s |
//!
//! ```
//! use wire::{Message, StreamMessage};
//! use wire::oz::{Request, Text};
//!
//! let hello = Request::Speak(Text::new("Hello").unwrap());
//! assert_eq!(hello.to_bytes(), b"\0\0\0\x03\0\x05Hello");
//! // an incomplete message
//! assert_eq!(Request::split(b"\0\0\0\x03\0\x05Hel"), Ok(None));
//! ```

mod event;
mod names;
mod reply;
mod request;
mod text;

pub use event::{
    Event, Face, Faces, Hypothesis, Jpeg, JpegTooLong, MAX_FACES, MAX_FACES_READ, MAX_JPEG, MAX_JPEG_READ, MAX_OPTIONS,
    MAX_OPTIONS_READ, Utterance,
};
pub use names::{EXPRESSIONS, GESTURES, LOOKATS, SERVOS, gesture_from_tag};
pub use reply::{Reply, Welcome};
pub use request::{MAX_REQUEST, Request};
pub use text::{MAX_NAME, MAX_TEXT, Text, TextTooLong};

use crate::{DecodeError, Reader, Split};

/// The documented default port.
pub const PORT: u16 = 7331;

/// Protocol 1.0.
pub const VERSION: u32 = 0x0100_0000;

/// Protocol 1.0 as misprinted in the document's text, with a digit missing (D3).
pub const VERSION_MISPRINTED: u32 = 0x0010_0000;

/// The smallest version: the first byte is the major number. All message ids are smaller (D2).
const FIRST_VERSION: u32 = 0x0100_0000;

/// Number of servos of a robot; [`SERVOS`] has their names.
pub const SERVO_COUNT: usize = 36;

/// In the order of the header file (D1).
mod id {
    pub(super) const NOTHING: u32 = 0x00;
    pub(super) const REQUEST_VERSION: u32 = 0x01;
    pub(super) const RESET: u32 = 0x02;
    pub(super) const SPEAK: u32 = 0x03;
    pub(super) const VOICE_GENDER_LANGUAGE: u32 = 0x04;
    pub(super) const VOICE_VOLUME: u32 = 0x05;
    pub(super) const VOICE_PITCH: u32 = 0x06;
    pub(super) const GESTURE: u32 = 0x07;
    pub(super) const GESTURE_WEIGHT: u32 = 0x08;
    pub(super) const EXPRESSION: u32 = 0x09;
    pub(super) const EXPRESSION_WEIGHT: u32 = 0x0A;
    pub(super) const AUTO_BLINK_SPEED: u32 = 0x0B;
    pub(super) const RANDOM_HEAD_WEIGHT: u32 = 0x0C;
    pub(super) const RANDOM_EYES_WEIGHT: u32 = 0x0D;
    pub(super) const RANDOM_FACE_WEIGHT: u32 = 0x0E;
    pub(super) const SERVO: u32 = 0x0F;
    pub(super) const ALL_SERVOS: u32 = 0x10;
    pub(super) const DIRECT_WEIGHT: u32 = 0x11;
    pub(super) const LOOKAT: u32 = 0x12;
    pub(super) const LOOKAT_WEIGHT: u32 = 0x13;
    pub(super) const SPEAK_DONE: u32 = 0x14;
    pub(super) const GESTURE_DONE: u32 = 0x15;
    pub(super) const SPEAK_GESTURE: u32 = 0x16;
    pub(super) const UTTERANCE: u32 = 0x17;
    pub(super) const FACES: u32 = 0x18;
    pub(super) const VIDEO_FRAME: u32 = 0x19;
}

/// Whether `version` means protocol 1.0 (D3).
pub fn is_supported_version(version: u32) -> bool {
    matches!(version, VERSION | VERSION_MISPRINTED)
}

/// Locates the end of a message with `skip`, which fails with [`DecodeError::Truncated`] if it is incomplete.
fn split_by(
    buffer: &[u8],
    skip: impl FnOnce(&mut Reader<'_>) -> Result<(), DecodeError>,
) -> Result<Option<Split>, DecodeError> {
    let mut rest = Reader::new(buffer);
    match skip(&mut rest) {
        Ok(()) => {
            let consumed = buffer.len() - rest.remaining();
            Ok(Some(Split { message: 0..consumed, consumed }))
        }
        Err(DecodeError::Truncated { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Decodes all of `bytes`; trailing bytes are an error, so that messages round-trip byte by byte.
fn decode_all<M>(
    bytes: &[u8],
    decode: impl FnOnce(&mut Reader<'_>) -> Result<M, DecodeError>,
) -> Result<M, DecodeError> {
    let mut rest = Reader::new(bytes);
    let message = decode(&mut rest)?;
    if rest.remaining() > 0 {
        let length = (bytes.len() - rest.remaining()) as i64;
        let value = bytes.len() as i64;
        return Err(DecodeError::OutOfRange { field: "message length", value, min: length, max: length });
    }
    Ok(message)
}

/// Reads a count of at most `max`.
fn read_count(r: &mut Reader<'_>, field: &'static str, max: usize) -> Result<usize, DecodeError> {
    let count = r.u32_be(field)?;
    if count as usize > max {
        return Err(DecodeError::OutOfRange { field, value: count.into(), min: 0, max: max as i64 });
    }
    Ok(count as usize)
}

fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend(value.to_be_bytes());
}

fn put_f32(out: &mut Vec<u8>, value: f32) {
    out.extend(value.to_be_bytes());
}

#[cfg(test)]
mod tests;
