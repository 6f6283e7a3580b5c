//! Oz over sockets in realistic use: speech is recognised, the head follows a face, and several operators work together.
//!
//! Models are downloaded. The long test takes five minutes instead of a few seconds if `ROSSUM_LONG` is set.

mod operating;
mod running;

use std::{
    fs,
    io::Write,
    net::TcpStream,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use client::odcp::Client;
use operating::{Face, Operator, Robot, Told, fetched, float, id, now, servo, speech, word};
use puppet::hearing::{wav, word_errors};
use running::{eventually, run};

const LOOKAT_LARGEST: u32 = 3;
const LOOKAT_AWAY: u32 = 5;

/// Vision and hearing need the whole machine, so only one robot runs at a time.
fn alone() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The portrait of an astronaut, in front of the robot.
fn person(more: &str) -> String {
    let picture = fetched("faces").join("skimage/data/astronaut.png");
    format!("[[oz.person]]\npicture = \"{}\"\n{more}", picture.display())
}

#[test]
fn the_robot_understands_its_own_speech() {
    const SAID: &str = "The old man walked slowly down the street and bought some bread.";
    let _alone = alone();
    for name in ["voice", "hearing"] {
        fetched(name);
    }
    let speaker = Robot::start("voice = \"espeak\"\nsound = \"said.wav\"");
    let mut operator = speaker.join();
    operator.send(speech(SAID));
    operator.hear_until("the end", |told| *told == Told::SpeakDone);
    let file = speaker.folder.path().join("said.wav");
    let sound = eventually("the sound", || {
        let sound = wav::read(&fs::read(&file).ok()?).ok()?.resampled();
        (sound.len() > 32_000).then_some(sound)
    });
    drop(speaker);

    // it has ears while somebody is there
    let listener = Robot::start("ears = \"tcp:0\"");
    let mut operator = listener.join();
    let address = eventually("ears", || {
        let condition = listener.condition("ears")?;
        condition.strip_prefix("listening to tcp ")?.split(' ').next().map(str::to_owned)
    });
    let mut ear = TcpStream::connect(address).expect("it listens");
    let quiet = vec![0; 32_000];
    let bytes: Vec<u8> = sound.iter().flat_map(|sample| ((sample * 32_000.0) as i16).to_le_bytes()).collect();
    for part in [&quiet, &bytes, &quiet] {
        ear.write_all(part).expect("it listens");
    }
    drop(ear);
    let heard = operator.hear_until("an utterance", |told| matches!(told, Told::Utterance(_)));
    let Some(Told::Utterance(options)) = heard.last() else { unreachable!("the last one is it") };
    let (wrong, all) = word_errors(SAID, &options[0].1);
    assert!(all == 12 && wrong <= 1, "{options:?}");
    assert!(options.windows(2).all(|two| two[0].0 >= two[1].0), "the surest comes first: {options:?}");
}

/// Index of the neck yaw servo, and half of its range, in rad.
const NECK_YAW: (usize, f64) = (21, 1.1);

/// The angle of the robot's neck, in rad: positive to its left.
fn yaw(motors: &mut Client) -> f64 {
    let (servo, reach) = NECK_YAW;
    motors.motors().expect("it answers")[servo] * reach
}

/// Waits for the next face.
fn next_face(operator: &mut Operator) -> Face {
    let is_face = |told: &Told| matches!(told, Told::Faces(faces) if !faces.is_empty());
    match operator.hear_until("a face", is_face).pop() {
        Some(Told::Faces(mut faces)) => faces.remove(0),
        _ => unreachable!("the last one is it"),
    }
}

#[test]
fn the_head_follows_a_moving_face() {
    let _alone = alone();
    // from her left to her right and back, with the face as high as her eyes
    let walk = "position = [1.2, 0.6, 0.78]\nto = [1.2, -0.6, 0.78]\nseconds = 6.0";
    let robot = Robot::start(&format!("camera = \"scene\"\n{}", person(walk)));
    let mut neck = Client::connect(robot.server.address("ODCP of Alice")).expect("it answers");
    let mut operator = robot.join();
    operator.send(word(id::LOOKAT, LOOKAT_LARGEST));
    let first = next_face(&mut operator);
    assert!(first.width > 0.05 && first.height > 0.05, "{first:?}");
    // once to the left and once to the right, whichever comes first
    let (mut left, mut right, mut seen) = (0.0_f64, 0.0_f64, Vec::new());
    let begin = now();
    while left < 0.3 || right > -0.3 {
        let face = next_face(&mut operator);
        let angle = yaw(&mut neck);
        (left, right) = (left.max(angle), right.min(angle));
        if begin.elapsed() > Duration::from_secs(1) {
            seen.push(face.x);
        }
        assert!(begin.elapsed() < running::DEADLINE, "it turns from {right} to {left} only");
    }
    let beside = seen.iter().filter(|x| x.abs() > 0.35).count();
    assert!(!seen.is_empty() && beside * 10 <= seen.len(), "{seen:?}");
    assert!(left < 0.65 && right > -0.65, "{left} {right}");

    // without looking it is the face that moves
    operator.send(float(id::LOOKAT_WEIGHT, 0.0));
    eventually("a head at rest", || (yaw(&mut neck).abs() < 0.05).then_some(()));
    eventually("a face at the edge", || (next_face(&mut operator).x.abs() > 0.5).then_some(()));

    // away from it, which is to the other side
    operator.send(float(id::LOOKAT_WEIGHT, 1.0));
    operator.send(word(id::LOOKAT, LOOKAT_AWAY));
    eventually("a head turned away", || (yaw(&mut neck).abs() > 0.7).then_some(()));
}

/// Messages received by an operator so far.
#[derive(Default)]
struct Account {
    speak_done: usize,
    gesture_done: usize,
    gestures: Vec<u32>,
    frames: usize,
    faces: usize,
}

impl Account {
    fn note(&mut self, told: &Told) {
        match told {
            Told::SpeakDone => self.speak_done += 1,
            Told::GestureDone => self.gesture_done += 1,
            Told::SpeakGesture(id) => self.gestures.push(*id),
            Told::Frame(_) => self.frames += 1,
            Told::Faces(_) => self.faces += 1,
            other => panic!("nobody asked for {other:?}"),
        }
    }
}

/// What an operator has ordered so far.
#[derive(Default)]
struct Ordered {
    texts: usize,
    gestures: usize,
    /// In texts, as long as none was cut short.
    tags: Vec<u32>,
}

impl Ordered {
    /// Whether the ends of all that was ordered have been received.
    fn is_over(&self, account: &Account) -> bool {
        let ends = self.gestures + account.gestures.len();
        account.speak_done == self.texts && account.gesture_done == ends
    }
}

/// Sends a mix of all orders, which varies with `number`.
fn scene(number: u32, one: &mut Operator, other: &mut Operator, ordered: &mut [Ordered; 3]) {
    let part = |of: u32| (number % of) as f32 / (of - 1) as f32;
    one.send(speech(format!("[braises]Take {number}, [frowns] please. [unknown] Thank you [yess].")));
    other.send(word(id::GESTURE, number % 13));
    one.send(word(id::EXPRESSION, number % 5));
    other.send(word(id::LOOKAT, number % 6));
    for (message, value) in [
        (id::VOICE_VOLUME, part(3)),
        (id::VOICE_PITCH, 0.5 + part(4)),
        (id::GESTURE_WEIGHT, part(4)),
        (id::EXPRESSION_WEIGHT, part(5)),
        (id::AUTO_BLINK_SPEED, 10.0 * part(3)),
        (id::RANDOM_HEAD_WEIGHT, part(2)),
        (id::RANDOM_EYES_WEIGHT, part(3)),
        (id::RANDOM_FACE_WEIGHT, part(4)),
        (id::DIRECT_WEIGHT, part(5)),
        (id::LOOKAT_WEIGHT, part(6)),
    ] {
        if number.is_multiple_of(2) { &mut *one } else { &mut *other }.send(float(message, value));
    }
    one.send(servo(number % 36, part(7)));
    other.send([&id::ALL_SERVOS.to_be_bytes()[..], &(0.4 + 0.2 * part(3)).to_be_bytes().repeat(36)].concat());
    other.send(word(id::VOICE_GENDER_LANGUAGE, 0));
    one.send(word(id::GESTURE, 1));
    one.send(id::NOTHING.to_be_bytes());
    other.send(speech("[wob]Mine."));
    let [of_one, of_other, _] = ordered;
    of_one.texts += 1;
    of_one.gestures += 1;
    of_one.tags.extend([1, 3, 5]);
    of_other.texts += 1;
    of_other.gestures += 1;
    of_other.tags.push(12);
}

#[test]
fn concurrent_operators_receive_every_message() {
    let _alone = alone();
    fetched("voice");
    let long = std::env::var_os("ROSSUM_LONG").is_some();
    let length = Duration::from_secs(if long { 300 } else { 20 });
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("play.mcap");
    let walk = "position = [1.2, 0.4, 0.78]\nto = [1.2, -0.4, 0.78]\nseconds = 4.0";
    let section = format!("voice = \"espeak\"\ncamera = \"scene\"\n{}", person(walk));
    let robot = Robot::start_as(&section, |command| command.arg("--record").arg(&recording));

    let mut operators = [robot.join(), robot.join(), robot.join()];
    let mut accounts = [(); 3].map(|()| Account::default());
    let mut ordered = [(); 3].map(|()| Ordered::default());
    let begin = now();
    let mut number = 0;
    while begin.elapsed() < length {
        let [one, other, _] = &mut operators;
        scene(number, one, other, &mut ordered);
        number += 1;
        let is_cut = number.is_multiple_of(4);
        if is_cut {
            // in the middle of it
            one.hear_until("a gesture in speech", |told| {
                accounts[0].note(told);
                *told == Told::SpeakGesture(1)
            });
            other.send(id::RESET.to_be_bytes());
        }
        for ((operator, account), ordered) in operators.iter_mut().zip(&mut accounts).zip(&mut ordered) {
            operator.hear_until("the end of all that it ordered", |told| {
                account.note(told);
                ordered.is_over(account)
            });
            if is_cut {
                ordered.tags.clone_from(&account.gestures);
            }
            assert_eq!(account.gestures, ordered.tags, "in scene {number}");
        }
    }
    // nothing comes that nobody waits for
    for ((operator, account), ordered) in operators.iter_mut().zip(&mut accounts).zip(&mut ordered) {
        operator.send(word(id::GESTURE, 1));
        operator.hear_until("one more gesture", |told| {
            account.note(told);
            *told == Told::GestureDone
        });
        ordered.gestures += 1;
        assert!(ordered.is_over(account), "{} texts, {} gestures", account.speak_done, account.gesture_done);
        assert!(account.frames > 20 && account.faces > 0, "{} pictures, {} faces", account.frames, account.faces);
    }
    drop(operators);
    robot.end();
    let replayed = run(&["replay", "--verify", recording.to_str().expect("a name")]);
    assert_eq!(replayed.code, Some(0), "{replayed:?}");
    assert!(replayed.stdout.contains("all equal") && !replayed.stdout.contains("truncated"), "{}", replayed.stdout);
}
