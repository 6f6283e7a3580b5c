//! What other threads see of a running world.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle},
};

use tokio::sync::{mpsc, watch};
use tracing::error;
use world::{Command, SessionId, Snapshot, World};

use super::{Delivery, Message, SimOptions, Ticks, builder, handoff::Handoff, sim_loop::SimLoop};
use crate::{
    cpu_affinity, limits,
    roster::{Client, Roster},
};

/// A running world. It ends when this is dropped.
#[derive(Debug)]
pub struct SimThread {
    handle: SimHandle,
    thread: Option<JoinHandle<()>>,
}

/// Access to a running world. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SimHandle {
    pub(super) inbox: SyncSender<Message>,
    pub(super) handoff: Arc<Handoff<SimLoop>>,
    pub(super) snapshots: watch::Receiver<Arc<Snapshot>>,
    pub(super) failure: watch::Receiver<Option<String>>,
    pub(super) next_session: Arc<AtomicU64>,
    pub(super) roster: Roster,
    pub(super) shutdown: Arc<watch::Sender<Option<String>>>,
}

/// Why a command did not reach the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The inbox is full.
    #[error("too many commands wait for the world")]
    Full,
    /// The sim thread has ended.
    #[error("the world has ended")]
    Ended,
}

impl SimThread {
    /// Starts the thread and the model compiler's.
    pub fn start(mut world: World, options: SimOptions) -> io::Result<Self> {
        let (inbox, received) = sync_channel(limits::INBOX);
        if options.recording.is_some() {
            world.keep_journal();
        }
        let (publish, snapshots) = watch::channel(world.snapshot());
        let (failed, failure) = watch::channel(None);
        let handle = SimHandle::new(inbox, snapshots, failure);
        let handoff = Arc::clone(&handle.handoff);
        let builder = builder::start(handle.inbox.clone(), Arc::clone(&handoff))?;
        let thread = thread::Builder::new().name("sim".into()).spawn(move || {
            if options.steady {
                cpu_affinity::pin_to_first();
            }
            handoff.run(SimLoop::new(world, options, received, publish, failed, builder));
        })?;
        Ok(Self { handle, thread: Some(thread) })
    }

    /// Access to the world.
    pub fn handle(&self) -> &SimHandle {
        &self.handle
    }

    /// Ends the world and waits for its thread.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(thread) = self.thread.take() {
            // a full inbox empties: the sim thread never blocks. It fails if the world has ended already
            let _ = self.handle.inbox.send(Message::Stop);
            self.handle.handoff.wake();
            if thread.join().is_err() {
                error!("sim thread panicked");
            }
        }
    }
}

impl Drop for SimThread {
    fn drop(&mut self) {
        self.end();
    }
}

impl SimHandle {
    pub(super) fn new(
        inbox: SyncSender<Message>,
        snapshots: watch::Receiver<Arc<Snapshot>>,
        failure: watch::Receiver<Option<String>>,
    ) -> Self {
        Self {
            inbox,
            handoff: Arc::new(Handoff::new()),
            snapshots,
            failure,
            next_session: Arc::default(),
            roster: Roster::default(),
            shutdown: Arc::new(watch::Sender::new(None)),
        }
    }

    /// Opens a session. Its answers, and the ticks it asks for, arrive at the receiver. A session whose queue is full when
    /// something is to be delivered is dropped, which closes the receiver.
    pub fn open(&self, ticks: Ticks) -> Result<(SessionSender, mpsc::Receiver<Delivery>), SendError> {
        let session = SessionId(self.next_session.fetch_add(1, Ordering::Relaxed));
        let (deliveries, received) = mpsc::channel(limits::SESSION_QUEUE);
        let wants_ticks = Arc::new(AtomicBool::new(true));
        self.post(Message::Open { session, deliveries, ticks, wants_ticks: Arc::clone(&wants_ticks) })?;
        Ok((SessionSender { handle: self.clone(), session, sequence: 0, wants_ticks }, received))
    }

