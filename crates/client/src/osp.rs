//! A client for OSP 1.1: agents, variables, events, and the steps of a simulation.
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
//! Datagrams get lost, doubled and late. Every request is sent again until it is answered. Steps and resets have numbers
//! (D35 in `protocols/osp/decisions.md`), so that each is done once and told once on any link, if the server knows
//! numbers; if it does not, keep to the loop-back device. Other answers have no number: one to an earlier attempt of the
//! same question may stand in for the latest.
//!
//! A client looks at what comes in only during a call. If it has nothing to do for long it should
//! [`attend`](Client::attend) to the connection, as others may wait for its confirmations.

mod error;
mod lists;
mod progress;
mod simulation;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeSet,
    io::{self, ErrorKind},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket},
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
pub use wire::osp::{Dialect, LocalAgent, LocalEvent, LocalValue, Status};

/// How long one attempt waits for its reply.
pub const REPLY_TIMEOUT: Duration = Duration::from_millis(200);

/// How often a request is sent before it counts as unanswered. Each datagram, or its reply, may get lost.
pub const ATTEMPTS: u32 = 10;

/// How long a step or a reset is waited for by default: all others who control agents have to ask for it, too.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// No datagram is larger. A smaller buffer would cut one without a word.
const MAX_DATAGRAM_BYTES: usize = 65_535;

/// Most late replies that are cleared away before a request.
const MAX_LATE_REPLIES: u32 = 256;

/// Ends every datagram in [`Dialect::Original`].
const DATAGRAM_END: u8 = 120;

/// A connection to a server. A call that awaits a reply blocks for up to [`ATTEMPTS`] times [`REPLY_TIMEOUT`]; one that
/// awaits the others, for as long as [`set_patience`](Self::set_patience) says. Dropped, it tells the server so.
#[derive(Debug)]
pub struct Client {
    socket: UdpSocket,
    dialect: Dialect,
    buffer: Vec<u8>,
    patience: Duration,
    controlled: BTreeSet<LocalAgent>,
    progress: Progress,
    /// There is no connection any more.
    over: bool,
}

impl Client {
    /// Connects, in the dialect of the document. Of a name with several addresses, the first that answers is taken.
    ///
    /// # Errors
    ///
    /// What the last address failed with.
    pub fn connect(address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        Self::connect_in(Dialect::Document, address)
    }

    /// Connects, in a dialect. Of a name with several addresses, the first that answers is taken.
    ///
    /// # Errors
    ///
    /// What the last address failed with.
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
        let any_port: SocketAddr = match address {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let mut client = Self {
            socket: UdpSocket::bind(any_port)?,
            dialect,
            buffer: vec![0; MAX_DATAGRAM_BYTES],
            patience: PATIENCE,
            controlled: BTreeSet::new(),
            progress: Progress::default(),
            over: true,
        };
        let init = Request::Init { dialect, version: Version::SUPPORTED }.to_bytes_in(dialect);
        for _ in 0..ATTEMPTS {
            client.socket.send_to(&init, address)?;
            let Some((version, from)) = client.await_init(address)? else { continue };
            if version != Version::SUPPORTED {
                return Err(ClientError::OtherVersion { version });
            }
            // from now on the system drops what others send
            client.socket.connect(from)?;
            client.over = false;
            return Ok(client);
        }
        Err(ClientError::NoReply { request: "init" })
    }

