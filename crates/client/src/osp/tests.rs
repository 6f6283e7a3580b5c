//! The client against a scripted server on a real socket.
//!
//! A busy machine may make the client ask more often than a script foresees, so that numbers of datagrams are only bounded
//! from below.

use std::{
    sync::{Arc, Mutex},
    thread,
};

use wire::osp::{Dialect::Document, Text};

use super::*;

const ONE: LocalAgent = LocalAgent(1);
const TWO: LocalAgent = LocalAgent(2);

/// A request that has come in.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    request: Request,
    number: Option<SequenceNumber>,
    /// How often exactly this has come before.
    before: usize,
}

/// A reply, and its number.
type Sent = (Reply, Option<SequenceNumber>);

/// What a fake server has been sent.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Seen>>>);

impl Log {
    fn count(&self, of: impl Fn(&Request) -> bool) -> usize {
        self.all().iter().filter(|seen| of(&seen.request)).count()
    }

    fn confirmations(&self) -> usize {
        self.count(|request| matches!(request, Request::StepCompletedAck { .. }))
    }

    /// Numbers of the steps or resets, each once, in order.
    fn numbers(&self) -> Vec<Option<SequenceNumber>> {
        let numbered = |seen: &Seen| matches!(seen.request, Request::NextStep { .. } | Request::ResetSimulation { .. });
        self.all().iter().filter(|seen| seen.before == 0 && numbered(seen)).map(|seen| seen.number).collect()
    }

    fn all(&self) -> Vec<Seen> {
        self.0.lock().unwrap().clone()
    }
}

/// Connects to a server that answers the init by itself, from another port, and all else with what `answer` says.
fn connected(dialect: Dialect, mut answer: impl FnMut(&Seen) -> Vec<Sent> + Send + 'static) -> (Client, Log) {
    let log = Log::default();
    let written = log.clone();
    let address = serve(move |main| {
        let mut buffer = [0; 2048];
        let (length, peer) = main.recv_from(&mut buffer).unwrap();
        let init = Request::Init { dialect, version: Version::SUPPORTED };
        assert_eq!(buffer[..length], init.to_bytes_in(dialect));
        let own = UdpSocket::bind("127.0.0.1:0").unwrap();
        own.connect(peer).unwrap();
        own.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        own.send(&Reply::InitAck { version: Version::SUPPORTED }.to_bytes_in(dialect)).unwrap();
        let mut known: Vec<Vec<u8>> = Vec::new();
        while let Ok(length) = own.recv(&mut buffer) {
            let bytes = &buffer[..length];
            let request = Request::decode(bytes).unwrap();
            let before = known.iter().filter(|known| *known == bytes).count();
            known.push(bytes.to_vec());
            let number = SequenceNumber::of(&request, bytes);
            let seen = Seen { request, number, before };
            written.0.lock().unwrap().push(seen.clone());
            for (reply, number) in answer(&seen) {
                let mut bytes = reply.to_bytes_in(dialect);
                if let Some(number) = number {
                    number.append_to(&mut bytes);
                }
                // the client may have gone
                let _ = own.send(&bytes);
            }
            if seen.request == Request::End {
                break;
            }
        }
    });
    (Client::connect_in(dialect, address).unwrap(), log)
}

fn serve(server: impl FnOnce(&UdpSocket) + Send + 'static) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || server(&socket));
    address
}

fn registered(agent: LocalAgent) -> Sent {
    (Reply::RegisterForAgentAck { agent, status: Status::Done }, None)
}

fn acknowledged(agent: LocalAgent, number: Option<SequenceNumber>) -> Sent {
    (Reply::NextStepAck { agent }, number)
}

fn completed(agent: LocalAgent, output: f32, number: Option<SequenceNumber>) -> Sent {
    let reply = Reply::StepCompleted { agent, outputs: vec![output], infos: vec![], events: vec![], observed: 0 };
    (reply, number)
}

/// Controls the first agent of a server whose answers to steps are `answer`.
fn stepping(dialect: Dialect, mut answer: impl FnMut(&Seen) -> Vec<Sent> + Send + 'static) -> (Client, Log) {
    let (mut client, log) = connected(dialect, move |seen| match seen.request {
        Request::RegisterForAgent { agent } => vec![registered(agent)],
        Request::End => vec![(Reply::EndAck, None)],
        _ => answer(seen),
    });
    assert!(client.register(ONE).unwrap());
    (client, log)
}

