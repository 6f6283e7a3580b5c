//! Arbitrary text from a client of the console, with updates in between: nothing panics, every frame it is sent decodes,
//! every command to the world is finite, and a viewer sends none that changes the world.
//!
//! The first byte selects the role; then each line is a command, and an empty line a timeout.

#![no_main]

use libfuzzer_sys::fuzz_target;
use server::Scenario;
use server::serve::build_world;
use session::console::{Backend, ConnectedClient, ConsoleSession, Frame, ServerInfo, Shared};
use session::{Context, Input, Outbox, Session};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use wire::console::{Address, Component, Frame as BinaryFrame, Gauge, LogLine, Message, Role};
use world::variable::VariableError;
use world::{Answer, Command, SessionId, Snapshot, Value};

/// A server with a world and nothing else.
struct Bare;

impl Backend for Bare {
    fn failure(&self) -> Option<String> {
        None
    }

    fn addresses(&self) -> Vec<Address> {
        Vec::new()
    }

    fn clients(&self) -> Vec<ConnectedClient> {
        Vec::new()
    }

    fn standalone_clients(&self) -> Vec<(u64, &'static str, SocketAddr)> {
        Vec::new()
    }

    fn health(&self) -> Vec<Component> {
        Vec::new()
    }

    fn gauges(&self, _: &Snapshot) -> Vec<Gauge> {
        Vec::new()
    }

    fn log_since(&self, _: u64) -> (Vec<LogLine>, u64) {
        (Vec::new(), 0)
    }

    fn runs_version(&self) -> u64 {
        0
    }

    fn demo(&self) -> Option<(u8, String)> {
        None
    }

    fn saved_version(&self) -> u64 {
        0
    }

    fn saved_since(&self, _: u64) -> Vec<(String, serde_json::Value)> {
        Vec::new()
    }
}

struct Fixture {
    shared: Arc<Shared>,
    snapshot: Arc<Snapshot>,
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let scenario = Scenario::load("playground").expect("the scenario is sound");
    let (_, mut world) = build_world(&scenario).expect("the world can be built");
    let puppet = scenario.services.iter().find_map(|(_, service)| service.puppet().expect("its gestures are sound"));
    let shared = Arc::new(Shared::new(ServerInfo::default(), Box::new(Bare), puppet));
    Fixture { shared, snapshot: world.take_snapshot() }
});

fuzz_target!(|input: &[u8]| {
    let Fixture { shared, snapshot } = &*FIXTURE;
    let Some((&who, text)) = input.split_first() else { return };
    let role = if who % 2 == 0 { Role::Viewer } else { Role::Operator };
    let peer = "127.0.0.1:5000".parse().expect("an address");
    let mut session = ConsoleSession::new(SessionId(1), peer, role, Arc::clone(shared));
    let mut now = Instant::now();
    for line in String::from_utf8_lossy(text).lines() {
        now += Duration::from_millis(40);
        let mut out = Outbox::default();
        let input =
            if line.is_empty() { Input::Timeout } else { Input::Message { from: peer, message: line.to_owned() } };
        session.handle(input, Context::new(snapshot, now), &mut out);
        for command in std::mem::take(&mut out.commands) {
            check(&command, role);
            let variable = match command {
                Command::Read(id) | Command::Write(id, _) => id,
                _ => continue,
            };
            let answer = match line.len() % 3 {
                0 => Answer::Written(variable),
                1 => Answer::NoValue(variable, VariableError::Unknown),
                _ => Answer::Value(variable, Value::Double(0.5)),
            };
            session.handle(Input::Answer(answer), Context::new(snapshot, now), &mut out);
        }
        for (_, frame) in &out.replies {
            match frame {
                Frame::Text(text) => drop(Message::decode(text).expect("a message")),
                Frame::Binary(bytes) => drop(BinaryFrame::decode(bytes).expect("a frame")),
            }
        }
    }
});

fn check(command: &Command, role: Role) {
    let is_read_only = matches!(command, Command::Read(_) | Command::Observe(_) | Command::Unobserve(_));
    assert!(is_read_only || role == Role::Operator, "{command:?} of a viewer");
    if let Command::Order(order) = command {
        let order = order.to_text().expect("an order that can be recorded");
        assert!(!order.contains("null,null"), "{order}");
    }
}
