//! The Robot Simulator, as its Population Managers see it. Choices are in `protocols/evo/decisions.md`.
//!
//! Evaluations are requested here and run elsewhere; [`RobotSimulator::evaluated`] takes their results.

use std::{
    collections::{BTreeMap, VecDeque, btree_map::Entry},
    time::Duration,
};

use evolve::{Genotype, NetParameters, robot::Key};
use wire::evo::{FromRobot, Line, LineBuffer, LineError, ToRobot};

use super::{Backlog, LineServer, Received, convert::genotype_from_message};
use crate::limits;

/// An individual to be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationRequest {
    /// The manager and its numbers for the individual.
    pub key: Key,
    /// The genes.
    pub genotype: Genotype,
}

/// All Population Managers of a Robot Simulator.
#[derive(Debug)]
pub struct RobotSimulator {
    parameters: NetParameters,
    /// Individuals that are evaluated at once, for all managers together.
    slots: usize,
    managers: BTreeMap<u64, Manager>,
}

#[derive(Debug)]
struct Manager {
    /// Sent on request; does not change as long as the manager is connected (D15).
    parameters: NetParameters,
    out: Vec<u8>,
    /// Individuals whose fitness has not been reported.
    unfinished: usize,
    /// Individuals under evaluation, each with those of the same numbers that wait for it, so that fitness values are
    /// reported in the order of the requests.
    duplicates: BTreeMap<Key, VecDeque<EvaluationRequest>>,
}

impl Manager {
    fn backlog(&self) -> Option<Backlog> {
        if self.out.len() >= limits::EVO_OUTPUT {
            Some(Backlog::OutputFull)
        } else if self.unfinished >= limits::EVO_EVALUATIONS {
            Some(Backlog::Blocked)
        } else {
            None
        }
    }

    fn handle_line(&mut self, owner: u64, line: &[u8], received: &mut Received<EvaluationRequest>) {
        match ToRobot::decode(line) {
            Ok(ToRobot::SendNetParameters) => {
                if let Err(error) = FromRobot::NetParameters(self.parameters.clone()).encode(&mut self.out) {
                    received.close = Some(error.to_string());
                }
            }
            Ok(ToRobot::Individual(individual)) => match genotype_from_message(&individual, &self.parameters) {
                Ok(genotype) => {
                    let key = Key { owner, generation: individual.generation, individual: individual.number };
                    self.request(EvaluationRequest { key, genotype }, received);
                }
                Err(error) => received.close = Some(error.to_string()),
            },
            Err(LineError::Blank) => {}
            Err(error @ LineError::UnknownName { .. }) => received.refusals.push(error.to_string()),
            Err(error) => received.close = Some(error.to_string()),
        }
    }

    fn request(&mut self, request: EvaluationRequest, received: &mut Received<EvaluationRequest>) {
        self.unfinished += 1;
        match self.duplicates.entry(request.key) {
            Entry::Occupied(first) => first.into_mut().push_back(request),
            Entry::Vacant(entry) => {
                entry.insert(VecDeque::new());
                received.outputs.push(request);
            }
        }
    }
}

impl RobotSimulator {
    /// A simulator that evaluates `slots` individuals at once.
    pub fn new(parameters: NetParameters, slots: usize) -> Self {
        Self { parameters, slots, managers: BTreeMap::new() }
    }

    /// Individuals of a manager whose fitness has not been reported.
    pub fn unfinished(&self, connection: u64) -> usize {
        self.managers.get(&connection).map_or(0, |manager| manager.unfinished)
    }

    /// Slots that were promised to a manager.
    pub fn share(&self, connection: u64) -> usize {
        self.managers.get(&connection).map_or(0, |manager| manager.parameters.concurrent)
    }

