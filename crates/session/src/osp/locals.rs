//! Numbers that are local to one client.

use std::collections::BTreeMap;

/// Maps things to their numbers for one client: from 1, in the order in which the client learnt of them (D16).
#[derive(Debug)]
pub(super) struct Locals<T> {
    things: Vec<T>,
    numbers: BTreeMap<T, i32>,
}

impl<T> Default for Locals<T> {
    fn default() -> Self {
        Self { things: Vec::new(), numbers: BTreeMap::new() }
    }
}

impl<T: Copy + Ord> Locals<T> {
    /// The thing's number; assigns one if it has none.
    pub(super) fn number(&mut self, thing: T) -> i32 {
        let things = &mut self.things;
        *self.numbers.entry(thing).or_insert_with(|| {
            things.push(thing);
            // a world has fewer things than that
            i32::try_from(things.len()).unwrap_or(i32::MAX)
        })
    }

    /// The thing's number, if it has one.
    pub(super) fn known(&self, thing: T) -> Option<i32> {
        self.numbers.get(&thing).copied()
    }

    /// The thing with this number.
    pub(super) fn thing(&self, number: i32) -> Option<T> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.things.get(index).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_from_one_and_stay() {
        let mut locals = Locals::default();
        assert_eq!((locals.number('x'), locals.number('a'), locals.number('x')), (1, 2, 1));
        assert_eq!((locals.thing(2), locals.known('a'), locals.known('b')), (Some('a'), Some(2), None));
        for unknown in [0, -1, 3, i32::MIN, i32::MAX] {
            assert_eq!(locals.thing(unknown), None, "{unknown}");
        }
    }
}
