//! `rossum bench console`: what the console weighs, what it sends, and what those who look on cost the world.
//!
//! How soon a browser shows something is measured in one: `make bench-console` runs `console/bench/first-view.mjs` as well.

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

use super::{
    Figure, Goal, median, now, print,
    process::{Server, scenario_with_22},
};
use crate::interrupt;

/// Who look on.
const WATCHERS: usize = 10;

/// Options of `rossum bench console`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Seconds of each block; blocks with and without watchers take turns
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
    figures.extend(bandwidth(options).context("while counting bytes")?);
    figures.push(cost(options).context("while ten look on")?);
    print(&figures, options.json, out)
}

/// What a browser loads, packed.
fn bundle() -> anyhow::Result<Figure> {
    let (mut packed, mut plain) = (0, 0);
    for page in console::PAGES {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(page.bytes)?;
        packed += encoder.finish()?.len();
        plain += page.bytes.len();
    }
    let detail = format!("{} files, {:.2} MB unpacked", console::PAGES.len(), plain as f64 / 1e6);
    Ok(Figure { what: "console, packed", detail, value: packed as f64 / 1e6, goal: Goal::AtMost(1.2), unit: "MB" })
}

/// What one browser is sent of 22 robots in real time, and what a hidden one is.
fn bandwidth(options: &Options) -> anyhow::Result<[Figure; 3]> {
    let server = Server::start_text(&scenario_with_22("realtime"))?;
    let time = Duration::from_secs(options.seconds);
    let mut client = Client::connect(server.console())?;
    client.send(Command::Watch { topics: vec![Topic::Poses] })?;
    let (frames, bytes) = count(&mut client, time)?;
    client.send(Command::Watch { topics: Vec::new() })?;
    // what was on its way
    count(&mut client, Duration::from_millis(500))?;
    let before = server.cpu_time()?;
    let (_, hidden) = count(&mut client, time)?;
    let with = server.cpu_time()?.saturating_sub(before);
    let seconds = time.as_secs_f64();
    let detail = format!("the server's processor time meanwhile {:.1} %", with.as_secs_f64() / seconds * 100.0);
    Ok([
        Figure {
            what: "poses of 22 T1",
            detail: format!("{:.1} frames a second", frames as f64 / seconds),
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

/// Binary frames and their bytes, for a time.
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
            // nothing more came in time
            Err(_) => return Ok((frames, bytes)),
        }
    }
}

/// Somebody who looks on when told to.
struct Watcher {
    thread: JoinHandle<anyhow::Result<()>>,
}

/// What all watchers share.
#[derive(Default)]
struct Show {
    is_on: AtomicBool,
    is_over: AtomicBool,
    frames: AtomicU64,
}

impl Watcher {
    fn start(link: &str, show: &Arc<Show>) -> anyhow::Result<Self> {
        let mut client = Client::connect(link)?;
        client.set_timeout(Duration::from_millis(50))?;
        let show = Arc::clone(show);
        let watch = move || {
            let mut watches = false;
            while !show.is_over.load(Ordering::Relaxed) {
                let is_on = show.is_on.load(Ordering::Relaxed);
                if is_on != watches {
                    watches = is_on;
                    let topics = if is_on { vec![Topic::World, Topic::Poses] } else { Vec::new() };
                    client.send(Command::Watch { topics })?;
                }
                // nothing in time is nothing new
                if let Ok(Incoming::Frame(_)) = client.receive() {
                    show.frames.fetch_add(1, Ordering::Relaxed);
                }
            }
            Ok(())
        };
        Ok(Self { thread: thread::Builder::new().name("watcher".into()).spawn(watch)? })
    }
}

/// What ten who look on take from a world that runs as fast as it can.
fn cost(options: &Options) -> anyhow::Result<Figure> {
    let server = Server::start_text(&scenario_with_22("fast"))?;
    let show = Arc::new(Show::default());
    let watchers: Vec<Watcher> =
        (0..WATCHERS).map(|_| Watcher::start(server.console(), &show)).collect::<anyhow::Result<_>>()?;
    let mut clock = Client::connect(server.console())?;
    let bar = ProgressBar::new(2 * options.pairs);
    bar.set_style(ProgressStyle::with_template("{bar:20} {pos}/{len} blocks, with and without watchers in turn")?);
    let (mut ratios, mut rates) = (Vec::new(), Vec::new());
    let mut shown = 0;
    for pair in 0..options.pairs {
        // each comes first as often
        let mut rate = [0.0; 2];
        for place in [pair % 2, 1 - pair % 2] {
            show.is_on.store(place == 1, Ordering::Relaxed);
            // until all have heard it, and what was on its way has come
            ticks(&mut clock, Duration::from_millis(500))?;
            let before = show.frames.load(Ordering::Relaxed);
            if let Some(rate) = rate.get_mut(usize::try_from(place)?) {
                *rate = ticks(&mut clock, Duration::from_secs(options.seconds))?;
            }
            if place == 1 {
                shown += show.frames.load(Ordering::Relaxed) - before;
            }
            bar.inc(1);
        }
        ratios.push((1.0 - rate[1] / rate[0]) * 100.0);
        rates.push(rate[0]);
    }
    bar.finish_and_clear();
    show.is_over.store(true, Ordering::Relaxed);
    for watcher in watchers {
        watcher.thread.join().map_err(|_| anyhow::anyhow!("a watcher ended with a panic"))??;
    }
    let seen = shown as f64 / (options.pairs * options.seconds * WATCHERS as u64) as f64;
    let detail = format!(
        "of {:.0} ticks a second with 22 T1; each sees {seen:.1} frames a second; median of {}",
        median(rates),
        options.pairs
    );
    Ok(Figure { what: "ten who look on cost", detail, value: median(ratios), goal: Goal::AtMost(2.0), unit: "%" })
}

/// Ticks a second of the world, over a time.
fn ticks(clock: &mut Client, time: Duration) -> anyhow::Result<f64> {
    let (first, began) = tick(clock)?;
    thread::park_timeout(time);
    let (last, ended) = tick(clock)?;
    Ok((last - first) as f64 / ended.duration_since(began).as_secs_f64())
}

/// The tick that the world is at, and when.
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
