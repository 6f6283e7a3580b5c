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
use crate::{BytesOutbox, Context, Notice, Outbox, StreamEffect, StreamService, StreamSession, testing::setup_with};

/// One end of a connection.
struct Peer {
    /// Bytes of an incomplete message.
    unread: Vec<u8>,
    session: Box<dyn StreamSession>,
    received: Vec<Reply>,
    /// Droppable messages received.
    images: Vec<Reply>,
    ordered: Vec<PuppetOrder>,
    refusals: Vec<String>,
    closed: Option<String>,
}

/// Operators of a puppet without sockets; the test runs the ticks.
struct Harness {
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

impl Harness {
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
        let (received, images, ordered, refusals) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        self.peers.push(Some(Peer { unread: Vec::new(), session, received, images, ordered, refusals, closed: None }));
        index
    }

    /// Connects with the supported version.
    fn join(&mut self) -> usize {
        let peer = self.connect();
        self.send(peer, &Request::RequestVersion(VERSION));
        assert!(matches!(self.received(peer)[..], [Reply::Welcome(_)]));
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
        let mut buffer = std::mem::take(&mut self.peer(index).unread);
        buffer.extend(bytes);
        loop {
            let (mut out, latest) = (Outbox::default(), self.world.snapshot());
            let context = Context::new(&latest, now());
            let turn = self.peer(index).session.receive(address(index), &mut buffer, context, &mut out);
            self.execute(index, out);
            if !turn.is_over {
                break;
            }
        }
        self.peer(index).unread = buffer;
    }

    fn tick(&mut self) {
        self.world.tick();
        let latest = self.world.snapshot();
        for index in 0..self.peers.len() {
            let Some(peer) = &mut self.peers[index] else { continue };
            let mut out = Outbox::default();
            peer.session.notify(Notice::Tick, Context::new(&latest, now()), &mut out);
            self.execute(index, out);
        }
    }

