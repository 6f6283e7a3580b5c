//! WAV decoding: 16-bit integer or 32-bit float samples, one or two channels.

use super::{HearingError, resample};

/// Maximum size of a WAV file, in bytes: five minutes of stereo float samples at 48 kHz.
pub const MAX_BYTES: usize = 5 * 60 * 48_000 * 2 * 4 + 4096;

/// Maximum length of a WAV file, in s.
pub const MAX_FILE_SECONDS: usize = 300;

/// Supported sample rates, in Hz.
pub const RATES: std::ops::RangeInclusive<u32> = 4_000..=192_000;

/// The audio of a WAV file, mixed down to mono.
#[derive(Debug, Clone, PartialEq)]
pub struct Wav {
    /// Sample rate in Hz, within [`RATES`].
    pub rate: u32,
    /// Samples in -1..1.
    pub samples: Vec<f32>,
}

impl Wav {
    /// The samples, converted to [`super::RATE`].
    pub fn resampled(&self) -> Vec<f32> {
        resample(&self.samples, self.rate)
    }
}

struct Format {
    is_float: bool,
    channels: usize,
    rate: u32,
}

impl Format {
    /// Size of a sample of one channel, in bytes.
    const fn width(&self) -> usize {
        if self.is_float { 4 } else { 2 }
    }

    /// Size of a sample of all channels, in bytes.
    const fn frame(&self) -> usize {
        self.width() * self.channels
    }
}

const fn unsupported<T>(reason: &'static str) -> Result<T, HearingError> {
    Err(HearingError::Wav { reason })
}

/// Decodes a WAV file. A data chunk may claim to be longer than the file, as in files that were written to a pipe.
pub fn read(bytes: &[u8]) -> Result<Wav, HearingError> {
    if bytes.len() > MAX_BYTES {
        return unsupported("larger than 115 MB");
    }
    if bytes.get(..4) != Some(b"RIFF") || bytes.get(8..12) != Some(b"WAVE") {
        return unsupported("no RIFF/WAVE header");
    }
    let (mut rest, mut format) = (&bytes[12..], None);
    while let Some((header, after)) = rest.split_at_checked(8) {
        let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
        let body = &after[..length.min(after.len())];
        match &header[..4] {
            b"fmt " => format = Some(read_format(body)?),
            b"data" => {
                let Some(format) = format else { return unsupported("the data chunk precedes the format chunk") };
                if body.len() / format.frame() > MAX_FILE_SECONDS * format.rate as usize {
                    return unsupported("longer than five minutes");
                }
                return Ok(Wav { rate: format.rate, samples: mix(body, &format) });
            }
            _ => {}
        }
        // chunks are padded to an even length
        rest = after.get(length.saturating_add(length % 2)..).unwrap_or_default();
    }
    unsupported("no data chunk")
}

fn read_format(body: &[u8]) -> Result<Format, HearingError> {
    let Some(body) = body.get(..16) else { return unsupported("truncated format chunk") };
    let word = |at: usize| u16::from_le_bytes([body[at], body[at + 1]]);
    let rate = u32::from_le_bytes([body[4], body[5], body[6], body[7]]);
    // for the extensible format the sample size is sufficient
    let is_float = match (word(0), word(14)) {
        (1 | 0xFFFE, 16) => false,
        (3 | 0xFFFE, 32) => true,
        _ => return unsupported("samples are neither 16-bit integers nor 32-bit floats"),
    };
    if !(1..=2).contains(&word(2)) {
        return unsupported("neither one nor two channels");
    }
    if !RATES.contains(&rate) {
        return unsupported("sample rate outside 4 to 192 kHz");
    }
    Ok(Format { is_float, channels: usize::from(word(2)), rate })
}

fn mix(body: &[u8], format: &Format) -> Vec<f32> {
    let sample = |bytes: &[u8]| match *bytes {
        [a, b] => f32::from(i16::from_le_bytes([a, b])) / 32_768.0,
        [a, b, c, d] => sanitised(f32::from_le_bytes([a, b, c, d])),
        _ => 0.0,
    };
    let share = 1.0 / format.channels as f32;
    body.chunks_exact(format.frame())
        .map(|frame| frame.chunks_exact(format.width()).map(sample).sum::<f32>() * share)
        .collect()
}

