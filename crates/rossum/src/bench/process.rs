//! The server as a process: how soon it listens, how much memory it takes.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, bail};

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
    let full = std::env::temp_dir().join(format!("rossum-bench-{}.toml", std::process::id()));
    fs::write(&full, scenario_with_22()).with_context(|| format!("cannot write {}", full.display()))?;
    let server = Server::start(&full.to_string_lossy());
    fs::remove_file(&full)?;
    let server = server?;
    let memory = server.peak_memory()?;
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

fn scenario_with_22() -> String {
    let mut text = "[world]\nfield = \"fifa\"\n".to_owned();
    for index in 0..ROBOTS {
        let (x, y) = (4 * (index % 6), 4 * (index / 6));
        text.push_str(&format!("[[robot]]\nname = \"T1-{index}\"\nmodel = \"T1\"\nposition = [{x}.0, {y}.0, 0.0]\n"));
    }
    text
}

/// This program, serving.
struct Server(Child);

impl Server {
    fn start(scenario: &str) -> anyhow::Result<Self> {
        let program = std::env::current_exe()?;
        let mut child = Command::new(program)
            .args(["serve", "--free-ports", "--json", "--log", "error", "--scenario", scenario])
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().context("the server has no output")?;
        let server = Self(child);
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        if line.is_empty() {
            bail!("the server did not start");
        }
        Ok(server)
    }

    /// In MB, as the system counts it.
    fn peak_memory(&self) -> anyhow::Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmHWM")).context("no VmHWM in the status")?;
        let kilobytes: f64 = line.split_whitespace().nth(1).context("no number in VmHWM")?.parse()?;
        Ok(kilobytes / 1024.0)
    }

    fn stop(mut self) -> anyhow::Result<()> {
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // whatever happened, no server stays behind; one that has ended already cannot be killed
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
