//! State of a Python object that is used without the interpreter lock.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use pyo3::{PyResult, Python};

use crate::error;

/// Time between two checks for signals in a long call.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// State that one thread at a time uses. It is gone after a panic, and once it was closed.
pub(crate) struct Guarded<T> {
    state: Mutex<Option<T>>,
    what: &'static str,
}

impl<T: Send> Guarded<T> {
    /// Guards `state`; `what` names it in messages.
    pub(crate) fn new(what: &'static str, state: T) -> Self {
        Self { state: Mutex::new(Some(state)), what }
    }

    /// Calls `work` with the state, without the interpreter lock.
    pub(crate) fn with<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut T) -> PyResult<R> + Send) -> PyResult<R> {
        py.detach(|| {
            let mut guard = self.state.lock();
            let state = guard.as_mut().ok_or_else(|| error::failed(format_args!("the {} is closed", self.what)))?;
            catch_unwind(AssertUnwindSafe(|| work(state))).unwrap_or_else(|payload| {
                // what it was doing is half done
                *guard = None;
                Err(error::panicked(payload.as_ref()))
            })
        })
    }

    /// Repeats `step` until it returns false, and stops in between if a signal such as Ctrl-C has arrived.
    pub(crate) fn repeat(&self, py: Python<'_>, mut step: impl FnMut(&mut T) -> PyResult<bool> + Send) -> PyResult<()> {
        loop {
            let more = self.with(py, |state| {
                let pause = now() + SIGNAL_INTERVAL;
                while now() < pause {
                    if !step(state)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            })?;
            py.check_signals()?;
            if !more {
                return Ok(());
            }
        }
    }

    /// Takes the state out; `None` if it is gone.
    pub(crate) fn take(&self, py: Python<'_>) -> Option<T> {
        py.detach(|| self.state.lock().take())
    }
}

/// Calls `work`, which changes nothing that outlives it, and turns a panic into an exception.
pub(crate) fn unwinding<R>(work: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(error::panicked(payload.as_ref())))
}

#[expect(clippy::disallowed_methods, reason = "signals are checked in wall time")]
fn now() -> Instant {
    Instant::now()
}
