use std::fmt;
use std::sync::Arc;

/// Maximum length of a [`Name`], in bytes.
pub const MAX_NAME: usize = 128;

/// A name on the wire: of a team, a motor, a sensor or a file.
///
/// The wire has no quoting, so names are not empty and contain no spaces, parentheses or control characters. Clones
/// share memory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

impl Name {
    /// Creates a name of 1 to [`MAX_NAME`] bytes.
    ///
    /// # Errors
    ///
    /// [`InvalidName`] if the text is not a single word.
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

/// A text that is not a valid name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid name {text:?}: expected 1 to {MAX_NAME} bytes without spaces, parentheses or control characters")]
pub struct InvalidName {
    /// The text; long ones are truncated.
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
