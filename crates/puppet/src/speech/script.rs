//! Parses text with gesture tags, as in `[braisel][nos]Nope.`
//!
//! Text in brackets is never spoken:
//!
//! - `[nos]` is a gesture, which starts with the word that follows. Case and surrounding spaces are ignored.
//! - Unknown tags are ignored.
//! - Of nested brackets, the innermost ones are tags, and the text around them is ignored: `[so [nos] what]` is one
//!   gesture.
//! - An unmatched bracket is ignored, and the text after it is spoken: `Well [then` is "Well then". If the tag of a
//!   gesture follows, the closing bracket is assumed to be missing: `[nos Nope.`
//!
//! Control characters are removed, and runs of whitespace are replaced by one space.

use std::collections::BTreeMap;

use super::timeline::MAX_MARKS;

/// Maximum length of a text, in bytes: that of a string on the wire. The rest is ignored.
pub const MAX_TEXT: usize = 65_535;

/// Maximum length of a phrase, in letters. Characters that take longer to say, such as digits, count as several, so that
/// no phrase exceeds the maximum length of a timeline.
pub const MAX_PHRASE: usize = 300;

/// A piece of text that is synthesised at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phrase {
    /// The text, without tags. Empty if the phrase consists of gestures only.
    pub text: String,
    /// Gestures in the order of the text, at most [`MAX_MARKS`].
    pub marks: Vec<Mark>,
}

/// A gesture within a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Byte offset in the phrase's text, on a character boundary.
    pub at: usize,
    /// Number of the gesture.
    pub gesture: u32,
}

/// Splits a text into phrases. `gesture` returns the number of a tag, which is in lower case.
///
/// Phrases end at the end of a sentence if possible, else of a clause, else of a word. An empty text has no phrases.
pub fn parse(text: &str, gesture: impl Fn(&str) -> Option<u32>) -> Vec<Phrase> {
    let text = &text[..text.floor_char_boundary(MAX_TEXT)];
    split(strip(text, |tag| gesture(&tag.trim().to_ascii_lowercase())))
}

/// Removes brackets and returns the whole text as one phrase.
fn strip(text: &str, gesture: impl Fn(&str) -> Option<u32>) -> Phrase {
    let pairs = pairs(text);
    let mut plain = Plain::default();
    // text before this offset is within brackets
    let mut hidden = 0;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match (character, pairs.get(&at)) {
            ('[', Some(&close)) => {
                let inside = &text[at + 1..close];
                if !inside.contains(['[', ']'])
                    && let Some(gesture) = gesture(inside)
                {
                    plain.mark(gesture);
                }
                hidden = hidden.max(close + 1);
            }
            ('[', None) => {
                plain.blank();
                let rest = characters.as_str();
                let word = &rest[..rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len())];
                if let Some(gesture) = gesture(word) {
                    plain.mark(gesture);
                    hidden = at + 1 + word.len();
                }
            }
            (']', _) if at >= hidden => plain.blank(),
            _ if at >= hidden => plain.push(character),
            _ => {}
        }
    }
    plain.phrase
}

/// Offset of the closing bracket for each opening bracket that has one.
fn pairs(text: &str) -> BTreeMap<usize, usize> {
    let mut open = Vec::new();
    let mut pairs = BTreeMap::new();
    for (at, character) in text.char_indices() {
        match character {
            '[' => open.push(at),
            ']' => pairs.extend(open.pop().map(|from| (from, at))),
            _ => {}
        }
    }
    pairs
}

/// Builds the text without tags.
#[derive(Default)]
struct Plain {
    phrase: Phrase,
    /// Whether a space precedes the next character.
    is_blank: bool,
}

impl Plain {
    fn push(&mut self, character: char) {
        if character.is_whitespace() {
            self.blank();
        } else if !character.is_control() {
            self.settle();
            self.phrase.text.push(character);
        }
    }

    fn mark(&mut self, gesture: u32) {
        self.settle();
        self.phrase.marks.push(Mark { at: self.phrase.text.len(), gesture });
    }

    fn blank(&mut self) {
        self.is_blank = !(self.phrase.text.is_empty() || self.phrase.text.ends_with(' '));
    }

    fn settle(&mut self) {
        if std::mem::take(&mut self.is_blank) {
            self.phrase.text.push(' ');
        }
    }
}

/// Splits a phrase of any length into phrases of at most [`MAX_PHRASE`] letters.
fn split(whole: Phrase) -> Vec<Phrase> {
    let text = whole.text.trim_end();
    let mut marks = whole.marks.into_iter().peekable();
    let mut phrases = Vec::new();
    let mut from = 0;
    while from < text.len() || marks.peek().is_some() {
        let piece = &text[from..from + fitting(&text[from..])];
        let rest = text[from + piece.len()..].trim_start();
        let next = text.len() - rest.len();
        let mut phrase = Phrase { text: piece.trim_end().to_owned(), marks: Vec::new() };
        while let Some(mark) = marks.next_if(|mark| mark.at < next || rest.is_empty()) {
            if phrase.marks.len() < MAX_MARKS {
                let at = mark.at.saturating_sub(from).min(phrase.text.len());
                phrase.marks.push(Mark { at, ..mark });
            }
        }
        phrases.push(phrase);
        from = next;
    }
    phrases
}

/// Length in bytes of the first phrase of a text.
fn fitting(text: &str) -> usize {
    let (mut length, mut sentence, mut clause, mut word) = (0, None, None, None);
    let mut ends = None;
    for (at, character) in text.char_indices() {
        length += letters(character);
        if length > MAX_PHRASE {
            return sentence.or(clause).or(word).unwrap_or(at);
        }
        let after = at + character.len_utf8();
        match character {
            '.' | '!' | '?' | '…' => ends = Some(true),
            ',' | ';' | ':' | '–' | '—' => ends = Some(false),
            // languages without spaces
            '。' | '！' | '？' => sentence = Some(after),
            '，' | '、' => clause = Some(after),
            '"' | '\'' | ')' | '”' | '’' | '»' => {}
            ' ' => {
                word = Some(at);
                match ends.take() {
                    Some(true) => sentence = Some(at),
                    Some(false) => clause = Some(at),
                    None => {}
                }
            }
            _ => ends = None,
        }
    }
    text.len()
}

/// Approximate number of letters that take as long to say as this character.
fn letters(character: char) -> usize {
    match character {
        '0'..='9' => 4,
        ' ' | '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '"' | '-' | '(' | ')' => 1,
        _ if character.is_ascii_alphabetic() => 1,
        _ if character.is_ascii() => 8,
        // accented Latin letters; others are spelled out, as in "Chinese letter"
        '\u{c0}'..='\u{24f}' | '\u{2010}'..='\u{2027}' => 1,
        _ => 12,
    }
}

#[cfg(test)]
mod tests;
