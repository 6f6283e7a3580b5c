//! Any bytes decode or err, in both directions; decoded messages round-trip.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::Message;
use wire::odcp::{MAX_MOTORS, Reply, Request};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(request) = Request::decode(bytes) {
        if let Request::SetMotors(values) = &request {
            assert!(values.as_slice().len() <= 2 * MAX_MOTORS);
            assert!(values.changes(bytes.len()).count() <= values.as_slice().len());
        }
        assert_eq!(Request::decode(&request.to_bytes()), Ok(request));
    }
    if let Ok(reply) = Reply::decode(bytes) {
        assert_eq!(Reply::decode(&reply.to_bytes()), Ok(reply));
    }
});
