//! The monitors' and trainers' port, and the log file, which contains what monitors are sent.

use core::net::SocketAddr;
use std::{collections::VecDeque, time::Instant};

use soccer::{Game, GameAnswer, GameOrder, PlayerId, RuleBook, Side, field::BALL_RADIUS, game::GameView, scene::Foul};
use wire::{
    Message,
    soccer::{
        self as msg, AgentPlacement, Environment, FoulKind, Graph, Hundredths, MonitorGame, MonitorMessage,
        MonitorRequest, MonitorUpdate, Name, PlayMode, Pose, TeamRef, Teams,
    },
};
use world::{Answer, Command, Snapshot, Value};

use super::scene_graph::SceneGraph;
use crate::{
    Context, Input, LogSession, OverStream, Session, StreamAction, StreamOutbox, StreamService, StreamSession, Ticks,
    TokenBucket, limits,
};

/// Cycles between two updates.
const UPDATE_EVERY: u64 = 2;
/// Cycles between two complete updates.
const COMPLETE_EVERY: u64 = 250;
/// Pending acknowledgements of one trainer.
const MOST_AWAITED: usize = 128;
/// A variable of every world: its read is answered once all earlier commands are handled.
const CURRENT_STEP: &str = "/Control/CurrentStep";
const PAUSE: &str = "/Control/Pause";
/// How far up the league's fields go, in m.
const FIELD_HEIGHT: f64 = 40.0;

/// Accepts monitors and trainers.
#[derive(Debug)]
pub struct Monitors {
    /// The rule book of the game.
    pub rules: RuleBook,
}

impl StreamService for Monitors {
    fn ticks(&self) -> Ticks {
        Ticks::WhenFree
    }

    fn may_be_silent(&self) -> bool {
        true
    }

    fn open(&self, peer: SocketAddr) -> Box<dyn StreamSession> {
        Box::new(OverStream(MonitorSession::new(peer, self.rules)))
    }
}

/// One monitor or trainer.
#[derive(Debug)]
pub struct MonitorSession {
    peer: SocketAddr,
    updates: Updates,
    /// Numbers to acknowledge, one for each pending read.
    awaited: VecDeque<u64>,
    /// Complete updates that it may still request.
    full_updates: TokenBucket,
    /// Whether it has requested one that is still due.
    wants_full: bool,
}

impl Session for MonitorSession {
    type Request = MonitorRequest;
    type Reply = MonitorMessage;
    type Action = StreamAction<MonitorMessage>;

    fn handle(&mut self, input: Input<MonitorRequest>, context: Context<'_>, out: &mut StreamOutbox<MonitorMessage>) {
        let world = context.world;
        match input {
            Input::Message { message, .. } => {
                if let Some(lost) = &message.first_error {
                    out.refuse(Some(self.peer), lost);
                }
                for command in message.commands {
                    self.execute(command, world, out);
                }
                // immediately, as the world may be paused
                if self.may_be_sent_full(context.now) {
                    send(self.updates.full_update(world), out);
                }
            }
            Input::Malformed { error, .. } => out.refuse(Some(self.peer), error),
            Input::Tick => {
                if self.may_be_sent_full(context.now) {
                    self.updates.start_over();
                }
                send(self.updates.after_cycle(world), out);
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
            Input::Answer(_) | Input::Opened | Input::Timeout | Input::CommunicationReset => {}
        }
    }

    /// An update is missing: the next one has to be complete.
    fn reply_dropped(&mut self) {
        self.updates.start_over();
    }
}

impl MonitorSession {
    fn new(peer: SocketAddr, rules: RuleBook) -> Self {
        Self {
            peer,
            updates: Updates::new(rules),
            awaited: VecDeque::new(),
            full_updates: TokenBucket::new(limits::FULL_UPDATES),
            wants_full: false,
        }
    }

    /// Whether a requested complete update may be sent now. Requests beyond the limit are answered together, later.
    fn may_be_sent_full(&mut self, now: Instant) -> bool {
        let may = self.wants_full && self.full_updates.try_take(1.0, now);
        self.wants_full &= !may;
        may
    }

    fn execute(&mut self, command: msg::Command, world: &Snapshot, out: &mut StreamOutbox<MonitorMessage>) {
        let order = match command {
            msg::Command::KickOff(side) => GameOrder::KickOff(side.map(side_of)),
            msg::Command::DropBall => GameOrder::DropBall,
            msg::Command::PlaceBall { position, velocity } => {
                GameOrder::PlaceBall { position, velocity: velocity.unwrap_or_default() }
            }
            msg::Command::SetPlayMode(mode) => match soccer::PlayMode::from_name(mode.name()) {
                Some(mode) => GameOrder::SetPlayMode(mode),
                None => return out.refuse(Some(self.peer), format_args!("unknown play mode `{}`", mode.name())),
            },
            msg::Command::PlaceAgent(place) => match placed(place, world) {
                Ok(order) => order,
                Err(reason) => return out.refuse(Some(self.peer), reason),
            },
            msg::Command::KillSim => return out.stop_server(format_args!("a monitor ({})", self.peer)),
            msg::Command::Init | msg::Command::RequestFullState => {
                self.wants_full = true;
                return;
            }
            msg::Command::Reset { seed } => return out.command(Command::Reset(seed)),
            msg::Command::Pause => return pause(true, world, out),
            msg::Command::Resume => return pause(false, world, out),
            msg::Command::Acknowledge(number) => return self.acknowledge(number, world, out),
        };
        out.command(Command::order::<Game>(order));
    }

