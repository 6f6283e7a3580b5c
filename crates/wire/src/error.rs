/// Why some bytes mean no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The message id is none that this side of the protocol accepts.
    #[error("unknown message id {id:#04x}")]
    UnknownId {
        /// The id as received.
        id: u32,
    },
    /// The bytes end where a field should begin or go on.
    #[error("frame ends before {field}")]
    Truncated {
        /// The field that is missing or cut.
        field: &'static str,
    },
    /// A field is there, or should be, and cannot be read as what it is.
    #[error("{field} cannot be read")]
    Malformed {
        /// The field.
        field: &'static str,
    },
    /// A number is outside what the protocol, or a named maximum of ours, allows.
    #[error("{field} is {value}, outside {min}..={max}")]
    OutOfRange {
        /// What the number says.
        field: &'static str,
        /// The number as received.
        value: i64,
        /// The least value allowed.
        min: i64,
        /// The greatest value allowed.
        max: i64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_well() {
        let check = |error: DecodeError, text: &str| assert_eq!(error.to_string(), text);
        check(DecodeError::UnknownId { id: 9 }, "unknown message id 0x09");
        check(DecodeError::Truncated { field: "id" }, "frame ends before id");
        check(DecodeError::Malformed { field: "motor" }, "motor cannot be read");
        check(
            DecodeError::OutOfRange { field: "motors", value: 513, min: 0, max: 512 },
            "motors is 513, outside 0..=512",
        );
    }
}
