//! An agent that a client controls, and how far its current step has come.

use wire::osp::SequenceNumber;
use world::AgentId;

/// An agent that the client controls.
#[derive(Debug)]
pub(super) struct ControlledAgent {
    pub(super) agent: AgentId,
    pub(super) step: StepState,
    /// Whether the client has voted for a reset through this agent.
    pub(super) has_voted_reset: bool,
    /// The last new step request and its number.
    request: Vec<u8>,
    number: Option<SequenceNumber>,
}

/// How far the last step request has come.
///
/// ```text
/// Idle --NextStep--> Requested --tick--> Completed --NextStep--> Requested
///   ^                    |                   |
///   `------ reset -------+-------------------'
/// ```
#[derive(Debug, PartialEq)]
pub(super) enum StepState {
    /// No step has been requested.
    Idle,
    /// The vote is cast; the world has not stepped yet.
    Requested,
    /// The world has stepped.
    Completed {
        /// The datagrams that report it.
        report: Vec<Vec<u8>>,
        /// Whether the report has been sent.
        is_sent: bool,
        /// Whether the client has confirmed the report.
        is_confirmed: bool,
    },
}

/// How a step request relates to the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// A new request.
    New,
    /// The last request again.
    Repeated,
    /// A delayed copy of an earlier request.
    Stale,
}

impl ControlledAgent {
    pub(super) fn new(agent: AgentId) -> Self {
        Self { agent, step: StepState::Idle, has_voted_reset: false, request: Vec::new(), number: None }
    }

    /// Classifies a step request and remembers it unless it is stale (D32, D35).
    pub(super) fn classify(&mut self, datagram: &[u8], number: Option<SequenceNumber>) -> Arrival {
        let arrival = match (number, self.number) {
            (Some(number), Some(last)) if number == last => Arrival::Repeated,
            (Some(number), Some(last)) if !number.is_after(last) => Arrival::Stale,
            // a request before the step is complete does not replace the first one
            _ if self.step == StepState::Requested => Arrival::Repeated,
            (Some(_), _) => Arrival::New,
            (None, _) => match self.step {
                StepState::Completed { is_confirmed: false, .. } if self.request == datagram => Arrival::Repeated,
                _ => Arrival::New,
            },
        };
        if arrival != Arrival::Stale {
            self.number = number;
            datagram.clone_into(&mut self.request);
        }
        arrival
    }

    /// The number that all replies to the current step carry.
    pub(super) fn number(&self) -> Option<SequenceNumber> {
        self.number
    }

    /// The report, if it has been sent, to be sent again.
    pub(super) fn sent_report(&self) -> &[Vec<u8>] {
        match &self.step {
            StepState::Completed { report, is_sent: true, .. } => report,
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DONE: StepState = StepState::Completed { report: Vec::new(), is_sent: true, is_confirmed: false };
    const CONFIRMED: StepState = StepState::Completed { report: Vec::new(), is_sent: true, is_confirmed: true };

    fn check(step: StepState, arrivals: &[(&[u8], Option<u32>, Arrival)]) {
        let mut control = ControlledAgent::new(AgentId(1));
        assert_eq!(
            control.classify(b"a", arrivals.first().and_then(|first| first.1).map(|_| SequenceNumber(7))),
            Arrival::New
        );
        control.step = step;
        for (datagram, number, wanted) in arrivals {
            assert_eq!(control.classify(datagram, number.map(SequenceNumber)), *wanted, "{datagram:?} {number:?}");
        }
    }

    #[test]
    fn repetitions_without_numbers() {
        use Arrival::{New, Repeated};
        check(StepState::Requested, &[(b"a", None, Repeated), (b"b", None, Repeated)]);
        check(DONE, &[(b"a", None, Repeated), (b"b", None, New)]);
        check(CONFIRMED, &[(b"a", None, New)]);
        check(StepState::Idle, &[(b"a", None, New)]);
    }

    #[test]
    fn repetitions_with_numbers() {
        use Arrival::{New, Repeated, Stale};
        for step in [StepState::Requested, DONE, CONFIRMED, StepState::Idle] {
            check(step, &[(b"a", Some(7), Repeated), (b"a", Some(6), Stale), (b"b", Some(u32::MAX), Stale)]);
        }
        check(StepState::Requested, &[(b"a", Some(8), Repeated)]);
        check(DONE, &[(b"a", Some(8), New), (b"a", Some(7), Stale)]);
        check(CONFIRMED, &[(b"a", Some(9), New)]);
    }
}
