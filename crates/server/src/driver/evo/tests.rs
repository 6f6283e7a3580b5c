use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpStream},
    num::NonZeroU16,
    sync::mpsc::sync_channel,
};

use arena::plan::Directions;
use evolve::robot::World as _;
use wire::evo::{FromRobot, Individual, Line, NetParameters};

use super::*;
use crate::{limits, testing::DEADLINE};

const SQUARE: &str = "1 20 1 4 -30 40 30 40 30 -40 -30 -40";

fn plan(text: &str) -> Arc<Plan> {
    Arc::new(Plan::parse(&format!("title = \"test\"\n{text}")).unwrap())
}

fn world(text: &str) -> StandaloneServer {
    let plan = plan(text);
    let options = WorldOptions { seed: 1, ports: vec![0; plan.ports().len()], lenient: false };
    serve_world(&plan, &options, &ListenOptions::default()).unwrap()
}

fn remote(address: SocketAddr) -> WorldAt {
    WorldAt::Remote(RemoteWorld { address, is_pipelined: true, directions: Directions::default() })
}

fn at(served: &StandaloneServer) -> SocketAddr {
    served.addresses()[0].address
}

/// A client of the line protocol.
struct Peer {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Peer {
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let reader = BufReader::new(stream.try_clone().unwrap());
        Self { stream, reader }
    }

    fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
    }

    /// The next line; empty at the end of the connection.
    fn receive_line(&mut self) -> String {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(_) => {}
            // closed while our data was in flight
            Err(error) if error.kind() == ErrorKind::ConnectionReset => line.clear(),
            Err(error) => panic!("{error}"),
        }
        assert!(!line.contains("nan") && !line.contains("inf"), "{line}");
        assert!(line.is_empty() || line.ends_with("\r\n"), "whole lines only: {line:?}");
        line.trim_end().to_owned()
    }

    fn ask(&mut self, text: &str) -> String {
        self.send(&format!("{text}\r\n"));
        self.receive_line()
    }

    /// Creates a robot with a shape; returns its number.
    fn robot(&mut self) -> u16 {
        let id = self.ask("CreateRobot").strip_prefix("YourIdentifier ").unwrap().parse().unwrap();
        assert!(self.ask(&format!("BodyShape {id} {SQUARE}")).starts_with(&format!("YourPosition {id} ")));
        id
    }
}

#[test]
fn silent_connections_make_room_for_new_ones() {
    let world = world("");
    let mut witness = Peer::connect(at(&world));
    let robot = witness.robot();
    let mut silent: Vec<_> = (0..2 * limits::CONNECTIONS_PER_SOURCE).map(|_| Peer::connect(at(&world))).collect();
    Peer::connect(at(&world)).robot();
    assert!(witness.ask(&format!("JumpTo {robot} 1000 1000 0")).starts_with("YourPosition"));
    assert_eq!(silent[0].receive_line(), "", "the oldest silent one");
}

#[test]
fn unfinished_lines_of_all_connections_are_limited_together() {
    let world = world("");
    let mut witness = Peer::connect(at(&world));
    let robot = witness.robot();
    // each of them is allowed
    let long = "1".repeat(wire::evo::MAX_LINE - 100);
    let count = limits::HELD_BYTES / long.len() + 1;
    let mut hoarders: Vec<_> = (0..count).map(|_| Peer::connect(at(&world))).collect();
    for hoarder in &mut hoarders {
        // may be closed meanwhile
        let _ = hoarder.stream.write_all(long.as_bytes());
        assert!(witness.ask(&format!("JumpTo {robot} 1000 1000 0")).starts_with("YourPosition"));
    }
    let is_closed = |peer: &mut Peer| {
        peer.stream.set_nonblocking(true).unwrap();
        !matches!(peer.stream.read(&mut [0; 8]), Err(error) if error.kind() == ErrorKind::WouldBlock)
    };
    while !hoarders.iter_mut().any(is_closed) {
        assert!(witness.ask(&format!("JumpTo {robot} 1000 1000 0")).starts_with("YourPosition"));
    }
    assert!(hoarders.iter_mut().filter_map(|peer| is_closed(peer).then_some(())).count() < count / 2);
}

