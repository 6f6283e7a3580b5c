//! A client for OSP 1.1: agents, variables, events and the steps of a simulation.
//!
//! ```no_run
//! use client::osp::Client;
//!
//! # fn main() -> Result<(), client::osp::ClientError> {
//! let mut client = Client::connect("127.0.0.1:45454")?;
//! for agent in client.agents()?.into_iter().filter(|agent| agent.available) {
//!     if !client.register(agent.agent)? {
//!         continue;
//!     }
//!     let info = client.info(agent.agent)?;
//!     client.reset(7)?;
//!     let step = client.step(&[(agent.agent, &vec![0.5; info.inputs.len()])])?;
//!     println!("{}: {:?}", agent.name, step.completed);
//! }
//! client.end()
//! # }
//! ```
//!
//! Datagrams may be lost, duplicated and delayed. Requests are retransmitted until they are answered. Steps and resets
//! carry sequence numbers (D35 in `protocols/osp/decisions.md`), so each is performed and reported exactly once on any
//! network, if the server supports them; if not, use the loopback interface only. Other answers carry no number: the
//! answer to an earlier attempt may be taken for that to the latest.
//!
//! The client processes incoming datagrams only during calls. If it is idle for long, call [`attend`](Client::attend):
//! other clients may be waiting for its confirmations.

mod error;
mod lists;
mod progress;
mod simulation;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeSet,
    io,
    net::{SocketAddr, ToSocketAddrs, UdpSocket},
    time::{Duration, Instant},
};

use wire::{
    DecodeError,
    osp::{MAX_DATAGRAM, Reply, Request, SequenceNumber, Text, Version},
};

use self::progress::Progress;
pub use self::{
    error::ClientError,
    lists::{AgentInfo, AgentSummary, InterfaceValue, ValueInfo},
    progress::{Completed, Step},
};
use crate::udp::{self, is_timeout, now};
pub use wire::osp::{Dialect, LocalAgent, LocalEvent, LocalValue, Status};

/// Time limit of one attempt.
pub const REPLY_TIMEOUT: Duration = Duration::from_millis(200);

/// Number of attempts before a request fails: datagrams and replies may get lost.
pub const ATTEMPTS: u32 = 10;

/// Default time limit of a step or a reset, which needs the votes of all clients that control agents.
pub const STEP_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of late replies that are discarded before a request.
const MAX_LATE_REPLIES: u32 = 256;

/// Ends every datagram in [`Dialect::Original`].
const DATAGRAM_END: u8 = 120;

/// A connection to a server. Calls that wait for a reply block for up to [`ATTEMPTS`] times [`REPLY_TIMEOUT`]; those
/// that wait for other clients, for up to [`set_timeout`](Self::set_timeout). Closed on drop.
#[derive(Debug)]
pub struct Client {
    socket: UdpSocket,
    dialect: Dialect,
    buffer: Vec<u8>,
    timeout: Duration,
    controlled: BTreeSet<LocalAgent>,
    progress: Progress,
    /// Whether the connection is closed.
    closed: bool,
}

impl Client {
    /// Connects, in the document's dialect. If a name has several addresses, they are tried in turn.
    ///
    /// # Errors
    ///
    /// The error of the last address.
    pub fn connect(address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        Self::connect_in(Dialect::Document, address)
    }

