//! OSP 1.1: agents, variables, events and the steps of a simulation over UDP.
//!
//! One datagram is one message: an id byte, then little-endian 32-bit integers and floats, single bytes, and
//! NUL-terminated texts. Trailing bytes are ignored. The only known server deviates from the document, hence two
//! dialects: [`Dialect`]. `protocols/osp/decisions.md` records our choices; D-numbers refer to it.
//!
//! Requests decode the same way in both dialects: the server learns a client's dialect from its first request.
//! Everything else takes the dialect as an argument.
//!
//! ```
//! use wire::osp::{Dialect, LocalAgent, Reply, Request, Version};
//!
//! let init = Request::decode(&[5, 1, 1]).unwrap();
//! assert_eq!(init, Request::Init { dialect: Dialect::Original, version: Version::SUPPORTED });
//!
//! let reply = Reply::NextStepAck { agent: LocalAgent(2) };
//! assert_eq!(reply.to_bytes_in(Dialect::Document), [81, 2, 0, 0, 0]);
//! assert_eq!(reply.to_bytes_in(Dialect::Original), [81, 2, 0, 0, 0, 120]);
//! ```

mod field;
mod reply;
mod request;
mod sequence;

pub use field::Text;
pub use reply::Reply;
pub use request::Request;
pub use sequence::SequenceNumber;

/// Maximum payload of a UDP datagram, in bytes (D4).
///
/// Encoders do not check this limit; the sender has to.
pub const MAX_DATAGRAM: usize = 65_507;

/// Maximum number of inputs of a [`Request::NextStep`] in either dialect: id, agent, count and the final byte take up
/// the rest.
pub const MAX_INPUTS: usize = (MAX_DATAGRAM - 1 - 2 * NUMBER_BYTES - 1) / NUMBER_BYTES;

/// Maximum number of values in a request to register for values or to deregister from them, and in its answer, in
/// either dialect.
pub const MAX_VALUES: usize = (MAX_DATAGRAM - 1 - NUMBER_BYTES - 1) / NUMBER_BYTES;

/// Maximum total number of outputs, infos and events in a [`Reply::StepCompleted`], in either dialect.
pub const MAX_STEP_NUMBERS: usize = (MAX_DATAGRAM - 1 - 5 * NUMBER_BYTES - 1) / NUMBER_BYTES;

/// Maximum total length of the texts of any message, in bytes, in either dialect.
pub const MAX_TEXT: usize = MAX_DATAGRAM - 1 - 4 * NUMBER_BYTES - 2 - 1;

/// Size of an integer or a float.
const NUMBER_BYTES: usize = 4;

mod id {
    pub(super) const INIT: u8 = 5;
    pub(super) const INIT_ACK: u8 = 6;
    pub(super) const END: u8 = 7;
    pub(super) const END_ACK: u8 = 8;
    pub(super) const RESET_COMMUNICATION: u8 = 10;
    pub(super) const RESET_COMMUNICATION_ACK: u8 = 11;

    pub(super) const REGISTER_FOR_EVENT: u8 = 20;
    pub(super) const REGISTER_FOR_EVENT_ACK: u8 = 21;
    pub(super) const DEREGISTER_FROM_EVENT: u8 = 30;
    pub(super) const DEREGISTER_FROM_EVENT_ACK: u8 = 31;

    pub(super) const GET_VALUE_IDS: u8 = 40;
    pub(super) const VALUE_IDS: u8 = 41;
    pub(super) const VALUE_INFO_ACK: u8 = 42;
    pub(super) const VALUE_INFO: u8 = 43;
    pub(super) const GET_VALUE: u8 = 50;
    pub(super) const VALUE: u8 = 51;
    pub(super) const SET_VALUE: u8 = 52;
    pub(super) const SET_VALUE_ACK: u8 = 53;
    pub(super) const REGISTER_FOR_VALUES: u8 = 54;
    pub(super) const REGISTER_FOR_VALUES_ACK: u8 = 55;
    pub(super) const DEREGISTER_FROM_VALUES: u8 = 56;
    pub(super) const DEREGISTER_FROM_VALUES_ACK: u8 = 57;

    pub(super) const RESET_SIMULATION: u8 = 70;
    pub(super) const RESET_SIMULATION_ACK: u8 = 71;
    pub(super) const RESET_COMPLETED: u8 = 75;
    pub(super) const RESET_COMPLETED_ACK: u8 = 76;
    pub(super) const NEXT_STEP: u8 = 80;
    pub(super) const NEXT_STEP_ACK: u8 = 81;
    pub(super) const STEP_COMPLETED: u8 = 85;
    pub(super) const STEP_COMPLETED_ACK: u8 = 86;

    pub(super) const GET_AGENT_OVERVIEW: u8 = 90;
    pub(super) const AGENT_OVERVIEW: u8 = 91;
    pub(super) const AGENT_OVERVIEW_NEXT: u8 = 92;
    pub(super) const AGENT_OVERVIEW_ACK: u8 = 93;
    pub(super) const GET_AGENT_INFO: u8 = 95;
    pub(super) const AGENT_INFO: u8 = 96;
    pub(super) const AGENT_INFO_ACK: u8 = 97;
    pub(super) const AGENT_INFO_NEXT: u8 = 98;
    pub(super) const REGISTER_FOR_AGENT: u8 = 100;
    pub(super) const REGISTER_FOR_AGENT_ACK: u8 = 101;
    pub(super) const DEREGISTER_FROM_AGENT: u8 = 105;
    pub(super) const DEREGISTER_FROM_AGENT_ACK: u8 = 106;

