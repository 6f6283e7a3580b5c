//! Tests of the client against a scripted server on a real socket.
//!
//! On a busy machine the client may retransmit more often than the script expects, so numbers of datagrams are only
//! bounded from below.

mod steps;

use std::{
    sync::{Arc, Mutex},
    thread,
};

use wire::osp::{Dialect::Document, Text};

use super::*;

const ONE: LocalAgent = LocalAgent(1);
const TWO: LocalAgent = LocalAgent(2);

/// A request as received by the server.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    request: Request,
    number: Option<SequenceNumber>,
    /// Number of earlier requests with the same bytes.
    before: usize,
}

/// A reply with its sequence number.
type Sent = (Reply, Option<SequenceNumber>);

/// The requests a fake server has received.
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

/// Connects to a fake server, which answers the init from another port and everything else with `answer`.
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
                // the client may have disconnected
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

/// Controls the first agent of a server that answers steps with `answer`.
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

/// Answers every request like a correct server.
#[expect(clippy::too_many_lines, reason = "one arm per request")]
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
fn every_request_is_answered() {
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
fn communication_can_be_reset() {
    let (client, _) = connected(Document, answer_all);
    client.reset_communication().unwrap();
}

#[test]
fn dropping_the_client_closes_the_connection() {
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
fn a_silent_server_is_an_error() {
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
fn an_unanswered_step_is_an_error() {
    let (mut client, _) = stepping(Document, |_| vec![]);
    let error = client.step(&[]).unwrap_err();
    assert!(matches!(error, ClientError::NoReply { request: "step" }), "{error}");
}

#[test]
fn requests_are_retransmitted() {
    let (mut client, log) = connected(Dialect::Original, |seen| match seen.request {
        Request::GetValue { .. } if seen.before == 0 => vec![],
        _ => answer_all(seen),
    });
    assert_eq!(client.get(LocalValue(3)).unwrap().as_deref(), Some("0.01"));
    assert!(log.all().len() >= 2);
}

#[test]
fn missing_items_of_lists_are_requested_again() {
    // a third is lost, and another third the next time
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
fn a_list_that_changes_is_requested_again() {
    let item = |index, value: i32| {
        let (kind, name) = ("Double".into(), format!("/{value}").into());
        (Reply::ValueInfo { index, value: LocalValue(value), kind, name }, None)
    };
    let head = |count| (Reply::ValueIds { count }, None);
    let lists = move |seen: &Seen| match seen.before {
        0 => vec![head(3), item(0, 1), item(7, 7), item(2, 3)],
        // an item arrives before the head
        _ => vec![item(0, 9), head(4), item(1, 1), item(2, 2), item(3, 3)],
    };
    let (mut client, _) = connected(Document, lists);
    let values = client.values(".*").unwrap();
    assert_eq!(values.iter().map(|info| info.value.0).collect::<Vec<_>>(), [9, 1, 2, 3]);
}

#[test]
fn missing_items_are_an_error() {
    let (mut client, _) = connected(Document, |_| vec![(Reply::ValueIds { count: 3 }, None)]);
    let error = client.values(".*").unwrap_err();
    assert!(matches!(error, ClientError::Incomplete { missing: 3, .. }), "{error}");
}

#[test]
fn a_reset_of_the_communication_is_an_error() {
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
fn a_closed_port_is_an_error() {
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
