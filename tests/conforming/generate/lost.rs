//! Connections that are lost, robots that do not read, and connecting again.

use serde_json::{Value, json};
use wire::oz::{Event, Request};

use super::{
    case,
    step::{
        accept, call, close, connect, error, expect, fails, failure, gesture, receive, returns, send, speak, told,
        told_of, told_the_end, welcome,
    },
};
use crate::conforming::case::{Action, Call, Case, Connect, Ending, Step};

const LONG: u64 = 30_000;

/// Delay before an attempt to connect again, in ms.
const DELAY: u64 = 50;

/// Delay that leaves time to do something before the attempt, in ms.
const LONGER_DELAY: u64 = 500;

fn connect_again() -> Step {
    connect_again_after(DELAY)
}

fn connect_again_after(delay_ms: u64) -> Step {
    Action::Connect(Connect { timeout_ms: None, reconnect_ms: Some(delay_ms) }).into()
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = lost();
    cases.push(unread());
    cases.extend(found_again());
    cases
}

#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn lost() -> Vec<Case> {
    let end = || told_the_end("closed", &[]);
    let waiting = |name: &str, wait: Step, before: Vec<Step>| {
        let steps = [vec![connect()], before, vec![wait.during([close()]), end()]].concat();
        case(name, &["12.2-33", "12.2-10", "12.2-16"], steps)
    };
    vec![
        case(
            "the robot closes the connection",
            &["12.2-33"],
            [
                connect(),
                close(),
                end(),
                returns("is_connected", json!([]), false),
                fails("speak", json!(["Hello"]), "closed", &[]),
                fails("set_servo", json!([0, 0.5]), "closed", &[]),
                fails("wait_for_speak", json!([LONG]), "closed", &[]),
                fails("wait_for_gesture", json!([LONG]), "closed", &[]),
                // what is known stays known
                returns("name", json!([]), "alice"),
            ],
        ),
        case(
            "the connection is reset",
            &["12.2-33"],
            [
                connect(),
                send(&[Event::SpeakDone]),
                told_of(&Event::SpeakDone),
                call("speak", json!(["Hello"])),
                told("speak_start"),
                Action::Close(Ending::Reset).into(),
                end(),
                fails("await_text", json!([1, LONG]), "closed", &[]),
            ],
        ),
        waiting(
            "lost while waiting for speech",
            fails("wait_for_speak", json!([LONG]), "closed", &[]),
            speak("Hi").to_vec(),
        ),
        waiting(
            "lost while waiting for a text",
            fails("await_text", json!([1, LONG]), "closed", &[]),
            speak("Hi").to_vec(),
        ),
        waiting(
            "lost while waiting for gestures",
            fails("wait_for_gesture", json!([LONG]), "closed", &[]),
            gesture(3).to_vec(),
        ),
        waiting(
            "lost while waiting for a gesture",
            fails("await_gesture", json!([1, LONG]), "closed", &[]),
            gesture(3).to_vec(),
        ),
        case(
            "nothing is going on after the end",
            &["12.2-11", "12.2-17", "12.2-33"],
            [
                vec![connect()],
                speak("Hello").to_vec(),
                gesture(3).to_vec(),
                vec![call("disconnect", json!([])), expect(json!({"event": "disconnected", "reason": null}))],
                vec![returns("speaking", json!([]), false), returns("gesturing", json!([]), false)],
                vec![
                    fails("await_text", json!([1, LONG]), "closed", &[]),
                    fails("await_gesture", json!([1, LONG]), "closed", &[]),
                ],
            ]
            .concat(),
        ),
    ]
}

/// A robot that does not read.
fn unread() -> Case {
    let args = vec![json!({"repeat": "a", "times": 65_535})];
    let fails = Some(failure(&["timeout", "closed"], &[]));
    let speak = Call { name: "speak".to_owned(), args, fails, until_it_fails: true, ..Call::default() };
    case(
        "a robot that does not read",
        &["2-21", "12.2-33"],
        [
            Action::Connect(Connect { timeout_ms: Some(500), reconnect_ms: None }).into(),
            Action::Ignore("speak_start".to_owned()).into(),
            Action::Call(speak).into(),
            told_the_end("timeout", &[]),
            super::step::fails("set_voice_volume", json!([0.5]), "closed", &[]),
        ],
    )
}

