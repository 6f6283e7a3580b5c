use super::{Text, decode_all, id, put_f32, put_u32, read_count, split_by};
use crate::{DecodeError, Message, Reader, Split, StreamMessage};
use std::sync::Arc;

/// Most options a server sends of one utterance: old clients have room for no more (D12).
pub const MAX_OPTIONS: usize = 16;

/// Most faces a server sends at once: old clients have room for no more (D12).
pub const MAX_FACES: usize = 16;

/// Most bytes in a picture that a server sends: with its head it fits in the 1 MiB of old clients (D12).
pub const MAX_JPEG: usize = 1024 * 1024 - 8;

/// Most options of one utterance that are read (D13).
pub const MAX_OPTIONS_READ: usize = 256;

/// Most faces at once that are read (D13).
pub const MAX_FACES_READ: usize = 256;

/// Most bytes in a picture that is read (D13).
pub const MAX_JPEG_READ: usize = 16 * 1024 * 1024;

/// What the robot tells a client that it has welcomed.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The robot has said one text to its end.
    SpeakDone,
    /// One gesture has come to its end.
    GestureDone,
    /// A tag in the spoken text began a gesture: its place in [`GESTURES`](super::GESTURES).
    SpeakGesture(u32),
    /// The robot has understood something.
    Utterance(Utterance),
    /// Whom the robot sees.
    Faces(Faces),
    /// What the robot sees.
    VideoFrame(Jpeg),
}

/// What the robot may have heard, the likeliest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Utterance(Vec<Hypothesis>);

/// One option of an utterance.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    /// How sure the robot is, 0 to 1.
    pub confidence: f32,
    /// The words.
    pub text: Text,
}

/// The faces in the robot's picture; none when the last one has gone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Faces(Vec<Face>);

/// A face in the robot's picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Face {
    /// How sure the robot is that it is one, 0 to 1.
    pub confidence: f32,
    /// The middle of the face: -1 far left to 1 far right of the picture.
    pub x: f32,
    /// The middle of the face: -1 at the top to 1 at the bottom of the picture.
    pub y: f32,
    /// 0 to 1, the width of the picture.
    pub width: f32,
    /// 0 to 1, the height of the picture.
    pub height: f32,
    /// Whose face it is; empty if unknown.
    pub name: Text,
}

/// A picture, as a JPEG file. It is shared, not copied, when it is cloned for several clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jpeg(Arc<[u8]>);

/// A picture has more bytes than clients can take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a picture of {bytes} bytes; clients take {MAX_JPEG}")]
pub struct JpegTooLong {
    /// How many bytes it has.
    pub bytes: usize,
}

impl Utterance {
    /// The likeliest [`MAX_OPTIONS`] of what was heard, in order; `None` if there are none. Confidences are put within 0
    /// to 1, and texts cut to [`MAX_NAME`](super::MAX_NAME) bytes.
    pub fn new(options: impl IntoIterator<Item = Hypothesis>) -> Option<Self> {
        let mut options: Vec<_> = options
            .into_iter()
            .map(|Hypothesis { confidence, text }| Hypothesis {
                confidence: within(confidence, 0.0),
                text: text.shortened(),
            })
            .collect();
        options.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        options.truncate(MAX_OPTIONS);
        (!options.is_empty()).then_some(Self(options))
    }

    /// What may have been heard. Our server sends one at least, and the likeliest first.
    pub fn options(&self) -> &[Hypothesis] {
        &self.0
    }
}

impl Faces {
    /// The first [`MAX_FACES`] of these. Numbers are put within their ranges, and names cut to
    /// [`MAX_NAME`](super::MAX_NAME) bytes.
    pub fn new(faces: impl IntoIterator<Item = Face>) -> Self {
        let within_ranges = |face: Face| Face {
            confidence: within(face.confidence, 0.0),
            x: within(face.x, -1.0),
            y: within(face.y, -1.0),
            width: within(face.width, 0.0),
            height: within(face.height, 0.0),
            name: face.name.shortened(),
        };
        Self(faces.into_iter().take(MAX_FACES).map(within_ranges).collect())
    }

    /// The faces.
    pub fn as_slice(&self) -> &[Face] {
        &self.0
    }
}

