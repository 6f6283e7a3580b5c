//! The evaluation of one individual: its requests to a world, and what follows from the responses.
//!
//! ```text
//! create -> place -> sense -> move -> sense -> move -> ... -> ended
//!             ^                 `----- next trial ----'
//!             `- blocked: another pose
//! ```
//!
//! Where the world chooses the poses ([`StartPoses::Placed`]), it is asked for a new robot each time.
//!
//! Each arrow is one exchange. All requests of an exchange are sent together: the shape with the jump, all sensors of a
//! step, a new shape of the head with the move. The caller alternates [`EvaluationTask::requests`] and
//! [`EvaluationTask::handle_responses`] until there is an outcome. Then, or when it aborts the evaluation, it must kill the
//! robot ([`EvaluationTask::take_kill_request`]).
//!
//! All random numbers depend on the seed and the number of the trial (and on the generation, if the body file says so). The
//! pose that the world chose for a new robot is not used, unless the body file says so. So the fitness of an individual that
//! meets no other depends on none, and is the same in this process and over a connection.

mod trial;

use std::sync::Arc;

use arena::{Pose, Position, Request, Response, RobotId};

use self::trial::Trial;
use super::{Design, GenotypeError, Net, body::StartPoses, random::Purpose, random::RandomStream};
use crate::Genotype;

/// Squares along each side of the arena, for scripts that count those that a robot visits.
pub const SQUARES_PER_SIDE: u32 = 10;
/// Number of squares of the arena.
pub const SQUARES: u32 = SQUARES_PER_SIDE * SQUARES_PER_SIDE;

/// Poses tried before a start counts as blocked.
const MAX_TRIES: u32 = 200;
/// The same if the world chooses them: it has searched itself.
const MAX_PLACEMENTS: u32 = 10;

/// A robot's position after a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathPoint {
    /// Number of the trial, from 0.
    pub trial: u32,
    /// Includes the blocked fraction of the move and whether the robot is on deathly ground.
    pub position: Position,
}

/// The result of an evaluation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Mean over the trials, always finite.
    pub fitness: f64,
    /// Mean of each behaviour expression over the trials, always finite.
    pub behaviour: Vec<f64>,
    /// Mean of each figure of the script's summary over the trials; empty if one is not finite or a trial had no start.
    pub figures: Vec<f64>,
    /// Steps of all trials together.
    pub steps: u64,
    /// Trials that ended on deathly ground.
    pub deaths: u32,
    /// Trials for which no free start pose was found. Their fitness is the body's `worst`.
    pub blocked: u32,
    /// Number of non-finite results; a fitness is replaced by the body's `worst`, a behaviour value by 0.
    pub not_finite: u32,
    /// Number of genes clamped to their limits.
    pub clamped: usize,
    /// Recorded positions; see [`EvaluationTask::with_path`].
    pub path: Vec<PathPoint>,
}

impl Outcome {
    /// The outcome of an evaluation from those of its trials, in their order.
    pub(super) fn of_trials(design: &Design, trials: impl IntoIterator<Item = Self>) -> Self {
        let mut all = trials.into_iter();
        let mut outcome = all.next().unwrap_or_default();
        for trial in all {
            outcome.fitness += trial.fitness;
            outcome.behaviour.iter_mut().zip(trial.behaviour).for_each(|(sum, value)| *sum += value);
            outcome.figures.iter_mut().zip(trial.figures).for_each(|(sum, figure)| *sum += figure);
            outcome.steps += trial.steps;
            outcome.deaths += trial.deaths;
            outcome.blocked += trial.blocked;
            outcome.not_finite += trial.not_finite;
            outcome.path.extend(trial.path);
        }
        outcome.average(design);
        outcome
    }

    /// Turns sums over all trials into means.
    fn average(&mut self, design: &Design) {
        let mean = |sum: f64| sum / f64::from(design.file().trial.trials);
        let fitness = mean(self.fitness);
        // a sum of finite numbers can still overflow
        self.fitness = if fitness.is_finite() { fitness } else { design.file().fitness.worst };
        for sum in &mut self.behaviour {
            let value = mean(*sum);
            *sum = if value.is_finite() { value } else { 0.0 };
        }
        self.figures.iter_mut().for_each(|sum| *sum = mean(*sum));
        if self.blocked > 0 || !self.figures.iter().all(|figure| figure.is_finite()) {
            self.figures.clear();
        }
    }
}

/// A response that does not match the request.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("expected {expected} from the world, not {found}")]
pub struct UnexpectedResponse {
    /// The expected response.
    pub expected: &'static str,
    /// The actual responses.
    pub found: String,
}

/// In the order within a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Create { tries: u32 },
    Place { tries: u32 },
    Sense,
    Move,
    Ended,
    Aborted,
}

/// The evaluation of one individual, as a state machine without I/O.
#[derive(Clone, Debug)]
pub struct EvaluationTask {
    design: Arc<Design>,
    generation: u64,
    individual: u64,
    phase: Phase,
    robot: Option<RobotId>,
    /// Number of the current trial, from 0.
    number: u32,
    /// The only trial to be run; `None` for all.
    only: Option<u32>,
    starts: RandomStream,
    trial: Trial,
    /// Where it jumps or moves to; `None` if the world chooses.
    goal: Option<Pose>,
    /// Sums over the trials until the evaluation has ended.
    outcome: Outcome,
    /// Maximum number of recorded positions.
    max_path: usize,
}

