//! The servo mixer: blends seven weighted subsystems and blinking into one position per servo.
//!
//! ```text
//! rest + w·gestures + w·expression + w·gaze + w·random head + w·random eyes + w·random face + speech (jaw)
//!   -> eyelids closed by a blink
//!   -> limited to the servo's travel
//!   -> blended with the direct position, for servos that have one
//!   -> limited to the servo's speed and acceleration
//! ```

use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::{
    expression::ExpressionBlend,
    gaze::{Direction, Gaze, travel},
    gesture::Gesture,
    idle::{Blink, Region, Wander},
    servo::{COUNT, Motion, Positions, SERVOS, index, rest},
};

/// Maximum number of gestures that play at the same time.
pub const MAX_PLAYING: usize = 64;
/// Offset of the jaw for the most open sound.
const JAW: f32 = 0.6;

/// A weighted source of motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Subsystem {
    /// Gestures.
    Gesture,
    /// Facial expression.
    Expression,
    /// Gaze: looking at something.
    LookAt,
    /// Random motion of the head.
    RandomHead,
    /// Random motion of the eyes.
    RandomEyes,
    /// Random motion of the face.
    RandomFace,
    /// Servo positions set by the operator.
    Direct,
}

/// Weight of each subsystem, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// Weight of gestures.
    pub gesture: f32,
    /// Weight of the facial expression.
    pub expression: f32,
    /// Weight of the gaze.
    pub look_at: f32,
    /// Weight of the random motion of the head.
    pub random_head: f32,
    /// Weight of the random motion of the eyes.
    pub random_eyes: f32,
    /// Weight of the random motion of the face.
    pub random_face: f32,
    /// Weight of the positions set by the operator.
    pub direct: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            gesture: 1.0,
            expression: 1.0,
            look_at: 1.0,
            random_head: 0.0,
            random_eyes: 0.0,
            random_face: 0.0,
            direct: 0.0,
        }
    }
}

impl Weights {
    /// The weight of one subsystem.
    pub fn of(&mut self, subsystem: Subsystem) -> &mut f32 {
        match subsystem {
            Subsystem::Gesture => &mut self.gesture,
            Subsystem::Expression => &mut self.expression,
            Subsystem::LookAt => &mut self.look_at,
            Subsystem::RandomHead => &mut self.random_head,
            Subsystem::RandomEyes => &mut self.random_eyes,
            Subsystem::RandomFace => &mut self.random_face,
            Subsystem::Direct => &mut self.direct,
        }
    }
}

#[derive(Clone, Debug)]
struct Playing {
    gesture: Arc<Gesture>,
    /// Time since it started, in s.
    time: f32,
}

/// The mixer with all its subsystems.
#[derive(Clone, Debug)]
pub(crate) struct Mixer {
    pub(crate) weights: Weights,
    pub(crate) expression: ExpressionBlend,
    pub(crate) gaze: Gaze,
    pub(crate) blink: Blink,
    playing: Vec<Playing>,
    head: Wander,
    eyes: Wander,
    face: Wander,
    /// `None` for servos that the operator has not set.
    direct: [Option<f32>; COUNT],
    motions: [Motion; COUNT],
    random: ChaCha8Rng,
}

