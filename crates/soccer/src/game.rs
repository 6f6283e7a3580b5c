//! The game on a world: teams, referee and audio as the world's director.

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
    audio::{Air, Ear},
    calls::{Called, Calls},
    field::Field,
    orders::{GameAnswer, GameOrder, GameRefusal, JoinRequest},
    referee::Referee,
    rules::{Phase, PlayMode, RuleBook, Side},
    scene::{Ball, Decision, Foul, Placement, PlayerId, Scene},
    teams::{Teams, beam_placement, spawn_placement},
};

use self::pitch::Pitch;

/// Orders that may wait for the next cycle.
const MOST_ORDERS: usize = 4_096;
/// Beams and words of one player that may.
const MOST_WISHES: usize = 512;

/// What a game is made of. Also its description in recordings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameConfig {
    /// The rules.
    pub rules: RuleBook,
    /// Name of the field.
    pub field: String,
    /// Which half is played.
    pub phase: Phase,
    /// Where the game clock begins, in s; at the phase's beginning if it is left out.
    pub time: Option<f64>,
}

/// What a player wants in a cycle.
#[derive(Clone, Debug)]
enum Wish {
    Beam(Placement),
    Say { volume: f64, text: Vec<u8> },
}

/// A player that was let in.
#[derive(Clone, Debug)]
pub(crate) struct Seat {
    player: PlayerId,
    /// Name of its robot.
    agent: String,
    /// Whether the robot has come; once it has and is gone again, the seat is free.
    taken: bool,
}

/// What sessions can see of the game.
#[derive(Clone, Debug, PartialEq)]
pub struct GameView {
    /// The field's measures.
    pub field: Field,
    /// The game clock.
    pub play_time: Duration,
    /// The play mode.
    pub mode: PlayMode,
    /// Names of the left and the right team, once they are known.
    pub teams: [Option<String>; 2],
    /// Goals of both.
    pub score: [u32; 2],
    /// 1 or 2.
    pub half: u8,
    /// Seed of the game.
    pub seed: u64,
    /// Called in the last cycle.
    pub fouls: Vec<(PlayerId, Foul)>,
    /// What was called of late, fouls and play modes.
    pub calls: Arc<Calls>,
    /// Players of a team, at most.
    pub team_size: usize,
    /// Who plays, in the order of joining.
    pub players: Vec<(PlayerId, AgentId)>,
    /// The ball's body, by its place in the catalogue.
    pub ball: Option<usize>,
    /// Bodies that were put somewhere in the last cycle after its physics, and where; by their place in the catalogue.
    pub moved: Vec<(usize, Pose)>,
    /// What each player hears: direction in degrees and text. Who hears that somebody speaks but understands nothing
    /// has an empty list.
    pub heard: BTreeMap<PlayerId, Vec<(i32, Vec<u8>)>>,
}

/// A game.
#[derive(Debug)]
pub struct Game {
    config: GameConfig,
    field: Field,
    referee: Referee,
    teams: Teams,
    /// In the order of joining.
    seats: Vec<Seat>,
    pitch: Pitch,
    air: Air,
    random: ChaCha8Rng,
    seed: u64,
    /// What players want before the physics of the next cycle. Sorted, so that it does not matter who was heard first.
    wishes: BTreeMap<AgentId, Vec<Wish>>,
    /// What others want after it.
    orders: Vec<GameOrder>,
    calls: Arc<Calls>,
    view: Arc<GameView>,
}

/// Why a game cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameError {
    /// There is no such field.
    #[error("there is no field `{name}` to play on; there are fifa and fifa7vs7")]
    NoSuchField {
        /// The name.
        name: String,
    },
    /// The description of a recorded game cannot be read.
    #[error("the game cannot be read: {reason}")]
    Description {
        /// Why.
        reason: String,
    },
}

