//! Clients that keep others waiting, or only pause.

use super::*;

#[test]
fn a_client_killed_in_a_step_is_gone_at_once_and_nobody_misses_a_step() {
    for has_voted in [false, true] {
        let mut harness = Harness::new(2, &[Dialect::Document; 3]);
        harness.register(0, 1);
        harness.register(1, 2);
        for number in 0..5 {
            harness.ask_numbered(1, &step_of(2, &[0.5, 0.5]), number);
            assert_eq!(kinds(&harness.ask_numbered(0, &step_of(1, &[0.1, 0.1]), number)), STEP);
        }
        // a step that waits for the victim, or the other way round
        if has_voted {
            harness.ask_numbered(1, &step_of(2, &[0.5, 0.5]), 5);
        } else {
            assert_eq!(kinds(&harness.ask_numbered(0, &step_of(1, &[0.1, 0.1]), 5)), ACK);
        }
        harness.clients[0].received.clear();
        harness.clients[1].closed = Some("its port is closed".to_owned());
        harness.run.end(SessionId(1), harness.now);
        harness.settle();
        if has_voted {
            assert_eq!(kinds(&harness.ask_numbered(0, &step_of(1, &[0.1, 0.1]), 5)), STEP);
        } else {
            assert_eq!(kinds(&harness.received(0)), ["StepCompleted"], "without any time");
        }
        assert_eq!(harness.ticks(), 6, "one step for each request");
        assert_eq!(harness.register(2, 2), Status::Done, "its agent is free");
    }
}

#[test]
fn a_client_that_blocks_the_world_is_dropped() {
    let mut harness = Harness::new(2, &Dialect::ALL);
    harness.register(0, 1);
    harness.register(1, 2);
    let name = Text::from("/Agent/Rover2/VoteLost");
    harness.ask(0, &Request::RegisterForEvent { name });
    harness.ask(0, &step_of(1, &[]));
    harness.clients[0].received.clear();
    harness.pass(SILENCE - Duration::from_millis(1));
    assert!(harness.clients[1].closed.is_none() && harness.received(0).is_empty());
    harness.pass(Duration::from_millis(1));
    assert!(harness.clients[1].closed.as_deref().is_some_and(|why| why.contains("no vote in time")));
    let replies = harness.received(0);
    assert!(matches!(replies.as_slice(), [Reply::StepCompleted { events, .. }] if events.len() == 1), "{replies:?}");
    // a client without an agent may be silent
    harness.ask(0, &Request::DeregisterFromAgent { agent: LocalAgent(1) });
    harness.pass(3 * SILENCE);
    assert!(harness.clients[0].closed.is_none());
}

#[test]
fn a_client_for_which_nobody_waits_may_pause() {
    let mut harness = Harness::new(3, &Dialect::ALL);
    // one of its agents waits for the other one
    harness.register(0, 1);
    harness.register(0, 2);
    harness.ask(0, &step_of(1, &[]));
    harness.pass(3 * SILENCE);
    assert_eq!(harness.clients[0].closed, None);
    // then another client waits
    harness.register(1, 3);
    harness.ask(1, &step_of(3, &[]));
    harness.pass(SILENCE - Duration::from_millis(1));
    assert_eq!(harness.clients[0].closed, None);
    harness.ask(0, &step_of(2, &[]));
    assert_eq!(harness.ticks(), 1);
    harness.pass(3 * SILENCE);
    assert_eq!((&harness.clients[0].closed, &harness.clients[1].closed), (&None, &None), "now both pause");
}

#[test]
fn an_agent_of_a_client_that_vanished_goes_to_one_that_keeps_asking() {
    let mut harness = Harness::new(1, &Dialect::ALL);
    assert_eq!(harness.register(0, 1), Status::Done);
    assert_eq!(harness.register(1, 1), Status::Failed);
    harness.pass(SILENCE - Duration::from_millis(1));
    assert_eq!(harness.register(1, 1), Status::Failed);
    assert_eq!(harness.clients[0].closed, None);
    harness.pass(Duration::from_millis(1));
    assert_eq!(harness.register(1, 1), Status::Done);
    assert!(harness.clients[0].closed.is_some());
}
