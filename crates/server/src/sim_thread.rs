//! The thread that owns a world.
//!
//! It takes commands from a bounded inbox, lets time pass, and publishes one snapshot a tick. It never waits for a
//! client, a file or the compiler: whoever cannot keep up loses, not the world.
//!
//! While it sleeps, another thread may take a turn for it ([`SimHandle::drive`]): a thread that brings the vote for which
//! the world waits then has the tick done when it returns. Waking another thread up costs more than a small world's
//! physics, twice: there and back. Or it is kept awake ([`SimHandle::prepare`]): it then does a part of the next tick
//! while votes come in, and takes the tick itself.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, OnceLock, PoisonError, TryLockError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle, Thread},
    time::{Duration, Instant},
};

use tokio::sync::{mpsc, watch};
use tracing::{error, warn};
use world::{
    Answer, Command, Run, SessionId, Snapshot, Value, VariableId, World,
    clock::{Gate, Pace},
    record::TickRecord,
    run::Progress,
    structure::{Blueprint, BuildError, Structure},
    variable::Performance,
    world::FaultReport,
};

use crate::{
    limits, metrics, processor,
    recording::{RecordingError, RecordingSender},
    roster::{Client, Roster},
};

/// What a failure of the world means.
pub(crate) const STANDSTILL: &str = "the simulation cannot go on and stands still until it is reset";

/// What a session gets from the world without asking again.
#[derive(Debug)]
pub enum Delivery {
    /// An answer to one of its commands.
    Answer(Answer),
    /// The world as a tick left it. Only for sessions that asked for every tick.
    Tick(Arc<Snapshot>),
}

/// When a session is told how a tick left the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ticks {
    /// Never; it looks at the latest snapshot when it likes.
    Never,
    /// At once.
    AtEnd,
    /// At once, but for those that pass while it has not finished with earlier ones.
    WhenFree,
    /// When the next one begins, so that it works while the physics does.
    AtNext,
    /// At once, and of resets between ticks as well.
    AndResets,
}

enum ToSim {
    Open { session: SessionId, outlet: mpsc::Sender<Delivery>, ticks: Ticks },
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
    /// Whether ticks have to begin in time although other threads of the server work hard.
    pub steady: bool,
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
    engine: Arc<Engine>,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    failure: watch::Receiver<Option<String>>,
    next_session: Arc<AtomicU64>,
    roster: Roster,
    end_asked: Arc<watch::Sender<Option<String>>>,
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
        let (failed, failure) = watch::channel(None);
        let (next_session, end_asked) = (Arc::new(AtomicU64::new(0)), Arc::new(watch::Sender::new(None)));
        let engine = Arc::new(Engine::default());
        let roster = Roster::default();
        let handle = SimHandle { inbox, engine, snapshots, failure, next_session, roster, end_asked };
        let builder = start_builder(handle.inbox.clone(), Arc::clone(&handle.engine))?;
        let engine = Arc::clone(&handle.engine);
        let thread = thread::Builder::new().name("sim".into()).spawn(move || {
            if options.steady {
                processor::keep_first();
            }
            let now = now();
            let meter = Meter::new(&world, now);
            let run = Run::new(world, options.pace, options.silence, now);
            let (outlets, recording) = (BTreeMap::new(), options.recording);
            engine.run(Loop { run, received, publish, failed, builder, outlets, recording, meter, sleep: Rest::Over });
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
            self.handle.engine.wake();
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
    pub fn open(&self, ticks: Ticks) -> Result<(SessionSender, mpsc::Receiver<Delivery>), SendError> {
        let session = SessionId(self.next_session.fetch_add(1, Ordering::Relaxed));
        let (outlet, deliveries) = mpsc::channel(limits::SESSION_QUEUE);
        self.post(ToSim::Open { session, outlet, ticks })?;
        Ok((SessionSender { handle: self.clone(), session, sequence: 0 }, deliveries))
    }

    /// Enters a new session of somebody who is connected, to be seen by others.
    pub fn open_for(
        &self,
        client: Client,
        ticks: Ticks,
    ) -> Result<(SessionSender, mpsc::Receiver<Delivery>), SendError> {
        let (sender, deliveries) = self.open(ticks)?;
        self.roster.enter(sender.session, client);
        Ok((sender, deliveries))
    }

    /// Who is connected.
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    /// The latest snapshot.
    pub fn latest(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshots.borrow())
    }

    /// To wait for snapshots, or for the end of the world.
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshots.clone()
    }

