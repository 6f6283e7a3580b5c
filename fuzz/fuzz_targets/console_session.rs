//! Any text from a browser, with looks at the world in between: nothing panics, whatever it is told is a message, whatever
//! the world is asked is finite, and whoever may look on asks nothing that changes the world.
//!
//! The first byte says who it is; then each line is a command, and an empty line a look.

#![no_main]

use libfuzzer_sys::fuzz_target;
use server::Scenario;
use server::jobs::{Demo, Playbacks, Runs};
use server::health::Health;
use server::keeping::Drawer;
use server::serve::build_world;
use server::session::console::{ConsoleSession, Out, Shared, SharedParts};
use server::sim_thread::{SimOptions, SimThread};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use wire::console::{Frame, Message, Role};
use world::clock::Pace;
use world::variable::VariableError;
use world::{Answer, Command, SessionId, Snapshot, Value};

struct Stage {
    shared: Arc<Shared>,
    snapshot: Arc<Snapshot>,
    _sim: SimThread,
}

static STAGE: LazyLock<Stage> = LazyLock::new(|| {
    let scenario = Scenario::load("playground").expect("the scenario is sound");
    let (_, mut world) = build_world(&scenario).expect("the world can be built");
    let snapshot = world.take_snapshot();
    let options = SimOptions { pace: Pace::Lockstep, silence: Duration::from_secs(1), steady: false, recording: None };
    let sim = SimThread::start(world, options).expect("a thread");
    let nowhere = PathBuf::from("/nowhere");
    let shared = Shared::new(SharedParts {
        title: "A world".to_owned(),
        tick_seconds: 0.02,
        addresses: Vec::new(),
        sim: sim.handle().clone(),
        pace: "lockstep".to_owned(),
        health: Health::default(),
        metrics: server::metrics::install().expect("metrics"),
        doors: server::driver::stream::Doors::default(),
        desk: scenario.services.iter().find_map(|(_, service)| service.desk()),
        runs: Runs::new(nowhere.clone(), nowhere.clone()),
        evolution: None,
        demo: Demo::new(),
        films: Playbacks::new(nowhere),
        drawer: Drawer::open(Path::new("/nowhere")),
        recording: None,
    });
    Stage { shared: Arc::new(shared), snapshot, _sim: sim }
});

fuzz_target!(|input: &[u8]| {
    let Stage { shared, snapshot, .. } = &*STAGE;
    let Some((&who, text)) = input.split_first() else { return };
    let role = if who % 2 == 0 { Role::Viewer } else { Role::Operator };
    let peer = "127.0.0.1:5000".parse().expect("an address");
    let mut session = ConsoleSession::new(SessionId(1), peer, role, Arc::clone(shared));
    let mut now = Instant::now();
    for line in String::from_utf8_lossy(text).lines() {
        now += Duration::from_millis(40);
        let mut out = Out::default();
        if line.is_empty() {
            session.look(snapshot, now, &mut out);
        } else {
            session.command(line, snapshot, now, &mut out);
        }
        for command in std::mem::take(&mut out.commands) {
            check(&command, role);
            let variable = match command {
                Command::Read(id) | Command::Write(id, _) => id,
                _ => continue,
            };
            // the world takes it, does not, or tells what it was asked
            let answer = match line.len() % 3 {
                0 => Answer::Written(variable),
                1 => Answer::NoValue(variable, VariableError::Unknown),
                _ => Answer::Value(variable, Value::Double(0.5)),
            };
            session.answer(answer, &mut out);
        }
        for text in &out.texts {
            Message::decode(text).expect("a message");
        }
        for frame in &out.frames {
            Frame::decode(frame).expect("a frame");
        }
    }
});

fn check(command: &Command, role: Role) {
    let is_read_only = matches!(command, Command::Read(_) | Command::Observe(_) | Command::Unobserve(_));
    assert!(is_read_only || role == Role::Operator, "{command:?} of somebody who looks on");
    if let Command::Order(order) = command {
        let order = order.to_text().expect("an order that can be recorded");
        assert!(!order.contains("null,null"), "{order}");
    }
}