fn outputs(step: &Step) -> Vec<f32> {
    step.completed.iter().flat_map(|agent| agent.outputs.clone()).collect()
}

/// Answers everything, as a server without faults.
fn answer_all(seen: &Seen) -> Vec<Sent> {
    let plain = |reply| vec![(reply, None)];
    let (found, none) = (LocalValue(3), LocalValue(9));
    let told = |values: &[LocalValue]| {
        values.iter().map(|&value| if value == found { value } else { LocalValue::NOT_FOUND }).collect()
    };
    match seen.request.clone() {
        Request::GetAgentOverview => {
            let agent = |index, agent, available, name: &str| {
                let (group_type, name) = (Text::from("Agent"), Text::from(name));
                (Reply::AgentOverviewNext { index, agent, group_type, available, name }, None)
            };
            let head = (Reply::AgentOverview { count: 2 }, None);
            vec![head, agent(0, ONE, true, "ASeries"), agent(1, TWO, false, "Rover")]
        }
        Request::GetAgentInfo { agent: ONE } => {
            let head = Reply::AgentInfo { agent: ONE, inputs: 1, outputs: 2, infos: 1, name: "ASeries".into() };
            let value = |(index, name): (usize, &str)| {
                (Reply::AgentInfoNext { index, min: -1.0, max: 1.0, name: name.into() }, None)
            };
            let values = ["/Motor", "/Angle", "/Torque", "/Height"];
            [(head, None)].into_iter().chain(values.into_iter().enumerate().map(value)).collect()
        }
        Request::GetAgentInfo { agent } => {
            plain(Reply::AgentInfo { agent, inputs: 0, outputs: 0, infos: 0, name: "".into() })
        }
        Request::RegisterForAgent { agent } => {
            let status = if agent == ONE { Status::Done } else { Status::Failed };
            plain(Reply::RegisterForAgentAck { agent, status })
        }
        Request::DeregisterFromAgent { agent } => {
            let status = if agent == ONE { Status::Done } else { Status::NotFound };
            plain(Reply::DeregisterFromAgentAck { agent, status })
        }
        Request::RegisterForEvent { name } => {
            let event = if name.as_str() == "/Control/NextTry" { LocalEvent(5) } else { LocalEvent::NOT_FOUND };
            plain(Reply::RegisterForEventAck { event })
        }
        Request::DeregisterFromEvent { event } => plain(Reply::DeregisterFromEventAck {
            event: if event == LocalEvent(5) { event } else { LocalEvent::NOT_FOUND },
        }),
        Request::GetValueIds { .. } => {
            let (kind, name) = ("Double".into(), "/Simulation/TimeStepSize".into());
            vec![(Reply::ValueIds { count: 1 }, None), (Reply::ValueInfo { index: 0, value: found, kind, name }, None)]
        }
        Request::GetValue { value } if value == none => {
            plain(Reply::Value { value: LocalValue::UNREADABLE, content: "".into() })
        }
        Request::GetValue { value } => plain(Reply::Value { value, content: "0.01".into() }),
        Request::SetValue { value, content } => {
            let status = if content.as_str() == "0.02" { Status::Done } else { Status::Failed };
            plain(Reply::SetValueAck { value, status })
        }
        Request::RegisterForValues { values } => plain(Reply::RegisterForValuesAck { values: told(&values) }),
        Request::DeregisterFromValues { values } => plain(Reply::DeregisterFromValuesAck { values: told(&values) }),
        Request::ResetSimulation { .. } => {
            vec![(Reply::ResetSimulationAck, seen.number), (Reply::ResetCompleted, seen.number)]
        }
        Request::NextStep { agent, inputs } => {
            let events = vec![LocalEvent(5)];
            let step = Reply::StepCompleted { agent, outputs: inputs, infos: vec![0.5], events, observed: 1 };
            let value = (Reply::Value { value: found, content: "NUM:abc".into() }, seen.number);
            vec![acknowledged(agent, seen.number), (step, seen.number), value]
        }
        Request::End => plain(Reply::EndAck),
        Request::ResetCommunication => plain(Reply::ResetCommunicationAck),
        _ => vec![],
    }
}

