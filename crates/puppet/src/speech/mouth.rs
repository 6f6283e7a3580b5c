//! Opening of the jaw for phonemes and letters, 0 (closed) to 1.

/// Opening for a phoneme in IPA with stress and length marks; the empty name is silence. A diphthong opens as far as
pub(super) fn opening_of_phoneme(name: &str) -> f32 {
    let widest = name.chars().filter_map(vowel).reduce(f32::max);
    widest.or_else(|| name.chars().find_map(consonant)).unwrap_or(0.0)
}

fn vowel(character: char) -> Option<f32> {
    Some(match character {
        'a' | 'æ' | 'ɑ' | 'ɒ' | 'ɐ' | 'ʌ' | 'ä' => 1.0,
        'ɔ' | 'ɛ' | 'ɜ' | 'œ' | 'ɝ' => 0.7,
        'e' | 'o' | 'ə' | 'ɚ' | 'ø' | 'ɵ' | 'ɘ' | 'ɤ' => 0.55,
        'ɪ' | 'ʊ' | 'ʏ' | 'ᵻ' => 0.4,
        'i' | 'u' | 'y' | 'ɨ' | 'ʉ' | 'ɯ' => 0.3,
        _ => return None,
    })
}

fn consonant(character: char) -> Option<f32> {
    match character {
        'm' | 'b' | 'p' | 'ɓ' | 'ɸ' | 'β' => Some(0.0),
        'f' | 'v' | 'w' | 'ʍ' | 'ɱ' | 'ʋ' => Some(0.1),
        // stress and length marks
        'ˈ' | 'ˌ' | 'ː' | 'ˑ' => None,
        _ if character.is_alphabetic() => Some(0.2),
        _ => None,
    }
}

/// Opening for a letter as it is usually pronounced; punctuation is silence.
pub(super) fn opening_of_letter(letter: char) -> f32 {
    match letter.to_ascii_lowercase() {
        'a' | 'à'..='å' => 1.0,
        'o' | 'ò'..='ö' => 0.7,
        'e' | 'è'..='ë' => 0.6,
        'i' | 'y' | 'ì'..='ï' => 0.4,
        'u' | 'ù'..='ü' => 0.35,
        'm' | 'b' | 'p' => 0.0,
        'f' | 'v' | 'w' => 0.1,
        letter if letter.is_ascii_alphabetic() => 0.2,
        letter if letter.is_alphanumeric() => 0.5,
        _ => 0.0,
    }
}

/// Appends an opening to the list unless it equals the last one.
pub(super) fn add(openings: &mut Vec<(f32, f32)>, time: f32, opening: f32) {
    if openings.last().map_or(0.0, |last| last.1) != opening {
        openings.push((time, opening));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vowels_open_and_lips_close() {
        let check = |name, expected| assert_eq!(opening_of_phoneme(name), expected, "{name}");
        for silent in ["", "ˈ", "m", "b", "p", "bʰ"] {
            check(silent, 0.0);
        }
        for wide in ["ˈɑː", "æ", "aɪ", "ˌaʊ", "ɑːɹ"] {
            check(wide, 1.0);
        }
        check("ˈoʊ", 0.55);
        check("əl", 0.55);
        check("iː", 0.3);
        check("ŋ", 0.2);
        check("tʃ", 0.2);
        check("f", 0.1);
    }
}
