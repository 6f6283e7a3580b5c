use super::{
    error::{LineError, excerpt},
    number::{self, NumberError},
};

/// Greatest whole number that the wire carries: beyond it, not every one is a double (D4).
pub const MAX_WHOLE: u64 = 1 << 53;

/// Takes words off the front of a line. Any run of spaces and tabs is between two (D2).
#[derive(Debug, Clone)]
pub(super) struct Words<'a> {
    message: &'static str,
    rest: &'a [u8],
}

impl<'a> Words<'a> {
    /// Starts with the values of a line whose name was taken off.
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

    /// Reads a whole number, however it is spelled: `17`, `17.0`, `1.7e1`.
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
        // of what is below 2^53 the cast loses nothing, and what is beyond it is refused
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

    /// Most numbers that can still follow: each takes a space and a digit.
    pub(super) fn most_left(&self) -> usize {
        self.rest.len() / 2
    }

    /// All numbers that are left, so many at most.
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

    /// Nothing may follow.
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

fn is_between(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn split_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = text.iter().position(|&byte| !is_between(byte))?;
    let text = text.get(start..)?;
    let end = text.iter().position(|&byte| is_between(byte)).unwrap_or(text.len());
    text.split_at_checked(end)
}

/// The short way for what nearly all whole numbers look like.
fn digits(word: &[u8]) -> Option<u64> {
    const SAFE: usize = 15;
    if word.len() > SAFE || word.is_empty() {
        return None;
    }
    word.iter().try_fold(0, |whole: u64, byte| byte.is_ascii_digit().then(|| whole * 10 + u64::from(byte - b'0')))
}
