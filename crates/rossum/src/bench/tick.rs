//! A tick of a world with 22 robots against four plain `mj_step` from the same state with the same controls. The two
//! alternate in blocks of ticks, so that each has its data in the CPU caches.

use std::time::Duration;

use world::{SessionId, World};

use super::{Behaviour, Figure, Goal, Options, bare::BareEngine, cpu_time, t1_setup};

const ROBOTS: usize = 22;
/// Ticks per block.
const BLOCK: u32 = 25;

pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let standing = compare(options, Behaviour::Standing, "tick / bare mj_step, 22 T1 standing")?;
    let flailing = compare(options, Behaviour::Flailing, "tick / bare mj_step, 22 T1 flailing")?;
    Ok(vec![standing, flailing])
}

fn compare(options: &Options, behaviour: Behaviour, what: &'static str) -> anyhow::Result<Figure> {
    let setup = t1_setup(ROBOTS)?;
    let mut world = World::new(&setup)?;
    let mut twin = BareEngine::new(&setup)?;
    let (mut ours, mut bare) = (Duration::ZERO, Duration::ZERO);
    let blocks = options.ticks.div_ceil(BLOCK);
    for block in 0..blocks {
        let start = world.sim().state();
        let mut controls = Vec::new();
        for tick in block * BLOCK..(block + 1) * BLOCK {
            ours += timed_tick(&mut world, behaviour, tick);
            controls.push(twin.controls(&world));
        }
        bare += twin.follow(&world, &start, &controls)?;
    }
    let per_tick = |time: Duration| time.as_secs_f64() * 1e3 / f64::from(blocks * BLOCK);
    let detail = format!("{:.2} ms / {:.2} ms CPU per tick of 20 ms", per_tick(ours), per_tick(bare));
    let value = ours.as_secs_f64() / bare.as_secs_f64();
    Ok(Figure { what, detail, value, goal: Goal::AtMost(1.05), unit: "x" })
}

fn timed_tick(world: &mut World, behaviour: Behaviour, tick: u32) -> Duration {
    let catalogue = world.catalogue().clone();
    for agent in &catalogue.agents {
        let actions = behaviour.actions(agent.id, tick, agent.motors.len());
        world.stage(agent.id, SessionId(0), tick.into(), actions);
    }
    let began = cpu_time();
    world.tick();
    let snapshot = world.take_snapshot();
    let took = cpu_time() - began;
    drop(snapshot);
    took
}
