//! `rossum bench console`: bundle size, bandwidth, and the cost of viewers.
//!
//! The time to the first view is measured in a browser: `make bench-console` also runs `console/bench/first-view.mjs`.

use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::Context;
use clap::Args;
use client::console::{Client, Incoming};
use flate2::{Compression, write::GzEncoder};
use indicatif::{ProgressBar, ProgressStyle};
use wire::console::{Command, Message, Topic};

use super::{Figure, Goal, median, now, print, process::scenario_with_22};
use crate::{interrupt, process::Server, table::readable};

/// Number of viewers.
const VIEWERS: usize = 10;

/// Options of `rossum bench console`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Seconds per block; blocks with and without viewers alternate
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// Pairs of blocks
    #[arg(long, default_value_t = 8)]
    pairs: u64,
    /// Print one JSON object per figure
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    interrupt::exit_on_ctrl_c()?;
    let mut figures = vec![bundle()?];
    figures.extend(bandwidth(options).context("while measuring the bandwidth")?);
    figures.push(cost(options).context("while measuring the cost of viewers")?);
    print(&figures, options.json, out)
}

/// Gzipped size of everything a browser loads.
fn bundle() -> anyhow::Result<Figure> {
    let (mut gzipped, mut plain) = (0, 0);
    for page in console::PAGES {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(page.bytes)?;
        gzipped += encoder.finish()?.len();
        plain += page.bytes.len();
    }
    let detail = format!("{} files, {:.2} MB uncompressed", console::PAGES.len(), plain as f64 / 1e6);
    Ok(Figure {
        what: "console bundle, gzipped",
        detail,
        value: gzipped as f64 / 1e6,
        goal: Goal::AtMost(1.2),
        unit: "MB",
    })
}

/// Bandwidth to a visible and to a hidden browser, with 22 robots in real time.
fn bandwidth(options: &Options) -> anyhow::Result<[Figure; 3]> {
    let server = Server::start_text(&scenario_with_22("realtime"))?;
    let time = Duration::from_secs(options.seconds);
    let mut client = Client::connect(server.console())?;
    client.send(Command::Watch { topics: vec![Topic::Poses] })?;
    let (frames, bytes) = count(&mut client, time)?;
    client.send(Command::Watch { topics: Vec::new() })?;
    // skip data in transit
    count(&mut client, Duration::from_millis(500))?;
    let before = server.cpu_time()?;
    let (_, hidden) = count(&mut client, time)?;
    let with = server.cpu_time()?.saturating_sub(before);
    let seconds = time.as_secs_f64();
    let detail = format!("server CPU {:.1} % meanwhile", with.as_secs_f64() / seconds * 100.0);
    Ok([
        Figure {
            what: "poses of 22 T1",
            detail: format!("{:.1} frames/s", frames as f64 / seconds),
            value: bytes as f64 / seconds / 1e3,
            goal: Goal::AtMost(300.0),
            unit: "kB/s",
        },
        Figure {
            what: "pose updates",
            detail: "of 22 T1 in real time".to_owned(),
            value: frames as f64 / seconds,
            goal: Goal::AtLeast(29.0),
            unit: "1/s",
        },
        Figure { what: "sent to a hidden tab", detail, value: hidden as f64, goal: Goal::AtMost(0.0), unit: "bytes" },
    ])
}

/// Counts binary frames and their bytes for `time`.
fn count(client: &mut Client, time: Duration) -> anyhow::Result<(u64, u64)> {
    let (end, mut frames, mut bytes) = (now() + time, 0, 0);
    loop {
        let left = end.saturating_duration_since(now());
        if left.is_zero() {
            return Ok((frames, bytes));
        }
        client.set_timeout(left)?;
        match client.receive() {
            Ok(Incoming::Frame(frame)) => {
                frames += 1;
                bytes += frame.len() as u64;
            }
            Ok(Incoming::Message(_)) => {}
            // timeout
            Err(_) => return Ok((frames, bytes)),
        }
    }
}

/// A viewer that can be switched on and off.
struct Viewer {
    thread: JoinHandle<anyhow::Result<()>>,
}

/// State shared with the viewer threads.
#[derive(Default)]
struct ViewerControl {
    is_on: AtomicBool,
    is_over: AtomicBool,
    frames: AtomicU64,
}

