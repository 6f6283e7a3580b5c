//! Facial expressions, and the blend from one to the next.

use crate::servo::{COUNT, Positions, index};

/// Time constant of the blend from one expression to the next, in s.
const BLEND: f32 = 0.12;

/// An expression, as servo offsets from rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expression {
    /// Name, in lower case.
    pub name: &'static str,
    brows: f32,
    smile: f32,
    eyelids: f32,
    jaw: f32,
}

/// All expressions, indexed by their number on the wire.
pub const EXPRESSIONS: [Expression; 5] = [
    Expression { name: "neutral", brows: 0.0, smile: 0.0, eyelids: 0.0, jaw: 0.0 },
    Expression { name: "happy", brows: 0.3, smile: 0.5, eyelids: 0.02, jaw: 0.0 },
    Expression { name: "sad", brows: -0.3, smile: -0.42, eyelids: -0.24, jaw: 0.0 },
    Expression { name: "evil", brows: -0.5, smile: 0.45, eyelids: -0.2, jaw: 0.0 },
    Expression { name: "afraid", brows: 0.5, smile: -0.4, eyelids: 0.23, jaw: 0.28 },
];

/// The expression shown at the moment, moving towards the selected one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExpressionBlend {
    selected: usize,
    shown: Expression,
}

impl Default for ExpressionBlend {
    fn default() -> Self {
        Self { selected: 0, shown: EXPRESSIONS[0] }
    }
}

impl ExpressionBlend {
    /// Number of the selected expression.
    pub(crate) fn selected(&self) -> u32 {
        self.selected as u32
    }

    /// Selects an expression. Returns false if the number is unknown.
    pub(crate) fn select(&mut self, expression: u32) -> bool {
        let index = usize::try_from(expression).ok().filter(|&index| index < EXPRESSIONS.len());
        self.selected = index.unwrap_or(self.selected);
        index.is_some()
    }

    /// Advances by `dt` seconds and returns the servo offsets.
    pub(crate) fn step(&mut self, dt: f32) -> Positions {
        let part = 1.0 - (-dt / BLEND).exp();
        if let Some(wanted) = EXPRESSIONS.get(self.selected) {
            self.shown.brows += (wanted.brows - self.shown.brows) * part;
            self.shown.smile += (wanted.smile - self.shown.smile) * part;
            self.shown.eyelids += (wanted.eyelids - self.shown.eyelids) * part;
            self.shown.jaw += (wanted.jaw - self.shown.jaw) * part;
        }
        let mut offsets = [0.0; COUNT];
        offsets[index::BROWS] = self.shown.brows;
        offsets[index::EYELIDS] = self.shown.eyelids;
        offsets[index::JAW] = self.shown.jaw;
        offsets[index::SMILE_LEFT] = self.shown.smile;
        offsets[index::SMILE_RIGHT] = self.shown.smile;
        offsets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_look_as_the_protocol_describes_them() {
        // neutral, smile and raised brows, sad and frowning, smile and frowning, sad and raised brows
        for (number, name, smile, brows) in
            [(0, "neutral", 0, 0), (1, "happy", 1, 1), (2, "sad", -1, -1), (3, "evil", 1, -1), (4, "afraid", -1, 1)]
        {
            assert_eq!(EXPRESSIONS[number].name, name);
            let mut face = ExpressionBlend::default();
            assert!(face.select(number as u32));
            let offsets = (0..200).map(|_| face.step(0.01)).last().unwrap();
            let direction = |servo: usize| i32::from(offsets[servo] > 0.2) - i32::from(offsets[servo] < -0.2);
            let seen = [index::SMILE_LEFT, index::SMILE_RIGHT, index::BROWS].map(direction);
            assert_eq!(seen, [smile, smile, brows], "{name}");
            assert_eq!(offsets == [0.0; COUNT], number == 0, "{name}");
        }
        let mut face = ExpressionBlend::default();
        assert!(!face.select(5) && !face.select(u32::MAX) && face.selected() == 0);
        assert_eq!(face.step(0.01), [0.0; COUNT]);
    }
}
