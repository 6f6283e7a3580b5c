//! Runs the built program as a user would.

#![allow(dead_code, reason = "each test file uses only some of this")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream, UdpSocket},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, sync_channel},
    thread,
    time::{Duration, Instant},
};

use client::tls::{Fingerprint, Stream};
use serde_json::Value;

/// Time limit of every wait, sufficient for a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// A command that runs the program.
pub(crate) fn rossum() -> Command {
    Command::new(env!("CARGO_BIN_EXE_rossum"))
}

/// The result of a program.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` if it was terminated by a signal.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the program until it exits.
pub(crate) fn run(arguments: &[&str]) -> Ended {
    run_command(rossum().args(arguments))
}

/// Runs a command until it exits.
pub(crate) fn run_command(command: &mut Command) -> Ended {
    let mut child = Process::start(command);
    let stdout = read_in_background(child.0.stdout.take().expect("it is piped"));
    let stderr = read_in_background(child.0.stderr.take().expect("it is piped"));
    let text = |from: Receiver<String>| from.recv_timeout(DEADLINE).expect("it ends");
    let (stdout, stderr) = (text(stdout), text(stderr));
    Ended { code: child.wait().code(), stdout, stderr }
}

/// A process that is killed on drop.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // tests must not depend on the developer's settings
        Self(
            command
                .env_remove("ROSSUM_LOG")
                .env_remove("ROSSUM_TOKEN")
                .env_remove("RUST_BACKTRACE")
                .spawn()
                .expect("the program starts"),
        )
    }

    fn wait(&mut self) -> ExitStatus {
        self.0.wait().expect("waited for")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // killing a process that has exited fails
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reads to the end of the stream on another thread.
fn read_in_background(mut from: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || {
        let mut text = String::new();
        // keep what was read before an error
        let _ = from.read_to_string(&mut text);
        let _ = sender.send(text);
    });
    receiver
}

/// A running server that has printed its addresses.
pub(crate) struct Running {
    process: Process,
    stderr: Receiver<String>,
    greeting: Value,
}

impl Running {
    /// Runs `rossum serve` on free ports.
    pub(crate) fn serve(arguments: &[&str]) -> Self {
        Self::start(rossum().args(["serve", "--free-ports", "--json"]).args(arguments))
    }

    /// Runs a command that starts a server.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut process = Process::start(command);
        let stderr = read_in_background(process.0.stderr.take().expect("it is piped"));
        let mut stdout = BufReader::new(process.0.stdout.take().expect("it is piped"));
        let (sender, first_line) = sync_channel(1);
        thread::spawn(move || {
            let mut line = String::new();
            let _ = stdout.read_line(&mut line);
            let _ = sender.send(line);
        });
        let line = first_line.recv_timeout(DEADLINE).expect("the server prints its addresses");
        let greeting = serde_json::from_str(&line).unwrap_or_else(|error| {
            let stderr = stderr.recv_timeout(DEADLINE).unwrap_or_default();
            panic!("`{line}` is not a valid first line ({error}); standard error: {stderr}")
        });
        Self { process, stderr, greeting }
    }

    /// The first line of its output.
    pub(crate) fn greeting(&self) -> &Value {
        &self.greeting
    }

    pub(crate) fn title(&self) -> &str {
        self.greeting["title"].as_str().expect("a title")
    }

    /// The address of the endpoint with this title.
    pub(crate) fn address(&self, title: &str) -> SocketAddr {
        let found = self.addresses(title);
        *found.first().unwrap_or_else(|| panic!("no `{title}` in {}", self.greeting))
    }

    /// The addresses of all endpoints with this title.
    pub(crate) fn addresses(&self, title: &str) -> Vec<SocketAddr> {
        let addresses = self.greeting["addresses"].as_array().expect("a list of addresses");
        let found = addresses.iter().filter(|address| address["title"] == title);
        found.map(|found| found["address"].as_str().expect("a text").parse().expect("an address")).collect()
    }

    /// The fingerprint of the console's certificate, if it uses TLS.
    pub(crate) fn fingerprint(&self) -> Option<Fingerprint> {
        self.greeting["fingerprint"].as_str().map(|text| text.parse().expect("a fingerprint"))
    }

    /// A new connection to the console.
    pub(crate) fn connect(&self) -> Stream {
        let stream = TcpStream::connect(self.address("Console")).expect("the console listens");
        stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
        match self.fingerprint() {
            Some(fingerprint) => Stream::encrypt(stream, fingerprint).expect("it has the certificate"),
            None => Stream::Plain(stream),
        }
    }

    /// The token of a role: `console` for operators, or `viewer`.
    pub(crate) fn token(&self, role: &str) -> &str {
        let link = self.greeting[role].as_str().and_then(|link| link.split_once("token="));
        link.expect("a link with a token").1
    }

    /// Fetches a page as an operator; returns status and body.
    pub(crate) fn page(&self, path: &str) -> (u16, String) {
        self.page_with(path, &format!("Host: localhost\r\nAuthorization: Bearer {}\r\n", self.token("console")))
    }

    /// Fetches a page with these headers.
    pub(crate) fn page_with(&self, path: &str, headers: &str) -> (u16, String) {
        let mut stream = self.connect();
        write!(stream, "GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, body.to_owned())
    }

    /// The current tick.
    pub(crate) fn tick(&self) -> u64 {
        let (_, page) = self.page("/status");
        let number = page.split_once("\ntick ").and_then(|(_, rest)| rest.split_once(','));
        number.and_then(|(number, _)| number.parse().ok()).unwrap_or_else(|| panic!("no tick in {page}"))
    }

    /// Waits until the world has reached this tick.
    pub(crate) fn await_tick(&self, tick: u64) {
        eventually("ticks", || (self.tick() >= tick).then_some(()));
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.process.0.id()
    }

    /// Sends a signal: `TERM`, `INT` or `KILL`.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.process.0.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "{name} could not be sent");
    }

    /// Waits until it has exited.
    pub(crate) fn end(mut self) -> Ended {
        let stderr = self.stderr.recv_timeout(DEADLINE).expect("it ends");
        Ended { code: self.process.wait().code(), stdout: String::new(), stderr }
    }
}

/// Shows the end of the log when a test fails.
impl Drop for Running {
    #[expect(clippy::print_stdout, reason = "the test runner shows it with the failure")]
    fn drop(&mut self) {
        if thread::panicking() && self.process.0.kill().is_ok() {
            let log = self.stderr.recv_timeout(DEADLINE).unwrap_or_default();
            let lines: Vec<_> = log.lines().collect();
            println!("the server's log ends with:\n{}", lines[lines.len().saturating_sub(100)..].join("\n"));
        }
    }
}

/// Retries until `attempt` succeeds, up to [`DEADLINE`]. The attempts themselves wait for the server.
pub(crate) fn eventually<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let begin = now();
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(begin.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}");
    }
}

#[expect(clippy::disallowed_methods, reason = "deadlines are in wall-clock time")]
fn now() -> Instant {
    Instant::now()
}

/// A new socket, connected to `address`.
pub(crate) fn peer_of(address: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.connect(address).expect("a way there");
    socket.set_read_timeout(Some(DEADLINE)).expect("a deadline");
    socket
}

/// Receives the next datagram.
pub(crate) fn receive(socket: &UdpSocket) -> Vec<u8> {
    let mut buffer = vec![0; 65_535];
    let length = socket.recv(&mut buffer).expect("a datagram");
    buffer.truncate(length);
    buffer
}

pub(crate) fn bytes_from_hex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex")).collect()
}
