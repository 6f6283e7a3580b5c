use std::{
    convert::Infallible,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::sync_channel,
    thread,
};

use tokio::sync::watch;
use world::{
    Action, AgentId, Robot, Value, VariableId, World,
    clock::Vote,
    director::{Director, NoJoinRequest, Spawn, View},
    runner::Progress,
};

use super::{
    handoff::{NextTurn, State},
    sim_loop::SimLoop,
    subscriber::TimeBudget,
    sync::now,
    *,
};
use crate::{
    limits,
    testing::{ROVER, Stepper, running, small_setup, small_world, within},
};

fn variable(sim: &SimHandle, name: &str) -> VariableId {
    sim.latest().catalogue.variable_named(name).unwrap_or_else(|| panic!("no variable {name}")).id
}

async fn next_answer(deliveries: &mut mpsc::Receiver<Delivery>) -> Answer {
    loop {
        match within("an answer", deliveries.recv()).await {
            Some(Delivery::Answer(answer)) => return answer,
            Some(Delivery::Tick(_)) => {}
            None => panic!("the session was dropped"),
        }
    }
}

fn rover_named(name: &str) -> Robot {
    let source = small_setup().robots.remove(0).source;
    Robot { name: name.to_owned(), source, pose: physics::Pose::facing(1.0, 1.0, 0.0, 0.0) }
}

