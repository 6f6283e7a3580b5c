//! Whose silence counts, and from when.
//!
//! A voter loses its vote when it has kept another client waiting for the timeout. Its silence counts
//!
//! - only while another client waits for the tick: one that has voted, or, unless the pace is [`Pace::Lockstep`], one whose
//!   commands take effect with the tick. A client that drives a world alone may pause for as long as it likes;
//! - from the moment when that client began to wait, or when the voter was last heard, whichever is later;
//! - not while the server itself stood still, because it was stopped or its machine was suspended or overloaded. While a
//!   silence counts, the clock requests periodic polls; a poll that comes late shows how long the server stood still. What
//!   arrived meanwhile is still on its way to the world, so no voter is dropped for a moment.
//!
//! A client that is alone and silent also loses the vote for an agent that another client keeps asking for: it may have
//! vanished. See [`Clock::contest`].

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{Clock, Pace, Voter};
use crate::{agent::AgentId, world::SessionId};

/// Interval of polls of the clock while a silence counts.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// A poll that is later than this means that the server stood still.
const LATE: Duration = Duration::from_millis(250);
/// How long no voter is dropped after the server stood still.
const GRACE: Duration = Duration::from_secs(1);

/// What the clock knows about silence, besides its voters.
#[derive(Debug)]
pub(super) struct Silence {
    timeout: Duration,
    /// Clients that wait for the next tick without a vote, and since when.
    waiting: BTreeMap<SessionId, Instant>,
    /// When the clock is polled next, at the latest, if a silence counts.
    next_poll: Option<Instant>,
    /// No voter is dropped before this time.
    grace_until: Instant,
}

impl Silence {
    pub(super) fn new(timeout: Duration, now: Instant) -> Self {
        Self { timeout, waiting: BTreeMap::new(), next_poll: None, grace_until: now }
    }

    pub(super) fn expect_poll(&mut self, at: Option<Instant>) {
        self.next_poll = at;
    }

    /// A silence may count from now on.
    pub(super) fn counts_from(&mut self, now: Instant) {
        self.next_poll.get_or_insert(now + POLL_INTERVAL);
    }

    pub(super) fn nobody_waits(&mut self) {
        self.waiting.clear();
    }
}

/// The two clients that have been waiting longest, so that for any voter at least one of them is another client.
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

    /// Since when another client has been waiting for this voter.
    fn for_voter(&self, voter: &Voter) -> Option<Instant> {
        let other = self.0.iter().flatten().find(|(_, session)| *session != voter.session);
        other.map(|(since, _)| voter.heard.max(*since))
    }
}

impl Clock {
    /// A client waits for the next tick without a vote.
    pub fn await_tick(&mut self, session: SessionId, now: Instant) {
        // in lockstep nothing is due unless a client votes
        if self.pace != Pace::Lockstep {
            self.silence.waiting.entry(session).or_insert(now);
            self.silence.counts_from(now);
        }
    }

    /// A client has gone: it waits for nothing.
    pub fn forget(&mut self, session: SessionId) {
        self.silence.waiting.remove(&session);
    }

    /// All clients have the results of the last tick or reset at `now`: silence counts from here.
    pub fn published(&mut self, now: Instant) {
        for voter in self.voters.values_mut().filter(|voter| voter.vote.is_none()) {
            voter.heard = now;
        }
        self.silence.expect_poll(Some(now + POLL_INTERVAL));
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

    /// When the clock has to be polled because of a silence that counts.
    pub(super) fn next_poll(&self, now: Instant) -> Option<Instant> {
        if self.expected > 0 || !self.waits() {
            return None;
        }
        let waiting = self.longest_waiting();
        let silent = || self.voters.values().filter(|voter| voter.vote.is_none());
        let since = silent().filter_map(|voter| waiting.for_voter(voter)).min();
        let deadline = since.map(|since| (since + self.silence.timeout).max(self.silence.grace_until));
        let is_contested = || silent().any(|voter| voter.contested.is_some());
        let poll = (deadline.is_some() || is_contested()).then_some(now + POLL_INTERVAL);
        deadline.into_iter().chain(poll).min()
    }

    /// Finds out whether the server stood still; if so, the pause is not charged to any voter.
    pub(super) fn notice_stop(&mut self, now: Instant) {
        let late = self.silence.next_poll.map(|poll| now.saturating_duration_since(poll)).filter(|late| *late > LATE);
        if let Some(late) = late {
            self.excuse(late, now);
            self.silence.grace_until = now + GRACE;
            self.silence.expect_poll(Some(now + POLL_INTERVAL));
        }
    }

    /// Excludes a period that has just passed from all silence timers.
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