    fn execute(&mut self, index: usize, out: BytesOutbox) {
        let Self { world, peers, .. } = self;
        let peer = peers[index].as_mut().expect("it has not left");
        let decoded = |(to, bytes): (SocketAddr, bytes::Bytes)| {
            assert_eq!(to, address(index));
            Reply::decode(&bytes).unwrap()
        };
        peer.received.extend(out.replies.into_iter().map(decoded));
        for effect in out.effects {
            match effect {
                StreamEffect::SendDroppable(bytes) => peer.images.push(decoded((address(index), bytes))),
                StreamEffect::Close(reason) => peer.closed = peer.closed.take().or(Some(reason)),
                StreamEffect::StopServer(who) => panic!("{who}"),
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
            peer.session.notify(Notice::Answer(answer), Context::new(&world.snapshot(), now()), &mut answers);
        }
        peer.received.extend(answers.replies.into_iter().map(decoded));
        peer.refusals.extend(answers.refusals.into_iter().map(|refusal| refusal.reason));
        assert!(answers.effects.is_empty() && answers.commands.is_empty());
    }

    /// Replies received since the last call.
    fn received(&mut self, peer: usize) -> Vec<Reply> {
        std::mem::take(&mut self.peer(peer).received)
    }

    fn events(&mut self, peer: usize) -> Vec<Event> {
        let event = |reply| match reply {
            Reply::Event(event) => event,
            Reply::Welcome(_) => panic!("unexpected welcome"),
        };
        self.received(peer).into_iter().map(event).collect()
    }

    fn refusals(&mut self, peer: usize) -> Vec<String> {
        std::mem::take(&mut self.peer(peer).refusals)
    }

    /// The weights after the next tick.
    fn weights(&mut self) -> puppet::mixer::Weights {
        self.tick();
        self.world.snapshot().view::<PuppetView>().unwrap().weights
    }
}

fn jpeg(byte: u8) -> Jpeg {
    Jpeg::new(vec![byte; 8]).unwrap()
}

#[test]
fn nothing_is_sent_before_the_handshake() {
    let mut harness = Harness::new();
    let witness = harness.join();
    let peer = harness.connect();
    harness.send(witness, &Request::Gesture(1));
    harness.panel.show(jpeg(1));
    harness.send(peer, &Request::Nothing);
    (0..120).for_each(|_| harness.tick());
    assert_eq!((harness.received(peer), harness.peer(peer).images.len()), (vec![], 0));
    assert_eq!(harness.events(witness), [Event::GestureDone]);
    assert_eq!(harness.peer(peer).closed, None, "NOTHING costs nothing");

    harness.send(peer, &Request::RequestVersion(VERSION));
    let [Reply::Welcome(welcome)] = &harness.received(peer)[..] else { panic!("one answer") };
    assert_eq!(
        welcome.to_bytes(),
        [&VERSION.to_be_bytes()[..], b"\0\x05alice\0\x1bAlice, a simulated humanoid"].concat()
    );
    harness.tick();
    assert_eq!(harness.received(peer), [], "earlier events are not sent");
    assert_eq!(harness.peer(peer).images.len(), 0, "nor earlier images");
    harness.panel.show(jpeg(2));
    harness.tick();
    assert_eq!(harness.peer(peer).images.len(), 1, "new images are");
}

#[test]
fn an_unsupported_version_is_answered_with_ours() {
    let mut harness = Harness::new();
    let peer = harness.connect();
    for version in [0, 1, 0x0200_0000, 0x0100_0001, u32::MAX] {
        harness.send(peer, &Request::RequestVersion(version));
        let [Reply::Welcome(welcome)] = &harness.received(peer)[..] else { panic!("one answer") };
        assert_eq!(welcome.to_bytes()[..4], VERSION.to_be_bytes(), "{version:#x}");
        assert_eq!(harness.refusals(peer).len(), 1);
        harness.panel.show(jpeg(1));
        harness.tick();
        assert_eq!((harness.received(peer), harness.peer(peer).images.len()), (vec![], 0), "{version:#x}");
        assert!(!harness.panel.has_operators(), "not an operator before the handshake");
    }
    // as printed in the document
    harness.send(peer, &Request::RequestVersion(VERSION_MISPRINTED));
    assert!(harness.panel.has_operators());
    harness.panel.show(jpeg(2));
    harness.tick();
    assert_eq!(harness.peer(peer).images.len(), 1);
    // repeated at any time, without another ticket
    harness.send(peer, &Request::RequestVersion(VERSION));
    harness.send(peer, &Request::RequestVersion(7));
    harness.send(peer, &Request::Gesture(1));
    assert_eq!(harness.peer(peer).ordered, [PuppetOrder::Gesture(1)]);
    harness.leave(peer);
    assert!(!harness.panel.has_operators());
}

#[test]
fn any_other_message_before_the_handshake_closes_the_connection() {
    for request in [Request::Reset, speak("Hello"), Request::Gesture(0), Request::LookAtWeight(1.0)] {
        let mut harness = Harness::new();
        let peer = harness.connect();
        harness.send_bytes(peer, &[request.to_bytes(), Request::RequestVersion(VERSION).to_bytes()].concat());
        assert!(harness.peer(peer).closed.is_some(), "{request:?}");
        assert_eq!((harness.received(peer), harness.peer(peer).ordered.len()), (vec![], 0), "{request:?}");
    }
    // also after an unsupported version
    let mut harness = Harness::new();
    let peer = harness.connect();
    harness.send(peer, &Request::RequestVersion(2));
    harness.send(peer, &Request::Reset);
    assert!(harness.peer(peer).closed.is_some());
}

/// Every request with its order.
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
fn requests_become_orders() {
    let mut harness = Harness::new();
    let peer = harness.join();
    // all in one read, with no-ops in between
    let mut bytes = Vec::new();
    for (request, _) in table() {
        bytes.extend(request.to_bytes());
        bytes.extend(Request::Nothing.to_bytes());
    }
    harness.send_bytes(peer, &bytes);
    let expected: Vec<PuppetOrder> = table().into_iter().map(|(_, order)| order).collect();
    assert_eq!(harness.peer(peer).ordered, expected);
    assert_eq!(harness.refusals(peer), [""; 0], "the puppet accepts them all");
    let w = harness.weights();
    let all = [w.gesture, w.expression, w.look_at, w.random_head, w.random_eyes, w.random_face, w.direct];
    assert_eq!(all, [0.25; 7]);
}

#[test]
fn a_number_that_is_not_finite_leaves_no_trace() {
    let run = |requests: &[Request]| {
        let mut harness = Harness::new();
        let peer = harness.join();
        harness.send(peer, &Request::DirectWeight(1.0));
        harness.send(peer, &Request::Servo { id: 3, position: 0.7 });
        for _ in 0..20 {
            harness.tick();
        }
        for request in requests {
            harness.send(peer, request);
            assert_eq!(harness.refusals(peer).len(), 1, "{request:?}");
        }
        for _ in 0..100 {
            harness.tick();
        }
        harness.world.state_hash()
    };
    let untouched = run(&[]);
    for number in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut one = [0.5; SERVO_COUNT];
        one[7] = number;
        let hash = run(&[
            Request::Servo { id: 3, position: number },
            Request::AllServos(one),
            Request::GestureWeight(number),
            Request::LookAtWeight(number),
            Request::DirectWeight(number),
            Request::VoiceVolume(number),
            Request::VoicePitch(number),
            Request::AutoBlinkSpeed(number),
        ]);
        assert_eq!(hash, untouched, "{number}");
    }
}

