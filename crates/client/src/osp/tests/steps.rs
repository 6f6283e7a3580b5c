//! Steps and resets.

use super::*;

/// Steps three times with the same inputs. `answer` maps a request and the number of the step to replies; the number is
/// also the step's output.
fn check_steps(answer: impl Fn(&Seen, f32) -> Vec<Sent> + Clone + Send + 'static) {
    for dialect in Dialect::ALL {
        let answer = answer.clone();
        let (mut client, log) = stepping(dialect, move |seen| match seen.request {
            Request::NextStep { .. } => answer(seen, seen.number.unwrap().0 as f32),
            _ => vec![],
        });
        for output in [1.0, 2.0, 3.0] {
            let step = client.step(&[(ONE, &[0.5])]).unwrap();
            assert_eq!(outputs(&step), [output], "{:?}", log.all());
        }
        client.end().unwrap();
        assert!(log.confirmations() >= 3, "{:?}", log.all());
        assert_eq!(log.numbers(), [1, 2, 3].map(|number| Some(SequenceNumber(number))), "each step is asked for once");
    }
}

#[test]
fn a_lost_acknowledgement() {
    check_steps(|seen, output| vec![completed(ONE, output, seen.number)]);
    // without sequence numbers, it has to be requested again
    check_steps(|seen, output| match seen.before {
        0 => vec![completed(ONE, output, None)],
        _ => vec![acknowledged(ONE, None), completed(ONE, output, None)],
    });
}

#[test]
fn a_lost_notification() {
    for numbers in [true, false] {
        check_steps(move |seen, output| {
            let number = seen.number.filter(|_| numbers);
            match seen.before {
                0 => vec![acknowledged(ONE, number)],
                _ => vec![acknowledged(ONE, number), completed(ONE, output, number)],
            }
        });
    }
}

#[test]
fn duplicate_notifications() {
    for numbers in [true, false] {
        check_steps(move |seen, output| {
            let number = seen.number.filter(|_| numbers);
            let completed = completed(ONE, output, number);
            vec![acknowledged(ONE, number), completed.clone(), completed]
        });
    }
}

#[test]
fn late_answers_to_the_previous_step() {
    check_steps(|seen, output| {
        let last = seen.number.map(|number| SequenceNumber(number.0 - 1));
        vec![
            acknowledged(ONE, last),
            completed(ONE, output - 1.0, last),
            // and one without a number
            completed(ONE, -1.0, None),
            acknowledged(ONE, seen.number),
            completed(ONE, output - 1.0, last),
            completed(ONE, output, seen.number),
        ]
    });
}

/// Until it is confirmed, the server repeats the notification with everything else it sends.
#[test]
fn lost_confirmations_are_retransmitted() {
    let (mut client, log) = stepping(Document, |seen| {
        let number = Some(SequenceNumber(1));
        match seen.request {
            Request::NextStep { agent, .. } => vec![acknowledged(agent, number), completed(agent, 1.0, number)],
            Request::GetValue { .. } => [completed(ONE, 1.0, number)].into_iter().chain(answer_all(seen)).collect(),
            _ => vec![],
        }
    });
    assert_eq!(outputs(&client.step(&[]).unwrap()), [1.0]);
    client.get(LocalValue(3)).unwrap();
    client.get(LocalValue(3)).unwrap();
    client.end().unwrap();
    assert!(log.confirmations() >= 3);
    assert_eq!(log.numbers().len(), 1);
}

#[test]
fn lost_values_are_retransmitted() {
    let value = |value: i32| Reply::Value { value: LocalValue(value), content: format!("{value}").into() };
    let (mut client, log) = stepping(Document, move |seen| match seen.request {
        Request::NextStep { agent, .. } => {
            let step = Reply::StepCompleted { agent, outputs: vec![], infos: vec![], events: vec![], observed: 3 };
            let late = |number| (Reply::Value { value: LocalValue(2), content: "late".into() }, number);
            let mut replies: Vec<_> = [step, value(1), value(3)].map(|reply| (reply, seen.number)).into();
            if seen.before == 0 {
                replies.extend([late(Some(SequenceNumber(99))), late(None)]);
            } else {
                replies.push((value(2), seen.number));
            }
            replies
        }
        _ => vec![],
    });
    let mut observed = client.step(&[]).unwrap().observed;
    observed.sort();
    assert_eq!(observed, [1, 2, 3].map(|value| (LocalValue(value), value.to_string())));
    client.end().unwrap();
    let first = |of: fn(&Seen) -> bool| log.all().iter().position(of).unwrap();
    let (asked_again, confirmed) = (
        first(|seen| matches!(seen.request, Request::NextStep { .. }) && seen.before == 1),
        first(|seen| matches!(seen.request, Request::StepCompletedAck { .. })),
    );
    assert!(confirmed > asked_again, "not before all values have come: {:?}", log.all());
}

