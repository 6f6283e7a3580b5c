//! What a browser is told.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Side;

/// A text frame from the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Message {
    /// First of all, once.
    Hello(Box<Hello>),
    /// What is there, and how it looks.
    Scene(Scene),
    /// How time passes, and who is there.
    State(State),
    /// What an agent measures.
    Agent(AgentNews),
    /// What happened.
    Events {
        /// The latest last.
        events: Vec<Event>,
    },
    /// How a game stands.
    Game(Game),
    /// What the referee decided.
    Decisions {
        /// The latest last.
        decisions: Vec<Decision>,
    },
    /// How the puppet is.
    Puppet(Puppet),
    /// What happened to the puppet.
    PuppetEvents {
        /// The latest last.
        events: Vec<PuppetEvent>,
    },
    /// How the parts are doing.
    Health {
        /// All that have said something.
        parts: Vec<Part>,
        /// Numbers for people.
        gauges: Vec<Gauge>,
    },
    /// Lines of the log.
    Log {
        /// The latest last.
        lines: Vec<LogLine>,
    },
    /// All evolutionary runs.
    Evolution {
        /// The latest first.
        runs: Vec<RunSummary>,
    },
    /// One of them.
    Run(RunDetail),
    /// How an individual moves.
    Replay(Replay),
    /// What is under a path of the variables' tree.
    List {
        /// The path.
        path: String,
        /// Names of what has more below.
        folders: Vec<String>,
        /// Variables right here.
        variables: Vec<Variable>,
    },
    /// What was searched for.
    Found {
        /// The words.
        search: String,
        /// How many there are; not all may be listed.
        total: usize,
        /// The first of them.
        variables: Vec<Variable>,
    },
    /// A variable.
    Value {
        /// Its name.
        variable: String,
        /// Its text.
        value: String,
    },
    /// What is observed.
    Values {
        /// Texts by name.
        values: BTreeMap<String, String>,
    },
    /// Recordings and logs.
    Films {
        /// Where they are.
        folder: String,
        /// The latest first.
        films: Vec<FilmCard>,
    },
    /// One of them.
    Film(Film),
    /// Something kept for the desk.
    Saved {
        /// Under this name.
        key: String,
        /// What.
        value: serde_json::Value,
    },
    /// A command was carried out.
    Done {
        /// Its number.
        id: u64,
    },
    /// Something was not done.
    Refused {
        /// Number of the command, if it had one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
        /// Why.
        why: String,
    },
}

impl Message {
    /// As a text frame.
    pub fn to_text(&self) -> String {
        // plain data always has a text
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a text frame.
    pub fn decode(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// Who somebody is to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// May do everything.
    Operator,
    /// May look on.
    Viewer,
}

/// What a browser has to know first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Version of these words.
    pub api: u32,
    /// Version of the program.
    pub version: String,
    /// Of the scenario.
    pub title: String,
    /// What this browser may do.
    pub role: Role,
    /// Number of its connection.
    pub you: u64,
    /// Simulated seconds of a tick.
    pub tick_seconds: f64,
    /// Everything that listens.
    pub addresses: Vec<Address>,
    /// The soccer game, if there is one.
    pub soccer: Option<SoccerInfo>,
    /// The puppet, if there is one.
    pub puppet: Option<PuppetInfo>,
    /// What can be evolved, if something can.
    pub evolution: Option<EvolutionInfo>,
    /// File of the recording that is being made.
    pub recording: Option<String>,
}

/// Something that listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// What answers there.
    pub title: String,
    /// `tcp`, `udp` or `http`.
    pub kind: String,
    /// Where.
    pub address: String,
}

/// What is there, and how it looks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// Counts the changes.
    pub generation: u32,
    /// Names; the world is the first.
    pub bodies: Vec<String>,
    /// The body each hangs on.
    pub parents: Vec<usize>,
    /// Everything to be seen.
    pub looks: Vec<Look>,
    /// Triangles of those that are meshes.
    pub meshes: Vec<Mesh>,
    /// The robots.
    pub agents: Vec<AgentCard>,
}

/// Something to draw, fixed to a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// The body's place.
    pub body: usize,
    /// Where it is on the body, in m.
    pub position: [f32; 3],
    /// How it is turned, w first.
    pub quaternion: [f32; 4],
    /// What it is.
    pub shape: LookShape,
    /// Measures in m, as the shape wants them; the place of a mesh.
    pub size: Vec<f32>,
    /// Red, green, blue and opacity, 0 to 1.
    pub rgba: [f32; 4],
    /// Name of its material.
    pub material: Option<String>,
}

/// A shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "as in the document")]
pub enum LookShape {
    Plane,
    Sphere,
    Capsule,
    Cylinder,
    Ellipsoid,
    Box,
    Mesh,
}

/// Triangles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mesh {
    /// Coordinates of corners, in m.
    pub vertices: Vec<f32>,
    /// Places of corners.
    pub faces: Vec<u32>,
}

