//! Monitors, trainers, logs and games over real sockets, against the built binary.

mod playing;
mod running;

use std::{
    fs,
    io::Write,
    net::{Shutdown, TcpStream},
};

use client::soccer::Monitor;
use playing::{AGENTS, Agent, MONITORS, Witness};
use running::{Running, eventually, rossum, run};
use wire::soccer::{AgentPlacement, Command, Graph, Name, Node, NodeKind, PlayMode, Pose, Side, TeamRef};

fn soccer(arguments: &[&str]) -> Running {
    Running::start(rossum().args(["soccer", "--free-ports", "--json"]).args(arguments))
}

fn watch(server: &Running) -> Monitor {
    Monitor::connect(server.address(MONITORS)).expect("it listens")
}

fn players(node: &Node) -> usize {
    let here = usize::from(matches!(node.kind, NodeKind::Agent { .. }));
    here + node.children.iter().map(players).sum::<usize>()
}

/// Waits for a play mode.
fn await_mode(monitor: &mut Monitor, wanted: impl Fn(PlayMode) -> bool) {
    eventually("the play mode", || wanted(monitor.receive().expect("a picture").game.play_mode).then_some(()));
}

#[test]
fn a_monitor_sees_and_commands_the_game() {
    let server = soccer(&[]);
    let mut monitor = watch(&server);
    let first = monitor.receive().expect("a picture");
    let Graph::Full { root, environment, .. } = &first.graph else { panic!("the first picture is whole") };
    assert_eq!((players(root), environment.as_ref().expect("a field").field_length), (0, 55.0));
    let mut agent = Agent::join(server.address(AGENTS), "T1 Reds 2");
    eventually("the player", || match monitor.receive().expect("a picture").graph {
        Graph::Full { root, .. } => (players(&root) == 1).then_some(()),
        Graph::Diff { .. } => None,
    });
    monitor.command(&[Command::KickOff(Some(Side::Right))]).expect("it is taken");
    await_mode(&mut monitor, |mode| mode == PlayMode::KickOffRight);
    monitor.command(&[Command::SetPlayMode(PlayMode::BeforeKickOff)]).expect("it is taken");
    await_mode(&mut monitor, |mode| mode == PlayMode::BeforeKickOff);
    let pose = Some(Pose::Upright { position: [-7.0, 0.0, 0.7], yaw_deg: 0.0 });
    let place = AgentPlacement { number: 2, team: TeamRef::Side(Side::Left), pose, joints: Vec::new() };
    monitor.command(&[Command::PlaceAgent(place)]).expect("it is taken");
    agent.await_place(-7.0);
}

#[test]
fn killsim_shuts_the_server_down() {
    let server = soccer(&[]);
    let mut agent = Agent::join(server.address(AGENTS), "T1 Reds 2");
    watch(&server).send(&[Command::KillSim]).expect("it listens");
    agent.await_end();
    let ended = server.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("a monitor"), "{}", ended.stderr);
}

