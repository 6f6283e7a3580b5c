//! The evolving robots over sockets: World Simulator and Robot Simulator, with plain sockets that know nothing but the
//! document.

mod evolving;
mod running;

use std::{io::Write, net::TcpStream, path::Path, process::Command};

use evolving::{Plain, robot, world};
use running::Running;

/// The rectangle of the document, 3.2.
const RECTANGLE: &str = "1 20 1 4 -30 40 30 40 30 -40 -30 -40";

#[test]
fn a_world_answers_as_the_document_says() {
    let server = world("empty");
    let mut client = Plain::connect(server.address("World Simulator"));
    assert_eq!(client.ask("CreateRobot"), "YourIdentifier 1");
    let placed = client.numbers(&format!("BodyShape 1 {RECTANGLE}"), "YourPosition");
    assert_eq!(placed.len(), 9);
    assert!(placed[0] == 1.0 && (0.0..2000.0).contains(&placed[1]) && (0.0..2000.0).contains(&placed[2]));
    assert_eq!(&placed[5..], [0.0, 0.0, 0.0, 0.0], "no tilt, no stress, no death");
    // towards +x; the wall is at 2000, the front 40 mm ahead
    assert_eq!(client.ask("JumpTo 1 1000 1000 0"), "YourPosition 1 1000 1000 0 0 0 0 0 0");
    assert_eq!(client.ask("MoveTo 1 1100 1000 0"), "YourPosition 1 1100 1000 0 0 0 0 0 0");
    let moved = client.numbers("MoveTo 1 2820 1000 0", "YourPosition");
    assert!((moved[1] - 1960.0).abs() < 0.1 && (moved[7] - 0.5).abs() < 1e-3, "half of the way: {moved:?}");
    // too near to the wall: the old place, and full stress
    let refused = client.numbers("JumpTo 1 1990 1000 0", "YourPosition");
    assert_eq!((refused[1], refused[7]), (moved[1], 1.0));
    client.ask("JumpTo 1 1000 1000 0");
    let seen = client.numbers("VisualSensor 1 1050 1000 10 0 0 0.2 0.2", "VisualSensorReading");
    assert!(seen.len() == 5 && (seen[1] - 950.0).abs() < 1e-6, "{seen:?}");
    let heard = client.numbers("SonicSensor 1 1050 1000 10 0 0 0 0", "SonicSensorReading");
    assert!(heard.len() == 2 && (heard[1] - 950.0).abs() < 1e-6, "{heard:?}");
    // the end of a robot has no answer
    client.say("KillRobot 1");
    assert_eq!(client.ask("CreateRobot"), "YourIdentifier 2");
}

#[test]
fn lines_may_come_in_any_pieces() {
    let server = world("empty");
    let mut client = Plain::connect(server.address("World Simulator"));
    let whole =
        format!("CreateRobot\r\nBodyShape 1 {RECTANGLE}\nJumpTo  1\t+1000 1.0E3 0. \r\nMoveTo 1 1010 1000 -0\r\n");
    for byte in whole.bytes() {
        client.send(&[byte]);
    }
    let bytewise: Vec<String> = (0..4).map(|_| client.hear()).collect();
    client.say("KillRobot 1");
    let mut other = Plain::connect(server.address("World Simulator"));
    other.send(b"CreateRobot\nCreateRobot\r\n");
    assert_eq!([other.hear(), other.hear()], ["YourIdentifier 2", "YourIdentifier 3"]);
    assert_eq!(bytewise[0], "YourIdentifier 1");
    assert_eq!(bytewise[2], "YourPosition 1 1000 1000 0 0 0 0 0 0");
    assert!(bytewise[3].starts_with("YourPosition 1 1010 1000 0 "), "{}", bytewise[3]);
}

