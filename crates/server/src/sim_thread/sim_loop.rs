//! One turn of a world: handle waiting messages, let a tick pass if one is due, deliver the results.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender},
    },
    thread,
    time::Instant,
};

use tokio::sync::{mpsc, watch};
use tracing::{error, warn};
use world::{
    Command, Runner, SessionId, Snapshot, World, clock::Gate, record::TickRecord, runner::Progress,
    structure::Blueprint,
};

use super::{
    Delivery, Message, STANDSTILL, SimOptions, Ticks,
    handoff::{NextTurn, TakeTurn},
    meter::Meter,
    subscriber::{Subscriber, TimeBudget},
    sync::now,
};
use crate::{
    limits,
    metrics::METRICS,
    recording::{RecordingError, RecordingSender},
};

/// A world with its clock, its sessions and its inbox.
pub(super) struct SimLoop {
    pub(super) run: Runner,
    pub(super) recording: Option<(RecordingSender, u64)>,
    inbox: Receiver<Message>,
    publish: watch::Sender<Arc<Snapshot>>,
    failed: watch::Sender<Option<String>>,
    builder: SyncSender<Blueprint>,
    subscribers: BTreeMap<SessionId, Subscriber>,
    meter: Meter,
    /// Turns in a row that left messages in the inbox.
    unfinished_turns: usize,
}

/// What is left in the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inbox {
    Empty,
    More,
    /// A [`Message::Stop`] was taken.
    Stop,
}

impl TakeTurn for SimLoop {
    fn take_turn(&mut self) -> NextTurn {
        let inbox = self.handle_waiting();
        if inbox == Inbox::Stop {
            return NextTurn::Never;
        }
        self.start_building();
        let began = now();
        if self.has_handled_all(inbox) {
            self.run.drop_silent(began);
        }
        let gate = self.run.gate(began);
        if gate == Gate::Open {
            self.before_tick(began);
        }
        let (progress, behind) = self.run.pass(gate, began);
        if behind {
            self.meter.note_overrun();
        }
        if let Progress::Moved(snapshot) = &progress {
            self.after_tick(began, snapshot);
            self.run.published(now());
        }
        self.note_failure();
        // before sleeping; dropping a session that does not keep up leaves robots to remove, which takes another turn
        let all_delivered = self.deliver_answers();
        match progress {
            _ if inbox == Inbox::More => NextTurn::Now,
            Progress::Until(then) if all_delivered => NextTurn::At(then),
            Progress::Waiting if all_delivered => NextTurn::OnMessage,
            Progress::Moved(_) | Progress::Until(_) | Progress::Waiting => NextTurn::Now,
        }
    }

    fn waits_for_one_session(&self) -> bool {
        self.run.waits_for_one()
    }

    fn prepare_tick(&mut self) {
        self.run.prepare();
    }
}

impl SimLoop {
    pub(super) fn new(
        world: World,
        options: SimOptions,
        inbox: Receiver<Message>,
        publish: watch::Sender<Arc<Snapshot>>,
        failed: watch::Sender<Option<String>>,
        builder: SyncSender<Blueprint>,
    ) -> Self {
        let now = now();
        Self {
            meter: Meter::new(&world, now),
            run: Runner::new(world, options.pace, options.silence, now),
            recording: options.recording,
            inbox,
            publish,
            failed,
            builder,
            subscribers: BTreeMap::new(),
            unfinished_turns: 0,
        }
    }

    /// Whether the inbox was emptied, or as many messages as it can hold have been handled since. Votes among them must
    /// count before a silent agent is dropped; a flood of messages must not prevent that forever.
    fn has_handled_all(&mut self, inbox: Inbox) -> bool {
        self.unfinished_turns = if inbox == Inbox::More { self.unfinished_turns + 1 } else { 0 };
        inbox != Inbox::More || self.unfinished_turns > limits::INBOX / limits::COMMANDS_PER_TICK
    }

    /// Handles what waits in the inbox, up to [`limits::COMMANDS_PER_TICK`].
    fn handle_waiting(&mut self) -> Inbox {
        let is_closed = |subscriber: &Subscriber| subscriber.deliveries.is_closed();
        let closed: Vec<_> = self.subscribers.iter().filter(|(_, s)| is_closed(s)).map(|(&id, _)| id).collect();
        for _ in 0..limits::COMMANDS_PER_TICK {
            let Ok(message) = self.inbox.try_recv() else {
                // with the inbox empty, sessions that were closed before have no commands left in it, and no `Close`
                for session in closed {
                    self.end(session);
                }
                return Inbox::Empty;
            };
            self.meter.handled += 1;
            if !self.handle(message) {
                return Inbox::Stop;
            }
        }
        Inbox::More
    }

    /// Handles one message. False for [`Message::Stop`].
    fn handle(&mut self, message: Message) -> bool {
        match message {
            Message::Command { session, sequence, command } => {
                // a session that has ended could leave robots behind that nothing removes
                if self.subscribers.contains_key(&session) {
                    self.handle_command(session, sequence, command);
                }
            }
            Message::Open { session, deliveries, ticks, wants_ticks } => {
                let time_budget = TimeBudget::new(now());
                self.subscribers.insert(session, Subscriber { deliveries, ticks, wants_ticks, time_budget });
            }
            Message::Close { session } => self.end(session),
            Message::Built(built) => {
                self.run.install(*built, now());
                // before the answer: a session that reacts to it finds the new robot in the latest snapshot
                self.publish_now();
            }
            Message::Stop => {
                self.record(World::last_record);
                return false;
            }
        }
        self.deliver_answers();
        true
    }

