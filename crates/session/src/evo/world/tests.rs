use std::sync::Arc;

use arena::Plan;

use super::*;

const SQUARE: &str = "1 20 1 4 -30 40 30 40 30 -40 -30 -40";

fn world(text: &str, is_lenient: bool) -> WorldSimulator {
    WorldSimulator::new(Arena::new(Arc::new(Plan::parse(text).unwrap()), 1), is_lenient)
}

/// A client with its own line buffer.
struct Client {
    connection: u64,
    lines: LineBuffer,
}

impl Client {
    fn join(world: &mut WorldSimulator, connection: u64) -> Self {
        world.open(connection, 0);
        Self { connection, lines: LineBuffer::default() }
    }

    fn send(&mut self, world: &mut WorldSimulator, text: &str) -> Turn {
        self.send_at(world, text, Duration::ZERO)
    }

    fn send_at(&mut self, world: &mut WorldSimulator, text: &str, now: Duration) -> Turn {
        self.lines.push(text.as_bytes());
        world.receive(self.connection, &mut self.lines, || now)
    }

    fn receive(&mut self, world: &mut WorldSimulator) -> String {
        let out = world.output(self.connection).map(std::mem::take).unwrap_or_default();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.contains("nan") && !text.contains("inf"), "{text}");
        text
    }
}

/// The names of the messages in some lines, with the robot's number.
fn heads(text: &str) -> Vec<String> {
    let head = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    text.lines().map(head).collect()
}

#[test]
fn a_robot_is_created_used_and_killed() {
    let mut world = world("title = \"t\"", false);
    let mut client = Client::join(&mut world, 1);
    let turn = client.send(&mut world, "CreateRobot\r\n");
    assert_eq!(turn, Turn { lines: 1, ..Turn::default() });
    assert_eq!(client.receive(&mut world), "YourIdentifier 1\r\n");
    // several at once are answered in order; a line may end without a carriage return and arrive in pieces
    let text =
        format!("BodyShape 1 {SQUARE}\r\nJumpTo 1 1000 500 0\nMoveTo 1 1010 500 0\r\nVisualSensor 1 1010 500 10 0 ");
    assert_eq!(client.send(&mut world, &text).close, None);
    let heard = client.receive(&mut world);
    assert_eq!(heads(&heard), ["YourPosition 1"; 3]);
    let positions: Vec<&str> = heard.lines().skip(1).collect();
    assert_eq!(positions, ["YourPosition 1 1000 500 0 0 0 0 0 0", "YourPosition 1 1010 500 0 0 0 0 0 0"]);
    client.send(&mut world, "0 0.1 0.1\r\nSonicSensor 1 1010 500 10 0 0 0.1 0.1\r\nKillRobot 1\r\nCreateRobot\r\n");
    assert_eq!(
        heads(&client.receive(&mut world)),
        ["VisualSensorReading 1", "SonicSensorReading 1", "YourIdentifier 2"]
    );
    // killing a robot twice, or an unknown one, has no effect
    assert_eq!(client.send(&mut world, "KillRobot 1\r\nKillRobot 999\r\nCreateRobot\r\n").close, None);
    assert_eq!(client.receive(&mut world), "YourIdentifier 3\r\n");
    assert_eq!(world.arena().len(), 2);
    world.close(1, Duration::ZERO);
    assert_eq!(world.arena().len(), 0);
}

#[test]
fn an_invalid_request_closes_only_its_connection() {
    let mut world = world("title = \"t\"", false);
    let mut other = Client::join(&mut world, 1);
    other.send(&mut world, &format!("CreateRobot\r\nBodyShape 1 {SQUARE}\r\nCreateRobot\r\n"));
    other.receive(&mut world);
    for (connection, (line, reason)) in (2..).zip([
        ("MoveTo 1 2 3", "unexpected end of `MoveTo` before Dir"),
        ("MoveTo 1 2 3 nan", "Dir is not a number: `nan`"),
        ("MoveTo 1 2 3 0,5", "Dir has a decimal comma: `0,5`; use a point"),
        ("KillRobot 0", "ID is 0, outside 1..=65535"),
        ("MoveTo 77 1 2 3", "unknown robot 77"),
        ("MoveTo 1 1 2 3", "robot 1 belongs to another connection"),
        ("KillRobot 1", "robot 1 belongs to another connection"),
        ("BodyShape 1 0", "the shape of robot 1: a body needs at least one layer"),
    ]) {
        let mut client = Client::join(&mut world, connection);
        let turn = client.send(&mut world, &format!("{line}\r\nCreateRobot\r\n"));
        assert_eq!(turn.close.as_deref(), Some(reason), "{line}");
        assert_eq!(client.receive(&mut world), "", "{line}");
        world.close(connection, Duration::ZERO);
    }
    let turn = other.send(&mut world, "MoveTo 2 1 2 3\r\n");
    assert_eq!(turn.close.as_deref(), Some("robot 2 has no shape yet"));
    // unknown and blank lines are skipped
    let turn = other.send(&mut world, "\r\nHello 1 2\r\nYourPosition 1\r\nVisualSensor 1 0 0 0 0 0 0 0\r\n");
    assert_eq!((turn.refusals.len(), turn.close), (2, None));
    assert_eq!(heads(&other.receive(&mut world)), ["VisualSensorReading 1"]);
}

