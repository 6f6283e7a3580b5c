//! `rossum soak`: a long run under load, with hostile clients, that fails if anything is lost or grows.
//!
//! Three kinds of processes besides the server: this one, whose witnesses stay connected throughout and measure; groups of
//! clients that join and leave, and are killed now and then; and one of hostile clients.

mod clients;
mod group;
mod hostile;
mod report;
mod witnesses;

pub(crate) use self::group::{GroupOptions, run_group};

use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use rustix::process::Signal;

use self::{
    group::{Group, Load},
    hostile::Attack,
    report::{Minute, Occupied, Outcome},
    witnesses::{Count, Witnesses},
};
use crate::process::Server;

/// All protocols, in one world.
const SCENARIO: &str = include_str!("soak/scenario.toml");
/// Groups of clients; each is one process.
const GROUPS: usize = 4;
/// How often one of the groups is killed and started again.
const KILL_EVERY: Duration = Duration::from_secs(20);
/// Rate of well-behaved clients under attack, relative to their undisturbed rate.
const UNDISTURBED: f64 = 0.95;
/// How often an attack on a stepping client is interrupted, to compare.
const ROUNDS: u32 = 9;
/// Time from SIGTERM to the end of the server.
const STOP_WITHIN: Duration = Duration::from_secs(2);

/// Options of the soak test. The default load is meant for two cores.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Duration under load, in minutes
    #[arg(long, default_value_t = 60.0, value_name = "MINUTES")]
    minutes: f64,
    /// Duration without load before that, for comparison, in minutes
    #[arg(long, default_value_t = 2.0, value_name = "MINUTES")]
    idle: f64,
    #[command(flatten)]
    load: Load,
    /// Leave out the hostile clients
    #[arg(long)]
    friendly: bool,
    /// Measure each attack on its own instead, for this many seconds, and what it costs well-behaved clients
    #[arg(long, value_name = "SECONDS")]
    attacks: Option<f64>,
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    if let Some(seconds) = options.attacks {
        return measure_attacks(Duration::from_secs_f64(seconds.max(1.0)), out);
    }
    let server = Server::start_text(SCENARIO)?;
    let stop = Arc::new(AtomicBool::new(false));
    let witnesses = Witnesses::start(&server, &stop)?;
    writeln!(out, "{}", Minute::HEADER)?;

    let idle = watch(&server, &witnesses, minutes(options.idle), |_| Ok(()), out)?;
    let mut groups = (0..GROUPS)
        .map(|index| Group::start(&server, options.load.part(index, GROUPS), index))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let mut hostile = match options.friendly {
        true => None,
        false => Some(Group::start_hostile(&server, None)?),
    };
    let mut next_kill = now() + KILL_EVERY;
    let mut killed = 0;
    let loaded = watch(
        &server,
        &witnesses,
        minutes(options.minutes),
        |time| {
            if time >= next_kill {
                next_kill = time + KILL_EVERY;
                let index = killed % (GROUPS + 1);
                killed += 1;
                match groups.get_mut(index) {
                    Some(group) => group.kill_and_restart(&server)?,
                    None => hostile.as_mut().map_or(Ok(()), |group| group.kill_and_restart(&server))?,
                }
            }
            Ok(())
        },
        out,
    )?;

    stop.store(true, Ordering::Relaxed);
    let mut errors = witnesses.end().errors;
    for group in &groups {
        for (cause, count) in group.take_errors() {
            *errors.entry(cause).or_default() += count;
        }
    }
    // the clients are still there, and the hostile ones go on; errors after the end of the server do not count
    let began = now();
    let exit = server.terminate()?;
    let stopped_within = now().duration_since(began);
    for group in groups.into_iter().chain(hostile) {
        group.end()?;
    }
    let outcome = Outcome { idle, loaded, errors, stopped_within, is_clean_exit: exit.success() };
    write!(out, "{outcome}")?;
    let faults = outcome.faults(STOP_WITHIN);
    ensure!(faults.is_empty(), "the soak test failed: {}", faults.join("; "));
    Ok(writeln!(out, "passed")?)
}