#[test]
fn bad_lines_cost_their_sender_alone() {
    let server = world("empty");
    let address = server.address("World Simulator");
    let mut witness = Plain::connect(address);
    let own = witness.create();
    witness.ask(&format!("BodyShape {own} {RECTANGLE}"));
    let closing = [
        "JumpTo ID nan 1000 0",
        "JumpTo ID inf 1000 0",
        "JumpTo ID 1e999 1000 0",
        "JumpTo ID 10,5 1000 0",
        "JumpTo ID 0x10 1000 0",
        "JumpTo ID 1000 1000",
        "JumpTo ID 1000 1000 0 0",
        "JumpTo ID 1000 1000 ",
        "JumpTo 1.5 1000 1000 0",
        "JumpTo 60000 1000 1000 0",
        "JumpTo 70000 1000 1000 0",
        "JumpTo 0 1000 1000 0",
        "JumpTo -1 1000 1000 0",
        "CreateRobot 1",
        "BodyShape ID 0",
        "BodyShape ID 1 20 1 2 0 0 1 1",
        "BodyShape ID 1 20 1 4000000000 0 0 1 1",
        "BodyShape ID 1 -20 1 4 -30 40 30 40 30 -40 -30 -40",
        "VisualSensor ID 0 0 0 0 0 9 0",
        "KillRobot",
    ];
    for line in closing {
        let mut client = Plain::connect(address);
        let robot = client.create();
        client.ask(&format!("BodyShape {robot} {RECTANGLE}"));
        client.say(&line.replace("ID", &robot.to_string()));
        assert!(client.closes(), "{line}");
        assert!(witness.ask(&format!("MoveTo {own} 1000 1000 0")).starts_with("YourPosition"), "{line}");
    }
    // somebody else's robot, and one that has ended
    for foreign in [own, own + 1] {
        let mut client = Plain::connect(address);
        client.create();
        client.say(&format!("JumpTo {foreign} 1000 1000 0"));
        assert!(client.closes());
    }
    // without a shape there is no place
    let mut client = Plain::connect(address);
    let robot = client.create();
    client.say(&format!("MoveTo {robot} 1000 1000 0"));
    assert!(client.closes());
    // what nobody knows has no answer, and costs nothing
    let mut client = Plain::connect(address);
    client.say("Hello there 1 2 3");
    client.say("createrobot");
    client.say("YourIdentifier 1");
    client.say("KillRobot 65000");
    client.create();
}

#[test]
fn long_lines_and_sudden_ends_harm_nobody() {
    let server = world("empty");
    let address = server.address("World Simulator");
    let mut witness = Plain::connect(address);
    // a line of 1 MB that is no message, and one that is: numbers may be as long as they like to be
    let mut client = Plain::connect(address);
    client.send(&[b'x'; 1 << 20]);
    client.say("");
    let robot = client.create();
    client.ask(&format!("BodyShape {robot} {RECTANGLE}"));
    let long = format!("JumpTo {robot} 1000.{} 1000 0", "0".repeat(1 << 20));
    assert!(client.ask(&long).starts_with(&format!("YourPosition {robot} 1000 1000 ")));
    // in the middle of a line
    let mut leaver = Plain::connect(address);
    leaver.create();
    leaver.send(b"MoveTo 1 10");
    drop(leaver);
    witness.create();
    // more than the longest line there may be
    let mut flood = TcpStream::connect(address).expect("it listens");
    let chunk = vec![b'1'; 1 << 20];
    let sent = (0..40).take_while(|_| flood.write_all(&chunk).is_ok()).count();
    assert!(sent < 40, "a line without an end is not read for ever");
    witness.create();
}

#[test]
fn a_body_may_have_thousands_of_points() {
    use std::f64::consts::TAU;
    let server = world("empty");
    let mut client = Plain::connect(server.address("World Simulator"));
    let robot = client.create();
    // a gear with 500 teeth, 60 mm in radius
    let point = |at: usize| {
        let (radius, angle) = (if (at / 8).is_multiple_of(2) { 60.0 } else { 58.0 }, at as f64 * TAU / 8000.0);
        format!(" {} {}", radius * angle.cos(), radius * angle.sin())
    };
    let outline: String = (0..8000).map(point).collect();
    let placed = client.numbers(&format!("BodyShape {robot} 1 20 1 8000{outline}"), "YourPosition");
    assert_eq!(placed[7], 0.0, "{placed:?}");
    client.ask(&format!("JumpTo {robot} 1000 1000 0"));
    let moved = client.numbers(&format!("MoveTo {robot} 2880 1000 0"), "YourPosition");
    assert!((moved[1] - 1940.0).abs() < 0.1 && (moved[7] - 0.5).abs() < 1e-3, "its teeth touch the wall: {moved:?}");
}

