//! The port of the monitors and trainers, and the log, which is a monitor that writes to a file.

use std::{collections::VecDeque, net::SocketAddr};

use soccer::{Game, GameAnswer, GameOrder, PlayerId, RuleBook, Side, field::BALL_RADIUS, game::GameView, scene::Foul};
use wire::{
    Message,
    soccer::{
        self as told, AgentPlacement, Environment, FoulKind, Graph, Hundredths, MonitorGame, MonitorMessage,
        MonitorRequest, MonitorUpdate, Name, PlayMode, Pose, TeamRef, Teams,
    },
};
use world::{Answer, Command, Snapshot, Value};

use super::picture::Picture;
use crate::{
    session::{Input, LogSession, Outbox, Session, StreamService, StreamSession},
    sim_thread::Ticks,
};

/// Monitors are sent a picture every so many cycles.
const UPDATE_EVERY: u64 = 2;
/// Every so many cycles the picture is a whole one.
const WHOLE_EVERY: u64 = 250;
/// Acknowledgements of one trainer that may be on their way.
const MOST_AWAITED: usize = 128;
/// Always there to be read: the world answers when it has taken everything before the question.
const CURRENT_STEP: &str = "/Control/CurrentStep";
const PAUSE: &str = "/Control/Pause";
/// How far up the league's fields go, in m.
const FIELD_HEIGHT: f64 = 40.0;

/// Lets monitors in.
pub(super) struct Monitors {
    pub(super) rules: RuleBook,
}

impl StreamService for Monitors {
    fn wants_ticks(&self) -> Ticks {
        Ticks::WhenFree
    }

    fn may_be_silent(&self) -> bool {
        true
    }

    fn open(&self, peer: SocketAddr) -> Box<dyn StreamSession> {
        Box::new(MonitorSession { peer, painter: Painter::new(self.rules), awaited: VecDeque::new() })
    }
}

/// One monitor or trainer.
#[derive(Debug)]
pub struct MonitorSession {
    peer: SocketAddr,
    painter: Painter,
    /// What is to be acknowledged when the world has answered so many questions.
    awaited: VecDeque<u64>,
}

impl Session for MonitorSession {
    type Request = MonitorRequest;
    type Reply = MonitorMessage;

    fn handle(&mut self, input: Input<MonitorRequest>, world: &Snapshot, out: &mut Outbox<MonitorMessage>) {
        match input {
            Input::Message { message, .. } => {
                if let Some(lost) = &message.first_error {
                    out.refuse(Some(self.peer), lost);
                }
                for command in message.commands {
                    self.obey(command, world, out);
                }
            }
            Input::Malformed { error, .. } => out.refuse(Some(self.peer), error),
            Input::Tick => {
                if let Some(update) = self.painter.paint(world) {
                    out.send_if_read(self.peer, MonitorMessage::Update(Box::new(update)));
                }
            }
            Input::Answer(Answer::Value(..) | Answer::NoValue(..)) => {
                let acknowledged = self.awaited.pop_front().map(MonitorMessage::Acknowledged);
                out.replies.extend(acknowledged.map(|message| (self.peer, message)));
            }
            Input::Answer(Answer::Refused(refusal)) => out.refuse(Some(self.peer), refusal),
            Input::Answer(Answer::Ordered(answer)) => {
                if let Some(answer) = answer.downcast_ref::<GameAnswer>() {
                    out.refuse(Some(self.peer), answer);
                }
            }
            Input::Answer(_) => {}
        }
    }

    /// A picture is missing: the next one has to be whole.
    fn skipped(&mut self) {
        self.painter.begin_anew();
    }
}

