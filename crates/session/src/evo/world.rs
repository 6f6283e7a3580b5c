//! The World Simulator. Choices are in `protocols/evo/decisions.md`.
//!
//! Replies come in the order of the lines. In a world with lockstep the reply to a move waits for the moves of all other
//! robots, and later replies on the same connection wait behind it.

mod lockstep;

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use arena::{Arena, Request, RequestError, RobotId};
use wire::evo::{FromWorld, Line, LineBuffer, LineError, NotFinite, Position, ToWorld, VisualReading};

use self::lockstep::{Lockstep, Move};
use super::{
    Backlog, LineServer, Received,
    convert::{ask_from_message, message_from_answer, robot_of},
};
use crate::limits;

/// An arena with all its connections.
#[derive(Debug)]
pub struct WorldSimulator {
    arena: Arena,
    /// Whether an invalid request gets a substitute reply instead of closing the connection (D31).
    is_lenient: bool,
    peers: BTreeMap<u64, Peer>,
    lockstep: Option<Lockstep>,
    /// Connections that the moves of others have unblocked.
    unblocked: Vec<u64>,
}

#[derive(Debug)]
struct Peer {
    kind: usize,
    /// Ready to be sent.
    out: Vec<u8>,
    /// Moves that wait for other robots, and replies queued behind them.
    held: VecDeque<Held>,
    held_bytes: usize,
    /// A request about a robot whose move is held.
    postponed: Option<Request>,
}

#[derive(Debug)]
enum Held {
    Move(RobotId),
    Line(Vec<u8>),
}

impl WorldSimulator {
    /// A simulator without connections.
    pub fn new(arena: Arena, is_lenient: bool) -> Self {
        let lockstep = arena.plan().rules().lockstep.map(Lockstep::new);
        Self { arena, is_lenient, peers: BTreeMap::new(), lockstep, unblocked: Vec::new() }
    }

