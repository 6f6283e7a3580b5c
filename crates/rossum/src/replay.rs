//! `rossum replay`.

use std::{fs::File, io::Write, path::PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use physics::Threads;
use server::protocol::restore_director;
use world::record::{Verdict, replay_with_threads};

use crate::interrupt;

/// Options of `rossum replay`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A recording made with `rossum serve --record`
    file: PathBuf,
    /// Fail if the replay differs from the recording, if the recording is damaged, or if nothing could be compared. A
    /// recording that was only cut off passes
    #[arg(long)]
    verify: bool,
    /// Threads that help with the physics: a number, or `auto` to use idle cores while that is faster
    #[arg(long, value_name = "COUNT", default_value_t)]
    threads: Threads,
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    interrupt::exit_on_ctrl_c()?;
    let name = options.file.display();
    let recording = File::open(&options.file).with_context(|| format!("failed to read the recording {name}"))?;
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} ticks, {per_sec}, {msg}")?);
    let verdict = replay_with_threads(recording, &restore_director, options.threads, |world, record| {
        bar.set_position(record.tick);
        bar.set_message(format!("{} agents", world.catalogue().agents.len()));
    });
    bar.finish_and_clear();
    let verdict = verdict.with_context(|| format!("failed to replay the recording {name}"))?;
    report(&verdict, options.verify, out)
}

/// Prints the result of the replay. With `verify`, everything but a missing end is an error.
fn report(verdict: &Verdict, verify: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let Verdict { ticks, compared, differs_at, complete, damage, missing, unverified } = verdict;
    for damage in damage {
        writeln!(out, "damaged at {damage}")?;
    }
    if *missing > 0 {
        writeln!(out, "{missing} records are missing because of damage")?;
    }
    if !complete && differs_at.is_none() {
        writeln!(out, "the recording is truncated; replaying what is there")?;
    }
    match differs_at {
        Some(tick) if verify => bail!("the replay differs from the recording at tick {tick}"),
        Some(tick) => writeln!(out, "{ticks} ticks; the replay differs from the recording at tick {tick}")?,
        None if *compared == 0 && verify => {
            bail!("{ticks} ticks, but the recording contains no state hash to compare")
        }
        None => writeln!(out, "{ticks} ticks, {compared} state hashes compared, all equal")?,
    }
    if *unverified > 0 {
        writeln!(
            out,
            "{unverified} state hashes after missing records cannot be compared: without all inputs, the state is unknown"
        )?;
    }
    if verify && (!damage.is_empty() || *missing > 0) {
        bail!("the recording is damaged");
    }
    Ok(())
}