#[test]
fn errors_of_one_peer_do_not_affect_others() {
    let world = world("");
    let mut steady = Peer::connect(at(&world));
    let robot = steady.robot();
    let long = "1".repeat(1_000_000);
    for (fault, is_end) in [
        ("MoveTo 1 2\r\n".to_owned(), true),
        (format!("MoveTo {robot} 1 2 3\r\n"), true),
        ("MoveTo 4711 1 2 3\r\n".to_owned(), true),
        ("MoveTo 1 nan 2 3\r\n".to_owned(), true),
        ("MoveTo 1 inf 2 3\r\n".to_owned(), true),
        ("MoveTo 1 0,5 2 3\r\n".to_owned(), true),
        ("MoveTo 1 1e999 2 3\r\n".to_owned(), true),
        (format!("MoveTo 1 {long} 2 3\r\n"), true),
        (format!("BodyShape 1 1 20 1 {long}\r\n"), true),
        (format!("BodyShape 1 1 20 1 60000{}\r\n", " 1".repeat(120_000)), true),
        ("Nonsense\r\n".to_owned(), false),
        (format!("Nonsense{long}\r\n"), false),
        (format!("{}\r\n", "\u{FF}\0\u{1}"), false),
        ("\r\n\r\n".to_owned(), false),
        ("KillRobot 4711\r\n".to_owned(), false),
    ] {
        let mut peer = Peer::connect(at(&world));
        peer.send(&fault);
        let head = fault.get(..40).unwrap_or(&fault);
        if is_end {
            assert_eq!(peer.receive_line(), "", "{head}");
        } else {
            assert!(peer.ask("CreateRobot").starts_with("YourIdentifier "), "{head}");
        }
        // half a line, then disconnects
        let mut peer = Peer::connect(at(&world));
        peer.send("VisualSensor 1 2 ");
        peer.stream.shutdown(Shutdown::Both).unwrap();
        let answer = steady.ask(&format!("JumpTo {robot} 1000 1000 0"));
        assert_eq!(answer, format!("YourPosition {robot} 1000 1000 0 0 0 0 0 0"), "{head}");
    }
    world.stop();
}

#[test]
fn lines_may_arrive_in_any_pieces() {
    let world = world("");
    let mut peer = Peer::connect(at(&world));
    let robot = peer.robot();
    for byte in format!("JumpTo {robot} 1e3 +500. 0\r\n").as_bytes() {
        peer.stream.write_all(&[*byte]).unwrap();
    }
    assert_eq!(peer.receive_line(), format!("YourPosition {robot} 1000 500 0 0 0 0 0 0"));
    // thousands at once; each is answered in order
    let count = 5_000;
    let asked: String = (0..count).map(|step| format!("JumpTo {robot} {} 500 0\n", 500 + step % 1000)).collect();
    let mut sending = peer.stream.try_clone().unwrap();
    let sender = thread::spawn(move || sending.write_all(asked.as_bytes()).unwrap());
    for step in 0..count {
        assert_eq!(peer.receive_line(), format!("YourPosition {robot} {} 500 0 0 0 0 0 0", 500 + step % 1000));
    }
    sender.join().unwrap();
    world.stop();
}

#[test]
fn robots_are_removed_with_their_connection() {
    let world = world("");
    let mut watcher = Peer::connect(at(&world));
    let me = watcher.robot();
    watcher.ask(&format!("JumpTo {me} 200 1000 0"));
    let mut other = Peer::connect(at(&world));
    let it = other.robot();
    other.ask(&format!("JumpTo {it} 1000 1000 0"));
    let look = format!("SonicSensor {me} 300 1000 10 0 0 0 0");
    let distance = |answer: String| answer.rsplit(' ').next().unwrap().parse::<f64>().unwrap();
    assert!(distance(watcher.ask(&look)) < 700.0);
    drop(other);
    // as soon as the world has noticed the disconnection
    let began = crate::driver::now();
    while distance(watcher.ask(&look)) < 700.0 {
        assert!(began.elapsed() < DEADLINE);
    }
    world.stop();
}