    /// Why the world stands still until it is reset, if it does.
    pub fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }

    /// Says that somebody wants everything to end. Whoever runs the world sees to it.
    pub fn ask_to_end(&self, who: String) {
        self.end_asked.send_replace(Some(who));
    }

    /// To wait for somebody who wants everything to end.
    pub fn end_asked(&self) -> watch::Receiver<Option<String>> {
        self.end_asked.subscribe()
    }

    /// Waits for the end of the world.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        // unlike snapshots, failures are rare: nobody is woken up for nothing
        let mut failure = self.failure.clone();
        async move { while failure.changed().await.is_ok() {} }
    }

    /// Whether the sim thread is gone.
    pub fn has_ended(&self) -> bool {
        self.snapshots.has_changed().is_err()
    }

    /// Takes a turn for the sim thread: what waits in the inbox is carried out, and a tick passes if one may. If the sim
    /// thread is awake, it does so itself.
    pub fn drive(&self) {
        self.engine.drive();
    }

    /// Has the sim thread prepare the next tick while the world waits for votes, and stay awake for a moment: from then
    /// on it takes its turns itself, beside the thread that brings the votes. Nothing is done where several sessions vote.
    pub fn prepare(&self) {
        self.engine.alert();
    }

    fn post(&self, message: ToSim) -> Result<(), SendError> {
        self.leave(message)?;
        self.engine.wake();
        Ok(())
    }

    /// Leaves a message for the next turn, whoever takes it.
    fn leave(&self, message: ToSim) -> Result<(), SendError> {
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
    /// Which session it is.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// Somebody uses the session's socket, which is for everybody.
    pub(crate) fn note_peer(&self, peer: std::net::SocketAddr) {
        self.handle.roster.note_peer(self.session, peer);
    }

    /// Sends a command, unless too many are waiting.
    pub fn send(&mut self, command: Command) -> Result<(), SendError> {
        self.leave(command)?;
        self.handle.engine.wake();
        Ok(())
    }

    /// Leaves a command for whoever takes the next turn; to be followed by [`SimHandle::drive`].
    pub fn leave(&mut self, command: Command) -> Result<(), SendError> {
        self.sequence += 1;
        self.handle.leave(ToSim::Command { session: self.session, sequence: self.sequence, command })
    }
}

impl Drop for SessionSender {
    fn drop(&mut self) {
        self.handle.roster.leave(self.session);
        // a world that has ended has no sessions; one whose inbox is full finds the closed outlet later
        let _ = self.handle.post(ToSim::Close { session: self.session });
    }
}

/// Compiles models beside the sim thread, one after the other.
fn start_builder(inbox: SyncSender<ToSim>, engine: Arc<Engine>) -> std::io::Result<SyncSender<Blueprint>> {
    let (orders, received) = sync_channel::<Blueprint>(1);
    thread::Builder::new().name("builder".into()).spawn(move || {
        for blueprint in received {
            // a full inbox empties
            if inbox.send(ToSim::Built(Box::new(survive(|| blueprint.build())))).is_err() {
                break;
            }
            engine.wake();
        }
    })?;
    Ok(orders)
}

/// Builds a model; a panic costs whoever asked for it, not all who come later.
fn survive(build: impl FnOnce() -> Result<Structure, BuildError>) -> Result<Structure, BuildError> {
    // a blueprint is used up by building it: nothing half done is left behind
    catch_unwind(AssertUnwindSafe(build)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(BuildError::Panicked { message })
    })
}

