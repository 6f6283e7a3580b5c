use core::net::SocketAddr;
use std::{path::Path, sync::Arc, time::Instant};

use puppet::{
    director::{PuppetConfig, PuppetDirector},
    hearing::Hypothesis,
    mixer::{MAX_PLAYING, Subsystem},
    puppet::{AttributedOrder, KEPT_EVENTS, PuppetOrder, PuppetView},
    talk::MAX_WAITING,
};
use wire::{
    Message,
    oz::{Event, Jpeg, Reply, Request, SERVO_COUNT, Text, VERSION, VERSION_MISPRINTED, Welcome},
};
use world::{Answer, Command, World};

use super::*;
use crate::{Notice, Outbox, StreamAction, StreamOutbox, StreamService, StreamSession, testing::setup_with};

/// One end of a connection.
struct Peer {
    /// Bytes of an incomplete message.
    unread: Vec<u8>,
    session: Box<dyn StreamSession>,
    told: Vec<Reply>,
    /// What may be left out.
    pictures: Vec<Reply>,
    ordered: Vec<PuppetOrder>,
    refusals: Vec<String>,
    closed: Option<String>,
}

/// Operators and a puppet without sockets; a tick passes whenever it is asked for.
struct Play {
    world: World,
    panel: Arc<OperatorPanel>,
    operators: Operators,
    peers: Vec<Option<Peer>>,
}

#[expect(clippy::disallowed_methods, reason = "an Instant can only be had from the system")]
fn now() -> Instant {
    Instant::now()
}

fn options() -> OperatorOptions {
    OperatorOptions {
        welcome: Welcome::new("alice", "Alice, a simulated humanoid"),
        control: Control::All,
        swap_volume_and_pitch: false,
    }
}

fn address(peer: usize) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 1_000 + peer as u16))
}

fn speak(text: &str) -> Request {
    Request::Speak(Text::new(text).unwrap())
}

impl Play {
    fn with(options: OperatorOptions) -> Self {
        let mut setup = setup_with("flat", Some(("Alice", "alice")));
        (setup.timestep, setup.steps_per_tick) = (Some(0.005), 2);
        let config = PuppetConfig { robot: "Alice".to_owned(), blinks: 2.0, gestures: Vec::new() };
        setup.directors.push(format!("oz {}", config.description()));
        let director = PuppetDirector::new(&config).unwrap();
        let world = World::with_directors(&setup, vec![Box::new(director)]).unwrap();
        let panel = Arc::<OperatorPanel>::default();
        let operators = Operators::new(options, Arc::clone(&panel));
        Self { world, panel, operators, peers: Vec::new() }
    }

    fn new() -> Self {
        Self::with(options())
    }

    fn connect(&mut self) -> usize {
        let index = self.peers.len();
        let session = self.operators.open(address(index));
        let (told, pictures, ordered, refusals) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        self.peers.push(Some(Peer { unread: Vec::new(), session, told, pictures, ordered, refusals, closed: None }));
        index
    }

    /// Connects, and asks for the right version.
    fn join(&mut self) -> usize {
        let peer = self.connect();
        self.send(peer, &Request::RequestVersion(VERSION));
        assert!(matches!(self.told(peer)[..], [Reply::Welcome(_)]));
        peer
    }

    fn leave(&mut self, peer: usize) {
        self.peers[peer] = None;
    }

    fn peer(&mut self, peer: usize) -> &mut Peer {
        self.peers[peer].as_mut().expect("it has not left")
    }

    fn send(&mut self, peer: usize, request: &Request) {
        self.send_bytes(peer, &request.to_bytes());
    }

    fn send_bytes(&mut self, index: usize, bytes: &[u8]) {
        let (mut out, mut buffer) = (Outbox::default(), std::mem::take(&mut self.peer(index).unread));
        buffer.extend(bytes);
        let latest = self.world.snapshot();
        self.peer(index).session.receive(address(index), &mut buffer, &latest, now(), &mut out);
        self.peer(index).unread = buffer;
        self.carry_out(index, out);
    }

