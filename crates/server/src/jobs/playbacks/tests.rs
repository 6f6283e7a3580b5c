use std::io::Cursor;

use tempfile::TempDir;
use wire::{
    Message,
    console::{Frame, VisualShape},
    soccer::{
        Graph, Hundredths, Mesh, MonitorGame, MonitorMessage, MonitorUpdate, Name, Node, NodeKind, PlayMode, Surface,
        Teams, Thousandths, Transform,
    },
};
use world::{
    SessionId, World,
    agent::Action,
    record::{Recorder, TickRecord},
};

use session::console::Playback;

use super::*;
use crate::{
    jobs::testing::until,
    testing::{ROVER, small_setup},
};

const TICKS: u64 = 200;

/// Records the small world, with a reset in the middle. `tamper` may change each record.
fn recorded(tamper: impl Fn(&mut TickRecord)) -> Vec<u8> {
    let setup = small_setup();
    let mut world = World::new(&setup).unwrap();
    let mut bytes = Cursor::new(Vec::new());
    let mut recorder = Recorder::new(&mut bytes, &setup, &world).unwrap();
    world.keep_journal();
    for tick in 0..TICKS {
        if tick == TICKS / 2 {
            world.reset(Some(7));
        }
        if tick.is_multiple_of(20) {
            let speed = Action::Set { motor: 0, target: Some(1.0), torque: Some(1.0) };
            world.stage(ROVER, SessionId(1), tick, vec![speed]);
        }
        world.tick();
        if let Some(mut record) = world.take_record(50) {
            tamper(&mut record);
            recorder.write(&record).unwrap();
            recorder.flush().unwrap();
        }
    }
    recorder.finish().unwrap();
    drop(recorder);
    bytes.into_inner()
}

fn playbacks(files: &[(&str, &[u8])]) -> (TempDir, Playbacks) {
    let folder = TempDir::new().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let playbacks = Playbacks::new(folder.path().to_owned());
    (folder, playbacks)
}

/// Opens a playback and waits until it has loaded or failed.
fn load(playbacks: &Playbacks, name: &str) -> (Arc<OpenPlayback>, wire::console::PlaybackState) {
    let playback = playbacks.open(name).unwrap();
    until("the playback to load", || {
        let state = playback.state(0, 0);
        state.complete || state.trouble.is_some()
    });
    let state = playback.state(0, 0);
    (playback, state)
}

/// Poses of the bodies in a frame.
fn poses(playback: &OpenPlayback, number: usize) -> Vec<wire::console::Pose> {
    let bytes = playback.frame(number).unwrap();
    let Ok(Frame::Poses { poses, .. }) = Frame::decode(&bytes) else { panic!("frame {number} has no poses") };
    poses
}

#[test]
fn a_recording_is_played() {
    let (_folder, playbacks) = playbacks(&[("run.mcap", &recorded(|_| ()))]);
    let (playback, state) = load(&playbacks, "run.mcap");
    assert_eq!((state.complete, state.trouble), (true, None));
    let seconds = TICKS as f64 * World::new(&small_setup()).unwrap().tick_seconds();
    assert_eq!(state.ready, (seconds * state.rate + 1e-6) as usize + 1);
    let [only] = state.scenes.as_slice() else { panic!("{:?}", state.scenes.len()) };
    assert!(only.from == 0 && !only.scene.looks.is_empty() && only.scene.agents.len() == 1);
    assert_eq!(poses(&playback, 0).len(), only.scene.bodies.len() - 1);
    // the wheel turns
    assert_ne!(poses(&playback, 0), poses(&playback, state.ready / 2 - 2));
    let [reset] = state.marks.as_slice() else { panic!("{:?}", state.marks) };
    assert_eq!(reset.text, "reset");
    assert!(reset.frame.abs_diff(state.ready / 2) <= 1, "{reset:?} of {}", state.ready);
    assert_eq!(playback.frame(state.ready), None);
    let later = playback.state(1, 1);
    assert!(later.scenes.is_empty() && later.marks.is_empty() && playback.version() > 0);
    assert!(playback.state(usize::MAX, usize::MAX).scenes.is_empty());
}

