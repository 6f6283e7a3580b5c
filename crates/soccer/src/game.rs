//! The game as a director of a world: teams, referee and speech.

mod pitch;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use glam::DVec3;
use physics::Pose;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use world::{
    AgentId, Value, World,
    director::{Director, Spawn, View},
};

use crate::{
    audio::{Ear, Soundscape},
    calls::{CallKind, RecentCalls},
    field::Field,
    orders::{GameAnswer, GameOrder, GameRefusal, JoinRequest},
    referee::{Referee, Timing},
    rules::{Phase, PlayMode, RuleBook, Side},
    scene::{Ball, Decision, Foul, Placement, PlayerId, Scene},
    teams::{Teams, beam_placement, spawn_placement},
};

use self::pitch::Pitch;

/// Most orders that wait for the next cycle, beams and messages of players aside.
const MAX_ORDERS: usize = 4_096;
/// Most beams and messages of one player that wait for the next cycle.
const MAX_PLAYER_ACTIONS: usize = 512;

/// Settings of a game. Its JSON form describes the game in recordings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameConfig {
    /// The rules.
    pub rules: RuleBook,
    /// Name of the field.
    pub field: String,
    /// The half that is played.
    pub phase: Phase,
    /// Start of the game clock, in s; the beginning of the phase if none.
    pub time: Option<f64>,
    /// Whether a team without players gives its name back before the kick-off. Games of older recordings did not.
    #[serde(default)]
    pub releases_names: bool,
    /// The arithmetic of time limits. That of older recordings was exact.
    #[serde(default)]
    pub timing: Timing,
    /// Whether the referee judges the game. Without one, only commands and the clock change its state.
    #[serde(default = "judged")]
    pub referee: bool,
}

/// Games of older recordings are judged.
fn judged() -> bool {
    true
}

/// An order of a player.
#[derive(Clone, Debug)]
enum PlayerAction {
    Beam(Placement),
    Say { volume: f64, text: Vec<u8> },
}

/// A player that was admitted.
#[derive(Clone, Debug)]
pub(crate) struct RosterEntry {
    player: PlayerId,
    /// Name of its robot.
    agent: String,
    /// Whether the robot has joined. Once it has left again, the entry is removed.
    has_joined: bool,
}

/// State of the game in snapshots.
#[derive(Clone, Debug, PartialEq)]
pub struct GameView {
    /// Measures of the field.
    pub field: Field,
    /// The game clock.
    pub play_time: Duration,
    /// Current play mode.
    pub mode: PlayMode,
    /// Names of the left and the right team, once known.
    pub teams: [Option<String>; 2],
    /// Goals of the left and the right team.
    pub score: [u32; 2],
    /// Half of the game, 1 or 2.
    pub half: u8,
    /// Seed of the game.
    pub seed: u64,
    /// Fouls of the last cycle.
    pub fouls: Vec<(PlayerId, Foul)>,
    /// Recent calls: fouls and changes of the play mode.
    pub calls: Arc<RecentCalls>,
    /// Most players of a team.
    pub team_size: usize,
    /// Players and their robots, in the order of joining.
    pub players: Vec<(PlayerId, AgentId)>,
    /// Index of the ball's body in the catalogue.
    pub ball: Option<usize>,
    /// Bodies that were moved in the last cycle after its physics: index in the catalogue and new pose.
    pub moved: Vec<(usize, Pose)>,
    /// Messages that each player hears: direction in degrees, and text. The list is empty if somebody spoke but the player
    /// understood nothing.
    pub heard: BTreeMap<PlayerId, Vec<(i32, Vec<u8>)>>,
}

/// A game.
#[derive(Clone, Debug)]
pub struct Game {
    config: GameConfig,
    field: Field,
    referee: Referee,
    teams: Teams,
    /// In the order of joining.
    roster: Vec<RosterEntry>,
    pitch: Pitch,
    soundscape: Soundscape,
    random: ChaCha8Rng,
    seed: u64,
    /// Orders of players, for before the physics of the next cycle. Sorted, so that the order of arrival does not matter.
    player_actions: BTreeMap<AgentId, Vec<PlayerAction>>,
    /// Orders of others, for after it.
    orders: Vec<GameOrder>,
    calls: Arc<RecentCalls>,
    view: Arc<GameView>,
}

/// Why a game cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameError {
    /// No field has this name.
    #[error("unknown field `{name}`; available: fifa, fifa7vs7")]
    UnknownField {
        /// The name that was given.
        name: String,
    },
    /// The description in a recording failed to parse.
    #[error("invalid description of a game: {reason}")]
    Description {
        /// The parser's message.
        reason: String,
    },
}

