//! ODCP over sockets, against the built program.

mod playing;
mod running;

use std::{collections::BTreeMap, fs, io::ErrorKind, path::Path, time::Duration};

use client::{odcp::Client, osp};
use playing::{AGENTS, Agent};
use running::{Running, bytes_from_hex, eventually, peer_of, receive};
use serde_json::Value;
use wire::{
    Message,
    odcp::{Raw, Request, raw_from_normalized_angle},
};

const GET_MOTORS: &[u8] = &[150];
/// The tick by which a new robot has landed on the ground, with some margin.
const LANDED: u64 = 25;

/// The raw angles of an agent. The client retries if it is rate-limited.
fn raw_angles(client: &mut Client) -> Vec<u16> {
    let angles = client.motors().expect("it answers");
    angles.into_iter().map(|angle| raw_from_normalized_angle(angle).get()).collect()
}

/// Waits until all motors stay within `tolerance` of their null position.
fn await_null_position(client: &mut Client, tolerance: u16) {
    let mut is_there = || raw_angles(client).iter().all(|raw| raw.abs_diff(Raw::NULL_POSITION.get()) <= tolerance);
    eventually("the null position", || (0..50).all(|_| is_there()).then_some(()));
}

#[test]
fn transcripts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/odcp/transcripts");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("transcripts") {
        let path = entry.expect("a transcript").path();
        let transcript: Value = serde_json::from_str(&fs::read_to_string(&path).expect("text")).expect("JSON");
        let server = Running::serve(&["--scenario", "small"]);
        let address = server.address("ODCP of Rover");
        // it spawns slightly above the ground, and its wheels turn as it lands
        server.await_tick(LANDED);
        await_null_position(&mut Client::connect(address).expect("it answers"), 0);
        let mut peers = BTreeMap::new();
        for (number, step) in transcript["steps"].as_array().expect("steps").iter().enumerate() {
            let context = format!("step {number} of {}", path.display());
            let peer = peers.entry(step["from"].as_str().unwrap_or("a")).or_insert_with(|| peer_of(address));
            let text = |key: &str| step[key].as_str().map(bytes_from_hex);
            if let Some(datagram) = text("send") {
                peer.send(&datagram).expect("sent");
            } else if let Some(expected) = text("expect") {
                assert_eq!(receive(peer), expected, "{context}");
            } else if let Some(motors) = step["expect_motors"].as_u64() {
                assert_eq!(receive(peer).len() as u64, 1 + 4 * motors, "{context}");
            }
            // after `expect_none`, a surplus reply would be the next datagram
        }
        count += 1;
    }
    assert!(count >= 6, "only {count} transcripts found");
}

#[test]
fn a_humanoid_raises_its_arm() {
    /// `Left/Elbow` among the motors of the A-Series.
    const ELBOW: usize = 6;
    const TARGET: f64 = 0.4;
    let server = Running::serve(&["--scenario", "orcs"]);
    let mut client = Client::connect(server.address("ODCP of ASeries")).expect("it answers");
    let motors = client.motors().expect("it answers").len();
    assert_eq!(motors, 21);
    let mut pose = vec![(0.0, 1.0); motors];
    pose[ELBOW].0 = TARGET;
    client.set_motors(&pose).expect("sent");
    eventually("the elbow at its target", || {
        let angles = client.motors().expect("it answers");
        ((angles[ELBOW] - TARGET).abs() < 0.02).then_some(())
    });
    client.disconnect().expect("it answers");
}

#[test]
fn a_humanoid_stands_at_its_null_position() {
    let server = Running::serve(&["--scenario", "orcs"]);
    let mut client = Client::connect(server.address("ODCP of ASeries")).expect("it answers");
    client.set_motors(&[(0.0, 1.0); 21]).expect("sent");
    await_null_position(&mut client, 1);
    // seconds of simulation later it has not fallen over
    server.await_tick(server.tick() + 300);
    await_null_position(&mut client, 1);
    assert_eq!(raw_angles(&mut client).len(), 21);
}

#[test]
fn every_agent_has_its_own_port() {
    let server = Running::serve(&["--scenario", "orcs"]);
    let mut clients: Vec<_> = [("ASeries", 21), ("Rover1", 2), ("Rover2", 2)]
        .map(|(agent, motors)| {
            (Client::connect(server.address(&format!("ODCP of {agent}"))).expect("it answers"), motors)
        })
        .into();
    for (client, motors) in &mut clients {
        assert_eq!(client.motors().expect("it answers").len(), *motors);
    }
    // one rover drives, the other does not
    let (driver, _) = &mut clients[1];
    driver.set_motors(&[(0.5, 1.0), (0.5, 1.0)]).expect("sent");
    eventually("a driving rover", || {
        driver.motors().expect("it answers").iter().all(|v| (v - 0.5).abs() < 0.05).then_some(())
    });
    let (parked, _) = &mut clients[2];
    assert!(parked.motors().expect("it answers").iter().all(|velocity| velocity.abs() < 0.05));
}

