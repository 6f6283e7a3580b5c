//! Clients for evolving robots in a simulated world: a Robot Simulator's connection to a World Simulator, and a Population
//! Manager's connections to Robot Simulators.
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

mod connection;
mod fleet;
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

/// Time to wait for an answer. A world in lockstep may take long.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// An error between a client and a server.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address does not resolve.
    #[error("the address does not resolve")]
    NoAddress,
    /// The system failed to connect, send or receive.
    #[error("connection failed: {0}")]
    Io(#[from] io::Error),
    /// The server closed the connection, as it does after an invalid request.
    #[error("the server closed the connection; see its log")]
    Closed,
    /// No answer within [`TIMEOUT`].
    #[error("no answer within {} s", TIMEOUT.as_secs())]
    NoAnswer,
    /// The server sent an invalid message.
    #[error("invalid message from the server: {0}")]
    BadMessage(#[from] LineError),
    /// The server sent a line that is too long.
    #[error("invalid message from the server: {0}")]
    TooLong(#[from] LineTooLong),
    /// The server sent a message other than the answer.
    #[error("unexpected answer to {asked}")]
    UnexpectedAnswer {
        /// The request.
        asked: &'static str,
    },
    /// A number is not finite. Nothing was sent.
    #[error(transparent)]
    NotFinite(#[from] NotFinite),
}

#[expect(clippy::disallowed_methods, reason = "a client is a driver: it waits for the network")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
