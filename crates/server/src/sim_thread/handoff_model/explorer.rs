//! Runs a few threads one at a time, repeatedly, until every order of their steps has been tried.
//!
//! A step ends before each access to one of the primitives below. All accesses of the code under test are sequentially
//! consistent, hence an order of steps is all that can differ between two runs. The search is bounded in the number of
//! preemptions (a thread is interrupted although it could go on): nearly all bugs need no more than two.

use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// What a thread is doing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Activity {
    Ready,
    /// Until it is unparked.
    Parked,
    /// Until it is unparked, or some time has passed.
    ParkedFor(Duration),
    WaitsForLock,
    Ended,
}

struct Member {
    activity: Activity,
    has_token: bool,
}

/// One decision: which of several threads goes on.
struct Choice {
    taken: usize,
    options: usize,
}

/// One run of a model, and the choices that it repeats from the last one.
struct Run {
    is_started: bool,
    members: Vec<Member>,
    active: usize,
    path: Vec<Choice>,
    position: usize,
    preemptions_left: usize,
    time: Duration,
    failure: Option<String>,
}

struct Explorer {
    run: Mutex<Run>,
    changed: Condvar,
    start: Instant,
}

thread_local! {
    /// The explorer of this thread, and its number.
    static MEMBER: RefCell<Option<(Arc<Explorer>, usize)>> = const { RefCell::new(None) };
}

/// Tries every order of the steps of the threads that `start` spawns, with at most so many preemptions. Returns the number
/// of orders.
///
/// # Panics
/// If a thread reports a failure, or if all threads wait for each other. Those threads are left behind.
pub(super) fn explore(preemptions: usize, start: impl Fn()) -> u64 {
    let mut path = Vec::new();
    for runs in 1.. {
        let run = Run {
            is_started: false,
            members: Vec::new(),
            active: 0,
            path: std::mem::take(&mut path),
            position: 0,
            preemptions_left: preemptions,
            time: Duration::ZERO,
            failure: None,
        };
        #[expect(clippy::disallowed_methods, reason = "there is no other way to make an instant")]
        let origin = Instant::now();
        let explorer = Arc::new(Explorer { run: Mutex::new(run), changed: Condvar::new(), start: origin });
        MEMBER.set(Some((Arc::clone(&explorer), usize::MAX)));
        start();
        MEMBER.set(None);
        path = explorer.finish(runs);
        // the next order differs in the last choice that has an option left
        while let Some(last) = path.last_mut() {
            last.taken += 1;
            if last.taken < last.options {
                break;
            }
            path.pop();
        }
        if path.is_empty() {
            return runs;
        }
    }
    unreachable!("the loop has no end")
}

/// Adds a thread to the model; the first one has number 0. None runs before all are there.
pub(super) fn spawn(work: impl FnOnce() + Send + 'static) {
    let (explorer, _) = current();
    let number = explorer.lock().members.len();
    explorer.lock().members.push(Member { activity: Activity::Ready, has_token: false });
    std::thread::spawn(move || {
        MEMBER.set(Some((Arc::clone(&explorer), number)));
        drop(explorer.wait_for_turn(explorer.lock(), number));
        let outcome = catch_unwind(AssertUnwindSafe(work));
        let mut run = explorer.lock();
        if outcome.is_err() {
            run.fail("a thread panicked");
        }
        run.members[number].activity = Activity::Ended;
        run.choose_next(number, true);
        explorer.changed.notify_all();
    });
}

/// Reports that the code under test did something wrong.
pub(super) fn fail(why: &str) {
    let (explorer, _) = current();
    explorer.lock().fail(why);
    explorer.changed.notify_all();
}

fn current() -> (Arc<Explorer>, usize) {
    MEMBER.with_borrow(|member| member.clone()).expect("not a thread of a model")
}

