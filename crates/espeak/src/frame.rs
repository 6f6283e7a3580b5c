//! The protocol between the helper and its parent: one answer to each request. Numbers are little-endian.
//!
//! ```text
//! request: "SAY1" u32 id, f32 pitch, f32 volume, u8 n voice[n], u16 n text[n], u16 n (u16 at)[n]
//! answer:  "SAID" u32 id, u8 0, u32 rate, u32 n (i16 sample)[n], u16 n event[n]
//!          "SAID" u32 id, u8 1, u16 n reason[n]
//! event:   u32 milliseconds, u8 0, u16 mark
//!          u32 milliseconds, u8 1, u8 n phoneme[n]
//! ```
//!
//! Lengths are checked before memory is allocated for them. After an error the pipe can no longer be used.

use std::io::{self, Read, Write};

/// Maximum length of a text, in bytes. A request fits into the buffer of a pipe, so writing one never blocks.
pub const MAX_TEXT: usize = 8_192;
/// Maximum length of a voice name, in bytes.
pub const MAX_VOICE: usize = 32;
/// Maximum number of marks in a request.
pub const MAX_MARKS: usize = 256;
/// Maximum length of the speech in an answer, in s; longer speech is truncated.
pub const MAX_SECONDS: u32 = 120;
/// Maximum number of events in an answer.
pub const MAX_EVENTS: usize = 8_192;
/// Maximum length of a phoneme name, in bytes.
pub const MAX_PHONEME: usize = 8;
/// Maximum length of an error message, in bytes.
pub const MAX_REASON: usize = 1_024;
/// Valid sample rates, in Hz.
pub const RATES: std::ops::RangeInclusive<u32> = 8_000..=48_000;
/// Id of an answer without a request, sent if espeak-ng could not be initialised.
pub const NO_REQUEST: u32 = 0;

const REQUEST: [u8; 4] = *b"SAY1";
const ANSWER: [u8; 4] = *b"SAID";

/// A position in the text whose time is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Byte offset in the text.
    pub at: u32,
}

/// A phrase to synthesise.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Repeated in the answer; not [`NO_REQUEST`].
    pub id: u32,
    /// Factor on the voice's natural pitch, 0.5 to 2.
    pub pitch: f32,
    /// 0 (silent) to 1.
    pub volume: f32,
    /// Name of the voice in espeak-ng, such as `en-us`.
    pub voice: String,
    /// Plain text without markup.
    pub text: String,
    /// Positions whose times are requested.
    pub marks: Vec<Mark>,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Id of the request, or [`NO_REQUEST`].
    pub id: u32,
    /// The speech, or an error message.
    pub outcome: Result<Speech, String>,
}

/// A synthesised phrase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Speech {
    /// Sample rate, in Hz.
    pub rate: u32,
    /// Mono samples.
    pub samples: Vec<i16>,
    /// Phonemes sorted by time, then marks sorted by time.
    pub events: Vec<Event>,
}

/// An event during a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time since the first sample.
    pub milliseconds: u32,
    /// Kind of the event.
    pub kind: EventKind,
}

/// Kind of an event during a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The mark with this index in the request is reached.
    Mark(u16),
    /// A phoneme starts, given in IPA; the empty string is silence.
    Phoneme(String),
}

/// Error of reading or writing a frame.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The pipe failed, or was closed within a frame.
    #[error("the pipe failed: {0}")]
    Io(#[from] io::Error),
    /// The frame does not start with the expected magic bytes.
    #[error("unexpected magic bytes {found:?}")]
    Magic {
        /// The bytes found instead.
        found: [u8; 4],
    },
    /// A length exceeds its limit.
    #[error("{field}: {count} exceeds the limit of {limit}")]
    TooMany {
        /// Name of the field.
        field: &'static str,
        /// Actual length.
        count: usize,
        /// Maximum length.
        limit: usize,
    },
    /// A number is out of range.
    #[error("{field} is out of range")]
    OutOfRange {
        /// Name of the field.
        field: &'static str,
    },
    /// A text is not UTF-8.
    #[error("{field} is not valid UTF-8")]
    Utf8 {
        /// Name of the field.
        field: &'static str,
    },
}

