//! Runs independent tasks on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// Runs `count` tasks on several threads, and returns their results in order. `progress` is called with the number of
/// finished ones.
///
/// # Errors
///
/// Those of the tasks. Once one fails, no other is started.
pub(crate) fn in_parallel<T: Send, E: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Vec<T>, E> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Mutex<Vec<Option<T>>> = Mutex::new((0..count).map(|_| None).collect());
    let work_on = || -> Result<(), E> {
        loop {
            let nth = next.fetch_add(1, Ordering::Relaxed);
            if nth >= count {
                return Ok(());
            }
            // once one fails, the others' results are not needed
            let result = work(nth).inspect_err(|_| next.store(count, Ordering::Relaxed))?;
            results.lock()[nth] = Some(result);
            progress(1 + done.fetch_add(1, Ordering::Relaxed));
        }
    };
    let threads = threads.clamp(1, count.max(1));
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work_on)).collect();
        let mut result = work_on();
        for other in others {
            match other.join() {
                Ok(other) => result = result.and(other),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        result
    })?;
    Ok(results.into_inner().into_iter().flatten().collect())
}
