//! Binary frames: poses, pictures and sound. All numbers are little-endian.

use crate::DecodeError;

/// Size of a pose frame's header, in bytes.
pub const POSES_HEADER: usize = 24;
/// Size of one body in a pose frame, in bytes.
pub const BODY_BYTES: usize = 15;

const POSES: u8 = 1;
const VIDEO: u8 = 2;
const SOUND: u8 = 3;
const PLAYBACK: u8 = 4;

/// Resolution of positions, in m.
const STEP: f64 = 1e-4;
/// Largest position in units of [`STEP`]: it has 24 bits.
const POSITION_MAX: f64 = 8_388_607.0;
/// Largest encoded quaternion component: it has 15 bits.
const COMPONENT_MAX: f64 = 32_767.0;

/// Position in m, and orientation as a quaternion, w first.
pub type Pose = ([f64; 3], [f64; 4]);

/// A binary frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame<'a> {
    /// Topic `poses`: poses of all bodies but the world.
    Poses {
        /// Generation of the scene.
        generation: u32,
        /// Tick of the snapshot.
        tick: u64,
        /// Simulated time since the last reset, in s.
        time: f64,
        /// In the order of the scene's bodies.
        poses: Vec<Pose>,
    },
    /// Topic `video`: a picture of the robot's camera.
    Video {
        /// Sequence number.
        number: u32,
        /// A JPEG file.
        jpeg: &'a [u8],
    },
    /// Topic `sound`: a phrase of the robot's voice, mono.
    Sound {
        /// Whether it interrupts sound sent before.
        cuts: bool,
        /// Samples per second.
        rate: u32,
        /// Empty to fall silent.
        samples: Vec<i16>,
    },
    /// A frame of the open playback.
    Playback {
        /// Number of the frame.
        number: u32,
        /// A pose frame.
        poses: &'a [u8],
    },
}

impl<'a> Frame<'a> {
    /// Encodes the frame.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Poses { generation, tick, time, poses } => {
                encode_poses(*generation, *tick, *time, poses.iter().copied())
            }
            Self::Video { number, jpeg } => with_header(VIDEO, 0, *number, jpeg),
            Self::Sound { cuts, rate, samples } => {
                let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
                with_header(SOUND, u8::from(*cuts), *rate, &bytes)
            }
            Self::Playback { number, poses } => with_header(PLAYBACK, 0, *number, poses),
        }
    }

    /// Decodes a frame.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let truncated = |field| DecodeError::Truncated { field };
        let (&[kind, flag, _, _], rest) = bytes.split_first_chunk().ok_or_else(|| truncated("kind"))?;
        let (number, rest) = rest.split_first_chunk().ok_or_else(|| truncated("number"))?;
        let number = u32::from_le_bytes(*number);
        Ok(match kind {
            POSES => {
                let (tick, rest) = rest.split_first_chunk().ok_or_else(|| truncated("tick"))?;
                let (time, rest) = rest.split_first_chunk().ok_or_else(|| truncated("time"))?;
                let (bodies, []) = rest.as_chunks::<BODY_BYTES>() else { return Err(truncated("body")) };
                Self::Poses {
                    generation: number,
                    tick: f64::from_le_bytes(*tick) as u64,
                    time: f64::from_le_bytes(*time),
                    poses: bodies.iter().map(pose_from_bytes).collect(),
                }
            }
            VIDEO => Self::Video { number, jpeg: rest },
            SOUND => {
                let (samples, []) = rest.as_chunks() else { return Err(truncated("sample")) };
                let samples = samples.iter().map(|sample| i16::from_le_bytes(*sample)).collect();
                Self::Sound { cuts: flag == 1, rate: number, samples }
            }
            PLAYBACK => Self::Playback { number, poses: rest },
            id => return Err(DecodeError::UnknownId { id: id.into() }),
        })
    }
}

fn with_header(kind: u8, flag: u8, number: u32, rest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 + rest.len());
    bytes.extend([kind, flag, 0, 0]);
    bytes.extend(number.to_le_bytes());
    bytes.extend(rest);
    bytes
}

/// Encodes a pose frame. Positions are clamped to ±838 m; NaN becomes 0.
pub fn encode_poses(generation: u32, tick: u64, time: f64, poses: impl ExactSizeIterator<Item = Pose>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(POSES_HEADER + poses.len() * BODY_BYTES);
    bytes.extend([POSES, 0, 0, 0]);
    bytes.extend(generation.to_le_bytes());
    bytes.extend((tick as f64).to_le_bytes());
    bytes.extend(time.to_le_bytes());
    for (position, quaternion) in poses {
        for part in position {
            let steps = (part / STEP).round().clamp(-POSITION_MAX, POSITION_MAX) as i32;
            let [low, middle, high, _] = steps.to_le_bytes();
            bytes.extend([low, middle, high]);
        }
        for part in compress_quaternion(quaternion) {
            bytes.extend(part.to_le_bytes());
        }
    }
    bytes
}

