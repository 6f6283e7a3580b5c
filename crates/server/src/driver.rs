//! Drivers: they connect sockets and files to sessions. There is one for datagrams, one for streams, one for datagrams
//! with a socket for each peer, and one for log files, each for all protocols; the console, evo and Oz have their own.

pub mod admission;
pub(crate) mod connections;
pub mod console;
pub mod conversation;
pub mod datagram;
pub mod evo;
pub mod log;
pub mod oz;
pub mod stream;

use std::time::Instant;

use tracing::warn;

use session::Refusal;

use crate::{limits, metrics::METRICS};

/// Counts refusals and logs each with its reason. Of a flood it logs the first ones, the number of the rest, and the
/// reason of the last.
#[derive(Debug)]
pub(crate) struct RefusalLog {
    protocol: &'static str,
    /// Start of the current interval.
    since: Option<Instant>,
    /// Refusals logged in the current interval.
    logged: usize,
    /// Refusals not logged in the current interval.
    suppressed: usize,
    /// Reason of the last suppressed refusal.
    last: String,
}

impl RefusalLog {
    pub(crate) fn new(protocol: &'static str) -> Self {
        Self { protocol, since: None, logged: 0, suppressed: 0, last: String::new() }
    }

    pub(crate) fn note(&mut self, refusals: &[Refusal], now: Instant) {
        if refusals.is_empty() {
            return;
        }
        METRICS.refusals.add(self.protocol, refusals.len() as u64);
        if self.since.is_none_or(|since| now.duration_since(since) >= limits::LOG_INTERVAL) {
            self.log_suppressed();
            (self.since, self.logged) = (Some(now), 0);
        }
        for Refusal { from, reason } in self.take_loggable(refusals) {
            let from = from.map(|peer| peer.to_string()).unwrap_or_default();
            warn!(protocol = self.protocol, from, "refused: {reason}");
        }
    }

    /// Counts the refusals; returns those that may still be logged in this interval.
    fn take_loggable<'a>(&mut self, refusals: &'a [Refusal]) -> &'a [Refusal] {
        let room = limits::LOGGED_REFUSALS.saturating_sub(self.logged);
        let (loggable, suppressed) = refusals.split_at(room.min(refusals.len()));
        self.logged += loggable.len();
        self.suppressed += suppressed.len();
        if let Some(Refusal { reason, .. }) = suppressed.last() {
            reason.clone_into(&mut self.last);
        }
        loggable
    }

    fn log_suppressed(&mut self) {
        let suppressed = std::mem::take(&mut self.suppressed);
        if suppressed > 0 {
            warn!(protocol = self.protocol, "refused: {suppressed} more, not logged individually; last: {}", self.last);
        }
    }
}

impl Drop for RefusalLog {
    fn drop(&mut self) {
        self.log_suppressed();
    }
}

#[expect(clippy::disallowed_methods, reason = "drivers live in wall time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Blocks the thread until `time`.
pub(crate) fn rest_until(time: Instant) {
    while let Some(left) = time.checked_duration_since(now()).filter(|left| !left.is_zero()) {
        std::thread::park_timeout(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_is_logged_and_a_flood_is_counted() {
        let refusals = |count| vec![Refusal { from: None, reason: "a reason".to_owned() }; count];
        let mut log = RefusalLog::new("test");
        let start = now();
        log.note(&refusals(3), start);
        log.note(&refusals(2), start);
        assert_eq!((log.logged, log.suppressed), (5, 0), "each one");
        log.note(&refusals(limits::LOGGED_REFUSALS), start);
        assert_eq!((log.logged, log.suppressed, log.last.as_str()), (limits::LOGGED_REFUSALS, 5, "a reason"));
        assert!(log.take_loggable(&refusals(1)).is_empty());
        // the suppressed ones are logged with the next interval, or when the log is dropped
        log.note(&refusals(1), start + limits::LOG_INTERVAL);
        assert_eq!((log.logged, log.suppressed), (1, 0));
    }
}