#[test]
fn a_lenient_world_answers_everything() {
    let mut world = world("title = \"t\"", true);
    let mut client = Client::join(&mut world, 1);
    let turn = client.send(
        &mut world,
        "MoveTo 9 1 2 3\r\nVisualSensor 9 0 0 0 0 0 0 0\r\nSonicSensor 9 0 0 0 0 0 0 0\r\nBodyShape 9 0\r\nKillRobot 9\r\n",
    );
    assert_eq!((turn.refusals.len(), turn.close), (4, None));
    let dead = "YourPosition 9 0 0 0 0 0 0 1 1";
    let expected = format!("{dead}\r\nVisualSensorReading 9 5000 0 0 0\r\nSonicSensorReading 9 5000\r\n{dead}\r\n");
    assert_eq!(client.receive(&mut world), expected);
    // no substitute reply is possible
    assert!(client.send(&mut world, "MoveTo x\r\n").close.is_some());
}

#[test]
fn a_flood_is_handled_in_turns_with_bounded_output() {
    let mut world = world("title = \"t\"", false);
    let mut client = Client::join(&mut world, 1);
    client.send(&mut world, &format!("CreateRobot\r\nBodyShape 1 {SQUARE}\r\n"));
    let mut turn = client.send(&mut world, &"SonicSensor 1 0 0 0 0 0 0 0\r\n".repeat(20_000));
    assert!(turn.backlog == Backlog::TurnOver);
    assert_eq!(turn.lines, limits::EVO_LINES_PER_TURN);
    while turn.backlog == Backlog::TurnOver {
        turn = client.send(&mut world, "");
    }
    // the peer does not read: no more lines are handled
    assert!(turn.backlog == Backlog::OutputFull);
    let waiting = world.output(1).unwrap().len();
    assert!((limits::EVO_OUTPUT..limits::EVO_OUTPUT + 1000).contains(&waiting), "{waiting}");
    assert_eq!(client.send(&mut world, "").lines, 0);
    client.receive(&mut world);
    assert!(client.send(&mut world, "").lines > 0);
}

#[test]
fn silent_robots_are_removed() {
    let mut world = world("title = \"t\"\nidle_timeout = 10.0", false);
    let mut client = Client::join(&mut world, 1);
    client.send(&mut world, "CreateRobot\r\nCreateRobot\r\n");
    client.send_at(&mut world, &format!("BodyShape 2 {SQUARE}\r\n"), Duration::from_secs(8));
    let silent: Vec<u16> = world.tick(Duration::from_secs(11)).iter().map(|robot| robot.0.get()).collect();
    assert_eq!(silent, [1]);
    assert_eq!(world.arena().len(), 1);
}

#[test]
fn in_lockstep_moves_wait_for_each_other() {
    let mut world = world("title = \"t\"\nlockstep = { timeout = 1.0 }", false);
    let mut first = Client::join(&mut world, 1);
    let mut second = Client::join(&mut world, 2);
    for client in [&mut first, &mut second] {
        let id = client.connection;
        client.send(&mut world, &format!("CreateRobot\r\nBodyShape {id} {SQUARE}\r\nJumpTo {id} {id}00 500 0\r\n"));
        client.receive(&mut world);
    }
    // requests after a pending move are answered after it
    first.send(&mut world, "MoveTo 1 110 500 0\r\nCreateRobot\r\nVisualSensor 1 0 0 0 0 0 0 0\r\n");
    assert_eq!(first.receive(&mut world), "");
    assert!(first.send(&mut world, "").backlog == Backlog::Blocked);
    assert_eq!(world.timeout(), Some(Duration::from_secs(1)));
    second.send(&mut world, "MoveTo 2 210 500 0\r\n");
    assert_eq!(heads(&second.receive(&mut world)), ["YourPosition 2"]);
    assert_eq!(heads(&first.receive(&mut world)), ["YourPosition 1", "YourIdentifier 3"]);
    assert_eq!(world.take_unblocked(), [1, 2]);
    // requests about the robot continue once its move is answered
    first.send(&mut world, "");
    assert_eq!(heads(&first.receive(&mut world)), ["VisualSensorReading 1"]);
    assert_eq!(world.timeout(), None);

    // a pending move times out
    let start = Duration::from_secs(5);
    first.send_at(&mut world, "MoveTo 1 120 500 0\r\n", start);
    world.tick(start + Duration::from_millis(999));
    assert_eq!(first.receive(&mut world), "");
    world.tick(start + Duration::from_secs(1));
    assert_eq!(heads(&first.receive(&mut world)), ["YourPosition 1"]);

    // a robot that has left is not waited for
    first.send_at(&mut world, "MoveTo 1 130 500 0\r\n", start);
    assert_eq!(first.receive(&mut world), "");
    world.close(2, start);
    assert_eq!(first.receive(&mut world), "YourPosition 1 130 500 0 0 0 0 0 0\r\n");
}

