//! The server as a process of its own, for benchmarks and the soak test.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use anyhow::{Context, ensure};
use rustix::process::{Pid, Signal, kill_process};

/// A `rossum serve` process.
pub(crate) struct Server {
    child: Child,
    addresses: Vec<(String, SocketAddr)>,
    console: String,
}

impl Server {
    /// Serves a scenario given as text.
    pub(crate) fn start_text(scenario: &str) -> anyhow::Result<Self> {
        let file = std::env::temp_dir().join(format!("rossum-bench-{}.toml", std::process::id()));
        fs::write(&file, scenario).with_context(|| format!("failed to write {}", file.display()))?;
        let server = Self::start(&file.to_string_lossy());
        fs::remove_file(&file)?;
        server
    }

    /// Serves a scenario given by name or path.
    pub(crate) fn start(scenario: &str) -> anyhow::Result<Self> {
        Self::start_with(scenario, &[])
    }

    /// Serves a scenario with further arguments.
    pub(crate) fn start_with(scenario: &str, arguments: &[&str]) -> anyhow::Result<Self> {
        let program = std::env::current_exe()?;
        let mut child = Command::new(program)
            .args(["serve", "--free-ports", "--json", "--log", "error", "--scenario", scenario])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().context("the server has no output")?;
        let mut server = Self { child, addresses: Vec::new(), console: String::new() };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        ensure!(!line.is_empty(), "the server did not start");
        let first: serde_json::Value = serde_json::from_str(&line)?;
        for entry in first["addresses"].as_array().into_iter().flatten() {
            let text = |key: &str| entry[key].as_str().map(str::to_owned);
            let (id, address) = text("id").zip(text("address")).context("an address without an id")?;
            server.addresses.push((id, address.parse()?));
        }
        first["console"].as_str().unwrap_or_default().clone_into(&mut server.console);
        Ok(server)
    }

    /// The URL of the console.
    pub(crate) fn console(&self) -> &str {
        &self.console
    }

    /// The address of the endpoint with this id.
    pub(crate) fn address(&self, id: &str) -> anyhow::Result<SocketAddr> {
        let found = self.addresses.iter().find(|(other, _)| other == id);
        found.map(|(_, address)| *address).with_context(|| format!("no endpoint `{id}`"))
    }

    /// CPU time of all its threads so far.
    pub(crate) fn cpu_time(&self) -> anyhow::Result<Duration> {
        cpu_time_of(self.child.id())
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The id and address of each endpoint.
    pub(crate) fn addresses(&self) -> &[(String, SocketAddr)] {
        &self.addresses
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// Asks it to stop, and waits until it has.
    pub(crate) fn terminate(mut self) -> anyhow::Result<ExitStatus> {
        self.signal(Signal::TERM)?;
        Ok(self.child.wait()?)
    }
}

/// CPU time of all threads of a process so far.
pub(crate) fn cpu_time_of(process: u32) -> anyhow::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // the process name, in parentheses, may contain spaces; the third field follows it
    let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|text| text.parse::<f64>().ok());
    let (user, system) = ticks(11).zip(ticks(12)).context("no CPU time in /proc")?;
    Ok(Duration::from_secs_f64((user + system) / rustix::param::clock_ticks_per_second() as f64))
}

/// Current and peak memory of a process, in MB.
pub(crate) fn memory_of(process: u32) -> anyhow::Result<(f64, f64)> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let megabytes = |key: &str| {
        let line = status.lines().find(|line| line.starts_with(key));
        let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
        kilobytes.map(|kilobytes| kilobytes / 1024.0).with_context(|| format!("no {key} in /proc"))
    };
    Ok((megabytes("VmRSS")?, megabytes("VmHWM")?))
}

impl Drop for Server {
    fn drop(&mut self) {
        // no server outlives the benchmark; killing one that has exited fails
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
