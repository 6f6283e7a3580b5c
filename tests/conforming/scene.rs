//! A scene that each client plays with the live server, in which every message is accounted for.

use serde_json::{Value, json};

use super::harness::Harness;
use crate::operating::{Robot, fetched};

/// Longer than anything takes.
const LONG: u64 = 30_000;

/// What one of the two operators was told.
#[derive(Default)]
struct Account {
    counts: std::collections::BTreeMap<String, usize>,
    spoken_gestures: Vec<u64>,
}

impl Account {
    fn count(&self, event: &str) -> usize {
        self.counts.get(event).copied().unwrap_or_default()
    }

    fn note(&mut self, event: &Value) -> Result<(), String> {
        let name = event["event"].as_str().ok_or("an event without a name")?;
        *self.counts.entry(name.to_owned()).or_default() += 1;
        match name {
            "speak_gesture" => self.spoken_gestures.push(event["gesture"].as_u64().ok_or("no gesture")?),
            "video_frame" => {
                let jpeg = event["jpeg"].as_str().unwrap_or_default();
                if !jpeg.starts_with("ffd8") || !jpeg.ends_with("ffd9") {
                    return Err(format!("an image of {} bytes is no JPEG file", jpeg.len() / 2));
                }
            }
            "faces" => {
                let faces = event["faces"].as_array().ok_or("no faces")?;
                let is_face = |face: &Value| face["x"].as_f64().is_some_and(|x| (-1.0..=1.0).contains(&x));
                if !faces.iter().all(is_face) {
                    return Err(format!("no faces: {event}"));
                }
            }
            "connected" | "disconnected" | "speak_start" | "speak_done" | "gesture_start" | "gesture_done" => {}
            other => return Err(format!("nobody asked for {other}")),
        }
        Ok(())
    }
}

/// Two operators of the same kind, and what they have been told.
struct Scene<'a> {
    harness: &'a mut Harness,
    accounts: [Account; 2],
}

const OPERATORS: [&str; 2] = ["a", "b"];

impl Scene<'_> {
    fn call(&mut self, operator: usize, name: &str, args: Value) -> Result<Value, String> {
        let args = args.as_array().expect("a list");
        self.harness.command(OPERATORS[operator], name, args)?;
        self.harness.answer()?.map_err(|error| format!("{name} fails with {error}"))
    }

    /// Calls a method that waits, which must not be in vain.
    fn wait(&mut self, operator: usize, name: &str) -> Result<(), String> {
        match self.call(operator, name, json!([LONG]))? {
            Value::Bool(true) => Ok(()),
            other => Err(format!("{name} returns {other}")),
        }
    }

    /// Takes events until enough of one kind have come.
    fn take_until(&mut self, operator: usize, event: &str, count: usize) -> Result<(), String> {
        while self.accounts[operator].count(event) < count {
            let told = self.harness.event(OPERATORS[operator])?;
            self.accounts[operator].note(&told)?;
        }
        Ok(())
    }
}

/// Starts a server, and plays the scene with it.
pub(crate) fn play(harness: &mut Harness) -> Result<(), String> {
    let face = fetched("faces").join("skimage/data/astronaut.png");
    let person = format!("[[oz.person]]\npicture = \"{}\"\nposition = [1.2, 0.0, 0.78]", face.display());
    let robot = Robot::start(&format!("camera = \"scene\"\n{person}"));
    let mut variables = client::osp::Client::connect(robot.server.address("OSP")).expect("it answers");
    let mut variable = |name: &str| {
        let values = variables.values(&format!("^/Oz/{name}$")).expect("it answers");
        let [value] = &values[..] else { panic!("{name}: {values:?}") };
        variables.get(value.value).expect("it answers").expect("it can be read")
    };
    let mut scene = Scene { harness, accounts: [Account::default(), Account::default()] };
    let address = robot.address();
    for operator in [0, 1] {
        let options = json!({"host": address.ip().to_string(), "port": address.port(), "timeout_ms": LONG});
        scene.call(operator, "connect", json!([options]))?;
    }
    let names = [scene.call(0, "name", json!([]))?, scene.call(0, "long_name", json!([]))?];
    if names != [json!("alice"), json!("Alice, a simulated humanoid")] {
        return Err(format!("the robot's names are {names:?}"));
    }
    set_everything(&mut scene, &mut variable)?;
    speak_and_gesture(&mut scene)?;
    interrupt(&mut scene)?;
    for (name, wanted) in [("VoiceVolume", "1"), ("LookAt", "0"), ("Weight/Direct", "0")] {
        let found = variable(name);
        if found.parse::<f64>() != wanted.parse() {
            return Err(format!("after the reset {name} is {found}"));
        }
    }
    settle(scene)
}

