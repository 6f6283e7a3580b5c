//! The fitness language: lines of `name = expression` over a robot's trial.
//!
//! ```text
//! start       once before the first step
//! each_step   after each step
//! at_end      once at the end of the trial; sets `fitness`
//! ```
//!
//! Variables keep their values through a trial and start at 0. Numbers are `f64`, and division by 0 gives an infinity;
//! `min`, `max` and `clamp` ignore NaN. A fitness that is not finite is replaced by the body's `worst` and counted. 0 and NaN
//! are false, everything else is true; comparisons give 1 or 0. Precedence, from low to high: `or`, `and`, `not`,
//! comparisons, `+ -`, `* / %`, unary `-`, `^`. The remainder `%` is never negative, `^` is right-associative. `#` starts a
//! comment. A line continues while a parenthesis is open.
//!
//! Functions: `if(c, a, b)`, `min max` (two or more values), `abs sqrt exp ln sin cos atan2 hypot clamp(x, low, high) floor sign`;
//! the constant `pi`. `max`, `min` and `mean` also take the name of a group of sensors.
//!
//! Names are resolved to memory slots at compile time; a script runs on a small stack without allocating.

mod lex;
mod parse;
mod run;
mod vocabulary;

use support::suggest;

use self::{parse::Compiler, run::Code};
pub use self::{
    run::Memory,
    vocabulary::{Input, Vocabulary},
};
use super::{body::FitnessFile, summary::Summary};

/// Maximum length of a section of a script, in bytes.
pub const MAX_TEXT: usize = 1 << 16;
/// Maximum number of operations of a section.
pub const MAX_OPERATIONS: usize = 10_000;
/// Maximum number of variables.
pub const MAX_VARIABLES: usize = 256;
/// Maximum nesting of an expression.
pub const MAX_DEPTH: usize = 64;
/// Maximum number of behaviour expressions.
pub const MAX_BEHAVIOUR: usize = 16;

/// An error in a script with its position.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}, column {column} of `{section}`: {kind}")]
pub struct ScriptError {
    /// `start`, `each_step`, `at_end`, `behaviour` or `summary`.
    pub section: &'static str,
    /// Line, from 1; in `behaviour` and `summary`, the number of the expression.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub kind: ScriptErrorKind,
}

/// What is wrong in a script.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScriptErrorKind {
    /// A character that is not part of the language.
    #[error("unexpected character `{found}`")]
    Character {
        /// The character.
        found: char,
    },
    /// An invalid number.
    #[error("invalid number `{text}`")]
    Number {
        /// The text.
        text: String,
    },
    /// An unexpected token.
    #[error("expected {expected}, not {found}")]
    Expected {
        /// The expected token.
        expected: &'static str,
        /// The actual token.
        found: String,
    },
    /// An unknown name.
    #[error("unknown name `{name}`{}", hint(.near.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// The most similar known name.
        near: Option<String>,
    },
    /// A group of sensors that the robot does not have.
    #[error("the robot has no sensors in the group `{group}`")]
    NoSensors {
        /// Name of the group.
        group: String,
    },
    /// An assignment to a name that is not a variable.
    #[error("`{name}` is reserved; choose another name")]
    Taken {
        /// The name.
        name: String,
    },
    /// A wrong number of arguments.
    #[error("`{function}` takes {takes}, not {found}")]
    Arguments {
        /// The function.
        function: &'static str,
        /// The arguments it takes.
        takes: &'static str,
        /// The actual number.
        found: usize,
    },
    /// A limit is exceeded.
    #[error("too {what}; at most {max} are allowed")]
    TooMuch {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        max: usize,
    },
    /// Chained comparisons.
    #[error("comparisons cannot be chained; join two with `and`")]
    Chained,
    /// `fitness` is not set.
    #[error("`fitness` is never set; end with a line `fitness = ...`")]
    NoFitness,
}

