use std::{
    collections::{BTreeMap, VecDeque},
    fs,
    path::Path,
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use proptest::prelude::*;
use serde_json::Value;
use world::{Answer, CommandRefusal, Runner, SessionId, Setup, World, clock::Pace};

use super::*;
use crate::{
    Context, DatagramSession, Notice, Outbox, OverDatagrams,
    testing::{ROVER, small_setup, small_world},
};

fn session() -> OverDatagrams<OdcpSession> {
    OverDatagrams(OdcpSession { agent: "Rover".to_owned() })
}

fn client(name: &str) -> SocketAddr {
    let port = name.bytes().fold(1_000, |port, byte| port + u16::from(byte));
    SocketAddr::from(([127, 0, 0, 1], port))
}

fn bytes_from_hex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// A session and its world, without sockets.
struct Conversation {
    session: OverDatagrams<OdcpSession>,
    run: Runner,
    sequence: u64,
    replies: BTreeMap<SocketAddr, VecDeque<Vec<u8>>>,
    now: Instant,
}

impl Conversation {
    fn new() -> Self {
        let now = now();
        let mut run = Runner::new(small_world(), Pace::Fast, Duration::from_secs(5), now);
        // until it is at rest on its wheels
        while run.world().snapshot().time < 1.0 {
            run.advance(now);
        }
        Self { session: session(), run, sequence: 0, replies: BTreeMap::new(), now }
    }

    /// Sends a datagram and runs a tick.
    fn send(&mut self, from: SocketAddr, datagram: &[u8]) {
        let mut out = Outbox::default();
        self.session.receive(from, datagram, Context::new(&self.run.world().snapshot(), self.now), &mut out);
        for command in out.commands {
            self.sequence += 1;
            self.run.handle(SessionId(0), self.sequence, command, self.now);
        }
        for (to, reply) in out.replies {
            self.replies.entry(to).or_default().push_back(reply);
        }
        self.run.advance(self.now);
        assert_eq!(self.run.take_answers(), [], "the world refuses nothing");
    }

    fn next_reply(&mut self, to: SocketAddr) -> Option<Vec<u8>> {
        self.replies.get_mut(&to)?.pop_front()
    }
}

#[test]
fn transcripts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/odcp/transcripts");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let transcript: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let mut conversation = Conversation::new();
        for (number, step) in transcript["steps"].as_array().unwrap().iter().enumerate() {
            let place = format!("step {number} of {}", path.display());
            let peer = client(step["from"].as_str().unwrap_or("a"));
            let text = |key: &str| step[key].as_str().map(bytes_from_hex);
            if let Some(datagram) = text("send") {
                conversation.send(peer, &datagram);
            } else if let Some(expected) = text("expect") {
                assert_eq!(conversation.next_reply(peer), Some(expected), "{place}");
            } else if let Some(motors) = step["expect_motors"].as_u64() {
                let reply = conversation.next_reply(peer).unwrap_or_else(|| panic!("{place}: no reply"));
                assert_eq!((reply.first(), reply.len()), (Some(&151), 1 + 4 * motors as usize), "{place}");
            } else {
                assert_eq!(step["expect_none"], true, "{place} is not a known step");
                assert_eq!(conversation.next_reply(peer), None, "{place}");
            }
        }
        assert!(conversation.replies.values().all(VecDeque::is_empty), "{}: unexpected reply", path.display());
        count += 1;
    }
    assert!(count >= 6, "only {count} transcripts were found");
}

#[test]
fn integers_out_of_range_count_as_the_nearest() {
    let run = |motors: &[i32]| {
        let mut conversation = Conversation::new();
        let datagram: Vec<u8> = std::iter::once(100).chain(motors.iter().flat_map(|raw| raw.to_le_bytes())).collect();
        conversation.send(client("a"), &datagram);
        for _ in 0..20 {
            conversation.run.advance(conversation.now);
        }
        conversation.run.world().state_hash()
    };
    for (motors, same) in [
        ([i32::MAX, i32::MIN, i32::MAX, 1_024], [1_023, 0, 1_023, 1_023]),
        ([-1, 1_024, i32::MIN, i32::MAX], [0, 1_023, 0, 1_023]),
    ] {
        assert_eq!(run(&motors), run(&same), "{motors:?}");
    }
    assert_ne!(run(&[1_023, 0, 1_023, 1_023]), run(&[512, 0, 1_023, 1_023]));
}

/// A snapshot of the small world.
static AT_REST: LazyLock<Arc<Snapshot>> = LazyLock::new(|| small_world().snapshot());

