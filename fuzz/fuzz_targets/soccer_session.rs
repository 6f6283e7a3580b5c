//! Any bytes in any pieces from two agents and a monitor, with cycles and answers of the world in between: nothing
//! panics, every reply goes to the sender of the request, and no infinite or NaN number reaches the world.
//!
//! The input is a list of a peer, a length and that many bytes. The last peer is the world, which answers one of the others
//! or tells all of them about a cycle.

#![no_main]

use libfuzzer_sys::fuzz_target;
use server::Scenario;
use server::protocol::EndpointKind;
use server::serve::build_world;
use session::{BytesOutbox, Context, Notice, Outbox, StreamService, StreamSession};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::Instant;
use world::clock::Pace;
use world::{Action, AgentId, Answer, Command, CommandRefusal, Snapshot};

/// The ports of the peers: agents, then monitors.
const PORTS: [usize; 3] = [0, 0, 1];

struct Fixture {
    services: Vec<Box<dyn StreamService>>,
    snapshot: Arc<Snapshot>,
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let scenario = Scenario::load("soccer").expect("the scenario is sound");
    let (_, mut world) = build_world(&scenario).expect("the world can be built");
    let soccer = scenario.services.iter().find(|(name, _)| *name == "soccer").expect("soccer is played");
    let endpoints = soccer.1.endpoints(world.catalogue(), Pace::Realtime).expect("it has ports");
    let services = endpoints.into_iter().filter_map(|endpoint| match endpoint.kind {
        EndpointKind::Stream(service) => Some(service),
        EndpointKind::Datagram(_) | EndpointKind::Conversation(_) => None,
    });
    Fixture { services: services.collect(), snapshot: world.take_snapshot() }
});

fn peer(index: u8) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 5000 + u16::from(index)))
}

fuzz_target!(|input: &[u8]| {
    let Fixture { services, snapshot } = &*FIXTURE;
    let open = |index: u8| services[PORTS[usize::from(index)]].open(peer(index));
    let mut sessions: Vec<Box<dyn StreamSession>> = (0..PORTS.len() as u8).map(open).collect();
    let (mut buffers, now) = (vec![Vec::new(); sessions.len()], Instant::now());
    let mut rest = input;
    while let [from, length, tail @ ..] = rest {
        let (bytes, tail) = tail.split_at(usize::from(*length).min(tail.len()));
        rest = tail;
        let index = from % (PORTS.len() as u8 + 1);
        let Some(session) = sessions.get_mut(usize::from(index)) else {
            let answered = from / (PORTS.len() as u8 + 1) % PORTS.len() as u8;
            for (session, index) in sessions.iter_mut().zip(0..) {
                let agent = AgentId(1 + u32::from(index));
                let mut out = Outbox::default();
                let notice = match bytes.first() {
                    None => Notice::Tick,
                    Some(_) if index != answered => continue,
                    Some(0) => Notice::Answer(Answer::Joined(agent)),
                    Some(1) => Notice::Answer(Answer::VoteLost(agent)),
                    Some(_) => Notice::Answer(Answer::Refused(CommandRefusal::Actions)),
                };
                session.notify(notice, Context::new(snapshot, now), &mut out);
                check(&out, peer(index));
                if out.is_closing() {
                    *session = open(index);
                }
            }
            continue;
        };
        let Some(buffer) = buffers.get_mut(usize::from(index)) else { return };
        buffer.extend_from_slice(bytes);
        let mut out = Outbox::default();
        session.receive(peer(index), buffer, Context::new(snapshot, now), &mut out);
        check(&out, peer(index));
        if out.is_closing() {
            // it connects again, the others go on
            *session = open(index);
            buffer.clear();
        }
    }
});

fn check(out: &BytesOutbox, peer: SocketAddr) {
    assert!(out.replies.iter().all(|(to, _)| *to == peer));
    for command in &out.commands {
        match command {
            Command::Act(_, actions) => assert!(actions.iter().all(is_finite)),
            // what is not finite is written as nothing
            Command::Order(order) => {
                let order = order.to_text().expect("an order that can be recorded");
                assert!(
                    ["[null", ",null", "x\":null", "volume\":null"].iter().all(|text| !order.contains(text)),
                    "{order}"
                );
            }
            _ => {}
        }
    }
}

fn is_finite(action: &Action) -> bool {
    match action {
        Action::Joint { target, .. } => {
            [target.q, target.dq, target.kp, target.kd, target.tau].iter().all(|number| number.is_finite())
        }
        Action::Set { .. } => false,
    }
}
