//! What an agent's interface and variables look like to a client.

use world::interface::Role;

use super::*;

/// The names of the 98 that follow a 96, and the 96 itself.
fn information(harness: &mut Harness, agent: i32) -> (Reply, Vec<String>) {
    let mut replies = harness.ask(0, &Request::GetAgentInfo { agent: LocalAgent(agent) });
    let first = replies.remove(0);
    let name = |reply| match reply {
        Reply::AgentInfoNext { name, .. } => name.as_str().to_owned(),
        other => panic!("{other:?}"),
    };
    (first, replies.into_iter().map(name).collect())
}

#[test]
fn an_agent_is_described_by_inputs_then_outputs_then_infos() {
    let mut harness = Harness::new(1, &[Dialect::Document]);
    let (first, names) = information(&mut harness, 1);
    let world = harness.run.world().snapshot();
    let card = world.catalogue.agent_named("Rover").unwrap();
    let [inputs, outputs, infos] = [Role::Input, Role::Output, Role::Info].map(|role| {
        let values = card.values.iter().filter(move |value| value.role == role);
        values.map(|value| value.name.clone()).collect::<Vec<_>>()
    });
    let Reply::AgentInfo { inputs: n, outputs: m, infos: k, .. } = first else { panic!("{first:?}") };
    assert_eq!([n, m, k], [inputs.len(), outputs.len(), infos.len()]);
    assert!(k > 0 && infos[0].starts_with("/Position"), "{infos:?}");
    assert_eq!(names, [inputs, outputs, infos].concat());
}

/// Outputs and infos are in the order in which the agent was described, and are its sensors' values now.
#[test]
fn a_report_has_the_values_in_the_order_of_the_description() {
    let mut harness = Harness::new(1, &[Dialect::Document]);
    let (_, names) = information(&mut harness, 1);
    harness.register(0, 1);
    let mut reports = Vec::new();
    for step in 0..30_u8 {
        let replies = harness.ask(0, &step_of(1, &[0.5 + f32::from(step) / 100.0, -0.3]));
        let [_, Reply::StepCompleted { outputs, infos, .. }] = replies.as_slice() else { panic!("{replies:?}") };
        let sensed: Vec<f32> = outputs.iter().chain(infos).copied().collect();
        assert_eq!(sensed.len(), names.len() - 2);
        for (name, got) in names.iter().skip(2).zip(&sensed) {
            let wanted = harness.value(&format!("/Sim/Rover{name}")).as_number().unwrap() as f32;
            assert_eq!(*got, wanted, "{name}");
        }
        harness.ask(0, &ack_of(1));
        reports.push(sensed);
    }
    // no two values could have changed places unnoticed
    let wheel = |name: &str| names.iter().position(|other| other == name).unwrap() - 2;
    let last = reports.last().unwrap();
    assert!(last[wheel("/Left/Wheel/Velocity")] > 0.4 && last[wheel("/Right/Wheel/Velocity")] < -0.2, "{last:?}");
}

/// The sensors are read when the last physics step of a tick begins (D38).
#[test]
fn a_report_is_one_physics_step_old() {
    let mut harness = Harness::new(1, &[Dialect::Document]);
    harness.register(0, 1);
    let (_, names) = information(&mut harness, 1);
    let place = |name: &str| names.iter().position(|other| other == name).unwrap() - 2;
    let (left, right) = (place("/Left/Wheel/Velocity"), place("/Right/Wheel/Velocity"));
    let mut earlier = f64::NAN;
    let iterations = harness.local(0, "/Simulation/IterationsPerStep");
    harness.ask(0, &Request::SetValue { value: iterations, content: Text::from("1") });
    for step in 0..40_u8 {
        let replies = harness.ask(0, &step_of(1, &[0.9, 0.1 * f32::from(step % 7)]));
        let [_, Reply::StepCompleted { outputs, .. }] = replies.as_slice() else { panic!("{replies:?}") };
        if step > 0 {
            assert!((f64::from(outputs[left]) * 12.0 - earlier).abs() < 1e-5, "step {step}");
        }
        assert!(outputs[right].is_finite());
        earlier = harness.value("/Sim/Rover/Left/Wheel/Joint/Velocity").as_number().unwrap();
        harness.ask(0, &ack_of(1));
    }
}

