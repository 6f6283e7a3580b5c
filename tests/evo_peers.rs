//! The evolving robots with programs that know nothing but the document: a World Simulator, a Robot Simulator and a
//! Population Manager in plain Python (`tests/peers`), each in place of ours.

mod running;

use std::{
    io::{BufRead, BufReader, Write},
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

/// Our Robot Simulator, with trials that a world in Python gets through in a short time.
fn robot(arguments: &[&str]) -> Running {
    let body = running::run(&["robot", "platine", "--print"]).stdout;
    let body = body.replace("steps = 400", "steps = 60").replace("trials = 8", "trials = 2");
    let mut file = tempfile::NamedTempFile::with_suffix(".toml").expect("a file");
    file.write_all(body.as_bytes()).expect("it is written");
    Running::start(rossum().arg("robot").arg(file.path()).args(["--free-ports", "--json"]).args(arguments))
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

/// Runs our Population Manager for two generations, and returns the best fitness of each.
fn evolve_with_ours(robot: &str) -> Vec<f64> {
    let folder = tempfile::tempdir().expect("a folder");
    let output = rossum()
        .args(["evolve", "--simulators", robot, "--generations", "2", "--population", "6", "--json", "--out"])
        .arg(folder.path().join("run"))
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("a generation")["best"].clone();
    text.lines().map(|text| line(text).as_f64().expect("a fitness")).collect()
}

/// Each of the three programs is ours or the one that was written from the document alone.
#[test]
fn every_combination_of_our_programs_and_foreign_ones_works() {
    let our_world = Running::start(rossum().args(["world", "obstacles", "--free-ports", "--json", "--seed", "5"]));
    let foreign_world = Peer::start("world_simulator.py", &[]);
    let our_address = our_world.address("World Simulator").to_string();
    for (world_is, world) in [("our", &our_address), ("a foreign", &foreign_world.address)] {
        let ours = robot(&["--world", world, "--seed", "3"]);
        let foreign = Peer::start("robot_simulator.py", &["--world", world]);
        let our_robot = ours.address("Robot Simulator").to_string();
        for (robot_is, robot) in [("our", &our_robot), ("a foreign", &foreign.address)] {
            for (manager_is, fitness) in [("our", evolve_with_ours(robot)), ("a foreign", evolve(robot, 2))] {
                let combination = format!("{manager_is} manager, {robot_is} robot, {world_is} world");
                // a failed individual has the fitness -1
                let is_valid = fitness.len() == 2 && fitness.iter().all(|fitness| *fitness > -1.0);
                assert!(is_valid, "{combination}: {fitness:?}");
            }
        }
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
    for (zero, sense) in [("y", "cw"), ("-x", "ccw"), ("-y", "cw")] {
        let theirs = format!("--zero={zero}");
        let other = fitness(&[&theirs, "--sense", sense], &["--dir-zero", zero, "--dir-sense", sense]);
        assert!((usual - other).abs() < 1e-3, "{zero} {sense}: {usual} {other}");
    }
}