#[test]
fn everything_can_be_asked() {
    for (dialect, numbers) in Dialect::ALL.into_iter().flat_map(|dialect| [(dialect, true), (dialect, false)]) {
        let (mut client, log) = connected(dialect, move |seen| {
            let number = seen.number.filter(|_| numbers);
            let answers = answer_all(seen).into_iter();
            answers.map(|(reply, wanted)| (reply, wanted.and(number))).collect()
        });
        let agents = client.agents().unwrap();
        let told: Vec<_> = agents.iter().map(|agent| (agent.agent, agent.available, agent.name.as_str())).collect();
        assert_eq!(told, [(ONE, true, "ASeries"), (TWO, false, "Rover")]);

        let info = client.info(ONE).unwrap();
        let names = |values: &[InterfaceValue]| values.iter().map(|value| value.name.clone()).collect::<Vec<_>>();
        assert_eq!(info.name, "ASeries");
        assert_eq!(names(&info.inputs), ["/Motor"]);
        assert_eq!(names(&info.outputs), ["/Angle", "/Torque"]);
        assert_eq!(names(&info.infos), ["/Height"]);
        assert!(matches!(client.info(TWO), Err(ClientError::UnknownAgent { agent: TWO })));

        assert!(client.register(ONE).unwrap());
        assert!(!client.register(TWO).unwrap());
        assert_eq!(client.register_for_event("/Control/NextTry").unwrap(), Some(LocalEvent(5)));
        assert_eq!(client.register_for_event("/Control").unwrap(), None);
        assert!(client.deregister_from_event(LocalEvent(5)).unwrap());
        assert!(!client.deregister_from_event(LocalEvent(6)).unwrap());

        let values = client.values(".*StepSize").unwrap();
        let [ValueInfo { value, kind, name }] = values.as_slice() else { panic!("{values:?}") };
        assert_eq!((kind.as_str(), name.as_str()), ("Double", "/Simulation/TimeStepSize"));
        assert_eq!(client.get(*value).unwrap().as_deref(), Some("0.01"));
        assert_eq!(client.get(LocalValue(9)).unwrap(), None);
        assert_eq!(client.set(*value, "0.02").unwrap(), Status::Done);
        assert_eq!(client.set(*value, "small").unwrap(), Status::Failed);
        assert_eq!(client.observe(&[*value, LocalValue(9)]).unwrap(), [true, false]);
        assert_eq!(client.unobserve(&[LocalValue(9), *value]).unwrap(), [false, true]);

        client.reset(7).unwrap();
        for input in [0.25, -1.0] {
            let step = client.step(&[(ONE, &[input])]).unwrap();
            let completed = Completed { agent: ONE, outputs: vec![input], infos: vec![0.5] };
            assert_eq!(step.completed, [completed]);
            assert_eq!(step.events, [LocalEvent(5)]);
            assert_eq!(step.observed, [(LocalValue(3), "NUM:abc".to_owned())]);
        }
        assert!(client.deregister(ONE).unwrap());
        assert!(!client.deregister(TWO).unwrap());
        client.end().unwrap();
        assert!(log.confirmations() >= 2, "{:?}", log.all());
        assert_eq!(log.numbers(), [1, 1, 2].map(|number| Some(SequenceNumber(number))));
        for confirmation in [Request::AgentOverviewAck, Request::AgentInfoAck, Request::ResetCompleted] {
            assert!(log.count(|request| *request == confirmation) >= 1, "{confirmation:?}");
        }
    }
}

#[test]
fn the_end_of_all_is_asked_for() {
    let (client, _) = connected(Document, answer_all);
    client.reset_communication().unwrap();
}

#[test]
fn whoever_goes_says_so() {
    let (told, server) = std::sync::mpsc::sync_channel(1);
    let (client, _) = connected(Document, move |seen| {
        told.send(seen.request.clone()).unwrap();
        vec![]
    });
    drop(client);
    assert_eq!(server.recv_timeout(Duration::from_secs(20)), Ok(Request::End));
}

