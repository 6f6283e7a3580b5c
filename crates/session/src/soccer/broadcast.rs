//! The updates that all monitors of a game are sent: each is built and encoded once, however many monitors there are.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use soccer::RuleBook;
use wire::soccer::{Foul, MonitorMessage, MonitorUpdate};
use world::Snapshot;

use super::updates::Updates;
use crate::transport::encoded;

/// Updates that are kept for monitors which are behind.
const KEPT: usize = 8;

/// A numbered sequence of updates, and complete ones for monitors that have no part of it yet.
#[derive(Debug)]
pub(super) struct Broadcast {
    updates: Updates,
    /// The snapshot of the latest cycle.
    latest: Option<Arc<Snapshot>>,
    /// The latest updates, oldest first.
    recent: VecDeque<Bytes>,
    /// Number of the next update.
    next: u64,
    /// The fouls of the latest update, with its cycle.
    fouls: (Cycle, Vec<Foul>),
    complete: Option<Complete>,
}

/// Number of the try, and of the step in it.
type Cycle = (u64, u64);

fn cycle_of(world: &Snapshot) -> Cycle {
    (world.tries, world.step)
}

/// The last complete update that was built.
#[derive(Debug)]
struct Complete {
    world: Arc<Snapshot>,
    with_fouls: bool,
    update: Bytes,
}

impl Broadcast {
    pub(super) fn new(rules: RuleBook) -> Self {
        Self {
            updates: Updates::new(rules),
            latest: None,
            recent: VecDeque::new(),
            next: 0,
            fouls: Default::default(),
            complete: None,
        }
    }

    /// A cycle has ended. Every monitor reports it; the first one counts.
    pub(super) fn cycle(&mut self, world: &Arc<Snapshot>) {
        if self.latest.as_deref().is_some_and(|latest| cycle_of(world) <= cycle_of(latest)) {
            return;
        }
        self.latest = Some(Arc::clone(world));
        if let Some(update) = self.updates.after_cycle(world) {
            self.fouls = (cycle_of(world), update.game.fouls.clone());
            if self.recent.len() >= KEPT {
                self.recent.pop_front();
            }
            self.recent.push_back(encoded_update(update));
            self.next += 1;
        }
    }

    /// Number of the next update.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The updates from this number on; none if some are no longer kept.
    pub(super) fn since(&self, number: u64) -> Option<impl Iterator<Item = Bytes>> {
        let wanted = usize::try_from(self.next.checked_sub(number)?).ok()?;
        let skipped = self.recent.len().checked_sub(wanted)?;
        Some(self.recent.iter().skip(skipped).cloned())
    }

    /// A complete update of this moment, or of a later one that is already known. The fouls of the latest update are
    /// part of it if wanted.
    pub(super) fn complete(&mut self, world: &Arc<Snapshot>, with_fouls: bool) -> Option<Bytes> {
        let world = match &self.latest {
            Some(latest) if cycle_of(latest) > cycle_of(world) => Arc::clone(latest),
            _ => Arc::clone(world),
        };
        let (cycle, fouls) = &self.fouls;
        let with_fouls = with_fouls && *cycle == cycle_of(&world) && !fouls.is_empty();
        if let Some(known) = &self.complete
            && Arc::ptr_eq(&known.world, &world)
            && known.with_fouls == with_fouls
        {
            return Some(known.update.clone());
        }
        let fouls = if with_fouls { fouls.clone() } else { Vec::new() };
        let update = encoded_update(self.updates.complete(&world, fouls)?);
        self.complete = Some(Complete { world, with_fouls, update: update.clone() });
        Some(update)
    }
}

fn encoded_update(update: MonitorUpdate) -> Bytes {
    encoded(&MonitorMessage::Update(Box::new(update)))
}
