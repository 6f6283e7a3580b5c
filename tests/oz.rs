//! Oz over sockets, against the built program: invalid input and faults.

mod operating;
mod running;

use std::{fs, thread};

use client::osp::Client;
use operating::{Operator, Robot, Told, VERSION, float, id, servo, speech, word};
use puppet::hearing::wav;
use running::{Running, eventually, run};

/// Reads variables of the world over OSP.
struct Variables(Client);

impl Variables {
    fn of(server: &Running) -> Self {
        Self(Client::connect(server.address("OSP")).expect("it answers"))
    }

    fn get(&mut self, name: &str) -> f64 {
        let values = self.0.values(&format!("^{name}$")).expect("it answers");
        let [value] = &values[..] else { panic!("{name}: {values:?}") };
        let text = self.0.get(value.value).expect("it answers").expect("it can be read");
        match text.as_str() {
            "T" => 1.0,
            "F" => 0.0,
            number => number.parse().unwrap_or_else(|_| panic!("{name} is {number}")),
        }
    }

    fn await_value(&mut self, name: &str, wanted: f64) {
        eventually(name, || (self.get(name) == wanted).then_some(()));
    }
}

#[test]
fn another_version_gets_ours_and_nothing_else() {
    let robot = Robot::start("camera = \"scene\"\nframes = 60.0");
    let mut witness = robot.join();
    let mut operator = Operator::connect(robot.address());
    for version in [0, 0x0200_0000, 0x0001_0000] {
        operator.send(word(id::REQUEST_VERSION, version));
        // pictures and events are told to others meanwhile
        witness.hear_until("a picture", |told| matches!(told, Told::Frame(_)));
        witness.hear_until_now();
    }
    operator.send(word(id::REQUEST_VERSION, VERSION));
    for _ in 0..4 {
        let welcome = Told::Welcome(VERSION, "alice".into(), "Alice, a simulated humanoid".into());
        assert_eq!(operator.hear(), welcome);
    }
    operator.hear_until("a picture", |told| matches!(told, Told::Frame(_)));
    // and as the document prints it
    let mut printed = Operator::connect(robot.address());
    printed.send(word(id::REQUEST_VERSION, 0x0010_0000));
    assert!(matches!(printed.hear(), Told::Welcome(VERSION, ..)));
    printed.hear_until_now();
}

#[test]
fn clients_without_a_handshake_are_disconnected() {
    let robot = Robot::start("camera = \"scene\"");
    let mut witness = robot.join();
    let silent = [&b""[..], &[0, 0, 0], &word(id::REQUEST_VERSION, VERSION)[..7]].map(|bytes| {
        let mut operator = Operator::connect(robot.address());
        operator.send(bytes);
        operator
    });
    for message in
        [id::RESET.to_be_bytes().to_vec(), speech("Hello"), word(id::GESTURE, 0), float(id::LOOKAT_WEIGHT, 1.0)]
    {
        let mut operator = Operator::connect(robot.address());
        // nothing is something that may be said before
        operator.send(id::NOTHING.to_be_bytes());
        operator.send(&message);
        assert!(operator.closes(), "{message:?}");
    }
    witness.hear_until_now();
    for operator in silent {
        assert!(operator.closes(), "silence has its end");
    }
    witness.hear_until_now();
}

#[test]
fn messages_may_be_split_anywhere() {
    let robot = Robot::start("");
    let all = [
        id::NOTHING.to_be_bytes().to_vec(),
        word(id::REQUEST_VERSION, VERSION),
        speech("[nos]"),
        [&id::ALL_SERVOS.to_be_bytes()[..], &0.5_f32.to_be_bytes().repeat(36)].concat(),
        float(id::GESTURE_WEIGHT, 0.5),
        word(id::GESTURE, 3),
    ];
    let all = all.concat();
    for pieces in [1, 3, 7, all.len()] {
        let mut operator = Operator::connect(robot.address());
        for piece in all.chunks(pieces) {
            operator.send(piece);
        }
        let (mut done, mut heard) = (0, Vec::new());
        operator.hear_until("two gestures", |told| {
            done += usize::from(*told == Told::GestureDone);
            heard.push(told.clone());
            done == 2
        });
        assert!(matches!(heard[0], Told::Welcome(..)));
        let count = |wanted: &Told| heard.iter().filter(|told| *told == wanted).count();
        assert_eq!((count(&Told::SpeakGesture(9)), count(&Told::SpeakDone)), (1, 1), "{heard:?}");
    }
    // gone in the middle of a message
    for cut in [2, 5, 20, all.len() - 1] {
        Operator::connect(robot.address()).send(&all[..cut]);
    }
    robot.join().hear_until_now();
}

