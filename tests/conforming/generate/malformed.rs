//! Bytes that are no messages, and what a client has to do about them.

use serde_json::{Value, json};
use wire::{Message, oz::Event};

use super::{
    case,
    events::samples,
    step::{close, connect, error, expect, fails, returns, send, send_bytes, send_pieces, told_of, told_the_end},
};
use crate::conforming::case::{Case, Piece, Step};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = cut_short();
    cases.extend(unknown());
    cases.extend(impossible());
    cases.extend(not_utf8());
    cases
}

/// Each message, cut at each point.
fn cut_short() -> Vec<Case> {
    let cut = |(name, _, event): (&str, &[&str], Event)| {
        let bytes = event.to_bytes();
        let steps = (1..bytes.len()).flat_map(|length| {
            let (sent, end) = (send_bytes(&bytes[..length]), told_the_end("truncated", &[]));
            [connect(), sent, close(), end]
        });
        case(format!("the connection ends within {name}"), &["12.2-33", "1-3"], steps)
    };
    samples().into_iter().map(cut).collect()
}

fn ending(name: &str, cites: &[&str], pieces: Vec<Piece>, mentions: &[&str]) -> Case {
    let steps = [
        connect(),
        // what comes before is not lost
        send(&[Event::SpeakDone]),
        send_pieces(pieces),
        told_of(&Event::SpeakDone),
        told_the_end("bad_message", mentions),
        returns("is_connected", json!([]), false),
        fails("speak", json!(["Hello"]), "closed", &[]),
    ];
    case(name, cites, steps)
}

fn unknown() -> Vec<Case> {
    let of = |name: String, id: u32, cites: &[&str]| {
        let pieces = vec![Piece::Bytes(format!("{id:08x}"))];
        ending(&name, cites, pieces, &[&format!("0x{id:02x}")])
    };
    let other_direction = (0..0x14).map(|id| of(format!("a message for robots, {id:#04x}"), id, &["13-28", "13-29"]));
    let others = [0x1A, 0xFF, 0x0014_0000, 0x0100_0000, 0xFFFF_FFFF];
    let others = others.map(|id| of(format!("a message with the unknown id {id:#x}"), id, &["13-29"]));
    let after = [Event::SpeakDone.to_bytes(), vec![0, 0, 0, 0x1A], Event::GestureDone.to_bytes()].concat();
    let steps = [connect(), send_bytes(&after), told_of(&Event::SpeakDone), told_the_end("bad_message", &["0x1a"])];
    let nothing_after = case("nothing is read after an unknown id", &["13-29"], steps);
    other_direction.chain(others).chain([nothing_after]).collect()
}

fn impossible() -> Vec<Case> {
    let of = |name: &str, id: &str, count: u32| {
        let pieces = vec![Piece::Bytes(format!("{id}{count:08x}"))];
        ending(&format!("{name}: {count}"), &["13-30"], pieces, &[&count.to_string()])
    };
    let each =
        [("options", "00000017", 257), ("faces", "00000018", 257), ("bytes of an image", "00000019", 16_777_217)];
    // signed, it would be negative
    each.into_iter()
        .flat_map(|(name, id, least)| [least, 0x8000_0000, u32::MAX].map(|count| of(name, id, count)))
        .collect()
}

/// A text that is not UTF-8 costs its message only.
fn not_utf8() -> Vec<Case> {
    let rejected = || -> Step { expect(json!({"event": "invalid_message", "error": error("bad_message", &[])})) };
    let texts = [
        ("a byte that is never used", "ff"),
        ("a byte that continues nothing", "80"),
        ("a character that is cut short", "e4bd"),
        ("a NUL in two bytes", "c080"),
        ("a slash in three bytes", "e080af"),
        ("half of a surrogate pair", "eda080"),
        ("a character beyond the last", "f4908080"),
        ("a character of five bytes", "f888808080"),
        ("Latin-1", "636166e9"),
    ];
    let option = |text: &str| format!("3f000000{:04x}{text}", text.len() / 2);
    let heard = |options: &[&str]| -> String { options.iter().map(|text| option(text)).collect() };
    let mut cases: Vec<_> = texts
        .into_iter()
        .map(|(name, text)| {
            let message = Piece::Bytes(format!("0000001700000001{}", heard(&[text])));
            let steps =
                [connect(), send_pieces([message]), rejected(), send(&[Event::SpeakDone]), told_of(&Event::SpeakDone)];
            case(format!("a text that is not UTF-8: {name}"), &["1-14", "1-16"], steps)
        })
        .collect();
    // wherever it is in the message, which has to be read to its end
    let places = [["ff", "61", "62"], ["61", "ff", "62"], ["61", "62", "ff"]];
    let mut steps = vec![connect()];
    for place in places {
        let mut bytes = format!("0000001700000003{}", heard(&place));
        bytes.push_str("00000015");
        steps.extend([send_pieces([Piece::Bytes(bytes)]), rejected(), told_of(&Event::GestureDone)]);
    }
    cases.push(case("a text that is not UTF-8: anywhere in the message", &["1-16"], steps));
    let numbers = "3f000000".repeat(5);
    let name = Piece::Bytes(format!("0000001800000002{numbers}0001ff{numbers}000161"));
    let steps = [connect(), send_pieces([name]), rejected(), send(&[Event::SpeakDone]), told_of(&Event::SpeakDone)];
    cases.push(case("a name that is not UTF-8", &["1-16", "6-9"], steps));
    // its end arrives later
    let late = vec![Piece::Bytes("00000017000000013f0000000003ff".to_owned()), Piece::Bytes("6162".to_owned())];
    let steps = [connect(), send_pieces(late), rejected(), returns("is_connected", json!([]), Value::Bool(true))];
    cases.push(case("a text that is not UTF-8, in two parts", &["1-16"], steps));
    cases
}