async fn join(sender: &mut SessionSender, deliveries: &mut mpsc::Receiver<Delivery>, name: &str) -> AgentId {
    sender.send(Command::Join(rover_named(name))).unwrap();
    match next_answer(deliveries).await {
        Answer::Joined(agent) => agent,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn answers_do_not_wait_for_the_next_command() {
    let silence = Duration::from_millis(20);
    let options = SimOptions { pace: Pace::Fast, silence, steady: false, recording: None };
    let sim = SimThread::start(small_world(), options).unwrap();
    let (mut sender, mut deliveries) = sim.handle().open(Ticks::Never).unwrap();
    sender.send(Command::Join(rover_named("Rover"))).unwrap();
    let answer = next_answer(&mut deliveries).await;
    assert!(matches!(answer, Answer::Refused(_)), "{answer:?}");
    sender.send(Command::EnterLockstep(ROVER)).unwrap();
    assert_eq!(next_answer(&mut deliveries).await, Answer::Entered(ROVER));
    // another one waits for it
    let (mut other, _deliveries) = sim.handle().open(Ticks::Never).unwrap();
    other.send(Command::Act(ROVER, Vec::new())).unwrap();
    assert_eq!(next_answer(&mut deliveries).await, Answer::VoteLost(ROVER));
}

#[tokio::test]
async fn answers_go_to_the_session_that_asked() {
    let sim = running(Pace::Realtime);
    let names = ["/Sim/Rover/Heading", "/Sim/Rover/Position"];
    let mut sessions = Vec::new();
    for name in names {
        let id = variable(sim.handle(), name);
        let (mut sender, deliveries) = sim.handle().open(Ticks::Never).unwrap();
        for _ in 0..3 {
            sender.send(Command::Read(id)).unwrap();
        }
        sessions.push((id, sender, deliveries));
    }
    for (id, sender, mut deliveries) in sessions {
        for _ in 0..3 {
            let answer = next_answer(&mut deliveries).await;
            assert!(matches!(&answer, Answer::Value(read, _) if *read == id), "{answer:?} for {id:?}");
        }
        drop(sender);
        assert!(within("the end of the session", deliveries.recv()).await.is_none(), "nothing but its own answers");
    }
}

#[tokio::test]
async fn a_session_that_does_not_drain_is_dropped_and_others_miss_no_tick() {
    let sim = running(Pace::Lockstep);
    let mut stepper = Stepper::new(sim.handle());
    let (mut lazy_sender, mut lazy) = sim.handle().open(Ticks::AtEnd).unwrap();
    join(&mut lazy_sender, &mut lazy, "Lazy").await;
    let (_quick_sender, mut quick) = sim.handle().open(Ticks::AtEnd).unwrap();
    let ticks = limits::SESSION_QUEUE as u64 + 50;
    for expected in 1..=ticks {
        assert_eq!(stepper.step().await.tick.0, expected);
        let Some(Delivery::Tick(seen)) = within("a tick", quick.recv()).await else { panic!("dropped") };
        assert_eq!(seen.tick.0, expected);
    }
    let mut kept = 0;
    while within("the end of the lazy session", lazy.recv()).await.is_some() {
        kept += 1;
    }
    assert_eq!(kept, limits::SESSION_QUEUE);

    let mut snapshots = sim.handle().watch();
    let gone = snapshots.wait_for(|snapshot| snapshot.catalogue.agent_named("Lazy").is_none());
    let tries = within("its robot to go", gone).await.unwrap().tries;
    lazy_sender.send(Command::Reset(None)).unwrap();
    assert_eq!(stepper.step().await.tries, tries, "commands of a dropped session are ignored");
}

#[tokio::test]
async fn a_session_that_may_miss_ticks_is_not_dropped() {
    let sim = running(Pace::Lockstep);
    let mut stepper = Stepper::new(sim.handle());
    let (_sender, mut slow) = sim.handle().open(Ticks::WhenFree).unwrap();
    let ticks = limits::SESSION_QUEUE as u64 + 50;
    for _ in 0..ticks {
        stepper.step().await;
    }
    for expected in 1..=limits::UNFINISHED_TICKS as u64 {
        let Some(Delivery::Tick(seen)) = within("a tick", slow.recv()).await else { panic!("dropped") };
        assert_eq!(seen.tick.0, expected);
    }
    assert_eq!(stepper.step().await.tick.0, ticks + 1);
    let Some(Delivery::Tick(seen)) = within("a tick", slow.recv()).await else { panic!("dropped") };
    assert_eq!(seen.tick.0, ticks + 1);
}

#[tokio::test]
async fn a_session_without_a_use_for_ticks_is_told_of_resets_only() {
    let sim = running(Pace::Lockstep);
    let mut stepper = Stepper::new(sim.handle());
    let (mut idle_sender, mut idle) = sim.handle().open(Ticks::AndResets).unwrap();
    idle_sender.set_wants_ticks(false);
    for _ in 0..10 {
        stepper.step().await;
    }
    let tries = sim.handle().latest().tries;
    idle_sender.send(Command::Reset(None)).unwrap();
    let Some(Delivery::Tick(reset)) = within("the reset", idle.recv()).await else { panic!("dropped") };
    assert_eq!((reset.tries, reset.step), (tries + 1, 0));
    idle_sender.set_wants_ticks(true);
    let stepped = stepper.step().await;
    let Some(Delivery::Tick(seen)) = within("a tick", idle.recv()).await else { panic!("dropped") };
    assert_eq!(seen.tick, stepped.tick);
}

#[test]
fn the_time_of_a_sessions_commands_is_limited() {
    let start = now();
    let later = |milliseconds: u64| start + Duration::from_millis(milliseconds);
    let mut budget = TimeBudget::new(start);
    assert!(budget.spend(start, later(200)), "a long command now and then");
    assert!(!budget.spend(later(200), later(400)), "but not one after the other");
    let mut budget = TimeBudget::new(start);
    for second in 0..100_u64 {
        assert!(budget.spend(later(1000 * second), later(1000 * second + 200)), "a fifth of all time, for ever");
    }
}

#[tokio::test]
async fn a_session_whose_close_message_was_lost_leaves_nothing_behind() {
    let sim = running(Pace::Realtime);
    let (mut sender, mut deliveries) = sim.handle().open(Ticks::AtEnd).unwrap();
    sender.send(Command::EnterLockstep(ROVER)).unwrap();
    assert_eq!(next_answer(&mut deliveries).await, Answer::Entered(ROVER));
    join(&mut sender, &mut deliveries, "Twin").await;
    let then = sim.handle().latest().tick.0;
    // as if the inbox were full when its `Close` was sent
    std::mem::forget(sender);
    drop(deliveries);
    // a world that waits for votes notices it with the next message
    let _other = sim.handle().open(Ticks::Never).unwrap();
    let mut snapshots = sim.handle().watch();
    let free =
        |snapshot: &Arc<Snapshot>| snapshot.tick.0 > then + 3 && snapshot.catalogue.agent_named("Twin").is_none();
    within("its robot to go and time to pass", snapshots.wait_for(free)).await.unwrap();
}

#[test]
fn a_panic_of_the_builder_is_an_error() {
    let check = |build: fn() -> Result<Structure, BuildError>, wanted: &str| {
        let error = builder::catch_panic(build).unwrap_err();
        assert!(matches!(&error, BuildError::Panicked { message } if message == wanted), "{error}");
    };
    check(|| panic!("a mistake"), "a mistake");
    check(|| panic!("{}", String::from("another")), "another");
    check(|| std::panic::panic_any(7), "");
}

/// A world that no thread runs yet, and access to it.
fn not_started(world: World, pace: Pace, recording: Option<(RecordingSender, u64)>) -> (SimHandle, SimLoop) {
    let (inbox, received) = sync_channel(8);
    let (publish, snapshots) = watch::channel(world.snapshot());
    let (failed, failure) = watch::channel(None);
    let handle = SimHandle::new(inbox, snapshots, failure);
    let builder = builder::start(handle.inbox.clone(), Arc::clone(&handle.handoff)).unwrap();
    let options = SimOptions { pace, silence: Duration::from_secs(3600), steady: false, recording };
    (handle, SimLoop::new(world, options, received, publish, failed, builder))
}

#[test]
fn another_thread_can_take_a_turn() {
    let (handle, sim) = not_started(small_world(), Pace::Lockstep, None);
    handle.handoff.put(State { world: sim, sleep: NextTurn::OnMessage });
    let (mut sender, mut deliveries) = handle.open(Ticks::AtEnd).unwrap();
    sender.enqueue(Command::EnterLockstep(ROVER)).unwrap();
    handle.drive();
    assert!(matches!(deliveries.try_recv(), Ok(Delivery::Answer(Answer::Entered(ROVER)))));
    assert_eq!(handle.latest().lockstep, [ROVER]);
    for tick in 1..=3 {
        sender.enqueue(Command::Vote(ROVER, Vote::Step)).unwrap();
        handle.drive();
        let Ok(Delivery::Tick(snapshot)) = deliveries.try_recv() else { panic!("no tick {tick}") };
        assert_eq!((snapshot.tick.0, handle.latest().tick.0), (tick, tick));
        assert!(deliveries.try_recv().is_err(), "one vote, one tick");
    }
    drop(sender);
    handle.drive();
    assert_eq!(handle.latest().lockstep, []);
}

#[tokio::test]
async fn every_vote_is_a_tick_whether_the_sim_thread_is_alert_or_asleep() {
    let sim = running(Pace::Lockstep);
    let handle = sim.handle().clone();
    let (mut sender, mut deliveries) = handle.open(Ticks::AtEnd).unwrap();
    sender.send(Command::EnterLockstep(ROVER)).unwrap();
    assert_eq!(next_answer(&mut deliveries).await, Answer::Entered(ROVER));
    for tick in 1..=3_000_u64 {
        // also just when it parks
        for _ in 0..tick * 7919 % 40_000 {
            std::hint::spin_loop();
        }
        sender.enqueue(Command::Vote(ROVER, Vote::Step)).unwrap();
        handle.drive();
        match within("a tick", deliveries.recv()).await {
            Some(Delivery::Tick(snapshot)) => assert_eq!(snapshot.tick.0, tick),
            other => panic!("{other:?}"),
        }
        if tick % 5 != 0 {
            handle.prepare();
        }
    }
    drop(sender);
    tokio::task::spawn_blocking(move || sim.stop()).await.unwrap();
}

#[test]
fn the_sim_thread_wakes_up_when_it_has_to() {
    let check = |pace, sleep, is_woken, why| {
        let (handle, world) = not_started(small_world(), pace, None);
        assert_eq!(State { world, sleep }.drive(), is_woken, "{why}");
        drop(handle);
    };
    let in_an_hour = NextTurn::At(now() + Duration::from_secs(3600));
    check(Pace::Lockstep, NextTurn::OnMessage, false, "there is nothing to wait for");
    check(Pace::Lockstep, in_an_hour, false, "it may sleep longer than it does");
    check(Pace::Realtime, NextTurn::OnMessage, true, "the next tick has its time");
    check(Pace::Realtime, in_an_hour, true, "and that is earlier");
    check(Pace::Realtime, NextTurn::At(now()), false, "it wakes up in time");
    check(Pace::Fast, NextTurn::OnMessage, true, "the next tick is due");
}

/// Panics in each tick.
struct Panicking;

impl Director for Panicking {
    const NAME: &'static str = "panicking";
    type Order = ();
    type Answer = Infallible;
    type Refusal = Infallible;
    type JoinRequest = NoJoinRequest;

    fn variables(&self) -> Vec<(String, Value)> {
        Vec::new()
    }
    fn reset(&mut self, _: &mut World) {}
    fn model_changed(&mut self, _: &mut World) {}
    fn before_physics(&mut self, _: &mut World) {
        panic!("a mistake")
    }
    fn after_physics(&mut self, _: &mut World) {}
    fn admit(&mut self, _: &mut World, request: &NoJoinRequest) -> Result<Spawn, Infallible> {
        match *request {}
    }
    fn apply_order(&mut self, _: &mut World, (): ()) -> Result<Option<Infallible>, Infallible> {
        Ok(None)
    }
    fn view(&self) -> View {
        Arc::new(())
    }
}

#[test]
fn a_panic_in_another_thread_ends_the_world() {
    let world = World::with_directors(&small_setup(), vec![Box::new(Panicking)]).unwrap();
    let (handle, sim) = not_started(world, Pace::Lockstep, None);
    let handoff = Arc::clone(&handle.handoff);
    let thread = thread::spawn(move || handoff.run(sim));
    let (mut sender, _deliveries) = handle.open(Ticks::Never).unwrap();
    sender.send(Command::EnterLockstep(ROVER)).unwrap();
    sender.enqueue(Command::Vote(ROVER, Vote::Step)).unwrap();
    // either thread may take the turn that panics
    let driven = catch_unwind(AssertUnwindSafe(|| handle.drive()));
    let ended = thread.join();
    assert!(driven.is_err() || ended.is_err());
    assert!(handle.has_ended());
    assert_eq!(sender.send(Command::Reset(None)), Err(SendError::Ended));
}

#[test]
fn the_journal_ends_with_the_recording() {
    let mut world = small_world();
    world.keep_journal();
    let (record, records) = sync_channel(8);
    drop(records);
    let (_handle, mut sim) = not_started(world, Pace::Fast, Some((RecordingSender(record), 1)));
    for sequence in 0..3 {
        let action = Action::Set { motor: 0, target: Some(1.0), torque: None };
        sim.run.handle(SessionId(0), sequence, Command::Act(ROVER, vec![action]), now());
        let Progress::Moved(snapshot) = sim.run.advance(now()).0 else { panic!("time stands still") };
        sim.after_tick(now(), &snapshot);
        assert!(sim.recording.is_none());
    }
    assert_eq!(sim.run.world_mut().take_journal(), []);
}

#[tokio::test]
async fn robots_join_and_leave_while_others_get_every_tick() {
    let sim = running(Pace::Realtime);
    let (_watcher, mut ticks) = sim.handle().open(Ticks::AtEnd).unwrap();
    let (mut sender, mut answers) = sim.handle().open(Ticks::Never).unwrap();
    let agent = join(&mut sender, &mut answers, "Twin").await;
    assert!(
        sim.handle().latest().catalogue.agent(agent).is_some(),
        "a session that gets the answer finds the robot in the snapshot"
    );
    sender.send(Command::Join(rover_named("Twin"))).unwrap();
    let again = next_answer(&mut answers).await;
    assert!(matches!(&again, Answer::Refused(why) if why.to_string().contains("Twin")), "{again:?}");
    sender.send(Command::Leave(agent)).unwrap();
    assert_eq!(next_answer(&mut answers).await, Answer::Left(agent));
    let left_at = sim.handle().latest().tick;

    let mut seen: Option<u64> = None;
    while seen.is_none_or(|tick| tick < left_at.0) {
        let Some(Delivery::Tick(snapshot)) = within("a tick", ticks.recv()).await else { panic!("dropped") };
        assert!(seen.is_none_or(|last| snapshot.tick.0 == last + 1), "{:?} after {seen:?}", snapshot.tick);
        seen = Some(snapshot.tick.0);
    }
}

#[tokio::test]
async fn stopping_ends_the_thread_and_every_session() {
    let sim = running(Pace::Realtime);
    let handle = sim.handle().clone();
    let (mut sender, mut deliveries) = handle.open(Ticks::AtEnd).unwrap();
    assert!(!handle.has_ended());
    tokio::task::spawn_blocking(|| sim.stop()).await.unwrap();
    assert!(handle.has_ended());
    while let Some(delivery) = within("the end of the session", deliveries.recv()).await {
        assert!(matches!(delivery, Delivery::Tick(_)));
    }
    assert_eq!(sender.send(Command::Reset(None)), Err(SendError::Ended));
    assert_eq!(handle.open(Ticks::Never).err(), Some(SendError::Ended));
}

#[tokio::test]
async fn a_full_inbox_refuses_and_a_flood_of_commands_does_not_stop_time() {
    let (inbox, received) = sync_channel(2);
    let (_publish, snapshots) = watch::channel(small_world().snapshot());
    let (_failed, failure) = watch::channel(None);
    let handle = SimHandle::new(inbox, snapshots, failure);
    let (mut sender, _deliveries) = handle.open(Ticks::Never).unwrap();
    assert_eq!(sender.send(Command::Reset(None)), Ok(()));
    assert_eq!(sender.send(Command::Reset(None)), Err(SendError::Full));
    drop(received);
    assert_eq!(sender.send(Command::Reset(None)), Err(SendError::Ended));

    let sim = running(Pace::Realtime);
    let (mut flooder, _deliveries) = sim.handle().open(Ticks::Never).unwrap();
    let mut snapshots = sim.handle().watch();
    let first = sim.handle().latest().tick.0;
    let flood = async {
        loop {
            // also if the inbox is full
            let _ = flooder.send(Command::Act(ROVER, Vec::new()));
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = flood => {}
        seen = within("ten ticks", snapshots.wait_for(|snapshot| snapshot.tick.0 >= first + 10)) => {
            seen.unwrap();
        }
    }
}
