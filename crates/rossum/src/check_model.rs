//! `rossum check-model`.

use std::{io::Write, path::PathBuf};

use anyhow::Context;
use clap::Args;
use physics::{Assembly, Limits, Part, Pose, Sim, Source};
use world::interface::{Interface, InterfaceValue, Role};

/// Simulated time for which a model is tried out, in s.
const TRIAL: f64 = 1.0;

/// Options of `rossum check-model`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// An MJCF or URDF file
    file: PathBuf,
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    let name = options.file.display();
    let source = Source::from_file(&options.file, &Limits::default())?;
    // as a scenario would: as a robot in an otherwise empty world
    let empty = Source::from_text("empty", "<mujoco><worldbody/></mujoco>", &Limits::default())?;
    let mut assembly = Assembly::new(empty);
    assembly.parts.push(Part { prefix: String::new(), source, pose: Pose::IDENTITY });
    let mut sim = Sim::new(assembly.compile()?)?;
    let model = sim.model();
    let interface = Interface::of(model, "");

    let mass: f64 = model.bodies().map(|body| sim.body_mass(body)).sum();
    let (bodies, joints, geoms) = (model.bodies().count() - 1, model.joints().count(), model.geoms().count());
    writeln!(out, "{name}: {bodies} bodies, {joints} joints, {geoms} geoms that collide, {mass:.3} kg in all")?;
    writeln!(out, "\n{} motors", interface.motors.len())?;
    for motor in &interface.motors {
        let (min, max) = (motor.range.min, motor.range.max);
        writeln!(
            out,
            "  {:<28} {:<7?} {min:9.3} .. {max:<9.3} at most {:.2} N·m",
            motor.name, motor.kind, motor.max_torque
        )?;
    }
    for (role, title) in [(Role::Input, "inputs"), (Role::Output, "outputs"), (Role::Info, "infos")] {
        writeln!(out, "\n{} {title}", interface.with_role(role).count())?;
        for InterfaceValue { name, unit, physical, normalized, .. } in interface.with_role(role) {
            let (min, max) = (physical.min, physical.max);
            writeln!(
                out,
                "  {name:<28} {min:9.3} .. {max:<9.3} {unit:<6} seen as {} .. {}",
                normalized.min, normalized.max
            )?;
        }
    }
    while sim.time() < TRIAL {
        sim.step().with_context(|| format!("the model fails {:.3} s into the simulation", sim.time()))?;
    }
    writeln!(out, "\nRuns for {TRIAL} s without a fault. Put it into a scenario with [[robot]] model = \"{name}\".")?;
    Ok(())
}
