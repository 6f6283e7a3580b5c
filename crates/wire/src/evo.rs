//! Evolving robots in a simulated world: Population Manager, Robot Simulator and World Simulator.
//!
//! A message is one line of words: a name, then numbers. Fifteen messages, four directions. The choices made where the
//! document is silent are in `protocols/evo/decisions.md`; D-numbers below refer to it.
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

/// A message that fills one line.
///
/// What decodes, encoded, decodes to the same message, each number bit by bit.
pub trait Line: Sized {
    /// Reads a message from a line without its end.
    ///
    /// # Errors
    ///
    /// Says what is wrong with a line that means no message. No bytes make it panic.
    fn decode(line: &[u8]) -> Result<Self, LineError>;

    /// Appends the message with the end of its line to `out`.
    ///
    /// # Errors
    ///
    /// The wire has no word for a number that is not finite. `out` is then as it was.
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), NotFinite>;

    /// The message with the end of its line.
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

/// Writes one line: a name, and what `values` adds. Nothing is written if that fails.
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
