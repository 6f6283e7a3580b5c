//! OSP over sockets, against the built program.

mod lossy;
mod playing;
mod running;

use std::{
    fs,
    io::Write,
    net::UdpSocket,
    path::Path,
    process::Command,
    sync::{Arc, Barrier},
    thread,
    time::Duration,
};

use client::{
    odcp,
    osp::{AgentSummary, Client, ClientError, Dialect, LocalAgent, LocalEvent, LocalValue, Status, ValueInfo},
};
use lossy::LossyNetwork;
use playing::AGENTS;
use running::{Running, bytes_from_hex, eventually, peer_of, receive, run};
use serde_json::Value;
use wire::osp::{Reply, Request, Text, Version};

/// A client without any state except its socket.
struct RawClient {
    socket: UdpSocket,
    dialect: Dialect,
}

impl RawClient {
    fn connect(server: &Running, dialect: Dialect) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
        socket.set_read_timeout(Some(running::DEADLINE)).expect("a timeout");
        let init = Request::Init { dialect, version: Version::SUPPORTED }.to_bytes_in(dialect);
        socket.send_to(&init, server.address("OSP")).expect("sent");
        let mut buffer = [0; 64];
        let (length, handler) = socket.recv_from(&mut buffer).expect("an answer");
        let wanted: &[u8] = if dialect == Dialect::Document { &[6, 1, 0, 0, 0, 1, 0, 0, 0] } else { &[6, 1, 1, 120] };
        assert_eq!(&buffer[..length], wanted);
        assert_ne!(handler, server.address("OSP"), "each client has its own port");
        socket.connect(handler).expect("connected");
        Self { socket, dialect }
    }

    fn send(&self, request: &Request) {
        self.socket.send(&request.to_bytes_in(self.dialect)).expect("sent");
    }

    /// Receives the next reply and checks that its encoding is canonical.
    fn receive(&self) -> Reply {
        let datagram = receive(&self.socket);
        let is_original = self.dialect == Dialect::Original;
        let reply = Reply::decode_in(self.dialect, &datagram).expect("a reply");
        assert_eq!(reply.to_bytes_in(self.dialect), datagram, "no trailing bytes");
        assert!(!is_original || datagram.ends_with(&[120]), "{datagram:?}");
        reply
    }

    fn ask(&self, request: &Request) -> Reply {
        self.send(request);
        self.receive()
    }

    fn agents(&self) -> Vec<Reply> {
        let Reply::AgentOverview { count } = self.ask(&Request::GetAgentOverview) else { panic!("no overview") };
        let agents = (0..count).map(|_| self.receive()).collect();
        self.send(&Request::AgentOverviewAck);
        agents
    }

    fn register(&self, agent: i32) -> Status {
        match self.ask(&Request::RegisterForAgent { agent: LocalAgent(agent) }) {
            Reply::RegisterForAgentAck { status, .. } => status,
            other => panic!("{other:?}"),
        }
    }

    fn find(&self, expression: &str) -> Vec<(LocalValue, String, String)> {
        let expression = Text::from(expression);
        let Reply::ValueIds { count } = self.ask(&Request::GetValueIds { expression }) else { panic!("no list") };
        let info = |place| match self.receive() {
            Reply::ValueInfo { index, value, kind, name } => {
                assert_eq!(index, place);
                (value, kind.as_str().to_owned(), name.as_str().to_owned())
            }
            other => panic!("{other:?}"),
        };
        (0..count).map(info).collect()
    }

    fn step(&self, agent: i32, inputs: &[f32]) -> (Vec<f32>, Vec<f32>, Vec<LocalEvent>, Vec<String>) {
        let agent = LocalAgent(agent);
        let acknowledged = self.ask(&Request::NextStep { agent, inputs: inputs.to_vec() });
        assert_eq!(acknowledged, Reply::NextStepAck { agent });
        let Reply::StepCompleted { outputs, infos, events, observed, .. } = self.receive() else {
            panic!("no notification")
        };
        let value = |_| match self.receive() {
            Reply::Value { content, .. } => content.as_str().to_owned(),
            other => panic!("{other:?}"),
        };
        let observed = (0..observed).map(value).collect();
        self.send(&Request::StepCompletedAck { agent });
        (outputs, infos, events, observed)
    }

    fn reset(&self, seed: i32) {
        assert_eq!(self.ask(&Request::ResetSimulation { seed }), Reply::ResetSimulationAck);
        assert_eq!(self.receive(), Reply::ResetCompleted);
        self.send(&Request::ResetCompleted);
    }
}

