mod harness;
mod interface;
mod numbers;
mod silence;

use std::{sync::Arc, time::Duration};

use proptest::prelude::*;
use world::{Runner, SessionId, Setup, Value, World, clock::Pace, runner::Progress};

use wire::osp::{LocalAgent, LocalValue, Status, Text};
use world::Command;

use self::harness::*;
use super::*;
use crate::{Outbox, limits, testing::small_setup};

const PEER: SocketAddr = SocketAddr::new(core::net::IpAddr::V4(core::net::Ipv4Addr::LOCALHOST), 5_000);
const SILENCE: Duration = Duration::from_secs(5);

#[test]
fn agents_keep_their_numbers() {
    for dialect in Dialect::ALL {
        let mut harness = Harness::new(2, &[dialect]);
        for _ in 0..2 {
            let overview = harness.ask(0, &Request::GetAgentOverview);
            let [Reply::AgentOverview { count: 2 }, rest @ ..] = overview.as_slice() else { panic!("{overview:?}") };
            for (index, (reply, wanted)) in rest.iter().zip(["Rover1", "Rover2"]).enumerate() {
                let agent = LocalAgent(index as i32 + 1);
                let (group_type, name) = (Text::from("Agent"), Text::from(wanted));
                assert_eq!(*reply, Reply::AgentOverviewNext { index, agent, group_type, available: true, name });
            }
        }
        assert_eq!(harness.ask(0, &Request::AgentOverviewAck), []);
        let info = harness.ask(0, &Request::GetAgentInfo { agent: LocalAgent(2) });
        let [Reply::AgentInfo { inputs, outputs, infos, name, .. }, rest @ ..] = info.as_slice() else {
            panic!("{info:?}")
        };
        assert_eq!((*inputs, name.as_str(), rest.len()), (2, "Rover2", inputs + outputs + infos));
        for (place, reply) in rest.iter().enumerate() {
            let Reply::AgentInfoNext { index, min, max, name } = reply else { panic!("{reply:?}") };
            assert_eq!(*index, place);
            assert!(min < max && name.as_str().starts_with('/'));
        }
        assert_eq!(harness.ask(0, &Request::AgentInfoAck), []);
    }
}

#[test]
fn unknown_ids_are_reported() {
    let (agent, value, event) = (LocalAgent(7), LocalValue(7), LocalEvent(7));
    let none = LocalValue::NOT_FOUND;
    for (request, wanted) in [
        (
            Request::GetAgentInfo { agent },
            Reply::AgentInfo { agent: LocalAgent(0), inputs: 0, outputs: 0, infos: 0, name: Text::default() },
        ),
        (Request::RegisterForAgent { agent }, Reply::RegisterForAgentAck { agent, status: Status::Failed }),
        (Request::DeregisterFromAgent { agent }, Reply::DeregisterFromAgentAck { agent, status: Status::NotFound }),
        (
            Request::DeregisterFromAgent { agent: LocalAgent(1) },
            Reply::DeregisterFromAgentAck { agent: LocalAgent(1), status: Status::Done },
        ),
        (
            Request::RegisterForEvent { name: Text::from("/Control/Nothing") },
            Reply::RegisterForEventAck { event: LocalEvent::NOT_FOUND },
        ),
        (Request::DeregisterFromEvent { event }, Reply::DeregisterFromEventAck { event: LocalEvent::NOT_FOUND }),
        (Request::GetValue { value }, Reply::Value { value: LocalValue::UNREADABLE, content: Text::default() }),
        (Request::SetValue { value, content: Text::from("1") }, Reply::SetValueAck { value, status: Status::NotFound }),
        (Request::RegisterForValues { values: vec![value] }, Reply::RegisterForValuesAck { values: vec![none] }),
        (Request::DeregisterFromValues { values: vec![value] }, Reply::DeregisterFromValuesAck { values: vec![none] }),
        (Request::GetValueIds { expression: Text::from("(") }, Reply::ValueIds { count: 0 }),
        (Request::GetValueIds { expression: Text::from("x".repeat(5_000).as_str()) }, Reply::ValueIds { count: 0 }),
    ] {
        for dialect in Dialect::ALL {
            let mut harness = Harness::new(1, &[dialect]);
            assert_eq!(harness.ask(0, &request), std::slice::from_ref(&wanted), "{request:?}");
        }
    }
    // no agent is known before an overview
    let mut harness = Harness::new(1, &[Dialect::Document]);
    harness.clients[0].session =
        OspSession::new(SocketAddr::from(([127, 0, 0, 1], 5_000)), Dialect::Document, SearchBudget::default());
    assert_eq!(harness.register(0, 1), Status::Failed);
    for stray in [step_of(1, &[0.0, 0.0]), ack_of(1), Request::ResetCompleted, Request::ValueInfoAck] {
        assert_eq!(harness.ask(0, &stray), [], "{stray:?}");
    }
    assert_eq!(harness.ticks(), 0);
}

