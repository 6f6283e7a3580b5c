//! What the referee called of late, for those who do not look at every cycle.

use std::{collections::VecDeque, time::Duration};

use crate::{
    rules::PlayMode,
    scene::{Foul, PlayerId},
};

/// Calls that are kept.
const KEPT: usize = 64;

/// What a referee calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    /// Another play mode.
    Mode(PlayMode),
    /// A foul.
    Foul(PlayerId, Foul),
}

/// A call, and when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Counts them, from 0.
    pub number: u64,
    /// On the game clock.
    pub play_time: Duration,
    /// Goals of both teams then.
    pub score: [u32; 2],
    /// What.
    pub called: Called,
}

/// The calls of late.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    kept: VecDeque<Call>,
    next: u64,
}

impl Calls {
    pub(crate) fn add(&mut self, play_time: Duration, score: [u32; 2], called: Called) {
        self.kept.push_back(Call { number: self.next, play_time, score, called });
        self.next += 1;
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }

    /// The number that the next one will have.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// All from this number on that are still kept.
    pub fn since(&self, number: u64) -> impl Iterator<Item = &Call> {
        self.kept.iter().skip_while(move |call| call.number < number)
    }
}
