//! Voice activity detection: splits a stream of audio into utterances.

use std::collections::VecDeque;

use earshot::Detector;

use super::{RATE, wav::sanitised};

/// Samples per frame: 16 ms.
const FRAME: usize = 256;

/// Number of frames in this time.
const fn frames(milliseconds: usize) -> usize {
    milliseconds * RATE as usize / 1000 / FRAME
}

/// Minimum score of a voiced frame.
const VOICE: f32 = 0.5;

/// Minimum score of a voiced frame within an utterance, as words fade out.
const STILL_VOICE: f32 = 0.3;

/// An utterance starts when this many of the last frames are voiced; fewer may be a click.
const ONSET: (usize, usize) = (3, 6);

/// Audio kept from before the voice, which starts with unvoiced consonants.
const PRE_ROLL: usize = frames(320);

/// Silence that ends an utterance, and how much of it is kept.
const HANG_OVER: usize = frames(512);
const TAIL: usize = frames(256);

/// What is still ignored after muting, in samples: loudspeaker, room and microphone lag behind the robot's voice.
const ECHO: usize = 4 * RATE as usize / 5;

/// Minimum voiced frames of an utterance.
const MIN_VOICE: usize = frames(128);

/// Maximum length of an utterance; a longer one is split at the quietest of its last frames.
const MAX_FRAMES: usize = frames(14_000);
const CUT_WITHIN: usize = frames(4_000);

/// Audio in which somebody speaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Utterance {
    /// Start, in samples since the segmenter's first sample.
    pub start: u64,
    /// Samples in -1..1 at [`RATE`]; at most 14 s.
    pub samples: Vec<f32>,
}

/// Splits audio into utterances by voice activity.
pub struct Segmenter {
    detector: Box<Detector>,
    /// Samples of an incomplete frame.
    partial: Vec<f32>,
    /// Frames of the current utterance, or the last [`PRE_ROLL`] frames before one.
    frames: VecDeque<Frame>,
    speaking: bool,
    muted: bool,
    /// Samples still to be ignored after muting.
    echo: usize,
    /// Total number of samples in `frames` and before.
    heard: u64,
}

struct Frame {
    samples: [f32; FRAME],
    score: f32,
    power: f32,
}

impl std::fmt::Debug for Segmenter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Segmenter")
            .field("speaking", &self.speaking)
            .field("muted", &self.muted)
            .finish_non_exhaustive()
    }
}

impl Default for Segmenter {
    fn default() -> Self {
        Self::new()
    }
}

impl Segmenter {
    /// A segmenter at the start of a stream.
    pub fn new() -> Self {
        Self {
            detector: Box::default(),
            partial: Vec::with_capacity(FRAME),
            frames: VecDeque::new(),
            speaking: false,
            muted: false,
            echo: 0,
            heard: 0,
        }
    }

    /// Takes samples in -1..1 at [`RATE`] and returns the utterances that end in them.
    pub fn push(&mut self, samples: &[f32]) -> Vec<Utterance> {
        if self.muted {
            self.heard += samples.len() as u64;
            return Vec::new();
        }
        let (echo, samples) = samples.split_at(self.echo.min(samples.len()));
        self.echo -= echo.len();
        self.heard += echo.len() as u64;
        let mut ended = Vec::new();
        for &sample in samples {
            self.partial.push(sanitised(sample));
            if let Ok(frame) = <[f32; FRAME]>::try_from(self.partial.as_slice()) {
                self.partial.clear();
                ended.extend(self.frame(frame));
            }
        }
        ended
    }

    /// Ends the stream and returns the utterance in progress.
    pub fn finish(&mut self) -> Option<Utterance> {
        let ended = if self.speaking { self.take(self.frames.len()) } else { None };
        self.forget();
        ended
    }

    /// Mutes the input, as while the robot itself speaks. Drops the utterance in progress. Afterwards, the tail of its voice
    /// is ignored as well.
    pub fn mute(&mut self, muted: bool) {
        if muted != self.muted {
            self.forget();
            self.muted = muted;
            self.echo = if muted { 0 } else { ECHO };
        }
    }

