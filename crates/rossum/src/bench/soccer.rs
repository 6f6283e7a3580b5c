//! `rossum bench soccer`: our soccer server beside the league's own, over its agents' protocol.
//!
//! The same scripted players drive both servers, which run side by side and take turns, so that a noisy machine is noisy
//! for both.

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

use super::{Figure, print};
use crate::interrupt;

/// Robots in a game with all players.
const FULL: usize = 22;
/// With how many robots the speed is measured.
const SPEEDS: [usize; 3] = [1, 11, FULL];

/// Options of `rossum bench soccer`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The league's server, `rcssservermj`; without it ours is measured alone
    #[arg(long, value_name = "PATH")]
    reference: Option<PathBuf>,
    /// Fewer and shorter rounds, for a first look
    #[arg(long)]
    quick: bool,
    /// How long to play in real time, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    real_time: u64,
    /// Print one JSON object per figure
    #[arg(long)]
    json: bool,
}

impl Options {
    /// How often the servers take turns; an odd number, so that one round is the median.
    fn rounds(&self) -> usize {
        if self.quick { 3 } else { 9 }
    }

    /// How long a turn is. A server whose agents are silent for 5 s sends them away.
    fn block(&self) -> Duration {
        Duration::from_secs(if self.quick { 1 } else { 2 })
    }

    fn real_time(&self) -> Duration {
        Duration::from_secs(if self.quick { self.real_time.min(5) } else { self.real_time })
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
    // also those before a failure: some took minutes
    print(&figures, options.json, out)?;
    outcome?;
    if options.reference.is_none() && !options.json {
        writeln!(out, "Ours alone, as there was no --reference; `make bench-soccer` fetches it.")?;
    }
    Ok(())
}

fn measure(options: &Options, bar: &ProgressBar, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
    let say = |text: String| bar.set_message(text);
    let mut full = None;
    for robots in SPEEDS {
        let speed = speed::measure(options, robots, &say)?;
        figures.extend(speed.figures);
        full = speed.reference;
        bar.inc(1);
    }
    say(format!("{FULL} T1 join"));
    figures.extend(joining::measure(full.as_ref())?);
    bar.inc(1);
    say("14 T1 in real time".to_owned());
    figures.push(punctual::measure(options)?);
    bar.inc(1);
    say("two equal games".to_owned());
    figures.push(repeat::measure(options)?);
    Ok(())
}
