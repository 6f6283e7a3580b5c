//! Sample rate conversion to [`RATE`].

use super::{RATE, wav::RATES};

/// Zero crossings of the filter on each side. With the window below, frequencies more than a tenth above the new band are
/// attenuated by at least 60 dB.
const CROSSINGS: f64 = 24.0;

/// Cut-off frequency, as a fraction of half the lower of the two rates.
const EDGE: f64 = 0.94;

/// Converts a complete signal from `from_rate`, in Hz, to [`RATE`].
pub fn resample(samples: &[f32], from_rate: u32) -> Vec<f32> {
    let mut resampler = Resampler::new(from_rate);
    let mut resampled = resampler.push(samples);
    resampled.extend(resampler.finish());
    resampled
}

/// Converts the sample rate of a stream: a polyphase low-pass filter (sinc with a Kaiser window), with one set of taps for
/// each phase of an output sample between two input samples.
#[derive(Debug, Clone)]
pub struct Resampler {
    /// Input samples per output sample are `step / phases`.
    step: usize,
    phases: usize,
    /// Taps of each phase, `2 * reach` each.
    taps: Vec<f32>,
    reach: usize,
    /// Input samples that are still needed; the first is `reach - 1` before the next output sample.
    pending: Vec<f32>,
    phase: usize,
    /// Number of input samples consumed, and of output samples produced.
    consumed: u64,
    produced: u64,
}

impl Resampler {
    /// A converter from `from_rate`, in Hz, clamped to [`RATES`].
    pub fn new(from_rate: u32) -> Self {
        let from = from_rate.clamp(*RATES.start(), *RATES.end());
        let common = gcd(from, RATE);
        let (step, phases) = ((from / common) as usize, (RATE / common) as usize);
        // twice the cut-off frequency, in cycles per input sample
        let band = EDGE * (phases as f64 / step as f64).min(1.0);
        let reach = (CROSSINGS / band).ceil() as usize;
        let taps = (0..phases).flat_map(|phase| filter(phase as f64 / phases as f64, band, reach)).collect();
        let pending = vec![0.0; reach - 1];
        Self { step, phases, taps, reach, pending, phase: 0, consumed: 0, produced: 0 }
    }

    /// Takes input samples and returns the output samples that are complete.
    pub fn push(&mut self, samples: &[f32]) -> Vec<f32> {
        self.consumed += samples.len() as u64;
        self.advance(samples)
    }

    /// Ends the stream and returns the remaining output samples.
    pub fn finish(&mut self) -> Vec<f32> {
        let missing =
            (self.consumed * self.phases as u64).div_ceil(self.step as u64).saturating_sub(self.produced) as usize;
        let mut last = self.advance(&vec![0.0; self.reach]);
        last.truncate(missing);
        last
    }

    fn advance(&mut self, samples: &[f32]) -> Vec<f32> {
        if self.step == self.phases {
            self.produced += samples.len() as u64;
            return samples.to_vec();
        }
        self.pending.extend_from_slice(samples);
        let (mut made, mut at) = (Vec::new(), 0);
        while let Some(old) = self.pending.get(at..at + 2 * self.reach) {
            let taps = &self.taps[self.phase * 2 * self.reach..][..2 * self.reach];
            made.push(old.iter().zip(taps).map(|(sample, tap)| sample * tap).sum());
            self.phase += self.step;
            at += self.phase / self.phases;
            self.phase %= self.phases;
        }
        self.pending.drain(..at);
        self.produced += made.len() as u64;
        made
    }
}

/// The taps for an output sample `offset` input samples after tap `reach - 1`.
fn filter(offset: f64, band: f64, reach: usize) -> Vec<f32> {
    let taps: Vec<f64> = (0..2 * reach)
        .map(|tap| {
            let distance = tap as f64 - (reach as f64 - 1.0) - offset;
            let angle = std::f64::consts::PI * band * distance;
            let sinc = if angle.abs() < 1e-9 { 1.0 } else { angle.sin() / angle };
            sinc * kaiser(distance / reach as f64)
        })
        .collect();
    let sum: f64 = taps.iter().sum();
    taps.iter().map(|tap| (tap / sum) as f32).collect()
}

/// The Kaiser window (beta 7), `x` in -1..1.
fn kaiser(x: f64) -> f64 {
    const BETA: f64 = 7.0;
    bessel(BETA * (1.0 - x * x).max(0.0).sqrt()) / bessel(BETA)
}

/// The modified Bessel function of order 0.
fn bessel(x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..40 {
        term *= (x / (2.0 * f64::from(k))).powi(2);
        sum += term;
    }
    sum
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(hertz: f64, rate: u32, seconds: f64) -> Vec<f32> {
        (0..(f64::from(rate) * seconds) as usize)
            .map(|i| (std::f64::consts::TAU * hertz * i as f64 / f64::from(rate)).sin() as f32)
            .collect()
    }

    /// How loud the middle of a sound is.
    fn loudness(samples: &[f32]) -> f32 {
        let middle = &samples[samples.len() / 4..samples.len() * 3 / 4];
        (middle.iter().map(|s| s * s).sum::<f32>() / middle.len() as f32).sqrt()
    }

    #[test]
    fn tones_in_the_band_stay_as_they_are_and_others_go() {
        for rate in [8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000, 192_000] {
            let kept = resample(&tone(1_000.0, rate, 0.5), rate);
            let expected = tone(1_000.0, RATE, 0.5);
            assert!(kept.len().abs_diff(expected.len()) <= 1, "{rate}: {}", kept.len());
            let furthest = |(ours, theirs): (&f32, &f32)| (ours - theirs).abs();
            let middle = 1_000..expected.len() - 1_000;
            let worst = kept[middle.clone()].iter().zip(&expected[middle]).map(furthest).fold(0.0, f32::max);
            assert!(worst < 2e-3, "{rate}: {worst}");
            if rate > 20_000 {
                let gone = loudness(&resample(&tone(9_000.0, rate, 0.5), rate));
                assert!(gone < 1e-3, "{rate}: {gone}");
            }
        }
    }

    #[test]
    fn pieces_give_the_same_as_the_whole() {
        let sound = tone(440.0, 44_100, 0.3);
        let mut resampler = Resampler::new(44_100);
        let mut pieces: Vec<f32> = sound.chunks(97).flat_map(|piece| resampler.push(piece)).collect();
        pieces.extend(resampler.finish());
        assert_eq!(pieces, resample(&sound, 44_100));
        assert_eq!(resample(&[], 48_000), Vec::<f32>::new());
        assert_eq!(resample(&[0.25], RATE), [0.25]);
        for rate in [0, 1, u32::MAX] {
            assert!(resample(&[0.25; 100], rate).len() <= 400, "{rate}");
        }
    }
}
