//! Gestures and jaw motion during a phrase.

use serde::{Deserialize, Serialize};

/// Maximum length of a phrase, in s.
pub const MAX_SECONDS: f32 = espeak::frame::MAX_SECONDS as f32;
/// Maximum number of gestures in a phrase.
pub const MAX_MARKS: usize = 64;
/// Maximum number of jaw positions in a phrase.
pub const MAX_MOUTH: usize = espeak::frame::MAX_EVENTS;

/// Gestures and jaw positions of a phrase. Times are in s since its start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Duration of the phrase, 0 to [`MAX_SECONDS`].
    pub seconds: f32,
    /// Time and gesture, sorted by time; gestures at the same time in the order of the text.
    pub marks: Vec<(f32, u32)>,
    /// Time and opening of the jaw from then on, 0 (closed) to 1, sorted by time.
    pub mouth: Vec<(f32, f32)>,
}

impl Timeline {
    /// Whether all numbers are in range and sorted, and both lists within their limits. Timelines from a recording must be
    /// checked.
    pub fn is_valid(&self) -> bool {
        let fits = |time: f32| (0.0..=self.seconds).contains(&time);
        (0.0..=MAX_SECONDS).contains(&self.seconds)
            && self.marks.len() <= MAX_MARKS
            && self.mouth.len() <= MAX_MOUTH
            && self.marks.iter().all(|&(time, _)| fits(time))
            && self.mouth.iter().all(|&(time, opening)| fits(time) && (0.0..=1.0).contains(&opening))
            && self.marks.is_sorted_by_key(|&(time, _)| time)
            && self.mouth.is_sorted_by_key(|&(time, _)| time)
    }

    /// Opening of the jaw at a time, 0 to 1; 0 before and after the phrase.
    pub fn opening(&self, time: f32) -> f32 {
        if !(0.0..self.seconds).contains(&time) {
            return 0.0;
        }
        let passed = self.mouth.partition_point(|&(from, _)| from <= time);
        passed.checked_sub(1).map_or(0.0, |last| self.mouth[last].1)
    }

    /// An empty phrase that starts all of its gestures at once.
    pub(super) fn at_once(gestures: impl Iterator<Item = u32>) -> Self {
        Self { marks: gestures.take(MAX_MARKS).map(|gesture| (0.0, gesture)).collect(), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline() -> Timeline {
        Timeline {
            seconds: 1.0,
            marks: vec![(0.0, 3), (0.0, 1), (1.0, 2)],
            mouth: vec![(0.0, 0.2), (0.25, 1.0), (0.5, 0.0)],
        }
    }

    #[test]
    fn invalid_timelines_are_detected() {
        let check = |change: &dyn Fn(&mut Timeline), expected| {
            let mut changed = timeline();
            change(&mut changed);
            assert_eq!(changed.is_valid(), expected, "{changed:?}");
        };
        check(&|_| {}, true);
        check(&|timeline| *timeline = Timeline::default(), true);
        check(&|timeline| timeline.seconds = MAX_SECONDS, true);
        check(&|timeline| timeline.seconds = MAX_SECONDS + 0.1, false);
        check(&|timeline| timeline.seconds = 0.9, false);
        check(&|timeline| timeline.seconds = -1.0, false);
        check(&|timeline| timeline.seconds = f32::NAN, false);
        check(&|timeline| timeline.seconds = f32::INFINITY, false);
        check(&|timeline| timeline.marks[2].0 = f32::NAN, false);
        check(&|timeline| timeline.marks[1].0 = 1.0, true);
        check(&|timeline| timeline.marks[0].0 = 0.5, false);
        check(&|timeline| timeline.marks = vec![(0.5, 0); MAX_MARKS + 1], false);
        check(&|timeline| timeline.mouth[1].1 = 1.1, false);
        check(&|timeline| timeline.mouth[1].1 = f32::NAN, false);
        check(&|timeline| timeline.mouth[1].0 = 0.6, false);
        check(&|timeline| timeline.mouth = vec![(0.5, 0.0); MAX_MOUTH + 1], false);
    }

    #[test]
    fn the_jaw_opens_within_the_phrase_only() {
        let openings = [-1.0, 0.0, 0.1, 0.25, 0.3, 0.6, 1.0, f32::NAN].map(|time| timeline().opening(time));
        assert_eq!(openings, [0.0, 0.2, 0.2, 1.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(Timeline::default().opening(0.0), 0.0);
    }

    #[test]
    fn timelines_round_trip_through_json() {
        let text = serde_json::to_string(&timeline()).expect("JSON");
        assert_eq!(serde_json::from_str::<Timeline>(&text).expect("a timeline"), timeline());
    }
}