#[test]
fn another_version_is_an_error() {
    for dialect in Dialect::ALL {
        let version = Version { major: 1, minor: 2 };
        let address = serve(move |socket| {
            let (_, peer) = socket.recv_from(&mut [0; 100]).unwrap();
            socket.send_to(&Reply::InitAck { version }.to_bytes_in(dialect), peer).unwrap();
        });
        let error = Client::connect_in(dialect, address).unwrap_err();
        assert_eq!(error.to_string(), "the server speaks OSP 1.2, this client 1.1");
    }
}

#[test]
fn silence_is_an_error_in_the_end() {
    let (finish, finished) = std::sync::mpsc::sync_channel::<()>(1);
    let address = serve(move |_| finished.recv().unwrap());
    let error = Client::connect(address).unwrap_err();
    assert!(matches!(error, ClientError::NoReply { request: "init" }), "{error}");
    finish.send(()).unwrap();

    let (mut client, log) = connected(Document, |_| vec![]);
    let error = client.get(LocalValue(1)).unwrap_err();
    assert!(matches!(error, ClientError::NoReply { request: "reading a value" }), "{error}");
    assert!((2..=ATTEMPTS as usize).contains(&log.all().len()));
}

#[test]
fn a_step_that_nobody_answers_is_an_error() {
    let (mut client, _) = stepping(Document, |_| vec![]);
    let error = client.step(&[]).unwrap_err();
    assert!(matches!(error, ClientError::NoReply { request: "step" }), "{error}");
}

#[test]
fn lost_answers_are_asked_for_again() {
    let (mut client, log) = connected(Dialect::Original, |seen| match seen.request {
        Request::GetValue { .. } if seen.before == 0 => vec![],
        _ => answer_all(seen),
    });
    assert_eq!(client.get(LocalValue(3)).unwrap().as_deref(), Some("0.01"));
    assert!(log.all().len() >= 2);
}

#[test]
fn gaps_in_lists_are_filled() {
    // every third is lost, and another third the next time
    let (mut client, log) = connected(Document, |seen| {
        let lost = |(index, sent)| (index % 3 != seen.before).then_some(sent);
        answer_all(seen).into_iter().enumerate().filter_map(lost).collect()
    });
    assert_eq!(client.agents().unwrap().len(), 2);
    assert_eq!(client.info(ONE).unwrap().infos.len(), 1);
    assert_eq!(client.values(".*").unwrap().len(), 1);
    assert!(log.count(|request| *request == Request::GetAgentOverview) >= 2);
}

#[test]
fn a_list_that_changes_is_asked_for_again() {
    let item = |index, value: i32| {
        let (kind, name) = ("Double".into(), format!("/{value}").into());
        (Reply::ValueInfo { index, value: LocalValue(value), kind, name }, None)
    };
    let head = |count| (Reply::ValueIds { count }, None);
    let lists = move |seen: &Seen| match seen.before {
        0 => vec![head(3), item(0, 1), item(7, 7), item(2, 3)],
        // one came before the first
        _ => vec![item(0, 9), head(4), item(1, 1), item(2, 2), item(3, 3)],
    };
    let (mut client, _) = connected(Document, lists);
    let values = client.values(".*").unwrap();
    assert_eq!(values.iter().map(|info| info.value.0).collect::<Vec<_>>(), [9, 1, 2, 3]);
}

#[test]
fn what_never_arrives_is_missed() {
    let (mut client, _) = connected(Document, |_| vec![(Reply::ValueIds { count: 3 }, None)]);
    let error = client.values(".*").unwrap_err();
    assert!(matches!(error, ClientError::Incomplete { missing: 3, .. }), "{error}");
}

#[test]
fn when_everybody_is_sent_away() {
    for dialect in Dialect::ALL {
        let (mut client, log) = stepping(dialect, |_| vec![(Reply::ResetCommunicationAck, None)]);
        let error = client.step(&[]).unwrap_err();
        assert!(matches!(error, ClientError::CommunicationReset), "{error}");
        let error = client.get(LocalValue(1)).unwrap_err();
        assert!(matches!(error, ClientError::ConnectionLost), "{error}");
        drop(client);
        assert_eq!(log.count(|request| *request == Request::End), 0);
    }
}