    fn tick(&mut self) {
        self.world.tick();
        let latest = self.world.snapshot();
        for index in 0..self.peers.len() {
            let Some(peer) = &mut self.peers[index] else { continue };
            let mut out = Outbox::default();
            peer.session.notify(Notice::Tick, &latest, now(), &mut out);
            self.carry_out(index, out);
        }
    }

    fn carry_out(&mut self, index: usize, out: StreamOutbox<Vec<u8>>) {
        let Self { world, peers, .. } = self;
        let peer = peers[index].as_mut().expect("it has not left");
        let decoded = |(to, bytes): (SocketAddr, Vec<u8>)| {
            assert_eq!(to, address(index));
            Reply::decode(&bytes).unwrap()
        };
        peer.told.extend(out.replies.into_iter().map(decoded));
        for action in out.actions {
            match action {
                StreamAction::SendDroppable(bytes) => peer.pictures.push(decoded((address(index), bytes))),
                StreamAction::Close(reason) => peer.closed = peer.closed.take().or(Some(reason)),
                StreamAction::StopServer(who) => panic!("{who}"),
            }
        }
        peer.refusals.extend(out.refusals.into_iter().map(|refusal| refusal.reason));
        let mut answers = Outbox::default();
        for command in out.commands {
            let Command::Order(order) = command else { panic!("{command:?}") };
            let AttributedOrder { source, order: given } = order.downcast_ref().expect("an order for the puppet");
            assert_eq!(*source, address(index).to_string());
            peer.ordered.push(given.clone());
            let answer = match world.deliver_order(order) {
                Ok(None) => continue,
                Ok(Some(answer)) => Answer::Ordered(answer),
                Err(refusal) => Answer::Refused(refusal.into()),
            };
            peer.session.notify(Notice::Answer(answer), &world.snapshot(), now(), &mut answers);
        }
        peer.told.extend(answers.replies.into_iter().map(decoded));
        peer.refusals.extend(answers.refusals.into_iter().map(|refusal| refusal.reason));
        assert!(answers.actions.is_empty() && answers.commands.is_empty());
    }

    /// What it was told since it was last asked.
    fn told(&mut self, peer: usize) -> Vec<Reply> {
        std::mem::take(&mut self.peer(peer).told)
    }

    fn events(&mut self, peer: usize) -> Vec<Event> {
        let event = |reply| match reply {
            Reply::Event(event) => event,
            Reply::Welcome(_) => panic!("nobody asked for a version"),
        };
        self.told(peer).into_iter().map(event).collect()
    }

    fn refusals(&mut self, peer: usize) -> Vec<String> {
        std::mem::take(&mut self.peer(peer).refusals)
    }

    /// As the next tick shows them.
    fn weights(&mut self) -> puppet::mixer::Weights {
        self.tick();
        self.world.snapshot().view::<PuppetView>().unwrap().weights
    }
}

fn jpeg(byte: u8) -> Jpeg {
    Jpeg::new(vec![byte; 8]).unwrap()
}

#[test]
fn nothing_is_said_before_the_version_is_asked_for() {
    let mut play = Play::new();
    let witness = play.join();
    let peer = play.connect();
    play.send(witness, &Request::Gesture(1));
    play.panel.show(jpeg(1));
    play.send(peer, &Request::Nothing);
    (0..120).for_each(|_| play.tick());
    assert_eq!((play.told(peer), play.peer(peer).pictures.len()), (vec![], 0));
    assert_eq!(play.events(witness), [Event::GestureDone]);
    assert_eq!(play.peer(peer).closed, None, "NOTHING costs nothing");

    play.send(peer, &Request::RequestVersion(VERSION));
    let [Reply::Welcome(welcome)] = &play.told(peer)[..] else { panic!("one answer") };
    assert_eq!(
        welcome.to_bytes(),
        [&VERSION.to_be_bytes()[..], b"\0\x05alice\0\x1bAlice, a simulated humanoid"].concat()
    );
    play.tick();
    assert_eq!(play.told(peer), [], "what has happened before is not told");
    assert_eq!(play.peer(peer).pictures.len(), 0, "nor what was seen");
    play.panel.show(jpeg(2));
    play.tick();
    assert_eq!(play.peer(peer).pictures.len(), 1, "what is seen now is");
}

