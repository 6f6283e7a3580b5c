use super::{MAX_TEXT, SERVO_COUNT, Text, decode_all, id, put_u32, split_by};
use crate::{DecodeError, Message, Reader, Split, StreamMessage};

/// Maximum size of a request, in bytes: id, length and the longest text.
pub const MAX_REQUEST: usize = 4 + 2 + MAX_TEXT;

const WORD: usize = 4;

/// A request from a client to the robot.
///
/// Values are not checked: ids may be unknown, and floats out of range, infinite or NaN (D14).
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// No operation (D9).
    Nothing,
    /// Requests a protocol version. Answered by a [`Welcome`](super::Welcome), whatever the version.
    RequestVersion(u32),
    /// Restores all defaults.
    Reset,
    /// Speaks a text with gesture tags: `[nos]Nope.`.
    Speak(Text),
    /// Selects the voice; only 0 exists.
    VoiceGenderLanguage(u32),
    /// Volume of the voice, 0 to 1.
    VoiceVolume(f32),
    /// Pitch of the voice, 0.5 to 2.
    VoicePitch(f32),
    /// Starts a gesture: its index in [`GESTURES`](super::GESTURES).
    Gesture(u32),
    /// Weight of gestures, 0 to 1.
    GestureWeight(f32),
    /// Sets the facial expression: its index in [`EXPRESSIONS`](super::EXPRESSIONS).
    Expression(u32),
    /// Weight of the expression, 0 to 1.
    ExpressionWeight(f32),
    /// Blinks per second, 0 to 10.
    AutoBlinkSpeed(f32),
    /// Weight of the head's random motion, 0 to 1.
    RandomHeadWeight(f32),
    /// Weight of the eyes' random motion, 0 to 1.
    RandomEyesWeight(f32),
    /// Weight of the face's random motion, 0 to 1.
    RandomFaceWeight(f32),
    /// Sets one servo directly.
    Servo {
        /// Its index in [`SERVOS`](super::SERVOS).
        id: u32,
        /// 0 is the lower limit, 1 the upper.
        position: f32,
    },
    /// Sets every servo directly, in the order of [`SERVOS`](super::SERVOS): 0 to 1 each.
    AllServos([f32; SERVO_COUNT]),
    /// Weight of directly set servos, 0 to 1.
    DirectWeight(f32),
    /// Sets the gaze mode: its index in [`LOOKATS`](super::LOOKATS).
    LookAt(u32),
    /// Weight of the gaze mode, 0 to 1.
    LookAtWeight(f32),
}

impl Request {
    /// Converts to the numbering in the document's text, which swaps the ids of volume and pitch (D1).
    #[must_use]
    pub fn swap_volume_and_pitch(self) -> Self {
        match self {
            Self::VoiceVolume(value) => Self::VoicePitch(value),
            Self::VoicePitch(value) => Self::VoiceVolume(value),
            other => other,
        }
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let request = match r.u32_be("id")? {
            id::NOTHING => Self::Nothing,
            id::REQUEST_VERSION => Self::RequestVersion(r.u32_be("version")?),
            id::RESET => Self::Reset,
            id::SPEAK => Self::Speak(Text::decode_lenient(r, "text")?),
            id::VOICE_GENDER_LANGUAGE => Self::VoiceGenderLanguage(r.u32_be("voice")?),
            id::VOICE_VOLUME => Self::VoiceVolume(r.f32_be("volume")?),
            id::VOICE_PITCH => Self::VoicePitch(r.f32_be("pitch")?),
            id::GESTURE => Self::Gesture(r.u32_be("gesture")?),
            id::GESTURE_WEIGHT => Self::GestureWeight(r.f32_be("weight")?),
            id::EXPRESSION => Self::Expression(r.u32_be("expression")?),
            id::EXPRESSION_WEIGHT => Self::ExpressionWeight(r.f32_be("weight")?),
            id::AUTO_BLINK_SPEED => Self::AutoBlinkSpeed(r.f32_be("blink speed")?),
            id::RANDOM_HEAD_WEIGHT => Self::RandomHeadWeight(r.f32_be("weight")?),
            id::RANDOM_EYES_WEIGHT => Self::RandomEyesWeight(r.f32_be("weight")?),
            id::RANDOM_FACE_WEIGHT => Self::RandomFaceWeight(r.f32_be("weight")?),
            id::SERVO => Self::Servo { id: r.u32_be("servo")?, position: r.f32_be("position")? },
            id::ALL_SERVOS => {
                let mut positions = [0.0; SERVO_COUNT];
                for position in &mut positions {
                    *position = r.f32_be("position")?;
                }
                Self::AllServos(positions)
            }
            id::DIRECT_WEIGHT => Self::DirectWeight(r.f32_be("weight")?),
            id::LOOKAT => Self::LookAt(r.u32_be("lookat mode")?),
            id::LOOKAT_WEIGHT => Self::LookAtWeight(r.f32_be("weight")?),
            id => return Err(DecodeError::UnknownId { id }),
        };
        Ok(request)
    }