#[test]
fn a_port_that_is_gone_is_an_error() {
    let address = serve(|socket| {
        let (_, peer) = socket.recv_from(&mut [0; 100]).unwrap();
        let own = UdpSocket::bind("127.0.0.1:0").unwrap();
        own.send_to(&Reply::InitAck { version: Version::SUPPORTED }.to_bytes_in(Document), peer).unwrap();
    });
    let mut client = Client::connect(address).unwrap();
    let error = client.get(LocalValue(1)).unwrap_err();
    assert!(matches!(error, ClientError::ConnectionLost), "{error}");
    client.end().unwrap();
}

/// Steps three times with the same inputs. `answer` says what the server sends for a request, given the number of the
/// step: that is also what the step's output is.
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
    // of a server without numbers, it has to be asked for again
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
fn doubled_notifications() {
    for numbers in [true, false] {
        check_steps(move |seen, output| {
            let number = seen.number.filter(|_| numbers);
            let completed = completed(ONE, output, number);
            vec![acknowledged(ONE, number), completed.clone(), completed]
        });
    }
}

#[test]
fn late_answers_to_the_last_step() {
    check_steps(|seen, output| {
        let last = seen.number.map(|number| SequenceNumber(number.0 - 1));
        vec![
            acknowledged(ONE, last),
            completed(ONE, output - 1.0, last),
            // and of a server that would not number this one
            completed(ONE, -1.0, None),
            acknowledged(ONE, seen.number),
            completed(ONE, output - 1.0, last),
            completed(ONE, output, seen.number),
        ]
    });
}

/// While nobody has confirmed, the server tells it again with whatever else it sends.
#[test]
fn a_lost_confirmation_is_sent_again() {
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
fn lost_values_are_sent_again() {
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

/// The second agent's notification comes when the first one's is confirmed; the first confirmation is lost.
#[test]
fn agents_are_told_one_after_the_other() {
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
fn a_step_may_be_awaited_further() {
    let (mut client, log) = stepping(Document, |seen| match seen.request {
        Request::NextStep { agent, .. } if seen.before < 2 => vec![acknowledged(agent, seen.number)],
        Request::NextStep { agent, .. } => vec![completed(agent, 1.0, seen.number)],
        _ => vec![],
    });
    client.set_patience(Duration::ZERO);
    let error = client.step(&[(ONE, &[0.5])]).unwrap_err();
    assert!(matches!(error, ClientError::NotCompleted { request: "step", .. }), "{error}");
    let error = client.step(&[(ONE, &[0.7])]).unwrap_err();
    assert!(matches!(error, ClientError::StillStepping { agent: ONE }), "{error}");
    client.set_patience(PATIENCE);
    // the first wait of this one repeats nothing: it may have been asked for just now
    assert_eq!(outputs(&client.await_step().unwrap()), [1.0]);
    assert_eq!(client.await_step().unwrap(), Step::default());
    client.end().unwrap();
    assert_eq!(log.numbers().len(), 1);
}

#[test]
fn what_cannot_be_asked_is_not_sent() {
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

/// Two agents ask twice; the answers to the first one, and the notification, get lost once.
#[test]
fn a_reset_is_asked_for_each_agent() {
    for dialect in Dialect::ALL {
        let (mut client, log) = stepping(dialect, |seen| match (&seen.request, seen.number) {
            (Request::ResetSimulation { .. }, Some(SequenceNumber(1))) if seen.before == 0 => vec![],
            (Request::ResetSimulation { .. }, Some(SequenceNumber(2))) if seen.before > 0 => {
                vec![(Reply::ResetSimulationAck, seen.number), (Reply::ResetCompleted, seen.number)]
            }
            (Request::ResetSimulation { .. }, number) => {
                // a copy of an earlier notification besides
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

/// What comes before the acknowledgement may be of an earlier reset.
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
fn a_reset_that_others_do_not_want() {
    let (mut client, _) = connected(Document, |_| vec![(Reply::ResetSimulationAck, None)]);
    client.set_patience(Duration::ZERO);
    let error = client.reset(0).unwrap_err();
    assert!(matches!(error, ClientError::NotCompleted { request: "reset", .. }), "{error}");
}

/// A server that keeps to the protocol, on a link that loses, doubles and delays: each step is taken once and told once.
#[test]
fn each_step_is_taken_once_on_any_link() {
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
        // what was kept back overtakes, or is overtaken
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