/// Clamps a sample to -1..1 and replaces values that are not finite by 0.
pub(super) fn sanitised(sample: f32) -> f32 {
    if sample.is_finite() { sample.clamp(-1.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(format: u16, channels: u16, rate: u32, bits: u16, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"RIFF\0\0\0\0WAVE".to_vec();
        bytes.extend(b"LIST\x03\0\0\0abc\0fmt \x10\0\0\0");
        bytes.extend(format.to_le_bytes());
        bytes.extend(channels.to_le_bytes());
        bytes.extend(rate.to_le_bytes());
        bytes.extend([0; 6]);
        bytes.extend(bits.to_le_bytes());
        bytes.extend(b"data");
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn both_sample_formats_are_decoded_and_mixed() {
        let floats: Vec<u8> = [0.5f32, f32::NAN, 9.0, -1.0].iter().flat_map(|s| s.to_le_bytes()).collect();
        let words: Vec<u8> = [16_384i16, -32_768, 0, 8_192].iter().flat_map(|s| s.to_le_bytes()).collect();
        let cases = [
            (file(1, 1, 8_000, 16, &words), vec![0.5, -1.0, 0.0, 0.25]),
            (file(1, 2, 8_000, 16, &words), vec![-0.25, 0.125]),
            (file(0xFFFE, 1, 8_000, 16, &words[..3]), vec![0.5]),
            (file(3, 1, 8_000, 32, &floats), vec![0.5, 0.0, 1.0, -1.0]),
            (file(3, 2, 8_000, 32, &floats), vec![0.25, 0.0]),
            (file(3, 2, 8_000, 32, &floats[..7]), vec![]),
        ];
        for (bytes, samples) in cases {
            assert_eq!(read(&bytes).expect("a WAV file"), Wav { rate: 8_000, samples });
        }
    }

    #[test]
    fn unsupported_files_are_refused() {
        let good = file(1, 1, 16_000, 16, &[0; 8]);
        let mut late = b"RIFF\0\0\0\0WAVE".to_vec();
        late.extend(&good[48..]);
        let cases: [(Vec<u8>, &str); 10] = [
            (Vec::new(), "RIFF/WAVE"),
            (b"RIFX\0\0\0\0WAVE".to_vec(), "RIFF/WAVE"),
            (good[..40].to_vec(), "truncated"),
            (good[..48].to_vec(), "no data chunk"),
            (late, "precedes"),
            (file(1, 1, 16_000, 8, &[]), "neither 16-bit"),
            (file(1, 6, 16_000, 16, &[]), "channels"),
            (file(1, 1, 1, 16, &[]), "rate"),
            (vec![0; MAX_BYTES + 1], "larger than 115 MB"),
            (file(1, 1, 4_000, 16, &[0; 2 * (4_000 * 300 + 1)]), "longer than five minutes"),
        ];
        for (bytes, why) in cases {
            let error = read(&bytes).expect_err(why).to_string();
            assert!(error.contains(why), "`{why}` is not in: {error}");
        }
    }

    #[test]
    fn five_minutes_are_accepted() {
        let wav = read(&file(1, 2, 4_000, 16, &vec![0; 4 * 4_000 * MAX_FILE_SECONDS])).expect("a WAV file");
        assert_eq!(wav.samples.len(), 4_000 * 300);
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0usize..80, flip in 12usize..56, with: u8) {
            let mut damaged = file(3, 2, 44_100, 32, &bytes);
            damaged[flip] ^= with;
            damaged.truncate(damaged.len() - cut.min(damaged.len()));
            for bytes in [&bytes, &damaged] {
                if let Ok(wav) = read(bytes) {
                    prop_assert!(RATES.contains(&wav.rate));
                    prop_assert!(wav.samples.iter().all(|s| (-1.0..=1.0).contains(s)));
                }
            }
        }
    }
}
