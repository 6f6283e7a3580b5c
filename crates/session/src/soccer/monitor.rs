//! The monitors' and trainers' port, and the log file, which contains what monitors are sent.

use core::net::SocketAddr;
use std::{collections::VecDeque, sync::Arc, time::Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use soccer::{Game, GameAnswer, GameOrder, PlayerId, RuleBook, Side};
use wire::{
    Message,
    soccer::{self as msg, AgentPlacement, MonitorMessage, MonitorRequest, Pose, TeamRef},
};
use world::{Answer, Command, Snapshot, Value};

use super::{
    broadcast::Broadcast,
    updates::{Updates, view},
};
use crate::{
    Context, Input, LogSession, OverStream, Session, StreamEffect, StreamOutbox, StreamReply, StreamService,
    StreamSession, Ticks, TokenBucket, limits, transport::encoded,
};

/// Pending acknowledgements of one trainer.
const MOST_AWAITED: usize = 128;
/// A variable of every world: its read is answered once all earlier commands are handled.
const CURRENT_STEP: &str = "/Control/CurrentStep";
const PAUSE: &str = "/Control/Pause";

/// Accepts monitors and trainers.
#[derive(Debug)]
pub struct Monitors {
    broadcast: Arc<Mutex<Broadcast>>,
}

impl Monitors {
    /// Monitors of a game with these rules.
    pub fn new(rules: RuleBook) -> Self {
        Self { broadcast: Arc::new(Mutex::new(Broadcast::new(rules))) }
    }
}

impl StreamService for Monitors {
    fn ticks(&self) -> Ticks {
        Ticks::WhenFree
    }

    fn may_be_silent(&self) -> bool {
        true
    }

    fn open(&self, peer: SocketAddr) -> Box<dyn StreamSession> {
        Box::new(OverStream(MonitorSession::new(peer, Arc::clone(&self.broadcast))))
    }
}

/// One monitor or trainer.
#[derive(Debug)]
pub struct MonitorSession {
    peer: SocketAddr,
    broadcast: Arc<Mutex<Broadcast>>,
    /// Number of the next update to send; none if it has to be a complete one.
    position: Option<u64>,
    /// Numbers to acknowledge, one for each pending read.
    awaited: VecDeque<u64>,
    /// Complete updates that it may still request.
    full_updates: TokenBucket,
    /// Whether it has requested one that is still due.
    wants_full: bool,
}

/// A message to a monitor.
#[derive(Debug)]
pub enum MonitorReply {
    /// An update, with its framing.
    Update(Bytes),
    /// All commands up to this `ack` are handled.
    Acknowledged(u64),
}

impl StreamReply for MonitorReply {
    fn encoded(&self) -> Bytes {
        match self {
            Self::Update(bytes) => bytes.clone(),
            Self::Acknowledged(number) => encoded(&MonitorMessage::Acknowledged(*number)),
        }
    }
}

impl Session for MonitorSession {
    type Request = MonitorRequest;
    type Reply = MonitorReply;
    type Effect = StreamEffect<MonitorReply>;

    fn handle(&mut self, input: Input<MonitorRequest>, context: Context<'_>, out: &mut StreamOutbox<MonitorReply>) {
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
                    self.catch_up(out);
                    self.send_complete(context.world, false, out);
                }
            }
            Input::Malformed { error, .. } => out.refuse(Some(self.peer), error),
            Input::Tick => self.cycle(context, out),
            Input::Answer(Answer::Value(..) | Answer::NoValue(..)) => {
                let acknowledged = self.awaited.pop_front().map(MonitorReply::Acknowledged);
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
        self.position = None;
    }
}

impl MonitorSession {
    fn new(peer: SocketAddr, broadcast: Arc<Mutex<Broadcast>>) -> Self {
        Self {
            peer,
            broadcast,
            position: None,
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

    /// A cycle has ended.
    fn cycle(&mut self, context: Context<'_>, out: &mut StreamOutbox<MonitorReply>) {
        self.broadcast.lock().cycle(context.world);
        if self.may_be_sent_full(context.now) {
            self.position = None;
        }
        if !self.catch_up(out) && Updates::is_due(context.world) {
            self.send_complete(context.world, true, out);
        }
    }

    /// Sends all updates that the peer does not have. False if it needs a complete one instead.
    fn catch_up(&mut self, out: &mut StreamOutbox<MonitorReply>) -> bool {
        let broadcast = self.broadcast.lock();
        let Some(updates) = self.position.and_then(|position| broadcast.since(position)) else { return false };
        updates.for_each(|update| out.send_droppable(MonitorReply::Update(update)));
        self.position = Some(broadcast.next());
        true
    }

    fn send_complete(&mut self, world: &Arc<Snapshot>, with_fouls: bool, out: &mut StreamOutbox<MonitorReply>) {
        let mut broadcast = self.broadcast.lock();
        if let Some(update) = broadcast.complete(world, with_fouls) {
            out.send_droppable(MonitorReply::Update(update));
            self.position = Some(broadcast.next());
        }
    }

    fn execute(&mut self, command: msg::Command, world: &Snapshot, out: &mut StreamOutbox<MonitorReply>) {
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
    fn acknowledge(&mut self, number: u64, world: &Snapshot, out: &mut StreamOutbox<MonitorReply>) {
        if self.awaited.len() >= MOST_AWAITED {
            return out.refuse(Some(self.peer), "too many pending acknowledgements");
        }
        self.awaited.push_back(number);
        out.commands.extend(world.catalogue.variable_named(CURRENT_STEP).map(|card| Command::Read(card.id)));
    }
}

fn pause(paused: bool, world: &Snapshot, out: &mut StreamOutbox<MonitorReply>) {
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

fn side_of(side: msg::Side) -> Side {
    match side {
        msg::Side::Left => Side::Left,
        msg::Side::Right => Side::Right,
    }
}

#[cfg(test)]
mod tests;