#[test]
fn volume_and_pitch_can_be_swapped() {
    let mut harness = Harness::with(OperatorOptions { swap_volume_and_pitch: true, ..options() });
    let peer = harness.join();
    // by their ids 5 and 6
    harness.send_bytes(peer, &[0, 0, 0, 5, 0x3F, 0x40, 0, 0]);
    harness.send_bytes(peer, &[0, 0, 0, 6, 0x3E, 0x80, 0, 0]);
    harness.send(peer, &Request::GestureWeight(0.5));
    let weigh = PuppetOrder::Weigh(Subsystem::Gesture, 0.5);
    assert_eq!(harness.peer(peer).ordered, [PuppetOrder::Pitch(0.75), PuppetOrder::Volume(0.25), weigh]);
}

#[test]
fn numbers_are_refused_or_clamped() {
    let mut harness = Harness::new();
    let peer = harness.join();
    let before = harness.weights();
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
        harness.send(peer, request);
        assert_eq!(harness.refusals(peer).len(), 1, "{request:?}");
    }
    assert_eq!((harness.weights(), harness.peer(peer).closed.take()), (before, None));
    harness.send(peer, &Request::GestureWeight(7.0));
    harness.send(peer, &Request::LookAtWeight(-3e38));
    let weights = harness.weights();
    assert_eq!((weights.gesture, weights.look_at), (1.0, 0.0));
    assert_eq!(harness.refusals(peer), [""; 0]);
}

#[test]
fn a_text_of_an_old_client_is_latin_1() {
    let mut harness = Harness::new();
    let peer = harness.join();
    let old = b"\0\0\0\x03\0\x04Gr\xFCn";
    harness.send_bytes(peer, &[old, &speak("ok").to_bytes()[..]].concat());
    assert_eq!(harness.refusals(peer), [""; 0]);
    let texts = ["Grün", "ok"].map(|text| PuppetOrder::Speak(text.to_owned()));
    assert_eq!(harness.peer(peer).ordered, texts);
}

#[test]
fn an_unknown_id_closes_the_connection() {
    for id in [0x14, 0x19, 0x1A, 0xFFFF_FFFF_u32] {
        let mut harness = Harness::new();
        let (peer, witness) = (harness.join(), harness.join());
        harness.send_bytes(peer, &id.to_be_bytes());
        assert!(harness.peer(peer).closed.is_some(), "{id:#x}");
        assert_eq!(harness.peer(witness).closed, None);
    }
}

#[test]
fn with_one_operator_in_control_the_others_only_watch() {
    let mut harness = Harness::with(OperatorOptions { control: Control::One, ..options() });
    let (first, second, third) = (harness.join(), harness.join(), harness.join());
    // neither the first to connect is in control nor one that resets, as old clients do, but the first to give an order
    harness.send(first, &Request::Reset);
    harness.send(second, &Request::Gesture(1));
    harness.send(first, &speak("Hello"));
    harness.send(first, &Request::Gesture(4));
    harness.send(first, &Request::DirectWeight(1.0));
    assert_eq!(
        harness.events(first),
        [Event::SpeakDone, Event::GestureDone],
        "immediately, so that the client does not wait"
    );
    assert_eq!(harness.refusals(first).len(), 3);
    assert_eq!(harness.peer(first).ordered, [PuppetOrder::Reset]);
    harness.send(first, &Request::Reset);
    assert_eq!(harness.refusals(first).len(), 1);
    assert_eq!(harness.weights().direct, 0.0);
    (0..60).for_each(|_| harness.tick());
    assert_eq!(harness.events(second), [Event::GestureDone]);
    assert_eq!((harness.events(first), harness.events(third)), (vec![], vec![]));
    harness.leave(second);
    harness.send(third, &Request::DirectWeight(0.5));
    harness.send(first, &Request::DirectWeight(1.0));
    assert_eq!((harness.weights().direct, harness.refusals(first).len()), (0.5, 1));
    harness.leave(third);
    harness.send(first, &Request::DirectWeight(1.0));
    assert_eq!((harness.weights().direct, harness.refusals(first).len()), (1.0, 0));
}

#[test]
fn an_image_is_sent_once_and_may_be_dropped() {
    let mut harness = Harness::new();
    let (one, other) = (harness.join(), harness.join());
    harness.tick();
    assert_eq!(harness.peer(one).images, [], "no image yet");
    harness.panel.show(jpeg(1));
    harness.tick();
    harness.tick();
    harness.panel.show(jpeg(2));
    harness.panel.show(jpeg(3));
    harness.tick();
    let expected = [1, 3].map(|byte| Reply::Event(Event::VideoFrame(jpeg(byte))));
    for peer in [one, other] {
        assert_eq!(harness.peer(peer).images, expected, "each once, never an old one");
        assert_eq!(harness.received(peer), []);
    }
}

