//! The World Simulator: all connections of one world. Choices are in `protocols/evo/decisions.md`.
//!
//! A line in, its answer out, in the order of the lines. In a world with lockstep the answer to a move waits for the
//! moves of all other robots, and what is answered after it on the same connection waits behind it.

mod lockstep;

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use arena::{Arena, Request, RequestError, RobotId};
use wire::evo::{FromWorld, Line, LineBuffer, LineError, NotFinite, Position, ToWorld, VisualReading};

use self::lockstep::{Lockstep, Move};
use super::convert::{ask_from_message, message_from_answer, robot_of};
use crate::limits;

/// What came of some lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// What was not done, and why.
    pub refusals: Vec<String>,
    /// Why the connection is over, if it is. Answers so far are still sent.
    pub close: Option<String>,
    /// Whether there may be more lines to take at once.
    pub is_unfinished: bool,
    /// Whether lines are left because so much is to be sent.
    pub is_full: bool,
    /// Whether lines are left because others have to move first. They stir this connection when they have.
    pub is_held: bool,
    /// Lines that were taken.
    pub lines: usize,
}

/// A world, and everybody who is connected to it.
#[derive(Debug)]
pub struct WorldSimulator {
    arena: Arena,
    /// Whether a request without sense gets an answer without sense instead of the connection's end (D31).
    is_lenient: bool,
    peers: BTreeMap<u64, Peer>,
    lockstep: Option<Lockstep>,
    /// Connections for which others have done something.
    stirred: Vec<u64>,
}

#[derive(Debug)]
struct Peer {
    kind: usize,
    /// Ready to be sent.
    out: Vec<u8>,
    /// Behind that: moves that wait for others, and what waits behind them.
    held: VecDeque<Held>,
    held_bytes: usize,
    /// Taken, but about a robot whose move waits.
    postponed: Option<Request>,
}

#[derive(Debug)]
enum Held {
    Move(RobotId),
    Line(Vec<u8>),
}

impl WorldSimulator {
    /// Without connections.
    pub fn new(arena: Arena, is_lenient: bool) -> Self {
        let lockstep = arena.plan().rules().lockstep.map(Lockstep::new);
        Self { arena, is_lenient, peers: BTreeMap::new(), lockstep, stirred: Vec::new() }
    }

    /// The world.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Somebody connects, with a number that nobody had before. `kind` is that of the port.
    pub fn open(&mut self, connection: u64, kind: usize) {
        let peer = Peer { kind, out: Vec::new(), held: VecDeque::new(), held_bytes: 0, postponed: None };
        self.peers.insert(connection, peer);
    }

    /// A connection has ended, and with it the lives of its robots (D23).
    pub fn close(&mut self, connection: u64, now: Duration) {
        self.peers.remove(&connection);
        self.arena.disconnect(connection);
        self.forget_dead(now);
    }

    /// Takes lines that a peer has sent, up to a limit, so that others get their turn.
    /// `clock` says the time, as some lines take long.
    pub fn lines(&mut self, connection: u64, lines: &mut LineBuffer, clock: impl Fn() -> Duration) -> Turn {
        let (mut turn, began) = (Turn::default(), clock());
        for _ in 0..limits::EVO_LINES_PER_TURN {
            let now = clock();
            if now.saturating_sub(began) > limits::EVO_TURN {
                break;
            }
            let Some(peer) = self.peers.get_mut(&connection) else { return turn };
            turn.is_full = peer.out.len() >= limits::EVO_OUTPUT;
            turn.is_held = peer.held.len() >= limits::EVO_HELD || peer.held_bytes >= limits::EVO_OUTPUT;
            if turn.is_full || turn.is_held {
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
            turn.is_held = !self.carry_out(connection, ask, now, &mut turn);
            if turn.is_held || turn.close.is_some() {
                return turn;
            }
        }
        turn.is_unfinished = true;
        turn
    }

    /// Bytes to be sent. What was sent is to be taken out.
    pub fn out(&mut self, connection: u64) -> Option<&mut Vec<u8>> {
        self.peers.get_mut(&connection).map(|peer| &mut peer.out)
    }

    /// Connections for which others have done something: there is more to be sent, or to be taken.
    pub fn take_stirred(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.stirred)
    }

    /// When [`tick`](Self::tick) wants to be called at the latest.
    pub fn wakes_at(&self) -> Option<Duration> {
        self.lockstep.as_ref()?.due()
    }