    fn skip(r: &mut Reader<'_>) -> Result<(), DecodeError> {
        let words = match r.u32_be("id")? {
            id::SPEAK => return Text::skip(r),
            id::NOTHING | id::RESET => 0,
            id::SERVO => 2,
            id::ALL_SERVOS => SERVO_COUNT,
            id::REQUEST_VERSION..=id::LOOKAT_WEIGHT => 1,
            id => return Err(DecodeError::UnknownId { id }),
        };
        r.bytes(words * WORD, "message").map(drop)
    }
}

impl Message for Request {
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        decode_all(bytes, Self::read)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let mut put = |id, words: &[u32]| {
            put_u32(out, id);
            words.iter().for_each(|&word| put_u32(out, word));
        };
        match *self {
            Self::Nothing => put(id::NOTHING, &[]),
            Self::RequestVersion(version) => put(id::REQUEST_VERSION, &[version]),
            Self::Reset => put(id::RESET, &[]),
            Self::Speak(ref text) => {
                put(id::SPEAK, &[]);
                text.encode(out);
            }
            Self::VoiceGenderLanguage(voice) => put(id::VOICE_GENDER_LANGUAGE, &[voice]),
            Self::VoiceVolume(volume) => put(id::VOICE_VOLUME, &[volume.to_bits()]),
            Self::VoicePitch(pitch) => put(id::VOICE_PITCH, &[pitch.to_bits()]),
            Self::Gesture(gesture) => put(id::GESTURE, &[gesture]),
            Self::GestureWeight(weight) => put(id::GESTURE_WEIGHT, &[weight.to_bits()]),
            Self::Expression(expression) => put(id::EXPRESSION, &[expression]),
            Self::ExpressionWeight(weight) => put(id::EXPRESSION_WEIGHT, &[weight.to_bits()]),
            Self::AutoBlinkSpeed(speed) => put(id::AUTO_BLINK_SPEED, &[speed.to_bits()]),
            Self::RandomHeadWeight(weight) => put(id::RANDOM_HEAD_WEIGHT, &[weight.to_bits()]),
            Self::RandomEyesWeight(weight) => put(id::RANDOM_EYES_WEIGHT, &[weight.to_bits()]),
            Self::RandomFaceWeight(weight) => put(id::RANDOM_FACE_WEIGHT, &[weight.to_bits()]),
            Self::Servo { id, position } => put(id::SERVO, &[id, position.to_bits()]),
            Self::AllServos(positions) => put(id::ALL_SERVOS, &positions.map(f32::to_bits)),
            Self::DirectWeight(weight) => put(id::DIRECT_WEIGHT, &[weight.to_bits()]),
            Self::LookAt(mode) => put(id::LOOKAT, &[mode]),
            Self::LookAtWeight(weight) => put(id::LOOKAT_WEIGHT, &[weight.to_bits()]),
        }
    }
}

impl StreamMessage for Request {
    fn split(buffer: &[u8]) -> Result<Option<Split>, DecodeError> {
        split_by(buffer, Self::skip)
    }

    fn encode_in_stream(&self, out: &mut Vec<u8>) {
        self.encode(out);
    }
}
