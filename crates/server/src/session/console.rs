//! The console's session: one browser, or a tool of somebody's own. The words are in `wire::console`.
//!
//! It does not follow every tick. Some thirty times a second it looks at the latest snapshot, and at what all browsers
//! share, and tells what is new about the topics that its browser watches: the world does not feel how many look on.

mod commands;
mod puppet;
pub(crate) mod scene;
mod shared;
mod sights;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::body::Bytes;
use wire::console::{Hello, Message, NewRun, Role, Topic};
use world::{Answer, Command, SessionId, Snapshot, VariableId};

pub use self::shared::{Shared, SharedParts};
use self::sights::Sights;
use super::oz::{Naming, Presence};
use crate::{backstage::Film, limits};

/// A browser is shown something new so often.
pub const FRAME: Duration = Duration::from_micros(33_333);

/// What a session wants done.
#[derive(Debug, Default)]
pub struct Out {
    /// Text frames.
    pub texts: Vec<String>,
    /// Binary frames.
    pub frames: Vec<Bytes>,
    /// What is asked of the world.
    pub commands: Vec<Command>,
    /// What takes time, with the number of its command.
    pub errands: Vec<(Option<u64>, Errand)>,
}

impl Out {
    fn say(&mut self, message: &Message) {
        self.texts.push(message.to_text());
    }

    fn done(&mut self, id: Option<u64>) {
        if let Some(id) = id {
            self.say(&Message::Done { id });
        }
    }

    fn refuse(&mut self, id: Option<u64>, why: impl Into<String>) {
        self.say(&Message::Refused { id, why: why.into() });
    }
}

/// Something that takes time, away from the world and from other browsers.
#[derive(Debug)]
pub enum Errand {
    /// Let two teams play.
    StartDemo(u8),
    /// Send them home.
    StopDemo,
    /// Give or forget the name of a face.
    Name(NameErrand),
    /// List all runs.
    ListRuns,
    /// Begin a run.
    StartRun(NewRun),
    /// Stop one.
    StopRun(String),
    /// Go on with one.
    ResumeRun(String, Option<u64>),
    /// Tell the details of one.
    Run(String),
    /// Test an individual again.
    Replay(String, Option<u64>),
    /// List recordings and logs.
    Films,
    /// Read one.
    OpenFilm(String),
    /// Keep something.
    Save(String, serde_json::Value),
}

/// What is to be done about the name of a face.
#[derive(Debug)]
pub struct NameErrand(pub(crate) Naming);

/// What the world was asked, and has not answered.
#[derive(Debug)]
struct Asked {
    variable: VariableId,
    id: Option<u64>,
    what: Question,
}

#[derive(Debug)]
enum Question {
    /// For the browser, under this name.
    Read(String),
    Write,
    /// To be written again, so much faster, in m/s.
    Push([f64; 3]),
}

/// One browser.
pub struct ConsoleSession {
    you: SessionId,
    peer: SocketAddr,
    role: Role,
    shared: Arc<Shared>,
    watched: BTreeSet<Topic>,
    followed: Option<String>,
    observed: BTreeMap<String, VariableId>,
    asked: VecDeque<Asked>,
    /// Among the puppet's operators, while it looks at the desk.
    presence: Option<Presence>,
    film: Option<Arc<Film>>,
    /// The run whose details are told.
    run: Option<String>,
    sights: Sights,
    /// Commands that may still come, as of a time.
    allowance: (f64, Option<Instant>),
    /// Commands that were left out since the last one that was not.
    left_out: u32,
}

impl Drop for ConsoleSession {
    fn drop(&mut self) {
        self.shared.note_observed(self.observed.len(), 0);
    }
}

impl ConsoleSession {
    /// A browser that may do this.
    pub fn new(you: SessionId, peer: SocketAddr, role: Role, shared: Arc<Shared>) -> Self {
        Self {
            you,
            peer,
            role,
            shared,
            watched: BTreeSet::new(),
            followed: None,
            observed: BTreeMap::new(),
            asked: VecDeque::new(),
            presence: None,
            film: None,
            run: None,
            sights: Sights::default(),
            allowance: (limits::CONSOLE_COMMANDS.0, None),
            left_out: 0,
        }
    }

    /// What it is told first.
    pub fn greet(&mut self, world: &Snapshot, out: &mut Out) {
        let shared = &self.shared;
        out.say(&Message::Hello(Box::new(Hello {
            api: wire::console::API,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            title: shared.title.clone(),
            role: self.role,
            you: self.you.0,
            tick_seconds: shared.tick_seconds,
            addresses: shared.addresses.clone(),
            soccer: words::soccer_info(world),
            puppet: shared.puppet.clone(),
            evolution: shared.evolution.clone(),
            recording: shared.recording.clone().filter(|_| self.role == Role::Operator),
        })));
        self.tell_saved(out);
    }

    /// The world answered.
    pub fn answer(&mut self, answer: Answer, out: &mut Out) {
        let variable = match &answer {
            Answer::Value(id, _) | Answer::Written(id) | Answer::NoValue(id, _) => *id,
            Answer::Refused(refusal) => return out.refuse(None, refusal.to_string()),
            _ => return,
        };
        // a change of a size is answered after what was asked later
        let fits = |asked: &Asked| match (&answer, &asked.what) {
            (Answer::Value(..), Question::Write) | (Answer::Written(_), Question::Read(_) | Question::Push(_)) => false,
            _ => asked.variable == variable,
        };
        let Some(place) = self.asked.iter().position(fits) else { return };
        let Some(Asked { id, what, .. }) = self.asked.remove(place) else { return };
        match (answer, what) {
            (Answer::Value(_, value), Question::Read(name)) => {
                out.say(&Message::Value { variable: name, value: value.to_string() });
                out.done(id);
            }
            (Answer::Value(variable, value), Question::Push(faster)) => match commands::pushed(&value, faster) {
                Some(value) => self.write(variable, value, id, out),
                None => out.refuse(id, "this cannot be pushed"),
            },
            (Answer::NoValue(_, error), _) => out.refuse(id, error.to_string()),
            _ => out.done(id),
        }
    }

    /// Whether there may be something new to tell.
    pub fn is_watching(&self) -> bool {
        !self.watched.is_empty() || self.film.is_some()
    }

    /// A film has been opened for it.
    pub fn show_film(&mut self, film: Arc<Film>) {
        self.sights.forget_film();
        self.film = Some(film);
    }

    fn tell_saved(&mut self, out: &mut Out) {
        let version = self.shared.saved_items.version();
        // macros and scripts are the operators' business
        if self.role == Role::Viewer {
            self.sights.saved = version;
            return;
        }
        for (key, value) in self.shared.saved_items.since(self.sights.saved) {
            out.say(&Message::Saved { key, value });
        }
        self.sights.saved = version;
    }

    /// Puts a question to the world, unless too many wait.
    fn ask(&mut self, variable: VariableId, id: Option<u64>, what: Question, command: Command, out: &mut Out) {
        if self.asked.len() >= limits::CONSOLE_ASKED {
            return out.refuse(id, "too many commands wait for the world");
        }
        self.asked.push_back(Asked { variable, id, what });
        out.commands.push(command);
    }

    fn write(&mut self, variable: VariableId, value: world::Value, id: Option<u64>, out: &mut Out) {
        self.ask(variable, id, Question::Write, Command::Write(variable, value), out);
    }
}

#[cfg(test)]
mod tests;
