//! `rossum check-model`.

use std::{
    io::Write,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use physics::{Assembly, Attachment, Limits, ModelError, Pose, Sim, Source};
use world::interface::{Interface, InterfaceValue, Role};

use crate::interrupt;

/// Simulated time of the trial, in s.
const TRIAL: f64 = 1.0;
/// Wall-clock limit of the trial.
const TRIAL_TIMEOUT: Duration = Duration::from_secs(20);
/// Prefix of the robot's names, as in a world.
const PREFIX: &str = "robot:";

/// Options of `rossum check-model`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// An MJCF or URDF file
    file: PathBuf,
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    interrupt::exit_on_ctrl_c()?;
    let name = options.file.display();
    let source = Source::from_file(&options.file, &Limits::default())?;
    match as_robot(&source) {
        Ok(mut sim) => {
            describe(&sim, PREFIX, &name.to_string(), out)?;
            run_trial(&mut sim, &name.to_string())?;
            writeln!(out, "\nRan for {TRIAL} s without errors. To use it in a scenario: [[robot]] model = \"{name}\"")?;
        }
        // without a body it is a field, not a robot
        Err(ModelError::Empty { .. }) => {
            let mut sim = Sim::new(Assembly::new(source).compile()?)?;
            describe(&sim, "", &name.to_string(), out)?;
            run_trial(&mut sim, &name.to_string())?;
            writeln!(out, "\nRan for {TRIAL} s without errors. To use it in a scenario: [world] field = \"{name}\"")?;
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Places the robot in an otherwise empty world, as a scenario would.
fn as_robot(source: &Source) -> Result<Sim, ModelError> {
    let empty = Source::from_text("empty", "<mujoco><worldbody/></mujoco>", &Limits::default())?;
    let mut assembly = Assembly::new(empty);
    assembly.attachments.push(Attachment { prefix: PREFIX.to_owned(), source: source.clone(), pose: Pose::IDENTITY });
    let engine_error =
        |fault: physics::Fault| ModelError::Engine { model: source.name().to_owned(), reason: fault.to_string() };
    Sim::new(assembly.compile()?).map_err(engine_error)
}

fn describe(sim: &Sim, prefix: &str, name: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    let model = sim.model();
    let interface = Interface::of(model, prefix);
    let mass: f64 = model.bodies().map(|body| sim.body_mass(body)).sum();
    let (bodies, joints, geoms) = (model.bodies().count() - 1, model.joints().count(), model.geoms().count());
    writeln!(out, "{name}: {bodies} bodies, {joints} joints, {geoms} colliding geoms, total mass {mass:.3} kg")?;
    writeln!(out, "\n{} motors", interface.motors.len())?;
    for motor in &interface.motors {
        let (min, max) = (motor.range.min, motor.range.max);
        let (name, kind) = (&motor.name, motor.kind);
        writeln!(out, "  {name:<28} {kind:<7?} {min:9.3} .. {max:<9.3} max {:.2} N·m", motor.max_torque)?;
    }
    for (role, title) in [(Role::Input, "inputs"), (Role::Output, "outputs"), (Role::Info, "infos")] {
        writeln!(out, "\n{} {title}", interface.with_role(role).count())?;
        for InterfaceValue { name, unit, physical, normalized, .. } in interface.with_role(role) {
            let (min, max) = (physical.min, physical.max);
            let (low, high) = (normalized.min, normalized.max);
            writeln!(out, "  {name:<28} {min:9.3} .. {max:<9.3} {unit:<6} normalized {low} .. {high}")?;
        }
    }
    Ok(())
}

fn run_trial(sim: &mut Sim, name: &str) -> anyhow::Result<()> {
    let bar = ProgressBar::new((TRIAL * 1e3) as u64);
    bar.set_style(ProgressStyle::with_template("{bar:20} {pos}/{len} ms simulated")?);
    let began = now();
    while sim.time() < TRIAL {
        let time = sim.time();
        sim.step().with_context(|| format!("{name} failed after {time:.3} s of simulation"))?;
        bar.set_position((time * 1e3) as u64);
        if now().duration_since(began) > TRIAL_TIMEOUT {
            bail!(
                "{name} is too slow: {time:.3} s simulated in {TRIAL_TIMEOUT:?}; simplify it or increase its time step"
            );
        }
    }
    bar.finish_and_clear();
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the limit is in wall-clock time")]
fn now() -> Instant {
    Instant::now()
}
