//! A thread that tests individuals in one world.

use std::{net::SocketAddr, sync::Arc};

use arena::{Plan, Request, Response};
use evolve::robot::{Design, Finished, InProcessWorld, Key, Simulator, World, WorldLost};
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
    Address(SocketAddr),
}

pub(super) struct Worker {
    pub(super) number: usize,
    pub(super) world_at: WorldAt,
    pub(super) design: Arc<Design>,
    pub(super) concurrent: usize,
    pub(super) pool: Arc<Pool>,
}

/// A world that is gone: whoever is given up has no robot there.
struct Nowhere;

impl World for Nowhere {
    fn exchange(&mut self, _: &[Request], _: &mut Vec<Response>) -> Result<(), WorldLost> {
        Err(WorldLost::new("there is none"))
    }
}

/// What a worker has in hand.
struct Bench {
    simulator: Simulator,
    keys: Vec<Key>,
    /// How often the world was lost since somebody was finished.
    losses: u32,
}

impl Worker {
    /// Tests until the pool is closed.
    pub(super) fn run(self) {
        let simulator = Simulator::new(Arc::clone(&self.design)).with_concurrent(self.concurrent);
        let mut bench = Bench { simulator, keys: Vec::new(), losses: 0 };
        let mut world: Box<dyn World> = Box::new(Nowhere);
        let (mut is_there, mut seen, mut pause) = (false, 0, limits::EVO_RECONNECT_DELAY);
        loop {
            let leavings = self.pool.leavings();
            let room = self.concurrent.saturating_sub(bench.keys.len());
            if room > 0 || leavings != seen {
                match self.pool.take(room, bench.keys.is_empty(), seen) {
                    Work::End => return,
                    Work::Evaluate(requests) => self.begin(requests, &mut bench),
                }
            }
            if leavings != seen {
                seen = leavings;
                is_there &= self.abort_unwanted(world.as_mut(), &mut bench);
            }
            if bench.keys.is_empty() {
                continue;
            }
            if !is_there {
                match self.open() {
                    Ok(opened) => (world, pause) = (opened, limits::EVO_RECONNECT_DELAY),
                    Err(lost) => {
                        warn!(protocol = PROTOCOL, "{} individuals wait: {lost}", bench.keys.len());
                        if self.pool.rest(pause) {
                            return;
                        }
                        pause = (2 * pause).min(limits::EVO_MAX_RECONNECT_DELAY);
                        continue;
                    }
                }
            }
            is_there = self.round(world.as_mut(), &mut bench);
        }
    }

    fn open(&self) -> Result<Box<dyn World>, WorldLost> {
        match &self.world_at {
            WorldAt::InProcess(plan, seed) => Ok(Box::new(InProcessWorld::new(Arc::clone(plan), *seed))),
            WorldAt::Address(address) => {
                let link = WorldLink::connect(*address)?;
                self.pool.note_link(self.number, link.stream().map_err(WorldLost::new)?);
                info!(protocol = PROTOCOL, %address, "connected to the world");
                Ok(Box::new(link))
            }
        }
    }

    fn begin(&self, requests: Vec<EvaluationRequest>, bench: &mut Bench) {
        for EvaluationRequest { key, genotype } in requests {
            match bench.simulator.submit(key, &genotype) {
                Ok(()) => bench.keys.push(key),
                // the session has looked at it already
                Err(error) => self.give_up(key, error.to_string()),
            }
        }
    }

    /// Gives up whom nobody wants any more; says whether the world is still there.
    fn abort_unwanted(&self, world: &mut dyn World, bench: &mut Bench) -> bool {
        bench.keys.retain(|key| self.pool.wants(key));
        match bench.simulator.abort(world, |key| !self.pool.wants(key)) {
            Ok(0) => true,
            Ok(count) => {
                info!(protocol = PROTOCOL, "{count} individuals given up: their manager has left");
                true
            }
            Err(_) => {
                bench.simulator.restart();
                false
            }
        }
    }

    /// One exchange with the world; says whether the world is still there.
    fn round(&self, world: &mut dyn World, bench: &mut Bench) -> bool {
        match bench.simulator.round(world) {
            Ok(finished) => {
                for finished in finished {
                    bench.losses = 0;
                    self.finish(finished, &mut bench.keys);
                }
                true
            }
            Err(lost) => {
                bench.losses += 1;
                warn!(protocol = PROTOCOL, "{} individuals begin again: {lost}", bench.keys.len());
                if bench.losses >= limits::EVO_WORLD_ATTEMPTS {
                    self.give_up_all(bench, &lost);
                }
                false
            }
        }
    }

    fn finish(&self, Finished { key, outcome }: Finished, keys: &mut Vec<Key>) {
        if let Some(place) = keys.iter().position(|other| *other == key) {
            keys.swap_remove(place);
        }
        let mut remarks = Vec::new();
        if outcome.clamped > 0 {
            remarks.push(format!("{} values were outside their limits and were clamped", outcome.clamped));
        }
        if outcome.not_finite > 0 {
            remarks.push(format!("{} results were not finite", outcome.not_finite));
        }
        if outcome.blocked > 0 {
            remarks.push(format!("{} trials found no free place to start", outcome.blocked));
        }
        let remark = (!remarks.is_empty()).then(|| about(key, &remarks.join("; ")));
        self.pool.deliver(Evaluated { key, fitness: outcome.fitness, remark });
    }

    /// One of them may be what ends the world: each is reported once, with the worst fitness (D13).
    fn give_up_all(&self, bench: &mut Bench, lost: &WorldLost) {
        bench.losses = 0;
        // the world is gone, and its robots with it
        let _ = bench.simulator.abort(&mut Nowhere, |_| true);
        for key in std::mem::take(&mut bench.keys) {
            self.give_up(key, format!("given up after {} tries: {lost}", limits::EVO_WORLD_ATTEMPTS));
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