    pub(super) const DATAGRAM_END: u8 = 120;
}

/// The encoding of datagrams where the document and the only known server differ (D1). A client's init selects one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// As documented.
    Document,
    /// As the original server does it. Every datagram except the init ends with the byte 120.
    Original,
}

impl Dialect {
    /// Both dialects.
    pub const ALL: [Self; 2] = [Self::Document, Self::Original];
}

/// The protocol version that a client requests or a server supports.
///
/// [`Dialect::Original`] carries each number in one byte, clamped to 0 to 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Version {
    /// "The main protocol number".
    pub major: i32,
    /// "A minor revision number".
    pub minor: i32,
}

impl Version {
    /// "The currently supported protocol number for the OSP protocol is 1.1".
    pub const SUPPORTED: Self = Self { major: 1, minor: 1 };
}

/// An agent id, valid for one connection only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalAgent(pub i32);

/// An event id, valid for one connection only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalEvent(pub i32);

impl LocalEvent {
    /// "If an Event could not be found, then the localEventId is 0."
    pub const NOT_FOUND: Self = Self(0);
}

/// The id of a value of the variable repository, valid for one connection only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalValue(pub i32);

impl LocalValue {
    /// Replaces an unknown value in the answer to a registration or deregistration: "All other IDs are set to 0 to
    /// indicate that the Values could not be found".
    pub const NOT_FOUND: Self = Self(0);
    /// In a [`Reply::Value`]: the value does not exist or is not readable (D24).
    pub const UNREADABLE: Self = Self(-1);
}

/// The outcome of a request. The replies document what each status means for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// The request is valid but cannot be carried out; 0 on the wire.
    Failed,
    /// Done; 1 on the wire.
    Done,
    /// The object concerned does not exist; 2 on the wire.
    NotFound,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::iter;

    fn longest_text() -> Text {
        Text::from("x".repeat(MAX_TEXT))
    }

    #[test]
    fn the_largest_messages_fit_a_datagram() {
        let requests = [
            Request::NextStep { agent: LocalAgent(1), inputs: vec![0.0; MAX_INPUTS] },
            Request::RegisterForValues { values: vec![LocalValue(1); MAX_VALUES] },
            Request::DeregisterFromValues { values: vec![LocalValue(1); MAX_VALUES] },
            Request::SetValue { value: LocalValue(1), content: longest_text() },
        ];
        let replies = [
            Reply::RegisterForValuesAck { values: vec![LocalValue(1); MAX_VALUES] },
            Reply::DeregisterFromValuesAck { values: vec![LocalValue(1); MAX_VALUES] },
            Reply::StepCompleted {
                agent: LocalAgent(1),
                outputs: vec![0.0; MAX_STEP_NUMBERS - 2],
                infos: vec![0.0],
                events: vec![LocalEvent(1)],
                observed: 1,
            },
            Reply::Value { value: LocalValue(1), content: longest_text() },
            Reply::ValueInfo { index: 0, value: LocalValue(1), kind: Text::default(), name: longest_text() },
            Reply::AgentInfo { agent: LocalAgent(1), inputs: 1, outputs: 1, infos: 1, name: longest_text() },
            Reply::AgentInfoNext { index: 0, min: -1.0, max: 1.0, name: longest_text() },
            Reply::AgentOverviewNext {
                index: 0,
                agent: LocalAgent(1),
                group_type: Text::default(),
                available: true,
                name: longest_text(),
            },
        ];
        for dialect in Dialect::ALL {
            let requests = requests.iter().map(|request| request.to_bytes_in(dialect));
            for bytes in requests.chain(replies.iter().map(|reply| reply.to_bytes_in(dialect))) {
                assert!(bytes.len() <= MAX_DATAGRAM, "{} bytes of {:?}", bytes.len(), bytes.first());
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_decode_or_err(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            check_round_trip(&bytes);
        }

        #[test]
        fn any_body_decodes_or_errs(id in 0..=120u8, body in proptest::collection::vec(any::<u8>(), 0..300)) {
            check_round_trip(&iter::once(id).chain(body).collect::<Vec<_>>());
        }

        /// Small numbers make plausible counts, so that lists are decoded as well.
        #[test]
        fn any_small_numbers_decode_or_err(
            id in proptest::sample::select(vec![51u8, 54, 55, 56, 57, 80, 85, 92, 96, 98]),
            ints in proptest::collection::vec(-1..6i32, 0..16),
            tail in proptest::collection::vec(any::<u8>(), 0..5),
        ) {
            let ints = ints.iter().flat_map(|int| int.to_le_bytes());
            check_round_trip(&iter::once(id).chain(ints).chain(tail).collect::<Vec<_>>());
        }
    }

    /// Decoding, encoding and decoding again yields the same message. Compares bytes because NaN is not equal to
    /// itself.
    fn check_round_trip(bytes: &[u8]) {
        for dialect in Dialect::ALL {
            if let Ok(request) = Request::decode(bytes) {
                let written = request.to_bytes_in(dialect);
                assert_eq!(Request::decode(&written).map(|request| request.to_bytes_in(dialect)), Ok(written));
            }
            if let Ok(reply) = Reply::decode_in(dialect, bytes) {
                let written = reply.to_bytes_in(dialect);
                assert_eq!(Reply::decode_in(dialect, &written).map(|reply| reply.to_bytes_in(dialect)), Ok(written));
            }
        }
    }
}
