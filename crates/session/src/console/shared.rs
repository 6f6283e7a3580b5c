//! What all console sessions of one server share.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use parking_lot::Mutex;
use physics::Visual;
use wire::console::{EvolutionInfo, Message, PuppetInfo};
use world::Snapshot;

use super::{
    backend::{Backend, PuppetAccess},
    puppet, scene,
};
use crate::limits;

/// Facts about the server, sent to a client when it connects.
#[derive(Clone, Debug, Default)]
pub struct ServerInfo {
    /// Title of the scenario.
    pub title: String,
    /// Simulated time of a tick, in s.
    pub tick_seconds: f64,
    /// Name of the world's pace.
    pub pace: String,
    /// The choices for evolutionary runs, if the scenario has them.
    pub evolution: Option<EvolutionInfo>,
    /// File that the world is recorded to.
    pub recording: Option<String>,
}

/// Shared state of all console sessions.
pub struct Shared {
    pub(super) info: ServerInfo,
    pub(super) backend: Box<dyn Backend>,
    pub(super) puppet: Option<PuppetAccess>,
    pub(super) puppet_info: Option<PuppetInfo>,
    /// The last encoded poses, and the snapshot they are from.
    poses: Mutex<Option<(Arc<Snapshot>, Bytes)>>,
    scene: Mutex<Option<EncodedScene>>,
    /// Number of variables that all clients together observe.
    observed: AtomicUsize,
}

/// The last encoded scene, and what is visible in it.
struct EncodedScene {
    visuals: Arc<[Visual]>,
    text: Arc<str>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Shared {
    /// Shared state of the sessions of a server.
    pub fn new(info: ServerInfo, backend: Box<dyn Backend>, puppet: Option<PuppetAccess>) -> Self {
        let puppet_info = puppet.as_ref().map(puppet::info);
        let (poses, scene) = (Mutex::default(), Mutex::default());
        Self { info, backend, puppet, puppet_info, poses, scene, observed: AtomicUsize::new(0) }
    }

    /// Whether a client that observes `before` variables may observe `wanted` instead.
    pub(super) fn may_observe(&self, before: usize, wanted: usize) -> bool {
        wanted <= before
            || self.observed.load(Ordering::Relaxed) + (wanted - before) <= limits::CONSOLE_OBSERVED_TOGETHER
    }

    /// A client that observed `before` variables now observes `now`.
    pub(super) fn note_observed(&self, before: usize, now: usize) {
        self.observed.fetch_add(now, Ordering::Relaxed);
        self.observed.fetch_sub(before, Ordering::Relaxed);
    }

    /// The encoded poses of a snapshot. They are encoded once for all clients that view the same one.
    pub(super) fn poses(&self, world: &Arc<Snapshot>) -> Bytes {
        let mut poses = self.poses.lock();
        match poses.as_ref() {
            Some((of, frame)) if Arc::ptr_eq(of, world) => frame.clone(),
            _ => {
                let frame = Bytes::from(scene::poses(world));
                *poses = Some((Arc::clone(world), frame.clone()));
                frame
            }
        }
    }

    /// The encoded scene.
    pub(super) fn scene(&self, world: &Snapshot) -> Arc<str> {
        let mut kept = self.scene.lock();
        match kept.as_ref() {
            // a new model is a new list
            Some(scene) if Arc::ptr_eq(&scene.visuals, &world.visuals) => Arc::clone(&scene.text),
            _ => {
                let text: Arc<str> = Message::Scene(scene::scene(world)).to_text().into();
                *kept = Some(EncodedScene { visuals: Arc::clone(&world.visuals), text: Arc::clone(&text) });
                text
            }
        }
    }
}
