//! The harness of our own client, on a thread of the test.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread,
    time::Duration,
};

use client::oz::{ClientError, Event, GESTURES, Oz};
use serde_json::{Value, json};
use wire::oz as protocol;

use super::generate;

/// How long to wait for a command before looking for events, and for an event before looking for commands.
const TURN: Duration = Duration::from_millis(1);

/// Cases that need what this client does not have.
pub(crate) fn unsupported() -> BTreeMap<String, String> {
    const REASON: &str = "the Rust client does nothing in the background: a program calls `connect` again";
    let again = [
        "a lost connection is made again, twice",
        "settings stay, and what was going on has ended",
        "attempts that fail are reported, and another one follows",
        "a stream that cannot be read on is made again as well",
        "disconnecting ends the attempts",
    ];
    let mut unsupported: BTreeMap<_, _> = again.map(|case| (case.to_owned(), REASON.to_owned())).into();
    let names = "the Rust client has lists of names in the order of the numbers, and no constants for messages";
    unsupported.insert("the constants of the header file".to_owned(), names.to_owned());
    unsupported
}

/// A client and what is known of it.
struct Player {
    client: Option<Oz>,
    /// The application was not told of the end of the connection.
    is_open: bool,
}

/// Does what it is told until its input ends.
pub(crate) fn serve(input: impl Read + Send + 'static, mut output: impl Write) {
    let (sender, commands) = sync_channel(1);
    thread::spawn(move || {
        for line in BufReader::new(input).lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let mut players = BTreeMap::new();
    while let Some(command) = next(&commands, &mut players, &mut output) {
        let command: Value = serde_json::from_str(&command).expect("a command");
        let name = command["client"].as_str().expect("a client");
        let args = command["args"].as_array().expect("arguments");
        let what = command["call"].as_str().expect("a name");
        let answer = match call(&mut players, name, what, args) {
            Ok(value) if what == "disconnect" => {
                // that it returns is the signal
                let is_open = players.get_mut(name).is_some_and(|player| std::mem::take(&mut player.is_open));
                if is_open {
                    write_event(name, json!({"event": "disconnected", "reason": null}), &mut output);
                }
                json!({"id": command["id"], "returns": value})
            }
            Ok(value) => json!({"id": command["id"], "returns": value}),
            Err(error) => {
                // a failure may be how the end of the connection is noticed
                tell_end(&mut players, name, &error, &mut output);
                json!({"id": command["id"], "fails": failure(&error)})
            }
        };
        writeln!(output, "{answer}").expect("somebody reads");
    }
}

/// Waits for the next command, and tells events meanwhile.
fn next(
    commands: &Receiver<String>,
    players: &mut BTreeMap<String, Player>,
    output: &mut impl Write,
) -> Option<String> {
    loop {
        for (name, player) in players.iter_mut() {
            tell(name, player, output);
        }
        match commands.recv_timeout(TURN) {
            Ok(command) => return Some(command),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn tell(name: &str, player: &mut Player, output: &mut impl Write) {
    while let (Some(client), true) = (&mut player.client, player.is_open) {
        let event = match client.next(TURN) {
            Ok(Some(event)) => json_from_event(event),
            Ok(None) => return,
            Err(error) if client.is_connected() => json!({"event": "invalid_message", "error": failure(&error)}),
            Err(error) => {
                player.is_open = false;
                json!({"event": "disconnected", "reason": failure(&error)})
            }
        };
        write_event(name, event, output);
    }
}

/// Tells what came before the error, and then the end of the connection if the error means that.
fn tell_end(players: &mut BTreeMap<String, Player>, name: &str, error: &ClientError, output: &mut impl Write) {
    let Some(Player { client: Some(client), is_open: is_open @ true }) = players.get_mut(name) else { return };
    if client.is_connected() {
        return;
    }
    while let Ok(Some(event)) = client.next(TURN) {
        write_event(name, json_from_event(event), output);
    }
    write_event(name, json!({"event": "disconnected", "reason": failure(error)}), output);
    *is_open = false;
}

fn write_event(name: &str, mut event: Value, output: &mut impl Write) {
    event["client"] = json!(name);
    writeln!(output, "{event}").expect("somebody reads");
}

fn json_from_event(event: Event) -> Value {
    let of_robot = |event: protocol::Event| generate::json_from_event(&event);
    match event {
        Event::Connected => json!({"event": "connected"}),
        Event::SpeakStart => json!({"event": "speak_start"}),
        Event::GestureStart(gesture) => json!({"event": "gesture_start", "gesture": gesture}),
        Event::SpeakDone => of_robot(protocol::Event::SpeakDone),
        Event::GestureDone => of_robot(protocol::Event::GestureDone),
        Event::SpeakGesture(gesture) => of_robot(protocol::Event::SpeakGesture(gesture)),
        Event::Utterance(heard) => of_robot(protocol::Event::Utterance(heard)),
        Event::Faces(faces) => of_robot(protocol::Event::Faces(faces)),
        Event::VideoFrame(picture) => of_robot(protocol::Event::VideoFrame(picture)),
    }
}

fn failure(error: &ClientError) -> Value {
    let kind = match error {
        ClientError::NoAddress => "unreachable",
        ClientError::Io(error) => match error.kind() {
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => "timeout",
            _ => "unreachable",
        },
        ClientError::Closed => "closed",
        ClientError::Truncated => "truncated",
        ClientError::NoAnswer { .. } => "timeout",
        ClientError::WrongVersion { .. } => "wrong_version",
        ClientError::BadMessage(_) => "bad_message",
        ClientError::NotFinite { .. } => "not_finite",
        ClientError::Unknown { .. } => "out_of_range",
        ClientError::TextTooLong(_) => "text_too_long",
    };
    json!({"kind": kind, "message": error.to_string()})
}

fn call(players: &mut BTreeMap<String, Player>, name: &str, call: &str, args: &[Value]) -> Result<Value, ClientError> {
    match call {
        "gesture_tags" => return Ok(GESTURES.map(|(tag, _)| format!("[{tag}]")).to_vec().into()),
        "connect" => {
            players.remove(name);
            let address = (args[0]["host"].as_str().expect("a host"), port(&args[0]["port"]));
            let client = Oz::connect(address, milliseconds(&args[0]["timeout_ms"]))?;
            players.insert(name.to_owned(), Player { client: Some(client), is_open: true });
            return Ok(Value::Null);
        }
        _ => {}
    }
    let player = players.get_mut(name).expect("it has connected");
    if call == "disconnect" {
        if let Some(client) = player.client.take() {
            client.disconnect();
        }
        return Ok(Value::Null);
    }
    match &mut player.client {
        Some(client) if call.contains("wait") => wait(client, call, args),
        Some(client) if call.starts_with("set_") => set(client, call, args).map(|()| Value::Null),
        Some(client) => order(client, call, args),
        // the type system does not let a program call anything on a client that it has disconnected
        None => match call {
            "is_connected" | "speaking" | "gesturing" => Ok(json!(false)),
            _ => Err(ClientError::Closed),
        },
    }
}

fn wait(client: &mut Oz, call: &str, args: &[Value]) -> Result<Value, ClientError> {
    let timeout = milliseconds(args.last().expect("a timeout"));
    let ended = match call {
        "wait_for_speak" => client.wait_for_speak(timeout),
        "await_text" => client.wait_for_text(args[0].as_u64().expect("a number"), timeout),
        _ => client.wait_for_gesture(timeout),
    };
    ended.map(Value::from)
}

fn order(client: &mut Oz, call: &str, args: &[Value]) -> Result<Value, ClientError> {
    match call {
        "reset" => client.reset()?,
        "speak" => drop(client.speak(args[0].as_str().expect("a text"))?),
        "gesture" => client.gesture(id(&args[0]))?,
        "skip_video" => client.skip_video(args[0].as_bool().expect("a boolean")),
        _ => return Ok(get(client, call, args)),
    }
    Ok(Value::Null)
}

fn set(client: &mut Oz, call: &str, args: &[Value]) -> Result<(), ClientError> {
    let value = &args[0];
    match call {
        "set_voice_gender_language" => client.set_voice_gender_language(id(value)),
        "set_expression" => client.set_expression(id(value)),
        "set_look_at" => client.set_look_at(id(value)),
        "set_voice_volume" => client.set_voice_volume(float(value)),
        "set_voice_pitch" => client.set_voice_pitch(float(value)),
        "set_gesture_weight" => client.set_gesture_weight(float(value)),
        "set_expression_weight" => client.set_expression_weight(float(value)),
        "set_auto_blink_speed" => client.set_auto_blink_speed(float(value)),
        "set_random_head_weight" => client.set_random_head_weight(float(value)),
        "set_random_eyes_weight" => client.set_random_eyes_weight(float(value)),
        "set_random_face_weight" => client.set_random_face_weight(float(value)),
        "set_direct_weight" => client.set_direct_weight(float(value)),
        "set_look_at_weight" => client.set_look_at_weight(float(value)),
        "set_servo" => client.set_servo(id(value), float(&args[1])),
        "set_all_servos" => {
            let positions: Vec<f32> = value.as_array().expect("a list").iter().map(float).collect();
            client.set_all_servos(positions.try_into().expect("36 positions"))
        }
        _ => panic!("no call {call}"),
    }
}

fn get(client: &Oz, call: &str, args: &[Value]) -> Value {
    match call {
        "is_connected" => json!(client.is_connected()),
        "name" => json!(client.name()),
        "long_name" => json!(client.long_name()),
        "version" => json!(client.version()),
        "speaking" => json!(client.speaking() > 0),
        "gesturing" => json!(client.gesturing() > 0),
        "voice_gender_language" => json!(client.voice_gender_language()),
        "expression" => json!(client.expression()),
        "look_at" => json!(client.look_at()),
        "voice_volume" => json!(client.voice_volume()),
        "voice_pitch" => json!(client.voice_pitch()),
        "gesture_weight" => json!(client.gesture_weight()),
        "expression_weight" => json!(client.expression_weight()),
        "auto_blink_speed" => json!(client.auto_blink_speed()),
        "random_head_weight" => json!(client.random_head_weight()),
        "random_eyes_weight" => json!(client.random_eyes_weight()),
        "random_face_weight" => json!(client.random_face_weight()),
        "direct_weight" => json!(client.direct_weight()),
        "look_at_weight" => json!(client.look_at_weight()),
        "servo" => json!(client.servo(id(&args[0]))),
        "all_servos" => json!(client.all_servos().to_vec()),
        _ => panic!("no call {call}"),
    }
}

fn id(value: &Value) -> u32 {
    value.as_i64().expect("a number") as u32
}

fn float(value: &Value) -> f32 {
    match value {
        Value::String(text) => text.parse().expect("a number"),
        other => other.as_f64().expect("a number") as f32,
    }
}

fn port(value: &Value) -> u16 {
    value.as_u64().and_then(|port| port.try_into().ok()).expect("a port")
}

fn milliseconds(value: &Value) -> Duration {
    Duration::from_millis(value.as_u64().expect("a time"))
}
