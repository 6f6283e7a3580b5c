use super::{Dialect, Request, id};

/// Marks the trailer of a numbered message.
const MARK: [u8; 4] = *b"NUM:";

/// Distinguishes a new request from a retransmission on a network that loses, duplicates and reorders datagrams (D35).
///
/// It is appended to the message, where peers that do not know it ignore it (D2). Requests to step or to reset may
/// carry one; all replies to such a request carry the same number.
///
/// ```
/// use wire::osp::{Dialect, LocalAgent, SequenceNumber, Request};
///
/// let request = Request::NextStep { agent: LocalAgent(1), inputs: vec![] };
/// let mut datagram = request.to_bytes_in(Dialect::Original);
/// assert_eq!(SequenceNumber::of(&request, &datagram), None);
/// SequenceNumber(7).append_to(&mut datagram);
/// assert_eq!(SequenceNumber::of(&request, &datagram), Some(SequenceNumber(7)));
/// assert_eq!(SequenceNumber::at_end(&datagram), Some(SequenceNumber(7)));
/// assert_eq!(Request::decode(&datagram), Ok(request));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SequenceNumber(pub u32);

impl SequenceNumber {
    /// Encoded size, in bytes.
    pub const BYTES: usize = 8;

    /// The sequence number of `request`, decoded from `bytes`, if it has one.
    pub fn of(request: &Request, bytes: &[u8]) -> Option<Self> {
        if !matches!(request, Request::NextStep { .. } | Request::ResetSimulation { .. }) {
            return None;
        }
        // the inputs of a step may look like a trailer
        let surplus = bytes.get(request.to_bytes_in(Dialect::Document).len()..)?;
        let surplus = surplus.strip_prefix(&[id::DATAGRAM_END]).unwrap_or(surplus);
        (surplus.len() == Self::BYTES).then(|| Self::at_end(surplus)).flatten()
    }

    /// The sequence number at the end of a reply, if any. Valid only for replies to numbered requests: the end of any
    /// other reply may look like one.
    pub fn at_end(bytes: &[u8]) -> Option<Self> {
        let (_, end) = bytes.split_last_chunk::<{ Self::BYTES }>()?;
        let number = end.strip_prefix(&MARK)?;
        Some(Self(u32::from_le_bytes(number.try_into().ok()?)))
    }

    /// Appends the number to a complete message.
    pub fn append_to(self, bytes: &mut Vec<u8>) {
        bytes.extend(MARK);
        bytes.extend(self.0.to_le_bytes());
    }

    /// The next number; wraps around.
    pub fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Whether it is later than `other`, modulo wrap-around.
    pub fn is_after(self, other: Self) -> bool {
        (1..=u32::MAX / 2).contains(&self.0.wrapping_sub(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::osp::LocalAgent;

    #[test]
    fn numbers_wrap_around() {
        assert!(SequenceNumber(u32::MAX).next().is_after(SequenceNumber(u32::MAX)));
        assert!(!SequenceNumber(u32::MAX).is_after(SequenceNumber(0)));
        assert!(!SequenceNumber(3).is_after(SequenceNumber(3)));
    }

    #[test]
    fn only_the_trailer_of_a_request_is_its_number() {
        let mark = f32::from_le_bytes(MARK);
        let step = Request::NextStep { agent: LocalAgent(1), inputs: vec![mark, 1.0] };
        let reset = Request::ResetSimulation { seed: 3 };
        for dialect in Dialect::ALL {
            for request in [&step, &reset] {
                let mut bytes = request.to_bytes_in(dialect);
                assert_eq!(SequenceNumber::of(request, &bytes), None);
                SequenceNumber(9).append_to(&mut bytes);
                assert_eq!(SequenceNumber::of(request, &bytes), Some(SequenceNumber(9)));
                assert_eq!(Request::decode(&bytes).as_ref(), Ok(request));
                bytes.push(0);
                assert_eq!(SequenceNumber::of(request, &bytes), None, "surplus of another kind");
            }
            let mut other = Request::GetAgentOverview.to_bytes_in(dialect);
            SequenceNumber(9).append_to(&mut other);
            assert_eq!(SequenceNumber::of(&Request::GetAgentOverview, &other), None);
        }
    }
}