#[test]
fn a_peer_that_does_not_read_blocks_no_other() {
    let world = world("");
    let mut deaf = Peer::connect(at(&world));
    deaf.stream.set_nonblocking(true).unwrap();
    let flood = "CreateRobot\r\n".repeat(1_000);
    let mut sent = 0;
    // until the buffers are full
    while let Ok(length) = deaf.stream.write(flood.as_bytes()) {
        sent += length;
        assert!(sent < 1 << 28);
    }
    let mut steady = Peer::connect(at(&world));
    for _ in 0..100 {
        assert!(steady.ask("CreateRobot").starts_with("YourIdentifier "));
    }
    world.stop();
}

#[test]
fn a_port_in_use_is_reported_or_skipped() {
    let first = world("");
    let taken = at(&first).port();
    let options = WorldOptions { ports: vec![taken], ..WorldOptions::default() };
    let error = serve_world(&plan(""), &options, &ListenOptions::default()).unwrap_err().to_string();
    assert!(error.contains("another server"), "{error}");
    let open = ListenOptions { bind: Ipv4Addr::UNSPECIFIED.into(), ..ListenOptions::default() };
    let error = serve_world(&plan(""), &options, &open).unwrap_err().to_string();
    assert!(error.contains("admits other machines"), "{error}");
    let options = WorldOptions { ports: vec![0, 0], ..WorldOptions::default() };
    assert!(serve_world(&plan(""), &options, &ListenOptions::default()).is_err());
    first.stop();
}

#[test]
fn a_robot_simulator_listens_on_the_port_that_the_user_chose() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let options = RobotOptions { port, ..RobotOptions::default() };
    let world_at = WorldAt::InProcess(plan("isolation = \"per-robot\""), 1);
    let robot = serve_robot(&design(), &world_at, &options, &ListenOptions::default()).unwrap();
    assert_eq!(at(&robot).port(), port);
    robot.stop();
}

#[test]
fn an_address_without_a_port_gets_the_default() {
    for (given, expected) in [
        (DEFAULT_HOST, "127.0.0.1:7720"),
        ("lab.example:7721", "lab.example:7721"),
        ("[::1]", "[::1]:7720"),
        ("[::1]:7722", "[::1]:7722"),
    ] {
        assert_eq!(with_port(given, ROBOT_PORTS.0), expected);
    }
    for (given, expected) in
        [("", "127.0.0.1:7770"), (DEFAULT_HOST, "127.0.0.1:7770"), ("127.0.0.1:7771", "127.0.0.1:7771")]
    {
        assert_eq!(find_world(given), Ok(expected.parse().unwrap()));
    }
    assert!(find_world("nowhere.invalid").unwrap_err().contains("`nowhere.invalid`"));
}

#[test]
fn a_server_on_all_addresses_shows_those_of_this_machine() {
    let everybody = vec!["0.0.0.0/0".parse().unwrap()];
    let open = ListenOptions { bind: Ipv4Addr::UNSPECIFIED.into(), allow: everybody, ..ListenOptions::default() };
    let plan = plan("");
    let served = serve_world(&plan, &WorldOptions { ports: vec![0], ..WorldOptions::default() }, &open).unwrap();
    let address = &served.addresses()[0];
    assert!(address.address.ip().is_unspecified() && !address.reachable.is_empty());
    for &reachable in &address.reachable {
        assert!(!reachable.ip().is_unspecified());
        let mut peer = Peer::connect(reachable);
        peer.send("CreateRobot\r\n");
        assert!(peer.receive_line().starts_with("YourIdentifier "), "{reachable}");
    }
    served.stop();
}

