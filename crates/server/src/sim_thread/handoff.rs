//! Which thread takes the next turn.
//!
//! The world is behind a mutex. Normally the sim thread takes the turns ([`Handoff::run`]) and parks in between. A session
//! thread that needs the result at once may take a turn in its place ([`Handoff::drive`]), or ask it to stay awake for the
//! next message ([`Handoff::request_alert`]).
//!
//! # States
//!
//! | state | sim thread | lock | `is_alert` |
//! | --- | --- | --- | --- |
//! | Turn | runs a turn | sim thread | either |
//! | Alert | spins on `calls` for at most [`limits::SPIN_TIME`] | free | true |
//! | Parked | parked until the time in `sleep`, or until unparked | free | false |
//! | Driven | anywhere outside its turn, usually parked | driving thread | false when the driver looked |
//! | Ended | gone, or about to leave `run` | free; `state` is `None`, poisoned, or `sleep` is [`NextTurn::Never`] | either |
//!
//! # Transitions
//!
//! | | from | to | performed by | when |
//! | --- | --- | --- | --- | --- |
//! | 1 | Turn | Turn | sim thread | the turn returned [`NextTurn::Now`] |
//! | 2 | Turn | Alert | sim thread | the world is idle, and an alert was requested |
//! | 3 | Alert | Turn | sim thread | `calls` changed |
//! | 4 | Turn, Alert | Parked | sim thread | the world is idle, and `calls` did not change |
//! | 5 | Parked | Turn | any thread ([`Handoff::wake`]), or the timer of the sleep | a message was sent |
//! | 6 | Parked | Driven | driving thread | it saw `is_alert` false and got the lock |
//! | 7 | Driven | Parked | driving thread | the next turn is not due before the sim thread wakes up |
//! | 8 | Driven | Turn | driving thread | it is: `wake`, after the lock is released |
//! | 9 | Driven | Ended | driving thread | a turn returned [`NextTurn::Never`], or panicked |
//! | 10 | Turn | Ended | sim thread | a turn returned [`NextTurn::Never`], or panicked |
//!
//! What each of them does, may assume, and prevents:
//!
//! - 2: Under the lock, the sim thread sets `sleep`, consumes `alert_requested` and prepares the tick; then it releases the
//!   lock and sets `is_alert`. A request after that increments `calls` and is seen by the next turn.
//! - 4: It clears `is_alert` and compares `calls` with its value from *before* the turn; it does not hold the lock. This
//!   prevents the lost wake-up of a message that arrives after the turn has emptied the inbox: a call before the comparison
//!   changes `calls`, a call after it unparks the thread, or makes the coming `park` return at once.
//! - 5: The message is in the inbox *before* `calls` is incremented, and `calls` is incremented *before* the unpark. The
//!   unpark token alone would not do: code inside a turn may itself park (channels do) and consume it.
//! - 6: The mutex keeps two threads from taking a turn at once, and `try_lock` keeps a driver from waiting for another
//!   thread's turn.
//! - 7, 8: The sim thread relies on `sleep`, which it set under the lock; this prevents oversleeping.
//! - 9: [`NextTurn::Never`] goes into `sleep` under the lock; a panic poisons the mutex. In both cases [`WakeOnDrop`] calls
//!   `wake` once the lock is released. Otherwise the sim thread would sleep on after the driver took the stop message from
//!   the inbox or left a broken world behind.
//! - 10: [`EndOnDrop`] drops the world, which closes its channels: everyone who waits for the world finds out.
//!
//! A driver that does not get the lock, or finds the sim thread alert, calls `wake` and leaves the turn to the sim thread.
//! If `is_alert` changes just after it was read, the turn is still taken: by the driver (`is_alert` was false, and the sim
//! thread waits for the lock), or by the sim thread, because `wake` also unparks it.
//!
//! All atomics are `SeqCst`, so there is a single order of all these steps. `handoff_model.rs` runs this file through every
//! order, up to a number of preemptions. It fails if any one of these is removed: the comparison of `calls`, its place before
//! the turn, the order in `wake`, either half of `wake`, the wake-up by a driver that does not get the lock or panics, the
//! [`NextTurn::Never`] in `sleep`, the comparison with `sleep`, and the end of the world in [`EndOnDrop`].

use std::{
    fmt,
    sync::{PoisonError, TryLockError, atomic::Ordering},
    time::Instant,
};

use super::sync::{self, AtomicBool, AtomicU64, Mutex, OnceLock, Thread};
use crate::limits;

/// What is handed from thread to thread.
pub(super) trait TakeTurn {
    /// Handles what waits in the inbox, and runs a tick if one is due. Never blocks.
    fn take_turn(&mut self) -> NextTurn;

    /// Whether time stands still until one session votes.
    fn waits_for_one_session(&self) -> bool;

    /// Computes part of the next tick in advance.
    fn prepare_tick(&mut self);
}

/// When the next turn is due, unless a message arrives before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextTurn {
    Now,
    At(Instant),
    /// Only a message makes one necessary.
    OnMessage,
    /// The world has ended.
    Never,
}

/// A world and the means to pass it between the sim thread and session threads.
pub(super) struct Handoff<W> {
    /// `None` before the sim thread runs, and after the world has ended. Poisoned if a turn panicked.
    state: Mutex<Option<State<W>>>,
    /// The sim thread, once it runs.
    thread: OnceLock<Thread>,
    /// Whether the sim thread is awake and sees a call at once.
    is_alert: AtomicBool,
    /// Whether it should stay awake after its next turn.
    alert_requested: AtomicBool,
    /// Number of calls of `wake`.
    calls: AtomicU64,
}

