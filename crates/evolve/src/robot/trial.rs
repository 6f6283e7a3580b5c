//! The test of one individual: what it asks of a world, and what comes of the answers.
//!
//! ```text
//! create -> place -> sense -> move -> sense -> move -> ... -> ended
//!             ^                 `----- next trial ----'
//!             `- blocked: another pose
//! ```
//!
//! Each arrow is one exchange. All that is asked in one goes out together: the shape with the jump, all sensors of a step, a
//! new shape of the head with the move. Whoever runs a trial calls [`Trial::asks`] and [`Trial::take`] in turns until there
//! is an outcome; then, and whenever it is given up, the robot is to be killed ([`Trial::farewell`]).
//!
//! All chance follows from the seed and the number of the trial (and the generation, if the body file wants that). The pose
//! that the world chose for a new robot is never used. So an individual's fitness depends on nobody else, and is the same
//! in this process and over a connection.

mod run;

use std::sync::Arc;

use arena::{Pose, Position, Request, Response, RobotId};

use self::run::Run;
use super::{Design, GenotypeError, Net, body::Start, noise::Chance, noise::Purpose};
use crate::Genotype;

/// So many poses are tried before a start counts as blocked.
const MAX_TRIES: u32 = 200;

/// Where a robot was after a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathPoint {
    /// Number of the trial, from 0.
    pub trial: u32,
    /// Where it was, whether it was blocked, whether it stood on deathly ground.
    pub position: Position,
}

/// What came of the test of an individual.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Mean over the trials; always finite.
    pub fitness: f64,
    /// Mean over the trials of each behaviour expression; always finite.
    pub behaviour: Vec<f64>,
    /// Steps of all trials together.
    pub steps: u64,
    /// Trials that ended on deathly ground.
    pub deaths: u32,
    /// Trials for which no free pose was found; each counts as the body's worst fitness.
    pub blocked: u32,
    /// Results that were not finite: a fitness became the body's worst, a behaviour 0.
    pub not_finite: u32,
    /// Genes that were outside their limits.
    pub clamped: usize,
    /// All positions, if they were wanted.
    pub path: Vec<PathPoint>,
}

/// A world that answers something else than it was asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the world should answer with {expected}, not with {found}")]
pub struct WrongAnswer {
    /// What was asked for.
    pub expected: &'static str,
    /// What came.
    pub found: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Create,
    Place { tries: u32 },
    Sense,
    Move,
    Ended,
    GivenUp,
}

/// The test of one individual.
#[derive(Clone, Debug)]
pub struct Trial {
    design: Arc<Design>,
    generation: u64,
    individual: u64,
    state: State,
    robot: Option<RobotId>,
    /// Number of the present trial, from 0.
    number: u32,
    starts: Chance,
    run: Run,
    goal: Pose,
    fitness: f64,
    outcome: Outcome,
    /// How many positions are to be noted.
    path: usize,
}

impl Trial {
    /// The test of an individual, not yet begun. The numbers are those of the message `Individual`.
    pub fn new(
        design: Arc<Design>,
        genotype: &Genotype,
        generation: u64,
        individual: u64,
    ) -> Result<Self, GenotypeError> {
        let net = Net::new(design.plan(), genotype)?;
        let mut trial = Self {
            run: Run::new(&design, net),
            starts: Chance::new(0, 0, 0, Purpose::Start),
            design,
            generation,
            individual,
            state: State::Create,
            robot: None,
            number: 0,
            goal: Pose { x: 0.0, y: 0.0, dir: 0.0 },
            fitness: 0.0,
            outcome: Outcome::default(),
            path: 0,
        };
        trial.restart();
        Ok(trial)
    }

    /// Notes all positions.
    #[must_use]
    pub fn with_path(self) -> Self {
        self.with_path_of(usize::MAX)
    }

    /// Notes the first positions, so many at most.
    #[must_use]
    pub fn with_path_of(mut self, positions: usize) -> Self {
        self.path = positions;
        self
    }

    /// How many positions are noted.
    pub(super) fn noted(&self) -> usize {
        self.outcome.path.len()
    }

    /// Whether its next question is a move.
    pub(super) fn moves(&self) -> bool {
        self.state == State::Move
    }

    /// Number of the generation.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Number of the individual.
    pub fn individual(&self) -> u64 {
        self.individual
    }

    /// Begins again, for a world that does not know of it yet.
    pub fn restart(&mut self) {
        self.state = State::Create;
        self.robot = None;
        self.fitness = 0.0;
        self.outcome = Outcome {
            behaviour: vec![0.0; self.design.behaviours()],
            clamped: self.run.clamped(),
            ..Outcome::default()
        };
        self.run.forget_shape();
        self.begin(0);
    }

    /// Adds everything that can be asked now. Each is answered but [`Request::Kill`], which is never among them. Gives the
    /// number of answers.
    pub fn asks(&mut self, out: &mut Vec<Request>) -> usize {
        let before = out.len();
        match (self.state, self.robot) {
            (State::Create, _) => out.push(Request::Create),
            (State::Place { .. }, Some(robot)) => {
                self.run.ask_shape(&self.design, robot, out);
                out.push(Request::Jump(robot, self.goal));
            }
            (State::Sense, Some(robot)) => self.run.ask_senses(&self.design, robot, out),
            (State::Move, Some(robot)) => {
                self.run.ask_shape(&self.design, robot, out);
                out.push(Request::Move(robot, self.goal));
            }
            (State::Ended | State::GivenUp, _) | (_, None) => {}
        }
        out.len() - before
    }