struct Outlet {
    sender: mpsc::Sender<Delivery>,
    ticks: Ticks,
    credit: Credit,
}

/// How much time of the sim thread a session's commands may still take.
struct Credit {
    left: Duration,
    at: Instant,
}

impl Credit {
    fn new(now: Instant) -> Self {
        Self { left: limits::COMMAND_TIME, at: now }
    }

    /// Commands took some time. False when it was too much.
    fn spend(&mut self, began: Instant, now: Instant) -> bool {
        let gained = now.saturating_duration_since(self.at) / limits::COMMAND_SHARE;
        let took = now.saturating_duration_since(began);
        let left = (self.left + gained).min(limits::COMMAND_TIME).checked_sub(took);
        (self.left, self.at) = (left.unwrap_or_default(), now);
        left.is_some()
    }
}

/// The loop of the sim thread, where other threads can reach it.
#[derive(Default)]
struct Engine {
    /// Gone when the world has ended.
    state: Mutex<Option<Loop>>,
    thread: OnceLock<Thread>,
    /// Whether the sim thread is awake and takes what is left for it at once.
    is_alert: AtomicBool,
    /// Whether it is to be.
    alert: AtomicBool,
    /// How often it was called.
    calls: AtomicU64,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Engine")
    }
}

/// What a turn leaves to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// The next turn, at once.
    Over,
    /// Nothing before this time, unless something arrives.
    Until(Instant),
    /// Nothing until something arrives.
    Forever,
    /// Nothing any more.
    End,
}

/// What is left in the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inbox {
    Empty,
    More,
    /// It is time to end.
    Stop,
}

impl Engine {
    /// Runs a world on this thread until it ends.
    fn run(&self, world: Loop) {
        let end = End(self);
        // nobody else sets it
        let _ = self.thread.set(thread::current());
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(world);
        // a world that another thread broke is over
        while let Ok(mut state) = self.state.lock()
            && let Some(world) = state.as_mut()
            && world.sleep != Rest::End
        {
            let calls = self.calls.load(Ordering::SeqCst);
            let rest = world.turn();
            world.sleep = rest;
            let is_free = matches!(rest, Rest::Until(_) | Rest::Forever);
            // several clients have something to do while others are told, and need the core
            let stays_alert = is_free && self.is_wanted() && world.run.waits_for_one();
            if stays_alert {
                world.run.prepare();
            }
            drop(state);
            match rest {
                Rest::Over => {}
                _ if is_free && self.is_called_soon(calls, stays_alert) => {}
                Rest::Until(then) => thread::park_timeout(then.saturating_duration_since(now())),
                Rest::Forever => thread::park(),
                Rest::End => break,
            }
        }
        drop(end);
    }

    fn wake(&self) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// Has the sim thread prepare the next tick, and stay awake for a moment to take it.
    fn alert(&self) {
        let is_worth_it = || {
            let state = self.state.try_lock();
            state.is_ok_and(|state| state.as_ref().is_some_and(|world| world.run.waits_for_one()))
        };
        if !self.is_alert.load(Ordering::SeqCst) && is_worth_it() {
            self.alert.store(true, Ordering::SeqCst);
            self.wake();
        }
    }

    /// Whether the sim thread should not fall asleep yet.
    fn is_wanted(&self) -> bool {
        self.alert.swap(false, Ordering::SeqCst) || self.is_alert.load(Ordering::SeqCst)
    }

    /// Stays awake for a moment, if it is to. Whether there was another call; without one, it is time to sleep.
    fn is_called_soon(&self, calls: u64, stays_alert: bool) -> bool {
        let is_called = || self.calls.load(Ordering::SeqCst) != calls;
        if stays_alert {
            self.is_alert.store(true, Ordering::SeqCst);
            let until = now() + limits::ALERT;
            while now() < until {
                if is_called() {
                    return true;
                }
                // whoever is to call may be on this core
                thread::yield_now();
            }
        }
        // whoever calls from now on finds out, or has called before
        self.is_alert.store(false, Ordering::SeqCst);
        is_called()
    }

