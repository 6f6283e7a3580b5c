//! Clients that stay connected from the beginning to the end, and measure.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use parking_lot::Mutex;
use rustix::process::setpriority_process;

use super::{
    clients::{Kind, Player, Progress, Target},
    now,
};
use crate::process::Server;

/// A cycle takes 20 ms; a perception is late if it comes a whole cycle after it was due.
const LATE: Duration = Duration::from_millis(40);

/// What the witnesses have seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    /// Cycles of the soccer player.
    pub(super) cycles: u64,
    /// Those that came late.
    pub(super) late: u64,
    /// The longest interval between two perceptions since the last time.
    pub(super) longest: Duration,
    /// Replies to the other witnesses.
    pub(super) replies: u64,
    /// The slowest reply since the last time.
    pub(super) slowest: Duration,
}

impl Count {
    pub(super) fn since(&self, earlier: &Self) -> Self {
        Self {
            cycles: self.cycles - earlier.cycles,
            late: self.late - earlier.late,
            replies: self.replies - earlier.replies,
            ..*self
        }
    }
}

type Errors = BTreeMap<String, u64>;

#[derive(Debug, Default)]
struct Shared {
    count: Mutex<Count>,
    errors: Mutex<Errors>,
}

impl Shared {
    fn update(&self, change: impl FnOnce(&mut Count)) {
        change(&mut self.count.lock());
    }

    fn failed(&self, kind: Kind, error: &anyhow::Error) {
        let mut errors = self.errors.lock();
        *errors.entry(format!("{} witness: {error:#}", kind.name())).or_default() += 1;
    }
}

/// One client of each protocol.
pub(super) struct Witnesses {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What they report at the end.
pub(super) struct Witnessed {
    pub(super) errors: Errors,
}

impl Witnesses {
    pub(super) fn start(server: &Server, stop: &Arc<AtomicBool>) -> anyhow::Result<Self> {
        let shared = Arc::new(Shared::default());
        let target = Target { endpoints: server.addresses().to_vec(), console: server.console().to_owned() };
        let mut threads = Vec::new();
        // the operator would compete with the others for the robot's voice
        for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Oz) {
            let (shared, stop, target) = (Arc::clone(&shared), Arc::clone(stop), target.clone());
            let witness = move || {
                raise_priority();
                let result = match kind {
                    Kind::Soccer => play(&target, &shared, &stop),
                    _ => target.run(kind, 0, &mut Witness { shared: &shared, stop: &stop }),
                };
                if let Err(error) = result {
                    shared.failed(kind, &error);
                }
            };
            threads.push(thread::Builder::new().name(format!("{} witness", kind.name())).spawn(witness)?);
        }
        Ok(Self { shared, threads })
    }

    /// What they have seen so far.
    pub(super) fn count(&self) -> Count {
        let mut count = self.shared.count.lock();
        let seen = *count;
        (count.longest, count.slowest) = (Duration::ZERO, Duration::ZERO);
        seen
    }

    /// Waits for them, once they have been told to stop.
    pub(super) fn end(self) -> Witnessed {
        for thread in self.threads {
            if thread.join().is_err() {
                let mut errors = self.shared.errors.lock();
                *errors.entry("a witness panicked".to_owned()).or_default() += 1;
            }
        }
        let errors = std::mem::take(&mut *self.shared.errors.lock());
        Witnessed { errors }
    }
}

/// Gives this thread a higher priority than the load clients, with which server and witnesses share the cores: a witness measures
/// the server, not its own wait for a core. Without the privilege, the priority stays as it is.
fn raise_priority() {
    const NICENESS: i32 = -10;
    // on Linux, this sets the niceness of the calling thread
    let _ = setpriority_process(None, NICENESS);
}

struct Witness<'a> {
    shared: &'a Shared,
    stop: &'a AtomicBool,
}

impl Progress for Witness<'_> {
    fn answered(&mut self, took: Duration) {
        self.shared.update(|count| {
            count.replies += 1;
            count.slowest = count.slowest.max(took);
        });
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Plays, and checks that perceptions come in time.
fn play(target: &Target, shared: &Shared, stop: &AtomicBool) -> anyhow::Result<()> {
    let mut player = Player::join(target.address("soccer-agents")?, "Reds", 1)?;
    let mut last = player.receive()?;
    let mut arrived = now();
    while !stop.load(Ordering::Relaxed) {
        player.send("(he1 10 0 5 1 0)")?;
        let time = player.receive()?;
        let (arrival, missed) = (now(), (time - last).saturating_sub(3) > 0);
        let interval = arrival.duration_since(arrived);
        let is_late = missed || interval > LATE;
        shared.update(|count| {
            count.cycles += 1;
            count.late += u64::from(is_late);
            count.longest = count.longest.max(interval);
        });
        (last, arrived) = (time, arrival);
    }
    Ok(())
}
