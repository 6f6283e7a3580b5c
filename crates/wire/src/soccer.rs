//! RoboCup's MuJoCo soccer league: the protocols of agents and monitors.
//!
//! A frame is a big-endian 32-bit length followed by that many bytes of s-expressions. The league's server deviates
//! from its documentation page, hence two dialects: [`Dialect`]. `protocols/soccer/decisions.md` records our choices;
//! D-numbers refer to it.
//!
//! | from | to | message |
//! | --- | --- | --- |
//! | agent | server | [`AgentMessage`] |
//! | server | agent | [`Perception`] |
//! | monitor | server | [`MonitorRequest`] |
//! | server | monitor | [`MonitorMessage`] |
//!
//! ```
//! use wire::{Message, StreamMessage};
//! use wire::soccer::{AgentMessage, Effector};
//!
//! let message = AgentMessage::decode(b"(beam -3.5 1.25 30)(syn)").unwrap();
//! assert_eq!(message.effectors.last(), Some(&Effector::Sync));
//!
//! let mut stream = Vec::new();
//! message.encode_in_stream(&mut stream);
//! assert_eq!(stream, b"\0\0\0\x1A(beam -3.5 1.25 30.0)(syn)");
//! ```

mod base64;
mod command;
mod effector;
mod game;
mod monitor;
mod name;
mod number;
mod perception;
mod scene;
mod sexp;
mod vision;

pub use command::{AgentPlacement, Command, MAX_COMMANDS, MAX_JOINTS, MonitorRequest, Pose, TeamRef};
pub use effector::{AgentMessage, Beam, Effector, Init, MAX_EFFECTORS, Motor, Speak};
pub use game::{FoulKind, PlayMode, Side};
pub use monitor::{Environment, Foul, Graph, MonitorGame, MonitorMessage, MonitorUpdate, Teams};
pub use name::{InvalidName, MAX_NAME, Name};
pub use number::{Decimal, Hundredths, Thousandths};
pub use perception::{
    Accelerometer, Dialect, GameState, Gyro, HeardSpeech, Joint, Orientation, Perception, Position, Sensor, Touch,
};
pub use scene::{MAX_NODES, Mesh, Node, NodeKind, Surface, Transform};
pub use vision::{Landmark, Marker, Polar, See, SeenPlayer};

use crate::{DecodeError, Split, StreamMessage};

/// Maximum frame length to and from agents, and from monitors, in bytes (D1).
pub const MAX_FRAME: usize = 64 * 1024;

/// Maximum frame length to monitors, in bytes: a full scene with all robots is far larger than any other message (D1).
pub const MAX_UPDATE_FRAME: usize = 4 * 1024 * 1024;

/// Maximum nesting depth of lists, except in scenes (D3).
pub const MAX_DEPTH: usize = 16;

/// Maximum nesting depth of lists to monitors: a robot's arm alone is 15 levels deep (D3).
pub const MAX_UPDATE_DEPTH: usize = 64;

const LENGTH_BYTES: usize = size_of::<u32>();

impl StreamMessage for AgentMessage {
    fn split(buffer: &[u8]) -> Result<Option<Split>, DecodeError> {
        split_frame(buffer, MAX_FRAME)
    }

    fn encode_in_stream(&self, out: &mut Vec<u8>) {
        put_frame(self, out);
    }
}

impl StreamMessage for Perception {
    fn split(buffer: &[u8]) -> Result<Option<Split>, DecodeError> {
        split_frame(buffer, MAX_FRAME)
    }

    fn encode_in_stream(&self, out: &mut Vec<u8>) {
        put_frame(self, out);
    }
}

impl StreamMessage for MonitorRequest {
    fn split(buffer: &[u8]) -> Result<Option<Split>, DecodeError> {
        split_frame(buffer, MAX_FRAME)
    }

    fn encode_in_stream(&self, out: &mut Vec<u8>) {
        put_frame(self, out);
    }
}

impl StreamMessage for MonitorMessage {
    fn split(buffer: &[u8]) -> Result<Option<Split>, DecodeError> {
        split_frame(buffer, MAX_UPDATE_FRAME)
    }

    fn encode_in_stream(&self, out: &mut Vec<u8>) {
        put_frame(self, out);
    }
}

