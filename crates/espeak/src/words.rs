//! Times at which positions of a text are reached.
//!
//! The engine supports SSML marks, but they are not used: marks after a full stop are lost, and marks within a word or
//! before a comma change its pronunciation. Word events are reliable and do not affect the speech.

use crate::frame::{Event, EventKind, Mark};

/// A word event of the engine. Numbers are reported in pieces with approximate positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    /// Start, in characters.
    pub(crate) from: usize,
    /// Length, in characters.
    pub(crate) length: usize,
    /// Start time.
    pub(crate) milliseconds: u32,
}

/// Replaces control characters, which the engine may interpret, by spaces; positions stay the same.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// The time of each mark: the start of the word that contains or follows it, or `end` after the last word.
pub(crate) fn reach(text: &str, marks: &[Mark], words: &[Word], end: u32) -> Vec<Event> {
    let mut order: Vec<(u32, u16)> = marks.iter().zip(0..).map(|(mark, index)| (mark.at, index)).collect();
    order.sort_unstable();
    let (mut next, mut at, mut character, mut reached) = (0, 0, 0, 0);
    let mut events = Vec::with_capacity(order.len());
    for (offset, index) in order {
        let offset = text.floor_char_boundary(offset as usize);
        character += text[at..offset].chars().count();
        at = offset;
        while words.get(next).is_some_and(|word| word.from + word.length <= character) {
            next += 1;
        }
        reached = words.get(next).map_or(end, |word| word.milliseconds).max(reached);
        events.push(Event { milliseconds: reached, kind: EventKind::Mark(index) });
    }
    events
}

/// End of the last audible phoneme, in ms.
pub(crate) fn end(events: &[Event]) -> u32 {
    let is_sound = |event: &Event| matches!(&event.kind, EventKind::Phoneme(name) if !name.is_empty());
    let last = events.iter().rposition(is_sound).map_or(0, |last| last + 1);
    events.get(last).or(events.last()).map_or(0, |event| event.milliseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_reached_with_their_words() {
        let words: Vec<Word> = [(0, 4, 0), (6, 4, 500), (11, 3, 800)]
            .map(|(from, length, milliseconds)| Word { from, length, milliseconds })
            .into();
        let check = |text: &str, at: &[u32], expected: &[(u16, u32)]| {
            let marks: Vec<Mark> = at.iter().map(|&at| Mark { at }).collect();
            let expected: Vec<_> = expected
                .iter()
                .map(|&(index, milliseconds)| Event { milliseconds, kind: EventKind::Mark(index) })
                .collect();
            assert_eq!(reach(text, &marks, &words, 1_000), expected, "{text:?} {at:?}");
        };
        let text = "Nope. Well now.";
        check(text, &[], &[]);
        check(text, &[0, 0], &[(0, 0), (1, 0)]);
        // within a word, after it, after its full stop, before the next one
        check(text, &[2, 4, 5, 6], &[(0, 0), (1, 500), (2, 500), (3, 500)]);
        check(text, &[14, 15, 99], &[(0, 1_000), (1, 1_000), (2, 1_000)]);
        check(text, &[11, 0], &[(1, 0), (0, 800)]);
        // in characters, and never within one
        check("Nöpé. Well now.", &[2, 8], &[(0, 0), (1, 500)]);
    }

    #[test]
    fn speech_ends_with_the_last_sound() {
        let check = |names: &[(u32, &str)], expected| {
            let phoneme =
                |&(milliseconds, name): &(u32, &str)| Event { milliseconds, kind: EventKind::Phoneme(name.to_owned()) };
            assert_eq!(end(&names.iter().map(phoneme).collect::<Vec<_>>()), expected, "{names:?}");
        };
        check(&[], 0);
        check(&[(0, ""), (300, "")], 0);
        check(&[(0, "n"), (310, "p"), (386, ""), (687, "")], 386);
        check(&[(0, "n"), (310, "p")], 310);
    }
}
