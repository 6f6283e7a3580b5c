//! Long replies: lists, paced so that a client with small buffers loses none (D21).

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use crate::limits;

/// List datagrams sent in one burst; a client's default buffer holds about 270.
const BURST: f64 = 48.0;
/// List datagrams per second in the long run: a client may sleep for 15 ms without losing any.
const RATE: f64 = 14_000.0;
/// Interval between two bursts.
const PAUSE: Duration = Duration::from_millis(1);

/// List datagrams to be sent.
#[derive(Debug)]
pub(super) struct Lists {
    waiting: VecDeque<Vec<u8>>,
    allowance: f64,
    at: Option<Instant>,
}

impl Default for Lists {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), allowance: BURST, at: None }
    }
}

impl Lists {
    /// Whether there is room for another list.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() < limits::LISTED
    }

    /// Queues a list datagram.
    pub(super) fn push(&mut self, datagram: Vec<u8>) {
        self.waiting.push_back(datagram);
    }

    /// Whether all datagrams have been sent.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes out the datagrams that may be sent at `now`.
    pub(super) fn take_due(&mut self, now: Instant) -> impl Iterator<Item = Vec<u8>> + '_ {
        let passed = self.at.map_or(0.0, |at| now.saturating_duration_since(at).as_secs_f64());
        self.at = Some(now);
        self.allowance = (self.allowance + passed * RATE).min(BURST);
        let count = (self.allowance as usize).min(self.waiting.len());
        self.allowance -= count as f64;
        self.waiting.drain(..count)
    }

    /// When more may be sent.
    pub(super) fn timeout(&self) -> Option<Instant> {
        self.at.filter(|_| !self.is_empty()).map(|at| at + PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "an Instant can only be had from the system")]
    fn lists_do_not_go_faster_than_they_can_be_read() {
        let mut lists = Lists::default();
        let start = Instant::now();
        let total = 10_000;
        for _ in 0..total {
            lists.push(vec![43]);
        }
        let mut gone = lists.take_due(start).count();
        assert_eq!(gone, BURST as usize, "a short list goes at once");
        assert_eq!(lists.take_due(start).count(), 0);
        let mut now = start;
        while gone < total {
            assert_eq!(lists.timeout(), Some(now + PAUSE));
            now += PAUSE;
            gone += lists.take_due(now).count();
        }
        assert!(now - start < Duration::from_secs(1), "{:?}", now - start);
        assert_eq!(lists.timeout(), None);
        lists.push(vec![43]);
        assert_eq!(lists.take_due(now + Duration::from_secs(60)).count(), 1);
        for _ in 0..total {
            lists.push(vec![43]);
        }
        assert!(
            lists.take_due(now + Duration::from_secs(90)).count() <= BURST as usize,
            "however long nothing was sent"
        );
    }
}