    fn handle_command(&mut self, session: SessionId, sequence: u64, command: Command) {
        let began = now();
        let is_reset = matches!(command, Command::Reset(_));
        let is_visible = is_reset
            || matches!(command, Command::EnterLockstep(_) | Command::LeaveLockstep(_) | Command::Speed(_))
            // no tick will publish it while paused
            || matches!(command, Command::Write(..) | Command::Observe(_)) && self.run.world().is_paused();
        let was_paused = self.run.world().is_paused();
        self.run.handle(session, sequence, command, began);
        let is_visible = is_visible || self.run.world().is_paused() != was_paused;
        self.record(|world, _| world.take_partial_record(limits::JOURNAL));
        if is_visible {
            let snapshot = self.publish_now();
            if is_reset {
                self.deliver_tick(&[Ticks::AndResets], true, &snapshot);
            }
        }
        let budget = self.subscribers.get_mut(&session).map(|subscriber| &mut subscriber.time_budget);
        if budget.is_some_and(|budget| !budget.spend(began, now())) {
            METRICS.sessions_dropped.add(1);
            warn!(session = session.0, "session dropped: its commands took too much time");
            self.end(session);
        }
    }

    /// Publishes the state between two ticks.
    fn publish_now(&mut self) -> Arc<Snapshot> {
        let snapshot = self.run.world().snapshot();
        self.publish.send_replace(Arc::clone(&snapshot));
        snapshot
    }

    /// Ends a session, unless it has ended before.
    fn end(&mut self, session: SessionId) {
        if self.subscribers.remove(&session).is_some() {
            self.run.end(session, now());
            self.publish_now();
        }
    }

    fn start_building(&mut self) {
        if let Some(blueprint) = self.run.next_blueprint(now()) {
            // there is at most one blueprint at a time, and the queue has room for it
            if self.builder.try_send(blueprint).is_err() {
                error!("builder thread has ended: robots can no longer join or leave");
            }
        }
    }

    /// False when a session was ended because its queue was full.
    fn deliver_answers(&mut self) -> bool {
        let mut all_delivered = true;
        for (session, answer) in self.run.take_answers() {
            all_delivered &= self.deliver(session, Delivery::Answer(answer));
        }
        all_delivered
    }

    /// False when the session was ended because its queue was full.
    fn deliver(&mut self, session: SessionId, delivery: Delivery) -> bool {
        let Some(subscriber) = self.subscribers.get(&session) else { return true };
        match subscriber.deliveries.try_send(delivery) {
            // a session that closed its queue is ended once its last commands are handled, see `handle_waiting`
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => true,
            Err(mpsc::error::TrySendError::Full(_)) => {
                // drops the sender, which closes the session's receiver
                self.end(session);
                METRICS.sessions_dropped.add(1);
                warn!(session = session.0, "session dropped: delivery queue full");
                false
            }
        }
    }

    /// Delivers a tick to the sessions that want it as one of `to`. Whether there are any.
    fn deliver_tick(&mut self, to: &[Ticks], is_reset: bool, snapshot: &Arc<Snapshot>) -> bool {
        let wanting = self.subscribers.iter().filter(|(_, subscriber)| subscriber.wants(to, is_reset));
        let wanting: Vec<_> = wanting.map(|(&id, _)| id).collect();
        for session in &wanting {
            self.deliver(*session, Delivery::Tick(Arc::clone(snapshot)));
        }
        !wanting.is_empty()
    }

    fn before_tick(&mut self, began: Instant) {
        if let Some(lateness) = self.run.clock().lateness(began) {
            METRICS.lateness.record(lateness);
        }
        let latest = Arc::clone(&self.publish.borrow());
        if self.deliver_tick(&[Ticks::AtNext], false, &latest) {
            // a session woken on this core needs little time, the physics much: let it go first
            thread::yield_now();
            self.run.world_mut().set_after_step(thread::yield_now);
        } else {
            self.run.world_mut().set_after_step(|| {});
        }
    }

    pub(super) fn after_tick(&mut self, began: Instant, snapshot: &Arc<Snapshot>) {
        let before = self.publish.send_replace(Arc::clone(snapshot));
        // a vote may have reset the world
        let is_reset = before.tries != snapshot.tries;
        self.deliver_tick(&[Ticks::WhenFree, Ticks::AtEnd, Ticks::AndResets], is_reset, snapshot);
        self.record(World::take_record);
        self.meter.note_faults(self.run.world_mut());
        let performance = self.meter.note_tick(began, now(), self.run.clock().overruns());
        self.run.world_mut().set_performance(performance);
    }

    /// Publishes a failure of the world, or its end by a reset. Both may happen without a tick.
    fn note_failure(&mut self) {
        let failure = self.run.world().failure().map(ToString::to_string);
        if *self.failed.borrow() == failure {
            return;
        }
        if let Some(cause) = &failure {
            error!("{STANDSTILL}: {cause}");
        }
        METRICS.set_failed(failure.is_some());
        self.failed.send_replace(failure);
    }

    /// Passes a record of the world to the recording, if there is one of each.
    fn record(&mut self, take: impl FnOnce(&mut World, u64) -> Option<TickRecord>) {
        let Some((sender, hash_every)) = &self.recording else { return };
        let Some(record) = take(self.run.world_mut(), *hash_every) else { return };
        match sender.send(record) {
            Ok(()) => return,
            Err(RecordingError::Behind) => {
                error!("recording stopped: {}", RecordingError::Behind);
                METRICS.recordings_ended_early.add(1);
            }
            // logged by the recording's own thread
            Err(RecordingError::Ended) => {}
        }
        self.recording = None;
        self.run.world_mut().stop_journal();
    }
}
