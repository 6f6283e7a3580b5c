use super::*;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::num::NonZeroU16;

fn robot(id: u16) -> RobotId {
    NonZeroU16::new(id).unwrap()
}

fn text(message: &impl Line) -> String {
    String::from_utf8(message.to_line().unwrap()).unwrap()
}

fn error<M: Line + Debug>(line: &str) -> String {
    M::decode(line.as_bytes()).unwrap_err().to_string()
}

#[test]
fn error_messages() {
    fn check(line: &str, expected: &str) {
        assert_eq!(error::<ToWorld>(line), expected, "{line}");
    }
    check("", "empty line");
    check(" \t ", "empty line");
    check("createRobot", "unknown message `createRobot`");
    check("CREATEROBOT", "unknown message `CREATEROBOT`");
    check("CreateRobots", "unknown message `CreateRobots`");
    // messages of other directions
    check("YourIdentifier 1", "unknown message `YourIdentifier`");
    check("Fitness 1 1 1", "unknown message `Fitness`");
    check("\u{1b}[31m", "unknown message `\\u{1b}[31m`");
    check(&"x".repeat(100), &format!("unknown message `{}…`", "x".repeat(32)));
    check("CreateRobot 1", "unexpected `1` after the last value of `CreateRobot`");
    check("KillRobot", "unexpected end of `KillRobot` before ID");
    check("KillRobot 0", "ID is 0, outside 1..=65535");
    check("KillRobot 65536", "ID is 65536, outside 1..=65535");
    check("KillRobot -1", "ID is -1, outside 1..=65535");
    check("KillRobot 1e300", "ID is 1e300, outside 1..=65535");
    check("KillRobot 1.5", "ID is 1.5, not an integer");
    check("KillRobot x", "ID is not a number: `x`");
    check("MoveTo 1 2 3", "unexpected end of `MoveTo` before Dir");
    check("MoveTo 1 2 3 4 5", "unexpected `5` after the last value of `MoveTo`");
    check("MoveTo 1 nan 3 4", "X is not a number: `nan`");
    check("MoveTo 1 2 -inf 4", "Y is not a number: `-inf`");
    check("MoveTo 1 0x10 3 4", "X is not a number: `0x10`");
    check("MoveTo 1 2 3 0,5", "Dir has a decimal comma: `0,5`; use a point");
    check("MoveTo 1 2 3 1e999", "Dir is too large: `1e999`");
    check("BodyShape 1 257", "number of layers is 257, outside 0..=256");
    check("BodyShape 1 1 20 4000000000", "number of polygons is 4000000000, outside 0..=1024");
    check("BodyShape 1 1 20 1 65537", "number of points is 65537, outside 0..=65536");
    check("BodyShape 1 1 20 1 65536 1", "unexpected end of `BodyShape` before y of a point");
    check("BodyShape 1 1 20 1 3 0 0 1 0 1", "unexpected end of `BodyShape` before y of a point");
    check("BodyShape 1 1 20 1 3 0 0 1 0 1 1 7", "unexpected `7` after the last value of `BodyShape`");
    assert_eq!(error::<FromWorld>("VisualSensorReading 1 5 256 0 0"), "CR is 256, outside 0..=255");
    assert_eq!(error::<FromWorld>("YourPosition 1 0 0 0 0 0 0 0 2"), "Death is 2, outside 0..=1");
    assert_eq!(error::<FromRobot>("NetParameters 1 0 0 0 2"), "unexpected end of `NetParameters` before Vin");
    assert_eq!(error::<FromRobot>("NetParameters 1 -1"), "Cgp is -1, outside 0..=1048576");
    assert_eq!(error::<FromRobot>("Fitness 1 1 NaN"), "Fit is not a number: `NaN`");
    assert_eq!(error::<ToRobot>("Individual 1 1"), "unexpected end of `Individual` before Chn");
    assert_eq!(error::<ToRobot>("Individual 1 1 0 1 x"), "a value of the individual is not a number: `x`");
}

