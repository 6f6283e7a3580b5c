//! A world in this process.

use std::{sync::Arc, time::Duration};

use arena::{
    Arena, Plan, Request, Response,
    plan::{DirSense, DirZero, Rules},
};

use super::{World, WorldLost};

/// The only connection to the arena.
const CONNECTION: u64 = 0;

/// An arena for robots of one kind. Its time stands still, so that no robot is removed as idle.
#[derive(Debug)]
pub struct InProcessWorld {
    arena: Arena,
    kind: usize,
}

/// A world whose convention for directions the robots do not support.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the world changes `directions`, but the robots count counter-clockwise from +x; remove the section from the world file"
)]
pub struct UnsupportedDirections;

impl InProcessWorld {
    /// A new arena.
    pub fn new(plan: Arc<Plan>, seed: u64) -> Self {
        Self { arena: Arena::new(plan, seed), kind: 0 }
    }

    /// Checks that the world uses the robots' convention for directions. Over a connection this cannot be checked.
    ///
    /// # Errors
    ///
    /// It does not.
    pub fn check(plan: &Plan) -> Result<(), UnsupportedDirections> {
        let Rules { dir_zero, dir_sense, .. } = plan.rules();
        let is_usual = (*dir_zero, *dir_sense) == (DirZero::X, DirSense::Ccw);
        is_usual.then_some(()).ok_or(UnsupportedDirections)
    }

    /// Sets the kind of the robots: an index into the world's ports.
    #[must_use]
    pub fn with_kind(mut self, kind: usize) -> Self {
        self.kind = kind;
        self
    }

    /// The arena, read-only.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }
}

impl World for InProcessWorld {
    fn exchange(&mut self, requests: &[Request], responses: &mut Vec<Response>) -> Result<(), WorldLost> {
        if self.kind >= self.arena.plan().ports().len() {
            return Err(WorldLost::new(format!("the world has no port {}", self.kind + 1)));
        }
        for request in requests {
            let response = self.arena.handle(CONNECTION, self.kind, request, Duration::ZERO).map_err(WorldLost::new)?;
            match (request, response) {
                (Request::Kill(_), _) => {}
                (_, Some(response)) => responses.push(response),
                (_, None) => return Err(WorldLost::new("the arena did not respond")),
            }
        }
        Ok(())
    }
}