fn small() -> Running {
    Running::serve(&["--scenario", "small"])
}

/// The transcripts in `protocols/osp`. The answer to the init, the first step, opens the port of all further steps.
#[test]
fn transcripts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/osp/transcripts");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("transcripts") {
        let path = entry.expect("a transcript").path();
        let transcript: Value = serde_json::from_str(&fs::read_to_string(&path).expect("text")).expect("JSON");
        let dialect = match transcript["dialect"].as_str() {
            Some("document") => Dialect::Document,
            Some("original") => Dialect::Original,
            other => panic!("{}: unknown dialect {other:?}", path.display()),
        };
        let server = small();
        let steps = transcript["steps"].as_array().expect("steps");
        let init = Request::Init { dialect, version: Version::SUPPORTED }.to_bytes_in(dialect);
        assert_eq!(steps[0]["send"].as_str().map(bytes_from_hex), Some(init), "{}", path.display());
        // sends the init and checks its answer
        let client = RawClient::connect(&server, dialect);
        for (number, step) in steps.iter().enumerate().skip(2) {
            if let Some(datagram) = step["send"].as_str().map(bytes_from_hex) {
                client.socket.send(&datagram).expect("sent");
            } else if let Some(expected) = step["expect"].as_str().map(bytes_from_hex) {
                assert_eq!(receive(&client.socket), expected, "step {number} of {}", path.display());
            }
            // after `expect_none`, a surplus reply would be the next datagram
        }
        count += 1;
    }
    assert!(count >= 2, "only {count} transcripts found");
}

#[test]
fn section_4_1_connecting() {
    let server = small();
    let main = server.address("OSP");
    for dialect in Dialect::ALL {
        let client = RawClient::connect(&server, dialect);
        assert_eq!(client.ask(&Request::End), Reply::EndAck);
        // an unsupported version is answered by the main port
        let peer = peer_of(main);
        peer.send(&Request::Init { dialect, version: Version { major: 2, minor: 0 } }.to_bytes_in(dialect))
            .expect("sent");
        let answer = Reply::decode_in(dialect, &receive(&peer));
        assert_eq!(answer, Ok(Reply::InitAck { version: Version::SUPPORTED }));
    }
}

#[test]
fn section_4_2_resetting_the_communication() {
    for dialect in Dialect::ALL {
        let server = small();
        let (one, other) = (RawClient::connect(&server, dialect), RawClient::connect(&server, Dialect::Document));
        one.agents();
        assert_eq!(one.register(1), Status::Done);
        other.send(&Request::ResetCommunication);
        assert_eq!((one.receive(), other.receive()), (Reply::ResetCommunicationAck, Reply::ResetCommunicationAck));
        let anew = RawClient::connect(&server, dialect);
        // its agent is free as soon as it has ended
        eventually("a free agent", || {
            anew.agents();
            (anew.register(1) == Status::Done).then_some(())
        });
    }
}

