//! The 36 servos, in the order of the protocol's header file.
//!
//! Positions are normalised: 0 and 1 are the ends of the servo's travel.

/// Number of servos.
pub const COUNT: usize = 36;

/// A position, or an offset from one, for each servo.
pub type Positions = [f32; COUNT];

/// A servo's range and dynamic limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Servo {
    /// Name in the protocol's header file and in the model, in lower case.
    pub name: &'static str,
    /// Joint angle at position 0, in rad.
    pub lower: f32,
    /// Joint angle at position 1, in rad.
    pub upper: f32,
    /// Maximum speed, in travels per second.
    pub speed: f32,
    /// Maximum acceleration, in travels/s².
    pub acceleration: f32,
}

impl Servo {
    /// The rest position, at which the joint angle is 0.
    pub const fn rest(&self) -> f32 {
        -self.lower / (self.upper - self.lower)
    }

    /// The joint angle at a position, in rad.
    pub fn angle(&self, position: f32) -> f64 {
        f64::from(self.lower) + f64::from(position) * (f64::from(self.upper) - f64::from(self.lower))
    }
}

/// Servos of the trunk and the limbs, which carry much of the robot's mass.
const fn heavy(name: &'static str, lower: f32, upper: f32) -> Servo {
    Servo { name, lower, upper, speed: 1.5, acceleration: 8.0 }
}

/// Servos of the neck and the hands.
const fn quick(name: &'static str, lower: f32, upper: f32) -> Servo {
    Servo { name, lower, upper, speed: 4.0, acceleration: 60.0 }
}

/// Servos of the face.
const fn light(name: &'static str, lower: f32, upper: f32) -> Servo {
    Servo { name, lower, upper, speed: 12.0, acceleration: 400.0 }
}

/// The servo of the eyelids, which weigh next to nothing and blink up to ten times a second.
const fn lids(name: &'static str, lower: f32, upper: f32) -> Servo {
    Servo { name, lower, upper, speed: 40.0, acceleration: 4000.0 }
}

/// All servos, indexed by their id on the wire.
pub const SERVOS: [Servo; COUNT] = [
    heavy("waist", -0.8, 0.8),
    heavy("shoulder_pitch_left", -1.2, 2.8),
    heavy("shoulder_roll_left", -0.15, 1.65),
    heavy("elbow_yaw_left", -1.4, 1.4),
    heavy("elbow_pitch_left", -0.2, 2.0),
    heavy("shoulder_pitch_right", -1.2, 2.8),
    heavy("shoulder_roll_right", -0.15, 1.65),
    heavy("elbow_yaw_right", -1.4, 1.4),
    heavy("elbow_pitch_right", -0.2, 2.0),
    heavy("hip_roll_left", -0.4, 0.4),
    heavy("hip_yaw_left", -0.6, 0.6),
    heavy("hip_pitch_left", -0.7, 1.3),
    heavy("knee_pitch_left", -0.05, 1.7),
    heavy("ankle_pitch_left", -0.6, 0.6),
    heavy("ankle_roll_left", -0.4, 0.4),
    heavy("hip_roll_right", -0.4, 0.4),
    heavy("hip_yaw_right", -0.6, 0.6),
    heavy("hip_pitch_right", -0.7, 1.3),
    heavy("knee_pitch_right", -0.05, 1.7),
    heavy("ankle_pitch_right", -0.6, 0.6),
    heavy("ankle_roll_right", -0.4, 0.4),
    quick("neck_yaw", -1.1, 1.1),
    quick("neck_roll", -0.5, 0.5),
    quick("neck_pitch", -0.6, 0.6),
    light("brows", -0.4, 0.4),
    lids("eyelids", -1.35, 0.4),
    light("eyes_pitch", -0.45, 0.45),
    light("jaw", -0.02, 0.38),
    light("eye_yaw_right", -0.55, 0.55),
    light("smile_left", -0.7, 0.7),
    light("eye_yaw_left", -0.55, 0.55),
    light("smile_right", -0.7, 0.7),
    quick("wrist_left", -1.4, 1.4),
    quick("grasp_left", -0.3, 1.5),
    quick("wrist_right", -1.4, 1.4),
    quick("grasp_right", -0.3, 1.5),
];