#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn found_again() -> Vec<Case> {
    let welcomed = || accept(&welcome());
    let end = || expect(json!({"event": "disconnected", "reason": null}));
    let failed = |kind: &str| expect(json!({"event": "connect_failed", "error": error(kind, &[])}));
    let lost = || [close(), told_the_end("closed", &[])];
    let working = || [call("set_expression", json!([1])), receive(&Request::Expression(1))];
    vec![
        case(
            "without the option a lost connection is not made again",
            &["12.2-33"],
            [connect(), close(), told_the_end("closed", &[]), Action::NobodyConnects(4 * DELAY).into()],
        ),
        case(
            "a lost connection is made again, twice",
            &["12.2-32", "12.2-33"],
            [
                vec![connect_again()],
                lost().to_vec(),
                vec![welcomed(), told("connected")],
                working().to_vec(),
                lost().to_vec(),
                vec![welcomed(), told("connected"), returns("is_connected", json!([]), true)],
                working().to_vec(),
            ]
            .concat(),
        ),
        case(
            "settings stay, and what was going on has ended",
            &["12.2-30", "12.2-11", "12.2-17"],
            [
                vec![
                    connect_again_after(LONGER_DELAY),
                    call("set_voice_pitch", json!([1.5])),
                    receive(&Request::VoicePitch(1.5)),
                ],
                speak("Hello").to_vec(),
                gesture(0).to_vec(),
                vec![fails("wait_for_speak", json!([LONG]), "closed", &[]).during([close()])],
                vec![told_the_end("closed", &[]), welcomed(), told("connected")],
                vec![returns("speaking", json!([]), false), returns("gesturing", json!([]), false)],
                vec![returns("voice_pitch", json!([]), 1.5)],
                speak("Again").to_vec(),
                vec![returns("wait_for_speak", json!([60]), Value::Bool(false))],
                vec![
                    send(&[Event::SpeakDone]),
                    told_of(&Event::SpeakDone),
                    returns("wait_for_speak", json!([LONG]), true),
                ],
            ]
            .concat(),
        ),
        case(
            "attempts that fail are reported, and another one follows",
            &["12.2-32", "2-11"],
            [
                vec![connect_again()],
                lost().to_vec(),
                vec![accept(&[]), close(), failed("closed")],
                vec![accept(&[2, 0, 0, 0]), failed("wrong_version"), returns("is_connected", json!([]), false)],
                vec![accept(&[0, 0, 0, 0x14]), failed("bad_message"), welcomed(), told("connected")],
                working().to_vec(),
            ]
            .concat(),
        ),
        case(
            "a stream that cannot be read on is made again as well",
            &["13-29"],
            [
                connect_again(),
                super::step::send_bytes(&[0, 0, 0, 0x1A]),
                told_the_end("bad_message", &["0x1a"]),
                welcomed(),
                told("connected"),
            ],
        ),
        case(
            "disconnecting ends the attempts",
            &["12.2-8", "12.2-33"],
            [
                connect_again_after(LONGER_DELAY),
                close(),
                told_the_end("closed", &[]),
                fails("speak", json!(["Hello"]), "closed", &[]),
                call("disconnect", json!([])),
                end(),
                Action::NobodyConnects(2 * LONGER_DELAY).into(),
            ],
        ),
        case(
            "nobody connects after disconnecting",
            &["12.2-8"],
            [connect_again(), call("disconnect", json!([])), end(), Action::NobodyConnects(4 * DELAY).into()],
        ),
        case(
            "a first attempt that fails is not repeated",
            &["12.1-2"],
            [
                fails("connect", json!([{"timeout_ms": LONG, "reconnect_ms": DELAY}]), "wrong_version", &[])
                    .during([accept(&[2, 0, 0, 0])]),
                Action::NobodyConnects(4 * DELAY).into(),
            ],
        ),
    ]
}
