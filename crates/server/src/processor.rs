//! Who runs where: threads that work long without rest leave one processor to the world.
//!
//! A system lets a busy thread finish its slice of some milliseconds before the sim thread, which is due now, gets its
//! turn, and does not always move it to a processor that is idle. Where ticks have to come in time, the sim thread keeps
//! to the first processor, and whatever draws, recognises and speaks beside it keeps to the others.

/// Keeps this thread to the first processor it may use. Does nothing if there is only one, or where the system has no
/// way to say so.
pub(crate) fn keep_first() {
    divide(|set, first| set == first);
}

/// Keeps this thread, and processes it starts, to all processors it may use but the first.
pub(crate) fn leave_first() {
    divide(|set, first| set != first);
}

#[cfg(target_os = "linux")]
fn divide(keeps: impl Fn(usize, usize) -> bool) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let divided = sched_getaffinity(None).and_then(|allowed| {
        let all: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&processor| allowed.is_set(processor)).collect();
        let Some(&first) = all.first().filter(|_| all.len() > 1) else { return Ok(()) };
        let mut kept = CpuSet::new();
        all.iter().filter(|&&processor| keeps(processor, first)).for_each(|&processor| kept.set(processor));
        sched_setaffinity(None, &kept)
    });
    if let Err(error) = divided {
        tracing::debug!("a thread runs on any processor: {error}");
    }
}

#[cfg(not(target_os = "linux"))]
fn divide(_: impl Fn(usize, usize) -> bool) {}
