//! Decides when the world may take its next tick.
//!
//! Two independent conditions: every lockstep agent has voted, and the tick is due.
//!
//! | voters | pace     | the world                                    |
//! | ------ | -------- | -------------------------------------------- |
//! | none   | realtime | runs in real time                            |
//! | some   | realtime | runs in lockstep, at most in real time       |
//! | none   | lockstep | waits for a voter                            |
//! | some   | lockstep | runs in lockstep, as fast as clients answer  |
//! | none   | eager    | runs in real time                            |
//! | some   | eager    | runs in lockstep, as fast as clients answer  |
//! | none   | fast     | runs as fast as the machine allows           |
//! | some   | fast     | runs in lockstep, as fast as clients answer  |
//!
//! While a lockstep agent is joining, no tick is taken: it misses none once it has joined.
//!
//! A voter that keeps others waiting for too long loses its vote; see `silence.rs`.

mod silence;

use std::{
    collections::BTreeMap,
    fmt,
    str::FromStr,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use self::silence::Silence;
use crate::{agent::AgentId, world::SessionId};

/// Largest lag that a paced world catches up with, in ticks. Beyond it a new schedule starts.
pub const CATCH_UP_TICKS: u32 = 2;

/// Sets the speed of the world. Text and serde form are the lower-case names, as in scenario files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pace {
    /// At most one tick per wall-clock period.
    Realtime,
    /// As fast as the votes come in; stands still without voters.
    Lockstep,
    /// As fast as the votes come in; one tick per wall-clock period without voters.
    Eager,
    /// As fast as the machine allows; waits only for votes.
    Fast,
}

impl Pace {
    /// All paces.
    pub const ALL: [Self; 4] = [Self::Realtime, Self::Lockstep, Self::Eager, Self::Fast];

    /// Name in scenario files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Realtime => "realtime",
            Self::Lockstep => "lockstep",
            Self::Eager => "eager",
            Self::Fast => "fast",
        }
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Pace {
    type Err = UnknownPace;

    fn from_str(name: &str) -> Result<Self, UnknownPace> {
        Self::ALL.into_iter().find(|pace| pace.name() == name).ok_or_else(|| UnknownPace { name: name.to_owned() })
    }
}

/// The text names no [`Pace`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown pace `{name}`; available: realtime, lockstep, eager, fast")]
pub struct UnknownPace {
    /// The text.
    pub name: String,
}

/// The answer of [`Clock::gate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Take a tick now.
    Open,
    /// Every lockstep agent voted for a reset: reset now, with this seed if any.
    Reset(Option<u64>),
    /// Nothing to do before this time, unless a command arrives.
    Until(Instant),
    /// Nothing to do until a command arrives.
    Waiting,
}

/// The vote of a lockstep agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// The next tick.
    Step,
    /// A reset, with a seed if any.
    Reset(Option<u64>),
}

#[derive(Clone, Copy, Debug)]
struct Voter {
    /// The client that votes.
    session: SessionId,
    vote: Option<Vote>,
    /// When it voted, or since when it can.
    heard: Instant,
    /// Running number of the vote: the last seed wins.
    order: u64,
    /// When another client first asked for its agent since it last voted.
    contested: Option<Instant>,
}

impl Voter {
    fn new(session: SessionId, now: Instant) -> Self {
        Self { session, vote: None, heard: now, order: 0, contested: None }
    }
}

/// Votes and pace.
#[derive(Debug)]
pub struct Clock {
    pace: Pace,
    period: Duration,
    paused: bool,
    next_due: Instant,
    voters: BTreeMap<AgentId, Voter>,
    /// Number of joining lockstep agents.
    expected: usize,
    /// Since when the world waits for them.
    expecting_since: Instant,
    /// Whether the last voter has left, and no tick has passed since.
    restarts_schedule: bool,
    silence: Silence,
    votes_cast: u64,
    overruns: u64,
}

impl Clock {
    /// A clock whose first tick is due at `now`. A voter that keeps others waiting for `timeout` loses its vote.
    pub fn new(pace: Pace, period: Duration, timeout: Duration, now: Instant) -> Self {
        Self {
            pace,
            period,
            paused: false,
            next_due: now,
            voters: BTreeMap::new(),
            expected: 0,
            expecting_since: now,
            restarts_schedule: false,
            silence: Silence::new(timeout, now),
            votes_cast: 0,
            overruns: 0,
        }
    }

    /// Whether the world waits for a vote.
    pub fn waits(&self) -> bool {
        !self.paused && self.voters.values().any(|voter| voter.vote.is_none())
    }

    /// Whether the world may tick.
    pub fn gate(&mut self, now: Instant) -> Gate {
        self.notice_stop(now);
        let next_poll = self.next_poll(now);
        self.silence.expect_poll(next_poll);
        // also while paused: a failed world needs a reset
        if let Some(seed) = self.requested_reset() {
            return Gate::Reset(seed);
        }
        if self.paused {
            return Gate::Waiting;
        }
        if self.waits() || self.expected > 0 {
            return next_poll.map_or(Gate::Waiting, Gate::Until);
        }
        if self.is_paced() && now < self.next_due {
            return Gate::Until(self.next_due);
        }
        if self.pace == Pace::Lockstep && self.voters.is_empty() { Gate::Waiting } else { Gate::Open }
    }