impl EvaluationTask {
    /// An evaluation that has not started. The numbers are those of the message `Individual`.
    ///
    /// # Errors
    ///
    /// The genotype does not fit the design's net.
    pub fn new(
        design: Arc<Design>,
        genotype: &Genotype,
        generation: u64,
        individual: u64,
    ) -> Result<Self, GenotypeError> {
        let net = Net::new(design.net(), genotype)?;
        let mut task = Self {
            trial: Trial::new(&design, net),
            starts: RandomStream::new(0, 0, 0, Purpose::Start),
            design,
            generation,
            individual,
            phase: Phase::Create { tries: 0 },
            robot: None,
            number: 0,
            only: None,
            goal: None,
            outcome: Outcome::default(),
            max_path: 0,
        };
        task.restart();
        Ok(task)
    }

    /// Runs one trial only; the outcome is for [`Outcome::of_trials`]. Where trials are independent
    /// ([`Design::has_independent_trials`]), those of an individual may run at the same time, in worlds of their own.
    #[must_use]
    pub(super) fn of_trial(mut self, number: u32) -> Self {
        self.only = Some(number);
        self.restart();
        self
    }

    /// Records all positions.
    #[must_use]
    pub fn with_path(self) -> Self {
        self.with_path_of(usize::MAX)
    }

    /// Records at most the first `positions` positions.
    #[must_use]
    pub fn with_path_of(mut self, positions: usize) -> Self {
        self.max_path = positions;
        self
    }

    /// Number of recorded positions.
    pub(super) fn recorded(&self) -> usize {
        self.outcome.path.len()
    }

    /// The robot's design.
    pub(super) fn design(&self) -> &Arc<Design> {
        &self.design
    }

    /// The trial it is in, and how far in it; orders evaluations of which each trial and each step begins together.
    pub(super) fn progress(&self) -> impl Ord + use<> {
        (self.number, self.phase)
    }

    /// Whether its next request is a move.
    pub(super) fn is_moving(&self) -> bool {
        self.phase == Phase::Move
    }

    /// Number of the generation.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Number of the individual.
    pub fn individual(&self) -> u64 {
        self.individual
    }

    /// Starts over, in a world that does not know the robot.
    pub fn restart(&mut self) {
        self.robot = None;
        self.outcome = Outcome {
            behaviour: vec![0.0; self.design.behaviours()],
            figures: vec![0.0; self.design.summary().figures()],
            clamped: self.trial.clamped(),
            ..Outcome::default()
        };
        self.begin(self.only.unwrap_or(0));
        self.place(0);
        // there is none to be placed yet
        self.phase = Phase::Create { tries: 0 };
    }

    /// Appends all requests that can be made now; returns the number of responses to them.
    pub fn requests(&mut self, out: &mut Vec<Request>) -> usize {
        // the robot of the trial before, if this one needs a new one; its end has no response
        if matches!(self.phase, Phase::Create { .. }) {
            out.extend(self.take_kill_request());
        }
        let before = out.len();
        match (self.phase, self.robot) {
            (Phase::Create { .. }, _) => out.push(Request::Create),
            (Phase::Place { .. }, Some(robot)) => {
                self.trial.request_shape(&self.design, robot, out);
                out.extend(self.goal.map(|goal| Request::Jump(robot, goal)));
            }
            (Phase::Sense, Some(robot)) => self.trial.request_readings(&self.design, robot, out),
            (Phase::Move, Some(robot)) => {
                self.trial.request_shape(&self.design, robot, out);
                out.extend(self.goal.map(|goal| Request::Move(robot, goal)));
            }
            (Phase::Ended | Phase::Aborted, _) | (_, None) => {}
        }
        out.len() - before
    }

    /// Handles all responses to the last [`requests`](Self::requests), in order.
    ///
    /// # Errors
    ///
    /// A response is missing, superfluous, or of the wrong kind.
    pub fn handle_responses(&mut self, responses: &[Response]) -> Result<(), UnexpectedResponse> {
        match self.phase {
            Phase::Create { tries } => {
                let [Response::Created(robot)] = responses else { return Err(unexpected("an identifier", responses)) };
                self.robot = Some(*robot);
                self.trial.forget_shape();
                self.phase = Phase::Place { tries };
            }
            Phase::Place { tries } => {
                let position = match self.goal {
                    Some(_) => self.trial.handle_placed(&self.design, responses)?,
                    None => self.trial.handle_shaped(responses)?,
                };
                self.placed(position, tries);
            }
            Phase::Sense => {
                self.trial.handle_readings(&self.design, responses)?;
                self.goal = Some(self.trial.act(&self.design));
                self.phase = Phase::Move;
            }
            Phase::Move => {
                let position = self.trial.handle_placed(&self.design, responses)?;
                self.moved(position);
            }
            Phase::Ended | Phase::Aborted => {}
        }
        Ok(())
    }

