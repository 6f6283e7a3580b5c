//! A client for one agent's ODCP 1.0 port.
//!
//! ```no_run
//! use client::odcp::Client;
//!
//! # fn main() -> Result<(), client::odcp::ClientError> {
//! let mut agent = Client::connect("127.0.0.1:45453")?;
//! let pose = agent.motors()?;
//! // hold this pose with half of each motor's torque
//! agent.set_motors(&pose.iter().map(|&angle| (angle, 0.5)).collect::<Vec<_>>())?;
//! agent.disconnect()
//! # }
//! ```

use crate::udp::{self, is_timeout, now};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::time::Duration;
use wire::odcp::{
    MotorSetting, MotorValues, Reply, Request, TooManyMotors, normalized_angle_from_raw, raw_from_normalized_angle,
    raw_from_normalized_torque,
};
use wire::{DecodeError, Message};

/// Time limit of one attempt.
pub const REPLY_TIMEOUT: Duration = Duration::from_millis(200);

/// Number of attempts before a request fails: datagrams and replies may get lost.
pub const ATTEMPTS: u32 = 5;

/// Maximum number of late replies that are discarded before a request.
const MAX_LATE_REPLIES: u32 = 64;

/// An error of an ODCP client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address resolves to no host.
    #[error("the address does not resolve to any host")]
    NoAddress,
    /// Sending or receiving failed. A closed port is usually reported here as well.
    #[error("communication with the agent's port failed: {0}")]
    Io(#[from] io::Error),
    /// Every attempt timed out.
    #[error("no reply to {request} after {ATTEMPTS} attempts")]
    NoReply {
        /// Name of the request.
        request: &'static str,
    },
    /// The agent's port sent an invalid reply.
    #[error("the agent's port sent an invalid reply: {0}")]
    BadReply(#[from] DecodeError),
    /// A setting is infinite or NaN. Nothing was sent.
    #[error("the setting of motor {motor} is not finite")]
    NotFinite {
        /// Index of the motor, from 0.
        motor: usize,
    },
    /// There are more settings than fit into a datagram. Nothing was sent.
    #[error(transparent)]
    TooManyMotors(#[from] TooManyMotors),
}

/// A connection to one agent. Calls that wait for a reply block for up to [`ATTEMPTS`] times [`REPLY_TIMEOUT`].
#[derive(Debug)]
pub struct Client {
    socket: UdpSocket,
    buffer: Vec<u8>,
}

impl Client {
    /// Announces this client to the agent's port and waits for the answer. If a name has several addresses, they are
    /// tried in turn.
    ///
    /// # Errors
    ///
    /// The error of the last address.
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
        let socket = udp::bind_for(address)?;
        // from now on the system drops datagrams of other senders
        socket.connect(address)?;
        let mut client = Self { socket, buffer: vec![0; udp::MAX_DATAGRAM_BYTES] };
        client.exchange(&Request::Connect, "connect", |reply| matches!(reply, Reply::Connected).then_some(()))?;
        Ok(client)
    }

    /// The measured angle of every motor, in the agent's motor order: -1 to 1 over the motor's range, 0 at its null
    /// position.
    ///
    /// Lost requests are retransmitted. Replies carry no number, so the reply to an earlier attempt may be taken for
    /// that to the latest.
    ///
    /// # Errors
    ///
    /// [`ClientError::NoReply`], [`ClientError::BadReply`] or [`ClientError::Io`].
    pub fn motors(&mut self) -> Result<Vec<f64>, ClientError> {
        self.exchange(&Request::GetMotors, "get motors", |reply| match reply {
            Reply::Motors(angles) => Some(angles.as_slice().iter().copied().map(normalized_angle_from_raw).collect()),
            Reply::Connected | Reply::Disconnected => None,
        })
    }

    /// Sets every motor to `(angle, torque)`, in the agent's motor order: the target angle, -1 to 1 as in
    /// [`motors`](Self::motors), and the torque limit, 0 to 1 of the motor's maximum. Values out of range are clamped.
    /// The settings hold until replaced.
    ///
    /// There must be one setting per motor: the protocol has no other way to distinguish angles from torques. The
    /// request is not acknowledged, so its loss goes unnoticed.
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

    /// Announces that this client leaves and waits for the answer. The last settings stay in effect.
    ///
    /// # Errors
    ///
    /// [`ClientError::NoReply`], [`ClientError::BadReply`] or [`ClientError::Io`].
    pub fn disconnect(mut self) -> Result<(), ClientError> {
        self.exchange(&Request::Disconnect, "disconnect", |reply| matches!(reply, Reply::Disconnected).then_some(()))
    }

    /// Retries a request until `accept` recognises a reply. All requests with replies are idempotent.
    fn exchange<T>(
        &mut self,
        request: &Request,
        request_name: &'static str,
        accept: impl Fn(&Reply) -> Option<T>,
    ) -> Result<T, ClientError> {
        self.clear_late_replies()?;
        for _ in 0..ATTEMPTS {
            self.socket.send(&request.to_bytes())?;
            if let Some(answer) = self.await_reply(&accept)? {
                return Ok(answer);
            }
        }
        Err(ClientError::NoReply { request: request_name })
    }

    /// `None` on timeout. Ignores other replies, which are late ones.
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
                Err(error) if is_timeout(&error) => continue,
                Err(error) => return Err(error.into()),
            };
            let reply = Reply::decode(self.buffer.get(..length).unwrap_or_default())?;
            if let Some(answer) = accept(&reply) {
                return Ok(Some(answer));
            }
        }
    }

    /// Discards late replies, which would be mistaken for the answer to the next request.
    fn clear_late_replies(&mut self) -> io::Result<()> {
        self.socket.set_nonblocking(true)?;
        for _ in 0..MAX_LATE_REPLIES {
            // an error means an empty queue or a past failure; the next call reports a persistent one
            if self.socket.recv(&mut self.buffer).is_err() {
                break;
            }
        }
        self.socket.set_nonblocking(false)
    }
}
