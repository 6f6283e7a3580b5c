//! The console's session: one browser, or any other client of the console API. The messages are in `wire::console`.
//!
//! It does not follow every tick. About thirty times a second it compares the latest snapshot, and what all clients
//! share, with what its client has been sent, and sends what is new about the watched topics: viewers cost the world
//! nothing.

mod backend;
mod commands;
mod game;
mod puppet;
pub mod scene;
mod shared;
mod view_state;
pub mod visibility;

use core::net::SocketAddr;
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use wire::console::{Hello, Message, NewRun, Role, SimulatorSettings, Topic};
use world::{Answer, Command, SessionId, Snapshot, VariableId};

use self::view_state::ViewState;
pub use self::{
    backend::{Backend, ConnectedClient, Playback, PuppetAccess},
    shared::{ServerInfo, Shared},
    visibility::JobError,
};
use crate::{
    Context, Input, Outbox, Session, TokenBucket, limits,
    oz::{Naming, Presence},
};

/// Interval between two updates of a client.
pub const UPDATE_INTERVAL: Duration = Duration::from_micros(33_333);

/// A frame of the console's WebSocket.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    /// A JSON message.
    Text(String),
    /// Poses, video or sound.
    Binary(Bytes),
}

/// What the driver of the console can do for a session.
#[derive(Debug)]
pub enum ConsoleEffect {
    /// Run a job away from the session, and report its result with [`ConsoleSession::job_finished`].
    StartJob {
        /// Id of the command that asked for it; none for a job that the session started by itself.
        id: Option<u64>,
        /// The job.
        job: Job,
    },
}

/// Output of a console session.
pub type ConsoleOutbox = Outbox<Frame, ConsoleEffect>;

/// What one input leads to. Texts are sent before binary frames, as a scene has to precede the poses that refer to it.
#[derive(Debug)]
struct Output {
    /// Of the client.
    role: Role,
    texts: Vec<String>,
    frames: Vec<Bytes>,
    commands: Vec<Command>,
    jobs: Vec<(Option<u64>, Job)>,
}

impl Output {
    fn new(role: Role) -> Self {
        Self { role, texts: Vec::new(), frames: Vec::new(), commands: Vec::new(), jobs: Vec::new() }
    }

    /// Sends what the client may see of a message.
    fn send(&mut self, message: Message) {
        self.texts.extend(visibility::visible(self.role, message).map(|message| message.to_text()));
    }

    fn done(&mut self, id: Option<u64>) {
        if let Some(id) = id {
            self.send(Message::Done { id });
        }
    }

    fn refuse(&mut self, id: Option<u64>, why: impl Into<String>) {
        self.send(Message::Refused { id, why: why.into() });
    }

    fn append_to(self, out: &mut ConsoleOutbox, peer: SocketAddr) {
        let texts = self.texts.into_iter().map(Frame::Text);
        let frames = texts.chain(self.frames.into_iter().map(Frame::Binary));
        out.replies.extend(frames.map(|frame| (peer, frame)));
        out.commands.extend(self.commands);
        out.effects.extend(self.jobs.into_iter().map(|(id, job)| ConsoleEffect::StartJob { id, job }));
    }
}

/// Work that takes too long for a session.
#[derive(Debug)]
pub enum Job {
    /// Start the demo game with this many players per team.
    StartDemo(u8),
    /// Stop the demo game.
    StopDemo,
    /// Name a face, or forget a name.
    NameFace(Naming),
    /// List all evolutionary runs.
    ListRuns,
    /// Change the ports of the server's simulators, and the world of its robots.
    ChangeSimulators(SimulatorSettings),
    /// Start a run.
    StartRun(NewRun),
    /// Stop a run.
    StopRun(String),
    /// Resume a run, up to this number of generations.
    ResumeRun(String, Option<u64>),
    /// Read the details of a run.
    ReadRun(String),
    /// Evaluate an individual again: the best one of this generation, or of the run.
    ReplayTrial(String, Option<u64>),
    /// List recordings and logs.
    ListPlaybacks,
    /// Open a recording or a log.
    OpenPlayback(String),
    /// Save a value for all operators.
    Save(String, serde_json::Value),
}

