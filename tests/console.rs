//! The console, end to end: its WebSocket against the built program, and its pages in a real browser.

mod running;
mod visiting;

use std::{
    env,
    io::{self, Write},
    path::{Path, PathBuf},
    process::Command,
};

use client::console::{Client, ClientError, Incoming};
use serde_json::Value;
use visiting::{Served, ask, hear, read};
use wire::console::{Command as ConsoleCommand, Frame, Message, Pose, Role, Topic};

fn poses(heard: &Incoming) -> Option<(u64, Vec<Pose>)> {
    let Incoming::Frame(bytes) = heard else { return None };
    match Frame::decode(bytes).expect("a frame") {
        Frame::Poses { tick, poses, .. } => Some((tick, poses)),
        _ => None,
    }
}

#[test]
fn an_operator_watches_and_controls() {
    let served = Served::small();
    let mut client = served.operator();
    assert_eq!(client.hello().role, Role::Operator);
    assert!(client.hello().title.starts_with("Small") && client.hello().soccer.is_none());
    client.send(ConsoleCommand::Watch { topics: vec![Topic::World, Topic::Poses] }).expect("it goes on");
    let bodies = hear(&mut client, |heard| match heard {
        Incoming::Message(message) => match *message {
            Message::Scene(scene) => Some(scene.bodies),
            _ => None,
        },
        Incoming::Frame(_) => None,
    });
    let (first, before) = hear(&mut client, |heard| poses(&heard));
    assert_eq!(before.len() + 1, bodies.len(), "all but the world");
    ask(&mut client, ConsoleCommand::Push { agent: "Rover".to_owned(), velocity: [0.0, 0.0, 3.0] })
        .expect("it is pushed");
    hear(&mut client, |heard| {
        let (tick, poses) = poses(&heard)?;
        (tick > first && poses[0].0[2] > before[0].0[2] + 0.05).then_some(())
    });

    let gravity = "/Simulation/Gravitation".to_owned();
    ask(&mut client, ConsoleCommand::Write { variable: gravity.clone(), value: "1.62".to_owned() })
        .expect("it is written");
    assert_eq!(read(&mut client, &gravity), "1.62");
    ask(&mut client, ConsoleCommand::Write { variable: gravity, value: "weak".to_owned() }).expect_err("no number");
}

#[test]
fn a_viewer_is_refused_commands() {
    let served = Served::small();
    let mut viewer = served.viewer();
    assert_eq!(viewer.hello().role, Role::Viewer);
    let gravity = "/Simulation/Gravitation".to_owned();
    let forbidden = [
        ConsoleCommand::Pause,
        ConsoleCommand::Reset { seed: None },
        ConsoleCommand::Write { variable: gravity.clone(), value: "1".to_owned() },
        ConsoleCommand::Push { agent: "Rover".to_owned(), velocity: [0.0; 3] },
        ConsoleCommand::Save { key: "a".to_owned(), value: Value::Null },
    ];
    for command in forbidden {
        let why = ask(&mut viewer, command.clone()).expect_err("a refusal");
        assert!(why.contains("viewers cannot"), "{command:?}: {why}");
    }
    assert_eq!(read(&mut viewer, &gravity), "9.81");
    ask(&mut viewer, ConsoleCommand::Watch { topics: vec![Topic::Poses] }).expect("it may");
    hear(&mut viewer, |heard| poses(&heard));
}

#[test]
fn invalid_tokens_and_origins_get_403() {
    let served = Served::small();
    let link = served.link("console");
    let (origin, query) = link.split_once("/?").expect("a token");
    let good = format!("/api?{query}");
    let own = format!("Origin: {origin}\r\n");
    let https = format!("Origin: {}\r\n", origin.replace("http", "https"));
    for (path, headers, wanted) in [
        (good.as_str(), "", 101),
        (&good, &own, 101),
        ("/api", "", 403),
        ("/api?token=", "", 403),
        ("/api?token=0123456789abcdef0123456789abcdef", "", 403),
        ("/?token=wrong", "", 403),
        (&good, "Origin: http://evil.example\r\n", 403),
        (&good, "Origin: null\r\n", 403),
        (&good, &https, 403),
    ] {
        assert_eq!(served.status(path, headers), wanted, "{path} {headers}");
    }
    assert_eq!(served.server.page_with("/", "Host: evil.example\r\n").0, 403);
    let refused = Client::connect(&format!("{origin}/?token=wrong")).map(drop);
    assert!(matches!(refused, Err(ClientError::Refused { .. })), "{refused:?}");
}

/// Folder of the console's sources.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../console")
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// What is missing to check the console, and what to do about it.
fn lacking() -> Option<&'static str> {
    if !is_there("node") || !is_there("npm") {
        Some("Node.js is missing; install Node.js 20 with npm")
    } else if !sources().join("node_modules/.package-lock.json").exists() {
        Some(
            "the console's packages are missing; run `scripts/fetch-browser`, or `npm install --ignore-scripts --no-save` in `console`",
        )
    } else {
        None
    }
}

fn browser() -> Option<String> {
    let named = env::var("CHROMIUM").ok();
    named.as_deref().into_iter().chain(["chromium", "chromium-browser"]).find(|name| is_there(name)).map(str::to_owned)
}

/// Reports a skipped test, whether or not output is captured. Fails on CI.
fn skip(what: &str, reason: &str) {
    assert!(env::var_os("CI").is_none(), "{what} were skipped: {reason}");
    let _ = writeln!(io::stderr(), "{what} WERE SKIPPED: {reason}.");
}

/// Runs a command in the folder of the console's sources; panics with its output if it fails.
fn succeeds(command: &mut Command) {
    let output = command.current_dir(sources()).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{said}");
}

#[test]
fn the_console_passes_its_checks_and_unit_tests() {
    if let Some(reason) = lacking() {
        return skip("The tests of the console's pages", reason);
    }
    for script in ["check", "test"] {
        succeeds(Command::new("npm").args(["run", "--silent", script]));
    }
}

#[test]
fn the_console_works_in_a_browser() {
    const WHAT: &str = "The browser tests of the console";
    if let Some(reason) = lacking() {
        return skip(WHAT, reason);
    }
    let Some(browser) = browser() else {
        let reason = "Chromium is missing; install it (Debian: `apt install chromium`), or set `CHROMIUM` to its path";
        return skip(WHAT, reason);
    };
    let program = env!("CARGO_BIN_EXE_rossum");
    succeeds(Command::new("node").arg("e2e/run.mjs").env("ROSSUM", program).env("CHROMIUM", browser_path(&browser)));
}

/// Path of a program in `PATH`: the tests start it themselves.
fn browser_path(name: &str) -> PathBuf {
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file());
    found.unwrap_or_else(|| name.into())
}
