//! What the operators of one robot share, and what its eyes show them.

use std::{
    collections::{BTreeMap, VecDeque},
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use tokio::sync::oneshot;
use wire::oz::Jpeg;

/// Sounds that are kept for those who listen.
const KEPT_SOUNDS: usize = 16;
/// Names that may wait to be given.
const MAX_NAMINGS: usize = 16;

/// A picture of the eye camera.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// Counts pictures, from 1.
    pub(crate) number: u64,
    /// The picture.
    pub(crate) jpeg: Jpeg,
}

/// What the robot's voice says, or that it falls silent.
#[derive(Clone, Debug)]
pub(crate) struct Sound {
    /// Counts them, from 0.
    pub(crate) number: u64,
    /// Whether what was heard before ends.
    pub(crate) cuts: bool,
    /// Samples a second.
    pub(crate) rate: u32,
    /// One channel; none is silence.
    pub(crate) samples: Arc<[i16]>,
}

/// What somebody wants of the names of faces.
#[derive(Debug)]
pub(crate) enum Naming {
    /// A face in view has this name.
    Give {
        /// Which face.
        face: u64,
        /// Its name.
        name: String,
    },
    /// Nobody has this name.
    Forget {
        /// The name.
        name: String,
    },
}

/// What comes of it.
pub(crate) type Named = oneshot::Sender<Result<(), String>>;

/// Nobody is in control.
const NOBODY: u64 = 0;

/// The place where operators, eyes and control meet.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    latest: Mutex<Option<Frame>>,
    present: AtomicUsize,
    in_control: AtomicU64,
    tickets: AtomicU64,
    /// Where operators are, by their tickets.
    peers: Mutex<BTreeMap<u64, SocketAddr>>,
    sounds: Mutex<VecDeque<Sound>>,
    namings: Mutex<Vec<(Naming, Named)>>,
    known: Mutex<Arc<[String]>>,
}

fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stage {
    /// The latest picture.
    pub(crate) fn frame(&self) -> Option<Frame> {
        hold(&self.latest).clone()
    }

    /// Shows a picture to everybody. The one before is gone, seen or not.
    pub(crate) fn show(&self, jpeg: Jpeg) {
        let mut latest = hold(&self.latest);
        let number = latest.as_ref().map_or(1, |frame| frame.number + 1);
        *latest = Some(Frame { number, jpeg });
    }

    /// Lets everybody hear the voice; without samples, that it falls silent.
    pub(crate) fn sound(&self, cuts: bool, rate: u32, samples: Arc<[i16]>) {
        let mut sounds = hold(&self.sounds);
        let number = sounds.back().map_or(0, |last| last.number + 1);
        sounds.push_back(Sound { number, cuts, rate, samples });
        if sounds.len() > KEPT_SOUNDS {
            sounds.pop_front();
        }
    }

    /// What is to be heard from this number on.
    pub(crate) fn sounds_since(&self, number: u64) -> Vec<Sound> {
        hold(&self.sounds).iter().filter(|sound| sound.number >= number).cloned().collect()
    }

    /// The number that the next sound will have.
    pub(crate) fn next_sound(&self) -> u64 {
        hold(&self.sounds).back().map_or(0, |last| last.number + 1)
    }

    /// Asks whoever looks for faces to give or forget a name.
    pub(crate) fn name(&self, naming: Naming, answer: Named) {
        let mut namings = hold(&self.namings);
        // whoever has given up waiting no longer wants it
        namings.retain(|(_, answer)| !answer.is_closed());
        if namings.len() < MAX_NAMINGS {
            namings.push((naming, answer));
        } else {
            // whoever asked may be gone
            let _ = answer.send(Err("too many names at once".to_owned()));
        }
    }

    /// What is to be done about names.
    pub(crate) fn take_namings(&self) -> Vec<(Naming, Named)> {
        let mut namings = std::mem::take(&mut *hold(&self.namings));
        namings.retain(|(_, answer)| !answer.is_closed());
        namings
    }

    /// Tells which names are known.
    pub(crate) fn note_known(&self, names: Arc<[String]>) {
        *hold(&self.known) = names;
    }

    /// Which names are known.
    pub(crate) fn known(&self) -> Arc<[String]> {
        Arc::clone(&hold(&self.known))
    }

    /// Whether anybody looks on.
    pub(crate) fn has_operators(&self) -> bool {
        self.operators() > 0
    }

    /// How many look on.
    pub(crate) fn operators(&self) -> usize {
        self.present.load(Ordering::Relaxed)
    }

    /// Where the one in control is, if anybody is.
    pub(crate) fn in_control(&self) -> Option<SocketAddr> {
        hold(&self.peers).get(&self.in_control.load(Ordering::Relaxed)).copied()
    }

    /// An operator comes in.
    pub(crate) fn enter(self: &Arc<Self>, peer: SocketAddr) -> Presence {
        self.present.fetch_add(1, Ordering::Relaxed);
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed) + 1;
        hold(&self.peers).insert(ticket, peer);
        Presence { stage: Arc::clone(self), ticket }
    }
}

/// An operator's place on the stage; given back when dropped.
#[derive(Debug)]
pub(crate) struct Presence {
    stage: Arc<Stage>,
    ticket: u64,
}

impl Presence {
    /// Takes control if nobody has it. Whether this one has it then.
    pub(crate) fn takes_control(&self) -> bool {
        let control = &self.stage.in_control;
        let taken = control.compare_exchange(NOBODY, self.ticket, Ordering::Relaxed, Ordering::Relaxed);
        taken.is_ok() || taken == Err(self.ticket)
    }

    /// Whether nobody else has control.
    pub(crate) fn has_control_or_nobody(&self) -> bool {
        [NOBODY, self.ticket].contains(&self.stage.in_control.load(Ordering::Relaxed))
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.stage.present.fetch_sub(1, Ordering::Relaxed);
        hold(&self.stage.peers).remove(&self.ticket);
        // somebody else may be in control
        let _ = self.stage.in_control.compare_exchange(self.ticket, NOBODY, Ordering::Relaxed, Ordering::Relaxed);
    }
}
