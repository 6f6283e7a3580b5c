use super::{Text, decode_all, id, put_f32, put_u32, read_count, split_by};
use crate::{DecodeError, Message, Reader, Split, StreamMessage};
use std::sync::Arc;

/// Maximum number of options of an utterance that servers send: the buffer size of old clients (D12).
pub const MAX_OPTIONS: usize = 16;

/// Maximum number of faces that servers send: the buffer size of old clients (D12).
pub const MAX_FACES: usize = 16;

/// Maximum size of a picture that servers send, in bytes: with its header it fits the 1 MiB buffer of old clients
/// (D12).
pub const MAX_JPEG: usize = 1024 * 1024 - 8;

/// Maximum number of options of an utterance that decoders accept (D13).
pub const MAX_OPTIONS_READ: usize = 256;

/// Maximum number of faces that decoders accept (D13).
pub const MAX_FACES_READ: usize = 256;

/// Maximum size of a picture that decoders accept, in bytes (D13).
pub const MAX_JPEG_READ: usize = 16 * 1024 * 1024;

/// A notification from the robot.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The robot has finished speaking a text.
    SpeakDone,
    /// A gesture has ended.
    GestureDone,
    /// A tag in the spoken text has started a gesture: its index in [`GESTURES`](super::GESTURES).
    SpeakGesture(u32),
    /// The robot has recognised speech.
    Utterance(Utterance),
    /// The faces that the robot sees.
    Faces(Faces),
    /// A picture of the robot's camera.
    VideoFrame(Jpeg),
}

/// Recognition hypotheses, most likely first.
#[derive(Debug, Clone, PartialEq)]
pub struct Utterance(Vec<Hypothesis>);

/// A recognition hypothesis.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    /// Confidence, 0 to 1.
    pub confidence: f32,
    /// The recognised text.
    pub text: Text,
}

/// The faces in the robot's picture; empty when the last one has disappeared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Faces(Vec<Face>);

/// A face in the robot's picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Face {
    /// Confidence of the detection, 0 to 1.
    pub confidence: f32,
    /// Centre of the face: -1 is the left edge of the picture, 1 the right.
    pub x: f32,
    /// Centre of the face: -1 is the top edge of the picture, 1 the bottom.
    pub y: f32,
    /// Width as a fraction of the picture's, 0 to 1.
    pub width: f32,
    /// Height as a fraction of the picture's, 0 to 1.
    pub height: f32,
    /// The person's name; empty if unknown.
    pub name: Text,
}

/// A JPEG picture. Clones share memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jpeg(Arc<[u8]>);

/// A picture exceeds [`MAX_JPEG`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("picture of {bytes} bytes exceeds the maximum of {MAX_JPEG}")]
pub struct JpegTooLong {
    /// Size, in bytes.
    pub bytes: usize,
}

impl Utterance {
    /// Keeps the [`MAX_OPTIONS`] most likely hypotheses, in order; `None` if there are none. Clamps confidences to 0 to
    /// 1 and truncates texts to [`MAX_NAME`](super::MAX_NAME) bytes.
    pub fn new(options: impl IntoIterator<Item = Hypothesis>) -> Option<Self> {
        let mut options: Vec<_> = options
            .into_iter()
            .map(|Hypothesis { confidence, text }| Hypothesis {
                confidence: clamp(confidence, 0.0),
                text: text.shortened(),
            })
            .collect();
        options.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        options.truncate(MAX_OPTIONS);
        (!options.is_empty()).then_some(Self(options))
    }

    /// The hypotheses. Our server sends at min one, most likely first.
    pub fn options(&self) -> &[Hypothesis] {
        &self.0
    }
}

impl Faces {
    /// Keeps the first [`MAX_FACES`]. Clamps numbers to their ranges and truncates names to
    /// [`MAX_NAME`](super::MAX_NAME) bytes.
    pub fn new(faces: impl IntoIterator<Item = Face>) -> Self {
        let within_ranges = |face: Face| Face {
            confidence: clamp(face.confidence, 0.0),
            x: clamp(face.x, -1.0),
            y: clamp(face.y, -1.0),
            width: clamp(face.width, 0.0),
            height: clamp(face.height, 0.0),
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
    /// Creates a picture to send.
    ///
    /// # Errors
    ///
    /// [`JpegTooLong`] beyond [`MAX_JPEG`] bytes.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Result<Self, JpegTooLong> {
        let bytes = bytes.into();
        if bytes.len() > MAX_JPEG { Err(JpegTooLong { bytes: bytes.len() }) } else { Ok(Self(bytes)) }
    }

    /// The bytes of the JPEG file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Skips options or faces: each has `numbers` numbers and a text.
fn skip_each(r: &mut Reader<'_>, field: &'static str, max: usize, numbers: usize) -> Result<(), DecodeError> {
    for _ in 0..read_count(r, field, max)? {
        r.bytes(numbers * size_of::<f32>(), field)?;
        Text::skip(r)?;
    }
    Ok(())
}

/// Clamps to `min` to 1; maps NaN to 0.
fn clamp(value: f32, min: f32) -> f32 {
    if value.is_nan() { 0.0 } else { value.clamp(min, 1.0) }
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
