//! Recent calls of the referee, for readers that do not see every cycle.

use std::{collections::VecDeque, time::Duration};

use crate::{
    rules::PlayMode,
    scene::{Foul, PlayerId},
};

/// Number of calls that are kept.
const KEPT: usize = 64;

/// What the referee has called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// A change of the play mode.
    Mode(PlayMode),
    /// A foul.
    Foul(PlayerId, Foul),
}

/// A call and its circumstances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Running number, from 0.
    pub number: u64,
    /// Time of the call on the game clock.
    pub play_time: Duration,
    /// Goals of the left and the right team at that time.
    pub score: [u32; 2],
    /// Foul or play mode.
    pub kind: CallKind,
}

/// The most recent calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecentCalls {
    kept: VecDeque<Call>,
    next: u64,
}

impl RecentCalls {
    pub(crate) fn add(&mut self, play_time: Duration, score: [u32; 2], kind: CallKind) {
        self.kept.push_back(Call { number: self.next, play_time, score, kind });
        self.next += 1;
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }

    /// Number of the next call.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The kept calls from this number on.
    pub fn since(&self, number: u64) -> impl Iterator<Item = &Call> {
        self.kept.iter().skip_while(move |call| call.number < number)
    }
}