#[test]
fn another_version_is_told_ours_and_may_ask_again() {
    let mut play = Play::new();
    let peer = play.connect();
    for version in [0, 1, 0x0200_0000, 0x0100_0001, u32::MAX] {
        play.send(peer, &Request::RequestVersion(version));
        let [Reply::Welcome(welcome)] = &play.told(peer)[..] else { panic!("one answer") };
        assert_eq!(welcome.to_bytes()[..4], VERSION.to_be_bytes(), "{version:#x}");
        assert_eq!(play.refusals(peer).len(), 1);
        play.panel.show(jpeg(1));
        play.tick();
        assert_eq!((play.told(peer), play.peer(peer).pictures.len()), (vec![], 0), "{version:#x}");
        assert!(!play.panel.has_operators(), "who only asks is no operator");
    }
    // as the document prints it
    play.send(peer, &Request::RequestVersion(VERSION_MISPRINTED));
    assert!(play.panel.has_operators());
    play.panel.show(jpeg(2));
    play.tick();
    assert_eq!(play.peer(peer).pictures.len(), 1);
    // and at any time again, with one seat all the same
    play.send(peer, &Request::RequestVersion(VERSION));
    play.send(peer, &Request::RequestVersion(7));
    play.send(peer, &Request::Gesture(1));
    assert_eq!(play.peer(peer).ordered, [PuppetOrder::Gesture(1)]);
    play.leave(peer);
    assert!(!play.panel.has_operators());
}

#[test]
fn anything_else_before_the_handshake_closes() {
    for request in [Request::Reset, speak("Hello"), Request::Gesture(0), Request::LookAtWeight(1.0)] {
        let mut play = Play::new();
        let peer = play.connect();
        play.send_bytes(peer, &[request.to_bytes(), Request::RequestVersion(VERSION).to_bytes()].concat());
        assert!(play.peer(peer).closed.is_some(), "{request:?}");
        assert_eq!((play.told(peer), play.peer(peer).ordered.len()), (vec![], 0), "{request:?}");
    }
    // also after a version that is not ours
    let mut play = Play::new();
    let peer = play.connect();
    play.send(peer, &Request::RequestVersion(2));
    play.send(peer, &Request::Reset);
    assert!(play.peer(peer).closed.is_some());
}

/// Every request, and the order it becomes.
fn table() -> Vec<(Request, PuppetOrder)> {
    let weigh = |subsystem| PuppetOrder::Weigh(subsystem, 0.25);
    vec![
        (Request::Reset, PuppetOrder::Reset),
        (speak("Hi [nos]"), PuppetOrder::Speak("Hi [nos]".to_owned())),
        (speak(""), PuppetOrder::Speak(String::new())),
        (Request::VoiceGenderLanguage(0), PuppetOrder::Voice(0)),
        (Request::VoiceVolume(0.25), PuppetOrder::Volume(0.25)),
        (Request::VoicePitch(0.75), PuppetOrder::Pitch(0.75)),
        (Request::Gesture(12), PuppetOrder::Gesture(12)),
        (Request::GestureWeight(0.25), weigh(Subsystem::Gesture)),
        (Request::Expression(4), PuppetOrder::Expression(4)),
        (Request::ExpressionWeight(0.25), weigh(Subsystem::Expression)),
        (Request::AutoBlinkSpeed(3.0), PuppetOrder::Blink(3.0)),
        (Request::RandomHeadWeight(0.25), weigh(Subsystem::RandomHead)),
        (Request::RandomEyesWeight(0.25), weigh(Subsystem::RandomEyes)),
        (Request::RandomFaceWeight(0.25), weigh(Subsystem::RandomFace)),
        (Request::Servo { id: 35, position: 0.125 }, PuppetOrder::Servo(35, 0.125)),
        (Request::AllServos([0.5; SERVO_COUNT]), PuppetOrder::Servos(vec![0.5; SERVO_COUNT])),
        (Request::DirectWeight(0.25), weigh(Subsystem::Direct)),
        (Request::LookAt(5), PuppetOrder::LookAt(5)),
        (Request::LookAtWeight(0.25), weigh(Subsystem::LookAt)),
    ]
}