impl MonitorSession {
    fn obey(&mut self, command: told::Command, world: &Snapshot, out: &mut Outbox<MonitorMessage>) {
        let order = match command {
            told::Command::KickOff(side) => GameOrder::KickOff(side.map(side_of)),
            told::Command::DropBall => GameOrder::DropBall,
            told::Command::PlaceBall { position, velocity } => {
                GameOrder::PlaceBall { position, velocity: velocity.unwrap_or_default() }
            }
            told::Command::SetPlayMode(mode) => match soccer::PlayMode::from_name(mode.name()) {
                Some(mode) => GameOrder::SetPlayMode(mode),
                None => return out.refuse(Some(self.peer), format_args!("there is no play mode `{}`", mode.name())),
            },
            told::Command::PlaceAgent(place) => match placed(place, world) {
                Ok(order) => order,
                Err(reason) => return out.refuse(Some(self.peer), reason),
            },
            told::Command::KillSim => return out.end(format_args!("a monitor ({})", self.peer)),
            told::Command::Init | told::Command::RequestFullState => {
                // at once, as time may stand still
                let update = self.painter.paint_whole(world);
                return out.optional.extend(update.map(|update| (self.peer, MonitorMessage::Update(Box::new(update)))));
            }
            told::Command::Reset { seed } => return out.ask(Command::Reset(seed)),
            told::Command::Pause => return pause(true, world, out),
            told::Command::Resume => return pause(false, world, out),
            told::Command::Acknowledge(number) => return self.acknowledge(number, world, out),
        };
        out.ask(Command::order::<Game>(order));
    }

    /// The world answers a question when it has taken everything before it.
    fn acknowledge(&mut self, number: u64, world: &Snapshot, out: &mut Outbox<MonitorMessage>) {
        if self.awaited.len() >= MOST_AWAITED {
            return out.refuse(Some(self.peer), "too many acknowledgements asked for at once");
        }
        self.awaited.push_back(number);
        out.commands.extend(world.catalogue.variable_named(CURRENT_STEP).map(|card| Command::Read(card.id)));
    }
}

fn pause(paused: bool, world: &Snapshot, out: &mut Outbox<MonitorMessage>) {
    let variable = world.catalogue.variable_named(PAUSE);
    out.commands.extend(variable.map(|card| Command::Write(card.id, Value::Boolean(paused))));
}

/// The order to place a player, or why there is none.
fn placed(place: AgentPlacement, world: &Snapshot) -> Result<GameOrder, String> {
    let AgentPlacement { number, team, pose, joints } = place;
    let game = view(world).ok_or("there is no game")?;
    let side = match &team {
        TeamRef::Side(side) => side_of(*side),
        TeamRef::Named(name) => Side::BOTH
            .into_iter()
            .zip(&game.teams)
            .find_map(|(side, team)| (team.as_deref() == Some(name.as_str())).then_some(side))
            .ok_or_else(|| format!("there is no team `{}`", name.as_str()))?,
    };
    let to = pose.map(|pose| match pose {
        Pose::Position(position) => (position, physics::Pose::IDENTITY.quat),
        Pose::Upright { position, yaw_deg } => {
            (position, physics::Pose::facing(0.0, 0.0, 0.0, yaw_deg.to_radians()).quat)
        }
        Pose::Free { position, quaternion } => (position, quaternion),
    });
    let joints = joints.into_iter().map(|(joint, angle)| (joint.as_str().to_owned(), angle.to_radians())).collect();
    Ok(GameOrder::PlacePlayer { player: PlayerId { side, number }, to, joints })
}

/// Writes what monitors are sent into a file, a line each.
pub(super) struct Scribe(Painter);

impl Scribe {
    pub(super) fn new(rules: RuleBook) -> Self {
        Self(Painter::new(rules))
    }
}

impl LogSession for Scribe {
    fn tick(&mut self, world: &Snapshot, out: &mut Vec<u8>) {
        if let Some(update) = self.0.paint(world) {
            update.encode(out);
            out.push(b'\n');
        }
    }
}

/// Makes pictures of the game: whole ones now and then, changes in between.
#[derive(Debug)]
struct Painter {
    rules: RuleBook,
    /// What was told last; none if the next one is to be whole.
    picture: Option<Picture>,
    /// The try that the last picture was of.
    tries: u64,
    /// Fouls since the last picture.
    fouls: Vec<(PlayerId, Foul)>,
}