#[test]
fn many_completions_are_sent_in_portions() {
    let mut harness = Harness::new();
    let (one, other) = (harness.join(), harness.join());
    // the first takes a moment to start, so that all are queued
    (0..MAX_WAITING + 10).for_each(|_| harness.send(one, &speak("A long text.")));
    (0..MAX_PLAYING + 10).for_each(|_| harness.send(one, &Request::Gesture(6)));
    assert_eq!(harness.refusals(one).len(), 20, "too many are refused");
    harness.send(one, &Request::Reset);
    let mut received = [harness.events(one), Vec::new()];
    for _ in 0..10 {
        harness.tick();
        for (received, peer) in received.iter_mut().zip([one, other]) {
            let portion = harness.events(peer);
            // the write queue is limited, and a client that reads is not closed
            assert!(portion.len() <= crate::limits::WRITE_QUEUE / 2, "{}", portion.len());
            received.extend(portion);
        }
    }
    // refused orders are reported as done as well
    let count = |wanted: &Event| received[0].iter().filter(|event| *event == wanted).count();
    assert_eq!((count(&Event::SpeakDone), count(&Event::GestureDone)), (MAX_WAITING + 10, MAX_PLAYING + 10));
    assert_eq!(received[1], [], "not to others");
    assert_eq!((harness.peer(one).closed.take(), harness.peer(other).closed.take()), (None, None));
}

#[test]
fn a_flood_of_orders_does_no_harm() {
    let mut harness = Harness::new();
    let (flood, witness) = (harness.join(), harness.join());
    let many: Vec<u8> = (0..2 * KEPT_EVENTS).flat_map(|_| Request::Gesture(1).to_bytes()).collect();
    let mut done = 0;
    for _ in 0..20 {
        harness.send_bytes(flood, &many);
        harness.tick();
        assert_eq!(harness.peer(witness).closed, None);
        assert!(harness.events(witness).len() <= crate::limits::WRITE_QUEUE / 2);
        done += harness.events(flood).iter().filter(|event| **event == Event::GestureDone).count();
    }
    (0..200).for_each(|_| harness.tick());
    done += harness.events(flood).len();
    assert_eq!(done, 20 * 2 * KEPT_EVENTS, "each is reported as done");
    harness.events(witness);
    harness.send(witness, &Request::Gesture(1));
    (0..60).for_each(|_| harness.tick());
    assert_eq!(harness.events(witness), [Event::GestureDone]);
}

#[test]
fn a_client_too_far_behind_is_closed() {
    let mut harness = Harness::new();
    let peer = harness.join();
    let options = vec![Hypothesis { confidence: 0.5, text: "Hello".to_owned() }];
    let heard = AttributedOrder::new("test", PuppetOrder::Hear(options));
    for _ in 0..KEPT_EVENTS {
        harness.world.order::<PuppetDirector>(heard.clone()).unwrap();
    }
    harness.tick();
    assert_eq!(harness.peer(peer).closed, None, "unsent events are kept");
    for _ in 0..KEPT_EVENTS {
        harness.world.order::<PuppetDirector>(heard.clone()).unwrap();
    }
    harness.tick();
    assert!(harness.peer(peer).closed.is_some());
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
        let (mut harness, mut peers) = (Harness::new(), std::collections::BTreeMap::new());
        for (number, step) in transcript["steps"].as_array().unwrap().iter().enumerate() {
            let context = format!("step {number} of {}", path.display());
            let peer = *peers.entry(step["from"].as_str().unwrap_or("a")).or_insert_with(|| harness.connect());
            let bytes = |key: &str| step[key].as_str().map(bytes_from_hex);
            if let Some(request) = bytes("send") {
                harness.send_bytes(peer, &request);
            } else if let Some(expected) = bytes("expect") {
                let mut ticks = 0..MAX_TICKS;
                while harness.peer(peer).received.is_empty() && ticks.next().is_some() {
                    harness.tick();
                }
                let received = &mut harness.peer(peer).received;
                assert!(!received.is_empty(), "{context}: no reply");
                assert_eq!(received.remove(0).to_bytes(), expected, "{context}");
            } else if step["expect_closed"] == true {
                assert!(harness.peer(peer).closed.is_some(), "{context}");
            } else {
                assert_eq!(step["expect_none"], true, "{context}: unknown step");
                harness.tick();
                assert_eq!(harness.peer(peer).received, [], "{context}");
            }
        }
        count += 1;
    }
    assert!(count >= 10, "only {count} transcripts were found");
}

mod several;
