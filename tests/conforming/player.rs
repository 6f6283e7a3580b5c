//! Plays cases: is the robot at the other end of each client's connection, and the application above it.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use super::{
    case::{Action, Call, Case, Connect, Ending, Failure, Piece, Step, expand},
    generate,
    harness::{Harness, PATIENCE},
};

/// Pieces that are sent alone arrive alone if there is some time between them.
const APART: Duration = Duration::from_millis(1);

/// After this time a method that waits has begun to.
const BEGUN: Duration = Duration::from_millis(20);

/// How often a call that is meant to fail in the end is repeated.
const MANY: usize = 5_000;

/// The version request.
const REQUEST: [u8; 8] = [0, 0, 0, 1, 1, 0, 0, 0];

/// Plays a case; says what was not as expected.
pub(crate) fn play(case: &Case, harness: &mut Harness) -> Result<(), String> {
    let mut stage = Stage { harness, robots: BTreeMap::new(), ignored: BTreeMap::new(), connected: BTreeSet::new() };
    for (number, step) in case.steps.iter().enumerate() {
        stage.step(step).map_err(|what| {
            let step = serde_json::to_string(step).expect("JSON");
            format!("step {} {}: {what}", number + 1, shortened(&step))
        })?;
    }
    stage.end()
}

struct Stage<'a> {
    harness: &'a mut Harness,
    robots: BTreeMap<String, Robot>,
    /// Names of events of each client that are not looked at.
    ignored: BTreeMap<String, Vec<String>>,
    connected: BTreeSet<String>,
}

impl Stage<'_> {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        let client = step.client.as_str();
        match &step.action {
            Action::Connect(connect) => self.connect(client, connect),
            Action::Call(call) => self.call(client, call),
            Action::Expect(event) => self.expect(client, event),
            Action::ExpectTimes(times, event) => (0..*times).try_for_each(|_| self.expect(client, event)),
            Action::Ignore(event) => {
                self.ignored.entry(client.to_owned()).or_default().push(event.clone());
                Ok(())
            }
            Action::Accept(pieces) => self.robot(client).accept(pieces),
            Action::NobodyConnects(within_ms) => self.robot(client).is_left_alone(Duration::from_millis(*within_ms)),
            Action::Receive(pieces) => self.robot(client).receive(pieces),
            Action::Send(pieces) => self.robot(client).send(pieces, APART),
            Action::SendSlowly(pause_ms, pieces) => self.robot(client).send_slowly(pieces, *pause_ms),
            Action::Close(Ending::Orderly) => self.robot(client).close(),
            Action::Close(Ending::Reset) => self.robot(client).reset(),
        }
    }

    fn robot(&mut self, client: &str) -> &mut Robot {
        self.robots.entry(client.to_owned()).or_insert_with(Robot::listen)
    }

    fn connect(&mut self, client: &str, connect: &Connect) -> Result<(), String> {
        let mut options = json!({"timeout_ms": connect.timeout_ms.unwrap_or(PATIENCE.as_millis() as u64)});
        if let Some(delay) = connect.reconnect_ms {
            options["reconnect_ms"] = json!(delay);
        }
        let welcome = Piece::Bytes(generate::welcome_in_hex());
        let accept = Step { client: client.to_owned(), action: Action::Accept(vec![welcome]) };
        let call = Call { name: "connect".to_owned(), args: vec![options], meanwhile: vec![accept], ..Call::default() };
        self.call(client, &call)?;
        self.expect(client, &json!({"event": "connected"}))
    }

    fn call(&mut self, client: &str, call: &Call) -> Result<(), String> {
        let mut args: Vec<Value> = call.args.iter().map(expand).collect();
        if call.name == "connect" {
            self.robot(client).complete(&mut args[0]);
        }
        for _ in 0..if call.until_it_fails { MANY } else { 1 } {
            self.harness.command(client, &call.name, &args)?;
            if call.name.contains("wait") {
                wait(BEGUN);
            }
            call.meanwhile.iter().try_for_each(|step| self.step(step))?;
            if call.name == "disconnect" {
                self.robot(client).read_the_end()?;
            }
            let answer = self.harness.answer()?;
            match (&call.fails, answer) {
                (None, Ok(value)) if matches(&expand(&call.returns), &value) => return Ok(()),
                (Some(_), Ok(_)) if call.until_it_fails => {}
                (Some(failure), Err(error)) if matches_failure(failure, &error) => return Ok(()),
                (_, Ok(value)) => return Err(format!("returns {}", shortened(&value.to_string()))),
                (_, Err(error)) => return Err(format!("fails with {error}")),
            }
        }
        Err(format!("does not fail {MANY} times"))
    }

    fn expect(&mut self, client: &str, expected: &Value) -> Result<(), String> {
        let found = loop {
            let event = self.harness.event(client)?;
            let is_ignored = |names: &Vec<String>| names.iter().any(|name| event["event"] == *name);
            if !self.ignored.get(client).is_some_and(is_ignored) {
                break event;
            }
        };
        match found["event"].as_str() {
            Some("connected") => _ = self.connected.insert(client.to_owned()),
            Some("disconnected") => _ = self.connected.remove(client),
            _ => {}
        }
        if matches(&expand(expected), &found) {
            return Ok(());
        }
        Err(format!("the application is told {}", shortened(&found.to_string())))
    }

    /// Disconnects everybody; nothing may be left that nobody has asked for.
    fn end(mut self) -> Result<(), String> {
        for client in self.connected.clone() {
            self.call(&client, &Call { name: "disconnect".to_owned(), ..Call::default() })
                .map_err(|what| format!("disconnecting {client} in the end: {what}"))?;
            self.expect(&client, &json!({"event": "disconnected", "reason": null}))?;
        }
        let is_ignored = |(client, event): &(String, Value)| {
            self.ignored.get(client).is_some_and(|names| names.iter().any(|name| event["event"] == *name))
        };
        let rest: Vec<_> = self.harness.rest()?.into_iter().filter(|left| !is_ignored(left)).collect();
        if rest.is_empty() { Ok(()) } else { Err(format!("the application is also told {rest:?}")) }
    }
}