    /// Acknowledges once the world has answered a read, that is, has handled all earlier commands.
    fn acknowledge(&mut self, number: u64, world: &Snapshot, out: &mut StreamOutbox<MonitorMessage>) {
        if self.awaited.len() >= MOST_AWAITED {
            return out.refuse(Some(self.peer), "too many pending acknowledgements");
        }
        self.awaited.push_back(number);
        out.commands.extend(world.catalogue.variable_named(CURRENT_STEP).map(|card| Command::Read(card.id)));
    }
}

fn send(update: Option<MonitorUpdate>, out: &mut StreamOutbox<MonitorMessage>) {
    if let Some(update) = update {
        out.send_droppable(MonitorMessage::Update(Box::new(update)));
    }
}

fn pause(paused: bool, world: &Snapshot, out: &mut StreamOutbox<MonitorMessage>) {
    let variable = world.catalogue.variable_named(PAUSE);
    out.commands.extend(variable.map(|card| Command::Write(card.id, Value::Boolean(paused))));
}

/// The order that places a player, or why there is none.
fn placed(place: AgentPlacement, world: &Snapshot) -> Result<GameOrder, String> {
    let AgentPlacement { number, team, pose, joints } = place;
    let game = view(world).ok_or("no game is running")?;
    let side = match &team {
        TeamRef::Side(side) => side_of(*side),
        TeamRef::Named(name) => Side::BOTH
            .into_iter()
            .zip(&game.teams)
            .find_map(|(side, team)| (team.as_deref() == Some(name.as_str())).then_some(side))
            .ok_or_else(|| format!("no team named `{}`", name.as_str()))?,
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

/// Logs what monitors are sent, one line per update.
#[derive(Debug)]
pub struct MonitorLog(Updates);

impl MonitorLog {
    /// A log of a game with these rules.
    pub fn new(rules: RuleBook) -> Self {
        Self(Updates::new(rules))
    }
}

impl LogSession for MonitorLog {
    fn tick(&mut self, world: &Snapshot, out: &mut Vec<u8>) {
        if let Some(update) = self.0.after_cycle(world) {
            update.encode(out);
            out.push(b'\n');
        }
    }
}

/// Produces updates of the game: complete ones at intervals, differences in between.
#[derive(Debug)]
struct Updates {
    rules: RuleBook,
    /// The scene as last sent; none if the next update has to be complete.
    scene: Option<SceneGraph>,
    /// The try of the last update.
    tries: u64,
    /// Fouls since the last update.
    fouls: Vec<(PlayerId, Foul)>,
}

impl Updates {
    fn new(rules: RuleBook) -> Self {
        Self { rules, scene: None, tries: 0, fouls: Vec::new() }
    }

    /// Makes the next update a complete one.
    fn start_over(&mut self) {
        self.scene = None;
    }

    /// A complete update, whatever the cycle.
    fn full_update(&mut self, world: &Snapshot) -> Option<MonitorUpdate> {
        self.start_over();
        self.update(world)
    }

    /// The update after this cycle, if one is due.
    fn after_cycle(&mut self, world: &Snapshot) -> Option<MonitorUpdate> {
        self.fouls.extend(&view(world)?.fouls);
        world.step.is_multiple_of(UPDATE_EVERY).then(|| self.update(world)).flatten()
    }

    fn update(&mut self, world: &Snapshot) -> Option<MonitorUpdate> {
        let game = view(world)?;
        let is_due = world.step.is_multiple_of(COMPLETE_EVERY) || world.tries != self.tries;
        self.tries = world.tries;
        let graph = match self.scene.as_mut().filter(|scene| !is_due && scene.is_current(&world.catalogue)) {
            Some(scene) => Graph::Diff { root: scene.diff(world, &game.moved) },
            None => {
                let root = self.scene.insert(SceneGraph::new(&world.catalogue, game)).full(world, &game.moved);
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

fn side_of(side: msg::Side) -> Side {
    match side {
        msg::Side::Left => Side::Left,
        msg::Side::Right => Side::Right,
    }
}

fn foul((player, foul): (PlayerId, Foul)) -> Option<msg::Foul> {
    let side = if player.side == Side::Left { msg::Side::Left } else { msg::Side::Right };
    Some(msg::Foul { kind: FoulKind::from_index(foul.id())?, side, number: player.number })
}

fn teams(game: &GameView) -> Teams {
    let [left, right] = &game.teams;
    let name = |team: &Option<String>| team.as_deref().and_then(|team| Name::new(team).ok());
    Teams { left: name(left), right: name(right) }
}

fn state(game: &GameView, fouls: Vec<msg::Foul>) -> MonitorGame {
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
        // the league's border is the width of the lines
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