#[test]
fn an_agent_has_at_most_one_client() {
    let mut harness = Harness::new(2, &[Dialect::Document, Dialect::Original]);
    assert_eq!(harness.register(0, 1), Status::Done);
    assert_eq!(harness.register(0, 1), Status::Done, "again");
    assert_eq!(harness.register(1, 1), Status::Failed);
    assert_eq!(harness.register(1, 2), Status::Done);
    let overview = harness.ask(1, &Request::GetAgentOverview);
    let free = |reply: &Reply| matches!(reply, Reply::AgentOverviewNext { available: true, .. });
    assert!(!overview.iter().any(free), "{overview:?}");
    assert_eq!(
        kinds(&harness.ask(0, &Request::DeregisterFromAgent { agent: LocalAgent(1) })),
        ["DeregisterFromAgentAck"]
    );
    assert_eq!(harness.register(1, 1), Status::Done);
    assert_eq!(harness.ask(1, &Request::End), [Reply::EndAck]);
    assert_eq!(harness.clients[1].closed.as_deref(), Some("ended by the client"));
    assert_eq!(
        (harness.register(0, 1), harness.register(0, 2)),
        (Status::Done, Status::Done),
        "its agents are released when it ends"
    );
}

#[test]
fn a_step_waits_for_every_agent_and_happens_once() {
    let mut harness = Harness::new(3, &Dialect::ALL);
    for (client, agent) in [(0, 1), (0, 2), (1, 3)] {
        assert_eq!(harness.register(client, agent), Status::Done);
    }
    for round in 1..=3 {
        let inputs = [0.1 * round as f32, 0.0];
        assert_eq!(kinds(&harness.ask(0, &step_of(1, &inputs))), ACK);
        assert_eq!(kinds(&harness.ask(1, &step_of(3, &inputs))), ACK);
        assert_eq!(harness.ticks(), round - 1, "the second agent has not voted");
        harness.clients[1].received.clear();
        // its two agents in turn
        assert_eq!(kinds(&harness.ask(0, &step_of(2, &inputs))), STEP);
        assert_eq!(kinds(&harness.received(1)), ["StepCompleted"]);
        assert_eq!(harness.ask(0, &ack_of(2)), [], "the first one is pending");
        let next = harness.ask(0, &ack_of(1));
        assert!(matches!(next.as_slice(), [Reply::StepCompleted { agent: LocalAgent(2), .. }]), "{next:?}");
        assert_eq!(harness.ask(0, &ack_of(2)), []);
        assert_eq!(harness.ask(1, &ack_of(3)), []);
        assert_eq!(harness.ticks(), round);
    }
    assert_eq!(harness.ask(1, &step_of(1, &[0.0, 0.0])), [], "an agent of another client");
    // a client that has left is not waited for
    assert_eq!(kinds(&harness.ask(1, &step_of(3, &[0.9, 0.9]))), ACK);
    harness.clients[1].received.clear();
    harness.ask(0, &Request::End);
    harness.settle();
    assert_eq!(kinds(&harness.received(1)), ["StepCompleted"]);
}

