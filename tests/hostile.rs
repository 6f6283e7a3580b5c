//! Hostile clients against the built program. In each test a healthy client shows whether it is affected.

mod playing;
mod running;

use std::{
    fs,
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream, UdpSocket},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use client::{oz::Oz, soccer::Monitor};
use playing::{AGENTS, Agent, MONITORS, Witness};
use running::{DEADLINE, Running, eventually, receive, rossum};

const OSP_INIT: &[u8] = &[5, 1, 1];
const OSP_OVERVIEW: &[u8] = &[90];

/// A monitor that requests everything, as often as it can, and reads what it gets.
struct Greedy {
    is_over: Arc<AtomicBool>,
    /// Complete updates received.
    updates: Arc<AtomicU64>,
    threads: [JoinHandle<()>; 2],
}

impl Greedy {
    fn start(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
        let (is_over, updates) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stops, counts) = (Arc::clone(&is_over), Arc::clone(&updates));
        let (mut reading, mut writing) = (stream.try_clone().expect("a second handle"), stream);
        let payload = "(reqfullstate)".repeat(512);
        let request = [&(payload.len() as u32).to_be_bytes()[..], payload.as_bytes()].concat();
        let writer = thread::spawn(move || {
            while !stops.load(Ordering::Relaxed) && writing.write_all(&request).is_ok() {}
            let _ = writing.shutdown(std::net::Shutdown::Both);
        });
        let reader = thread::spawn(move || {
            let mut length = [0; 4];
            while reading.read_exact(&mut length).is_ok() {
                let mut update = vec![0; u32::from_be_bytes(length) as usize];
                if reading.read_exact(&mut update).is_err() {
                    return;
                }
                let is_full = update.windows(4).any(|word| word == b"RSG ");
                counts.fetch_add(u64::from(is_full), Ordering::Relaxed);
            }
        });
        Self { is_over, updates, threads: [writer, reader] }
    }

    fn end(self) -> u64 {
        self.is_over.store(true, Ordering::Relaxed);
        self.threads.into_iter().for_each(|thread| thread.join().expect("it does not panic"));
        self.updates.load(Ordering::Relaxed)
    }
}

#[test]
fn monitors_that_request_everything_disturb_nobody() {
    let server = Running::start(rossum().args(["soccer", "--free-ports", "--json"]));
    let witness = Witness::new(server.address(AGENTS));
    let before = server.tick();
    let greedy: Vec<_> = (0..4).map(|_| Greedy::start(server.address(MONITORS))).collect();
    // a well-behaved monitor gets its updates, and the console answers
    let mut monitor = Monitor::connect(server.address(MONITORS)).expect("it listens");
    for _ in 0..50 {
        monitor.receive().expect("an update");
    }
    let seconds = (server.tick() - before) / 50 + 1;
    let updates: Vec<_> = greedy.into_iter().map(Greedy::end).collect();
    // at most 16 at once and 10 a second, and those that everybody gets
    assert!(updates.iter().all(|&updates| updates <= 2 * (16 + 10 * seconds)), "{updates:?} in {seconds} s");
    assert!(witness.end() > 50);
}

#[test]
fn the_server_stops_in_time_whatever_clients_do() {
    let server = Running::start(rossum().args(["soccer", "--free-ports", "--json"]));
    let mut agent = Agent::join(server.address(AGENTS), "T1 Reds 2");
    let greedy: Vec<_> = (0..4).map(|_| Greedy::start(server.address(MONITORS))).collect();
    // these never read
    let deaf: Vec<_> = (0..8).map(|_| Monitor::connect(server.address(MONITORS)).expect("it listens")).collect();
    for _ in 0..20 {
        agent.next().expect("it plays");
    }
    let began = now();
    server.signal("TERM");
    let ended = server.end();
    // twice the promised time, for a busy machine
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    agent.await_end();
    for greedy in greedy {
        greedy.end();
    }
    drop(deaf);
}

