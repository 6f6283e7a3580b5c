//! A process that is at a run.

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, sync_channel},
    },
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{cpu_affinity, jobs::wait_for};

/// Longest line that a process prints for a generation, in bytes; what is longer counts as several.
const MAX_LINE: u64 = 64 * 1024;
/// What is kept of the last words of a process, in bytes.
const MAX_WORDS: usize = 4 * 1024;
/// What is shown of them, in letters.
const MAX_SHOWN: usize = 600;
/// Lines that are shown of them.
const SHOWN_LINES: usize = 3;
/// How long the last words of a process that has ended are waited for: somebody else may hold its pipe.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A process that is at a run, or was.
#[derive(Debug)]
pub(super) struct Process {
    state: Mutex<State>,
    ended: Condvar,
    /// The end of what it said.
    said: Arc<Mutex<Vec<u8>>>,
}

#[derive(Debug)]
struct State {
    child: Child,
    /// Whether it was asked to end.
    is_stopped: bool,
    outcome: Outcome,
}

/// How a process is, or what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Running,
    /// It has done what it was there for.
    Ended,
    /// It was asked to end.
    Stopped,
    /// It ended with these words.
    Failed(String),
}

impl Process {
    /// Starts a process. `version` counts its lines and its end.
    pub(super) fn start(program: &Path, arguments: &[String], version: &Arc<AtomicU64>) -> Result<Arc<Self>, String> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |what: &str, error: std::io::Error| format!("a run could not be started: {what}: {error}");
        let shown = program.display().to_string();
        let (report, started) = sync_channel(1);
        let version = version.clone();
        let supervise = move || {
            // what it computes must not take the world's processor
            cpu_affinity::avoid_first();
            let child = match command.spawn() {
                Ok(child) => child,
                // whoever waits for the report does not go before it has it
                Err(error) => return drop(report.send(Err(error))),
            };
            let (process, lines, words) = Self::new(child);
            let _ = report.send(Ok(process.clone()));
            process.supervise(lines, words, &version);
        };
        thread::Builder::new().name("run".into()).spawn(supervise).map_err(|error| failed("no thread", error))?;
        started.recv().map_err(|_| "a run could not be started".to_owned())?.map_err(|error| failed(&shown, error))
    }

    fn new(mut child: Child) -> (Arc<Self>, impl Read + Send + 'static, impl Read + Send + 'static) {
        let (lines, words) = (child.stdout.take(), child.stderr.take());
        let state = State { child, is_stopped: false, outcome: Outcome::Running };
        (
            Arc::new(Self { state: Mutex::new(state), ended: Condvar::new(), said: Arc::default() }),
            Maybe(lines),
            Maybe(words),
        )
    }

    pub(super) fn outcome(&self) -> Outcome {
        self.state().outcome.clone()
    }

    pub(super) fn is_running(&self) -> bool {
        self.state().outcome == Outcome::Running
    }

    /// What it said last, if it said something.
    pub(super) fn said(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = last_lines(&said, 1);
        // without the time and the level of its log
        let level = [" WARN ", " INFO ", " ERROR "].iter().find_map(|level| lines.split_once(level));
        level.map_or(lines.as_str(), |(_, words)| words).to_owned()
    }

    /// Asks it to end, and makes it end if it does not. Returns at once.
    pub(super) fn stop(self: Arc<Self>, patience: Duration) -> Result<(), String> {
        self.ask_to_end();
        let end = move || self.end_within(patience);
        let started = thread::Builder::new().name("run's end".into()).spawn(end);
        started.map(drop).map_err(|error| format!("it was asked to end, but nobody sees to it: {error}"))
    }

    pub(super) fn ask_to_end(&self) {
        let mut state = self.state();
        if state.outcome == Outcome::Running {
            state.is_stopped = true;
            if let Some(pid) = pid(&state.child) {
                // not waited for yet, so that the number is still its own; one that has just ended hears nothing
                let _ = kill_process(pid, Signal::TERM);
            }
        }
    }

    /// Waits until it has ended. If that takes too long, it is made to end.
    pub(super) fn end_within(&self, patience: Duration) {
        let running = |state: &mut State| state.outcome == Outcome::Running;
        let waited = self.ended.wait_timeout_while(self.state(), patience, running);
        let (mut state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() && state.outcome == Outcome::Running {
            state.is_stopped = true;
            // one that has just ended cannot be killed
            let _ = state.child.kill();
            let waited = self.ended.wait_timeout_while(state, patience, running);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Reads what it prints, and waits for its end.
    fn supervise(
        &self,
        lines: impl Read + Send + 'static,
        words: impl Read + Send + 'static,
        version: &Arc<AtomicU64>,
    ) {
        let counter = version.clone();
        let count = move || count_lines(lines, &counter);
        // without a thread its lines fill the pipe, and it waits for ever: better no process
        let words = last_words(words, &self.said, version);
        if thread::Builder::new().name("run's lines".into()).spawn(count).is_err() || words.is_none() {
            let _ = self.state().child.kill();
        }
        let process = self.state().child.id();
        wait_for(process);
        // it may have said nothing
        let _ = words.map(|words| words.recv_timeout(LAST_WORDS));
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut state = self.state();
        state.outcome = match state.child.wait() {
            Ok(status) if status.success() => Outcome::Ended,
            _ if state.is_stopped => Outcome::Stopped,
            Ok(status) => Outcome::Failed(failure(&said, status)),
            Err(error) => Outcome::Failed(error.to_string()),
        };
        drop(state);
        self.ended.notify_all();
        version.fetch_add(1, Ordering::Relaxed);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pid(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()).ok()?)
}

/// A pipe that may not be there.
struct Maybe<R>(Option<R>);

impl<R: Read> Read for Maybe<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.as_mut().map_or(Ok(0), |pipe| pipe.read(buffer))
    }
}