/// A robot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentCard {
    /// Its name.
    pub name: String,
    /// Name of its model.
    pub robot: String,
    /// Place of its first body; -1 if it has none.
    pub body: i64,
    /// Its motors, in order.
    pub motors: Vec<Motor>,
    /// What it senses: outputs, then infos.
    pub senses: Vec<Sense>,
}

/// A motor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Motor {
    /// Within the robot.
    pub name: String,
    /// What its target is.
    pub kind: MotorKind,
    /// Range of the target, in physical units.
    pub range: [f64; 2],
}

/// What the target of a motor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum MotorKind {
    Position,
    Velocity,
    Torque,
}

/// Something a robot senses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sense {
    /// Within the robot.
    pub name: String,
    /// Whether it is for people, not for controllers.
    pub info: bool,
    /// Range of its normalized values.
    pub range: [f64; 2],
}

/// How time passes, and who is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Ticks since the start.
    pub tick: u64,
    /// Ticks in this try.
    pub step: u64,
    /// Number of the try.
    pub tries: u64,
    /// Time of this try, in s.
    pub time: f64,
    /// Whether time stands still.
    pub paused: bool,
    /// What sets the speed.
    pub pace: String,
    /// How many times real time.
    pub speed: f64,
    /// Of late.
    pub ticks_per_second: f64,
    /// Why the simulation stands still until a reset, if it does.
    pub standstill: Option<String>,
    /// Whoever is connected.
    pub clients: Vec<Client>,
}

/// Whoever is connected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// Number of the connection.
    pub id: u64,
    /// Name of the protocol.
    pub protocol: String,
    /// Its address.
    pub peer: String,
    /// Names of the agents that it controls.
    pub agents: Vec<String>,
    /// What a browser may do.
    pub role: Option<Role>,
    /// Whether the world waits for it at each tick.
    pub lockstep: bool,
}

/// What an agent measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentNews {
    /// Its name.
    pub name: String,
    /// In s.
    pub time: f64,
    /// Its motors, in physical units.
    pub motors: Vec<f64>,
    /// Its senses, normalized.
    pub senses: Vec<f64>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When, in ticks.
    pub tick: u64,
    /// When, in s of its try.
    pub time: f64,
    /// What.
    pub name: String,
}

/// What there is to know about a soccer game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoccerInfo {
    /// Names of all play modes.
    pub modes: Vec<String>,
    /// Length and width of the field, in m.
    pub field: [f64; 2],
    /// How many may play on each side.
    pub players_per_team: usize,
}

/// How a game stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Game {
    /// The game clock, in s.
    pub play_time: f64,
    /// Name of the play mode.
    pub mode: String,
    /// Names of the left and the right team.
    pub teams: [Option<String>; 2],
    /// Goals of both.
    pub score: [u32; 2],
    /// 1 or 2.
    pub half: u8,
    /// Who plays.
    pub players: Vec<Player>,
    /// Place of the ball's body.
    pub ball: Option<usize>,
    /// The demo game, if there is one.
    pub demo: Option<DemoGame>,
}

/// A demo game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DemoGame {
    /// Players of each team.
    pub players: u8,
    /// How it is doing.
    pub note: String,
}

/// A player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Player {
    /// Its team's.
    pub side: Side,
    /// On its back.
    pub number: u8,
    /// Name of the agent.
    pub agent: String,
    /// Place of its first body.
    pub body: i64,
}

/// What a referee decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Counts decisions.
    pub number: u64,
    /// On the game clock, in s.
    pub play_time: f64,
    /// In words.
    pub text: String,
}

/// What there is to know about the puppet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PuppetInfo {
    /// What it calls itself.
    pub name: String,
    /// Name of the agent.
    pub robot: String,
    /// What it can do.
    pub gestures: Vec<GestureCard>,
    /// Faces it can make.
    pub expressions: Vec<Numbered>,
    /// What it can look at.
    pub look_ats: Vec<Numbered>,
    /// Its servos, in order.
    pub servos: Vec<ServoCard>,
    /// What has a weight.
    pub subsystems: Vec<String>,
}

/// A gesture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GestureCard {
    /// Its number.
    pub id: u32,
    /// For people.
    pub name: String,
    /// In spoken text, in brackets.
    pub tag: String,
    /// How long it takes, in s.
    pub seconds: f32,
}

/// Something with a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Numbered {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
}

/// A servo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServoCard {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Where it is.
    pub part: String,
}

/// How the puppet is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Puppet {
    /// Of the servos, 0 to 1.
    pub positions: Vec<f32>,
    /// By subsystem, 0 to 1.
    pub weights: BTreeMap<String, f32>,
    /// Number of the expression.
    pub expression: u32,
    /// Number of what it looks at.
    pub look_at: u32,
    /// A second.
    pub blinks: f32,
    /// 0 to 1.
    pub volume: f32,
    /// 0.5 to 2.
    pub pitch: f32,
    /// Whether it has something to say.
    pub speaking: bool,
    /// How many gestures play.
    pub gestures: usize,
    /// In the picture.
    pub faces: Vec<FaceBox>,
    /// Names of faces that are known.
    pub known: Vec<String>,
    /// Whether only one operator may move it.
    pub one_at_a_time: bool,
    /// Which client does.
    pub in_control: Option<u64>,
    /// How many look on.
    pub operators: usize,
}