    /// Connects in `dialect`. If a name has several addresses, they are tried in turn.
    ///
    /// # Errors
    ///
    /// The error of the last address.
    pub fn connect_in(dialect: Dialect, address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        let mut failure = ClientError::NoAddress;
        for address in address.to_socket_addrs()? {
            match Self::connect_to(dialect, address) {
                Ok(client) => return Ok(client),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn connect_to(dialect: Dialect, address: SocketAddr) -> Result<Self, ClientError> {
        let mut client = Self {
            socket: udp::bind_for(address)?,
            dialect,
            buffer: vec![0; udp::MAX_DATAGRAM_BYTES],
            timeout: STEP_TIMEOUT,
            controlled: BTreeSet::new(),
            progress: Progress::default(),
            closed: true,
        };
        let init = Request::Init { dialect, version: Version::SUPPORTED }.to_bytes_in(dialect);
        for _ in 0..ATTEMPTS {
            client.socket.send_to(&init, address)?;
            let Some((version, from)) = client.await_init(address)? else { continue };
            if version != Version::SUPPORTED {
                return Err(ClientError::OtherVersion { version });
            }
            // from now on the system drops datagrams of other senders
            client.socket.connect(from)?;
            client.closed = false;
            return Ok(client);
        }
        Err(ClientError::NoReply { request: "init" })
    }

    /// The server's version and the port it has opened for this client.
    fn await_init(&mut self, address: SocketAddr) -> Result<Option<(Version, SocketAddr)>, ClientError> {
        let deadline = now() + REPLY_TIMEOUT;
        while self.set_read_deadline(deadline)? {
            let (length, from) = match self.socket.recv_from(&mut self.buffer) {
                Ok(received) => received,
                Err(error) if is_timeout(&error) => continue,
                Err(error) => return Err(error.into()),
            };
            if from.ip() != address.ip() && !address.ip().is_unspecified() {
                continue;
            }
            if let Reply::InitAck { version } =
                Reply::decode_in(self.dialect, self.buffer.get(..length).unwrap_or_default())?
            {
                return Ok(Some((version, from)));
            }
        }
        Ok(None)
    }

    /// Sets the time limit of steps and resets; [`STEP_TIMEOUT`] by default.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Takes control of an agent, which then votes in every step. `false` if the agent does not exist or another client
    /// controls it.
    ///
    /// # Errors
    ///
    /// If no answer arrives.
    pub fn register(&mut self, agent: LocalAgent) -> Result<bool, ClientError> {
        let request = Request::RegisterForAgent { agent };
        let status = self.ask("agent registration", &request, |reply| match reply {
            Reply::RegisterForAgentAck { agent: told, status } if *told == agent => Some(*status),
            _ => None,
        })?;
        if status == Status::Done {
            self.controlled.insert(agent);
        }
        Ok(status == Status::Done)
    }

    /// Releases an agent. `false` if it does not exist.
    ///
    /// # Errors
    ///
    /// If no answer arrives.
    pub fn deregister(&mut self, agent: LocalAgent) -> Result<bool, ClientError> {
        let request = Request::DeregisterFromAgent { agent };
        let status = self.ask("agent deregistration", &request, |reply| match reply {
            Reply::DeregisterFromAgentAck { agent: told, status } if *told == agent => Some(*status),
            _ => None,
        })?;
        if status != Status::Failed {
            self.controlled.remove(&agent);
            self.progress.forget_step(agent);
        }
        Ok(status == Status::Done)
    }

    /// Subscribes to an event, reported after each step. `None` if no event has this name.
    ///
    /// # Errors
    ///
    /// If no answer arrives.
    pub fn register_for_event(&mut self, name: &str) -> Result<Option<LocalEvent>, ClientError> {
        let request = Request::RegisterForEvent { name: Text::from(name) };
        let event = self.ask("event registration", &request, |reply| match reply {
            Reply::RegisterForEventAck { event } => Some(*event),
            _ => None,
        })?;
        Ok(Some(event).filter(|event| *event != LocalEvent::NOT_FOUND))
    }

    /// Unsubscribes from an event. `false` if this client was not subscribed.
    ///
    /// # Errors
    ///
    /// If no answer arrives.
    pub fn deregister_from_event(&mut self, event: LocalEvent) -> Result<bool, ClientError> {
        let told = self.ask("event deregistration", &Request::DeregisterFromEvent { event }, |reply| match reply {
            Reply::DeregisterFromEventAck { event: told } if [event, LocalEvent::NOT_FOUND].contains(told) => {
                Some(*told)
            }
            _ => None,
        })?;
        Ok(told != LocalEvent::NOT_FOUND)
    }

    /// Reads a value, in the format of its type. `None` if it does not exist or is not readable.
    ///
    /// # Errors
    ///
    /// If no answer arrives.
    pub fn get(&mut self, value: LocalValue) -> Result<Option<String>, ClientError> {
        self.ask("reading a value", &Request::GetValue { value }, |reply| match reply {
            Reply::Value { value: told, content } if *told == value => Some(Some(content.as_str().to_owned())),
            Reply::Value { value: LocalValue::UNREADABLE, .. } => Some(None),
            _ => None,
        })
    }

    /// Writes a value, in the format of its type. [`Status::Failed`] if the text is invalid for its type or the value
    /// is read-only; [`Status::NotFound`] if the value does not exist.
    ///
    /// # Errors
    ///
    /// If no answer arrives.
    pub fn set(&mut self, value: LocalValue, text: &str) -> Result<Status, ClientError> {
        let request = Request::SetValue { value, content: Text::from(text) };
        self.ask("writing a value", &request, |reply| match reply {
            Reply::SetValueAck { value: told, status } if *told == value => Some(*status),
            _ => None,
        })
    }

    /// Subscribes to values, sent after every step. Returns for each whether it exists.
    ///
    /// # Errors
    ///
    /// If no answer arrives.
    pub fn observe(&mut self, values: &[LocalValue]) -> Result<Vec<bool>, ClientError> {
        let request = Request::RegisterForValues { values: values.to_vec() };
        self.ask("value registration", &request, |reply| match reply {
            Reply::RegisterForValuesAck { values: told } => found(values, told),
            _ => None,
        })
    }

    /// Unsubscribes from values. Returns for each whether it exists.
    ///
    /// # Errors
    ///
    /// If no answer arrives.
    pub fn unobserve(&mut self, values: &[LocalValue]) -> Result<Vec<bool>, ClientError> {
        let request = Request::DeregisterFromValues { values: values.to_vec() };
        self.ask("value deregistration", &request, |reply| match reply {
            Reply::DeregisterFromValuesAck { values: told } => found(values, told),
            _ => None,
        })
    }

    /// Processes incoming datagrams for `time`, to send the confirmations the server waits for.
    ///
    /// # Errors
    ///
    /// If the connection is closed.
    pub fn attend(&mut self, time: Duration) -> Result<(), ClientError> {
        self.wait_until(time, |_| false).map(|_| ())
    }

    /// Closes the connection and releases its agents.
    ///
    /// # Errors
    ///
    /// If no answer arrives. The server may be gone as well.
    pub fn end(self) -> Result<(), ClientError> {
        self.finish("end", &Request::End, |reply| matches!(reply, Reply::EndAck).then_some(()))
    }

    /// Closes the connections of all clients. The server does so at most once per second.
    ///
    /// # Errors
    ///
    /// If no answer arrives.
    pub fn reset_communication(self) -> Result<(), ClientError> {
        // the answer closes the connection, as it does in every other call
        self.finish("reset of the communication", &Request::ResetCommunication, |_| None)
    }

    fn finish(
        mut self,
        name: &'static str,
        request: &Request,
        accept: impl Fn(&Reply) -> Option<()>,
    ) -> Result<(), ClientError> {
        let finished = match self.ask(name, request, accept) {
            // the expected outcome, or the answer was lost and the port is already closed
            Err(ClientError::CommunicationReset | ClientError::ConnectionLost) => Ok(()),
            finished => finished,
        };
        self.closed = true;
        finished
    }

    /// Sends a request until a reply that `accept` recognises arrives. Only for idempotent requests.
    fn ask<T>(
        &mut self,
        name: &'static str,
        request: &Request,
        accept: impl Fn(&Reply) -> Option<T>,
    ) -> Result<T, ClientError> {
        self.clear_late_replies()?;
        for _ in 0..ATTEMPTS {
            self.send(request)?;
            let deadline = now() + REPLY_TIMEOUT;
            // other replies are late ones, and ignored
            while let Some(reply) = self.receive(deadline)? {
                if let Some(answer) = accept(&reply) {
                    return Ok(answer);
                }
            }
        }
        Err(ClientError::NoReply { request: name })
    }

    /// Processes incoming datagrams until `done`; `false` on timeout.
    fn wait_until(&mut self, time: Duration, done: impl Fn(&Progress) -> bool) -> Result<bool, ClientError> {
        let deadline = now() + time;
        while !done(&self.progress) {
            if self.receive(deadline)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn send(&mut self, request: &Request) -> Result<(), ClientError> {
        let bytes = request.to_bytes_in(self.dialect);
        check_length(bytes.len())?;
        self.send_bytes(&bytes)
    }

    fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        if self.closed {
            return Err(ClientError::ConnectionLost);
        }
        match self.socket.send(bytes) {
            Ok(_) => Ok(()),
            // the send buffer is full: equivalent to a lost datagram
            Err(error) if is_timeout(&error) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The next reply, after updating the state of steps and resets; `None` on timeout.
    fn receive(&mut self, deadline: Instant) -> Result<Option<Reply>, ClientError> {
        while self.set_read_deadline(deadline)? {
            match self.socket.recv(&mut self.buffer) {
                Ok(length) => match self.handle_datagram(length)? {
                    Some(reply) => return Ok(Some(reply)),
                    None => continue,
                },
                Err(error) if is_timeout(&error) => continue,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Sets the socket's timeout to the time left; `false` if there is none.
    fn set_read_deadline(&self, deadline: Instant) -> io::Result<bool> {
        let left = deadline.saturating_duration_since(now());
        if left.is_zero() {
            return Ok(false);
        }
        self.socket.set_read_timeout(Some(left))?;
        Ok(true)
    }

    /// Handles the datagram in the buffer. `None` if its type is unknown.
    fn handle_datagram(&mut self, length: usize) -> Result<Option<Reply>, ClientError> {
        let bytes = self.buffer.get(..length).unwrap_or_default();
        let reply = match Reply::decode_in(self.dialect, bytes) {
            Ok(reply) => reply,
            Err(DecodeError::UnknownId { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if reply == Reply::ResetCommunicationAck {
            self.closed = true;
            return Err(ClientError::CommunicationReset);
        }
        let number = sequence_number(&reply, bytes);
        if let Some(confirmation) = self.progress.handle(&reply, number) {
            self.send(&confirmation)?;
        }
        Ok(Some(reply))
    }

    /// Discards late replies, which would be mistaken for the answer to the next request.
    fn clear_late_replies(&mut self) -> Result<(), ClientError> {
        self.socket.set_nonblocking(true)?;
        let mut seen = Ok(());
        for _ in 0..MAX_LATE_REPLIES {
            // an error means an empty queue or a past failure; the next call reports a persistent one
            let Ok(length) = self.socket.recv(&mut self.buffer) else { break };
            match self.handle_datagram(length) {
                Ok(_) | Err(ClientError::BadReply(_)) => {}
                Err(error) => {
                    seen = Err(error);
                    break;
                }
            }
        }
        self.socket.set_nonblocking(false)?;
        seen
    }
}

impl Drop for Client {
    /// Releases the agents, so that other clients need not wait for them.
    fn drop(&mut self) {
        // if it is lost, the server's timeout closes the connection
        let _ = self.send(&Request::End);
    }
}

/// Which of the values exist; `None` if the reply belongs to another request.
fn found(asked: &[LocalValue], told: &[LocalValue]) -> Option<Vec<bool>> {
    let fits = |(asked, told): (&LocalValue, &LocalValue)| told == asked || *told == LocalValue::NOT_FOUND;
    let answers = asked.len() == told.len() && asked.iter().zip(told).all(fits);
    answers.then(|| told.iter().map(|told| *told != LocalValue::NOT_FOUND).collect())
}

/// The sequence number of a reply, if its type may have one.
fn sequence_number(reply: &Reply, bytes: &[u8]) -> Option<SequenceNumber> {
    match reply {
        Reply::NextStepAck { .. }
        | Reply::StepCompleted { .. }
        | Reply::Value { .. }
        | Reply::ResetSimulationAck
        | Reply::ResetCompleted => {}
        _ => return None,
    }
    // the outputs of a step, or a text, may look like a number
    let surplus = bytes.get(reply.to_bytes_in(Dialect::Document).len()..)?;
    let surplus = surplus.strip_prefix(&[DATAGRAM_END]).unwrap_or(surplus);
    (surplus.len() == SequenceNumber::BYTES).then(|| SequenceNumber::at_end(surplus)).flatten()
}

fn check_length(bytes: usize) -> Result<(), ClientError> {
    if bytes > MAX_DATAGRAM { Err(ClientError::TooLong { bytes }) } else { Ok(()) }
}
