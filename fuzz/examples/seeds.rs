//! Writes corpora to start from: for the decoder a file for each vector and each datagram of the transcripts, for the
//! session a file for each transcript.
//!
//! `cargo run --example seeds` makes `corpus/`, which is not kept in the repository.

use serde_json::Value;
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let odcp = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocols/odcp");
    let (mut datagrams, mut conversations) = (Vec::new(), Vec::new());
    collect_hex(&read_json(&odcp.join("vectors.json"))?, &mut datagrams);
    for transcript in fs::read_dir(odcp.join("transcripts"))? {
        let transcript = read_json(&transcript?.path())?;
        collect_hex(&transcript, &mut datagrams);
        conversations.push(conversation(&transcript)?);
    }
    let datagrams = datagrams.iter().map(|hex| bytes_from_hex(hex)).collect::<Result<_, _>>()?;
    write_corpus("odcp_decode", datagrams)?;
    write_corpus("odcp_session", conversations)?;

    let osp = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocols/osp");
    let mut datagrams = Vec::new();
    collect_hex(&read_json(&osp.join("vectors.json"))?, &mut datagrams);
    let datagrams = datagrams.iter().map(|hex| bytes_from_hex(hex)).collect::<Result<Vec<_>, _>>()?;
    let mut talk = Vec::new();
    for datagram in datagrams.iter().filter(|datagram| datagram.len() < 256) {
        talk.extend([OSP_DATAGRAM, datagram.len() as u8]);
        talk.extend(datagram);
    }
    write_corpus("osp_decode", datagrams)?;
    write_corpus("osp_session", vec![talk])?;

    let oz = read_json(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocols/oz/vectors.json"))?;
    let (mut messages, mut requests) = (Vec::new(), Vec::new());
    collect_hex(&oz, &mut messages);
    collect_hex(&oz["requests"], &mut requests);
    let of = |hexes: &[String]| hexes.iter().map(|hex| bytes_from_hex(hex)).collect::<Result<Vec<_>, _>>();
    let mut play = oz_piece(0, OZ_VERSION)?;
    for request in of(&requests)? {
        for piece in request.chunks(usize::from(u8::MAX)) {
            play.extend(oz_piece(0, piece)?);
        }
        play.extend(oz_piece(OZ_WORLD, &[])?);
    }
    write_corpus("oz_decode", of(&messages)?)?;
    write_corpus("oz_session", vec![play])
}

/// What is first said in `oz_session`.
const OZ_VERSION: &[u8] = &[0, 0, 0, 1, 1, 0, 0, 0];

/// What says in `oz_session` that time passes.
const OZ_WORLD: u8 = 2;

/// A piece of a stream, as `oz_session` reads it: peer, length, bytes.
fn oz_piece(peer: u8, bytes: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    Ok([&[peer, u8::try_from(bytes.len())?], bytes].concat())
}

/// What says in `osp_session` that a datagram follows.
const OSP_DATAGRAM: u8 = 7;

fn write_corpus(target: &str, mut seeds: Vec<Vec<u8>>) -> Result<(), Box<dyn Error>> {
    seeds.sort();
    seeds.dedup();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    fs::create_dir_all(&corpus)?;
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(corpus.join(format!("seed-{number:03}")), seed)?;
    }
    println!("{} seeds in {}", seeds.len(), corpus.display());
    Ok(())
}

/// What is sent in a transcript, as `odcp_session` reads it: peer, length, bytes.
fn conversation(transcript: &Value) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = Vec::new();
    for step in transcript["steps"].as_array().ok_or("a transcript without steps")? {
        if let Some(hex) = step["send"].as_str() {
            let datagram = bytes_from_hex(hex)?;
            bytes.push(u8::from(step["from"] == "b"));
            bytes.push(u8::try_from(datagram.len())?);
            bytes.extend(datagram);
        }
    }
    Ok(bytes)
}

fn read_json(path: &Path) -> Result<Value, Box<dyn Error>> {
    Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
}

/// Every datagram in the file, wherever it stands.
fn collect_hex(value: &Value, seeds: &mut Vec<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect_hex(value, seeds)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("hex" | "canonical" | "send" | "expect", Value::String(hex)) => seeds.push(hex.clone()),
                    _ => collect_hex(value, seeds),
                }
            }
        }
        _ => {}
    }
}

fn bytes_from_hex(hex: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let digits = |at| Ok(u8::from_str_radix(hex.get(at..at + 2).ok_or("odd number of hex digits")?, 16)?);
    (0..hex.len()).step_by(2).map(digits).collect()
}
