//! The monitors' port: any bytes decode or err, in both directions; decoded messages round-trip.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::soccer::{MAX_COMMANDS, MAX_UPDATE_FRAME, MonitorMessage, MonitorRequest};
use wire::{Message, StreamMessage};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(Some(split)) = MonitorMessage::split(bytes) {
        assert!(split.message.len() <= MAX_UPDATE_FRAME && split.consumed <= bytes.len());
    }
    if let Ok(request) = MonitorRequest::decode(bytes) {
        assert!(request.commands.len() <= MAX_COMMANDS);
        let again = MonitorRequest::decode(&request.to_bytes()).expect("what was written is read");
        assert_eq!(again.first_error, None);
        assert_eq!(again, request);
    }
    if let Ok(update) = MonitorMessage::decode(bytes) {
        assert_eq!(MonitorMessage::decode(&update.to_bytes()), Ok(update));
    }
});
