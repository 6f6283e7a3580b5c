//! The primitives of the hand-off. `handoff_model.rs` puts those of `loom` in their place.

use std::time::Instant;
pub(super) use std::{
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicBool, AtomicU64},
    },
    thread::{Thread, current, park, park_timeout, yield_now},
};

#[expect(clippy::disallowed_methods, reason = "the sim thread keeps the time of its world")]
pub(super) fn now() -> Instant {
    Instant::now()
}
