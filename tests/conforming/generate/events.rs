//! Messages of the robot and the events they become.

use serde_json::json;
use wire::{
    Message,
    oz::{Event, Face, Faces, Hypothesis, Jpeg, MAX_JPEG, MAX_JPEG_READ, Text, Utterance},
};

use super::{
    case,
    step::{bytewise, connect, expect, hex, send, send_pieces, told_of},
};
use crate::conforming::case::{Action, Case, Piece, Step};

fn text(text: &str) -> Text {
    Text::new(text).expect("short enough")
}

pub(super) fn heard(options: &[(f32, &str)]) -> Event {
    let options = options.iter().map(|&(confidence, words)| Hypothesis { confidence, text: text(words) });
    Event::Utterance(Utterance::new(options).expect("at least one"))
}

fn face(number: u8, name: &str) -> Face {
    let part = f32::from(number) / 16.0;
    Face { confidence: 1.0 - part, x: part - 1.0, y: 1.0 - part, width: part, height: part / 2.0, name: text(name) }
}

fn picture(bytes: &[u8]) -> Event {
    Event::VideoFrame(Jpeg::new(bytes).expect("small enough"))
}

/// One of each kind, and some more.
pub(super) fn samples() -> Vec<(&'static str, &'static [&'static str], Event)> {
    vec![
        ("SPEAK_DONE", &["3-15", "12.2-35"], Event::SpeakDone),
        ("GESTURE_DONE", &["9-30", "12.2-37"], Event::GestureDone),
        ("SPEAK_GESTURE", &["3-11", "3-12", "12.2-38"], Event::SpeakGesture(12)),
        (
            "UTTERANCE",
            &["4-5", "4-6", "12.2-39"],
            heard(&[(0.875, "how are you"), (0.5, "who are you"), (0.1, "Zoë, 你好")]),
        ),
        ("FACES", &["6-8", "6-9", "13-27", "12.2-40"], Event::Faces(Faces::new([face(3, "Zoë"), face(16, "")]))),
        ("FACES without faces", &["6-7", "6-8"], Event::Faces(Faces::default())),
        ("VIDEO_FRAME", &["5-4", "12.2-41"], picture(&[0xFF, 0xD8, 0, 1, 2, 0x80, 0xFE, 0xFF, 0xD9])),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<_> = samples()
        .into_iter()
        .map(|(name, cites, event)| case(name, cites, [connect(), send(std::slice::from_ref(&event)), told_of(&event)]))
        .collect();
    cases.extend(split());
    cases.extend(unusual());
    cases.extend(large());
    cases.extend(many());
    cases
}

/// Messages that arrive in parts.
fn split() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, _, event) in samples() {
        let bytes = event.to_bytes();
        // once at each point, and once at all of them
        let mut steps = vec![connect()];
        for at in 1..bytes.len() {
            let (begin, end) = bytes.split_at(at);
            steps.push(send_pieces([Piece::Bytes(hex(begin)), Piece::Bytes(hex(end))]));
            steps.push(told_of(&event));
        }
        steps.push(send_pieces(bytewise(&bytes)));
        steps.push(told_of(&event));
        cases.push(case(format!("{name}, split at each point"), &["1-3"], steps));
    }
    let all: Vec<Event> = samples().into_iter().map(|(_, _, event)| event).collect();
    let stream: Vec<u8> = all.iter().flat_map(Message::to_bytes).collect();
    for length in [3, 7, 64, stream.len()] {
        let pieces: Vec<_> = stream.chunks(length).map(|piece| Piece::Bytes(hex(piece))).collect();
        let steps = [connect(), send_pieces(pieces)].into_iter().chain(all.iter().map(told_of));
        cases.push(case(format!("all messages in pieces of {length} bytes"), &["1-3", "2-18"], steps));
    }
    cases
}

