//! Connections and their beginnings.

use serde_json::json;
use wire::oz::{Event, VERSION};

use super::{
    case,
    step::{
        accept, answer, bytewise, call, close, connect, fails, hex, receive, returns, send, speech, told, told_of,
        welcome,
    },
};
use crate::conforming::case::{Action, Case, Piece, Step};

/// Longer than anything takes.
const PATIENT: u64 = 30_000;

/// A time that has to pass in vain.
const IMPATIENT: u64 = 300;

fn connecting(timeout_ms: u64) -> Step {
    call("connect", json!([{"timeout_ms": timeout_ms}]))
}

fn failing(timeout_ms: u64, kind: &str, mentions: &[&str]) -> Step {
    fails("connect", json!([{"timeout_ms": timeout_ms}]), kind, mentions)
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = welcomed();
    cases.extend(refused());
    cases.extend(in_vain());
    cases
}

#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn welcomed() -> Vec<Case> {
    let named = |cause: &str, name: &str, long_name: &str| {
        let given = answer(VERSION, name.as_bytes(), long_name.as_bytes());
        case(
            format!("the robot's names: {cause}"),
            &["2-3", "2-4", "2-5", "2-6", "2-7", "12.1-2", "12.1-5", "12.2-6", "12.2-32", "1-14"],
            [
                connecting(PATIENT).during([accept(&given)]),
                told("connected"),
                returns("name", json!([]), name),
                returns("long_name", json!([]), long_name),
                returns("version", json!([]), VERSION),
                returns("is_connected", json!([]), true),
            ],
        )
    };
    let longest = json!({"repeat": "a", "times": 65_535});
    let longest_answer =
        vec![Piece::Bytes("01000000000162ffff".to_owned()), Piece::Repeated { repeat: "61".to_owned(), times: 65_535 }];
    let first = Event::SpeakGesture(3);
    let with_event = [welcome(), wire::Message::to_bytes(&first)].concat();
    vec![
        named("usual", "alice", "Alice, a robot"),
        named("empty", "", ""),
        named("not ASCII", "Zoë", "Zoë \u{1F916}"),
        case(
            "the robot's names: the long one as long as possible",
            &["2-7", "1-15"],
            [
                connecting(PATIENT).during([Action::Accept(longest_answer).into()]),
                told("connected"),
                returns("name", json!([]), "b"),
                returns("long_name", json!([]), longest),
            ],
        ),
        case(
            "the answer arrives byte by byte",
            &["1-3", "2-5"],
            [
                connecting(PATIENT).during([Action::Accept(bytewise(&welcome())).into()]),
                told("connected"),
                returns("long_name", json!([]), "Alice, a robot"),
            ],
        ),
        case(
            "an event right behind the answer",
            &["1-3", "2-18"],
            [connecting(PATIENT).during([accept(&with_event)]), told("connected"), told_of(&first)],
        ),
        case(
            "disconnecting",
            &["12.1-3", "12.2-8", "12.2-33"],
            [
                connect(),
                call("disconnect", json!([])),
                super::step::expect(json!({"event": "disconnected", "reason": null})),
                returns("is_connected", json!([]), false),
                fails("speak", json!(["Hello"]), "closed", &[]),
                fails("set_voice_volume", json!([0.5]), "closed", &[]),
                fails("wait_for_speak", json!([0]), "closed", &[]),
            ],
        ),
        case(
            "what was sent last arrives",
            &["12.2-8"],
            [
                connect(),
                send(&[Event::SpeakDone]),
                call("speak", json!(["Bye."])),
                call("disconnect", json!([])).during([receive(&speech("Bye."))]),
                Action::Ignore("speak_done".to_owned()).into(),
                told("speak_start"),
                super::step::expect(json!({"event": "disconnected", "reason": null})),
            ],
        ),
        case(
            "connecting again",
            &["12.2-6", "12.2-32"],
            [
                connect(),
                call("disconnect", json!([])),
                super::step::expect(json!({"event": "disconnected", "reason": null})),
                connect(),
                returns("is_connected", json!([]), true),
            ],
        ),
        case(
            "the version request is the only message before the answer",
            &["2-2", "2-3", "12.1-2", "12.2-6"],
            [
                connecting(PATIENT).during([accept(&[]), super::step::send_bytes(&welcome())]),
                told("connected"),
                call("reset", json!([])),
                receive(&wire::oz::Request::Reset),
            ],
        ),
    ]
}

