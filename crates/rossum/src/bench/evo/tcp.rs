//! Robot steps per second over TCP: a World Simulator, a Robot Simulator, and the bench as Population Manager, each a
//! process of its own.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, ensure};
use client::evo::Simulator;
use wire::evo::Individual;

use super::{
    super::{Figure, Goal, median, now},
    Options,
    task::{FAR, Task},
};
use crate::process::cpu_time_of;

/// The robot, as a body file.
const BODY: &str = include_str!("../../../../../bench/evo/rover.toml");
/// Parameters in that file.
const STEPS_OF_AN_INDIVIDUAL: u64 = 500;
const CONCURRENT: usize = 32;
/// The controller of the task as weights of the left and the right wheel: of the sensors, from straight ahead to the left,
/// of the constant, and of the wheels themselves.
const WEIGHTS: [[f64; 11]; 2] = [
    [0.5, 1.5, 0.5, 0.0, 0.0, 0.0, -0.5, -1.5, 1.5, 0.0, 0.0],
    [-3.0, -1.5, -0.5, 0.0, 0.0, 0.0, 0.5, 1.5, 1.5, 0.0, 0.0],
];
/// Far longer than anything takes.
const PATIENCE: Duration = Duration::from_secs(10);
/// Approximate size of a sensor's reading, in bytes.
const ECHOED: usize = 40;

pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let files = Files::write(&Task::read()?)?;
    let world = Program::start(&["world", &files.world(), "--free-ports", "--json", "--log", "error"])?;
    let address = world.address.to_string();
    let robot = ["robot", &files.body(), "--world", &address, "--pipeline", "--free-ports", "--json", "--log", "error"];
    let robot = Program::start(&robot)?;
    let echo = Echo::start()?;
    let mut manager = Manager::connect(robot.address)?;
    // until all are awake
    manager.run(options.block() / 4)?;
    let (mut speeds, mut echoes, mut total) = (Vec::new(), Vec::new(), 0);
    let before = [world.cpu_time()?, robot.cpu_time()?];
    for _ in 0..options.rounds() {
        echoes.push(echo.run(options.block())?);
        let (steps, took) = manager.run(options.block())?;
        speeds.push(steps as f64 / took.as_secs_f64());
        total += steps;
    }
    let after = [world.cpu_time()?, robot.cpu_time()?];
    let [world_cpu, robot_cpu] =
        [0, 1].map(|index| after[index].saturating_sub(before[index]).as_secs_f64() * 1e6 / total.max(1) as f64);
    let detail = format!(
        "one world, one simulator, Cci = {CONCURRENT}, 8 readings and a move a step; CPU a step {world_cpu:.1} µs of the \
         world, {robot_cpu:.1} µs of the simulator; a bare echo makes {:.0} round trips/s",
        median(echoes)
    );
    Ok(vec![Figure {
        what: "robot-steps/s over TCP",
        detail,
        value: median(speeds),
        goal: Goal::AtLeast(20_000.0),
        unit: "/s",
    }])
}

/// The world and the robot as files; deleted on drop.
struct Files(PathBuf);

impl Files {
    fn write(task: &Task) -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("rossum-bench-evo-{}", std::process::id()));
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let files = Self(folder);
        // robots that meet each other would have a different task from a single one
        let world = task.world_file(FAR).replacen('\n', "\nisolation = \"per-robot\"\n", 1);
        std::fs::write(files.world(), world)?;
        std::fs::write(files.body(), BODY)?;
        Ok(files)
    }

    fn path(&self, name: &str) -> String {
        Path::new(&self.0).join(name).to_string_lossy().into_owned()
    }

    fn world(&self) -> String {
        self.path("world.toml")
    }

    fn body(&self) -> String {
        self.path("rover.toml")
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // a leftover temporary folder is no reason to fail
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// This program, as one of the simulators.
struct Program {
    child: Child,
    address: SocketAddr,
}

impl Program {
    fn start(arguments: &[&str]) -> anyhow::Result<Self> {
        let name = arguments.first().copied().unwrap_or_default();
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().context("it has no output")?;
        let mut program = Self { child, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let greeting: serde_json::Value =
            serde_json::from_str(&line).with_context(|| format!("`rossum {name}` did not start"))?;
        let address = greeting["addresses"][0]["address"].as_str();
        program.address = address.with_context(|| format!("`rossum {name}` does not say where it listens"))?.parse()?;
        Ok(program)
    }

    fn cpu_time(&self) -> anyhow::Result<Duration> {
        cpu_time_of(self.child.id())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // one that has ended already cannot be killed
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A Population Manager that sends the same individual again and again.
struct Manager {
    simulator: Simulator,
    sent: u64,
}

impl Manager {
    fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        let mut simulator = Simulator::connect(address)?;
        let parameters = simulator.net_parameters()?;
        ensure!(parameters.concurrent == CONCURRENT, "Cci is {}, not {CONCURRENT}", parameters.concurrent);
        Ok(Self { simulator, sent: 0 })
    }

    fn next(&mut self) -> Individual {
        self.sent += 1;
        Individual { generation: 1, number: self.sent, hidden: 0, values: WEIGHTS.concat() }
    }

    /// Keeps the simulator busy for about `block`, then waits for the last evaluation. Returns steps and elapsed time.
    fn run(&mut self, block: Duration) -> anyhow::Result<(u64, Duration)> {
        let first: Vec<_> = (0..CONCURRENT).map(|_| self.next()).collect();
        let (began, mut waits, mut finished) = (now(), first.len(), 0_u64);
        self.simulator.send(&first)?;
        while waits > 0 {
            self.simulator.receive(PATIENCE)?.context("an individual takes too long")?;
            finished += 1;
            waits -= 1;
            if now().duration_since(began) < block {
                let next = self.next();
                self.simulator.send([&next])?;
                waits += 1;
            }
        }
        Ok((finished * STEPS_OF_AN_INDIVIDUAL, now().duration_since(began)))
    }
}

/// An echo server on its own thread.
struct Echo {
    stream: TcpStream,
}

impl Echo {
    fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let stream = TcpStream::connect(listener.local_addr()?)?;
        stream.set_nodelay(true)?;
        let (mut other, _) = listener.accept()?;
        other.set_nodelay(true)?;
        thread::spawn(move || {
            let mut buffer = [0; 2_048];
            while let Ok(length @ 1..) = other.read(&mut buffer) {
                if other.write_all(buffer.get(..length).unwrap_or_default()).is_err() {
                    return;
                }
            }
        });
        Ok(Self { stream })
    }

    /// Round trips per second.
    fn run(&self, block: Duration) -> anyhow::Result<f64> {
        let mut stream = &self.stream;
        let mut buffer = [0; ECHOED];
        let (began, mut count) = (now(), 0_u64);
        loop {
            stream.write_all(&buffer)?;
            stream.read_exact(&mut buffer)?;
            count += 1;
            let took = now().duration_since(began);
            if took >= block {
                return Ok(count as f64 / took.as_secs_f64());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use evolve::robot::{BodyFile, Design};

    use super::*;

    #[test]
    fn body_is_as_the_figures_say() -> anyhow::Result<()> {
        let design = Design::new(BodyFile::parse(BODY)?, None)?;
        let trial = &design.file().trial;
        assert_eq!(u64::from(trial.steps * trial.trials), STEPS_OF_AN_INDIVIDUAL);
        assert_eq!(design.parameters().concurrent, CONCURRENT);
        assert_eq!(design.parameters().weights(0), WEIGHTS.concat().len());
        Ok(())
    }
}
