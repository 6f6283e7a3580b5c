//! Checks the OSP codec against the shared data in `protocols/osp`.

use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use wire::DecodeError;
use wire::osp::{Dialect, LocalEvent, LocalValue, Reply, Request, Status};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vectors {
    requests: Vec<Vector>,
    replies: Vec<Vector>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    name: String,
    dialect: String,
    hex: String,
    message: Option<Value>,
    error: Option<Value>,
    canonical: Option<String>,
}

fn vectors() -> Vectors {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../protocols/osp/vectors.json");
    let text = fs::read_to_string(path).expect("vectors.json is there");
    serde_json::from_str(&text).expect("vectors.json has the documented fields")
}

fn bytes_from_hex(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "{hex}");
    let digits = |at| u8::from_str_radix(hex.get(at..at + 2).expect("hex is ASCII"), 16).expect("two hex digits");
    (0..hex.len()).step_by(2).map(digits).collect()
}

fn dialect_from_name(name: &str) -> Dialect {
    match name {
        "document" => Dialect::Document,
        "original" => Dialect::Original,
        name => panic!("{name} is no dialect"),
    }
}

fn name_from_dialect(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Document => "document",
        Dialect::Original => "original",
    }
}

/// JSON cannot represent infinite numbers and NaN; they become strings.
fn json_from_float(float: f32) -> Value {
    if float.is_finite() { json!(float) } else { json!(float.to_string()) }
}

fn json_from_floats(floats: &[f32]) -> Value {
    floats.iter().copied().map(json_from_float).collect()
}

fn json_from_values(values: &[LocalValue]) -> Value {
    values.iter().map(|value| value.0).collect()
}

fn json_from_events(events: &[LocalEvent]) -> Value {
    events.iter().map(|event| event.0).collect()
}

fn json_from_status(status: Status) -> Value {
    match status {
        Status::Failed => json!(0),
        Status::Done => json!(1),
        Status::NotFound => json!(2),
    }
}

fn json_from_request(request: &Request) -> Value {
    match request {
        Request::Init { dialect, version } => {
            let dialect = name_from_dialect(*dialect);
            json!({"type": "init", "dialect": dialect, "major": version.major, "minor": version.minor})
        }
        Request::End => json!({"type": "end"}),
        Request::ResetCommunication => json!({"type": "reset_communication"}),
        Request::RegisterForEvent { name } => json!({"type": "register_for_event", "name": name.as_str()}),
        Request::DeregisterFromEvent { event } => json!({"type": "deregister_from_event", "event": event.0}),
        Request::GetValueIds { expression } => json!({"type": "get_value_ids", "expression": expression.as_str()}),
        Request::ValueInfoAck => json!({"type": "value_info_ack"}),
        Request::GetValue { value } => json!({"type": "get_value", "value": value.0}),
        Request::SetValue { value, content } => {
            json!({"type": "set_value", "value": value.0, "content": content.as_str()})
        }
        Request::RegisterForValues { values } => {
            json!({"type": "register_for_values", "values": json_from_values(values)})
        }
        Request::DeregisterFromValues { values } => {
            json!({"type": "deregister_from_values", "values": json_from_values(values)})
        }
        Request::ResetSimulation { seed } => json!({"type": "reset_simulation", "seed": seed}),
        Request::ResetCompleted => json!({"type": "reset_completed"}),
        Request::NextStep { agent, inputs } => {
            json!({"type": "next_step", "agent": agent.0, "inputs": json_from_floats(inputs)})
        }
        Request::StepCompletedAck { agent } => json!({"type": "step_completed_ack", "agent": agent.0}),
        Request::GetAgentOverview => json!({"type": "get_agent_overview"}),
        Request::AgentOverviewAck => json!({"type": "agent_overview_ack"}),
        Request::GetAgentInfo { agent } => json!({"type": "get_agent_info", "agent": agent.0}),
        Request::AgentInfoAck => json!({"type": "agent_info_ack"}),
        Request::RegisterForAgent { agent } => json!({"type": "register_for_agent", "agent": agent.0}),
        Request::DeregisterFromAgent { agent } => json!({"type": "deregister_from_agent", "agent": agent.0}),
    }
}