#[test]
fn a_damaged_recording_is_reported() {
    let good = recorded(|_| ());
    let differs = recorded(|record| record.hash = record.hash.map(|hash| hash ^ u64::from(record.tick > TICKS / 2)));
    let cut = good.get(..good.len() * 3 / 4).unwrap();
    let mut damaged = good.clone();
    // in the fourth chunk, which starts with the signature of its compression
    let signature = [0x28, 0xb5, 0x2f, 0xfd];
    let chunk = good.windows(4).enumerate().filter(|(_, window)| *window == signature).nth(3).unwrap().0;
    damaged[chunk + 12] ^= 1;
    let (_folder, playbacks) = playbacks(&[
        ("cut.mcap", cut),
        ("damaged.mcap", &damaged),
        ("differs.mcap", &differs),
        ("empty.mcap", b""),
        ("junk.mcap", &[7; 5000]),
        ("other.mcap", b"((RSMP"),
    ]);
    for (name, expected, has_frames) in [
        ("cut.mcap", "cut off", true),
        ("damaged.mcap", "1 records are missing", true),
        ("differs.mcap", "differs from the recording at tick 149", true),
        ("empty.mcap", "has no setup", false),
        ("junk.mcap", "has no setup", false),
        ("other.mcap", "has no setup", false),
    ] {
        let (_playback, state) = load(&playbacks, name);
        let trouble = state.trouble.unwrap_or_default();
        assert!(trouble.contains(expected), "{name}: {trouble}");
        assert_eq!(state.ready > 0, has_frames, "{name}");
    }
}

fn node(kind: NodeKind, children: Vec<Node>) -> Node {
    Node { kind, children }
}

fn moved(x: f64, children: Vec<Node>) -> Node {
    let mut columns = glam::DMat4::IDENTITY.to_cols_array();
    columns[12] = x;
    node(NodeKind::Transform(Transform::rounded(columns)), children)
}

fn mesh(shape: &str, surface: Surface, scale: Option<[f64; 3]>) -> Node {
    Node::leaf(NodeKind::Mesh(Mesh { is_visible: true, shape: Name::new(shape).unwrap(), surface, scale }))
}

/// The full graph of a robot with an arm, whose hand has an unknown shape, and the ball.
fn whole(robot: f64) -> Node {
    let red = || Surface::Material(Name::new("matLeft").unwrap());
    let hand = moved(0.1, vec![mesh("models/X9/hand.STL", red(), None)]);
    let arm = moved(0.5, vec![mesh("StdUnitBox", Surface::Rgba([0.5; 4]), Some([0.2, 0.4, 0.6])), hand]);
    let shoulder = moved(0.25, vec![mesh("StdUnitSphere", red(), Some([0.1; 3]))]);
    let agent = NodeKind::Agent { team: Name::new("Reds").unwrap(), number: 3 };
    let robot = node(agent, vec![moved(robot, vec![shoulder, arm])]);
    let ball = node(NodeKind::Ball, vec![moved(0.0, vec![mesh("StdUnitSphere", red(), Some([0.11; 3]))])]);
    moved(0.0, vec![robot, ball])
}

/// A change of the same graph that moves the robot and, if given, its arm.
fn changed(robot: f64, arm: Option<f64>) -> Node {
    let same = |children| node(NodeKind::Same, children);
    let leaf = || Node::leaf(NodeKind::Same);
    let parts = vec![leaf(), same(vec![leaf()])];
    let arm = arm.map_or_else(|| same(parts.clone()), |arm| moved(arm, parts.clone()));
    let robot = same(vec![moved(robot, vec![same(vec![leaf()]), arm])]);
    same(vec![robot, same(vec![same(vec![leaf()])])])
}

fn line(time: f64, graph: Graph, play_mode: PlayMode, score_left: u16) -> Vec<u8> {
    let (time, played) = (Hundredths::rounded(time), Thousandths::rounded(time));
    let game = MonitorGame { time: played, half: 1, score_left, score_right: 0, play_mode, fouls: Vec::new() };
    let mut line = Vec::new();
    MonitorMessage::Update(Box::new(MonitorUpdate { time, graph, game })).encode(&mut line);
    line.push(b'\n');
    line
}

