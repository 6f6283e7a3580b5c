//! The Robot Simulator: nets, bodies, fitness and trials.
//!
//! A [`BodyFile`] says what a robot is; a [`Design`] is the same, checked and ready to run. A [`Trial`] tests one
//! individual: it says what it wants to ask of a world and takes the answers. A [`Simulator`] runs many trials at once in
//! one [`World`], which may be in this process or at the other end of a connection.

pub mod body;
mod describe;
mod design;
pub mod drive;
#[cfg(test)]
mod fake;
mod follow;
pub mod library;
pub mod net;
mod noise;
pub mod script;
mod sense;
pub mod simulator;
pub mod trial;

pub use self::{
    body::{BodyFile, BodyFileError, FitnessFile},
    describe::Description,
    design::Design,
    follow::{Followed, follow},
    net::{GenotypeError, Net, NetPlan},
    simulator::{EvaluationError, Finished, InProcess, Key, Simulator, World, WorldLost, evaluate_all},
    trial::{Outcome, PathPoint, Trial},
};