impl Painter {
    fn new(rules: RuleBook) -> Self {
        Self { rules, picture: None, tries: 0, fouls: Vec::new() }
    }

    /// The next picture is a whole one.
    fn begin_anew(&mut self) {
        self.picture = None;
    }

    /// A whole picture, whatever the cycle.
    fn paint_whole(&mut self, world: &Snapshot) -> Option<MonitorUpdate> {
        self.begin_anew();
        self.picture_of(world)
    }

    /// The picture after this cycle, if it has one.
    fn paint(&mut self, world: &Snapshot) -> Option<MonitorUpdate> {
        self.fouls.extend(&view(world)?.fouls);
        world.step.is_multiple_of(UPDATE_EVERY).then(|| self.picture_of(world)).flatten()
    }

    fn picture_of(&mut self, world: &Snapshot) -> Option<MonitorUpdate> {
        let game = view(world)?;
        let is_due = world.step.is_multiple_of(WHOLE_EVERY) || world.tries != self.tries;
        self.tries = world.tries;
        let graph = match self.picture.as_mut().filter(|picture| !is_due && picture.is_of(&world.catalogue)) {
            Some(picture) => Graph::Diff { root: picture.changes(world, &game.moved) },
            None => {
                let root = self.picture.insert(Picture::new(&world.catalogue, game)).whole(world, &game.moved);
                Graph::Full { root, teams: teams(game), environment: Some(Box::new(environment(game, self.rules))) }
            }
        };
        let fouls = std::mem::take(&mut self.fouls).into_iter().filter_map(foul).collect();
        Some(MonitorUpdate { time: Hundredths::rounded(world.time), graph, game: state(game, fouls) })
    }
}

fn view(world: &Snapshot) -> Option<&GameView> {
    world.view::<GameView>()
}

fn side_of(side: told::Side) -> Side {
    match side {
        told::Side::Left => Side::Left,
        told::Side::Right => Side::Right,
    }
}

fn foul((player, foul): (PlayerId, Foul)) -> Option<told::Foul> {
    let side = if player.side == Side::Left { told::Side::Left } else { told::Side::Right };
    Some(told::Foul { kind: FoulKind::from_index(foul.id())?, side, number: player.number })
}

fn teams(game: &GameView) -> Teams {
    let [left, right] = &game.teams;
    let name = |team: &Option<String>| team.as_deref().and_then(|team| Name::new(team).ok());
    Teams { left: name(left), right: name(right) }
}

fn state(game: &GameView, fouls: Vec<told::Foul>) -> MonitorGame {
    let [score_left, score_right] = game.score.map(|score| score.try_into().unwrap_or(u16::MAX));
    MonitorGame {
        time: Hundredths::rounded(game.play_time.as_secs_f64()),
        half: game.half,
        score_left,
        score_right,
        play_mode: PlayMode::from_name(game.mode.name()).unwrap_or(PlayMode::BeforeKickOff),
        fouls,
    }
}

fn environment(game: &GameView, rules: RuleBook) -> Environment {
    let (field, rules) = (&game.field, rules.rules());
    Environment {
        field_length: field.length,
        field_width: field.width,
        field_height: FIELD_HEIGHT,
        goal_depth: field.goal_depth,
        goal_width: field.goal_width,
        goal_height: field.goal_height,
        // what the league calls the border is the width of the lines
        border_size: field.line_width,
        free_kick_distance: 0.0,
        ball_radius: BALL_RADIUS,
        goal_pause_time: rules.goal_pause.as_secs_f64(),
        half_time: rules.half.as_secs_f64(),
        centre_circle_radius: field.circle_radius,
        corner_area_radius: field.corner_radius,
        goalie_area_length: field.goalie_area_depth,
        goalie_area_width: field.goalie_area_width,
        penalty_spot_distance: field.penalty_spot,
        penalty_area_length: field.penalty_area_depth,
        penalty_area_width: field.penalty_area_width,
    }
}

#[cfg(test)]
mod tests;