/// The robot of one client.
struct Robot {
    listener: TcpListener,
    stream: Option<TcpStream>,
}

impl Robot {
    fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("it does not block");
        Self { listener, stream: None }
    }

    /// Adds the address to the options of a connection.
    fn complete(&self, options: &mut Value) {
        let address: SocketAddr = self.listener.local_addr().expect("an address");
        options["host"] = json!(address.ip().to_string());
        options["port"] = json!(address.port());
        let fields = options.as_object_mut().expect("an object");
        if fields.remove("nobody").is_some() {
            // free again when it is dropped
            let nobody = TcpListener::bind("127.0.0.1:0").expect("a free port");
            options["port"] = json!(nobody.local_addr().expect("an address").port());
        }
    }

    /// Whether somebody connects in this time.
    fn is_visited(&self, within: Duration) -> bool {
        let timeout = Timespec::try_from(within).expect("a short time");
        let visited = poll(&mut [PollFd::new(&self.listener, PollFlags::IN)], Some(&timeout));
        visited.expect("it can be polled") > 0
    }

    fn is_left_alone(&self, within: Duration) -> Result<(), String> {
        if self.is_visited(within) { Err("somebody connects".to_owned()) } else { Ok(()) }
    }

    fn accept(&mut self, answer: &[Piece]) -> Result<(), String> {
        if !self.is_visited(PATIENCE) {
            return Err("nobody connects".to_owned());
        }
        let (stream, _) = self.listener.accept().expect("somebody connects");
        stream.set_nonblocking(false).expect("it blocks");
        stream.set_read_timeout(Some(PATIENCE)).expect("a deadline");
        stream.set_write_timeout(Some(PATIENCE)).expect("a deadline");
        stream.set_nodelay(true).expect("no delay");
        self.stream = Some(stream);
        self.receive_bytes(&REQUEST)?;
        self.send(answer, APART)
    }

    fn stream(&mut self) -> Result<&mut TcpStream, String> {
        self.stream.as_mut().ok_or_else(|| "there is no connection".to_owned())
    }

    fn receive(&mut self, pieces: &[Piece]) -> Result<(), String> {
        let expected: Vec<u8> = pieces.iter().flat_map(Piece::bytes).collect();
        self.receive_bytes(&expected)
    }

    fn receive_bytes(&mut self, expected: &[u8]) -> Result<(), String> {
        let stream = self.stream()?;
        let mut found = Vec::new();
        while found.len() < expected.len() {
            let mut buffer = vec![0; expected.len() - found.len()];
            match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => found.extend_from_slice(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(format!("the robot reads {} and then {error}", hex(&found))),
            }
            // later bytes cannot make it right again
            if !expected.starts_with(&found) {
                break;
            }
        }
        if found == expected { Ok(()) } else { Err(format!("the robot reads {}", hex(&found))) }
    }

    fn send(&mut self, pieces: &[Piece], pause: Duration) -> Result<(), String> {
        for (number, piece) in pieces.iter().enumerate() {
            if number > 0 {
                wait(pause);
            }
            let sent = self.stream()?.write_all(&piece.bytes());
            sent.map_err(|error| format!("the robot cannot send: {error}"))?;
        }
        Ok(())
    }

    fn send_slowly(&mut self, pieces: &[Piece], pause_ms: u64) -> Result<(), String> {
        for piece in pieces {
            wait(Duration::from_millis(pause_ms));
            // it may have given up
            if self.stream()?.write_all(&piece.bytes()).is_err() {
                break;
            }
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        // it may have closed already
        let _ = self.stream()?.shutdown(Shutdown::Write);
        self.read_the_end()
    }

    /// The client sends nothing more, and closes the connection.
    fn read_the_end(&mut self) -> Result<(), String> {
        let Some(mut stream) = self.stream.take() else { return Ok(()) };
        let mut rest = [0; 256];
        match stream.read(&mut rest) {
            Ok(0) => Ok(()),
            Ok(length) => Err(format!("the client also sends {}", hex(&rest[..length]))),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(()),
            Err(error) => Err(format!("the client does not close the connection: {error}")),
        }
    }

    /// Closes a socket with unread data, which sends a reset.
    fn reset(&mut self) -> Result<(), String> {
        let stream = self.stream.take().ok_or("there is no connection")?;
        match stream.peek(&mut [0]) {
            Ok(1..) => Ok(()),
            other => Err(format!("nothing is left unread: {other:?}")),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "what is sent has to arrive apart")]
fn wait(pause: Duration) {
    thread::sleep(pause);
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() { "nothing".to_owned() } else { shortened(&generate::hex(bytes)) }
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 400;
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    format!("{}... ({} bytes)", &text[..text.floor_char_boundary(LONGEST)], text.len())
}

/// Whether a value is the expected one. Numbers with fractions are compared as 32-bit numbers, and errors by their kind.
pub(crate) fn matches(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Number(_), Value::Number(_)) => {
            let (expected, found) = (expected.as_f64().expect("a number"), found.as_f64().expect("a number"));
            expected == found || (expected.fract() != 0.0 || expected.abs() > 1e9) && expected as f32 == found as f32
        }
        (Value::Object(fields), _) if fields.contains_key("kinds") => {
            serde_json::from_value(expected.clone()).is_ok_and(|failure| matches_failure(&failure, found))
        }
        (Value::Object(expected), Value::Object(found)) => {
            expected.len() == found.len()
                && expected.iter().all(|(key, value)| found.get(key).is_some_and(|found| matches(value, found)))
        }
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len()
                && expected.iter().zip(found).all(|(expected, found)| matches(expected, found))
        }
        _ => expected == found,
    }
}

fn matches_failure(expected: &Failure, found: &Value) -> bool {
    let message = found["message"].as_str().unwrap_or_default().to_lowercase();
    let mentions = |words: &String| message.contains(&words.to_lowercase());
    let is_kind = |kind: &String| found["kind"] == *kind;
    !message.is_empty() && expected.kinds.iter().any(is_kind) && expected.mentions.iter().all(mentions)
}
