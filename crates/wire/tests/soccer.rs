//! Checks the soccer codec against the shared data in `protocols/soccer`.

use proptest::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::fs;
use std::path::PathBuf;
use wire::soccer::{
    AgentMessage, AgentPlacement, Command, Decimal, Dialect, Effector, Graph, MonitorMessage, MonitorRequest,
    MonitorUpdate, Name, Node, NodeKind, Perception, Polar, Pose, Sensor, Side, Surface, TeamRef,
};
use wire::{DecodeError, Message, StreamMessage};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vectors {
    agent: Vec<Vector>,
    perceptions: Vec<Vector>,
    monitor_requests: Vec<Vector>,
    monitor_updates: Vec<Vector>,
    frames: Vec<Frames>,
    numbers: Vec<Number>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    name: String,
    dialect: Option<String>,
    text: Option<String>,
    hex: Option<String>,
    message: Option<Value>,
    lost: Option<Value>,
    error: Option<Value>,
    canonical: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Frames {
    name: String,
    hex: String,
    frames: Vec<String>,
    #[serde(default)]
    waiting: bool,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Number {
    value: f64,
    two_digits: String,
    three_digits: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    perceptions: Vec<Frame>,
    updates: Vec<Frame>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Frame {
    name: String,
    text: String,
}

fn read<T: DeserializeOwned>(name: &str) -> T {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../protocols/soccer").join(name);
    let text = fs::read_to_string(path).expect("the file is there");
    serde_json::from_str(&text).expect("the file has the documented fields")
}

fn bytes_from_hex(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "{hex}");
    let digits = |at| u8::from_str_radix(hex.get(at..at + 2).expect("hex is ASCII"), 16).expect("two hex digits");
    (0..hex.len()).step_by(2).map(digits).collect()
}

fn hex_from_bytes(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Vector {
    fn bytes(&self) -> Vec<u8> {
        match (&self.text, &self.hex) {
            (Some(text), None) => text.as_bytes().to_vec(),
            (None, Some(hex)) => bytes_from_hex(hex),
            _ => panic!("{}: text or hex", self.name),
        }
    }

    fn check<M: Message>(
        &self,
        decode: impl Fn(&[u8]) -> Result<M, DecodeError>,
        json_from_message: fn(&M) -> Value,
        lost: fn(&M) -> Option<&DecodeError>,
    ) {
        let name = &self.name;
        match decode(&self.bytes()) {
            Ok(message) => {
                assert_eq!(Some(json_from_message(&message)), self.message, "{name}");
                assert_eq!(lost(&message).map(json_from_error), self.lost, "{name}");
                let canonical = self.canonical.clone().or(self.text.clone()).expect("text or canonical");
                assert_eq!(String::from_utf8_lossy(&message.to_bytes()), canonical, "{name}");
            }
            Err(error) => assert_eq!(Some(json_from_error(&error)), self.error, "{name}"),
        }
    }
}

/// The same format as for ODCP.
fn json_from_error(error: &DecodeError) -> Value {
    match error {
        DecodeError::Truncated { field } => json!({"kind": "truncated", "field": field}),
        DecodeError::Malformed { field } => json!({"kind": "malformed", "field": field}),
        DecodeError::OutOfRange { field, value, min, max } => {
            json!({"kind": "out_of_range", "field": field, "value": value, "min": min, "max": max})
        }
        other => panic!("no error of soccer: {other}"),
    }
}

fn json_from_effector(effector: &Effector) -> Value {
    match effector {
        Effector::Init(init) => json!({
            "type": "init", "model": init.model.as_str(), "team": init.team.as_str(), "number": init.number,
        }),
        Effector::Beam(beam) => json!({"type": "beam", "x": beam.x, "y": beam.y, "theta_deg": beam.theta_deg}),
        Effector::Motor(motor) => json!({
            "type": "motor", "name": motor.name.as_str(), "q_deg": motor.q_deg, "dq_deg": motor.dq_deg,
            "kp": motor.kp, "kd": motor.kd, "tau": motor.tau,
        }),
        Effector::Speak(speak) => json!({
            "type": "speak", "speaker": speak.speaker.as_str(), "volume": speak.volume,
            "text_hex": hex_from_bytes(&speak.text),
        }),
        Effector::Say(message) => json!({"type": "say", "message": message.as_str()}),
        Effector::Sync => json!({"type": "sync"}),
    }
}

fn json_from_agent_message(message: &AgentMessage) -> Value {
    message.effectors.iter().map(json_from_effector).collect()
}

/// Drops the sign of zero, which the text covers.
fn number<const DIGITS: usize>(decimal: Decimal<DIGITS>) -> f64 {
    decimal.get() + 0.0
}

fn json_from_sensors<const VALUES: usize, const DIGITS: usize>(sensors: &[Sensor<VALUES, DIGITS>]) -> Value {
    let json = |sensor: &Sensor<VALUES, DIGITS>| json!({"name": sensor.name.as_str(), "values": sensor.values.map(number).to_vec()});
    sensors.iter().map(json).collect()
}

fn json_from_polar(name: Option<&str>, polar: &Polar) -> Value {
    let mut json = json!({
        "distance": number(polar.distance), "azimuth_deg": number(polar.azimuth_deg),
        "elevation_deg": number(polar.elevation_deg),
    });
    if let (Some(name), Some(fields)) = (name, json.as_object_mut()) {
        fields.insert("name".into(), name.into());
    }
    json
}

fn json_from_perception(perception: &Perception) -> Value {
    let game = &perception.game;
    let see = perception.see.as_ref().map(|see| {
        let landmarks = see.landmarks.iter().map(|(landmark, polar)| json_from_polar(Some(landmark.name()), polar));
        let players = see.players.iter().map(|player| {
            let markers = player.markers.iter().map(|part| json_from_polar(Some(part.name.as_str()), &part.polar));
            json!({"team": player.team.as_str(), "number": player.number, "markers": markers.collect::<Value>()})
        });
        json!({
            "landmarks": landmarks.collect::<Value>(),
            "ball": see.ball.as_ref().map(|polar| json_from_polar(None, polar)),
            "players": players.collect::<Value>(),
        })
    });
    let joints = perception.joints.iter().map(|joint| {
        let [angle, velocity] = [joint.angle_deg, joint.velocity_deg].map(number);
        json!({"name": joint.name.as_str(), "angle_deg": angle, "velocity_deg": velocity})
    });
    let touches = perception.touches.iter();
    let heard = perception.heard.as_ref().map(|heard| {
        let heard = heard.iter();
        heard
            .map(|heard| json!({"azimuth_deg": heard.azimuth_deg, "text_hex": hex_from_bytes(&heard.text)}))
            .collect::<Value>()
    });
    json!({
        "time": number(perception.time),
        "game": {
            "time": number(game.time), "play_mode": game.play_mode.name(),
            "team_left": game.team_left.as_ref().map(|team| team.as_str()),
            "team_right": game.team_right.as_ref().map(|team| team.as_str()),
            "score_left": game.score_left, "score_right": game.score_right,
        },
        "orientations": json_from_sensors(&perception.orientations),
        "positions": json_from_sensors(&perception.positions),
        "gyros": json_from_sensors(&perception.gyros),
        "accelerometers": json_from_sensors(&perception.accelerometers),
        "joints": joints.collect::<Value>(),
        "touches": touches.map(|touch| json!({"name": touch.name.as_str(), "is_active": touch.is_active})).collect::<Value>(),
        "heard": heard,
        "see": see,
    })
}

fn json_from_side(side: Side) -> Value {
    match side {
        Side::Left => json!("left"),
        Side::Right => json!("right"),
    }
}

fn json_from_place(place: &AgentPlacement) -> Value {
    let team = match &place.team {
        TeamRef::Side(side) => json!({"side": json_from_side(*side)}),
        TeamRef::Named(name) => json!({"name": name.as_str()}),
    };
    let pose = place.pose.map(|pose| match pose {
        Pose::Position(position) => json!({"position": position}),
        Pose::Upright { position, yaw_deg } => json!({"position": position, "yaw_deg": yaw_deg}),
        Pose::Free { position, quaternion } => json!({"position": position, "quaternion": quaternion}),
    });
    let joints: Value = place.joints.iter().map(|(name, angle)| json!([name.as_str(), angle])).collect();
    json!({"type": "place_agent", "number": place.number, "team": team, "pose": pose, "joints": joints})
}

fn json_from_command(command: &Command) -> Value {
    match command {
        Command::KickOff(side) => json!({"type": "kick_off", "side": side.map(json_from_side)}),
        Command::DropBall => json!({"type": "drop_ball"}),
        Command::PlaceBall { position, velocity } => {
            json!({"type": "place_ball", "position": position, "velocity": velocity})
        }
        Command::PlaceAgent(place) => json_from_place(place),
        Command::SetPlayMode(mode) => json!({"type": "set_play_mode", "play_mode": mode.name()}),
        Command::KillSim => json!({"type": "kill_sim"}),
        Command::Init => json!({"type": "init"}),
        Command::RequestFullState => json!({"type": "request_full_state"}),
        Command::Reset { seed } => json!({"type": "reset", "seed": seed}),
        Command::Pause => json!({"type": "pause"}),
        Command::Resume => json!({"type": "resume"}),
        Command::Acknowledge(number) => json!({"type": "acknowledge", "number": number}),
    }
}

fn json_from_request(request: &MonitorRequest) -> Value {
    request.commands.iter().map(json_from_command).collect()
}

fn json_from_node(node: &Node) -> Value {
    let mut json = match &node.kind {
        NodeKind::Same => json!({"kind": "same"}),
        NodeKind::Transform(transform) => {
            json!({"kind": "transform", "elements": transform.0.map(number).to_vec()})
        }
        NodeKind::Agent { team, number } => json!({"kind": "agent", "team": team.as_str(), "number": number}),
        NodeKind::Ball => json!({"kind": "ball"}),
        NodeKind::Mesh(mesh) => {
            let (key, surface) = match &mesh.surface {
                Surface::Material(material) => ("material", json!(material.as_str())),
                Surface::Rgba(colour) => ("rgba", json!(colour)),
            };
            json!({
                "kind": "mesh", "is_visible": mesh.is_visible, "shape": mesh.shape.as_str(), key: surface,
                "scale": mesh.scale,
            })
        }
    };
    if let Some(fields) = json.as_object_mut() {
        fields.insert("children".into(), node.children.iter().map(json_from_node).collect());
    }
    json
}

fn json_from_update(update: &MonitorUpdate) -> Value {
    let game = &update.game;
    let fouls = game.fouls.iter();
    let fouls =
        fouls.map(|foul| json!({"kind": foul.kind.name(), "side": json_from_side(foul.side), "number": foul.number}));
    let game = json!({
        "time": number(game.time), "half": game.half, "score_left": game.score_left,
        "score_right": game.score_right, "play_mode": game.play_mode.name(), "fouls": fouls.collect::<Value>(),
    });
    let time = number(update.time);
    match &update.graph {
        Graph::Diff { root } => json!({"time": time, "graph": "diff", "root": json_from_node(root), "game": game}),
        Graph::Full { root, teams, environment } => json!({
            "time": time, "graph": "full", "root": json_from_node(root), "game": game,
            "teams": (teams.left.as_ref().map(Name::as_str), teams.right.as_ref().map(Name::as_str)),
            "environment": environment.as_ref().map(|environment| environment.field_length),
        }),
    }
}

#[test]
fn messages_match_the_vectors() {
    let vectors: Vectors = read("vectors.json");
    for vector in vectors.agent {
        vector.check(AgentMessage::decode, json_from_agent_message, |message| message.first_error.as_ref());
    }
    for vector in vectors.perceptions {
        let dialect = match vector.dialect.as_deref() {
            Some("reference") => Dialect::Reference,
            Some("document") => Dialect::Document,
            other => panic!("{}: no dialect: {other:?}", vector.name),
        };
        vector.check(|bytes| Perception::decode_in(dialect, bytes), json_from_perception, |_| None);
    }
    for vector in vectors.monitor_requests {
        vector.check(MonitorRequest::decode, json_from_request, |request| request.first_error.as_ref());
    }
    for vector in vectors.monitor_updates {
        vector.check(MonitorUpdate::decode, json_from_update, |_| None);
    }
}

#[test]
fn recorded_frames_round_trip() {
    fn check<M: Message>(Frame { name, text }: Frame) {
        let message = M::decode(text.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(String::from_utf8_lossy(&message.to_bytes()), text, "{name}");
    }
    let recorded: Recorded = read("recorded.json");
    recorded.perceptions.into_iter().for_each(check::<Perception>);
    recorded.updates.into_iter().for_each(check::<MonitorUpdate>);
}

#[test]
fn the_field_of_a_recorded_scene() {
    let recorded: Recorded = read("recorded.json");
    let scene = recorded.updates.first().expect("a whole scene");
    let update = MonitorUpdate::decode(scene.text.as_bytes()).expect("it decodes");
    let Graph::Full { environment: Some(field), .. } = update.graph else { panic!("a whole scene") };
    assert_eq!([field.field_length, field.field_width], [55.0, 36.0]);
    assert_eq!([field.goal_depth, field.goal_width, field.goal_height], [1.0, 3.66, 1.83]);
    assert_eq!([field.penalty_area_length, field.penalty_area_width], [9.0, 16.5]);
}

#[test]
fn framing_matches_the_vectors() {
    for Frames { name, hex, frames, waiting, error } in read::<Vectors>("vectors.json").frames {
        let stream = bytes_from_hex(&hex);
        let (found, left, end) = split_all::<AgentMessage>(&stream);
        let found: Vec<_> = found.iter().map(|frame| String::from_utf8_lossy(frame).into_owned()).collect();
        assert_eq!(found, frames, "{name}");
        assert_eq!(end.err().as_ref().map(json_from_error), error, "{name}");
        assert_eq!(left > 0, waiting || error.is_some(), "{name}");
    }
}

#[test]
fn number_formatting_matches_the_vectors() {
    for Number { value, two_digits, three_digits } in read::<Vectors>("vectors.json").numbers {
        let game = "(GS (t 0.0)(pm PlayOn)(sl 0)(sr 0))";
        let mut perception = Perception::decode(format!("(time (now 0.0)){game}").as_bytes()).expect("it decodes");
        let name: Name = "x".parse().expect("a name");
        perception.gyros = vec![Sensor { name: name.clone(), values: [value; 3].map(Decimal::truncated) }];
        perception.positions = vec![Sensor { name, values: [value; 3].map(Decimal::truncated) }];
        let text = String::from_utf8(perception.to_bytes()).expect("text");
        assert!(text.contains(&format!("(rt {two_digits} {two_digits} {two_digits})")), "{text}");
        assert!(text.contains(&format!("(p {three_digits} {three_digits} {three_digits})")), "{text}");
    }
}

/// The frames at the start of a stream, the number of bytes left over, and whether the stream is still valid.
fn split_all<M: StreamMessage>(stream: &[u8]) -> (Vec<Vec<u8>>, usize, Result<(), DecodeError>) {
    let mut rest = stream;
    let mut frames = Vec::new();
    loop {
        match M::split(rest) {
            Ok(Some(split)) => {
                frames.push(rest.get(split.message).expect("within the buffer").to_vec());
                rest = rest.get(split.consumed..).expect("within the buffer");
            }
            Ok(None) => return (frames, rest.len(), Ok(())),
            Err(error) => return (frames, rest.len(), Err(error)),
        }
    }
}

/// Checks that messages arrive unchanged when the stream is fragmented.
fn arrive_in_pieces<M: StreamMessage + PartialEq + Debug>(messages: &[M], cuts: &[prop::sample::Index]) {
    let mut stream = Vec::new();
    messages.iter().for_each(|message| message.encode_in_stream(&mut stream));
    let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).chain([0, stream.len()]).collect();
    cuts.sort_unstable();
    let mut buffer = Vec::new();
    let mut arrived = Vec::new();
    for piece in cuts.windows(2) {
        let &[start, end] = piece else { unreachable!() };
        buffer.extend_from_slice(stream.get(start..end).expect("sorted cuts"));
        let (frames, left, end) = split_all::<M>(&buffer);
        assert_eq!(end, Ok(()));
        arrived.extend(frames.iter().map(|frame| M::decode(frame).expect("what was sent")));
        buffer.drain(..buffer.len() - left);
    }
    assert!(buffer.is_empty());
    assert_eq!(arrived, messages);
}

fn decoded<M: Message>(vectors: &[Vector]) -> Vec<M> {
    vectors.iter().filter_map(|vector| M::decode(&vector.bytes()).ok()).collect()
}

proptest! {
    #[test]
    fn fragmentation_does_not_change_the_messages(cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..20)) {
        let mut vectors: Vectors = read("vectors.json");
        vectors.perceptions.retain(|vector| vector.dialect.as_deref() == Some("reference"));
        arrive_in_pieces::<AgentMessage>(&decoded(&vectors.agent), &cuts);
        arrive_in_pieces::<Perception>(&decoded(&vectors.perceptions), &cuts);
        arrive_in_pieces::<MonitorRequest>(&decoded(&vectors.monitor_requests), &cuts);
        arrive_in_pieces::<MonitorMessage>(&decoded(&vectors.monitor_updates), &cuts);
    }
}
