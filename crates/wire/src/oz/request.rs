use super::{MAX_TEXT, SERVO_COUNT, Text, decode_all, id, put_u32, split_by};
use crate::{DecodeError, Message, Reader, Split, StreamMessage};

/// Most bytes in a request: the longest text, its length, and the id.
pub const MAX_REQUEST: usize = 4 + 2 + MAX_TEXT;

const WORD: usize = 4;

/// What a client sends to the robot.
///
/// Numbers are as they came: ids may be unknown, and floats out of range, infinite or not a number (D14).
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Nothing at all (D9).
    Nothing,
    /// Asks for a version of the protocol. Answered by a [`Welcome`](super::Welcome), whatever the version.
    RequestVersion(u32),
    /// Everything back to its default.
    Reset,
    /// Says a text, with gesture tags in it: `[nos]Nope.`.
    Speak(Text),
    /// The voice; 0 is the only one there is.
    VoiceGenderLanguage(u32),
    /// How loud the voice is, 0 to 1.
    VoiceVolume(f32),
    /// How high the voice is, 0.5 to 2.
    VoicePitch(f32),
    /// Begins a gesture: its place in [`GESTURES`](super::GESTURES).
    Gesture(u32),
    /// How much gestures count, 0 to 1.
    GestureWeight(f32),
    /// What the face shows: its place in [`EXPRESSIONS`](super::EXPRESSIONS).
    Expression(u32),
    /// How much the expression counts, 0 to 1.
    ExpressionWeight(f32),
    /// Blinks a second, 0 to 10.
    AutoBlinkSpeed(f32),
    /// How much the head's random motion counts, 0 to 1.
    RandomHeadWeight(f32),
    /// How much the eyes' random motion counts, 0 to 1.
    RandomEyesWeight(f32),
    /// How much the face's random motion counts, 0 to 1.
    RandomFaceWeight(f32),
    /// Sets one servo directly.
    Servo {
        /// Its place in [`SERVOS`](super::SERVOS).
        id: u32,
        /// From its lower limit, 0, to its upper, 1.
        position: f32,
    },
    /// Sets every servo directly, in the order of [`SERVOS`](super::SERVOS): 0 to 1 each.
    AllServos([f32; SERVO_COUNT]),
    /// How much the directly set servos count, 0 to 1.
    DirectWeight(f32),
    /// Where to look: its place in [`LOOKATS`](super::LOOKATS).
    LookAt(u32),
    /// How much looking there counts, 0 to 1.
    LookAtWeight(f32),
}

impl Request {
    /// The same bytes as the text of the document means them, which has the ids of volume and pitch the other way round
    /// (D1).
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
            id::SPEAK => Self::Speak(Text::decode(r, "text")?),
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
