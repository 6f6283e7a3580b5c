//! How far what was heard is from what was said.

/// The errors (words put in, left out or changed) that turn the words of `reference` into those of `heard`, and how many
/// words `reference` has. Case and punctuation do not count; numbers are compared as they are written.
pub fn word_errors(reference: &str, heard: &str) -> (usize, usize) {
    let (wanted, got) = (words(reference), words(heard));
    let mut row: Vec<usize> = (0..=got.len()).collect();
    for (i, word) in wanted.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in got.iter().enumerate() {
            let changed = diagonal + usize::from(word != other);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    (row[got.len()], wanted.len())
}

/// Each word of a text as eight hexadecimal digits that tell it from others: lets a text that is not ours be compared
/// without being kept.
pub fn veiled(text: &str) -> String {
    let veil = |word: &String| {
        // FNV-1a
        let hash = word.bytes().fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        format!("{hash:08x}")
    };
    words(text).iter().map(veil).collect::<Vec<_>>().join(" ")
}

/// The words of a text in lower case. Apostrophes inside words are dropped, whichever they are; everything else that is
/// neither letter nor digit parts words.
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
    use super::{veiled, word_errors};

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
            assert_eq!(word_errors(&veiled(reference), &veiled(heard)), expected, "`{reference}` / `{heard}`, veiled");
        }
    }

    #[test]
    fn a_veil_is_the_same_everywhere() {
        // the first and the last are from the tables of those who made the hash
        assert_eq!(veiled("A, don't! Foobar"), "e40c292c 35f3980e bf9cf968");
        assert_eq!(veiled(" - "), "");
    }
}
