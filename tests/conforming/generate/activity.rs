//! What is being spoken and played, and waiting for its end.

use serde_json::json;
use wire::oz::{Event, Request};

use super::{
    case,
    events::heard,
    step::{call, connect, gesture, receive, returns, send, speak, told, told_of},
};
use crate::conforming::case::{Case, Step};

/// A time in which what has happened is noticed, in ms.
const LONG: u64 = 30_000;

/// A time that passes in vain, in ms.
const SHORT: u64 = 60;

const DONE: Event = Event::SpeakDone;
const ENDED: Event = Event::GestureDone;

/// The robot sends events, and the application is told.
fn tell(events: &[Event]) -> Vec<Step> {
    std::iter::once(send(events)).chain(events.iter().map(told_of)).collect()
}

fn waits(name: &str, timeout_ms: u64, ends: bool) -> Step {
    returns(name, json!([timeout_ms]), ends)
}

fn awaits(name: &str, number: u32, timeout_ms: u64, ends: bool) -> Step {
    returns(name, json!([number, timeout_ms]), ends)
}

fn is(name: &str, value: bool) -> Step {
    returns(name, json!([]), value)
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = speech();
    cases.extend(gestures());
    cases.extend(both());
    cases.extend(operators());
    cases
}

fn speech() -> Vec<Case> {
    vec![
        case(
            "nothing is spoken at first",
            &["12.2-10", "12.2-11", "12.2-16", "12.2-17"],
            [
                connect(),
                is("speaking", false),
                is("gesturing", false),
                waits("wait_for_speak", SHORT, true),
                waits("wait_for_gesture", SHORT, true),
            ],
        ),
        case(
            "waiting for the end of a text",
            &["12.2-10", "12.2-11", "3-13", "3-16"],
            [
                vec![connect()],
                speak("Hello").to_vec(),
                vec![is("speaking", true), waits("wait_for_speak", SHORT, false), is("speaking", true)],
                vec![waits("wait_for_speak", LONG, true).during([send(&[DONE])]), told_of(&DONE)],
                vec![is("speaking", false), awaits("await_text", 1, SHORT, true)],
            ]
            .concat(),
        ),
        case(
            "texts end in their order",
            &["3-8", "3-16", "12.2-10"],
            [
                vec![connect()],
                speak("One.").to_vec(),
                speak("Two.").to_vec(),
                speak("").to_vec(),
                vec![awaits("await_text", 1, LONG, true).during([send(&[DONE])]), told_of(&DONE)],
                vec![awaits("await_text", 2, SHORT, false), is("speaking", true)],
                tell(&[DONE]),
                vec![awaits("await_text", 2, LONG, true), awaits("await_text", 3, SHORT, false)],
                vec![waits("wait_for_speak", SHORT, false)],
                tell(&[DONE]),
                vec![waits("wait_for_speak", LONG, true), awaits("await_text", 3, LONG, true)],
            ]
            .concat(),
        ),
        case(
            "an end that nobody waits for is no end of a later text",
            &["3-16", "12.2-11"],
            [
                vec![connect()],
                tell(&[DONE, ENDED]),
                speak("Hello").to_vec(),
                gesture(4).to_vec(),
                vec![waits("wait_for_speak", SHORT, false), waits("wait_for_gesture", SHORT, false)],
                tell(&[DONE, ENDED]),
                vec![waits("wait_for_speak", LONG, true), waits("wait_for_gesture", LONG, true)],
            ]
            .concat(),
        ),
    ]
}

fn gestures() -> Vec<Case> {
    vec![
        case(
            "waiting for the end of a gesture",
            &["12.2-16", "12.2-17", "9-26", "9-29"],
            [
                vec![connect()],
                gesture(4).to_vec(),
                vec![is("gesturing", true), waits("wait_for_gesture", SHORT, false)],
                vec![waits("wait_for_gesture", LONG, true).during([send(&[ENDED])]), told_of(&ENDED)],
                vec![is("gesturing", false), awaits("await_gesture", 1, LONG, true)],
            ]
            .concat(),
        ),
        case(
            "a gesture is not taken for another one that has ended",
            &["9-29", "9-33", "12.2-16"],
            [
                vec![connect()],
                gesture(4).to_vec(),
                gesture(1).to_vec(),
                tell(&[ENDED]),
                // it may have been either
                vec![awaits("await_gesture", 1, SHORT, false), awaits("await_gesture", 2, SHORT, false)],
                vec![awaits("await_gesture", 1, LONG, true).during([send(&[ENDED])]), told_of(&ENDED)],
                vec![awaits("await_gesture", 2, LONG, true), is("gesturing", false)],
            ]
            .concat(),
        ),
        case(
            "gestures one after another",
            &["9-29", "12.2-16"],
            [
                vec![connect()],
                gesture(4).to_vec(),
                tell(&[ENDED]),
                vec![awaits("await_gesture", 1, LONG, true)],
                gesture(5).to_vec(),
                vec![awaits("await_gesture", 2, SHORT, false)],
                tell(&[ENDED]),
                vec![awaits("await_gesture", 2, LONG, true)],
            ]
            .concat(),
        ),
    ]
}

