//! A voice without sound: gestures and jaw move as if the robot were speaking.

use super::{Mark, Phrase, SpokenPhrase, Timeline, Voice, VoiceError, VoiceSettings, mouth, timeline::*, voice_name};

/// Time per letter, in s; with [`GAP`] and words of about five letters this is 175 words per minute.
const LETTER: f32 = 0.06;
/// Time between two words, in s.
const GAP: f32 = 0.05;
/// Time for a digit or another symbol that is pronounced by name, in s.
const SYMBOL: f32 = 0.35;
/// Pause at a comma, in s.
const COMMA: f32 = 0.15;
/// Pause at a full stop and at the end of a phrase, in s.
const STOP: f32 = 0.3;

/// A voice without sound.
#[derive(Clone, Copy, Debug, Default)]
pub struct SilentVoice;

impl Voice for SilentVoice {
    fn synthesise(&mut self, phrase: &Phrase, settings: VoiceSettings) -> Result<SpokenPhrase, VoiceError> {
        voice_name(settings.voice)?;
        Ok(SpokenPhrase { timeline: silent_timeline(phrase), rate: 22_050, samples: Vec::new() })
    }

    fn name(&self) -> String {
        "silent".to_owned()
    }
}

/// Timeline of a phrase at a natural pace: about 175 words per minute, with pauses at punctuation.
pub fn silent_timeline(phrase: &Phrase) -> Timeline {
    if phrase.text.trim().is_empty() {
        return Timeline::at_once(phrase.marks.iter().map(|mark| mark.gesture));
    }
    let mut timeline = Timeline::default();
    let mut marks = phrase.marks.iter().take(MAX_MARKS).peekable();
    // leaves room for the pause at the end
    let (mut time, mut word) = (0.0_f32, 0.0_f32);
    let mut characters = phrase.text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let is_end = characters.peek().is_none_or(|(_, next)| next.is_whitespace());
        if !character.is_alphanumeric() {
            word = time;
        }
        // a gesture starts with the word that it is in
        let end = at + character.len_utf8();
        while let Some(mark) = marks.next_if(|mark: &&Mark| mark.at < end && !character.is_whitespace()) {
            timeline.marks.push((word, mark.gesture));
        }
        if timeline.mouth.len() + 1 < MAX_MOUTH {
            mouth::add(&mut timeline.mouth, time, mouth::opening_of_letter(character));
        }
        time = (time + length(character, is_end)).min(MAX_SECONDS - STOP);
        if character.is_whitespace() {
            word = time;
        }
    }
    mouth::add(&mut timeline.mouth, time, 0.0);
    timeline.marks.extend(marks.map(|mark| (time, mark.gesture)));
    timeline.seconds = time + STOP;
    timeline
}

/// Duration of a character in s; `is_end` for the last one of a word.
fn length(character: char, is_end: bool) -> f32 {
    match character {
        ',' | ';' | ':' if is_end => COMMA,
        '.' | '!' | '?' | '…' if is_end => STOP,
        '0'..='9' => SYMBOL,
        _ if character.is_alphabetic() => LETTER,
        _ if character.is_whitespace() => GAP,
        _ if character.is_ascii_punctuation() => 0.0,
        _ => SYMBOL,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn phrase(text: &str, marks: &[(usize, u32)]) -> Phrase {
        Phrase { text: text.into(), marks: marks.iter().map(|&(at, gesture)| Mark { at, gesture }).collect() }
    }

    #[test]
    fn the_pace_is_natural() {
        let text =
            "When I was young it seemed that life was so wonderful, and all the birds in the trees sang playfully.";
        let seconds = silent_timeline(&phrase(text, &[])).seconds;
        let minute = 60.0 * text.split(' ').count() as f32 / seconds;
        assert!((155.0..195.0).contains(&minute), "{minute} words per minute");
    }

    #[test]
    fn gestures_coincide_with_their_words() {
        let text = "Nope. I think you are right.";
        let timeline = silent_timeline(&phrase(text, &[(0, 4), (0, 2), (6, 1), (10, 3), (28, 5)]));
        assert!(timeline.is_valid(), "{timeline:?}");
        let gestures: Vec<u32> = timeline.marks.iter().map(|mark| mark.1).collect();
        assert_eq!(gestures, [4, 2, 1, 3, 5]);
        let times: Vec<f32> = timeline.marks.iter().map(|mark| mark.0).collect();
        assert_eq!(times[..2], [0.0, 0.0]);
        let nope = 4.0 * LETTER + STOP + GAP;
        assert!((times[2] - nope).abs() < 1e-5 && (times[3] - nope - LETTER - GAP).abs() < 1e-5, "{times:?}");
        assert_eq!(times[4], timeline.seconds - STOP);
    }

    #[test]
    fn the_jaw_moves_and_ends_closed() {
        let timeline = silent_timeline(&phrase("Map", &[]));
        let openings: Vec<f32> = timeline.mouth.iter().map(|opening| opening.1).collect();
        // starts closed, as for an m
        assert_eq!(openings, [1.0, 0.0]);
        assert_eq!(timeline.opening(timeline.seconds - 0.01), 0.0);
    }

    #[test]
    fn without_words_gestures_start_at_once() {
        let timeline = silent_timeline(&phrase("", &[(0, 4), (0, 2)]));
        assert_eq!(timeline, Timeline { seconds: 0.0, marks: vec![(0.0, 4), (0.0, 2)], mouth: vec![] });
    }

    #[test]
    fn unknown_voices_are_refused() {
        let say =
            |voice| SilentVoice.synthesise(&phrase("Hi", &[]), VoiceSettings { voice, ..VoiceSettings::default() });
        assert!(say(0).is_ok());
        assert!(matches!(say(1), Err(VoiceError::UnknownVoice { voice: 1 })));
    }

    proptest! {
        #[test]
        fn every_timeline_is_valid(text in ".{0,3000}", mut at in prop::collection::vec(0..4_000_usize, 0..80)) {
            at.sort_unstable();
            let marks: Vec<_> = at.into_iter().map(|at| (at, 7)).collect();
            let timeline = silent_timeline(&phrase(&text, &marks));
            prop_assert!(timeline.is_valid(), "{timeline:?}");
            prop_assert_eq!(timeline.marks.len(), marks.len().min(MAX_MARKS));
        }
    }
}
