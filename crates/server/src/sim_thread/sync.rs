//! The primitives of the hand-off. `handoff_model.rs` puts others in their place, which let it try every order of
//! steps.

use std::time::Instant;
pub(super) use std::{
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicBool, AtomicU64},
    },
    thread::{Thread, current as current_thread, park, park_timeout, yield_now},
};

#[expect(clippy::disallowed_methods, reason = "the sim thread keeps the time of its world")]
pub(super) fn now() -> Instant {
    Instant::now()
}
