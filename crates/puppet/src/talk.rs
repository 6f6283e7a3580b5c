//! What the robot is saying and will say next.
//!
//! ```text
//! SPEAK -> queue -> phrase wanted -> voice answers with a timeline -> playing -> next phrase, or done
//!                        `-- nobody answers in time: a silent timeline
//! ```
//!
//! Sound is made elsewhere: whoever has a voice looks at what is wanted, and answers. Time passes here as in the world,
//! so that what was said can be run again from a recording.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    puppet::PuppetRefusal,
    speech::{Manner, Phrase, Timeline, silent},
};

/// Most texts that wait to be spoken.
pub const MAX_WAITING: usize = 256;
/// How long a voice may take for a phrase, in s.
const PATIENCE: f32 = 3.0;
/// A gesture begins so much before its word, in s: orders wait for the next step, and a servo takes a moment before it is
/// seen to move.
const LEAD: f32 = 0.02;

/// A phrase that a voice is to speak.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Counts the texts.
    pub speech: u64,
    /// Counts the phrases of a text.
    pub phrase: usize,
    /// What to say.
    pub words: Arc<Phrase>,
    /// How to say it.
    pub manner: Manner,
}

struct Speech {
    id: u64,
    phrases: Vec<Arc<Phrase>>,
    manner: Manner,
}

enum State {
    /// Nothing to say.
    Idle,
    /// For so many seconds, until a voice answers.
    Waiting(f32),
    /// Since so many seconds; so many marks have been passed.
    Playing { timeline: Timeline, time: f32, passed: usize },
}

/// What happens while the robot talks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A text begins.
    Begun(u64),
    /// A gesture is due.
    Gesture(u32),
    /// A text has been said.
    Done(u64),
}

/// The robot's speech.
pub(crate) struct Talk {
    queue: VecDeque<Speech>,
    phrase: usize,
    state: State,
    next: u64,
}

impl Talk {
    pub(crate) fn new() -> Self {
        Self { queue: VecDeque::new(), phrase: 0, state: State::Idle, next: 0 }
    }

    /// Whether as many texts wait as may.
    pub(crate) fn is_full(&self) -> bool {
        self.queue.len() >= MAX_WAITING
    }

    /// Puts a text at the end of the queue.
    pub(crate) fn add(&mut self, phrases: Vec<Phrase>, manner: Manner) {
        let id = self.next;
        self.next += 1;
        self.queue.push_back(Speech { id, phrases: phrases.into_iter().map(Arc::new).collect(), manner });
    }

    /// Falls silent. Tells the texts that were not finished.
    pub(crate) fn stop(&mut self) -> Vec<u64> {
        self.state = State::Idle;
        self.phrase = 0;
        self.queue.drain(..).map(|speech| speech.id).collect()
    }

    /// Whether a phrase is being said now.
    pub(crate) fn is_loud(&self) -> bool {
        matches!(self.state, State::Playing { .. })
    }

    /// The phrase that is being said or is to be said next.
    pub(crate) fn wanted(&self) -> Option<Wanted> {
        let Speech { id, phrases, manner } = self.queue.front()?;
        let words = Arc::clone(phrases.get(self.phrase)?);
        Some(Wanted { speech: *id, phrase: self.phrase, words, manner: *manner })
    }

    /// A voice says a phrase with this timing, from now on.
    pub(crate) fn answer(&mut self, speech: u64, phrase: usize, timeline: Timeline) -> Result<(), PuppetRefusal> {
        let is_wanted = self.queue.front().is_some_and(|front| front.id == speech) && self.phrase == phrase;
        if !is_wanted || !matches!(self.state, State::Waiting(_)) {
            return Err(PuppetRefusal::TooLate { speech, phrase });
        }
        if !timeline.is_sound() {
            return Err(PuppetRefusal::InvalidTimeline);
        }
        self.state = State::Playing { timeline, time: 0.0, passed: 0 };
        Ok(())
    }

    /// Lets time pass. Tells how far the mouth is open, 0 to 1.
    pub(crate) fn step(&mut self, dt: f32, moments: &mut Vec<Moment>) -> f32 {
        if let State::Idle = self.state
            && let Some(front) = self.queue.front()
        {
            moments.push(Moment::Begun(front.id));
            self.state = State::Waiting(0.0);
        }
        if let State::Waiting(waited) = &mut self.state {
            *waited += dt;
            match self.queue.front().map(|front| front.phrases.get(self.phrase)) {
                Some(Some(phrase)) if phrase.text.is_empty() || *waited > PATIENCE => {
                    self.state = State::Playing { timeline: silent(phrase), time: 0.0, passed: 0 };
                }
                Some(Some(_)) => return 0.0,
                Some(None) => self.finish(moments),
                None => self.state = State::Idle,
            }
        }
        let State::Playing { timeline, time, passed } = &mut self.state else { return 0.0 };
        while let Some(&(at, gesture)) = timeline.marks.get(*passed)
            && at <= *time + LEAD
        {
            moments.push(Moment::Gesture(gesture));
            *passed += 1;
        }
        let mouth = timeline.opening(*time);
        *time += dt;
        if *time >= timeline.seconds && *passed == timeline.marks.len() {
            self.phrase += 1;
            self.state = State::Waiting(0.0);
            if self.queue.front().is_some_and(|front| self.phrase >= front.phrases.len()) {
                self.finish(moments);
            }
            return 0.0;
        }
        mouth
    }

    fn finish(&mut self, moments: &mut Vec<Moment>) {
        moments.extend(self.queue.pop_front().map(|speech| Moment::Done(speech.id)));
        self.phrase = 0;
        self.state = State::Idle;
    }
}
