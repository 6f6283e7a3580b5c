//! Punctuality of cycles in real time.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::ensure;

use super::{
    super::{Figure, Goal, median, now},
    Options,
    game::Game,
    players::pause,
    server::{IN_REAL_TIME, Program},
};

const ROBOTS: usize = 14;
const CYCLE: Duration = Duration::from_millis(20);
/// Tolerated lateness of a cycle, in s.
const LATE: f64 = 0.002;

pub(super) fn measure(options: &Options) -> anyhow::Result<Figure> {
    let (mut game, _) = Game::with_players(Program::Ours, IN_REAL_TIME, ROBOTS, |_| Ok(()))?;
    // allow the robots to settle
    let settled = now() + Duration::from_secs(2);
    let end = settled + options.real_time();
    let (before, in_time_before) = game.server.cycle_counts()?;
    let (arrivals, timer) = thread::scope(|scope| {
        let timer = scope.spawn(|| plain_timer(settled, end));
        let mut arrivals = Vec::new();
        let played = game.with_server_state(|game| {
            while now() < end {
                game.players.answer_ready(|_, at| {
                    arrivals.extend(at.checked_duration_since(settled).map(|time| time.as_secs_f64()));
                })?;
            }
            Ok(())
        });
        let timer = timer.join().unwrap_or_default();
        played.map(|()| (arrivals, timer))
    })?;
    game.ensure_fair()?;
    let (after, in_time_after) = game.server.cycle_counts()?;
    game.server.stop();

    // for the players a cycle starts when the first of them receives its perception
    let mut firsts: Vec<f64> = Vec::new();
    for arrival in &arrivals {
        if firsts.last().is_none_or(|last| arrival - last > CYCLE.as_secs_f64() / 2.0) {
            firsts.push(*arrival);
        }
    }
    ensure!(!firsts.is_empty(), "no perceptions received");
    let (ours, timer) = (Punctuality::new(&firsts), Punctuality::new(&timer));
    let detail = format!(
        "{} cycles; perceptions of {:.2} % arrived within 2 ms, {}; {:.2} % within 2 ms of the nominal interval; to all 14 players within {:.2} ms; \
         plain timer: {:.2} % of ticks, {}",
        after - before,
        ours.share_within(LATE),
        ours.text(),
        steady(&firsts),
        median(spread(&firsts, &arrivals)) * 1e3,
        timer.share_within(LATE),
        timer.text(),
    );
    Ok(Figure {
        what: "14 T1 in real time, cycles started within 2 ms",
        detail,
        value: (in_time_after - in_time_before) / (after - before) * 100.0,
        goal: Goal::AtLeast(99.9),
        unit: "%",
    })
}

/// Deviations of events from their schedule, in s; sorted.
struct Punctuality(Vec<f64>);

impl Punctuality {
    /// For events that should be a cycle apart, relative to the best-fitting schedule.
    fn new(times: &[f64]) -> Self {
        let cycle = CYCLE.as_secs_f64();
        let offsets: Vec<_> = times.iter().enumerate().map(|(index, at)| at - index as f64 * cycle).collect();
        let schedule = median(offsets.clone());
        let mut off: Vec<_> = offsets.into_iter().map(|offset| (offset - schedule).abs()).collect();
        off.sort_by(f64::total_cmp);
        Self(off)
    }

    /// Share of events within a tolerance, in percent.
    fn share_within(&self, seconds: f64) -> f64 {
        self.0.partition_point(|off| *off <= seconds) as f64 / self.0.len() as f64 * 100.0
    }

    /// The value that a share of the events does not exceed, in ms.
    fn quantile_ms(&self, share: f64) -> f64 {
        let index = ((self.0.len() as f64 * share).ceil() as usize).saturating_sub(1);
        self.0.get(index).copied().unwrap_or(f64::NAN) * 1e3
    }

    fn text(&self) -> String {
        let [half, most, worst] = [0.5, 0.999, 1.0].map(|share| self.quantile_ms(share));
        format!("off by {half:.2} ms (median), {most:.2} ms (99.9 %), {worst:.2} ms (worst)")
    }
}

/// Baseline of this machine: wake-up times of a thread that only waits for its next cycle.
fn plain_timer(begin: Instant, end: Instant) -> Vec<f64> {
    let (mut due, mut woken) = (begin, Vec::new());
    while due < end {
        pause(due.saturating_duration_since(now()));
        woken.push(now().duration_since(begin).as_secs_f64());
        due += CYCLE;
    }
    woken
}

/// Share of cycles that started one period after the previous one, in percent.
fn steady(firsts: &[f64]) -> f64 {
    let gaps = firsts.windows(2).filter_map(|pair| pair.last().zip(pair.first()).map(|(last, first)| last - first));
    let off: Vec<_> = gaps.map(|gap| (gap - CYCLE.as_secs_f64()).abs()).collect();
    off.iter().filter(|off| **off <= LATE).count() as f64 / off.len().max(1) as f64 * 100.0
}

/// Time from the first to the last perception of each cycle, in s.
fn spread(firsts: &[f64], all: &[f64]) -> Vec<f64> {
    let ends = firsts.iter().skip(1).chain([&f64::INFINITY]);
    let lasts = ends.map(|end| all.get(all.partition_point(|at| at < end).saturating_sub(1)).copied());
    firsts.iter().zip(lasts).filter_map(|(first, last)| Some(last? - first)).collect()
}
