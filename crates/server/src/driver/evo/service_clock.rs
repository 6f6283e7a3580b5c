//! The time of timeouts, which stands still while the process is stopped.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

/// A thread that wakes up later than this was stopped, and has not just waited for a core.
const LATE: Duration = Duration::from_millis(250);

/// Time since the beginning, without the time in which the process was stopped.
#[derive(Debug)]
pub(super) struct ServiceClock {
    began: Instant,
    /// How long the process was stopped, in ns.
    stopped: AtomicU64,
}

impl ServiceClock {
    pub(super) fn new(began: Instant) -> Self {
        Self { began, stopped: AtomicU64::new(0) }
    }

    /// The time now.
    pub(super) fn at(&self, now: Instant) -> Duration {
        now.duration_since(self.began).saturating_sub(self.stopped())
    }

    /// When it will be this late.
    pub(super) fn instant_of(&self, time: Duration) -> Instant {
        self.began + time + self.stopped()
    }

    /// A thread that was to wake up at `due` has done so `now`. If it is far too late, the delay does not count.
    pub(super) fn woke_up(&self, due: Duration, now: Instant) {
        let late = self.at(now).saturating_sub(due);
        if late > LATE {
            self.stopped.fetch_add(late.as_nanos() as u64, Ordering::Relaxed);
        }
    }

    fn stopped(&self) -> Duration {
        Duration::from_nanos(self.stopped.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::now;

    #[test]
    fn time_stands_still_while_the_process_is_stopped() {
        let began = now();
        let clock = ServiceClock::new(began);
        let (second, millisecond) = (Duration::from_secs(1), Duration::from_millis(1));
        clock.woke_up(second, began + second + millisecond);
        assert_eq!(clock.at(began + second + millisecond), second + millisecond, "a little late");
        // stopped for ten seconds in the middle of a wait
        clock.woke_up(2 * second, began + 12 * second);
        assert_eq!(clock.at(began + 12 * second), 2 * second);
        assert_eq!(clock.instant_of(3 * second), began + 13 * second);
        clock.woke_up(3 * second, began + 13 * second);
        assert_eq!(clock.at(began + 14 * second), 4 * second);
    }
}