#[test]
fn section_4_3_controlling_agents() {
    let server = Running::serve(&["--scenario", "orcs"]);
    for dialect in Dialect::ALL {
        let client = RawClient::connect(&server, dialect);
        let agents = client.agents();
        for (place, (reply, wanted)) in agents.iter().zip(["ASeries", "Rover1", "Rover2"]).enumerate() {
            let Reply::AgentOverviewNext { index, agent, group_type, available, name } = reply else {
                panic!("{reply:?}")
            };
            assert_eq!((*index, agent.0, *available), (place, place as i32 + 1, true));
            assert_eq!((group_type.as_str(), name.as_str()), ("Agent", wanted));
        }
        assert_eq!(agents.len(), 3);
        let Reply::AgentInfo { inputs, outputs, infos, name, .. } =
            client.ask(&Request::GetAgentInfo { agent: LocalAgent(1) })
        else {
            panic!("no info")
        };
        // the interface of the original robot
        assert_eq!((inputs, outputs, name.as_str()), (42, 37, "ASeries"));
        for place in 0..inputs + outputs + infos {
            let Reply::AgentInfoNext { index, min, max, name } = client.receive() else { panic!("no value") };
            assert!(index == place && max == 1.0 && (min == -1.0 || min == 0.0), "{name:?} {min} {max}");
        }
        client.send(&Request::AgentInfoAck);

        let rival = RawClient::connect(&server, dialect);
        rival.agents();
        assert_eq!(
            (client.register(2), client.register(2), rival.register(2)),
            (Status::Done, Status::Done, Status::Failed)
        );
        let available: Vec<_> = rival
            .agents()
            .iter()
            .map(|reply| matches!(reply, Reply::AgentOverviewNext { available: true, .. }))
            .collect();
        assert_eq!(available, [true, false, true]);
        for (agent, status) in [(2, Status::Done), (2, Status::Done), (9, Status::NotFound)] {
            let agent = LocalAgent(agent);
            let answer = client.ask(&Request::DeregisterFromAgent { agent });
            assert_eq!(answer, Reply::DeregisterFromAgentAck { agent, status });
        }
        assert_eq!(rival.register(2), Status::Done);
        assert_eq!(rival.ask(&Request::End), Reply::EndAck);
        eventually("the rival's end", || {
            let free = |reply: &Reply| matches!(reply, Reply::AgentOverviewNext { available: true, .. });
            client.agents().iter().all(free).then_some(())
        });
    }
}

#[test]
fn sections_4_4_and_4_7_events_and_steps() {
    for dialect in Dialect::ALL {
        let server = small();
        let client = RawClient::connect(&server, dialect);
        client.agents();
        assert_eq!(client.register(1), Status::Done);
        let register = |name: &str| client.ask(&Request::RegisterForEvent { name: Text::from(name) });
        let acknowledged = |id| Reply::RegisterForEventAck { event: LocalEvent(id) };
        assert_eq!(register("/Control/StepCompleted"), acknowledged(1));
        assert_eq!(register("/Control/NextTry"), acknowledged(2));
        assert_eq!(register("/Control/StepCompleted"), acknowledged(1));
        assert_eq!(register("/Control/"), acknowledged(0));
        client.reset(3);
        let (outputs, infos, events, _) = client.step(1, &[0.5, 0.5]);
        assert_eq!((outputs.len(), infos.len(), events), (13, 7, vec![LocalEvent(1), LocalEvent(2)]));
        assert!(outputs.iter().chain(&infos).all(|value| (-1.0..=1.0).contains(value)));
        let (.., events, _) = client.step(1, &[0.4, 0.5]);
        assert_eq!(events, [LocalEvent(1)]);
        for wanted in [1, 0] {
            let answer = client.ask(&Request::DeregisterFromEvent { event: LocalEvent(1) });
            assert_eq!(answer, Reply::DeregisterFromEventAck { event: LocalEvent(wanted) });
        }
        let (.., events, _) = client.step(1, &[0.3, 0.5]);
        assert_eq!(events, []);
    }
}