impl Request {
    /// Writes the request in one piece. Returns an error if a limit is exceeded.
    pub fn write(&self, mut output: impl Write) -> Result<(), FrameError> {
        let mut frame = Vec::with_capacity(self.text.len() + 64);
        frame.extend(REQUEST);
        frame.extend(self.id.to_le_bytes());
        frame.extend(self.pitch.to_le_bytes());
        frame.extend(self.volume.to_le_bytes());
        frame.push(limited("length of the voice name", self.voice.len(), MAX_VOICE)? as u8);
        frame.extend(self.voice.as_bytes());
        frame.extend((limited("length of the text", self.text.len(), MAX_TEXT)? as u16).to_le_bytes());
        frame.extend(self.text.as_bytes());
        frame.extend((limited("marks", self.marks.len(), MAX_MARKS)? as u16).to_le_bytes());
        for mark in &self.marks {
            let at = limited("offset of a mark", mark.at as usize, self.text.len())?;
            frame.extend((at as u16).to_le_bytes());
        }
        output.write_all(&frame)?;
        Ok(output.flush()?)
    }

    /// The next request; none if the pipe ends where one would begin.
    pub fn read(mut input: impl Read) -> Result<Option<Self>, FrameError> {
        if !read_magic(&mut input, REQUEST)? {
            return Ok(None);
        }
        let id = u32::from_le_bytes(bytes(&mut input)?);
        if id == NO_REQUEST {
            return Err(FrameError::OutOfRange { field: "id" });
        }
        let pitch = f32::from_le_bytes(bytes(&mut input)?);
        let volume = f32::from_le_bytes(bytes(&mut input)?);
        if !(0.5..=2.0).contains(&pitch) {
            return Err(FrameError::OutOfRange { field: "pitch" });
        }
        if !(0.0..=1.0).contains(&volume) {
            return Err(FrameError::OutOfRange { field: "volume" });
        }
        let [length] = bytes(&mut input)?;
        let voice = text(&mut input, "voice", usize::from(length), MAX_VOICE)?;
        let length = u16::from_le_bytes(bytes(&mut input)?);
        let text = text(&mut input, "text", usize::from(length), MAX_TEXT)?;
        let count = usize::from(u16::from_le_bytes(bytes(&mut input)?));
        let mut marks = Vec::with_capacity(limited("marks", count, MAX_MARKS)?);
        for _ in 0..count {
            let at = u16::from_le_bytes(bytes(&mut input)?);
            limited("offset of a mark", usize::from(at), text.len())?;
            marks.push(Mark { at: at.into() });
        }
        Ok(Some(Self { id, pitch, volume, voice, text, marks }))
    }
}

impl Answer {
    /// Writes the answer. An error message is truncated; speech that exceeds a limit is an error.
    pub fn write(&self, mut output: impl Write) -> Result<(), FrameError> {
        output.write_all(&ANSWER)?;
        output.write_all(&self.id.to_le_bytes())?;
        match &self.outcome {
            Ok(speech) => {
                output.write_all(&[0])?;
                speech.write(output)
            }
            Err(reason) => {
                let reason = &reason.as_bytes()[..reason.floor_char_boundary(MAX_REASON)];
                output.write_all(&[1])?;
                output.write_all(&(reason.len() as u16).to_le_bytes())?;
                Ok(output.write_all(reason)?)
            }
        }
    }

    /// The next answer; none if the pipe ends where one would begin.
    pub fn read(mut input: impl Read) -> Result<Option<Self>, FrameError> {
        if !read_magic(&mut input, ANSWER)? {
            return Ok(None);
        }
        let id = u32::from_le_bytes(bytes(&mut input)?);
        let outcome = match bytes(&mut input)? {
            [0] => Ok(Speech::read(input)?),
            [1] => {
                let length = u16::from_le_bytes(bytes(&mut input)?);
                Err(text(&mut input, "reason", usize::from(length), MAX_REASON)?)
            }
            _ => return Err(FrameError::OutOfRange { field: "outcome" }),
        };
        Ok(Some(Self { id, outcome }))
    }
}

