//! Word error rate.

/// Number of word errors (insertions, deletions and substitutions) of `heard` against `reference`, and the number of words
/// in `reference`. Ignores case and punctuation; numbers are compared as written.
pub fn word_errors(reference: &str, heard: &str) -> (usize, usize) {
    let (expected, actual) = (words(reference), words(heard));
    let mut row: Vec<usize> = (0..=actual.len()).collect();
    for (i, word) in expected.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in actual.iter().enumerate() {
            let changed = diagonal + usize::from(word != other);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    (row[actual.len()], expected.len())
}

/// Replaces each word by its 32-bit hash in hexadecimal, so that a transcript which must not be published can be compared.
pub fn hashed_words(text: &str) -> String {
    let hashed = |word: &String| {
        // FNV-1a
        let hash = word.bytes().fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        format!("{hash:08x}")
    };
    words(text).iter().map(hashed).collect::<Vec<_>>().join(" ")
}

/// The words of a text in lower case. Apostrophes are removed; everything else that is neither a letter nor a digit
/// separates words.
pub(super) fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .replace(['\'', '\u{2019}'], "")
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{hashed_words, word_errors};

    #[test]
    fn errors_are_counted_in_words() {
        let cases = [
            ("", "", (0, 0)),
            ("", "yes", (1, 0)),
            ("Well done.", "well done", (0, 2)),
            ("Don't panic!", "don\u{2019}t panic", (0, 2)),
            ("a b c", "a c", (1, 3)),
            ("a b c", "a x b c", (1, 3)),
            ("a b c", "a x c", (1, 3)),
            ("a b c", "", (3, 3)),
            ("gate 7", "gate seven", (1, 2)),
            ("well-known", "well known", (0, 2)),
            ("one two three four", "two three four one", (2, 4)),
        ];
        for (reference, heard, expected) in cases {
            assert_eq!(word_errors(reference, heard), expected, "`{reference}` / `{heard}`");
            assert_eq!(
                word_errors(&hashed_words(reference), &hashed_words(heard)),
                expected,
                "`{reference}` / `{heard}`, hashed_words"
            );
        }
    }

    #[test]
    fn hashes_are_stable() {
        // the first and the last are test vectors of FNV-1a
        assert_eq!(hashed_words("A, don't! Foobar"), "e40c292c 35f3980e bf9cf968");
        assert_eq!(hashed_words(" - "), "");
    }
}