impl Game {
    /// A game before its kick-off.
    pub fn new(config: GameConfig) -> Result<Self, GameError> {
        let name = config.field.clone();
        let field = Field::by_name(&name).ok_or(GameError::UnknownField { name })?;
        let referee = new_referee(&config, field);
        let teams = Teams::new(referee.rules());
        let mut game = Self {
            config,
            field,
            teams,
            roster: Vec::new(),
            pitch: Pitch::default(),
            soundscape: Soundscape::new(),
            random: ChaCha8Rng::seed_from_u64(0),
            seed: 0,
            player_actions: BTreeMap::new(),
            orders: Vec::new(),
            calls: Arc::default(),
            view: Arc::new(initial_view(&referee)),
            referee,
        };
        game.publish(BTreeMap::new());
        Ok(game)
    }

    /// The game that a recording describes.
    pub fn from_description(description: &str) -> Result<Self, GameError> {
        let unreadable = |error: serde_json::Error| GameError::Description { reason: error.to_string() };
        Self::new(serde_json::from_str(description).map_err(unreadable)?)
    }

    /// Describes the game for a recording.
    pub fn description(&self) -> String {
        // plain data always serialises
        serde_json::to_string(&self.config).unwrap_or_default()
    }

    /// Finds ball and players again if the model has changed, and removes players whose robots have left.
    fn refresh(&mut self, world: &World) {
        if !self.pitch.is_outdated(world) {
            return;
        }
        let teams = &mut self.teams;
        self.roster.retain_mut(|entry| {
            let is_here = world.catalogue().agent_named(&entry.agent).is_some();
            let is_gone = entry.has_joined && !is_here;
            entry.has_joined |= is_here;
            if is_gone {
                teams.leave(entry.player);
            }
            !is_gone
        });
        self.release_names();
        self.pitch = Pitch::new(world, self.roster.iter().map(|entry| (entry.player, entry.agent.as_str())));
    }

    fn release_names(&mut self) {
        if self.config.releases_names && self.referee.mode() == PlayMode::BeforeKickOff {
            self.teams.release_empty();
        }
    }

    fn beam(&mut self, world: &mut World, agent: AgentId, to: Placement) {
        let Some(player) = self.pitch.player(agent) else { return };
        let others: Vec<_> =
            self.pitch.spots(world).filter(|(other, _)| *other != player).map(|(_, spot)| spot).collect();
        if let Some(to) = beam_placement(self.referee.mode(), player.side, to, others.into_iter()) {
            self.pitch.stand(world, player, to);
        }
    }

    fn say(&mut self, world: &World, agent: AgentId, volume: f64, text: &[u8]) {
        let Some(player) = self.pitch.player(agent) else { return };
        if let Some(mouth) = self.pitch.mouth(world, player) {
            self.soundscape.say(player, mouth, volume, text);
        }
    }

    /// Motors in an order that the player's robot does not have.
    fn unknown_motors(&self, world: &World, order: &GameOrder) -> Vec<String> {
        let GameOrder::PlacePlayer { player, joints, .. } = order else { return Vec::new() };
        let agent = self.pitch.players().find(|(other, _)| other == player).map(|(_, agent)| agent);
        let is_unknown = |motor: &str| agent.is_none_or(|agent| world.motor_joint(agent, motor).is_none());
        joints.iter().filter(|(motor, _)| is_unknown(motor)).map(|(motor, _)| motor.clone()).collect()
    }

    /// Carries out the orders since the last cycle, except those of players.
    fn apply_orders(&mut self, world: &mut World) {
        let mut decisions = Vec::new();
        for order in std::mem::take(&mut self.orders) {
            let ball = self.pitch.ball(world).map_or(DVec3::ZERO, |(position, _)| position);
            match order {
                GameOrder::KickOff(side) => self.referee.kick_off(side, &mut self.random, &mut decisions),
                GameOrder::DropBall => self.referee.drop_ball(ball, &mut decisions),
                GameOrder::PlaceBall { position, velocity } => {
                    self.referee.place_ball(position.into(), velocity.into(), &mut decisions);
                }
                GameOrder::SetPlayMode(mode) => self.referee.set_play_mode(mode, ball, &mut decisions),
                GameOrder::PlacePlayer { player, to, joints } => self.pitch.place_player(world, player, to, &joints),
                GameOrder::StandPlayer { player, to } => self.pitch.stand(world, player, to),
                GameOrder::Beam { .. } | GameOrder::Say { .. } => {}
            }
        }
        self.apply_decisions(world, &decisions);
    }