/// The result of a [`Job`].
#[derive(Debug, Default)]
pub struct JobResult {
    /// Messages to the client.
    pub messages: Vec<Message>,
    /// The recording or log that was opened.
    pub playback: Option<Arc<dyn Playback>>,
}

impl From<Message> for JobResult {
    fn from(message: Message) -> Self {
        Self { messages: vec![message], playback: None }
    }
}

/// A read or write that the world has not answered yet.
#[derive(Debug)]
struct Pending {
    variable: VariableId,
    id: Option<u64>,
    request: Request,
}

#[derive(Debug)]
enum Request {
    /// Send the value to the client, under this name.
    Read(String),
    Write,
    /// Write the velocity that is read, increased by this much, in m/s.
    Push([f64; 3]),
}

/// One client of the console.
pub struct ConsoleSession {
    you: SessionId,
    peer: SocketAddr,
    role: Role,
    shared: Arc<Shared>,
    watched: BTreeSet<Topic>,
    followed: Option<String>,
    observed: BTreeMap<String, VariableId>,
    pending: VecDeque<Pending>,
    /// Present among the puppet's operators while it shows the operator panel.
    presence: Option<Presence>,
    playback: Option<Arc<dyn Playback>>,
    /// The run whose details are sent.
    run: Option<String>,
    /// The details that were sent last: with each generation of any run, they are read again.
    run_detail: String,
    view: ViewState,
    /// When the next update is due, while something is watched.
    next_update: Option<Instant>,
    /// Budget of commands, as of a time.
    budget: TokenBucket,
    /// Commands dropped since the last one that was not.
    dropped: u32,
}

impl Session for ConsoleSession {
    type Request = String;
    type Reply = Frame;
    type Effect = ConsoleEffect;

    fn handle(&mut self, input: Input<String>, Context { world, now }: Context<'_>, out: &mut ConsoleOutbox) {
        let mut output = Output::new(self.role);
        match input {
            Input::Opened => self.greet(world, &mut output),
            Input::Message { message, .. } => self.handle_text(&message, world, now, &mut output),
            Input::Malformed { error, .. } => output.refuse(None, error.to_string()),
            Input::Answer(answer) => self.handle_answer(answer, &mut output),
            Input::Timeout => {
                self.update(world, now, &mut output);
                self.next_update = Some(now + UPDATE_INTERVAL);
            }
            Input::Tick | Input::CommunicationReset => {}
        }
        output.append_to(out, self.peer);
        self.schedule_update(now);
    }

    fn timeout(&self) -> Option<Instant> {
        self.next_update
    }
}

impl Drop for ConsoleSession {
    fn drop(&mut self) {
        self.shared.note_observed(self.observed.len(), 0);
    }
}

impl ConsoleSession {
    /// A client with this role.
    pub fn new(you: SessionId, peer: SocketAddr, role: Role, shared: Arc<Shared>) -> Self {
        Self {
            you,
            peer,
            role,
            shared,
            watched: BTreeSet::new(),
            followed: None,
            observed: BTreeMap::new(),
            pending: VecDeque::new(),
            presence: None,
            playback: None,
            run: None,
            run_detail: String::new(),
            view: ViewState::default(),
            next_update: None,
            budget: TokenBucket::new(limits::CONSOLE_COMMANDS),
            dropped: 0,
        }
    }

    fn greet(&mut self, world: &Snapshot, out: &mut Output) {
        let (info, puppet) = (&self.shared.info, &self.shared.puppet_info);
        out.send(Message::Hello(Box::new(Hello {
            api: wire::console::API,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            title: info.title.clone(),
            role: self.role,
            you: self.you.0,
            tick_seconds: info.tick_seconds,
            addresses: self.shared.backend.addresses(),
            soccer: game::soccer_info(world),
            puppet: puppet.clone(),
            evolution: info.evolution.clone(),
            recording: info.recording.clone(),
        })));
        self.send_saved(out);
    }