impl Game {
    /// A game before its kick-off.
    pub fn new(config: GameConfig) -> Result<Self, GameError> {
        let name = config.field.clone();
        let field = Field::by_name(&name).ok_or(GameError::NoSuchField { name })?;
        let referee = new_referee(&config, field);
        let teams = Teams::new(referee.rules());
        let mut game = Self {
            config,
            field,
            teams,
            seats: Vec::new(),
            pitch: Pitch::default(),
            air: Air::new(),
            random: ChaCha8Rng::seed_from_u64(0),
            seed: 0,
            wishes: BTreeMap::new(),
            orders: Vec::new(),
            calls: Arc::default(),
            view: Arc::new(first_view(&referee)),
            referee,
        };
        game.show(BTreeMap::new());
        Ok(game)
    }

    /// The game that a recording describes.
    pub fn from_description(description: &str) -> Result<Self, GameError> {
        let unreadable = |error: serde_json::Error| GameError::Description { reason: error.to_string() };
        Self::new(serde_json::from_str(description).map_err(unreadable)?)
    }

    /// Describes the game for a recording.
    pub fn description(&self) -> String {
        // plain data always has a text
        serde_json::to_string(&self.config).unwrap_or_default()
    }

    /// Finds everyone again, if the model has changed, and frees the seats of those who have gone.
    fn look(&mut self, world: &World) {
        if !self.pitch.is_outdated(world) {
            return;
        }
        let teams = &mut self.teams;
        self.seats.retain_mut(|seat| {
            let is_here = world.catalogue().agent_named(&seat.agent).is_some();
            let is_gone = seat.taken && !is_here;
            seat.taken |= is_here;
            if is_gone {
                teams.leave(seat.player);
            }
            !is_gone
        });
        self.pitch = Pitch::new(world, self.seats.iter().map(|seat| (seat.player, seat.agent.as_str())));
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
            self.air.say(player, mouth, volume, text);
        }
    }

    /// Motors in an order that its player's robot does not have.
    fn unknown_joints(&self, world: &World, order: &GameOrder) -> Vec<String> {
        let GameOrder::PlacePlayer { player, joints, .. } = order else { return Vec::new() };
        let agent = self.pitch.players().find(|(other, _)| other == player).map(|(_, agent)| agent);
        let is_unknown = |motor: &str| agent.is_none_or(|agent| world.motor_joint(agent, motor).is_none());
        joints.iter().filter(|(motor, _)| is_unknown(motor)).map(|(motor, _)| motor.clone()).collect()
    }

    /// Does what was ordered since the last cycle.
    fn obey(&mut self, world: &mut World) {
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
        self.carry_out(world, &decisions);
    }

    fn carry_out(&mut self, world: &mut World, decisions: &[Decision]) {
        for decision in decisions {
            match *decision {
                Decision::PlaceBall { position, velocity } => self.pitch.place_ball(world, position, velocity),
                Decision::Relocate { player, to } => self.pitch.stand(world, player, to),
            }
        }
    }

    fn listen(&mut self, world: &World) -> BTreeMap<PlayerId, Vec<(i32, Vec<u8>)>> {
        let mut heard = BTreeMap::new();
        for (player, _) in self.pitch.players() {
            let Some((position, rotation)) = self.pitch.ear(world, player) else { continue };
            let ear = Ear { player, position, rotation };
            if let Some(words) = self.air.hear(&ear, &mut self.random) {
                let words = words.into_iter().map(|word| (word.azimuth_deg, word.text.to_vec())).collect();
                heard.insert(player, words);
            }
        }
        self.air.clear();
        heard
    }

    /// Keeps what was called in this cycle.
    fn note_calls(&mut self) {
        let (mode, fouls) = (self.referee.mode(), self.referee.fouls());
        if fouls.is_empty() && mode == self.view.mode {
            return;
        }
        let (time, score) = (self.referee.play_time(), Side::BOTH.map(|side| self.referee.score(side)));
        let calls = Arc::make_mut(&mut self.calls);
        for call in fouls {
            calls.add(time, score, Called::Foul(call.player, call.foul));
        }
        if mode != self.view.mode {
            calls.add(time, score, Called::Mode(mode));
        }
    }

    fn show(&mut self, heard: BTreeMap<PlayerId, Vec<(i32, Vec<u8>)>>) {
        let mut view = first_view(&self.referee);
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
    Referee::new(config.rules, field, config.phase, time)
}

