//! A server as a process of its own: ours or the reference.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::process::{cpu_time_of, memory_of};

/// Which program serves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Program<'a> {
    Ours,
    Reference(&'a Path),
}

/// What both are told to do.
pub(super) const AS_FAST_AS_POSSIBLE: &[&str] = &["--sync", "--no-realtime", "--no-render", "--rules", "fifa"];
pub(super) const IN_REAL_TIME: &[&str] = &["--no-render", "--rules", "fifa"];

/// Servers that must not stay behind when the program is interrupted.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

pub(super) struct Server {
    child: Child,
    /// Where it expects agents and monitors.
    addresses: [SocketAddr; 2],
    /// Where it tells how it is, if it does.
    page: Option<SocketAddr>,
    /// Its working folder, with its log.
    folder: PathBuf,
}

impl Server {
    pub(super) fn start(program: Program<'_>, flags: &[&str]) -> anyhow::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("rossum-bench-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
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
        let mut child = command.spawn().with_context(|| format!("{:?} does not start", command.get_program()))?;
        let output = child.stdout.take();
        running().push(child.id());
        let mut server = Self { child, addresses: [local(0); 2], page: None, folder };
        if let Some(output) = output {
            let [agents, monitors, page] = greeting(output).with_context(|| server.log())?;
            (addresses, server.page) = (Some([agents, monitors]), Some(page));
        }
        server.addresses = addresses.context("nobody knows where the server listens")?;
        Ok(server)
    }

    /// Where it expects agents.
    pub(super) fn address(&self) -> SocketAddr {
        let [agents, _] = self.addresses;
        agents
    }

    /// Where it expects monitors.
    pub(super) fn monitors(&self) -> SocketAddr {
        let [_, monitors] = self.addresses;
        monitors
    }

    /// How many cycles began in real time, and how many of them within 2 ms of their time, as the server sees it.
    pub(super) fn begun(&self) -> anyhow::Result<(f64, f64)> {
        let mut page = TcpStream::connect(self.page.context("it has no page")?)?;
        page.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut text = String::new();
        page.read_to_string(&mut text)?;
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|value| value.trim().parse::<f64>().ok()).with_context(|| format!("no {name} in the metrics"))
        };
        let within = value("rossum_tick_lateness_seconds_bucket{le=\"0.002\"}")?;
        Ok((value("rossum_tick_lateness_seconds_count")?, within))
    }

    /// What to say when something went wrong.
    pub(super) fn log(&self) -> String {
        format!("the server's log is in {}", self.folder.display())
    }

    /// Whether it still runs.
    pub(super) fn ensure_running(&mut self) -> anyhow::Result<()> {
        let status = self.child.try_wait()?;
        ensure!(status.is_none(), "the server has ended: {}", status.unwrap_or_default());
        Ok(())
    }

    /// Processor time of all its threads so far.
    pub(super) fn cpu_time(&self) -> anyhow::Result<Duration> {
        cpu_time_of(self.child.id())
    }

    /// Memory that it takes now and the most that it took, in MB.
    pub(super) fn memory(&self) -> anyhow::Result<(f64, f64)> {
        memory_of(self.child.id())
    }

    /// Ends it; nobody needs its log.
    pub(super) fn stop(self) {
        let folder = self.folder.clone();
        drop(self);
        // a temporary folder that stays is no reason to fail
        let _ = fs::remove_dir_all(folder);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let id = self.child.id();
        // whatever happened, no server stays behind; one that has ended already cannot be killed
        let _ = self.child.kill();
        running().retain(|other| *other != id);
        let _ = self.child.wait();
    }
}

/// Ends all servers at once.
pub(super) fn kill_all() {
    for id in running().drain(..) {
        if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
            // it may have ended by itself
            let _ = kill_process(id, Signal::KILL);
        }
    }
}

fn running() -> std::sync::MutexGuard<'static, Vec<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where our server, as it says first, expects agents and monitors, and has its page.
fn greeting(output: impl Read) -> anyhow::Result<[SocketAddr; 3]> {
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    let greeting: serde_json::Value = serde_json::from_str(&line).context("our server did not start")?;
    let addresses = greeting["addresses"].as_array().context("no addresses")?;
    let find = |title: &str| {
        let found = addresses.iter().find(|address| address["title"] == title);
        let text = found.and_then(|found| found["address"].as_str()).with_context(|| format!("no {title}"))?;
        text.parse().context("an address")
    };
    Ok([find("Soccer agents")?, find("Soccer monitors")?, find("Console")?])
}

/// Two ports that nobody listened on a moment ago.
fn free_ports() -> anyhow::Result<[u16; 2]> {
    let [first, second] = [TcpListener::bind(("127.0.0.1", 0))?, TcpListener::bind(("127.0.0.1", 0))?];
    Ok([first.local_addr()?.port(), second.local_addr()?.port()])
}
