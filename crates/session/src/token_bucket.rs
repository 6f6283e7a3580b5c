//! Limits how often something may happen.

use std::time::{Duration, Instant};

/// A token bucket: a number of tokens that may be taken at once, refilled at a constant rate.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    burst: f64,
    per_second: f64,
    left: f64,
    /// Time of the last refill.
    at: Option<Instant>,
}

impl TokenBucket {
    /// A full bucket.
    #[must_use]
    pub fn new((burst, per_second): (f64, f64)) -> Self {
        Self { burst, per_second, left: burst, at: None }
    }

    /// Takes tokens. Returns false, and takes none, if there are too few.
    pub fn try_take(&mut self, tokens: f64, now: Instant) -> bool {
        self.refill(now);
        let may = self.left >= tokens;
        if may {
            self.left -= tokens;
        }
        may
    }

    /// When there are tokens: at `now`, or once those that were charged too much have been refilled.
    pub fn available(&mut self, now: Instant) -> Instant {
        self.refill(now);
        if self.left > 0.0 { now } else { now + Duration::from_secs_f64((1.0 - self.left) / self.per_second) }
    }

    fn refill(&mut self, now: Instant) {
        let gained = self.at.map_or(0.0, |at| now.saturating_duration_since(at).as_secs_f64() * self.per_second);
        self.left = (self.left + gained).min(self.burst);
        self.at = self.at.max(Some(now));
    }

    /// Takes tokens whether or not they are there: something turned out to cost more than was taken for it.
    pub fn charge(&mut self, tokens: f64) {
        self.left -= tokens;
    }

    /// When it was last asked for tokens.
    #[must_use]
    pub fn last_used(&self) -> Option<Instant> {
        self.at
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "an Instant can only be had from the system; the tests move it themselves"
)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_refilled_up_to_the_burst() {
        let (mut bucket, start) = (TokenBucket::new((2.0, 1.0)), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        for (tokens, seconds, taken) in [
            (1.0, 0, true),
            (1.0, 0, true),
            (1.0, 0, false),
            (2.0, 1, false),
            (1.0, 1, true),
            (2.0, 100, true),
            (1.0, 100, false),
            // a clock that goes back
            (1.0, 50, false),
        ] {
            assert_eq!(bucket.try_take(tokens, at(seconds)), taken, "{tokens} at {seconds} s");
        }
        bucket.charge(5.0);
        assert!(!bucket.try_take(1.0, at(105)));
        assert!(bucket.try_take(1.0, at(107)));
    }

    #[test]
    fn in_the_long_run_no_more_is_charged_than_is_refilled() {
        let start = Instant::now();
        for cost in [0.1, 1.0, 7.0, 1_000.0] {
            let mut bucket = TokenBucket::new((20.0, 10.0));
            let (mut now, mut charged) = (start, 0.0);
            while now < start + Duration::from_secs(1_000) {
                let available = bucket.available(now);
                if available == now {
                    bucket.charge(cost);
                    charged += cost;
                }
                now = available.max(now + Duration::from_millis(1));
            }
            assert!(charged <= 20.0 + 10.0 * 1_000.0 + cost, "{charged} in units of {cost}");
            assert!(charged >= 10.0 * 1_000.0 - cost, "{charged} in units of {cost}");
        }
    }
}
