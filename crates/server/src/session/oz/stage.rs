//! What the operators of one robot share, and what its eyes show them.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use wire::oz::Jpeg;

/// A picture of the eye camera.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// Counts pictures, from 1.
    pub(crate) number: u64,
    /// The picture.
    pub(crate) jpeg: Jpeg,
}

/// Nobody is in control.
const NOBODY: u64 = 0;

/// The place where operators, eyes and control meet.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    latest: Mutex<Option<Frame>>,
    present: AtomicUsize,
    in_control: AtomicU64,
    tickets: AtomicU64,
}

impl Stage {
    /// The latest picture.
    pub(crate) fn frame(&self) -> Option<Frame> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Shows a picture to everybody. The one before is gone, seen or not.
    pub(crate) fn show(&self, jpeg: Jpeg) {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let number = latest.as_ref().map_or(1, |frame| frame.number + 1);
        *latest = Some(Frame { number, jpeg });
    }

    /// Whether anybody looks on.
    pub(crate) fn has_operators(&self) -> bool {
        self.present.load(Ordering::Relaxed) > 0
    }

    /// An operator comes in.
    pub(super) fn enter(self: &Arc<Self>) -> Presence {
        self.present.fetch_add(1, Ordering::Relaxed);
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed) + 1;
        Presence { stage: Arc::clone(self), ticket }
    }
}

/// An operator's place on the stage; given back when dropped.
#[derive(Debug)]
pub(super) struct Presence {
    stage: Arc<Stage>,
    ticket: u64,
}

impl Presence {
    /// Takes control if nobody has it. Whether this one has it then.
    pub(super) fn takes_control(&self) -> bool {
        let control = &self.stage.in_control;
        let taken = control.compare_exchange(NOBODY, self.ticket, Ordering::Relaxed, Ordering::Relaxed);
        taken.is_ok() || taken == Err(self.ticket)
    }

    /// Whether nobody else has control.
    pub(super) fn has_control_or_nobody(&self) -> bool {
        [NOBODY, self.ticket].contains(&self.stage.in_control.load(Ordering::Relaxed))
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.stage.present.fetch_sub(1, Ordering::Relaxed);
        // somebody else may be in control
        let _ = self.stage.in_control.compare_exchange(self.ticket, NOBODY, Ordering::Relaxed, Ordering::Relaxed);
    }
}
