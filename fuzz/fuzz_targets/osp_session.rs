//! Any datagrams from two clients, with answers, ticks and time of the world in between: nothing panics, every reply goes
//! to the sender of the request and fits into a datagram, and no infinite or NaN number reaches the world.
//!
//! The input is a list of a kind, a length and that many bytes; the kind also chooses the client. See `osp_world` for
//! clients with a world.

#![no_main]

use libfuzzer_sys::fuzz_target;
use server::Scenario;
use session::osp::{Osp, OspSession, SearchBudget};
use session::{Context, ConversationEffect, ConversationService, DatagramSession, Notice, Outbox};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use wire::osp::{Dialect, MAX_DATAGRAM};
use world::{Action, AgentId, Answer, Command, Snapshot, Value, VariableId, World};

struct Fixture {
    before: Arc<Snapshot>,
    after: Arc<Snapshot>,
    start: Instant,
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let setup = Scenario::load("orcs").and_then(|scenario| scenario.setup()).expect("the scenario is sound");
    let mut world = World::new(&setup).expect("the world can be built");
    let before = world.take_snapshot();
    world.reset(Some(7));
    Fixture { before, after: world.take_snapshot(), start: Instant::now() }
});

fuzz_target!(|input: &[u8]| {
    let Fixture { before, after, start } = &*FIXTURE;
    let (osp, searches, mut now) = (Osp::default(), SearchBudget::default(), *start);
    let peers = [5000, 5001].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    let begin = |index: usize| {
        let dialect = Dialect::ALL[(input.len() + index) % 2];
        OspSession::new(peers[index], dialect, searches.clone())
    };
    let mut sessions = [begin(0), begin(1)];
    let mut rest = input;
    while let [kind, length, tail @ ..] = rest {
        let (bytes, tail) = tail.split_at(usize::from(*length).min(tail.len()));
        rest = tail;
        let number = bytes.first().copied().unwrap_or(1).into();
        let client = usize::from(kind / 8 % 2);
        let (session, peer) = (&mut sessions[client], peers[client]);
        let mut out = Outbox::default();
        match kind % 8 {
            0 => session.notify(Notice::Answer(Answer::Entered(AgentId(number))), Context::new(before, now), &mut out),
            1 => session.notify(Notice::Answer(Answer::VoteLost(AgentId(number))), Context::new(before, now), &mut out),
            2 => {
                let answer = Answer::Value(VariableId(number), Value::Double(0.5));
                session.notify(Notice::Answer(answer), Context::new(before, now), &mut out);
            }
            3 => {
                session.notify(Notice::Tick, Context::new(if number % 2 == 0 { before } else { after }, now), &mut out)
            }
            4 => {
                now += Duration::from_millis(number.into());
                session.notify(Notice::Timeout, Context::new(before, now), &mut out);
            }
            5 => drop(osp.greet(peer, bytes)),
            _ => session.receive(peer, bytes, Context::new(before, now), &mut out),
        }
        assert!(out.replies.iter().all(|(to, reply)| *to == peer && reply.len() <= MAX_DATAGRAM));
        for command in &out.commands {
            if let Command::Act(_, actions) = command {
                assert!(actions.iter().all(is_finite));
            }
        }
        if out.effects.iter().any(|effect| matches!(effect, ConversationEffect::Close(_))) {
            sessions[client] = begin(client);
        }
    }
});

fn is_finite(action: &Action) -> bool {
    match action {
        Action::Set { target, torque, .. } => target.iter().chain(torque).all(|number| number.is_finite()),
        Action::Joint { .. } => false,
    }
}
