use super::{
    Individual, Line, NetParameters, NotFinite,
    error::{LineError, excerpt},
    net::INDIVIDUAL,
    put_line, put_number, put_whole,
    words::{MAX_WHOLE, Words},
};

const SEND_NET_PARAMETERS: &str = "SendNetParameters";
const NET_PARAMETERS: &str = "NetParameters";
const FITNESS: &str = "Fitness";

/// A message from a Population Manager to a Robot Simulator.
#[derive(Debug, Clone, PartialEq)]
pub enum ToRobot {
    /// Requests the nets that the simulator supports. Answered by [`FromRobot::NetParameters`].
    SendNetParameters,
    /// Requests the evaluation of a genotype. Answered by [`FromRobot::Fitness`] on completion, in any order.
    Individual(Individual),
}

/// A message from a Robot Simulator to a Population Manager.
#[derive(Debug, Clone, PartialEq)]
pub enum FromRobot {
    /// The answer to [`ToRobot::SendNetParameters`].
    NetParameters(NetParameters),
    /// The answer to [`ToRobot::Individual`].
    Fitness {
        /// As received with the individual (Gen).
        generation: u64,
        /// As received with the individual (Ind).
        number: u64,
        /// Fitness; higher is better (Fit).
        fitness: f64,
    },
}

impl Line for ToRobot {
    fn decode(line: &[u8]) -> Result<Self, LineError> {
        let (name, rest) = Words::name(line)?;
        let mut words;
        let message = match name {
            b"SendNetParameters" => {
                words = Words::after(SEND_NET_PARAMETERS, rest);
                Self::SendNetParameters
            }
            b"Individual" => {
                words = Words::after(INDIVIDUAL, rest);
                Self::Individual(Individual::decode(&mut words)?)
            }
            _ => return Err(LineError::UnknownName { name: excerpt(name) }),
        };
        words.end()?;
        Ok(message)
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), NotFinite> {
        match self {
            Self::SendNetParameters => put_line(out, SEND_NET_PARAMETERS, |_| Ok(())),
            Self::Individual(individual) => individual.encode_line(out),
        }
    }
}

impl Line for FromRobot {
    fn decode(line: &[u8]) -> Result<Self, LineError> {
        let (name, rest) = Words::name(line)?;
        let mut words;
        let message = match name {
            b"NetParameters" => {
                words = Words::after(NET_PARAMETERS, rest);
                Self::NetParameters(NetParameters::decode(&mut words)?)
            }
            b"Fitness" => {
                words = Words::after(FITNESS, rest);
                Self::Fitness {
                    generation: words.whole("Gen", 0, MAX_WHOLE)?,
                    number: words.whole("Ind", 0, MAX_WHOLE)?,
                    fitness: words.number("Fit")?,
                }
            }
            _ => return Err(LineError::UnknownName { name: excerpt(name) }),
        };
        words.end()?;
        Ok(message)
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), NotFinite> {
        match self {
            Self::NetParameters(parameters) => put_line(out, NET_PARAMETERS, |out| parameters.encode(out)),
            Self::Fitness { generation, number, fitness } => put_line(out, FITNESS, |out| {
                put_whole(out, *generation);
                put_whole(out, *number);
                put_number(out, *fitness)
            }),
        }
    }
}
