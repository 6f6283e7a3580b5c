//! The servo mixer: seven weighted subsystems and the lids make one position for each servo.
//!
//! ```text
//! rest + w·gestures + w·expression + w·gaze + w·random head + w·random eyes + w·random face + speech (jaw)
//!   -> blended with the direct positions, for servos that have one
//!   -> lids shut by a blink
//!   -> kept within the servo's speed and acceleration
//! ```

use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::{
    expression::Face,
    gaze::{Direction, Gaze, travel},
    gesture::Gesture,
    idle::{Blink, Part, Wander},
    servo::{COUNT, Motion, Positions, SERVOS, place, rest},
};

/// Most gestures that play at once.
pub const MAX_PLAYING: usize = 64;
/// How far the jaw opens for the widest sound.
const JAW: f32 = 0.6;

/// What can be weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Subsystem {
    /// Gestures.
    Gesture,
    /// Facial expression.
    Expression,
    /// Looking at something.
    LookAt,
    /// A wandering head.
    RandomHead,
    /// Wandering eyes.
    RandomEyes,
    /// A lively face.
    RandomFace,
    /// Positions that the operator gave.
    Direct,
}

/// How much each subsystem has to say, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// Of gestures.
    pub gesture: f32,
    /// Of the facial expression.
    pub expression: f32,
    /// Of looking at something.
    pub look_at: f32,
    /// Of the wandering head.
    pub random_head: f32,
    /// Of the wandering eyes.
    pub random_eyes: f32,
    /// Of the lively face.
    pub random_face: f32,
    /// Of the operator's positions.
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
    /// The weight of a subsystem.
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
    /// Since it began, in s.
    time: f32,
}

/// The mixer with all its subsystems.
#[derive(Clone, Debug)]
pub(crate) struct Mixer {
    pub(crate) weights: Weights,
    pub(crate) face: Face,
    pub(crate) gaze: Gaze,
    pub(crate) blink: Blink,
    playing: Vec<Playing>,
    head: Wander,
    eyes: Wander,
    lively: Wander,
    /// None where the operator has not given one.
    direct: [Option<f32>; COUNT],
    motions: [Motion; COUNT],
    random: ChaCha8Rng,
}

impl Mixer {
    pub(crate) fn new(seed: u64, blinks: f32) -> Self {
        Self {
            weights: Weights::default(),
            face: Face::default(),
            gaze: Gaze::default(),
            blink: Blink::new(blinks),
            playing: Vec::new(),
            head: Wander::new(Part::Head),
            eyes: Wander::new(Part::Eyes),
            lively: Wander::new(Part::Face),
            direct: [None; COUNT],
            motions: rest().map(Motion::at),
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Back to the defaults; the servos go there from where they are. Tells the gestures that are cut short.
    pub(crate) fn reset(&mut self, blinks: f32) -> Vec<u32> {
        let cut = self.playing.drain(..).map(|playing| playing.gesture.id).collect();
        self.weights = Weights::default();
        self.face = Face::default();
        self.gaze.set_mode(crate::gaze::LookAt::Forward);
        self.blink.set_speed(blinks);
        self.direct = [None; COUNT];
        cut
    }

    /// Begins a gesture, unless too many play already.
    pub(crate) fn play(&mut self, gesture: &Arc<Gesture>) -> bool {
        let has_room = self.playing.len() < MAX_PLAYING;
        if has_room {
            self.playing.push(Playing { gesture: Arc::clone(gesture), time: 0.0 });
        }
        has_room
    }

    /// How many gestures play.
    pub(crate) fn playing(&self) -> usize {
        self.playing.len()
    }

    /// Gives a servo a direct position, 0 to 1. False if there is no such servo.
    pub(crate) fn place(&mut self, servo: usize, position: f32) -> bool {
        self.direct.get_mut(servo).map(|direct| *direct = Some(position.clamp(0.0, 1.0))).is_some()
    }

    /// Where the servos are.
    pub(crate) fn positions(&self) -> Positions {
        self.motions.map(|motion| motion.position)
    }

    /// Where the head points, as a gaze sees it.
    pub(crate) fn head(&self) -> Direction {
        let turned = |place: usize| self.motions[place].position - SERVOS[place].rest();
        [turned(place::NECK_YAW) * travel(place::NECK_YAW), turned(place::NECK_PITCH) * travel(place::NECK_PITCH)]
    }

    /// Lets time pass, with the mouth open so far (0 to 1) for what is being said. Tells the gestures that are done.
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
        for (offsets, weight) in [(gestures, gesture), (self.face.step(dt), expression), (self.gaze.step(dt), look_at)]
        {
            mixed.iter_mut().zip(offsets).for_each(|(position, offset)| *position += weight * offset);
        }
        self.head.step(&mut self.random, dt, &mut mixed, random_head);
        self.eyes.step(&mut self.random, dt, &mut mixed, random_eyes);
        self.lively.step(&mut self.random, dt, &mut mixed, random_face);
        mixed[place::JAW] += JAW * mouth;
        for (position, wanted) in mixed.iter_mut().zip(self.direct) {
            *position += wanted.map_or(0.0, |wanted| direct * (wanted - *position));
        }
        let shut = self.blink.step(&mut self.random, dt);
        mixed[place::EYELIDS] *= 1.0 - shut;
        for ((motion, servo), target) in self.motions.iter_mut().zip(&SERVOS).zip(mixed) {
            motion.step(servo, target.clamp(0.0, 1.0), dt);
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
    fn nothing_moves_unasked() {
        assert_eq!(after(&mut still(), 5.0), rest());
    }

    #[test]
    fn a_direct_servo_contributes_once_it_is_set() {
        let mut mixer = still();
        mixer.weights.direct = 1.0;
        assert_eq!(after(&mut mixer, 1.0), rest(), "nothing was set");
        assert!(mixer.place(0, 0.9) && mixer.place(21, 7.0) && !mixer.place(36, 0.5));
        let positions = after(&mut mixer, 3.0);
        assert!((positions[0] - 0.9).abs() < 1e-3 && (positions[21] - 1.0).abs() < 1e-3);
        assert_eq!(positions[22..], rest()[22..], "the others stay");
        mixer.weights.direct = 0.5;
        assert!((after(&mut mixer, 3.0)[0] - 0.7).abs() < 1e-3, "half the way");
    }

    #[test]
    fn gestures_play_at_once_and_weigh() {
        let gestures = Gestures::shipped().unwrap();
        let peak = |weight: f32| {
            let mut mixer = still();
            mixer.weights.gesture = weight;
            assert!(mixer.play(gestures.get(0).unwrap()) && mixer.play(gestures.get(5).unwrap()));
            let (mut brows, mut neck, mut done) = (0f32, 0f32, Vec::new());
            for _ in 0..500 {
                done.extend(mixer.step(DT, 0.0));
                brows = brows.max(mixer.positions()[place::BROWS] - 0.5);
                neck = neck.min(mixer.positions()[place::NECK_PITCH] - 0.5);
            }
            assert_eq!(done, [5, 0], "each is done once, the short one first");
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
        (0..COUNT).for_each(|servo| assert!(mixer.place(servo, servo as f32 / 35.0)));
        mixer.face.turn_to(4);
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
