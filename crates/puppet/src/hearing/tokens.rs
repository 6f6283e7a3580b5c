//! The recogniser's vocabulary, from its `tokenizer.json`.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Maximum size of the vocabulary.
const MAX_TOKENS: usize = 100_000;

/// Start-of-text token.
pub(super) const BEGIN: u32 = 1;

/// End-of-text token.
pub(super) const END: u32 = 2;

/// Maps tokens to text.
#[derive(Debug)]
pub(super) struct Tokens {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    /// A control token without text.
    Special,
    /// One byte of a character that has no token.
    Byte(u8),
    Text(String),
}

#[derive(Deserialize)]
struct TokenizerFile {
    added_tokens: Vec<AddedToken>,
    model: Vocabulary,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
}

#[derive(Deserialize)]
struct Vocabulary {
    vocab: BTreeMap<String, u32>,
}

impl Tokens {
    /// Parses a `tokenizer.json` in which `▁` stands for a space and `<0xNN>` for a byte.
    pub(super) fn read(json: &[u8]) -> Result<Self, String> {
        let file: TokenizerFile = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let ids = file.model.vocab.values().chain(file.added_tokens.iter().map(|added| &added.id));
        let count = ids.max().map_or(0, |&last| last as usize + 1);
        if !(END as usize + 1..=MAX_TOKENS).contains(&count) {
            return Err(format!("invalid number of tokens: {count}"));
        }
        let mut pieces = vec![Piece::Special; count];
        for (text, id) in file.model.vocab {
            pieces[id as usize] = byte(&text).map_or_else(|| Piece::Text(text.replace('▁', " ")), Piece::Byte);
        }
        for added in file.added_tokens {
            pieces[added.id as usize] = Piece::Special;
        }
        Ok(Self { pieces })
    }

    /// Size of the vocabulary.
    pub(super) const fn count(&self) -> usize {
        self.pieces.len()
    }

    /// The text of a token sequence, trimmed. Invalid UTF-8 becomes `U+FFFD`; unknown tokens are ignored.
    pub(super) fn text(&self, ids: &[u32]) -> String {
        let mut bytes = Vec::new();
        for &id in ids {
            match self.pieces.get(id as usize) {
                Some(Piece::Text(text)) => bytes.extend_from_slice(text.as_bytes()),
                Some(Piece::Byte(byte)) => bytes.push(*byte),
                Some(Piece::Special) | None => {}
            }
        }
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

/// The byte of a `<0xNN>` token.
fn byte(text: &str) -> Option<u8> {
    let digits = text.strip_prefix("<0x")?.strip_suffix('>')?;
    let is_hex = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if is_hex { u8::from_str_radix(digits, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"added_tokens": [{"id": 0}, {"id": 1}, {"id": 2}, {"id": 9}],
        "model": {"vocab": {"<unk>": 0, "<s>": 1, "</s>": 2, "<0xC3>": 3, "<0xA9>": 4, "▁caf": 5, "▁no": 6, ".": 7, "<0x+1>": 8}}}"#;

    #[test]
    fn tokens_become_text() {
        let tokens = Tokens::read(JSON.as_bytes()).expect("a tokenizer");
        assert_eq!(tokens.count(), 10);
        let cases: [(&[u32], &str); 7] = [
            (&[], ""),
            (&[1, 5, 3, 4, 7, 2], "café."),
            (&[6, 6, 7], "no no."),
            (&[5, 3], "caf\u{FFFD}"),
            (&[9, 6, 9], "no"),
            (&[6, 4_000_000_000], "no"),
            (&[8], "<0x+1>"),
        ];
        for (ids, text) in cases {
            assert_eq!(tokens.text(ids), text, "{ids:?}");
        }
    }

    #[test]
    fn invalid_files_are_refused() {
        let far = JSON.replace("\"id\": 9", "\"id\": 900000000");
        let none = r#"{"added_tokens": [], "model": {"vocab": {}}}"#;
        for json in ["", "{}", "[1]", none, far.as_str()] {
            assert!(Tokens::read(json.as_bytes()).is_err(), "{json}");
        }
    }
}
