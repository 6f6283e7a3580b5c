//! Speech between players.
//!
//! A message fades by 6 dB with each doubling of the distance beyond 1 m. It never becomes too faint to be heard; but of
//! many messages at once only the three loudest are always heard, the others with a probability that falls with volume.

use std::f64::consts::E;

use glam::{DQuat, DVec3};
use rand::{Rng, RngExt};

use crate::scene::PlayerId;

/// Longest text that is understood, in bytes.
pub const MAX_TEXT: usize = 10;
/// Number of simultaneous messages that are always heard.
const HEARD_AT_ONCE: usize = 3;
/// Distance up to which a message does not fade, in m.
const FULL_VOLUME_WITHIN: f64 = 1.0;
/// Loss with each doubling of the distance, in dB.
const DB_PER_DOUBLING: f64 = 6.0;

/// The messages of one cycle.
#[derive(Clone, Debug, Default)]
pub struct Soundscape {
    messages: Vec<Message>,
}

#[derive(Clone, Debug)]
struct Message {
    speaker: PlayerId,
    /// Of the mouth, in m.
    position: DVec3,
    /// At the mouth, above 0, at most 1.
    volume: f64,
    text: Vec<u8>,
}

/// An ear of a player.
#[derive(Clone, Copy, Debug)]
pub struct Ear {
    /// The listener.
    pub player: PlayerId,
    /// In the field's frame, in m.
    pub position: DVec3,
    /// From the ear's axes (x forward, y left, z up) to the field's.
    pub rotation: DQuat,
}

/// A message as one player hears it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeardMessage<'a> {
    /// Direction of the speaker: counter-clockwise from straight ahead, truncated to whole degrees, -180 to 180.
    pub azimuth_deg: i32,
    /// At most [`MAX_TEXT`] bytes.
    pub text: &'a [u8],
}

impl Soundscape {
    /// No messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a message of a player. `position` is that of its mouth, `volume` is 0 (silence) to 1. It replaces an earlier
    /// message of this player in the cycle. Messages are heard in the order of the first call of each speaker.
    pub fn say(&mut self, speaker: PlayerId, position: DVec3, volume: f64, text: &[u8]) {
        let message = Message { speaker, position, volume: volume.min(1.0), text: text.into() };
        let is_silent = volume.is_nan() || volume <= 0.0 || text.is_empty();
        match self.messages.iter().position(|known| known.speaker == speaker) {
            Some(index) if is_silent => drop(self.messages.remove(index)),
            Some(index) => self.messages[index] = message,
            None if is_silent => {}
            None => self.messages.push(message),
        }
    }

    /// Removes all messages, at the end of a cycle.
    pub fn clear(&mut self) {
        self.messages.clear();
    }

    /// The messages that an ear hears. `None` if nobody spoke; an empty list if all messages were lost, too long or the
    /// listener's own.
    pub fn hear(&self, ear: &Ear, rng: &mut impl Rng) -> Option<Vec<HeardMessage<'_>>> {
        if self.messages.is_empty() {
            return None;
        }
        // the listener's own message is not reported, but masks others
        let messages: Vec<(&Message, f64)> = (self.messages.iter())
            .filter(|message| message.text.len() <= MAX_TEXT)
            .map(|message| (message, message.volume * fading(message.position.distance(ear.position))))
            .collect();
        let mut loudest: Vec<f64> = messages.iter().map(|(_, volume)| *volume).collect();
        loudest.sort_by(|a, b| b.total_cmp(a));
        let sure = loudest.get(HEARD_AT_ONCE - 1).copied().unwrap_or(0.0);
        let heard = messages.into_iter().filter(|&(message, volume)| {
            let is_heard = volume >= sure || rng.random::<f64>() < chance(volume / sure);
            is_heard && message.speaker != ear.player
        });
        let understood = heard
            .map(|(message, _)| HeardMessage { azimuth_deg: azimuth_deg(ear, message.position), text: &message.text });
        Some(understood.collect())
    }
}

/// Factor on the volume at a distance in m.
fn fading(distance: f64) -> f64 {
    let doublings = (distance / FULL_VOLUME_WITHIN).max(1.0).log2();
    10f64.powf(-DB_PER_DOUBLING * doublings / 20.0)
}

/// Probability that a message is heard, by its volume relative to that of the third loudest.
fn chance(relative_volume: f64) -> f64 {
    ((E - 1.0) * relative_volume).ln_1p()
}

