//! Time passes, at the pace of the clock.

use std::time::{Duration, Instant};

use super::{Progress, Runner};
use crate::{
    clock::Gate,
    command::{Answer, CommandRefusal, SPEEDS},
};

/// Most single steps that wait to be taken.
const MAX_STEPS: u32 = 1_000;

impl Runner {
    pub(super) fn reset(&mut self, seed: Option<u64>, now: Instant) -> Option<Answer> {
        self.steps = 0;
        self.world.reset(seed);
        self.clock.reset_by_order(now);
        None
    }

    pub(super) fn set_speed(&mut self, speed: f64) -> Option<Answer> {
        if !speed.is_finite() {
            return Some(Answer::Refused(CommandRefusal::Speed));
        }
        let (slowest, fastest) = SPEEDS;
        self.world.set_speed(speed.clamp(slowest, fastest));
        None
    }

    pub(super) fn request_step(&mut self) -> Option<Answer> {
        if self.world.failure().is_some() {
            return Some(Answer::Refused(CommandRefusal::Failed));
        }
        if !self.world.is_paused() {
            return Some(Answer::Refused(CommandRefusal::NotPaused));
        }
        self.steps = (self.steps + 1).min(MAX_STEPS);
        None
    }

    /// Drops silent agents, and takes a tick or a reset if the gate is open at `now`. Also returns whether a paced world has
    /// just fallen behind.
    pub fn advance(&mut self, now: Instant) -> (Progress, bool) {
        self.drop_silent(now);
        let gate = self.gate(now);
        self.pass(gate, now)
    }

    /// Lockstep agents that kept others waiting for too long lose their votes. All commands that have arrived must have
    /// been handled before.
    pub fn drop_silent(&mut self, now: Instant) {
        // no time-outs while paused, even if the world waits for votes to take a single step
        if !self.world.is_paused() {
            for agent in self.clock.drop_silent(now) {
                self.lose_vote(agent);
            }
        }
    }

    /// Decides whether time may pass at `now`.
    pub fn gate(&mut self, now: Instant) -> Gate {
        if self.clock.waits() {
            // robots that do not vote wait for the others
            let voters = &self.voters;
            for (_, &session) in self.owners.iter().filter(|(agent, _)| !voters.contains_key(agent)) {
                self.clock.await_tick(session, now);
            }
        }
        if !self.world.is_paused() {
            self.steps = 0;
        }
        let stands_still = self.world.is_paused() && self.steps == 0 || self.world.failure().is_some();
        self.clock.pause(stands_still, now);
        self.clock.set_period(Duration::from_secs_f64(self.world.tick_seconds() / self.world.speed()));
        self.clock.gate(now)
    }

    /// Takes a tick or a reset if the gate is open. Also returns whether a paced world has just fallen behind.
    pub fn pass(&mut self, gate: Gate, now: Instant) -> (Progress, bool) {
        self.is_prepared &= !matches!(gate, Gate::Open | Gate::Reset(_));
        match gate {
            Gate::Open => {
                self.world.tick();
                self.steps = self.steps.saturating_sub(1);
                let behind = self.clock.ticked(now);
                (Progress::Moved(self.world.take_snapshot()), behind)
            }
            Gate::Reset(seed) => {
                self.world.reset(seed);
                self.clock.was_reset(now);
                (Progress::Moved(self.world.take_snapshot()), false)
            }
            Gate::Until(then) => (Progress::Until(then), false),
            Gate::Waiting => (Progress::Waiting, false),
        }
    }

    /// The snapshot of the last tick or reset reached all sessions at `now`: silence counts from here.
    pub fn published(&mut self, now: Instant) {
        self.clock.published(now);
    }

    /// Does a part of the next tick ahead of time, while the world waits.
    pub fn prepare(&mut self) {
        if !self.is_prepared {
            self.world.prepare();
            self.is_prepared = true;
        }
    }
}