    /// The world.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Connections that others have unblocked: there is output to send, or input to handle.
    pub fn take_unblocked(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.unblocked)
    }

    /// When [`tick`](Self::tick) has to be called at the latest.
    pub fn timeout(&self) -> Option<Duration> {
        self.lockstep.as_ref()?.due()
    }

    /// Removes robots that have timed out, and returns them. Releases overdue moves.
    pub fn tick(&mut self, now: Duration) -> Vec<RobotId> {
        let silent = self.arena.reap(now);
        if !silent.is_empty() {
            self.forget_dead(now);
        }
        if self.timeout().is_some_and(|due| due <= now) {
            self.release(now);
        }
        silent
    }

    /// Decodes a line; none if there is nothing to do or the connection is to be closed.
    fn read(&mut self, connection: u64, line: &[u8], turn: &mut Turn) -> Option<Request> {
        let message = match ToWorld::decode(line) {
            Ok(message) => message,
            Err(LineError::Blank) => return None,
            Err(error @ LineError::UnknownName { .. }) => {
                turn.refusals.push(error.to_string());
                return None;
            }
            Err(error) => {
                turn.close = Some(error.to_string());
                return None;
            }
        };
        match ask_from_message(message) {
            Ok(ask) => Some(ask),
            Err((robot, error)) => {
                self.refuse(
                    connection,
                    format!("the shape of robot {}: {error}", robot.0),
                    Some(dead_position(robot)),
                    turn,
                );
                None
            }
        }
    }

    /// Executes a request; false if it has to wait.
    fn execute(&mut self, connection: u64, ask: Request, now: Duration, turn: &mut Turn) -> bool {
        let (robot, kind) = (robot_of(&ask), self.peers.get(&connection).map_or(0, |peer| peer.kind));
        if let (Some(lockstep), Some(robot)) = (&mut self.lockstep, robot) {
            if lockstep.waits(robot) {
                if let Some(peer) = self.peers.get_mut(&connection) {
                    peer.postponed = Some(ask);
                }
                return false;
            }
            if let Request::Move(_, pose) = ask
                && may_move(&self.arena, connection, robot)
            {
                lockstep.hold(Move { connection, kind, robot, pose }, now);
                if let Some(peer) = self.peers.get_mut(&connection) {
                    peer.held.push_back(Held::Move(robot));
                }
                self.release_if_complete(now);
                return true;
            }
        }
        match self.arena.handle(connection, kind, &ask, now) {
            Ok(answer) => {
                if let Some(message) = answer.and_then(|answer| message_from_answer(robot, answer)) {
                    self.send(connection, &message, turn);
                }
                self.note_life(&ask, now);
            }
            // even a lenient world has no reply for it, and the peer waits for one (D22)
            Err(refusal @ (RequestError::Full | RequestError::TooManyRobots)) => {
                turn.close = Some(refusal.to_string());
            }
            Err(refusal) => {
                let substitute = substitute(&ask, self.arena.plan().rules().max_range);
                self.refuse(connection, refusal.to_string(), substitute, turn);
            }
        }
        true
    }

    /// Refuses an invalid request: closes the connection, or replies with something that ends the trial (D7, D31).
    fn refuse(&mut self, connection: u64, reason: String, substitute: Option<FromWorld>, turn: &mut Turn) {
        if !self.is_lenient {
            turn.close = Some(reason);
            return;
        }
        turn.refusals.push(reason);
        if let Some(message) = substitute {
            self.send(connection, &message, turn);
        }
    }

    fn send(&mut self, connection: u64, message: &FromWorld, turn: &mut Turn) {
        let Some(peer) = self.peers.get_mut(&connection) else { return };
        if let Err(error) = peer.send(message) {
            turn.close = Some(error.to_string());
        }
    }

    /// Updates the set of robots that move in lockstep.
    fn note_life(&mut self, ask: &Request, now: Duration) {
        let Some(lockstep) = &mut self.lockstep else { return };
        match ask {
            Request::Shape(robot, _) => lockstep.add(*robot),
            Request::Kill(_) => self.forget_dead(now),
            _ => {}
        }
    }

    fn forget_dead(&mut self, now: Duration) {
        let Some(lockstep) = &mut self.lockstep else { return };
        let dropped = lockstep.retain(|robot| self.arena.robot(robot).is_some());
        for Move { connection, robot, .. } in dropped {
            // the peer is still connected: its robot has timed out, or another peer has killed it
            let message = dead_position(robot);
            self.resolve(connection, robot, &message);
        }
        self.release_if_complete(now);
    }

    fn release_if_complete(&mut self, now: Duration) {
        if self.lockstep.as_ref().is_some_and(Lockstep::is_complete) {
            self.release(now);
        }
    }

    /// Executes all waiting moves in the order of the robots, whatever the order of arrival (D27).
    fn release(&mut self, now: Duration) {
        let moves = self.lockstep.as_mut().map(Lockstep::take).unwrap_or_default();
        for Move { connection, kind, robot, pose } in moves {
            let answer = self.arena.handle(connection, kind, &Request::Move(robot, pose), now).ok().flatten();
            let message = answer.and_then(|answer| message_from_answer(Some(robot), answer));
            self.resolve(connection, robot, &message.unwrap_or_else(|| dead_position(robot)));
        }
    }

    /// Replaces a held move by its reply.
    fn resolve(&mut self, connection: u64, robot: RobotId, message: &FromWorld) {
        let Some(peer) = self.peers.get_mut(&connection) else { return };
        let line = message.to_line().or_else(|NotFinite| dead_position(robot).to_line()).unwrap_or_default();
        let is_move_of = |held: &&mut Held| matches!(held, Held::Move(id) if *id == robot);
        if let Some(slot) = peer.held.iter_mut().find(is_move_of) {
            peer.held_bytes += line.len();
            *slot = Held::Line(line);
        }
        peer.send_ready();
        if self.unblocked.last() != Some(&connection) {
            self.unblocked.push(connection);
        }
    }
}

/// Never constructed: lines to a World Simulator lead to replies only.
pub type NoOutput = std::convert::Infallible;

type Turn = Received<NoOutput>;

impl LineServer for WorldSimulator {
    type Output = NoOutput;