/// Short trials keep the tests fast.
fn design() -> Arc<Design> {
    let mut file = evolve::robot::library::body("platine").unwrap();
    (file.trial.steps, file.trial.trials) = (20, 2);
    Arc::new(Design::new(file, None).unwrap())
}

fn robot_simulator(world_at: &WorldAt, concurrent: usize) -> StandaloneServer {
    let options = RobotOptions { port: 0, threads: 0, concurrent };
    serve_robot(&design(), world_at, &options, &ListenOptions::default()).unwrap()
}

/// A manager, and the parameters of the nets it may send.
struct Manager {
    peer: Peer,
    net: NetParameters,
}

impl Manager {
    fn connect(address: SocketAddr) -> Self {
        let mut peer = Peer::connect(address);
        let Ok(FromRobot::NetParameters(net)) = FromRobot::decode(peer.ask("SendNetParameters").as_bytes()) else {
            panic!("other parameters")
        };
        Self { peer, net }
    }

    fn send(&mut self, number: u64) {
        let hidden = self.net.hidden_min;
        let count = self.net.lengths(hidden).unwrap().iter().sum::<usize>();
        let value = |at: usize| ((at as u64 * 7919 + number * 104_729) % 1000) as f64 / 500.0 - 1.0;
        let individual = Individual { generation: 1, number, hidden, values: (0..count).map(value).collect() };
        let mut line = Vec::new();
        individual.encode_line(&mut line).unwrap();
        self.peer.stream.write_all(&line).unwrap();
    }

    /// The fitness of individuals by their numbers, each once.
    fn receive(&mut self, count: usize) -> Vec<(u64, u64)> {
        let mut found = Vec::new();
        for _ in 0..count {
            let line = self.peer.receive_line();
            let Ok(FromRobot::Fitness { number, fitness, .. }) = FromRobot::decode(line.as_bytes()) else {
                panic!("{line}")
            };
            found.push((number, fitness.to_bits()));
        }
        found.sort_unstable();
        found
    }
}

#[test]
fn a_generation_is_evaluated_identically_in_process_and_over_sockets() {
    let rules = "isolation = \"per-robot\"";
    let world = world(rules);
    let results = [WorldAt::InProcess(plan(rules), 1), remote(at(&world))].map(|world_at| {
        let robot = robot_simulator(&world_at, 4);
        let mut manager = Manager::connect(at(&robot));
        assert_eq!(manager.net.concurrent, 4);
        (1..=12).for_each(|number| manager.send(number));
        let results = manager.receive(12);
        robot.stop();
        results
    });
    assert_eq!(results[0], results[1], "bit by bit");
    assert_eq!(results[0].iter().map(|(number, _)| *number).collect::<Vec<_>>(), (1..=12).collect::<Vec<_>>());
    world.stop();
}

#[test]
fn a_manager_that_vanishes_affects_no_other() {
    let robot = robot_simulator(&WorldAt::InProcess(plan("isolation = \"per-robot\""), 1), 4);
    let mut first = Manager::connect(at(&robot));
    let mut second = Manager::connect(at(&robot));
    assert_eq!((first.net.concurrent, second.net.concurrent), (4, 2));
    (1..=50).for_each(|number| first.send(number));
    (1..=10).for_each(|number| second.send(number));
    // in the middle of an individual
    first.peer.send("Individual 1 51 0 0.5 ");
    drop(first);
    assert_eq!(second.receive(10).len(), 10);
    // the same numbers twice: each is answered
    second.send(1);
    second.send(1);
    assert_eq!(second.receive(2).len(), 2);
    let mut bad = Manager::connect(at(&robot));
    bad.peer.send("Individual 1 1 0 1\r\n");
    assert_eq!(bad.peer.receive_line(), "");
    second.peer.send("Hello\r\n\r\n");
    assert!(second.peer.ask("SendNetParameters").starts_with("NetParameters 2 "), "as before");
    robot.stop();
}

