//! A world in the same process.

use std::{sync::Arc, time::Duration};

use arena::{
    Arena, Plan, Request, Response,
    plan::{DirSense, DirZero, Rules},
};

use super::{World, WorldLost};

/// The connection that robots in this process have; there is no other.
const CONNECTION: u64 = 0;

/// An arena for robots of one kind. No time passes in it, so that no robot is ever idle for too long.
#[derive(Debug)]
pub struct InProcess {
    arena: Arena,
    kind: usize,
}

/// A world whose directions are not those of the robots here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the world's `directions` are others than those of our robots, which count counter-clockwise from +x; leave them out"
)]
pub struct OtherDirections;

impl InProcess {
    /// A new arena.
    pub fn new(plan: Arc<Plan>, seed: u64) -> Self {
        Self { arena: Arena::new(plan, seed), kind: 0 }
    }

    /// Checks that robots can find their way in a world. Over a connection nobody can tell.
    pub fn suits(plan: &Plan) -> Result<(), OtherDirections> {
        let Rules { dir_zero, dir_sense, .. } = plan.rules();
        let is_usual = (*dir_zero, *dir_sense) == (DirZero::X, DirSense::Ccw);
        is_usual.then_some(()).ok_or(OtherDirections)
    }

    /// With robots of another kind: that of the world file's port with this number, from 0.
    #[must_use]
    pub fn with_kind(mut self, kind: usize) -> Self {
        self.kind = kind;
        self
    }

    /// The arena, to be looked at.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }
}

impl World for InProcess {
    fn exchange(&mut self, asks: &[Request], answers: &mut Vec<Response>) -> Result<(), WorldLost> {
        if self.kind >= self.arena.plan().ports().len() {
            return Err(WorldLost::new(format!("it has no port {} for robots", self.kind + 1)));
        }
        for ask in asks {
            let answer = self.arena.handle(CONNECTION, self.kind, ask, Duration::ZERO).map_err(WorldLost::new)?;
            match (ask, answer) {
                (Request::Kill(_), _) => {}
                (_, Some(answer)) => answers.push(answer),
                (_, None) => return Err(WorldLost::new("there is no room for another robot")),
            }
        }
        Ok(())
    }
}