#[test]
fn unknown_ids_disconnect_only_their_sender() {
    let robot = Robot::start("camera = \"scene\"");
    let mut witness = robot.join();
    for id in [0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A, 0xFF, VERSION, u32::MAX] {
        let mut operator = robot.join();
        operator.send(id.to_be_bytes());
        assert!(operator.hears_the_end(), "{id:#x}");
    }
    witness.hear_until_now();
    let log = robot.end();
    assert!(log.contains("closed"), "{log}");
}

#[test]
fn numbers_out_of_range_are_clamped_and_nan_is_refused() {
    let robot = Robot::start("");
    let mut variables = Variables::of(&robot.server);
    let mut operator = robot.join();
    let weights = [
        (id::GESTURE_WEIGHT, "Gesture"),
        (id::EXPRESSION_WEIGHT, "Expression"),
        (id::RANDOM_HEAD_WEIGHT, "RandomHead"),
        (id::RANDOM_EYES_WEIGHT, "RandomEyes"),
        (id::RANDOM_FACE_WEIGHT, "RandomFace"),
        (id::DIRECT_WEIGHT, "Direct"),
        (id::LOOKAT_WEIGHT, "LookAt"),
    ];
    for (message, name) in weights {
        operator.send(float(message, 0.25));
        let name = format!("/Oz/Weight/{name}");
        variables.await_value(&name, 0.25);
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            operator.send(float(message, bad));
        }
        for (given, wanted) in [(7.0, 1.0), (-0.5, 0.0), (3e38, 1.0)] {
            operator.send(float(message, given));
            variables.await_value(&name, wanted);
        }
    }
    let others = [
        (id::VOICE_VOLUME, "VoiceVolume", 0.0, 1.0),
        (id::VOICE_PITCH, "VoicePitch", 0.5, 2.0),
        (id::AUTO_BLINK_SPEED, "AutoBlinkSpeed", 0.0, 10.0),
    ];
    for (message, name, least, most) in others {
        for (given, wanted) in [(-1e9, least), (1e9, most), (0.75, 0.75)] {
            operator.send(float(message, given));
            variables.await_value(&format!("/Oz/{name}"), wanted);
        }
    }
    // the last value stays, whatever is refused after it; the weight that follows says when
    for message in [id::VOICE_VOLUME, id::VOICE_PITCH, id::AUTO_BLINK_SPEED, id::GESTURE_WEIGHT] {
        operator.send(float(message, f32::NAN));
    }
    for message in [id::GESTURE, id::EXPRESSION, id::LOOKAT, id::VOICE_GENDER_LANGUAGE] {
        operator.send(word(message, 99));
    }
    assert_eq!(operator.hear(), Told::GestureDone, "nobody waits for a gesture that there is not");
    operator.send(servo(99, 0.5));
    operator.send(servo(0, f32::NAN));
    operator.send(servo(21, 1e30));
    operator.send(float(id::DIRECT_WEIGHT, 0.125));
    variables.await_value("/Oz/Weight/Direct", 0.125);
    for name in ["VoiceVolume", "VoicePitch", "AutoBlinkSpeed"] {
        assert_eq!(variables.get(&format!("/Oz/{name}")), 0.75, "{name}");
    }
    assert_eq!((variables.get("/Oz/Weight/Gesture"), variables.get("/Oz/Expression")), (1.0, 0.0));
    operator.hear_until_now();
    let log = robot.end();
    assert!(log.contains("number is not finite"), "{log}");
}

