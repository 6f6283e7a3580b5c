//! Steps of cases.

use serde_json::{Value, json};
use wire::{
    Message,
    oz::{Event, Request, Text, Welcome},
};

use crate::conforming::case::{Action, Call, Connect, Ending, Failure, Piece, Step, first_client};

impl From<Action> for Step {
    fn from(action: Action) -> Self {
        Self { client: first_client(), action }
    }
}

impl Step {
    pub(super) fn of(self, client: &str) -> Self {
        Self { client: client.to_owned(), ..self }
    }

    /// With this happening before the call returns.
    pub(super) fn during(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        if let Action::Call(call) = &mut self.action {
            call.meanwhile = steps.into_iter().collect();
        }
        self
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Each byte alone.
pub(super) fn bytewise(bytes: &[u8]) -> Vec<Piece> {
    bytes.iter().map(|&byte| Piece::Bytes(hex(&[byte]))).collect()
}

pub(super) fn connect() -> Step {
    Action::Connect(Connect::default()).into()
}

fn call_with(name: &str, args: Value, returns: Value, fails: Option<Failure>) -> Step {
    let Value::Array(args) = args else { panic!("{name}: arguments are a list") };
    Action::Call(Call { name: name.to_owned(), args, returns, fails, ..Call::default() }).into()
}

pub(super) fn call(name: &str, args: Value) -> Step {
    call_with(name, args, Value::Null, None)
}

pub(super) fn returns(name: &str, args: Value, value: impl Into<Value>) -> Step {
    call_with(name, args, value.into(), None)
}

pub(super) fn fails(name: &str, args: Value, kind: &str, mentions: &[&str]) -> Step {
    call_with(name, args, Value::Null, Some(failure(&[kind], mentions)))
}

pub(super) fn failure(kinds: &[&str], mentions: &[&str]) -> Failure {
    let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    Failure { kinds: owned(kinds), mentions: owned(mentions) }
}

pub(super) fn receive(request: &Request) -> Step {
    Action::Receive(vec![Piece::Bytes(hex(&request.to_bytes()))]).into()
}

/// In one piece.
pub(super) fn send(events: &[Event]) -> Step {
    let bytes: Vec<u8> = events.iter().flat_map(Message::to_bytes).collect();
    send_bytes(&bytes)
}

pub(super) fn send_bytes(bytes: &[u8]) -> Step {
    Action::Send(vec![Piece::Bytes(hex(bytes))]).into()
}

pub(super) fn send_pieces(pieces: impl Into<Vec<Piece>>) -> Step {
    Action::Send(pieces.into()).into()
}

pub(super) fn expect(event: Value) -> Step {
    Action::Expect(event).into()
}

/// The application is told an event that has no fields.
pub(super) fn told(name: &str) -> Step {
    expect(json!({ "event": name }))
}

/// The application is told the message of the robot.
pub(super) fn told_of(event: &Event) -> Step {
    expect(super::json_from_event(event))
}

/// The application is told that the connection has ended for this reason.
pub(super) fn told_the_end(kind: &str, mentions: &[&str]) -> Step {
    expect(json!({"event": "disconnected", "reason": error(kind, mentions)}))
}

pub(super) fn error(kind: &str, mentions: &[&str]) -> Value {
    serde_json::to_value(failure(&[kind], mentions)).expect("JSON")
}

pub(super) fn close() -> Step {
    Action::Close(Ending::Orderly).into()
}

/// The robot of most cases.
pub(super) fn welcome() -> Vec<u8> {
    Welcome::new("alice", "Alice, a robot").to_bytes()
}

/// An answer to the version request with any version and any bytes for names.
pub(super) fn answer(version: u32, name: &[u8], long_name: &[u8]) -> Vec<u8> {
    let text = |bytes: &[u8]| [&(bytes.len() as u16).to_be_bytes(), bytes].concat();
    [version.to_be_bytes().to_vec(), text(name), text(long_name)].concat()
}

/// The robot accepts a connection, and answers in one piece.
pub(super) fn accept(answer: &[u8]) -> Step {
    let pieces = if answer.is_empty() { Vec::new() } else { vec![Piece::Bytes(hex(answer))] };
    Action::Accept(pieces).into()
}

pub(super) fn speech(text: &str) -> Request {
    Request::Speak(Text::new(text).expect("short enough"))
}

/// The application speaks, and the robot reads it.
pub(super) fn speak(text: &str) -> [Step; 3] {
    [call("speak", json!([text])), told("speak_start"), receive(&speech(text))]
}

/// The application starts a gesture, and the robot reads it.
pub(super) fn gesture(id: u32) -> [Step; 3] {
    [
        call("gesture", json!([id])),
        expect(json!({"event": "gesture_start", "gesture": id})),
        receive(&Request::Gesture(id)),
    ]
}