#[test]
fn separators_and_integers_are_parsed_leniently() {
    fn check(line: &str, expected: &str) {
        assert_eq!(text(&ToWorld::decode(line.as_bytes()).unwrap()), format!("{expected}\r\n"), "{line}");
    }
    check("CreateRobot", "CreateRobot");
    check("  CreateRobot\t ", "CreateRobot");
    check("KillRobot\t\t17", "KillRobot 17");
    check("KillRobot 17.0", "KillRobot 17");
    check("KillRobot 1.7e1", "KillRobot 17");
    check("KillRobot +017", "KillRobot 17");
    check("MoveTo 1  +2 3. .5", "MoveTo 1 2 3 0.5");
    check("MoveTo 65535 -0 1e-9 1E20", "MoveTo 65535 -0 1e-9 1e20");
    check("BodyShape 1.0 1.0 20 1.0 3.0 0 0 1 0 0 1", "BodyShape 1 1 20 1 3 0 0 1 0 0 1");
    check("BodyShape 1 0", "BodyShape 1 0");
}

#[test]
fn only_finite_numbers_are_encoded() {
    let mut out = b"before".to_vec();
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let pose = Pose { x: 1.0, y: odd, dir: 0.0 };
        assert_eq!(ToWorld::MoveTo(robot(1), pose).encode(&mut out), Err(NotFinite));
        let fitness = FromRobot::Fitness { generation: 1, number: 1, fitness: odd };
        assert_eq!(fitness.encode(&mut out), Err(NotFinite));
        let individual = Individual { values: vec![0.0, odd], ..Individual::default() };
        assert_eq!(ToRobot::Individual(individual).encode(&mut out), Err(NotFinite));
    }
    assert_eq!(out, b"before");
}

#[test]
fn an_individual_is_split_by_the_shape_of_its_net() {
    let genes = |values| Genes { values, low: -1.0, high: 1.0 };
    let net = NetParameters {
        concurrent: 1,
        globals: genes(1),
        inputs: 2,
        input: genes(1),
        outputs: 1,
        output: genes(2),
        hidden_min: 0,
        hidden_max: 2,
        hidden: genes(3),
        weight: genes(1),
        ..NetParameters::default()
    };
    // with one hidden neuron: 1 + 2 + 2 + 3 + (2 + 1 + 1) * (1 + 1)
    let values: Vec<f64> = (0..16).map(f64::from).collect();
    let individual = Individual { generation: 1, number: 2, hidden: 1, values };
    let parts = individual.value_groups(&net).unwrap();
    assert_eq!(parts.globals, [0.0]);
    assert_eq!(parts.inputs, [1.0, 2.0]);
    assert_eq!(parts.outputs, [3.0, 4.0]);
    assert_eq!(parts.hidden, [5.0, 6.0, 7.0]);
    assert_eq!((parts.weights.first(), parts.weights.len()), (Some(&8.0), 8));
    let refused = |individual: &Individual, net: &NetParameters| individual.value_groups(net).unwrap_err().to_string();
    let other = Individual { hidden: 0, ..individual.clone() };
    assert_eq!(refused(&other, &net), "an individual with 0 hidden neurons has 8 values, not 16");
    let other = Individual { hidden: 3, ..individual.clone() };
    assert_eq!(refused(&other, &net), "Chn is 3, outside 0..=2, or the net would be too large");
    let huge = NetParameters { outputs: MAX_COUNT, inputs: MAX_COUNT, weight: genes(MAX_COUNT), ..net };
    assert!(refused(&individual, &huge).contains("too large"));
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vectors {
    #[expect(dead_code, reason = "for readers of the file")]
    about: String,
    to_robot: Vec<Vector>,
    from_robot: Vec<Vector>,
    to_world: Vec<Vector>,
    from_world: Vec<Vector>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    name: String,
    line: String,
    message: Option<Value>,
    canonical: Option<String>,
    error: Option<String>,
}

fn json_from_to_robot(message: &ToRobot) -> Value {
    match message {
        ToRobot::SendNetParameters => json!({"type": "SendNetParameters"}),
        ToRobot::Individual(Individual { generation, number, hidden, values }) => {
            json!({"type": "Individual", "Gen": generation, "Ind": number, "Chn": hidden, "values": values})
        }
    }
}

fn json_from_from_robot(message: &FromRobot) -> Value {
    let genes = |genes: &Genes| json!([genes.values, genes.low, genes.high]);
    match message {
        FromRobot::NetParameters(net) => json!({
            "type": "NetParameters", "Cci": net.concurrent, "globals": genes(&net.globals),
            "Cin": net.inputs, "input": genes(&net.input), "Con": net.outputs, "output": genes(&net.output),
            "CIhn": net.hidden_min, "CAhn": net.hidden_max, "hidden": genes(&net.hidden), "weight": genes(&net.weight),
            "Fio": u8::from(net.input_to_output), "Fre": u8::from(net.recurrent),
        }),
        FromRobot::Fitness { generation, number, fitness } => {
            json!({"type": "Fitness", "Gen": generation, "Ind": number, "Fit": fitness})
        }
    }
}

fn json_from_to_world(message: &ToWorld) -> Value {
    let pose = |kind, id: &RobotId, pose: &Pose| json!({"type": kind, "ID": id.get(), "X": pose.x, "Y": pose.y, "Dir": pose.dir});
    let beam = |kind, id: &RobotId, beam: &Beam| {
        let Beam { x, y, z, dir, tilt, angle_h, angle_v } = beam;
        json!({"type": kind, "ID": id.get(), "X": x, "Y": y, "Z": z, "Dir": dir, "Tilt": tilt, "AngH": angle_h, "AngV": angle_v})
    };
    match message {
        ToWorld::CreateRobot => json!({"type": "CreateRobot"}),
        ToWorld::KillRobot(id) => json!({"type": "KillRobot", "ID": id.get()}),
        ToWorld::BodyShape(id, layers) => {
            let layer = |layer: &Layer| json!({"H": layer.height, "polygons": layer.polygons});
            json!({"type": "BodyShape", "ID": id.get(), "layers": layers.iter().map(layer).collect::<Vec<_>>()})
        }
        ToWorld::JumpTo(id, to) => pose("JumpTo", id, to),
        ToWorld::MoveTo(id, to) => pose("MoveTo", id, to),
        ToWorld::VisualSensor(id, along) => beam("VisualSensor", id, along),
        ToWorld::SonicSensor(id, along) => beam("SonicSensor", id, along),
    }
}

fn json_from_from_world(message: &FromWorld) -> Value {
    match message {
        FromWorld::YourIdentifier(id) => json!({"type": "YourIdentifier", "ID": id.get()}),
        FromWorld::YourPosition(id, at) => json!({
            "type": "YourPosition", "ID": id.get(), "X": at.x, "Y": at.y, "Z": at.z, "Dir": at.dir,
            "TiltS": at.tilt_straight, "TiltC": at.tilt_across, "Stress": at.stress, "Death": u8::from(at.death),
        }),
        FromWorld::VisualSensorReading(id, VisualReading { distance, color }) => {
            json!({"type": "VisualSensorReading", "ID": id.get(), "Dist": distance, "color": color})
        }
        FromWorld::SonicSensorReading(id, distance) => {
            json!({"type": "SonicSensorReading", "ID": id.get(), "Dist": distance})
        }
    }
}

/// Converts all numbers of a JSON value to doubles, so that 20 equals 20.0.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), plain(value))).collect(),
        other => other.clone(),
    }
}