fn azimuth_deg(ear: &Ear, source: DVec3) -> i32 {
    let source_in_ear = ear.rotation.inverse() * (source - ear.position);
    // a cast truncates
    source_in_ear.y.atan2(source_in_ear.x).to_degrees() as i32
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::rules::Side::{Left, Right};

    fn player(number: u8) -> PlayerId {
        PlayerId::new(Left, number)
    }

    fn ear_at(player: PlayerId, x: f64, y: f64, heading: f64) -> Ear {
        Ear { player, position: DVec3::new(x, y, 1.0), rotation: DQuat::from_rotation_z(heading) }
    }

    fn rng() -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(7)
    }

    #[test]
    fn fades_with_distance() {
        for (distance, expected) in
            [(0.0, 1.0), (0.9, 1.0), (1.0, 1.0), (1.9999, 0.501223), (3.9992, 0.251236), (9.9989, 0.100802)]
        {
            assert!((fading(distance) - expected).abs() < 3e-5, "{distance}");
        }
    }

    #[test]
    fn silence_and_own_words() {
        let hears = |volume, text: &[u8], listener: PlayerId| {
            let mut soundscape = Soundscape::new();
            soundscape.say(player(1), DVec3::Z, volume, text);
            let heard = soundscape.hear(&ear_at(listener, 5.0, 0.0, 0.0), &mut rng());
            heard.map(|words| words.iter().map(|word| word.text.to_vec()).collect::<Vec<_>>())
        };
        let said = |text: &[u8]| Some(vec![text.to_vec()]);
        for (volume, text, listener, expected) in [
            (1.0, &b"hello"[..], player(2), said(b"hello")),
            (0.01, b"hello", PlayerId::new(Right, 1), said(b"hello")),
            (1.0, b"hello", player(1), Some(vec![])),
            (1.0, b"hellohell0", player(2), said(b"hellohell0")),
            (1.0, b"hellohello1", player(2), Some(vec![])),
            (0.0, b"hello", player(2), None),
            (-1.0, b"hello", player(2), None),
            (f64::NAN, b"hello", player(2), None),
            (1.0, b"", player(2), None),
        ] {
            assert_eq!(hears(volume, text, listener), expected, "{volume} {text:?}");
        }
        assert_eq!(Soundscape::new().hear(&ear_at(player(1), 0.0, 0.0, 0.0), &mut rng()), None);
    }

    #[test]
    fn the_last_word_counts() {
        let mut soundscape = Soundscape::new();
        soundscape.say(player(1), DVec3::Z, 1.0, b"a");
        soundscape.say(player(2), DVec3::Z, 1.0, b"b");
        soundscape.say(player(1), DVec3::Z, 1.0, b"c");
        let ear = ear_at(player(3), 5.0, 0.0, 0.0);
        let heard: Vec<&[u8]> = soundscape.hear(&ear, &mut rng()).unwrap().iter().map(|word| word.text).collect();
        assert_eq!(heard, [b"c", b"b"]);
        soundscape.say(player(1), DVec3::Z, 0.0, b"d");
        assert_eq!(soundscape.hear(&ear, &mut rng()).unwrap().len(), 1);
        soundscape.clear();
        assert_eq!(soundscape.hear(&ear, &mut rng()), None);
    }

    #[test]
    fn direction_is_cut_to_degrees() {
        for (x, y, heading, expected) in [
            (1.0, 1.0, 0.0, 45),
            (-1.0, 1.0, 0.0, 135),
            (1.0, -1.0, 0.0, -45),
            (1.0, -0.01, 0.0, 0),
            (-1.0, 0.0, 0.0, 180),
            (1.0, 0.0174, 0.0, 0),
            (1.0, 0.0176, 0.0, 1),
            (1.0, 0.0, 0.5, -28),
        ] {
            assert_eq!(azimuth_deg(&ear_at(player(2), 0.0, 0.0, heading), DVec3::new(x, y, 0.3)), expected, "{x} {y}");
        }
    }

    #[test]
    fn three_are_sure_the_others_are_not() {
        // shares that were measured on the reference, 6000 cycles each
        for (relative, share) in
            [(0.02, 0.035), (0.1, 0.16), (0.2, 0.30), (0.4, 0.525), (0.6, 0.708), (0.9, 0.931), (1.0, 1.0)]
        {
            let mut soundscape = Soundscape::new();
            for (number, volume) in [(1, 0.5 * relative), (2, 0.5), (3, 1.0), (4, 0.8)] {
                soundscape.say(player(number), DVec3::Z, volume, &[number]);
            }
            let mut rng = rng();
            let mut faint = 0;
            for _ in 0..6000 {
                let heard = soundscape.hear(&ear_at(player(9), 0.5, 0.0, 0.0), &mut rng).unwrap();
                assert!([2, 3, 4].iter().all(|number| heard.iter().any(|word| word.text == [*number])));
                faint += u32::from(heard.len() == 4);
            }
            assert!((f64::from(faint) / 6000.0 - share).abs() < 0.02, "{relative}: {faint}");
        }
    }

    #[test]
    fn the_own_voice_drowns_out_others_a_long_text_does_not() {
        let mut soundscape = Soundscape::new();
        for (number, volume) in [(1, 1.0), (2, 1.0), (3, 1.0), (4, 1e-9)] {
            soundscape.say(player(number), DVec3::Z, volume, &[number]);
        }
        let own = ear_at(player(1), 0.0, 0.0, 0.0);
        assert_eq!(soundscape.hear(&own, &mut rng()).unwrap().len(), 2);
        soundscape.say(player(2), DVec3::Z, 1.0, b"hellohello1");
        assert_eq!(soundscape.hear(&own, &mut rng()).unwrap().len(), 2);
    }

    #[test]
    fn the_same_seed_hears_the_same() {
        let mut soundscape = Soundscape::new();
        for number in 1..9 {
            soundscape.say(player(number), DVec3::new(f64::from(number), 0.0, 1.0), 0.7, &[number]);
        }
        let ear = ear_at(player(9), 0.0, 0.0, 0.0);
        let (mut a, mut b) = (rng(), rng());
        for _ in 0..50 {
            assert_eq!(soundscape.hear(&ear, &mut a), soundscape.hear(&ear, &mut b));
        }
    }
}
