//! The league's server and ours, told to do the same.

use std::{
    env,
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::running::{DEADLINE, Running, eventually, rossum};

/// The reference ends when an agent joins before its first cycle has ended, which nothing tells.
const FIRST_CYCLE: Duration = Duration::from_millis(2000);
/// A monitor's words are read at the beginning of the next cycle if they come this long before it.
const ARRIVAL: Duration = Duration::from_millis(60);
const MAX_FRAME: usize = 1 << 20;

/// A server that was started for a test and ends with it.
pub(crate) struct Server {
    pub(crate) name: &'static str,
    agents: SocketAddr,
    monitors: SocketAddr,
    _process: Process,
}

enum Process {
    Ours { _running: Running },
    Reference { child: Child, _folder: tempfile::TempDir },
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Self::Reference { child, .. } = self {
            // one that has ended cannot be killed
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Server {
    pub(crate) fn ours(flags: &[&str]) -> Self {
        let running = Running::start(rossum().args(["soccer", "--free-ports", "--json"]).args(flags));
        let (agents, monitors) = (running.address("Soccer agents"), running.address("Soccer monitors"));
        Self { name: "ours", agents, monitors, _process: Process::Ours { _running: running } }
    }

    pub(crate) fn reference(flags: &[&str]) -> Self {
        let program = env::var_os("ROSSUM_REFERENCE").map(PathBuf::from);
        let program = program.expect("ROSSUM_REFERENCE is the path of rcssservermj; `make compare-soccer` sets it");
        let [agents, monitors] = [free_port(), free_port()];
        // it writes a log into the folder where it is started
        let folder = tempfile::tempdir().expect("a folder");
        let child = Command::new(&program)
            .args(["--aport", &agents.port().to_string(), "--mport", &monitors.port().to_string()])
            .args(flags)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", program.display()));
        let process = Process::Reference { child, _folder: folder };
        let server = Self { name: "reference", agents, monitors, _process: process };
        // the first connection shows that it listens; it stays until the first cycle is over
        let _first = eventually("the reference listens", || {
            pause(Duration::from_millis(50));
            TcpStream::connect(agents).ok()
        });
        pause(FIRST_CYCLE);
        server
    }

    pub(crate) fn join(&self, init: &str) -> Connection {
        let mut agent = Connection::new(self.agents);
        agent.send(&format!("(init {init})"));
        agent
    }

    pub(crate) fn watch(&self) -> Monitor {
        let connection = Connection::new(self.monitors);
        let mut reading = Connection { stream: connection.stream.try_clone().expect("a second handle") };
        let pictures = thread::spawn(move || {
            let mut pictures = Vec::new();
            while let Some(picture) = reading.next() {
                pictures.push(picture);
            }
            pictures
        });
        pause(ARRIVAL);
        Monitor { connection, pictures }
    }
}

/// A stream of frames.
pub(crate) struct Connection {
    stream: TcpStream,
}

impl Connection {
    fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_nodelay(true).expect("an option");
        stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
        Self { stream }
    }

    pub(crate) fn send(&mut self, message: &str) {
        let mut bytes = (message.len() as u32).to_be_bytes().to_vec();
        bytes.extend_from_slice(message.as_bytes());
        self.stream.write_all(&bytes).expect("it listens");
    }

    /// The next frame; none after the end.
    pub(crate) fn next(&mut self) -> Option<String> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).ok()?;
        let length = u32::from_be_bytes(length) as usize;
        assert!(length <= MAX_FRAME, "{length} bytes");
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).ok()?;
        Some(String::from_utf8(payload).expect("text"))
    }
}

/// One who watches, on a thread of its own, and commands.
pub(crate) struct Monitor {
    connection: Connection,
    pictures: JoinHandle<Vec<String>>,
}

impl Monitor {
    /// Sends a command between two cycles, while an agent keeps everybody waiting.
    pub(crate) fn command(&mut self, command: &str) {
        pause(ARRIVAL);
        self.connection.send(command);
        pause(ARRIVAL);
    }

    /// All that it was shown.
    pub(crate) fn end(self) -> Vec<String> {
        pause(ARRIVAL);
        // the thread ends with the connection, which the other side may have ended already
        let _ = self.connection.stream.shutdown(Shutdown::Both);
        self.pictures.join().expect("pictures")
    }
}

fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port")
}

#[expect(clippy::disallowed_methods, reason = "nothing tells when the reference has read something")]
fn pause(time: Duration) {
    thread::sleep(time);
}
