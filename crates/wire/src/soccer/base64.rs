//! Base64 of speech (RFC 4648, standard alphabet), which may otherwise contain spaces and parentheses.
//!
//! Padding is required (D6); the value of unused trailing bits is ignored.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical)
        .with_decode_allow_trailing_bits(true),
);

pub(super) fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(ENGINE.encode(bytes).as_bytes());
}

pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    ENGINE.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The engine's configuration: padding required, trailing bits ignored, no other alphabet, no white space.
    #[test]
    fn texts() {
        fn check(bytes: &[u8], text: &str) {
            let mut out = Vec::new();
            put(&mut out, bytes);
            assert_eq!(String::from_utf8_lossy(&out), text);
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(bytes), "{text}");
        }
        check(b"", "");
        check(b"f", "Zg==");
        check(b"fo", "Zm8=");
        check(b"foo", "Zm9v");
        check(b"hello", "aGVsbG8=");
        check(&[0xFB, 0xFF], "+/8=");
        assert_eq!(decode(b"aGl=").as_deref(), Some(&b"hi"[..]));
        for bad in ["=", "====", "a", "aGVsbG8", "aGVs=G8=", "Zg==Zg==", "Z===", "aGV-bG8_", "aG\n="] {
            assert_eq!(decode(bad.as_bytes()), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_round_trip(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut out = Vec::new();
            put(&mut out, &bytes);
            prop_assert_eq!(decode(&out), Some(bytes));
        }
    }
}