impl Viewer {
    fn start(url: &str, control: &Arc<ViewerControl>) -> anyhow::Result<Self> {
        let mut client = Client::connect(url)?;
        client.set_timeout(Duration::from_millis(50))?;
        let control = Arc::clone(control);
        let watch = move || {
            let mut watches = false;
            while !control.is_over.load(Ordering::Relaxed) {
                let is_on = control.is_on.load(Ordering::Relaxed);
                if is_on != watches {
                    watches = is_on;
                    let topics = if is_on { vec![Topic::World, Topic::Poses] } else { Vec::new() };
                    client.send(Command::Watch { topics })?;
                }
                // a timeout means that nothing has changed
                if let Ok(Incoming::Frame(_)) = client.receive() {
                    control.frames.fetch_add(1, Ordering::Relaxed);
                }
            }
            Ok(())
        };
        Ok(Self { thread: thread::Builder::new().name("viewer".into()).spawn(watch)? })
    }
}

/// Slow-down of a free-running world by ten viewers.
fn cost(options: &Options) -> anyhow::Result<Figure> {
    let server = Server::start_text(&scenario_with_22("fast"))?;
    let control = Arc::new(ViewerControl::default());
    let viewers: Vec<Viewer> =
        (0..VIEWERS).map(|_| Viewer::start(server.console(), &control)).collect::<anyhow::Result<_>>()?;
    let mut clock = Client::connect(server.console())?;
    let bar = ProgressBar::new(2 * options.pairs);
    bar.set_style(ProgressStyle::with_template("{bar:20} {pos}/{len} blocks, alternately with and without viewers")?);
    let (mut ratios, mut rates) = (Vec::new(), Vec::new());
    let mut shown = 0;
    for pair in 0..options.pairs {
        // alternate which comes first
        let mut rate = [0.0; 2];
        for phase in [pair % 2, 1 - pair % 2] {
            control.is_on.store(phase == 1, Ordering::Relaxed);
            // until the change has taken effect
            ticks(&mut clock, Duration::from_millis(500))?;
            let before = control.frames.load(Ordering::Relaxed);
            if let Some(rate) = rate.get_mut(usize::try_from(phase)?) {
                *rate = ticks(&mut clock, Duration::from_secs(options.seconds))?;
            }
            if phase == 1 {
                shown += control.frames.load(Ordering::Relaxed) - before;
            }
            bar.inc(1);
        }
        ratios.push((1.0 - rate[1] / rate[0]) * 100.0);
        rates.push(rate[0]);
    }
    bar.finish_and_clear();
    control.is_over.store(true, Ordering::Relaxed);
    for viewer in viewers {
        viewer.thread.join().map_err(|_| anyhow::anyhow!("a viewer panicked"))??;
    }
    let seen = shown as f64 / (options.pairs * options.seconds * VIEWERS as u64) as f64;
    let detail = format!(
        "of {} ticks/s with 22 T1; {seen:.1} frames/s per viewer; median of {}",
        readable(median(rates)),
        options.pairs
    );
    Ok(Figure { what: "cost of ten viewers", detail, value: median(ratios), goal: Goal::AtMost(2.0), unit: "%" })
}

/// Measures the tick rate of the world over `time`, in 1/s.
fn ticks(clock: &mut Client, time: Duration) -> anyhow::Result<f64> {
    let (first, began) = tick(clock)?;
    thread::park_timeout(time);
    let (last, ended) = tick(clock)?;
    Ok((last - first) as f64 / ended.duration_since(began).as_secs_f64())
}

/// The current tick and the time of its arrival.
fn tick(clock: &mut Client) -> anyhow::Result<(u64, std::time::Instant)> {
    let variable = "/Control/CurrentStep".to_owned();
    let id = clock.send(Command::Read { variable })?;
    let mut found = None;
    loop {
        if let Incoming::Message(message) = clock.receive()? {
            match *message {
                Message::Value { value, .. } => found = Some((value.parse()?, now())),
                Message::Done { id: done } if done == id => return found.context("no value"),
                Message::Refused { why, .. } => anyhow::bail!(why),
                _ => {}
            }
        }
    }
}