fn both() -> Vec<Case> {
    vec![
        case(
            "gestures in a text",
            &["3-10", "9-27", "12.2-16", "12.2-17", "12.2-38"],
            [
                vec![connect()],
                speak("[braisel][nos]Nope.").to_vec(),
                vec![is("gesturing", false)],
                tell(&[Event::SpeakGesture(0), Event::SpeakGesture(9)]),
                vec![is("gesturing", true)],
                tell(&[ENDED, DONE]),
                // the long one goes on
                vec![
                    waits("wait_for_speak", LONG, true),
                    is("gesturing", true),
                    waits("wait_for_gesture", SHORT, false),
                ],
                vec![waits("wait_for_gesture", LONG, true).during([send(&[ENDED])]), told_of(&ENDED)],
                vec![is("gesturing", false)],
            ]
            .concat(),
        ),
        case(
            "other messages while waiting",
            &["2-18", "12.2-10"],
            [
                vec![connect()],
                speak("Hello").to_vec(),
                vec![waits("wait_for_speak", LONG, true).during([
                    send(&[heard(&[(0.5, "hi")]), ENDED, Event::SpeakGesture(1)]),
                    send(&[DONE, heard(&[(0.25, "ho")])]),
                ])],
                [heard(&[(0.5, "hi")]), ENDED, Event::SpeakGesture(1), DONE, heard(&[(0.25, "ho")])]
                    .iter()
                    .map(told_of)
                    .collect(),
            ]
            .concat(),
        ),
        case(
            "a reset does not end what the robot has not ended",
            &["2-23", "3-16"],
            [
                vec![connect()],
                speak("A long story.").to_vec(),
                gesture(0).to_vec(),
                vec![call("reset", json!([])), receive(&Request::Reset), waits("wait_for_speak", SHORT, false)],
                tell(&[DONE, ENDED]),
                vec![waits("wait_for_speak", LONG, true), waits("wait_for_gesture", LONG, true)],
            ]
            .concat(),
        ),
    ]
}

fn operators() -> Vec<Case> {
    let of = |client: &'static str| move |step: Step| step.of(client);
    vec![
        case(
            "two operators: each is told the ends of its own texts",
            &["3-19", "12.2-10", "12.2-35"],
            [
                vec![connect(), connect().of("b")],
                speak("I am a.").to_vec(),
                speak("I am b.").into_iter().map(of("b")).collect(),
                vec![waits("wait_for_speak", SHORT, false).during([send(&[DONE]).of("b"), told("speak_done").of("b")])],
                vec![is("speaking", true), is("speaking", false).of("b"), waits("wait_for_speak", LONG, true).of("b")],
                vec![waits("wait_for_speak", LONG, true).during([send(&[DONE])]), told_of(&DONE)],
            ]
            .concat(),
        ),
        case(
            "two operators: each is told the ends of its own gestures",
            &["9-32", "12.2-16", "12.2-37"],
            [
                vec![connect(), connect().of("b")],
                gesture(4).to_vec(),
                gesture(1).into_iter().map(of("b")).collect(),
                vec![send(&[ENDED]).of("b"), told_of(&ENDED).of("b")],
                vec![is("gesturing", true), is("gesturing", false).of("b"), waits("wait_for_gesture", SHORT, false)],
                vec![send(&[ENDED]), told_of(&ENDED), is("gesturing", false)],
            ]
            .concat(),
        ),
        case(
            "two operators: settings are those of each client",
            &["1-17", "12.2-30"],
            [
                connect(),
                connect().of("b"),
                call("set_voice_volume", json!([0.25])),
                receive(&Request::VoiceVolume(0.25)),
                returns("voice_volume", json!([]), 1.0).of("b"),
                call("disconnect", json!([])),
                super::step::expect(json!({"event": "disconnected", "reason": null})),
                call("set_voice_volume", json!([0.5])).of("b"),
                receive(&Request::VoiceVolume(0.5)).of("b"),
            ],
        ),
        case(
            "two operators: both see and hear",
            &["4-10", "5-7", "1-17"],
            [
                vec![connect(), connect().of("b")],
                tell(&[heard(&[(0.5, "hello")])]),
                tell(&[heard(&[(0.5, "hello")])]).into_iter().map(of("b")).collect(),
            ]
            .concat(),
        ),
    ]
}