/// Encodes the three smaller components of a quaternion, and the index of the omitted one.
fn compress_quaternion(quaternion: [f64; 4]) -> [u16; 3] {
    let largest = (0_u16..4)
        .zip(quaternion)
        .max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()))
        .filter(|(_, part)| part.is_finite());
    let (missing, largest) = largest.unwrap_or((0, 1.0));
    let mut others = (0_u16..4).zip(quaternion).filter(|(place, _)| *place != missing).map(|(_, part)| {
        // negated if needed, so that the omitted component is positive
        let part = if largest < 0.0 { -part } else { part };
        ((part * std::f64::consts::FRAC_1_SQRT_2 + 0.5) * COMPONENT_MAX).round().clamp(0.0, COMPONENT_MAX) as u16
    });
    let mut next = || others.next().unwrap_or_default();
    [next() | (missing >> 1) << 15, next() | (missing & 1) << 15, next()]
}

fn pose_from_bytes(bytes: &[u8; BODY_BYTES]) -> Pose {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = *bytes;
    let length = |low, middle, high| f64::from(i32::from_le_bytes([0, low, middle, high]) >> 8) * STEP;
    let (first, second, third) = (u16::from_le_bytes([j, k]), u16::from_le_bytes([l, m]), u16::from_le_bytes([n, o]));
    let part = |bits: u16| (f64::from(bits & 0x7FFF) / COMPONENT_MAX - 0.5) * std::f64::consts::SQRT_2;
    let [x, y, z] = [first, second, third].map(part);
    let omitted = (1.0 - x * x - y * y - z * z).max(0.0).sqrt();
    let quaternion = match (first >> 15, second >> 15) {
        (0, 0) => [omitted, x, y, z],
        (0, _) => [x, omitted, y, z],
        (_, 0) => [x, y, omitted, z],
        (_, _) => [x, y, z, omitted],
    };
    ([length(a, b, c), length(d, e, f), length(g, h, i)], quaternion)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unit() -> impl Strategy<Value = [f64; 4]> {
        prop::array::uniform4(-1.0..1.0_f64).prop_filter_map("it has a length", |parts| {
            let length = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
            (length > 0.1).then(|| parts.map(|part| part / length))
        })
    }

    proptest! {
        #[test]
        fn poses_survive_encoding_within_the_resolution(
            poses in prop::collection::vec((prop::array::uniform3(-800.0..800.0_f64), unit()), 0..8),
            generation: u32, tick in 0_u64..1 << 53, time in 0.0..1e6_f64,
        ) {
            let bytes = encode_poses(generation, tick, time, poses.iter().copied());
            prop_assert_eq!(bytes.len(), POSES_HEADER + poses.len() * BODY_BYTES);
            let Ok(Frame::Poses { generation: g, tick: k, time: t, poses: read }) = Frame::decode(&bytes) else {
                panic!("no frame of poses");
            };
            prop_assert_eq!((g, k, t, read.len()), (generation, tick, time, poses.len()));
            for ((position, quaternion), (there, turned)) in poses.iter().zip(&read) {
                for (a, b) in position.iter().zip(there) {
                    prop_assert!((a - b).abs() <= STEP * 0.51, "{a} {b}");
                }
                let dot: f64 = quaternion.iter().zip(turned).map(|(a, b)| a * b).sum();
                // less than a hundredth of a degree
                prop_assert!(dot.abs() > 1.0 - 1e-8, "{quaternion:?} {turned:?}");
            }
        }

        #[test]
        fn any_bytes_decode_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(frame) = Frame::decode(&bytes) && !matches!(frame, Frame::Poses { .. }) {
                let again = frame.to_bytes();
                prop_assert_eq!(Frame::decode(&again), Ok(frame));
            }
        }
    }

    #[test]
    fn frames_match_the_documented_bytes() {
        // a quarter turn about z, a metre ahead
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let bytes = encode_poses(3, 7, 0.5, [([1.0, 0.0, -0.0001], [half, 0.0, 0.0, half])].into_iter());
        assert_eq!(bytes.get(..8), Some(&[1, 0, 0, 0, 3, 0, 0, 0][..]));
        assert_eq!(bytes.get(24..33), Some(&[0x10, 0x27, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF][..]));
        let sound = Frame::Sound { cuts: true, rate: 22_050, samples: vec![1, -1] };
        assert_eq!(sound.to_bytes(), [3, 1, 0, 0, 0x22, 0x56, 0, 0, 1, 0, 0xFF, 0xFF]);
        assert_eq!(Frame::Video { number: 2, jpeg: &[9] }.to_bytes(), [2, 0, 0, 0, 2, 0, 0, 0, 9]);
        assert!(Frame::decode(&[9; 8]).is_err() && Frame::decode(&[1; 20]).is_err());
    }

    #[test]
    fn only_finite_numbers_are_encoded() {
        let nan = f64::NAN;
        let bytes = encode_poses(0, 0, 0.0, [([nan, f64::INFINITY, 1e9], [nan; 4])].into_iter());
        let Ok(Frame::Poses { poses, .. }) = Frame::decode(&bytes) else { panic!("no frame of poses") };
        assert!(poses.iter().all(|(p, q)| p.iter().chain(q).all(|part| part.is_finite())), "{poses:?}");
    }
}
