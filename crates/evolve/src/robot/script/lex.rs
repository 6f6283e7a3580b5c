//! Characters to words.

use super::ScriptFault;

/// A word of the language.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Number(f64),
    Name(&'a str),
    /// An operator, a parenthesis or a comma.
    Sign(&'static str),
    /// The end of a line outside of parentheses.
    Line,
    End,
}

impl Token<'_> {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Number(number) => format!("`{number}`"),
            Self::Name(name) => format!("`{name}`"),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::Line => "the end of the line".to_owned(),
            Self::End => "the end".to_owned(),
        }
    }
}

/// Where a word is, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// Longer ones before those they begin with.
const SIGNS: [&str; 16] = ["==", "!=", "<=", ">=", "<", ">", "=", "+", "-", "*", "/", "%", "^", "(", ")", ","];

/// The words of a text, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    rest: &'a str,
    place: Place,
    open: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text, place: Place { line: 1, column: 1 }, open: 0 }
    }

    /// The next word and its place.
    pub(super) fn next(&mut self) -> Result<(Place, Token<'a>), (Place, ScriptFault)> {
        loop {
            let place = self.place;
            let Some(first) = self.rest.chars().next() else { return Ok((place, Token::End)) };
            match first {
                '\n' => {
                    self.rest = &self.rest[1..];
                    self.place = Place { line: place.line + 1, column: 1 };
                    if self.open == 0 {
                        return Ok((place, Token::Line));
                    }
                }
                ' ' | '\t' | '\r' => {
                    self.take(1);
                }
                '#' => {
                    self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
                }
                _ => return self.word(first).map(|token| (place, token)).map_err(|fault| (place, fault)),
            }
        }
    }

    fn word(&mut self, first: char) -> Result<Token<'a>, ScriptFault> {
        if first.is_ascii_digit() || first == '.' {
            return self.number();
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
            return Ok(Token::Name(self.take(end)));
        }
        let Some(&sign) = SIGNS.iter().find(|sign| self.rest.starts_with(**sign)) else {
            return Err(ScriptFault::Character { found: first });
        };
        match sign {
            "(" => self.open += 1,
            ")" => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        self.take(sign.len());
        Ok(Token::Sign(sign))
    }

    fn number(&mut self) -> Result<Token<'a>, ScriptFault> {
        let mut last = '0';
        let beyond = |c: char| {
            let signed = matches!(c, '+' | '-') && matches!(last, 'e' | 'E');
            last = c;
            !(signed || c.is_ascii_alphanumeric() || c == '.')
        };
        let end = self.rest.find(beyond).unwrap_or(self.rest.len());
        let text = self.take(end);
        match text.parse() {
            Ok(number) if f64::is_finite(number) => Ok(Token::Number(number)),
            _ => Err(ScriptFault::Number { text: text.to_owned() }),
        }
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        self.place.column += taken.chars().count();
        taken
    }
}