/// The second agent's notification follows the confirmation of the first one's; the first confirmation is lost.
#[test]
fn agents_are_notified_one_after_the_other() {
    let mut confirmations = 0;
    let (mut client, log) = stepping(Document, move |seen| match seen.request {
        Request::NextStep { agent: ONE, .. } => {
            vec![acknowledged(ONE, seen.number), completed(ONE, 1.0, seen.number)]
        }
        Request::NextStep { agent, .. } => vec![acknowledged(agent, seen.number)],
        Request::StepCompletedAck { agent: ONE } => {
            confirmations += 1;
            if confirmations == 2 { vec![completed(TWO, 2.0, Some(SequenceNumber(1)))] } else { vec![] }
        }
        _ => vec![],
    });
    assert!(client.register(TWO).unwrap());
    let step = client.step(&[(TWO, &[0.0])]).unwrap();
    assert_eq!(step.completed.iter().map(|agent| agent.agent).collect::<Vec<_>>(), [ONE, TWO]);
    assert_eq!(outputs(&step), [1.0, 2.0]);
    client.end().unwrap();
    let of_first = log.count(|request| matches!(request, Request::StepCompletedAck { agent: ONE }));
    assert!(of_first >= 2 && log.confirmations() > of_first, "{:?}", log.all());
}

#[test]
fn waiting_for_a_step_can_be_continued() {
    let (mut client, log) = stepping(Document, |seen| match seen.request {
        Request::NextStep { agent, .. } if seen.before < 2 => vec![acknowledged(agent, seen.number)],
        Request::NextStep { agent, .. } => vec![completed(agent, 1.0, seen.number)],
        _ => vec![],
    });
    client.set_timeout(Duration::ZERO);
    let error = client.step(&[(ONE, &[0.5])]).unwrap_err();
    assert!(matches!(error, ClientError::NotCompleted { request: "step", .. }), "{error}");
    let error = client.step(&[(ONE, &[0.7])]).unwrap_err();
    assert!(matches!(error, ClientError::StillStepping { agent: ONE }), "{error}");
    client.set_timeout(STEP_TIMEOUT);
    // the first wait of this call retransmits nothing
    assert_eq!(outputs(&client.await_step().unwrap()), [1.0]);
    assert_eq!(client.await_step().unwrap(), Step::default());
    client.end().unwrap();
    assert_eq!(log.numbers().len(), 1);
}

#[test]
fn invalid_requests_are_not_sent() {
    let (mut client, log) = connected(Document, answer_all);
    assert!(matches!(client.step(&[]), Err(ClientError::NothingControlled)));
    assert!(matches!(client.step(&[(ONE, &[])]), Err(ClientError::NotControlled { agent: ONE })));
    assert!(client.register(ONE).unwrap());
    for bad in [f32::NAN, f32::INFINITY] {
        let refused = client.step(&[(ONE, &[0.0, bad])]);
        assert!(matches!(refused, Err(ClientError::NotFinite { agent: ONE, input: 1 })));
    }
    let long = vec![0.0; wire::osp::MAX_INPUTS];
    assert!(matches!(client.step(&[(ONE, &long)]), Err(ClientError::TooLong { .. })));
    let long = "x".repeat(MAX_DATAGRAM);
    assert!(matches!(client.set(LocalValue(3), &long), Err(ClientError::TooLong { .. })));
    client.end().unwrap();
    let wanted = |request: &Request| matches!(request, Request::RegisterForAgent { .. } | Request::End);
    assert_eq!(log.count(wanted), log.all().len(), "{:?}", log.all());
}

