//! Time until 22 robots have joined, and the memory they take.

use super::{
    super::{Figure, Goal, median, now},
    FULL,
    game::{Game, seconds_since},
    server::{AS_FAST_AS_POSSIBLE, Program},
    speed::ReferenceFull,
};

/// Odd, so that one try is the median.
const TRIES: usize = 3;

pub(super) fn measure(reference: Option<&ReferenceFull>) -> anyhow::Result<Vec<Figure>> {
    let (mut in_turn, mut at_once, mut memory, mut peak) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut rejected = String::new();
    for _ in 0..TRIES {
        let (mut game, joins) = Game::with_players(Program::Ours, AS_FAST_AS_POSSIBLE, FULL, |_| Ok(()))?;
        in_turn.push(joins.iter().map(std::time::Duration::as_secs_f64).sum());
        game.cycles(100)?;
        let (resident, peak_memory) = game.server.memory()?;
        memory.push(resident);
        peak.push(peak_memory);
        game.server.stop();

        // a rejected player counts as infinitely slow
        at_once.push(join_at_once().unwrap_or_else(|error| {
            rejected = format!("; not all joined: {error:#}");
            f64::INFINITY
        }));
    }
    let compared = |text: fn(&ReferenceFull) -> String| reference.map(text).unwrap_or_default();
    let longest = in_turn.iter().copied().fold(0.0, f64::max);
    let joins = compared(|full| {
        format!("; reference: {:.0} s, the last {:.1} s", full.joining.as_secs_f64(), full.last_join.as_secs_f64())
    });
    let theirs = compared(|full| format!("; reference: {:.0} MB", full.memory));
    Ok(vec![
        Figure {
            what: "22 T1 join, one after the other",
            detail: format!("to the last one's first perception; longest of {TRIES}: {longest:.2} s{joins}"),
            value: median(in_turn),
            goal: Goal::AtMost(3.0),
            unit: "s",
        },
        Figure {
            what: "22 T1 join, all at once",
            detail: format!("longest of {TRIES}: {:.2} s{rejected}", at_once.iter().copied().fold(0.0, f64::max)),
            value: median(at_once),
            goal: Goal::AtMost(3.0),
            unit: "s",
        },
        Figure {
            what: "memory with 22 T1",
            detail: format!("resident, playing; peak {:.0} MB{theirs}", median(peak)),
            value: median(memory),
            goal: Goal::AtMost(150.0),
            unit: "MB",
        },
    ])
}

/// Time until all players have joined when they connect at once, in s.
fn join_at_once() -> anyhow::Result<f64> {
    let (mut game, first) = Game::start(Program::Ours, AS_FAST_AS_POSSIBLE)?;
    let begin = now();
    game.with_server_state(|game| {
        let mut first = Some(first);
        for index in 0..FULL {
            let mut player = first.take().map_or_else(|| game.connect(index), Ok)?;
            player.init()?;
            game.players.0.push(player);
        }
        game.players.play_until_all_have(1)
    })?;
    let took = seconds_since(begin);
    game.server.stop();
    Ok(took)
}