/// Ends a step: another thread may go on instead. Switching costs no preemption if it is free.
fn step(is_free: bool) {
    let (explorer, number) = current();
    // outside of a run, and before it starts
    if number != usize::MAX {
        explorer.pass_on(explorer.lock(), number, is_free);
    }
}

/// Waits until another thread sets this one free.
fn wait_as(activity: Activity) {
    let (explorer, number) = current();
    let mut run = explorer.lock();
    run.members[number].activity = activity;
    explorer.pass_on(run, number, true);
}

impl Explorer {
    fn lock(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass_on(&self, mut run: MutexGuard<'_, Run>, number: usize, is_free: bool) {
        run.choose_next(number, is_free);
        if run.active != number || run.failure.is_some() {
            self.changed.notify_all();
            drop(self.wait_for_turn(run, number));
        }
    }

    fn wait_for_turn<'a>(&'a self, run: MutexGuard<'a, Run>, number: usize) -> MutexGuard<'a, Run> {
        let is_not_next = |run: &mut Run| !run.is_started || run.active != number || run.failure.is_some();
        self.changed.wait_while(run, is_not_next).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end of a run, and returns the choices that were made.
    fn finish(&self, runs: u64) -> Vec<Choice> {
        self.lock().is_started = true;
        self.changed.notify_all();
        let is_running = |run: &mut Run| run.failure.is_none() && !run.has_ended();
        let mut run = self.changed.wait_while(self.lock(), is_running).unwrap_or_else(PoisonError::into_inner);
        if let Some(failure) = &run.failure {
            let choices: Vec<_> = run.path.iter().map(|choice| choice.taken).collect();
            panic!("{failure}, in run {runs}: {choices:?}");
        }
        std::mem::take(&mut run.path)
    }
}

impl Run {
    fn has_ended(&self) -> bool {
        self.members.iter().all(|member| member.activity == Activity::Ended)
    }

    fn fail(&mut self, why: &str) {
        self.failure.get_or_insert_with(|| why.to_owned());
    }

    fn choose_next(&mut self, number: usize, is_free: bool) {
        let can_go_on = |run: &Self, n: usize| {
            matches!(run.members[n].activity, Activity::Ready | Activity::ParkedFor(_))
                || run.members[n].activity == Activity::Parked && run.members[n].has_token
        };
        // the running thread comes first: without a preemption, it continues
        let mut options: Vec<_> = (0..self.members.len()).filter(|&n| can_go_on(self, n)).collect();
        options.sort_by_key(|&n| n != number);
        let is_preemption = !is_free && options.first() == Some(&number);
        if is_preemption && self.preemptions_left == 0 {
            options.truncate(1);
        }
        let taken = match options.len() {
            0 if self.has_ended() => return,
            0 => return self.fail("all threads wait: a wake-up was lost"),
            1 => 0,
            options => self.choose(options),
        };
        self.active = options[taken];
        self.preemptions_left -= usize::from(is_preemption && taken > 0);
        let member = &mut self.members[self.active];
        if let Activity::ParkedFor(time) = member.activity
            && !member.has_token
        {
            self.time += time;
        }
        if member.activity != Activity::Ready {
            member.has_token = false;
            member.activity = Activity::Ready;
        }
    }

    fn choose(&mut self, options: usize) -> usize {
        if self.position == self.path.len() {
            self.path.push(Choice { taken: 0, options });
        }
        let choice = &self.path[self.position];
        assert_eq!(choice.options, options, "two runs differ although their steps are the same");
        self.position += 1;
        choice.taken
    }
}

/// The primitives of the hand-off, in place of those in `sync.rs`.
pub(super) mod sync {
    use std::{
        ops::{Deref, DerefMut},
        sync::{LockResult, PoisonError, TryLockError, TryLockResult, atomic::Ordering},
        time::{Duration, Instant},
    };

    use super::{Activity, current, step, wait_as};
    use crate::limits;

    macro_rules! atomic {
        ($name:ident, $value:ty) => {
            #[derive(Default)]
            pub(crate) struct $name(std::sync::atomic::$name);

            #[allow(dead_code, reason = "not every kind needs every operation")]
            impl $name {
                pub(crate) fn new(value: $value) -> Self {
                    Self(value.into())
                }

                pub(crate) fn load(&self, ordering: Ordering) -> $value {
                    step(false);
                    self.0.load(ordering)
                }

                pub(crate) fn store(&self, value: $value, ordering: Ordering) {
                    step(false);
                    self.0.store(value, ordering);
                }

                pub(crate) fn swap(&self, value: $value, ordering: Ordering) -> $value {
                    step(false);
                    self.0.swap(value, ordering)
                }
            }
        };
    }
    atomic!(AtomicBool, bool);
    atomic!(AtomicU64, u64);

    impl AtomicU64 {
        pub(crate) fn fetch_add(&self, value: u64, ordering: Ordering) -> u64 {
            step(false);
            self.0.fetch_add(value, ordering)
        }
    }

    pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

    pub(crate) struct MutexGuard<'a, T>(Option<std::sync::MutexGuard<'a, T>>);

    impl<T> Mutex<T> {
        pub(crate) fn new(data: T) -> Self {
            Self(std::sync::Mutex::new(data))
        }

        pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
            loop {
                match self.try_lock() {
                    Ok(guard) => return Ok(guard),
                    Err(TryLockError::Poisoned(poisoned)) => return Err(poisoned),
                    Err(TryLockError::WouldBlock) => wait_as(Activity::WaitsForLock),
                }
            }
        }

        pub(crate) fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
            step(false);
            self.0.try_lock().map(|data| MutexGuard(Some(data))).map_err(|error| match error {
                TryLockError::WouldBlock => TryLockError::WouldBlock,
                TryLockError::Poisoned(poisoned) => PoisonError::new(MutexGuard(Some(poisoned.into_inner()))).into(),
            })
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            self.0.as_ref().expect("it is there until the end")
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            self.0.as_mut().expect("it is there until the end")
        }
    }

    impl<T> Drop for MutexGuard<'_, T> {
        fn drop(&mut self) {
            step(false);
            self.0 = None;
            for member in &mut current().0.lock().members {
                if member.activity == Activity::WaitsForLock {
                    member.activity = Activity::Ready;
                }
            }
        }
    }

    pub(crate) struct OnceLock<T>(std::sync::OnceLock<T>);

    impl<T> OnceLock<T> {
        pub(crate) fn new() -> Self {
            Self(std::sync::OnceLock::new())
        }

        pub(crate) fn set(&self, value: T) -> Result<(), T> {
            step(false);
            self.0.set(value)
        }

        pub(crate) fn get(&self) -> Option<&T> {
            step(false);
            self.0.get()
        }
    }

    /// A thread of the model, by its number.
    #[derive(Clone, Copy)]
    pub(crate) struct Thread(pub(crate) usize);

    impl Thread {
        pub(crate) fn unpark(&self) {
            step(false);
            current().0.lock().members[self.0].has_token = true;
        }
    }

    pub(crate) fn current_thread() -> Thread {
        Thread(current().1)
    }

    pub(crate) fn park() {
        step(false);
        wait_as(Activity::Parked);
    }

    pub(crate) fn park_timeout(time: Duration) {
        step(false);
        wait_as(Activity::ParkedFor(time));
    }

    /// Consumes the thread's token, if it has one.
    pub(crate) fn consume_token() {
        step(false);
        let (explorer, number) = current();
        explorer.lock().members[number].has_token = false;
    }

    pub(crate) fn yield_now() {
        step(true);
    }

    /// Time passes when it is read, so that a thread that spins reads it twice.
    pub(crate) fn now() -> Instant {
        let (explorer, _) = current();
        let mut run = explorer.lock();
        run.time += limits::SPIN_TIME / 2;
        explorer.start + run.time
    }
}
