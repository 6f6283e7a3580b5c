use super::{ClientError, PATIENCE, link::Link, now};
use std::{
    collections::VecDeque,
    net::{TcpStream, ToSocketAddrs},
    time::Duration,
};
use wire::evo::{FromRobot, Individual, Line as _, NetParameters, ToRobot};

/// Most answers that are kept while something else is waited for.
const MAX_EARLY: usize = 65_536;

/// What a Robot Simulator says of an individual.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fitness {
    /// Number of the generation, as it was sent.
    pub generation: u64,
    /// Number of the individual, as it was sent.
    pub number: u64,
    /// The more, the better; finite.
    pub fitness: f64,
}

/// A Population Manager's link to one Robot Simulator.
#[derive(Debug)]
pub struct Simulator {
    link: Link,
    /// What was said while something else was waited for.
    early: VecDeque<Fitness>,
}

impl Simulator {
    /// Connects; the default port is 7720.
    ///
    /// # Errors
    ///
    /// When nobody listens there.
    pub fn connect(address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        Self::connect_within(address, PATIENCE)
    }

    pub(super) fn connect_within(address: impl ToSocketAddrs, patience: Duration) -> Result<Self, ClientError> {
        Ok(Self { link: Link::connect(address, patience)?, early: VecDeque::new() })
    }

    /// What nets the simulator can handle. May be asked at any time.
    ///
    /// # Errors
    ///
    /// When the connection ends or the answer does not come within [`PATIENCE`].
    pub fn net_parameters(&mut self) -> Result<NetParameters, ClientError> {
        self.net_parameters_within(PATIENCE)
    }

    pub(super) fn net_parameters_within(&mut self, patience: Duration) -> Result<NetParameters, ClientError> {
        self.link.send(&ToRobot::SendNetParameters.to_line()?)?;
        let until = now() + patience;
        loop {
            let left = until.saturating_duration_since(now());
            match self.link.receive(left)?.ok_or(ClientError::NoAnswer)? {
                FromRobot::NetParameters(parameters) => return Ok(parameters),
                FromRobot::Fitness { generation, number, fitness } if self.early.len() < MAX_EARLY => {
                    self.early.push_back(Fitness { generation, number, fitness });
                }
                FromRobot::Fitness { .. } => return Err(ClientError::OtherAnswer { asked: "SendNetParameters" }),
            }
        }
    }

    /// Sends individuals to be tested, all in one piece; as many at a time as
    /// [`concurrent`](NetParameters::concurrent) says.
    ///
    /// # Errors
    ///
    /// When the connection has ended, or a value is not finite; then nothing was sent.
    pub fn send<'a>(&mut self, individuals: impl IntoIterator<Item = &'a Individual>) -> Result<(), ClientError> {
        let mut lines = Vec::new();
        individuals.into_iter().try_for_each(|individual| individual.encode_line(&mut lines))?;
        self.link.send(&lines)
    }

    /// The next fitness, in whatever order the simulator gets done; `Ok(None)` if there is none in time.
    ///
    /// # Errors
    ///
    /// When the connection has ended.
    pub fn receive(&mut self, patience: Duration) -> Result<Option<Fitness>, ClientError> {
        if let Some(early) = self.early.pop_front() {
            return Ok(Some(early));
        }
        match self.link.receive(patience)? {
            None => Ok(None),
            Some(FromRobot::Fitness { generation, number, fitness }) => {
                Ok(Some(Fitness { generation, number, fitness }))
            }
            Some(FromRobot::NetParameters(_)) => Err(ClientError::OtherAnswer { asked: "Individual" }),
        }
    }

    pub(super) fn stream(&self) -> &TcpStream {
        self.link.stream()
    }
}
