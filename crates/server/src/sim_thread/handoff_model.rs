//! Checks the hand-off: `handoff.rs` itself is compiled once more, on top of primitives that let an explorer run every
//! order of its steps.
//!
//! A lost wake-up shows as a deadlock: the thread that waits for its message to be handled waits for ever.

mod explorer;

#[expect(clippy::duplicate_mod, reason = "the model runs the real code on other primitives")]
#[path = "handoff.rs"]
mod handoff;

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc,
        atomic::{self, Ordering},
    },
    time::{Duration, Instant},
};

use self::{
    explorer::{
        fail, spawn,
        sync::{self, AtomicU64, Thread},
    },
    handoff::{Handoff, NextTurn, TakeTurn},
};

/// A message that ends the world.
const STOP: u64 = 1 << 32;
/// A message that makes the turn panic.
const PANIC: u64 = 1 << 33;
/// A message that makes another turn due after [`LATER_BY`].
const LATER: u64 = 1 << 34;
const LATER_BY: Duration = Duration::from_secs(1);

const MAIN: Thread = Thread(1);

/// What the threads of a model share.
struct Shared {
    handoff: Handoff<World>,
    /// The number of messages, and the bits of the special ones.
    inbox: AtomicU64,
    /// The number of messages that were handled, and of turns that were due.
    handled: AtomicU64,
    /// Whether the sim thread has ended.
    ended: AtomicU64,
    is_in_turn: atomic::AtomicBool,
    is_dropped: atomic::AtomicBool,
}

struct World {
    shared: Arc<Shared>,
    due: Option<Instant>,
}

impl TakeTurn for World {
    fn take_turn(&mut self) -> NextTurn {
        let shared = &self.shared;
        if shared.is_in_turn.swap(true, Ordering::SeqCst) {
            fail("two threads are in a turn");
        }
        let mut messages = shared.inbox.swap(0, Ordering::SeqCst);
        // a turn may call code that parks
        sync::consume_token();
        shared.is_in_turn.store(false, Ordering::SeqCst);
        if messages & STOP != 0 {
            return NextTurn::Never;
        }
        if messages & PANIC != 0 {
            resume_unwind(Box::new("a mistake"));
        }
        if messages & LATER != 0 {
            messages &= !LATER;
            self.due = Some(sync::now() + LATER_BY);
        }
        if self.due.is_some_and(|due| due <= sync::now()) {
            self.due = None;
            messages += 1;
        }
        if messages > 0 {
            shared.handled.fetch_add(messages, Ordering::SeqCst);
            MAIN.unpark();
            return NextTurn::Now;
        }
        self.due.map_or(NextTurn::OnMessage, NextTurn::At)
    }

    fn waits_for_one_session(&self) -> bool {
        true
    }

    fn prepare_tick(&mut self) {}
}

impl Drop for World {
    fn drop(&mut self) {
        self.shared.is_dropped.store(true, Ordering::SeqCst);
    }
}

impl Shared {
    fn enqueue(&self, message: u64) {
        self.inbox.fetch_add(message, Ordering::SeqCst);
    }

    fn send(&self, message: u64) {
        self.enqueue(message);
        self.handoff.wake();
    }

    fn send_and_drive(&self, message: u64) {
        self.enqueue(message);
        self.handoff.drive();
    }

    /// For the main thread.
    fn wait_for_handled(&self, count: u64) {
        while self.handled.load(Ordering::SeqCst) < count {
            sync::park();
        }
    }
}

/// Runs the sim thread, a main thread, which has to end the world, and another one, in every order of their steps.
fn check(
    preemptions: usize,
    main: impl Fn(&Shared) + Copy + Send + 'static,
    other: Option<impl Fn(&Shared) + Copy + Send + 'static>,
) {
    let runs = explorer::explore(preemptions, || {
        let shared = Arc::new(Shared {
            handoff: Handoff::new(),
            inbox: AtomicU64::default(),
            handled: AtomicU64::default(),
            ended: AtomicU64::default(),
            is_in_turn: atomic::AtomicBool::default(),
            is_dropped: atomic::AtomicBool::default(),
        });
        let (for_sim, for_other) = (Arc::clone(&shared), Arc::clone(&shared));
        spawn(move || {
            let world = World { shared: Arc::clone(&for_sim), due: None };
            let _ = catch_unwind(AssertUnwindSafe(|| for_sim.handoff.run(world)));
            for_sim.ended.store(1, Ordering::SeqCst);
            MAIN.unpark();
        });
        spawn(move || {
            main(&shared);
            while shared.ended.load(Ordering::SeqCst) == 0 {
                sync::park();
            }
            if !shared.is_dropped.load(Ordering::SeqCst) {
                fail("the world was not dropped");
            }
        });
        if let Some(other) = other {
            spawn(move || other(&for_other));
        }
    });
    assert!(runs > 100, "only {runs} orders");
}

const NOBODY: Option<fn(&Shared)> = None;

#[test]
fn every_message_is_handled() {
    let main = |shared: &Shared| {
        shared.send(1);
        shared.wait_for_handled(1);
        shared.send(1);
        shared.wait_for_handled(2);
        shared.send(STOP);
    };
    check(3, main, NOBODY);
}

#[test]
fn every_message_is_handled_once_whichever_thread_takes_the_turn() {
    let main = |shared: &Shared| {
        shared.send_and_drive(1);
        shared.wait_for_handled(2);
        shared.send(STOP);
    };
    check(2, main, Some(|shared: &Shared| shared.send_and_drive(1)));
    check(2, main, Some(|shared: &Shared| shared.send(1)));
}

#[test]
fn every_message_is_handled_whether_the_sim_thread_is_alert_or_asleep() {
    let main = |shared: &Shared| {
        for tick in 1..=2 {
            shared.handoff.request_alert();
            shared.send_and_drive(1);
            shared.wait_for_handled(tick);
        }
        shared.send(STOP);
    };
    check(2, main, NOBODY);
    let main = |shared: &Shared| {
        shared.send_and_drive(1);
        shared.wait_for_handled(1);
        shared.send(STOP);
    };
    check(2, main, Some(|shared: &Shared| shared.handoff.request_alert()));
}

#[test]
fn a_turn_that_a_driver_made_due_is_taken() {
    let main = |shared: &Shared| {
        shared.send_and_drive(LATER);
        shared.wait_for_handled(1);
        shared.send(STOP);
    };
    check(3, main, NOBODY);
}

#[test]
fn the_sim_thread_ends_even_if_a_driver_takes_the_stop_message() {
    check(3, |shared: &Shared| shared.send_and_drive(STOP), NOBODY);
    check(2, |shared: &Shared| shared.send(STOP), Some(|shared: &Shared| shared.handoff.drive()));
}

#[test]
fn a_panic_in_any_thread_ends_the_world() {
    let drive = |shared: &Shared| {
        let _ = catch_unwind(AssertUnwindSafe(|| shared.handoff.drive()));
    };
    let main = move |shared: &Shared| {
        shared.enqueue(PANIC);
        drive(shared);
    };
    check(3, main, NOBODY);
    check(2, main, Some(drive));
}
