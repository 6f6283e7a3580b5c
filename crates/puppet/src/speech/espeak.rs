//! The voice of espeak-ng, which runs in a child process.
//!
//! The process is started with the first phrase. If it exits, times out or sends an invalid answer, it is restarted and the
//! phrase is retried once, so that a single failure delays at most one phrase.

use std::{
    ffi::OsString,
    io::BufReader,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread,
    time::{Duration, Instant},
};

use espeak::frame::{self, Answer, EventKind, FrameError, NO_REQUEST, Request, Speech};

use super::{
    Phrase, SpokenPhrase, Timeline, Voice, VoiceError, VoiceSettings, mouth,
    timeline::{MAX_MARKS, MAX_MOUTH},
    voice_name,
};

/// Timeout for synthesising a phrase. Half a minute of speech takes about 50 ms.
pub const DEADLINE: Duration = Duration::from_secs(5);
/// Number of consecutive failures after which the process is suspended.
pub const MAX_FAILURES: u32 = 6;
/// Duration of the suspension.
pub const SUSPENSION: Duration = Duration::from_secs(10);

/// Number of attempts per phrase.
const ATTEMPTS: u32 = 2;

/// The voice of espeak-ng.
#[derive(Debug)]
pub struct Espeak {
    command: Vec<OsString>,
    deadline: Duration,
    suspension: Duration,
    process: Option<Process>,
    last_id: u32,
    /// Consecutive failures.
    failures: u32,
    suspended_until: Option<Instant>,
}

/// The child process, which is killed on drop.
#[derive(Debug)]
struct Process {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<Result<Answer, FrameError>>,
}

/// Why an attempt failed.
enum Failure {
    /// The engine refused the request; a retry is pointless.
    Refused(String),
    /// The engine failed to initialise, and reported that before it exited.
    Initialisation(String),
    /// The process must be restarted.
    Broken(String),
}

impl Espeak {
    /// A voice whose process is started by this command (program and arguments). The process must run `espeak::serve` on
    /// its standard input and output.
    pub fn new(command: Vec<OsString>) -> Self {
        Self {
            command,
            deadline: DEADLINE,
            suspension: SUSPENSION,
            process: None,
            last_id: NO_REQUEST,
            failures: 0,
            suspended_until: None,
        }
    }

    /// Replaces [`DEADLINE`] and [`SUSPENSION`].
    pub fn with_times(self, deadline: Duration, suspension: Duration) -> Self {
        Self { deadline, suspension, ..self }
    }

    /// Id of the child process, if it is running.
    pub fn process(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.child.id())
    }

    fn speech(&mut self, mut request: Request, marks: usize) -> Result<Speech, VoiceError> {
        if self.suspended_until.is_some_and(|until| now() < until) {
            return Err(VoiceError::Suspended { failures: self.failures });
        }
        let mut reason = String::new();
        for _ in 0..ATTEMPTS {
            // skips `NO_REQUEST` when wrapping around
            self.last_id = self.last_id.checked_add(1).unwrap_or(NO_REQUEST + 1);
            request.id = self.last_id;
            match self.attempt(&request).and_then(|speech| checked(speech, marks)) {
                Ok(speech) => {
                    (self.failures, self.suspended_until) = (0, None);
                    return Ok(speech);
                }
                Err(Failure::Refused(reason)) => return Err(VoiceError::Refused { reason }),
                Err(Failure::Initialisation(reason)) => {
                    self.failed();
                    return Err(VoiceError::Refused { reason });
                }
                Err(Failure::Broken(failure)) => {
                    self.failed();
                    tracing::warn!(reason = failure, "speech process failed");
                    reason = failure;
                }
            }
        }
        Err(VoiceError::Failing { reason })
    }

    fn failed(&mut self) {
        self.process = None;
        self.failures = self.failures.saturating_add(1);
        if self.failures >= MAX_FAILURES {
            self.suspended_until = now().checked_add(self.suspension);
        }
    }

    fn attempt(&mut self, request: &Request) -> Result<Speech, Failure> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(Process::start(&self.command).map_err(Failure::Broken)?),
        };
        // if it has just exited, its last answer is more informative than the write error
        let written = request.write(&mut process.requests);
        match (process.answers.recv_timeout(self.deadline), written) {
            (Ok(Ok(Answer { id: NO_REQUEST, outcome: Err(reason) })), _) => Err(Failure::Initialisation(reason)),
            (Ok(Ok(Answer { id, outcome })), Ok(())) if id == request.id => outcome.map_err(Failure::Refused),
            (Ok(Ok(Answer { id, .. })), _) => {
                Err(Failure::Broken(format!("answer to request {id} instead of {}", request.id)))
            }
            (Ok(Err(error)), _) => Err(Failure::Broken(error.to_string())),
            (Err(RecvTimeoutError::Timeout), _) => {
                Err(Failure::Broken(format!("no answer within {} s", self.deadline.as_secs_f32())))
            }
            (Err(RecvTimeoutError::Disconnected), _) => Err(Failure::Broken("it exited".to_owned())),
        }
    }
}