    /// An individual has been evaluated. Reports its fitness, and returns the next evaluation that waited for it.
    ///
    /// # Errors
    ///
    /// A fitness that is not finite cannot be reported.
    pub fn evaluated(&mut self, key: Key, fitness: f64) -> Result<Option<EvaluationRequest>, wire::evo::NotFinite> {
        let Some(manager) = self.managers.get_mut(&key.owner) else { return Ok(None) };
        let next = manager.duplicates.get_mut(&key).and_then(VecDeque::pop_front);
        if next.is_none() {
            manager.duplicates.remove(&key);
        }
        manager.unfinished = manager.unfinished.saturating_sub(1);
        let message = FromRobot::Fitness { generation: key.generation, number: key.individual, fitness };
        message.encode(&mut manager.out)?;
        Ok(next)
    }
}

impl LineServer for RobotSimulator {
    type Output = EvaluationRequest;

    fn open(&mut self, connection: u64, _: usize) {
        let share = share(self.slots, self.managers.len() + 1);
        let manager = Manager {
            parameters: NetParameters { concurrent: share, ..self.parameters.clone() },
            out: Vec::new(),
            unfinished: 0,
            duplicates: BTreeMap::new(),
        };
        self.managers.insert(connection, manager);
    }

    fn close(&mut self, connection: u64, _: Duration) {
        self.managers.remove(&connection);
    }

    fn receive(
        &mut self,
        connection: u64,
        lines: &mut LineBuffer,
        _: impl Fn() -> Duration,
    ) -> Received<EvaluationRequest> {
        let mut received = Received::default();
        let Some(manager) = self.managers.get_mut(&connection) else { return received };
        for _ in 0..limits::EVO_LINES_PER_TURN {
            if let Some(backlog) = manager.backlog() {
                received.backlog = backlog;
                return received;
            }
            match lines.next_line() {
                Ok(Some(line)) => {
                    received.lines += 1;
                    manager.handle_line(connection, line, &mut received);
                }
                Ok(None) => return received,
                Err(error) => received.close = Some(error.to_string()),
            }
            if received.close.is_some() {
                return received;
            }
        }
        received.backlog = Backlog::TurnOver;
        received
    }

    fn output(&mut self, connection: u64) -> Option<&mut Vec<u8>> {
        self.managers.get_mut(&connection).map(|manager| &mut manager.out)
    }
}

