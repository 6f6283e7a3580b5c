//! One world of 22 robots with threads that help with its physics, against the same world without. The two take turns in
//! blocks of ticks.

use std::{thread, time::Duration};

use anyhow::ensure;
use physics::Threads;
use world::{SessionId, World};

use super::{Behaviour, Figure, Goal, Options, median, now, t1_setup};

const ROBOTS: usize = 22;
/// Ticks per block.
const BLOCK: u32 = 25;
/// Ticks before the first block, in which `auto` decides for the first time.
const SETTLING: u32 = 100;
/// Cores of the machine that the goals of a fixed number of threads are for.
const GOAL_CORES: usize = 16;

pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut figures = vec![compare(options, Threads::Auto, "one world of 22 T1, `threads = auto` / none", 0.99)?];
    for (count, what, goal) in
        [(1, "one world of 22 T1, `threads = 1` / none", 1.35), (3, "one world of 22 T1, `threads = 3` / none", 1.5)]
    {
        if cores > usize::from(count) {
            let goal = if cores >= GOAL_CORES { goal } else { 1.0 };
            figures.push(compare(options, Threads::try_from(count)?, what, goal)?);
        }
    }
    Ok(figures)
}

fn compare(options: &Options, threads: Threads, what: &'static str, goal: f64) -> anyhow::Result<Figure> {
    let setup = t1_setup(ROBOTS)?;
    let (mut alone, mut helped) = (World::new(&setup)?, World::new(&setup)?);
    helped.set_threads(threads)?;
    for world in [&mut alone, &mut helped] {
        flail(world, 0..SETTLING);
    }
    let (mut ratios, mut without, mut with) = (Vec::new(), Vec::new(), Vec::new());
    for block in 0..options.ticks.div_ceil(BLOCK) {
        let first = SETTLING + block * BLOCK;
        let times = [&mut alone, &mut helped].map(|world| flail(world, first..first + BLOCK).as_secs_f64());
        ratios.push(times[0] / times[1]);
        without.push(times[0]);
        with.push(times[1]);
    }
    ensure!(alone.state_hash() == helped.state_hash(), "the worlds differ: the comparison is invalid");
    let per_tick = |times: Vec<f64>| median(times) * 1e3 / f64::from(BLOCK);
    let detail = format!(
        "{:.2} ms / {:.2} ms per tick; {} threads helped at the end; medians of {} blocks",
        per_tick(without),
        per_tick(with),
        helped.sim().helping_threads(),
        ratios.len(),
    );
    Ok(Figure { what, detail, value: median(ratios), goal: Goal::AtLeast(goal), unit: "x" })
}

/// Wall time of these ticks, in which all robots swing their joints.
fn flail(world: &mut World, ticks: std::ops::Range<u32>) -> Duration {
    let mut took = Duration::ZERO;
    for tick in ticks {
        let catalogue = world.catalogue().clone();
        for agent in &catalogue.agents {
            let actions = Behaviour::Flailing.actions(agent.id, tick, agent.motors.len());
            world.stage(agent.id, SessionId(0), tick.into(), actions);
        }
        let began = now();
        world.tick();
        took += now().duration_since(began);
    }
    took
}
