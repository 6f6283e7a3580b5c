//! Writes the cases from the definitions of the messages in `wire`. `scripts/generate-oz-cases` runs it.

mod activity;
mod connecting;
mod events;
mod lost;
mod malformed;
mod requests;
mod step;

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use wire::oz::{EXPRESSIONS, Event, GESTURES, LOOKATS, PORT, SERVOS};

use super::case::{Case, Step};

/// The folder of the suite.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../protocols/oz/conformance")
}

/// The cases by group, each of which has its own file.
pub(crate) fn groups() -> Vec<(&'static str, Vec<Case>)> {
    vec![
        ("constants", vec![constants(), tags()]),
        ("connecting", connecting::cases()),
        ("requests", requests::cases()),
        ("events", events::cases()),
        ("activity", activity::cases()),
        ("malformed", malformed::cases()),
        ("lost", lost::cases()),
    ]
}

/// Compares the files with what would be written, or writes them if `ROSSUM_GENERATE` is set.
pub(crate) fn check_files() {
    for (group, cases) in groups() {
        let path = folder().join("cases").join(format!("{group}.json"));
        let text = to_text(&cases);
        if std::env::var_os("ROSSUM_GENERATE").is_some() {
            fs::write(&path, &text).expect("it can be written");
        }
        let is_current = fs::read_to_string(&path).is_ok_and(|found| found == text);
        assert!(is_current, "{} is out of date; run scripts/generate-oz-cases", path.display());
    }
}

/// JSON with a line for each step.
fn to_text(cases: &[Case]) -> String {
    let step = |step: &Step| format!("    {}", serde_json::to_string(step).expect("JSON"));
    let case = |case: &Case| {
        let steps: Vec<_> = case.steps.iter().map(step).collect();
        let (name, cites) = (json!(case.name), json!(case.cites));
        format!("  {{\"name\": {name}, \"cites\": {cites}, \"steps\": [\n{}\n  ]}}", steps.join(",\n"))
    };
    let cases: Vec<_> = cases.iter().map(case).collect();
    format!("[\n{}\n]\n", cases.join(",\n"))
}

pub(super) fn case(name: impl Into<String>, cites: &[&str], steps: impl IntoIterator<Item = Step>) -> Case {
    let cites = cites.iter().map(|&requirement| requirement.to_owned()).collect();
    Case { name: name.into(), cites, steps: steps.into_iter().collect() }
}

/// The messages of the header file, in its order.
const MESSAGES: [&str; 26] = [
    "NOTHING",
    "REQUEST_VERSION",
    "RESET",
    "SPEAK",
    "VOICE_GENDER_LANGUAGE",
    "VOICE_VOLUME",
    "VOICE_PITCH",
    "GESTURE",
    "GESTURE_WEIGHT",
    "EXPRESSION",
    "EXPRESSION_WEIGHT",
    "AUTO_BLINK_SPEED",
    "RANDOM_HEAD_WEIGHT",
    "RANDOM_EYES_WEIGHT",
    "RANDOM_FACE_WEIGHT",
    "SERVO",
    "ALL_SERVOS",
    "DIRECT_WEIGHT",
    "LOOKAT",
    "LOOKAT_WEIGHT",
    "SPEAK_DONE",
    "GESTURE_DONE",
    "SPEAK_GESTURE",
    "UTTERANCE",
    "FACES",
    "VIDEO_FRAME",
];

fn constants() -> Case {
    let mut constants = json!({
        "OZ_PORT": PORT,
        "VGL_DEFAULT": 0,
        "MAX_SERVOS": SERVOS.len(),
        "MAX_GESTURES": GESTURES.len(),
    });
    let mut add = |prefix: &str, names: &[&str]| {
        for (number, name) in names.iter().enumerate() {
            constants[format!("{prefix}_{}", name.to_uppercase())] = json!(number);
        }
    };
    add("SERVO", &SERVOS);
    add("GESTURE", &GESTURES.map(|(_, name)| name));
    add("EXPRESSION", &EXPRESSIONS);
    add("LOOKAT", &LOOKATS);
    add("MSG", &MESSAGES);
    let cites: Vec<String> = (1..=11).map(|number| format!("13-{number}")).collect();
    let mut cites: Vec<&str> = cites.iter().map(String::as_str).collect();
    cites.extend(["2-1", "3-21", "8-3", "10-4"]);
    case("the constants of the header file", &cites, [step::returns("constants", json!([]), constants)])
}

fn tags() -> Case {
    let tags: Value = GESTURES.map(|(tag, _)| format!("[{tag}]")).to_vec().into();
    let cites: Vec<String> = (5..=17).map(|number| format!("9-{number}")).collect();
    let cites: Vec<&str> = cites.iter().map(String::as_str).collect();
    case("the tags of the gestures", &cites, [step::returns("gesture_tags", json!([]), tags)])
}

/// An event as the harness writes it.
pub(crate) fn json_from_event(event: &Event) -> Value {
    match event {
        Event::SpeakDone => json!({"event": "speak_done"}),
        Event::GestureDone => json!({"event": "gesture_done"}),
        Event::SpeakGesture(gesture) => json!({"event": "speak_gesture", "gesture": gesture}),
        Event::Utterance(heard) => {
            let option = |option: &wire::oz::Hypothesis| json!({"confidence": number(option.confidence), "text": option.text.as_str()});
            json!({"event": "utterance", "options": heard.options().iter().map(option).collect::<Value>()})
        }
        Event::Faces(faces) => {
            let face = |face: &wire::oz::Face| {
                json!({
                    "confidence": number(face.confidence),
                    "x": number(face.x),
                    "y": number(face.y),
                    "width": number(face.width),
                    "height": number(face.height),
                    "name": face.name.as_str(),
                })
            };
            json!({"event": "faces", "faces": faces.as_slice().iter().map(face).collect::<Value>()})
        }
        Event::VideoFrame(jpeg) => json!({"event": "video_frame", "jpeg": step::hex(jpeg.as_bytes())}),
    }
}

/// JSON has no infinite numbers and no NaN; they are texts.
fn number(float: f32) -> Value {
    if float.is_finite() { json!(float) } else { json!(float.to_string()) }
}

/// The answer of the robot of most cases.
pub(crate) fn welcome_in_hex() -> String {
    step::hex(&step::welcome())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    step::hex(bytes)
}