fn log() -> Vec<u8> {
    let teams = Teams { left: Name::new("Reds").ok(), right: None };
    let full = |root| Graph::Full { root, teams: teams.clone(), environment: None };
    let diff = |robot, arm| Graph::Diff { root: changed(robot, arm) };
    [
        line(5.0, full(whole(1.0)), PlayMode::BeforeKickOff, 0),
        line(5.02, diff(1.1, None), PlayMode::BeforeKickOff, 0),
        line(5.04, diff(2.0, None), PlayMode::PlayOn, 0),
        line(5.2, diff(3.0, Some(0.7)), PlayMode::GoalLeft, 1),
        // another game
        line(0.0, full(whole(-1.0)), PlayMode::BeforeKickOff, 1),
    ]
    .concat()
}

#[test]
fn a_log_is_played() {
    let (_folder, playbacks) = playbacks(&[("game.log", &log())]);
    let (playback, state) = load(&playbacks, "game.log");
    assert_eq!((state.complete, &state.trouble), (true, &None));
    // 5.0, 5.04, three without an update, 5.2, and the other game
    assert_eq!(state.ready, 7);
    let xs = |number: usize| -> Vec<f64> { poses(&playback, number).iter().map(|(position, _)| position[0]).collect() };
    let close = |found: Vec<f64>, expected: [f64; 3]| {
        assert!(found.len() == 3 && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3), "{found:?}");
    };
    close(xs(0), [1.0, 1.5, 0.0]);
    close(xs(4), [2.0, 2.5, 0.0]);
    close(xs(5), [3.0, 3.7, 0.0]);
    close(xs(6), [-1.0, -0.5, 0.0]);

    let scene = &state.scenes[0].scene;
    assert_eq!(scene.bodies, ["world", "Reds 3:1", "Reds 3:2", "ball"]);
    assert_eq!(scene.parents, [0, 0, 1, 0]);
    let robot = &scene.agents[0];
    assert_eq!((robot.name.as_str(), robot.robot.as_str(), robot.body), ("Reds 3", "X9", 1));
    let found: Vec<_> = scene
        .looks
        .iter()
        .filter(|visual| visual.body > 0)
        .map(|visual| (visual.body, visual.shape, visual.position[0], visual.size[0]))
        .collect();
    let expected = [
        (1, VisualShape::Sphere, 0.25, 0.1),
        (2, VisualShape::Box, 0.0, 0.1),
        (2, VisualShape::Sphere, 0.1, 0.04),
        (3, VisualShape::Sphere, 0.0, 0.11),
    ];
    assert_eq!(found, expected);
    // the log has no field: ours is shown
    assert!(scene.looks.iter().any(|visual| visual.body == 0 && visual.shape == VisualShape::Plane));
    assert!(scene.looks.iter().filter(|visual| visual.body == 0).count() > 10);
    // the other game has the same robots
    assert_eq!(state.scenes.len(), 1);
    let marks: Vec<_> = state.marks.iter().map(|mark| (mark.frame, mark.text.as_str())).collect();
    assert_eq!(marks, [(1, "play on"), (5, "goal of Reds, 1:0"), (6, "before kick off")]);
}

#[test]
fn a_damaged_log_is_reported() {
    let good = log();
    let cut = good.get(..good.len() - 20).unwrap();
    let first = good.split_inclusive(|byte| *byte == b'\n').next().unwrap();
    let odd = [first, b"((RSMP nonsense\n", b"\xFF\xFF\n", first].concat();
    let other = line(6.0, Graph::Diff { root: Node::leaf(NodeKind::Same) }, PlayMode::PlayOn, 0);
    let headless = [other.as_slice(), b"x\n"].concat();
    let misfit = [first, other.as_slice(), first].concat();
    let (_folder, playbacks) = playbacks(&[
        ("cut.log", cut),
        ("odd.txt", &odd),
        ("misfit.log", &misfit),
        ("headless.log", &headless),
        ("start.log", b"((RSMP"),
    ]);
    for (name, expected, ready) in [
        ("cut.log", None, 6),
        ("odd.txt", Some("skipped 2 invalid lines"), 1),
        ("misfit.log", Some("skipped 1 invalid line"), 1),
        ("headless.log", Some("no complete scene graph"), 0),
        ("start.log", Some("no complete scene graph"), 0),
    ] {
        let (_playback, state) = load(&playbacks, name);
        assert_eq!(state.trouble.is_some(), expected.is_some(), "{name}: {:?}", state.trouble);
        assert!(state.trouble.unwrap_or_default().contains(expected.unwrap_or_default()), "{name}");
        assert_eq!(state.ready, ready, "{name}");
    }
}

