//! Writes phrases to a WAV file, one after the other and without the pauses between them.

use std::{
    fs::File,
    io::{self, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use support::output_file::{self, Existing};

use super::{Sink, SinkError, little_endian};

/// Size of the header, in bytes.
const HEADER: u32 = 44;

/// Writes a WAV file that is complete after each phrase. A phrase that is stopped is truncated to the part that has been
/// spoken.
#[derive(Debug)]
pub struct WavSink {
    path: PathBuf,
    file: File,
    /// Sample rate in Hz, once there are samples.
    rate: Option<u32>,
    /// Size of the samples, in bytes.
    length: u32,
    /// The phrase that may still be stopped: size of the samples before it, and its start time in s.
    current: Option<(u32, f64)>,
}

impl WavSink {
    /// Creates the file.
    pub fn create(path: &Path, existing: Existing) -> Result<Self, SinkError> {
        let failed = |source| SinkError::File { path: path.to_owned(), source };
        let mut sink = Self {
            path: path.to_owned(),
            file: output_file::create(path, existing)?,
            rate: None,
            length: 0,
            current: None,
        };
        sink.write_header().map_err(failed)?;
        Ok(sink)
    }

    fn write_header(&mut self) -> io::Result<()> {
        let rate = self.rate.unwrap_or(22_050);
        let mut header = Vec::with_capacity(HEADER as usize);
        header.extend(b"RIFF");
        header.extend((self.length + HEADER - 8).to_le_bytes());
        header.extend(b"WAVEfmt ");
        header.extend(16_u32.to_le_bytes());
        // PCM, one channel
        header.extend([1, 0, 1, 0]);
        header.extend(rate.to_le_bytes());
        header.extend(rate.saturating_mul(2).to_le_bytes());
        // bytes per frame and bits per sample
        header.extend([2, 0, 16, 0]);
        header.extend(b"data");
        header.extend(self.length.to_le_bytes());
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&header)
    }

    /// Writes the samples first: if the header cannot be updated, the file is still valid.
    fn append(&mut self, samples: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(u64::from(HEADER) + u64::from(self.length)))?;
        self.file.write_all(samples)?;
        self.length += samples.len() as u32;
        self.write_header()
    }

    /// Writes the header first: it never claims samples that do not exist.
    fn truncate(&mut self, length: u32) -> io::Result<()> {
        self.length = length;
        self.write_header()?;
        self.file.set_len(u64::from(HEADER) + u64::from(length))
    }
}

impl Sink for WavSink {
    fn start(&mut self, rate: u32, samples: &[i16], now: f64) -> Result<(), SinkError> {
        let first = *self.rate.get_or_insert(rate);
        if first != rate {
            return Err(SinkError::Rate { path: self.path.clone(), first, rate });
        }
        let room = (u32::MAX - HEADER - self.length) as usize;
        if samples.len() > room / 2 {
            return Err(SinkError::Full { path: self.path.clone() });
        }
        self.current = Some((self.length, now));
        self.append(&little_endian(samples)).map_err(|source| SinkError::File { path: self.path.clone(), source })
    }

    fn stop(&mut self, now: f64) -> Result<(), SinkError> {
        let (Some((before, began)), Some(rate)) = (self.current.take(), self.rate) else { return Ok(()) };
        // 0 if the clock stands still or goes backwards
        let spoken = ((now - began).max(0.0) * f64::from(rate)) as u32;
        let length = before.saturating_add(spoken.saturating_mul(2));
        if length >= self.length {
            return Ok(());
        }
        self.truncate(length).map_err(|source| SinkError::File { path: self.path.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_file_is_valid_after_each_step() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("speech.wav");
        let check = |expected: &[i16]| {
            let bytes = fs::read(&path).expect("a file");
            let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
            assert_eq!((&bytes[..4], &bytes[8..16], &bytes[36..40]), (&b"RIFF"[..], &b"WAVEfmt "[..], &b"data"[..]));
            assert_eq!((number(4), number(40)), (bytes.len() - 8, bytes.len() - 44));
            assert_eq!((number(24), number(28)), (22_050, 44_100));
            assert_eq!(bytes[44..], little_endian(expected));
        };
        let mut sink = WavSink::create(&path, Existing::Keep).expect("a file");
        check(&[]);
        sink.stop(0.0).expect("nothing to stop");
        sink.start(22_050, &[1, -2, 3], 0.0).expect("room");
        check(&[1, -2, 3]);
        // it had ended before it was stopped
        sink.stop(1.0).expect("nothing to stop");
        sink.start(22_050, &[4; 22_050], 2.0).expect("room");
        sink.stop(2.0 + 2.5 / 22_050.0).expect("a phrase to stop");
        check(&[1, -2, 3, 4, 4]);
        // a phrase is stopped once
        sink.stop(0.0).expect("nothing to stop");
        check(&[1, -2, 3, 4, 4]);
        sink.start(22_050, &[5; 100], 3.0).expect("room");
        sink.stop(f64::NAN).expect("a phrase to stop");
        sink.start(22_050, &[i16::MIN, i16::MAX], 4.0).expect("room");
        check(&[1, -2, 3, 4, 4, i16::MIN, i16::MAX]);
        assert!(matches!(sink.start(16_000, &[1], 5.0), Err(SinkError::Rate { first: 22_050, rate: 16_000, .. })));
        drop(sink);
        check(&[1, -2, 3, 4, 4, i16::MIN, i16::MAX]);
    }

    #[test]
    fn write_errors_name_the_file() {
        let error = WavSink::create(Path::new("/nowhere/at/all.wav"), Existing::Keep).expect_err("no folder");
        assert!(error.to_string().contains("/nowhere/at/all.wav"), "{error}");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("p01.wav");
        fs::write(&path, "an interview").expect("a file");
        let error = WavSink::create(&path, Existing::Keep).expect_err("it exists").to_string();
        assert!(error.contains("p01.wav exists already"), "{error}");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "an interview");
    }
}
