//! A thread that evaluates individuals in one world.

use std::{net::SocketAddr, sync::Arc};

use arena::{Plan, Request, Response, plan::Directions};
use evolve::robot::{Design, Finished, InProcessWorld, Key, Simulator, World, WorldLost, simulator::Redirected};
use tracing::{info, warn};

use super::{
    PROTOCOL,
    link::WorldLink,
    pool::{Evaluated, Pool, Work},
};
use session::evo::robot::EvaluationRequest;

use crate::limits;

/// Where the world of a Robot Simulator is.
#[derive(Clone, Debug)]
pub enum WorldAt {
    /// In this process, with one arena for each thread and this seed.
    InProcess(Arc<Plan>, u64),
    /// At a World Simulator, with one connection for each thread.
    Remote(RemoteWorld),
}

/// A World Simulator in another process, maybe another program.
#[derive(Clone, Copy, Debug)]
pub struct RemoteWorld {
    /// Its address.
    pub address: SocketAddr,
    /// Whether requests are sent without waiting for the answers to earlier ones. The document does not promise that this
    /// works.
    pub is_pipelined: bool,
    /// Its convention for directions, which the document leaves open.
    pub directions: Directions,
}

pub(super) struct Worker {
    pub(super) number: usize,
    pub(super) world_at: WorldAt,
    pub(super) design: Arc<Design>,
    pub(super) concurrent: usize,
    pub(super) pool: Arc<Pool>,
}

/// Stands in for a world that is not connected.
struct Disconnected;

impl World for Disconnected {
    fn exchange(&mut self, _: &[Request], _: &mut Vec<Response>) -> Result<(), WorldLost> {
        Err(WorldLost::new("not connected"))
    }
}

/// The evaluations a worker has in progress.
struct Batch {
    simulator: Simulator,
    keys: Vec<Key>,
    /// How often the world was lost since the last finished evaluation.
    losses: u32,
}

impl Worker {
    /// Evaluates until the pool is closed.
    pub(super) fn run(self) {
        let simulator = Simulator::new(Arc::clone(&self.design)).with_concurrent(self.concurrent);
        let mut batch = Batch { simulator, keys: Vec::new(), losses: 0 };
        let mut world: Box<dyn World> = Box::new(Disconnected);
        let (mut is_connected, mut seen, mut pause) = (false, 0, limits::EVO_RECONNECT_DELAY);
        loop {
            let departures = self.pool.departures();
            let room = self.concurrent.saturating_sub(batch.keys.len());
            if room > 0 || departures != seen {
                match self.pool.take(room, batch.keys.is_empty(), seen) {
                    Work::End => return,
                    Work::Evaluate(requests) => self.begin(requests, &mut batch),
                }
            }
            if departures != seen {
                seen = departures;
                is_connected &= self.abort_unwanted(world.as_mut(), &mut batch);
            }
            if batch.keys.is_empty() {
                continue;
            }
            if !is_connected {
                match self.open() {
                    Ok(opened) => (world, pause) = (opened, limits::EVO_RECONNECT_DELAY),
                    Err(lost) => {
                        warn!(
                            protocol = PROTOCOL,
                            individuals = batch.keys.len(),
                            "no connection to the world: {lost}"
                        );
                        if self.pool.wait_until_closed(pause) {
                            return;
                        }
                        pause = (2 * pause).min(limits::EVO_MAX_RECONNECT_DELAY);
                        continue;
                    }
                }
            }
            is_connected = self.round(world.as_mut(), &mut batch);
        }
    }

    fn open(&self) -> Result<Box<dyn World>, WorldLost> {
        match &self.world_at {
            WorldAt::InProcess(plan, seed) => Ok(Box::new(InProcessWorld::new(Arc::clone(plan), *seed))),
            WorldAt::Remote(RemoteWorld { address, is_pipelined, directions }) => {
                let link = WorldLink::connect(*address, *is_pipelined)?;
                self.pool.note_link(self.number, link.stream().map_err(WorldLost::new)?);
                info!(protocol = PROTOCOL, %address, "connected to the world");
                Ok(match *directions == Directions::default() {
                    true => Box::new(link),
                    false => Box::new(Redirected::new(link, *directions)),
                })
            }
        }
    }

    fn begin(&self, requests: Vec<EvaluationRequest>, batch: &mut Batch) {
        for EvaluationRequest { key, genotype } in requests {
            match batch.simulator.submit(key, &genotype) {
                Ok(()) => batch.keys.push(key),
                // the session has checked it already
                Err(error) => self.give_up(key, error.to_string()),
            }
        }
    }

    /// Aborts the evaluations of managers that have left; returns whether the world is still connected.
    fn abort_unwanted(&self, world: &mut dyn World, batch: &mut Batch) -> bool {
        batch.keys.retain(|key| self.pool.is_wanted(key));
        match batch.simulator.abort(world, |key| !self.pool.is_wanted(key)) {
            Ok(0) => true,
            Ok(count) => {
                info!(protocol = PROTOCOL, individuals = count, "evaluations aborted: their manager has left");
                true
            }
            Err(_) => {
                batch.simulator.restart();
                false
            }
        }
    }

    /// One exchange with the world; returns whether the world is still connected.
    fn round(&self, world: &mut dyn World, batch: &mut Batch) -> bool {
        match batch.simulator.round(world) {
            Ok(finished) => {
                for finished in finished {
                    batch.losses = 0;
                    self.finish(finished, &mut batch.keys);
                }
                true
            }
            Err(lost) => {
                batch.losses += 1;
                warn!(protocol = PROTOCOL, individuals = batch.keys.len(), "evaluations restarted: {lost}");
                if batch.losses >= limits::EVO_WORLD_ATTEMPTS {
                    self.give_up_all(batch, &lost);
                }
                false
            }
        }
    }

    fn finish(&self, Finished { key, outcome }: Finished, keys: &mut Vec<Key>) {
        if let Some(index) = keys.iter().position(|other| *other == key) {
            keys.swap_remove(index);
        }
        let mut remarks = Vec::new();
        if outcome.clamped > 0 {
            remarks.push(format!("{} values clamped to their limits", outcome.clamped));
        }
        if outcome.not_finite > 0 {
            remarks.push(format!("{} results not finite", outcome.not_finite));
        }
        if outcome.blocked > 0 {
            remarks.push(format!("{} trials without a free start position", outcome.blocked));
        }
        let remark = (!remarks.is_empty()).then(|| about(key, &remarks.join("; ")));
        self.pool.deliver(Evaluated { key, fitness: outcome.fitness, remark });
    }

    /// Any of them may have crashed the world: each is reported once, with the worst fitness (D13).
    fn give_up_all(&self, batch: &mut Batch, lost: &WorldLost) {
        batch.losses = 0;
        // the robots are gone with the world
        let _ = batch.simulator.abort(&mut Disconnected, |_| true);
        for key in std::mem::take(&mut batch.keys) {
            self.give_up(key, format!("failed after {} attempts: {lost}", limits::EVO_WORLD_ATTEMPTS));
        }
    }

    fn give_up(&self, key: Key, reason: String) {
        let fitness = self.design.file().fitness.worst;
        self.pool.deliver(Evaluated { key, fitness, remark: Some(about(key, &reason)) });
    }
}

fn about(key: Key, remark: &str) -> String {
    format!("individual {} of generation {}: {remark}", key.individual, key.generation)
}
