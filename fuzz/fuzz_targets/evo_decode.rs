//! Any bytes decode or err, line by line and in all four directions; decoded messages round-trip; and fragmentation of
//! the stream does not matter.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::fmt::Debug;
use wire::evo::{FromRobot, FromWorld, Line, LineBuffer, NetParameters, ToRobot, ToWorld};

fn comes_back<M: Line + PartialEq + Debug>(line: &[u8]) -> Option<M> {
    let message = M::decode(line).ok()?;
    let written = message.to_line().expect("what was read is finite");
    let written = written.strip_suffix(b"\r\n").expect("a line has an end");
    assert_eq!(M::decode(written).as_ref(), Ok(&message));
    Some(message)
}

fuzz_target!(|bytes: &[u8]| {
    let (mut whole, mut cut, mut lines) = (LineBuffer::default(), LineBuffer::default(), Vec::new());
    whole.push(bytes);
    while let Some(line) = whole.next_line().expect("it is short") {
        lines.push(line.to_vec());
    }
    let mut pieces = lines.iter();
    for piece in bytes.chunks(7) {
        cut.push(piece);
        while let Some(line) = cut.next_line().expect("it is short") {
            assert_eq!(Some(line), pieces.next().map(Vec::as_slice));
        }
    }
    assert_eq!(pieces.next(), None);
    let mut net = NetParameters::default();
    for line in lines.iter().map(Vec::as_slice).chain([bytes]) {
        comes_back::<ToWorld>(line);
        comes_back::<FromWorld>(line);
        if let Some(FromRobot::NetParameters(parameters)) = comes_back::<FromRobot>(line) {
            net = parameters;
        }
        if let Some(ToRobot::Individual(individual)) = comes_back::<ToRobot>(line)
            && let Ok(parts) = individual.value_groups(&net)
        {
            let found = [parts.globals, parts.inputs, parts.outputs, parts.hidden, parts.weights];
            assert_eq!(found.concat(), individual.values);
        }
    }
});
