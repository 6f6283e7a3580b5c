//! The process of a run.

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, sync_channel},
    },
    thread,
    time::Duration,
};

use parking_lot::{Condvar, Mutex};
use rustix::process::{Pid, Signal, kill_process};

use crate::{cpu_affinity, jobs::wait_for};

/// Maximum length of a line that a process prints for a generation, in bytes; a longer one counts as several.
const MAX_LINE: u64 = 64 * 1024;
/// Length of the kept end of the error output, in bytes.
const MAX_STDERR: usize = 4 * 1024;
/// Maximum length of the part shown, in characters.
const MAX_SHOWN: usize = 600;
/// Maximum number of lines shown.
const SHOWN_LINES: usize = 3;
/// Time to wait for the end of the error output after the process has ended: another process may hold the pipe.
const STDERR_TIMEOUT: Duration = Duration::from_secs(1);

/// A current or former process of a run.
#[derive(Debug)]
pub(super) struct Process {
    state: Mutex<State>,
    ended: Condvar,
    /// The end of its error output.
    stderr: Arc<Mutex<Vec<u8>>>,
}

#[derive(Debug)]
struct State {
    child: Child,
    /// Whether it was asked to stop.
    is_stopped: bool,
    outcome: Outcome,
}

/// The state of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Running,
    /// It exited successfully.
    Ended,
    /// It was stopped on request.
    Stopped,
    /// It failed, with the end of its error output.
    Failed(String),
}

/// Why a process cannot be started or stopped.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program cannot be executed.
    #[error("failed to start {program}: {error}")]
    Spawn {
        /// Path of the program.
        program: String,
        /// The cause.
        error: std::io::Error,
    },
    /// A supervising thread cannot be started.
    #[error("failed to start a thread: {0}")]
    Thread(std::io::Error),
    /// The supervising thread ended unexpectedly.
    #[error("failed to start the run: its supervisor ended")]
    NoSupervisor,
}

impl Process {
    /// Starts a process. `version` is increased for each of its lines and for its end.
    pub(super) fn start(
        program: &Path,
        arguments: &[String],
        version: &Arc<AtomicU64>,
    ) -> Result<Arc<Self>, StartError> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let shown = program.display().to_string();
        let (report, started) = sync_channel(1);
        let version = version.clone();
        let supervise = move || {
            // its computations must not use the world's processor
            cpu_affinity::avoid_first();
            let child = match command.spawn() {
                Ok(child) => child,
                // the caller waits for the report
                Err(error) => return drop(report.send(Err(error))),
            };
            let (process, stdout, stderr) = Self::new(child);
            let _ = report.send(Ok(process.clone()));
            process.supervise(stdout, stderr, &version);
        };
        thread::Builder::new().name("run".into()).spawn(supervise).map_err(StartError::Thread)?;
        let started = started.recv().map_err(|_| StartError::NoSupervisor)?;
        started.map_err(|error| StartError::Spawn { program: shown, error })
    }

    fn new(mut child: Child) -> (Arc<Self>, impl Read + Send + 'static, impl Read + Send + 'static) {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let state = State { child, is_stopped: false, outcome: Outcome::Running };
        (
            Arc::new(Self { state: Mutex::new(state), ended: Condvar::new(), stderr: Arc::default() }),
            OptionalPipe(stdout),
            OptionalPipe(stderr),
        )
    }

    pub(super) fn outcome(&self) -> Outcome {
        self.state.lock().outcome.clone()
    }

    pub(super) fn is_running(&self) -> bool {
        self.state.lock().outcome == Outcome::Running
    }

    /// The last line of its error output, without time and level; may be empty.
    pub(super) fn last_line(&self) -> String {
        let lines = last_lines(&self.stderr.lock(), 1);
        let level = [" WARN ", " INFO ", " ERROR "].iter().find_map(|level| lines.split_once(level));
        level.map_or(lines.as_str(), |(_, words)| words).to_owned()
    }

    /// Asks it to stop, and kills it after the timeout. Returns at once.
    pub(super) fn stop(self: Arc<Self>, timeout: Duration) -> Result<(), StartError> {
        self.request_stop();
        let end = move || self.wait_or_kill(timeout);
        thread::Builder::new().name("run's end".into()).spawn(end).map(drop).map_err(StartError::Thread)
    }

    pub(super) fn request_stop(&self) {
        let mut state = self.state.lock();
        if state.outcome == Outcome::Running {
            state.is_stopped = true;
            if let Some(pid) = pid(&state.child) {
                // not reaped yet, so the pid is still its own; a process that has just ended ignores the signal
                let _ = kill_process(pid, Signal::TERM);
            }
        }
    }

    /// Waits until it has ended, and kills it after the timeout.
    pub(super) fn wait_or_kill(&self, timeout: Duration) {
        let is_running = |state: &mut State| state.outcome == Outcome::Running;
        let mut state = self.state.lock();
        self.ended.wait_while_for(&mut state, is_running, timeout);
        if state.outcome == Outcome::Running {
            state.is_stopped = true;
            // fails if it has just ended
            let _ = state.child.kill();
            self.ended.wait_while_for(&mut state, is_running, timeout);
        }
    }

    /// Reads its output and waits for its end.
    fn supervise(
        &self,
        stdout: impl Read + Send + 'static,
        stderr: impl Read + Send + 'static,
        version: &Arc<AtomicU64>,
    ) {
        let counter = version.clone();
        let count = move || count_lines(stdout, &counter);
        // without a thread that reads it, its output would fill the pipe and block it
        let stderr_end = collect_stderr(stderr, &self.stderr, version);
        if thread::Builder::new().name("run's lines".into()).spawn(count).is_err() || stderr_end.is_none() {
            let _ = self.state.lock().child.kill();
        }
        let process = self.state.lock().child.id();
        wait_for(process);
        // the output may never end
        let _ = stderr_end.map(|end| end.recv_timeout(STDERR_TIMEOUT));
        let stderr = self.stderr.lock().clone();
        let mut state = self.state.lock();
        state.outcome = match state.child.wait() {
            Ok(status) if status.success() => Outcome::Ended,
            _ if state.is_stopped => Outcome::Stopped,
            Ok(status) => Outcome::Failed(failure(&stderr, status)),
            Err(error) => Outcome::Failed(error.to_string()),
        };
        drop(state);
        self.ended.notify_all();
        version.fetch_add(1, Ordering::Relaxed);
    }
}