/// Rate of the witnesses under each attack, relative to their rate just before it.
fn measure_attacks(duration: Duration, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut worst = f64::INFINITY;
    writeln!(out, "{:34} {:>9} {:>9} {:>9} {:>11}", "attack", "cycles/s", "replies/s", "relative", "slowest ms")?;
    for Attack { name, .. } in hostile::ATTACKS {
        let server = Server::start_text(SCENARIO)?;
        let stop = Arc::new(AtomicBool::new(false));
        let witnesses = Witnesses::start(&server, &stop)?;
        // until all have connected
        while witnesses.count().cycles < 50 {
            pause(Duration::from_millis(100));
        }
        let measure = || {
            let before = witnesses.count();
            pause(duration);
            witnesses.count().since(&before)
        };
        let undisturbed = measure();
        let group = Group::start_hostile(&server, Some(name))?;
        let attacked = measure();
        stop.store(true, Ordering::Relaxed);
        let errors = witnesses.end().errors;
        server.terminate()?;
        group.end()?;
        let ratio = |value: fn(&Count) -> u64| value(&attacked) as f64 / (value(&undisturbed) as f64).max(1.0);
        let relative = ratio(|count| count.cycles).min(ratio(|count| count.replies));
        let per_second = |count: u64| count as f64 / duration.as_secs_f64();
        let (cycles, replies) = (per_second(attacked.cycles), per_second(attacked.replies));
        let slowest = attacked.slowest.as_secs_f64() * 1e3;
        writeln!(out, "{name:34} {cycles:9.1} {replies:9.1} {relative:9.3} {slowest:11.1}")?;
        out.flush()?;
        for (error, count) in &errors {
            writeln!(out, "  {count} x {error}")?;
        }
        worst = if errors.is_empty() { worst.min(relative) } else { 0.0 };
    }
    writeln!(out, "\n{:34} {:>9} {:>19}", "attack on a client that steps", "steps/s", "relative")?;
    for Attack { name, .. } in hostile::ATTACKS.iter().filter(|attack| attack.targets_osp) {
        let (steps, relative) = measure_stepping(name, duration)?;
        writeln!(out, "{name:34} {steps:9.0} {relative:19.3}")?;
        out.flush()?;
        worst = worst.min(relative);
    }
    ensure!(worst >= UNDISTURBED, "an attack disturbs others: their rate falls to {worst:.3} of what it was");
    Ok(writeln!(out, "passed: at least {worst:.3} of the undisturbed rate")?)
}

/// Steps per second of a client that drives a world over OSP as fast as it can while others attack, and relative to those
/// while the attackers are stopped: the median of several rounds.
fn measure_stepping(attack: &str, duration: Duration) -> anyhow::Result<(f64, f64)> {
    let server = Server::start("small")?;
    let mut client = client::osp::Client::connect(server.address("osp")?)?;
    let agents = client.agents()?;
    let agent = agents.first().context("a world without agents")?.agent;
    ensure!(client.register(agent)?, "the agent is controlled already");
    let mut steps_per_second = || {
        let (began, mut steps) = (now(), 0_u32);
        while now().duration_since(began) < duration / ROUNDS {
            client.step(&[(agent, &[0.2, 0.3])])?;
            steps += 1;
        }
        anyhow::Ok(f64::from(steps) / (duration / ROUNDS).as_secs_f64())
    };
    // until the caches are warm
    steps_per_second()?;
    let group = Group::start_hostile(&server, Some(attack))?;
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        let attacked = steps_per_second()?;
        group.send_signal(Signal::STOP)?;
        let undisturbed = steps_per_second()?;
        group.send_signal(Signal::CONT)?;
        rates.push((attacked / undisturbed, attacked));
    }
    server.terminate()?;
    group.end()?;
    rates.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (relative, attacked) = rates.get(rates.len() / 2).context("no round")?;
    Ok((*attacked, *relative))
}

fn minutes(number: f64) -> Duration {
    Duration::from_secs_f64(number.max(0.0) * 60.0)
}

/// Watches for some time and prints a line per minute. `act` is called several times a second.
fn watch(
    server: &Server,
    witnesses: &Witnesses,
    duration: Duration,
    mut act: impl FnMut(Instant) -> anyhow::Result<()>,
    out: &mut dyn Write,
) -> anyhow::Result<Vec<Minute>> {
    const PAUSE: Duration = Duration::from_millis(250);
    const LINE: Duration = Duration::from_secs(60);
    let began = now();
    let mut lines = Vec::new();
    let (mut line_began, mut cpu, mut seen) = (began, server.cpu_time()?, witnesses.count());
    let mut occupied = Occupied::default();
    loop {
        pause(PAUSE);
        let time = now();
        act(time).context("a group of clients")?;
        occupied.sample(server)?;
        let is_over = time.duration_since(began) >= duration;
        if is_over || time.duration_since(line_began) >= LINE {
            let (used, count) = (server.cpu_time()?, witnesses.count());
            let elapsed = time.duration_since(line_began);
            let minute = Minute::new(elapsed, used - cpu, &std::mem::take(&mut occupied), count.since(&seen));
            writeln!(out, "{minute}")?;
            out.flush()?;
            lines.push(minute);
            (line_began, cpu, seen) = (time, used, count);
        }
        if is_over {
            return Ok(lines);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a soak test lives in wall time")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "a soak test measures what happens in this time")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}