#[test]
fn texts_of_any_length_end_once() {
    let robot = Robot::start("");
    let mut variables = Variables::of(&robot.server);
    let mut operator = robot.join();
    operator.send(speech(""));
    assert_eq!(operator.hear(), Told::SpeakDone);
    operator.send(speech("   [nothing] "));
    assert_eq!(operator.hear(), Told::SpeakDone);
    // an hour of it, and one that would wait for an hour
    let long = "All work and no play makes Jack a dull boy. ".repeat(1500);
    operator.send(speech(&long[..65_535]));
    operator.send(speech("And then?"));
    variables.await_value("/Oz/Speaking", 1.0);
    operator.send(id::RESET.to_be_bytes());
    assert_eq!([operator.hear(), operator.hear()], [Told::SpeakDone, Told::SpeakDone]);
    variables.await_value("/Oz/Speaking", 0.0);
    // one word of 65,535 bytes, and as many tags as there is room for
    operator.send(speech("a".repeat(65_535)));
    operator.send(id::RESET.to_be_bytes());
    operator.send(speech("[nos]".repeat(13_107)));
    assert_eq!(operator.hear(), Told::SpeakDone);
    let heard = operator.hear_until("the end", |told| *told == Told::SpeakDone);
    let gestures = heard.iter().filter(|told| **told == Told::SpeakGesture(9)).count();
    assert!((1..=64).contains(&gestures), "{gestures}");
    let mut ended = heard.iter().filter(|told| **told == Told::GestureDone).count();
    while ended < gestures {
        assert_eq!(operator.hear(), Told::GestureDone);
        ended += 1;
    }
    assert_eq!(operator.hear_until_now(), [], "each has one end");
}

#[test]
fn each_operator_hears_the_end_of_its_own_text() {
    let robot = Robot::start("");
    let address = robot.address().to_string();
    let (mut first, mut watcher) = (robot.join(), robot.join());
    first.send(speech("This is a text that takes a while."));
    first.send(word(id::GESTURE, 4));
    // it waits for the first text, whose end is not its own
    let said = run(&["oz", "say", "--at", &address, "[yess]Mine."]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "gesture yess\n"), "{}", said.stderr);
    let mut heard = first.hear_until("the end of its text", |told| *told == Told::SpeakDone);
    while heard.len() < 2 {
        heard.push(first.hear());
    }
    assert!(heard.len() == 2 && heard.contains(&Told::GestureDone), "{heard:?}");
    // a long gesture of another one does not end when this short one does
    first.send(word(id::GESTURE, 1));
    let played = run(&["oz", "gesture", "--at", &address, "yesl"]);
    assert_eq!(played.code, Some(0), "{}", played.stderr);
    assert_eq!(first.hear(), Told::GestureDone);
    assert_eq!((first.hear_until_now(), watcher.hear_until_now()), (vec![], vec![]));
}

#[test]
fn a_reset_raises_a_fallen_robot() {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("fall.mcap");
    let robot = Robot::start_as("", |command| command.arg("--record").arg(&recording));
    let mut motion = Client::connect(robot.server.address("OSP")).expect("it answers");
    let mut height = || {
        let values = motion.values("^/Sim/Alice/Position$").expect("it answers");
        let [value] = &values[..] else { panic!("{values:?}") };
        let text = motion.get(value.value).expect("it answers").expect("it can be read");
        let last = text.trim_matches(['(', ')']).rsplit(',').next().expect("three numbers");
        last.trim().parse::<f64>().unwrap_or_else(|_| panic!("{text}"))
    };
    let standing = height();
    let mut operator = robot.join();
    operator.send(float(id::DIRECT_WEIGHT, 1.0));
    operator.send([&id::ALL_SERVOS.to_be_bytes()[..], &0.5_f32.to_be_bytes().repeat(36)].concat());
    eventually("a robot on the ground", || (height() < 0.5 * standing).then_some(()));
    operator.send(id::RESET.to_be_bytes());
    eventually("a robot on her feet", || (height() > 0.95 * standing).then_some(()));
    operator.hear_until_now();
    assert!(height() > 0.95 * standing, "she stays up");
    robot.end();
    let replayed = run(&["replay", "--verify", recording.to_str().expect("a name")]);
    assert!(replayed.code == Some(0) && replayed.stdout.contains("all equal"), "{replayed:?}");
}

