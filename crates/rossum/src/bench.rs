//! `rossum bench`: measures the simulation on this machine against baselines.
//!
//! Baseline and ours run alternately, so that noise affects both. Each figure has a goal; missing it is not a failure,
//! because the machine may be busy.

mod bare;
mod console;
mod evo;
mod joining;
mod many_worlds;
mod one_world;
mod osp;
mod oz;
mod process;
mod soccer;
mod tick;

use std::{
    io::Write,
    time::{Duration, Instant},
};

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use library::ModelKind;
use physics::Pose;
use world::{Action, AgentId, JointTarget, Robot, Setup};

use crate::{interrupt, table::readable};

/// Options of `rossum bench`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    suite: Option<Suite>,
    /// Ticks per measurement; more ticks give more stable figures
    #[arg(long, default_value_t = 300)]
    ticks: u32,
    /// Print one JSON object per figure
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Suite {
    /// Measure the soccer server against the league's server
    Soccer(soccer::Options),
    /// Measure OSP and ODCP against a UDP echo and bare physics
    Osp(osp::Options),
    /// Measure the world of the evolving robots against Enki and navground
    Evo(evo::Options),
    /// Measure the console: bundle size, bandwidth, cost of viewers
    Console(console::Options),
    /// Measure the Oz robot: speech, motion, video, faces, hearing
    Oz(oz::Options),
}

/// Options of the suites that compare with a baseline in several rounds.
#[derive(Debug, Args)]
pub(crate) struct RoundOptions {
    /// Fewer and shorter rounds, for a quick check
    #[arg(long)]
    quick: bool,
    /// Print one JSON object per figure
    #[arg(long)]
    json: bool,
}

impl RoundOptions {
    /// Number of rounds; odd, so that one round is the median.
    fn rounds(&self) -> usize {
        if self.quick { 3 } else { 9 }
    }
}

/// One measured figure.
pub(crate) struct Figure {
    what: &'static str,
    detail: String,
    value: f64,
    goal: Goal,
    unit: &'static str,
}

/// The target of a figure.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Goal {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtMost(most) => format!("<= {}", readable(most)),
            Self::AtLeast(least) => format!(">= {}", readable(least)),
        }
    }
}

type Measurement = fn(&Options) -> anyhow::Result<Vec<Figure>>;

const MEASUREMENTS: [(&str, Measurement); 5] = [
    ("tick against bare mj_step", tick::measure),
    ("joining robot", joining::measure),
    ("many worlds", many_worlds::measure),
    ("one world with helping threads", one_world::measure),
    ("start-up time and memory of the server", process::measure),
];

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    match &options.suite {
        Some(Suite::Soccer(options)) => return soccer::run(options, out),
        Some(Suite::Osp(options)) => return osp::run(options, out),
        Some(Suite::Evo(options)) => return evo::run(options, out),
        Some(Suite::Console(options)) => return console::run(options, out),
        Some(Suite::Oz(options)) => return oz::run(options, out),
        None => {}
    }
    interrupt::exit_on_ctrl_c()?;
    let bar = ProgressBar::new(MEASUREMENTS.len() as u64);
    bar.set_style(ProgressStyle::with_template("{bar:20} {pos}/{len} {msg}")?);
    let mut figures = Vec::new();
    for (name, measure) in MEASUREMENTS {
        bar.set_message(name);
        figures.extend(measure(options)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    print(&figures, options.json, out)
}

fn print(figures: &[Figure], as_json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    if as_json {
        for Figure { what, detail, value, goal, unit } in figures {
            let met = goal.is_met(*value);
            let goal = goal.text();
            writeln!(
                out,
                "{}",
                serde_json::json!({ "what": what, "value": value, "unit": unit, "goal": goal, "met": met, "detail": detail })
            )?;
        }
    } else {
        print_table(figures, out)?;
    }
    Ok(())
}

fn print_table(figures: &[Figure], out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(out, "| figure | measured | goal | met | detail |")?;
    writeln!(out, "|---|---|---|---|---|")?;
    for Figure { what, detail, value, goal, unit } in figures {
        let met = if goal.is_met(*value) { "yes" } else { "NO" };
        writeln!(out, "| {what} | {} | {} | {met} | {detail} |", with_unit(*value, unit), goal.text())?;
    }
    Ok(())
}

/// A full field with this many T1, each at its own position.
fn t1_setup(robots: usize) -> anyhow::Result<Setup> {
    let nowhere = std::path::Path::new("");
    let mut setup = Setup::new(library::model(ModelKind::Field, "fifa", nowhere)?);
    setup.steps_per_tick = 4;
    let source = library::model(ModelKind::Robot, "T1", nowhere)?;
    for index in 0..robots {
        let (column, row) = ((index % 6) as f64, (index / 6) as f64);
        let pose = Pose::at(-10.0 + 4.0 * column, -6.0 + 4.0 * row, 0.0);
        setup.robots.push(Robot { name: format!("T1-{index}"), source: source.clone(), pose });
    }
    Ok(setup)
}

/// Motion of the T1 robots.
#[derive(Clone, Copy, Debug)]
enum Behaviour {
    Standing,
    Flailing,
}

impl Behaviour {
    fn actions(self, agent: AgentId, tick: u32, motors: usize) -> Vec<Action> {
        let target = |motor: usize| match self {
            Self::Standing => 0.0,
            Self::Flailing => (f64::from(tick) * 0.2 + motor as f64 + f64::from(agent.0)).sin(),
        };
        (0..motors)
            .map(|motor| Action::Joint {
                motor,
                target: JointTarget { q: target(motor), dq: 0.0, kp: 80.0, kd: 2.0, tau: 0.0 },
            })
            .collect()
    }
}

fn with_unit(value: f64, unit: &str) -> String {
    match unit {
        "" => readable(value),
        _ if unit.starts_with('/') => format!("{}{unit}", readable(value)),
        _ => format!("{} {unit}", readable(value)),
    }
}

/// CPU time of this thread.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn now() -> Instant {
    Instant::now()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