    /// Whether an utterance is in progress.
    pub const fn is_speaking(&self) -> bool {
        self.speaking
    }

    fn forget(&mut self) {
        self.heard += self.partial.len() as u64;
        self.partial.clear();
        self.frames.clear();
        self.speaking = false;
        self.detector.reset();
    }

    fn frame(&mut self, samples: [f32; FRAME]) -> Option<Utterance> {
        let score = self.detector.predict_f32(&samples);
        let power = samples.iter().map(|sample| sample * sample).sum();
        self.frames.push_back(Frame { samples, score, power });
        self.heard += FRAME as u64;
        if !self.speaking {
            let voice = self.frames.iter().rev().take(ONSET.1).filter(|frame| frame.score >= VOICE).count();
            self.speaking = voice >= ONSET.0;
            if !self.speaking && self.frames.len() > PRE_ROLL {
                self.frames.pop_front();
            }
            return None;
        }
        let silence = self.frames.iter().rev().take_while(|frame| frame.score < STILL_VOICE).count();
        if silence >= HANG_OVER {
            let ended = self.take(self.frames.len() - HANG_OVER + TAIL);
            self.speaking = false;
            let unneeded = self.frames.len().saturating_sub(PRE_ROLL);
            self.frames.drain(..unneeded);
            return ended;
        }
        if self.frames.len() >= MAX_FRAMES { self.take(self.quietest()) } else { None }
    }

    /// The number of frames after which a long utterance is best split.
    fn quietest(&self) -> usize {
        let from = self.frames.len().saturating_sub(CUT_WITHIN);
        // over three frames, so that the gap between two glottal pulses is not taken for a pause
        let power =
            |at: usize| self.frames.range(at..self.frames.len().min(at + 3)).map(|frame| frame.power).sum::<f32>();
        let last = self.frames.len().saturating_sub(3);
        (from..last).min_by(|&a, &b| power(a).total_cmp(&power(b))).map_or(self.frames.len(), |at| at + 1)
    }

