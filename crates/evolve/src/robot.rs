//! The Robot Simulator: nets, bodies, fitness and trials.
//!
//! A [`BodyFile`] says what a robot is; a [`Design`] is the same, checked and ready to run. A [`Trial`] tests one
//! individual: it says what it wants to ask of a world and takes the answers. A [`Simulator`] runs many trials at once in
//! one [`World`], which may be in this process or at the other end of a connection.

pub mod drive;
pub mod net;
mod noise;
