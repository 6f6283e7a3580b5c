use super::{Dialect, Request, id};

/// Begins what follows a numbered message.
const MARK: [u8; 4] = *b"NUM:";

/// Tells a request from its repetition, on a link that loses, doubles and reorders (D35).
///
/// It follows a message, where everything is ignored (D2) by whoever does not know it. A request to step or to reset may
/// have one; all that answers it then has the same.
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
    /// Bytes that it takes up.
    pub const BYTES: usize = 8;

    /// The number of a request, if it has one. These are its bytes.
    pub fn of(request: &Request, bytes: &[u8]) -> Option<Self> {
        if !matches!(request, Request::NextStep { .. } | Request::ResetSimulation { .. }) {
            return None;
        }
        // what looks like a number may be the inputs of a step
        let surplus = bytes.get(request.to_bytes_in(Dialect::Document).len()..)?;
        let surplus = surplus.strip_prefix(&[id::DATAGRAM_END]).unwrap_or(surplus);
        (surplus.len() == Self::BYTES).then(|| Self::at_end(surplus)).flatten()
    }

    /// The number at the end of an answer, if there is one. Only for who has sent a number: the end of another answer
    /// may look like one.
    pub fn at_end(bytes: &[u8]) -> Option<Self> {
        let (_, end) = bytes.split_last_chunk::<{ Self::BYTES }>()?;
        let number = end.strip_prefix(&MARK)?;
        Some(Self(u32::from_le_bytes(number.try_into().ok()?)))
    }

    /// Numbers a message that is complete.
    pub fn append_to(self, bytes: &mut Vec<u8>) {
        bytes.extend(MARK);
        bytes.extend(self.0.to_le_bytes());
    }

    /// The next one. After the last comes the first.
    pub fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Whether it comes after another, as numbers go round.
    pub fn is_after(self, other: Self) -> bool {
        (1..=u32::MAX / 2).contains(&self.0.wrapping_sub(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::osp::LocalAgent;

    #[test]
    fn numbers_go_round() {
        assert!(SequenceNumber(u32::MAX).next().is_after(SequenceNumber(u32::MAX)));
        assert!(!SequenceNumber(u32::MAX).is_after(SequenceNumber(0)));
        assert!(!SequenceNumber(3).is_after(SequenceNumber(3)));
    }

    #[test]
    fn only_what_follows_a_request_is_its_number() {
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
