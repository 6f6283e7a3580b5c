/// The reason why bytes failed to decode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The message id is unknown, or not valid in this direction.
    #[error("unknown message id {id:#04x}")]
    UnknownId {
        /// The id as received.
        id: u32,
    },
    /// The input ends before or within a field.
    #[error("unexpected end of frame before `{field}`")]
    Truncated {
        /// The missing or incomplete field.
        field: &'static str,
    },
    /// A field is missing, or its content is invalid.
    #[error("missing or malformed `{field}`")]
    Malformed {
        /// The field concerned.
        field: &'static str,
    },
    /// A number is outside the range allowed by the protocol or by one of the `MAX_*` limits.
    #[error("`{field}` is {value}, outside {min}..={max}")]
    OutOfRange {
        /// The field concerned.
        field: &'static str,
        /// The number as received.
        value: i64,
        /// Smallest allowed value.
        min: i64,
        /// Largest allowed value.
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
        check(DecodeError::Truncated { field: "id" }, "unexpected end of frame before `id`");
        check(DecodeError::Malformed { field: "motor" }, "missing or malformed `motor`");
        check(
            DecodeError::OutOfRange { field: "motors", value: 513, min: 0, max: 512 },
            "`motors` is 513, outside 0..=512",
        );
    }
}