    fn drive(&self) {
        if self.is_alert.load(Ordering::SeqCst) {
            return self.wake();
        }
        // also when this thread panics, which ends the world: somebody has to find out
        let mut alarm = Alarm { engine: self, is_set: true };
        match self.state.try_lock() {
            Ok(mut state) => {
                if let Some(world) = state.as_mut().filter(|world| world.sleep != Rest::End) {
                    alarm.is_set = world.drive();
                }
            }
            // somebody is at it, or it is over
            Err(TryLockError::WouldBlock | TryLockError::Poisoned(_)) => {}
        }
    }
}

/// Takes the world out of the engine in the end, however that came: whoever holds the other end of a channel finds out.
struct End<'a>(&'a Engine);

impl Drop for End<'_> {
    fn drop(&mut self) {
        *self.0.state.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Wakes the sim thread up.
struct Alarm<'a> {
    engine: &'a Engine,
    is_set: bool,
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if self.is_set {
            self.engine.wake();
        }
    }
}

struct Loop {
    run: Run,
    received: Receiver<ToSim>,
    publish: watch::Sender<Arc<Snapshot>>,
    failed: watch::Sender<Option<String>>,
    builder: SyncSender<Blueprint>,
    outlets: BTreeMap<SessionId, Outlet>,
    recording: Option<(RecordingSender, u64)>,
    meter: Meter,
    /// How the sim thread sleeps.
    sleep: Rest,
}

impl Loop {
    /// Takes turns for the sim thread: one to let a tick pass, and one to see what comes then. Whether the sim thread has
    /// to wake up.
    fn drive(&mut self) -> bool {
        let mut rest = self.turn();
        if rest == Rest::Over {
            rest = self.turn();
        }
        if rest == Rest::End {
            self.sleep = rest;
        }
        match (rest, self.sleep) {
            (Rest::Over | Rest::End, _) | (Rest::Until(_), Rest::Forever) => true,
            (Rest::Until(then), Rest::Until(asleep)) => then < asleep,
            // it is awake, or sleeps for as long
            (Rest::Until(_) | Rest::Forever, _) => false,
        }
    }

    /// Carries out what waits in the inbox, and lets a tick pass if one may.
    fn turn(&mut self) -> Rest {
        let inbox = self.take_waiting();
        if inbox == Inbox::Stop {
            return Rest::End;
        }
        self.start_building();
        let began = now();
        let gate = self.run.gate(began);
        if gate == Gate::Open {
            if let Some(lateness) = self.run.clock().lateness(began) {
                metrics::begun(lateness);
            }
            let latest = Arc::clone(&self.publish.borrow());
            if self.deliver_tick(&[Ticks::AtNext], &latest) {
                // whoever was told may have woken up on this core, and is quick, which the physics is not
                thread::yield_now();
                self.run.world_mut().breathe_with(thread::yield_now);
            } else {
                self.run.world_mut().breathe_with(|| {});
            }
        }
        let (progress, behind) = self.run.pass(gate, began);
        if behind {
            self.meter.note_overrun();
        }
        if let Progress::Moved(snapshot) = &progress {
            self.after_tick(began, snapshot);
            self.run.told(now());
        }
        self.note_failure();
        // before resting, which may be for ever; a session that is dropped now leaves robots to be taken out
        let all_told = self.deliver_answers();
        match progress {
            _ if inbox == Inbox::More => Rest::Over,
            Progress::Until(then) if all_told => Rest::Until(then),
            Progress::Waiting if all_told => Rest::Forever,
            Progress::Moved(_) | Progress::Until(_) | Progress::Waiting => Rest::Over,
        }
    }

