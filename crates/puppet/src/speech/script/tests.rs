use proptest::prelude::*;

use super::*;

fn gesture(tag: &str) -> Option<u32> {
    ["braisel", "yess", "nos", "wob"].iter().position(|known| *known == tag).map(|index| index as u32)
}

fn phrase(text: &str, marks: &[(usize, u32)]) -> Phrase {
    Phrase { text: text.into(), marks: marks.iter().map(|&(at, gesture)| Mark { at, gesture }).collect() }
}

#[test]
fn tags_become_marks() {
    let check = |text: &str, expected: &str, marks: &[(usize, u32)]| {
        assert_eq!(parse(text, gesture), [phrase(expected, marks)], "{text:?}");
    };
    check("Nope.", "Nope.", &[]);
    check("[braisel][nos]Nope.", "Nope.", &[(0, 0), (0, 2)]);
    check("[BRAISEL][ Nos ] Nope.", "Nope.", &[(0, 0), (0, 2)]);
    check("I think [yess] you, [wob]right?", "I think you, right?", &[(8, 1), (13, 3)]);
    check("Right[yess] now. [nos]", "Right now.", &[(5, 1), (10, 2)]);
    check("No[nos]pe", "Nope", &[(2, 2)]);
    check("[nos]", "", &[(0, 2)]);
    check(" [nos] \n [yess] ", "", &[(0, 2), (0, 1)]);
    // unknown
    check("Hello [wave]there[].", "Hello there.", &[]);
    check("[ünknown😀] Hi", "Hi", &[]);
    // nested
    check("Go [so [nos] what] on", "Go on", &[(3, 2)]);
    check("[[yess]]Yes", "Yes", &[(0, 1)]);
    check("[a[b[c]d]e]f", "f", &[]);
    // unclosed and unopened
    check("Well [then", "Well then", &[]);
    check("[nos Nope.", "Nope.", &[(0, 2)]);
    check("[NOS, Nope.", ", Nope.", &[(0, 2)]);
    check("[nosy [nos] neighbours", "nosy neighbours", &[(5, 2)]);
    check("Well] then]", "Well then", &[]);
    check("]][[ ] [ok[", "ok", &[]);
    check("Nope[nos", "Nope", &[(4, 2)]);
    // blanks and control characters
    check("  a\t\r\nb\u{0}c\u{1b} d\u{a0} ", "a bc d", &[]);
}

#[test]
fn no_text_gives_no_phrases() {
    for text in ["", "  \n", "[", "]", "[]", "[unknown]", "[[[", "]]]", "\u{0}\u{7}", "[\u{0}"] {
        assert_eq!(parse(text, gesture), [], "{text:?}");
    }
}

#[test]
fn long_texts_end_with_sentences_then_clauses_then_words() {
    let texts = |text: &str| -> Vec<String> { parse(text, gesture).into_iter().map(|phrase| phrase.text).collect() };
    let (sentence, clause, word) = ("So it goes on. ".repeat(15), "so it goes on, ".repeat(15), "goes ".repeat(50));
    let check = |text: String, first: &str| {
        assert_eq!(texts(&text)[0], first.trim_end(), "{text}");
    };
    check(sentence.clone() + &clause, &sentence);
    check(clause.clone() + &word, &clause);
    check(word.clone() + &"x".repeat(290), &word);
    check("x".repeat(650), &"x".repeat(300));
    check("He said: \"No.\" ".to_owned() + &word + &word, "He said: \"No.\"");
    check("3.141 ".to_owned() + &word + &word, &("3.141 ".to_owned() + &"goes ".repeat(56)));
    check("9".repeat(1_000), &"9".repeat(75));
    check("好。".repeat(100), &"好。".repeat(12));
    assert_eq!(texts(&"x".repeat(650)).len(), 3);
}

#[test]
fn marks_stay_with_their_words() {
    let filler = "So it goes on. ".repeat(19);
    let phrases = parse(&format!("{filler}Last one.[yess] [nos]First one.[wob]"), gesture);
    assert_eq!(phrases.len(), 2, "{phrases:?}");
    assert_eq!(phrases[0].marks, [Mark { at: phrases[0].text.len(), gesture: 1 }]);
    assert_eq!(phrases[1], phrase("First one.", &[(0, 2), (10, 3)]));
}

#[test]
fn the_longest_texts_are_parsed() {
    let words = parse(&"word ".repeat(13_107), gesture);
    assert_eq!(words.iter().map(|phrase| phrase.text.split(' ').count()).sum::<usize>(), 13_107);
    assert!(words.len() < 230, "{}", words.len());
    // one tag after the other: as many as a timeline may have
    assert_eq!(parse(&"[wob]".repeat(13_107), gesture), [phrase("", &[(0, 3); MAX_MARKS])]);
    for text in ["[".repeat(MAX_TEXT), "]".repeat(MAX_TEXT), "[]".repeat(MAX_TEXT / 2), "[nos".repeat(MAX_TEXT / 4)] {
        assert!(parse(&text, gesture).len() <= 1);
    }
    let letters: usize = parse(&"ä".repeat(MAX_TEXT), gesture).iter().map(|phrase| phrase.text.chars().count()).sum();
    assert_eq!(letters, MAX_TEXT / 2);
}

proptest! {
    #[test]
    fn any_text_is_parsed(text in "(\\[|\\]|nos|\\[yess\\]| |\\PC|.|[.,!?]|\n){0,400}") {
        for phrase in parse(&text, gesture) {
            prop_assert!(!phrase.text.contains(['[', ']']) && !phrase.text.contains(char::is_control));
            prop_assert_eq!(phrase.text.trim(), &phrase.text);
            prop_assert!(phrase.text.chars().map(letters).sum::<usize>() <= MAX_PHRASE);
            prop_assert!(!phrase.text.is_empty() || !phrase.marks.is_empty());
            prop_assert!(phrase.marks.len() <= MAX_MARKS && phrase.marks.is_sorted_by_key(|mark| mark.at));
            prop_assert!(phrase.marks.iter().all(|mark| phrase.text.is_char_boundary(mark.at)));
        }
    }

    #[test]
    fn no_word_is_lost(words in prop::collection::vec("[a-zA-Zäé'.,!?0-9-]{1,20}", 0..300), tags: Vec<u8>) {
        let mut text = String::new();
        for (index, word) in words.iter().enumerate() {
            let tag = match tags.get(index) { Some(0..50) => "[nos]", Some(50..80) => "[what]", _ => "" };
            text.extend([tag, word, " "]);
        }
        let phrases = parse(&text, gesture);
        let spoken: Vec<&str> = phrases.iter().flat_map(|phrase| phrase.text.split(' ')).collect();
        prop_assert_eq!(spoken, words.iter().map(String::as_str).collect::<Vec<_>>());
    }
}
