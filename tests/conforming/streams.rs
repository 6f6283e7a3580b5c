//! Streams as the fuzzer makes them: every client must read the same in them as our decoder, whatever the bytes.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use wire::{
    DecodeError, Message, StreamMessage,
    oz::{Event, MAX_JPEG_READ},
};

use super::{
    case::{Action, Case, Ending, Piece, Step, first_client},
    generate::{folder, hex, json_from_event},
    harness::Harness,
    player,
};

/// How many streams are made from the vectors by changing some bytes.
const DAMAGED: usize = 300;

/// How many of the fuzzer's finds on this machine are played; they are spread over all of them.
const FINDS: usize = 200;

/// Streams: the messages of the vectors, damaged ones, and what the fuzzer has found: before, and on this machine.
pub(crate) fn streams() -> Vec<Vec<u8>> {
    let text = fs::read_to_string(folder().join("../vectors.json")).expect("the vectors");
    let vectors: Value = serde_json::from_str(&text).expect("JSON");
    let of = |key: &str| vectors[key].as_array().expect("a list").clone();
    let seeds: Vec<Vec<u8>> = [of("replies"), of("requests")]
        .concat()
        .iter()
        .map(|vector| crate::running::bytes_from_hex(vector["hex"].as_str().expect("bytes")))
        .collect();
    let damaged = damage(&seeds);
    [seeds, damaged, found(), finds()].concat()
}

/// The finds that come with the suite, which `scripts/generate-oz-streams` has written.
fn found() -> Vec<Vec<u8>> {
    let text = fs::read_to_string(folder().join("streams.json")).expect("the fuzzer's finds");
    let streams: Vec<String> = serde_json::from_str(&text).expect("JSON");
    assert!(!streams.is_empty(), "there are none");
    streams.iter().map(|stream| crate::running::bytes_from_hex(stream)).collect()
}

/// Joins messages, and then changes, removes, repeats or inserts bytes.
fn damage(seeds: &[Vec<u8>]) -> Vec<Vec<u8>> {
    // xorshift: the same streams in every run
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    let damaged = (0..DAMAGED).map(|_| {
        let mut stream: Vec<u8> = (0..=random(4)).flat_map(|_| seeds[random(seeds.len())].clone()).collect();
        for _ in 0..=random(3) {
            let at = random(stream.len());
            match random(4) {
                0 if at < stream.len() => stream[at] ^= 1 << random(8),
                1 if at < stream.len() => _ = stream.remove(at),
                2 => stream.truncate(at),
                _ => stream.insert(at, [0, 1, 0x7F, 0x80, 0xC3, 0xFF][random(6)]),
            }
        }
        stream
    });
    damaged.collect()
}

/// The corpus that `scripts/fuzz` keeps in the user's cache.
fn finds() -> Vec<Vec<u8>> {
    let cache = std::env::var_os("ROSSUM_CACHE").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/rossum"));
    let Some(corpus) = cache.or_else(home).map(|cache| cache.join("fuzz/oz_decode")) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(corpus) else { return Vec::new() };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let every = files.len().div_ceil(FINDS).max(1);
    files.iter().step_by(every).filter_map(|file| fs::read(file).ok()).collect()
}

/// What a client has to make of a stream, as a case.
fn case(stream: &[u8]) -> Case {
    let step = |action: Action| Step { client: first_client(), action };
    let mut steps = vec![step(Action::Connect(super::case::Connect::default()))];
    let (events, end) = read(stream);
    if !stream.is_empty() {
        steps.push(step(Action::Send(vec![Piece::Bytes(hex(stream))])));
    }
    if end != "bad_message" {
        steps.push(step(Action::Close(Ending::Orderly)));
    }
    steps.extend(events.into_iter().map(|event| step(Action::Expect(event))));
    steps.push(step(Action::Expect(json!({"event": "disconnected", "reason": {"kinds": [end]}}))));
    Case { name: hex(stream), cites: Vec::new(), steps }
}

/// The events in a stream that ends, and the kind of its end.
fn read(mut stream: &[u8]) -> (Vec<Value>, &'static str) {
    let mut events = Vec::new();
    loop {
        match Event::split(stream) {
            Ok(Some(split)) => {
                events.push(match Event::decode(&stream[split.message]) {
                    Ok(event) => json_from_event(&event),
                    Err(_) => json!({"event": "invalid_message", "error": {"kinds": ["bad_message"]}}),
                });
                stream = &stream[split.consumed..];
            }
            Ok(None) if stream.is_empty() => return (events, "closed"),
            Ok(None) => return (events, "truncated"),
            Err(DecodeError::UnknownId { .. } | DecodeError::OutOfRange { .. }) => return (events, "bad_message"),
            Err(error) => panic!("{error} does not end a stream"),
        }
    }
}

/// Plays all streams.
pub(crate) fn play(harness: &mut Harness) -> Result<(), String> {
    for stream in streams() {
        assert!(stream.len() < MAX_JPEG_READ, "a stream that is sent at once");
        player::play(&case(&stream), harness).map_err(|what| format!("stream {}: {what}", hex(&stream)))?;
    }
    Ok(())
}