/// The share of a new manager when `managers` are then connected: the first has all slots, the second half of them, and
/// so on. A manager that is connected keeps its share (D12).
fn share(slots: usize, managers: usize) -> usize {
    slots.div_ceil(managers.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simulator() -> RobotSimulator {
        let mut net = NetParameters {
            concurrent: 1,
            globals: Default::default(),
            inputs: 2,
            input: Default::default(),
            outputs: 2,
            output: Default::default(),
            hidden_min: 0,
            hidden_max: 0,
            hidden: Default::default(),
            weight: Default::default(),
            input_to_output: true,
            recurrent: true,
        };
        net.weight = evolve::genotype::Genes { values: 1, low: -10.0, high: 10.0 };
        let mut simulator = RobotSimulator::new(net, 1);
        simulator.open(7, 0);
        simulator
    }

    fn receive(simulator: &mut RobotSimulator, text: &str) -> Received<EvaluationRequest> {
        let mut lines = LineBuffer::default();
        lines.push(text.as_bytes());
        simulator.receive(7, &mut lines, || Duration::ZERO)
    }

    fn sent(simulator: &mut RobotSimulator) -> String {
        String::from_utf8(simulator.output(7).map(std::mem::take).unwrap_or_default()).unwrap()
    }

    const INDIVIDUAL: &str = "Individual 1 1 0 0.3 -1.5 2.7 -0.4 2.1 0.1 -3.6 -0.9\r\n";

    #[test]
    fn the_documents_example() {
        let mut simulator = simulator();
        assert_eq!(receive(&mut simulator, "SendNetParameters\r\n"), Received { lines: 1, ..Received::default() });
        assert_eq!(sent(&mut simulator), "NetParameters 1 0 0 0 2 0 0 0 2 0 0 0 0 0 0 0 0 1 -10 10 1 1\r\n");
        let received = receive(&mut simulator, INDIVIDUAL);
        let [EvaluationRequest { key, genotype }] = &received.outputs[..] else { panic!("{received:?}") };
        assert_eq!(*key, Key { owner: 7, generation: 1, individual: 1 });
        assert_eq!(genotype.weights, [0.3, -1.5, 2.7, -0.4, 2.1, 0.1, -3.6, -0.9]);
        assert_eq!(simulator.evaluated(*key, 0.5), Ok(None));
        assert_eq!(sent(&mut simulator), "Fitness 1 1 0.5\r\n");
        assert!(simulator.evaluated(*key, f64::NAN).is_err());
        assert_eq!(sent(&mut simulator), "");
    }

    #[test]
    fn equal_numbers_are_evaluated_one_after_the_other() {
        let mut simulator = simulator();
        let received = receive(&mut simulator, &INDIVIDUAL.repeat(3));
        let [first] = &received.outputs[..] else { panic!("{received:?}") };
        assert_eq!(simulator.unfinished(7), 3);
        assert_eq!(simulator.evaluated(first.key, 0.5), Ok(Some(first.clone())));
        assert_eq!(simulator.evaluated(first.key, 0.6), Ok(Some(first.clone())));
        assert_eq!(simulator.evaluated(first.key, 0.7), Ok(None));
        assert_eq!((simulator.unfinished(7), sent(&mut simulator).lines().count()), (0, 3));
        // the result for a manager that has left is dropped
        simulator.close(7, Duration::ZERO);
        assert_eq!(simulator.evaluated(first.key, 0.7), Ok(None));
    }

    #[test]
    fn unread_and_unfinished_work_is_limited() {
        let mut simulator = simulator();
        let mut lines = LineBuffer::default();
        lines.push(INDIVIDUAL.repeat(limits::EVO_LINES_PER_TURN + 1).as_bytes());
        let mut receive = |simulator: &mut RobotSimulator| simulator.receive(7, &mut lines, || Duration::ZERO).backlog;
        assert_eq!((receive(&mut simulator), receive(&mut simulator)), (Backlog::TurnOver, Backlog::Empty));
        simulator.managers.get_mut(&7).unwrap().unfinished = limits::EVO_EVALUATIONS;
        assert_eq!(receive(&mut simulator), Backlog::Blocked);
        simulator.output(7).unwrap().resize(limits::EVO_OUTPUT, b' ');
        assert_eq!(receive(&mut simulator), Backlog::OutputFull);
    }

    #[test]
    fn invalid_lines() {
        fn check(line: &str, refusal: Option<&str>, close: Option<&str>) {
            let mut simulator = simulator();
            let received = receive(&mut simulator, &format!("{line}\r\n"));
            assert_eq!(received.refusals.first().map(String::as_str), refusal, "{line}");
            assert_eq!(received.close.as_deref(), close, "{line}");
            assert_eq!((received.outputs.len(), sent(&mut simulator).as_str()), (0, ""), "{line}");
        }
        check("", None, None);
        check("Hello", Some("unknown message `Hello`"), None);
        check("Fitness 1 1 1", Some("unknown message `Fitness`"), None);
        check("Individual 1 1", None, Some("unexpected end of `Individual` before Chn"));
        check("Individual 1 1 0 1 2", None, Some("an individual with 0 hidden neurons has 8 values, not 2"));
        check("Individual 1 1 1 1 2", None, Some("Chn is 1, outside 0..=0, or the net would be too large"));
        let nan = "a value of the individual is not a number: `nan`";
        check("Individual 1 1 0 1 2 3 4 5 6 7 nan", None, Some(nan));
    }

    #[test]
    fn slots_are_shared() {
        assert_eq!([1, 2, 3, 20].map(|managers| share(8, managers)), [8, 4, 3, 1]);
        assert_eq!(share(0, 0), 1);
    }
}
