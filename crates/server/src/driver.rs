//! Drivers: sockets on one side, sessions on the other. One for datagrams, one for streams, one for datagrams with a
//! socket for each peer, for all protocols; and one for files that are written to.

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

/// Counts refusals and logs each with its reason. Of a flood it logs the first ones, the number of the
/// others, and the reason of the last.
#[derive(Debug)]
pub(crate) struct RefusalLog {
    protocol: &'static str,
    /// When the interval began in which these were logged and those not.
    since: Option<Instant>,
    logged: usize,
    silent: usize,
    /// Why the last of those was refused.
    last: String,
}

impl RefusalLog {
    pub(crate) fn new(protocol: &'static str) -> Self {
        Self { protocol, since: None, logged: 0, silent: 0, last: String::new() }
    }

    pub(crate) fn note(&mut self, refusals: &[Refusal], now: Instant) {
        if refusals.is_empty() {
            return;
        }
        METRICS.refusals.add(self.protocol, refusals.len() as u64);
        if self.since.is_none_or(|since| now.duration_since(since) >= limits::LOG_INTERVAL) {
            self.tell_of_silent();
            (self.since, self.logged) = (Some(now), 0);
        }
        for Refusal { from, reason } in self.worth_telling(refusals) {
            let from = from.map(|peer| peer.to_string()).unwrap_or_default();
            warn!(protocol = self.protocol, from, "refused: {reason}");
        }
    }

    /// Those that may still be logged in this interval.
    fn worth_telling<'a>(&mut self, refusals: &'a [Refusal]) -> &'a [Refusal] {
        let room = limits::LOGGED_REFUSALS.saturating_sub(self.logged);
        let (told, silent) = refusals.split_at(room.min(refusals.len()));
        self.logged += told.len();
        self.silent += silent.len();
        if let Some(Refusal { reason, .. }) = silent.last() {
            reason.clone_into(&mut self.last);
        }
        told
    }

    fn tell_of_silent(&mut self) {
        let silent = std::mem::take(&mut self.silent);
        if silent > 0 {
            warn!(protocol = self.protocol, "refused: {silent} more, too many to log; the last: {}", self.last);
        }
    }
}

impl Drop for RefusalLog {
    fn drop(&mut self) {
        self.tell_of_silent();
    }
}

#[expect(clippy::disallowed_methods, reason = "drivers live in wall time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Waits for a time to come.
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
        assert_eq!((log.logged, log.silent), (5, 0), "each one");
        log.note(&refusals(limits::LOGGED_REFUSALS), start);
        assert_eq!((log.logged, log.silent, log.last.as_str()), (limits::LOGGED_REFUSALS, 5, "a reason"));
        assert!(log.worth_telling(&refusals(1)).is_empty());
        // the number of the others comes with the next interval, or with the end
        log.note(&refusals(1), start + limits::LOG_INTERVAL);
        assert_eq!((log.logged, log.silent), (1, 0));
    }
}