#[test]
fn section_4_5_variables() {
    for dialect in Dialect::ALL {
        let server = small();
        let client = RawClient::connect(&server, dialect);
        let all = client.find(".*");
        assert!(all.len() > 100 && all.is_sorted_by_key(|(_, _, name)| name.clone()));
        let found = client.find("/Sim/Rover/.*Wheel.*Velocity");
        assert!(found.iter().any(|(_, kind, _)| kind == "NormalizedDouble"), "{found:?}");
        assert_eq!(client.find("Rover"), [], "a part is not enough");
        let id = |name: &str| all.iter().find(|(_, _, other)| other == name).expect("present").0;
        let get = |value| client.ask(&Request::GetValue { value });
        let set = |value, text: &str| client.ask(&Request::SetValue { value, content: Text::from(text) });
        let position = id("/Sim/Rover/Position");
        assert_eq!(set(position, "(1,2,0.5)"), Reply::SetValueAck { value: position, status: Status::Done });
        assert_eq!(set(position, "(1,2"), Reply::SetValueAck { value: position, status: Status::Failed });
        let unknown = LocalValue(99_999);
        assert_eq!(set(unknown, "1"), Reply::SetValueAck { value: unknown, status: Status::NotFound });
        assert_eq!(get(unknown), Reply::Value { value: LocalValue::UNREADABLE, content: Text::default() });
        client.agents();
        client.register(1);
        client.reset(0);
        let (step, time) = (id("/Control/CurrentStep"), id("/Simulation/SimulationTime"));
        let values = vec![step, unknown, time];
        let answer = client.ask(&Request::RegisterForValues { values });
        assert_eq!(answer, Reply::RegisterForValuesAck { values: vec![step, LocalValue::NOT_FOUND, time] });
        let (.., observed) = client.step(1, &[0.1, 0.1]);
        assert_eq!(observed, ["1", "0.02"]);
        let answer = client.ask(&Request::DeregisterFromValues { values: vec![step, unknown] });
        assert_eq!(answer, Reply::DeregisterFromValuesAck { values: vec![step, LocalValue::NOT_FOUND] });
        let (.., observed) = client.step(1, &[0.2, 0.1]);
        assert_eq!(observed, ["0.04"]);
        assert_eq!(get(step), Reply::Value { value: step, content: Text::from("2") });
        client.send(&Request::ValueInfoAck);
    }
}

/// The notifications of a run, as bits.
fn drive(client: &RawClient, seed: i32) -> Vec<Vec<u32>> {
    client.reset(seed);
    let bits = |step: u8| {
        let (outputs, infos, ..) = client.step(1, &[f32::from(step) / 50.0, 0.4]);
        outputs.iter().chain(&infos).map(|value| value.to_bits()).collect()
    };
    (0..50).map(bits).collect()
}

#[test]
fn section_4_6_the_same_seed_gives_the_same_run() {
    let runs = Dialect::ALL.map(|dialect| {
        let server = small();
        let client = RawClient::connect(&server, dialect);
        client.agents();
        assert_eq!(client.register(1), Status::Done);
        let (first, other, again) = (drive(&client, 7), drive(&client, 8), drive(&client, 7));
        assert_eq!(first, again, "in one world");
        assert_ne!(first, other);
        first
    });
    assert_eq!(runs[0], runs[1], "in two programs");
}

#[test]
fn section_4_6_each_seed_is_another_start_in_the_scenario_orcs() {
    let server = Running::serve(&["--scenario", "orcs"]);
    let client = RawClient::connect(&server, Dialect::Document);
    let randomised =
        ["/Sim/Rover1/Heading", "/Sim/Rover2/Heading", "/Sim/World/post-3/Position", "/Sim/World/box-1/Position"];
    let found = client.find(".*");
    client.send(&Request::ValueInfoAck);
    let values = randomised.map(|name| found.iter().find(|(_, _, other)| other == name).expect("present").0);
    client.agents();
    assert_eq!(client.register(1), Status::Done);
    let start = |seed| {
        client.reset(seed);
        values.map(|value| client.ask(&Request::GetValue { value }))
    };
    let (first, other, again) = (start(7), start(8), start(7));
    assert_eq!(first, again);
    for (place, name) in randomised.iter().enumerate() {
        assert_ne!(first[place], other[place], "{name}");
    }
}

