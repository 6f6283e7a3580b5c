//! The voice of espeak-ng, which speaks in a process of its own.
//!
//! The process is started with the first phrase. If it dies, does not answer in time or answers nonsense, it is replaced
//! and the phrase tried once more, so that at most that phrase is late.

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
    Manner, Phrase, Spoken, Timeline, Voice, VoiceError, mouth,
    timeline::{MAX_MARKS, MAX_MOUTH},
    voice_name,
};

/// How long a phrase may take to be made. Half a minute of speech takes some 50 ms.
pub const DEADLINE: Duration = Duration::from_secs(5);
/// How often the process may fail in a row before it is left alone.
pub const MAX_FAILURES: u32 = 6;
/// For how long it is left alone then.
pub const REST: Duration = Duration::from_secs(10);

/// How often a phrase is tried.
const TRIES: u32 = 2;

/// The voice of espeak-ng.
#[derive(Debug)]
pub struct Espeak {
    command: Vec<OsString>,
    deadline: Duration,
    rest: Duration,
    process: Option<Process>,
    last_id: u32,
    /// In a row.
    failures: u32,
    resting_until: Option<Instant>,
}

/// A process that speaks. It ends when this goes.
#[derive(Debug)]
struct Process {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<Result<Answer, FrameError>>,
}

/// Why one try gave nothing.
enum Trouble {
    /// The process works and will say the same again.
    Refused(String),
    /// It cannot speak at all, and said so before it ended.
    Unable(String),
    /// It must be replaced.
    Broken(String),
}

impl Espeak {
    /// A voice whose process is started by this command, program first. The process runs `espeak::serve` on its standard
    /// input and output.
    pub fn new(command: Vec<OsString>) -> Self {
        Self {
            command,
            deadline: DEADLINE,
            rest: REST,
            process: None,
            last_id: NO_REQUEST,
            failures: 0,
            resting_until: None,
        }
    }

    /// With other times than [`DEADLINE`] and [`REST`].
    pub fn with_times(self, deadline: Duration, rest: Duration) -> Self {
        Self { deadline, rest, ..self }
    }

    /// The id of the process that speaks, if there is one.
    pub fn process(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.child.id())
    }

    fn speech(&mut self, mut request: Request, marks: usize) -> Result<Speech, VoiceError> {
        if self.resting_until.is_some_and(|until| now() < until) {
            return Err(VoiceError::Resting { failures: self.failures });
        }
        let mut reason = String::new();
        for _ in 0..TRIES {
            // never that of no request
            self.last_id = self.last_id.checked_add(1).unwrap_or(NO_REQUEST + 1);
            request.id = self.last_id;
            match self.attempt(&request).and_then(|speech| checked(speech, marks)) {
                Ok(speech) => {
                    (self.failures, self.resting_until) = (0, None);
                    return Ok(speech);
                }
                Err(Trouble::Refused(reason)) => return Err(VoiceError::Refused { reason }),
                Err(Trouble::Unable(reason)) => {
                    self.failed();
                    return Err(VoiceError::Refused { reason });
                }
                Err(Trouble::Broken(why)) => {
                    self.failed();
                    tracing::warn!(reason = why, "the voice's process failed");
                    reason = why;
                }
            }
        }
        Err(VoiceError::Failing { reason })
    }

    fn failed(&mut self) {
        self.process = None;
        self.failures = self.failures.saturating_add(1);
        if self.failures >= MAX_FAILURES {
            self.resting_until = now().checked_add(self.rest);
        }
    }

    fn attempt(&mut self, request: &Request) -> Result<Speech, Trouble> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(Process::start(&self.command).map_err(Trouble::Broken)?),
        };
        // if it has just died, what it said before tells more
        let written = request.write(&mut process.requests);
        match (process.answers.recv_timeout(self.deadline), written) {
            (Ok(Ok(Answer { id: NO_REQUEST, outcome: Err(reason) })), _) => Err(Trouble::Unable(reason)),
            (Ok(Ok(Answer { id, outcome })), Ok(())) if id == request.id => outcome.map_err(Trouble::Refused),
            (Ok(Ok(Answer { id, .. })), _) => {
                Err(Trouble::Broken(format!("it answers {id} instead of {}", request.id)))
            }
            (Ok(Err(error)), _) => Err(Trouble::Broken(error.to_string())),
            (Err(RecvTimeoutError::Timeout), _) => {
                Err(Trouble::Broken(format!("no answer within {} s", self.deadline.as_secs_f32())))
            }
            (Err(RecvTimeoutError::Disconnected), _) => Err(Trouble::Broken("it ended".to_owned())),
        }
    }
}

impl Voice for Espeak {
    fn say(&mut self, phrase: &Phrase, manner: Manner) -> Result<Spoken, VoiceError> {
        let voice = voice_name(manner.voice)?.to_owned();
        let limits = [("bytes", phrase.text.len(), frame::MAX_TEXT), ("marks", phrase.marks.len(), MAX_MARKS)];
        if let Some((what, count, limit)) = limits.into_iter().find(|(_, count, limit)| count > limit) {
            return Err(VoiceError::TooLong { reason: format!("{count} {what} are more than {limit}") });
        }
        if phrase.text.is_empty() {
            let timeline = Timeline::at_once(phrase.marks.iter().map(|mark| mark.gesture));
            return Ok(Spoken { timeline, rate: 22_050, samples: Vec::new() });
        }
        let at = |at: usize| frame::Mark { at: at.min(phrase.text.len()) as u32 };
        let request = Request {
            id: NO_REQUEST,
            pitch: clamped(manner.pitch, 0.5, 2.0),
            volume: clamped(manner.volume, 0.0, 1.0),
            voice,
            text: phrase.text.clone(),
            marks: phrase.marks.iter().map(|mark| at(mark.at)).collect(),
        };
        let speech = self.speech(request, phrase.marks.len())?;
        Ok(Spoken { timeline: timeline(phrase, &speech), rate: speech.rate, samples: speech.samples })
    }

    fn name(&self) -> String {
        "espeak-ng".to_owned()
    }
}

impl Process {
    fn start(command: &[OsString]) -> Result<Self, String> {
        let (program, arguments) = command.split_first().ok_or("there is no command to start it")?;
        let failed = |error| format!("{} cannot be started: {error}", program.display());
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // what matters comes as an answer
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let (Some(requests), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("it has no pipes".to_owned());
        };
        let (sender, answers) = sync_channel(1);
        let process = Self { child, requests, answers };
        // it ends with the process, or when nobody wants its answers any more
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
        // it may have ended by itself; either way it is waited for, so that nothing remains of it
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A speech that has each mark once; anything else is nonsense.
fn checked(speech: Speech, marks: usize) -> Result<Speech, Trouble> {
    let mut seen = vec![false; marks];
    for event in &speech.events {
        if let EventKind::Mark(index) = event.kind {
            match seen.get_mut(usize::from(index)) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(Trouble::Broken(format!("there is no mark {index} to be reached"))),
            }
        }
    }
    if seen.contains(&false) { Err(Trouble::Broken("a mark was not reached".to_owned())) } else { Ok(speech) }
}

/// What happens during a speech that is [`checked`].
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
                mouth::add(&mut timeline.mouth, last, mouth::of_phoneme(name));
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

#[expect(clippy::disallowed_methods, reason = "how long a broken process rests is a matter of the machine's time")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