    /// `port` is the kind of the connection's robots.
    fn open(&mut self, connection: u64, port: usize) {
        let peer = Peer { kind: port, out: Vec::new(), held: VecDeque::new(), held_bytes: 0, postponed: None };
        self.peers.insert(connection, peer);
    }

    /// The robots of the connection are removed (D23).
    fn close(&mut self, connection: u64, now: Duration) {
        self.peers.remove(&connection);
        self.arena.disconnect(connection);
        self.forget_dead(now);
    }

    fn receive(&mut self, connection: u64, lines: &mut LineBuffer, clock: impl Fn() -> Duration) -> Turn {
        let (mut turn, began) = (Turn::default(), clock());
        for _ in 0..limits::EVO_LINES_PER_TURN {
            let now = clock();
            if now.saturating_sub(began) > limits::EVO_TURN {
                break;
            }
            let Some(peer) = self.peers.get_mut(&connection) else { return turn };
            if let Some(backlog) = peer.backlog() {
                turn.backlog = backlog;
                return turn;
            }
            let ask = match peer.postponed.take() {
                Some(ask) => ask,
                None => match lines.next_line() {
                    Ok(Some(line)) => {
                        turn.lines += 1;
                        match self.read(connection, line, &mut turn) {
                            Some(ask) => ask,
                            None if turn.close.is_some() => return turn,
                            None => continue,
                        }
                    }
                    Ok(None) => return turn,
                    Err(error) => {
                        turn.close = Some(error.to_string());
                        return turn;
                    }
                },
            };
            if !self.execute(connection, ask, now, &mut turn) {
                turn.backlog = Backlog::Blocked;
            }
            if turn.backlog == Backlog::Blocked || turn.close.is_some() {
                return turn;
            }
        }
        turn.backlog = Backlog::TurnOver;
        turn
    }

    fn output(&mut self, connection: u64) -> Option<&mut Vec<u8>> {
        self.peers.get_mut(&connection).map(|peer| &mut peer.out)
    }
}

impl Peer {
    fn backlog(&self) -> Option<Backlog> {
        if self.out.len() >= limits::EVO_OUTPUT {
            Some(Backlog::OutputFull)
        } else if self.held.len() >= limits::EVO_HELD || self.held_bytes >= limits::EVO_OUTPUT {
            Some(Backlog::Blocked)
        } else {
            None
        }
    }

    fn send(&mut self, message: &FromWorld) -> Result<(), NotFinite> {
        if self.held.is_empty() {
            return message.encode(&mut self.out);
        }
        let line = message.to_line()?;
        self.held_bytes += line.len();
        self.held.push_back(Held::Line(line));
        Ok(())
    }

    fn send_ready(&mut self) {
        while let Some(Held::Line(line)) = self.held.front() {
            self.held_bytes -= line.len();
            self.out.extend_from_slice(line);
            self.held.pop_front();
        }
    }
}

fn may_move(arena: &Arena, connection: u64, robot: RobotId) -> bool {
    let is_shared = arena.plan().rules().shared_ids;
    arena.robot(robot).is_some_and(|view| view.body.is_some() && (is_shared || view.connection == connection))
}

/// What a lenient world replies to an invalid request (D31).
fn substitute(ask: &Request, max_range: f64) -> Option<FromWorld> {
    match ask {
        Request::Create | Request::Kill(_) => None,
        Request::Shape(robot, _) | Request::Jump(robot, _) | Request::Move(robot, _) => Some(dead_position(*robot)),
        Request::See(robot, _) => {
            Some(FromWorld::VisualSensorReading(robot.0, VisualReading { distance: max_range, color: [0; 3] }))
        }
        Request::Hear(robot, _) => Some(FromWorld::SonicSensorReading(robot.0, max_range)),
    }
}

/// A position that ends any robot's trial: blocked and dead.
fn dead_position(robot: RobotId) -> FromWorld {
    let position =
        Position { x: 0.0, y: 0.0, z: 0.0, dir: 0.0, tilt_straight: 0.0, tilt_across: 0.0, stress: 1.0, death: true };
    FromWorld::YourPosition(robot.0, position)
}

#[cfg(test)]
mod tests;
