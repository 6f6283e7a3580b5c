//! Clients for evolving robots in a simulated world: the Robot Simulator's link to a World Simulator, and the Population
//! Manager's links to Robot Simulators.
//!
//! ```no_run
//! use client::evo::{Event, Fleet, FleetOptions, World};
//! use wire::evo::{Individual, Layer, Pose};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut world = World::connect("127.0.0.1:7770")?;
//! let robot = world.create()?;
//! let square = vec![[-30.0, 40.0], [30.0, 40.0], [30.0, -40.0], [-30.0, -40.0]];
//! let at = world.shape(robot, vec![Layer { height: 20.0, polygons: vec![square] }])?;
//! let at = world.move_to(robot, Pose { x: at.x + 10.0, y: at.y, dir: at.dir })?;
//! println!("stress {}", at.stress);
//!
//! let mut fleet = Fleet::new(&["127.0.0.1:7720", "127.0.0.1:7721"], FleetOptions::default())?;
//! fleet.submit(Individual { generation: 1, number: 1, hidden: 0, values: vec![0.0; 8] })?;
//! while let Some(event) = fleet.next_event()? {
//!     if let Event::Fitness { number, fitness, .. } = event {
//!         println!("{number}: {fitness}");
//!     }
//! }
//! # Ok(())
//! # }
//! ```

mod fleet;
mod link;
mod simulator;
mod world;

pub use fleet::{Event, Failure, Fleet, FleetError, FleetOptions, Ticket};
pub use simulator::{Fitness, Simulator};
pub use world::World;

use std::{
    io,
    time::{Duration, Instant},
};
use wire::evo::{LineError, LineTooLong, NotFinite};

/// How long an answer is waited for. A world in lockstep may take its time.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What went wrong between a client and a server.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address names no host.
    #[error("the address resolves to nothing")]
    NoAddress,
    /// The system could not send or receive.
    #[error("could not talk to the server: {0}")]
    Io(#[from] io::Error),
    /// The server ended the connection. It does so when a request makes no sense; its log says why.
    #[error("the server closed the connection; its log says why")]
    Closed,
    /// Nothing came in time.
    #[error("no answer within {} s", PATIENCE.as_secs())]
    NoAnswer,
    /// The server sent something that is no message.
    #[error("the server sent a bad message: {0}")]
    BadMessage(#[from] LineError),
    /// The server sent a line without end.
    #[error("the server sent a bad message: {0}")]
    TooLong(#[from] LineTooLong),
    /// The server sent a message, but not the answer to what was asked.
    #[error("the server answered {asked} with another message")]
    OtherAnswer {
        /// What was asked.
        asked: &'static str,
    },
    /// A number is infinite or not a number. Nothing was sent.
    #[error(transparent)]
    NotFinite(#[from] NotFinite),
}

#[expect(clippy::disallowed_methods, reason = "a client is a driver: it waits for the network")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