fn refused() -> Vec<Case> {
    let refused = |name: &str, cites: &[&str], given: &[u8], ends: bool, kind: &str, mentions: &[&str]| {
        let mut meanwhile = vec![accept(given)];
        meanwhile.extend(ends.then(close));
        case(name, cites, [failing(PATIENT, kind, mentions).during(meanwhile)])
    };
    let wrong = ("wrong_version", &["0x02000000"][..]);
    vec![
        refused("a server of version 2.0", &["2-11"], &answer(0x0200_0000, b"a", b"b"), false, wrong.0, wrong.1),
        refused(
            "a server of another version, of which only the number is as in 1.0",
            &["2-11"],
            &[2, 0, 0, 0, 0xFF],
            false,
            wrong.0,
            wrong.1,
        ),
        refused("a server of another version that closes", &["2-11"], &[2, 0, 0, 0], true, wrong.0, wrong.1),
        refused("a newer version 1", &["2-11"], &answer(0x0100_0001, b"a", b"b"), false, wrong.0, &["0x01000001"]),
        refused("an answer that is no version", &["2-5"], &[0, 0, 0, 0x14], false, "bad_message", &[]),
        refused("a server of another protocol", &["2-5"], b"\0\x10HTTP/1.1 400", false, "bad_message", &[]),
        refused("no answer but an end", &["12.1-2"], &[], true, "closed", &[]),
        refused("an end within the version", &["12.1-2"], &[1, 0], true, "truncated", &[]),
        refused("an end within the name", &["12.1-2"], &welcome()[..9], true, "truncated", &[]),
        refused("an end within the long name", &["12.1-2"], &welcome()[..20], true, "truncated", &[]),
        refused(
            "an answer with a name that is not UTF-8",
            &["1-14"],
            &answer(VERSION, b"al\xFFice", b"b"),
            false,
            "bad_message",
            &[],
        ),
        refused(
            "an answer with a long name that is not UTF-8",
            &["1-14"],
            &answer(VERSION, b"a", b"\xC0\x80"),
            false,
            "bad_message",
            &[],
        ),
        case(
            "nobody listens",
            &["12.1-2"],
            [fails("connect", json!([{"timeout_ms": PATIENT, "nobody": true}]), "unreachable", &[])],
        ),
    ]
}

fn in_vain() -> Vec<Case> {
    let slowly = |name: &str, pieces: Vec<Piece>| {
        let trickle = Action::SendSlowly(IMPATIENT / 4, pieces).into();
        case(name, &["12.2-7"], [failing(IMPATIENT, "timeout", &[]).during([accept(&[]), trickle])])
    };
    let silent = |name: &str, given: &[u8]| {
        case(name, &["12.2-7"], [failing(IMPATIENT, "timeout", &[]).during([accept(given)])])
    };
    vec![
        silent("no answer", &[]),
        silent("an answer that stops", &welcome()[..9]),
        slowly("an answer that takes too long", bytewise(&welcome()[..6])),
        case(
            "an answer that takes a while",
            &["12.2-7"],
            [
                connecting(PATIENT).during([
                    accept(&[]),
                    Action::SendSlowly(
                        100,
                        vec![Piece::Bytes(hex(&welcome()[..5])), Piece::Bytes(hex(&welcome()[5..]))],
                    )
                    .into(),
                ]),
                told("connected"),
            ],
        ),
    ]
}
