//! Compiled scripts on a stack machine. All jumps go forward, so every script ends.

/// An operation. Values come from the top of the stack, results go there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    Number(f64),
    Load(u16),
    Store(u16),
    One(One),
    Two(Two),
    Clamp,
    /// Leaves out so many operations.
    Skip(u32),
    /// Takes a value, and leaves out so many operations if it is false.
    SkipUnless(u32),
}

/// A function of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum One {
    Negative,
    Not,
    Truth,
    Abs,
    Sqrt,
    Exp,
    Ln,
    Sin,
    Cos,
    Floor,
    Sign,
}

/// A function of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Two {
    Add,
    Subtract,
    Multiply,
    Divide,
    Rest,
    Power,
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Min,
    Max,
    Atan2,
    Hypot,
}

/// The variables and inputs of a script for one robot, and its stack.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    places: Vec<f64>,
    stack: Vec<f64>,
}

impl Memory {
    pub(super) fn new(places: usize) -> Self {
        Self { places: vec![0.0; places], stack: Vec::with_capacity(super::MAX_DEPTH) }
    }

    /// All variables and inputs at 0.
    pub fn clear(&mut self) {
        self.places.fill(0.0);
    }

    /// Sets an input; see [`super::Script::feeds`].
    pub fn set(&mut self, place: u16, value: f64) {
        self.places[usize::from(place)] = value;
    }

    pub(super) fn get(&self, place: u16) -> f64 {
        self.places[usize::from(place)]
    }
}

/// A compiled part of a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Code {
    pub(super) ops: Vec<Op>,
}

impl Code {
    /// Runs an expression and gives its value.
    pub(super) fn value(&self, memory: &mut Memory) -> f64 {
        self.run(memory);
        memory.stack.pop().unwrap_or(f64::NAN)
    }

    pub(super) fn run(&self, memory: &mut Memory) {
        let Memory { places, stack } = memory;
        stack.clear();
        let mut at = 0;
        while let Some(op) = self.ops.get(at) {
            at += 1;
            match *op {
                Op::Number(number) => stack.push(number),
                Op::Load(place) => stack.push(places[usize::from(place)]),
                Op::Store(place) => places[usize::from(place)] = pop(stack),
                Op::One(one) => {
                    let value = pop(stack);
                    stack.push(one.of(value));
                }
                Op::Two(two) => {
                    let right = pop(stack);
                    let left = pop(stack);
                    stack.push(two.of(left, right));
                }
                Op::Clamp => {
                    let (high, low, value) = (pop(stack), pop(stack), pop(stack));
                    stack.push(value.max(low).min(high));
                }
                Op::Skip(count) => at += count as usize,
                Op::SkipUnless(count) => {
                    if !truth(pop(stack)) {
                        at += count as usize;
                    }
                }
            }
        }
    }
}

/// The compiler never takes more than it has put there.
fn pop(stack: &mut Vec<f64>) -> f64 {
    stack.pop().unwrap_or(f64::NAN)
}

fn truth(value: f64) -> bool {
    value != 0.0 && !value.is_nan()
}

fn number(truth: bool) -> f64 {
    f64::from(u8::from(truth))
}

impl One {
    pub(super) fn of(self, value: f64) -> f64 {
        match self {
            Self::Negative => -value,
            Self::Not => number(!truth(value)),
            Self::Truth => number(truth(value)),
            Self::Abs => value.abs(),
            Self::Sqrt => value.sqrt(),
            Self::Exp => value.exp(),
            Self::Ln => value.ln(),
            Self::Sin => value.sin(),
            Self::Cos => value.cos(),
            Self::Floor => value.floor(),
            Self::Sign if value == 0.0 => 0.0,
            Self::Sign => value.signum(),
        }
    }
}

impl Two {
    pub(super) fn of(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
            Self::Rest => left.rem_euclid(right),
            Self::Power => left.powf(right),
            Self::Equal => number(left == right),
            Self::Unequal => number(left != right),
            Self::Less => number(left < right),
            Self::AtMost => number(left <= right),
            Self::Greater => number(left > right),
            Self::AtLeast => number(left >= right),
            Self::Min => left.min(right),
            Self::Max => left.max(right),
            Self::Atan2 => left.atan2(right),
            Self::Hypot => left.hypot(right),
        }
    }
}
