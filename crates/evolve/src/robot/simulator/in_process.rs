//! A world in this process.

use std::{borrow::Cow, sync::Arc, time::Duration};

use arena::{Arena, Plan, Request, Response, plan::Directions};

use super::{
    World, WorldLost,
    directions::{from_world, to_world},
};

/// The only connection to the arena.
const CONNECTION: u64 = 0;

/// An arena, for robots of its first kind. Its time stands still, so that no robot is removed as idle.
#[derive(Debug)]
pub struct InProcessWorld {
    arena: Arena,
}

impl InProcessWorld {
    /// A new arena.
    pub fn new(plan: Arc<Plan>, seed: u64) -> Self {
        Self { arena: Arena::new(plan, seed) }
    }

    /// The arena, read-only.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }
}

impl World for InProcessWorld {
    fn exchange(&mut self, requests: &[Request], responses: &mut Vec<Response>) -> Result<(), WorldLost> {
        self.exchange_as(0, requests, responses)
    }
}

impl InProcessWorld {
    /// As [`exchange`](World::exchange), for a robot of a kind: an index into the world's ports.
    pub(in crate::robot) fn exchange_as(
        &mut self,
        kind: usize,
        requests: &[Request],
        responses: &mut Vec<Response>,
    ) -> Result<(), WorldLost> {
        if kind >= self.arena.plan().ports().len() {
            return Err(WorldLost::new(format!("the world has no port {}", kind + 1)));
        }
        let directions = self.arena.plan().rules().directions;
        let is_usual = directions == Directions::default();
        for request in requests {
            let request = if is_usual { Cow::Borrowed(request) } else { Cow::Owned(to_world(directions, request)) };
            let response = self.arena.handle(CONNECTION, kind, &request, Duration::ZERO).map_err(WorldLost::new)?;
            match (&*request, response) {
                (Request::Kill(_), _) => {}
                (_, Some(response)) if is_usual => responses.push(response),
                (_, Some(response)) => responses.push(from_world(directions, response)),
                (_, None) => return Err(WorldLost::new("the arena did not respond")),
            }
        }
        Ok(())
    }
}
