use super::*;
use crate::{Sim, testing::sim_of};

/// Heaps of boxes on a floor, each heap a group of constraints of its own, and hinges with motors between them.
fn heaps() -> Sim {
    let heap = |x: usize, y: usize| {
        let level = |z: usize| {
            let (dx, height) = (0.02 * (z % 2) as f64, 0.11 + 0.21 * z as f64);
            format!(
                r#"<body pos="{} {y} {height}"><freejoint/><geom type="box" size=".1 .1 .1"/>
                     <body pos="0 0 .12"><joint name="h{x}-{y}-{z}" axis="1 0 0"/><geom size=".02"/></body></body>"#,
                x as f64 + dx
            )
        };
        (0..3).map(level).collect::<String>()
    };
    let heaps: String = (0..20).map(|i| heap(i % 5, i / 5)).collect();
    let motors: String = (0..20).map(|i| format!(r#"<motor joint="h{}-{}-1"/>"#, i % 5, i / 5)).collect();
    sim_of(&format!(
        r#"<mujoco><worldbody><geom type="plane" size="9 9 1"/>{heaps}</worldbody><actuator>{motors}</actuator>
             <sensor><jointpos joint="h0-0-1"/></sensor></mujoco>"#
    ))
}

/// Takes steps of every kind, and returns a hash after each.
fn run(sim: &mut Sim, steps: usize) -> Vec<u64> {
    let motors: Vec<_> = sim.model().actuators().collect();
    let one = |step: usize| {
        for (index, motor) in motors.iter().enumerate() {
            sim.set_ctrl(*motor, 0.1 * ((step + index) as f64 * 0.3).sin());
        }
        match step % 4 {
            0 => sim.step_without_sensors().unwrap(),
            1 => {
                sim.prepare_step(false);
                sim.step().unwrap();
            }
            _ => sim.step().unwrap(),
        }
        sim.hash() ^ sim.sensor_values()[0].to_bits()
    };
    (0..steps).map(one).collect()
}

fn fixed(count: u8) -> Threads {
    Threads::try_from(count).unwrap()
}

#[test]
fn numbers_of_threads_are_parsed() {
    for text in ["0", "1", "16", "auto"] {
        assert_eq!(text.parse::<Threads>().unwrap().to_string(), text);
    }
    for text in ["17", "256", "-1", "", "Auto", "1.0", "many"] {
        let error = text.parse::<Threads>().unwrap_err().to_string();
        assert!(error.contains("`auto` or a number of threads from 0 to 16"), "{error}");
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_result() {
    let mut alone = heaps();
    let expected = run(&mut alone, 300);
    assert_eq!(alone.helping_threads(), 0);
    for threads in [fixed(1), fixed(3), Threads::Auto] {
        let mut sim = heaps();
        sim.set_threads(threads).unwrap();
        assert_eq!(run(&mut sim, 300), expected, "{threads}");
        if threads != Threads::Auto {
            assert_eq!(sim.helping_threads().to_string(), threads.to_string());
        }
    }
}

#[test]
fn threads_can_change_at_any_time() {
    let (mut sim, mut alone) = (heaps(), heaps());
    for count in [1, 0, 3, 2, 2, 0, 1] {
        sim.set_threads(fixed(count)).unwrap();
        assert_eq!(run(&mut sim, 20), run(&mut alone, 20));
        assert_eq!(sim.helping_threads(), count);
    }
}

#[test]
fn copies_have_threads_of_their_own() {
    let mut sim = heaps();
    sim.set_threads(fixed(2)).unwrap();
    run(&mut sim, 20);
    let (mut fork, idle) = (sim.fork().unwrap(), sim.fork().unwrap());
    let expected = run(&mut sim, 40);
    assert_eq!(run(&mut fork, 40), expected);
    assert_eq!((fork.helping_threads(), idle.threads()), (2, fixed(2)));
    assert!(idle.helpers.pool.is_none(), "a saved simulation has no threads");
    drop(sim);
    fork.copy_from(&idle).unwrap();
    assert_eq!(run(&mut fork, 40), expected);
    assert_eq!(fork.helping_threads(), 2);
    let mut successor = heaps();
    successor.adopt_threads(&mut fork);
    successor.copy_from(&idle).unwrap();
    assert_eq!(run(&mut successor, 40), expected);
    assert_eq!((successor.helping_threads(), fork.threads()), (2, Threads::None));
}

#[test]
fn a_step_that_has_no_memory_for_threads_is_taken_alone() {
    let (mut sim, mut alone) = (heaps(), heaps());
    assert_eq!(run(&mut sim, 100), run(&mut alone, 100));
    sim.set_threads(fixed(3)).unwrap();
    // enough for one thread, which uses the same memory for one heap after the other
    let (_, data) = sim.raw();
    // SAFETY: the data is valid, and its stack is empty
    unsafe { (*data).narena = ((*data).maxuse_arena + 4096) / 64 * 64 };
    assert_eq!(run(&mut sim, 8), run(&mut alone, 8));
    assert_eq!(sim.helping_threads(), 0);
    assert!(sim.helpers.rest > 0);
    // it has new data, with as much memory as before
    sim.helpers.rest = 0;
    let is_retired = sim.helpers.is_retired;
    assert_eq!(run(&mut sim, 8), run(&mut alone, 8));
    assert_eq!(sim.helping_threads(), if is_retired { 0 } else { 3 });
}

#[test]
fn models_that_threads_cannot_help_with_are_stepped_alone() {
    let cloth = r#"<flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" pos="0 0 1" mass="1" dim="2"/>"#;
    for (option, more) in [(r#"<option integrator="RK4"/>"#, ""), ("", cloth)] {
        let text = format!(
            r#"<mujoco>{option}<worldbody><geom type="plane" size="9 9 1"/>{more}
                 <body pos="0 0 .1"><freejoint/><geom size=".1"/></body>
                 <body pos="1 0 .1"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"#
        );
        let (mut sim, mut alone) = (sim_of(&text), sim_of(&text));
        sim.set_threads(fixed(2)).unwrap();
        for _ in 0..100 {
            sim.step().unwrap();
            alone.step().unwrap();
        }
        assert_eq!((sim.helping_threads(), sim.hash()), (0, alone.hash()));
    }
}
