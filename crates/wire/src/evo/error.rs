use super::number;

/// The reason why a line failed to decode.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LineError {
    /// The line contains no words.
    #[error("empty line")]
    Blank,
    /// The name is unknown or not valid in this direction. The peer may use a newer version of the protocol.
    #[error("unknown message `{name}`")]
    UnknownName {
        /// The name as received; long ones are truncated.
        name: String,
    },
    /// A value is missing.
    #[error("unexpected end of `{message}` before {field}")]
    Missing {
        /// Name of the message.
        message: &'static str,
        /// The first missing value.
        field: &'static str,
    },
    /// There are too many values.
    #[error("unexpected `{text}` after the last value of `{message}`")]
    Surplus {
        /// Name of the message.
        message: &'static str,
        /// The first surplus word; long ones are truncated.
        text: String,
    },
    /// A word is not a number.
    #[error("{field} is not a number: `{text}`")]
    NotANumber {
        /// Name of the value.
        field: &'static str,
        /// The word as received; long ones are truncated.
        text: String,
    },
    /// A number has a decimal comma.
    #[error("{field} has a decimal comma: `{text}`; use a point")]
    DecimalComma {
        /// Name of the value.
        field: &'static str,
        /// The word as received; long ones are truncated.
        text: String,
    },
    /// A number exceeds the range of an IEEE 754 double.
    #[error("{field} is too large: `{text}`")]
    TooLarge {
        /// Name of the value.
        field: &'static str,
        /// The word as received; long ones are truncated.
        text: String,
    },
    /// A count, an identifier or a flag is not an integer.
    #[error("{field} is {}, not an integer", wire_text(*.value))]
    NotWhole {
        /// Name of the value.
        field: &'static str,
        /// The number as received.
        value: f64,
    },
    /// A number is outside the range allowed by the protocol or by one of the `MAX_*` limits.
    #[error("{field} is {}, outside {min}..={max}", wire_text(*.value))]
    OutOfRange {
        /// Name of the value.
        field: &'static str,
        /// The number as received.
        value: f64,
        /// Smallest allowed number.
        min: u64,
        /// Largest allowed number.
        max: u64,
    },
    /// An angle is outside the range allowed by the protocol.
    #[error("{field} is {}, outside {min:.4}..={max:.4} rad", wire_text(*.value))]
    Angle {
        /// Name of the value.
        field: &'static str,
        /// The angle as received, in rad.
        value: f64,
        /// Smallest allowed angle, in rad.
        min: f64,
        /// Largest allowed angle, in rad.
        max: f64,
    },
}

/// Formats as on the wire, so that large numbers do not have hundreds of digits.
fn wire_text(value: f64) -> String {
    let mut text = Vec::new();
    // received numbers are finite
    let _ = number::put(&mut text, value);
    String::from_utf8_lossy(&text).into_owned()
}

/// A message contains a number that is infinite or NaN, which the wire cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("infinite or NaN value in a message")]
pub struct NotFinite;

/// The start of a word, escaped for error messages.
pub(super) fn excerpt(word: &[u8]) -> String {
    const SHOWN: usize = 32;
    let shown = String::from_utf8_lossy(word.get(..SHOWN).unwrap_or(word)).escape_debug().to_string();
    if word.len() > SHOWN { format!("{shown}…") } else { shown }
}