pub(super) struct State<W> {
    pub(super) world: W,
    /// What the sim thread's last turn returned: how long it sleeps, if it does.
    pub(super) sleep: NextTurn,
}

impl<W> fmt::Debug for Handoff<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handoff")
    }
}

impl<W: TakeTurn> Handoff<W> {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(None),
            thread: OnceLock::new(),
            is_alert: AtomicBool::new(false),
            alert_requested: AtomicBool::new(false),
            calls: AtomicU64::new(0),
        }
    }

    /// Runs a world on this thread until it ends.
    pub(super) fn run(&self, world: W) {
        let _end = EndOnDrop(self);
        // this is the only place that sets it
        let _ = self.thread.set(sync::current_thread());
        self.put(State { world, sleep: NextTurn::Now });
        // the lock is poisoned if a driving thread panicked
        while let Ok(mut state) = self.state.lock()
            && let Some(State { world, sleep }) = state.as_mut()
            && *sleep != NextTurn::Never
        {
            let calls = self.calls.load(Ordering::SeqCst);
            let next = world.take_turn();
            *sleep = next;
            let is_idle = matches!(next, NextTurn::At(_) | NextTurn::OnMessage);
            // with several sessions, the core is better left to the clients that have something to do now
            let stays_alert = is_idle && self.should_stay_alert() && world.waits_for_one_session();
            if stays_alert {
                world.prepare_tick();
            }
            drop(state);
            match next {
                NextTurn::Now => {}
                _ if is_idle && self.is_called(calls, stays_alert) => {}
                NextTurn::At(then) => sync::park_timeout(then.saturating_duration_since(sync::now())),
                NextTurn::OnMessage => sync::park(),
                NextTurn::Never => break,
            }
        }
    }

    /// Makes a world available to all threads.
    pub(super) fn put(&self, state: State<W>) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
    }

    /// Has the sim thread take a turn. What it is to find there must be in place before.
    pub(super) fn wake(&self) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// Has the sim thread prepare the next tick and stay awake for the message that starts it, if the world waits for one
    /// session.
    pub(super) fn request_alert(&self) {
        let is_worth_it = || {
            let state = self.state.try_lock();
            state.is_ok_and(|state| state.as_ref().is_some_and(|state| state.world.waits_for_one_session()))
        };
        if !self.is_alert.load(Ordering::SeqCst) && is_worth_it() {
            self.alert_requested.store(true, Ordering::SeqCst);
            self.wake();
        }
    }

    /// Once alert, it stays so until no call comes in time.
    fn should_stay_alert(&self) -> bool {
        self.alert_requested.swap(false, Ordering::SeqCst) || self.is_alert.load(Ordering::SeqCst)
    }

    /// Whether `wake` was called since `calls` was read. An alert thread waits a moment for that.
    fn is_called(&self, calls: u64, stays_alert: bool) -> bool {
        let is_called = || self.calls.load(Ordering::SeqCst) != calls;
        if stays_alert {
            self.is_alert.store(true, Ordering::SeqCst);
            let until = sync::now() + limits::SPIN_TIME;
            while sync::now() < until {
                if is_called() {
                    return true;
                }
                // the caller may need this core
                sync::yield_now();
            }
        }
        // a driver that still sees it set calls `wake`: before the comparison, or after it, which unparks this thread
        self.is_alert.store(false, Ordering::SeqCst);
        is_called()
    }

    /// Takes a turn on this thread, or has the sim thread take one if it is awake or another thread is taking one.
    pub(super) fn drive(&self) {
        if self.is_alert.load(Ordering::SeqCst) {
            return self.wake();
        }
        // declared before the lock is taken, hence dropped after it is released, also in a panic
        let mut wake = WakeOnDrop { handoff: self, is_armed: true };
        match self.state.try_lock() {
            Ok(mut state) => {
                if let Some(state) = state.as_mut().filter(|state| state.sleep != NextTurn::Never) {
                    wake.is_armed = state.drive();
                }
            }
            Err(TryLockError::WouldBlock | TryLockError::Poisoned(_)) => {}
        }
    }
}

impl<W: TakeTurn> State<W> {
    /// Takes one turn for a tick, and another one to learn when the next is due. Whether the sim thread has to wake up.
    pub(super) fn drive(&mut self) -> bool {
        let mut next = self.world.take_turn();
        if next == NextTurn::Now {
            next = self.world.take_turn();
        }
        if next == NextTurn::Never {
            self.sleep = next;
        }
        match (next, self.sleep) {
            (NextTurn::Now | NextTurn::Never, _) | (NextTurn::At(_), NextTurn::OnMessage) => true,
            (NextTurn::At(then), NextTurn::At(wakes_up)) => then < wakes_up,
            // the sim thread is awake, or has nothing to wake up for
            (NextTurn::At(_) | NextTurn::OnMessage, _) => false,
        }
    }
}

/// Drops the world when the sim thread leaves `run`, also in a panic, which closes its channels.
struct EndOnDrop<'a, W>(&'a Handoff<W>);

impl<W> Drop for EndOnDrop<'_, W> {
    fn drop(&mut self) {
        *self.0.state.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Wakes the sim thread when dropped while armed.
struct WakeOnDrop<'a, W: TakeTurn> {
    handoff: &'a Handoff<W>,
    is_armed: bool,
}

impl<W: TakeTurn> Drop for WakeOnDrop<'_, W> {
    fn drop(&mut self) {
        if self.is_armed {
            self.handoff.wake();
        }
    }
}