    /// Takes what waits in the inbox, up to a limit.
    fn take_waiting(&mut self) -> Inbox {
        let gone: Vec<_> = self.outlets.iter().filter(|(_, o)| o.sender.is_closed()).map(|(&s, _)| s).collect();
        for _ in 0..limits::COMMANDS_PER_TICK {
            let Ok(message) = self.received.try_recv() else {
                // the inbox is empty: whoever was gone before has no last wishes left, nor a `Close` on its way
                for session in gone {
                    self.end(session);
                }
                return Inbox::Empty;
            };
            self.meter.taken += 1;
            if !self.take(message) {
                return Inbox::Stop;
            }
        }
        Inbox::More
    }

    /// Takes one message. False when it is time to end.
    fn take(&mut self, message: ToSim) -> bool {
        match message {
            ToSim::Command { session, sequence, command } => {
                // nobody would take out again what a session that has ended brings in
                if self.outlets.contains_key(&session) {
                    self.obey(session, sequence, command);
                }
            }
            ToSim::Open { session, outlet, ticks } => {
                self.outlets.insert(session, Outlet { sender: outlet, ticks, credit: Credit::new(now()) });
            }
            ToSim::Close { session } => self.end(session),
            ToSim::Built(built) => {
                self.run.install(*built, now());
                // so that whoever is told of the change finds it in the latest snapshot
                self.publish_now();
            }
            ToSim::Stop => {
                self.record(World::last_record);
                return false;
            }
        }
        self.deliver_answers();
        true
    }

    fn obey(&mut self, session: SessionId, sequence: u64, command: Command) {
        let began = now();
        let is_reset = matches!(command, Command::Reset(_));
        let shows = is_reset
            || matches!(command, Command::EnterLockstep(_) | Command::LeaveLockstep(_) | Command::Speed(_))
            // nobody would see it before time goes on
            || matches!(command, Command::Write(..) | Command::Observe(_)) && self.run.world().is_paused();
        let was_paused = self.run.world().is_paused();
        self.run.handle(session, sequence, command, began);
        let shows = shows || self.run.world().is_paused() != was_paused;
        self.record(|world, _| world.take_part(limits::JOURNAL));
        if shows {
            let snapshot = self.publish_now();
            if is_reset {
                self.deliver_tick(&[Ticks::AndResets], &snapshot);
            }
        }
        let credit = self.outlets.get_mut(&session).map(|outlet| &mut outlet.credit);
        if credit.is_some_and(|credit| !credit.spend(began, now())) {
            metrics::session_dropped();
            warn!(session = session.0, "a session whose commands took too much time was dropped");
            self.end(session);
        }
    }

    /// Shows the world as it is between two ticks.
    fn publish_now(&mut self) -> Arc<Snapshot> {
        let snapshot = self.run.world().glimpse();
        self.publish.send_replace(Arc::clone(&snapshot));
        snapshot
    }

    /// Ends a session, unless it has ended before.
    fn end(&mut self, session: SessionId) {
        if self.outlets.remove(&session).is_some() {
            self.run.end(session, now());
            self.publish_now();
        }
    }

    fn start_building(&mut self) {
        if let Some(blueprint) = self.run.next_blueprint(now()) {
            // there is one order at a time, and the queue has room for it
            if self.builder.try_send(blueprint).is_err() {
                error!("the builder thread has ended; robots can no longer come or go");
            }
        }
    }

    /// False when a session was ended over it.
    fn deliver_answers(&mut self) -> bool {
        let mut all_told = true;
        for (session, answer) in self.run.take_answers() {
            all_told &= self.deliver(session, Delivery::Answer(answer));
        }
        all_told
    }

    /// False when the session was ended over it.
    fn deliver(&mut self, session: SessionId, delivery: Delivery) -> bool {
        let Some(outlet) = self.outlets.get(&session) else { return true };
        match outlet.sender.try_send(delivery) {
            // one that is closed has ended by itself, and is found when it has no wishes left in the inbox
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => true,
            Err(mpsc::error::TrySendError::Full(_)) => {
                // the receiver ends with its sender, which closes the session
                self.end(session);
                metrics::session_dropped();
                warn!(session = session.0, "a session did not keep up and was dropped");
                false
            }
        }
    }

