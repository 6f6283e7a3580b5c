use super::number;

/// Why a line means no message.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LineError {
    /// There is no word in it.
    #[error("the line is blank")]
    Blank,
    /// The name is none that this side of the protocol knows. Whoever sent it may be newer than this code.
    #[error("there is no message `{name}`")]
    UnknownName {
        /// The name as received; a long one is cut.
        name: String,
    },
    /// The line ends too early.
    #[error("{message} ends before {field}")]
    Missing {
        /// Name of the message.
        message: &'static str,
        /// The first value that is missing.
        field: &'static str,
    },
    /// The line goes on too long.
    #[error("{message} goes on after its last value with `{text}`")]
    Surplus {
        /// Name of the message.
        message: &'static str,
        /// The first word too many; a long one is cut.
        text: String,
    },
    /// A word is not a number.
    #[error("{field} is `{text}`, which is no number")]
    NotANumber {
        /// The value.
        field: &'static str,
        /// The word; a long one is cut.
        text: String,
    },
    /// A word is a number as some countries write it.
    #[error("{field} is `{text}`: a decimal comma; the protocol wants a point")]
    DecimalComma {
        /// The value.
        field: &'static str,
        /// The word; a long one is cut.
        text: String,
    },
    /// A number is larger than an IEEE 754 double.
    #[error("{field} is `{text}`, which is too large")]
    TooLarge {
        /// The value.
        field: &'static str,
        /// The word; a long one is cut.
        text: String,
    },
    /// A count, an identifier or a flag is not a whole number.
    #[error("{field} is {}, which is not whole", spelled(*.value))]
    NotWhole {
        /// The value.
        field: &'static str,
        /// The number.
        value: f64,
    },
    /// A number is outside what the protocol, or a named maximum of ours, allows.
    #[error("{field} is {}, outside {min}..={max}", spelled(*.value))]
    OutOfRange {
        /// The value.
        field: &'static str,
        /// The number as received.
        value: f64,
        /// The least number allowed.
        min: u64,
        /// The greatest number allowed.
        max: u64,
    },
    /// An angle is outside what the protocol allows.
    #[error("{field} is {}, outside {min:.4}..={max:.4} rad", spelled(*.value))]
    Angle {
        /// The value.
        field: &'static str,
        /// In rad, as received.
        value: f64,
        /// The least angle allowed, in rad.
        min: f64,
        /// The greatest angle allowed, in rad.
        max: f64,
    },
}

/// As short as on the wire: a large number has no hundreds of digits.
fn spelled(value: f64) -> String {
    let mut text = Vec::new();
    // what was received is finite
    let _ = number::put(&mut text, value);
    String::from_utf8_lossy(&text).into_owned()
}

/// A message has a number that is infinite or not a number. The wire cannot carry it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a message cannot carry a number that is not finite")]
pub struct NotFinite;

/// The beginning of a word, to be shown to people.
pub(super) fn excerpt(word: &[u8]) -> String {
    const SHOWN: usize = 32;
    let shown = String::from_utf8_lossy(word.get(..SHOWN).unwrap_or(word)).escape_debug().to_string();
    if word.len() > SHOWN { format!("{shown}…") } else { shown }
}