#[test]
fn texts_of_old_clients_are_done_as_well() {
    let robot = Robot::start("");
    let mut operator = robot.join();
    for text in [&b"\xFF\xFE"[..], b"caf\xE9", b"\xC0\x80", b"\xED\xA0\x80", b"\xF0\x9F"] {
        operator.send(speech(text));
        operator.hear_until("its end", |told| *told == Told::SpeakDone);
    }
    operator.send(speech("[wob]"));
    assert_eq!([operator.hear(), operator.hear()], [Told::SpeakGesture(12), Told::SpeakDone]);
    operator.hear_until("its end", |told| *told == Told::GestureDone);
    assert_eq!(operator.hear_until_now(), []);
    let log = robot.end();
    assert!(!log.contains("malformed"), "{log}");
}

#[test]
fn unknown_tags_are_ignored() {
    let robot = Robot::start("");
    let mut operator = robot.join();
    for (text, wanted) in [
        ("[nonsense] Hi [[[", &[][..]),
        ("[so [nos] what] [x[y]] [ YESS ] a]b", &[9, 5]),
        ("[braises][nos]Nope. [frowns", &[1, 9, 3]),
        ("\0\u{1}[wob]\n\t\u{202e}ω 你好 👋", &[12]),
    ] {
        operator.send(speech(text));
        let mut heard = operator.hear_until(text, |told| *told == Told::SpeakDone);
        let ended = |heard: &[Told]| heard.iter().filter(|told| **told == Told::GestureDone).count();
        while ended(&heard) < wanted.len() {
            heard.push(operator.hear());
        }
        let gestures: Vec<u32> =
            heard.iter().filter_map(|told| if let Told::SpeakGesture(id) = told { Some(*id) } else { None }).collect();
        assert_eq!(gestures, wanted, "{text}");
        assert_eq!(operator.hear_until_now(), [], "{text}");
    }
}

/// Resident memory of a process, in KiB.
fn memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").trim().parse().expect("a number")
}

#[test]
fn a_client_that_stops_reading_does_not_affect_others() {
    let robot = Robot::start("camera = \"scene\"\nframes = 60.0\nquality = 100");
    let mut idle = robot.join();
    let mut witness = robot.join();
    let frames = |heard: &[Told]| heard.iter().filter(|told| matches!(told, Told::Frame(_))).count();
    let mut hear = |wanted: usize| {
        let (mut seen, mut gestures) = (0, 0);
        while seen < wanted {
            idle.send(word(id::GESTURE, 1));
            seen += frames(&witness.hear_until_now());
            gestures += 1;
        }
        gestures
    };
    hear(20);
    let before = memory(robot.server.id());
    // ten megabytes and more of pictures
    let gestures = hear(120);
    let grown = memory(robot.server.id()).saturating_sub(before);
    assert!(grown < 64 << 10, "{grown} KiB more");
    // it reads again: whole messages, all events, and a picture of now and not all those of then
    idle.send(speech(""));
    let heard = idle.hear_until("its own end", |told| *told == Told::SpeakDone);
    let ends = heard.iter().filter(|told| **told == Told::GestureDone).count();
    assert!(ends >= gestures, "{ends} of {gestures} gestures ended");
    assert!(frames(&heard) < 100, "{} pictures were kept", frames(&heard));
    idle.hear_until("a picture of now", |told| matches!(told, Told::Frame(_)));
}