#[test]
fn evaluations_survive_a_lost_world() {
    let rules = "isolation = \"per-robot\"";
    let first = world(rules);
    let address = at(&first);
    let robot = robot_simulator(&remote(address), 2);
    let mut manager = Manager::connect(at(&robot));
    (1..=2).for_each(|number| manager.send(number));
    let before = manager.receive(2);
    first.stop();
    (1..=6).for_each(|number| manager.send(number));
    let options = WorldOptions { seed: 1, ports: vec![address.port()], lenient: false };
    // the port may take a moment to be free
    let began = crate::driver::now();
    let second = loop {
        match serve_world(&plan(rules), &options, &ListenOptions::default()) {
            Ok(served) => break served,
            Err(error) => assert!(began.elapsed() < DEADLINE, "{error}"),
        }
    };
    let after = manager.receive(6);
    assert_eq!(after.get(..2), Some(before.as_slice()), "the same again");
    robot.stop();
    second.stop();
}

#[test]
fn a_world_with_invalid_answers_is_abandoned() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let (ended, has_ended) = sync_channel::<()>(1);
    let nonsense = thread::spawn(move || {
        for stream in listener.incoming().take(attempts()) {
            let mut stream = stream.unwrap();
            let mut read = [0; 1];
            stream.read_exact(&mut read).unwrap();
            stream.write_all(b"YourIdentifier nan\r\n").unwrap();
        }
        ended.send(()).unwrap();
    });
    let robot = robot_simulator(&remote(address), 1);
    let mut manager = Manager::connect(at(&robot));
    manager.send(1);
    let worst = design().file().fitness.worst;
    assert_eq!(manager.receive(1), [(1, worst.to_bits())]);
    has_ended.recv_timeout(DEADLINE).unwrap();
    nonsense.join().unwrap();
    robot.stop();
}

fn attempts() -> usize {
    crate::limits::EVO_WORLD_ATTEMPTS as usize
}

#[test]
fn a_link_sends_more_requests_than_any_buffer_holds() {
    let world = world("isolation = \"per-robot\"");
    let mut link = WorldLink::connect(at(&world), true).unwrap();
    let mut answers = Vec::new();
    let robot = |number| arena::RobotId(NonZeroU16::new(number).unwrap());
    let lives = |number| [arena::Request::Create, arena::Request::Kill(robot(number))];
    link.exchange(&(1..=20_000).flat_map(lives).collect::<Vec<_>>(), &mut answers).unwrap();
    assert_eq!(answers.len(), 20_000);
    assert_eq!(answers.last(), Some(&arena::Response::Created(robot(20_000))));
    world.stop();
}

#[test]
fn transcripts_are_reproduced_over_sockets() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../protocols/evo/transcripts");
    let mut played = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let script: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let served = match script["server"].as_str() {
            Some("world") => {
                let plan = Arc::new(Plan::parse(script["plan"].as_str().unwrap()).unwrap());
                let options = WorldOptions { ports: vec![0], ..WorldOptions::default() };
                serve_world(&plan, &options, &ListenOptions::default()).unwrap()
            }
            Some("robot") => {
                let design = Arc::new(Design::built_in(script["body"].as_str().unwrap()).unwrap());
                let options = RobotOptions { port: 0, ..RobotOptions::default() };
                serve_robot(&design, &WorldAt::InProcess(plan(""), 1), &options, &ListenOptions::default()).unwrap()
            }
            other => panic!("{}: {other:?}", path.display()),
        };
        let mut peers = std::collections::BTreeMap::new();
        for step in script["steps"].as_array().unwrap() {
            let from = step["from"].as_str().unwrap_or("a").to_owned();
            let peer = peers.entry(from).or_insert_with(|| Peer::connect(at(&served)));
            let at = format!("{}: {step}", path.display());
            if let Some(text) = step["send"].as_str() {
                peer.send(text);
            } else if let Some(line) = step["expect"].as_str() {
                assert_eq!(peer.receive_line(), line, "{at}");
            } else if let Some(words) = step["expect_like"].as_str() {
                assert!(peer.receive_line().starts_with(&format!("{words} ")), "{at}");
            } else {
                assert_eq!((&step["expect_end"], peer.receive_line().as_str()), (&serde_json::json!(true), ""), "{at}");
            }
        }
        served.stop();
        played += 1;
    }
    assert!(played > 0);
}

