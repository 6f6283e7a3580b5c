//! What is kept of an agent that a client controls.

use wire::osp::SequenceNumber;
use world::AgentId;

/// One agent that the client controls.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) agent: AgentId,
    pub(super) stage: Stage,
    /// Whether a reset was asked for it.
    pub(super) wants_reset: bool,
    /// The last request that was new, and its number.
    request: Vec<u8>,
    number: Option<SequenceNumber>,
}

/// How far the last request has come.
#[derive(Debug, PartialEq)]
pub(super) enum Stage {
    /// There is none.
    Idle,
    /// It waits for the step.
    Asked,
    /// The step is done.
    Done {
        /// The datagrams that tell of it.
        news: Vec<Vec<u8>>,
        /// Whether they were sent.
        told: bool,
        /// Whether the client has confirmed them.
        confirmed: bool,
    },
}

/// What a request for a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The next.
    New,
    /// The last one once more.
    Again,
    /// A copy of an earlier one.
    Late,
}

impl Control {
    pub(super) fn new(agent: AgentId) -> Self {
        Self { agent, stage: Stage::Idle, wants_reset: false, request: Vec::new(), number: None }
    }

    /// Takes in a request, and says what it is (D32, D35).
    pub(super) fn arrives(&mut self, datagram: &[u8], number: Option<SequenceNumber>) -> Arrival {
        let arrival = match (number, self.number) {
            (Some(number), Some(last)) if number == last => Arrival::Again,
            (Some(number), Some(last)) if !number.is_after(last) => Arrival::Late,
            // whoever asks for another before the step is done gets what was asked for first
            _ if self.stage == Stage::Asked => Arrival::Again,
            (Some(_), _) => Arrival::New,
            (None, _) => match self.stage {
                Stage::Done { confirmed: false, .. } if self.request == datagram => Arrival::Again,
                _ => Arrival::New,
            },
        };
        if arrival != Arrival::Late {
            self.number = number;
            datagram.clone_into(&mut self.request);
        }
        arrival
    }

    /// The number that all answers have.
    pub(super) fn number(&self) -> Option<SequenceNumber> {
        self.number
    }

    /// The news that were sent, once more.
    pub(super) fn news_again(&self) -> &[Vec<u8>] {
        match &self.stage {
            Stage::Done { news, told: true, .. } => news,
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DONE: Stage = Stage::Done { news: Vec::new(), told: true, confirmed: false };
    const CONFIRMED: Stage = Stage::Done { news: Vec::new(), told: true, confirmed: true };

    fn check(stage: Stage, arrivals: &[(&[u8], Option<u32>, Arrival)]) {
        let mut control = Control::new(AgentId(1));
        assert_eq!(
            control.arrives(b"a", arrivals.first().and_then(|first| first.1).map(|_| SequenceNumber(7))),
            Arrival::New
        );
        control.stage = stage;
        for (datagram, number, wanted) in arrivals {
            assert_eq!(control.arrives(datagram, number.map(SequenceNumber)), *wanted, "{datagram:?} {number:?}");
        }
    }

    #[test]
    fn repetitions_without_numbers() {
        use Arrival::{Again, New};
        check(Stage::Asked, &[(b"a", None, Again), (b"b", None, Again)]);
        check(DONE, &[(b"a", None, Again), (b"b", None, New)]);
        check(CONFIRMED, &[(b"a", None, New)]);
        check(Stage::Idle, &[(b"a", None, New)]);
    }

    #[test]
    fn repetitions_with_numbers() {
        use Arrival::{Again, Late, New};
        for stage in [Stage::Asked, DONE, CONFIRMED, Stage::Idle] {
            check(stage, &[(b"a", Some(7), Again), (b"a", Some(6), Late), (b"b", Some(u32::MAX), Late)]);
        }
        check(Stage::Asked, &[(b"a", Some(8), Again)]);
        check(DONE, &[(b"a", Some(8), New), (b"a", Some(7), Late)]);
        check(CONFIRMED, &[(b"a", Some(9), New)]);
    }
}
