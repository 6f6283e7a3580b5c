//! The agents' port: any bytes decode or err, in both directions and dialects; decoded messages round-trip.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::soccer::{AgentMessage, Dialect, MAX_EFFECTORS, MAX_FRAME, Perception};
use wire::{Message, StreamMessage};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(Some(split)) = AgentMessage::split(bytes) {
        assert!(split.message.len() <= MAX_FRAME && split.consumed <= bytes.len());
    }
    if let Ok(message) = AgentMessage::decode(bytes) {
        assert!(message.effectors.len() <= MAX_EFFECTORS);
        let again = AgentMessage::decode(&message.to_bytes()).expect("what was written is read");
        assert_eq!(again.first_error, None);
        assert_eq!(again, message);
    }
    for dialect in [Dialect::Reference, Dialect::Document] {
        if let Ok(perception) = Perception::decode_in(dialect, bytes) {
            assert_eq!(Perception::decode_in(dialect, &perception.to_bytes()), Ok(perception));
        }
    }
});
