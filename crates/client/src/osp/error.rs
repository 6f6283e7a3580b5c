use std::{
    io::{self, ErrorKind},
    time::Duration,
};

use wire::{
    DecodeError,
    osp::{LocalAgent, Version},
};

use super::ATTEMPTS;

/// What went wrong between a client and an OSP server.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address names no host.
    #[error("the address resolves to nothing")]
    NoAddress,
    /// The system could not send or receive.
    #[error("could not talk to the server: {0}")]
    Io(io::Error),
    /// Every attempt timed out.
    #[error("no reply to {request} after {ATTEMPTS} attempts")]
    NoReply {
        /// What was asked.
        request: &'static str,
    },
    /// Some of a list did not arrive, however often it was asked for.
    #[error("{missing} datagrams of the answer to {request} are missing after {ATTEMPTS} attempts")]
    Incomplete {
        /// What was asked.
        request: &'static str,
        /// How many did not arrive.
        missing: usize,
    },
    /// The server speaks another version of the protocol.
    #[error("the server speaks OSP {}.{}, this client {}.{}", .version.major, .version.minor,
        Version::SUPPORTED.major, Version::SUPPORTED.minor)]
    OtherVersion {
        /// Which one.
        version: Version,
    },
    /// The server sent something that is no reply.
    #[error("the server sent a bad reply: {0}")]
    BadReply(#[from] DecodeError),
    /// Somebody has ended everybody's connection.
    #[error("somebody has reset the communication, which ends every connection; connect again")]
    CommunicationReset,
    /// Nobody listens any more on the port that this client was given.
    #[error(
        "the connection is gone: the server was stopped, or has dropped this client because it let the others wait for \
         too long"
    )]
    ConnectionLost,
    /// The server knows no such agent.
    #[error("the server knows no agent {}; ask for the agents first", .agent.0)]
    UnknownAgent {
        /// The agent.
        agent: LocalAgent,
    },
    /// A step was to be asked for with no agent to ask for. Nothing was sent.
    #[error("this client controls no agent; register for one first")]
    NothingControlled,
    /// A step was to be asked for an agent that this client has not registered for. Nothing was sent.
    #[error("this client does not control agent {}; register for it first", .agent.0)]
    NotControlled {
        /// The agent.
        agent: LocalAgent,
    },
    /// A step was to be asked for while the last one is awaited. Nothing was sent.
    #[error("a step of agent {} is still awaited; wait for it, or reset", .agent.0)]
    StillStepping {
        /// The agent.
        agent: LocalAgent,
    },
    /// The server has the request, and others keep it waiting. The step is still awaited.
    #[error(
        "the {request} was not done within {patience:?}; everybody who controls an agent has to ask for it, and \
         somebody has not"
    )]
    NotCompleted {
        /// What was asked.
        request: &'static str,
        /// How long was waited.
        patience: Duration,
    },
    /// An input is infinite or not a number. Nothing was sent.
    #[error("input {input} of agent {} is not finite", .agent.0)]
    NotFinite {
        /// The agent.
        agent: LocalAgent,
        /// Which of its inputs, from 0.
        input: usize,
    },
    /// A request has more than a datagram carries. Nothing was sent.
    #[error("the request has {bytes} bytes, and a datagram carries no more than {}", wire::osp::MAX_DATAGRAM)]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // what the system says of a port that is closed
            ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => Self::ConnectionLost,
            _ => Self::Io(error),
        }
    }
}