#[test]
fn two_clients_share_an_agent() {
    let server = Running::serve(&["--scenario", "small"]);
    let address = server.address("ODCP of Rover");
    let (mut one, mut other) =
        (Client::connect(address).expect("it answers"), Client::connect(address).expect("it answers"));
    one.set_motors(&[(0.3, 1.0), (0.3, 1.0)]).expect("sent");
    let drives = |client: &mut Client| client.motors().expect("it answers").iter().all(|v| (v - 0.3).abs() < 0.05);
    eventually("both see it drive", || (drives(&mut one) && drives(&mut other)).then_some(()));
    one.disconnect().expect("it answers");
    eventually("it drives on", || drives(&mut other).then_some(()));
}

/// A client disturbs a robot that an OSP client controls, and the OSP client takes it back.
#[test]
fn a_client_disturbs_a_robot_that_another_controls() {
    let server = Running::serve(&["--scenario", "small"]);
    let mut disturber = Client::connect(server.address("ODCP of Rover")).expect("it answers");
    let mut controller = osp::Client::connect(server.address("OSP")).expect("it answers");
    let rover = controller.agents().expect("agents")[0].agent;
    assert!(controller.register(rover).expect("an answer"));
    let mut drive = |inputs: &[f32], disturber: &mut Client| {
        for _ in 0..50 {
            controller.step(&[(rover, inputs)]).expect("a step");
        }
        disturber.motors().expect("it answers")
    };
    let is_near = |speeds: &[f64], wanted: f64| speeds.len() == 2 && speeds.iter().all(|v| (v - wanted).abs() < 0.05);
    let driven = drive(&[0.2, 0.2], &mut disturber);
    assert!(is_near(&driven, 0.2), "{driven:?} by the controller");
    disturber.set_motors(&[(-0.5, 1.0), (-0.5, 1.0)]).expect("sent");
    // the answer shows that the setting has arrived
    disturber.motors().expect("it answers");
    let disturbed = drive(&[], &mut disturber);
    assert!(is_near(&disturbed, -0.5), "{disturbed:?} by the other client");
    let driven = drive(&[0.2, 0.2], &mut disturber);
    assert!(is_near(&driven, 0.2), "{driven:?} by the controller again");
}

#[test]
fn an_agent_that_joins_later_is_served_while_it_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = folder.path().join("game.toml");
    let text = "[world]\nfield = \"fifa7vs7\"\n[soccer]\n[odcp.joining]\n\"Left 7\" = 0\n";
    fs::write(&scenario, text).expect("written");
    let server = Running::serve(&["--scenario", scenario.to_str().expect("a path")]);
    let peer = peer_of(server.address("ODCP of Left 7"));
    peer.set_read_timeout(Some(Duration::from_millis(200))).expect("a deadline");
    let motors = || {
        peer.send(GET_MOTORS).expect("sent");
        let mut buffer = [0; 200];
        match peer.recv(&mut buffer) {
            Ok(length) => Some((length - 1) / 4),
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
                None
            }
        }
    };
    assert_eq!(motors(), None, "nobody plays");
    let player = Agent::join(server.address(AGENTS), "T1 Reds 7");
    eventually("its motors", || (motors() == Some(23)).then_some(()));
    drop(player);
    eventually("no answer", || motors().is_none().then_some(()));
    let _player = Agent::join(server.address(AGENTS), "ant Reds 7");
    eventually("the motors of another robot", || (motors() == Some(8)).then_some(()));
}

#[test]
fn invalid_datagrams_do_not_disturb_other_clients() {
    let server = Running::serve(&["--scenario", "small"]);
    let address = server.address("ODCP of Rover");
    let mut witness = Client::connect(address).expect("it answers");
    let mut still_there = |after: &str| {
        let answer = witness.motors();
        assert_eq!(answer.unwrap_or_else(|error| panic!("after {after}: {error}")).len(), 2);
    };
    let hostile = peer_of(address);
    let largest = 65_507;
    for (what, datagram) in [
        ("an empty datagram", vec![]),
        ("an unknown one", vec![99]),
        ("a reply", vec![151, 0, 0, 0, 0]),
        ("half a setting", vec![100, 1, 2, 3]),
        ("the largest one", vec![255; largest]),
        ("the largest setting", [vec![100], vec![255; largest - 1]].concat()),
        ("the largest request", vec![150; largest]),
    ] {
        hostile.send(&datagram).unwrap_or_else(|error| panic!("{what}: {error}"));
        still_there(what);
    }
    assert_eq!(receive(&hostile).len(), 9, "trailing bytes of a request are ignored");
    // two floods of 10,000 datagrams each
    for flood in [GET_MOTORS, &Request::Connect.to_bytes()] {
        let loud = peer_of(address);
        for number in 0..10_000 {
            loud.send(flood).expect("sent");
            if number % 1_000 == 0 {
                still_there("a flood");
            }
        }
    }
    let before = server.tick();
    server.await_tick(before + 5);
    assert!(server.page("/metrics").1.contains("rossum_rate_limited_total{protocol=\"odcp\"}"));
}
