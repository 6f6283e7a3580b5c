use super::*;
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    thread::{self, JoinHandle},
};
use wire::{
    Message,
    oz::{self, Reply},
};

/// Far longer than anything here takes: a test that waits so long has failed.
const LONG: Duration = Duration::from_secs(30);

/// A wait that is meant to be in vain.
const SHORT: Duration = Duration::from_millis(20);

/// A robot on a real socket that does what it is told with the first client.
struct FakeRobot {
    address: SocketAddr,
    thread: JoinHandle<()>,
}

impl FakeRobot {
    fn start(act: impl FnOnce(&mut TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let thread = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(LONG)).unwrap();
            stream.set_nodelay(true).unwrap();
            act(&mut stream);
        });
        Self { address, thread }
    }

    /// Welcomes the client first.
    fn welcoming(act: impl FnOnce(&mut TcpStream) + Send + 'static) -> Self {
        Self::start(move |stream| {
            expect(stream, &Request::RequestVersion(VERSION));
            stream.write_all(&Welcome::new("alice", "Alice, a robot").to_bytes()).unwrap();
            act(stream);
        })
    }

    fn connect(&self) -> Oz {
        let mut client = Oz::connect(self.address, LONG).unwrap();
        assert_eq!(client.next(LONG).unwrap(), Some(Event::Connected));
        client
    }

    fn finish(self) {
        self.thread.join().expect("the client did what was expected");
    }
}

fn expect(stream: &mut TcpStream, request: &Request) {
    let expected = request.to_bytes();
    let mut bytes = vec![0; expected.len()];
    stream.read_exact(&mut bytes).unwrap();
    assert_eq!(bytes, expected, "{request:?}");
}

fn tell(stream: &mut TcpStream, events: &[oz::Event]) {
    let bytes: Vec<u8> = events.iter().flat_map(Message::to_bytes).collect();
    stream.write_all(&bytes).unwrap();
}

/// Stays until the client is gone, so that nothing it still has to read gets lost.
fn linger(stream: &mut TcpStream) {
    match stream.read(&mut [0]) {
        Ok(length) => assert_eq!(length, 0, "the client has nothing more to say"),
        // it left something unread
        Err(error) => assert_eq!(error.kind(), io::ErrorKind::ConnectionReset),
    }
}

fn picture(byte: u8) -> oz::Event {
    oz::Event::VideoFrame(Jpeg::new(vec![byte; 100_000]).unwrap())
}

fn heard(words: &str) -> oz::Event {
    let option = Hypothesis { confidence: 0.5, text: Text::new(words).unwrap() };
    oz::Event::Utterance(Utterance::new([option]).unwrap())
}

#[test]
fn who_the_robot_is() {
    let robot = FakeRobot::welcoming(linger);
    let client = robot.connect();
    assert_eq!((client.name(), client.long_name(), client.version()), ("alice", "Alice, a robot", 0x0100_0000));
    client.disconnect();
    robot.finish();
}

#[test]
fn replies_may_come_byte_by_byte() {
    let face = Face { confidence: 1.0, x: 0.0, y: 0.5, width: 0.25, height: 0.5, name: Text::new("Zoë").unwrap() };
    let events = [
        heard("how are you"),
        oz::Event::Faces(Faces::new([face])),
        oz::Event::VideoFrame(Jpeg::new(vec![0xFF, 0xD8, 0xFF, 0xD9]).unwrap()),
        oz::Event::Faces(Faces::default()),
        oz::Event::SpeakGesture(3),
        oz::Event::SpeakDone,
    ];
    let told = events.clone();
    let robot = FakeRobot::start(move |stream| {
        let welcome = Reply::from(Welcome::new("alice", "Alice"));
        for reply in std::iter::once(welcome).chain(told.map(Reply::from)) {
            for byte in reply.to_bytes() {
                stream.write_all(&[byte]).unwrap();
            }
        }
        expect(stream, &Request::RequestVersion(VERSION));
        linger(stream);
    });
    let mut client = robot.connect();
    for event in events {
        assert_eq!(client.next(LONG).unwrap(), Some(event.into()));
    }
    assert_eq!(client.next(Duration::ZERO).unwrap(), None);
    client.disconnect();
    robot.finish();
}