impl Jpeg {
    /// A picture to send.
    ///
    /// # Errors
    ///
    /// [`JpegTooLong`] beyond [`MAX_JPEG`] bytes.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Result<Self, JpegTooLong> {
        let bytes = bytes.into();
        if bytes.len() > MAX_JPEG { Err(JpegTooLong { bytes: bytes.len() }) } else { Ok(Self(bytes)) }
    }

    /// The file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Passes over options or faces: each has some numbers, and a text.
fn skip_each(r: &mut Reader<'_>, field: &'static str, max: usize, numbers: usize) -> Result<(), DecodeError> {
    for _ in 0..read_count(r, field, max)? {
        r.bytes(numbers * size_of::<f32>(), field)?;
        Text::skip(r)?;
    }
    Ok(())
}

/// The nearest number of `least` to 1; 0 for what is none.
fn within(value: f32, least: f32) -> f32 {
    if value.is_nan() { 0.0 } else { value.clamp(least, 1.0) }
}

impl Event {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let event = match r.u32_be("id")? {
            id::SPEAK_DONE => Self::SpeakDone,
            id::GESTURE_DONE => Self::GestureDone,
            id::SPEAK_GESTURE => Self::SpeakGesture(r.u32_be("gesture")?),
            id::UTTERANCE => {
                let options = read_count(r, "number of options", MAX_OPTIONS_READ)?;
                Self::Utterance(Utterance((0..options).map(|_| Hypothesis::read(r)).collect::<Result<_, _>>()?))
            }
            id::FACES => {
                let faces = read_count(r, "number of faces", MAX_FACES_READ)?;
                Self::Faces(Faces((0..faces).map(|_| Face::read(r)).collect::<Result<_, _>>()?))
            }
            id::VIDEO_FRAME => {
                let length = read_count(r, "length of the picture", MAX_JPEG_READ)?;
                Self::VideoFrame(Jpeg(r.bytes(length, "picture")?.into()))
            }
            id => return Err(DecodeError::UnknownId { id }),
        };
        Ok(event)
    }

    fn skip(r: &mut Reader<'_>) -> Result<(), DecodeError> {
        match r.u32_be("id")? {
            id::SPEAK_DONE | id::GESTURE_DONE => Ok(()),
            id::SPEAK_GESTURE => r.u32_be("gesture").map(drop),
            id::UTTERANCE => skip_each(r, "number of options", MAX_OPTIONS_READ, 1),
            id::FACES => skip_each(r, "number of faces", MAX_FACES_READ, 5),
            id::VIDEO_FRAME => {
                let length = read_count(r, "length of the picture", MAX_JPEG_READ)?;
                r.bytes(length, "picture").map(drop)
            }
            id => Err(DecodeError::UnknownId { id }),
        }
    }
}

impl Hypothesis {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { confidence: r.f32_be("confidence")?, text: Text::decode(r, "text")? })
    }
}

impl Face {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            confidence: r.f32_be("confidence")?,
            x: r.f32_be("x")?,
            y: r.f32_be("y")?,
            width: r.f32_be("width")?,
            height: r.f32_be("height")?,
            name: Text::decode(r, "name")?,
        })
    }
}

impl Message for Event {
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        decode_all(bytes, Self::read)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::SpeakDone => put_u32(out, id::SPEAK_DONE),
            Self::GestureDone => put_u32(out, id::GESTURE_DONE),
            Self::SpeakGesture(gesture) => {
                put_u32(out, id::SPEAK_GESTURE);
                put_u32(out, *gesture);
            }
            Self::Utterance(Utterance(options)) => {
                put_u32(out, id::UTTERANCE);
                put_u32(out, options.len() as u32);
                for option in options {
                    put_f32(out, option.confidence);
                    option.text.encode(out);
                }
            }
            Self::Faces(Faces(faces)) => {
                put_u32(out, id::FACES);
                put_u32(out, faces.len() as u32);
                for face in faces {
                    for number in [face.confidence, face.x, face.y, face.width, face.height] {
                        put_f32(out, number);
                    }
                    face.name.encode(out);
                }
            }
            Self::VideoFrame(Jpeg(picture)) => {
                put_u32(out, id::VIDEO_FRAME);
                put_u32(out, picture.len() as u32);
                out.extend_from_slice(picture);
            }
        }
    }
}

impl StreamMessage for Event {
    fn split(buffer: &[u8]) -> Result<Option<Split>, DecodeError> {
        split_by(buffer, Self::skip)
    }

    fn encode_in_stream(&self, out: &mut Vec<u8>) {
        self.encode(out);
    }
}
