use super::*;
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    num::NonZeroU16,
    thread,
};
use wire::evo::{
    Beam, FromRobot, FromWorld, Individual, Layer, Line, NetParameters, Pose, Position, ToRobot, ToWorld, VisualReading,
};

fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

fn decoded<M: Line>(line: &str) -> M {
    M::decode(line.trim_end().as_bytes()).unwrap()
}

/// Answers every request with numbers made from it, each byte of the answers on its own if so wished.
fn fake_world(stream: TcpStream, in_bytes: bool) {
    stream.set_nodelay(true).unwrap();
    let mut created = 0;
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut stream, mut line) = (stream, String::new());
    while reader.read_line(&mut line).unwrap_or(0) > 0 {
        let position = |pose: Pose| Position {
            x: pose.x,
            y: pose.y,
            z: 0.1,
            dir: pose.dir,
            tilt_straight: 0.0,
            tilt_across: -0.0,
            stress: 0.5,
            death: true,
        };
        let answer = match decoded(&line) {
            ToWorld::CreateRobot => {
                created += 1;
                Some(FromWorld::YourIdentifier(NonZeroU16::new(created).unwrap()))
            }
            ToWorld::KillRobot(_) => None,
            ToWorld::BodyShape(id, layers) => {
                let pose = Pose { x: layers[0].height, y: 0.0, dir: 0.0 };
                Some(FromWorld::YourPosition(id, position(pose)))
            }
            ToWorld::JumpTo(id, pose) | ToWorld::MoveTo(id, pose) => Some(FromWorld::YourPosition(id, position(pose))),
            ToWorld::VisualSensor(id, beam) => {
                Some(FromWorld::VisualSensorReading(id, VisualReading { distance: beam.x, color: [1, 2, 3] }))
            }
            ToWorld::SonicSensor(id, beam) => Some(FromWorld::SonicSensorReading(id, beam.x)),
        };
        let bytes = answer.map(|answer| answer.to_line().unwrap()).unwrap_or_default();
        let piece = if in_bytes { 1 } else { bytes.len().max(1) };
        for piece in bytes.chunks(piece) {
            stream.write_all(piece).unwrap();
        }
        line.clear();
    }
}

fn beam(x: f64) -> Beam {
    Beam { x, y: 0.0, z: 0.0, dir: 0.0, tilt: 0.0, angle_h: 0.1, angle_v: 0.1 }
}

#[test]
fn a_world_is_asked_one_by_one_and_all_at_once() {
    let (listener, address) = listen();
    let server = thread::spawn(move || {
        fake_world(listener.accept().unwrap().0, true);
        fake_world(listener.accept().unwrap().0, false);
    });
    let mut world = World::connect(address).unwrap();
    let robot = world.create().unwrap();
    let layer = Layer { height: 20.0, polygons: vec![vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]] };
    assert_eq!(world.shape(robot, vec![layer]).unwrap().x, 20.0);
    assert_eq!(world.jump(robot, Pose { x: 0.1 + 0.2, y: 1.0, dir: 1e-300 }).unwrap().dir, 1e-300);
    assert_eq!(world.move_to(robot, Pose { x: 0.1 + 0.2, y: 1.0, dir: 2.0 }).unwrap().x, 0.1 + 0.2);
    assert_eq!(world.see(robot, beam(7.5)).unwrap(), VisualReading { distance: 7.5, color: [1, 2, 3] });
    assert_eq!(world.hear(robot, beam(8.5)).unwrap(), 8.5);
    world.kill(robot).unwrap();
    let refused = world.move_to(robot, Pose { x: f64::NAN, y: 0.0, dir: 0.0 });
    assert!(matches!(refused, Err(ClientError::NotFinite(_))), "{refused:?}");
    assert_eq!(world.create().unwrap().get(), 2, "nothing was sent");
    drop(world);

    // far more than any buffer has room for
    let mut world = World::connect(address).unwrap();
    let robot = world.create().unwrap();
    let asked: Vec<ToWorld> = (0..50_000)
        .map(|at| match at % 10 {
            0 => ToWorld::KillRobot(robot),
            1 => ToWorld::MoveTo(robot, Pose { x: f64::from(at) / 7.0, y: 0.0, dir: 0.0 }),
            _ => ToWorld::VisualSensor(robot, beam(f64::from(at) / 7.0)),
        })
        .collect();
    let mut answers = Vec::new();
    world.exchange(&asked, &mut answers).unwrap();
    let expected = (0..50_000).filter(|at| at % 10 != 0).map(|at| f64::from(at) / 7.0);
    let found = answers.iter().map(|answer| match answer {
        FromWorld::YourPosition(_, position) => position.x,
        FromWorld::VisualSensorReading(_, sight) => sight.distance,
        other => panic!("{other:?}"),
    });
    assert!(found.eq(expected));
    drop(world);
    server.join().unwrap();
}

#[test]
fn another_answer_is_refused() {
    let (listener, address) = listen();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"SomethingNew 1\r\nSonicSensorReading 2 5\r\n").unwrap();
        let (stream, _) = listener.accept().unwrap();
        drop(stream);
    });
    let mut world = World::connect(address).unwrap();
    let answer = world.hear(NonZeroU16::MIN, beam(1.0));
    assert!(matches!(answer, Err(ClientError::UnexpectedAnswer { asked: "SonicSensor" })), "{answer:?}");
    let closed = World::connect(address).unwrap().create();
    assert!(matches!(closed, Err(ClientError::Closed | ClientError::Io(_))), "{closed:?}");
}

