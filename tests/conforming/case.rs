//! The format of the cases in `protocols/oz/conformance/cases`; the page in that folder explains it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What happens between some clients and a robot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Requirements of `protocols/oz/coverage.md`.
    pub(crate) cites: Vec<String>,
    pub(crate) steps: Vec<Step>,
}

/// One thing that happens with one of the clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Step {
    #[serde(default = "first_client", skip_serializing_if = "is_first_client")]
    pub(crate) client: String,
    #[serde(flatten)]
    pub(crate) action: Action,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Action {
    /// The client connects, and is welcomed.
    Connect(Connect),
    /// The application calls a method.
    Call(Call),
    /// The application is told this event next.
    Expect(Value),
    /// It is told the same event several times.
    ExpectTimes(usize, Value),
    /// Events of this name are not looked at from here on.
    Ignore(String),
    /// The robot accepts a connection, reads the version request, and answers with these pieces.
    Accept(Vec<Piece>),
    /// Nobody connects to the robot within this time.
    NobodyConnects(u64),
    /// The robot reads these bytes.
    Receive(Vec<Piece>),
    /// The robot sends these pieces, each one alone.
    Send(Vec<Piece>),
    /// The robot sends these pieces, with this time before each of them, in ms.
    SendSlowly(u64, Vec<Piece>),
    /// The robot ends the connection.
    Close(Ending),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Connect {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reconnect_ms: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) args: Vec<Value>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) returns: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fails: Option<Failure>,
    /// What happens before it returns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) meanwhile: Vec<Step>,
    /// It is called again and again until it fails.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) until_it_fails: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Failure {
    /// One of these.
    pub(crate) kinds: Vec<String>,
    /// Words of the message for the user, in any case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) mentions: Vec<String>,
}

/// Bytes in hexadecimal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Piece {
    Bytes(String),
    Repeated { repeat: String, times: usize },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ending {
    /// After all that was sent.
    Orderly,
    /// With a reset, as when a machine crashes.
    Reset,
}

pub(crate) fn first_client() -> String {
    "a".to_owned()
}

fn is_first_client(client: &String) -> bool {
    client == "a"
}

impl Piece {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Bytes(hex) => crate::running::bytes_from_hex(hex),
            Self::Repeated { repeat, times } => crate::running::bytes_from_hex(repeat).repeat(*times),
        }
    }
}

/// Replaces `{"repeat": text, "times": n}` wherever it occurs.
pub(crate) fn expand(value: &Value) -> Value {
    match value {
        Value::Object(fields) => match (fields.get("repeat"), fields.get("times")) {
            (Some(Value::String(text)), Some(Value::Number(times))) if fields.len() == 2 => {
                let times = usize::try_from(times.as_u64().expect("a count")).expect("a small one");
                Value::String(text.repeat(times))
            }
            _ => fields.iter().map(|(key, value)| (key.clone(), expand(value))).collect(),
        },
        Value::Array(values) => values.iter().map(expand).collect(),
        other => other.clone(),
    }
}
