//! Cycles per second, alternating with the reference and with bare `mj_step`.

use std::{path::Path, time::Duration};

use super::{
    super::{Figure, Goal, median},
    Options,
    bare::BarePhysics,
    game::{Game, PlayStats},
    server::{AS_FAST_AS_POSSIBLE, Program},
};

/// Cycles per second in real time.
const REAL_TIME: f64 = 50.0;
/// Cycles until all robots have settled.
const SETTLING: usize = 120;
/// Settling cycles between two turns: servers disconnect agents that are silent for 5 s.
const SETTLING_BLOCK: usize = 40;
/// Cycles of bare `mj_step` per round; with the recording of the motor commands they take about a second.
const BARE_CYCLES: usize = 50;

/// Measurements of 22 robots in the reference, which take minutes and are used elsewhere as well.
pub(super) struct ReferenceFull {
    pub(super) joining: Duration,
    pub(super) last_join: Duration,
    pub(super) memory: f64,
}

pub(super) struct Speed {
    pub(super) figures: Vec<Figure>,
    pub(super) reference: Option<ReferenceFull>,
}

/// Measurements by round.
#[derive(Default)]
struct Rounds {
    ours: Vec<PlayStats>,
    reference: Vec<PlayStats>,
    /// Cycles per second.
    bare: Vec<f64>,
}

pub(super) fn measure(options: &Options, robots: usize, report: &dyn Fn(String)) -> anyhow::Result<Speed> {
    let is_full = robots == super::FULL;
    let mut reference = options.reference.as_deref().map(|path| start_reference(path, robots, report)).transpose()?;
    report(format!("{robots} T1"));
    let keep =
        |reference: &mut Option<(Game, Vec<Duration>)>| reference.as_mut().map_or(Ok(()), |(game, _)| game.cycles(1));
    let (mut ours, _) = Game::with_players(Program::Ours, AS_FAST_AS_POSSIBLE, robots, |_| keep(&mut reference))?;
    for _ in 0..SETTLING / SETTLING_BLOCK {
        ours.cycles(SETTLING_BLOCK)?;
        if let Some((game, _)) = &mut reference {
            game.cycles(SETTLING_BLOCK)?;
        }
    }
    let mut bare = None;
    if is_full {
        let mut settled = BarePhysics::new(robots)?;
        for _ in 0..SETTLING / SETTLING_BLOCK {
            settled.measure(SETTLING_BLOCK)?;
            keep(&mut reference)?;
            ours.cycles(1)?;
        }
        bare = Some(settled);
    }

    let mut rounds = Rounds::default();
    for round in 1..=options.rounds.rounds() {
        report(format!("{robots} T1, round {round} of {}", options.rounds.rounds()));
        rounds.ours.push(ours.play(options.block())?);
        if let Some(bare) = &mut bare {
            rounds.bare.push(BARE_CYCLES as f64 / bare.measure(BARE_CYCLES)?.as_secs_f64());
        }
        if let Some((game, _)) = &mut reference {
            rounds.reference.push(game.play(options.block())?);
        }
    }
    ours.ensure_fair()?;
    ours.server.stop();
    let mut figures = rounds.figures(robots);
    if is_full {
        figures.extend(rounds.figures_when_full());
    }
    let reference = reference.map(|(game, joins)| {
        game.ensure_fair()?;
        let (memory, _) = game.server.memory()?;
        game.server.stop();
        let last_join = joins.last().copied().unwrap_or_default();
        anyhow::Ok(ReferenceFull { joining: joins.iter().sum(), last_join, memory })
    });
    Ok(Speed { figures, reference: reference.transpose()? })
}

fn start_reference(path: &Path, robots: usize, report: &dyn Fn(String)) -> anyhow::Result<(Game, Vec<Duration>)> {
    report(format!("{robots} T1: starting the reference"));
    Game::with_players(Program::Reference(path), AS_FAST_AS_POSSIBLE, robots, |joined| {
        report(format!("{robots} T1: {joined} have joined the reference (the 22nd takes 15 s)"));
        Ok(())
    })
}

impl Rounds {
    fn figures(&self, robots: usize) -> Vec<Figure> {
        let (what, goal) = match robots {
            1 => ("1 T1, speed / reference", 3.0),
            11 => ("11 T1, speed / reference", 5.0),
            _ => ("22 T1, speed / reference", 5.0),
        };
        if self.reference.is_empty() {
            return Vec::new();
        }
        let pairs = self.ours.iter().zip(&self.reference);
        let ratios = pairs.map(|(ours, theirs)| ours.cycles_per_second() / theirs.cycles_per_second());
        let detail = format!("{}; reference: {}", described(&self.ours), described(&self.reference));
        vec![Figure { what, detail, value: median(ratios.collect()), goal: Goal::AtLeast(goal), unit: "x" }]
    }

    fn figures_when_full(&self) -> Vec<Figure> {
        let speed = median(self.ours.iter().map(|stats| stats.cycles_per_second()).collect());
        let pairs = self.ours.iter().zip(&self.bare);
        let ratios = pairs.map(|(ours, bare)| ours.cycles_per_second() / bare);
        vec![
            Figure {
                what: "22 T1, speed / real time",
                detail: described(&self.ours),
                value: speed / REAL_TIME,
                goal: Goal::AtLeast(2.5),
                unit: "x",
            },
            Figure {
                what: "22 T1, speed / bare mj_step",
                detail: format!(
                    "{speed:.0} / {:.0} cycles/s of wall time on one thread, with the same commands",
                    median(self.bare.clone())
                ),
                value: median(ratios.collect()),
                goal: Goal::AtLeast(0.85),
                unit: "x",
            },
        ]
    }
}

/// Medians of all rounds.
fn described(statss: &[PlayStats]) -> String {
    let of = |value: fn(&PlayStats) -> f64| median(statss.iter().map(value).collect());
    format!(
        "{:.0} cycles/s, CPU per cycle {:.2} ms (server) and {:.2} ms (players)",
        of(|stats| stats.cycles_per_second()),
        of(|stats| stats.server / stats.cycles * 1e3),
        of(|stats| stats.players / stats.cycles * 1e3),
    )
}