#[test]
fn a_lost_confirmation_costs_a_timeout() {
    let mut harness = Harness::new(2, &[Dialect::Document]);
    harness.register(0, 1);
    harness.register(0, 2);
    harness.ask(0, &step_of(1, &[]));
    assert_eq!(kinds(&harness.ask(0, &step_of(2, &[]))), STEP);
    harness.clients[0].received.clear();
    harness.pass(limits::CONFIRMATION / 2);
    assert!(harness.received(0).is_empty());
    harness.pass(limits::CONFIRMATION / 2);
    let replies = harness.received(0);
    assert!(matches!(replies.as_slice(), [Reply::StepCompleted { agent: LocalAgent(2), .. }]), "{replies:?}");
    // the next request also confirms
    assert_eq!(kinds(&harness.ask(0, &step_of(1, &[1.0]))), ACK);
    assert_eq!(kinds(&harness.ask(0, &step_of(2, &[1.0]))), STEP);
    assert_eq!(harness.ticks(), 2);
}

#[test]
fn a_repeated_request_gets_its_answers_again_and_steps_once() {
    for dialect in Dialect::ALL {
        let mut harness = Harness::new(2, &[dialect, dialect]);
        harness.register(0, 1);
        harness.register(1, 2);
        for _ in 0..3 {
            assert_eq!(kinds(&harness.ask(0, &step_of(1, &[0.5, 0.5]))), ACK);
        }
        harness.ask(1, &step_of(2, &[]));
        assert_eq!(harness.ticks(), 1);
        let first = harness.clients[0].received.last().cloned().unwrap();
        for _ in 0..3 {
            assert_eq!(kinds(&harness.ask(0, &step_of(1, &[0.5, 0.5]))), STEP, "its report may have been lost");
            assert_eq!(harness.clients[0].received.last(), Some(&first));
        }
        assert_eq!(harness.ticks(), 1);
        assert_eq!(harness.ask(0, &ack_of(1)), []);
        assert_eq!(harness.ask(0, &ack_of(1)), []);
        assert_eq!(kinds(&harness.ask(0, &step_of(1, &[0.5, 0.5]))), ACK, "the next step");
        harness.ask(1, &step_of(2, &[1.0]));
        assert_eq!(harness.ticks(), 2);
    }
}

#[test]
fn sequence_numbers_distinguish_copies_from_requests() {
    for dialect in Dialect::ALL {
        let mut harness = Harness::new(1, &[dialect]);
        harness.register(0, 1);
        let step = step_of(1, &[0.5, 0.5]);
        assert_eq!(kinds(&harness.ask_numbered(0, &step, 1)), STEP);
        assert_eq!(harness.ask(0, &ack_of(1)), []);
        assert_eq!(kinds(&harness.ask_numbered(0, &step, 1)), STEP, "a copy after its confirmation");
        assert_eq!(harness.ticks(), 1);
        assert_eq!(kinds(&harness.ask_numbered(0, &step, 2)), STEP, "the next step, although nothing was confirmed");
        assert_eq!(harness.ask_numbered(0, &step, 1), [], "a copy that was delayed for long");
        assert_eq!(harness.ticks(), 2);

        let reset = ["ResetSimulationAck", "ResetCompleted"];
        assert_eq!(kinds(&harness.ask_numbered(0, &reset_with(5), 1)), reset);
        let tries = harness.run.world().snapshot().tries;
        assert_eq!(kinds(&harness.ask_numbered(0, &reset_with(5), 1)), reset);
        assert_eq!(harness.ask(0, &Request::ResetCompleted), []);
        assert_eq!(kinds(&harness.ask_numbered(0, &reset_with(5), 1)), reset, "at any time");
        assert_eq!(harness.run.world().snapshot().tries, tries);
        assert_eq!(kinds(&harness.ask_numbered(0, &reset_with(5), 2)), reset);
        assert_eq!(harness.ask_numbered(0, &reset_with(5), 1), []);
        assert_eq!(harness.run.world().snapshot().tries, tries + 1);
    }
}

