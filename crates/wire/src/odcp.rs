//! ODCP 1.0: direct control of one agent's motors over UDP.
//!
//! One datagram is one message: an id byte, then little-endian 32-bit integers. Trailing bytes are ignored. Where the
//! document is silent, `protocols/odcp/decisions.md` records our choice; D-numbers refer to it.

use crate::{DecodeError, Message, Reader};
use std::iter;

/// Maximum number of motors of an agent (D8): far more than any robot has, far fewer than fit into a datagram.
pub const MAX_MOTORS: usize = 512;

/// The two integers that follow the id in the reply to a connect "for compatibility reasons".
const CONNECTED_COMPATIBILITY: [i32; 2] = [15, 1];

const INT_BYTES: usize = size_of::<i32>();

mod id {
    pub(super) const CONNECT: u8 = 5;
    pub(super) const CONNECTED: u8 = 6;
    pub(super) const DISCONNECT: u8 = 7;
    pub(super) const DISCONNECTED: u8 = 8;
    pub(super) const SET_MOTORS: u8 = 100;
    pub(super) const GET_MOTORS: u8 = 150;
    pub(super) const MOTORS: u8 = 151;
}

/// A request from a client to an agent's port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Announces a client. Optional. Answered by [`Reply::Connected`].
    Connect,
    /// Announces that the client leaves. Optional. Answered by [`Reply::Disconnected`].
    Disconnect,
    /// Sets motors. The setting holds until replaced. Not answered.
    SetMotors(MotorValues),
    /// Asks for the measured angle of every motor. Answered by [`Reply::Motors`].
    GetMotors,
}

/// A reply from an agent's port to the sender of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The answer to [`Request::Connect`]. Its two integers have no meaning: they are written as documented and ignored
    /// when read (D1).
    Connected,
    /// The answer to [`Request::Disconnect`].
    Disconnected,
    /// The answer to [`Request::GetMotors`].
    Motors(MotorAngles),
}

impl Message for Request {
    fn decode(datagram: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(datagram);
        let request = match r.u8("id")? {
            id::CONNECT => Self::Connect,
            id::DISCONNECT => Self::Disconnect,
            id::SET_MOTORS => Self::SetMotors(MotorValues(whole_ints(&mut r, MotorValues::MAX_LEN))),
            id::GET_MOTORS => Self::GetMotors,
            id => return Err(DecodeError::UnknownId { id: id.into() }),
        };
        Ok(request)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Connect => out.push(id::CONNECT),
            Self::Disconnect => out.push(id::DISCONNECT),
            Self::SetMotors(values) => {
                out.push(id::SET_MOTORS);
                put_ints(out, values.as_slice());
            }
            Self::GetMotors => out.push(id::GET_MOTORS),
        }
    }
}

impl Message for Reply {
    fn decode(datagram: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(datagram);
        let reply = match r.u8("id")? {
            id::CONNECTED => Self::Connected,
            id::DISCONNECTED => Self::Disconnected,
            id::MOTORS => Self::Motors(decode_angles(&mut r)?),
            id => return Err(DecodeError::UnknownId { id: id.into() }),
        };
        Ok(reply)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Connected => {
                out.push(id::CONNECTED);
                out.extend(CONNECTED_COMPATIBILITY.iter().flat_map(|int| int.to_le_bytes()));
            }
            Self::Disconnected => out.push(id::DISCONNECTED),
            Self::Motors(angles) => {
                out.push(id::MOTORS);
                put_ints(out, angles.as_slice());
            }
        }
    }
}

/// Surplus values in a request are ignored, but surplus angles in a reply are an error: a client must not mistake part
/// of a pose for all of it.
fn decode_angles(r: &mut Reader<'_>) -> Result<MotorAngles, DecodeError> {
    let motors = r.remaining() / INT_BYTES;
    if motors > MAX_MOTORS {
        return Err(DecodeError::OutOfRange { field: "motors", value: motors as i64, min: 0, max: MAX_MOTORS as i64 });
    }
    Ok(MotorAngles(whole_ints(r, MAX_MOTORS)))
}

/// Reads up to `max` complete integers and clamps them (D5, D6).
fn whole_ints(r: &mut Reader<'_>, max: usize) -> Vec<Raw> {
    iter::from_fn(|| r.i32_le("value").ok()).take(max).map(Raw::clamped).collect()
}

