//! Who may see and do what in the console, end to end: roles, tokens, and clients that ask for too much.

mod running;
mod visiting;

use std::fs;

use client::console::{Client, Incoming};
use running::eventually;
use serde_json::json;
use visiting::{Served, ask, hear};
use wire::console::{Command as ConsoleCommand, Hello, Message, NewRun, RunState, Topic, WorldState};

/// A world with evolution, whose runs are in this folder.
fn evolving(folder: &std::path::Path) -> Served {
    let scenario = folder.join("evolving.toml");
    let text = format!("[server]\nruns = \"{0}/runs\"\nrecordings = \"{0}\"\n[evo]\n", folder.display());
    fs::write(&scenario, text).expect("written");
    Served::start(&["--scenario", scenario.to_str().expect("a path in UTF-8")])
}

/// The next message that `look` accepts.
fn next<T>(client: &mut Client, mut look: impl FnMut(Message) -> Option<T>) -> T {
    hear(client, |heard| match heard {
        Incoming::Message(message) => look(*message),
        Incoming::Frame(_) => None,
    })
}

/// Starts a short run and waits until it has finished; returns its name.
fn finished_run(operator: &mut Client) -> String {
    let Hello { evolution, .. } = operator.hello();
    let info = evolution.clone().expect("it evolves");
    let run = NewRun {
        simulators: Vec::new(),
        world: info.worlds[0].name.clone(),
        body: info.bodies[0].name.clone(),
        fitness: None,
        algorithm: "ga".to_owned(),
        generations: 1,
        population: Some(4),
        hidden: Some(1),
        seed: 1,
        target: None,
        rival: None,
    };
    operator.send(ConsoleCommand::Watch { topics: vec![Topic::Evolution] }).expect("it goes on");
    ask(operator, ConsoleCommand::StartRun { run }).expect("it starts");
    next(operator, |message| match message {
        Message::Evolution { runs, .. } => {
            runs.into_iter().find(|run| run.state == RunState::Finished).map(|finished| finished.name)
        }
        _ => None,
    })
}

#[test]
fn viewers_who_ask_for_replays_do_not_keep_operators_from_saving() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = evolving(folder.path());
    let mut operator = served.operator();
    let run = finished_run(&mut operator);
    let mut viewers: Vec<_> = (0..6).map(|_| served.viewer()).collect();
    for round in 0..10 {
        // many more than run at once
        let replay = || ConsoleCommand::Replay { run: run.clone(), generation: None };
        let asked: Vec<Vec<u64>> = viewers
            .iter_mut()
            .map(|viewer| (0..4).map(|_| viewer.send(replay()).expect("it goes on")).collect())
            .collect();
        for (viewer, asked) in viewers.iter_mut().zip(asked).rev() {
            ask(&mut operator, ConsoleCommand::Save { key: "macros".to_owned(), value: json!(round) })
                .expect("it is saved, whatever viewers do");
            let mut left = asked;
            next(viewer, |message| {
                let (Message::Done { id } | Message::Refused { id: Some(id), .. }) = message else { return None };
                left.retain(|other| *other != id);
                left.is_empty().then_some(())
            });
        }
    }
}

/// What a client is told of the server's files and of other clients.
fn told(client: &mut Client) -> (Hello, WorldState, String) {
    client.send(ConsoleCommand::Watch { topics: vec![Topic::World] }).expect("it goes on");
    let state = next(client, |message| match message {
        Message::State(state) if state.clients.len() == 2 => Some(state),
        _ => None,
    });
    client.send(ConsoleCommand::ListPlaybacks).expect("it goes on");
    let folder = next(client, |message| match message {
        Message::Playbacks { folder, .. } => Some(folder),
        _ => None,
    });
    (client.hello().clone(), state, folder)
}