fn hint(near: Option<&str>) -> String {
    near.map(|near| format!("; {}", suggest::did_you_mean(near))).unwrap_or_default()
}

/// Whether a text is a valid name of the language.
pub fn is_name(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A compiled fitness script.
#[derive(Clone, Debug)]
pub struct Script {
    start: Code,
    each_step: Code,
    at_end: Code,
    behaviour: Vec<Code>,
    figures: Vec<Code>,
    inputs: Vec<(u16, Input)>,
    fitness: u16,
    slots: usize,
}

impl Script {
    /// Compiles a script for robots with this vocabulary.
    ///
    /// # Errors
    ///
    /// The first syntax error, unknown name or exceeded limit.
    pub fn new(file: &FitnessFile, vocabulary: &Vocabulary) -> Result<Self, ScriptError> {
        let parts = [("start", &file.start), ("each_step", &file.each_step), ("at_end", &file.at_end)];
        let mut compiler = Compiler::new(vocabulary);
        for (section, text) in parts {
            compiler.declare(section, text)?;
        }
        let [start, each_step, at_end] = parts.map(|(section, text)| compiler.lines(section, text));
        let (start, each_step, at_end) = (start?, each_step?, at_end?);
        let too_many = file.behaviour.len() > MAX_BEHAVIOUR;
        if too_many {
            let kind = ScriptErrorKind::TooMuch { what: "many expressions", max: MAX_BEHAVIOUR };
            return Err(ScriptError { section: "behaviour", line: MAX_BEHAVIOUR + 1, column: 1, kind });
        }
        let behaviour =
            file.behaviour.iter().enumerate().map(|(nth, text)| compiler.expression("behaviour", nth + 1, text));
        let behaviour = behaviour.collect::<Result<_, _>>()?;
        let summary = Summary::parse(&file.summary)?;
        let figures =
            summary.expressions().enumerate().map(|(nth, text)| compiler.expression("summary", nth + 1, text));
        let figures = figures.collect::<Result<_, _>>()?;
        let Some(fitness) = compiler.variable("fitness") else {
            let line = file.at_end.lines().count().max(1);
            return Err(ScriptError { section: "at_end", line, column: 1, kind: ScriptErrorKind::NoFitness });
        };
        let (inputs, slots) = compiler.finish();
        Ok(Self { start, each_step, at_end, behaviour, figures, inputs, fitness, slots })
    }

    /// Memory for one robot.
    pub fn memory(&self) -> Memory {
        Memory::new(self.slots)
    }

    /// The inputs that the script reads, with their memory slots.
    pub fn inputs(&self) -> &[(u16, Input)] {
        &self.inputs
    }

    /// Number of behaviour expressions.
    pub fn behaviours(&self) -> usize {
        self.behaviour.len()
    }

    /// Runs `start`, with all variables at 0.
    pub fn start(&self, memory: &mut Memory) {
        self.start.run(memory);
    }

    /// Runs `each_step`.
    pub fn each_step(&self, memory: &mut Memory) {
        self.each_step.run(memory);
    }

    /// Runs `at_end` and returns the fitness, which may not be finite.
    pub fn at_end(&self, memory: &mut Memory) -> f64 {
        self.at_end.run(memory);
        memory.get(self.fitness)
    }

    /// The figures of the summary, which may not be finite. To be called after [`at_end`](Self::at_end).
    pub fn figures<'a>(&'a self, memory: &'a mut Memory) -> impl Iterator<Item = f64> + 'a {
        self.figures.iter().map(|code| code.value(memory))
    }

    /// The values of the behaviour expressions, which may not be finite. To be called after [`at_end`](Self::at_end).
    pub fn behaviour<'a>(&'a self, memory: &'a mut Memory) -> impl Iterator<Item = f64> + 'a {
        self.behaviour.iter().map(|code| code.value(memory))
    }
}

#[cfg(test)]
mod tests;
