//! Evolutionary runs.

use serde::{Deserialize, Serialize};

use crate::console::NewRun;

/// Options for new evolutionary runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EvolutionInfo {
    /// Available worlds.
    pub worlds: Vec<WorldChoice>,
    /// Available robot bodies.
    pub bodies: Vec<BodyChoice>,
    /// Available fitness functions.
    pub fitnesses: Vec<Choice>,
    /// Names of the available algorithms.
    pub algorithms: Vec<String>,
    /// Unsuitable combinations.
    pub objections: Vec<Objection>,
    /// What a new run evolves unless the user chooses otherwise.
    pub default_run: NewRun,
    /// The same of two populations that evolve against each other.
    pub default_coevolution: NewRun,
    /// Folder of the runs.
    pub folder: String,
}

/// An option in a menu.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Choice {
    /// Name used in commands.
    pub name: String,
    /// Human-readable name.
    pub title: String,
}

/// A world in a menu.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WorldChoice {
    /// Name used in commands.
    pub name: String,
    /// Human-readable name.
    pub title: String,
    /// The two kinds of robots that can evolve against each other; empty if there are none.
    pub kinds: Vec<String>,
}

/// A robot body in a menu.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BodyChoice {
    /// Name used in commands.
    pub name: String,
    /// Human-readable name.
    pub title: String,
    /// Name of its own fitness function.
    pub fitness: String,
}

/// A combination of body, fitness function and world that is unsuitable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Objection {
    /// Name of the body.
    pub body: String,
    /// Name of the fitness function.
    pub fitness: String,
    /// Name of the world; null if it is so in all worlds.
    pub world: Option<String>,
    /// The kind of the robots, if they evolve against another population; null if they do not. Of no meaning if it is so in
    /// all worlds.
    pub kind: Option<String>,
    /// Why, in words.
    pub reason: String,
}

/// A server's own simulators of evolving robots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SimulatorsInfo {
    /// Port of the Robot Simulator, if the server runs one.
    pub robot: Option<SimulatorPort>,
    /// Ports of the World Simulator, one for each kind of robots; empty if the server runs none.
    pub world: Vec<SimulatorPort>,
    /// Address of the World Simulator that the robots use; null if their world is in the server's own process.
    pub robot_world: Option<String>,
}

/// A port of a simulator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SimulatorPort {
    /// `Robot Simulator`, `World Simulator` or `World Simulator for prey`.
    pub title: String,
    /// The port.
    pub port: u16,
    /// Where clients reach it.
    pub addresses: Vec<String>,
}

/// One run in the list of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RunSummary {
    /// Name of the run and of its folder.
    pub name: String,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Body and world, as in `platine in obstacles`; or the addresses of the Robot Simulators.
    pub place: String,
    /// Seed of the random number generator.
    pub seed: u64,
    /// Planned number of generations; 0: until the run is stopped.
    pub generations: u64,
    /// Number of completed generations.
    pub generation: u64,
    /// The best fitness so far; of two populations that evolve against each other, that of the last generation of each. Empty
    /// before the end of the first generation.
    pub best: Vec<BestFitness>,
    /// Whether a process is working on it.
    pub state: RunState,
    /// Error message of a failed run, or a remark; may be empty.
    pub words: String,
    /// Whether individuals are evaluated in the run's own process; only then can they be replayed.
    pub here: bool,
    /// What its workers have done; null if it is not evaluated on a cluster.
    pub workers: Option<RunWorkers>,
}

/// What the workers of a run on a cluster have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RunWorkers {
    /// Workers that are ready.
    pub workers: u64,
    /// Workers lost since the run was begun or resumed; each is replaced.
    pub lost: u64,
    /// Tasks handed out again since then, because their worker was lost.
    pub retried: u64,
    /// Finished individuals of the generation in progress, or of the last one.
    pub finished: u64,
    /// Individuals of that generation.
    pub total: u64,
}

/// The best fitness of a population.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BestFitness {
    /// Name of the population; empty if there is one only.
    pub population: String,
    /// The fitness.
    pub fitness: f64,
}