/// Each setter once; the server has to have the value.
fn set_everything(scene: &mut Scene<'_>, variable: &mut impl FnMut(&str) -> String) -> Result<(), String> {
    let settings = [
        ("voice_volume", "VoiceVolume"),
        ("voice_pitch", "VoicePitch"),
        ("gesture_weight", "Weight/Gesture"),
        ("expression_weight", "Weight/Expression"),
        ("auto_blink_speed", "AutoBlinkSpeed"),
        ("random_head_weight", "Weight/RandomHead"),
        ("random_eyes_weight", "Weight/RandomEyes"),
        ("random_face_weight", "Weight/RandomFace"),
        ("direct_weight", "Weight/Direct"),
        ("look_at_weight", "Weight/LookAt"),
    ];
    let positions = vec![0.5; 36];
    scene.call(0, "set_all_servos", json!([positions]))?;
    scene.call(0, "set_servo", json!([23, 0.625]))?;
    scene.call(0, "set_voice_gender_language", json!([0]))?;
    for (number, (setting, name)) in (1_u8..).zip(settings) {
        let value = 0.5 + f64::from(number) / 64.0;
        scene.call(usize::from(number % 2), &format!("set_{setting}"), json!([value]))?;
        await_value(variable, name, value);
    }
    scene.call(0, "set_expression", json!([1]))?;
    scene.call(1, "set_look_at", json!([3]))?;
    await_value(variable, "Expression", 1.0);
    await_value(variable, "LookAt", 3.0);
    // so that she keeps her feet
    scene.call(0, "set_direct_weight", json!([0.0]))?;
    Ok(())
}

fn await_value(variable: &mut impl FnMut(&str) -> String, name: &str, wanted: f64) {
    crate::running::eventually(name, || (variable(name).parse() == Ok(wanted)).then_some(()));
}

/// Both speak and move; each is told of its own texts and gestures.
fn speak_and_gesture(scene: &mut Scene<'_>) -> Result<(), String> {
    scene.call(0, "speak", json!(["[braises]Take one, [frowns] please. [unknown] Thank you [yess]."]))?;
    scene.call(1, "speak", json!(["[wob]Mine."]))?;
    scene.call(1, "gesture", json!([4]))?;
    scene.call(0, "gesture", json!([1]))?;
    // a robot does not have it, and reports its end at once
    scene.call(0, "gesture", json!([1000]))?;
    scene.call(0, "speak", json!([""]))?;
    scene.wait(0, "wait_for_speak")?;
    if scene.call(0, "await_text", json!([1, LONG]))? != json!(true) {
        return Err("the first text has not ended".to_owned());
    }
    scene.wait(1, "wait_for_speak")?;
    for operator in [0, 1] {
        scene.wait(operator, "wait_for_gesture")?;
    }
    Ok(())
}

/// One operator resets the robot while the other one's text is being spoken.
fn interrupt(scene: &mut Scene<'_>) -> Result<(), String> {
    let story = "[braises]This is a story that goes on and on. ".repeat(40);
    scene.call(0, "speak", json!([story]))?;
    scene.take_until(0, "speak_gesture", 4)?;
    scene.call(1, "reset", json!([]))?;
    scene.wait(0, "wait_for_speak")?;
    scene.wait(0, "wait_for_gesture")
}

/// Compares what the operators were told with what they have done.
fn settle(mut scene: Scene<'_>) -> Result<(), String> {
    for operator in [0, 1] {
        scene.take_until(operator, "video_frame", 10)?;
        scene.take_until(operator, "faces", 1)?;
        scene.call(operator, "disconnect", json!([]))?;
        scene.take_until(operator, "disconnected", 1)?;
        let account = &scene.accounts[operator];
        let (texts, gestures, tags) = [(3, 2, &[1, 3, 5, 1][..]), (1, 1, &[12])][operator];
        let spoken = &account.spoken_gestures;
        // the story may have gone on a little
        if !spoken.starts_with(tags) || spoken[tags.len()..].iter().any(|&gesture| operator == 1 || gesture != 1) {
            return Err(format!("operator {operator} is told the gestures {spoken:?}"));
        }
        let expected = [
            ("connected", 1),
            ("speak_start", texts),
            ("speak_done", texts),
            ("gesture_start", gestures),
            ("gesture_done", gestures + spoken.len()),
            ("disconnected", 1),
        ];
        for (event, count) in expected {
            if account.count(event) != count {
                let found = account.count(event);
                return Err(format!("operator {operator} is told {event} {found} times and not {count}"));
            }
        }
    }
    let rest = scene.harness.rest()?;
    if rest.is_empty() { Ok(()) } else { Err(format!("the application is also told {rest:?}")) }
}
