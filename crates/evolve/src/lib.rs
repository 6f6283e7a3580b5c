//! Evolution of robots: the Population Manager's algorithms and runs, and the Robot Simulator's nets, bodies and trials.
//!
//! No sockets and no clock. The Robot Simulator's requests to a world go through a trait, so that the world may be in the
//! same process or at the other end of a connection, with the same results.

pub mod genotype;
pub mod robot;
pub mod run;
pub mod search;

pub use crate::genotype::{Genotype, NetParameters, ParametersError};