    /// Takes the answers to the last [`asks`](Self::asks), all of them and in their order.
    pub fn take(&mut self, answers: &[Response]) -> Result<(), WrongAnswer> {
        match self.state {
            State::Create => {
                let [Response::Created(robot)] = answers else { return Err(wrong("an identifier", answers)) };
                self.robot = Some(*robot);
                self.state = State::Place { tries: 0 };
            }
            State::Place { tries } => {
                let position = self.run.take_placed(&self.design, answers)?;
                self.placed(position, tries);
            }
            State::Sense => {
                self.run.take_senses(&self.design, answers)?;
                self.goal = self.run.act(&self.design);
                self.state = State::Move;
            }
            State::Move => {
                let position = self.run.take_placed(&self.design, answers)?;
                self.moved(position);
            }
            State::Ended | State::GivenUp => {}
        }
        Ok(())
    }

    /// What came of it, once it has ended.
    pub fn outcome(&self) -> Option<&Outcome> {
        (self.state == State::Ended).then_some(&self.outcome)
    }

    /// The same, and nothing more of the trial.
    pub fn into_outcome(self) -> Option<Outcome> {
        (self.state == State::Ended).then_some(self.outcome)
    }

    /// The robot's end, if the world knows of the robot: to be asked once when the trial has ended or is given up.
    pub fn farewell(&mut self) -> Option<Request> {
        self.robot.take().map(Request::Kill)
    }

    /// Gives it up: it asks nothing more, but has no outcome. Gives the robot's end, if the world knows of the robot.
    pub fn abort(&mut self) -> Option<Request> {
        self.state = State::GivenUp;
        self.farewell()
    }

    fn begin(&mut self, number: u32) {
        let trial = &self.design.file().trial;
        let generation = if trial.fresh_each_generation { self.generation } else { 0 };
        let chance = |purpose| Chance::new(trial.seed, generation, u64::from(number), purpose);
        self.number = number;
        self.starts = chance(Purpose::Start);
        self.run.begin(&self.design, chance(Purpose::Noise));
        self.goal = self.start_pose(0);
    }

    /// The pose of the next try.
    fn start_pose(&mut self, tries: u32) -> Pose {
        let zone = match &self.design.file().trial.start {
            Start::Random => [0.0, 0.0, 2000.0, 2000.0],
            Start::Zone(zone) => *zone,
            Start::Poses(poses) => {
                let nth = (self.number as usize).wrapping_add(tries as usize) % poses.len().max(1);
                let [x, y, direction] = poses.get(nth).copied().unwrap_or_default();
                return Pose { x, y, dir: direction.to_radians() };
            }
        };
        let [left, low, right, high] = zone;
        let x = self.starts.between(left, right);
        let y = self.starts.between(low, high);
        let dir = self.starts.between(-std::f64::consts::PI, std::f64::consts::PI);
        Pose { x, y, dir }
    }

    fn placed(&mut self, position: Position, tries: u32) {
        let trial = &self.design.file().trial;
        // a world may well put a robot onto deathly ground, where its trial would end with the first step
        if position.stress < 1.0 && !(trial.end_on_death && position.death) {
            self.run.start(&self.design, position);
            self.note(position);
            self.state = State::Sense;
            return;
        }
        let tries = tries + 1;
        let most = match &trial.start {
            Start::Poses(poses) => poses.len() as u32,
            Start::Random | Start::Zone(_) => MAX_TRIES,
        };
        if tries < most {
            self.goal = self.start_pose(tries);
            self.state = State::Place { tries };
        } else {
            self.outcome.blocked += 1;
            self.fitness += self.design.file().fitness.worst;
            self.next();
        }
    }

    fn moved(&mut self, position: Position) {
        self.outcome.steps += 1;
        self.note(position);
        if self.run.arrive(&self.design, position) {
            self.state = State::Sense;
            return;
        }
        self.outcome.deaths += u32::from(position.death);
        let worst = self.design.file().fitness.worst;
        let fitness = self.run.fitness(&self.design);
        self.outcome.not_finite += u32::from(!fitness.is_finite());
        self.fitness += if fitness.is_finite() { fitness } else { worst };
        for (sum, value) in self.outcome.behaviour.iter_mut().zip(self.run.behaviour(&self.design)) {
            self.outcome.not_finite += u32::from(!value.is_finite());
            *sum += if value.is_finite() { value } else { 0.0 };
        }
        self.next();
    }

    /// The next trial, or the end.
    fn next(&mut self) {
        let trials = self.design.file().trial.trials;
        if self.number + 1 < trials {
            self.begin(self.number + 1);
            self.state = State::Place { tries: 0 };
            return;
        }
        let mean = |sum: f64| sum / f64::from(trials);
        let fitness = mean(self.fitness);
        // a sum of finite numbers can still be too large
        self.outcome.fitness = if fitness.is_finite() { fitness } else { self.design.file().fitness.worst };
        for sum in &mut self.outcome.behaviour {
            let value = mean(*sum);
            *sum = if value.is_finite() { value } else { 0.0 };
        }
        self.state = State::Ended;
    }

    fn note(&mut self, position: Position) {
        if self.outcome.path.len() < self.path {
            self.outcome.path.push(PathPoint { trial: self.number, position });
        }
    }
}

fn wrong(expected: &'static str, answers: &[Response]) -> WrongAnswer {
    let found = match answers {
        [] => "nothing".to_owned(),
        [answer] => format!("{answer:?}"),
        [first, ..] => format!("{} answers, first {first:?}", answers.len()),
    };
    WrongAnswer { expected, found }
}

#[cfg(test)]
mod tests;
