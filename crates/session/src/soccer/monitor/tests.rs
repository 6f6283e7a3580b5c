use wire::soccer::{FoulKind, Graph, MonitorUpdate, Node, NodeKind, PlayMode};

use super::{
    super::{
        VisionModel,
        testing::{Config, TestGame, frame},
    },
    *,
};
use world::clock::Pace;

fn message(text: &str) -> MonitorMessage {
    MonitorMessage::decode(text.as_bytes()).unwrap()
}

fn updates(game: &TestGame, monitor: usize) -> Vec<MonitorUpdate> {
    let received = game.agents[monitor].received.iter().map(|text| message(text));
    received
        .filter_map(|message| match message {
            MonitorMessage::Update(update) => Some(*update),
            MonitorMessage::Acknowledged(_) => None,
        })
        .collect()
}

fn last(game: &TestGame, monitor: usize) -> MonitorUpdate {
    updates(game, monitor).pop().expect("an update")
}

fn root(update: &MonitorUpdate) -> &Node {
    match &update.graph {
        Graph::Full { root, .. } | Graph::Diff { root } => root,
    }
}

fn is_full(update: &MonitorUpdate) -> bool {
    matches!(update.graph, Graph::Full { .. })
}

/// The first node of a kind.
fn find<'a>(node: &'a Node, wanted: &dyn Fn(&NodeKind) -> bool) -> Option<&'a Node> {
    if wanted(&node.kind) { Some(node) } else { node.children.iter().find_map(|child| find(child, wanted)) }
}

fn position_of(node: &Node) -> [f64; 3] {
    let NodeKind::Transform(transform) = &node.kind else { panic!("{:?} is not a transform", node.kind) };
    [12, 13, 14].map(|index| transform.0[index].get())
}

fn ball(update: &MonitorUpdate) -> [f64; 3] {
    position_of(&find(root(update), &|kind| *kind == NodeKind::Ball).expect("a ball").children[0])
}

fn player(update: &MonitorUpdate, number: u8) -> [f64; 3] {
    let is_player = |kind: &NodeKind| matches!(kind, NodeKind::Agent { number: other, .. } if *other == number);
    position_of(&find(root(update), &is_player).expect("a player").children[0])
}

fn count(node: &Node) -> usize {
    1 + node.children.iter().map(count).sum::<usize>()
}

/// Sends a command and requests a full graph; returns it.
fn ask(game: &mut TestGame, monitor: usize, command: &str) -> MonitorUpdate {
    game.send(monitor, command);
    game.cycles(4);
    game.send(monitor, "(reqfullstate)");
    last(game, monitor)
}

#[test]
fn the_first_graph_is_full_and_the_next_are_diffs() {
    let mut game = TestGame::new();
    let monitor = game.watch();
    game.cycles(3);
    let first = last(&game, monitor);
    assert!(is_full(&first));
    assert_eq!(game.received(monitor), 1, "every second cycle");
    game.cycles(6);
    let received = updates(&game, monitor);
    assert_eq!(received.len(), 4);
    assert!(!received[1..].iter().any(is_full));
    for update in &received {
        assert_eq!(count(root(update)), count(root(&first)), "the graph keeps its shape");
    }
    assert!(game.last_text(monitor).starts_with("((RSMP 1 0)((gt 1 0)0.16)((sg 1 0)diff(nd("));
    // a later monitor also starts with a full graph
    let late = game.watch();
    game.cycles(2);
    assert!(is_full(&last(&game, late)));
    assert!(!is_full(&last(&game, monitor)));
}

#[test]
fn a_full_graph_is_sent_every_250_cycles_and_when_players_join_or_leave() {
    let mut game = TestGame::new();
    let monitor = game.watch();
    game.cycles(260);
    let full: Vec<_> = updates(&game, monitor).iter().filter(|update| is_full(update)).map(|u| u.time.get()).collect();
    assert_eq!(full, [0.04, 5.0]);
    let a = game.join("T1 Reds 2");
    game.cycles(4);
    let received = updates(&game, monitor);
    let latest = &received[received.len() - 2..];
    assert!(is_full(&latest[0]) && !is_full(&latest[1]));
    assert!(find(root(&latest[0]), &|kind| matches!(kind, NodeKind::Agent { number: 2, .. })).is_some());
    game.leave(a);
    game.cycles(2);
    let gone = last(&game, monitor);
    assert!(is_full(&gone));
    assert!(find(root(&gone), &|kind| matches!(kind, NodeKind::Agent { .. })).is_none());
}