#[test]
fn there_is_an_end_to_robots_and_not_to_the_world() {
    let server = world("empty");
    let address = server.address("World Simulator");
    let mut witness = Plain::connect(address);
    assert_eq!(witness.create(), 1);
    let mut greedy = Plain::connect(address);
    greedy.send("CreateRobot\r\n".repeat(2_000).as_bytes());
    for expected in 2..=2_001 {
        assert_eq!(greedy.hear(), format!("YourIdentifier {expected}"));
    }
    // others can still create theirs while it has all of these, and after it is closed
    greedy.say("CreateRobot");
    assert_eq!(witness.create(), 2_002);
    assert!(greedy.closes(), "a client that waits for an answer notices");
    assert_eq!(witness.create(), 2_003);
    server.signal("TERM");
    let log = server.end().stderr;
    assert!(log.contains("a connection may have at most 2000 robots"), "{log}");
}

#[test]
fn robots_of_two_kinds_meet_in_one_world() {
    let server = world("coevolution");
    let [mut prey, mut predator] =
        ["prey", "predator"].map(|kind| Plain::connect(server.address(&format!("World Simulator for {kind}"))));
    let (hunted, hunter) = (prey.create(), predator.create());
    assert_ne!(hunted, hunter, "no two robots of a world have the same number");
    for (client, id, start) in [(&mut prey, hunted, 60.0..440.0), (&mut predator, hunter, 1560.0..1940.0)] {
        let placed = client.numbers(&format!("BodyShape {id} {RECTANGLE}"), "YourPosition");
        assert!(start.contains(&placed[1]), "each kind has its own start: {placed:?}");
    }
    // nose to nose, 120 mm apart
    prey.ask(&format!("JumpTo {hunted} 200 200 0"));
    predator.ask(&format!("JumpTo {hunter} 400 200 3.141592653589793"));
    let seen = prey.numbers(&format!("VisualSensor {hunted} 245 200 10 0 0 0.1 0.1"), "VisualSensorReading");
    assert!((seen[1] - 115.0).abs() < 0.1, "{seen:?}");
    assert_eq!(&seen[2..], [192.0, 57.0, 43.0], "the colour of its kind");
    let moved = predator.numbers(&format!("MoveTo {hunter} 160 200 3.141592653589793"), "YourPosition");
    assert!((moved[1] - 280.0).abs() < 0.1 && (moved[7] - 0.5).abs() < 1e-3, "it bumps into the other: {moved:?}");
    // who leaves is no obstacle any more
    drop(prey);
    running::eventually("an empty way", || {
        predator.ask(&format!("JumpTo {hunter} 400 200 3.141592653589793"));
        let moved = predator.numbers(&format!("MoveTo {hunter} 160 200 3.141592653589793"), "YourPosition");
        (moved[7] == 0.0).then_some(())
    });
}

/// Weights that do nothing: the robot stands.
fn zeros(parameters: &[f64], hidden: usize) -> String {
    let [cgp, cin, vin, con, von, vhn, vw] = [1, 4, 5, 8, 9, 14, 17].map(|at| parameters[at] as usize);
    let count = cgp + cin * vin + con * von + hidden * vhn + (cin + hidden + con) * (hidden + con) * vw;
    " 0".repeat(count)
}