/// Whether a process is working on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// A process is working on it.
    Running,
    /// Incomplete; can be resumed.
    Stopped,
    /// All generations are complete, or the target fitness was reached.
    Finished,
    /// The process ended with an error, or the run's files are unreadable.
    Failed,
}

/// Details of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RunDetail {
    /// Name of the run.
    pub name: String,
    /// One population, or two that evolve against each other.
    pub populations: Vec<PopulationDetail>,
}

/// Details of a population. The lists have one entry for each generation, or for some of them if there are thousands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PopulationDetail {
    /// Name of the population; empty if there is one only.
    pub population: String,
    /// Numbers of the generations, from 1.
    pub generations: Vec<u64>,
    /// Best fitness of each generation.
    pub best: Vec<f64>,
    /// Mean fitness of each generation.
    pub mean: Vec<f64>,
    /// Worst fitness of each generation.
    pub worst: Vec<f64>,
    /// Best fitness up to and including each generation.
    pub best_so_far: Vec<f64>,
    /// Diversity of each generation's genomes.
    pub diversity: Vec<f64>,
    /// What the best individual so far does, and the best of the first generation, in words; empty at first.
    pub learnt: String,
    /// Neural network of the best individual so far, or of the best of the last generation if there are two populations.
    pub net: Option<Net>,
}

/// An individual's neural network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Net {
    /// Generation of the individual, from 1.
    pub generation: u64,
    /// Number of the individual in its generation.
    pub individual: u64,
    /// Fitness of the individual.
    pub fitness: f64,
    /// Names of the input neurons.
    pub inputs: Vec<String>,
    /// Number of hidden neurons.
    pub hidden: usize,
    /// Names of the output neurons.
    pub outputs: Vec<String>,
    /// Connections. Neurons are numbered inputs first, then hidden ones, then outputs.
    pub weights: Vec<Weight>,
}

/// A connection between two neurons.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Weight {
    /// Index of the source neuron.
    pub from: usize,
    /// Index of the target neuron.
    pub to: usize,
    /// Strength; negative values inhibit.
    pub weight: f64,
}

/// An individual's trials in its arena, seen from above. Lengths are in m.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Replay {
    /// Name of the run.
    pub run: String,
    /// Generation of the individual, from 1.
    pub generation: u64,
    /// The arena.
    pub arena: ArenaPlan,
    /// The individual, and those that it meets; of two populations, the best of each.
    pub robots: Vec<ReplayRobot>,
    /// Seconds per step.
    pub step_seconds: f64,
}

/// A robot in a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReplayRobot {
    /// Name of its population; empty if there is one only.
    pub population: String,
    /// Colour of its kind, as `#rrggbb`.
    pub colour: String,
    /// Fitness reached in this replay.
    pub fitness: f64,
    /// Outline of the robot around its origin, facing along x.
    pub shape: Vec<[f64; 2]>,
    /// One path per trial. The robots begin each trial together.
    pub trials: Vec<TrialPath>,
}

/// An arena, seen from above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ArenaPlan {
    /// Human-readable name.
    pub title: String,
    /// Minimum x, minimum y, maximum x, maximum y.
    pub bounds: [f64; 4],
    /// In drawing order.
    pub polygons: Vec<ArenaPolygon>,
}

/// A polygon in an arena.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ArenaPolygon {
    /// Vertices.
    pub points: Vec<[f64; 2]>,
    /// Kind of the polygon.
    pub kind: ArenaKind,
    /// As `#rrggbb`.
    pub colour: String,
    /// Height above the ground.
    pub height: f64,
}

/// Kind of a polygon in an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ArenaKind {
    Ground,
    Obstacle,
    Deadly,
    Terrain,
    Other,
}

/// The path of a robot in one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TrialPath {
    /// Per step: x, y, heading in rad, and whether the robot was blocked.
    pub steps: Vec<(f64, f64, f64, bool)>,
    /// Whether the trial ended on deadly ground.
    pub died: bool,
    /// Per step: the sensor beams as x1, y1, x2, y2; empty if the robot has none.
    pub beams: Vec<Vec<[f64; 4]>>,
}
