//! A small world to test with, and waiting with a deadline.

use std::{sync::Arc, time::Duration};

use tokio::{sync::mpsc, time::timeout};
use world::{
    AgentId, Command, Setup, Snapshot, World,
    clock::{Pace, Vote},
};

use crate::{
    Scenario,
    backstage::{Demo, Films, Runs},
    health::Health,
    recording::RecordingSender,
    session::console::{Shared, SharedParts},
    sim_thread::{Delivery, SessionSender, SimHandle, SimOptions, SimThread, Ticks},
    user_data::SavedItems,
};

/// Far longer than anything here takes, also on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// The first agent of the small world: a rover that stands still.
pub(crate) const ROVER: AgentId = AgentId(1);

/// The world of the scenario `small`: one rover with two motors, at rest.
pub(crate) fn small_setup() -> Setup {
    Scenario::load("small").and_then(|scenario| scenario.setup()).unwrap()
}

pub(crate) fn small_world() -> World {
    let world = World::new(&small_setup()).unwrap();
    assert_eq!(world.catalogue().agents.first().map(|card| card.id), Some(ROVER));
    world
}

/// The small world, running.
pub(crate) fn running(pace: Pace) -> SimThread {
    running_recorded(small_world(), pace, None)
}

pub(crate) fn running_recorded(world: World, pace: Pace, recording: Option<(RecordingSender, u64)>) -> SimThread {
    SimThread::start(world, SimOptions { pace, silence: Duration::from_secs(3600), steady: false, recording }).unwrap()
}

/// The result of something that must not take for ever.
pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    timeout(DEADLINE, future).await.unwrap_or_else(|_| panic!("{what}: not within {DEADLINE:?}"))
}

/// Lets the time of a [`Pace::Lockstep`] world pass, tick by tick.
pub(crate) struct Stepper {
    sender: SessionSender,
    deliveries: mpsc::Receiver<Delivery>,
}

impl Stepper {
    pub(crate) fn new(sim: &SimHandle) -> Self {
        let (mut sender, deliveries) = sim.open(Ticks::AtEnd).unwrap();
        sender.send(Command::EnterLockstep(ROVER)).unwrap();
        Self { sender, deliveries }
    }

    /// Votes, and waits for what comes of it: a tick or a reset. Answers to other commands are passed over.
    pub(crate) async fn vote(&mut self, vote: Vote) -> Arc<Snapshot> {
        self.sender.send(Command::Vote(ROVER, vote)).unwrap();
        loop {
            match within("a tick", self.deliveries.recv()).await {
                Some(Delivery::Tick(snapshot)) => return snapshot,
                Some(Delivery::Answer(_)) => {}
                None => panic!("the stepper was dropped"),
            }
        }
    }

    pub(crate) async fn step(&mut self) -> Arc<Snapshot> {
        self.vote(Vote::Step).await
    }

    pub(crate) fn send(&mut self, command: Command) {
        self.sender.send(command).unwrap();
    }
}

/// What browsers of a test share, with folders that are not there.
pub(crate) fn shared(sim: &SimHandle, metrics: metrics_exporter_prometheus::PrometheusHandle) -> Shared {
    let nowhere = std::path::PathBuf::from("/nowhere");
    Shared::new(SharedParts {
        title: "A test".to_owned(),
        tick_seconds: 0.02,
        addresses: Vec::new(),
        sim: sim.clone(),
        pace: "lockstep".to_owned(),
        health: Health::default(),
        metrics,
        doors: crate::driver::stream::Doors::default(),
        desk: None,
        runs: Runs::new(nowhere.clone(), nowhere.clone()),
        evolution: None,
        demo: Demo::new(),
        films: Films::new(nowhere.clone()),
        saved_items: SavedItems::open(&nowhere),
        recording: None,
    })
}