/// Two agents vote; the answers to the first one and the notification get lost once.
#[test]
fn a_reset_is_requested_for_each_agent() {
    for dialect in Dialect::ALL {
        let (mut client, log) = stepping(dialect, |seen| match (&seen.request, seen.number) {
            (Request::ResetSimulation { .. }, Some(SequenceNumber(1))) if seen.before == 0 => vec![],
            (Request::ResetSimulation { .. }, Some(SequenceNumber(2))) if seen.before > 0 => {
                vec![(Reply::ResetSimulationAck, seen.number), (Reply::ResetCompleted, seen.number)]
            }
            (Request::ResetSimulation { .. }, number) => {
                // plus a copy of an earlier notification
                vec![(Reply::ResetCompleted, Some(SequenceNumber(0))), (Reply::ResetSimulationAck, number)]
            }
            _ => vec![],
        });
        assert!(client.register(TWO).unwrap());
        client.reset(7).unwrap();
        client.end().unwrap();
        assert_eq!(log.numbers(), [1, 2].map(|number| Some(SequenceNumber(number))));
        let confirmed = log.all().iter().position(|seen| seen.request == Request::ResetCompleted).unwrap();
        let again = Seen { request: Request::ResetSimulation { seed: 7 }, number: Some(SequenceNumber(2)), before: 1 };
        assert!(log.all()[..confirmed].contains(&again), "a copy is not confirmed: {:?}", log.all());
    }
}

/// A notification before the acknowledgement may belong to an earlier reset.
#[test]
fn a_reset_by_a_server_without_numbers() {
    let (mut client, log) = stepping(Dialect::Original, |seen| match seen.request {
        Request::ResetSimulation { .. } if seen.before == 0 => vec![(Reply::ResetCompleted, None)],
        Request::ResetSimulation { .. } => vec![(Reply::ResetSimulationAck, None), (Reply::ResetCompleted, None)],
        _ => vec![],
    });
    client.reset(7).unwrap();
    client.end().unwrap();
    let confirmed = log.all().iter().position(|seen| seen.request == Request::ResetCompleted).unwrap();
    let asked = |seen: &&Seen| matches!(seen.request, Request::ResetSimulation { .. });
    assert!(log.all()[..confirmed].iter().filter(asked).count() >= 2, "{:?}", log.all());
}

#[test]
fn resets_of_others_are_confirmed() {
    let (mut client, log) = connected(Document, |seen| match seen.request {
        Request::GetValue { .. } => [(Reply::ResetCompleted, None)].into_iter().chain(answer_all(seen)).collect(),
        _ => answer_all(seen),
    });
    client.get(LocalValue(3)).unwrap();
    client.end().unwrap();
    assert!(log.count(|request| *request == Request::ResetCompleted) >= 1);
}

#[test]
fn a_reset_without_the_votes_of_others() {
    let (mut client, _) = connected(Document, |_| vec![(Reply::ResetSimulationAck, None)]);
    client.set_timeout(Duration::ZERO);
    let error = client.reset(0).unwrap_err();
    assert!(matches!(error, ClientError::NotCompleted { request: "reset", .. }), "{error}");
}

/// A correct server on a network that loses, duplicates and delays datagrams: each step is performed and reported
/// exactly once.
#[test]
fn steps_are_performed_exactly_once() {
    let mut state = 0x9E37_79B9_u32;
    let mut chance = move |one_in: u32| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.is_multiple_of(one_in)
    };
    let (mut taken, mut last, mut delayed) = (0.0, None, Vec::new());
    let (mut client, log) = stepping(Document, move |seen| {
        let mut out: Vec<Sent> = Vec::new();
        if let Request::NextStep { agent, .. } = seen.request {
            if chance(4) {
                return out;
            }
            if last != seen.number {
                last = seen.number;
                taken += 1.0;
            }
            out = vec![acknowledged(agent, last), completed(agent, taken, last)];
        }
        out.retain(|_| !chance(5));
        let copies = out.iter().filter(|_| chance(3)).cloned().collect::<Vec<_>>();
        // held-back datagrams are reordered
        let late = std::mem::replace(&mut delayed, copies);
        let (first, then) = if chance(2) { (late, out) } else { (out, late) };
        first.into_iter().chain(then).collect()
    });
    for step in 1..=10 {
        assert_eq!(outputs(&client.step(&[(ONE, &[0.5])]).unwrap()), [step as f32]);
    }
    client.end().unwrap();
    assert_eq!(log.numbers().len(), 10);
}
