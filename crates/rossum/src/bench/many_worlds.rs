//! Several worlds at once: scaling with processors.

use std::{path::Path, thread};

use library::ModelKind;
use rayon::prelude::*;
use world::{Action, Robot, SessionId, Setup, World};

use super::{Behaviour, Figure, Goal, Options, median, now, t1_setup};
use crate::table::readable;

/// An odd number, so that one round is the median.
const ROUNDS: usize = 9;
const T1_PER_WORLD: usize = 11;
const ROVER_WORLDS: usize = 64;

pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    Ok(vec![two_threads(options)?, rovers(options)?])
}

fn two_threads(options: &Options) -> anyhow::Result<Figure> {
    let setup = t1_setup(T1_PER_WORLD)?;
    let mut worlds = [World::new(&setup)?, World::new(&setup)?];
    let ticks = options.ticks.div_ceil(3);
    let flail = |world: &mut World| {
        for tick in 0..ticks {
            let catalogue = world.catalogue().clone();
            for agent in &catalogue.agents {
                let actions = Behaviour::Flailing.actions(agent.id, tick, agent.motors.len());
                world.stage(agent.id, SessionId(0), tick.into(), actions);
            }
            world.tick();
        }
    };
    let mut scalings = Vec::new();
    for _ in 0..ROUNDS {
        for world in &mut worlds {
            world.reset(None);
        }
        let began = now();
        worlds.iter_mut().for_each(flail);
        let sequential = now().duration_since(began);
        for world in &mut worlds {
            world.reset(None);
        }
        let began = now();
        thread::scope(|scope| {
            for world in &mut worlds {
                scope.spawn(|| flail(world));
            }
        });
        scalings.push(sequential.as_secs_f64() / now().duration_since(began).as_secs_f64());
    }
    let detail = format!("{T1_PER_WORLD} T1 each, median of {ROUNDS} rounds");
    let (what, value) = ("two T1 worlds on two threads", median(scalings));
    Ok(Figure { what, detail, value, goal: Goal::AtLeast(1.8), unit: "x" })
}

fn rovers(options: &Options) -> anyhow::Result<Figure> {
    let mut setup = Setup::new(library::model(ModelKind::Field, "flat", Path::new(""))?);
    let source = library::model(ModelKind::Robot, "rover", Path::new(""))?;
    setup.robots.push(Robot { name: "Rover".to_owned(), source, pose: physics::Pose::IDENTITY });
    let mut worlds = (0..ROVER_WORLDS).map(|_| World::new(&setup)).collect::<Result<Vec<_>, _>>()?;
    let ticks = options.ticks;
    let drive = |world: &mut World| {
        let rover = world.catalogue().agents.first().map(|agent| agent.id);
        for tick in 0..ticks {
            if let Some(rover) = rover {
                let wheel = |motor, target| Action::Set { motor, target: Some(target), torque: None };
                world.stage(rover, SessionId(0), tick.into(), vec![wheel(0, 6.0), wheel(1, 5.0)]);
            }
            world.tick();
        }
    };
    let (mut scalings, mut speeds) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let began = now();
        worlds.iter_mut().for_each(drive);
        let sequential = now().duration_since(began).as_secs_f64();
        let began = now();
        worlds.par_iter_mut().for_each(drive);
        let parallel = now().duration_since(began).as_secs_f64();
        scalings.push(sequential / parallel);
        speeds.push(ROVER_WORLDS as f64 * f64::from(ticks) / parallel);
    }
    let detail = format!("{} steps/s in total, median of {ROUNDS} rounds", readable(median(speeds)));
    Ok(Figure {
        what: "64 rover worlds with rayon",
        detail,
        value: median(scalings),
        goal: Goal::AtLeast(1.8),
        unit: "x",
    })
}