fn split_frame(buffer: &[u8], max: usize) -> Result<Option<Split>, DecodeError> {
    let Some(&length) = buffer.first_chunk() else { return Ok(None) };
    let length = u32::from_be_bytes(length);
    if length as usize > max {
        return Err(DecodeError::OutOfRange { field: "frame length", value: length.into(), min: 0, max: max as i64 });
    }
    let consumed = LENGTH_BYTES + length as usize;
    Ok((buffer.len() >= consumed).then_some(Split { message: LENGTH_BYTES..consumed, consumed }))
}

/// Reserves space for the length, which is known only after encoding.
fn put_frame(message: &impl StreamMessage, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend([0; LENGTH_BYTES]);
    message.encode(out);
    let length = out.len() - start - LENGTH_BYTES;
    if let Some(place) = out.get_mut(start..start + LENGTH_BYTES) {
        place.copy_from_slice(&(length as u32).to_be_bytes());
    }
}

/// A field is missing or invalid.
fn malformed(field: &'static str) -> DecodeError {
    DecodeError::Malformed { field }
}

/// Whether decoding goes on after an invalid list (D4).
enum Fault {
    /// Only this list is skipped.
    Skip(DecodeError),
    /// The rest of the message is dropped; earlier lists stay valid.
    Stop(DecodeError),
}

/// For a list without meaning.
fn skip(field: &'static str) -> Fault {
    Fault::Skip(malformed(field))
}

/// For a known list with invalid content.
fn stop(field: &'static str) -> Fault {
    Fault::Stop(malformed(field))
}

/// Decodes the lists of a message; returns the valid ones and the first error.
fn decode_lists<T>(
    lists: sexp::List<'_>,
    max: usize,
    field: &'static str,
    decode: impl Fn(sexp::List<'_>) -> Result<T, Fault>,
) -> (Vec<T>, Option<DecodeError>) {
    let mut found = Vec::new();
    let mut first_error = None;
    for list in lists.lists() {
        match decode(list) {
            Ok(_) if found.len() == max => {
                let value = max as i64 + 1;
                first_error.get_or_insert(DecodeError::OutOfRange { field, value, min: 0, max: max as i64 });
                break;
            }
            Ok(item) => found.push(item),
            Err(Fault::Skip(error)) => _ = first_error.get_or_insert(error),
            Err(Fault::Stop(error)) => {
                first_error.get_or_insert(error);
                break;
            }
        }
    }
    (found, first_error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;

    #[test]
    fn frames() {
        fn check(buffer: &[u8], expected: Result<Option<Split>, DecodeError>) {
            assert_eq!(AgentMessage::split(buffer), expected, "{buffer:?}");
        }
        let found = |end| Ok(Some(Split { message: 4..end, consumed: end }));
        let too_long =
            |value| Err(DecodeError::OutOfRange { field: "frame length", value, min: 0, max: MAX_FRAME as i64 });
        check(b"", Ok(None));
        check(b"\0\0\0", Ok(None));
        check(b"\0\0\0\x05(syn", Ok(None));
        check(b"\0\0\0\x05(syn)", found(9));
        check(b"\0\0\0\x05(syn)\0", found(9));
        check(b"\0\0\0\0", found(4));
        // the length alone is enough for an error
        check(b"\0\x01\0\0", Ok(None));
        check(b"\0\x01\0\x01", too_long(65537));
        check(b"\xFF\xFF\xFF\xFF", too_long(u32::MAX.into()));
        check(b"(syn", too_long(0x2873_796E));
    }

    #[test]
    fn scenes_may_be_longer() {
        assert_eq!(MonitorMessage::split(b"\0\x40\0\0"), Ok(None));
        assert!(MonitorMessage::split(b"\0\x40\0\x01").is_err());
    }

    #[test]
    fn frames_start_with_their_length() {
        let mut out = b"before".to_vec();
        AgentMessage::from(vec![Effector::Sync]).encode_in_stream(&mut out);
        AgentMessage::default().encode_in_stream(&mut out);
        assert_eq!(out, b"before\0\0\0\x05(syn)\0\0\0\0");
        assert_eq!(AgentMessage::decode(b""), Ok(AgentMessage::default()));
    }
}