impl Mixer {
    pub(crate) fn new(seed: u64, blinks: f32) -> Self {
        Self {
            weights: Weights::default(),
            expression: ExpressionBlend::default(),
            gaze: Gaze::default(),
            blink: Blink::new(blinks),
            playing: Vec::new(),
            head: Wander::new(Region::Head),
            eyes: Wander::new(Region::Eyes),
            face: Wander::new(Region::Face),
            direct: [None; COUNT],
            motions: rest().map(Motion::at),
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Restores the defaults; the servos move there from their current positions. Returns the gestures that were cut short.
    pub(crate) fn reset(&mut self, blinks: f32) -> Vec<u32> {
        let cut = self.playing.drain(..).map(|playing| playing.gesture.id).collect();
        self.weights = Weights::default();
        self.expression = ExpressionBlend::default();
        self.gaze.set_mode(crate::gaze::LookAt::Forward);
        self.blink.set_rate(blinks);
        self.direct = [None; COUNT];
        cut
    }

    /// The servos are at rest at once.
    pub(crate) fn settle(&mut self) {
        self.motions = rest().map(Motion::at);
    }

    /// Starts a gesture. Returns false if [`MAX_PLAYING`] gestures are playing.
    pub(crate) fn play(&mut self, gesture: &Arc<Gesture>) -> bool {
        let has_room = self.playing.len() < MAX_PLAYING;
        if has_room {
            self.playing.push(Playing { gesture: Arc::clone(gesture), time: 0.0 });
        }
        has_room
    }

    /// Number of gestures that are playing.
    pub(crate) fn playing(&self) -> usize {
        self.playing.len()
    }

    /// Sets the direct position of a servo, clamped to 0 to 1. Returns false if there is no such servo.
    pub(crate) fn set_direct(&mut self, servo: usize, position: f32) -> bool {
        self.direct.get_mut(servo).map(|direct| *direct = Some(position.clamp(0.0, 1.0))).is_some()
    }

    /// Current servo positions.
    pub(crate) fn positions(&self) -> Positions {
        self.motions.map(|motion| motion.position)
    }

    /// Current direction of the head.
    pub(crate) fn head(&self) -> Direction {
        let turned = |index: usize| self.motions[index].position - SERVOS[index].rest();
        [turned(index::NECK_YAW) * travel(index::NECK_YAW), turned(index::NECK_PITCH) * travel(index::NECK_PITCH)]
    }

    /// Advances by `dt` seconds with the mouth opened by speech, 0 to 1. Returns the gestures that have ended.
    pub(crate) fn step(&mut self, dt: f32, mouth: f32) -> Vec<u32> {
        let Weights { gesture, expression, look_at, random_head, random_eyes, random_face, direct } = self.weights;
        let mut mixed = rest();
        let mut gestures = [0.0; COUNT];
        for playing in &mut self.playing {
            playing.time += dt;
            playing.gesture.add_to(&mut gestures, playing.time);
        }
        let done = self.playing.extract_if(.., |playing| playing.time >= playing.gesture.seconds);
        let done = done.map(|playing| playing.gesture.id).collect();
        for (offsets, weight) in
            [(gestures, gesture), (self.expression.step(dt), expression), (self.gaze.step(dt), look_at)]
        {
            mixed.iter_mut().zip(offsets).for_each(|(position, offset)| *position += weight * offset);
        }
        self.head.step(&mut self.random, dt, &mut mixed, random_head);
        self.eyes.step(&mut self.random, dt, &mut mixed, random_eyes);
        self.face.step(&mut self.random, dt, &mut mixed, random_face);
        mixed[index::JAW] += JAW * mouth;
        let closed = self.blink.step(&mut self.random, dt);
        mixed[index::EYELIDS] *= 1.0 - closed;
        for (((motion, servo), mixed), wanted) in self.motions.iter_mut().zip(&SERVOS).zip(mixed).zip(self.direct) {
            let mixed = mixed.clamp(0.0, 1.0);
            let target = wanted.map_or(mixed, |wanted| mixed + direct * (wanted - mixed));
            motion.step(servo, target, dt);
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gesture::Gestures;

    const DT: f32 = 0.005;

    fn still() -> Mixer {
        Mixer::new(1, 0.0)
    }

    fn after(mixer: &mut Mixer, seconds: f32) -> Positions {
        for _ in 0..(seconds / DT) as usize {
            mixer.step(DT, 0.0);
        }
        mixer.positions()
    }

    #[test]
    fn nothing_moves_without_orders() {
        assert_eq!(after(&mut still(), 5.0), rest());
    }

    #[test]
    fn a_direct_servo_contributes_once_it_is_set() {
        let mut mixer = still();
        mixer.weights.direct = 1.0;
        assert_eq!(after(&mut mixer, 1.0), rest(), "nothing was set");
        assert!(mixer.set_direct(0, 0.9) && mixer.set_direct(21, 7.0) && !mixer.set_direct(36, 0.5));
        let positions = after(&mut mixer, 3.0);
        assert!((positions[0] - 0.9).abs() < 1e-3 && (positions[21] - 1.0).abs() < 1e-3);
        assert_eq!(positions[22..], rest()[22..], "the others stay");
        mixer.weights.direct = 0.5;
        assert!((after(&mut mixer, 3.0)[0] - 0.7).abs() < 1e-3, "half the way");
    }

    #[test]
    fn a_servo_with_the_full_direct_weight_stays_where_it_was_set() {
        let gestures = Gestures::shipped().unwrap();
        let mut mixer = Mixer::new(3, 10.0);
        mixer.weights =
            Weights { random_head: 1.0, random_eyes: 1.0, random_face: 1.0, direct: 1.0, ..Weights::default() };
        mixer.expression.select(4);
        mixer.gaze.set_mode(crate::gaze::LookAt::Up);
        let set: Positions = std::array::from_fn(|servo| 0.1 + 0.8 * servo as f32 / 35.0);
        (0..COUNT).for_each(|servo| assert!(mixer.set_direct(servo, set[servo])));
        after(&mut mixer, 3.0);
        for gesture in gestures.iter() {
            mixer.play(gestures.get(gesture.id).unwrap());
        }
        for _ in 0..(3.0 / DT) as usize {
            mixer.step(DT, 1.0);
            let moved = mixer.positions().iter().zip(&set).position(|(now, set)| (now - set).abs() > 1e-3);
            assert_eq!(moved.map(|servo| SERVOS[servo].name), None);
        }
        // half the weight is half a blink
        mixer = Mixer::new(3, 2.0);
        mixer.weights.direct = 0.5;
        assert!(mixer.set_direct(index::EYELIDS, 0.8));
        let lids = trace(&mut mixer, 5.0).map(|positions| positions[index::EYELIDS]);
        let (least, most) = lids.fold((1f32, 0f32), |(least, most), lids| (least.min(lids), most.max(lids)));
        assert!((least - 0.4).abs() < 0.01 && most > 0.75, "{least} to {most}");
    }

    /// Positions after each step.
    fn trace(mixer: &mut Mixer, seconds: f32) -> impl Iterator<Item = Positions> {
        (0..(seconds / DT) as usize).map(|_| (mixer.step(DT, 0.0), mixer.positions()).1)
    }

    /// The servos that leave their rest position.
    fn moved(mixer: &mut Mixer, seconds: f32) -> Vec<usize> {
        let mut moves = [false; COUNT];
        for positions in trace(mixer, seconds) {
            let away = positions.iter().zip(rest()).map(|(now, rest)| (now - rest).abs() > 0.05);
            moves.iter_mut().zip(away).for_each(|(moves, away)| *moves |= away);
        }
        (0..COUNT).filter(|&servo| moves[servo]).collect()
    }

    #[test]
    fn each_random_weight_moves_its_own_servos() {
        use index::{BROWS, EYE_YAW_LEFT, EYE_YAW_RIGHT, EYES_PITCH, NECK_PITCH, NECK_ROLL, NECK_YAW};
        let still = Weights::default();
        for (weights, expected) in [
            (still, &[][..]),
            (Weights { random_head: 1.0, ..still }, &[NECK_YAW, NECK_ROLL, NECK_PITCH]),
            (Weights { random_eyes: 1.0, ..still }, &[EYES_PITCH, EYE_YAW_RIGHT, EYE_YAW_LEFT]),
            (Weights { random_face: 1.0, ..still }, &[BROWS, index::SMILE_LEFT, index::SMILE_RIGHT]),
        ] {
            let mut mixer = self::still();
            mixer.weights = weights;
            assert_eq!(moved(&mut mixer, 20.0), expected, "{weights:?}");
            // and stops
            mixer.weights = still;
            after(&mut mixer, 2.0);
            assert!(moved(&mut mixer, 5.0).is_empty(), "{weights:?}");
        }
    }

    #[test]
    fn blinks_close_the_eyelids_and_nothing_else() {
        for rate in [0.0, 0.5, 2.0, 10.0] {
            let mut mixer = Mixer::new(4, rate);
            let (mut shut, mut blinks) = (false, 0.0);
            for mut positions in trace(&mut mixer, 60.0) {
                let open = std::mem::replace(&mut positions[index::EYELIDS], SERVOS[index::EYELIDS].rest());
                assert_eq!(positions, rest());
                if (!shut && open < 0.02) || (shut && open > 0.74) {
                    shut = !shut;
                    blinks += 0.5;
                }
            }
            assert!((blinks - 60.0 * rate).abs() <= 0.1 * 60.0 * rate, "{blinks} blinks at {rate} per second");
        }
    }

    #[test]
    fn the_expression_is_weighted() {
        let face = |weight: f32| {
            let mut mixer = still();
            mixer.weights.expression = weight;
            mixer.expression.select(4);
            let positions = after(&mut mixer, 3.0);
            let face = [index::BROWS, index::EYELIDS, index::JAW, index::SMILE_LEFT, index::SMILE_RIGHT];
            face.map(|servo| positions[servo] - SERVOS[servo].rest())
        };
        assert_eq!(face(0.0), [0.0; 5]);
        let [full, half] = [face(1.0), face(0.5)];
        assert!(full.iter().all(|offset| offset.abs() > 0.2), "{full:?}");
        assert!(full.iter().zip(half).all(|(full, half)| (half - full / 2.0).abs() < 2e-3), "{full:?} {half:?}");
    }

    #[test]
    fn each_gesture_makes_its_motion() {
        use index::{BROWS, NECK_PITCH, NECK_ROLL, NECK_YAW};
        let gestures = Gestures::shipped().unwrap();
        // one servo, and where it turns round
        let (raise, frown, nod, shake, wobble) = (0.45, -0.45, -0.4, [0.3, -0.3], [0.25, -0.25]);
        let (short_nod, short_shake) = (-0.3, [0.15, -0.15]);
        let expected: [(usize, Vec<f32>, f32); 13] = [
            (BROWS, vec![raise], 2.0),
            (BROWS, vec![raise], 0.5),
            (BROWS, vec![frown], 2.0),
            (BROWS, vec![frown], 0.5),
            (NECK_PITCH, vec![nod], 2.0),
            (NECK_PITCH, vec![short_nod], 0.5),
            (NECK_PITCH, vec![nod, 0.0, nod, 0.0, nod], 6.0),
            (NECK_PITCH, vec![short_nod, 0.0, short_nod, 0.0, short_nod], 1.5),
            (NECK_YAW, shake.to_vec(), 2.0),
            (NECK_YAW, short_shake.to_vec(), 0.5),
            (NECK_YAW, shake.repeat(3), 6.0),
            (NECK_YAW, short_shake.repeat(3), 1.5),
            (NECK_ROLL, wobble.repeat(2), 2.0),
        ];
        for (id, (servo, turns, seconds)) in (0..).zip(expected) {
            let mut mixer = still();
            assert!(mixer.play(gestures.get(id).unwrap()));
            let mut offsets = vec![0.0];
            let mut ended = None;
            for step in 1..=(8.0 / DT) as usize {
                ended = mixer.step(DT, 0.0).first().map(|_| step as f32 * DT).or(ended);
                let positions = mixer.positions();
                let others = positions.iter().zip(rest()).enumerate().filter(|(other, _)| *other != servo);
                others.for_each(|(_, (now, rest))| assert_eq!(*now, rest, "gesture {id}"));
                offsets.push(positions[servo] - 0.5);
            }
            assert!(ended.is_some_and(|ended| (ended - seconds).abs() < 2.0 * DT), "gesture {id}: {ended:?}");
            assert!(offsets.last().unwrap().abs() < 2e-3, "gesture {id} ends at rest");
            let found = turning_points(&offsets);
            let close = found.iter().zip(&turns).all(|(found, turn)| (found - turn).abs() < 0.06);
            assert!(found.len() == turns.len() && close, "gesture {id}: {found:?} instead of {turns:?}");
        }
    }

    /// Where a path turns round by more than 0.05.
    fn turning_points(path: &[f32]) -> Vec<f32> {
        let (mut turns, mut low, mut high, mut direction) = (Vec::new(), path[0], path[0], 0);
        for &now in path {
            (low, high) = (low.min(now), high.max(now));
            if direction >= 0 && now < high - 0.05 {
                turns.extend((direction > 0).then_some(high));
                (direction, low) = (-1, now);
            } else if direction <= 0 && now > low + 0.05 {
                turns.extend((direction < 0).then_some(low));
                (direction, high) = (1, now);
            }
        }
        turns
    }

    #[test]
    fn gestures_play_together_and_are_weighted() {
        let gestures = Gestures::shipped().unwrap();
        let peak = |weight: f32| {
            let mut mixer = still();
            mixer.weights.gesture = weight;
            assert!(mixer.play(gestures.get(0).unwrap()) && mixer.play(gestures.get(5).unwrap()));
            let (mut brows, mut neck, mut done) = (0f32, 0f32, Vec::new());
            for _ in 0..500 {
                done.extend(mixer.step(DT, 0.0));
                brows = brows.max(mixer.positions()[index::BROWS] - 0.5);
                neck = neck.min(mixer.positions()[index::NECK_PITCH] - 0.5);
            }
            assert_eq!(done, [5, 0], "each ends once, the short one first");
            (brows, neck)
        };
        let (brows, neck) = peak(1.0);
        assert!(brows > 0.4 && neck < -0.25, "{brows} {neck}");
        let (half_brows, _) = peak(0.5);
        assert!((half_brows - brows / 2.0).abs() < 0.03, "{half_brows}");
        assert_eq!(peak(0.0), (0.0, 0.0));
    }

    #[test]
    fn everything_at_once_stays_within_the_stops_and_is_smooth() {
        let gestures = Gestures::shipped().unwrap();
        let mut mixer = Mixer::new(7, 2.0);
        mixer.weights =
            Weights { random_head: 1.0, random_eyes: 1.0, random_face: 1.0, direct: 0.3, ..Weights::default() };
        (0..COUNT).for_each(|servo| assert!(mixer.set_direct(servo, servo as f32 / 35.0)));
        mixer.expression.select(4);
        let mut before = mixer.positions();
        for step in 0..4000 {
            if step % 100 == 0 {
                for gesture in gestures.iter().map(|gesture| gesture.id) {
                    mixer.play(gestures.get(gesture).unwrap());
                }
            }
            mixer.step(DT, if step % 40 < 20 { 1.0 } else { 0.0 });
            let now = mixer.positions();
            for ((servo, now), before) in SERVOS.iter().zip(now).zip(before) {
                assert!((0.0..=1.0).contains(&now), "{} is at {now}", servo.name);
                assert!((now - before).abs() <= servo.speed * DT * 1.001, "{} jumps", servo.name);
            }
            before = now;
        }
    }

    #[test]
    fn the_same_seed_moves_the_same() {
        let path = |seed| {
            let mut mixer = Mixer::new(seed, 2.0);
            mixer.weights = Weights { random_head: 1.0, random_eyes: 0.5, random_face: 0.7, ..Weights::default() };
            (0..2000).map(|_| (mixer.step(DT, 0.0), mixer.positions()).1).collect::<Vec<_>>()
        };
        assert!(path(5) == path(5) && path(5) != path(6));
    }

    #[test]
    fn too_many_gestures_are_refused() {
        let (gestures, mut mixer) = (Gestures::shipped().unwrap(), still());
        let played = (0..1000).filter(|_| mixer.play(gestures.get(12).unwrap())).count();
        assert_eq!((played, mixer.playing()), (MAX_PLAYING, MAX_PLAYING));
        assert_eq!(mixer.reset(0.0).len(), MAX_PLAYING);
    }
}
