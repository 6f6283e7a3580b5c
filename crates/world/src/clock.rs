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

use std::{
    collections::BTreeMap,
    fmt,
    str::FromStr,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::agent::AgentId;

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
    vote: Option<Vote>,
    heard: Instant,
    /// Running number of the vote: the last seed wins.
    order: u64,
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
    silence: Duration,
    votes_cast: u64,
    overruns: u64,
}

impl Clock {
    /// A clock whose first tick is due at `now`. A voter silent for `silence` loses its vote.
    pub fn new(pace: Pace, period: Duration, silence: Duration, now: Instant) -> Self {
        Self {
            pace,
            period,
            paused: false,
            next_due: now,
            voters: BTreeMap::new(),
            expected: 0,
            expecting_since: now,
            restarts_schedule: false,
            silence,
            votes_cast: 0,
            overruns: 0,
        }
    }

    /// Whether the world waits for a vote.
    pub fn waits(&self) -> bool {
        !self.paused && self.voters.values().any(|voter| voter.vote.is_none())
    }

    /// Whether the world may tick.
    pub fn gate(&self, now: Instant) -> Gate {
        // also while paused: a failed world needs a reset
        if let Some(seed) = self.requested_reset() {
            return Gate::Reset(seed);
        }
        if self.paused {
            return Gate::Waiting;
        }
        let missing = self.voters.values().any(|voter| voter.vote.is_none());
        if missing || self.expected > 0 {
            // wake up in time to drop silent voters
            let deadline = self.next_deadline().filter(|_| self.expected == 0);
            return deadline.map_or(Gate::Waiting, Gate::Until);
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

    /// Agents without a vote can cast one from `now` on: their time-outs start here.
    pub fn restart_timeouts(&mut self, now: Instant) {
        for voter in self.voters.values_mut().filter(|voter| voter.vote.is_none()) {
            voter.heard = now;
        }
    }

    fn use_votes(&mut self, now: Instant, keep: impl Fn(Vote) -> bool) {
        for voter in self.voters.values_mut() {
            voter.vote = voter.vote.filter(|&vote| keep(vote));
            voter.heard = now;
        }
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
            let stood_still = now.saturating_duration_since(self.expecting_since);
            for voter in self.voters.values_mut() {
                voter.heard = (voter.heard + stood_still).min(now);
            }
        }
    }

    /// From now on ticks wait for this agent's vote.
    pub fn enter(&mut self, agent: AgentId, now: Instant) {
        self.voters.entry(agent).or_insert(Voter { vote: None, heard: now, order: 0 });
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
        *voter = Voter { vote: Some(vote), heard: now, order: self.votes_cast };
        true
    }

    /// Whether ticks wait for this agent.
    pub fn waits_for(&self, agent: AgentId) -> bool {
        self.voters.contains_key(&agent)
    }

    /// Removes the voters that were silent for too long and returns them. None while paused.
    pub fn drop_silent(&mut self, now: Instant) -> Vec<AgentId> {
        if self.paused || self.expected > 0 {
            return Vec::new();
        }
        let silence = self.silence;
        let silent: Vec<_> = self
            .voters
            .iter()
            .filter(|(_, voter)| voter.vote.is_none() && now.saturating_duration_since(voter.heard) >= silence)
            .map(|(&agent, _)| agent)
            .collect();
        for agent in &silent {
            self.leave(*agent);
        }
        silent
    }

    fn next_deadline(&self) -> Option<Instant> {
        let silent = self.voters.values().filter(|voter| voter.vote.is_none());
        silent.filter_map(|voter| voter.heard.checked_add(self.silence)).min()
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
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(20);
    const SILENCE: Duration = Duration::from_secs(5);
    const A: AgentId = AgentId(1);
    const B: AgentId = AgentId(2);

    fn clock(pace: Pace) -> (Clock, Instant) {
        let now = Instant::now();
        (Clock::new(pace, TICK, SILENCE, now), now)
    }

    #[test]
    fn a_pace_has_one_name_everywhere() {
        for pace in Pace::ALL {
            assert_eq!(pace.to_string().parse(), Ok(pace));
            assert_eq!(serde_json::to_string(&pace).unwrap(), format!("\"{pace}\""));
        }
        assert!("wall".parse::<Pace>().unwrap_err().to_string().contains("`wall`"));
    }

    #[test]
    fn the_table_of_votes_and_pace() {
        for (pace, voters, votes, gate) in [
            (Pace::Realtime, 0, 0, Gate::Open),
            (Pace::Lockstep, 0, 0, Gate::Waiting),
            (Pace::Fast, 0, 0, Gate::Open),
            (Pace::Eager, 0, 0, Gate::Open),
            (Pace::Eager, 2, 2, Gate::Open),
            (Pace::Lockstep, 2, 2, Gate::Open),
            (Pace::Realtime, 2, 2, Gate::Open),
            (Pace::Fast, 2, 2, Gate::Open),
        ] {
            let (mut clock, now) = clock(pace);
            for agent in 0..voters {
                clock.enter(AgentId(agent), now);
            }
            for agent in 0..votes {
                assert!(clock.vote(AgentId(agent), Vote::Step, now));
            }
            assert_eq!(clock.gate(now), gate, "{pace:?} with {votes} of {voters} votes");
            if votes > 0 {
                clock.ticked(now);
                assert_eq!(clock.gate(now + TICK), Gate::Until(now + SILENCE), "a vote counts once");
            }
        }
    }

    #[test]
    fn paced_ticks_keep_their_schedule() {
        let (mut clock, start) = clock(Pace::Realtime);
        for tick in 0..5 {
            let due = start + TICK * tick;
            assert_eq!(clock.gate(due), Gate::Open);
            let late = Duration::from_millis(3);
            assert_eq!(clock.lateness(due + late), Some(late));
            assert!(!clock.ticked(due + Duration::from_millis(3)), "being 3 ms late is not falling behind");
        }
        assert_eq!(clock.gate(start + TICK * 5 - Duration::from_millis(1)), Gate::Until(start + TICK * 5));
    }

    #[test]
    fn an_eager_world_keeps_to_real_time_while_nobody_votes() {
        let (mut clock, start) = clock(Pace::Eager);
        clock.ticked(start);
        assert_eq!(clock.gate(start), Gate::Until(start + TICK));
        clock.enter(A, start);
        for _ in 0..100 {
            clock.vote(A, Vote::Step, start);
            assert_eq!(clock.gate(start), Gate::Open);
            assert!(!clock.ticked(start));
        }
        clock.leave(A);
        assert_eq!(clock.gate(start), Gate::Until(start + TICK), "however fast it was before");
        let much_later = start + 100 * TICK;
        assert!(!clock.ticked(much_later), "nor was it slow: it waited for a voter");
        assert!(clock.ticked(much_later + 100 * TICK), "now it is");
    }

    #[test]
    fn who_is_on_its_way_is_waited_for() {
        for pace in [Pace::Realtime, Pace::Lockstep, Pace::Eager, Pace::Fast] {
            let (mut clock, start) = clock(pace);
            clock.enter(A, start);
            clock.vote(A, Vote::Step, start);
            clock.expect(start);
            assert_eq!(clock.gate(start), Gate::Waiting, "{pace:?}");
            let later = start + 2 * SILENCE;
            assert_eq!(clock.drop_silent(later), [], "nobody can be heard meanwhile");
            clock.arrived(later);
            assert_eq!(clock.gate(later), Gate::Open, "{pace:?}");
            clock.enter(B, later);
            assert_eq!(clock.gate(later), Gate::Until(later + SILENCE), "{pace:?}");
            // others that come and go do not make it any younger
            let almost = later + SILENCE - TICK;
            clock.expect(almost);
            clock.arrived(almost);
            assert_eq!(clock.drop_silent(later + SILENCE), [B], "{pace:?}");
        }
    }

    #[test]
    fn after_a_stall_the_world_does_not_sprint() {
        let (mut clock, start) = clock(Pace::Realtime);
        clock.ticked(start);
        let woken = start + Duration::from_secs(10);
        let mut burst = 0;
        while clock.gate(woken) == Gate::Open {
            clock.ticked(woken);
            burst += 1;
        }
        assert_eq!(burst, 1);
        assert_eq!(clock.overruns(), 1);
    }

    #[test]
    fn a_silent_voter_loses_its_vote_and_the_rest_go_on() {
        let (mut clock, start) = clock(Pace::Lockstep);
        clock.enter(A, start);
        clock.enter(B, start);
        clock.vote(A, Vote::Step, start);
        assert_eq!(clock.gate(start), Gate::Until(start + SILENCE));
        assert_eq!(clock.drop_silent(start + SILENCE - TICK), []);
        assert_eq!(clock.drop_silent(start + SILENCE), [B]);
        assert_eq!(clock.gate(start + SILENCE), Gate::Open);
        assert!(!clock.vote(B, Vote::Step, start + SILENCE), "a dropped agent's vote no longer counts");
    }

    #[test]
    fn a_reset_needs_everyone_and_takes_the_last_seed() {
        let (mut clock, now) = clock(Pace::Lockstep);
        clock.enter(A, now);
        clock.enter(B, now);
        clock.vote(B, Vote::Reset(Some(7)), now);
        assert!(matches!(clock.gate(now), Gate::Until(_)));
        clock.vote(A, Vote::Reset(Some(9)), now);
        assert_eq!(clock.gate(now), Gate::Reset(Some(9)));
        clock.vote(A, Vote::Reset(None), now);
        assert_eq!(clock.gate(now), Gate::Reset(Some(7)), "no seed means any");
        clock.was_reset(now);
        assert!(matches!(clock.gate(now), Gate::Until(_)));
    }

    #[test]
    fn a_wish_for_a_reset_outlives_the_steps_of_others() {
        let (mut clock, now) = clock(Pace::Lockstep);
        clock.enter(A, now);
        clock.enter(B, now);
        clock.vote(A, Vote::Reset(Some(3)), now);
        clock.vote(B, Vote::Step, now);
        assert_eq!(clock.gate(now), Gate::Open);
        clock.ticked(now);
        clock.vote(B, Vote::Reset(None), now);
        assert_eq!(clock.gate(now), Gate::Reset(Some(3)));
    }

    #[test]
    fn pausing_stops_everything_and_resuming_does_not_sprint() {
        let (mut clock, start) = clock(Pace::Realtime);
        clock.pause(true, start);
        clock.enter(A, start);
        assert_eq!(clock.gate(start + SILENCE), Gate::Waiting);
        assert_eq!(clock.drop_silent(start + SILENCE), [], "nobody is late while time stands still");
        clock.vote(A, Vote::Reset(None), start);
        assert_eq!(clock.gate(start), Gate::Reset(None), "a reset needs no time");
        clock.leave(A);
        let later = start + Duration::from_secs(60);
        clock.pause(false, later);
        assert_eq!(clock.gate(later), Gate::Open);
        assert!(!clock.ticked(later));
        assert_eq!(clock.gate(later), Gate::Until(later + TICK));
    }
}
