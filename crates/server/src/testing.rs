//! Test helpers: a small world, and waiting with a deadline.

use std::{sync::Arc, time::Duration};

use session::console::{ServerInfo, Shared};
use tokio::{sync::mpsc, time::timeout};
use world::{
    AgentId, Command, Setup, Snapshot, World,
    clock::{Pace, Vote},
};

use crate::{
    Scenario,
    address::Endpoints,
    driver::{
        admission::Admission,
        console::{ConsoleServer, JobContext, Jobs, ServerBackend},
    },
    health::Health,
    jobs::{Demo, Playbacks, Runs},
    recording::RecordingSender,
    sim_thread::{Delivery, SessionSender, SimHandle, SimOptions, SimThread, Ticks},
    user_data::SavedItems,
};

/// Far longer than any test takes, even on a busy machine.
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

/// Awaits a future; panics after [`DEADLINE`].
pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    timeout(DEADLINE, future).await.unwrap_or_else(|_| panic!("{what}: not within {DEADLINE:?}"))
}

/// Advances a [`Pace::Lockstep`] world tick by tick.
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

    /// Votes, and waits for the tick or reset that follows. Answers to other commands are skipped.
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

/// A console of a server that has only a world.
pub(crate) fn console_server(sim: &SimHandle) -> ConsoleServer {
    let nowhere = std::path::PathBuf::from("/nowhere");
    let runs = Runs::new(nowhere.clone(), nowhere.clone());
    let (demo, saved) = (Demo::new(), SavedItems::open(&nowhere));
    let backend = ServerBackend {
        sim: sim.clone(),
        health: Health::default(),
        endpoints: Endpoints { fixed: Vec::new(), simulators: None },
        admission: Admission::default(),
        runs: runs.clone(),
        demo: demo.clone(),
        saved: saved.clone(),
        recording: None,
    };
    let context = JobContext {
        sim: sim.clone(),
        soccer_agents: None,
        panel: None,
        simulators: None,
        runs,
        demo,
        playbacks: Playbacks::new(nowhere),
        saved,
    };
    let info = ServerInfo { title: "A test".to_owned(), tick_seconds: 0.02, ..ServerInfo::default() };
    ConsoleServer {
        sim: sim.clone(),
        shared: Arc::new(Shared::new(info, Box::new(backend), None)),
        jobs: Arc::new(Jobs::new(context)),
    }
}