fn put_ints(out: &mut Vec<u8>, values: &[Raw]) {
    out.extend(values.iter().flat_map(|value| i32::from(value.0).to_le_bytes()));
}

/// An angle or a torque on the wire: 0 to 1023.
///
/// Its meaning depends on its position in the message: see [`normalized_angle_from_raw`] and
/// [`normalized_torque_from_raw`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Raw(u16);

impl Raw {
    /// The lower limit of an angle; zero torque.
    pub const MIN: Self = Self(0);
    /// "The null position of the motors is set with a 512."
    pub const NULL_POSITION: Self = Self(512);
    /// The upper limit of an angle; full torque.
    pub const MAX: Self = Self(1023);

    /// Clamps to 0 to 1023 (D6).
    pub fn clamped(value: i32) -> Self {
        Self(value.clamp(Self::MIN.0.into(), Self::MAX.0.into()) as u16)
    }

    /// The number, 0 to 1023.
    pub fn get(self) -> u16 {
        self.0
    }
}

/// A client's setting for one motor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MotorSetting {
    /// Normalized target angle: [`normalized_angle_from_raw`].
    pub angle: Raw,
    /// Torque limit as a fraction of the motor's maximum: [`normalized_torque_from_raw`].
    pub torque: Raw,
}

/// The change that a datagram makes to one motor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MotorChange {
    /// Normalized target angle: [`normalized_angle_from_raw`].
    pub angle: Raw,
    /// New torque limit; `None` keeps the current one.
    pub torque: Option<Raw>,
}

/// The values of a set-motors datagram: all angles, then all torques.
///
/// The message carries no motor count, so which values are angles and which are torques depends on the number of motors
/// of the agent: [`changes`](Self::changes).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MotorValues(Vec<Raw>);

impl MotorValues {
    const MAX_LEN: usize = 2 * MAX_MOTORS;

    /// One setting for every motor, in the agent's motor order.
    ///
    /// # Errors
    ///
    /// [`TooManyMotors`] for more than [`MAX_MOTORS`].
    pub fn new(settings: &[MotorSetting]) -> Result<Self, TooManyMotors> {
        TooManyMotors::check(settings.len())?;
        let angles = settings.iter().map(|setting| setting.angle);
        let torques = settings.iter().map(|setting| setting.torque);
        Ok(Self(angles.chain(torques).collect()))
    }

    /// The changes to an agent with `motors` motors: one item per motor, starting with the first, for as many as have
    /// an angle (D5).
    pub fn changes(&self, motors: usize) -> impl Iterator<Item = MotorChange> {
        let torques = self.0.iter().skip(motors).copied().map(Some).chain(iter::repeat(None));
        self.0.iter().take(motors).zip(torques).map(|(&angle, torque)| MotorChange { angle, torque })
    }

    /// The values in wire order.
    pub fn as_slice(&self) -> &[Raw] {
        &self.0
    }
}

/// The measured angle of every motor, in the agent's motor order; at most [`MAX_MOTORS`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MotorAngles(Vec<Raw>);

impl MotorAngles {
    /// One angle for every motor, in the agent's motor order.
    ///
    /// # Errors
    ///
    /// [`TooManyMotors`] for more than [`MAX_MOTORS`].
    pub fn new(angles: Vec<Raw>) -> Result<Self, TooManyMotors> {
        TooManyMotors::check(angles.len())?;
        Ok(Self(angles))
    }

    /// The angles in motor order.
    pub fn as_slice(&self) -> &[Raw] {
        &self.0
    }
}

/// An agent has more motors than a message carries.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{motors} motors are more than the {MAX_MOTORS} that fit into a datagram")]
pub struct TooManyMotors {
    /// Number of motors.
    pub motors: usize,
}

impl TooManyMotors {
    fn check(motors: usize) -> Result<(), Self> {
        if motors > MAX_MOTORS { Err(Self { motors }) } else { Ok(()) }
    }
}

/// Raw steps from the lower limit of an angle to the null position, and from there to the upper limit.
const STEPS_BELOW: f64 = 512.0;
const STEPS_ABOVE: f64 = 511.0;

/// The angle relative to half the motor's range: 0 maps to -1, 512 to exactly 0, 1023 to 1, linearly in between (D7).
pub fn normalized_angle_from_raw(raw: Raw) -> f64 {
    let steps = f64::from(raw.0) - f64::from(Raw::NULL_POSITION.0);
    if steps <= 0.0 { steps / STEPS_BELOW } else { steps / STEPS_ABOVE }
}

