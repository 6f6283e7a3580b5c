//! The soccer game, as clients are shown it.

use soccer::{
    Foul, PlayMode, Side,
    calls::{Call, CallKind},
    game::GameView,
};
use wire::console::{self, Decision, DemoGame, Game, Player, SoccerInfo};
use world::Snapshot;

use super::scene::first_body;

/// Facts about the game, sent to a client when it connects.
pub(super) fn soccer_info(world: &Snapshot) -> Option<SoccerInfo> {
    let view = world.view::<GameView>()?;
    Some(SoccerInfo {
        modes: PlayMode::all().map(|mode| mode.name().to_owned()).collect(),
        field: [view.field.length, view.field.width],
        players_per_team: view.team_size,
    })
}

/// The state of the game.
pub(super) fn state(world: &Snapshot, view: &GameView, demo: Option<(u8, String)>) -> Game {
    let player = |(player, agent): &(soccer::PlayerId, world::AgentId)| {
        let card = world.catalogue.agent(*agent)?;
        let side = match player.side {
            Side::Left => console::Side::Left,
            Side::Right => console::Side::Right,
        };
        let body = first_body(&world.catalogue, card).and_then(|body| i64::try_from(body).ok()).unwrap_or(-1);
        Some(Player { side, number: player.number, agent: card.name.clone(), body })
    };
    Game {
        // rounded, as every change is sent
        play_time: (view.play_time.as_secs_f64() * 10.0).floor() / 10.0,
        mode: view.mode.name().to_owned(),
        teams: view.teams.clone(),
        score: view.score,
        half: view.half,
        players: view.players.iter().filter_map(player).collect(),
        ball: view.ball,
        demo: demo.map(|(players, note)| DemoGame { players, note }),
    }
}

/// Decisions of the referee from this number on, as text.
pub(super) fn decisions(view: &GameView, from: u64) -> Vec<Decision> {
    let team = |side: Side| {
        let name = view.teams.get(side.index()).cloned().flatten();
        name.unwrap_or_else(|| if side == Side::Left { "the left team" } else { "the right team" }.to_owned())
    };
    let decision = |call: &Call| Decision {
        number: call.number,
        play_time: call.play_time.as_secs_f64(),
        text: match call.kind {
            CallKind::Mode(PlayMode::Goal(side)) => {
                format!("Goal for {}: {} to {}", team(side), call.score[0], call.score[1])
            }
            CallKind::Mode(mode) => mode_text(mode, team),
            CallKind::Foul(player, foul) => {
                format!("{} of number {} of {}", foul_text(foul), player.number, team(player.side))
            }
        },
    };
    view.calls.since(from).map(decision).collect()
}

fn mode_text(mode: PlayMode, team: impl Fn(Side) -> String) -> String {
    match mode {
        PlayMode::BeforeKickOff => "Before the kick-off".to_owned(),
        PlayMode::KickOff(side) => format!("Kick-off for {}", team(side)),
        PlayMode::PlayOn => "Play on".to_owned(),
        PlayMode::KickIn(side) => format!("Kick-in for {}", team(side)),
        PlayMode::CornerKick(side) => format!("Corner kick for {}", team(side)),
        PlayMode::GoalKick(side) => format!("Goal kick for {}", team(side)),
        PlayMode::Offside(side) => format!("Offside of {}", team(side)),
        PlayMode::GameOver => "The half is over".to_owned(),
        PlayMode::Goal(side) => format!("Goal for {}", team(side)),
        PlayMode::FreeKick(side) => format!("Free kick for {}", team(side)),
        PlayMode::DirectFreeKick(side) => format!("Direct free kick for {}", team(side)),
        PlayMode::PenaltyKick(side) => format!("Penalty kick for {}", team(side)),
        PlayMode::PenaltyShoot(side) => format!("Penalty shoot-out of {}", team(side)),
    }
}

fn foul_text(foul: Foul) -> &'static str {
    match foul {
        Foul::Crowding => "Crowding",
        Foul::Touching => "Touching",
        Foul::IllegalDefence => "Illegal defence",
        Foul::IllegalAttack => "Illegal attack",
        Foul::Incapable => "Removal after a fall",
        Foul::KickOff => "A foul at the kick-off",
        Foul::Charging => "Charging",
        Foul::SelfCollision => "A self-collision",
        Foul::BallHolding => "Ball holding",
        Foul::DoubleTouch => "A double touch",
        Foul::Hand => "Hand",
    }
}