    fn apply_decisions(&mut self, world: &mut World, decisions: &[Decision]) {
        for decision in decisions {
            match *decision {
                Decision::PlaceBall { position, velocity } => self.pitch.place_ball(world, position, velocity),
                Decision::Relocate { player, to } => self.pitch.stand(world, player, to),
            }
        }
    }

    fn hear(&mut self, world: &World) -> BTreeMap<PlayerId, Vec<(i32, Vec<u8>)>> {
        let mut heard = BTreeMap::new();
        for (player, _) in self.pitch.players() {
            let Some((position, rotation)) = self.pitch.ear(world, player) else { continue };
            let ear = Ear { player, position, rotation };
            if let Some(words) = self.soundscape.hear(&ear, &mut self.random) {
                let words = words.into_iter().map(|word| (word.azimuth_deg, word.text.to_vec())).collect();
                heard.insert(player, words);
            }
        }
        self.soundscape.clear();
        heard
    }

    /// Adds the calls of this cycle to the recent ones.
    fn record_calls(&mut self) {
        let (mode, fouls) = (self.referee.mode(), self.referee.fouls());
        if fouls.is_empty() && mode == self.view.mode {
            return;
        }
        let (time, score) = (self.referee.play_time(), Side::BOTH.map(|side| self.referee.score(side)));
        let calls = Arc::make_mut(&mut self.calls);
        for call in fouls {
            calls.add(time, score, CallKind::Foul(call.player, call.foul));
        }
        if mode != self.view.mode {
            calls.add(time, score, CallKind::Mode(mode));
        }
    }

    fn publish(&mut self, heard: BTreeMap<PlayerId, Vec<(i32, Vec<u8>)>>) {
        let mut view = initial_view(&self.referee);
        view.calls = Arc::clone(&self.calls);
        view.teams = Side::BOTH.map(|side| self.teams.name(side).map(str::to_owned));
        view.seed = self.seed;
        view.fouls = self.referee.fouls().iter().map(|call| (call.player, call.foul)).collect();
        view.players = self.pitch.players().collect();
        view.ball = self.pitch.ball_body();
        view.moved = self.pitch.take_moved();
        view.heard = heard;
        self.view = Arc::new(view);
    }
}

fn new_referee(config: &GameConfig, field: Field) -> Referee {
    let time = config.time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    Referee::new(config.rules, field, config.phase, time).with_timing(config.timing)
}

fn initial_view(referee: &Referee) -> GameView {
    GameView {
        field: *referee.field(),
        play_time: referee.play_time(),
        mode: referee.mode(),
        teams: [None, None],
        score: Side::BOTH.map(|side| referee.score(side)),
        half: referee.half(),
        seed: 0,
        fouls: Vec::new(),
        calls: Arc::default(),
        team_size: referee.rules().team_size,
        players: Vec::new(),
        ball: None,
        moved: Vec::new(),
        heard: BTreeMap::new(),
    }
}

impl Director for Game {
    const NAME: &'static str = "soccer";
    type Order = GameOrder;
    type Answer = GameAnswer;
    type Refusal = GameRefusal;
    type JoinRequest = JoinRequest;

    fn variables(&self) -> Vec<(String, Value)> {
        let team = |side: Side| Value::String(self.teams.name(side).unwrap_or_default().to_owned());
        let score = |side: Side| Value::Integer(self.referee.score(side).into());
        vec![
            ("/Game/PlayMode".to_owned(), Value::String(self.referee.mode().name().to_owned())),
            ("/Game/PlayTime".to_owned(), Value::Double(self.referee.play_time().as_secs_f64())),
            ("/Game/Left/Team".to_owned(), team(Side::Left)),
            ("/Game/Left/Score".to_owned(), score(Side::Left)),
            ("/Game/Right/Team".to_owned(), team(Side::Right)),
            ("/Game/Right/Score".to_owned(), score(Side::Right)),
        ]
    }

    fn reset(&mut self, world: &mut World) {
        self.referee = new_referee(&self.config, self.field);
        self.soundscape.clear();
        self.player_actions.clear();
        self.orders.clear();
        self.seed = world.seed();
        self.random = ChaCha8Rng::seed_from_u64(self.seed);
        self.refresh(world);
        self.release_names();
        self.record_calls();
        self.publish(BTreeMap::new());
    }

    fn model_changed(&mut self, world: &mut World) {
        self.refresh(world);
        // only the players may have changed
        self.publish(self.view.heard.clone());
    }

