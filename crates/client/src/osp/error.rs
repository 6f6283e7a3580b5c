use std::{
    io::{self, ErrorKind},
    time::Duration,
};

use wire::{
    DecodeError,
    osp::{LocalAgent, Version},
};

use super::ATTEMPTS;

/// An error of an OSP client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address resolves to no host.
    #[error("the address does not resolve to any host")]
    NoAddress,
    /// Sending or receiving failed.
    #[error("communication with the server failed: {0}")]
    Io(io::Error),
    /// Every attempt timed out.
    #[error("no reply to {request} after {ATTEMPTS} attempts")]
    NoReply {
        /// Name of the request.
        request: &'static str,
    },
    /// A list is incomplete after all attempts.
    #[error("{missing} datagrams of the answer to {request} are missing after {ATTEMPTS} attempts")]
    Incomplete {
        /// Name of the request.
        request: &'static str,
        /// Number of missing datagrams.
        missing: usize,
    },
    /// The server has another protocol version.
    #[error("the server speaks OSP {}.{}, this client {}.{}", .version.major, .version.minor,
        Version::SUPPORTED.major, Version::SUPPORTED.minor)]
    OtherVersion {
        /// The server's version.
        version: Version,
    },
    /// The server sent an invalid reply.
    #[error("the server sent an invalid reply: {0}")]
    BadReply(#[from] DecodeError),
    /// A client has closed all connections.
    #[error("a client has reset the communication, which closes every connection; reconnect")]
    CommunicationReset,
    /// The server has closed this client's port.
    #[error(
        "connection lost: the server has stopped, or has dropped this client because it kept other clients waiting for \
         too long"
    )]
    ConnectionLost,
    /// The agent does not exist, or the client has not listed the agents.
    #[error("unknown agent {}; list the agents first", .agent.0)]
    UnknownAgent {
        /// The agent.
        agent: LocalAgent,
    },
    /// A step was requested without controlling any agent. Nothing was sent.
    #[error("this client controls no agent; register for one first")]
    NothingControlled,
    /// A step was requested for an agent that this client does not control. Nothing was sent.
    #[error("this client does not control agent {}; register for it first", .agent.0)]
    NotControlled {
        /// The agent.
        agent: LocalAgent,
    },
    /// A step was requested while the previous one is pending. Nothing was sent.
    #[error("a step of agent {} is still pending; wait for it, or reset", .agent.0)]
    StillStepping {
        /// The agent.
        agent: LocalAgent,
    },
    /// The server has the request, but other clients have not voted. The step stays pending.
    #[error("the {request} did not complete within {timeout:?}; every client that controls an agent has to request it")]
    NotCompleted {
        /// Name of the request.
        request: &'static str,
        /// The time limit.
        timeout: Duration,
    },
    /// An input is infinite or NaN. Nothing was sent.
    #[error("input {input} of agent {} is not finite", .agent.0)]
    NotFinite {
        /// The agent.
        agent: LocalAgent,
        /// Index of the input, from 0.
        input: usize,
    },
    /// A request exceeds the size of a datagram. Nothing was sent.
    #[error("the request has {bytes} bytes, more than the {} of a datagram", wire::osp::MAX_DATAGRAM)]
    TooLong {
        /// Size of the request, in bytes.
        bytes: usize,
    },
}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // reported for closed ports
            ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => Self::ConnectionLost,
            _ => Self::Io(error),
        }
    }
}