fn net(concurrent: usize, outputs: usize) -> NetParameters {
    NetParameters { concurrent, inputs: 2, outputs, ..NetParameters::default() }
}

/// A simulator that answers in pairs, the later one first, and ends each connection after so many individuals.
fn fake_simulator(net: NetParameters, lives: usize) -> SocketAddr {
    let (listener, address) = listen();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut stream, mut line, mut held, mut tested) = (stream, String::new(), Vec::new(), 0);
            while tested < lives && reader.read_line(&mut line).unwrap_or(0) > 0 {
                match decoded(&line) {
                    ToRobot::SendNetParameters => {
                        stream.write_all(&FromRobot::NetParameters(net.clone()).to_line().unwrap()).unwrap();
                    }
                    ToRobot::Individual(individual) => held.push(individual),
                }
                line.clear();
                if held.len() == net.concurrent.min(2) {
                    for Individual { generation, number, values, .. } in held.drain(..).rev() {
                        tested += 1;
                        let fitness = FromRobot::Fitness { generation, number, fitness: values[0] };
                        // a manager that is gone does not matter
                        let _ = stream.write_all(&fitness.to_line().unwrap());
                    }
                }
            }
        }
    });
    address
}

fn individuals(count: u64) -> Vec<Individual> {
    let individual = |number: u64| Individual { generation: 1, number, hidden: 0, values: vec![number as f64 / 3.0] };
    (1..=count).map(individual).collect()
}

#[test]
fn a_generation_survives_simulators_that_die() {
    let addresses = [
        fake_simulator(net(1, 2), usize::MAX),
        // dies again and again, with individuals in hand
        fake_simulator(net(4, 2), 3),
        fake_simulator(net(1, 3), usize::MAX),
    ]
    .map(|address| address.to_string());
    let options = FleetOptions { pause: Duration::from_millis(1), attempts: 1000, ..FleetOptions::default() };
    let mut fleet = Fleet::new(&addresses, options).unwrap();
    assert_eq!(fleet.net_parameters().unwrap().inputs, 2);
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    let mut differs = 0;
    let results = fleet.evaluate(individuals(300), |event| {
        let kind = match event {
            Event::Fitness { .. } => "fitness",
            Event::Lost { .. } => "lost",
            _ => "other",
        };
        *counts.entry(kind).or_default() += 1;
        differs += u32::from(matches!(event, Event::Unusable { simulator: 0..=2, .. }));
    });
    let results = results.unwrap();
    // whoever of the two kinds of net was first is the one that counts
    assert_eq!(results.len(), 300);
    for (number, result) in (1_u64..).zip(results) {
        assert_eq!(result, Ok(number as f64 / 3.0));
    }
    assert_eq!(counts.get("fitness"), Some(&300), "each once: {counts:?}");
    while differs == 0 {
        let event = fleet.next_within(TIMEOUT).unwrap().expect("one of them has other nets");
        differs += u32::from(matches!(event, Event::Unusable { .. }));
    }
    assert_eq!(fleet.unfinished(), 0);
    let odd = Individual { values: vec![f64::NAN], ..Individual::default() };
    assert!(fleet.submit(odd).is_err());
}

#[test]
fn what_ends_every_simulator_is_given_up() {
    let address = fake_simulator(net(4, 2), 2).to_string();
    let silence = Duration::from_millis(200);
    let options = FleetOptions { pause: Duration::from_millis(1), attempts: 2, silence, ..FleetOptions::default() };
    let mut fleet = Fleet::new(&[address], options).unwrap();
    // alone: its pair never comes, and the simulator says nothing
    let results = fleet.evaluate(individuals(1), |_| {}).unwrap();
    assert_eq!(results, [Err(Failure { generation: 1, number: 1, attempts: 2 })]);
}

#[test]
fn nobody_is_waited_for_so_long() {
    let (listener, address) = listen();
    drop(listener);
    let timeout = Duration::from_millis(50);
    let options = FleetOptions { give_up: Some(timeout), ..FleetOptions::default() };
    let mut fleet = Fleet::new(&[address.to_string()], options).unwrap();
    let error = fleet.net_parameters().unwrap_err();
    assert!(matches!(error, FleetError::NoSimulator { .. }), "{error}");
    assert!(matches!(Fleet::new::<&str>(&[], FleetOptions::default()), Err(FleetError::Empty)));
    assert!(matches!(Fleet::new(&["nonsense"], FleetOptions::default()), Err(FleetError::Address { .. })));
}

#[test]
fn one_simulator_by_hand() {
    let mut simulator = Simulator::connect(fake_simulator(net(2, 2), usize::MAX)).unwrap();
    assert_eq!(simulator.net_parameters().unwrap(), net(2, 2));
    let sent = individuals(3);
    simulator.send(&sent).unwrap();
    assert_eq!(simulator.net_parameters().unwrap(), net(2, 2), "at any time");
    let numbers: Vec<u64> = (0..2).map(|_| simulator.receive(TIMEOUT).unwrap().unwrap().number).collect();
    assert_eq!(numbers, [2, 1]);
    assert_eq!(simulator.receive(Duration::from_millis(1)).unwrap(), None);
}