/// Counts lines; what they say is also on disk.
fn count_lines(pipe: impl Read, version: &AtomicU64) {
    let mut reader = BufReader::new(pipe);
    let mut line = Vec::new();
    // a pipe that cannot be read any more is at its end
    while (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        version.fetch_add(1, Ordering::Relaxed);
        line.clear();
    }
}

/// Reads all and keeps the end; the receiver is told when there is no more.
fn last_words(
    mut pipe: impl Read + Send + 'static,
    said: &Arc<Mutex<Vec<u8>>>,
    version: &Arc<AtomicU64>,
) -> Option<Receiver<()>> {
    let (report, words) = sync_channel(1);
    let (said, version) = (said.clone(), version.clone());
    let read = move || {
        let mut chunk = [0; 1024];
        while let Ok(length @ 1..) = pipe.read(&mut chunk) {
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            said.extend_from_slice(chunk.get(..length).unwrap_or_default());
            let surplus = said.len().saturating_sub(MAX_WORDS);
            said.drain(..surplus);
            drop(said);
            version.fetch_add(1, Ordering::Relaxed);
        }
        // nobody may be waiting any more
        let _ = report.send(());
    };
    thread::Builder::new().name("run's words".into()).spawn(read).ok().map(|_| words)
}

/// Why it failed, for people.
fn failure(said: &[u8], status: ExitStatus) -> String {
    let last = last_lines(said, SHOWN_LINES);
    if last.is_empty() { format!("the process ended ({status}) and said nothing") } else { last }
}

/// So many of the last lines, without empty ones.
fn last_lines(said: &[u8], count: usize) -> String {
    let text = without_colours(&String::from_utf8_lossy(said));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(count)..).unwrap_or_default().join("\n");
    let surplus = last.chars().count().saturating_sub(MAX_SHOWN);
    last.chars().skip(surplus).collect()
}

/// The text without what only a terminal understands.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => _ = letters.by_ref().find(char::is_ascii_alphabetic),
            '\n' => plain.push('\n'),
            other if other.is_control() => plain.push(' '),
            other => plain.push(other),
        }
    }
    plain
}