    /// Whether anybody wanted it.
    fn deliver_tick(&mut self, to: &[Ticks], snapshot: &Arc<Snapshot>) -> bool {
        let is_eager = |outlet: &Outlet| {
            let is_free = outlet.sender.max_capacity() - outlet.sender.capacity() < limits::UNFINISHED_TICKS;
            to.contains(&outlet.ticks) && (outlet.ticks != Ticks::WhenFree || is_free)
        };
        let eager: Vec<_> = self.outlets.iter().filter(|(_, o)| is_eager(o)).map(|(&session, _)| session).collect();
        for session in &eager {
            self.deliver(*session, Delivery::Tick(Arc::clone(snapshot)));
        }
        !eager.is_empty()
    }

    fn after_tick(&mut self, began: Instant, snapshot: &Arc<Snapshot>) {
        self.publish.send_replace(Arc::clone(snapshot));
        self.deliver_tick(&[Ticks::WhenFree, Ticks::AtEnd, Ticks::AndResets], snapshot);
        self.record(World::take_record);
        self.meter.note_faults(self.run.world_mut());
        let performance = self.meter.ticked(began, now(), self.run.clock().overruns());
        self.run.world_mut().note_performance(performance);
    }

    /// A world fails in a tick or in a reset, which may come without one.
    fn note_failure(&mut self) {
        let failure = self.run.world().failure().map(ToString::to_string);
        if *self.failed.borrow() == failure {
            return;
        }
        if let Some(cause) = &failure {
            error!("{STANDSTILL}: {cause}");
        }
        metrics::failed(failure.is_some());
        self.failed.send_replace(failure);
    }

    /// Hands a record of the world over to the recording, if there is one of both.
    fn record(&mut self, take: impl FnOnce(&mut World, u64) -> Option<TickRecord>) {
        let Some((sender, hash_every)) = &self.recording else { return };
        let Some(record) = take(self.run.world_mut(), *hash_every) else { return };
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
        self.run.world_mut().stop_journal();
    }
}

/// Measures how fast the world runs.
struct Meter {
    started: Instant,
    /// Messages taken in since the last tick.
    taken: usize,
    second_began: Instant,
    ticks_this_second: u32,
    ticks_per_second: f64,
    overruns_logged: Option<Instant>,
    faults: Option<VariableId>,
    faults_counted: u64,
    faults_logged: Option<Instant>,
}

impl Meter {
    fn new(world: &World, now: Instant) -> Self {
        Self {
            started: now,
            taken: 0,
            second_began: now,
            ticks_this_second: 0,
            ticks_per_second: 0.0,
            overruns_logged: None,
            faults: world.catalogue().variable_named("/Performance/Faults").map(|card| card.id),
            faults_counted: 0,
            faults_logged: None,
        }
    }

    fn note_overrun(&mut self) {
        let now = now();
        if self.overruns_logged.is_none_or(|last| now.duration_since(last) > Duration::from_secs(60)) {
            self.overruns_logged = Some(now);
            warn!("the world fell behind real time and goes on from here; is the machine busy? (said once a minute)");
        }
    }

    fn note_faults(&mut self, world: &mut World) {
        let reports = world.take_fault_reports();
        let Some(FaultReport { agent, cause }) = reports.first() else { return };
        // there are more faults than reports
        if let Some(Ok(Value::Integer(faults))) = self.faults.map(|id| world.read(id)) {
            let before = std::mem::replace(&mut self.faults_counted, faults.unsigned_abs());
            metrics::faults(self.faults_counted.saturating_sub(before));
        }
        let now = now();
        if self.faults_logged.is_none_or(|last| now.duration_since(last) > limits::LOG_INTERVAL) {
            self.faults_logged = Some(now);
            let agent = agent.as_deref().unwrap_or("the world");
            warn!(agent, "the simulation failed, was put back and goes on with motors released: {cause}");
        }
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
        metrics::ticked(tick_time, overruns, std::mem::take(&mut self.taken));
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
