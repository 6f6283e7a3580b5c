//! Speed-up by a second processor, with an arena for each thread.

use std::thread;

use super::{
    super::{Figure, Goal, median, now},
    Options,
    task::{FAR, Rover, Task},
};

pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let task = Task::read()?;
    let mut rovers = [Rover::new(&task, FAR)?, Rover::new(&task, FAR)?];
    let [rover, _] = &mut rovers;
    let stint = rover.run(options.block())?;
    let laps = stint.steps / rover.lap()?;
    let drive = |rover: &mut Rover| (0..laps).try_fold(0, |steps, _| anyhow::Ok(steps + rover.lap()?));
    let (mut scalings, mut speeds) = (Vec::new(), Vec::new());
    for _ in 0..options.rounds() {
        let began = now();
        for rover in &mut rovers {
            drive(rover)?;
        }
        let one_by_one = now().duration_since(began).as_secs_f64();
        let began = now();
        let steps = thread::scope(|scope| {
            let threads = rovers.each_mut().map(|rover| scope.spawn(|| drive(rover)));
            threads.into_iter().try_fold(0, |steps, thread| match thread.join() {
                Ok(driven) => Ok(steps + driven?),
                Err(panic) => std::panic::resume_unwind(panic),
            })
        });
        let together = now().duration_since(began).as_secs_f64();
        scalings.push(one_by_one / together);
        let steps: anyhow::Result<u64> = steps;
        speeds.push(steps? as f64 / together);
    }
    Ok(vec![Figure {
        what: "two arenas on two threads",
        detail: format!("{:.1} k robot-steps/s together, median of {} rounds", median(speeds) / 1e3, options.rounds()),
        value: median(scalings),
        goal: Goal::AtLeast(1.8),
        unit: "x",
    }])
}
