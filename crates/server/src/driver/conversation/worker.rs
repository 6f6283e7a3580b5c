//! The thread on which the conversations of a protocol run.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use tokio::{
    runtime::{self, Handle},
    sync::Notify,
};
use tokio_util::sync::CancellationToken;

use crate::{driver::now, limits, sim_thread::SimHandle};

pub(super) struct WorkerThread {
    pub(super) handle: Handle,
    pub(super) end: CancellationToken,
    pub(super) spinner: Arc<Spinner>,
}

impl WorkerThread {
    pub(super) fn start(protocol: &'static str, sim: SimHandle) -> io::Result<Self> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let (handle, end) = (runtime.handle().clone(), CancellationToken::new());
        let (ended, spinner) = (end.clone(), Arc::new(Spinner::default()));
        let spin = Arc::clone(&spinner).spin(sim);
        let run = async move {
            tokio::select! {
                () = ended.cancelled() => {}
                () = spin => {}
            }
        };
        thread::Builder::new().name(protocol.to_owned()).spawn(move || runtime.block_on(run))?;
        Ok(Self { handle, end, spinner })
    }
}

/// Keeps the thread of the conversations awake for a moment after each datagram. A client in lockstep sends the next one
/// at once, and waking the thread up would take longer than all the rest. Meanwhile the next tick is prepared.
#[derive(Default)]
pub(super) struct Spinner {
    /// Datagrams received so far.
    received: AtomicU64,
    start: Notify,
}

impl Spinner {
    pub(super) fn datagram_received(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
        self.start.notify_one();
    }

    async fn spin(self: Arc<Self>, sim: SimHandle) {
        loop {
            self.start.notified().await;
            let (mut received, mut since) = (self.received.load(Ordering::Relaxed), now());
            let mut is_prepared = false;
            loop {
                let latest = self.received.load(Ordering::Relaxed);
                let time = now();
                if latest != received {
                    (received, since) = (latest, time);
                    is_prepared = false;
                } else if !is_prepared {
                    sim.prepare();
                    is_prepared = true;
                } else if time.duration_since(since) >= limits::SPIN_TIME {
                    break;
                }
                // the sender may be waiting for this core
                thread::yield_now();
                // polls the sockets
                tokio::task::yield_now().await;
            }
        }
    }
}
