//! How the referee measures how long something has lasted.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The arithmetic of time limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Timing {
    /// Without errors, as in games of older recordings.
    #[default]
    Exact,
    /// With the rounding errors of the league's server, by which some limits pass a cycle earlier (D20).
    Rounded,
}

impl Timing {
    /// Whether more than `limit` has passed from one play time to another.
    pub(super) fn has_passed(self, limit: Duration, since: Duration, now: Duration) -> bool {
        match self {
            Self::Exact => now.saturating_sub(since) > limit,
            Self::Rounded => seconds(now) - seconds(since) > seconds(limit),
        }
    }
}

/// The nearest number of seconds, as the server gets it from its whole milliseconds.
fn seconds(time: Duration) -> f64 {
    time.as_millis() as f64 / 1000.0
}

/// A time that is counted cycle by cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Elapsed {
    exact: Duration,
    /// In s, with the rounding errors of a sum.
    rounded: f64,
}

impl Elapsed {
    pub(super) fn add(&mut self, cycle: Duration) {
        self.exact += cycle;
        self.rounded += cycle.as_secs_f64();
    }

    #[cfg(test)]
    pub(super) fn exact(self) -> Duration {
        self.exact
    }

    pub(super) fn exceeds(self, limit: Duration, timing: Timing) -> bool {
        match timing {
            Timing::Exact => self.exact > limit,
            Timing::Rounded => self.rounded > seconds(limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CYCLE: Duration = Duration::from_millis(20);

    /// Play times in ms at which a goal is called, and the kick-off on the league's server.
    #[test]
    fn the_pause_after_a_goal_ends_as_on_the_server() {
        let pause = Duration::from_secs(3);
        for (goal, kick_off) in [(1_380, 4_400), (1_400, 4_400), (1_420, 4_440), (1_440, 4_440), (260, 3_280)] {
            let [goal, kick_off] = [goal, kick_off].map(Duration::from_millis);
            let first = |timing: Timing| {
                let mut times = (0..400).map(|cycle| goal + cycle * CYCLE);
                times.find(|now| timing.has_passed(pause, goal, *now))
            };
            assert_eq!(first(Timing::Rounded), Some(kick_off), "a goal at {goal:?}");
            assert_eq!(first(Timing::Exact), Some(goal + pause + CYCLE), "a goal at {goal:?}");
        }
    }

    /// Cycles until a sum of 20 ms exceeds a limit, as the server's language adds them up.
    #[test]
    fn sums_exceed_a_limit_as_on_the_server() {
        for (limit, cycles, exact) in
            [(500, 25, 26), (15_000, 751, 751), (30_000, 1_501, 1_501), (60_000, 3_000, 3_001)]
        {
            for (timing, wanted) in [(Timing::Rounded, cycles), (Timing::Exact, exact)] {
                let mut elapsed = Elapsed::default();
                let mut count = 0;
                while !elapsed.exceeds(Duration::from_millis(limit), timing) {
                    elapsed.add(CYCLE);
                    count += 1;
                }
                assert_eq!(count, wanted, "{limit} ms, {timing:?}");
            }
        }
    }
}
