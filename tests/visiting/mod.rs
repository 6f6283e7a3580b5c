//! Visits the console of a server as a client of its API.

#![allow(dead_code, reason = "each test file uses only some of this")]

use std::{
    io::{Read, Write},
    path::Path,
    process::Command,
};

use client::console::{Client, ClientError, Incoming};
use tempfile::TempDir;
use wire::console::{Command as ConsoleCommand, Message};

use crate::running::{Ended, Running, rossum, run_command};

/// A running server, and the folder of its tokens.
pub(crate) struct Served {
    pub(crate) server: Running,
    state: TempDir,
}

impl Served {
    pub(crate) fn small() -> Self {
        Self::start(&["--scenario", "small"])
    }

    /// Runs `rossum serve` on free ports, with more arguments.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let state = tempfile::tempdir().expect("a folder");
        let server =
            Running::start(in_state(rossum().args(["serve", "--free-ports", "--json"]).args(arguments), state.path()));
        Self { server, state }
    }

    /// The folder of its tokens.
    pub(crate) fn state(&self) -> &Path {
        self.state.path()
    }

    /// Runs another command of the same user until it exits.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        run_command(in_state(rossum().args(arguments), self.state()))
    }

    pub(crate) fn link(&self, role: &str) -> String {
        self.server.greeting()[role].as_str().expect("a link").to_owned()
    }

    pub(crate) fn operator(&self) -> Client {
        self.open(&self.link("console")).expect("it opens")
    }

    pub(crate) fn viewer(&self) -> Client {
        self.open(&self.link("viewer")).expect("it opens")
    }

    /// Connects to a link, trusting the server's own certificate.
    pub(crate) fn open(&self, link: &str) -> Result<Client, ClientError> {
        match self.server.fingerprint() {
            Some(fingerprint) => Client::connect_trusting(link, fingerprint),
            None => Client::connect(link),
        }
    }

    /// HTTP status of a WebSocket upgrade request.
    pub(crate) fn status(&self, path: &str, headers: &str) -> u16 {
        let host = self.server.address("Console");
        self.status_at(&host.to_string(), path, headers)
    }

    /// HTTP status of a WebSocket upgrade request with this `Host` header.
    pub(crate) fn status_at(&self, host: &str, path: &str, headers: &str) -> u16 {
        let mut stream = self.server.connect();
        let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n{upgrade}{headers}\r\n").expect("it listens");
        let mut start = [0; 12];
        stream.read_exact(&mut start).expect("it answers");
        let start = String::from_utf8_lossy(&start);
        start.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{start}"))
    }
}

/// Runs a command as a user whose files are in this folder.
fn in_state<'a>(command: &'a mut Command, folder: &Path) -> &'a mut Command {
    command.env("ROSSUM_STATE", folder)
}

/// Receives until `look` returns something.
pub(crate) fn hear<T>(client: &mut Client, mut look: impl FnMut(Incoming) -> Option<T>) -> T {
    loop {
        if let Some(found) = look(client.receive().expect("it goes on")) {
            return found;
        }
    }
}

/// Sends a command and waits for its answer; the error is the reason of a refusal.
pub(crate) fn ask(client: &mut Client, command: ConsoleCommand) -> Result<(), String> {
    let asked = client.send(command).expect("it goes on");
    hear(client, |heard| match heard {
        Incoming::Message(message) => match *message {
            Message::Done { id } if id == asked => Some(Ok(())),
            Message::Refused { id: Some(id), why } if id == asked => Some(Err(why)),
            _ => None,
        },
        Incoming::Frame(_) => None,
    })
}

/// Reads a variable.
pub(crate) fn read(client: &mut Client, name: &str) -> String {
    client.send(ConsoleCommand::Read { variable: name.to_owned() }).expect("it goes on");
    hear(client, |heard| match heard {
        Incoming::Message(message) => match *message {
            Message::Value { variable, value } if variable == name => Some(value),
            _ => None,
        },
        Incoming::Frame(_) => None,
    })
}
