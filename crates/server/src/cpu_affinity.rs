//! Which processors a thread may use.
//!
//! The scheduler lets a busy thread finish its time slice of some milliseconds before a sim thread that is due now runs, and
//! does not always move it to an idle processor. Where ticks must be on time, the sim thread is pinned to the first
//! processor, and companion threads with long computations (rendering, recognition, speech) to the others.

/// Pins this thread to the first processor it may use. Does nothing if there is only one, or outside of Linux.
pub(crate) fn pin_to_first() {
    restrict(|processor, first| processor == first);
}

/// Keeps this thread, and processes it starts, off the first processor. Does nothing if there is only one, or outside of
/// Linux.
pub(crate) fn avoid_first() {
    restrict(|processor, first| processor != first);
}

#[cfg(target_os = "linux")]
fn restrict(keeps: impl Fn(usize, usize) -> bool) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let restricted = sched_getaffinity(None).and_then(|allowed| {
        let all: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&processor| allowed.is_set(processor)).collect();
        let Some(&first) = all.first().filter(|_| all.len() > 1) else { return Ok(()) };
        let mut kept = CpuSet::new();
        all.iter().filter(|&&processor| keeps(processor, first)).for_each(|&processor| kept.set(processor));
        sched_setaffinity(None, &kept)
    });
    if let Err(error) = restricted {
        tracing::debug!(%error, "processor affinity not set");
    }
}

#[cfg(not(target_os = "linux"))]
fn restrict(_: impl Fn(usize, usize) -> bool) {}
