//! Any bytes in any pieces from two operators, with ticks and answers of the world in between: nothing panics, every
//! reply goes to the sender of the request, the puppet can parse every order, and its servos stay within their limits.
//!
//! The input is a list of a peer, a length and that many bytes. The last peer is the world.

#![no_main]

use libfuzzer_sys::fuzz_target;
use puppet::director::PuppetConfig;
use puppet::puppet::{AttributedOrder, Puppet, PuppetRefusal};
use server::Scenario;
use server::protocol::EndpointKind;
use server::serve::build_world;
use session::{BytesOutbox, Context, Notice, Outbox, StreamEffect, StreamService, StreamSession};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::Instant;
use wire::StreamMessage;
use wire::oz::Reply;
use world::clock::Pace;
use world::director::{OrderAnswer, OrderRefusal};
use world::{Answer, Command, Snapshot};

const OPERATORS: u8 = 2;

struct Fixture {
    service: Box<dyn StreamService>,
    snapshot: Arc<Snapshot>,
    puppet: PuppetConfig,
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let scenario = Scenario::load("oz").expect("the scenario is sound");
    let (_, mut world) = build_world(&scenario).expect("the world can be built");
    let oz = scenario.services.iter().find(|(name, _)| *name == "oz").expect("there is a puppet");
    let endpoints = oz.1.endpoints(world.catalogue(), Pace::Realtime).expect("it has a port");
    let service = endpoints.into_iter().find_map(|endpoint| match endpoint.kind {
        EndpointKind::Stream(service) => Some(service),
        EndpointKind::Datagram(_) | EndpointKind::Conversation(_) => None,
    });
    let puppet = PuppetConfig { robot: "Alice".to_owned(), blinks: 2.0, gestures: Vec::new() };
    Fixture { service: service.expect("operators connect"), snapshot: world.take_snapshot(), puppet }
});

fn peer(index: u8) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 5000 + u16::from(index)))
}

fuzz_target!(|input: &[u8]| {
    let Fixture { service, snapshot, puppet } = &*FIXTURE;
    let mut puppet = puppet.puppet().expect("its gestures are sound");
    let mut sessions: Vec<Box<dyn StreamSession>> = (0..OPERATORS).map(|index| service.open(peer(index))).collect();
    let (mut buffers, now) = (vec![Vec::new(); sessions.len()], Instant::now());
    let mut rest = input;
    while let [from, length, tail @ ..] = rest {
        let (bytes, tail) = tail.split_at(usize::from(*length).min(tail.len()));
        rest = tail;
        let index = from % (OPERATORS + 1);
        let Some((session, buffer)) = sessions.get_mut(usize::from(index)).zip(buffers.get_mut(usize::from(index)))
        else {
            for (session, index) in sessions.iter_mut().zip(0..) {
                let mut out = Outbox::default();
                let notice = match bytes.first() {
                    Some(0) => Notice::Answer(Answer::Refused(refusal(bytes).into())),
                    Some(_) => Notice::Answer(Answer::Ordered(OrderAnswer::new("so"))),
                    None => Notice::Tick,
                };
                session.notify(notice, Context::new(snapshot, now), &mut out);
                check(&out, peer(index), &mut puppet);
            }
            puppet.step(0.02);
            assert!(puppet.positions().iter().all(|position| (0.0..=1.0).contains(position)));
            continue;
        };
        buffer.extend_from_slice(bytes);
        let mut out = Outbox::default();
        session.receive(peer(index), buffer, Context::new(snapshot, now), &mut out);
        check(&out, peer(index), &mut puppet);
        if out.is_closing() {
            // it connects again, the other one goes on
            *session = service.open(peer(index));
            buffer.clear();
        }
    }
});

fn refusal(bytes: &[u8]) -> OrderRefusal {
    OrderRefusal::by_director(match bytes.len() % 3 {
        0 => PuppetRefusal::SpeechQueueFull,
        1 => PuppetRefusal::TooManyGestures,
        _ => PuppetRefusal::InvalidTimeline,
    })
}

fn check(out: &BytesOutbox, peer: SocketAddr, puppet: &mut Puppet) {
    assert!(out.replies.iter().all(|(to, _)| *to == peer));
    let droppable = out.effects.iter().filter_map(|effect| match effect {
        StreamEffect::SendDroppable(bytes) => Some(bytes),
        StreamEffect::Close(_) | StreamEffect::StopServer(_) => None,
    });
    for bytes in out.replies.iter().map(|(_, bytes)| bytes).chain(droppable) {
        assert!(matches!(Reply::split(bytes), Ok(Some(split)) if split.consumed == bytes.len()));
    }
    for command in &out.commands {
        let Command::Order(order) = command else { panic!("{command:?} is none of its business") };
        let order: &AttributedOrder = order.downcast_ref().expect("an order for the puppet");
        assert!(!order.order.is_own(), "{order:?}");
        // it may refuse
        let _ = puppet.apply(order.order.clone());
    }
}
