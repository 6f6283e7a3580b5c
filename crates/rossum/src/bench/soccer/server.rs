//! A server process: ours or the reference.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use anyhow::{Context, ensure};
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};

use crate::process::{cpu_time_of, memory_of};

/// The server program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Program<'a> {
    Ours,
    Reference(&'a Path),
}

/// Options understood by both.
pub(super) const AS_FAST_AS_POSSIBLE: &[&str] = &["--sync", "--no-realtime", "--no-render", "--rules", "fifa"];
pub(super) const IN_REAL_TIME: &[&str] = &["--no-render", "--rules", "fifa"];

/// Servers to kill when the program is interrupted.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

pub(super) struct Server {
    child: Child,
    /// Addresses for agents and monitors.
    addresses: [SocketAddr; 2],
    /// Address of the metrics, if any, and the token that they need.
    metrics: Option<(SocketAddr, String)>,
    /// Working directory, with the log.
    folder: PathBuf,
}

impl Server {
    pub(super) fn start(program: Program<'_>, flags: &[&str]) -> anyhow::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("rossum-bench-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).with_context(|| format!("failed to create {}", folder.display()))?;
        let log = File::create(folder.join("server.log"))?;
        let local = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let (mut command, mut addresses) = match program {
            Program::Ours => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["soccer", "--free-ports", "--json", "--log", "warn"]).stdout(Stdio::piped());
                (command, None)
            }
            Program::Reference(path) => {
                let ports @ [agents, monitors] = free_ports()?;
                let mut command = Command::new(path);
                command.args(["--aport", &agents.to_string(), "--mport", &monitors.to_string()]).stdout(Stdio::null());
                (command, Some(ports.map(local)))
            }
        };
        let command = command.args(flags).current_dir(&folder).stdin(Stdio::null()).stderr(log);
        let mut child = command.spawn().with_context(|| format!("failed to start {:?}", command.get_program()))?;
        let output = child.stdout.take();
        running().push(child.id());
        let mut server = Self { child, addresses: [local(0); 2], metrics: None, folder };
        if let Some(output) = output {
            let ([agents, monitors, page], token) = greeting(output).with_context(|| server.log())?;
            (addresses, server.metrics) = (Some([agents, monitors]), Some((page, token)));
        }
        server.addresses = addresses.context("unknown address of the server")?;
        Ok(server)
    }

    /// Address for agents.
    pub(super) fn address(&self) -> SocketAddr {
        let [agents, _] = self.addresses;
        agents
    }

    /// Address for monitors.
    pub(super) fn monitors(&self) -> SocketAddr {
        let [_, monitors] = self.addresses;
        monitors
    }

    /// Number of real-time cycles, and of those that started within 2 ms of their schedule, from the server's metrics.
    pub(super) fn cycle_counts(&self) -> anyhow::Result<(f64, f64)> {
        let (address, token) = self.metrics.as_ref().context("the server has no metrics")?;
        let mut page = TcpStream::connect(address)?;
        write!(page, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n")?;
        let mut text = String::new();
        page.read_to_string(&mut text)?;
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|value| value.trim().parse::<f64>().ok()).with_context(|| format!("no {name} in the metrics"))
        };
        let within = value("rossum_tick_lateness_seconds_bucket{le=\"0.002\"}")?;
        Ok((value("rossum_tick_lateness_seconds_count")?, within))
    }

    /// A hint for error messages.
    pub(super) fn log(&self) -> String {
        format!("see the server's log in {}", self.folder.display())
    }

    /// Fails if the server has exited.
    pub(super) fn ensure_running(&mut self) -> anyhow::Result<()> {
        let status = self.child.try_wait()?;
        ensure!(status.is_none(), "the server has exited: {}", status.unwrap_or_default());
        Ok(())
    }

    /// CPU time of all its threads so far.
    pub(super) fn cpu_time(&self) -> anyhow::Result<Duration> {
        cpu_time_of(self.child.id())
    }

    /// Current and peak memory, in MB.
    pub(super) fn memory(&self) -> anyhow::Result<(f64, f64)> {
        memory_of(self.child.id())
    }

    /// Stops the server and deletes its log.
    pub(super) fn stop(self) {
        let folder = self.folder.clone();
        drop(self);
        // a leftover temporary directory does no harm
        let _ = fs::remove_dir_all(folder);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let id = self.child.id();
        // no server outlives the benchmark; killing one that has exited fails
        let _ = self.child.kill();
        running().retain(|other| *other != id);
        let _ = self.child.wait();
    }
}

/// Kills all servers.
pub(super) fn kill_all() {
    for id in running().drain(..) {
        if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
            // it may have exited already
            let _ = kill_process(id, Signal::KILL);
        }
    }
}

fn running() -> parking_lot::MutexGuard<'static, Vec<u32>> {
    RUNNING.lock()
}

/// Addresses of our server for agents, monitors and metrics, and a token, from its first output line.
fn greeting(output: impl Read) -> anyhow::Result<([SocketAddr; 3], String)> {
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    let greeting: serde_json::Value = serde_json::from_str(&line).context("our server did not start")?;
    let addresses = greeting["addresses"].as_array().context("no addresses")?;
    let find = |id: &str| {
        let found = addresses.iter().find(|address| address["id"] == id);
        let text = found.and_then(|found| found["address"].as_str()).with_context(|| format!("no endpoint `{id}`"))?;
        text.parse().context("an address")
    };
    let link = greeting["viewer"].as_str().and_then(|link| link.split_once("token="));
    let (_, token) = link.context("no link for viewers")?;
    Ok(([find("soccer-agents")?, find("soccer-monitors")?, find("console")?], token.to_owned()))
}

/// Two ports that were free a moment ago.
fn free_ports() -> anyhow::Result<[u16; 2]> {
    let [first, second] = [TcpListener::bind(("127.0.0.1", 0))?, TcpListener::bind(("127.0.0.1", 0))?];
    Ok([first.local_addr()?.port(), second.local_addr()?.port()])
}