fn pid(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()).ok()?)
}

/// A pipe that may be missing, which reads as empty.
struct OptionalPipe<R>(Option<R>);

impl<R: Read> Read for OptionalPipe<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.as_mut().map_or(Ok(0), |pipe| pipe.read(buffer))
    }
}

/// Increases `version` for each line. The lines themselves are also in the run's log.
fn count_lines(pipe: impl Read, version: &AtomicU64) {
    let mut reader = BufReader::new(pipe);
    let mut line = Vec::new();
    // a read error counts as the end
    while (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        version.fetch_add(1, Ordering::Relaxed);
        line.clear();
    }
}

/// Reads the error output and keeps its end. The receiver is notified at the end of the output; `None` if the thread cannot
/// be started.
fn collect_stderr(
    mut pipe: impl Read + Send + 'static,
    collected: &Arc<Mutex<Vec<u8>>>,
    version: &Arc<AtomicU64>,
) -> Option<Receiver<()>> {
    let (report, end) = sync_channel(1);
    let (collected, version) = (collected.clone(), version.clone());
    let read = move || {
        let mut chunk = [0; 1024];
        while let Ok(length @ 1..) = pipe.read(&mut chunk) {
            let mut collected = collected.lock();
            collected.extend_from_slice(chunk.get(..length).unwrap_or_default());
            let surplus = collected.len().saturating_sub(MAX_STDERR);
            collected.drain(..surplus);
            drop(collected);
            version.fetch_add(1, Ordering::Relaxed);
        }
        // the receiver may have timed out
        let _ = report.send(());
    };
    thread::Builder::new().name("run's stderr".into()).spawn(read).ok().map(|_| end)
}

/// A human-readable cause of the failure.
fn failure(stderr: &[u8], status: ExitStatus) -> String {
    let last = last_lines(stderr, SHOWN_LINES);
    if last.is_empty() { format!("the process failed ({status}) without a message") } else { last }
}

/// The last `count` lines that are not empty.
fn last_lines(output: &[u8], count: usize) -> String {
    let text = strip_ansi(&String::from_utf8_lossy(output));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(count)..).unwrap_or_default().join("\n");
    let surplus = last.chars().count().saturating_sub(MAX_SHOWN);
    last.chars().skip(surplus).collect()
}

/// The text without terminal escape sequences.
fn strip_ansi(text: &str) -> String {
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
