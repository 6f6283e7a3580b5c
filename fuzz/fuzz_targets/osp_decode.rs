//! Any bytes decode or err, in both directions and both dialects; decoded messages round-trip.
//!
//! Compares bytes because NaN is not equal to itself.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::osp::{Dialect, Reply, Request};

fuzz_target!(|bytes: &[u8]| {
    for dialect in Dialect::ALL {
        if let Ok(request) = Request::decode(bytes) {
            if let Request::NextStep { inputs, .. } = &request {
                assert!(4 * inputs.len() < bytes.len());
            }
            let written = request.to_bytes_in(dialect);
            assert_eq!(Request::decode(&written).map(|request| request.to_bytes_in(dialect)), Ok(written));
        }
        if let Ok(reply) = Reply::decode_in(dialect, bytes) {
            let written = reply.to_bytes_in(dialect);
            assert_eq!(Reply::decode_in(dialect, &written).map(|reply| reply.to_bytes_in(dialect)), Ok(written));
        }
    }
});
