//! Checks the ODCP codec against the shared data in `protocols/odcp`.

use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use wire::odcp::{self, MotorAngles, MotorSetting, MotorValues, Raw, Reply, Request};
use wire::{DecodeError, Message};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vectors {
    requests: Vec<Vector>,
    replies: Vec<Vector>,
    changes: Vec<Changes>,
    angles: Vec<Scale>,
    torques: Vec<Scale>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    name: String,
    hex: String,
    message: Option<Value>,
    error: Option<Value>,
    canonical: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Changes {
    name: String,
    motors: usize,
    values: Vec<i32>,
    changes: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scale {
    raw: i32,
    normalized: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Transcript {
    #[expect(dead_code, reason = "for readers of the file")]
    about: String,
    agent: Agent,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Agent {
    motors: usize,
    angles: Vec<i32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    #[serde(default = "first_client")]
    from: String,
    send: Option<String>,
    expect: Option<String>,
    expect_motors: Option<usize>,
    expect_none: Option<bool>,
}

fn first_client() -> String {
    "a".into()
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../protocols/odcp")
}

fn vectors() -> Vectors {
    let text = fs::read_to_string(folder().join("vectors.json")).expect("vectors.json is there");
    serde_json::from_str(&text).expect("vectors.json has the documented fields")
}

fn bytes_from_hex(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "{hex}");
    let digits = |at| u8::from_str_radix(hex.get(at..at + 2).expect("hex is ASCII"), 16).expect("two hex digits");
    (0..hex.len()).step_by(2).map(digits).collect()
}

fn numbers(raws: &[Raw]) -> Vec<u16> {
    raws.iter().map(|raw| raw.get()).collect()
}

fn json_from_request(request: &Request) -> Value {
    match request {
        Request::Connect => json!({"type": "connect"}),
        Request::Disconnect => json!({"type": "disconnect"}),
        Request::SetMotors(values) => json!({"type": "set_motors", "values": numbers(values.as_slice())}),
        Request::GetMotors => json!({"type": "get_motors"}),
    }
}

fn json_from_reply(reply: &Reply) -> Value {
    match reply {
        Reply::Connected => json!({"type": "connected"}),
        Reply::Disconnected => json!({"type": "disconnected"}),
        Reply::Motors(angles) => json!({"type": "motors", "angles": numbers(angles.as_slice())}),
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

fn check<M: Message>(vector: &Vector, json_from_message: fn(&M) -> Value) {
    match M::decode(&bytes_from_hex(&vector.hex)) {
        Ok(message) => {
            assert_eq!(Some(json_from_message(&message)), vector.message, "{}", vector.name);
            let canonical = vector.canonical.as_ref().unwrap_or(&vector.hex);
            assert_eq!(message.to_bytes(), bytes_from_hex(canonical), "{}", vector.name);
        }
        Err(error) => assert_eq!(Some(json_from_error(&error)), vector.error, "{}", vector.name),
    }
}

#[test]
fn messages_match_the_vectors() {
    let vectors = vectors();
    vectors.requests.iter().for_each(|vector| check(vector, json_from_request));
    vectors.replies.iter().for_each(|vector| check(vector, json_from_reply));
}

#[test]
fn motor_changes_match_the_vectors() {
    for Changes { name, motors, values, changes } in vectors().changes {
        let datagram: Vec<u8> = [100].into_iter().chain(values.iter().flat_map(|value| value.to_le_bytes())).collect();
        let Ok(Request::SetMotors(values)) = Request::decode(&datagram) else { panic!("{name}") };
        let actual: Value = values
            .changes(motors)
            .map(|change| json!({"angle": change.angle.get(), "torque": change.torque.map(Raw::get)}))
            .collect();
        assert_eq!(actual, changes, "{name}");
    }
}

#[test]
fn scales_match_the_vectors() {
    type Scales = (Vec<Scale>, fn(Raw) -> f64, fn(f64) -> Raw);
    let vectors = vectors();
    let scales: [Scales; 2] = [
        (vectors.angles, odcp::normalized_angle_from_raw, odcp::raw_from_normalized_angle),
        (vectors.torques, odcp::normalized_torque_from_raw, odcp::raw_from_normalized_torque),
    ];
    for (rows, normalized_from_raw, raw_from_normalized) in scales {
        for Scale { raw, normalized } in rows {
            let raw = Raw::clamped(raw);
            assert!((normalized_from_raw(raw) - normalized).abs() < 1e-12, "{raw:?}");
            assert_eq!(raw_from_normalized(normalized), raw);
        }
    }
}

#[test]
fn transcripts_are_valid() {
    let mut names: Vec<_> = fs::read_dir(folder().join("transcripts"))
        .expect("transcripts are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    names.sort();
    assert!(!names.is_empty());
    for name in names {
        let text = fs::read_to_string(&name).expect("a transcript can be read");
        let transcript: Transcript = serde_json::from_str(&text).expect("a transcript has the documented fields");
        check_transcript(&transcript, &name.display().to_string());
    }
}

/// Every step has exactly one action, every expected datagram is one our server can encode, and no client's last step
/// is one that cannot be observed over a socket.
fn check_transcript(transcript: &Transcript, name: &str) {
    assert_eq!(transcript.agent.angles.len(), transcript.agent.motors, "{name}");
    let mut last_is_expect = BTreeMap::new();
    for step in &transcript.steps {
        let kinds =
            [step.send.is_some(), step.expect.is_some(), step.expect_motors.is_some(), step.expect_none.is_some()];
        assert_eq!(kinds.into_iter().filter(|&said| said).count(), 1, "{name}");
        if let Some(hex) = &step.send {
            bytes_from_hex(hex);
        }
        if let Some(hex) = &step.expect {
            let datagram = bytes_from_hex(hex);
            assert_eq!(Reply::decode(&datagram).map(|reply| reply.to_bytes()), Ok(datagram), "{name}");
        }
        last_is_expect.insert(&step.from, step.expect.is_some());
    }
    assert!(last_is_expect.values().all(|&expect| expect), "{name}");
}

#[test]
fn the_largest_messages_fit_a_datagram() {
    let setting = MotorSetting { angle: Raw::MAX, torque: Raw::MAX };
    let values = MotorValues::new(&[setting; odcp::MAX_MOTORS]).expect("at the limit");
    let angles = MotorAngles::new(vec![Raw::MAX; odcp::MAX_MOTORS]).expect("at the limit");
    assert_eq!(Request::SetMotors(values).to_bytes().len(), 4097);
    assert_eq!(Reply::Motors(angles).to_bytes().len(), 2049);
}
