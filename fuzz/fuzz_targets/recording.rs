//! Recordings: the file of somebody else, or one that a disk has damaged. Nothing panics, nothing allocates without bound,
//! and reading ends.
//!
//! The first byte picks what the rest is: a whole file; the content of a chunk; or messages, one a line, the first of which
//! is the setup.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::Cursor;
use world::record::RecordReader;

const MAGIC: &[u8] = b"\x89MCAP0\r\n";
const CHANNEL: u8 = 4;
const MESSAGE: u8 = 5;
const CHUNK: u8 = 6;

fn record(opcode: u8, body: &[u8]) -> Vec<u8> {
    [&[opcode][..], &(body.len() as u64).to_le_bytes(), body].concat()
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

/// A file with one chunk, which is neither compressed nor has a checksum.
fn with_chunk(content: &[u8]) -> Vec<u8> {
    let sizes = [0, 0, content.len() as u64].map(u64::to_le_bytes).concat();
    let body = [&sizes[..], &[0; 8], &(content.len() as u64).to_le_bytes(), content].concat();
    [MAGIC, &record(CHUNK, &body)].concat()
}

fn with_messages(lines: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    for (id, topic) in [(0_u16, "/rossum/setup"), (1, "/rossum/tick")] {
        let body = [&id.to_le_bytes()[..], &[0; 2], &text(topic), &text("json"), &[0; 4]].concat();
        content.extend(record(CHANNEL, &body));
    }
    for (number, line) in lines.split(|byte| *byte == b'\n').enumerate() {
        let channel = u16::from(number > 0).to_le_bytes();
        let sequence = (number.saturating_sub(1) as u32).to_le_bytes();
        content.extend(record(MESSAGE, &[&channel[..], &sequence, &[0; 16], line].concat()));
    }
    with_chunk(&content)
}

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let file = match kind % 3 {
        0 => rest.to_vec(),
        1 => with_chunk(rest),
        _ => with_messages(rest),
    };
    if let Ok(mut records) = RecordReader::new(Cursor::new(file)) {
        let ticks = records.by_ref().take_while(Result::is_ok).count();
        assert!(ticks <= rest.len(), "a record takes at least a byte");
        assert!(records.damage().len() <= 101);
    }
});
