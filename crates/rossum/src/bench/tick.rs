//! A tick of a world with 22 robots against four plain `mj_step` from the same state with the same controls.

use std::time::Duration;

use physics::Sim;
use world::{SessionId, World};

use super::{Behaviour, Figure, Goal, Options, cpu_time, t1_setup};

const ROBOTS: usize = 22;

pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let standing = compare(options, Behaviour::Standing, "tick / bare mj_step, 22 T1 standing")?;
    let flailing = compare(options, Behaviour::Flailing, "tick / bare mj_step, 22 T1 flailing")?;
    Ok(vec![standing, flailing])
}

fn compare(options: &Options, behaviour: Behaviour, what: &'static str) -> anyhow::Result<Figure> {
    let setup = t1_setup(ROBOTS)?;
    let mut world = World::new(&setup)?;
    let mut twin = World::new(&setup)?.into_sim();
    let catalogue = world.catalogue().clone();
    let (mut ours, mut bare) = (Duration::ZERO, Duration::ZERO);
    for tick in 0..options.ticks {
        for agent in &catalogue.agents {
            let actions = behaviour.actions(agent.id, tick, agent.motors.len());
            world.stage(agent.id, SessionId(0), tick.into(), actions);
        }
        let before = world.sim().state();
        let began = cpu_time();
        world.tick();
        let snapshot = world.snapshot();
        ours += cpu_time() - began;
        drop(snapshot);

        // the same gains and controls, from the same state
        twin.carry_over(world.sim());
        twin.restore(&before)?;
        copy_controls(&world, &mut twin);
        let began = cpu_time();
        for _ in 0..setup.steps_per_tick {
            twin.step_bare();
        }
        bare += cpu_time() - began;
    }
    let per_tick = |time: Duration| time.as_secs_f64() * 1e3 / f64::from(options.ticks);
    let detail = format!("{:.2} ms / {:.2} ms CPU a tick of 20 ms", per_tick(ours), per_tick(bare));
    let value = ours.as_secs_f64() / bare.as_secs_f64();
    Ok(Figure { what, detail, value, goal: Goal::AtMost(1.05), unit: "x" })
}

fn copy_controls(world: &World, twin: &mut Sim) {
    let actuators: Vec<_> = twin.model().actuators().collect();
    for actuator in actuators {
        twin.set_ctrl(actuator, world.sim().ctrl(actuator));
    }
}
