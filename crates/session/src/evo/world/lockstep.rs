//! Moves that wait for each other.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use arena::{Pose, RobotId};

/// A move that waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Move {
    pub(super) connection: u64,
    pub(super) kind: usize,
    pub(super) robot: RobotId,
    pub(super) pose: Pose,
}

/// Robots that move together: once all have requested a move, or those that have when the time is up.
#[derive(Debug)]
pub(super) struct Lockstep {
    patience: Duration,
    /// Robots with a shape.
    robots: BTreeSet<RobotId>,
    moves: BTreeMap<RobotId, Move>,
    /// When the first of the moves came.
    since: Duration,
}

impl Lockstep {
    pub(super) fn new(patience: Duration) -> Self {
        Self { patience, robots: BTreeSet::new(), moves: BTreeMap::new(), since: Duration::ZERO }
    }

    pub(super) fn add(&mut self, robot: RobotId) {
        self.robots.insert(robot);
    }

    /// Whether a robot's move waits.
    pub(super) fn waits(&self, robot: RobotId) -> bool {
        self.moves.contains_key(&robot)
    }

    pub(super) fn hold(&mut self, wanted: Move, now: Duration) {
        if self.moves.is_empty() {
            self.since = now;
        }
        self.moves.insert(wanted.robot, wanted);
    }

    /// Whether every robot has requested a move, and there is at least one.
    pub(super) fn is_complete(&self) -> bool {
        !self.moves.is_empty() && self.moves.len() >= self.robots.len()
    }

    /// When the pending moves are executed even if some robots have not requested one.
    pub(super) fn due(&self) -> Option<Duration> {
        (!self.moves.is_empty()).then(|| self.since + self.patience)
    }

    /// In the order of the robots.
    pub(super) fn take(&mut self) -> Vec<Move> {
        std::mem::take(&mut self.moves).into_values().collect()
    }

    /// Forgets robots; returns their pending moves.
    pub(super) fn retain(&mut self, lives: impl Fn(RobotId) -> bool) -> Vec<Move> {
        self.robots.retain(|robot| lives(*robot));
        self.moves.extract_if(.., |robot, _| !lives(*robot)).map(|(_, dropped)| dropped).collect()
    }
}
