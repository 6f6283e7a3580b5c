use super::{ClientError, TIMEOUT, connection::Connection, now};
use std::{
    collections::VecDeque,
    net::{TcpStream, ToSocketAddrs},
    time::Duration,
};
use wire::evo::{FromRobot, Individual, Line as _, NetParameters, ToRobot};

/// Maximum number of results kept while waiting for another answer.
const MAX_EARLY: usize = 65_536;

/// The fitness of an individual, from a Robot Simulator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fitness {
    /// Number of the generation, as sent.
    pub generation: u64,
    /// Number of the individual, as sent.
    pub number: u64,
    /// Higher is better; finite.
    pub fitness: f64,
}

/// A Population Manager's connection to one Robot Simulator.
#[derive(Debug)]
pub struct Simulator {
    connection: Connection,
    /// Results received while waiting for another answer.
    early: VecDeque<Fitness>,
}

impl Simulator {
    /// Connects; the default port is 7720.
    ///
    /// # Errors
    ///
    /// The connection fails.
    pub fn connect(address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        Self::connect_within(address, TIMEOUT)
    }

    pub(super) fn connect_within(address: impl ToSocketAddrs, timeout: Duration) -> Result<Self, ClientError> {
        Ok(Self { connection: Connection::connect(address, timeout)?, early: VecDeque::new() })
    }

    /// The nets that the simulator accepts.
    ///
    /// # Errors
    ///
    /// The connection closes, or there is no answer within [`TIMEOUT`].
    pub fn net_parameters(&mut self) -> Result<NetParameters, ClientError> {
        self.net_parameters_within(TIMEOUT)
    }

    pub(super) fn net_parameters_within(&mut self, timeout: Duration) -> Result<NetParameters, ClientError> {
        self.connection.send(&ToRobot::SendNetParameters.to_line()?)?;
        let until = now() + timeout;
        loop {
            let left = until.saturating_duration_since(now());
            match self.connection.receive(left)?.ok_or(ClientError::NoAnswer)? {
                FromRobot::NetParameters(parameters) => return Ok(parameters),
                FromRobot::Fitness { generation, number, fitness } if self.early.len() < MAX_EARLY => {
                    self.early.push_back(Fitness { generation, number, fitness });
                }
                FromRobot::Fitness { .. } => return Err(ClientError::UnexpectedAnswer { asked: "SendNetParameters" }),
            }
        }
    }

    /// Sends individuals for evaluation, with one write; at most [`concurrent`](NetParameters::concurrent) at a time.
    ///
    /// # Errors
    ///
    /// The connection is closed, or a value is not finite; then nothing is sent.
    pub fn send<'a>(&mut self, individuals: impl IntoIterator<Item = &'a Individual>) -> Result<(), ClientError> {
        let mut lines = Vec::new();
        individuals.into_iter().try_for_each(|individual| individual.encode_line(&mut lines))?;
        self.connection.send(&lines)
    }

    /// The next fitness, in whatever order the simulator gets done; `Ok(None)` if there is none in time.
    ///
    /// # Errors
    ///
    /// When the connection has ended.
    pub fn receive(&mut self, timeout: Duration) -> Result<Option<Fitness>, ClientError> {
        if let Some(early) = self.early.pop_front() {
            return Ok(Some(early));
        }
        match self.connection.receive(timeout)? {
            None => Ok(None),
            Some(FromRobot::Fitness { generation, number, fitness }) => {
                Ok(Some(Fitness { generation, number, fitness }))
            }
            Some(FromRobot::NetParameters(_)) => Err(ClientError::UnexpectedAnswer { asked: "Individual" }),
        }
    }

    pub(super) fn stream(&self) -> &TcpStream {
        self.connection.stream()
    }
}
