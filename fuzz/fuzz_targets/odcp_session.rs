//! Any datagrams from several peers, and answers of the world in between: nothing panics, every reply goes to the
//! sender of the request, and no infinite or NaN number reaches the world.
//!
//! The input is a list of a peer, a length and that many bytes. The last peer is the world.

#![no_main]

use libfuzzer_sys::fuzz_target;
use server::Scenario;
use session::odcp::OdcpSession;
use session::{Context, DatagramSession, Notice, Outbox, OverDatagrams};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::Instant;
use world::{Action, Answer, Command, CommandRefusal, Snapshot, World};

const PEERS: u8 = 4;

static WORLD: LazyLock<Arc<Snapshot>> = LazyLock::new(|| {
    let setup = Scenario::load("small").and_then(|scenario| scenario.setup()).expect("the scenario is sound");
    World::new(&setup).expect("the world can be built").take_snapshot()
});

fuzz_target!(|input: &[u8]| {
    let mut session = OverDatagrams(OdcpSession { agent: "Rover".to_owned() });
    let now = Instant::now();
    let mut rest = input;
    while let [peer, length, tail @ ..] = rest {
        let (datagram, tail) = tail.split_at(usize::from(*length).min(tail.len()));
        rest = tail;
        let peer = peer % PEERS;
        let mut out = Outbox::default();
        if peer == PEERS - 1 {
            session.notify(
                Notice::Answer(Answer::Refused(CommandRefusal::Actions)),
                Context::new(&WORLD, now),
                &mut out,
            );
            assert!(out.replies.is_empty() && out.commands.is_empty());
            continue;
        }
        let from = SocketAddr::from(([127, 0, 0, 1], 5000 + u16::from(peer)));
        session.receive(from, datagram, Context::new(&WORLD, now), &mut out);
        assert!(out.replies.iter().all(|(to, _)| *to == from));
        for command in &out.commands {
            if let Command::Act(_, actions) = command {
                assert!(actions.iter().all(is_finite));
            }
        }
    }
});

fn is_finite(action: &Action) -> bool {
    match action {
        Action::Set { target, torque, .. } => target.iter().chain(torque).all(|number| number.is_finite()),
        Action::Joint { .. } => false,
    }
}