impl Voice for Espeak {
    fn synthesise(&mut self, phrase: &Phrase, settings: VoiceSettings) -> Result<SpokenPhrase, VoiceError> {
        let voice = voice_name(settings.voice)?.to_owned();
        let limits = [("bytes", phrase.text.len(), frame::MAX_TEXT), ("marks", phrase.marks.len(), MAX_MARKS)];
        if let Some((unit, count, limit)) = limits.into_iter().find(|(_, count, limit)| count > limit) {
            return Err(VoiceError::TooLong { reason: format!("{count} {unit}, at most {limit}") });
        }
        if phrase.text.is_empty() {
            let timeline = Timeline::at_once(phrase.marks.iter().map(|mark| mark.gesture));
            return Ok(SpokenPhrase { timeline, rate: 22_050, samples: Vec::new() });
        }
        let at = |at: usize| frame::Mark { at: at.min(phrase.text.len()) as u32 };
        let request = Request {
            id: NO_REQUEST,
            pitch: clamped(settings.pitch, 0.5, 2.0),
            volume: clamped(settings.volume, 0.0, 1.0),
            voice,
            text: phrase.text.clone(),
            marks: phrase.marks.iter().map(|mark| at(mark.at)).collect(),
        };
        let speech = self.speech(request, phrase.marks.len())?;
        Ok(SpokenPhrase { timeline: timeline(phrase, &speech), rate: speech.rate, samples: speech.samples })
    }

    fn name(&self) -> String {
        "espeak-ng".to_owned()
    }
}

impl Process {
    fn start(command: &[OsString]) -> Result<Self, String> {
        let (program, arguments) = command.split_first().ok_or("no command configured")?;
        let failed = |error| format!("failed to start {}: {error}", program.display());
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // errors that matter arrive as answers
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let (Some(requests), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes to the process".to_owned());
        };
        let (sender, answers) = sync_channel(1);
        let process = Self { child, requests, answers };
        // ends when the process exits or the receiver is dropped
        let reader = move || {
            let mut output = BufReader::new(output);
            while let Some(answer) = Answer::read(&mut output).transpose() {
                let is_last = answer.is_err();
                if sender.send(answer).is_err() || is_last {
                    break;
                }
            }
        };
        thread::Builder::new().name("voice".to_owned()).spawn(reader).map_err(failed)?;
        Ok(process)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // it may have exited already; it must be reaped in any case
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Checks that the speech contains each mark exactly once.
fn checked(speech: Speech, marks: usize) -> Result<Speech, Failure> {
    let mut seen = vec![false; marks];
    for event in &speech.events {
        if let EventKind::Mark(index) = event.kind {
            match seen.get_mut(usize::from(index)) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(Failure::Broken(format!("unexpected mark {index} in the answer"))),
            }
        }
    }
    if seen.contains(&false) {
        Err(Failure::Broken("a mark is missing from the answer".to_owned()))
    } else {
        Ok(speech)
    }
}

/// The timeline of a speech that has passed [`checked`].
fn timeline(phrase: &Phrase, speech: &Speech) -> Timeline {
    let seconds = speech.samples.len() as f32 / speech.rate as f32;
    let time = |milliseconds: u32| (milliseconds as f32 / 1e3).min(seconds);
    let mut timeline = Timeline { seconds, ..Timeline::default() };
    let mut last = 0.0_f32;
    for event in &speech.events {
        match &event.kind {
            EventKind::Mark(index) => {
                let gesture = phrase.marks.get(usize::from(*index)).map(|mark| mark.gesture);
                timeline.marks.extend(gesture.map(|gesture| (time(event.milliseconds), gesture)));
            }
            EventKind::Phoneme(name) if timeline.mouth.len() + 1 < MAX_MOUTH => {
                last = time(event.milliseconds).max(last);
                mouth::add(&mut timeline.mouth, last, mouth::opening_of_phoneme(name));
            }
            EventKind::Phoneme(_) => {}
        }
    }
    // equal times keep their order
    timeline.marks.sort_by(|one, other| one.0.total_cmp(&other.0));
    mouth::add(&mut timeline.mouth, seconds, 0.0);
    timeline
}

fn clamped(value: f32, from: f32, to: f32) -> f32 {
    if value.is_finite() { value.clamp(from, to) } else { 1.0 }
}

#[expect(clippy::disallowed_methods, reason = "the suspension of a failing process is measured in wall-clock time")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