#[test]
fn a_reset_waits_for_every_agent_despite_stray_requests() {
    let mut harness = Harness::new(3, &[Dialect::Document, Dialect::Original, Dialect::Document]);
    for (client, agent) in [(0, 1), (0, 2), (1, 3)] {
        harness.register(client, agent);
    }
    let tries = harness.run.world().snapshot().tries;
    for _ in 0..5 {
        assert_eq!(kinds(&harness.ask(2, &reset_with(1))), ["ResetSimulationAck"], "it controls no agent");
        assert_eq!(
            kinds(&harness.ask(1, &reset_with(2))),
            ["ResetSimulationAck"],
            "a repeated request for the same agent"
        );
    }
    assert_eq!(kinds(&harness.ask(0, &reset_with(0))), ["ResetSimulationAck"]);
    for client in &mut harness.clients {
        client.received.clear();
    }
    assert_eq!(harness.run.world().snapshot().tries, tries);
    assert_eq!(kinds(&harness.ask(0, &reset_with(-4))), ["ResetSimulationAck", "ResetCompleted"]);
    for client in [1, 2] {
        assert_eq!(harness.received(client), [Reply::ResetCompleted], "all clients are notified");
    }
    assert_eq!(harness.run.world().snapshot().tries, tries + 1);
    assert_eq!(harness.value("/Simulation/Seed"), Value::Integer(-4), "the last seed other than 0");
    // the first byte depends on the dialect
    assert_eq!(harness.clients[0].received.last().map(|bytes| bytes[0]), Some(76));
    assert_eq!(harness.clients[1].received.last().map(|bytes| bytes[0]), Some(75));
    for client in [0, 1] {
        assert_eq!(harness.ask(client, &Request::ResetCompleted), []);
    }
    // a notification of another client's reset is not a request
    harness.ask(1, &Request::End);
    harness.ask(0, &Request::End);
    assert_eq!(harness.register(2, 3), Status::Done);
    assert_eq!(kinds(&harness.ask(2, &reset_with(9))), ["ResetSimulationAck", "ResetCompleted"]);
    assert_eq!(harness.run.world().snapshot().tries, tries + 2);
}

#[test]
fn the_last_request_wins() {
    let mut harness = Harness::new(2, &Dialect::ALL);
    harness.register(0, 1);
    harness.register(1, 2);
    let tries = harness.run.world().snapshot().tries;
    // a reset that the other does not vote for, then a step
    harness.ask(0, &reset_with(1));
    assert_eq!(kinds(&harness.ask(0, &step_of(1, &[0.1]))), ACK);
    assert_eq!(kinds(&harness.ask(1, &step_of(2, &[]))), STEP);
    // a step, then a reset that the other votes for as well
    harness.ask(0, &step_of(1, &[0.2]));
    harness.ask(0, &reset_with(1));
    assert_eq!(kinds(&harness.ask(1, &reset_with(2))), ["ResetSimulationAck", "ResetCompleted"]);
    assert_eq!((harness.ticks(), harness.run.world().snapshot().tries), (1, tries + 1));
    // a step, a reset, then another step
    harness.ask_numbered(0, &step_of(1, &[0.3]), 1);
    harness.ask(0, &Request::ResetCompleted);
    harness.ask(0, &reset_with(1));
    harness.ask_numbered(0, &step_of(1, &[0.4]), 2);
    harness.clients[0].received.clear();
    harness.ask(1, &step_of(2, &[0.3]));
    assert_eq!(kinds(&harness.received(0)), ["StepCompleted"]);
    assert_eq!(harness.ticks(), 2);
}

#[test]
fn an_external_reset_keeps_steps_and_completes_resets() {
    let mut harness = Harness::new(3, &Dialect::ALL);
    for (client, agent) in [(0, 1), (1, 2), (1, 3)] {
        harness.register(client, agent);
    }
    harness.ask(0, &reset_with(1));
    harness.ask(1, &step_of(2, &[]));
    harness.run.handle(SessionId(99), 1, Command::Reset(Some(4)), harness.now);
    let snapshot = harness.run.world().snapshot();
    harness.notify_all(&snapshot);
    assert_eq!(harness.received(0).last(), Some(&Reply::ResetCompleted));
    harness.ask(1, &step_of(3, &[]));
    assert_eq!(harness.ticks(), 0, "the first client got its reset and has not requested a step");
    harness.clients[1].received.clear();
    harness.ask(0, &step_of(1, &[]));
    assert_eq!((harness.ticks(), kinds(&harness.received(1))), (1, vec!["StepCompleted".to_owned()]));
}