/// A face in the picture; lengths are parts of the picture's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaceBox {
    /// As long as it is in view.
    pub id: u64,
    /// Empty if it is not known.
    pub name: String,
    /// 0 to 1.
    pub confidence: f32,
    /// Of its left edge.
    pub x: f32,
    /// Of its upper edge.
    pub y: f32,
    /// Of its box.
    pub width: f32,
    /// Of its box.
    pub height: f32,
}

/// Something that happened to the puppet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PuppetEvent {
    /// Counts them.
    pub number: u64,
    /// Since the puppet began, in s.
    pub time: f64,
    /// What.
    #[serde(flatten)]
    pub what: PuppetNews,
}

/// What happened to the puppet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum PuppetNews {
    /// A text begins to be said.
    SpeakBegun {
        /// Which.
        speech: u64,
    },
    /// A text has been said, or was cut short.
    SpeakDone {
        /// Which.
        speech: u64,
    },
    /// A gesture in a text begins.
    SpeakGesture {
        /// Which.
        gesture: u32,
    },
    /// A gesture is over.
    GestureDone {
        /// Which.
        gesture: u32,
    },
    /// Somebody said something.
    Utterance {
        /// What it may have been, the most likely first.
        options: Vec<Heard>,
    },
}

/// What somebody may have said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    /// The words.
    pub text: String,
    /// 0 to 1.
    pub confidence: f32,
}

/// How a part is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Which.
    pub name: String,
    /// Whether it does what it is there for.
    pub works: bool,
    /// In words.
    pub words: String,
}

/// A number for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gauge {
    /// Which.
    pub name: String,
    /// Of the value.
    pub unit: String,
    /// Now.
    pub value: f64,
    /// What it means.
    pub help: String,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// In s since 1970.
    pub time: f64,
    /// `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`.
    pub level: String,
    /// What it says.
    pub text: String,
}

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

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Full name.
    pub name: String,
    /// What it holds.
    pub kind: String,
    /// Whether it can be written.
    pub writable: bool,
}

/// A recording or a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilmCard {
    /// Of the file.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// What it is.
    pub kind: FilmKind,
}

/// What a film is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FilmKind {
    /// A recording, which is run again.
    Recording,
    /// What monitors of a soccer game were sent.
    Log,
}

/// A film, as far as it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Film {
    /// Of the file.
    pub name: String,
    /// Frames that can be asked for.
    pub ready: usize,
    /// Whether all that there is has been read.
    pub complete: bool,
    /// Why it was not read to the end, if it was not.
    pub trouble: Option<String>,
    /// Frames a second.
    pub rate: f64,
    /// Looks that are new, and from which frame on.
    pub scenes: Vec<FilmScene>,
    /// On the time line.
    pub marks: Vec<Mark>,
}

/// How a film looks from a frame on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilmScene {
    /// Number of the frame.
    pub from: usize,
    /// What is there then.
    pub scene: Scene,
}

/// Something on the time line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Number of the frame.
    pub frame: usize,
    /// What.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_as_the_document_writes_them() {
        let check = |message: Message, text: &str| {
            assert_eq!(message.to_text(), text);
            assert_eq!(Message::decode(text).expect(text), message);
        };
        check(Message::Done { id: 3 }, r#"{"type":"done","id":3}"#);
        check(Message::Refused { id: None, why: "no".to_owned() }, r#"{"type":"refused","why":"no"}"#);
        let what = PuppetNews::SpeakDone { speech: 2 };
        check(
            Message::PuppetEvents { events: vec![PuppetEvent { number: 1, time: 0.5, what }] },
            r#"{"type":"puppet-events","events":[{"number":1,"time":0.5,"what":"speak-done","speech":2}]}"#,
        );
        let look = Look {
            body: 1,
            position: [0.0; 3],
            quaternion: [1.0, 0.0, 0.0, 0.0],
            shape: LookShape::Sphere,
            size: vec![0.5],
            rgba: [1.0; 4],
            material: None,
        };
        check(
            Message::Scene(Scene {
                generation: 1,
                bodies: vec!["world".to_owned()],
                parents: vec![0],
                looks: vec![look],
                meshes: Vec::new(),
                agents: Vec::new(),
            }),
            r#"{"type":"scene","generation":1,"bodies":["world"],"parents":[0],"looks":[{"body":1,"position":[0.0,0.0,0.0],"quaternion":[1.0,0.0,0.0,0.0],"shape":"sphere","size":[0.5],"rgba":[1.0,1.0,1.0,1.0],"material":null}],"meshes":[],"agents":[]}"#,
        );
    }
}
