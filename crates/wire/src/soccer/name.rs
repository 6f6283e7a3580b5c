use std::fmt;
use std::sync::Arc;

/// Most bytes in a [`Name`].
pub const MAX_NAME: usize = 128;

/// A word that the wire can carry: the name of a team, a motor, a sensor, a file.
///
/// Nothing is quoted on the wire, so a name has no space, no parenthesis and no control character, and is not empty.
/// A copy costs no memory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

impl Name {
    /// Makes a name of 1 to [`MAX_NAME`] bytes.
    ///
    /// # Errors
    ///
    /// [`InvalidName`] for a text that would not arrive as one word.
    pub fn new(text: &str) -> Result<Self, InvalidName> {
        let is_bad = |byte: u8| matches!(byte, b' ' | b'(' | b')') || byte.is_ascii_control();
        if text.is_empty() || text.len() > MAX_NAME || text.bytes().any(is_bad) {
            return Err(InvalidName { text: text.chars().take(MAX_NAME).collect() });
        }
        Ok(Self(text.into()))
    }

    /// The name's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.as_bytes());
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for Name {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        Self::new(text)
    }
}

/// A text that would not arrive as one word.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} cannot be a name: 1 to {MAX_NAME} bytes, without spaces, parentheses and control characters")]
pub struct InvalidName {
    /// The text, or its beginning.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word() {
        for good in ["T1", "<LEFT>", "models/T1/H1.STL", "\u{e9}quipe", &"x".repeat(128)] {
            assert_eq!(Name::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "a b", "a(", ")", "a\n", "\0", &"x".repeat(129)] {
            assert!(Name::new(bad).is_err(), "{bad:?}");
        }
    }
}