#[test]
fn bad_handshakes() {
    fn check(reply: &'static [u8], text: &str) {
        let robot = FakeRobot::start(|stream| {
            expect(stream, &Request::RequestVersion(VERSION));
            stream.write_all(reply).unwrap();
        });
        assert_eq!(Oz::connect(robot.address, LONG).unwrap_err().to_string(), text);
        robot.finish();
    }
    check(b"\x02\0\0\0\0\x01a\0\x01b", "the robot uses protocol version 0x02000000, this client 0x01000000");
    check(b"", "the connection is closed; see the robot's log for the reason");
    check(
        b"\x01\0\0\0\0\x05al",
        "the connection was closed in the middle of a message; see the robot's log for the reason",
    );
    check(b"\x02\0\0\0", "the robot uses protocol version 0x02000000, this client 0x01000000");
    check(b"\0\0\0\x14", "the robot sent an invalid message: `version` is 20, outside 16777216..=4294967295");
    check(b"\x01\0\0\0\0\x01\xFF\0\0", "the robot sent an invalid message: missing or malformed `name`");
}

#[test]
fn silence_is_an_error_in_the_end() {
    let robot = FakeRobot::start(|stream| {
        expect(stream, &Request::RequestVersion(VERSION));
        // a part of the answer is no answer; on a busy machine it comes too late for that
        _ = stream.write_all(b"\x01\0");
        linger(stream);
    });
    let error = Oz::connect(robot.address, SHORT).unwrap_err();
    assert_eq!(error.to_string(), "no answer to the version request within 20 ms");
    robot.finish();
}

#[test]
fn addresses_are_tried_in_turn() {
    assert!(matches!(Oz::connect([].as_slice(), LONG), Err(ClientError::NoAddress)));
    let robot = FakeRobot::welcoming(linger);
    // nobody can listen on port 0
    let nobody = SocketAddr::from(([127, 0, 0, 1], 0));
    assert!(matches!(Oz::connect(nobody, LONG), Err(ClientError::Io(_))));
    drop(Oz::connect([nobody, robot.address].as_slice(), LONG).unwrap());
    robot.finish();
}

#[test]
fn every_method_sends_its_message() {
    type Act = fn(&mut Oz) -> Result<(), ClientError>;
    let acts: [(Act, Request); 19] = [
        (|oz| oz.reset(), Request::Reset),
        (|oz| oz.speak("[nos]Nope.").map(drop), Request::Speak(Text::new("[nos]Nope.").unwrap())),
        (|oz| oz.set_voice_gender_language(0), Request::VoiceGenderLanguage(0)),
        (|oz| oz.set_voice_volume(0.5), Request::VoiceVolume(0.5)),
        (|oz| oz.set_voice_pitch(1.5), Request::VoicePitch(1.5)),
        (|oz| oz.gesture(12), Request::Gesture(12)),
        (|oz| oz.set_gesture_weight(0.125), Request::GestureWeight(0.125)),
        (|oz| oz.set_expression(4), Request::Expression(4)),
        (|oz| oz.set_expression_weight(0.25), Request::ExpressionWeight(0.25)),
        (|oz| oz.set_auto_blink_speed(0.1), Request::AutoBlinkSpeed(0.1)),
        (|oz| oz.set_random_head_weight(0.375), Request::RandomHeadWeight(0.375)),
        (|oz| oz.set_random_eyes_weight(0.4), Request::RandomEyesWeight(0.4)),
        (|oz| oz.set_random_face_weight(0.45), Request::RandomFaceWeight(0.45)),
        (|oz| oz.set_servo(35, 0.75), Request::Servo { id: 35, position: 0.75 }),
        (|oz| oz.set_all_servos([0.5; 36]), Request::AllServos([0.5; 36])),
        (|oz| oz.set_direct_weight(0.625), Request::DirectWeight(0.625)),
        (|oz| oz.set_look_at(5), Request::LookAt(5)),
        (|oz| oz.set_look_at_weight(0.875), Request::LookAtWeight(0.875)),
        // out of range, but a number
        (|oz| oz.set_voice_volume(-3.0), Request::VoiceVolume(-3.0)),
    ];
    let requests = acts.clone().map(|(_, request)| request);
    let robot = FakeRobot::welcoming(move |stream| {
        requests.iter().for_each(|request| expect(stream, request));
        linger(stream);
    });
    let mut client = robot.connect();
    for (act, _) in acts {
        act(&mut client).unwrap();
    }
    client.disconnect();
    robot.finish();
}

