//! The Robot Simulator, as one Population Manager sees it. Choices are in `protocols/evo/decisions.md`.

use evolve::{Genotype, NetParameters, robot::Key};
use wire::evo::{FromRobot, Line, LineError, NotFinite, ToRobot};

use super::convert::{genotype_from_message, message_from_parameters};

/// An individual to be tested.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Who it is, and who wants to know.
    pub key: Key,
    /// Its genes.
    pub genotype: Genotype,
}

/// What came of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// Nothing more is to be done.
    Done,
    /// Somebody is to be tested.
    Order(Order),
    /// The line was passed over, for this reason.
    Refused(String),
    /// The connection is over, for this reason.
    Over(String),
}

/// One Population Manager.
#[derive(Debug)]
pub struct ManagerSession {
    owner: u64,
    /// What it is told. Stays the same as long as it is connected (D15).
    parameters: wire::evo::NetParameters,
}

impl ManagerSession {
    /// For a manager with this number, which may have so many individuals tested at once.
    pub fn new(owner: u64, parameters: &NetParameters, share: usize) -> Self {
        Self { owner, parameters: message_from_parameters(parameters, share.max(1)) }
    }

    /// Takes a line.
    pub fn line(&mut self, line: &[u8], out: &mut Vec<u8>) -> Heard {
        match ToRobot::decode(line) {
            Ok(ToRobot::SendNetParameters) => match FromRobot::NetParameters(self.parameters.clone()).encode(out) {
                Ok(()) => Heard::Done,
                Err(error) => Heard::Over(error.to_string()),
            },
            Ok(ToRobot::Individual(individual)) => match genotype_from_message(&individual, &self.parameters) {
                Ok(genotype) => {
                    let (generation, individual) = (individual.generation, individual.number);
                    Heard::Order(Order { key: Key { owner: self.owner, generation, individual }, genotype })
                }
                Err(error) => Heard::Over(error.to_string()),
            },
            Err(LineError::Blank) => Heard::Done,
            Err(error @ LineError::UnknownName { .. }) => Heard::Refused(error.to_string()),
            Err(error) => Heard::Over(error.to_string()),
        }
    }

    /// Somebody was tested.
    ///
    /// # Errors
    ///
    /// A fitness that is not finite cannot be told.
    pub fn tested(&self, key: Key, fitness: f64, out: &mut Vec<u8>) -> Result<(), NotFinite> {
        FromRobot::Fitness { generation: key.generation, number: key.individual, fitness }.encode(out)
    }
}

/// The share of a manager that connects, when so many are then connected: the first has all places, the second half of
/// them, and so on. Who is there already keeps what it was told (D12).
pub fn share(places: usize, managers: usize) -> usize {
    places.div_ceil(managers.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> ManagerSession {
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
        ManagerSession::new(7, &net, 1)
    }

    #[test]
    fn the_documents_example() {
        let (mut session, mut out) = (session(), Vec::new());
        assert_eq!(session.line(b"SendNetParameters", &mut out), Heard::Done);
        assert_eq!(out, b"NetParameters 1 0 0 0 2 0 0 0 2 0 0 0 0 0 0 0 0 1 -10 10 1 1\r\n");
        out.clear();
        let heard = session.line(b"Individual 1 1 0 0.3 -1.5 2.7 -0.4 2.1 0.1 -3.6 -0.9", &mut out);
        let Heard::Order(Order { key, genotype }) = heard else { panic!("{heard:?}") };
        assert_eq!(key, Key { owner: 7, generation: 1, individual: 1 });
        assert_eq!(genotype.weights, [0.3, -1.5, 2.7, -0.4, 2.1, 0.1, -3.6, -0.9]);
        session.tested(key, 0.5, &mut out).unwrap();
        assert_eq!(out, b"Fitness 1 1 0.5\r\n");
        assert!(session.tested(key, f64::NAN, &mut out).is_err());
        assert_eq!(out, b"Fitness 1 1 0.5\r\n");
    }

    #[test]
    fn what_makes_no_sense() {
        fn check(line: &str, expected: Heard) {
            let mut out = Vec::new();
            assert_eq!(session().line(line.as_bytes(), &mut out), expected, "{line}");
            assert!(out.is_empty());
        }
        let over = |reason: &str| Heard::Over(reason.to_owned());
        check("", Heard::Done);
        check("Hello", Heard::Refused("unknown message `Hello`".to_owned()));
        check("Fitness 1 1 1", Heard::Refused("unknown message `Fitness`".to_owned()));
        check("Individual 1 1", over("unexpected end of `Individual` before Chn"));
        check("Individual 1 1 0 1 2", over("an individual with 0 hidden neurons has 8 values, not 2"));
        check("Individual 1 1 1 1 2", over("Chn is 1, outside 0..=0, or the net would be too large"));
        check("Individual 1 1 0 1 2 3 4 5 6 7 nan", over("a value of the individual is not a number: `nan`"));
    }

    #[test]
    fn places_are_shared() {
        assert_eq!([1, 2, 3, 20].map(|managers| share(8, managers)), [8, 4, 3, 1]);
        assert_eq!(share(0, 0), 1);
    }
}
