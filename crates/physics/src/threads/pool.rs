//! MuJoCo's pool of threads, with engine errors on them returned as values.
//!
//! *Errors.* The guard catches an engine error by unwinding out of the engine, which works on the thread that called it. Above
//! the frames of a pool thread there is nobody to catch, and the process would end. Such a thread therefore leaves its task
//! unfinished, counts itself as finished so that the stepping thread does not wait for it, and stays parked for good: a thread
//! cannot be ended from outside. The step is then reported as failed, and the pool is not used again. An error on the stepping
//! thread unwinds when the others have finished, because their tasks use its stack.
//!
//! *Which part of a step.* A step goes on after a task was left unfinished, so threads help only where tasks compute nothing but
//! numbers: in the second part of a step, with the constraint solver. Collision detection, whose tasks count contacts, stays on
//! one thread.
//!
//! *Which data.* The engine finds the pool in a field of its data. The pool is entered there for the length of a call, so that
//! it can help one data after the other, and freeing data does not end it.

use std::{
    cell::Cell,
    ffi::{c_int, c_void},
    hint, ptr,
    sync::{
        Arc, Barrier, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicUsize, Ordering},
    },
    thread,
};

use mujoco_rs::mujoco_c::{mjData, mjModel};

use super::ThreadsError;
use crate::{engine, error::EngineError, guard::guarded};

/// Pools of a process that may lose threads. Each loses its threads and little memory.
const MAX_LOST: usize = 8;
/// Where the engine's pool counts threads that have finished a batch of tasks, in bytes; checked when a pool starts.
const FINISHED_OFFSET: usize = 128;

static LOST: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static ROLE: Cell<Role> = const { Cell::new(Role::Outside) };
}

/// What the current thread has to do with a pool.
#[derive(Clone, Copy)]
enum Role {
    Outside,
    /// It steps with the help of this crew.
    Stepping(*const Crew),
    /// It is a thread of the pool.
    Helping(*const Crew),
}

/// A pool of threads.
#[derive(Debug)]
pub(super) struct Pool(Arc<Crew>);

/// What the threads of a pool share with the one that steps.
#[derive(Debug)]
struct Crew {
    size: u8,
    /// Address of the engine's pool, as it is entered in data.
    pool: usize,
    /// Data of the current call.
    data: AtomicPtr<mjData>,
    has_lost_threads: AtomicBool,
    /// The first error on a thread of the pool.
    error: Mutex<Option<String>>,
}

impl Pool {
    /// Starts threads. The data is used while they start.
    pub(super) fn start(size: u8, data: *mut mjData) -> Result<Self, ThreadsError> {
        if LOST.load(Ordering::Relaxed) >= MAX_LOST {
            return Err(ThreadsError::Failed);
        }
        // the engine ends the process if it cannot start a thread
        try_threads(size)?;
        // SAFETY: the data is valid and has no pool
        let pool = guarded(|| unsafe {
            engine::mju_threadpool(data, size.into());
            ptr::replace(&raw mut (*data).threadpool, 0)
        });
        let pool = pool.ok().filter(|pool| *pool != 0).ok_or(ThreadsError::Unsupported)?;
        let pool = Self(Arc::new(Crew {
            size,
            pool,
            data: AtomicPtr::new(ptr::null_mut()),
            has_lost_threads: AtomicBool::new(false),
            error: Mutex::new(None),
        }));
        let was_idle = pool.0.finished().load(Ordering::Acquire) == 0;
        let is_enlisted = pool.enlist(data).is_ok();
        if was_idle && is_enlisted && pool.0.has_finished() { Ok(pool) } else { Err(ThreadsError::Unsupported) }
    }

    /// Tells each thread of the pool whose it is.
    fn enlist(&self, data: *mut mjData) -> Result<(), EngineError> {
        /// A task of one thread. Nobody takes a second one before everybody has one.
        unsafe extern "C-unwind" fn enlist(_: *const mjModel, _: *mut mjData, roll: *mut c_void, id: c_int, _: c_int) {
            // SAFETY: `roll` is the one below, which outlives the call
            let (crew, everybody) = unsafe { &*roll.cast::<(*const Crew, Barrier)>() };
            if id > 0 {
                ROLE.set(Role::Helping(*crew));
            }
            everybody.wait();
        }
        let everybody = self.0.size + 1;
        let mut roll = (Arc::as_ptr(&self.0), Barrier::new(everybody.into()));
        self.with(data, Role::Outside, || {
            // SAFETY: the data is valid, and the task does not use the model
            unsafe { engine::mju_dispatch(ptr::null(), data, enlist, (&raw mut roll).cast(), everybody.into()) }
        })
    }