#[test]
fn getters_know_what_was_set() {
    let robot = FakeRobot::welcoming(|stream| {
        stream.read_to_end(&mut Vec::new()).unwrap();
    });
    let mut client = robot.connect();
    let floats = |oz: &Oz| {
        [
            oz.voice_volume(),
            oz.voice_pitch(),
            oz.gesture_weight(),
            oz.expression_weight(),
            oz.auto_blink_speed(),
            oz.random_head_weight(),
            oz.random_eyes_weight(),
            oz.random_face_weight(),
            oz.direct_weight(),
            oz.look_at_weight(),
        ]
    };
    let ids = |oz: &Oz| [oz.voice_gender_language(), oz.expression(), oz.look_at()];
    let defaults = [1.0, 1.0, 1.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    assert_eq!((floats(&client), ids(&client)), (defaults, [0; 3]));
    assert_eq!(client.all_servos(), [None; 36]);

    client.set_voice_volume(0.1).unwrap();
    client.set_voice_pitch(0.2).unwrap();
    client.set_gesture_weight(0.3).unwrap();
    client.set_expression_weight(0.4).unwrap();
    client.set_auto_blink_speed(0.5).unwrap();
    client.set_random_head_weight(0.6).unwrap();
    client.set_random_eyes_weight(0.7).unwrap();
    client.set_random_face_weight(0.8).unwrap();
    client.set_direct_weight(0.9).unwrap();
    client.set_look_at_weight(0.95).unwrap();
    client.set_voice_gender_language(7).unwrap();
    client.set_expression(1).unwrap();
    client.set_look_at(2).unwrap();
    client.set_servo(3, 0.25).unwrap();
    assert_eq!(floats(&client), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]);
    assert_eq!(ids(&client), [7, 1, 2]);
    assert_eq!((client.servo(3), client.servo(4), client.servo(36)), (Some(0.25), None, None));
    client.set_all_servos([0.5; 36]).unwrap();
    assert_eq!((client.servo(3), client.all_servos()), (Some(0.5), [Some(0.5); 36]));

    client.reset().unwrap();
    assert_eq!((floats(&client), ids(&client)), (defaults, [0; 3]));
    assert_eq!(client.all_servos(), [None; 36]);
    client.disconnect();
    robot.finish();
}

#[test]
fn nonsense_is_not_sent() {
    let robot = FakeRobot::welcoming(linger);
    let mut client = robot.connect();
    let check = |result: Result<(), ClientError>, text: &str| assert_eq!(result.unwrap_err().to_string(), text);
    check(client.set_voice_volume(f32::NAN), "the volume is not finite");
    check(client.set_look_at_weight(f32::INFINITY), "the weight of lookat is not finite");
    check(client.set_servo(36, 0.5), "servo 36 is out of range 0..=35");
    check(client.set_servo(0, f32::NEG_INFINITY), "the position of a servo is not finite");
    let mut positions = [0.5; 36];
    positions[35] = f32::NAN;
    check(client.set_all_servos(positions), "the position of a servo is not finite");
    check(client.set_expression(5), "expression 5 is out of range 0..=4");
    check(client.set_look_at(6), "lookat mode 6 is out of range 0..=5");
    check(client.speak(&"a".repeat(65_536)).map(drop), "text of 65536 bytes exceeds the maximum of 65535");
    assert_eq!((client.voice_volume(), client.expression(), client.servo(0)), (1.0, 0, None));
    assert_eq!((client.speaking(), client.gesturing()), (0, 0));
    client.disconnect();
    robot.finish();
}

