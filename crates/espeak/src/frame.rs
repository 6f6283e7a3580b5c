//! What goes through the pipes: one request at a time, one answer to each. All numbers are little-endian.
//!
//! ```text
//! request: "SAY1" u32 id, f32 pitch, f32 volume, u8 n voice[n], u16 n text[n], u16 n (u16 at)[n]
//! answer:  "SAID" u32 id, u8 0, u32 rate, u32 n (i16 sample)[n], u16 n event[n]
//!          "SAID" u32 id, u8 1, u16 n reason[n]
//! event:   u32 milliseconds, u8 0, u16 mark
//!          u32 milliseconds, u8 1, u8 n phoneme[n]
//! ```
//!
//! Lengths are checked before anything is allocated for them. What does not read as a frame is an error, after which the
//! pipe is of no more use.

use std::io::{self, Read, Write};

/// Bytes of text in a request. With it a request fits into a pipe's buffer, so that writing one never waits.
pub const MAX_TEXT: usize = 8_192;
/// Bytes of a voice's name.
pub const MAX_VOICE: usize = 32;
/// Marks in a request.
pub const MAX_MARKS: usize = 256;
/// Speech in an answer, in seconds. What is longer is cut off.
pub const MAX_SECONDS: u32 = 120;
/// Marks and phonemes in an answer.
pub const MAX_EVENTS: usize = 8_192;
/// Bytes of a phoneme's name.
pub const MAX_PHONEME: usize = 8;
/// Bytes of the reason why nothing was said.
pub const MAX_REASON: usize = 1_024;
/// Samples a second that an answer may have.
pub const RATES: std::ops::RangeInclusive<u32> = 8_000..=48_000;
/// The id of an answer that belongs to no request: espeak-ng could not be set up.
pub const NO_REQUEST: u32 = 0;

const REQUEST: [u8; 4] = *b"SAY1";
const ANSWER: [u8; 4] = *b"SAID";

/// A place in the text of which the time is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Offset in the text, in bytes.
    pub at: u32,
}

/// A phrase to be spoken.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Comes back with the answer; not [`NO_REQUEST`].
    pub id: u32,
    /// Factor, 0.5 to 2; 1 is the voice as it is.
    pub pitch: f32,
    /// 0 (silent) to 1.
    pub volume: f32,
    /// espeak-ng's name of the voice, such as "en-us".
    pub voice: String,
    /// What to say, without any markup.
    pub text: String,
    /// Where the text has marks.
    pub marks: Vec<Mark>,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// That of the request, or [`NO_REQUEST`].
    pub id: u32,
    /// The speech, or why there is none.
    pub outcome: Result<Speech, String>,
}

/// A spoken phrase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Speech {
    /// Samples a second.
    pub rate: u32,
    /// One channel.
    pub samples: Vec<i16>,
    /// Phonemes in the order of their times, then marks in theirs.
    pub events: Vec<Event>,
}

/// Something that happens while a phrase is spoken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// From the beginning of the samples.
    pub milliseconds: u32,
    /// What happens.
    pub kind: EventKind,
}

/// What happens while a phrase is spoken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The mark with this place in the request's list is reached.
    Mark(u16),
    /// A phoneme begins, given as IPA; empty is silence.
    Phoneme(String),
}

/// Why a frame could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The pipe failed, or ended within a frame.
    #[error("the pipe failed: {0}")]
    Io(#[from] io::Error),
    /// There is something else where a frame should begin.
    #[error("there is no frame but {found:?}")]
    NoFrame {
        /// The bytes where a frame should begin.
        found: [u8; 4],
    },
    /// Something is longer than it may be.
    #[error("{count} {what} are more than {limit}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A number is not among those that have a meaning.
    #[error("the {what} is out of range")]
    OutOfRange {
        /// Which number.
        what: &'static str,
    },
    /// Text is not UTF-8.
    #[error("the {what} is no text")]
    NoText {
        /// Which text.
        what: &'static str,
    },
}