    /// The version that the server has, and the port that it has opened for this client.
    fn await_init(&mut self, address: SocketAddr) -> Result<Option<(Version, SocketAddr)>, ClientError> {
        let deadline = now() + REPLY_TIMEOUT;
        while self.wait_for_datagrams(deadline)? {
            let (length, from) = match self.socket.recv_from(&mut self.buffer) {
                Ok(received) => received,
                Err(error) if is_nothing_yet(&error) => continue,
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

    /// How long a step or a reset is waited for; [`PATIENCE`] if nothing is said.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Takes control of an agent. It has then to be asked for in every step. `false` if there is no such agent, or
    /// somebody else controls it.
    ///
    /// # Errors
    ///
    /// When no answer arrives.
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

    /// Gives an agent up. `false` if there is no such agent.
    ///
    /// # Errors
    ///
    /// When no answer arrives.
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

    /// Wants to be told of an event after each step. `None` if there is none of this name.
    ///
    /// # Errors
    ///
    /// When no answer arrives.
    pub fn register_for_event(&mut self, name: &str) -> Result<Option<LocalEvent>, ClientError> {
        let request = Request::RegisterForEvent { name: Text::from(name) };
        let event = self.ask("event registration", &request, |reply| match reply {
            Reply::RegisterForEventAck { event } => Some(*event),
            _ => None,
        })?;
        Ok(Some(event).filter(|event| *event != LocalEvent::NOT_FOUND))
    }

    /// Wants to be told no more. `false` if this client was not registered for it.
    ///
    /// # Errors
    ///
    /// When no answer arrives.
    pub fn deregister_from_event(&mut self, event: LocalEvent) -> Result<bool, ClientError> {
        let told = self.ask("event deregistration", &Request::DeregisterFromEvent { event }, |reply| match reply {
            Reply::DeregisterFromEventAck { event: told } if [event, LocalEvent::NOT_FOUND].contains(told) => {
                Some(*told)
            }
            _ => None,
        })?;
        Ok(told != LocalEvent::NOT_FOUND)
    }

    /// What a value is, in the format of its type. `None` if there is no such value to read.
    ///
    /// # Errors
    ///
    /// When no answer arrives.
    pub fn get(&mut self, value: LocalValue) -> Result<Option<String>, ClientError> {
        self.ask("reading a value", &Request::GetValue { value }, |reply| match reply {
            Reply::Value { value: told, content } if *told == value => Some(Some(content.as_str().to_owned())),
            Reply::Value { value: LocalValue::UNREADABLE, .. } => Some(None),
            _ => None,
        })
    }

    /// Writes a value, in the format of its type. [`Status::Failed`] if the text is none of its type, or the value can
    /// only be read; [`Status::NotFound`] if there is no such value.
    ///
    /// # Errors
    ///
    /// When no answer arrives.
    pub fn set(&mut self, value: LocalValue, text: &str) -> Result<Status, ClientError> {
        let request = Request::SetValue { value, content: Text::from(text) };
        self.ask("writing a value", &request, |reply| match reply {
            Reply::SetValueAck { value: told, status } if *told == value => Some(*status),
            _ => None,
        })
    }

    /// Wants values after every step. Says of each whether it is there.
    ///
    /// # Errors
    ///
    /// When no answer arrives.
    pub fn observe(&mut self, values: &[LocalValue]) -> Result<Vec<bool>, ClientError> {
        let request = Request::RegisterForValues { values: values.to_vec() };
        self.ask("value registration", &request, |reply| match reply {
            Reply::RegisterForValuesAck { values: told } => found(values, told),
            _ => None,
        })
    }

    /// Wants them no more. Says of each whether it is there.
    ///
    /// # Errors
    ///
    /// When no answer arrives.
    pub fn unobserve(&mut self, values: &[LocalValue]) -> Result<Vec<bool>, ClientError> {
        let request = Request::DeregisterFromValues { values: values.to_vec() };
        self.ask("value deregistration", &request, |reply| match reply {
            Reply::DeregisterFromValuesAck { values: told } => found(values, told),
            _ => None,
        })
    }

    /// Does nothing for some time but confirm what the server wants confirmed.
    ///
    /// # Errors
    ///
    /// When the connection is ended.
    pub fn attend(&mut self, time: Duration) -> Result<(), ClientError> {
        self.wait_until(time, |_| false).map(|_| ())
    }

    /// Ends the connection. Agents that were controlled are free.
    ///
    /// # Errors
    ///
    /// When no answer arrives. The server may be gone as well.
    pub fn end(self) -> Result<(), ClientError> {
        self.finish("end", &Request::End, |reply| matches!(reply, Reply::EndAck).then_some(()))
    }

    /// Ends everybody's connection. The server does so once a second at most.
    ///
    /// # Errors
    ///
    /// When no answer arrives.
    pub fn reset_communication(self) -> Result<(), ClientError> {
        // what it awaits ends the connection, as it does in every other call
        self.finish("reset of the communication", &Request::ResetCommunication, |_| None)
    }

    fn finish(
        mut self,
        name: &'static str,
        request: &Request,
        accept: impl Fn(&Reply) -> Option<()>,
    ) -> Result<(), ClientError> {
        let finished = match self.ask(name, request, accept) {
            // that, or the answer got lost and the port is gone already
            Err(ClientError::CommunicationReset | ClientError::ConnectionLost) => Ok(()),
            finished => finished,
        };
        self.over = true;
        finished
    }

    /// Sends a request until a reply that `accept` takes comes back. Only for requests that may arrive twice.
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
            // replies that `accept` does not take are late ones, and passed over
            while let Some(reply) = self.receive(deadline)? {
                if let Some(answer) = accept(&reply) {
                    return Ok(answer);
                }
            }
        }
        Err(ClientError::NoReply { request: name })
    }

    /// Takes what comes in until something is the case, or the time is up.
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
        if self.over {
            return Err(ClientError::ConnectionLost);
        }
        match self.socket.send(bytes) {
            Ok(_) => Ok(()),
            // the system has no room: it is as good as lost on the way
            Err(error) if is_nothing_yet(&error) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The next reply; `None` when the time is up. Whatever it means to steps and resets is seen to.
    fn receive(&mut self, deadline: Instant) -> Result<Option<Reply>, ClientError> {
        while self.wait_for_datagrams(deadline)? {
            match self.socket.recv(&mut self.buffer) {
                Ok(length) => match self.take_datagram(length)? {
                    Some(reply) => return Ok(Some(reply)),
                    None => continue,
                },
                Err(error) if is_nothing_yet(&error) => continue,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Whether there is time left, for which the next call to the socket then waits.
    fn wait_for_datagrams(&self, deadline: Instant) -> io::Result<bool> {
        let left = deadline.saturating_duration_since(now());
        if left.is_zero() {
            return Ok(false);
        }
        self.socket.set_read_timeout(Some(left))?;
        Ok(true)
    }

    /// Sees to what is in the buffer. `None` if it is of a kind that this client does not know.
    fn take_datagram(&mut self, length: usize) -> Result<Option<Reply>, ClientError> {
        let bytes = self.buffer.get(..length).unwrap_or_default();
        let reply = match Reply::decode_in(self.dialect, bytes) {
            Ok(reply) => reply,
            Err(DecodeError::UnknownId { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if reply == Reply::ResetCommunicationAck {
            self.over = true;
            return Err(ClientError::CommunicationReset);
        }
        let number = number_of(&reply, bytes);
        if let Some(confirmation) = self.progress.note(&reply, number) {
            self.send(&confirmation)?;
        }
        Ok(Some(reply))
    }

    /// A reply that came after its request was given up would pass for the answer to the next one.
    fn clear_late_replies(&mut self) -> Result<(), ClientError> {
        self.socket.set_nonblocking(true)?;
        let mut seen = Ok(());
        for _ in 0..MAX_LATE_REPLIES {
            // an error is either the end of the queue or old news; if it lasts, the next call reports it
            let Ok(length) = self.socket.recv(&mut self.buffer) else { break };
            match self.take_datagram(length) {
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
    /// Nobody has to wait for agents that nobody controls any more.
    fn drop(&mut self) {
        // if it is lost, the server's time-out ends the connection
        let _ = self.send(&Request::End);
    }
}

/// Which of the values an answer has found; `None` if it answers another question.
fn found(asked: &[LocalValue], told: &[LocalValue]) -> Option<Vec<bool>> {
    let fits = |(asked, told): (&LocalValue, &LocalValue)| told == asked || *told == LocalValue::NOT_FOUND;
    let answers = asked.len() == told.len() && asked.iter().zip(told).all(fits);
    answers.then(|| told.iter().map(|told| *told != LocalValue::NOT_FOUND).collect())
}

/// The number behind a reply, if it is of a kind that may have one.
fn number_of(reply: &Reply, bytes: &[u8]) -> Option<SequenceNumber> {
    match reply {
        Reply::NextStepAck { .. }
        | Reply::StepCompleted { .. }
        | Reply::Value { .. }
        | Reply::ResetSimulationAck
        | Reply::ResetCompleted => {}
        _ => return None,
    }
    // what looks like a number may be the outputs of a step, or a text
    let surplus = bytes.get(reply.to_bytes_in(Dialect::Document).len()..)?;
    let surplus = surplus.strip_prefix(&[DATAGRAM_END]).unwrap_or(surplus);
    (surplus.len() == SequenceNumber::BYTES).then(|| SequenceNumber::at_end(surplus)).flatten()
}

fn check_length(bytes: usize) -> Result<(), ClientError> {
    if bytes > MAX_DATAGRAM { Err(ClientError::TooLong { bytes }) } else { Ok(()) }
}

/// A read that timed out, under either of the names systems have for it, or was interrupted.
fn is_nothing_yet(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[expect(clippy::disallowed_methods, reason = "a client is a driver: it waits for the network")]
fn now() -> Instant {
    Instant::now()
}