    /// Time has passed. Says which robots were silent for too long.
    pub fn tick(&mut self, now: Duration) -> Vec<RobotId> {
        let silent = self.arena.reap(now);
        if !silent.is_empty() {
            self.forget_dead(now);
        }
        if self.wakes_at().is_some_and(|due| due <= now) {
            self.release(now);
        }
        silent
    }

    /// What a line asks; nothing if it is to be passed over, or is the end.
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
                self.refuse(connection, format!("the shape of robot {}: {error}", robot.0), Some(nowhere(robot)), turn);
                None
            }
        }
    }

    /// Does what is asked; `false` if it has to wait.
    fn carry_out(&mut self, connection: u64, ask: Request, now: Duration, turn: &mut Turn) -> bool {
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
            // nobody can be told of it; the peer may wait for others to go (D22)
            Err(refusal @ RequestError::Full) => turn.refusals.push(refusal.to_string()),
            Err(refusal) => {
                let stand_in = stand_in(&ask, self.arena.plan().rules().max_range);
                self.refuse(connection, refusal.to_string(), stand_in, turn);
            }
        }
        true
    }

    /// A request makes no sense: the end of the connection, or an answer that ends a trial (D7, D31).
    fn refuse(&mut self, connection: u64, reason: String, stand_in: Option<FromWorld>, turn: &mut Turn) {
        if !self.is_lenient {
            turn.close = Some(reason);
            return;
        }
        turn.refusals.push(reason);
        if let Some(message) = stand_in {
            self.send(connection, &message, turn);
        }
    }

    fn send(&mut self, connection: u64, message: &FromWorld, turn: &mut Turn) {
        let Some(peer) = self.peers.get_mut(&connection) else { return };
        if let Err(error) = peer.send(message) {
            turn.close = Some(error.to_string());
        }
    }

    /// Keeps the list of those whose moves are waited for.
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
            // of a peer that is still there: its robot was silent, or another peer has killed it
            let message = nowhere(robot);
            self.fill(connection, robot, &message);
        }
        self.release_if_complete(now);
    }

    fn release_if_complete(&mut self, now: Duration) {
        if self.lockstep.as_ref().is_some_and(Lockstep::is_complete) {
            self.release(now);
        }
    }

    /// All moves that wait, in the order of the robots: it does not matter in which order they came (D27).
    fn release(&mut self, now: Duration) {
        let moves = self.lockstep.as_mut().map(Lockstep::take).unwrap_or_default();
        for Move { connection, kind, robot, pose } in moves {
            let answer = self.arena.handle(connection, kind, &Request::Move(robot, pose), now).ok().flatten();
            let message = answer.and_then(|answer| message_from_answer(Some(robot), answer));
            self.fill(connection, robot, &message.unwrap_or_else(|| nowhere(robot)));
        }
    }

    /// Puts an answer where it was held a place for.
    fn fill(&mut self, connection: u64, robot: RobotId, message: &FromWorld) {
        let Some(peer) = self.peers.get_mut(&connection) else { return };
        let line = message.to_line().or_else(|NotFinite| nowhere(robot).to_line()).unwrap_or_default();
        let is_its = |held: &&mut Held| matches!(held, Held::Move(id) if *id == robot);
        if let Some(place) = peer.held.iter_mut().find(is_its) {
            peer.held_bytes += line.len();
            *place = Held::Line(line);
        }
        peer.send_ready();
        if self.stirred.last() != Some(&connection) {
            self.stirred.push(connection);
        }
    }
}

impl Peer {
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

/// What a lenient world says instead of an answer (D31).
fn stand_in(ask: &Request, max_range: f64) -> Option<FromWorld> {
    match ask {
        Request::Create | Request::Kill(_) => None,
        Request::Shape(robot, _) | Request::Jump(robot, _) | Request::Move(robot, _) => Some(nowhere(*robot)),
        Request::See(robot, _) => {
            Some(FromWorld::VisualSensorReading(robot.0, VisualReading { distance: max_range, color: [0; 3] }))
        }
        Request::Hear(robot, _) => Some(FromWorld::SonicSensorReading(robot.0, max_range)),
    }
}

/// A position that ends the trial of any robot: blocked and dead.
fn nowhere(robot: RobotId) -> FromWorld {
    let position =
        Position { x: 0.0, y: 0.0, z: 0.0, dir: 0.0, tilt_straight: 0.0, tilt_across: 0.0, stress: 1.0, death: true };
    FromWorld::YourPosition(robot.0, position)
}

#[cfg(test)]
mod tests;