#[test]
fn speech_and_gestures_are_counted() {
    let robot = FakeRobot::welcoming(|stream| {
        expect(stream, &Request::Speak(Text::new("[nos]No.").unwrap()));
        expect(stream, &Request::Speak(Text::new("Never.").unwrap()));
        expect(stream, &Request::Gesture(4));
        tell(stream, &[oz::Event::SpeakGesture(9), heard("why"), picture(1), oz::Event::SpeakDone, picture(2)]);
        tell(stream, &[oz::Event::GestureDone, oz::Event::SpeakDone, oz::Event::GestureDone, oz::Event::SpeakDone]);
        linger(stream);
    });
    let mut client = robot.connect();
    assert!(client.wait_for_speak(SHORT).unwrap(), "nothing is said");
    assert_eq!([client.speak("[nos]No.").unwrap(), client.speak("Never.").unwrap()], [1, 2]);
    client.gesture(4).unwrap();
    assert_eq!((client.speaking(), client.gesturing()), (2, 1));

    assert!(client.wait_for_text(1, LONG).unwrap());
    assert_eq!((client.speaking(), client.gesturing()), (1, 2));
    assert!(client.wait_for_speak(LONG).unwrap());
    assert_eq!((client.speaking(), client.gesturing()), (0, 1));
    assert!(client.wait_for_gesture(LONG).unwrap());
    assert_eq!(client.gesturing(), 0);
    // nothing got lost meanwhile but the older picture
    for event in [Event::SpeakStart, Event::SpeakStart, Event::GestureStart(4), Event::SpeakGesture(9)] {
        assert_eq!(client.next(LONG).unwrap(), Some(event));
    }
    let kept = [heard("why").into(), Event::SpeakDone, picture(2).into(), Event::GestureDone];
    for event in kept.into_iter().chain([Event::SpeakDone, Event::GestureDone]) {
        assert_eq!(client.next(LONG).unwrap(), Some(event));
    }
    // one too many is none too many
    assert_eq!(client.next(LONG).unwrap(), Some(Event::SpeakDone));
    assert_eq!(client.speaking(), 0);
    client.disconnect();
    robot.finish();
}

#[test]
fn a_reset_ends_what_went_on() {
    let robot = FakeRobot::welcoming(|stream| {
        expect(stream, &Request::Speak(Text::new("A long story.").unwrap()));
        expect(stream, &Request::Gesture(0));
        expect(stream, &Request::Reset);
        tell(stream, &[oz::Event::SpeakDone, oz::Event::GestureDone]);
        linger(stream);
    });
    let mut client = robot.connect();
    client.speak("A long story.").unwrap();
    client.gesture(0).unwrap();
    assert!(!client.wait_for_speak(SHORT).unwrap());
    client.reset().unwrap();
    assert!(client.wait_for_speak(LONG).unwrap() && client.wait_for_gesture(LONG).unwrap());
    client.disconnect();
    robot.finish();
}

#[test]
fn pictures_can_be_skipped() {
    let robot = FakeRobot::welcoming(|stream| {
        expect(stream, &Request::Gesture(0));
        tell(stream, &[picture(1), oz::Event::GestureDone]);
        expect(stream, &Request::Reset);
        tell(stream, &[picture(2), picture(3), heard("one"), picture(4), heard("two")]);
        linger(stream);
    });
    let mut client = robot.connect();
    client.gesture(0).unwrap();
    assert!(client.wait_for_gesture(LONG).unwrap());
    client.skip_video(true);
    client.reset().unwrap();
    for event in [Event::GestureStart(0), Event::GestureDone, heard("one").into(), heard("two").into()] {
        assert_eq!(client.next(LONG).unwrap(), Some(event));
    }
    client.disconnect();
    robot.finish();
}