#[test]
fn a_full_graph_shows_the_game() {
    let mut game = TestGame::new();
    let monitor = game.watch();
    game.cycles(2);
    let text = game.last_text(monitor).to_owned();
    assert!(text.contains("(team_left <LEFT>)(team_right <RIGHT>)"), "{text}");
    assert!(text.contains("((ge 1 0)(FieldLength 105)(FieldWidth 68)(FieldHeight 40)(GoalWidth 1.6)(GoalDepth 7.32)"));
    assert!(text.contains("(RuleHalfTime 2700)"));
    let ball_node = "(nd DSC(ball)(nd TRF(SLT 1.0000";
    assert!(text.contains(ball_node) && text.contains("(load StdUnitSphere)(sMat ball)(sSc 0.11 0.11 0.11)"));
    game.join("T1 Reds 2");
    game.join("K1 Blues 7");
    game.cycles(2);
    let text = game.last_text(monitor);
    assert!(text.contains("(team_left Reds)(team_right Blues)"));
    assert!(text.contains("(nd DSC(agent Reds 2)(nd TRF(SLT "));
    assert!(text.contains("(nd DSC(agent Blues 7)(nd TRF(SLT "));
    assert!(text.contains("(sMat matLeft)") && text.contains("(sMat matRight)"), "teams have their colours");
    let [x, y, z] = player(&last(&game, monitor), 2);
    assert!((x + 5.0).abs() < 0.01 && (y - 37.0).abs() < 0.01 && (z - 0.67).abs() < 0.02, "{x} {y} {z}");
}

#[test]
fn moved_transforms_are_sent_again() {
    let mut game = TestGame::new();
    let monitor = game.watch();
    game.cycles(2);
    game.send(monitor, "(ball (pos 3 4 0.11)(vel 2 0 0))");
    game.cycles(4);
    let is_ball_at = |node: &Node, x: f64| {
        let NodeKind::Transform(transform) = &node.kind else { return false };
        (transform.0[12].get() - x).abs() < 0.2 && (transform.0[13].get() - 4.0).abs() < 0.01
    };
    let changes = last(&game, monitor);
    assert!(!is_full(&changes));
    assert!(find_node(root(&changes), &|node| is_ball_at(node, 3.0)).is_some(), "{changes:?}");
    let received = game.last_text(monitor);
    assert_eq!(received.matches("TRF").count(), 1, "only the ball moves: {received}");
}

fn find_node<'a>(node: &'a Node, wanted: &dyn Fn(&Node) -> bool) -> Option<&'a Node> {
    if wanted(node) { Some(node) } else { node.children.iter().find_map(|child| find_node(child, wanted)) }
}

#[test]
fn commands_are_executed() {
    let mut game = TestGame::new();
    let monitor = game.watch();
    let a = game.join("T1 Reds 2");
    game.cycles(2);
    for (command, mode) in [
        ("(kickOff Left)", PlayMode::KickOffLeft),
        ("(playMode PlayOn)", PlayMode::PlayOn),
        ("(playMode corner_kick_right)", PlayMode::CornerKickRight),
        ("(dropBall)", PlayMode::PlayOn),
        ("(kickOff r)", PlayMode::KickOffRight),
        ("(playMode BeforeKickOff)", PlayMode::BeforeKickOff),
    ] {
        assert_eq!(ask(&mut game, monitor, command).game.play_mode, mode, "{command}");
    }
    let near = |one: [f64; 3], other: [f64; 3]| one.iter().zip(other).all(|(a, b)| (a - b).abs() < 0.05);
    let placed = ball(&ask(&mut game, monitor, "(ball (pos 3 4 0.11))"));
    assert!(near(placed, [3.0, 4.0, 0.11]), "{placed:?}");
    for (command, wanted) in [
        ("(agent (unum 2)(team Reds)(pos 1 2 0.7))", [1.0, 2.0, 0.7]),
        ("(agent (unum 2)(team Left)(move -3 4 0.7 90))", [-3.0, 4.0, 0.7]),
        ("(agent (unum 2)(team Reds)(move3d 0 -4 0.7 2 0 0 2))", [0.0, -4.0, 0.7]),
    ] {
        let stands = player(&ask(&mut game, monitor, command), 2);
        assert!(near(stands, wanted), "{command}: {stands:?}");
    }
    let faces = game.last(a).orientations[0].values.map(|value| value.get());
    assert!((faces[0] - 0.707).abs() < 0.05 && (faces[3] - 0.707).abs() < 0.05, "{faces:?}");
    assert_eq!(game.agents[monitor].refusals, [""; 0]);
}