#[test]
fn invalid_datagrams_do_not_disturb_other_clients() {
    let server = small();
    let mut witness = Client::connect(server.address("OSP")).expect("it answers");
    let agent = the_agent(&mut witness, "Rover");
    assert!(witness.register(agent).expect("an answer"));
    let (stranger, hostile) = (peer_of(server.address("OSP")), RawClient::connect(&server, Dialect::Document));
    let huge = [54_u8, 0, 0, 0, 0x80, 1, 0, 0, 0];
    let expensive = [&[40][..], b"(((x+x+)+y)*){50}\0"].concat();
    for (what, datagram) in [
        ("nothing", vec![]),
        ("one byte", vec![80]),
        ("half a request", vec![80, 1, 0]),
        ("an unknown id", vec![200; 20]),
        ("the largest datagram", vec![0; 65_507]),
        ("2^31 values", huge.to_vec()),
        ("2^31 inputs", [&[80, 1, 0, 0, 0][..], &[0xff, 0xff, 0xff, 0x7f], &[0; 40]].concat()),
        ("an agent that is not there", [&[80][..], &[9; 4], &[0; 4]].concat()),
        ("no NUL at the end", [&[40][..], b".*"].concat()),
        ("no UTF-8", [&[40][..], &[0xff, 0xfe, 0x2e, 0]].concat()),
        ("no regular expression", [&[40][..], b"(((\0"].concat()),
        ("an expensive regular expression", expensive),
        ("a long one", [&[40][..], &[b'x'; 60_000], &[0]].concat()),
        ("what a server says", vec![85, 1, 0, 0, 0]),
        ("an init inside", vec![5, 1, 1]),
    ] {
        for _ in 0..20 {
            // whether or not there is room for it
            let _ = stranger.send(&datagram);
            let _ = hostile.socket.send(&datagram);
        }
        let step = witness.step(&[(agent, &[0.2, 0.2])]);
        assert_eq!(step.unwrap_or_else(|error| panic!("after {what}: {error}")).completed.len(), 1);
    }
    drop(witness);
    // inputs too few, too many, not finite: they step all the same
    let plain = RawClient::connect(&server, Dialect::Original);
    plain.agents();
    eventually("a free agent", || (plain.register(1) == Status::Done).then_some(()));
    for inputs in [&[][..], &[0.1], &[0.1; 9], &[f32::NAN, f32::INFINITY]] {
        let (outputs, infos, ..) = plain.step(1, inputs);
        assert!(outputs.iter().chain(&infos).all(|value| value.is_finite()), "{inputs:?}");
    }
}

fn the_agent(client: &mut Client, name: &str) -> LocalAgent {
    let agents = client.agents().expect("agents");
    agents.iter().find(|AgentSummary { name: other, .. }| other == name).expect("present").agent
}

fn the_value(client: &mut Client, name: &str) -> LocalValue {
    match client.values(name).expect("values").as_slice() {
        [ValueInfo { value, .. }] => *value,
        other => panic!("{name}: {other:?}"),
    }
}

/// Repeats a request until it succeeds.
fn retry<T>(what: &str, mut request: impl FnMut() -> Result<T, ClientError>) -> T {
    eventually(what, || request().ok())
}

#[test]
fn steps_are_executed_once_on_a_lossy_network() {
    let inputs = |step: u8| [f32::from(step % 20) / 20.0, 0.5];
    for dialect in Dialect::ALL {
        for (percent, steps) in [(1_u32, 200_u8), (10, 60), (30, 25)] {
            let server = small();
            let address = server.address("OSP");
            let network = LossyNetwork::start(address, f64::from(percent) / 100.0, u64::from(percent));
            // at these loss rates any request may need several attempts
            let mut client = retry("a connection", || Client::connect_in(dialect, network.address));
            // time limit of a step
            client.set_timeout(Duration::from_secs(5));
            let agent = retry("agents", || client.agents()).first().expect("present").agent;
            assert!(retry("an agent", || client.register(agent)));
            retry("a reset", || client.reset(9));
            let run = |client: &mut Client| -> Vec<Vec<f32>> {
                let mut step =
                    |step| client.step(&[(agent, &inputs(step))]).expect("a step").completed.remove(0).outputs;
                (0..steps).map(&mut step).collect()
            };
            let disturbed = run(&mut client);
            let count = retry("a list", || client.values("/Control/CurrentStep")).first().expect("present").value;
            let counted = retry("a value", || client.get(count));
            assert_eq!(counted, Some(steps.to_string()), "{percent} % in {dialect:?}");
            drop(client);

            // the same run without losses
            let mut client = Client::connect(address).expect("it answers");
            let agent = the_agent(&mut client, "Rover");
            eventually("a free agent", || client.register(agent).expect("an answer").then_some(()));
            client.reset(9).expect("a reset");
            assert!(run(&mut client) == disturbed, "{percent} % in {dialect:?} differs");
        }
    }
}

