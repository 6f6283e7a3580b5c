use super::{
    error::{LineError, excerpt},
    number::{self, NumberError},
};

/// Largest integer on the wire: above it, not every integer is representable as a double (D4).
pub const MAX_WHOLE: u64 = 1 << 53;

/// Splits a line into words, which are separated by any number of spaces and tabs (D2).
#[derive(Debug, Clone)]
pub(super) struct Words<'a> {
    message: &'static str,
    rest: &'a [u8],
}

impl<'a> Words<'a> {
    /// Starts after the name of a message.
    pub(super) fn after(message: &'static str, rest: &'a [u8]) -> Self {
        Self { message, rest }
    }

    /// Splits a line into its name and the rest.
    pub(super) fn name(line: &'a [u8]) -> Result<(&'a [u8], &'a [u8]), LineError> {
        split_word(line).ok_or(LineError::Blank)
    }

    /// Reads a number.
    pub(super) fn number(&mut self, field: &'static str) -> Result<f64, LineError> {
        let word = self.word(field)?;
        number::parse(word).map_err(|error| {
            let text = excerpt(word);
            match error {
                NumberError::Spelling => LineError::NotANumber { field, text },
                NumberError::DecimalComma => LineError::DecimalComma { field, text },
                NumberError::TooLarge => LineError::TooLarge { field, text },
            }
        })
    }

    /// Reads numbers, one for each field.
    pub(super) fn numbers<const N: usize>(&mut self, fields: [&'static str; N]) -> Result<[f64; N], LineError> {
        let mut numbers = [0.0; N];
        for (number, field) in numbers.iter_mut().zip(fields) {
            *number = self.number(field)?;
        }
        Ok(numbers)
    }

    /// Reads an integer in any notation: `17`, `17.0`, `1.7e1`.
    pub(super) fn whole(&mut self, field: &'static str, min: u64, max: u64) -> Result<u64, LineError> {
        let out_of_range = |value| LineError::OutOfRange { field, value, min, max };
        if let Some((word, rest)) = split_word(self.rest)
            && let Some(whole) = digits(word)
        {
            self.rest = rest;
            return if (min..=max).contains(&whole) { Ok(whole) } else { Err(out_of_range(whole as f64)) };
        }
        let value = self.number(field)?;
        if value.fract() != 0.0 {
            return Err(LineError::NotWhole { field, value });
        }
        // the cast is lossless below 2^53; larger values are rejected
        let is_within = value >= 0.0 && value <= MAX_WHOLE as f64;
        Some(value as u64).filter(|whole| is_within && (min..=max).contains(whole)).ok_or(out_of_range(value))
    }

    /// Reads a flag.
    pub(super) fn flag(&mut self, field: &'static str) -> Result<bool, LineError> {
        Ok(self.whole(field, 0, 1)? == 1)
    }

    /// Reads a count.
    pub(super) fn count(&mut self, field: &'static str, max: usize) -> Result<usize, LineError> {
        Ok(self.whole(field, 0, max as u64)? as usize)
    }

    /// Upper bound of the numbers left: each takes at least a space and a digit.
    pub(super) fn max_remaining(&self) -> usize {
        self.rest.len() / 2
    }

    /// Reads all remaining numbers, at most `max`.
    pub(super) fn all(&mut self, field: &'static str, max: usize) -> Result<Vec<f64>, LineError> {
        let mut numbers = Vec::with_capacity(self.rest.len().div_ceil(8).min(max));
        while split_word(self.rest).is_some() {
            if numbers.len() == max {
                let value = max as f64 + 1.0;
                return Err(LineError::OutOfRange { field, value, min: 0, max: max as u64 });
            }
            numbers.push(self.number(field)?);
        }
        Ok(numbers)
    }

    /// Checks that no words are left.
    pub(super) fn end(&self) -> Result<(), LineError> {
        match split_word(self.rest) {
            None => Ok(()),
            Some((word, _)) => Err(LineError::Surplus { message: self.message, text: excerpt(word) }),
        }
    }

    fn word(&mut self, field: &'static str) -> Result<&'a [u8], LineError> {
        let (word, rest) = split_word(self.rest).ok_or(LineError::Missing { message: self.message, field })?;
        self.rest = rest;
        Ok(word)
    }
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn split_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = text.iter().position(|&byte| !is_separator(byte))?;
    let text = text.get(start..)?;
    let end = text.iter().position(|&byte| is_separator(byte)).unwrap_or(text.len());
    text.split_at_checked(end)
}

/// Fast path for plain digits.
fn digits(word: &[u8]) -> Option<u64> {
    const SAFE: usize = 15;
    if word.len() > SAFE || word.is_empty() {
        return None;
    }
    word.iter().try_fold(0, |whole: u64, byte| byte.is_ascii_digit().then(|| whole * 10 + u64::from(byte - b'0')))
}
