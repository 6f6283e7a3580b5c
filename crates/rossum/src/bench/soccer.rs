//! `rossum bench soccer`: our soccer server against the league's, over the agent protocol.
//!
//! The same scripted players drive both servers, which alternate, so that noise affects both.

mod bare;
mod game;
mod joining;
mod players;
mod punctual;
mod repeat;
mod script;
mod server;
mod speed;

use std::{io::Write, path::PathBuf, time::Duration};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::{Figure, RoundOptions, print};
use crate::interrupt;

/// Number of robots in a full game.
const FULL: usize = 22;
/// Numbers of robots for which the speed is measured.
const SPEEDS: [usize; 3] = [1, 11, FULL];

/// Options of `rossum bench soccer`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Path of the league's server, `rcssservermj`; without it only ours is measured
    #[arg(long, value_name = "PATH")]
    reference: Option<PathBuf>,
    #[command(flatten)]
    rounds: RoundOptions,
    /// Duration of the real-time measurement, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    real_time: u64,
}

impl Options {
    /// Duration of a turn. Servers disconnect agents that are silent for 5 s.
    fn block(&self) -> Duration {
        Duration::from_secs(if self.rounds.quick { 1 } else { 2 })
    }

    fn real_time(&self) -> Duration {
        Duration::from_secs(if self.rounds.quick { self.real_time.min(5) } else { self.real_time })
    }
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    interrupt::exit_on_ctrl_c_after(server::kill_all)?;
    let bar = ProgressBar::new(SPEEDS.len() as u64 + 3);
    bar.set_style(ProgressStyle::with_template("{bar:20} {pos}/{len} {elapsed} {msg}")?);
    bar.enable_steady_tick(Duration::from_secs(1));
    let mut figures = Vec::new();
    let outcome = measure(options, &bar, &mut figures);
    bar.finish_and_clear();
    // even after a failure: some figures took minutes
    print(&figures, options.rounds.json, out)?;
    outcome?;
    if options.reference.is_none() && !options.rounds.json {
        writeln!(out, "Without --reference only our server was measured; `make bench-soccer` fetches the league's.")?;
    }
    Ok(())
}

fn measure(options: &Options, bar: &ProgressBar, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
    let report = |text: String| bar.set_message(text);
    let mut full = None;
    for robots in SPEEDS {
        let speed = speed::measure(options, robots, &report)?;
        figures.extend(speed.figures);
        full = speed.reference;
        bar.inc(1);
    }
    report(format!("{FULL} T1 join"));
    figures.extend(joining::measure(full.as_ref())?);
    bar.inc(1);
    report("14 T1 in real time".to_owned());
    figures.push(punctual::measure(options)?);
    bar.inc(1);
    report("repeatability".to_owned());
    figures.push(repeat::measure(options)?);
    Ok(())
}
