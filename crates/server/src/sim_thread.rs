//! The thread that owns a world.
//!
//! It takes commands from a bounded inbox, lets time pass, and publishes one snapshot a tick. It never waits for a
//! client, a file or the compiler: whoever cannot keep up loses, not the world.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use physics::Fault;
use tokio::sync::{mpsc, watch};
use tracing::{error, warn};
use world::{
    Answer, Command, Run, SessionId, Snapshot, World,
    clock::Pace,
    run::Progress,
    structure::{Blueprint, BuildError, Structure},
    variable::Performance,
    world::FaultReport,
};

use crate::{
    limits, metrics,
    recording::{RecordingError, RecordingSender},
};

/// What a session gets from the world without asking again.
#[derive(Debug)]
pub enum Delivery {
    /// An answer to one of its commands.
    Answer(Answer),
    /// A tick passed. Only for sessions that asked for every tick.
    Tick(Arc<Snapshot>),
}

enum ToSim {
    Open { session: SessionId, outlet: mpsc::Sender<Delivery>, every_tick: bool },
    Close { session: SessionId },
    Command { session: SessionId, sequence: u64, command: Command },
    Built(Box<Result<Structure, BuildError>>),
    Stop,
}

/// How the world is run.
#[derive(Debug)]
pub struct SimOptions {
    /// What sets the speed.
    pub pace: Pace,
    /// A lockstep agent silent for this long loses its vote.
    pub silence: Duration,
    /// Where ticks are recorded, if they are, and every how many the state is hashed.
    pub recording: Option<(RecordingSender, u64)>,
}

/// A running world, seen from other threads.
#[derive(Debug)]
pub struct SimThread {
    handle: SimHandle,
    thread: Option<JoinHandle<()>>,
}

/// The way to a running world. Cheap to copy.
#[derive(Clone, Debug)]
pub struct SimHandle {
    inbox: SyncSender<ToSim>,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    next_session: Arc<AtomicU64>,
}

/// Why a command did not reach the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The inbox is full.
    #[error("the world has too many commands waiting")]
    Full,
    /// The world has ended.
    #[error("the world has ended")]
    Ended,
}

impl SimThread {
    /// Starts to run a world.
    pub fn start(mut world: World, options: SimOptions) -> std::io::Result<Self> {
        let (inbox, received) = sync_channel(limits::INBOX);
        if options.recording.is_some() {
            world.keep_journal();
        }
        let (publish, snapshots) = watch::channel(world.glimpse());
        let handle = SimHandle { inbox, snapshots, next_session: Arc::new(AtomicU64::new(0)) };
        let builder = start_builder(handle.inbox.clone())?;
        let thread = thread::Builder::new().name("sim".into()).spawn(move || {
            let now = now();
            let run = Run::new(world, options.pace, options.silence, now);
            let meter = Meter::new(now);
            let recording = options.recording;
            Loop { run, received, publish, builder, outlets: BTreeMap::new(), recording, meter }.run();
        })?;
        Ok(Self { handle, thread: Some(thread) })
    }

    /// The way to it.
    pub fn handle(&self) -> &SimHandle {
        &self.handle
    }

    /// Ends the world and waits for its thread.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(thread) = self.thread.take() {
            // a full inbox empties: the sim thread waits for nobody
            let _ = self.handle.inbox.send(ToSim::Stop);
            if thread.join().is_err() {
                error!("the sim thread ended with a panic");
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
    /// Enters a new session. Its answers, and every tick if it wants them, come out of the receiver; a session that
    /// lets the queue fill up is dropped, and its receiver ends.
    pub fn open(&self, every_tick: bool) -> Result<(SessionSender, mpsc::Receiver<Delivery>), SendError> {
        let session = SessionId(self.next_session.fetch_add(1, Ordering::Relaxed));
        let (outlet, deliveries) = mpsc::channel(limits::SESSION_QUEUE);
        self.post(ToSim::Open { session, outlet, every_tick })?;
        Ok((SessionSender { handle: self.clone(), session, sequence: 0 }, deliveries))
    }

    /// The latest snapshot.
    pub fn latest(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshots.borrow())
    }