#[test]
fn faulty_monitors_do_not_disturb_others() {
    let server = soccer(&[]);
    let witness = Witness::new(server.address(AGENTS));
    let address = server.address(MONITORS);
    let parentheses = "(".repeat(60_000);
    for payload in [
        &b"\0\0\0\x08(kick"[..],
        b"\xFF\xFF\xFF\xFF",
        b"\0\0\0\0\0\0\0\0",
        b"\0\0\0\x18(ball (pos nan inf 1e9))",
        &[&60_000_u32.to_be_bytes()[..], parentheses.as_bytes()].concat(),
    ] {
        for reads in [false, true] {
            let mut stream = TcpStream::connect(address).expect("it listens");
            stream.write_all(payload).expect("it listens");
            if reads {
                let mut monitor = watch(&server);
                monitor.receive().expect("a picture");
            }
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
    // monitors that never read and never disconnect
    let deaf: Vec<_> = (0..5).map(|_| watch(&server)).collect();
    let mut healthy = watch(&server);
    for _ in 0..50 {
        healthy.receive().expect("a picture");
    }
    drop(deaf);
    assert!(witness.end() > 50);
}

#[test]
fn a_k1_may_touch_the_ball() {
    let server = soccer(&[]);
    let witness = Witness::new(server.address(AGENTS));
    let _agent = Agent::join(server.address(AGENTS), "K1 Reds 2");
    let mut monitor = watch(&server);
    let pose = Some(Pose::Upright { position: [-3.0, 0.0, 0.6], yaw_deg: 0.0 });
    let place = AgentPlacement {
        number: 2,
        team: TeamRef::Named(Name::new("Reds").expect("a name")),
        pose,
        joints: Vec::new(),
    };
    let ball = Command::PlaceBall { position: [-1.5, 0.0, 0.3], velocity: Some([-6.0, 0.0, 0.0]) };
    monitor.command(&[Command::PlaceAgent(place), Command::KickOff(Some(Side::Left)), ball]).expect("it is taken");
    // any touch of the ball ends the kick-off
    await_mode(&mut monitor, |mode| mode == PlayMode::PlayOn);
    assert!(witness.end() > 5);
}

#[test]
fn a_trainers_game_is_repeatable() {
    let play = || {
        let server = soccer(&["--no-realtime"]);
        let mut agent = Agent::init(server.address(AGENTS), "T1 Reds 2");
        let mut monitor = watch(&server);
        agent.next().expect("it plays");
        let joints = vec![(Name::new("lle4").expect("a name"), 20.0)];
        let pose = Some(Pose::Upright { position: [-2.0, 0.0, 0.7], yaw_deg: 0.0 });
        let place = AgentPlacement { number: 2, team: TeamRef::Side(Side::Left), pose, joints };
        let ball = Command::PlaceBall { position: [-1.0, 0.0, 0.11], velocity: Some([-2.0, 0.0, 0.0]) };
        monitor.command(&[Command::Reset { seed: Some(42) }, Command::PlaceAgent(place), ball]).expect("it is taken");
        let mut told = Vec::new();
        for cycle in 0..100 {
            if cycle == 50 {
                monitor.command(&[Command::KickOff(None)]).expect("it is taken");
            }
            agent.send(&format!("(rle4 {cycle} 0 40 2 0)(syn)"));
            told.push(agent.next_text().expect("it plays"));
        }
        told
    };
    let (one, other) = (play(), play());
    for (one, other) in one.iter().zip(&other) {
        assert_eq!(one, other);
    }
    assert!(one[99].contains("KickOff_"), "{}", one[99]);
}

#[test]
fn a_trainer_is_acknowledged_even_after_missed_updates() {
    let server = soccer(&["--no-realtime"]);
    let mut agent = Agent::init(server.address(AGENTS), "T1 Reds 2");
    let mut monitor = watch(&server);
    let ball = Command::PlaceBall { position: [1.0, 0.0, 0.11], velocity: None };
    monitor.command(&vec![ball; 500]).expect("it is taken");
    for _ in 0..3_000 {
        agent.next().expect("it plays");
        agent.send("(syn)");
    }
    // far more updates than its queue holds; the agent waits, so that no more are produced
    agent.next().expect("it plays");
    monitor.command(&[Command::Reset { seed: Some(1) }]).expect("it is taken");
}

#[test]
fn a_flood_of_resets_disconnects_its_sender() {
    let server = soccer(&[]);
    let mut agent = Agent::join(server.address(AGENTS), "T1 Reds 2");
    let mut flooder = watch(&server);
    let resets = vec![Command::Reset { seed: None }; 500];
    // the connection may be closed before all are sent
    let _ = (0..200).try_for_each(|_| flooder.send(&resets));
    eventually("its end", || flooder.receive_bytes().is_err().then_some(()));
    for _ in 0..20 {
        agent.next().expect("it plays on");
    }
}

#[test]
fn a_log_is_played_back_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("game.log");
    let file = file.to_str().expect("a path");
    let server = soccer(&["--logfile", file]);
    let _agent = Agent::join(server.address(AGENTS), "T1 Reds 2");
    server.await_tick(server.tick() + 60);
    server.signal("TERM");
    assert_eq!(server.end().code, Some(0));
    let log = fs::read_to_string(file).expect("a log");
    assert!(log.lines().count() >= 30, "{} lines", log.lines().count());

    let server = soccer(&["--play", file, "--speed", "10"]);
    let mut monitor = watch(&server);
    for line in log.lines() {
        assert_eq!(monitor.receive_bytes().expect("a picture"), line.as_bytes());
    }
    server.signal("TERM");
    assert_eq!(server.end().code, Some(0));

    let refused = run(&["soccer", "--free-ports", "--play", "Cargo.toml"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("Cargo.toml"), "{}", refused.stderr);
    let refused = run(&["soccer", "--free-ports", "--logfile", "/missing/folder/game.log"]);
    assert!(refused.stderr.contains("/missing/folder/game.log"), "{}", refused.stderr);
}

#[test]
fn several_games_have_their_own_ports() {
    let server = soccer(&["--games", "3"]);
    let (agents, monitors) = (server.addresses(AGENTS), server.addresses(MONITORS));
    assert_eq!((agents.len(), monitors.len()), (3, 3));
    let mut players: Vec<_> = agents.iter().map(|address| Agent::join(*address, "T1 Reds 2")).collect();
    let mut second = Monitor::connect(monitors[1]).expect("it listens");
    second.command(&[Command::KickOff(Some(Side::Left))]).expect("it is taken");
    await_mode(&mut second, |mode| mode == PlayMode::KickOffLeft);
    for (game, player) in players.iter_mut().enumerate() {
        // frames in transit are from before
        let mode = (0..50).map(|_| player.next().expect("it plays").game.play_mode).last();
        let wanted = if game == 1 { PlayMode::KickOffLeft } else { PlayMode::BeforeKickOff };
        assert_eq!(mode, Some(wanted), "game {game}");
    }
}

#[test]
fn the_demo_kicks_off() {
    let server = soccer(&["--demo", "1", "--sync", "--no-realtime"]);
    let mut monitor = watch(&server);
    await_mode(&mut monitor, |mode| matches!(mode, PlayMode::KickOffLeft | PlayMode::KickOffRight));
    server.signal("TERM");
    let ended = server.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}
