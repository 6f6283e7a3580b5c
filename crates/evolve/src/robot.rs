//! The Robot Simulator: nets, bodies, fitness, trials and evaluations.
//!
//! A [`BodyFile`] describes a robot; a [`Design`] is the same, validated and compiled. An [`EvaluationTask`] evaluates one
//! individual in one or more trials: it emits requests to a world and handles the responses. A [`Simulator`] runs many
//! evaluations at once in one [`World`], in this process or over a connection. In an [`Encounter`] robots meet, step by step.

pub mod body;
mod describe;
mod design;
pub mod drive;
mod encounter;
pub mod evaluation;
#[cfg(test)]
mod fake_world;
pub mod library;
pub mod net;
mod parallel;
pub(crate) mod random;
pub mod script;
mod sensor;
pub mod simulator;
pub mod suitability;
mod summary;
mod trace;

pub use self::{
    body::{BodyFile, BodyFileError, FitnessFile},
    describe::Description,
    design::Design,
    encounter::Encounter,
    evaluation::{EvaluationTask, Outcome, PathPoint},
    net::{GenotypeError, Net, NetSpec},
    simulator::{EvaluationError, Finished, InProcessWorld, Key, Simulator, World, WorldLost, evaluate_all},
    summary::Summary,
    trace::{Trace, trace},
};
pub(crate) use self::{parallel::in_parallel, simulator::evaluate_alone};
