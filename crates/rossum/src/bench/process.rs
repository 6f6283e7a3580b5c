//! The server as a process: start-up time and memory.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, ensure};

use super::{Figure, Goal, Options, median, now};

const STARTS: usize = 5;
const ROBOTS: usize = 22;

pub(super) fn measure(_: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let began = now();
        let server = Server::start("playground")?;
        starts.push(now().duration_since(began).as_secs_f64());
        server.stop()?;
    }
    let server = Server::start_text(&scenario_with_22("realtime"))?;
    let (_, memory) = memory_of(server.child.id())?;
    server.stop()?;
    let detail = format!("playground, median of {STARTS}");
    Ok(vec![
        Figure { what: "start to listening", detail, value: median(starts), goal: Goal::AtMost(1.0), unit: "s" },
        Figure {
            what: "memory with 22 T1",
            detail: "peak of the server process".to_owned(),
            value: memory,
            goal: Goal::AtMost(150.0),
            unit: "MB",
        },
    ])
}

/// A field with 22 robots at this pace.
pub(super) fn scenario_with_22(pace: &str) -> String {
    let mut text = format!("[world]\nfield = \"fifa\"\npace = \"{pace}\"\n");
    for index in 0..ROBOTS {
        let (x, y) = (4 * (index % 6), 4 * (index / 6));
        text.push_str(&format!("[[robot]]\nname = \"T1-{index}\"\nmodel = \"T1\"\nposition = [{x}.0, {y}.0, 0.0]\n"));
    }
    text
}

/// A `rossum serve` process.
pub(super) struct Server {
    child: Child,
    addresses: Vec<(String, SocketAddr)>,
    console: String,
}

impl Server {
    /// Serves a scenario given as text.
    pub(super) fn start_text(scenario: &str) -> anyhow::Result<Self> {
        let file = std::env::temp_dir().join(format!("rossum-bench-{}.toml", std::process::id()));
        fs::write(&file, scenario).with_context(|| format!("failed to write {}", file.display()))?;
        let server = Self::start(&file.to_string_lossy());
        fs::remove_file(&file)?;
        server
    }

    pub(super) fn start(scenario: &str) -> anyhow::Result<Self> {
        let program = std::env::current_exe()?;
        let mut child = Command::new(program)
            .args(["serve", "--free-ports", "--json", "--log", "error", "--scenario", scenario])
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
            let (title, address) = text("title").zip(text("address")).context("an address without a title")?;
            server.addresses.push((title, address.parse()?));
        }
        first["console"].as_str().unwrap_or_default().clone_into(&mut server.console);
        Ok(server)
    }

    /// The URL of the console.
    pub(super) fn console(&self) -> &str {
        &self.console
    }

    /// The address of the endpoint with this title.
    pub(super) fn address(&self, title: &str) -> anyhow::Result<SocketAddr> {
        let found = self.addresses.iter().find(|(other, _)| other == title);
        found.map(|(_, address)| *address).with_context(|| format!("no endpoint named {title}"))
    }

    /// CPU time of all its threads so far.
    pub(super) fn cpu_time(&self) -> anyhow::Result<Duration> {
        cpu_time_of(self.child.id())
    }

    fn stop(mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

/// CPU time of all threads of a process so far.
pub(super) fn cpu_time_of(process: u32) -> anyhow::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // the process name, in parentheses, may contain spaces; the third field follows it
    let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|text| text.parse::<f64>().ok());
    let (user, system) = ticks(11).zip(ticks(12)).context("no CPU time in /proc")?;
    Ok(Duration::from_secs_f64((user + system) / rustix::param::clock_ticks_per_second() as f64))
}

/// Current and peak memory of a process, in MB.
pub(super) fn memory_of(process: u32) -> anyhow::Result<(f64, f64)> {
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