    /// To wait for snapshots, or for the end of the world.
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshots.clone()
    }

    /// Whether the sim thread is gone.
    pub fn has_ended(&self) -> bool {
        self.snapshots.has_changed().is_err()
    }

    fn post(&self, message: ToSim) -> Result<(), SendError> {
        self.inbox.try_send(message).map_err(|error| match error {
            TrySendError::Full(_) => SendError::Full,
            TrySendError::Disconnected(_) => SendError::Ended,
        })
    }
}

/// Sends the commands of one session. Ends the session when dropped.
#[derive(Debug)]
pub struct SessionSender {
    handle: SimHandle,
    session: SessionId,
    sequence: u64,
}

impl SessionSender {
    /// Sends a command, unless too many are waiting.
    pub fn send(&mut self, command: Command) -> Result<(), SendError> {
        self.sequence += 1;
        self.handle.post(ToSim::Command { session: self.session, sequence: self.sequence, command })
    }
}

impl Drop for SessionSender {
    fn drop(&mut self) {
        // a world that has ended has no sessions; a full inbox is emptied and the outlet found dead later
        let _ = self.handle.post(ToSim::Close { session: self.session });
    }
}

/// Compiles models beside the sim thread, one after the other.
fn start_builder(inbox: SyncSender<ToSim>) -> std::io::Result<SyncSender<Blueprint>> {
    let (orders, received) = sync_channel::<Blueprint>(1);
    thread::Builder::new().name("builder".into()).spawn(move || {
        for blueprint in received {
            if inbox.send(ToSim::Built(Box::new(blueprint.build()))).is_err() {
                break;
            }
        }
    })?;
    Ok(orders)
}

struct Outlet {
    sender: mpsc::Sender<Delivery>,
    every_tick: bool,
}

struct Loop {
    run: Run,
    received: Receiver<ToSim>,
    publish: watch::Sender<Arc<Snapshot>>,
    builder: SyncSender<Blueprint>,
    outlets: BTreeMap<SessionId, Outlet>,
    recording: Option<(RecordingSender, u64)>,
    meter: Meter,
}

impl Loop {
    fn run(mut self) {
        loop {
            for _ in 0..limits::COMMANDS_PER_TICK {
                let Ok(message) = self.received.try_recv() else { break };
                if !self.take(message) {
                    return;
                }
            }
            self.start_building();
            let began = now();
            let (progress, behind) = self.run.advance(began);
            if behind {
                self.meter.note_overrun();
            }
            let waited = match progress {
                Progress::Moved(snapshot) => {
                    self.after_tick(began, snapshot);
                    None
                }
                Progress::Until(then) => Some(self.received.recv_timeout(then.saturating_duration_since(now()))),
                Progress::Waiting => Some(self.received.recv().map_err(|_| RecvTimeoutError::Disconnected)),
            };
            self.deliver_answers();
            let go_on = match waited {
                Some(Ok(message)) => self.take(message),
                Some(Err(RecvTimeoutError::Disconnected)) => false,
                Some(Err(RecvTimeoutError::Timeout)) | None => true,
            };
            if !go_on {
                return;
            }
        }
    }

    /// Takes one message. False when it is time to end.
    fn take(&mut self, message: ToSim) -> bool {
        match message {
            ToSim::Command { session, sequence, command } => self.run.handle(session, sequence, command, now()),
            ToSim::Open { session, outlet, every_tick } => {
                self.outlets.insert(session, Outlet { sender: outlet, every_tick });
            }
            ToSim::Close { session } => {
                self.outlets.remove(&session);
                self.run.end(session);
            }
            ToSim::Built(built) => {
                self.run.install(*built);
                // so that whoever is told of the change finds it in the latest snapshot
                let snapshot = self.run.world().glimpse();
                self.publish.send_replace(snapshot);
            }
            ToSim::Stop => return false,
        }
        self.deliver_answers();
        true
    }

    fn start_building(&mut self) {
        if let Some(blueprint) = self.run.next_blueprint() {
            // there is one order at a time, and the queue has room for it
            if self.builder.try_send(blueprint).is_err() {
                error!("the builder thread has ended; robots can no longer come or go");
            }
        }
    }