#[test]
fn each_request_becomes_its_order() {
    let mut play = Play::new();
    let peer = play.join();
    // all in one read, with nothings in between
    let mut bytes = Vec::new();
    for (request, _) in table() {
        bytes.extend(request.to_bytes());
        bytes.extend(Request::Nothing.to_bytes());
    }
    play.send_bytes(peer, &bytes);
    let expected: Vec<PuppetOrder> = table().into_iter().map(|(_, order)| order).collect();
    assert_eq!(play.peer(peer).ordered, expected);
    assert_eq!(play.refusals(peer), [""; 0], "the puppet takes them all");
    let w = play.weights();
    let all = [w.gesture, w.expression, w.look_at, w.random_head, w.random_eyes, w.random_face, w.direct];
    assert_eq!(all, [0.25; 7]);
}

#[test]
fn volume_and_pitch_can_be_swapped() {
    let mut play = Play::with(OperatorOptions { swap_volume_and_pitch: true, ..options() });
    let peer = play.join();
    // by their ids, 5 and 6
    play.send_bytes(peer, &[0, 0, 0, 5, 0x3F, 0x40, 0, 0]);
    play.send_bytes(peer, &[0, 0, 0, 6, 0x3E, 0x80, 0, 0]);
    play.send(peer, &Request::GestureWeight(0.5));
    let weigh = PuppetOrder::Weigh(Subsystem::Gesture, 0.5);
    assert_eq!(play.peer(peer).ordered, [PuppetOrder::Pitch(0.75), PuppetOrder::Volume(0.25), weigh]);
}

#[test]
fn numbers_are_refused_or_brought_back() {
    let mut play = Play::new();
    let peer = play.join();
    let before = play.weights();
    let bad = [
        Request::GestureWeight(f32::NAN),
        Request::LookAtWeight(f32::INFINITY),
        Request::DirectWeight(f32::NEG_INFINITY),
        Request::VoiceVolume(f32::NAN),
        Request::VoicePitch(f32::INFINITY),
        Request::AutoBlinkSpeed(f32::NAN),
        Request::Servo { id: 0, position: f32::NAN },
        Request::Servo { id: 36, position: 0.5 },
        Request::AllServos([f32::NAN; SERVO_COUNT]),
        Request::Gesture(13),
        Request::Gesture(u32::MAX),
        Request::Expression(5),
        Request::LookAt(6),
        Request::VoiceGenderLanguage(1),
    ];
    for request in &bad {
        play.send(peer, request);
        assert_eq!(play.refusals(peer).len(), 1, "{request:?}");
    }
    assert_eq!((play.weights(), play.peer(peer).closed.take()), (before, None));
    play.send(peer, &Request::GestureWeight(7.0));
    play.send(peer, &Request::LookAtWeight(-3e38));
    let weights = play.weights();
    assert_eq!((weights.gesture, weights.look_at), (1.0, 0.0));
    assert_eq!(play.refusals(peer), [""; 0]);
}

#[test]
fn text_that_is_not_utf8_is_refused_and_the_stream_goes_on() {
    let mut play = Play::new();
    let peer = play.join();
    let bad = b"\0\0\0\x03\0\x03\xFF\xFEx";
    play.send_bytes(peer, &[bad, &speak("ok").to_bytes()[..]].concat());
    assert_eq!(play.refusals(peer).len(), 1);
    assert_eq!(play.peer(peer).ordered, [PuppetOrder::Speak("ok".to_owned())]);
    assert_eq!(play.peer(peer).closed, None);
}

