//! The motion of the robots: they stand with bent knees, nod, swing their arms and move up and down slightly.

use std::f64::consts::TAU;

use wire::{
    StreamMessage,
    soccer::{AgentMessage, Beam, Effector, Init, Motor, Name},
};

/// Period of the motion, in cycles.
const PERIOD: usize = 100;
/// Gains with which the robots stay upright, in N·m/rad and N·m·s/rad.
pub(super) const GAINS: (f64, f64) = (150.0, 5.0);
/// The motors of a T1 with the centre and amplitude of their motion, in degrees.
pub(super) const MOTORS: [(&str, f64, f64); 23] = [
    ("he1", 0.0, 20.0),
    ("he2", 0.0, 5.0),
    ("lae1", 0.0, 8.0),
    ("lae2", -70.0, 0.0),
    ("lae3", 0.0, 0.0),
    ("lae4", 0.0, 10.0),
    ("rae1", 0.0, 8.0),
    ("rae2", 70.0, 0.0),
    ("rae3", 0.0, 0.0),
    ("rae4", 0.0, 10.0),
    ("te1", 0.0, 6.0),
    ("lle1", -11.0, -2.0),
    ("lle2", 0.0, 0.0),
    ("lle3", 0.0, 0.0),
    ("lle4", 23.0, 4.0),
    ("lle5", -12.0, -2.0),
    ("lle6", 0.0, 0.0),
    ("rle1", -11.0, -2.0),
    ("rle2", 0.0, 0.0),
    ("rle3", 0.0, 0.0),
    ("rle4", 23.0, 4.0),
    ("rle5", -12.0, -2.0),
    ("rle6", 0.0, 0.0),
];

/// All messages that a player sends, encoded with framing.
pub(super) struct PlayerScript {
    init: Vec<u8>,
    /// Answers the first perception.
    first: Vec<u8>,
    answers: Vec<Vec<u8>>,
}

impl PlayerScript {
    /// The script of the player with this index, from 0. Players alternate between the teams.
    pub(super) fn new(index: usize) -> anyhow::Result<Self> {
        let team = if index.is_multiple_of(2) { "Reds" } else { "Blues" };
        let number = (index / 2 + 1) as u8;
        let init = Init { model: Name::new("T1")?, team: Name::new(team)?, number };
        let answers = (0..PERIOD).map(|cycle| motors(index, cycle)).collect::<anyhow::Result<Vec<_>>>()?;
        let [x, y] = position(index);
        // beams are mirrored for the right team
        let beam = Effector::Beam(Beam { x: -x.abs(), y, theta_deg: 0.0 });
        let mut first = motors(index, 0)?;
        first.insert(0, beam);
        Ok(Self {
            init: framed(vec![Effector::Init(init)]),
            first: framed(first),
            answers: answers.into_iter().map(framed).collect(),
        })
    }

    pub(super) fn init(&self) -> &[u8] {
        &self.init
    }

    /// The answer after `given` answers.
    pub(super) fn answer(&self, given: usize) -> &[u8] {
        match given {
            0 => &self.first,
            _ => self.answers.get(given % PERIOD).unwrap_or(&self.first),
        }
    }
}

/// Position of a player, in m: in its own half and far from others.
pub(super) fn position(index: usize) -> [f64; 2] {
    let side = if index.is_multiple_of(2) { -1.0 } else { 1.0 };
    let (column, row) = (index / 2 / 3, index / 2 % 3);
    [side * (4.0 + 6.0 * column as f64), 8.0 * row as f64 - 8.0]
}

/// The angle of a motor at a cycle, in degrees.
pub(super) fn angle_deg(index: usize, cycle: usize, (_, middle, swing): (&str, f64, f64)) -> f64 {
    // each player has its own phase
    let phase = TAU * ((cycle + 7 * index) % PERIOD) as f64 / PERIOD as f64;
    ((middle + swing * phase.sin()) * 100.0).round() / 100.0
}

fn motors(index: usize, cycle: usize) -> anyhow::Result<Vec<Effector>> {
    let (kp, kd) = GAINS;
    let motor = |motor: (&str, f64, f64)| {
        let q_deg = angle_deg(index, cycle, motor);
        Ok(Effector::Motor(Motor { name: Name::new(motor.0)?, q_deg, dq_deg: 0.0, kp, kd, tau: 0.0 }))
    };
    MOTORS.into_iter().map(motor).chain([Ok(Effector::Sync)]).collect()
}

fn framed(effectors: Vec<Effector>) -> Vec<u8> {
    let mut bytes = Vec::new();
    AgentMessage::from(effectors).encode_in_stream(&mut bytes);
    bytes
}