impl Speech {
    fn write(&self, mut output: impl Write) -> Result<(), FrameError> {
        output.write_all(&self.rate.to_le_bytes())?;
        let count = limited("samples", self.samples.len(), max_samples(self.rate))?;
        output.write_all(&(count as u32).to_le_bytes())?;
        let samples: Vec<u8> = self.samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        output.write_all(&samples)?;
        let count = limited("events", self.events.len(), MAX_EVENTS)?;
        output.write_all(&(count as u16).to_le_bytes())?;
        for event in &self.events {
            output.write_all(&event.milliseconds.to_le_bytes())?;
            match &event.kind {
                EventKind::Mark(index) => {
                    output.write_all(&[0])?;
                    output.write_all(&index.to_le_bytes())?;
                }
                EventKind::Phoneme(name) => {
                    let length = limited("length of a phoneme name", name.len(), MAX_PHONEME)?;
                    output.write_all(&[1, length as u8])?;
                    output.write_all(name.as_bytes())?;
                }
            }
        }
        Ok(())
    }

    fn read(mut input: impl Read) -> Result<Self, FrameError> {
        let rate = u32::from_le_bytes(bytes(&mut input)?);
        if !RATES.contains(&rate) {
            return Err(FrameError::OutOfRange { field: "rate" });
        }
        let count = u32::from_le_bytes(bytes(&mut input)?) as usize;
        limited("samples", count, max_samples(rate))?;
        let mut raw = vec![0; 2 * count];
        input.read_exact(&mut raw)?;
        let samples = raw.as_chunks::<2>().0.iter().map(|&sample| i16::from_le_bytes(sample)).collect();
        let count = limited("events", usize::from(u16::from_le_bytes(bytes(&mut input)?)), MAX_EVENTS)?;
        let events = (0..count).map(|_| Event::read(&mut input)).collect::<Result<_, _>>()?;
        Ok(Self { rate, samples, events })
    }
}

impl Event {
    fn read(mut input: impl Read) -> Result<Self, FrameError> {
        let milliseconds = u32::from_le_bytes(bytes(&mut input)?);
        let kind = match bytes(&mut input)? {
            [0] => EventKind::Mark(u16::from_le_bytes(bytes(&mut input)?)),
            [1] => {
                let [length] = bytes(&mut input)?;
                EventKind::Phoneme(text(&mut input, "phoneme", usize::from(length), MAX_PHONEME)?)
            }
            _ => return Err(FrameError::OutOfRange { field: "event kind" }),
        };
        Ok(Self { milliseconds, kind })
    }
}

/// Maximum number of samples at this sample rate.
pub(crate) fn max_samples(rate: u32) -> usize {
    rate.saturating_mul(MAX_SECONDS) as usize
}

/// Reads the magic bytes of a frame. Returns false at the end of the pipe.
fn read_magic(mut input: impl Read, expected: [u8; 4]) -> Result<bool, FrameError> {
    let mut found = [0; 4];
    loop {
        match input.read(&mut found[..1]) {
            Ok(0) => return Ok(false),
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    input.read_exact(&mut found[1..])?;
    if found == expected { Ok(true) } else { Err(FrameError::Magic { found }) }
}

fn bytes<const N: usize>(mut input: impl Read) -> Result<[u8; N], FrameError> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn text(mut input: impl Read, field: &'static str, length: usize, limit: usize) -> Result<String, FrameError> {
    let mut bytes = vec![0; limited(field, length, limit)?];
    input.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| FrameError::Utf8 { field })
}

fn limited(field: &'static str, count: usize, limit: usize) -> Result<usize, FrameError> {
    if count <= limit { Ok(count) } else { Err(FrameError::TooMany { field, count, limit }) }
}

#[cfg(test)]
mod tests;
