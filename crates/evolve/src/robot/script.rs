//! The fitness language: lines of `name = expression` over what a robot does in a trial.
//!
//! ```text
//! start       once before the first step
//! each_step   after each step
//! at_end      once at the end of the trial; sets `fitness`
//! ```
//!
//! Variables keep their values through a trial and start at 0. Numbers are `f64`, and dividing by 0 gives an infinity as
//! there; `min`, `max` and `clamp` pass over what is not a number. A fitness that is not finite in the end is replaced by the body's worst and counted. What is 0 or not a number is
//! false, everything else true; comparisons give 1 or 0. From loose to tight: `or`, `and`, `not`, comparisons, `+ -`,
//! `* / %`, the sign, `^`. `%` leaves a rest that is not negative, `^` groups to the right. `#` starts a comment. A line
//! goes on while a parenthesis is open.
//!
//! Functions: `if(c, a, b)`, `min max` (two or more), `abs sqrt exp ln sin cos atan2 hypot clamp(x, low, high) floor sign`;
//! the constant `pi`. `max`, `min` and `mean` also take the name of a group of sensors.
//!
//! Names are resolved to places in a memory when a script is read; it runs on a small stack without allocating.

mod lex;
mod parse;
mod run;
mod vocabulary;

use self::{parse::Compiler, run::Code};
pub use self::{
    run::Memory,
    vocabulary::{Input, Vocabulary},
};
use super::body::FitnessFile;

/// Longest part of a script, in bytes.
pub const MAX_TEXT: usize = 1 << 16;
/// Most operations of a part.
pub const MAX_OPERATIONS: usize = 10_000;
/// Most variables.
pub const MAX_VARIABLES: usize = 256;
/// Deepest nesting of an expression.
pub const MAX_DEPTH: usize = 64;
/// Most behaviour expressions.
pub const MAX_BEHAVIOUR: usize = 16;

/// Where in a script something is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}, column {column} of `{part}`: {fault}")]
pub struct ScriptError {
    /// `start`, `each_step`, `at_end` or `behaviour`.
    pub part: &'static str,
    /// Counted from 1; the number of the expression in `behaviour`.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub fault: ScriptFault,
}

/// What is wrong in a script.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScriptFault {
    /// No such character in the language.
    #[error("`{found}` means nothing here")]
    Character {
        /// The character.
        found: char,
    },
    /// No number.
    #[error("`{text}` is no number")]
    Number {
        /// What was written.
        text: String,
    },
    /// Something else should be here.
    #[error("{expected} should be here, not {found}")]
    Expected {
        /// What should be here.
        expected: &'static str,
        /// What is here.
        found: String,
    },
    /// Nothing has this name.
    #[error("unknown name `{name}`{}", did_you_mean(.near.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// The most similar known name.
        near: Option<String>,
    },
    /// A name that cannot be set.
    #[error("`{name}` cannot be set; choose another name")]
    Taken {
        /// The name.
        name: String,
    },
    /// A function with too few or too many values.
    #[error("`{function}` takes {takes}, not {found}")]
    Arguments {
        /// The function.
        function: &'static str,
        /// What it takes.
        takes: &'static str,
        /// How many it was given.
        found: usize,
    },
    /// More than there may be.
    #[error("too {what}; at most {max} are allowed")]
    TooMuch {
        /// Of what.
        what: &'static str,
        /// What is allowed.
        max: usize,
    },
    /// Comparisons one after the other.
    #[error("comparisons cannot follow each other; join two with `and`")]
    Chained,
    /// No fitness.
    #[error("`fitness` is never set; end with a line `fitness = ...`")]
    NoFitness,
}

fn did_you_mean(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// Whether something is a name in the language.
pub fn is_name(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A fitness script, ready to run.
#[derive(Clone, Debug)]
pub struct Script {
    start: Code,
    each_step: Code,
    at_end: Code,
    behaviour: Vec<Code>,
    feeds: Vec<(u16, Input)>,
    fitness: u16,
    places: usize,
}

impl Script {
    /// Reads a script for robots of whom this can be told.
    pub fn new(file: &FitnessFile, vocabulary: &Vocabulary) -> Result<Self, ScriptError> {
        let parts = [("start", &file.start), ("each_step", &file.each_step), ("at_end", &file.at_end)];
        let mut compiler = Compiler::new(vocabulary);
        for (part, text) in parts {
            compiler.declare(part, text)?;
        }
        let [start, each_step, at_end] = parts.map(|(part, text)| compiler.lines(part, text));
        let (start, each_step, at_end) = (start?, each_step?, at_end?);
        let too_many = file.behaviour.len() > MAX_BEHAVIOUR;
        if too_many {
            let fault = ScriptFault::TooMuch { what: "many expressions", max: MAX_BEHAVIOUR };
            return Err(ScriptError { part: "behaviour", line: MAX_BEHAVIOUR + 1, column: 1, fault });
        }
        let behaviour =
            file.behaviour.iter().enumerate().map(|(nth, text)| compiler.expression("behaviour", nth + 1, text));
        let behaviour = behaviour.collect::<Result<_, _>>()?;
        let Some(fitness) = compiler.variable("fitness") else {
            let line = file.at_end.lines().count().max(1);
            return Err(ScriptError { part: "at_end", line, column: 1, fault: ScriptFault::NoFitness });
        };
        let (feeds, places) = compiler.finish();
        Ok(Self { start, each_step, at_end, behaviour, feeds, fitness, places })
    }

    /// A memory for one robot.
    pub fn memory(&self) -> Memory {
        Memory::new(self.places)
    }

    /// What the script wants to know, and where to put it.
    pub fn feeds(&self) -> &[(u16, Input)] {
        &self.feeds
    }

    /// How many numbers say how a robot behaved.
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

    /// Runs `at_end`, and gives the fitness, finite or not.
    pub fn at_end(&self, memory: &mut Memory) -> f64 {
        self.at_end.run(memory);
        memory.get(self.fitness)
    }

    /// How the robot behaved, after [`at_end`](Self::at_end); finite or not.
    pub fn behaviour<'a>(&'a self, memory: &'a mut Memory) -> impl Iterator<Item = f64> + 'a {
        self.behaviour.iter().map(|code| code.value(memory))
    }
}

#[cfg(test)]
mod tests;