/// The raw value nearest to an angle of -1 to 1, clamped. NaN maps to the null position.
pub fn raw_from_normalized_angle(angle: f64) -> Raw {
    if angle.is_nan() {
        return Raw::NULL_POSITION;
    }
    let steps = if angle <= 0.0 { angle * STEPS_BELOW } else { angle * STEPS_ABOVE };
    nearest_raw(f64::from(Raw::NULL_POSITION.0) + steps)
}

/// The fraction of the motor's maximum torque, 0 to 1.
pub fn normalized_torque_from_raw(raw: Raw) -> f64 {
    f64::from(raw.0) / f64::from(Raw::MAX.0)
}

/// The raw value nearest to a torque of 0 to 1, clamped. NaN maps to zero torque.
pub fn raw_from_normalized_torque(torque: f64) -> Raw {
    nearest_raw(torque * f64::from(Raw::MAX.0))
}

fn nearest_raw(value: f64) -> Raw {
    // the cast saturates and maps NaN to 0
    Raw::clamped(value.round() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn raws(values: &[i32]) -> Vec<Raw> {
        values.iter().copied().map(Raw::clamped).collect()
    }

    fn set(values: &[i32]) -> Result<Request, DecodeError> {
        Ok(Request::SetMotors(MotorValues(raws(values))))
    }

    fn motors(angles: &[i32]) -> Result<Reply, DecodeError> {
        Ok(Reply::Motors(MotorAngles(raws(angles))))
    }

    /// `id` followed by `ints` integers of value 1.
    fn datagram(id: u8, ints: usize) -> Vec<u8> {
        iter::once(id).chain([1, 0, 0, 0].repeat(ints)).collect()
    }

    #[test]
    fn requests() {
        fn check(bytes: &[u8], expected: Result<Request, DecodeError>) {
            assert_eq!(Request::decode(bytes), expected, "{bytes:?}");
        }
        check(&[5], Ok(Request::Connect));
        check(&[7], Ok(Request::Disconnect));
        check(&[150], Ok(Request::GetMotors));
        check(&[100, 0, 2, 0, 0, 255, 3, 0, 0], set(&[512, 1023]));
        // all four bytes of an integer count: 0x100 and 0x10000 differ
        check(&[100, 0, 1, 0, 0, 0, 0, 1, 0, 255, 255, 255, 255], set(&[256, 1023, 0]));
        // short, long
        check(&[100], set(&[]));
        check(&[100, 1, 0, 0, 0, 2, 0, 0], set(&[1]));
        check(&[150, 120], Ok(Request::GetMotors));
        check(&datagram(100, 1025), set(&[1; 1024]));
        // not for us
        check(&[], Err(DecodeError::Truncated { field: "id" }));
        check(&[6], Err(DecodeError::UnknownId { id: 6 }));
        check(&[151], Err(DecodeError::UnknownId { id: 151 }));
    }

    #[test]
    fn replies() {
        fn check(bytes: &[u8], expected: Result<Reply, DecodeError>) {
            assert_eq!(Reply::decode(bytes), expected, "{bytes:?}");
        }
        check(&[6, 15, 0, 0, 0, 1, 0, 0, 0], Ok(Reply::Connected));
        check(&[6], Ok(Reply::Connected));
        check(&[8], Ok(Reply::Disconnected));
        check(&[151, 0, 2, 0, 0, 255, 3, 0, 0], motors(&[512, 1023]));
        check(&[151], motors(&[]));
        check(&[151, 1, 0, 0, 0, 120], motors(&[1]));
        check(&datagram(151, 512), motors(&[1; 512]));
        check(&datagram(151, 513), Err(DecodeError::OutOfRange { field: "motors", value: 513, min: 0, max: 512 }));
        check(&[], Err(DecodeError::Truncated { field: "id" }));
        check(&[5], Err(DecodeError::UnknownId { id: 5 }));
    }

    #[test]
    fn settings_are_written_angles_first() {
        let setting = |angle, torque| MotorSetting { angle: Raw::clamped(angle), torque: Raw::clamped(torque) };
        let values = MotorValues::new(&[setting(1, 3), setting(2, 4)]).unwrap();
        assert_eq!(Request::SetMotors(values).to_bytes(), [100, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]);

        assert!(MotorValues::new(&[setting(0, 0); MAX_MOTORS]).is_ok());
        assert_eq!(MotorValues::new(&[setting(0, 0); 513]), Err(TooManyMotors { motors: 513 }));
        assert_eq!(MotorAngles::new(vec![Raw::MIN; 513]), Err(TooManyMotors { motors: 513 }));
    }

    #[test]
    fn changes_go_as_far_as_the_values() {
        fn check(values: &[i32], motors: usize, expected: &[(i32, Option<i32>)]) {
            let expected = expected
                .iter()
                .map(|&(angle, torque)| MotorChange { angle: Raw::clamped(angle), torque: torque.map(Raw::clamped) });
            let changes: Vec<_> = MotorValues(raws(values)).changes(motors).collect();
            assert_eq!(changes, expected.collect::<Vec<_>>(), "{values:?} for {motors}");
        }
        check(&[1, 2, 3, 4], 2, &[(1, Some(3)), (2, Some(4))]);
        check(&[1, 2, 3], 2, &[(1, Some(3)), (2, None)]);
        check(&[1, 2], 2, &[(1, None), (2, None)]);
        check(&[1], 2, &[(1, None)]);
        check(&[], 2, &[]);
        check(&[1, 2, 3, 4, 5], 2, &[(1, Some(3)), (2, Some(4))]);
        check(&[1, 2], 0, &[]);
        check(&[1, 2], usize::MAX, &[(1, None), (2, None)]);
    }

    #[test]
    fn angles_meet_at_the_null_position() {
        fn check(raw: i32, angle: f64) {
            assert_eq!(normalized_angle_from_raw(Raw::clamped(raw)), angle, "{raw}");
        }
        check(0, -1.0);
        check(256, -0.5);
        check(512, 0.0);
        check(1023, 1.0);
        for raw in 0..1023 {
            let [low, high] = [raw, raw + 1].map(|raw| normalized_angle_from_raw(Raw::clamped(raw)));
            assert!(low < high, "{raw}");
        }
    }

    #[test]
    fn every_raw_value_survives_both_scales() {
        for raw in (0..=1023).map(Raw::clamped) {
            assert_eq!(raw_from_normalized_angle(normalized_angle_from_raw(raw)), raw);
            assert_eq!(raw_from_normalized_torque(normalized_torque_from_raw(raw)), raw);
        }
    }

    #[test]
    fn odd_numbers_become_allowed_ones() {
        fn check(number: f64, angle: i32, torque: i32) {
            assert_eq!(raw_from_normalized_angle(number), Raw::clamped(angle), "{number}");
            assert_eq!(raw_from_normalized_torque(number), Raw::clamped(torque), "{number}");
        }
        check(1.5, 1023, 1023);
        check(-1.5, 0, 0);
        check(f64::INFINITY, 1023, 1023);
        check(f64::NEG_INFINITY, 0, 0);
        check(f64::NAN, 512, 0);
        check(-0.0, 512, 0);
        check(f64::MIN_POSITIVE, 512, 0);
    }

    proptest! {
        #[test]
        fn any_bytes_decode_or_err(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            check_round_trip(&bytes);
        }

        #[test]
        fn any_body_decodes_or_errs(
            id in proptest::sample::select(vec![5u8, 6, 7, 8, 100, 150, 151]),
            body in proptest::collection::vec(any::<u8>(), 0..4200),
        ) {
            let bytes: Vec<u8> = iter::once(id).chain(body).collect();
            check_round_trip(&bytes);
        }

        #[test]
        fn the_nearest_raw_value_is_at_most_half_a_step_away(number in -1.0..=1.0f64) {
            let back = normalized_angle_from_raw(raw_from_normalized_angle(number));
            prop_assert!((back - number).abs() <= 0.5 / STEPS_ABOVE + 1e-12);
            let back = normalized_torque_from_raw(raw_from_normalized_torque(number.abs()));
            prop_assert!((back - number.abs()).abs() <= 0.5 / f64::from(Raw::MAX.get()) + 1e-12);
        }
    }

    /// Decoding, encoding and decoding again yields the same message.
    fn check_round_trip(bytes: &[u8]) {
        if let Ok(request) = Request::decode(bytes) {
            assert_eq!(Request::decode(&request.to_bytes()), Ok(request));
        }
        if let Ok(reply) = Reply::decode(bytes) {
            assert_eq!(Reply::decode(&reply.to_bytes()), Ok(reply));
        }
    }
}