    /// The result, once the evaluation has ended.
    pub fn outcome(&self) -> Option<&Outcome> {
        (self.phase == Phase::Ended).then_some(&self.outcome)
    }

    /// As [`outcome`](Self::outcome), by value.
    pub fn into_outcome(self) -> Option<Outcome> {
        (self.phase == Phase::Ended).then_some(self.outcome)
    }

    /// The request to kill the robot, if the world has created it. To be sent once, after the evaluation.
    pub fn take_kill_request(&mut self) -> Option<Request> {
        self.robot.take().map(Request::Kill)
    }

    /// Aborts the evaluation, without an outcome. Returns the request to kill the robot, if the world has created it.
    pub fn abort(&mut self) -> Option<Request> {
        self.phase = Phase::Aborted;
        self.take_kill_request()
    }

    fn begin(&mut self, number: u32) {
        let trial = &self.design.file().trial;
        let generation = if trial.fresh_each_generation { self.generation } else { 0 };
        let stream = |purpose| RandomStream::new(trial.seed, generation, u64::from(number), purpose);
        self.number = number;
        self.starts = stream(Purpose::Start);
        self.trial.begin(&self.design, stream(Purpose::Noise));
    }

    /// The start pose of the given attempt; `None` if the world chooses it.
    fn start_pose(&mut self, tries: u32) -> Option<Pose> {
        let zone = match &self.design.file().trial.start {
            StartPoses::Placed => return None,
            StartPoses::Random => [0.0, 0.0, 2000.0, 2000.0],
            StartPoses::Zone(zone) => *zone,
            StartPoses::Poses(poses) => {
                let nth = (self.number as usize).wrapping_add(tries as usize) % poses.len().max(1);
                let [x, y, direction] = poses.get(nth).copied().unwrap_or_default();
                return Some(Pose { x, y, dir: direction.to_radians() });
            }
        };
        let [left, low, right, high] = zone;
        let x = self.starts.between(left, right);
        let y = self.starts.between(low, high);
        let dir = self.starts.between(-std::f64::consts::PI, std::f64::consts::PI);
        Some(Pose { x, y, dir })
    }

    /// Starts with the given attempt to find a start pose.
    fn place(&mut self, tries: u32) {
        self.goal = self.start_pose(tries);
        // only a new robot is placed by the world
        self.phase = if self.goal.is_some() { Phase::Place { tries } } else { Phase::Create { tries } };
    }

    fn placed(&mut self, position: Position, tries: u32) {
        let trial = &self.design.file().trial;
        // on deathly ground the trial would end with the first step
        if position.stress < 1.0 && !(trial.end_on_death && position.death) {
            self.trial.start(&self.design, position);
            self.record(position);
            self.phase = Phase::Sense;
            return;
        }
        let tries = tries + 1;
        let max_tries = match &trial.start {
            StartPoses::Poses(poses) => poses.len() as u32,
            StartPoses::Placed => MAX_PLACEMENTS,
            StartPoses::Random | StartPoses::Zone(_) => MAX_TRIES,
        };
        if tries < max_tries {
            self.place(tries);
        } else {
            self.outcome.blocked += 1;
            self.outcome.fitness += self.design.file().fitness.worst;
            self.next();
        }
    }

    fn moved(&mut self, position: Position) {
        self.outcome.steps += 1;
        self.record(position);
        if self.trial.handle_move(&self.design, position) {
            self.phase = Phase::Sense;
            return;
        }
        self.outcome.deaths += u32::from(position.death);
        let worst = self.design.file().fitness.worst;
        let fitness = self.trial.fitness(&self.design);
        self.outcome.not_finite += u32::from(!fitness.is_finite());
        self.outcome.fitness += if fitness.is_finite() { fitness } else { worst };
        for (sum, value) in self.outcome.behaviour.iter_mut().zip(self.trial.behaviour(&self.design)) {
            self.outcome.not_finite += u32::from(!value.is_finite());
            *sum += if value.is_finite() { value } else { 0.0 };
        }
        for (sum, figure) in self.outcome.figures.iter_mut().zip(self.trial.figures(&self.design)) {
            *sum += figure;
        }
        self.next();
    }

    /// Starts the next trial, or ends the evaluation.
    fn next(&mut self) {
        if self.only.is_none() && self.number + 1 < self.design.file().trial.trials {
            self.begin(self.number + 1);
            self.place(0);
            return;
        }
        if self.only.is_none() {
            self.outcome.average(&self.design);
        }
        self.phase = Phase::Ended;
    }

    fn record(&mut self, position: Position) {
        if self.outcome.path.len() < self.max_path {
            self.outcome.path.push(PathPoint { trial: self.number, position });
        }
    }
}

fn unexpected(expected: &'static str, responses: &[Response]) -> UnexpectedResponse {
    let found = match responses {
        [] => "no response".to_owned(),
        [response] => format!("{response:?}"),
        [first, ..] => format!("{} responses, the first {first:?}", responses.len()),
    };
    UnexpectedResponse { expected, found }
}

#[cfg(test)]
mod tests;
