//! Waiting for other threads and processes, with a deadline.

use std::{sync::mpsc::sync_channel, time::Duration};

use crate::testing::DEADLINE;

/// How often somebody looks.
const LOOK: Duration = Duration::from_millis(5);

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let (_never, wait) = sync_channel::<()>(0);
    for _ in 0..DEADLINE.as_millis() / LOOK.as_millis() {
        if is_so() {
            return;
        }
        // there is nobody who sends anything
        let _ = wait.recv_timeout(LOOK);
    }
    panic!("{what}: not within {DEADLINE:?}");
}
