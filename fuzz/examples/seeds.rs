//! Writes a corpus to start from: one file for each vector and each datagram of the transcripts.
//!
//! `cargo run --example seeds` makes `corpus/odcp_decode`, which is not kept in the repository.

use serde_json::Value;
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let odcp = here.join("../protocols/odcp");
    let mut seeds = Vec::new();
    collect_hex(&read_json(&odcp.join("vectors.json"))?, &mut seeds);
    for transcript in fs::read_dir(odcp.join("transcripts"))? {
        collect_hex(&read_json(&transcript?.path())?, &mut seeds);
    }
    seeds.sort();
    seeds.dedup();

    let corpus = here.join("corpus/odcp_decode");
    fs::create_dir_all(&corpus)?;
    for (number, hex) in seeds.iter().enumerate() {
        fs::write(corpus.join(format!("seed-{number:03}")), bytes_from_hex(hex)?)?;
    }
    println!("{} seeds in {}", seeds.len(), corpus.display());
    Ok(())
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
