//! Evolving robots in a simulated world: Population Manager, Robot Simulator and World Simulator.
//!
//! A message is one line: a name followed by numbers. There are fifteen messages in four directions. Where the document
//! is silent, `protocols/evo/decisions.md` records our choice; D-numbers refer to it.
//!
//! | from | to | message |
//! | --- | --- | --- |
//! | Population Manager | Robot Simulator | [`ToRobot`] |
//! | Robot Simulator | Population Manager | [`FromRobot`] |
//! | Robot Simulator | World Simulator | [`ToWorld`] |
//! | World Simulator | Robot Simulator | [`FromWorld`] |
//!
//! ```
//! use wire::evo::{FromRobot, Line, LineBuffer};
//!
//! let mut stream = LineBuffer::default();
//! stream.push(b"Fitness 1 7 12.5E-2\r\nFitn");
//! let line = stream.next_line().unwrap().unwrap();
//! let message = FromRobot::decode(line).unwrap();
//! assert_eq!(message.to_line().unwrap(), b"Fitness 1 7 0.125\r\n");
//! assert_eq!(stream.next_line(), Ok(None));
//! ```

mod body;
mod error;
mod line;
mod net;
mod number;
mod robot;
mod words;
mod world;

pub use body::{Layer, MAX_LAYERS, MAX_POINTS, MAX_POLYGONS};
pub use error::{LineError, NotFinite};
pub use line::{LineBuffer, LineTooLong, MAX_LINE};
pub use net::{Genes, Individual, MAX_COUNT, MAX_VALUES, NetParameters, ShapeError, ValueGroups};
pub use robot::{FromRobot, ToRobot};
pub use words::MAX_WHOLE;
pub use world::{Beam, FromWorld, Pose, Position, RobotId, ToWorld, VisualReading};

/// A message that occupies one line.
///
/// Decoding an encoded message yields the same message; numbers round-trip bit by bit.
pub trait Line: Sized {
    /// Decodes a message from a line without its terminator.
    ///
    /// # Errors
    ///
    /// [`LineError`] if the line is not a valid message. Never panics, whatever the input.
    fn decode(line: &[u8]) -> Result<Self, LineError>;

    /// Appends the message with its line terminator to `out`.
    ///
    /// # Errors
    ///
    /// [`NotFinite`] if a number is infinite or NaN, which the wire cannot express. `out` is then unchanged.
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), NotFinite>;

    /// Encodes the message with its line terminator.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    fn to_line(&self) -> Result<Vec<u8>, NotFinite> {
        let mut out = Vec::new();
        self.encode(&mut out)?;
        Ok(out)
    }
}

/// Writes one line: a name and whatever `values` appends. Writes nothing if `values` fails.
fn put_line(
    out: &mut Vec<u8>,
    name: &str,
    values: impl FnOnce(&mut Vec<u8>) -> Result<(), NotFinite>,
) -> Result<(), NotFinite> {
    let start = out.len();
    out.extend_from_slice(name.as_bytes());
    match values(out) {
        Ok(()) => out.extend_from_slice(b"\r\n"),
        Err(error) => {
            out.truncate(start);
            return Err(error);
        }
    }
    Ok(())
}

/// Appends numbers, each after a space.
fn put_numbers<'a>(out: &mut Vec<u8>, numbers: impl IntoIterator<Item = &'a f64>) -> Result<(), NotFinite> {
    numbers.into_iter().try_for_each(|&number| put_number(out, number))
}

fn put_number(out: &mut Vec<u8>, number: f64) -> Result<(), NotFinite> {
    out.push(b' ');
    number::put(out, number)
}

fn put_whole(out: &mut Vec<u8>, whole: u64) {
    out.push(b' ');
    number::put_whole(out, whole);
}

#[cfg(test)]
mod tests;
