use std::time::Instant;

use serde_json::{Value, json};
use wire::console::Frame as BinaryFrame;
use world::{World, clock::Pace, runner::Runner};

use super::*;
use crate::{limits, testing::small_world};

/// A server that has only a world.
struct BareBackend;

impl Backend for BareBackend {
    fn failure(&self) -> Option<String> {
        None
    }

    fn clients(&self) -> Vec<ConnectedClient> {
        Vec::new()
    }

    fn standalone_clients(&self) -> Vec<(u64, &'static str, SocketAddr)> {
        Vec::new()
    }

    fn addresses(&self) -> Vec<wire::console::Address> {
        Vec::new()
    }

    fn health(&self) -> Vec<wire::console::Component> {
        Vec::new()
    }

    fn gauges(&self, _: &Snapshot) -> Vec<wire::console::Gauge> {
        Vec::new()
    }

    fn log_since(&self, _: u64) -> (Vec<wire::console::LogLine>, u64) {
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

    fn saved_since(&self, _: u64) -> Vec<(String, Value)> {
        Vec::new()
    }
}

/// A console client of a world, without sockets and with time passed in.
struct Client {
    session: ConsoleSession,
    run: Runner,
    world: Arc<Snapshot>,
    now: Instant,
    sequence: u64,
}

const YOU: SessionId = SessionId(7);

impl Client {
    #[expect(clippy::disallowed_methods, reason = "an Instant can only be had from the system")]
    fn new(role: Role) -> Self {
        let shared = Arc::new(Shared::new(ServerInfo::default(), Box::new(BareBackend), None));
        let session = ConsoleSession::new(YOU, "127.0.0.1:9".parse().unwrap(), role, shared);
        let (world, now): (World, _) = (small_world(), Instant::now());
        let glimpse = world.snapshot();
        let run = Runner::new(world, Pace::Fast, Duration::from_secs(3600), now);
        Self { session, run, world: glimpse, now, sequence: 0 }
    }

    /// Sends a command, lets the world answer, and returns the messages received.
    fn ask(&mut self, command: Value) -> Vec<Value> {
        let mut out = Output::new(self.session.role);
        self.session.handle_text(&command.to_string(), &self.world, self.now, &mut out);
        let mut messages = std::mem::take(&mut out.texts);
        while !out.commands.is_empty() {
            for command in std::mem::take(&mut out.commands) {
                self.sequence += 1;
                self.run.handle(YOU, self.sequence, command, self.now);
            }
            for (_, answer) in self.run.take_answers() {
                self.session.handle_answer(answer, &mut out);
            }
            messages.append(&mut out.texts);
        }
        self.world = self.run.world().snapshot();
        messages.iter().map(|text| serde_json::from_str(text).unwrap()).collect()
    }

    /// Runs a tick.
    fn tick(&mut self) {
        self.now += Duration::from_millis(250);
        if let (world::runner::Progress::Moved(snapshot), _) = self.run.advance(self.now) {
            self.world = snapshot;
        }
    }

    fn update(&mut self) -> (Vec<Value>, Vec<Bytes>) {
        self.now += Duration::from_millis(250);
        let mut out = Output::new(self.session.role);
        self.session.update(&self.world, self.now, &mut out);
        (out.texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect(), out.frames)
    }

    /// The next message of this type.
    fn next(&mut self, kind: &str) -> Option<Value> {
        self.update().0.into_iter().find(|message| message["type"] == kind)
    }
}

fn types(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["type"].as_str().unwrap()).collect()
}

#[test]
fn a_client_is_welcomed_and_gets_the_topics_it_watches() {
    let mut client = Client::new(Role::Viewer);
    let mut out = Output::new(client.session.role);
    client.session.greet(&client.world, &mut out);
    let hello: Value = serde_json::from_str(&out.texts[0]).unwrap();
    assert_eq!((&hello["type"], &hello["role"], &hello["you"]), (&json!("hello"), &json!("viewer"), &json!(7)));
    assert_eq!((&hello["soccer"], &hello["puppet"]), (&Value::Null, &Value::Null));
    assert!(!client.session.is_watching() && client.update() == (Vec::new(), Vec::new()), "a hidden tab gets nothing");

    assert_eq!(
        client.ask(json!({"do": "watch", "topics": ["world", "poses"], "id": 1})),
        [json!({"type": "done", "id": 1})]
    );
    let (texts, frames) = client.update();
    assert_eq!(types(&texts), ["scene", "state"]);
    assert!(texts[0]["bodies"].as_array().unwrap().len() > 2 && texts[0]["agents"][0]["name"] == "Rover");
    let Ok(BinaryFrame::Poses { poses, .. }) = BinaryFrame::decode(&frames[0]) else { panic!("no poses") };
    assert_eq!(poses.len() + 1, client.world.positions.len());
    // nothing has changed
    assert_eq!(client.update(), (Vec::new(), Vec::new()));
    client.tick();
    let (texts, frames) = client.update();
    assert_eq!((types(&texts), frames.len()), (vec!["events", "state"], 1));
}