fn json_from_reply(reply: &Reply) -> Value {
    match reply {
        Reply::InitAck { version } => json!({"type": "init_ack", "major": version.major, "minor": version.minor}),
        Reply::EndAck => json!({"type": "end_ack"}),
        Reply::ResetCommunicationAck => json!({"type": "reset_communication_ack"}),
        Reply::RegisterForEventAck { event } => json!({"type": "register_for_event_ack", "event": event.0}),
        Reply::DeregisterFromEventAck { event } => json!({"type": "deregister_from_event_ack", "event": event.0}),
        Reply::ValueIds { count } => json!({"type": "value_ids", "count": count}),
        Reply::ValueInfo { index, value, kind, name } => {
            let (kind, name) = (kind.as_str(), name.as_str());
            json!({"type": "value_info", "index": index, "value": value.0, "kind": kind, "name": name})
        }
        Reply::Value { value, content } => json!({"type": "value", "value": value.0, "content": content.as_str()}),
        Reply::SetValueAck { value, status } => {
            json!({"type": "set_value_ack", "value": value.0, "status": json_from_status(*status)})
        }
        Reply::RegisterForValuesAck { values } => {
            json!({"type": "register_for_values_ack", "values": json_from_values(values)})
        }
        Reply::DeregisterFromValuesAck { values } => {
            json!({"type": "deregister_from_values_ack", "values": json_from_values(values)})
        }
        Reply::ResetSimulationAck => json!({"type": "reset_simulation_ack"}),
        Reply::ResetCompleted => json!({"type": "reset_completed"}),
        Reply::NextStepAck { agent } => json!({"type": "next_step_ack", "agent": agent.0}),
        Reply::StepCompleted { agent, outputs, infos, events, observed } => json!({
            "type": "step_completed", "agent": agent.0, "outputs": json_from_floats(outputs),
            "infos": json_from_floats(infos), "events": json_from_events(events), "observed": observed,
        }),
        Reply::AgentOverview { count } => json!({"type": "agent_overview", "count": count}),
        Reply::AgentOverviewNext { index, agent, group_type, available, name } => json!({
            "type": "agent_overview_next", "index": index, "agent": agent.0, "group_type": group_type.as_str(),
            "available": available, "name": name.as_str(),
        }),
        Reply::AgentInfo { agent, inputs, outputs, infos, name } => json!({
            "type": "agent_info", "agent": agent.0, "inputs": inputs, "outputs": outputs, "infos": infos,
            "name": name.as_str(),
        }),
        Reply::AgentInfoNext { index, min, max, name } => json!({
            "type": "agent_info_next", "index": index, "min": json_from_float(*min), "max": json_from_float(*max),
            "name": name.as_str(),
        }),
        Reply::RegisterForAgentAck { agent, status } => {
            json!({"type": "register_for_agent_ack", "agent": agent.0, "status": json_from_status(*status)})
        }
        Reply::DeregisterFromAgentAck { agent, status } => {
            json!({"type": "deregister_from_agent_ack", "agent": agent.0, "status": json_from_status(*status)})
        }
    }
}

fn json_from_error(error: &DecodeError) -> Value {
    match error {
        DecodeError::UnknownId { id } => json!({"kind": "unknown_id", "id": id}),
        DecodeError::Truncated { field } => json!({"kind": "truncated", "field": field}),
        DecodeError::Malformed { field } => json!({"kind": "malformed", "field": field}),
        DecodeError::OutOfRange { field, value, min, max } => {
            json!({"kind": "out_of_range", "field": field, "value": value, "min": min, "max": max})
        }
    }
}

/// Compares the message as JSON and its encoding with the vector.
fn check(vector: &Vector, read: Result<(Value, Vec<u8>), DecodeError>) {
    let Vector { name, dialect, hex, message, error, canonical } = vector;
    match read {
        Ok((meaning, written)) => {
            assert_eq!(Some(&meaning), message.as_ref(), "{name} ({dialect})");
            assert_eq!(written, bytes_from_hex(canonical.as_ref().unwrap_or(hex)), "{name} ({dialect})");
        }
        Err(actual) => assert_eq!(Some(&json_from_error(&actual)), error.as_ref(), "{name} ({dialect})"),
    }
}

#[test]
fn requests_match_the_vectors() {
    for vector in vectors().requests {
        let dialect = dialect_from_name(&vector.dialect);
        let read = Request::decode(&bytes_from_hex(&vector.hex));
        check(&vector, read.map(|request| (json_from_request(&request), request.to_bytes_in(dialect))));
    }
}

#[test]
fn replies_match_the_vectors() {
    for vector in vectors().replies {
        let dialect = dialect_from_name(&vector.dialect);
        let read = Reply::decode_in(dialect, &bytes_from_hex(&vector.hex));
        check(&vector, read.map(|reply| (json_from_reply(&reply), reply.to_bytes_in(dialect))));
    }
}

/// Bugs of other implementations in messages without a vector would go unnoticed.
#[test]
fn every_message_has_a_vector_in_each_dialect() {
    fn check(vectors: &[Vector], kinds: usize) {
        for dialect in ["document", "original"] {
            let meanings = vectors.iter().filter(|vector| vector.dialect == dialect && vector.canonical.is_none());
            let types: BTreeSet<_> =
                meanings.filter_map(|vector| vector.message.as_ref()?.get("type")?.as_str()).collect();
            assert_eq!(types.len(), kinds, "{dialect}: {types:?}");
        }
    }
    let vectors = vectors();
    check(&vectors.requests, 21);
    check(&vectors.replies, 21);
}
