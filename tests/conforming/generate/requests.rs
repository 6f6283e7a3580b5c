//! Each method and the bytes it sends.

use serde_json::{Value, json};
use wire::oz::{Request, SERVO_COUNT};

use super::{
    case,
    step::{call, connect, fails, gesture, receive, returns, speak, told},
};
use crate::conforming::case::{Action, Case, Piece, Step};

/// A setting that is a number with fractions.
struct Setting {
    name: &'static str,
    cites: &'static [&'static str],
    default: f32,
    request: fn(f32) -> Request,
}

const SETTINGS: [Setting; 10] = [
    Setting {
        name: "voice_volume",
        cites: &["3-27", "3-29", "13-14", "12.2-13"],
        default: 1.0,
        request: Request::VoiceVolume,
    },
    Setting {
        name: "voice_pitch",
        cites: &["3-22", "3-25", "13-14", "12.2-14"],
        default: 1.0,
        request: Request::VoicePitch,
    },
    Setting {
        name: "gesture_weight",
        cites: &["7-8", "7-9", "7-15", "12.2-18"],
        default: 1.0,
        request: Request::GestureWeight,
    },
    Setting {
        name: "expression_weight",
        cites: &["7-8", "7-10", "7-16", "12.2-20"],
        default: 1.0,
        request: Request::ExpressionWeight,
    },
    Setting {
        name: "auto_blink_speed",
        cites: &["11-6", "11-10", "12.2-21"],
        default: 2.0,
        request: Request::AutoBlinkSpeed,
    },
    Setting {
        name: "random_head_weight",
        cites: &["7-8", "7-11", "7-17", "12.2-22"],
        default: 0.0,
        request: Request::RandomHeadWeight,
    },
    Setting {
        name: "random_eyes_weight",
        cites: &["7-8", "7-12", "7-17", "12.2-23"],
        default: 0.0,
        request: Request::RandomEyesWeight,
    },
    Setting {
        name: "random_face_weight",
        cites: &["7-8", "7-13", "7-17", "12.2-24"],
        default: 0.0,
        request: Request::RandomFaceWeight,
    },
    Setting {
        name: "direct_weight",
        cites: &["13-22", "13-23", "12.2-27"],
        default: 0.0,
        request: Request::DirectWeight,
    },
    Setting {
        name: "look_at_weight",
        cites: &["7-8", "7-14", "7-18", "12.2-29"],
        default: 1.0,
        request: Request::LookAtWeight,
    },
];

/// A setting that is one of a list.
struct Choice {
    name: &'static str,
    cites: &'static [&'static str],
    valid: &'static [u32],
    refused: &'static [i64],
    request: fn(u32) -> Request,
}

const CHOICES: [Choice; 3] = [
    Choice {
        name: "voice_gender_language",
        cites: &["3-20", "12.2-12"],
        // whether a robot has others is its own affair
        valid: &[0, 7],
        refused: &[],
        request: Request::VoiceGenderLanguage,
    },
    Choice {
        name: "expression",
        cites: &["10-1", "10-4", "12.2-19", "12.2-31"],
        valid: &[0, 1, 2, 3, 4],
        refused: &[5, -1, 2_147_483_647],
        request: Request::Expression,
    },
    Choice {
        name: "look_at",
        cites: &["8-1", "8-3", "12.2-28", "12.2-31"],
        valid: &[0, 1, 2, 3, 4, 5],
        refused: &[6, -1, 2_147_483_647],
        request: Request::LookAt,
    },
];

fn setter(name: &str) -> String {
    format!("set_{name}")
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<_> = SETTINGS.iter().flat_map(|setting| [set(setting), refuse(setting)]).collect();
    cases.extend(CHOICES.iter().map(choose));
    cases.extend([reset(), one_servo(), all_servos(), refused_servos(), several_at_once()]);
    cases.extend(texts());
    cases.push(gestures());
    cases
}