#[test]
fn trainers_set_joints() {
    let mut game = TestGame::new();
    let monitor = game.watch();
    let a = game.join("T1 Reds 2");
    game.cycles(2);
    let angle = |game: &TestGame, joint: &str| {
        let received = game.last(a);
        received.joints.iter().find(|received| received.name.as_str() == joint).expect("a joint").angle_deg.get()
    };
    game.send(monitor, "(agent (unum 2)(team Reds)(move 0 0 2 0)(joints (he1 40)(lle4 30)(nose 3)(rle4 9999)))");
    game.cycles(3);
    assert!((angle(&game, "hj1") - 40.0).abs() < 5.0, "{}", angle(&game, "hj1"));
    assert!((angle(&game, "llj4") - 30.0).abs() < 10.0, "{}", angle(&game, "llj4"));
    assert!(angle(&game, "rlj4") < 180.0, "within its range: {}", angle(&game, "rlj4"));
    let height = game.position(a)[2];
    assert!(height > 1.9, "{height}");
    game.send(monitor, "(agent (unum 2)(team Reds)(joints (he1 -20)))");
    game.cycles(3);
    assert!((angle(&game, "hj1") + 20.0).abs() < 5.0, "{}", angle(&game, "hj1"));
    assert!(game.position(a)[2] < height, "it keeps falling");
}

#[test]
fn invalid_commands_are_refused_with_a_reason() {
    let mut game = TestGame::new();
    let monitor = game.watch();
    game.join("T1 Reds 2");
    for (command, wanted) in [
        ("(agent (unum 2)(team Greens)(pos 1 2 3))", "no team named `Greens`"),
        ("(agent (unum 3)(team Reds)(pos 1 2 3))", "number 3"),
        ("(agent (unum 2)(team Right)(pos 1 2 3))", "number 2"),
        ("(agent (unum 2)(team Reds)(pos 1e9 2 3))", "beyond 1000 m"),
        ("(ball (pos 1 2 1e300))", "beyond 1000 m"),
        ("(ball (pos 1 2 nan))", "pos"),
        ("(playMode Halftime)", "playMode"),
        ("(sing)", "command"),
        ("(((", "closing parenthesis"),
    ] {
        game.send(monitor, command);
        let refused = game.agents[monitor].refusals.pop().unwrap_or_default();
        assert!(refused.contains(wanted), "{command}: `{refused}` lacks `{wanted}`");
    }
    game.cycles(4);
    assert_eq!(game.closed(monitor), None);
    let stands = player(&ask(&mut game, monitor, "()"), 2);
    assert!((stands[0] + 5.0).abs() < 0.1, "{stands:?}");
}