    fn before_physics(&mut self, world: &mut World) {
        let actions = std::mem::take(&mut self.player_actions);
        for (agent, actions) in actions {
            for action in actions {
                match action {
                    PlayerAction::Beam(to) => self.beam(world, agent, to),
                    PlayerAction::Say { volume, text } => self.say(world, agent, volume, &text),
                }
            }
        }
    }

    fn after_physics(&mut self, world: &mut World) {
        self.refresh(world);
        // bodies that were moved before the physics are up to date in the simulation
        self.pitch.take_moved();
        let heard = self.hear(world);
        let contacts = self.pitch.ball_contacts(world);
        self.apply_orders(world);
        let players = self.pitch.scene_players(world);
        let Some((position, velocity)) = self.pitch.ball(world) else { return self.publish(heard) };
        let cycle = Duration::from_secs_f64(world.tick_seconds());
        let scene = Scene { cycle, ball: Ball { position, velocity }, players: &players, contacts: &contacts };
        let mut decisions = Vec::new();
        if self.config.referee {
            self.referee.judge(&scene, &mut decisions);
        } else {
            self.referee.let_pass(cycle);
        }
        self.apply_decisions(world, &decisions);
        self.record_calls();
        self.publish(heard);
    }

    fn admit(&mut self, world: &mut World, request: &JoinRequest) -> Result<Spawn, GameRefusal> {
        self.refresh(world);
        let JoinRequest { team, number } = request;
        let player = self.teams.join(team, *number)?;
        let side = if player.side == Side::Left { "Left" } else { "Right" };
        let agent = format!("{side} {number}");
        self.roster.push(RosterEntry { player, agent: agent.clone(), has_joined: false });
        let Placement { x, y, heading } = spawn_placement(&self.field, player);
        Ok(Spawn { name: agent, pose: Pose::facing(x, y, 0.0, heading) })
    }

    fn cancel_admission(&mut self, _: &mut World, name: &str) {
        if let Some(index) = self.roster.iter().rposition(|entry| entry.agent == name && !entry.has_joined) {
            self.teams.leave(self.roster.remove(index).player);
            self.release_names();
        }
    }

    fn apply_order(&mut self, world: &mut World, order: GameOrder) -> Result<Option<GameAnswer>, GameRefusal> {
        order.check()?;
        self.refresh(world);
        match order {
            GameOrder::Beam { agent, .. } | GameOrder::Say { agent, .. }
                if self.player_actions.get(&agent).is_some_and(|actions| actions.len() >= MAX_PLAYER_ACTIONS) =>
            {
                return Err(GameRefusal::PlayerQueueFull);
            }
            GameOrder::Beam { agent, to } => self.player_actions.entry(agent).or_default().push(PlayerAction::Beam(to)),
            GameOrder::Say { agent, volume, text } => {
                self.player_actions.entry(agent).or_default().push(PlayerAction::Say { volume, text });
            }
            GameOrder::PlacePlayer { player, .. } | GameOrder::StandPlayer { player, .. }
                if self.pitch.players().all(|(other, _)| other != player) =>
            {
                return Err(GameRefusal::UnknownPlayer { player });
            }
            _ if self.orders.len() >= MAX_ORDERS => return Err(GameRefusal::QueueFull),
            order => {
                let motors = self.unknown_motors(world, &order);
                self.orders.push(order);
                return Ok((!motors.is_empty()).then_some(GameAnswer::UnknownMotors { motors }));
            }
        }
        Ok(None)
    }

    fn view(&self) -> View {
        Arc::clone(&self.view) as View
    }

    fn fork(&self) -> Option<Self> {
        Some(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_of_older_recordings_stay_as_they_were() {
        let config = GameConfig {
            rules: RuleBook::Ssim,
            field: "fifa7vs7".to_owned(),
            phase: Phase::default(),
            time: None,
            releases_names: true,
            timing: Timing::Rounded,
            referee: true,
        };
        let game = Game::new(config.clone()).unwrap();
        assert_eq!(Game::from_description(&game.description()).unwrap().config, config);
        let without = GameConfig { referee: false, ..config.clone() };
        let game = Game::new(without.clone()).unwrap();
        assert_eq!(Game::from_description(&game.description()).unwrap().config, without);
        let mut older: serde_json::Value = serde_json::from_str(&game.description()).unwrap();
        for key in ["releases_names", "timing", "referee"] {
            older.as_object_mut().unwrap().remove(key).unwrap();
        }
        let older = Game::from_description(&older.to_string()).unwrap();
        assert_eq!(older.config, GameConfig { releases_names: false, timing: Timing::Exact, ..config });
    }
}
