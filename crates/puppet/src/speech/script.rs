//! What an operator wants to be said: text with the tags of gestures in it, as in `[braisel][nos]Nope.`
//!
//! What stands in brackets is never spoken:
//!
//! - `[nos]` is a gesture, in letters of any size and with blanks around it; it comes with the word that follows.
//! - `[anything else]` is dropped.
//! - Of brackets within brackets, the innermost ones are tags, and what is around them is dropped: `[so [nos] what]` is
//!   one gesture.
//! - A bracket without its other half is dropped, and what follows is spoken: `Well [then` is "Well then". If the name of
//!   a gesture follows, it is that gesture, of which the bracket was forgotten: `[nos Nope.`
//!
//! Control characters are dropped, and blanks of any kind and number become one.

use std::collections::BTreeMap;

use super::timeline::MAX_MARKS;

/// Longest text, in bytes, as long as a string on the wire can be. What follows is not read.
pub const MAX_TEXT: usize = 65_535;

/// Longest phrase, in letters. What takes longer to say, such as a digit, counts for several, so that no phrase takes
/// longer than a timeline can be.
pub const MAX_PHRASE: usize = 300;

/// A piece of text that is spoken in one go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phrase {
    /// What to say, without tags. Empty if there is nothing to say but there are gestures to make.
    pub text: String,
    /// Gestures in the order of the text, [`MAX_MARKS`] at most.
    pub marks: Vec<Mark>,
}

/// A gesture within a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Offset in the phrase's text, in bytes; between two characters, or at the end.
    pub at: usize,
    /// Which gesture.
    pub gesture: u32,
}

/// The phrases of a text. `gesture` knows the tags, in small letters.
///
/// Phrases end with sentences if they can, else with clauses, else with words. No text gives no phrases.
pub fn read(text: &str, gesture: impl Fn(&str) -> Option<u32>) -> Vec<Phrase> {
    let text = &text[..text.floor_char_boundary(MAX_TEXT)];
    split(strip(text, |tag| gesture(&tag.trim().to_ascii_lowercase())))
}

/// The whole text as one phrase, without brackets.
fn strip(text: &str, gesture: impl Fn(&str) -> Option<u32>) -> Phrase {
    let pairs = pairs(text);
    let mut plain = Plain::default();
    // up to here we are within brackets
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

/// Where each bracket that has another half has it.
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

/// Text without tags, as it grows.
#[derive(Default)]
struct Plain {
    phrase: Phrase,
    /// Whether a blank comes before what is next.
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

/// A phrase of any length as phrases that are short enough.
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

/// How many bytes of a text make a phrase.
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
            // these languages have no blanks
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

/// How many letters it takes to say a character, about.
fn letters(character: char) -> usize {
    match character {
        '0'..='9' => 4,
        ' ' | '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '"' | '-' | '(' | ')' => 1,
        _ if character.is_ascii_alphabetic() => 1,
        _ if character.is_ascii() => 8,
        // Latin letters with accents; others are spelled, as "Chinese letter"
        '\u{c0}'..='\u{24f}' | '\u{2010}'..='\u{2027}' => 1,
        _ => 12,
    }
}

#[cfg(test)]
mod tests;