#[test]
fn a_full_world_closes_the_connection_of_a_newcomer() {
    for is_lenient in [false, true] {
        let mut world = world("title = \"t\"\nisolation = \"per-robot\"", is_lenient);
        let fill = |world: &mut WorldSimulator, connection: u64, robots: usize| {
            let mut client = Client::join(world, connection);
            client.lines.push("CreateRobot\r\n".repeat(robots).as_bytes());
            let mut created = 0;
            loop {
                let turn = world.receive(connection, &mut client.lines, || Duration::ZERO);
                created += client.receive(world).lines().count();
                if turn.close.is_some() || turn.lines == 0 {
                    return (client, created, turn.close);
                }
            }
        };
        // one connection cannot fill it
        let (_, created, closed) = fill(&mut world, 1, 65_534);
        assert_eq!(created, arena::MAX_ROBOTS_OF_CONNECTION);
        assert_eq!(closed.as_deref(), Some("a connection may have at most 2000 robots"));
        let (_, created, closed) = fill(&mut world, 2, 1);
        assert_eq!((created, closed), (1, None), "others still can create theirs");
        // many can
        let mut left = 65_535 - world.arena().len();
        for connection in 3.. {
            let robots = left.min(arena::MAX_ROBOTS_OF_CONNECTION);
            let (_, created, closed) = fill(&mut world, connection, robots);
            assert_eq!((created, closed), (robots, None));
            left -= robots;
            if left == 0 {
                break;
            }
        }
        let (_, created, closed) = fill(&mut world, 1_000, 1);
        assert_eq!((created, closed.as_deref()), (0, Some("all 65535 identifiers are in use")));
        // the robots of one that has gone make room
        world.close(1, Duration::ZERO);
        let (mut client, created, _) = fill(&mut world, 1_001, 1);
        assert_eq!(created, 1);
        client.send(&mut world, "KillRobot 1\r\nCreateRobot\r\n");
        assert_eq!(client.receive(&mut world), "YourIdentifier 2\r\n");
    }
}

#[test]
fn a_number_that_is_refused_leaves_no_trace() {
    // what a robot meets while another one is created, sends this and is gone
    let run = |line: &str| {
        let mut world = world("title = \"t\"", false);
        let mut witness = Client::join(&mut world, 1);
        witness.send(&mut world, &format!("CreateRobot\r\nBodyShape 1 {SQUARE}\r\nJumpTo 1 1000 1000 0\r\n"));
        let mut other = Client::join(&mut world, 2);
        other.send(&mut world, &format!("CreateRobot\r\nBodyShape 2 {SQUARE}\r\nJumpTo 2 1000 1200 0\r\n"));
        let turn = other.send(&mut world, line);
        assert_eq!(turn.close.is_some(), !line.is_empty(), "{line}");
        // where the other one is, to the last digit
        witness.send(&mut world, "SonicSensor 1 1000 1050 10 1.5707963 0 0.2 0.2\r\n");
        world.close(2, Duration::ZERO);
        for step in 1..20 {
            witness.send(&mut world, &format!("MoveTo 1 10{step:02}.3 1000.7 0.{step:02}\r\n"));
        }
        witness.receive(&mut world)
    };
    let untouched = run("");
    assert_eq!(heads(&untouched).len(), 23);
    for number in ["nan", "-nan", "inf", "-inf", "infinity", "1e999", "-1e400", "0x10"] {
        for line in [
            "JumpTo 2 NUMBER 1000 0",
            "JumpTo 2 1000 NUMBER 0",
            "MoveTo 2 1000 1000 NUMBER",
            "MoveTo 2 NUMBER NUMBER NUMBER",
            "BodyShape 2 1 NUMBER 1 4 -30 40 30 40 30 -40 -30 -40",
            "BodyShape 2 1 20 1 4 -30 NUMBER 30 40 30 -40 -30 -40",
            "VisualSensor 2 NUMBER 0 0 0 0 0 0",
            "SonicSensor 2 0 0 0 0 0 0 NUMBER",
        ] {
            let line = line.replace("NUMBER", number) + "\r\n";
            assert_eq!(run(&line), untouched, "{line}");
        }
    }
}
