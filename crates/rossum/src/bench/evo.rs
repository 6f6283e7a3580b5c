//! `rossum bench evo`: the World Simulator compared with Enki and navground, over TCP, and in an evolutionary run.
//!
//! Peers run in separate processes and take turns with Rossum, one second of processor time each, so that a noisy machine
//! affects all alike. The task is in `bench/evo/task.txt`.

mod evolution;
mod peer;
mod speed;
mod task;
mod tcp;
mod threads;

use std::{io::Write, path::PathBuf, time::Duration};

use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::{Figure, print};
use crate::interrupt;

/// Options of `rossum bench evo`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The program that drives Enki, from `scripts/fetch-enki`; without it Enki is skipped
    #[arg(long, value_name = "PATH")]
    enki: Option<PathBuf>,
    /// A Python that has navground, from `scripts/fetch-python navground`; without it navground is skipped
    #[arg(long, value_name = "PATH")]
    navground: Option<PathBuf>,
    /// Fewer and shorter rounds
    #[arg(long)]
    quick: bool,
    /// Search for the best possible fitness, for this many seconds per seed, and measure nothing
    #[arg(long, value_name = "SECONDS")]
    search_best: Option<u64>,
    /// Print one JSON object per figure
    #[arg(long)]
    json: bool,
}

impl Options {
    /// Number of rounds; odd, so that one round is the median.
    fn rounds(&self) -> usize {
        if self.quick { 3 } else { 9 }
    }

    /// Duration of a turn.
    fn block(&self) -> Duration {
        Duration::from_millis(if self.quick { 300 } else { 1_000 })
    }
}

type Measurement = fn(&Options) -> anyhow::Result<Vec<Figure>>;

const MEASUREMENTS: [(&str, Measurement); 4] = [
    ("robot-steps beside the peers", speed::measure),
    ("two arenas on two threads", threads::measure),
    ("robot-steps over TCP", tcp::measure),
    ("evolution of obstacle avoidance", evolution::measure),
];

pub(super) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    interrupt::exit_on_ctrl_c()?;
    if let Some(seconds) = options.search_best {
        return evolution::search_best(Duration::from_secs(seconds), out);
    }
    let bar = ProgressBar::new(MEASUREMENTS.len() as u64);
    bar.set_style(ProgressStyle::with_template("{bar:20} {pos}/{len} {elapsed} {msg}")?);
    bar.enable_steady_tick(Duration::from_secs(1));
    let mut figures = Vec::new();
    let outcome = MEASUREMENTS.into_iter().try_for_each(|(name, measure)| {
        bar.set_message(name);
        figures.extend(measure(options).with_context(|| format!("while measuring {name}"))?);
        bar.inc(1);
        anyhow::Ok(())
    });
    bar.finish_and_clear();
    // including those before a failure: some took minutes
    print(&figures, options.json, out)?;
    outcome?;
    if (options.enki.is_none() || options.navground.is_none()) && !options.json {
        writeln!(out, "Enki or navground was not measured; `make bench-evo` fetches both.")?;
    }
    Ok(())
}