impl Request {
    /// Writes the request in one piece; too long a text, or one with too many marks, is an error.
    pub fn write(&self, mut output: impl Write) -> Result<(), FrameError> {
        let mut frame = Vec::with_capacity(self.text.len() + 64);
        frame.extend(REQUEST);
        frame.extend(self.id.to_le_bytes());
        frame.extend(self.pitch.to_le_bytes());
        frame.extend(self.volume.to_le_bytes());
        frame.push(limited("bytes of a voice's name", self.voice.len(), MAX_VOICE)? as u8);
        frame.extend(self.voice.as_bytes());
        frame.extend((limited("bytes of text", self.text.len(), MAX_TEXT)? as u16).to_le_bytes());
        frame.extend(self.text.as_bytes());
        frame.extend((limited("marks", self.marks.len(), MAX_MARKS)? as u16).to_le_bytes());
        for mark in &self.marks {
            let at = limited("bytes before a mark", mark.at as usize, self.text.len())?;
            frame.extend((at as u16).to_le_bytes());
        }
        output.write_all(&frame)?;
        Ok(output.flush()?)
    }

    /// The next request; none if the pipe ends where one would begin.
    pub fn read(mut input: impl Read) -> Result<Option<Self>, FrameError> {
        if !begins(&mut input, REQUEST)? {
            return Ok(None);
        }
        let id = u32::from_le_bytes(bytes(&mut input)?);
        if id == NO_REQUEST {
            return Err(FrameError::OutOfRange { what: "id" });
        }
        let pitch = f32::from_le_bytes(bytes(&mut input)?);
        let volume = f32::from_le_bytes(bytes(&mut input)?);
        if !(0.5..=2.0).contains(&pitch) {
            return Err(FrameError::OutOfRange { what: "pitch" });
        }
        if !(0.0..=1.0).contains(&volume) {
            return Err(FrameError::OutOfRange { what: "volume" });
        }
        let [length] = bytes(&mut input)?;
        let voice = text(&mut input, "voice", usize::from(length), MAX_VOICE)?;
        let length = u16::from_le_bytes(bytes(&mut input)?);
        let text = text(&mut input, "text", usize::from(length), MAX_TEXT)?;
        let count = usize::from(u16::from_le_bytes(bytes(&mut input)?));
        let mut marks = Vec::with_capacity(limited("marks", count, MAX_MARKS)?);
        for _ in 0..count {
            let at = u16::from_le_bytes(bytes(&mut input)?);
            limited("bytes before a mark", usize::from(at), text.len())?;
            marks.push(Mark { at: at.into() });
        }
        Ok(Some(Self { id, pitch, volume, voice, text, marks }))
    }
}

impl Answer {
    /// Writes the answer. A reason is cut to its length; a speech that is too long is an error.
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
        if !begins(&mut input, ANSWER)? {
            return Ok(None);
        }
        let id = u32::from_le_bytes(bytes(&mut input)?);
        let outcome = match bytes(&mut input)? {
            [0] => Ok(Speech::read(input)?),
            [1] => {
                let length = u16::from_le_bytes(bytes(&mut input)?);
                Err(text(&mut input, "reason", usize::from(length), MAX_REASON)?)
            }
            _ => return Err(FrameError::OutOfRange { what: "outcome" }),
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
                    let length = limited("bytes of a phoneme's name", name.len(), MAX_PHONEME)?;
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
            return Err(FrameError::OutOfRange { what: "rate" });
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
            _ => return Err(FrameError::OutOfRange { what: "kind of event" }),
        };
        Ok(Self { milliseconds, kind })
    }
}

/// Samples in an answer with so many a second.
pub(crate) fn max_samples(rate: u32) -> usize {
    rate.saturating_mul(MAX_SECONDS) as usize
}

/// Whether a frame begins here, and not the pipe's end.
fn begins(mut input: impl Read, expected: [u8; 4]) -> Result<bool, FrameError> {
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
    if found == expected { Ok(true) } else { Err(FrameError::NoFrame { found }) }
}

fn bytes<const N: usize>(mut input: impl Read) -> Result<[u8; N], FrameError> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn text(mut input: impl Read, what: &'static str, length: usize, limit: usize) -> Result<String, FrameError> {
    let mut bytes = vec![0; limited(what, length, limit)?];
    input.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| FrameError::NoText { what })
}

fn limited(what: &'static str, count: usize, limit: usize) -> Result<usize, FrameError> {
    if count <= limit { Ok(count) } else { Err(FrameError::TooMany { what, count, limit }) }
}

#[cfg(test)]
mod tests;