#[test]
fn not_everything_is_kept_for_ever() {
    let robot = FakeRobot::welcoming(|stream| {
        expect(stream, &Request::Speak(Text::default()));
        let talk: Vec<_> = (0..300).map(|number| heard(&number.to_string())).chain([oz::Event::SpeakDone]).collect();
        tell(stream, &talk);
        linger(stream);
    });
    let mut client = robot.connect();
    client.speak("").unwrap();
    assert!(client.wait_for_speak(LONG).unwrap());
    let kept: Vec<_> = (0..MAX_KEPT).map(|_| client.next(LONG).unwrap().unwrap()).collect();
    assert_eq!((kept.first(), kept.last()), (Some(&heard("45").into()), Some(&Event::SpeakDone)));
    client.disconnect();
    robot.finish();
}

#[test]
fn a_bad_text_costs_one_message_and_a_bad_id_the_stream() {
    let robot = FakeRobot::welcoming(|stream| {
        stream.write_all(b"\0\0\0\x17\0\0\0\x01\0\0\0\0\0\x01\xFF").unwrap();
        tell(stream, &[oz::Event::SpeakDone]);
        stream.write_all(b"\0\0\0\x02").unwrap();
        tell(stream, &[oz::Event::SpeakDone]);
        linger(stream);
    });
    let mut client = robot.connect();
    let check = |client: &mut Oz, text: &str| assert_eq!(client.next(LONG).unwrap_err().to_string(), text);
    check(&mut client, "the robot sent an invalid message: missing or malformed `text`");
    assert_eq!(client.next(LONG).unwrap(), Some(Event::SpeakDone));
    check(&mut client, "the robot sent an invalid message: unknown message id 0x02");
    check(&mut client, "the robot sent an invalid message: unknown message id 0x02");
    client.disconnect();
    robot.finish();
}

#[test]
fn the_robot_may_leave() {
    let robot = FakeRobot::welcoming(|stream| {
        expect(stream, &Request::Speak(Text::new("Stay!").unwrap()));
        tell(stream, &[oz::Event::SpeakDone]);
    });
    let mut client = robot.connect();
    client.speak("Stay!").unwrap();
    client.speak("Please!").unwrap();
    for event in [Event::SpeakStart, Event::SpeakStart, Event::SpeakDone] {
        assert_eq!(client.next(LONG).unwrap(), Some(event));
    }
    assert!(client.is_connected() && client.speaking() == 1);
    assert!(matches!(client.next(LONG), Err(ClientError::Closed)));
    assert!(!client.is_connected() && client.speaking() == 0);
    robot.finish();
    assert!(matches!(client.speak("Come back!"), Err(ClientError::Closed)));
    assert!(matches!(client.reset(), Err(ClientError::Closed)));
    assert!(matches!(client.wait_for_speak(LONG), Err(ClientError::Closed)));
}

#[test]
fn a_robot_that_takes_nothing_does_not_hold_the_client() {
    let (gave_up, has_given_up) = std::sync::mpsc::sync_channel::<()>(0);
    let robot = FakeRobot::welcoming(move |_| {
        // the other end is dropped
        has_given_up.recv().unwrap_err();
    });
    let mut client = Oz::connect(robot.address, Duration::from_secs(1)).unwrap();
    let text = "a".repeat(65_535);
    let failed = (0..10_000).find_map(|_| client.speak(&text).err());
    assert!(matches!(failed, Some(ClientError::Io(_))), "{failed:?}");
    assert!(matches!(client.speak("a"), Err(ClientError::Closed)));
    drop(gave_up);
    robot.finish();
}