#[test]
fn a_game_restarts_from_a_seed() {
    let mut game = TestGame::sync(false);
    let (a, monitor) = (game.join("T1 Reds 2"), game.watch());
    let play = |game: &mut TestGame| {
        let (received, seen) = (game.received(a), game.received(monitor));
        for cycle in 0..60 {
            match cycle {
                3 => game.send(monitor, "(kickOff)(ball (pos -4.6 37 0.11))"),
                20 => game.send(monitor, "(ball (pos 0 0 1)(vel 3 1 2))"),
                _ => {}
            }
            game.send(a, &format!("(lle4 {} 0 30 1 0)(SPK say 50 aGVsbG8=)(syn)", cycle % 20));
            game.cycle();
        }
        (game.agents[a].received[received..].to_vec(), game.agents[monitor].received[seen..].to_vec())
    };
    game.cycle();
    let mut first = None;
    for _ in 0..3 {
        game.send(monitor, "(reset 42)");
        let played = play(&mut game);
        assert_eq!(played.0.len(), 60);
        assert!(played.0[59].contains("(time (now 1.17))"), "{}", played.0[59]);
        let before: &mut (Vec<String>, Vec<String>) = first.get_or_insert(played.clone());
        for (before, now) in before.0.iter().zip(&played.0).chain(before.1.iter().zip(&played.1)) {
            assert_eq!(before, now, "the same seed, another game");
        }
        assert_eq!((before.0.len(), before.1.len()), (played.0.len(), played.1.len()));
    }
}

#[test]
fn time_stops_and_goes_on() {
    let mut game = TestGame::new();
    let monitor = game.watch();
    game.cycles(2);
    game.send(monitor, "(pause)");
    assert_eq!(game.cycles_while_open(), 0);
    game.send(monitor, "(resume)");
    game.cycles(2);
}

#[test]
fn what_was_taken_is_acknowledged() {
    let mut game = TestGame::new();
    let monitor = game.watch();
    game.send(monitor, "(dropBall)(ack 7)(ack 8)");
    let received: Vec<_> = game.agents[monitor].received.iter().map(|text| message(text)).collect();
    assert_eq!(received, [MonitorMessage::Acknowledged(7), MonitorMessage::Acknowledged(8)]);
}

#[test]
fn a_whole_picture_is_there_at_once() {
    let mut game = TestGame::new();
    let monitor = game.watch();
    game.cycles(3);
    game.send(monitor, "(pause)");
    let received = game.received(monitor);
    game.send(monitor, "(reqfullstate)");
    assert_eq!(game.received(monitor), received + 1, "although the world is paused");
    assert!(is_full(&last(&game, monitor)));
}

#[test]
fn a_flood_of_requests_is_answered_together() {
    let mut game = TestGame::new();
    let (flooder, witness) = (game.watch(), game.watch());
    game.cycles(3);
    let full = |game: &TestGame, monitor| updates(game, monitor).iter().filter(|update| is_full(update)).count();
    let before = full(&game, flooder);
    let (burst, per_second) = limits::FULL_UPDATES;
    // a second of it, with 512 requests in each message
    let message = frame(&"(reqfullstate)".repeat(512));
    for _ in 0..50 {
        game.send_bytes(flooder, &message.repeat(2));
        game.cycle();
    }
    let sent = full(&game, flooder) - before;
    assert!(sent as f64 <= burst + per_second, "{sent} full updates");
    assert_eq!(full(&game, witness), 1, "others get what they always do");
    // the last request is answered as well
    let sent = full(&game, flooder);
    game.cycles(50);
    assert_eq!(full(&game, flooder), sent + 1);
}