    /// Removes the first frames and returns them as an utterance, if enough of them are voiced.
    fn take(&mut self, count: usize) -> Option<Utterance> {
        let start = self.heard - (self.frames.len() * FRAME) as u64;
        let taken: Vec<Frame> = self.frames.drain(..count).collect();
        let voice = taken.iter().filter(|frame| frame.score >= VOICE).count();
        let samples = taken.iter().flat_map(|frame| frame.samples).collect();
        (voice >= MIN_VOICE).then_some(Utterance { start, samples })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const SECOND: usize = RATE as usize;

    fn silence(seconds: f32) -> Vec<f32> {
        vec![0.0; (seconds * RATE as f32) as usize]
    }

    fn noise(loudness: f32, seconds: f32) -> Vec<f32> {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        silence(seconds).iter().map(|_| random.random_range(-loudness..=loudness)).collect()
    }

    /// A synthetic voice: glottal pulses through formant filters.
    fn voice(seconds: f32) -> Vec<f32> {
        let mut sound = silence(seconds);
        let (mut phase, mut states) = (0.0f32, [[0.0f32; 2]; 3]);
        for (i, slot) in sound.iter_mut().enumerate() {
            let time = i as f32 / RATE as f32;
            let syllable = (std::f32::consts::TAU * 4.0 * time).sin();
            phase += (120.0 + 15.0 * (5.0 * time).sin()) / RATE as f32;
            let pulse = if phase >= 1.0 { 1.0 } else { 0.0 };
            phase = phase.fract();
            let mut sum = 0.0;
            for (state, (hertz, gain)) in
                states.iter_mut().zip([(600.0 + 200.0 * syllable, 1.0), (1_300.0, 0.5), (2_500.0, 0.25)])
            {
                let decay = (-std::f32::consts::PI * 90.0 / RATE as f32).exp();
                let turn = 2.0 * decay * (std::f32::consts::TAU * hertz / RATE as f32).cos();
                let next = pulse + turn * state[0] - decay * decay * state[1];
                *state = [next, state[0]];
                sum += gain * next;
            }
            *slot = 0.08 * sum * (0.6 + 0.4 * syllable);
        }
        sound
    }

    /// Start and length in s of the utterances in audio that arrives in pieces.
    fn found(sound: &[f32], piece: usize) -> Vec<(f32, f32)> {
        let mut segmenter = Segmenter::new();
        let mut utterances: Vec<Utterance> = sound.chunks(piece).flat_map(|piece| segmenter.push(piece)).collect();
        utterances.extend(segmenter.finish());
        let seconds = |samples: u64| samples as f32 / RATE as f32;
        utterances.iter().map(|found| (seconds(found.start), seconds(found.samples.len() as u64))).collect()
    }

    #[test]
    fn silence_noise_and_tones_are_not_voices() {
        let hum: Vec<f32> =
            (0..3 * SECOND).map(|i| 0.3 * (std::f32::consts::TAU * 50.0 * i as f32 / RATE as f32).sin()).collect();
        let mut clicks = silence(3.0);
        clicks.iter_mut().step_by(5_000).for_each(|sample| *sample = 1.0);
        let bad = [f32::NAN, f32::INFINITY, 1e30, -1e30].repeat(100);
        for (name, sound) in [
            ("silence", silence(3.0)),
            ("soft noise", noise(0.01, 3.0)),
            ("noise", noise(0.3, 3.0)),
            ("hum", hum),
            ("clicks", clicks),
            ("bad", bad),
        ] {
            assert_eq!(found(&sound, 1_000), [], "{name}");
        }
    }

    #[test]
    fn utterances_include_some_context() {
        let sound = [silence(1.0), voice(1.5), silence(1.5), voice(1.0), silence(1.0)].concat();
        let whole = found(&sound, sound.len());
        assert_eq!(whole.len(), 2, "{whole:?}");
        for ((start, length), (voice, seconds)) in whole.iter().zip([(1.0, 1.5), (4.0, 1.0)]) {
            assert!((voice - 0.5..voice).contains(start), "{whole:?}");
            assert!((voice + seconds..voice + seconds + 0.6).contains(&(start + length)), "{whole:?}");
        }
        for piece in [1, 160, 4_096] {
            assert_eq!(found(&sound, piece), whole, "{piece}");
        }
        assert_eq!(found(&sound[..2 * SECOND], 777).len(), 1, "an utterance in progress at the end");
    }

    #[test]
    fn long_speech_is_split_without_loss() {
        let pieces = found(&voice(40.0), 1_600);
        assert!(pieces.len() >= 3, "{pieces:?}");
        assert!(pieces.iter().all(|&(_, length)| length <= 14.0), "{pieces:?}");
        assert!(pieces.windows(2).all(|pair| (pair[0].0 + pair[0].1 - pair[1].0).abs() < 1e-3), "{pieces:?}");
    }

    #[test]
    fn speech_while_muted_is_ignored() {
        let mut segmenter = Segmenter::new();
        assert_eq!(segmenter.push(&voice(1.0)), []);
        assert!(segmenter.is_speaking());
        segmenter.mute(true);
        assert!(!segmenter.is_speaking());
        assert_eq!(segmenter.push(&[voice(2.0), silence(1.0)].concat()), []);
        segmenter.mute(false);
        assert_eq!(segmenter.push(&silence(1.0)), []);
        let heard = segmenter.push(&[voice(1.0), silence(1.0)].concat());
        assert_eq!(heard.len(), 1);
        // 5 s have passed
        assert!((4.5..5.1).contains(&(heard[0].start as f32 / RATE as f32)), "{}", heard[0].start);
    }

    #[test]
    fn the_tail_of_the_own_voice_is_ignored() {
        for piece in [160, 4_096] {
            let mut segmenter = Segmenter::new();
            segmenter.mute(true);
            segmenter.push(&voice(2.0));
            segmenter.mute(false);
            let sound = [voice(0.6), silence(1.0), voice(1.0), silence(1.0)].concat();
            let heard: Vec<_> = sound.chunks(piece).flat_map(|chunk| segmenter.push(chunk)).collect();
            // the answer of a person, which comes 3.6 s after the beginning
            assert_eq!(heard.len(), 1);
            assert!((3.2..3.8).contains(&(heard[0].start as f32 / RATE as f32)), "{}", heard[0].start);
        }
    }
}