fn check_vector<M: Line>(vector: &Vector, json_from_message: fn(&M) -> Value) {
    match M::decode(vector.line.as_bytes()) {
        Ok(message) => {
            let expected = vector.message.as_ref().map(plain);
            assert_eq!(Some(plain(&json_from_message(&message))), expected, "{}", vector.name);
            let canonical = vector.canonical.as_ref().unwrap_or(&vector.line);
            assert_eq!(text(&message), format!("{canonical}\r\n"), "{}", vector.name);
        }
        Err(error) => assert_eq!(Some(error.to_string()), vector.error, "{}", vector.name),
    }
}

#[test]
fn vectors() {
    let vectors = include_str!("../../../../protocols/evo/vectors.json");
    let vectors: Vectors = serde_json::from_str(vectors).unwrap();
    vectors.to_robot.iter().for_each(|vector| check_vector(vector, json_from_to_robot));
    vectors.from_robot.iter().for_each(|vector| check_vector(vector, json_from_from_robot));
    vectors.to_world.iter().for_each(|vector| check_vector(vector, json_from_to_world));
    vectors.from_world.iter().for_each(|vector| check_vector(vector, json_from_from_world));
}

/// Decoding, encoding and decoding again yields the same message and the same text.
fn round_trips<M: Line + PartialEq + Debug>(line: &[u8]) -> Result<bool, TestCaseError> {
    let Ok(message) = M::decode(line) else { return Ok(false) };
    let written = message.to_line().unwrap();
    let again = M::decode(written.strip_suffix(b"\r\n").unwrap()).unwrap();
    prop_assert_eq!(&again, &message);
    prop_assert_eq!(again.to_line().unwrap(), written);
    Ok(true)
}