    /// Opens a session and lists it in the roster of connected clients.
    pub fn open_for(
        &self,
        client: Client,
        ticks: Ticks,
    ) -> Result<(SessionSender, mpsc::Receiver<Delivery>), SendError> {
        let (sender, deliveries) = self.open(ticks)?;
        self.roster.enter(sender.session, client);
        Ok((sender, deliveries))
    }

    /// The connected clients.
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    /// The latest snapshot.
    pub fn latest(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshots.borrow())
    }

    /// A receiver of snapshots. It closes when the world ends.
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshots.clone()
    }

    /// Why the world is halted until a reset; `None` while it runs.
    pub fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }

    /// Asks for the end of the whole server on behalf of `who`; the server watches [`SimHandle::shutdown_requests`].
    pub fn request_shutdown(&self, who: String) {
        self.shutdown.send_replace(Some(who));
    }

    /// A receiver of the latest shutdown request, which is the name of the client that made it.
    pub fn shutdown_requests(&self) -> watch::Receiver<Option<String>> {
        self.shutdown.subscribe()
    }

    /// Completes when the world has ended.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        // failures are rare: unlike the channel of snapshots, this one does not wake the waiter every tick
        let mut failure = self.failure.clone();
        async move { while failure.changed().await.is_ok() {} }
    }

    /// Whether the sim thread has ended.
    pub fn has_ended(&self) -> bool {
        self.snapshots.has_changed().is_err()
    }

    /// Takes a turn in place of the sim thread: handles what waits in the inbox, and runs a tick if one is due. If the sim
    /// thread is awake, it does so instead.
    pub fn drive(&self) {
        self.handoff.drive();
    }

    /// Has the sim thread prepare the next tick while the world waits for a vote, and stay awake for
    /// [`SPIN_TIME`](crate::limits::SPIN_TIME); meanwhile it takes its turns itself. Does nothing if the world waits for several
    /// sessions.
    pub fn prepare(&self) {
        self.handoff.request_alert();
    }

    fn post(&self, message: Message) -> Result<(), SendError> {
        self.enqueue(message)?;
        self.handoff.wake();
        Ok(())
    }

    fn enqueue(&self, message: Message) -> Result<(), SendError> {
        self.inbox.try_send(message).map_err(|error| match error {
            TrySendError::Full(_) => SendError::Full,
            TrySendError::Disconnected(_) => SendError::Ended,
        })
    }
}

/// Sends the commands of one session. Closes the session when dropped.
#[derive(Debug)]
pub struct SessionSender {
    handle: SimHandle,
    session: SessionId,
    sequence: u64,
    wants_ticks: Arc<AtomicBool>,
}

impl SessionSender {
    /// The session's id.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// Whether ticks other than those of resets are delivered to the session from now on.
    pub fn set_wants_ticks(&self, wants_ticks: bool) {
        self.wants_ticks.store(wants_ticks, Ordering::Relaxed);
    }

    /// Puts a peer into the roster: the latest one that used the session's shared socket.
    pub(crate) fn note_peer(&self, peer: std::net::SocketAddr) {
        self.handle.roster.note_peer(self.session, peer);
    }

    /// Sends a command and wakes the sim thread.
    pub fn send(&mut self, command: Command) -> Result<(), SendError> {
        self.enqueue(command)?;
        self.handle.handoff.wake();
        Ok(())
    }

    /// Puts a command into the inbox without waking the sim thread. The caller must call [`SimHandle::drive`] afterwards.
    pub fn enqueue(&mut self, command: Command) -> Result<(), SendError> {
        self.sequence += 1;
        self.handle.enqueue(Message::Command { session: self.session, sequence: self.sequence, command })
    }
}

impl Drop for SessionSender {
    fn drop(&mut self) {
        self.handle.roster.leave(self.session);
        // fails if the world has ended, or if the inbox is full: then the loop finds the closed receiver later
        let _ = self.handle.post(Message::Close { session: self.session });
    }
}