#[test]
fn many_connections_leave_room_for_the_next() {
    let robot = Robot::start("camera = \"scene\"");
    for number in 0..200 {
        let mut operator = Operator::connect(robot.address());
        match number % 4 {
            0 => {}
            1 => operator.send([0, 0]),
            2 => operator.send(word(id::REQUEST_VERSION, VERSION)),
            _ => operator.send([word(id::REQUEST_VERSION, VERSION), speech("[nos]I am off.")].concat()),
        }
    }
    // more at once than there are places for one source: some are let in, and the others turned away
    let address = robot.address();
    let some = move || (0..24).filter_map(|_| Operator::try_join(address)).collect::<Vec<_>>();
    let crowd: Vec<_> = (0..8).map(|_| thread::spawn(some)).collect();
    let crowd: Vec<Operator> = crowd.into_iter().flat_map(|some| some.join().expect("connected")).collect();
    // a few of those that are let in make room again, as their first message is not handled yet
    assert!((1..180).contains(&crowd.len()), "{} are let in", crowd.len());
    drop(crowd);
    // the server finds out one by one that they have left
    let mut operator = eventually("a place", || Operator::try_join(robot.address()));
    operator.send(id::RESET.to_be_bytes());
    operator.hear_until("a picture", |told| matches!(told, Told::Frame(_)));
    operator.send(speech("[wob]"));
    operator.hear_until("the gesture", |told| *told == Told::SpeakGesture(12));
    assert_eq!(robot.server.page("/health").0, 200);
}

/// The speech process of a server.
fn voice_of(server: u32) -> Option<u32> {
    let is_voice = |process: &u32| {
        let read = |name: &str| fs::read_to_string(format!("/proc/{process}/{name}")).unwrap_or_default();
        let stat = read("stat");
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        // not yet one, or no more
        parent == Some(server) && read("cmdline").contains("speak-for-oz")
    };
    let processes = fs::read_dir("/proc").expect("processes");
    processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).find(is_voice)
}

#[test]
fn a_killed_voice_is_restarted() {
    operating::fetched("voice");
    let robot = Robot::start("voice = \"espeak\"");
    let mut operator = robot.join();
    let server = robot.server.id();
    let kill = |process: u32| {
        let sent = std::process::Command::new("kill").args(["-9", &process.to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()));
        eventually("its end", || (voice_of(server) != Some(process)).then_some(()));
    };
    operator.send(speech("One."));
    assert_eq!(operator.hear(), Told::SpeakDone);
    let first = voice_of(server).expect("it has spoken");
    // between two texts
    kill(first);
    operator.send(speech("[yess]Two."));
    operator.hear_until("the end", |told| *told == Told::SpeakDone);
    let second = voice_of(server).expect("there is another one");
    assert_ne!(first, second);
    // while it speaks: the second sentence is a phrase of its own, as letters that are not known are taken to be long
    let unknown = "\u{200b}".repeat(30);
    operator
        .send(speech(format!("[nos]This is a sentence that takes a while. {unknown}[wob]And this is another one.")));
    operator.hear_until("its beginning", |told| *told == Told::SpeakGesture(9));
    kill(second);
    operator.send(speech(""));
    let mut ends = 0;
    let heard = operator.hear_until("both ends", |told| {
        ends += usize::from(*told == Told::SpeakDone);
        ends == 2
    });
    assert!(heard.contains(&Told::SpeakGesture(12)));
    let third = voice_of(server).expect("and another one");
    assert_ne!(second, third);
    assert_eq!(robot.condition("voice").as_deref(), Some("espeak-ng"), "it works again");
    let log = robot.end();
    assert!(log.contains("speech process failed"), "{log}");
}

