//! A stack machine for compiled scripts. All jumps go forward, so every script terminates.

/// An operation on the stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    Number(f64),
    Load(u16),
    Store(u16),
    Unary(UnaryOp),
    Binary(BinaryOp),
    Clamp,
    /// Skips this many operations.
    Skip(u32),
    /// Pops a value and skips this many operations if it is false.
    SkipUnless(u32),
}

/// A function of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnaryOp {
    Negative,
    Not,
    ToBool,
    Abs,
    Sqrt,
    Exp,
    Ln,
    Sin,
    Cos,
    Floor,
    Sign,
}

/// A function of two arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
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

/// The variables, inputs and stack of a script for one robot.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    slots: Vec<f64>,
    stack: Vec<f64>,
}

impl Memory {
    pub(super) fn new(slots: usize) -> Self {
        Self { slots: vec![0.0; slots], stack: Vec::with_capacity(super::MAX_DEPTH) }
    }

    /// Sets all variables and inputs to 0.
    pub fn clear(&mut self) {
        self.slots.fill(0.0);
    }

    /// Sets an input; see [`super::Script::inputs`].
    pub fn set(&mut self, slot: u16, value: f64) {
        self.slots[usize::from(slot)] = value;
    }

    pub(super) fn get(&self, slot: u16) -> f64 {
        self.slots[usize::from(slot)]
    }
}

/// A compiled section of a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Code {
    pub(super) ops: Vec<Op>,
}

impl Code {
    /// Evaluates an expression.
    pub(super) fn value(&self, memory: &mut Memory) -> f64 {
        self.run(memory);
        memory.stack.pop().unwrap_or(f64::NAN)
    }

    pub(super) fn run(&self, memory: &mut Memory) {
        let Memory { slots, stack } = memory;
        stack.clear();
        let mut at = 0;
        while let Some(op) = self.ops.get(at) {
            at += 1;
            match *op {
                Op::Number(number) => stack.push(number),
                Op::Load(slot) => stack.push(slots[usize::from(slot)]),
                Op::Store(slot) => slots[usize::from(slot)] = pop(stack),
                Op::Unary(one) => {
                    let value = pop(stack);
                    stack.push(one.apply(value));
                }
                Op::Binary(two) => {
                    let right = pop(stack);
                    let left = pop(stack);
                    stack.push(two.apply(left, right));
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

/// The compiler never pops more than it pushes.
fn pop(stack: &mut Vec<f64>) -> f64 {
    stack.pop().unwrap_or(f64::NAN)
}

fn truth(value: f64) -> bool {
    value != 0.0 && !value.is_nan()
}

fn number(truth: bool) -> f64 {
    f64::from(u8::from(truth))
}

impl UnaryOp {
    pub(super) fn apply(self, value: f64) -> f64 {
        match self {
            Self::Negative => -value,
            Self::Not => number(!truth(value)),
            Self::ToBool => number(truth(value)),
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

impl BinaryOp {
    pub(super) fn apply(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
            Self::Remainder => left.rem_euclid(right),
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