#[expect(clippy::disallowed_methods, reason = "the promise is in wall-clock time")]
fn now() -> Instant {
    Instant::now()
}

/// Greets the OSP port from a new socket.
fn greet(server: &Running, from: &str) -> UdpSocket {
    let socket = UdpSocket::bind((from, 0)).expect("a port");
    socket.send_to(OSP_INIT, server.address("OSP")).expect("sent");
    socket
}

/// Greets until there is a reply, since a flood may fill the server's receive buffer, and asks a question.
fn osp_client(server: &Running) -> UdpSocket {
    let socket = greet(server, "127.0.0.1");
    socket.set_read_timeout(Some(Duration::from_secs(1))).expect("a timeout");
    let handler = eventually("a reply to the greeting", || {
        let reply = socket.recv_from(&mut [0; 64]);
        if reply.is_err() {
            socket.send_to(OSP_INIT, server.address("OSP")).expect("sent");
        }
        reply.ok().map(|(_, handler)| handler)
    });
    socket.set_read_timeout(Some(DEADLINE)).expect("a deadline");
    socket.connect(handler).expect("connected");
    ask_overview(&socket);
    socket
}

fn ask_overview(client: &UdpSocket) {
    client.send(OSP_OVERVIEW).expect("sent");
    while receive(client).first() != Some(&92) {}
}

#[test]
fn greetings_from_forged_addresses_exhaust_nothing() {
    let arguments = ["serve", "--free-ports", "--json", "--scenario", "playground"];
    let limited = "ulimit -n 1024; exec \"$@\"";
    let server =
        Running::start(Command::new("sh").args(["-c", limited, "sh", env!("CARGO_BIN_EXE_rossum")]).args(arguments));
    let descriptors = || fs::read_dir(format!("/proc/{}/fd", server.id())).expect("it runs").count();
    let witness = osp_client(&server);
    let before = descriptors();
    // as many as two addresses may have conversations; nobody there ever answers
    let mut forged = Vec::new();
    for from in ["127.0.0.2", "127.0.0.3"] {
        for _ in 0..256 {
            forged.push(greet(&server, from));
        }
        ask_overview(&witness);
        assert_eq!(server.page("/health").0, 200);
    }
    osp_client(&server);
    let most = before + 64 + 16;
    eventually("few descriptors", || (descriptors() <= most).then_some(()));
}

#[test]
fn silent_connections_keep_nobody_out() {
    let server = Running::serve(&["--scenario", "playground"]);
    let witness = Witness::new(server.address(AGENTS));
    let mut silent = Vec::new();
    for title in [AGENTS, MONITORS, "World Simulator", "Robot Simulator", "Oz of Alice", "Console"] {
        for _ in 0..200 {
            match TcpStream::connect(server.address(title)) {
                Ok(stream) => silent.push(stream),
                Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{title}"),
            }
        }
        // everybody else is served as usual
        assert_eq!(server.page("/health").0, 200, "{title}");
        Agent::join(server.address(AGENTS), "T1 Reds 2");
        Monitor::connect(server.address(MONITORS)).expect("it listens").receive().expect("an update");
        assert!(ask(&server, "World Simulator", "CreateRobot").starts_with("YourIdentifier "), "{title}");
        assert!(ask(&server, "Robot Simulator", "SendNetParameters").starts_with("NetParameters "), "{title}");
        Oz::connect(server.address("Oz of Alice"), DEADLINE).expect("it is served");
    }
    assert!(witness.end() > 5);
}

/// Sends a line from a new connection, and returns the reply.
fn ask(server: &Running, title: &str, line: &str) -> String {
    let mut stream = TcpStream::connect(server.address(title)).expect("it listens");
    stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
    write!(stream, "{line}\r\n").expect("it listens");
    let mut reply = String::new();
    BufReader::new(stream).read_line(&mut reply).expect("a reply");
    reply
}