fn first_view(referee: &Referee) -> GameView {
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
        self.air.clear();
        self.wishes.clear();
        self.orders.clear();
        self.seed = world.seed();
        self.random = ChaCha8Rng::seed_from_u64(self.seed);
        self.look(world);
        self.note_calls();
        self.show(BTreeMap::new());
    }

    fn model_changed(&mut self, world: &mut World) {
        self.look(world);
        // nothing was said meanwhile, only who plays may have changed
        self.show(self.view.heard.clone());
    }

    fn before_physics(&mut self, world: &mut World) {
        let wishes = std::mem::take(&mut self.wishes);
        for (agent, wishes) in wishes {
            for wish in wishes {
                match wish {
                    Wish::Beam(to) => self.beam(world, agent, to),
                    Wish::Say { volume, text } => self.say(world, agent, volume, &text),
                }
            }
        }
    }

    fn after_physics(&mut self, world: &mut World) {
        self.look(world);
        // what was put somewhere before the physics is where it was put, or on its way from there
        self.pitch.take_moved();
        let heard = self.listen(world);
        let contacts = self.pitch.ball_contacts(world);
        self.obey(world);
        let players = self.pitch.scene_players(world);
        let Some((position, velocity)) = self.pitch.ball(world) else { return self.show(heard) };
        let cycle = Duration::from_secs_f64(world.tick_seconds());
        let scene = Scene { cycle, ball: Ball { position, velocity }, players: &players, contacts: &contacts };
        let mut decisions = Vec::new();
        self.referee.judge(&scene, &mut decisions);
        self.carry_out(world, &decisions);
        self.note_calls();
        self.show(heard);
    }

    fn admit(&mut self, world: &mut World, request: &JoinRequest) -> Result<Spawn, GameRefusal> {
        self.look(world);
        let JoinRequest { team, number } = request;
        let player = self.teams.join(team, *number)?;
        let side = if player.side == Side::Left { "Left" } else { "Right" };
        let agent = format!("{side} {number}");
        self.seats.push(Seat { player, agent: agent.clone(), taken: false });
        let Placement { x, y, heading } = spawn_placement(&self.field, player);
        Ok(Spawn { name: agent, pose: Pose::facing(x, y, 0.0, heading) })
    }

    fn cancel_admission(&mut self, _: &mut World, name: &str) {
        if let Some(index) = self.seats.iter().rposition(|seat| seat.agent == name && !seat.taken) {
            self.teams.leave(self.seats.remove(index).player);
        }
    }

    fn apply_order(&mut self, world: &mut World, order: GameOrder) -> Result<Option<GameAnswer>, GameRefusal> {
        order.check()?;
        self.look(world);
        match order {
            GameOrder::Beam { agent, .. } | GameOrder::Say { agent, .. }
                if self.wishes.get(&agent).is_some_and(|wishes| wishes.len() >= MOST_WISHES) =>
            {
                return Err(GameRefusal::PlayerQueueFull);
            }
            GameOrder::Beam { agent, to } => self.wishes.entry(agent).or_default().push(Wish::Beam(to)),
            GameOrder::Say { agent, volume, text } => {
                self.wishes.entry(agent).or_default().push(Wish::Say { volume, text });
            }
            GameOrder::PlacePlayer { player, .. } | GameOrder::StandPlayer { player, .. }
                if self.pitch.players().all(|(other, _)| other != player) =>
            {
                return Err(GameRefusal::UnknownPlayer { player });
            }
            _ if self.orders.len() >= MOST_ORDERS => return Err(GameRefusal::QueueFull),
            order => {
                let motors = self.unknown_joints(world, &order);
                self.orders.push(order);
                return Ok((!motors.is_empty()).then_some(GameAnswer::UnknownMotors { motors }));
            }
        }
        Ok(None)
    }

    fn view(&self) -> View {
        Arc::clone(&self.view) as View
    }
}