#[test]
fn a_reset_requested_again_much_later_is_a_new_one() {
    let mut harness = Harness::new(1, &[Dialect::Document]);
    let tries = harness.run.world().snapshot().tries;
    for (wait, wanted) in [(Duration::ZERO, 1), (limits::RESET_CONFIRMATION / 2, 1), (limits::RESET_CONFIRMATION, 2)] {
        harness.pass(wait);
        assert_eq!(kinds(&harness.ask(0, &reset_with(5))), ["ResetSimulationAck", "ResetCompleted"]);
        assert_eq!(harness.run.world().snapshot().tries, tries + wanted, "after {wait:?}");
    }
}

#[test]
fn without_controllers_a_reset_is_immediate() {
    let mut harness = Harness::new(1, &[Dialect::Document, Dialect::Original]);
    let tries = harness.run.world().snapshot().tries;
    assert_eq!(kinds(&harness.ask(0, &reset_with(8))), ["ResetSimulationAck", "ResetCompleted"]);
    assert_eq!(harness.received(1).last(), Some(&Reply::ResetCompleted));
    assert_eq!(
        (harness.run.world().snapshot().tries, harness.value("/Simulation/Seed")),
        (tries + 1, Value::Integer(8))
    );
}

#[test]
fn the_same_seed_reproduces_a_run() {
    let run = |seed| {
        let mut harness = Harness::new(1, &[Dialect::Document]);
        harness.register(0, 1);
        let mut replies = Vec::new();
        for (round, wanted) in [3, seed, 3, seed].into_iter().enumerate() {
            harness.ask(0, &reset_with(wanted));
            harness.ask(0, &Request::ResetCompleted);
            for step in 0..20_u8 {
                harness.ask(0, &step_of(1, &[f32::from(step) / 20.0, 0.3]));
                if round % 2 == 1 {
                    replies.push(harness.clients[0].received.last().cloned());
                }
                harness.ask(0, &ack_of(1));
            }
        }
        replies
    };
    let (first, second) = (run(7), run(7));
    assert_eq!(first, second);
    let (once, again) = first.split_at(20);
    assert_eq!(once, again, "also within one world");
    assert_ne!(run(7), run(8));
}

#[test]
fn invalid_inputs_are_clamped_or_ignored() {
    let mut harness = Harness::new(1, &[Dialect::Document]);
    harness.register(0, 1);
    let names = ["/Sim/Rover/Left/Wheel/DesiredVelocity", "/Sim/Rover/Right/Wheel/DesiredVelocity"];
    let mut number = 0;
    for (inputs, wanted) in [
        (&[0.25, -0.5][..], [0.25, -0.5]),
        (&[0.75], [0.75, -0.5]),
        (&[], [0.75, -0.5]),
        (&[0.1, 0.2, 0.3, 0.4], [0.1, 0.2]),
        (&[f32::NAN, 0.5], [0.1, 0.5]),
        (&[f32::INFINITY, f32::NEG_INFINITY], [0.1, 0.5]),
        (&[7.0, -1e30], [1.0, -1.0]),
    ] {
        number += 1;
        assert_eq!(kinds(&harness.ask_numbered(0, &step_of(1, inputs), number)), STEP);
        for (name, wanted) in names.into_iter().zip(wanted) {
            let got = harness.value(name).as_number().unwrap();
            assert!((got - wanted).abs() < 1e-6, "{inputs:?}: {name} is {got}, not {wanted}");
        }
    }
    let refusals = harness.clients[0].refusals.join("; ");
    for word in ["2 inputs but the step carries 4", "NaN", "inf"] {
        assert!(refusals.contains(word), "{word}: {refusals}");
    }
}

