use super::*;
use crate::{guard::install, testing};

/// Which threads report an error: the stepping one, those of the pool.
struct Drill {
    everybody: Barrier,
    fails: [bool; 3],
}

/// A task of one thread, which fails if it is its turn.
unsafe extern "C-unwind" fn drill(_: *const mjModel, _: *mut mjData, drill: *mut c_void, id: c_int, _: c_int) {
    // SAFETY: the argument is the one below
    let drill = unsafe { &*drill.cast::<Drill>() };
    drill.everybody.wait();
    if drill.fails[usize::try_from(id).unwrap()] {
        // SAFETY: the placeholder is for the number
        unsafe { engine::mju_error(c"thread %d failed".as_ptr(), id) }
    }
}

/// Runs one task on each of three threads.
fn run(pool: &Pool, fails: [bool; 3]) -> Result<(), EngineError> {
    let mut sim = testing::sim_of(testing::BOX);
    let (model, data) = sim.raw();
    let mut exercise = Drill { everybody: Barrier::new(3), fails };
    pool.assist(data, || {
        // SAFETY: model and data are valid, and the argument outlives the call
        let left = unsafe {
            engine::mju_dispatch(model, data, drill, (&raw mut exercise).cast(), 3);
            (*data).threadpool
        };
        // further tasks of the call do not wait for threads that are lost
        assert_eq!(left == 0, pool.has_lost_threads());
    })
}

fn start(size: u8) -> Pool {
    install();
    let mut sim = testing::sim_of(testing::BOX);
    Pool::start(size, sim.raw().1).unwrap()
}

#[test]
fn an_error_on_the_stepping_thread_leaves_the_pool_intact() {
    let pool = start(2);
    for _ in 0..20 {
        run(&pool, [false; 3]).unwrap();
        assert_eq!(run(&pool, [true, false, false]).unwrap_err().to_string(), "thread 0 failed");
        assert!(!pool.has_lost_threads());
    }
}

#[test]
fn an_error_on_a_thread_of_the_pool_is_returned() {
    for (fails, messages) in [
        ([false, true, false], vec!["thread 1 failed"]),
        ([true, false, true], vec!["thread 0 failed", "thread 2 failed"]),
        ([true, true, true], vec!["thread 0 failed", "thread 1 failed", "thread 2 failed"]),
    ] {
        let pool = start(2);
        let error = run(&pool, fails).unwrap_err().to_string();
        assert!(messages.contains(&error.as_str()), "{error}");
        assert!(pool.has_lost_threads());
    }
    // other pools are not affected
    run(&start(2), [false; 3]).unwrap();
}

#[test]
fn a_panic_passes_through() {
    let pool = start(2);
    let mut sim = testing::sim_of(testing::BOX);
    let data = sim.raw().1;
    let ours = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        pool.assist(data, || std::panic::resume_unwind(Box::new("ours")))
    }));
    assert_eq!(ours.err().and_then(|payload| payload.downcast::<&str>().ok()).map(|payload| *payload), Some("ours"));
    // SAFETY: the data is valid
    assert_eq!(unsafe { (*data).threadpool }, 0);
    run(&pool, [false; 3]).unwrap();
}
