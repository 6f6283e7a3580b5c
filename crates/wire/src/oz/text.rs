use crate::{DecodeError, Reader};
use std::{fmt, ops::Deref};

/// Most bytes in a text: its length has 16 bits.
pub const MAX_TEXT: usize = 65_535;

/// Most bytes in a name, or in what was heard, as a server sends them: old clients keep them in 1,024 bytes, with a NUL
/// (D12).
pub const MAX_NAME: usize = 1_023;

/// A text of at most [`MAX_TEXT`] bytes of UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(String);

/// A text has more bytes than the wire can say.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a text of {bytes} bytes; {MAX_TEXT} fit in a message")]
pub struct TextTooLong {
    /// How many bytes it has.
    pub bytes: usize,
}

impl Text {
    /// Takes a text as it is.
    ///
    /// # Errors
    ///
    /// [`TextTooLong`] beyond [`MAX_TEXT`] bytes.
    pub fn new(text: impl Into<String>) -> Result<Self, TextTooLong> {
        let text = text.into();
        if text.len() > MAX_TEXT { Err(TextTooLong { bytes: text.len() }) } else { Ok(Self(text)) }
    }

    /// The first characters of a text that fit in [`MAX_NAME`] bytes.
    pub fn truncated(text: &str) -> Self {
        Self(text.get(..text.floor_char_boundary(MAX_NAME)).unwrap_or_default().to_owned())
    }

    /// The text.
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

    /// Passes over a text, whatever is in it: bad bytes cost one message, not the stream (D11).
    pub(super) fn skip(r: &mut Reader<'_>) -> Result<(), DecodeError> {
        let length = r.u16_be("text")?;
        r.bytes(length.into(), "text").map(drop)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        // no text is longer than MAX_TEXT
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
