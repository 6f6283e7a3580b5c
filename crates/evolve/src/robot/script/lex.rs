//! Characters to tokens.

use super::ScriptErrorKind;

/// A token of the language.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Number(f64),
    Name(&'a str),
    /// An operator, a parenthesis or a comma.
    Symbol(&'static str),
    /// The end of a line outside parentheses.
    Newline,
    End,
}

impl Token<'_> {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Number(number) => format!("`{number}`"),
            Self::Name(name) => format!("`{name}`"),
            Self::Symbol(sign) => format!("`{sign}`"),
            Self::Newline => "the end of the line".to_owned(),
            Self::End => "the end".to_owned(),
        }
    }
}

/// A position in a text; line and column count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextPosition {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// Longer symbols before their prefixes.
const SYMBOLS: [&str; 16] = ["==", "!=", "<=", ">=", "<", ">", "=", "+", "-", "*", "/", "%", "^", "(", ")", ","];

/// Splits a text into tokens.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    rest: &'a str,
    place: TextPosition,
    open: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text, place: TextPosition { line: 1, column: 1 }, open: 0 }
    }

    /// The next token and its position.
    pub(super) fn next(&mut self) -> Result<(TextPosition, Token<'a>), (TextPosition, ScriptErrorKind)> {
        loop {
            let place = self.place;
            let Some(first) = self.rest.chars().next() else { return Ok((place, Token::End)) };
            match first {
                '\n' => {
                    self.rest = &self.rest[1..];
                    self.place = TextPosition { line: place.line + 1, column: 1 };
                    if self.open == 0 {
                        return Ok((place, Token::Newline));
                    }
                }
                ' ' | '\t' | '\r' => {
                    self.take(1);
                }
                '#' => {
                    self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
                }
                _ => return self.word(first).map(|token| (place, token)).map_err(|kind| (place, kind)),
            }
        }
    }

    fn word(&mut self, first: char) -> Result<Token<'a>, ScriptErrorKind> {
        if first.is_ascii_digit() || first == '.' {
            return self.number();
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
            return Ok(Token::Name(self.take(end)));
        }
        let Some(&sign) = SYMBOLS.iter().find(|sign| self.rest.starts_with(**sign)) else {
            return Err(ScriptErrorKind::Character { found: first });
        };
        match sign {
            "(" => self.open += 1,
            ")" => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        self.take(sign.len());
        Ok(Token::Symbol(sign))
    }

    fn number(&mut self) -> Result<Token<'a>, ScriptErrorKind> {
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
            _ => Err(ScriptErrorKind::Number { text: text.to_owned() }),
        }
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        self.place.column += taken.chars().count();
        taken
    }
}