    /// How late a tick at `now` would be; none if ticks do not follow the wall clock.
    pub fn lateness(&self, now: Instant) -> Option<Duration> {
        self.is_paced().then(|| now.saturating_duration_since(self.next_due))
    }

    /// Whether ticks follow the wall clock.
    fn is_paced(&self) -> bool {
        match self.pace {
            Pace::Realtime => true,
            Pace::Eager => self.voters.is_empty(),
            Pace::Lockstep | Pace::Fast => false,
        }
    }

    /// The seed of a reset that all voters ask for; the last one that was given.
    fn requested_reset(&self) -> Option<Option<u64>> {
        let mut last: Option<(u64, u64)> = None;
        for voter in self.voters.values() {
            let Some(Vote::Reset(seed)) = voter.vote else { return None };
            if let Some(seed) = seed {
                last = last.max(Some((voter.order, seed)));
            }
        }
        (!self.voters.is_empty()).then(|| last.map(|(_, seed)| seed))
    }

    /// A tick was taken at `now`: consumes the votes and schedules the next tick.
    ///
    /// Returns true if the world had fallen behind, and starts a new schedule instead of catching up.
    pub fn ticked(&mut self, now: Instant) -> bool {
        // votes for a reset outlast the steps of others
        self.use_votes(now, |vote| matches!(vote, Vote::Reset(_)));
        if !self.is_paced() {
            self.next_due = now + self.period;
            return false;
        }
        let late = now.saturating_duration_since(self.next_due) > self.period * CATCH_UP_TICKS;
        if std::mem::take(&mut self.restarts_schedule) && late {
            self.next_due = now + self.period;
            return false;
        }
        self.next_due = if late { now } else { self.next_due } + self.period;
        self.overruns += u64::from(late);
        late
    }

    /// The reset that all voters asked for was carried out at `now`.
    pub fn was_reset(&mut self, now: Instant) {
        self.use_votes(now, |_| false);
        self.next_due = now;
    }

    /// A command reset the world at `now`: consumes the votes for a reset; votes for a step stay.
    pub fn reset_by_order(&mut self, now: Instant) {
        self.use_votes(now, |vote| vote == Vote::Step);
        self.next_due = now;
    }

    fn use_votes(&mut self, now: Instant, keep: impl Fn(Vote) -> bool) {
        for voter in self.voters.values_mut() {
            voter.vote = voter.vote.filter(|&vote| keep(vote));
            voter.heard = now;
        }
        self.silence.nobody_waits();
    }

    /// From now on ticks wait for a joining lockstep agent.
    pub fn expect(&mut self, now: Instant) {
        if self.expected == 0 {
            self.expecting_since = now;
        }
        self.expected += 1;
    }

    /// A joining lockstep agent has joined, or failed to.
    pub fn arrived(&mut self, now: Instant) {
        self.expected = self.expected.saturating_sub(1);
        if self.expected == 0 {
            // voters could not vote meanwhile
            self.excuse(now.saturating_duration_since(self.expecting_since), now);
        }
    }

    /// From now on ticks wait for this agent's vote, which `session` casts.
    pub fn enter(&mut self, agent: AgentId, session: SessionId, now: Instant) {
        self.voters.entry(agent).or_insert_with(|| Voter::new(session, now));
    }

    /// Ticks no longer wait for this agent.
    pub fn leave(&mut self, agent: AgentId) {
        self.voters.remove(&agent);
        self.restart_schedule();
    }

    /// A world that followed its voters has not fallen behind when it follows the wall clock again.
    fn restart_schedule(&mut self) {
        self.restarts_schedule |= self.pace == Pace::Eager && self.voters.is_empty();
    }

    /// Counts a vote. A second vote before the tick replaces the first. Returns false if the agent is not a voter.
    pub fn vote(&mut self, agent: AgentId, vote: Vote, now: Instant) -> bool {
        let Some(voter) = self.voters.get_mut(&agent) else { return false };
        self.votes_cast += 1;
        *voter = Voter { vote: Some(vote), order: self.votes_cast, ..Voter::new(voter.session, now) };
        self.silence.counts_from(now);
        true
    }

    /// Whether ticks wait for this agent.
    pub fn waits_for(&self, agent: AgentId) -> bool {
        self.voters.contains_key(&agent)
    }

    /// Stops or resumes time. Resuming starts a new schedule.
    pub fn pause(&mut self, paused: bool, now: Instant) {
        if self.paused && !paused {
            self.next_due = now;
            for voter in self.voters.values_mut() {
                voter.heard = now;
            }
        }
        self.paused = paused;
    }

    /// Whether time is stopped.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// The pace.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Sets the length of a tick in wall time, for paces that follow the wall clock.
    pub fn set_period(&mut self, period: Duration) {
        self.period = period;
    }

    /// How often the world fell behind and started a new schedule.
    pub fn overruns(&self) -> u64 {
        self.overruns
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "an Instant can only be had from the system; the tests move it themselves"
)]
mod tests;
