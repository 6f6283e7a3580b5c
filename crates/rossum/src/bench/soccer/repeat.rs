//! Repeatability: two games with the same messages, compared byte by byte.

use std::time::Duration;

use client::soccer::Monitor;
use wire::soccer::Command;

use super::{
    super::{Figure, Goal},
    Options,
    game::Game,
    players::Player,
    server::{AS_FAST_AS_POSSIBLE, Program},
};

const ROBOTS: usize = 4;
const CYCLES: usize = 200;
const SEED: u64 = 7;
/// Time limit of a join while the other players do not answer.
const JOIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Frames by player.
type Frames = Vec<Vec<Vec<u8>>>;

pub(super) fn measure(options: &Options) -> anyhow::Result<Figure> {
    let two = [frames(Program::Ours)?, frames(Program::Ours)?];
    let mut detail = described(&two);
    if let Some(path) = options.reference.as_deref() {
        let two = [frames(Program::Reference(path))?, frames(Program::Reference(path))?];
        detail.push_str(&format!("; reference: {}", described(&two)));
    }
    Ok(Figure {
        what: "repeated game, different frames",
        detail,
        value: different(&two).len() as f64,
        goal: Goal::AtMost(0.0),
        unit: "",
    })
}

/// Plays a game in which every answer and every join occurs at a fixed cycle. Ours is reset with a seed once all have
/// joined; the reference cannot be.
fn frames(program: Program<'_>) -> anyhow::Result<Frames> {
    let (mut game, first) = Game::start(program, AS_FAST_AS_POSSIBLE)?;
    let mut frames: Frames = vec![Vec::new(); ROBOTS];
    game.with_server_state(|game| {
        let mut first = Some(first);
        for index in 0..ROBOTS {
            let mut player = first.take().map_or_else(|| game.connect(index), Ok)?;
            player.init()?;
            // players answer only after the join, so that no time passes meanwhile
            player.has_frame(JOIN_TIMEOUT)?;
            game.players.0.push(player);
            while game.players.0.last().is_some_and(|player| player.frames == 0) {
                one_cycle(game, &mut frames)?;
            }
        }
        if program == Program::Ours {
            // all players have received the last cycle and none has answered
            for player in &mut game.players.0 {
                player.has_frame(JOIN_TIMEOUT)?;
            }
            // the time before the first player joined is not part of the game
            let mut trainer = Monitor::connect(game.server.monitors())?;
            trainer.command(&[Command::Reset { seed: Some(SEED) }])?;
            game.players.0.iter_mut().for_each(Player::restart_script);
            // the last perceptions are from before the reset
            one_cycle(game, &mut frames)?;
            frames.iter_mut().for_each(Vec::clear);
        }
        (0..CYCLES).try_for_each(|_| one_cycle(game, &mut frames))
    })?;
    game.server.stop();
    Ok(frames)
}

/// All players receive their perceptions and answer; afterwards none is pending.
fn one_cycle(game: &mut Game, frames: &mut Frames) -> anyhow::Result<()> {
    let joining = game.players.0.iter().position(|player| player.frames == 0);
    for (index, (player, frames)) in game.players.0.iter_mut().zip(frames).enumerate() {
        if joining == Some(index) && !player.has_frame(Duration::from_millis(200))? {
            continue;
        }
        player.receive()?;
        frames.push(player.frame().to_vec());
    }
    for player in game.players.0.iter_mut().filter(|player| player.frames > 0) {
        player.answer()?;
    }
    Ok(())
}

/// Player and index of every frame that differs.
fn different(two: &[Frames; 2]) -> Vec<(usize, usize)> {
    let [one, other] = two;
    let mut different = Vec::new();
    for (player, (one, other)) in one.iter().zip(other).enumerate() {
        let frames = one.len().max(other.len());
        different.extend((0..frames).filter(|frame| one.get(*frame) != other.get(*frame)).map(|frame| (player, frame)));
    }
    different
}

fn described(two: &[Frames; 2]) -> String {
    let count: usize = two.iter().flatten().map(Vec::len).sum::<usize>() / 2;
    let strictly = different(two);
    let Some((player, frame)) = strictly.iter().min_by_key(|(_, frame)| *frame) else {
        return format!("{count} frames of {ROBOTS} players are identical");
    };
    let but_for_time = different(&two.clone().map(without_time)).len();
    let excerpts = two.each_ref().map(|frames| frames.get(*player).and_then(|frames| frames.get(*frame)));
    format!(
        "{} of {count} differ, {but_for_time} of them not just in the time; frame {} of player {}: {}",
        strictly.len(),
        frame + 1,
        player + 1,
        excerpt(excerpts.map(|frame| frame.map(Vec::as_slice).unwrap_or_default())),
    )
}

/// The texts around the first difference of two frames.
fn excerpt([one, other]: [&[u8]; 2]) -> String {
    const LENGTH: usize = 12;
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let from = |frame: &[u8]| {
        let begin = same.saturating_sub(LENGTH);
        String::from_utf8_lossy(frame.get(begin..).unwrap_or_default()).chars().take(2 * LENGTH).collect::<String>()
    };
    format!("`{}` and `{}`", from(one), from(other))
}

fn without_time(mut frames: Frames) -> Frames {
    for frame in frames.iter_mut().flatten() {
        if let Some(end) = frame.windows(2).position(|pair| pair == b"))") {
            frame.drain(..end + 2);
        }
    }
    frames
}