    pub(super) fn size(&self) -> u8 {
        self.0.size
    }

    /// Whether threads have left a task unfinished. The pool is of no use then.
    pub(super) fn has_lost_threads(&self) -> bool {
        self.0.has_lost_threads.load(Ordering::Acquire)
    }

    /// Calls a function of the engine that uses this data, with the help of the threads.
    ///
    /// # Errors
    /// An engine error on any thread. The data is in an undefined state then.
    pub(super) fn assist(&self, data: *mut mjData, work: impl FnOnce()) -> Result<(), EngineError> {
        if self.has_lost_threads() {
            return guarded(work);
        }
        self.with(data, Role::Stepping(Arc::as_ptr(&self.0)), work)
    }

    fn with(&self, data: *mut mjData, role: Role, work: impl FnOnce()) -> Result<(), EngineError> {
        /// Ends the use of a pool, also when the call panics.
        struct InUse(*mut mjData);
        impl Drop for InUse {
            fn drop(&mut self) {
                ROLE.set(Role::Outside);
                // SAFETY: the data is valid, and no thread of the pool works
                unsafe { ((*self.0).threadpool, (*self.0).threadlock) = (0, false) };
            }
        }
        self.0.data.store(data, Ordering::Release);
        // SAFETY: the data is valid
        unsafe { (*data).threadpool = self.0.pool };
        ROLE.set(role);
        let in_use = InUse(data);
        let done = guarded(work);
        drop(in_use);
        match self.0.lock_error().take() {
            Some(message) => Err(EngineError::Reported(message)),
            None => done,
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.has_lost_threads() {
            LOST.fetch_add(1, Ordering::Relaxed);
            // the threads refer to it for good
            std::mem::forget(Arc::clone(&self.0));
            return;
        }
        let mut vehicle = Box::<mjData>::new_uninit();
        // SAFETY: zeros are a valid value of data that has nothing allocated, and the function reads and writes only the
        // field of the pool, whose threads wait for work
        unsafe {
            ptr::write_bytes(vehicle.as_mut_ptr(), 0, 1);
            (*vehicle.as_mut_ptr()).threadpool = self.0.pool;
            engine::mju_threadpool(vehicle.as_mut_ptr(), 0);
        }
    }
}

impl Crew {
    /// The engine's count of threads that have finished the current batch.
    fn finished(&self) -> &AtomicI32 {
        // SAFETY: the place is in the engine's pool, which outlives its threads and the calls that use it
        unsafe { &*ptr::with_exposed_provenance(self.pool + FINISHED_OFFSET) }
    }

    fn has_finished(&self) -> bool {
        self.finished().load(Ordering::Acquire) == i32::from(self.size)
    }

    fn lock_error(&self) -> MutexGuard<'_, Option<String>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves a task unfinished, on a thread of the pool.
    fn leave(&self, message: &str) -> ! {
        self.lock_error().get_or_insert_with(|| message.to_owned());
        self.has_lost_threads.store(true, Ordering::Release);
        let data = self.data.load(Ordering::Acquire);
        // SAFETY: the data is in use until this thread has counted itself. What follows in the step does without the pool,
        // as it would wait for this thread.
        unsafe { AtomicUsize::from_ptr(&raw mut (*data).threadpool).store(0, Ordering::Release) };
        self.finished().fetch_add(1, Ordering::Release);
        loop {
            thread::park();
        }
    }
}

/// Called with an engine error before it unwinds. Does not return on a thread of a pool.
pub(crate) fn on_engine_error(message: &str) {
    match ROLE.get() {
        Role::Outside => {}
        // SAFETY: the crew outlives the call that this thread is in
        Role::Stepping(crew) => unsafe {
            while !(*crew).has_finished() {
                hint::spin_loop();
                thread::yield_now();
            }
        },
        // SAFETY: the crew outlives its threads
        Role::Helping(crew) => unsafe { (*crew).leave(message) },
    }
}

/// Whether as many threads can be started.
fn try_threads(count: u8) -> Result<(), ThreadsError> {
    let gate = Mutex::new(());
    thread::scope(|scope| {
        let _closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..count {
            let started = thread::Builder::new().spawn_scoped(scope, || drop(gate.lock()));
            started.map_err(|error| ThreadsError::Start { count, reason: error.to_string() })?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests;
