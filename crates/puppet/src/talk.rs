//! The speech queue: the texts that the robot is speaking and will speak next.
//!
//! ```text
//! SPEAK -> queue -> phrase requested -> voice answers with a timeline -> playing -> next phrase, or done
//!                        `-- no answer in time: a silent timeline
//! ```
//!
//! Audio is synthesised elsewhere: the voice takes the current [`SpeechRequest`] and answers. Time is simulated time, so
//! that a recording can be replayed. Volume and pitch are the robot's, not the text's: a change is heard at once.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    event::Source,
    puppet::PuppetRefusal,
    speech::{Phrase, Timeline, VoiceSettings, silent_timeline},
};

/// Maximum number of texts in the queue.
pub const MAX_WAITING: usize = 256;
/// Time after which a phrase without an answer of the voice is played silently, in s.
const VOICE_TIMEOUT: f32 = 3.0;
/// Gestures start this much before their word, in s, to compensate for the delay of orders and servos.
const LEAD: f32 = 0.02;

/// A phrase that the voice has to speak.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeechRequest {
    /// Number of the text.
    pub speech: u64,
    /// Index of the phrase in the text.
    pub phrase: usize,
    /// Text and marks of the phrase.
    pub content: Arc<Phrase>,
    /// Voice, volume and pitch.
    pub settings: VoiceSettings,
}

struct QueuedText {
    id: u64,
    source: Source,
    phrases: Vec<Arc<Phrase>>,
}

enum State {
    /// The queue was empty; a text added since then starts with the next step.
    Idle,
    /// Waiting for the voice, for this time in s.
    Waiting(f32),
    /// A phrase is being spoken, for `time` s; `passed` of its marks have been reached.
    Playing { timeline: Timeline, time: f32, passed: usize },
}

/// An event of the speech queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpeechEvent {
    /// A text starts.
    Started(u64),
    /// A gesture is due.
    Gesture(u32),
    /// A text has been spoken.
    Done(u64),
}

/// The queue of texts, and the phrase that is being spoken.
pub(crate) struct SpeechQueue {
    queue: VecDeque<QueuedText>,
    phrase: usize,
    state: State,
    next: u64,
}

impl SpeechQueue {
    pub(crate) fn new() -> Self {
        Self { queue: VecDeque::new(), phrase: 0, state: State::Idle, next: 0 }
    }

    /// Whether [`MAX_WAITING`] texts are queued.
    pub(crate) fn is_full(&self) -> bool {
        self.queue.len() >= MAX_WAITING
    }

    /// Appends a text.
    pub(crate) fn add(&mut self, phrases: Vec<Phrase>, source: Source) {
        let id = self.next;
        self.next += 1;
        self.queue.push_back(QueuedText { id, source, phrases: phrases.into_iter().map(Arc::new).collect() });
    }

    /// Clears the queue. Returns the texts that have not been finished, with their sources.
    pub(crate) fn stop(&mut self) -> Vec<(u64, Source)> {
        self.state = State::Idle;
        self.phrase = 0;
        self.queue.drain(..).map(|text| (text.id, text.source)).collect()
    }

    /// Whether a phrase is being spoken.
    pub(crate) fn is_speaking(&self) -> bool {
        matches!(self.state, State::Playing { .. })
    }

    /// The phrase that is being spoken or has to be spoken next.
    pub(crate) fn request(&self, settings: VoiceSettings) -> Option<SpeechRequest> {
        let QueuedText { id, phrases, .. } = self.queue.front()?;
        let content = Arc::clone(phrases.get(self.phrase)?);
        Some(SpeechRequest { speech: *id, phrase: self.phrase, content, settings })
    }

    /// Starts the requested phrase with the timing of the voice.
    pub(crate) fn start_phrase(&mut self, speech: u64, phrase: usize, timeline: Timeline) -> Result<(), PuppetRefusal> {
        let is_requested = self.queue.front().is_some_and(|front| front.id == speech) && self.phrase == phrase;
        if !is_requested || !matches!(self.state, State::Waiting(_)) {
            return Err(PuppetRefusal::TooLate { speech, phrase });
        }
        if !timeline.is_valid() {
            return Err(PuppetRefusal::InvalidTimeline);
        }
        self.state = State::Playing { timeline, time: 0.0, passed: 0 };
        Ok(())
    }

    /// Advances by `dt` seconds. Adds the events, with the sources of their texts. Returns the opening of the mouth, 0 to 1.
    pub(crate) fn step(&mut self, dt: f32, events: &mut Vec<(Source, SpeechEvent)>) -> f32 {
        if let State::Idle = self.state {
            self.start_next(events);
        }
        if let State::Waiting(waited) = &mut self.state {
            *waited += dt;
            match self.queue.front().map(|front| front.phrases.get(self.phrase)) {
                Some(Some(phrase)) if phrase.text.is_empty() || *waited > VOICE_TIMEOUT => {
                    self.state = State::Playing { timeline: silent_timeline(phrase), time: 0.0, passed: 0 };
                }
                Some(Some(_)) => return 0.0,
                Some(None) => self.finish(events),
                None => self.state = State::Idle,
            }
        }
        self.play(dt, events)
    }

    /// Continues the phrase that is being spoken.
    fn play(&mut self, dt: f32, events: &mut Vec<(Source, SpeechEvent)>) -> f32 {
        let State::Playing { timeline, time, passed } = &mut self.state else { return 0.0 };
        while let Some(&(at, gesture)) = timeline.marks.get(*passed)
            && at <= *time + LEAD
        {
            events.extend(self.queue.front().map(|text| (Arc::clone(&text.source), SpeechEvent::Gesture(gesture))));
            *passed += 1;
        }
        let mouth = timeline.opening(*time);
        *time += dt;
        if *time >= timeline.seconds && *passed == timeline.marks.len() {
            self.phrase += 1;
            self.state = State::Waiting(0.0);
            if self.queue.front().is_some_and(|front| self.phrase >= front.phrases.len()) {
                self.finish(events);
            }
            return 0.0;
        }
        mouth
    }

    fn finish(&mut self, events: &mut Vec<(Source, SpeechEvent)>) {
        events.extend(self.queue.pop_front().map(|text| (text.source, SpeechEvent::Done(text.id))));
        self.phrase = 0;
        self.start_next(events);
    }

    /// Starts the next text. What is requested of the voice has always started, so that its answer never comes too early.
    fn start_next(&mut self, events: &mut Vec<(Source, SpeechEvent)>) {
        self.state = match self.queue.front() {
            Some(text) => {
                events.push((Arc::clone(&text.source), SpeechEvent::Started(text.id)));
                State::Waiting(0.0)
            }
            None => State::Idle,
        };
    }
}
