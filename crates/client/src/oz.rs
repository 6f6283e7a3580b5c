//! A client for Oz 1.0, the protocol for controlling the social robot.
//!
//! ```no_run
//! use client::oz::{ClientError, Oz};
//! use std::time::Duration;
//!
//! fn main() -> Result<(), ClientError> {
//!     let patience = Duration::from_secs(60);
//!     let mut robot = Oz::connect("127.0.0.1:7331", patience)?;
//!     println!("operating {}", robot.long_name());
//!     robot.set_expression(1)?;
//!     robot.speak("[braisel]Hello, who are you?")?;
//!     robot.wait_for_speak(patience)?;
//!     robot.gesture(4)?;
//!     robot.wait_for_gesture(patience)?;
//!     robot.disconnect();
//!     Ok(())
//! }
//! ```
//!
//! The methods are those of the specification's C++ class, and its signals are the [`Event`]s; `disconnected` is an error. Nothing
//! runs in the background: messages of the robot are read by [`Oz::next`] and the methods that wait only. The robot sends
//! images continuously, and closes the connection of a client that does not read for long.

mod connection;
mod event;
mod settings;

pub use event::Event;
pub use wire::oz::{EXPRESSIONS, Face, Faces, GESTURES, Hypothesis, Jpeg, LOOKATS, SERVOS, Text, Utterance};

use connection::Connection;
use settings::Settings;
use std::{
    collections::VecDeque,
    io,
    net::ToSocketAddrs,
    time::{Duration, Instant},
};
use wire::{
    DecodeError,
    oz::{self, Request, SERVO_COUNT, TextTooLong, VERSION, Welcome},
};

/// Maximum number of events kept while waiting for the end of speech or gestures; the oldest are dropped.
pub const MAX_KEPT: usize = 256;