#[test]
fn viewers_get_no_folders_and_no_addresses_of_clients() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = evolving(folder.path());
    let (mut operator, mut viewer) = (served.operator(), served.viewer());
    for (client, is_told) in [(&mut operator, true), (&mut viewer, false)] {
        let (hello, state, recordings) = told(client);
        let runs = hello.evolution.expect("it evolves").folder;
        let peers: Vec<_> = state.clients.into_iter().map(|client| client.peer).collect();
        for text in peers.iter().chain([&runs, &recordings]) {
            assert_eq!(!text.is_empty(), is_told, "{:?}: {peers:?} {runs} {recordings}", hello.role);
        }
    }
}

#[test]
fn pages_need_a_token_and_commands_of_the_same_user_have_it() {
    let served = Served::small();
    for (path, status) in [("/health", 200), ("/status", 401), ("/agents", 401), ("/metrics", 401)] {
        let (got, body) = served.server.page_with(path, "Host: localhost\r\n");
        assert_eq!(got, status, "{path}: {body}");
        assert!(!body.contains("Rover") && !body.contains("rossum_"), "{path}: {body}");
        assert_eq!(served.server.page(path).0, 200, "{path}");
    }
    let address = served.server.address("Console").to_string();
    let listed = served.run(&["agents", "--server", &address]);
    assert!(listed.code == Some(0) && listed.stdout.contains("Rover"), "{listed:?}");
    let listed = served.run(&["agents", "--server", &address, "--token", "wrong"]);
    assert!(listed.code == Some(1) && listed.stderr.contains("--token"), "{listed:?}");
    let listed = served.run(&["agents", "--json", "--token", "wrong", "--server", &served.link("viewer")]);
    assert!(listed.code == Some(1), "{listed:?}");
}

#[test]
fn rotated_tokens_take_effect_on_a_running_server() {
    let served = Served::small();
    let Served { server, .. } = &served;
    let (mut operator, mut viewer) = (served.operator(), served.viewer());
    let listed = served.run(&["tokens"]);
    assert!(
        listed.code == Some(0) && listed.stdout.contains("viewer") && listed.stdout.contains("valid"),
        "{listed:?}"
    );
    for role in ["console", "viewer"] {
        assert!(!listed.stdout.contains(server.token(role)), "the tokens are not printed unasked: {listed:?}");
    }
    assert_eq!(served.run(&["tokens", "show", "viewer"]).stdout.trim(), server.token("viewer"));

    let rotated = served.run(&["tokens", "rotate", "viewer"]);
    assert!(rotated.code == Some(0) && !rotated.stdout.contains(server.token("viewer")), "{rotated:?}");
    let bearer = |token: &str| format!("Host: localhost\r\nAuthorization: Bearer {token}\r\n");
    assert_eq!(server.page_with("/status", &bearer(server.token("viewer"))).0, 401, "at once");
    assert!(Client::connect(&served.link("viewer")).is_err());
    eventually("the end of the session", || viewer.receive().is_err().then_some(()));
    // the operator's token is the same, and its session goes on
    ask(&mut operator, ConsoleCommand::Read { variable: "/Simulation/Gravitation".to_owned() }).expect("it goes on");
    let new = served.run(&["tokens", "show", "viewer"]).stdout;
    assert_eq!(server.page_with("/status", &bearer(new.trim())).0, 200);
    let link = served.link("viewer").replace(server.token("viewer"), new.trim());
    Client::connect(&link).expect("the new token opens it");
}

#[test]
fn tokens_are_listed_only_once_there_are_some() {
    let folder = tempfile::tempdir().expect("a folder");
    let command =
        |arguments: &[&str]| running::run_command(running::rossum().args(arguments).env("ROSSUM_STATE", folder.path()));
    let none = command(&["tokens"]);
    assert!(none.code == Some(1) && none.stderr.contains("rossum serve"), "{none:?}");
    let made = command(&["tokens", "rotate", "--days", "1"]);
    assert!(made.code == Some(0) && made.stdout.lines().count() == 3, "{made:?}");
    assert_eq!(command(&["tokens", "rotate", "everybody"]).code, Some(2));
    assert_eq!(command(&["tokens", "rotate", "--days", "0"]).code, Some(2));
}