#[expect(clippy::disallowed_methods, reason = "an Instant can only be had from the system")]
fn now() -> Instant {
    Instant::now()
}

fn outbox_of(world: &Arc<Snapshot>, datagram: &[u8]) -> DatagramOutbox<Vec<u8>> {
    let mut out = Outbox::default();
    session().receive(client("a"), datagram, Context::new(world, now()), &mut out);
    out
}

#[test]
fn settings_cover_the_range_of_a_motor() {
    let card = AT_REST.catalogue.agent(ROVER).unwrap();
    let Bounds { min, max } = card.motors[0].range;
    let check = |raw: [i32; 4], expected: [(f64, Option<f64>); 2]| {
        let ints = raw.iter().flat_map(|int| int.to_le_bytes());
        let commands = outbox_of(&AT_REST, &[100].into_iter().chain(ints).collect::<Vec<_>>()).commands;
        let [Command::Act(ROVER, actions), Command::RaiseEvent(ROVER, AgentEvent::MotorsSet)] = &commands[..] else {
            panic!("{raw:?} gives {commands:?}")
        };
        let wanted: Vec<_> = expected
            .iter()
            .enumerate()
            .map(|(motor, &(target, torque))| Action::Set { motor, target: Some(target), torque })
            .collect();
        assert_eq!(actions, &wanted, "{raw:?}");
    };
    check([0, 1023, 0, 1023], [(min, Some(0.0)), (max, Some(1.0))]);
    check([512, 512, 1023, 1023], [(0.0, Some(1.0)), (0.0, Some(1.0))]);
    check([-5, i32::MAX, i32::MIN, 9999], [(min, Some(0.0)), (max, Some(1.0))]);
}

#[test]
fn visits_raise_events() {
    for (datagram, event) in [(5, AgentEvent::ControllerConnected), (7, AgentEvent::ControllerDisconnected)] {
        let commands = outbox_of(&AT_REST, &[datagram]).commands;
        assert!(matches!(&commands[..], [Command::RaiseEvent(ROVER, raised)] if *raised == event), "{commands:?}");
    }
}

#[test]
fn an_agent_that_is_not_there_is_not_served() {
    let empty = World::new(&Setup { robots: Vec::new(), randomise: Vec::new(), watches: Vec::new(), ..small_setup() });
    let empty = empty.unwrap().snapshot();
    for datagram in [&[5][..], &[7], &[100, 0, 0, 0, 0], &[150]] {
        let Outbox { replies, commands, refusals, effects: _ } = outbox_of(&empty, datagram);
        assert!(replies.is_empty() && commands.is_empty(), "{datagram:?}");
        assert_eq!(refusals.len(), 1, "{datagram:?}");
        assert!(refusals[0].reason.contains("Rover is not in the world"), "{refusals:?}");
    }
}

#[test]
fn refusals_of_the_world_are_counted_and_not_sent() {
    let mut out = Outbox::default();
    session().notify(Notice::Answer(Answer::Refused(CommandRefusal::Actions)), Context::new(&AT_REST, now()), &mut out);
    assert!(out.replies.is_empty() && out.commands.is_empty());
    assert_eq!(out.refusals.len(), 1);
}

/// Bytes that are often almost a message.
fn datagram() -> impl Strategy<Value = Vec<u8>> {
    let id = prop_oneof![Just(5), Just(7), Just(100), Just(150), any::<u8>()];
    let message = (id, prop::collection::vec(any::<u8>(), 0..40)).prop_map(|(id, rest)| {
        let mut bytes = vec![id];
        bytes.extend(rest);
        bytes
    });
    prop_oneof![4 => message, 1 => prop::collection::vec(any::<u8>(), 0..5_000)]
}

proptest! {
    #[test]
    fn any_datagrams_in_any_order_do_no_harm(sent in prop::collection::vec((0..4_u16, datagram()), 0..30)) {
        let mut session = session();
        for (peer, datagram) in sent {
            let from = SocketAddr::from(([127, 0, 0, 1], 5_000 + peer));
            let mut out = Outbox::default();
            session.receive(from, &datagram, Context::new(&AT_REST, now()), &mut out);
            prop_assert!(out.replies.len() + out.refusals.len() <= 1);
            for (to, reply) in &out.replies {
                prop_assert_eq!(*to, from);
                prop_assert!(reply.len() <= 9);
            }
            for command in &out.commands {
                if let Command::Act(agent, actions) = command {
                    prop_assert_eq!(*agent, ROVER);
                    prop_assert!(actions.len() <= 2 && actions.iter().all(Action::is_finite));
                }
            }
        }
    }
}