/// Error of the client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address does not resolve.
    #[error("the address does not resolve")]
    NoAddress,
    /// Network error.
    #[error("network error: {0}")]
    Io(#[from] io::Error),
    /// The robot closed the connection, or a request could be sent only in part.
    #[error("the connection is closed; see the robot's log for the reason")]
    Closed,
    /// The connection was closed in the middle of a message.
    #[error("the connection was closed in the middle of a message; see the robot's log for the reason")]
    Truncated,
    /// The version request was not answered in time.
    #[error("no answer to the version request within {} ms", within.as_millis())]
    NoAnswer {
        /// The timeout.
        within: Duration,
    },
    /// The robot uses another version of the protocol.
    #[error("the robot uses protocol version {theirs:#010x}, this client {VERSION:#010x}")]
    WrongVersion {
        /// Version of the robot.
        theirs: u32,
    },
    /// The robot sent an invalid message. The connection can still be used after invalid UTF-8; after an unknown id or an
    /// invalid length the error is permanent.
    #[error("the robot sent an invalid message: {0}")]
    BadMessage(#[from] DecodeError),
    /// A number is infinite or NaN. Nothing was sent.
    #[error("{what} is not finite")]
    NotFinite {
        /// Name of the quantity.
        what: &'static str,
    },
    /// The protocol has no expression, lookat mode or servo of this number. Nothing was sent.
    #[error("{what} {id} is out of range 0..={last}")]
    Unknown {
        /// Kind of the number.
        what: &'static str,
        /// The number.
        id: u32,
        /// The largest valid number.
        last: usize,
    },
    /// The text is too long. Nothing was sent.
    #[error(transparent)]
    TextTooLong(#[from] TextTooLong),
}

/// A connection to a robot.
///
/// Getters return the value last set by this client, or the default: the protocol has no queries.
#[derive(Debug)]
pub struct Oz {
    connection: Connection,
    welcome: Welcome,
    settings: Settings,
    /// Number of texts sent.
    spoken: u64,
    speaking: u32,
    gesturing: u32,
    /// Events received while waiting for the end of speech or gestures, and those of this client itself.
    kept: VecDeque<Event>,
    skips_video: bool,
}

impl Oz {
    /// Connects to the first reachable address and requests the version. `timeout` limits the whole process except name
    /// resolution, and later the sending of each request.
    ///
    /// # Errors
    ///
    /// If the robot is not reachable, does not answer in time, or uses another version.
    pub fn connect(address: impl ToSocketAddrs, timeout: Duration) -> Result<Self, ClientError> {
        let deadline = deadline(timeout);
        let mut connection = Connection::connect(address, timeout, deadline)?;
        connection.send(&Request::RequestVersion(VERSION))?;
        // the rest may look different in another version
        let version = connection.first_word(deadline)?.ok_or(ClientError::NoAnswer { within: timeout })?;
        if version > VERSION {
            return Err(ClientError::WrongVersion { theirs: version });
        }
        let welcome: Welcome = connection.receive(deadline)?.ok_or(ClientError::NoAnswer { within: timeout })?;
        Ok(Self {
            connection,
            welcome,
            settings: Settings::default(),
            spoken: 0,
            speaking: 0,
            gesturing: 0,
            kept: VecDeque::from([Event::Connected]),
            skips_video: false,
        })
    }

    /// The robot's short name.
    pub fn name(&self) -> &str {
        self.welcome.name()
    }

    /// The robot's long name.
    pub fn long_name(&self) -> &str {
        self.welcome.long_name()
    }

    /// The protocol version: 0x01000000.
    pub fn version(&self) -> u32 {
        self.welcome.version()
    }

    /// Restores all defaults. Speech and gestures are aborted, and reported as done.
    ///
    /// # Errors
    ///
    /// If the connection is closed.
    pub fn reset(&mut self) -> Result<(), ClientError> {
        self.connection.send(&Request::Reset)?;
        self.settings = Settings::default();
        Ok(())
    }

    /// Queues a text for speech. Gesture tags in it (`[nos]`) start gestures. Returns the number of the text, which is 1 for
    /// the first one of this client.
    ///
    /// # Errors
    ///
    /// If the text has more than 65,535 bytes, or the connection is closed.
    pub fn speak(&mut self, text: &str) -> Result<u64, ClientError> {
        self.connection.send(&Request::Speak(Text::new(text)?))?;
        self.speaking = self.speaking.saturating_add(1);
        self.spoken += 1;
        self.keep(Event::SpeakStart);
        Ok(self.spoken)
    }

    /// Waits until the text with this number has been spoken; see [`wait_for_speak`](Self::wait_for_speak).
    ///
    /// # Errors
    ///
    /// See [`next`](Self::next).
    pub fn wait_for_text(&mut self, number: u64, timeout: Duration) -> Result<bool, ClientError> {
        self.wait(timeout, |robot| robot.spoken.saturating_sub(robot.speaking.into()) >= number)
    }

    /// Waits until all texts of this client have been spoken; those of others are not reported to it. Returns `false` on
    /// timeout. Events received meanwhile are kept for [`next`](Self::next): the last [`MAX_KEPT`], and only the last image.
    ///
    /// # Errors
    ///
    /// See [`next`](Self::next).
    pub fn wait_for_speak(&mut self, timeout: Duration) -> Result<bool, ClientError> {
        self.wait(timeout, |robot| robot.speaking == 0)
    }

    /// Number of this client's texts that have not been spoken, according to the events read so far; 0 once the connection has
    /// ended.
    pub fn speaking(&self) -> u32 {
        if self.is_connected() { self.speaking } else { 0 }
    }

    /// Starts a gesture: an index into [`GESTURES`], or the number of an additional gesture of the robot.
    ///
    /// # Errors
    ///
    /// If the connection is closed.
    pub fn gesture(&mut self, id: u32) -> Result<(), ClientError> {
        self.connection.send(&Request::Gesture(id))?;
        self.gesturing = self.gesturing.saturating_add(1);
        self.keep(Event::GestureStart(id));
        Ok(())
    }

    /// Waits until all gestures of this client have ended, including those in texts; see
    /// [`wait_for_speak`](Self::wait_for_speak). The robot does not tell which of several gestures has ended.
    ///
    /// # Errors
    ///
    /// See [`next`](Self::next).
    pub fn wait_for_gesture(&mut self, timeout: Duration) -> Result<bool, ClientError> {
        self.wait(timeout, |robot| robot.gesturing == 0)
    }

    /// Number of this client's gestures that are playing, according to the events read so far; 0 once the connection has ended.
    pub fn gesturing(&self) -> u32 {
        if self.is_connected() { self.gesturing } else { 0 }
    }

    /// Sets whether images are dropped. Default: false.
    pub fn skip_video(&mut self, skip: bool) {
        self.skips_video = skip;
        if skip {
            self.kept.retain(|event| !is_image(event));
        }
    }

    /// The next event; `None` on timeout. The timeout is clamped to 1 ms to one day.
    ///
    /// # Errors
    ///
    /// If the connection is closed, or the robot sends an invalid message.
    pub fn next(&mut self, timeout: Duration) -> Result<Option<Event>, ClientError> {
        if let Some(event) = self.kept.pop_front() {
            return Ok(Some(event));
        }
        self.receive(deadline(timeout))
    }

    /// Closes the connection. Settings of the robot stay in effect.
    pub fn disconnect(mut self) {
        self.connection.close();
    }

    /// Whether the connection is open, as far as is known from the calls so far.
    pub fn is_connected(&self) -> bool {
        !self.connection.is_broken()
    }

    fn wait(&mut self, timeout: Duration, is_done: impl Fn(&Self) -> bool) -> Result<bool, ClientError> {
        if !self.is_connected() {
            return Err(ClientError::Closed);
        }
        let deadline = deadline(timeout);
        while !is_done(self) {
            let Some(event) = self.receive(deadline)? else { return Ok(false) };
            self.keep(event);
        }
        Ok(true)
    }

    /// Reads an event and updates the counters.
    fn receive(&mut self, deadline: Instant) -> Result<Option<Event>, ClientError> {
        while let Some(event) = self.connection.receive::<oz::Event>(deadline)? {
            let event = Event::from(event);
            match event {
                Event::SpeakDone => self.speaking = self.speaking.saturating_sub(1),
                Event::GestureDone => self.gesturing = self.gesturing.saturating_sub(1),
                Event::SpeakGesture(_) => self.gesturing = self.gesturing.saturating_add(1),
                Event::VideoFrame(_) if self.skips_video => continue,
                _ => {}
            }
            return Ok(Some(event));
        }
        Ok(None)
    }

    fn keep(&mut self, event: Event) {
        if is_image(&event) {
            self.kept.retain(|event| !is_image(event));
        }
        if self.kept.len() == MAX_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(event);
    }
}

fn is_image(event: &Event) -> bool {
    matches!(event, Event::VideoFrame(_))
}

fn known(what: &'static str, id: u32, count: usize) -> Result<u32, ClientError> {
    if (id as usize) < count { Ok(id) } else { Err(ClientError::Unknown { what, id, last: count.saturating_sub(1) }) }
}

fn finite(what: &'static str, value: f32) -> Result<f32, ClientError> {
    if value.is_finite() { Ok(value) } else { Err(ClientError::NotFinite { what }) }
}

fn deadline(timeout: Duration) -> Instant {
    const SHORTEST: Duration = Duration::from_millis(1);
    // avoids an overflow of `Instant`
    const LONGEST: Duration = Duration::from_secs(24 * 3600);
    now() + timeout.clamp(SHORTEST, LONGEST)
}

#[expect(clippy::disallowed_methods, reason = "a client is a driver: it waits for the network")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
