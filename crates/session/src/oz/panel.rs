//! What the operators of one robot share: camera frames, sound, face names and control.

use core::net::SocketAddr;
use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;
use wire::oz::Jpeg;

/// Sounds kept for listeners.
const KEPT_SOUNDS: usize = 16;
/// Pending requests about face names.
const MAX_NAMINGS: usize = 16;

/// A frame of the eye camera.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Counts frames, from 1.
    pub number: u64,
    /// The image.
    pub jpeg: Jpeg,
}

/// A piece of the robot's speech, or its interruption.
#[derive(Clone, Debug)]
pub struct Sound {
    /// Counts sounds, from 0.
    pub number: u64,
    /// Whether it interrupts the sounds before it.
    pub cuts: bool,
    /// Sample rate, in Hz.
    pub rate: u32,
    /// Mono samples; empty for silence.
    pub samples: Arc<[i16]>,
}

/// A change of the known faces.
#[derive(Debug)]
pub enum Naming {
    /// Name a face in view.
    Give {
        /// Id of the face while it is tracked.
        face: u64,
        /// The name to give it.
        name: String,
    },
    /// Forget a name.
    Forget {
        /// The name to forget.
        name: String,
    },
}

/// Receives the result of a [`Naming`]. It is dropped without a result if face recognition stops.
pub trait NamingReply: Send {
    /// Whether the result is still awaited.
    fn is_awaited(&self) -> bool;
    /// Delivers the result; the error is human-readable.
    fn deliver(self: Box<Self>, result: Result<(), String>);
}

/// A pending request about face names.
pub type PendingNaming = (Naming, Box<dyn NamingReply>);

/// Ticket that no operator has.
const NO_TICKET: u64 = 0;

/// Where operators, camera, voice and face recognition meet.
#[derive(Default)]
pub struct OperatorPanel {
    latest: Mutex<Option<Frame>>,
    present: AtomicUsize,
    in_control: AtomicU64,
    tickets: AtomicU64,
    /// Addresses of operators, by ticket.
    peers: Mutex<BTreeMap<u64, SocketAddr>>,
    sounds: Mutex<VecDeque<Sound>>,
    namings: Mutex<Vec<PendingNaming>>,
    known: Mutex<Arc<[String]>>,
}

impl fmt::Debug for OperatorPanel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperatorPanel").field("operators", &self.operators()).finish_non_exhaustive()
    }
}

impl OperatorPanel {
    /// The latest camera frame.
    pub fn frame(&self) -> Option<Frame> {
        self.latest.lock().clone()
    }

    /// Publishes a camera frame, replacing the previous one.
    pub fn show(&self, jpeg: Jpeg) {
        let mut latest = self.latest.lock();
        let number = latest.as_ref().map_or(1, |frame| frame.number + 1);
        *latest = Some(Frame { number, jpeg });
    }

    /// Publishes a piece of speech; without samples, that speech stops.
    pub fn sound(&self, cuts: bool, rate: u32, samples: Arc<[i16]>) {
        let mut sounds = self.sounds.lock();
        let number = sounds.back().map_or(0, |last| last.number + 1);
        sounds.push_back(Sound { number, cuts, rate, samples });
        if sounds.len() > KEPT_SOUNDS {
            sounds.pop_front();
        }
    }

    /// All kept sounds from this number on.
    pub fn sounds_since(&self, number: u64) -> Vec<Sound> {
        self.sounds.lock().iter().filter(|sound| sound.number >= number).cloned().collect()
    }

    /// The number of the next sound.
    pub fn next_sound(&self) -> u64 {
        self.sounds.lock().back().map_or(0, |last| last.number + 1)
    }

    /// Queues a request for the face recognition.
    pub fn request_naming(&self, naming: Naming, reply: Box<dyn NamingReply>) {
        let mut namings = self.namings.lock();
        // requests that have timed out are no longer wanted
        namings.retain(|(_, reply)| reply.is_awaited());
        if namings.len() < MAX_NAMINGS {
            namings.push((naming, reply));
        } else {
            reply.deliver(Err("too many pending requests about face names".to_owned()));
        }
    }

    /// Takes all pending requests about face names.
    pub fn take_namings(&self) -> Vec<PendingNaming> {
        let mut namings = std::mem::take(&mut *self.namings.lock());
        namings.retain(|(_, reply)| reply.is_awaited());
        namings
    }

    /// Publishes the known names.
    pub fn set_known_names(&self, names: Arc<[String]>) {
        *self.known.lock() = names;
    }

    /// The known names.
    pub fn known_names(&self) -> Arc<[String]> {
        Arc::clone(&self.known.lock())
    }

    /// Whether an operator is connected.
    pub fn has_operators(&self) -> bool {
        self.operators() > 0
    }

    /// Number of connected operators.
    pub fn operators(&self) -> usize {
        self.present.load(Ordering::Relaxed)
    }

    /// Address of the operator in control, if there is one.
    pub fn in_control(&self) -> Option<SocketAddr> {
        self.peers.lock().get(&self.in_control.load(Ordering::Relaxed)).copied()
    }

    /// Adds an operator.
    pub fn enter(self: &Arc<Self>, peer: SocketAddr) -> Presence {
        self.present.fetch_add(1, Ordering::Relaxed);
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed) + 1;
        self.peers.lock().insert(ticket, peer);
        Presence { panel: Arc::clone(self), ticket }
    }
}

/// A connected operator. Dropping it disconnects the operator and releases control.
#[derive(Debug)]
pub struct Presence {
    panel: Arc<OperatorPanel>,
    ticket: u64,
}

impl Presence {
    /// Takes control if no operator has it. Returns whether this operator is in control.
    pub fn try_take_control(&self) -> bool {
        let control = &self.panel.in_control;
        let taken = control.compare_exchange(NO_TICKET, self.ticket, Ordering::Relaxed, Ordering::Relaxed);
        taken.is_ok() || taken == Err(self.ticket)
    }

    /// Whether no other operator is in control.
    pub fn may_take_control(&self) -> bool {
        [NO_TICKET, self.ticket].contains(&self.panel.in_control.load(Ordering::Relaxed))
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.panel.present.fetch_sub(1, Ordering::Relaxed);
        self.panel.peers.lock().remove(&self.ticket);
        // fails if another operator is in control
        let _ = self.panel.in_control.compare_exchange(self.ticket, NO_TICKET, Ordering::Relaxed, Ordering::Relaxed);
    }
}
