use world::{Robot, VariableId};

use super::*;
use crate::testing::{ROVER, Stepper, running, small_setup, small_world, within};

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

#[tokio::test]
async fn answers_go_to_the_session_that_asked() {
    let sim = running(Pace::Wall);
    let names = ["/Sim/Rover/Heading", "/Sim/Rover/Position"];
    let mut sessions = Vec::new();
    for name in names {
        let id = variable(sim.handle(), name);
        let (mut sender, deliveries) = sim.handle().open(false).unwrap();
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
    let sim = running(Pace::Free);
    let mut stepper = Stepper::new(sim.handle());
    let (_lazy_sender, mut lazy) = sim.handle().open(true).unwrap();
    let (_quick_sender, mut quick) = sim.handle().open(true).unwrap();
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
}

#[tokio::test]
async fn robots_come_and_go_while_others_get_every_tick() {
    let sim = running(Pace::Wall);
    let (_watcher, mut ticks) = sim.handle().open(true).unwrap();
    let source = small_setup().robots.remove(0).source;
    let (mut sender, mut answers) = sim.handle().open(false).unwrap();
    let pose = physics::Pose::facing(1.0, 1.0, 0.0, 0.0);
    let twin = Robot { name: "Twin".to_owned(), source, pose };
    sender.send(Command::Join(twin.clone())).unwrap();
    let joined = next_answer(&mut answers).await;
    let Answer::Joined(agent) = joined else { panic!("{joined:?}") };
    assert!(sim.handle().latest().catalogue.agent(agent).is_some(), "whoever is told finds it in the snapshot");
    sender.send(Command::Join(twin)).unwrap();
    let again = next_answer(&mut answers).await;
    assert!(matches!(&again, Answer::Refused(why) if why.contains("Twin")), "{again:?}");
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
    let sim = running(Pace::Wall);
    let handle = sim.handle().clone();
    let (mut sender, mut deliveries) = handle.open(true).unwrap();
    assert!(!handle.has_ended());
    tokio::task::spawn_blocking(|| sim.stop()).await.unwrap();
    assert!(handle.has_ended());
    while let Some(delivery) = within("the end of the session", deliveries.recv()).await {
        assert!(matches!(delivery, Delivery::Tick(_)));
    }
    assert_eq!(sender.send(Command::Reset(None)), Err(SendError::Ended));
    assert_eq!(handle.open(false).err(), Some(SendError::Ended));
}

#[tokio::test]
async fn a_full_inbox_refuses_and_a_flood_of_commands_does_not_stop_time() {
    let (inbox, received) = sync_channel(2);
    let (_publish, snapshots) = watch::channel(small_world().glimpse());
    let handle = SimHandle { inbox, snapshots, next_session: Arc::default() };
    let (mut sender, _deliveries) = handle.open(false).unwrap();
    assert_eq!(sender.send(Command::Reset(None)), Ok(()));
    assert_eq!(sender.send(Command::Reset(None)), Err(SendError::Full));
    drop(received);
    assert_eq!(sender.send(Command::Reset(None)), Err(SendError::Ended));

    let sim = running(Pace::Wall);
    let (mut flooder, _deliveries) = sim.handle().open(false).unwrap();
    let mut snapshots = sim.handle().watch();
    let first = sim.handle().latest().tick.0;
    let flood = async {
        loop {
            // whether or not there is room
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