/// Messages that a robot would not send, but that have a meaning.
fn unusual() -> Vec<Case> {
    let bytes = |name: &str, cites: &[&str], hex: &str, event: serde_json::Value| {
        let sent = send_pieces([Piece::Bytes(hex.to_owned())]);
        case(name, cites, [connect(), sent, expect(event)])
    };
    let option = |confidence: serde_json::Value, text: &str| json!({"confidence": confidence, "text": text});
    let strange = [json!("NaN"), json!("inf"), json!("-inf"), json!(-3.0)].map(|confidence| option(confidence, ""));
    vec![
        bytes(
            "an utterance without options",
            &["4-5"],
            "0000001700000000",
            json!({"event": "utterance", "options": []}),
        ),
        bytes(
            "confidences that are not between 0 and 1",
            &["1-12"],
            "0000001700000004 7fc000000000 7f8000000000 ff8000000000 c04000000000".replace(' ', "").as_str(),
            json!({"event": "utterance", "options": strange}),
        ),
        bytes(
            "a text with a NUL, and one that begins with a byte order mark",
            &["1-14"],
            "0000001700000002 3f000000 0003 610062 3f000000 0004 efbbbf78".replace(' ', "").as_str(),
            json!({"event": "utterance", "options": [option(json!(0.5), "a\0b"), option(json!(0.5), "\u{feff}x")]}),
        ),
        bytes(
            "a gesture that the document does not have",
            &["3-11"],
            "0000001600000063",
            json!({"event": "speak_gesture", "gesture": 99}),
        ),
        bytes("an image without bytes", &["5-4"], "0000001900000000", json!({"event": "video_frame", "jpeg": ""})),
    ]
}

/// Messages at the limits.
fn large() -> Vec<Case> {
    let counted = |name: &str, id: &str, count: usize, each: &str, event: serde_json::Value| {
        let pieces =
            [Piece::Bytes(format!("{id}{count:08x}")), Piece::Repeated { repeat: each.to_owned(), times: count }];
        case(name, &["1-3"], [connect(), send_pieces(pieces), expect(event)])
    };
    let options =
        |count| json!({"event": "utterance", "options": vec![json!({"confidence": 0.5, "text": "a"}); count]});
    let one = json!({"confidence": 0.5, "x": 0.5, "y": 0.5, "width": 0.5, "height": 0.5, "name": "b"});
    let faces = |count| json!({"event": "faces", "faces": vec![one.clone(); count]});
    let (half, name) = ("3f000000", "000162");
    let face = format!("{}{name}", half.repeat(5));
    let image = |name: &str, length: usize| {
        let jpeg = json!({"repeat": "a5", "times": length});
        counted(name, "00000019", length, "a5", json!({"event": "video_frame", "jpeg": jpeg}))
    };
    let longest = json!({"repeat": "a", "times": 65_535});
    let longest = json!({"event": "utterance", "options": [{"confidence": 0.5, "text": longest}]});
    vec![
        counted("16 options", "00000017", 16, "3f000000000161", options(16)),
        counted("256 options", "00000017", 256, "3f000000000161", options(256)),
        counted("16 faces", "00000018", 16, &face, faces(16)),
        counted("256 faces", "00000018", 256, &face, faces(256)),
        case(
            "an option with the longest text",
            &["1-15"],
            [
                connect(),
                send_pieces([
                    Piece::Bytes("00000017000000013f000000ffff".to_owned()),
                    Piece::Repeated { repeat: "61".to_owned(), times: 65_535 },
                ]),
                expect(longest),
            ],
        ),
        image("an image of 100,000 bytes", 100_000),
        image("the largest image that our server sends", MAX_JPEG),
        image("the largest image that is read", MAX_JPEG_READ),
    ]
}

fn many() -> Vec<Case> {
    let done = Piece::Repeated { repeat: hex(&Event::GestureDone.to_bytes()), times: 1000 };
    let times = Action::ExpectTimes(1000, json!({"event": "gesture_done"})).into();
    let skipped: Vec<Step> = [
        vec![connect(), super::step::call("skip_video", json!([true]))],
        vec![send(&[picture(&[1, 2]), picture(&[3]), Event::SpeakGesture(1)]), told_of(&Event::SpeakGesture(1))],
        vec![super::step::call("skip_video", json!([false]))],
        vec![send(&[picture(&[4]), Event::SpeakGesture(2)]), told_of(&picture(&[4])), told_of(&Event::SpeakGesture(2))],
    ]
    .concat();
    vec![
        case("a thousand messages at once", &["1-3", "2-18"], [connect(), send_pieces([done]), times]),
        case("images can be skipped", &["5-5"], skipped),
    ]
}