    fn handle_answer(&mut self, answer: Answer, out: &mut Output) {
        let variable = match &answer {
            Answer::Value(id, _) | Answer::Written(id) | Answer::NoValue(id, _) => *id,
            Answer::Refused(refusal) => return out.refuse(None, refusal.to_string()),
            _ => return,
        };
        // a change of size is answered later than requests that follow it
        let fits = |pending: &Pending| match (&answer, &pending.request) {
            (Answer::Value(..), Request::Write) | (Answer::Written(_), Request::Read(_) | Request::Push(_)) => false,
            _ => pending.variable == variable,
        };
        let Some(index) = self.pending.iter().position(fits) else { return };
        let Some(Pending { id, request, .. }) = self.pending.remove(index) else { return };
        match (answer, request) {
            (Answer::Value(_, value), Request::Read(name)) => {
                out.send(Message::Value { variable: name, value: value.to_string() });
                out.done(id);
            }
            (Answer::Value(variable, value), Request::Push(velocity)) => match commands::pushed(&value, velocity) {
                Some(value) => self.write(variable, value, id, out),
                None => out.refuse(id, "this robot cannot be pushed"),
            },
            (Answer::NoValue(_, error), _) => out.refuse(id, error.to_string()),
            _ => out.done(id),
        }
    }

    fn is_watching(&self) -> bool {
        !self.watched.is_empty() || self.playback.is_some()
    }

    /// A job has finished; `id` is that of [`ConsoleEffect::StartJob`].
    pub fn job_finished(
        &mut self,
        id: Option<u64>,
        result: Result<JobResult, JobError>,
        now: Instant,
        out: &mut ConsoleOutbox,
    ) {
        let mut output = Output::new(self.role);
        match result {
            Ok(JobResult { messages, playback }) => {
                messages.into_iter().for_each(|message| self.send_result(id, message, &mut output));
                if let Some(playback) = playback {
                    self.view.forget_playback();
                    self.playback = Some(playback);
                }
                output.done(id);
            }
            // not requested by the client: it is retried
            Err(_) if id.is_none() => {}
            Err(error) => output.refuse(id, error.reason(self.role)),
        }
        output.append_to(out, self.peer);
        self.schedule_update(now);
    }

    /// Sends a job's message, unless it repeats the details of a run.
    fn send_result(&mut self, id: Option<u64>, message: Message, out: &mut Output) {
        if matches!(message, Message::Run(_)) {
            let text = message.to_text();
            if id.is_none() && self.run_detail == text {
                return;
            }
            self.run_detail = text;
        }
        out.send(message);
    }

    fn schedule_update(&mut self, now: Instant) {
        self.next_update = self.is_watching().then(|| self.next_update.unwrap_or(now));
    }

    fn send_saved(&mut self, out: &mut Output) {
        let version = self.shared.backend.saved_version();
        for (key, value) in self.shared.backend.saved_since(self.view.saved) {
            out.send(Message::Saved { key, value });
        }
        self.view.saved = version;
    }

    /// Sends a read or write to the world, unless too many are pending.
    fn request(&mut self, variable: VariableId, id: Option<u64>, request: Request, command: Command, out: &mut Output) {
        if self.pending.len() >= limits::CONSOLE_ASKED {
            return out.refuse(id, "too many pending commands");
        }
        self.pending.push_back(Pending { variable, id, request });
        out.commands.push(command);
    }

    fn write(&mut self, variable: VariableId, value: world::Value, id: Option<u64>, out: &mut Output) {
        self.request(variable, id, Request::Write, Command::Write(variable, value), out);
    }
}

#[cfg(test)]
mod tests;
