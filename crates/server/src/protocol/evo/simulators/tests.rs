use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
};

use super::*;
use crate::testing::DEADLINE;

fn simulators(section: &str) -> Simulators {
    let config: Config = toml::from_str(section).unwrap();
    Simulators::start(config, Path::new(""), ListenOptions::default(), true).unwrap()
}

/// A port that is free, unless another program takes it meanwhile.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The settings that the simulators run with.
fn settings(simulators: &Simulators) -> SimulatorSettings {
    let SimulatorsInfo { robot, world, robot_world } = simulators.info();
    let world_ports = world.iter().map(|port| port.port).collect();
    SimulatorSettings { robot_port: robot.map(|port| port.port), world_ports, robot_world }
}

/// The answer of whatever listens on this port; none if nothing does.
fn answer(port: u16, question: &str) -> Option<String> {
    let mut stream = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port))).ok()?;
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.write_all(format!("{question}\r\n").as_bytes()).ok()?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).ok()?;
    line.split(' ').next().map(str::to_owned)
}

fn is_robot(port: u16) -> bool {
    answer(port, "SendNetParameters").as_deref() == Some("NetParameters")
}

fn is_world(port: u16) -> bool {
    answer(port, "CreateRobot").as_deref() == Some("YourIdentifier")
}

#[test]
fn every_port_of_a_world_is_shown() {
    let simulators = simulators("world = \"coevolution\"\nbody = \"platine\"");
    let SimulatorsInfo { robot, world, robot_world } = simulators.info();
    let titles: Vec<_> = world.iter().map(|port| port.title.as_str()).collect();
    assert_eq!(titles, ["World Simulator for prey", "World Simulator for predator"]);
    assert_eq!((robot.unwrap().title.as_str(), robot_world), ("Robot Simulator", None));
    assert!(world.iter().all(|port| port.addresses == [format!("127.0.0.1:{}", port.port)] && is_world(port.port)));
    assert_eq!(simulators.addresses().len(), 3);
    simulators.stop();
}

#[test]
fn simulators_move_to_other_ports_and_worlds() {
    let simulators = simulators("world = \"coevolution\"\nbody = \"platine\"");
    let before = settings(&simulators);
    let (robot, world) = (before.robot_port.unwrap(), before.world_ports.clone());
    let moved = SimulatorSettings { robot_port: Some(free_port()), ..before.clone() };
    simulators.change(&moved).unwrap();
    assert_eq!((settings(&simulators), simulators.version()), (moved.clone(), 1));
    assert!(is_robot(moved.robot_port.unwrap()) && answer(robot, "SendNetParameters").is_none());

    // the ports of a world may swap
    let moved = SimulatorSettings { world_ports: vec![world[1], world[0]], ..moved };
    simulators.change(&moved).unwrap();
    assert_eq!(settings(&simulators), moved);
    assert!(world.iter().all(|&port| is_world(port)) && is_robot(moved.robot_port.unwrap()));

    let address = format!("127.0.0.1:{}", world[0]);
    let moved = SimulatorSettings { robot_world: Some(address), ..moved };
    simulators.change(&moved).unwrap();
    assert_eq!(settings(&simulators), moved);
    assert!(is_robot(moved.robot_port.unwrap()));
    // without an address and a port
    for (given, shown) in [("", "127.0.0.1:7770"), ("localhost", "localhost:7770")] {
        simulators.change(&SimulatorSettings { robot_world: Some(given.to_owned()), ..moved.clone() }).unwrap();
        assert_eq!(settings(&simulators).robot_world.as_deref(), Some(shown));
    }
    simulators.change(&SimulatorSettings { robot_world: None, ..moved }).unwrap();
    assert_eq!(settings(&simulators).robot_world, None);
    simulators.stop();
    assert!(matches!(simulators.change(&before), Err(SimulatorsError::ShuttingDown)));
}

#[test]
fn refused_settings_change_nothing() {
    let simulators = simulators("world = \"empty\"\nbody = \"platine\"");
    let before = settings(&simulators);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().port();
    let world = |address: &str| Some(address.to_owned());
    for (wanted, expected) in [
        (
            SimulatorSettings { robot_port: Some(before.world_ports[0]), ..before.clone() },
            "the former settings are kept",
        ),
        (SimulatorSettings { world_ports: vec![before.robot_port.unwrap()], ..before.clone() }, "another server"),
        (SimulatorSettings { world_ports: vec![taken, taken], ..before.clone() }, "the settings do not fit"),
        (SimulatorSettings { robot_port: None, ..before.clone() }, "the settings do not fit"),
        (SimulatorSettings { robot_world: world("a b"), ..before.clone() }, "invalid address \"a b\""),
        (SimulatorSettings { robot_world: world(&"a".repeat(1000)), ..before.clone() }, "invalid address"),
        (SimulatorSettings { robot_world: world("nowhere.invalid"), ..before.clone() }, "nowhere.invalid"),
    ] {
        let error = simulators.change(&wanted).unwrap_err().to_string();
        assert!(error.contains(expected), "{wanted:?}: {error}");
        assert_eq!(settings(&simulators), before, "{wanted:?}");
        assert!(is_robot(before.robot_port.unwrap()) && is_world(before.world_ports[0]), "{wanted:?}");
    }
    simulators.stop();
}