#[test]
fn events_and_observed_values_come_with_the_first_report() {
    let mut harness = Harness::new(2, &[Dialect::Document]);
    harness.register(0, 1);
    harness.register(0, 2);
    let names = ["/Control/StepCompleted", "/Control/ResetSimulation", "/Control/StepCompleted"];
    let ids =
        names.map(|name| match harness.ask(0, &Request::RegisterForEvent { name: Text::from(name) }).as_slice() {
            [Reply::RegisterForEventAck { event }] => event.0,
            other => panic!("{other:?}"),
        });
    assert_eq!(ids, [1, 2, 1]);
    let (step, time) = (harness.local(0, "/Control/CurrentStep"), harness.local(0, "/Simulation/SimulationTime"));
    let values = vec![time, LocalValue(99), step, time];
    let answer = harness.ask(0, &Request::RegisterForValues { values });
    assert_eq!(answer, [Reply::RegisterForValuesAck { values: vec![time, LocalValue::NOT_FOUND, step, time] }]);
    harness.ask(0, &reset_with(0));
    harness.ask(0, &reset_with(0));
    harness.ask(0, &step_of(1, &[]));
    let replies = harness.ask(0, &step_of(2, &[]));
    let [
        _,
        Reply::StepCompleted { agent, events, observed: 2, .. },
        Reply::Value { value, .. },
        Reply::Value { content, .. },
    ] = replies.as_slice()
    else {
        panic!("{replies:?}")
    };
    assert_eq!((agent.0, *value, content.as_str()), (1, time, "1"));
    assert_eq!(*events, [LocalEvent(1), LocalEvent(2)], "including events of the reset");
    let replies = harness.ask(0, &ack_of(1));
    assert!(
        matches!(replies.as_slice(), [Reply::StepCompleted { observed: 0, events, .. }] if events.is_empty()),
        "{replies:?}"
    );
    harness.ask(0, &ack_of(2));
    // no longer observed
    harness.ask(0, &Request::DeregisterFromValues { values: vec![time] });
    assert_eq!(
        harness.ask(0, &Request::DeregisterFromEvent { event: LocalEvent(1) }),
        [Reply::DeregisterFromEventAck { event: LocalEvent(1) }]
    );
    harness.ask(0, &step_of(1, &[1.0]));
    let replies = harness.ask(0, &step_of(2, &[1.0]));
    let [_, Reply::StepCompleted { events, observed: 1, .. }, Reply::Value { value, .. }] = replies.as_slice() else {
        panic!("{replies:?}")
    };
    assert_eq!((events.as_slice(), *value), (&[][..], step));
}