#[test]
fn what_is_moved_is_shown_at_most_ten_times_a_second() {
    let mut client = Client::new(Role::Operator);
    client.ask(json!({"do": "watch", "topics": ["world", "poses"]}));
    client.update();
    let place = |scene: &Value| {
        let looks = scene["looks"].as_array().unwrap().iter();
        looks.map(|look| look["position"].to_string()).collect::<Vec<_>>()
    };
    let mut shown = 0;
    for step in 0..45 {
        let x = f64::from(step) / 64.0;
        let value = format!("({x},0.5,0.25)");
        client.ask(json!({"do": "write", "variable": "/Sim/World/box-1/Position", "value": value}));
        client.now -= Duration::from_millis(240);
        // 10 ms after the last one
        let (texts, frames) = client.update();
        if let Some(scene) = texts.iter().find(|message| message["type"] == "scene") {
            shown += 1;
            assert!(place(scene).contains(&format!("[{x:?},0.5,0.25]")), "{x}: {:?}", place(scene));
            assert_eq!(frames.len(), 1, "a scene is shown once its poses have arrived");
        }
    }
    assert!((3..=5).contains(&shown), "{shown} scenes in 0.45 s");
    // the last place is shown in the end, and once
    let scene = client.next("scene").unwrap();
    assert!(place(&scene).contains(&"[0.6875,0.5,0.25]".to_owned()), "{:?}", place(&scene));
    assert_eq!(client.update(), (Vec::new(), Vec::new()));
}

#[test]
fn viewers_cannot_send_commands() {
    let mut client = Client::new(Role::Viewer);
    for command in [
        json!({"do": "pause"}),
        json!({"do": "reset"}),
        json!({"do": "write", "variable": "/Simulation/Gravitation", "value": "1"}),
        json!({"do": "act", "agent": "Rover", "motors": [[0, 1.0]]}),
        json!({"do": "push", "agent": "Rover", "velocity": [0, 0, 1]}),
        json!({"do": "puppet", "order": "reset"}),
        json!({"do": "demo", "players": 1}),
        json!({"do": "save", "key": "a", "value": 1}),
        json!({"do": "stop-run", "name": "x"}),
        json!({"do": "open-film", "name": "x.mcap"}),
    ] {
        // not so many at once
        client.tick();
        let messages = client.ask(command.clone());
        assert!(
            types(&messages) == ["refused"] && messages[0]["why"].as_str().unwrap().contains("viewers cannot"),
            "{command}: {messages:?}"
        );
    }
    assert_eq!(types(&client.ask(json!({"do": "list", "path": "/", "id": 1}))), ["list", "done"]);
}

#[test]
fn operators_control_time() {
    let mut client = Client::new(Role::Operator);
    client.ask(json!({"do": "watch", "topics": ["world"]}));
    assert_eq!(types(&client.ask(json!({"do": "step", "id": 1}))), ["refused"], "the world is not paused");
    assert_eq!(client.ask(json!({"do": "pause", "id": 2})), [json!({"type": "done", "id": 2})]);
    assert_eq!(client.next("state").unwrap()["paused"], true);
    let before = client.world.tick;
    client.tick();
    assert_eq!(client.world.tick, before, "the world is paused");
    client.ask(json!({"do": "step"}));
    client.tick();
    client.tick();
    assert_eq!(client.world.tick.0, before.0 + 1, "exactly one tick");
    client.ask(json!({"do": "play"}));
    client.tick();
    assert_eq!(client.world.tick.0, before.0 + 2);
    for (factor, messages) in [(2.0, "done"), (0.01, "refused"), (100.0, "refused")] {
        assert_eq!(types(&client.ask(json!({"do": "speed", "factor": factor, "id": 1}))), [messages], "{factor}");
    }
    assert_eq!(client.world.speed, 2.0);
    client.ask(json!({"do": "reset", "seed": 5}));
    assert_eq!((client.world.step, client.run.world().seed()), (0, 5));
    let events = client.next("events").unwrap();
    client.tick();
    let events = [events, client.next("events").unwrap_or_default()].map(|messages| messages.to_string()).concat();
    assert!(events.contains("/Control/ResetSimulation"), "{events}");
}

