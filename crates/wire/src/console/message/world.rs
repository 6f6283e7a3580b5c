//! The world: what is there, how it looks and how it is.

use serde::{Deserialize, Serialize};

use super::Role;

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
    pub looks: Vec<Visual>,
    /// Triangles of those that are meshes.
    pub meshes: Vec<Mesh>,
    /// The robots.
    pub agents: Vec<AgentInfo>,
}

/// Something to draw, fixed to a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visual {
    /// The body's place.
    pub body: usize,
    /// Where it is on the body, in m.
    pub position: [f32; 3],
    /// How it is turned, w first.
    pub quaternion: [f32; 4],
    /// What it is.
    pub shape: VisualShape,
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
pub enum VisualShape {
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
pub struct AgentInfo {
    /// Its name.
    pub name: String,
    /// Name of its model.
    pub robot: String,
    /// Place of its first body; -1 if it has none.
    pub body: i64,
    /// Its motors, in order.
    pub motors: Vec<Motor>,
    /// What it senses: outputs, then infos.
    pub senses: Vec<Sensor>,
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
pub struct Sensor {
    /// Within the robot.
    pub name: String,
    /// Whether it is for people, not for controllers.
    pub info: bool,
    /// Range of its normalized values.
    pub range: [f64; 2],
}

/// How time passes, and who is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorldState {
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
pub struct AgentReadings {
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
pub struct WorldEvent {
    /// When, in ticks.
    pub tick: u64,
    /// When, in s of its try.
    pub time: f64,
    /// What.
    pub name: String,
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
