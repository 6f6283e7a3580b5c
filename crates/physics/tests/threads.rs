//! Threads that help simulations, in a process that runs nothing else.
#![cfg(target_os = "linux")]

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use physics::{Assembly, Limits, Sim, Source, Threads};

fn count_threads() -> usize {
    fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// Waits until this many threads are left: the system lists one for a moment after it has ended.
#[expect(clippy::disallowed_methods, reason = "the deadline of a test")]
fn await_threads(count: usize) {
    let began = Instant::now();
    while count_threads() != count {
        assert!(began.elapsed() < Duration::from_secs(30), "{} threads instead of {count}", count_threads());
        thread::yield_now();
    }
}

#[test]
fn threads_end_with_their_simulation() {
    let balls: String =
        (0..8).map(|x| format!(r#"<body pos="{x} 0 .1"><freejoint/><geom size=".1"/></body>"#)).collect();
    let text = format!(r#"<mujoco><worldbody><geom type="plane" size="9 9 1"/>{balls}</worldbody></mujoco>"#);
    let model = Assembly::new(Source::from_text("balls", &text, &Limits::default()).unwrap()).compile().unwrap();
    let before = count_threads();
    for round in 0..100_u8 {
        let mut sim = Sim::new(model.clone()).unwrap();
        sim.set_threads(Threads::try_from(round % 5).unwrap()).unwrap();
        sim.step().unwrap();
        await_threads(before + usize::from(round % 5));
        if round % 2 == 0 {
            let mut fork = sim.fork().unwrap();
            await_threads(before + usize::from(round % 5));
            fork.step().unwrap();
            await_threads(before + 2 * usize::from(round % 5));
            sim.set_threads(Threads::None).unwrap();
            await_threads(before + usize::from(round % 5));
        }
    }
    await_threads(before);
}
