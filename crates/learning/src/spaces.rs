//! Sizes and bounds of observations and actions.

use world::interface::Bounds;

/// What a policy is given, and what it returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Spaces {
    /// Bounds of each number of an observation. What is beyond them is clamped.
    pub observation: Vec<Bounds>,
    /// Number of actions. Each is from -1 to 1; what is beyond is clamped.
    pub actions: usize,
}

/// Collects the numbers of an observation one after another.
pub(crate) struct Writer<'a> {
    rest: std::slice::IterMut<'a, f64>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(out: &'a mut [f64]) -> Self {
        Self { rest: out.iter_mut() }
    }

    /// Appends one number.
    pub(crate) fn push(&mut self, value: f64) {
        let place = self.rest.next();
        debug_assert!(place.is_some(), "an observation has as many numbers as its space");
        if let Some(place) = place {
            *place = value;
        }
    }

    /// Appends numbers.
    pub(crate) fn extend(&mut self, values: impl IntoIterator<Item = f64>) {
        values.into_iter().for_each(|value| self.push(value));
    }

    /// Ends the observation.
    pub(crate) fn finish(mut self) {
        debug_assert!(self.rest.next().is_none(), "an observation has as many numbers as its space");
    }
}

/// Bounds for `count` numbers from `-half` to `half`.
pub(crate) fn symmetric(half: f64, count: usize) -> impl Iterator<Item = Bounds> {
    std::iter::repeat_n(Bounds::symmetric(half), count)
}