fn set(setting: &Setting) -> Case {
    let mut steps = vec![connect(), returns(setting.name, json!([]), setting.default)];
    // also out of range, which is the robot's affair
    for value in [0.0, 0.5, 1.0, 0.390625, 0.1, -3.0, 10.0, 329.375, 3e38] {
        steps.push(call(&setter(setting.name), json!([value])));
        steps.push(receive(&(setting.request)(value)));
        steps.push(returns(setting.name, json!([]), value));
    }
    case(setter(setting.name), &[setting.cites, &["1-12", "12.2-30", "12.1-6"]].concat(), steps)
}

fn refuse(setting: &Setting) -> Case {
    let bad = ["NaN", "inf", "-inf"].map(Value::from).into_iter().chain([json!(1e39), json!(-1e39)]);
    let refused = bad.map(|value| fails(&setter(setting.name), json!([value]), "not_finite", &[]));
    let mut steps: Vec<Step> = std::iter::once(connect()).chain(refused).collect();
    steps.push(returns(setting.name, json!([]), setting.default));
    // nothing else was sent before
    steps.push(call("reset", json!([])));
    steps.push(receive(&Request::Reset));
    case(format!("{} refuses what is not finite", setter(setting.name)), &["12.2-31"], steps)
}

fn choose(choice: &Choice) -> Case {
    let mut steps = vec![connect(), returns(choice.name, json!([]), 0)];
    for &id in choice.valid {
        steps.push(call(&setter(choice.name), json!([id])));
        steps.push(receive(&(choice.request)(id)));
        steps.push(returns(choice.name, json!([]), id));
        for &bad in choice.refused {
            steps.push(fails(&setter(choice.name), json!([bad]), "out_of_range", &[]));
        }
        steps.push(returns(choice.name, json!([]), id));
    }
    case(setter(choice.name), &[choice.cites, &["12.2-30", "1-11"]].concat(), steps)
}

fn reset() -> Case {
    let mut steps = vec![connect()];
    for setting in &SETTINGS {
        steps.push(call(&setter(setting.name), json!([0.375])));
        steps.push(receive(&(setting.request)(0.375)));
    }
    for choice in &CHOICES {
        let id = choice.valid[1];
        steps.push(call(&setter(choice.name), json!([id])));
        steps.push(receive(&(choice.request)(id)));
    }
    steps.push(call("set_servo", json!([7, 0.5])));
    steps.push(receive(&Request::Servo { id: 7, position: 0.5 }));
    steps.push(call("reset", json!([])));
    steps.push(receive(&Request::Reset));
    steps.extend(SETTINGS.iter().map(|setting| returns(setting.name, json!([]), setting.default)));
    steps.extend(CHOICES.iter().map(|choice| returns(choice.name, json!([]), 0)));
    steps.push(returns("servo", json!([7]), Value::Null));
    case("reset, after which all settings have their defaults", &["2-20", "12.1-4", "12.2-30"], steps)
}

fn one_servo() -> Case {
    let mut steps = vec![connect(), returns("servo", json!([0]), Value::Null)];
    for id in 0..SERVO_COUNT as u32 {
        let position = id as f32 / 64.0;
        steps.push(call("set_servo", json!([id, position])));
        steps.push(receive(&Request::Servo { id, position }));
        steps.push(returns("servo", json!([id]), position));
    }
    case("set_servo", &["13-16", "12.2-25", "12.2-30"], steps)
}

fn all_servos() -> Case {
    let positions: [f32; SERVO_COUNT] = std::array::from_fn(|id| 1.0 - id as f32 / 64.0);
    let mut some = vec![Value::Null; SERVO_COUNT];
    some[35] = json!(0.25);
    case(
        "set_all_servos",
        &["13-20", "12.2-26", "12.2-30"],
        [
            connect(),
            returns("all_servos", json!([]), vec![Value::Null; SERVO_COUNT]),
            call("set_servo", json!([35, 0.25])),
            receive(&Request::Servo { id: 35, position: 0.25 }),
            returns("all_servos", json!([]), some),
            call("set_all_servos", json!([positions.to_vec()])),
            receive(&Request::AllServos(positions)),
            returns("all_servos", json!([]), positions.to_vec()),
            returns("servo", json!([35]), positions[35]),
        ],
    )
}