#[test]
fn a_robot_simulator_answers_as_the_document_says() {
    // a fitness that differs between robots that do nearly the same
    let server = robot(&["platine", "--in-process", "empty", "--fitness", "avoidance"]);
    let mut manager = Plain::connect(server.address("Robot Simulator"));
    let parameters = manager.numbers("SendNetParameters", "NetParameters");
    assert_eq!(parameters.len(), 22);
    let [least, most] = [12, 13].map(|at| parameters[at] as usize);
    assert!(least <= most && parameters[0] >= 2.0, "{parameters:?}");
    // as many as it takes at once, and answered in any order
    let genes = zeros(&parameters, least);
    manager.say(&format!("Individual 1 1 {least}{genes}"));
    manager.say(&format!("Individual 1 2 {least}{genes}"));
    let mut answers = [manager.hear(), manager.hear()];
    answers.sort();
    let fitness = answers[0].strip_prefix("Fitness 1 1 ").unwrap_or_else(|| panic!("{answers:?}")).to_owned();
    // the same genes, the same fitness; the parameters do not change
    assert_eq!(answers[1], format!("Fitness 1 2 {fitness}"));
    assert_eq!(manager.numbers("SendNetParameters", "NetParameters"), parameters);
    // the same numbers again and again: answered in the order in which they were sent
    let others: Vec<String> = (1..=6).map(|n| genes.replacen(" 0", &format!(" {n}"), 12)).collect();
    let mut of = |numbers: &str, genes: &str| manager.ask(&format!("Individual {numbers} {least}{genes}"));
    let alone: Vec<String> = others.iter().map(|genes| of("2 7", genes)).collect();
    for genes in &others {
        manager.say(&format!("Individual 2 7 {least}{genes}"));
    }
    let together: Vec<String> = others.iter().map(|_| manager.hear()).collect();
    assert_eq!(together, alone);
    assert!(alone.windows(2).any(|two| two[0] != two[1]), "they are different: {alone:?}");
    // genes beyond their limits count as at them
    let beyond = genes.replace(" 0", " 1e9");
    let limited = genes.replace(" 0", &format!(" {}", parameters[19]));
    let of = |manager: &mut Plain, genes: &str| manager.ask(&format!("Individual 3 1 {least}{genes}"));
    assert_eq!(of(&mut manager, &beyond), of(&mut manager, &limited));
}

#[test]
fn bad_individuals_cost_their_manager_alone() {
    let server = robot(&["platine", "--in-process", "empty"]);
    let address = server.address("Robot Simulator");
    let mut witness = Plain::connect(address);
    let parameters = witness.numbers("SendNetParameters", "NetParameters");
    let least = parameters[12] as usize;
    let genes = zeros(&parameters, least);
    for line in [
        format!("Individual 1 1 {least}{genes} 0"),
        format!("Individual 1 1 {least}{}", &genes[2..]),
        format!("Individual 1 1 {}{genes}", parameters[13] + 1.0),
        format!("Individual 1 1 1e300{genes}"),
        format!("Individual 1 1 {least}{} nan", &genes[2..]),
        "Individual 1".to_owned(),
        "SendNetParameters 1".to_owned(),
    ] {
        let mut client = Plain::connect(address);
        client.say(&line);
        assert!(client.closes(), "{line}");
    }
    // gone with work under way
    let mut leaver = Plain::connect(address);
    for number in 0..20 {
        leaver.say(&format!("Individual 1 {number} {least}{genes}"));
    }
    leaver.send(b"Individual 1 99");
    drop(leaver);
    assert!(witness.ask(&format!("Individual 1 1 {least}{genes}")).starts_with("Fitness 1 1 "));
}

#[test]
fn the_examples_work() {
    let example = |name: &str, arguments: &[&str]| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/evo").join(name);
        let output = Command::new("python3").arg(file).args(arguments).output().expect("Python is there");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        text
    };
    let world = world("obstacles");
    let text = example("robot.py", &["--world", &world.address("World Simulator").to_string(), "--steps", "300"]);
    let driven =
        text.lines().last().and_then(|line| line.strip_prefix("driven ")?.split(' ').next()?.parse::<f64>().ok());
    assert!(driven.is_some_and(|metres| metres > 0.5), "{text}");
    let simulator = robot(&["platine", "--in-process", "obstacles"]);
    let address = simulator.address("Robot Simulator").to_string();
    let text = example("manager.py", &["--simulator", &address, "--generations", "3", "--population", "8"]);
    assert_eq!(text.lines().count(), 3, "{text}");
}

#[test]
fn the_playground_has_evolving_robots_too() {
    let server = Running::serve(&[]);
    let mut world = Plain::connect(server.address("World Simulator"));
    assert_eq!(world.ask("CreateRobot"), "YourIdentifier 1");
    let mut simulator = Plain::connect(server.address("Robot Simulator"));
    assert_eq!(simulator.numbers("SendNetParameters", "NetParameters").len(), 22);
}
