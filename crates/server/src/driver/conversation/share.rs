//! Limits how much of their thread the conversations use that the world does not wait for.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use session::TokenBucket;

use crate::limits;

/// While the world waits for the clients of some conversations, all others together get a small share of the thread, so
/// that nobody can slow down a client in lockstep with requests. Requests beyond that stay in their sockets until later.
#[derive(Debug)]
pub(super) struct Share(Mutex<State>);

#[derive(Debug)]
struct State {
    /// Conversations that the world waits for.
    needed: usize,
    /// Time that the others have left, in microseconds.
    left: TokenBucket,
}

impl Default for Share {
    fn default() -> Self {
        Self(Mutex::new(State { needed: 0, left: TokenBucket::new(limits::UNNEEDED_TIME) }))
    }
}

impl Share {
    /// A conversation is needed from now on, or no longer.
    pub(super) fn set_needed(&self, is_needed: bool) {
        let needed = &mut self.0.lock().needed;
        *needed = if is_needed { *needed + 1 } else { needed.saturating_sub(1) };
    }

    /// Whether the world waits for somebody.
    pub(super) fn is_restricted(&self) -> bool {
        self.0.lock().needed > 0
    }

    /// A conversation that is not needed has used the thread.
    pub(super) fn charge(&self, time: Duration) {
        self.0.lock().left.charge(time.as_secs_f64() * 1e6);
    }

    /// When a conversation that is not needed may go on; none if it may at once.
    pub(super) fn resumes(&self, now: Instant) -> Option<Instant> {
        let mut state = self.0.lock();
        let available = state.left.available(now);
        (state.needed > 0 && available > now).then_some(available)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "an Instant can only be had from the system; the test moves it itself")]
mod tests {
    use super::*;

    #[test]
    fn others_wait_only_while_the_world_waits_for_somebody() {
        let (share, start) = (Share::default(), Instant::now());
        let second = Duration::from_secs(1);
        share.charge(second);
        assert_eq!(share.resumes(start), None, "nobody is disturbed");
        share.set_needed(true);
        let resumes = share.resumes(start).expect("it has used more than its share");
        assert!(resumes > start + 10 * second, "{:?}", resumes - start);
        assert_eq!(share.resumes(resumes + second), None);
        share.charge(second);
        share.set_needed(false);
        assert_eq!(share.resumes(resumes + second), None);
    }
}
