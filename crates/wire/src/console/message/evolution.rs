//! Evolutionary runs.

use serde::{Deserialize, Serialize};

/// What can be evolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvolutionInfo {
    /// To live in.
    pub worlds: Vec<Choice>,
    /// To have.
    pub bodies: Vec<Choice>,
    /// To be good at.
    pub fitnesses: Vec<Choice>,
    /// To move on by.
    pub algorithms: Vec<String>,
    /// Where this server's Robot Simulator listens.
    pub robot_simulator: Option<String>,
    /// Where its World Simulator does.
    pub world_simulator: Option<String>,
    /// Of the runs.
    pub folder: String,
}

/// Something to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// For the program.
    pub name: String,
    /// For people.
    pub title: String,
}

/// A run, in a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Of its folder.
    pub name: String,
    /// How it moves on.
    pub algorithm: String,
    /// Where it is tested.
    pub place: String,
    /// Of everything random.
    pub seed: u64,
    /// How many there are to be.
    pub generations: u64,
    /// How many there are.
    pub generation: u64,
    /// Highest fitness so far.
    pub best: Option<f64>,
    /// Whether somebody is at it.
    pub state: RunState,
    /// Why it failed, if it did.
    pub words: String,
    /// Whether its individuals are tested in its own process.
    pub here: bool,
}

/// Whether somebody is at a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum RunState {
    Running,
    Stopped,
    Finished,
    Failed,
}

/// A run, at length. The lists have an entry for each generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunDetail {
    /// Of its folder.
    pub name: String,
    /// Highest fitness.
    pub best: Vec<f64>,
    /// Mean fitness.
    pub mean: Vec<f64>,
    /// Lowest fitness.
    pub worst: Vec<f64>,
    /// Highest fitness up to there.
    pub best_so_far: Vec<f64>,
    /// How different the individuals are.
    pub diversity: Vec<f64>,
    /// Of the best individual so far.
    pub net: Option<Net>,
}

/// A neural net.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Net {
    /// Whose.
    pub generation: u64,
    /// Whose.
    pub individual: u64,
    /// What it reached.
    pub fitness: f64,
    /// Names of the input neurons.
    pub inputs: Vec<String>,
    /// How many hidden neurons.
    pub hidden: usize,
    /// Names of the output neurons.
    pub outputs: Vec<String>,
    /// Between neurons: inputs come first, then the hidden ones, then outputs.
    pub weights: Vec<Weight>,
}

/// A connection between neurons.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weight {
    /// Number of a neuron.
    pub from: usize,
    /// Number of a neuron.
    pub to: usize,
    /// How strong.
    pub weight: f64,
}

/// How an individual moves. Lengths are in m.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// Name of the run.
    pub run: String,
    /// Its generation.
    pub generation: u64,
    /// What it reaches now.
    pub fitness: f64,
    /// Where.
    pub arena: ArenaPlan,
    /// Outline of the robot, about its origin, facing along x.
    pub shape: Vec<[f64; 2]>,
    /// How each trial went.
    pub trials: Vec<TrialPath>,
    /// Of a step.
    pub step_seconds: f64,
}

/// An arena from above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArenaPlan {
    /// Its name.
    pub title: String,
    /// Least x, least y, greatest x, greatest y.
    pub bounds: [f64; 4],
    /// In the order in which they are drawn.
    pub polygons: Vec<ArenaPolygon>,
}

/// Something in an arena.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArenaPolygon {
    /// Its corners.
    pub points: Vec<[f64; 2]>,
    /// What it is.
    pub kind: ArenaKind,
    /// As `#rrggbb`.
    pub colour: String,
    /// Above the ground.
    pub height: f64,
}

/// What something in an arena is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum ArenaKind {
    Ground,
    Obstacle,
    Deadly,
    Terrain,
    Other,
}

/// How a trial went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialPath {
    /// Where it was, which way it faced, and whether it was blocked.
    pub steps: Vec<(f64, f64, f64, bool)>,
    /// Whether it ended on deathly ground.
    pub died: bool,
    /// The beams at each step, from and to.
    pub beams: Vec<Vec<[f64; 4]>>,
}