#[test]
fn monitors_are_sent_the_same_bytes_and_those_behind_catch_up() {
    let mut game = TestGame::new();
    let monitors = [game.watch(), game.watch()];
    let player = game.join("T1 Reds 2");
    let snapshots: Vec<_> = (0..40)
        .map(|cycle| {
            game.send(player, &format!("(he1 {} 0 30 1 0)", cycle * 3));
            game.cycles(1);
            Arc::clone(&game.latest)
        })
        .collect();
    let received = |game: &TestGame, monitor: usize| game.agents[monitor].received.clone();
    assert!(received(&game, monitors[0]) == received(&game, monitors[1]));

    // the same cycles again, for monitors that are told of some of them late, or not at all
    let service = Monitors::new(Config::default().rules);
    let behind = [1, 3, 7, 30];
    let mut sessions: Vec<_> = behind.iter().map(|_| service.open("127.0.0.1:9".parse().unwrap())).collect();
    let mut sent: Vec<Vec<Bytes>> = vec![Vec::new(); behind.len()];
    for (cycle, snapshot) in snapshots.iter().enumerate() {
        for ((session, &every), sent) in sessions.iter_mut().zip(&behind).zip(&mut sent) {
            if (cycle + 1).is_multiple_of(every) {
                let mut out = crate::Outbox::default();
                session.notify(crate::Notice::Tick, Context::new(snapshot, game.now), &mut out);
                sent.extend(out.effects.into_iter().map(|effect| match effect {
                    StreamEffect::SendDroppable(update) => update,
                    other => panic!("{other:?}"),
                }));
            }
        }
    }
    let [all, every_third, every_seventh, every_thirtieth] = &sent[..] else { unreachable!() };
    // those that were never too far behind have every update after their first one, and it is not a copy
    let place = |update: &Bytes| all.iter().position(|other| other.as_ptr() == update.as_ptr());
    for fewer in [every_third, every_seventh] {
        let places: Vec<_> = fewer[1..].iter().map(place).collect();
        let first = places[0].expect("an update that others have as well");
        assert_eq!(places, (first..first + places.len()).map(Some).collect::<Vec<_>>());
        assert!(places.len() >= 10, "{places:?}");
    }
    assert_eq!(every_thirtieth.len(), 1, "one complete update");
}

#[test]
fn joints_that_are_not_there_are_named() {
    let mut game = TestGame::new();
    let monitor = game.watch();
    game.join("T1 Reds 2");
    game.send(monitor, "(agent (unum 2)(team Reds)(joints (nose 3)(he1 20)))");
    assert_eq!(game.agents[monitor].refusals, ["the robot has no motor `nose`"]);
}

#[test]
fn noise_follows_the_seed() {
    let mut noisy = Config::sync(false);
    noisy.agents.vision = VisionModel::Noisy;
    let mut game = TestGame::on("fifa", noisy, Pace::Lockstep);
    let (a, monitor) = (game.join("T1 Reds 2"), game.watch());
    game.cycle();
    let mut look = |seed: u64| {
        game.send(monitor, &format!("(reset {seed})"));
        game.send(a, "(syn)");
        game.cycle();
        game.last(a).see.expect("a look")
    };
    let (one, other, again) = (look(1), look(2), look(1));
    assert_eq!(one, again);
    assert_ne!(one, other);
}

#[test]
fn killsim_ends_everything() {
    let mut game = TestGame::new();
    let monitor = game.watch();
    assert_eq!(game.agents[monitor].ended, None);
    game.send(monitor, "(killsim)");
    assert!(game.agents[monitor].ended.as_deref().is_some_and(|who| who.contains("monitor")));
}

#[test]
fn fouls_are_told_once_each() {
    let mut game = TestGame::new();
    let (a, monitor) = (game.join("T1 Reds 2"), game.watch());
    game.cycles(2);
    game.send(monitor, "(kickOff Right)");
    game.cycles(4);
    game.send(monitor, "(playMode free_kick_right)");
    // far from the touch line, on its back, for longer than it may be
    for _ in 0..1_600 {
        if game.tick().is_multiple_of(50) {
            game.send(monitor, "(agent (unum 2)(team Reds)(move3d -20 5 0.12 0.7 0 -0.7 0))");
        }
        game.cycles(1);
    }
    let fouls: Vec<_> = updates(&game, monitor).into_iter().flat_map(|update| update.game.fouls).collect();
    let wanted = msg::Foul { kind: FoulKind::Incapable, side: msg::Side::Left, number: 2 };
    assert!(fouls.contains(&wanted), "{fouls:?}");
    assert!(fouls.len() < 5, "{fouls:?}");
    assert_eq!(game.closed(a), None);
}

#[test]
fn a_log_has_what_monitors_are_sent_a_line_each() {
    let mut game = TestGame::new();
    let monitor = game.watch();
    let (mut monitor_log, mut log) = (MonitorLog::new(Config::default().rules), Vec::new());
    for _ in 0..300 {
        game.cycles(1);
        monitor_log.tick(&game.latest, &mut log);
    }
    let lines: Vec<_> = std::str::from_utf8(&log).unwrap().lines().collect();
    assert_eq!(lines, game.agents[monitor].received);
}