fn refused_servos() -> Case {
    let mut positions = vec![json!(0.5); SERVO_COUNT];
    positions[35] = json!("NaN");
    let outside = [36, -1, 2_147_483_647].map(|id: i64| fails("set_servo", json!([id, 0.5]), "out_of_range", &[]));
    let bad = ["NaN", "inf", "-inf"].map(|position| fails("set_servo", json!([0, position]), "not_finite", &[]));
    let steps = std::iter::once(connect()).chain(outside).chain(bad).chain([
        fails("set_all_servos", json!([positions]), "not_finite", &[]),
        returns("all_servos", json!([]), vec![Value::Null; SERVO_COUNT]),
        call("reset", json!([])),
        receive(&Request::Reset),
    ]);
    case("servos that there are not, and positions that are not finite", &["12.2-31", "13-9"], steps)
}

fn several_at_once() -> Case {
    let steps = [
        vec![
            connect(),
            call("set_voice_volume", json!([0.5])),
            call("set_look_at", json!([3])),
            call("speak", json!(["Hello"])),
            told("speak_start"),
            call("set_servo", json!([23, 0.75])),
        ],
        vec![
            receive(&Request::VoiceVolume(0.5)),
            receive(&Request::LookAt(3)),
            receive(&super::step::speech("Hello")),
            receive(&Request::Servo { id: 23, position: 0.75 }),
        ],
    ];
    case("requests arrive in their order", &["1-3", "1-2"], steps.concat())
}

fn texts() -> Vec<Case> {
    let text = |name: &str, cites: &[&str], text: &str| {
        let steps = std::iter::once(connect()).chain(speak(text)).chain([returns("speaking", json!([]), true)]);
        case(name, &[cites, &["3-5", "1-13", "12.2-9", "12.2-34"]].concat(), steps)
    };
    // the bytes of a long text would fill the file
    let long = |name: &str, unit: &str, times: usize| {
        let bytes = unit.len() * times;
        let received = vec![
            Piece::Bytes(format!("00000003{bytes:04x}")),
            Piece::Repeated { repeat: super::step::hex(unit.as_bytes()), times },
        ];
        let spoken = call("speak", json!([{"repeat": unit, "times": times}]));
        case(
            name,
            &["1-14", "1-15", "12.2-9"],
            [connect(), spoken, told("speak_start"), Action::Receive(received).into()],
        )
    };
    let too_long = |name: &str, unit: &str, times: usize| {
        let bytes = (unit.len() * times).to_string();
        let refused = fails("speak", json!([{"repeat": unit, "times": times}]), "text_too_long", &[&bytes]);
        let steps = [connect(), refused, returns("speaking", json!([]), false)];
        case(name, &["1-15", "12.2-31"], steps.into_iter().chain(speak("Short.")))
    };
    vec![
        text("speak", &[], "Hello"),
        text("speak with tags", &["3-1", "9-34"], "[braisel][nos]Nope."),
        text("speak an empty text", &["3-16"], ""),
        text("speak in other scripts", &["1-14"], "Zoë, 你好! \u{1F44B}\u{1F3FD} שלום"),
        text("speak control characters", &["1-14"], "a\tb\nc\u{1}\u{7f}\u{feff}"),
        text("speak a text with a NUL in it", &["1-14"], "before\0after"),
        long("speak the longest text", "a", 65_535),
        long("speak the longest text in another script", "好", 21_845),
        too_long("a text that is too long", "a", 65_536),
        too_long("a text with too many bytes, if not characters", "é", 32_768),
    ]
}

fn gestures() -> Case {
    let steps = std::iter::once(connect()).chain((0..13).flat_map(gesture));
    // robots may have more
    case("gesture", &["9-2", "12.2-15", "12.2-36", "13-10"], steps.chain(gesture(13)).chain(gesture(1000)))
}
