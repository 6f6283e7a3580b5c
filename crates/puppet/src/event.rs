//! Events of the puppet, and the log of recent ones.

use std::{collections::VecDeque, mem::discriminant, sync::Arc};

use crate::{faces::Face, hearing::Hypothesis};

/// Number of events that are kept for subscribers.
pub const KEPT_EVENTS: usize = 1024;

/// Kind of a [`PuppetEvent`].
#[derive(Clone, Debug, PartialEq)]
pub enum PuppetEventKind {
    /// A text starts to be spoken.
    SpeakBegun(u64),
    /// A gesture within a text starts.
    SpeakGesture(u32),
    /// A text has been spoken or aborted.
    SpeakDone(u64),
    /// A gesture has been played or aborted.
    GestureDone(u32),
    /// An utterance was recognised: hypotheses, the most likely first.
    Utterance(Vec<Hypothesis>),
    /// Faces in view; empty once, when the last one has disappeared.
    Faces(Vec<Face>),
}

/// Who gave the order that started a text or gesture; see [`AttributedOrder::source`](crate::puppet::AttributedOrder).
pub type Source = Arc<str>;

/// A fact about the puppet.
#[derive(Clone, Debug, PartialEq)]
pub struct PuppetEvent {
    /// Sequence number, from 0.
    pub number: u64,
    /// Time since the puppet was created, in s.
    pub time: f64,
    /// Who ordered the text or gesture that it is about; `None` for what the robot perceives.
    pub source: Option<Source>,
    /// What happened.
    pub kind: PuppetEventKind,
}

/// The last [`KEPT_EVENTS`] events.
#[derive(Clone, Debug, Default)]
pub struct EventLog {
    kept: VecDeque<Arc<PuppetEvent>>,
    next: u64,
}

impl EventLog {
    pub(crate) fn add(&mut self, time: f64, source: Option<Source>, kind: PuppetEventKind) {
        self.kept.push_back(Arc::new(PuppetEvent { number: self.next, time, source, kind }));
        self.next += 1;
        if self.kept.len() > KEPT_EVENTS {
            self.kept.pop_front();
        }
    }

    /// Adds a perception, replacing the last one if it has the same kind and time.
    pub(crate) fn add_latest(&mut self, time: f64, kind: PuppetEventKind) {
        match self.kept.back_mut() {
            Some(last) if last.time == time && discriminant(&last.kind) == discriminant(&kind) => {
                *last = Arc::new(PuppetEvent { number: last.number, time, source: None, kind });
            }
            _ => self.add(time, None, kind),
        }
    }

    /// Number of the next event.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Number of the oldest event that is kept.
    pub fn oldest(&self) -> u64 {
        self.next - self.kept.len() as u64
    }

    /// All events from this number on; `None` if some of them are no longer kept.
    pub fn since(&self, number: u64) -> Option<impl Iterator<Item = &PuppetEvent>> {
        let skip = number.checked_sub(self.oldest())?;
        Some(self.kept.iter().skip(usize::try_from(skip).unwrap_or(usize::MAX)).map(AsRef::as_ref))
    }
}
