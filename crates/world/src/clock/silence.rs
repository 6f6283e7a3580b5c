//! Whose silence counts, and from when.
//!
//! A voter loses its vote when it has kept another client waiting for the timeout. Its silence counts
//!
//! - only while another client waits for the tick: one that has voted, or, unless the pace is [`Pace::Lockstep`], one whose
//!   commands take effect with the tick. A client that drives a world alone may pause for as long as it likes;
//! - from the moment when that client began to wait, or when the voter was last heard, whichever is later;
//! - not while the server itself stood still, because it was stopped or its machine was suspended or overloaded. While a
//!   silence counts, the clock asks to be looked at in short intervals; a look that comes late tells how long the server
//!   stood still. What arrived meanwhile is still on its way to the world, so for a moment nobody is dropped.
//!
//! A client that is alone and silent also loses the vote for an agent that another client keeps asking for: it may have
//! vanished. See [`Clock::contest`].

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{Clock, Pace, Voter};
use crate::{agent::AgentId, world::SessionId};

/// Interval of looks at the clock while a silence counts.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// A look that is later than this means that the server stood still.
const LATE: Duration = Duration::from_millis(250);
/// How long nobody is dropped after the server stood still.
const GRACE: Duration = Duration::from_secs(1);

/// What the clock knows about silence, besides its voters.
#[derive(Debug)]
pub(super) struct Silence {
    timeout: Duration,
    /// Clients that wait for the next tick without a vote, and since when.
    waiting: BTreeMap<SessionId, Instant>,
    /// When the clock is looked at again at the latest, if a silence counts.
    next_look: Option<Instant>,
    /// Nobody is dropped before.
    grace_until: Instant,
}

impl Silence {
    pub(super) fn new(timeout: Duration, now: Instant) -> Self {
        Self { timeout, waiting: BTreeMap::new(), next_look: None, grace_until: now }
    }

    pub(super) fn expect_look(&mut self, at: Option<Instant>) {
        self.next_look = at;
    }

    /// A silence may count from now on.
    pub(super) fn counts_from(&mut self, now: Instant) {
        self.next_look.get_or_insert(now + LOOK_INTERVAL);
    }

    pub(super) fn nobody_waits(&mut self) {
        self.waiting.clear();
    }
}

/// The two clients that have been waiting for longest: whoever one of them is, the other one is another client.
#[derive(Clone, Copy, Debug, Default)]
struct LongestWaiting([Option<(Instant, SessionId)>; 2]);

impl LongestWaiting {
    fn add(&mut self, since: Instant, session: SessionId) {
        let Self([first, second]) = self;
        match *first {
            Some((earlier, same)) if same == session => *first = Some((earlier.min(since), session)),
            Some((earlier, _)) if earlier <= since => {
                if second.is_none_or(|(other, _)| since < other) {
                    *second = Some((since, session));
                }
            }
            pushed => {
                *first = Some((since, session));
                *second = pushed;
            }
        }
    }

    /// Since when somebody else has been waiting for this voter.
    fn for_voter(&self, voter: &Voter) -> Option<Instant> {
        let other = self.0.iter().flatten().find(|(_, session)| *session != voter.session);
        other.map(|(since, _)| voter.heard.max(*since))
    }
}

impl Clock {
    /// A client waits for the next tick without a vote.
    pub fn await_tick(&mut self, session: SessionId, now: Instant) {
        // in lockstep nothing is due unless somebody votes
        if self.pace != Pace::Lockstep {
            self.silence.waiting.entry(session).or_insert(now);
            self.silence.counts_from(now);
        }
    }

    /// A client has gone: it waits for nothing.
    pub fn forget(&mut self, session: SessionId) {
        self.silence.waiting.remove(&session);
    }

    /// The results of the last tick or reset are with everyone at `now`: silence counts from here.
    pub fn published(&mut self, now: Instant) {
        for voter in self.voters.values_mut().filter(|voter| voter.vote.is_none()) {
            voter.heard = now;
        }
        self.silence.expect_look(Some(now + LOOK_INTERVAL));
    }

    /// Another client asks for the agent of a voter. Whether it may have it: the voter has been silent for the timeout
    /// since it was first asked for.
    pub fn contest(&mut self, agent: AgentId, now: Instant) -> bool {
        self.notice_stop(now);
        let may_drop = self.may_drop(now);
        let Some(voter) = self.voters.get_mut(&agent) else { return true };
        if voter.vote.is_some() {
            return false;
        }
        let since = (*voter.contested.get_or_insert(now)).max(voter.heard);
        self.silence.counts_from(now);
        may_drop && now.saturating_duration_since(since) >= self.silence.timeout
    }

    /// Removes the voters that kept others waiting for too long, and returns them. None while paused.
    pub fn drop_silent(&mut self, now: Instant) -> Vec<AgentId> {
        self.notice_stop(now);
        if !self.may_drop(now) || !self.waits() {
            return Vec::new();
        }
        let (waiting, timeout) = (self.longest_waiting(), self.silence.timeout);
        let is_late = |voter: &Voter| {
            let since = waiting.for_voter(voter).filter(|_| voter.vote.is_none());
            since.is_some_and(|since| now.saturating_duration_since(since) >= timeout)
        };
        let late: Vec<_> = self.voters.iter().filter(|(_, voter)| is_late(voter)).map(|(&agent, _)| agent).collect();
        for agent in &late {
            self.leave(*agent);
        }
        late
    }

    fn may_drop(&self, now: Instant) -> bool {
        !self.paused && self.expected == 0 && now >= self.silence.grace_until
    }

    fn longest_waiting(&self) -> LongestWaiting {
        let mut waiting = LongestWaiting::default();
        for voter in self.voters.values().filter(|voter| voter.vote.is_some()) {
            waiting.add(voter.heard, voter.session);
        }
        for (&session, &since) in &self.silence.waiting {
            waiting.add(since, session);
        }
        waiting
    }

    /// When the clock has to be looked at again because of a silence that counts.
    pub(super) fn next_look(&self, now: Instant) -> Option<Instant> {
        if self.expected > 0 || !self.waits() {
            return None;
        }
        let waiting = self.longest_waiting();
        let silent = || self.voters.values().filter(|voter| voter.vote.is_none());
        let since = silent().filter_map(|voter| waiting.for_voter(voter)).min();
        let deadline = since.map(|since| (since + self.silence.timeout).max(self.silence.grace_until));
        let is_contested = || silent().any(|voter| voter.contested.is_some());
        let look = (deadline.is_some() || is_contested()).then_some(now + LOOK_INTERVAL);
        deadline.into_iter().chain(look).min()
    }

    /// Finds out whether the server stood still; if so, that is nobody's silence.
    pub(super) fn notice_stop(&mut self, now: Instant) {
        let late = self.silence.next_look.map(|look| now.saturating_duration_since(look)).filter(|late| *late > LATE);
        if let Some(late) = late {
            self.excuse(late, now);
            self.silence.grace_until = now + GRACE;
            self.silence.expect_look(Some(now + LOOK_INTERVAL));
        }
    }

    /// Takes a time that has just passed off everybody's silence.
    pub(super) fn excuse(&mut self, time: Duration, now: Instant) {
        let later = |since: Instant| (since + time).min(now);
        for voter in self.voters.values_mut() {
            voter.heard = later(voter.heard);
            voter.contested = voter.contested.map(later);
        }
        for since in self.silence.waiting.values_mut() {
            *since = later(*since);
        }
    }
}
