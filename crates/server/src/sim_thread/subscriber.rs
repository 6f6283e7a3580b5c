//! The sessions, as the sim loop sees them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::mpsc;

use super::{Delivery, Ticks};
use crate::limits;

/// A session that is open.
pub(super) struct Subscriber {
    pub(super) deliveries: mpsc::Sender<Delivery>,
    pub(super) ticks: Ticks,
    /// Whether the session has a use for ticks that are not resets at present.
    pub(super) wants_ticks: Arc<AtomicBool>,
    pub(super) time_budget: TimeBudget,
}

impl Subscriber {
    /// Whether a tick goes to this session when those who want it as one of `ticks` are served.
    pub(super) fn wants(&self, ticks: &[Ticks], is_reset: bool) -> bool {
        let waiting = || self.deliveries.max_capacity() - self.deliveries.capacity();
        ticks.contains(&self.ticks)
            && (is_reset || self.wants_ticks.load(Ordering::Relaxed))
            && (self.ticks != Ticks::WhenFree || waiting() < limits::UNFINISHED_TICKS)
    }
}

/// Time of the sim thread that the commands of one session may still take. It starts at [`limits::COMMAND_TIME`], and one
/// part in [`limits::COMMAND_SHARE`] of the time that passes is added, up to the same amount.
pub(super) struct TimeBudget {
    left: Duration,
    at: Instant,
}

impl TimeBudget {
    pub(super) fn new(now: Instant) -> Self {
        Self { left: limits::COMMAND_TIME, at: now }
    }

    /// Takes the time of a command off the budget. False when it is exceeded.
    pub(super) fn spend(&mut self, began: Instant, now: Instant) -> bool {
        let gained = now.saturating_duration_since(self.at) / limits::COMMAND_SHARE;
        let took = now.saturating_duration_since(began);
        let left = (self.left + gained).min(limits::COMMAND_TIME).checked_sub(took);
        (self.left, self.at) = (left.unwrap_or_default(), now);
        left.is_some()
    }
}