#[test]
fn before_an_overview_there_are_no_agents() {
    for dialect in Dialect::ALL {
        let mut harness = Harness::new(1, &[dialect, dialect]);
        assert_eq!(harness.register(0, 1), Status::Done);
        // like the first one, but it has not asked for an overview
        harness.clients[1].session = OspSession::new(PEER, dialect, SearchBudget::default());
        let agent = LocalAgent(1);
        let unknown = Reply::AgentInfo { agent: LocalAgent(0), inputs: 0, outputs: 0, infos: 0, name: Text::default() };
        assert_eq!(harness.ask(1, &Request::GetAgentInfo { agent }), [unknown]);
        let answer = harness.ask(1, &Request::DeregisterFromAgent { agent });
        assert_eq!(answer, [Reply::DeregisterFromAgentAck { agent, status: Status::NotFound }]);
        // nothing happened to the client that controls it
        assert_eq!(kinds(&harness.ask(0, &step_of(1, &[0.1, 0.1]))), STEP);
        harness.ask(1, &Request::GetAgentOverview);
        assert_ne!(harness.ask(1, &Request::GetAgentInfo { agent }).len(), 1);
        let answer = harness.ask(1, &Request::DeregisterFromAgent { agent });
        assert_eq!(answer, [Reply::DeregisterFromAgentAck { agent, status: Status::Done }]);
    }
}

#[test]
fn variables_have_the_types_of_the_document() {
    let mut harness = Harness::new(1, &[Dialect::Document]);
    for (name, kind, content) in [
        ("/Sim/Rover/Name", "String", Some("Rover")),
        ("/Control/Pace", "String", Some("lockstep")),
        ("/Simulation/IterationsPerStep", "Integer", Some("4")),
        ("/Simulation/SolverIterations", "Integer", None),
        ("/Simulation/Gravitation", "Double", Some("9.81")),
        ("/Sim/Rover/Distance/1", "NormalizedDouble", None),
        ("/Sim/World/box-1/Position", "Point3D", Some("(1,0.55,0.08)")),
        ("/Sim/World/box-2/Orientation", "Quaternion", Some("(1,0,0,0)")),
        ("/Control/Pause", "Boolean", Some("F")),
        ("/Sim/Rover/Distance/1/Range", "Range", Some("-0.8,0.8")),
        ("/Sim/World/box-1/Color", "Color", None),
        ("/Sim/Rover/Chassis/Rotation", "Matrix", None),
    ] {
        let found = harness.ask(0, &Request::GetValueIds { expression: Text::from(name) });
        let [Reply::ValueIds { count: 1 }, Reply::ValueInfo { value, kind: got, name: full, .. }] = found.as_slice()
        else {
            panic!("{name}: {found:?}")
        };
        assert_eq!((got.as_str(), full.as_str()), (kind, name));
        let read = harness.ask(0, &Request::GetValue { value: *value });
        let [Reply::Value { content: text, .. }] = read.as_slice() else { panic!("{read:?}") };
        assert!(content.is_none_or(|content| text.as_str() == content), "{name}: {text:?}");
    }
}

#[test]
fn registering_for_values_keeps_those_of_before() {
    let mut harness = Harness::new(1, &[Dialect::Document]);
    harness.register(0, 1);
    let names = ["/Control/CurrentStep", "/Simulation/SimulationTime", "/Simulation/Seed"];
    let values = names.map(|name| harness.local(0, name));
    let mut observed = |count: usize, number: u32| {
        let replies = harness.ask_numbered(0, &step_of(1, &[]), number);
        let value = |reply: &Reply| match reply {
            Reply::Value { value, .. } => Some(*value),
            _ => None,
        };
        let seen: Vec<_> = replies.iter().filter_map(value).collect();
        if let Some(next) = values.get(count) {
            let answer = harness.ask(0, &Request::RegisterForValues { values: vec![*next] });
            assert_eq!(answer, [Reply::RegisterForValuesAck { values: vec![*next] }]);
        }
        seen
    };
    for (count, number) in (0..=names.len()).zip(1..) {
        assert_eq!(observed(count, number), values[..count], "after {count} registrations");
    }
}

#[test]
fn a_seed_of_zero_keeps_the_others_or_the_one_before() {
    for (seeds, wanted) in [([5, 0], 5), ([0, 5], 5), ([7, 5], 5), ([0, 0], 1), ([0, -3], -3)] {
        let mut harness = Harness::new(2, &Dialect::ALL);
        harness.register(0, 1);
        harness.register(1, 2);
        for (client, seed) in seeds.into_iter().enumerate() {
            harness.ask(client, &reset_with(seed));
        }
        assert_eq!(harness.value("/Simulation/Seed"), Value::Integer(wanted), "{seeds:?}");
    }
    // alone, and again
    let mut harness = Harness::new(1, &[Dialect::Document]);
    harness.register(0, 1);
    let heading = |harness: &mut Harness, seed| {
        harness.ask(0, &reset_with(seed));
        harness.ask(0, &Request::ResetCompleted);
        harness.value("/Sim/Rover/Heading").as_number().unwrap()
    };
    let first = heading(&mut harness, 9);
    assert_ne!(heading(&mut harness, 4), first);
    assert_eq!(heading(&mut harness, 9), first);
    assert_eq!(heading(&mut harness, 0), first);
}