#[test]
fn variables_are_found_read_and_written() {
    for dialect in Dialect::ALL {
        let mut harness = Harness::new(1, &[dialect]);
        let found = harness.ask(0, &Request::GetValueIds { expression: Text::from("/Simulation/.*") });
        let [Reply::ValueIds { count }, rest @ ..] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(*count, rest.len());
        let names: Vec<_> = rest
            .iter()
            .enumerate()
            .map(|(place, reply)| match reply {
                Reply::ValueInfo { index, value, name, .. } => {
                    assert_eq!((*index, value.0), (place, place as i32 + 1));
                    name.as_str().to_owned()
                }
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(names.is_sorted() && names.contains(&"/Simulation/Gravitation".to_owned()), "{names:?}");

        let gravitation = harness.local(0, "/Simulation/Gravitation");
        let set = |harness: &mut Harness, value, text: &str| match harness
            .ask(0, &Request::SetValue { value, content: Text::from(text) })
            .as_slice()
        {
            [Reply::SetValueAck { value: same, status }] if *same == value => *status,
            other => panic!("{other:?}"),
        };
        assert_eq!(set(&mut harness, gravitation, "3.7"), Status::Done);
        for wrong in ["", "much", "nan", "1e9"] {
            assert_eq!(set(&mut harness, gravitation, wrong), Status::Failed, "{wrong}");
        }
        let read = harness.ask(0, &Request::GetValue { value: gravitation });
        assert_eq!(read, [Reply::Value { value: gravitation, content: Text::from("3.7") }]);
        let step = harness.local(0, "/Control/CurrentStep");
        assert_eq!(set(&mut harness, step, "5"), Status::Failed, "read-only");
    }
}

#[test]
fn a_communication_reset_is_left_to_the_driver() {
    let mut harness = Harness::new(1, &Dialect::ALL);
    assert_eq!(harness.ask(0, &Request::ResetCommunication), []);
    assert!(harness.clients[0].resets_communication);
    harness.clients[1].received.clear();
    let (world, now) = (harness.run.world().snapshot(), harness.now);
    harness.with(1, |session, out| session.notify(Notice::CommunicationReset, Context::new(&world, now), out));
    assert_eq!(harness.received(1), [Reply::ResetCommunicationAck]);
}

#[test]
fn only_a_first_request_begins_a_conversation() {
    let peer = SocketAddr::from(([127, 0, 0, 1], 5_000));
    for dialect in Dialect::ALL {
        let init = |version| Request::Init { dialect, version }.to_bytes_in(dialect);
        assert!(matches!(Osp::default().greet(peer, &init(Version::SUPPORTED)), Greeting::Begin(_)));
        for version in [Version { major: 1, minor: 0 }, Version { major: 2, minor: 1 }] {
            let Greeting::Reply { datagram: answer, .. } = Osp::default().greet(peer, &init(version)) else {
                panic!("{version:?}")
            };
            assert_eq!(Reply::decode_in(dialect, &answer), Ok(Reply::InitAck { version: Version::SUPPORTED }));
        }
    }
    assert!(matches!(Osp::default().greet(peer, &[10]), Greeting::ResetCommunication));
    for datagram in [&[][..], &[5], &[7], &[90], &[200]] {
        assert!(matches!(Osp::default().greet(peer, datagram), Greeting::Ignore(_)), "{datagram:?}");
    }
}

#[test]
fn searches_are_queued_up_to_a_limit() {
    let mut harness = Harness::new(1, &[Dialect::Document]);
    let world = harness.run.world().snapshot();
    let now = harness.now;
    for number in 1..=limits::SEARCHES + 3 {
        let expression = Text::from(".*".repeat(number).as_str());
        let datagram = Request::GetValueIds { expression }.to_bytes_in(Dialect::Document);
        harness.with(0, |session, out| session.receive(PEER, &datagram, Context::new(&world, now), out));
    }
    assert_eq!(harness.received(0).iter().filter(|reply| matches!(reply, Reply::ValueIds { count: 0 })).count(), 3);
    harness.clients[0].received.clear();
    harness.pass(Duration::from_secs(1));
    let got = harness.received(0);
    let count = world.catalogue.variables.len();
    assert_eq!(got.len(), limits::SEARCHES * (1 + count));
    assert!(got.chunks(1 + count).all(|chunk| chunk[0] == Reply::ValueIds { count }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any datagrams: no panic, no step without a request, and no number that is not finite reaches the world.
    #[test]
    fn any_datagrams(
        datagrams in prop::collection::vec(
            (0..2_usize, prop_oneof![
                prop::collection::vec(any::<u8>(), 0..40),
                (prop::sample::select(vec![20_u8, 30, 40, 50, 52, 54, 56, 70, 75, 80, 85, 86, 90, 95, 100, 105]),
                 prop::collection::vec(-1..4_i32, 0..5)).prop_map(|(id, ints)| {
                    std::iter::once(id).chain(ints.into_iter().flat_map(i32::to_le_bytes)).collect()
                }),
            ], 0..60_u64),
            0..60,
        ),
    ) {
        let mut harness = Harness::new(2, &Dialect::ALL);
        harness.register(0, 1);
        let mut requests = 0;
        for (client, datagram, pause) in datagrams {
            requests += u64::from(datagram.first() == Some(&80));
            harness.send(client, &datagram);
            harness.pass(Duration::from_millis(pause));
            prop_assert!(harness.ticks() <= requests);
        }
    }
}