    fn deliver_answers(&mut self) {
        for (session, answer) in self.run.take_answers() {
            self.deliver(session, Delivery::Answer(answer));
        }
    }

    fn deliver(&mut self, session: SessionId, delivery: Delivery) {
        let Some(outlet) = self.outlets.get(&session) else { return };
        if outlet.sender.try_send(delivery).is_err() {
            // the receiver ends with its sender, which closes the session
            self.outlets.remove(&session);
            metrics::session_dropped();
            warn!(session = session.0, "a session did not keep up and was dropped");
        }
    }

    fn after_tick(&mut self, began: Instant, snapshot: Arc<Snapshot>) {
        let eager: Vec<_> = self.outlets.iter().filter(|(_, o)| o.every_tick).map(|(&session, _)| session).collect();
        for session in eager {
            self.deliver(session, Delivery::Tick(Arc::clone(&snapshot)));
        }
        self.publish.send_replace(snapshot);
        self.record();
        self.meter.note_faults(self.run.world_mut().take_fault_reports());
        self.meter.note_failure(self.run.world().failure());
        let performance = self.meter.ticked(began, now(), self.run.clock().overruns());
        self.run.world_mut().note_performance(performance);
    }

    /// Notes what was done before the tick that has just passed.
    fn record(&mut self) {
        let Some((sender, hash_every)) = &self.recording else { return };
        let Some(record) = self.run.world_mut().take_record(*hash_every) else { return };
        match sender.send(record) {
            Ok(()) => return,
            Err(RecordingError::Behind) => {
                error!("the recording ends here: {}", RecordingError::Behind);
                metrics::recording_ended_early();
            }
            // the recording has said why
            Err(RecordingError::Ended) => {}
        }
        self.recording = None;
    }
}

/// Measures how fast the world runs.
struct Meter {
    started: Instant,
    second_began: Instant,
    ticks_this_second: u32,
    ticks_per_second: f64,
    overruns_logged: Option<Instant>,
    faults_logged: Option<Instant>,
    failed: bool,
}

impl Meter {
    fn new(now: Instant) -> Self {
        Self {
            started: now,
            second_began: now,
            ticks_this_second: 0,
            ticks_per_second: 0.0,
            overruns_logged: None,
            faults_logged: None,
            failed: false,
        }
    }

    fn note_overrun(&mut self) {
        let now = now();
        if self.overruns_logged.is_none_or(|last| now.duration_since(last) > Duration::from_secs(60)) {
            self.overruns_logged = Some(now);
            warn!("the world fell behind real time and goes on from here; is the machine busy? (said once a minute)");
        }
    }

    fn note_faults(&mut self, reports: Vec<FaultReport>) {
        let Some(FaultReport { agent, cause }) = reports.first() else { return };
        let now = now();
        if self.faults_logged.is_none_or(|last| now.duration_since(last) > limits::LOG_INTERVAL) {
            self.faults_logged = Some(now);
            let agent = agent.as_deref().unwrap_or("the world");
            warn!(agent, "the simulation failed, was put back and goes on with motors released: {cause}");
        }
    }

    fn note_failure(&mut self, failure: Option<&Fault>) {
        if let Some(fault) = failure
            && !self.failed
        {
            error!("the simulation cannot go on and stands still until it is reset: {fault}");
        }
        self.failed = failure.is_some();
    }

    fn ticked(&mut self, began: Instant, now: Instant, overruns: u64) -> Performance {
        self.ticks_this_second += 1;
        let since = now.duration_since(self.second_began);
        if since >= Duration::from_secs(1) {
            self.ticks_per_second = f64::from(self.ticks_this_second) / since.as_secs_f64();
            self.ticks_this_second = 0;
            self.second_began = now;
        }
        let tick_time = now.duration_since(began).as_secs_f64();
        metrics::ticked(tick_time, overruns);
        Performance {
            tick_time,
            ticks_per_second: self.ticks_per_second,
            real_time: now.duration_since(self.started).as_secs_f64(),
            overruns,
            faults: 0,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the sim thread keeps the time of its world")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
