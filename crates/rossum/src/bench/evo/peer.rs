//! A peer in a separate process, which runs on command.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use anyhow::Context;

use super::task::{self, Stint};

/// The program that drives navground.
const NAVGROUND: &str = include_str!("../../../../../bench/evo/peer_navground.py");

/// The task as a temporary file for the peers.
pub(super) struct TaskFile(PathBuf);

impl TaskFile {
    pub(super) fn write() -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("rossum-bench-evo-{}.txt", std::process::id()));
        fs::write(&path, task::TEXT).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for TaskFile {
    fn drop(&mut self) {
        // a leftover temporary file is no reason to fail
        let _ = fs::remove_file(&self.0);
    }
}

pub(super) struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    name: &'static str,
}

impl Peer {
    /// `shape` is `squares` or `discs`.
    pub(super) fn enki(
        program: &Path,
        file: &TaskFile,
        block: Duration,
        range: f64,
        shape: &str,
    ) -> anyhow::Result<Self> {
        Self::start("Enki", Command::new(program), file, block, range, shape)
    }

    /// `lidars` is the number of lidars and of their rays, such as `8x3`.
    pub(super) fn navground(
        python: &Path,
        file: &TaskFile,
        block: Duration,
        range: f64,
        lidars: &str,
    ) -> anyhow::Result<Self> {
        let mut command = Command::new(python);
        command.args(["-c", NAVGROUND]);
        Self::start("navground", command, file, block, range, lidars)
    }

    fn start(
        name: &'static str,
        mut command: Command,
        TaskFile(file): &TaskFile,
        block: Duration,
        range: f64,
        variant: &str,
    ) -> anyhow::Result<Self> {
        let (seconds, range) = (block.as_secs_f64().to_string(), range.to_string());
        command.arg(file).args([&seconds, &range, variant]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("{name} does not start"))?;
        let input = child.stdin.take().context("a peer without input")?;
        let output = BufReader::new(child.stdout.take().context("a peer without output")?);
        Ok(Self { child, input, output, name })
    }

    pub(super) fn run(&mut self) -> anyhow::Result<Stint> {
        let name = self.name;
        writeln!(self.input, "run").with_context(|| format!("{name} has ended"))?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let said: serde_json::Value = serde_json::from_str(&line).with_context(|| format!("{name} said {line:?}"))?;
        let (steps, cpu) = said["steps"].as_u64().zip(said["cpu_s"].as_f64()).context("a peer without figures")?;
        Ok(Stint { steps, cpu })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // one that has ended already cannot be killed
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