#[test]
fn volume_and_reset_act_within_a_text() {
    const TEXT: &str =
        "Well, [nos]this is a sentence that takes quite a while as it goes on and on and on without an end";
    operating::fetched("voice");
    let robot = Robot::start("voice = \"espeak\"\nsound = \"said.wav\"");
    let file = robot.folder.path().join("said.wav");
    let sound = || wav::read(&fs::read(&file).expect("a file")).expect("a sound").samples;
    let mut operator = robot.join();
    operator.send(speech(TEXT));
    operator.hear_until("its beginning", |told| *told == Told::SpeakGesture(9));
    operator.send(float(id::VOICE_VOLUME, 0.0));
    operator.hear_until("its end", |told| *told == Told::SpeakDone);
    let said = sound();
    let (begin, end) = (&said[..said.len() / 8], &said[said.len() - said.len() / 8..]);
    assert!(begin.iter().any(|sample| sample.abs() > 0.05), "it begins aloud");
    assert!(end.iter().all(|sample| *sample == 0.0), "it ends silently");

    operator.send(id::RESET.to_be_bytes());
    operator.send(speech(TEXT));
    operator.hear_until("its beginning", |told| *told == Told::SpeakGesture(9));
    operator.send(id::RESET.to_be_bytes());
    operator.hear_until("its end", |told| *told == Told::SpeakDone);
    let length = eventually("the rest is not spoken", || {
        let length = sound().len() - said.len();
        (length < said.len() * 3 / 4).then_some(length)
    });
    let spoken = &sound()[said.len()..][..length];
    assert!(spoken.iter().any(|sample| sample.abs() > 0.05), "the volume is back at its default");
}

#[test]
fn without_a_voice_the_mouth_moves_silently() {
    let cache = tempfile::tempdir().expect("a folder");
    let robot = Robot::start_as("voice = \"espeak\"", |command| command.env("ROSSUM_CACHE", cache.path()));
    let condition = eventually("a word of the voice", || robot.condition("voice"));
    // the system may have one
    let has_one = condition == "espeak-ng";
    assert!(has_one || condition.contains("NOT WORKING") && condition.contains("fetch-puppet voice"), "{condition}");
    let mut operator = robot.join();
    operator.send(speech("[yess]Hello, [nos]can you hear me?"));
    let heard = operator.hear_until("the end", |told| *told == Told::SpeakDone);
    let gestures: Vec<&Told> = heard.iter().filter(|told| matches!(told, Told::SpeakGesture(_))).collect();
    assert_eq!(gestures, [&Told::SpeakGesture(5), &Told::SpeakGesture(9)]);
    let log = robot.end();
    assert!(has_one || log.contains("espeak-ng not found"), "{log}");
}

#[test]
fn without_a_camera_everything_else_works() {
    for (camera, named) in [("v4l:/dev/video99", "/dev/video99"), ("nothing.png", "nothing.png")] {
        let robot = Robot::start(&format!("camera = \"{camera}\""));
        let mut operator = robot.join();
        let condition = eventually("a word of the camera", || robot.condition("camera"));
        assert!(condition.contains("NOT WORKING") && condition.contains(named), "{condition}");
        assert_eq!(operator.hear_until_now(), [], "no pictures");
        operator.send(speech("[wob]Hello"));
        operator.hear_until("the end", |told| *told == Told::SpeakDone);
        let (status, health) = robot.server.page("/health");
        assert!(status == 200 && health.contains("camera"), "{health}");
        assert!(robot.end().contains(named), "the log names it too");
    }
}

#[test]
fn without_a_microphone_and_a_loudspeaker_everything_else_works() {
    let section = "ears = \"microphone\"\nsound = \"speaker\"\ncamera = \"scene\"";
    let robot = Robot::start_as(section, |command| command.env("PATH", ""));
    let mut operator = robot.join();
    for part in ["ears", "loudspeaker"] {
        let condition = eventually("a word of it", || robot.condition(part));
        assert!(condition.contains("NOT WORKING") && condition.contains("install"), "{part}: {condition}");
    }
    operator.hear_until("a picture", |told| matches!(told, Told::Frame(_)));
    operator.send(speech("[wob]Hello"));
    operator.hear_until("the end", |told| *told == Told::SpeakDone);
    let log = robot.end();
    assert!(log.contains("ears") && log.contains("loudspeaker"), "{log}");
}
