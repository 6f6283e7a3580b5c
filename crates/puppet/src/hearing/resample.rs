//! From any sample rate to the one that is recognised.

use super::{RATE, wav::RATES};

/// Zero crossings of the filter on each side. With the window below, what lies above the new band is damped by 60 dB and
/// more from a tenth past its edge.
const CROSSINGS: f64 = 24.0;

/// The edge of the band that is kept, in proportion to half the lower of the two rates.
const EDGE: f64 = 0.94;

/// Changes the sample rate of a whole sound from `from_rate`, in samples a second, to [`RATE`].
pub fn resample(samples: &[f32], from_rate: u32) -> Vec<f32> {
    let mut resampler = Resampler::new(from_rate);
    let mut resampled = resampler.push(samples);
    resampled.extend(resampler.finish());
    resampled
}

/// Changes the sample rate of sound that comes in pieces: a sinc low-pass under a Kaiser window, one set of taps for each
/// place that a new sample can have between two old ones.
#[derive(Debug, Clone)]
pub struct Resampler {
    /// Old samples per new one are `step / phases`.
    step: usize,
    phases: usize,
    /// The filters one after another, each of `2 * reach` taps.
    taps: Vec<f32>,
    reach: usize,
    /// Old samples that are needed still; the first lies `reach - 1` before the next new sample.
    waiting: Vec<f32>,
    phase: usize,
    /// Old samples that have come, and new ones that have gone.
    came: u64,
    gone: u64,
}

impl Resampler {
    /// From `from_rate` samples a second; a rate outside [`RATES`] is taken for the nearest one that is not.
    pub fn new(from_rate: u32) -> Self {
        let from = from_rate.clamp(*RATES.start(), *RATES.end());
        let common = gcd(from, RATE);
        let (step, phases) = ((from / common) as usize, (RATE / common) as usize);
        // the band in cycles per old sample, twice
        let band = EDGE * (phases as f64 / step as f64).min(1.0);
        let reach = (CROSSINGS / band).ceil() as usize;
        let taps = (0..phases).flat_map(|phase| filter(phase as f64 / phases as f64, band, reach)).collect();
        let waiting = vec![0.0; reach - 1];
        Self { step, phases, taps, reach, waiting, phase: 0, came: 0, gone: 0 }
    }

    /// Takes the next samples and gives the new ones that are known by now.
    pub fn push(&mut self, samples: &[f32]) -> Vec<f32> {
        self.came += samples.len() as u64;
        self.advance(samples)
    }

    /// The samples that are left at the end of the sound.
    pub fn finish(&mut self) -> Vec<f32> {
        let wanted = (self.came * self.phases as u64).div_ceil(self.step as u64).saturating_sub(self.gone) as usize;
        let mut last = self.advance(&vec![0.0; self.reach]);
        last.truncate(wanted);
        last
    }

    fn advance(&mut self, samples: &[f32]) -> Vec<f32> {
        if self.step == self.phases {
            self.gone += samples.len() as u64;
            return samples.to_vec();
        }
        self.waiting.extend_from_slice(samples);
        let (mut made, mut at) = (Vec::new(), 0);
        while let Some(old) = self.waiting.get(at..at + 2 * self.reach) {
            let taps = &self.taps[self.phase * 2 * self.reach..][..2 * self.reach];
            made.push(old.iter().zip(taps).map(|(sample, tap)| sample * tap).sum());
            self.phase += self.step;
            at += self.phase / self.phases;
            self.phase %= self.phases;
        }
        self.waiting.drain(..at);
        self.gone += made.len() as u64;
        made
    }
}

/// The taps for a new sample that lies `offset` of an old one past the `reach - 1`th of them.
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