#[test]
fn a_flood_with_more_answers_than_the_queue_holds_is_answered_completely() {
    let world = world("isolation = \"per-robot\"");
    let mut peer = Peer::connect(at(&world));
    // one write, then silence: no further byte wakes the world up
    let count = 60_000;
    let mut sending = peer.stream.try_clone().unwrap();
    let flood: String = (1..=count).map(|id| format!("CreateRobot\nKillRobot {id}\n")).collect();
    let sender = thread::spawn(move || sending.write_all(flood.as_bytes()).unwrap());
    for id in 1..=count {
        assert_eq!(peer.receive_line(), format!("YourIdentifier {id}"));
    }
    sender.join().unwrap();
    world.stop();
}

/// `cargo test -p server --release driver::evo::tests::throughput -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
#[expect(clippy::print_stderr, reason = "a measurement")]
fn throughput() {
    let rules = "isolation = \"per-robot\"";
    let world = world(rules);
    for robots in [1, 8, 32, 128] {
        let mut link = WorldLink::connect(at(&world), true).unwrap();
        let mut answers = Vec::new();
        link.exchange(&vec![arena::Request::Create; robots], &mut answers).unwrap();
        let ids: Vec<_> = answers
            .iter()
            .map(|answer| match answer {
                arena::Response::Created(id) => *id,
                other => panic!("{other:?}"),
            })
            .collect();
        let square = vec![[-30.0, 40.0], [30.0, 40.0], [30.0, -40.0], [-30.0, -40.0]];
        let layer = arena::Layer { height: 20.0, polygons: vec![square] };
        let body = Arc::new(arena::Body::new(vec![layer]).unwrap());
        let mut asks: Vec<_> = ids.iter().map(|id| arena::Request::Shape(*id, Arc::clone(&body))).collect();
        link.exchange(&asks, &mut answers).unwrap();
        let (began, mut lines, mut step) = (crate::driver::now(), 0, 0.0);
        while began.elapsed().as_secs_f64() < 2.0 {
            asks.clear();
            step += 0.1;
            for id in &ids {
                for nth in 0..8 {
                    let dir = step + f64::from(nth) / 7.0;
                    let (x, y, z) = (1000.0 + dir.cos() * 300.0, 1000.0 + dir.sin() * 300.0, 25.0);
                    let beam = arena::Beam { x, y, z, dir, tilt: 0.0, angle_h: 0.3, angle_v: 0.2 };
                    asks.push(arena::Request::See(*id, beam));
                }
                let (x, y) = (1000.0 + step.cos() * 301.0, 1000.0 + step.sin() * 301.0);
                asks.push(arena::Request::Move(*id, arena::Pose { x, y, dir: step }));
            }
            answers.clear();
            link.exchange(&asks, &mut answers).unwrap();
            lines += answers.len();
        }
        eprintln!("{robots} robots: {:.0} lines/s each way", lines as f64 / began.elapsed().as_secs_f64());
    }
    world.stop();
    let robot = robot_simulator(&WorldAt::InProcess(plan(rules), 1), 8);
    let mut manager = Manager::connect(at(&robot));
    let (began, count) = (crate::driver::now(), 2_000);
    (1..=count).for_each(|number| manager.send(number));
    manager.receive(count as usize);
    eprintln!("{:.0} individuals of 2 x 20 steps a second", count as f64 / began.elapsed().as_secs_f64());
    robot.stop();
}
