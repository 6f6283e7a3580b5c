//! A client for one agent's ODCP 1.0 port.
//!
//! ```no_run
//! use client::odcp::Client;
//!
//! # fn main() -> Result<(), client::odcp::ClientError> {
//! let mut agent = Client::connect("127.0.0.1:45453")?;
//! let pose = agent.motors()?;
//! // half of each motor's torque, to hold that pose
//! agent.set_motors(&pose.iter().map(|&angle| (angle, 0.5)).collect::<Vec<_>>())?;
//! agent.disconnect()
//! # }
//! ```

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::time::{Duration, Instant};
use wire::odcp::{
    MotorSetting, MotorValues, Reply, Request, TooManyMotors, normalized_angle_from_raw, raw_from_normalized_angle,
    raw_from_normalized_torque,
};
use wire::{DecodeError, Message};

/// How long one attempt waits for its reply.
pub const REPLY_TIMEOUT: Duration = Duration::from_millis(200);

/// How often a request is sent before it counts as unanswered. Each datagram, or its reply, may get lost.
pub const ATTEMPTS: u32 = 5;

/// No datagram is larger. A smaller buffer would cut one without a word.
const MAX_DATAGRAM_BYTES: usize = 65_535;

/// Most late replies that are cleared away before a request.
const MAX_LATE_REPLIES: u32 = 64;

/// What went wrong between a client and an agent's port.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address names no host.
    #[error("the address resolves to nothing")]
    NoAddress,
    /// The system could not send or receive. A port nobody listens on is usually reported here, too.
    #[error("could not talk to the agent's port: {0}")]
    Io(#[from] io::Error),
    /// Every attempt timed out.
    #[error("no reply to {request} after {ATTEMPTS} attempts")]
    NoReply {
        /// What was asked.
        request: &'static str,
    },
    /// The agent's port sent something that is no reply.
    #[error("the agent's port sent a bad reply: {0}")]
    BadReply(#[from] DecodeError),
    /// A setting is infinite or not a number. Nothing was sent.
    #[error("the setting of motor {motor} is not finite")]
    NotFinite {
        /// Which motor, from 0.
        motor: usize,
    },
    /// There are more settings than a datagram carries. Nothing was sent.
    #[error(transparent)]
    TooManyMotors(#[from] TooManyMotors),
}

/// A visit to one agent. Every call that awaits a reply blocks for up to [`ATTEMPTS`] times [`REPLY_TIMEOUT`].
#[derive(Debug)]
pub struct Client {
    socket: UdpSocket,
    buffer: Vec<u8>,
}

impl Client {
    /// Tells the agent's port that this client uses it, and waits for the answer. Of a name with several addresses,
    /// the first that answers is taken.
    ///
    /// # Errors
    ///
    /// What the last address failed with.
    pub fn connect(address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        let mut failure = ClientError::NoAddress;
        for address in address.to_socket_addrs()? {
            match Self::connect_to(address) {
                Ok(client) => return Ok(client),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn connect_to(address: SocketAddr) -> Result<Self, ClientError> {
        let any_port: SocketAddr = match address {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(any_port)?;
        // from now on the system drops what others send
        socket.connect(address)?;
        let mut client = Self { socket, buffer: vec![0; MAX_DATAGRAM_BYTES] };
        client.ask("connect", &Request::Connect, |reply| matches!(reply, Reply::Connected).then_some(()))?;
        Ok(client)
    }

    /// The measured angle of every motor, in the agent's motor order: -1 to 1 over the motor's range, 0 at its null
    /// position.
    ///
    /// A datagram that was lost is asked for again. Replies have no number, so that one from an earlier attempt may
    /// stand in for this one's.
    ///
    /// # Errors
    ///
    /// [`ClientError::NoReply`], [`ClientError::BadReply`] or [`ClientError::Io`].
    pub fn motors(&mut self) -> Result<Vec<f64>, ClientError> {
        self.ask("get motors", &Request::GetMotors, |reply| match reply {
            Reply::Motors(angles) => Some(angles.as_slice().iter().copied().map(normalized_angle_from_raw).collect()),
            Reply::Connected | Reply::Disconnected => None,
        })
    }

    /// Sets every motor to `(angle, torque)`, in the agent's motor order: the angle to go to, -1 to 1 as in
    /// [`motors`](Self::motors), and the most torque to use, 0 to 1 of the motor's maximum. Values beyond are clamped.
    /// The settings hold until they are set again.
    ///
    /// There must be one for each motor: the protocol has no other way to tell angles from torques. It has no reply
    /// either, so a datagram that gets lost is lost without a word.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotFinite`], [`ClientError::TooManyMotors`] or [`ClientError::Io`].
    pub fn set_motors(&mut self, settings: &[(f64, f64)]) -> Result<(), ClientError> {
        if let Some(motor) = settings.iter().position(|(angle, torque)| !(angle.is_finite() && torque.is_finite())) {
            return Err(ClientError::NotFinite { motor });
        }
        let settings: Vec<MotorSetting> = settings
            .iter()
            .map(|&(angle, torque)| MotorSetting {
                angle: raw_from_normalized_angle(angle),
                torque: raw_from_normalized_torque(torque),
            })
            .collect();
        let request = Request::SetMotors(MotorValues::new(&settings)?);
        self.socket.send(&request.to_bytes())?;
        Ok(())
    }

    /// Tells the agent's port that this client is done, and waits for the answer. The last settings stay.
    ///
    /// # Errors
    ///
    /// [`ClientError::NoReply`], [`ClientError::BadReply`] or [`ClientError::Io`].
    pub fn disconnect(mut self) -> Result<(), ClientError> {
        self.ask("disconnect", &Request::Disconnect, |reply| matches!(reply, Reply::Disconnected).then_some(()))
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
            self.socket.send(&request.to_bytes())?;
            if let Some(answer) = self.await_reply(&accept)? {
                return Ok(answer);
            }
        }
        Err(ClientError::NoReply { request: name })
    }

    /// `None` when the time is up. Replies that `accept` does not take are late ones, and passed over.
    fn await_reply<T>(&mut self, accept: impl Fn(&Reply) -> Option<T>) -> Result<Option<T>, ClientError> {
        let deadline = now() + REPLY_TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() {
                return Ok(None);
            }
            self.socket.set_read_timeout(Some(left))?;
            let length = match self.socket.recv(&mut self.buffer) {
                Ok(length) => length,
                Err(error) if is_nothing_yet(&error) => continue,
                Err(error) => return Err(error.into()),
            };
            let reply = Reply::decode(self.buffer.get(..length).unwrap_or_default())?;
            if let Some(answer) = accept(&reply) {
                return Ok(Some(answer));
            }
        }
    }

    /// A reply that came after its request was given up would pass for the answer to the next one.
    fn clear_late_replies(&mut self) -> io::Result<()> {
        self.socket.set_nonblocking(true)?;
        for _ in 0..MAX_LATE_REPLIES {
            // an error is either the end of the queue or old news; if it lasts, the next call reports it
            if self.socket.recv(&mut self.buffer).is_err() {
                break;
            }
        }
        self.socket.set_nonblocking(false)
    }
}

/// A read that timed out, under either of the names systems have for it, or was interrupted.
fn is_nothing_yet(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[expect(clippy::disallowed_methods, reason = "a client is a driver: it waits for the network")]
fn now() -> Instant {
    Instant::now()
}
