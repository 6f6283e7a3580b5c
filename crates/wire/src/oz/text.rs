use crate::{DecodeError, Reader};
use std::{fmt, ops::Deref};

/// Maximum length of a text, in bytes: its length field has 16 bits.
pub const MAX_TEXT: usize = 65_535;

/// Maximum length of a name or of recognised text that servers send, in bytes: old clients have buffers of 1,024 bytes,
/// including a NUL (D12).
pub const MAX_NAME: usize = 1_023;

/// A text of at most [`MAX_TEXT`] bytes of UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(String);

/// A text exceeds [`MAX_TEXT`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("text of {bytes} bytes exceeds the maximum of {MAX_TEXT}")]
pub struct TextTooLong {
    /// Length, in bytes.
    pub bytes: usize,
}

impl Text {
    /// Creates a text.
    ///
    /// # Errors
    ///
    /// [`TextTooLong`] beyond [`MAX_TEXT`] bytes.
    pub fn new(text: impl Into<String>) -> Result<Self, TextTooLong> {
        let text = text.into();
        if text.len() > MAX_TEXT { Err(TextTooLong { bytes: text.len() }) } else { Ok(Self(text)) }
    }

    /// Truncates a text to [`MAX_NAME`] bytes, at a character boundary.
    pub fn truncated(text: &str) -> Self {
        Self(text.get(..text.floor_char_boundary(MAX_NAME)).unwrap_or_default().to_owned())
    }

    /// The text as a string slice.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn shortened(self) -> Self {
        if self.len() > MAX_NAME { Self::truncated(&self) } else { self }
    }

    pub(super) fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, DecodeError> {
        let length = r.u16_be(field)?;
        let text = str::from_utf8(r.bytes(length.into(), field)?).map_err(|_| DecodeError::Malformed { field })?;
        Ok(Self(text.to_owned()))
    }

    /// Decodes a text that may come from an old client: if it is not UTF-8, it is Latin-1 (D11).
    pub(super) fn decode_lenient(r: &mut Reader<'_>, field: &'static str) -> Result<Self, DecodeError> {
        let length = r.u16_be(field)?;
        let bytes = r.bytes(length.into(), field)?;
        let mut text = match str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.iter().copied().map(char::from).collect(),
        };
        // in UTF-8 it may be longer
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        Ok(Self(text))
    }

    /// Skips a text without checking it: invalid UTF-8 costs one message, not the stream (D11).
    pub(super) fn skip(r: &mut Reader<'_>) -> Result<(), DecodeError> {
        let length = r.u16_be("text")?;
        r.bytes(length.into(), "text").map(drop)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        // `new` and `decode` limit the length to `MAX_TEXT`
        out.extend((self.len() as u16).to_be_bytes());
        out.extend_from_slice(self.as_bytes());
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.0
    }
}