#[test]
fn variables_are_listed_searched_read_written_and_observed() {
    let mut client = Client::new(Role::Operator);
    let messages = client.ask(json!({"do": "list", "path": "/Simulation/"}));
    assert!(messages[0]["variables"].to_string().contains("/Simulation/Gravitation"), "{messages:?}");
    let messages = client.ask(json!({"do": "search", "text": "rover heading"}));
    assert_eq!(messages[0]["variables"][0]["name"], "/Sim/Rover/Heading");
    let messages = client.ask(json!({"do": "search", "text": " "}));
    assert_eq!(messages[0]["total"], 0);
    let name = "/Simulation/Gravitation";
    client.ask(json!({"do": "watch", "topics": ["world"]}));
    client.ask(json!({"do": "observe", "variables": [name, "/nothing"]}));
    assert_eq!(client.next("values").unwrap()["values"][name], "9.81");
    assert_eq!(
        client.ask(json!({"do": "write", "variable": name, "value": "1.5", "id": 3})),
        [json!({"type": "done", "id": 3})]
    );
    assert_eq!(client.next("values").unwrap()["values"], json!({ name: "1.5" }));
    let messages = client.ask(json!({"do": "read", "variable": name, "id": 4}));
    assert_eq!(
        messages,
        [json!({"type": "value", "variable": name, "value": "1.5"}), json!({"type": "done", "id": 4})]
    );
    for (variable, value) in [(name, "down"), (name, "1e99"), ("/nothing", "1"), ("/Control/CurrentStep", "1")] {
        let messages = client.ask(json!({"do": "write", "variable": variable, "value": value, "id": 5}));
        assert_eq!((types(&messages), &messages[0]["id"]), (vec!["refused"], &json!(5)), "{variable} {value}");
    }
    let many: Vec<String> = (0..=limits::CONSOLE_OBSERVED).map(|index| index.to_string()).collect();
    assert_eq!(types(&client.ask(json!({"do": "observe", "variables": many}))), ["refused"]);
}

#[test]
fn a_robot_is_moved_pushed_and_followed() {
    let mut client = Client::new(Role::Operator);
    client.ask(json!({"do": "watch", "topics": ["world"]}));
    client.ask(json!({"do": "follow", "agent": "Rover"}));
    let news = client.next("agent").unwrap();
    assert_eq!((news["motors"].as_array().unwrap().len(), news["senses"].as_array().unwrap().len()), (2, 20));
    assert_eq!(
        types(&client.ask(json!({"do": "act", "agent": "Rover", "motors": [[0, 3.0], [1, 3.0]], "id": 1}))),
        ["done"]
    );
    assert_eq!(client.world.controllers.values().next(), Some(&YOU), "controlled by this client");
    let height = |client: &Client| client.world.positions.iter().map(|position| position[2]).fold(0.0, f64::max);
    let before = height(&client);
    assert_eq!(types(&client.ask(json!({"do": "push", "agent": "Rover", "velocity": [0, 0, 3.0], "id": 2}))), ["done"]);
    client.tick();
    assert!(height(&client) > before + 0.03, "it jumps");
    for command in [
        json!({"do": "act", "agent": "Nobody", "motors": []}),
        json!({"do": "act", "agent": "Rover", "motors": [[2, 0.0]]}),
        json!({"do": "push", "agent": "Nobody", "velocity": [0, 0, 1]}),
        json!({"do": "push", "agent": "Rover", "velocity": [0, 0, 1e6]}),
        json!({"do": "kick-off", "side": null}),
        json!({"do": "puppet", "order": {"speak": "hello"}}),
        json!({"do": "name-face", "face": 1, "name": "Ada"}),
        json!({"do": "frames", "from": 0, "count": 10}),
        json!({"do": "nonsense"}),
    ] {
        assert_eq!(types(&client.ask(command.clone())), ["refused"], "{command}");
    }
}

#[test]
fn a_flood_of_commands_is_dropped() {
    let mut client = Client::new(Role::Operator);
    let (most, rate) = limits::CONSOLE_COMMANDS;
    let answers = |client: &mut Client, count: f64| -> usize {
        (0..count as usize).map(|_| client.ask(json!({"do": "films", "id": 1})).len()).sum()
    };
    // a job has no answer yet; the first dropped commands are refused
    assert_eq!(answers(&mut client, most * 0.95), 0);
    assert_eq!(answers(&mut client, 100.0), 16);
    client.now += Duration::from_secs(1);
    assert_eq!(answers(&mut client, rate * 0.95), 0);
    // a long command costs more, even if it is invalid
    client.now += Duration::from_secs(100);
    let long = json!({"do": "nothing", "text": "x".repeat(200_000)});
    let refused = (0..20)
        .map(|_| client.ask(long.clone()))
        .filter(|messages| messages[0]["why"] != "too many commands; some are dropped");
    assert!(refused.count() < 12);
}

#[test]
fn answers_are_matched_to_their_requests() {
    let mut client = Client::new(Role::Operator);
    let size = client.world.catalogue.variables.iter().find(|card| card.name.ends_with("Wheel/Size")).unwrap().clone();
    let mut out = Output::new(client.session.role);
    let value = world::Value::Point3D([0.1; 3]);
    client.session.write(size.id, value.clone(), Some(1), &mut out);
    let read = Request::Read(size.name.to_string());
    client.session.request(size.id, Some(2), read, Command::Read(size.id), &mut out);
    // writing the size takes longer than reading it
    client.session.handle_answer(Answer::Value(size.id, value), &mut out);
    client.session.handle_answer(Answer::Written(size.id), &mut out);
    let messages: Vec<Value> = out.texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    assert_eq!(
        (types(&messages), &messages[1]["id"], &messages[2]["id"]),
        (vec!["value", "done", "done"], &json!(2), &json!(1))
    );
}
