//! A client for a robot that is puppeteered over Oz 1.0.
//!
//! ```no_run
//! use client::oz::{Event, Oz};
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), client::oz::ClientError> {
//! let mut robot = Oz::connect("127.0.0.1:7331", Duration::from_secs(5))?;
//! robot.skip_video(true);
//! robot.set_expression(1)?;
//! robot.speak("[braisel]Hello, who are you?")?;
//! robot.wait_for_speak(Duration::from_secs(30))?;
//! while let Some(event) = robot.next(Duration::from_secs(10))? {
//!     if let Event::Utterance(heard) = event {
//!         println!("{}", heard.options()[0].text);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Methods are those of the document's C++ class. Nothing runs in the background: what the robot says is taken in by
//! [`Oz::next`], [`Oz::wait_for_speak`] and [`Oz::wait_for_gesture`] only. A robot sends pictures all the time, and ends
//! the connection of a client that takes nothing for long.

mod link;
mod settings;

pub use wire::oz::{EXPRESSIONS, Event, Face, Faces, GESTURES, Hypothesis, Jpeg, LOOKATS, SERVOS, Text, Utterance};

use link::Link;
use settings::Settings;
use std::{
    collections::VecDeque,
    io,
    net::ToSocketAddrs,
    time::{Duration, Instant},
};
use wire::{
    DecodeError,
    oz::{Request, SERVO_COUNT, TextTooLong, VERSION, Welcome},
};

/// Most events that are kept while something else is waited for. The oldest goes first.
pub const MAX_KEPT: usize = 256;

/// What went wrong between a client and a robot.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address names no host.
    #[error("the address resolves to nothing")]
    NoAddress,
    /// The system could not send or receive.
    #[error("could not talk to the robot: {0}")]
    Io(#[from] io::Error),
    /// The robot ended the connection, or a request could be sent in part only, which ends it too.
    #[error("the connection has ended; the robot's log says why")]
    Closed,
    /// There was no answer to the version request in time.
    #[error("no answer to the version request within {} ms", within.as_millis())]
    NoAnswer {
        /// How long it was waited for.
        within: Duration,
    },
    /// The robot speaks another version of the protocol.
    #[error("the robot speaks version {theirs:#010x} of the protocol, we speak {VERSION:#010x}")]
    WrongVersion {
        /// Its version.
        theirs: u32,
    },
    /// The robot sent something that is no message. After a text that is not UTF-8 one may go on; after an unknown id
    /// or an impossible length the same error comes again.
    #[error("the robot sent a bad message: {0}")]
    BadMessage(#[from] DecodeError),
    /// A number is infinite or not a number. Nothing was sent.
    #[error("{what} is not finite")]
    NotFinite {
        /// What the number says.
        what: &'static str,
    },
    /// The protocol has no such gesture, expression, lookat mode or servo. Nothing was sent.
    #[error("there is no {what} {id}: they go from 0 to {last}")]
    Unknown {
        /// What it should be.
        what: &'static str,
        /// Its number.
        id: u32,
        /// The last there is.
        last: usize,
    },
    /// The text is too long. Nothing was sent.
    #[error(transparent)]
    TextTooLong(#[from] TextTooLong),
}

/// A connection to a robot.
///
/// A getter returns what this client has set last, or the document's default: the protocol has no way to ask.
#[derive(Debug)]
pub struct Oz {
    link: Link,
    welcome: Welcome,
    settings: Settings,
    speaking: u32,
    gesturing: u32,
    /// What came while something else was waited for.
    kept: VecDeque<Event>,
    skips_video: bool,
}

impl Oz {
    /// Connects, and asks for the version. Of a name with several addresses, the first that can be connected to is
    /// taken. All of it takes no longer than `timeout`, but for looking up the name. A request sent later fails when the
    /// robot takes none of it for so long.
    ///
    /// # Errors
    ///
    /// When nobody listens there, no answer comes in time, or the robot speaks another version.
    pub fn connect(address: impl ToSocketAddrs, timeout: Duration) -> Result<Self, ClientError> {
        let deadline = deadline(timeout);
        let mut link = Link::connect(address, timeout, deadline)?;
        link.send(&Request::RequestVersion(VERSION))?;
        let welcome: Welcome = link.receive(deadline)?.ok_or(ClientError::NoAnswer { within: timeout })?;
        if welcome.version() != VERSION {
            return Err(ClientError::WrongVersion { theirs: welcome.version() });
        }
        Ok(Self {
            link,
            welcome,
            settings: Settings::default(),
            speaking: 0,
            gesturing: 0,
            kept: VecDeque::new(),
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

    /// The version of the protocol that is spoken: 0x01000000.
    pub fn version(&self) -> u32 {
        self.welcome.version()
    }

    /// Everything back to its default; the robot falls silent and ends its gestures, and tells the end of each as if it
    /// had come by itself.
    ///
    /// # Errors
    ///
    /// When the connection has ended.
    pub fn reset(&mut self) -> Result<(), ClientError> {
        self.link.send(&Request::Reset)?;
        self.settings = Settings::default();
        Ok(())
    }

    /// Says a text, after those that are still to be said. Gesture tags in it (`[nos]`) begin gestures.
    ///
    /// # Errors
    ///
    /// When the text has more than 65,535 bytes, or the connection has ended.
    pub fn speak(&mut self, text: &str) -> Result<(), ClientError> {
        self.link.send(&Request::Speak(Text::new(text)?))?;
        self.speaking = self.speaking.saturating_add(1);
        Ok(())
    }

    /// Waits until everything is said, but no longer than `patience`; `false` when the time was up. Events that come
    /// meanwhile are kept for [`next`](Self::next): the last [`MAX_KEPT`], and of the pictures the last.
    ///
    /// # Errors
    ///
    /// As for [`next`](Self::next).
    pub fn wait_for_speak(&mut self, patience: Duration) -> Result<bool, ClientError> {
        self.wait(patience, |robot| robot.speaking == 0)
    }

    /// How many texts are still to be said to their end, as far as events were taken in.
    pub fn speaking(&self) -> u32 {
        self.speaking
    }

    /// Begins a gesture: its place in [`GESTURES`], or a number that the robot has besides.
    ///
    /// # Errors
    ///
    /// When there is no such gesture, or the connection has ended.
    pub fn gesture(&mut self, id: u32) -> Result<(), ClientError> {
        self.link.send(&Request::Gesture(id))?;
        self.gesturing = self.gesturing.saturating_add(1);
        Ok(())
    }

    /// Waits until all gestures have ended, also those in a text, as [`wait_for_speak`](Self::wait_for_speak) does.
    ///
    /// # Errors
    ///
    /// As for [`next`](Self::next).
    pub fn wait_for_gesture(&mut self, patience: Duration) -> Result<bool, ClientError> {
        self.wait(patience, |robot| robot.gesturing == 0)
    }

    /// How many gestures are going on, as far as events were taken in.
    pub fn gesturing(&self) -> u32 {
        self.gesturing
    }

    /// Whether pictures are dropped as they come. At first they are not.
    pub fn skip_video(&mut self, skip: bool) {
        self.skips_video = skip;
        if skip {
            self.kept.retain(|event| !is_picture(event));
        }
    }

    /// The next thing the robot tells; `None` if nothing comes within `patience` (1 ms at least, a day at most).
    ///
    /// # Errors
    ///
    /// When the connection has ended, or what the robot sends cannot be read.
    pub fn next(&mut self, patience: Duration) -> Result<Option<Event>, ClientError> {
        if let Some(event) = self.kept.pop_front() {
            return Ok(Some(event));
        }
        self.take_in(deadline(patience))
    }

    /// Ends the connection. What the robot was told stays so.
    pub fn disconnect(mut self) {
        self.link.close();
    }

    fn wait(&mut self, patience: Duration, is_over: impl Fn(&Self) -> bool) -> Result<bool, ClientError> {
        let deadline = deadline(patience);
        while !is_over(self) {
            let Some(event) = self.take_in(deadline)? else { return Ok(false) };
            self.keep(event);
        }
        Ok(true)
    }

    /// Takes an event off the connection, and counts.
    fn take_in(&mut self, deadline: Instant) -> Result<Option<Event>, ClientError> {
        while let Some(event) = self.link.receive::<Event>(deadline)? {
            match event {
                Event::SpeakDone => self.speaking = self.speaking.saturating_sub(1),
                Event::GestureDone => self.gesturing = self.gesturing.saturating_sub(1),
                Event::SpeakGesture(_) => self.gesturing = self.gesturing.saturating_add(1),
                Event::VideoFrame(_) if self.skips_video => continue,
                Event::Utterance(_) | Event::Faces(_) | Event::VideoFrame(_) => {}
            }
            return Ok(Some(event));
        }
        Ok(None)
    }

    fn keep(&mut self, event: Event) {
        if is_picture(&event) {
            self.kept.retain(|event| !is_picture(event));
        }
        if self.kept.len() == MAX_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(event);
    }
}

fn is_picture(event: &Event) -> bool {
    matches!(event, Event::VideoFrame(_))
}

fn known(what: &'static str, id: u32, count: usize) -> Result<u32, ClientError> {
    if (id as usize) < count { Ok(id) } else { Err(ClientError::Unknown { what, id, last: count.saturating_sub(1) }) }
}

fn finite(what: &'static str, value: f32) -> Result<f32, ClientError> {
    if value.is_finite() { Ok(value) } else { Err(ClientError::NotFinite { what }) }
}

fn deadline(patience: Duration) -> Instant {
    const SHORTEST: Duration = Duration::from_millis(1);
    // the clock cannot count for as long as a duration can be
    const LONGEST: Duration = Duration::from_secs(24 * 3600);
    now() + patience.clamp(SHORTEST, LONGEST)
}

#[expect(clippy::disallowed_methods, reason = "a client is a driver: it waits for the network")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