#[test]
fn sixty_four_clients_step_together() {
    const CLIENTS: usize = 64;
    const STEPS: usize = 20;
    let mut file = tempfile::NamedTempFile::with_suffix(".toml").expect("a file");
    writeln!(file, "[world]\nfield = \"flat\"\npace = \"lockstep\"\n[osp]").expect("written");
    for index in 0..CLIENTS {
        let (x, y) = (2 * (index % 8), 2 * (index / 8));
        writeln!(file, "[[robot]]\nname = \"R{index}\"\nmodel = \"rover\"\nposition = [{x}.0, {y}.0, 0.0]")
            .expect("written");
    }
    let server = Running::serve(&["--scenario", &file.path().to_string_lossy()]);
    let (address, all_registered) = (server.address("OSP"), Arc::new(Barrier::new(CLIENTS)));
    let client = |index: usize| {
        let all_registered = Arc::clone(&all_registered);
        thread::spawn(move || {
            let mut client = Client::connect_in(Dialect::ALL[index % 2], address).expect("it answers");
            client.set_timeout(running::DEADLINE);
            let agent = the_agent(&mut client, &format!("R{index}"));
            let count = the_value(&mut client, "/Control/CurrentStep");
            assert_eq!(client.observe(&[count]).expect("an answer"), [true]);
            // whoever steps early waits for nobody: all have to be there
            all_registered.wait();
            assert!(client.register(agent).expect("an answer"));
            all_registered.wait();
            let step = |_| client.step(&[(agent, &[0.3, 0.3])]).expect("a step").observed.remove(0).1;
            let seen: Vec<String> = (0..STEPS).map(step).collect();
            client.end().expect("an end");
            seen
        })
    };
    let clients: Vec<_> = (0..CLIENTS).map(client).collect();
    let wanted: Vec<_> = (1..=STEPS).map(|step| step.to_string()).collect();
    for client in clients {
        assert_eq!(client.join().expect("no panic"), wanted);
    }
}

#[test]
fn all_protocols_share_one_world() {
    let server = Running::serve(&["--scenario", "playground"]);
    let mut player = playing::Agent::join(server.address(AGENTS), "T1 Reds 7");
    let mut reader = Client::connect(server.address("OSP")).expect("it answers");
    let mut stepper = Client::connect_in(Dialect::Original, server.address("OSP")).expect("it answers");
    let mut pusher = odcp::Client::connect(server.address("ODCP of ASeries")).expect("it answers");

    // one OSP client steps a rover, on which everybody's time now depends
    let rover = the_agent(&mut stepper, "Rover1");
    assert!(stepper.register(rover).expect("an answer"));
    let robots: Vec<_> =
        reader.agents().expect("agents").into_iter().map(|agent| (agent.name, agent.available)).collect();
    for (name, available) in [("ASeries", true), ("Rover1", false), ("Rover2", true)] {
        assert!(robots.contains(&(name.to_owned(), available)), "{name}: {robots:?}");
    }
    assert!(robots.contains(&("Left 7".to_owned(), true)), "the player is an agent, too: {robots:?}");
    let head = the_value(&mut reader, "/Sim/Left 7/AAHead_yaw/Angle");
    let position = the_value(&mut reader, "/Sim/Left 7/Position");
    let score = the_value(&mut reader, "/Game/Left/Score");
    let ball = the_value(&mut reader, "/Sim/World/ball/Position");
    for value in [position, score, ball] {
        assert!(reader.get(value).expect("an answer").is_some());
    }
    let read = |reader: &mut Client, value| reader.get(value).expect("an answer").expect("present");
    let at_rest = read(&mut reader, head);
    let before = pusher.motors().expect("motors");
    let mut pose = vec![(0.0, 1.0); before.len()];
    pose[6].0 = 0.4;
    eventually("a player whose head turns, and an A-Series whose elbow does", || {
        player.send("(he1 40 0 20 1 0)");
        pusher.set_motors(&pose).expect("sent");
        stepper.step(&[(rover, &[0.5, 0.5])]).expect("a step");
        player.next().expect("it sees");
        let elbow = pusher.motors().expect("motors")[6];
        (read(&mut reader, head) != at_rest && (elbow - 0.4).abs() < 0.1).then_some(())
    });
}