#[test]
fn an_unknown_id_closes() {
    for id in [0x14, 0x19, 0x1A, 0xFFFF_FFFF_u32] {
        let mut play = Play::new();
        let (peer, witness) = (play.join(), play.join());
        play.send_bytes(peer, &id.to_be_bytes());
        assert!(play.peer(peer).closed.is_some(), "{id:#x}");
        assert_eq!(play.peer(witness).closed, None);
    }
}

#[test]
fn with_one_in_control_the_others_look_on() {
    let mut play = Play::with(OperatorOptions { control: Control::One, ..options() });
    let (first, second, third) = (play.join(), play.join(), play.join());
    // who comes first is not in control, nor who resets, as old clients do; who gives the first order is
    play.send(first, &Request::Reset);
    play.send(second, &Request::Gesture(1));
    play.send(first, &speak("Hello"));
    play.send(first, &Request::Gesture(4));
    play.send(first, &Request::DirectWeight(1.0));
    assert_eq!(play.events(first), [Event::SpeakDone, Event::GestureDone], "at once, so that nobody waits");
    assert_eq!(play.refusals(first).len(), 3);
    assert_eq!(play.peer(first).ordered, [PuppetOrder::Reset]);
    play.send(first, &Request::Reset);
    assert_eq!(play.refusals(first).len(), 1);
    assert_eq!(play.weights().direct, 0.0);
    (0..60).for_each(|_| play.tick());
    for peer in [first, second, third] {
        assert_eq!(play.events(peer), [Event::GestureDone], "what happens is told to all");
    }
    play.leave(second);
    play.send(third, &Request::DirectWeight(0.5));
    play.send(first, &Request::DirectWeight(1.0));
    assert_eq!((play.weights().direct, play.refusals(first).len()), (0.5, 1));
    play.leave(third);
    play.send(first, &Request::DirectWeight(1.0));
    assert_eq!((play.weights().direct, play.refusals(first).len()), (1.0, 0));
}

#[test]
fn all_operators_are_told_all_events() {
    let mut play = Play::new();
    let (one, other) = (play.join(), play.join());
    play.send(one, &speak("[nos][wob]"));
    play.send(other, &Request::Gesture(1));
    (0..300).for_each(|_| play.tick());
    let late = play.join();
    let told = play.events(one);
    let speech = [Event::SpeakGesture(9), Event::SpeakGesture(12), Event::SpeakDone];
    assert_eq!(told[..3], speech);
    assert_eq!(told[3..], [Event::GestureDone, Event::GestureDone, Event::GestureDone]);
    assert_eq!(play.events(other), told);
    play.tick();
    assert_eq!(play.events(late), [], "who comes later is told what comes later");
}

#[test]
fn a_picture_is_sent_once_and_may_be_left_out() {
    let mut play = Play::new();
    let (one, other) = (play.join(), play.join());
    play.tick();
    assert_eq!(play.peer(one).pictures, [], "there is none yet");
    play.panel.show(jpeg(1));
    play.tick();
    play.tick();
    play.panel.show(jpeg(2));
    play.panel.show(jpeg(3));
    play.tick();
    let expected = [1, 3].map(|byte| Reply::Event(Event::VideoFrame(jpeg(byte))));
    for peer in [one, other] {
        assert_eq!(play.peer(peer).pictures, expected, "each once, and never an old one");
        assert_eq!(play.told(peer), []);
    }
}

