//! The evolving robots with programs that know nothing but the document: a World Simulator, a Robot Simulator and a
//! Population Manager in plain Python (`tests/peers`), each in place of ours.

mod running;

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use running::{Running, rossum};

fn peer(name: &str) -> Command {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers").join(name);
    let mut command = Command::new("python3");
    command.arg(file);
    command
}

/// A server in Python.
struct Peer {
    child: Child,
    address: String,
}

impl Peer {
    fn start(name: &str, arguments: &[&str]) -> Self {
        let mut child = peer(name).args(arguments).stdout(Stdio::piped()).spawn().expect("Python is there");
        let mut port = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut port).expect("it prints its port");
        Self { child, address: format!("127.0.0.1:{}", port.trim()) }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // it may have ended
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Has the Population Manager evolve, and returns the best fitness of each generation.
fn evolve(robot: &str, generations: usize) -> Vec<f64> {
    let output = peer("population_manager.py")
        .args(["--robot", robot, "--population", "6", "--generations", &generations.to_string()])
        .output()
        .expect("Python is there");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let fitness: Vec<f64> = text.lines().map(|line| line.parse().expect("a number")).collect();
    assert_eq!(fitness.len(), generations);
    fitness
}

fn robot(arguments: &[&str]) -> Running {
    Running::start(rossum().args(["robot", "platine", "--free-ports", "--json"]).args(arguments))
}

#[test]
fn our_robots_live_in_a_foreign_world() {
    for (options, ours) in [
        // it reads one message, and answers it
        (&["--one-per-packet"][..], &[][..]),
        // its answers come in two parts, and the second waits until the first is acknowledged
        (&["--nagle"], &[]),
        (&["--fractional-colours"], &[]),
        (&["--zero", "y", "--sense", "cw"], &["--dir-zero", "y", "--dir-sense", "cw"]),
    ] {
        let world = Peer::start("world_simulator.py", options);
        let robot = robot(&[&["--world", &world.address, "--seed", "3"], ours].concat());
        let fitness = evolve(&robot.address("Robot Simulator").to_string(), 2);
        // a failed individual has the fitness -1
        assert!(fitness.iter().all(|fitness| *fitness > -1.0), "{options:?}: {fitness:?}");
    }
}

#[test]
fn a_foreign_convention_for_directions_makes_no_difference() {
    let fitness = |world: &[&str], ours: &[&str]| {
        let world = Peer::start("world_simulator.py", world);
        // robots that meet would disturb each other
        let robot = robot(&[&["--world", &world.address, "--seed", "3", "--concurrent", "1"], ours].concat());
        evolve(&robot.address("Robot Simulator").to_string(), 1)[0]
    };
    let usual = fitness(&[], &[]);
    let other = fitness(&["--zero", "y", "--sense", "cw"], &["--dir-zero", "y", "--dir-sense", "cw"]);
    assert!((usual - other).abs() < 1e-3, "{usual} {other}");
}

#[test]
fn foreign_robots_live_in_our_world() {
    let world = Running::start(rossum().args(["world", "obstacles", "--free-ports", "--json", "--seed", "5"]));
    let robot = Peer::start("robot_simulator.py", &["--world", &world.address("World Simulator").to_string()]);
    let fitness = evolve(&robot.address, 2);
    assert!(fitness.iter().all(|fitness| fitness.abs() < 1.0), "{fitness:?}");
    // and our Population Manager evolves them as well
    let folder = tempfile::tempdir().expect("a folder");
    let output = rossum()
        .args(["evolve", "--simulators", &robot.address, "--generations", "2", "--population", "6", "--out"])
        .arg(folder.path().join("run"))
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
