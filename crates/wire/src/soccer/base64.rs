//! Base64 with padding, as RFC 4648 has it: how bytes that agents speak travel between spaces and parentheses.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PAD: u8 = b'=';

pub(super) fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let sextet = bits >> (18 - 6 * place) & 63;
            let letter = ALPHABET.get(sextet as usize).copied().unwrap_or(PAD);
            out.push(if place <= chunk.len() { letter } else { PAD });
        }
    }
}

/// The bytes that a whole text means. Bits that no byte needs may have any value.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let unpadded = text.strip_suffix(b"==").or(text.strip_suffix(b"=")).unwrap_or(text);
    if !text.len().is_multiple_of(4) || unpadded.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(unpadded.len() / 4 * 3 + 2);
    for chunk in unpadded.chunks(4) {
        let mut bits = 0_u32;
        for &letter in chunk {
            bits = bits << 6 | sextet(letter)?;
        }
        bits <<= 6 * (4 - chunk.len());
        let [_, group @ ..] = bits.to_be_bytes();
        bytes.extend(group.iter().take(chunk.len() - 1));
    }
    Some(bytes)
}

fn sextet(letter: u8) -> Option<u32> {
    let sextet = match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(sextet.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        fn any_bytes_arrive(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut out = Vec::new();
            put(&mut out, &bytes);
            prop_assert_eq!(decode(&out), Some(bytes));
        }
    }
}