/// Index of the servo with this name.
pub fn servo_named(name: &str) -> Option<usize> {
    SERVOS.iter().position(|servo| servo.name == name)
}

/// The rest position of every servo.
pub fn rest() -> Positions {
    SERVOS.map(|servo| servo.rest())
}

macro_rules! indices {
    ($($(#[$doc:meta])* $name:ident = $index:expr;)*) => {
        /// Indices of the servos that built-in behaviour moves.
        pub mod index {
            $($(#[$doc])* pub const $name: usize = $index;)*
        }
    };
}

indices! {
    /// 1 looks to the robot's left.
    NECK_YAW = 21;
    /// 1 tilts the head to the robot's left.
    NECK_ROLL = 22;
    /// 1 looks up.
    NECK_PITCH = 23;
    /// 1 raises the brows.
    BROWS = 24;
    /// 0 closes the eyes.
    EYELIDS = 25;
    /// 1 looks up.
    EYES_PITCH = 26;
    /// 1 opens the mouth.
    JAW = 27;
    /// 1 looks to the robot's left.
    EYE_YAW_RIGHT = 28;
    /// 1 is a smile.
    SMILE_LEFT = 29;
    /// 1 looks to the robot's left.
    EYE_YAW_LEFT = 30;
    /// 1 is a smile.
    SMILE_RIGHT = 31;
}

/// Moves one servo towards a target within its speed and acceleration limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Current position, 0 to 1.
    pub position: f32,
    /// Current velocity, in travels per second.
    pub velocity: f32,
}

impl Motion {
    /// At rest at a position.
    pub fn at(position: f32) -> Self {
        Self { position, velocity: 0.0 }
    }

    /// Advances by `dt` seconds. Does not overshoot a constant target; stops at 0 and 1.
    pub fn step(&mut self, servo: &Servo, target: f32, dt: f32) {
        let (away, change) = (target - self.position, servo.acceleration * dt);
        // the highest speed from which it can still brake in time: braking in `n` steps covers n(n + 1)/2 times what the
        // last one does
        let distance = away.abs() / (change * dt);
        let steps = (0.5 * ((1.0 + 8.0 * distance).sqrt() - 1.0)).floor();
        let stopping = change * (steps + (distance - steps * (steps + 1.0) / 2.0) / (steps + 1.0));
        let wanted = stopping.min(servo.speed).copysign(away);
        self.velocity += (wanted - self.velocity).clamp(-change, change);
        self.position += self.velocity * dt;
        let (low, high) = (0.0, 1.0);
        if !(low..=high).contains(&self.position) {
            *self = Self::at(self.position.clamp(low, high));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn indices_match_the_names() {
        let named = [
            (index::NECK_YAW, "neck_yaw"),
            (index::NECK_ROLL, "neck_roll"),
            (index::NECK_PITCH, "neck_pitch"),
            (index::BROWS, "brows"),
            (index::EYELIDS, "eyelids"),
            (index::EYES_PITCH, "eyes_pitch"),
            (index::JAW, "jaw"),
            (index::EYE_YAW_RIGHT, "eye_yaw_right"),
            (index::SMILE_LEFT, "smile_left"),
            (index::EYE_YAW_LEFT, "eye_yaw_left"),
            (index::SMILE_RIGHT, "smile_right"),
        ];
        for (index, name) in named {
            assert_eq!(servo_named(name), Some(index), "{name}");
        }
        assert_eq!(servo_named("tail"), None);
    }

    proptest! {
        #[test]
        fn motion_keeps_its_limits_and_arrives(start in 0.01f32..0.99, target in 0.01f32..0.99, index in 0..COUNT) {
            let (servo, dt) = (&SERVOS[index], 0.005);
            let mut motion = Motion::at(start);
            let toward = (target - start).signum();
            for _ in 0..2000 {
                let before = motion;
                motion.step(servo, target, dt);
                prop_assert!(motion.velocity.abs() <= servo.speed * 1.001);
                prop_assert!((motion.velocity - before.velocity).abs() <= servo.acceleration * dt * 1.01);
                prop_assert!((motion.position - target) * toward < 1e-5, "it overshot to {}", motion.position);
            }
            prop_assert!((motion.position - target).abs() < 1e-3 && motion.velocity.abs() < 1e-2, "{motion:?}");
        }
    }
}