#[test]
fn the_example_runs() {
    let server = Running::serve(&["--scenario", "arena"]);
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/osp/evolve.py");
    let output = Command::new("python3")
        .arg(example)
        .args(["--server", &server.address("OSP").to_string(), "--generations", "2", "--plot", ""])
        .output()
        .expect("Python is there");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let best = text.lines().last().and_then(|line| line.strip_prefix("best ")?.parse::<f64>().ok());
    assert!(best.is_some_and(|best| best > 0.0), "{text}");
}

#[test]
fn commands_inspect_the_simulation() {
    let server = small();
    let (osp, odcp) = (server.address("OSP").to_string(), server.address("ODCP of Rover").to_string());
    let page = server.address("Console").to_string();
    let json = |arguments: &[&str]| {
        let ended = run(arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.stderr);
        serde_json::from_str::<serde_json::Value>(ended.stdout.lines().last().unwrap_or_default())
            .or_else(|_| serde_json::from_str(&ended.stdout))
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", ended.stdout))
    };
    for (arguments, wanted) in [
        (&["osp", "--server", &osp, "agents"][..], "Rover"),
        (&["osp", "--server", &osp, "info", "Rover"], "/Left/Wheel/DesiredVelocity"),
        (&["osp", "--server", &osp, "values", "/Simulation/.*"], "/Simulation/Gravitation"),
        (&["osp", "--server", &osp, "get", "/Simulation/Gravitation"], "9.81"),
        (&["osp", "--server", &osp, "--dialect", "original", "set", "/Simulation/Gravitation", "3.7"], "3.7"),
        (&["osp", "--server", &osp, "watch", "/Control/CurrentStep", "--count", "1"], "/Control/CurrentStep"),
        (&["osp", "--server", &osp, "step", "Rover", "--seed", "3", "--steps", "5", "0.5", "0.5"], "/Distance/1"),
        (
            &["osp", "--server", &osp, "events", "/Control/NextStep", "--agent", "Rover", "--steps", "2"],
            "/Control/NextStep",
        ),
        (&["osp", "--server", &osp, "reset", "--seed", "4"], ""),
        (&["odcp", "--server", &odcp, "set", "0.1", "0.1:0.5"], ""),
        (&["odcp", "--server", &odcp, "motors"], "0"),
        (&["agents", "--server", &page], "Rover"),
    ] {
        let ended = run(arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stdout.contains(wanted), "{arguments:?} has no {wanted}: {}", ended.stdout);
        if !wanted.is_empty() {
            json(&[arguments, &["--json"]].concat());
        }
    }
    for arguments in [
        &["osp", "--server", &osp, "info", "Nobody"][..],
        &["osp", "--server", &osp, "set", "/Nothing", "1"],
        &["osp", "--server", &osp, "set", "/Simulation/Gravitation", "much"],
        &["osp", "--server", "127.0.0.1:9", "agents"],
        &["agents", "--server", "127.0.0.1:9"],
    ] {
        let ended = run(arguments);
        assert_eq!(ended.code, Some(1), "{arguments:?}: {}", ended.stdout);
        assert!(ended.stderr.starts_with("rossum: "), "{}", ended.stderr);
    }
}