#[test]
fn only_recordings_and_logs_are_listed() {
    let files: [(&str, &[u8]); 6] = [
        ("a.mcap", b"1"),
        ("b.log", b"((RSMP 1 0) ...\n"),
        ("c.log", b"server started\n"),
        ("d.txt", b""),
        (".hidden.mcap", b""),
        ("e f.mcap", b""),
    ];
    let (folder, playbacks) = playbacks(&files);
    fs::create_dir(folder.path().join("g.mcap")).unwrap();
    fs::write(folder.path().join("g.mcap/inner.mcap"), "").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link.mcap")).unwrap();
    let (shown, mut list) = playbacks.list();
    list.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(shown, folder.path().display().to_string());
    let found: Vec<_> = list.iter().map(|entry| (entry.name.as_str(), entry.bytes, entry.kind)).collect();
    assert_eq!(found, [("a.mcap", 1, PlaybackKind::Recording), ("b.log", 16, PlaybackKind::Log)]);
    let refusal = |name: &str| playbacks.open(name).unwrap_err();
    for name in ["", "..", "../x.mcap", "/etc/passwd", ".hidden.mcap", "e f.mcap", "g.mcap/inner.mcap"] {
        assert!(refusal(name).contains("invalid name"), "{name}: {}", refusal(name));
    }
    for name in ["link.mcap", "g.mcap", "nothing.mcap"] {
        assert!(refusal(name).contains("no file named"), "{name}: {}", refusal(name));
    }
    assert!(refusal("c.log").contains("neither a recording nor a soccer log"));
    let nowhere = Playbacks::new(folder.path().join("nowhere"));
    assert!(nowhere.list().1.is_empty() && nowhere.open("a.mcap").unwrap_err().contains("no file named"));
}

#[test]
fn playbacks_are_shared_limited_and_freed() {
    let recording = recorded(|_| ());
    let names: Vec<String> = (0..=MAX_OPEN).map(|number| format!("{number}.mcap")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), recording.as_slice())).collect();
    let (folder, playbacks) = playbacks(&files);
    let (first, state) = load(&playbacks, "0.mcap");
    assert!(Arc::ptr_eq(&first, &playbacks.open("0.mcap").unwrap()));
    let bytes = || playbacks.0.bytes.load(Ordering::Relaxed);
    let one = bytes();
    assert!(one > state.ready * wire::console::BODY_BYTES, "{one}");

    playbacks.0.loading.fetch_add(MAX_LOADING, Ordering::Relaxed);
    assert!(playbacks.open("1.mcap").unwrap_err().contains("3 playbacks are loading"));
    assert!(playbacks.open("0.mcap").is_ok());
    playbacks.0.loading.fetch_sub(MAX_LOADING, Ordering::Relaxed);

    let mut kept = vec![first];
    for name in names.get(1..MAX_OPEN).unwrap() {
        kept.push(load(&playbacks, name).0);
        until("the end of the thread", || playbacks.0.loading.load(Ordering::Relaxed) == 0);
    }
    assert!(playbacks.open("8.mcap").unwrap_err().contains("8 playbacks are open"));
    kept.pop();
    assert!(playbacks.open("8.mcap").is_ok());
    kept.clear();
    // including the one that was loading
    until("all playbacks to be freed", || bytes() == 0);

    let small = Playbacks::with_max_bytes(folder.path().to_owned(), one - 1);
    let (playback, cut) = load(&small, "0.mcap");
    assert!(cut.trouble.as_ref().is_some_and(|trouble| trouble.contains("of memory")), "{cut:?}");
    assert!(!cut.complete && cut.ready + 1 == state.ready, "{}", cut.ready);
    drop(playback);
    until("the playback to be freed", || small.0.bytes.load(Ordering::Relaxed) == 0);
}
