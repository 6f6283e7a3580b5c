use super::{LocalValue, NUMBER_BYTES, Status, Version};
use crate::{DecodeError, Reader};
use std::fmt;

/// A text without NUL, which terminates texts on the wire.
///
/// Conversion from a string drops a NUL and everything after it. Invalid UTF-8 is decoded as U+FFFD (D3).
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(String);

impl Text {
    /// The text as a string slice.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Text {
    fn from(mut text: String) -> Self {
        if let Some(end) = text.find('\0') {
            text.truncate(end);
        }
        Self(text)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.split('\0').next().unwrap_or_default().to_owned())
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.0
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(super) fn text(r: &mut Reader<'_>) -> Text {
    Text(String::from_utf8_lossy(r.nul_terminated()).into_owned())
}

/// Reads a count or an index.
pub(super) fn count(r: &mut Reader<'_>, field: &'static str) -> Result<usize, DecodeError> {
    let value = r.i32_le(field)?;
    let out_of_range = |_| DecodeError::OutOfRange { field, value: value.into(), min: 0, max: i32::MAX.into() };
    usize::try_from(value).map_err(out_of_range)
}

pub(super) fn ints(r: &mut Reader<'_>, count: usize, field: &'static str) -> Result<Vec<i32>, DecodeError> {
    check_count(r, count, field)?;
    (0..count).map(|_| r.i32_le(field)).collect()
}

pub(super) fn floats(r: &mut Reader<'_>, count: usize, field: &'static str) -> Result<Vec<f32>, DecodeError> {
    check_count(r, count, field)?;
    (0..count).map(|_| r.f32_le(field)).collect()
}

pub(super) fn counted_values(r: &mut Reader<'_>) -> Result<Vec<LocalValue>, DecodeError> {
    let count = count(r, "values")?;
    Ok(ints(r, count, "value")?.into_iter().map(LocalValue).collect())
}

/// Checks a count against the number of bytes left (D5).
fn check_count(r: &Reader<'_>, count: usize, field: &'static str) -> Result<(), DecodeError> {
    if count > r.remaining() / NUMBER_BYTES { Err(DecodeError::Truncated { field }) } else { Ok(()) }
}

pub(super) fn status(r: &mut Reader<'_>) -> Result<Status, DecodeError> {
    match r.u8("status")? {
        0 => Ok(Status::Failed),
        1 => Ok(Status::Done),
        2 => Ok(Status::NotFound),
        value => Err(DecodeError::OutOfRange { field: "status", value: value.into(), min: 0, max: 2 }),
    }
}

pub(super) fn version_of_ints(r: &mut Reader<'_>) -> Result<Version, DecodeError> {
    Ok(Version { major: r.i32_le("major")?, minor: r.i32_le("minor")? })
}

pub(super) fn version_of_bytes(r: &mut Reader<'_>) -> Result<Version, DecodeError> {
    Ok(Version { major: r.u8("major")?.into(), minor: r.u8("minor")?.into() })
}

/// Appends fields to a datagram.
pub(super) struct Writer<'a>(pub(super) &'a mut Vec<u8>);

impl Writer<'_> {
    pub(super) fn u8(&mut self, byte: u8) -> &mut Self {
        self.0.push(byte);
        self
    }

    pub(super) fn int(&mut self, int: i32) -> &mut Self {
        self.0.extend(int.to_le_bytes());
        self
    }

    /// Saturates at `i32::MAX`, which no datagram or world can reach.
    pub(super) fn count(&mut self, count: usize) -> &mut Self {
        self.int(i32::try_from(count).unwrap_or(i32::MAX))
    }

    pub(super) fn ints(&mut self, ints: impl IntoIterator<Item = i32>) -> &mut Self {
        self.0.extend(ints.into_iter().flat_map(i32::to_le_bytes));
        self
    }

    pub(super) fn floats(&mut self, floats: &[f32]) -> &mut Self {
        self.0.extend(floats.iter().flat_map(|float| float.to_le_bytes()));
        self
    }

    pub(super) fn values(&mut self, values: &[LocalValue]) -> &mut Self {
        self.ints(values.iter().map(|value| value.0))
    }

    pub(super) fn text(&mut self, text: &Text) -> &mut Self {
        self.0.extend(text.0.as_bytes());
        self.u8(0)
    }

    pub(super) fn status(&mut self, status: Status) -> &mut Self {
        self.u8(match status {
            Status::Failed => 0,
            Status::Done => 1,
            Status::NotFound => 2,
        })
    }

    pub(super) fn version_as_ints(&mut self, version: Version) -> &mut Self {
        self.int(version.major).int(version.minor)
    }

    pub(super) fn version_as_bytes(&mut self, version: Version) -> &mut Self {
        let byte = |number: i32| number.clamp(0, u8::MAX.into()) as u8;
        self.u8(byte(version.major)).u8(byte(version.minor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_before_a_nul() {
        fn check(text: &str, expected: &str) {
            assert_eq!(Text::from(text).as_str(), expected);
            assert_eq!(Text::from(text.to_owned()).as_str(), expected);
            let mut out = Vec::new();
            Writer(&mut out).text(&Text::from(text));
            assert_eq!(out, [expected.as_bytes(), b"\0"].concat());
        }
        check("", "");
        check("/Sim/Kn\u{ee}e", "/Sim/Kn\u{ee}e");
        check("knee\0hip", "knee");
        check("\0", "");
    }

    #[test]
    fn any_bytes_are_a_text() {
        fn check(bytes: &[u8], expected: &str, left: usize) {
            let mut r = Reader::new(bytes);
            assert_eq!(text(&mut r).as_str(), expected, "{bytes:?}");
            assert_eq!(r.remaining(), left, "{bytes:?}");
        }
        check(b"knee\0x", "knee", 1);
        check(b"knee", "knee", 0);
        check(b"", "", 0);
        check(b"kn\xFFe\0", "kn\u{fffd}e", 0);
        check(b"kn\xC3", "kn\u{fffd}", 0);
    }

    #[test]
    fn counts_are_checked_against_the_bytes_left() {
        fn check(bytes: &[u8], expected: Result<&[i32], DecodeError>) {
            let values = counted_values(&mut Reader::new(bytes));
            assert_eq!(values, expected.map(|ints| ints.iter().copied().map(LocalValue).collect()), "{bytes:?}");
        }
        check(&[0, 0, 0, 0], Ok(&[]));
        check(&[1, 0, 0, 0, 7, 0, 0, 0], Ok(&[7]));
        check(&[1, 0, 0, 0, 7, 0, 0, 0, 120], Ok(&[7]));
        check(&[2, 0, 0, 0, 7, 0, 0, 0, 120], Err(DecodeError::Truncated { field: "value" }));
        check(&[255, 255, 255, 127, 7, 0, 0, 0], Err(DecodeError::Truncated { field: "value" }));
        check(&[1, 0, 0], Err(DecodeError::Truncated { field: "values" }));
        check(
            &[255, 255, 255, 255],
            Err(DecodeError::OutOfRange { field: "values", value: -1, min: 0, max: 0x7FFF_FFFF }),
        );
    }

    #[test]
    fn numbers_out_of_range_are_clamped() {
        let mut out = Vec::new();
        Writer(&mut out).version_as_bytes(Version { major: -1, minor: 256 }).count(usize::MAX);
        assert_eq!(out, [0, 255, 255, 255, 255, 127]);
    }
}