fn any_line() -> impl Strategy<Value = Vec<u8>> {
    let names = prop::sample::select(vec![
        "SendNetParameters",
        "NetParameters",
        "Individual",
        "Fitness",
        "CreateRobot",
        "YourIdentifier",
        "KillRobot",
        "BodyShape",
        "YourPosition",
        "JumpTo",
        "VisualSensor",
        "VisualSensorReading",
        "SonicSensor",
        "SonicSensorReading",
        "MoveTo",
        "Nonsense",
    ]);
    let word = prop_oneof![
        (0..5_u32).prop_map(|whole| whole.to_string()),
        any::<f64>().prop_map(|number| format!("{number:e}")),
        (-2000.0..2000.0_f64).prop_map(|number| number.to_string()),
        "[0-9+\\-eE.,x ]{0,6}",
    ];
    (names, prop::collection::vec(word, 0..30)).prop_map(|(name, words)| format!("{name} {}", words.join(" ")).into())
}

proptest! {
    #[test]
    fn any_bytes_decode_or_err(bytes in prop::collection::vec(any::<u8>(), 0..200), line in any_line()) {
        for line in [bytes, line] {
            round_trips::<ToRobot>(&line)?;
            round_trips::<FromRobot>(&line)?;
            round_trips::<ToWorld>(&line)?;
            round_trips::<FromWorld>(&line)?;
        }
    }

    #[test]
    fn numbers_round_trip_bit_by_bit(numbers in prop::collection::vec(any::<f64>(), 7)) {
        let finite = numbers.iter().all(|number| number.is_finite());
        let [x, y, z, dir, tilt_straight, tilt_across, stress] = *numbers else { unreachable!() };
        let sent = Position { x, y, z, dir, tilt_straight, tilt_across, stress, death: true };
        let line = FromWorld::YourPosition(robot(9), sent).to_line();
        prop_assert_eq!(line.is_ok(), finite);
        if let Ok(line) = line {
            let Ok(FromWorld::YourPosition(_, got)) = FromWorld::decode(line.trim_ascii_end()) else { unreachable!() };
            let bits = |at: Position| {
                [at.x, at.y, at.z, at.dir, at.tilt_straight, at.tilt_across, at.stress].map(f64::to_bits)
            };
            prop_assert_eq!(bits(got), bits(sent));
        }
    }

    #[test]
    fn fragmented_streams_have_the_same_messages(lines in prop::collection::vec(any_line(), 1..8), cut in 1..50_usize) {
        let stream = lines.join(&b"\r\n"[..]);
        let read = |piece: usize| {
            let (mut buffer, mut found) = (LineBuffer::default(), Vec::new());
            for piece in stream.chunks(piece) {
                buffer.push(piece);
                while let Some(line) = buffer.next_line().unwrap() {
                    found.push(ToWorld::decode(line));
                }
            }
            found
        };
        prop_assert_eq!(read(cut), read(stream.len()));
    }
}

/// `cargo test -p wire --release evo::tests::throughput -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
#[expect(clippy::disallowed_methods, clippy::print_stderr, reason = "a measurement")]
fn throughput() {
    const LINES: u32 = 1_000_000;
    let (x, y, dir) = (1_234.567_890_123_4, 987.654_321_098_76, 2.345_678_901_234_5);
    let beam = Beam { x, y, z: 25.0, dir, tilt: 0.0, angle_h: 0.523, angle_v: 0.523 };
    let asked = ToWorld::VisualSensor(robot(17), beam);
    let told = FromWorld::VisualSensorReading(robot(17), VisualReading { distance: x, color: [12, 34, 56] });
    let position = Position { x, y, z: 0.0, dir, tilt_straight: 0.0, tilt_across: 0.0, stress: 0.0, death: false };
    fn measure(what: &str, mut once: impl FnMut()) {
        let began = std::time::Instant::now();
        (0..LINES).for_each(|_| once());
        eprintln!("{what}: {:.0} ns/line", began.elapsed().as_secs_f64() * 1e9 / f64::from(LINES));
    }
    fn both<M: Line + Debug>(what: &str, message: &M) {
        let mut out = Vec::new();
        measure(&format!("encode {what}"), || {
            out.clear();
            message.encode(&mut out).unwrap();
        });
        let line = message.to_line().unwrap();
        measure(&format!("decode {what}"), || {
            std::hint::black_box(M::decode(std::hint::black_box(line.trim_ascii_end()))).unwrap();
        });
    }
    both("VisualSensor", &asked);
    both("VisualSensorReading", &told);
    both("YourPosition", &FromWorld::YourPosition(robot(17), position));
    both("MoveTo", &ToWorld::MoveTo(robot(17), Pose { x, y, dir }));
}