#[test]
fn the_ends_of_everything_at_once_are_told_in_portions() {
    let mut play = Play::new();
    let (one, other) = (play.join(), play.join());
    // it takes a moment until the first is begun, so that all wait
    (0..MAX_WAITING + 10).for_each(|_| play.send(one, &speak("A long text.")));
    (0..MAX_PLAYING + 10).for_each(|_| play.send(one, &Request::Gesture(6)));
    assert_eq!(play.refusals(one).len(), 20, "too many is said so");
    play.send(one, &Request::Reset);
    let mut told = [play.events(one), Vec::new()];
    for _ in 0..10 {
        play.tick();
        for (told, peer) in told.iter_mut().zip([one, other]) {
            let portion = play.events(peer);
            // what waits to be written has a limit, and who reads is not closed
            assert!(portion.len() <= crate::limits::WRITE_QUEUE / 2, "{}", portion.len());
            told.extend(portion);
        }
    }
    // what was too much has its end for whoever wanted it
    for (told, more) in told.iter().zip([10, 0]) {
        let count = |wanted: &Event| told.iter().filter(|event| *event == wanted).count();
        assert_eq!(count(&Event::SpeakDone), MAX_WAITING + more);
        assert_eq!(count(&Event::GestureDone), MAX_PLAYING + more);
    }
    assert_eq!((play.peer(one).closed.take(), play.peer(other).closed.take()), (None, None));
}

#[test]
fn who_orders_without_end_harms_nobody() {
    let mut play = Play::new();
    let (flood, witness) = (play.join(), play.join());
    let many: Vec<u8> = (0..2 * KEPT_EVENTS).flat_map(|_| Request::Gesture(1).to_bytes()).collect();
    let mut done = 0;
    for _ in 0..20 {
        play.send_bytes(flood, &many);
        play.tick();
        assert_eq!(play.peer(witness).closed, None);
        assert!(play.events(witness).len() <= crate::limits::WRITE_QUEUE / 2);
        done += play.events(flood).iter().filter(|event| **event == Event::GestureDone).count();
    }
    (0..200).for_each(|_| play.tick());
    done += play.events(flood).len();
    assert_eq!(done, 20 * 2 * KEPT_EVENTS, "each has its end");
    play.events(witness);
    play.send(witness, &Request::Gesture(1));
    (0..60).for_each(|_| play.tick());
    assert_eq!(play.events(witness), [Event::GestureDone]);
}

#[test]
fn who_is_too_far_behind_is_closed() {
    let mut play = Play::new();
    let peer = play.join();
    let options = vec![Hypothesis { confidence: 0.5, text: "Hello".to_owned() }];
    let heard = AttributedOrder::new("test", PuppetOrder::Hear(options));
    for _ in 0..KEPT_EVENTS {
        play.world.order::<PuppetDirector>(heard.clone()).unwrap();
    }
    play.tick();
    assert_eq!(play.peer(peer).closed, None, "all that it has not been told is kept");
    for _ in 0..KEPT_EVENTS {
        play.world.order::<PuppetDirector>(heard.clone()).unwrap();
    }
    play.tick();
    assert!(play.peer(peer).closed.is_some());
}

fn bytes_from_hex(hex: &str) -> Vec<u8> {
    hex.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Ticks within which a reply must arrive.
const MAX_TICKS: usize = 1_000;

#[test]
fn transcripts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/oz/transcripts");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let transcript: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let (mut play, mut peers) = (Play::new(), std::collections::BTreeMap::new());
        for (number, step) in transcript["steps"].as_array().unwrap().iter().enumerate() {
            let context = format!("step {number} of {}", path.display());
            let peer = *peers.entry(step["from"].as_str().unwrap_or("a")).or_insert_with(|| play.connect());
            let bytes = |key: &str| step[key].as_str().map(bytes_from_hex);
            if let Some(request) = bytes("send") {
                play.send_bytes(peer, &request);
            } else if let Some(expected) = bytes("expect") {
                let mut ticks = 0..MAX_TICKS;
                while play.peer(peer).told.is_empty() && ticks.next().is_some() {
                    play.tick();
                }
                let told = &mut play.peer(peer).told;
                assert!(!told.is_empty(), "{context}: no reply");
                assert_eq!(told.remove(0).to_bytes(), expected, "{context}");
            } else if step["expect_closed"] == true {
                assert!(play.peer(peer).closed.is_some(), "{context}");
            } else {
                assert_eq!(step["expect_none"], true, "{context}: unknown step");
                play.tick();
                assert_eq!(play.peer(peer).told, [], "{context}");
            }
        }
        count += 1;
    }
    assert!(count >= 10, "only {count} transcripts were found");
}
