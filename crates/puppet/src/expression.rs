//! Facial expressions: what the face shows until it is told otherwise.

use crate::servo::{COUNT, Positions, place};

/// How quickly one expression turns into another: the time in s in which two thirds of the way are done.
const TURN: f32 = 0.12;

/// An expression: offsets from rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expression {
    /// What it is called.
    pub name: &'static str,
    brows: f32,
    smile: f32,
    eyelids: f32,
    jaw: f32,
}

/// All expressions; the place in the list is the number on the wire.
pub const EXPRESSIONS: [Expression; 5] = [
    Expression { name: "neutral", brows: 0.0, smile: 0.0, eyelids: 0.0, jaw: 0.0 },
    Expression { name: "happy", brows: 0.25, smile: 0.33, eyelids: 0.02, jaw: 0.0 },
    Expression { name: "sad", brows: -0.3, smile: -0.5, eyelids: -0.24, jaw: 0.0 },
    Expression { name: "evil", brows: -0.5, smile: 0.4, eyelids: -0.2, jaw: 0.0 },
    Expression { name: "afraid", brows: 0.5, smile: -0.45, eyelids: 0.23, jaw: 0.25 },
];

/// The face, on its way from one expression to another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Face {
    wanted: usize,
    shown: Expression,
}

impl Default for Face {
    fn default() -> Self {
        Self { wanted: 0, shown: EXPRESSIONS[0] }
    }
}

impl Face {
    /// Which expression it shows or is about to show.
    pub(crate) fn wanted(&self) -> u32 {
        self.wanted as u32
    }

    /// Turns to another expression. False if there is none of this number.
    pub(crate) fn turn_to(&mut self, expression: u32) -> bool {
        let place = usize::try_from(expression).ok().filter(|&place| place < EXPRESSIONS.len());
        self.wanted = place.unwrap_or(self.wanted);
        place.is_some()
    }

    /// Lets time pass, and tells the offsets.
    pub(crate) fn step(&mut self, dt: f32) -> Positions {
        let part = 1.0 - (-dt / TURN).exp();
        if let Some(wanted) = EXPRESSIONS.get(self.wanted) {
            self.shown.brows += (wanted.brows - self.shown.brows) * part;
            self.shown.smile += (wanted.smile - self.shown.smile) * part;
            self.shown.eyelids += (wanted.eyelids - self.shown.eyelids) * part;
            self.shown.jaw += (wanted.jaw - self.shown.jaw) * part;
        }
        let mut offsets = [0.0; COUNT];
        offsets[place::BROWS] = self.shown.brows;
        offsets[place::EYELIDS] = self.shown.eyelids;
        offsets[place::JAW] = self.shown.jaw;
        offsets[place::SMILE_LEFT] = self.shown.smile;
        offsets[place::SMILE_RIGHT] = self.shown.smile;
        offsets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_what_the_protocol_says_of_it() {
        // smile and raised brows, sad and frowning, smile and frowning, sad and raised brows
        for (name, smiles, raised) in
            [("happy", true, true), ("sad", false, false), ("evil", true, false), ("afraid", false, true)]
        {
            let place = EXPRESSIONS.iter().position(|other| other.name == name).unwrap();
            let mut face = Face::default();
            assert!(face.turn_to(place as u32));
            let offsets = (0..200).map(|_| face.step(0.01)).last().unwrap();
            assert_eq!(offsets[place::SMILE_LEFT] > 0.2, smiles, "{name}");
            assert_eq!(offsets[place::SMILE_RIGHT] > 0.2, smiles, "{name}");
            assert_eq!(offsets[place::BROWS] > 0.2, raised, "{name}");
        }
        let mut face = Face::default();
        assert!(!face.turn_to(5) && !face.turn_to(u32::MAX) && face.wanted() == 0);
        assert_eq!(face.step(0.01), [0.0; COUNT]);
    }
}
