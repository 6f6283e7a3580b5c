//! The world: bodies, agents, time, clients and variables.

use serde::{Deserialize, Serialize};

use super::Role;

/// Bodies, their appearance, and agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Scene {
    /// Incremented with every change; pose frames carry it.
    pub generation: u32,
    /// Names of the bodies. The first is the world; body `i` has entry `i - 1` of a pose frame.
    pub bodies: Vec<String>,
    /// Index of each body's parent.
    pub parents: Vec<usize>,
    /// Everything to draw.
    pub looks: Vec<Visual>,
    /// Meshes referenced by `looks`.
    pub meshes: Vec<Mesh>,
    /// Robots.
    pub agents: Vec<AgentInfo>,
}

/// A shape to draw, attached to a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Visual {
    /// Index of the body.
    pub body: usize,
    /// Position in the body's frame, in m.
    pub position: [f32; 3],
    /// Orientation in the body's frame, w first.
    pub quaternion: [f32; 4],
    /// Kind of shape.
    pub shape: VisualShape,
    /// In m; the meaning depends on the shape. Plane: half lengths along x and y, 0 is infinite. Sphere: radius. Capsule
    /// and cylinder: radius, half length along z (without a capsule's hemispheres). Ellipsoid: three radii. Box: three
    /// half lengths. Mesh: index in `meshes`.
    pub size: Vec<f32>,
    /// Red, green, blue and opacity, 0 to 1.
    pub rgba: [f32; 4],
    /// Name of the material.
    pub material: Option<String>,
}

/// Kind of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum VisualShape {
    Plane,
    Sphere,
    Capsule,
    Cylinder,
    Ellipsoid,
    Box,
    Mesh,
}

/// A triangle mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Mesh {
    /// Coordinates of the vertices, in m: x, y, z of the first, then of the next.
    pub vertices: Vec<f32>,
    /// Vertex indices, three per triangle.
    pub faces: Vec<u32>,
}

/// Static description of a robot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AgentInfo {
    /// Name of the agent.
    pub name: String,
    /// Name of its model.
    pub robot: String,
    /// Index of its first body in the scene; -1 if it has none.
    pub body: i64,
    /// Motors, in order.
    pub motors: Vec<Motor>,
    /// Sensors: outputs, then infos.
    pub senses: Vec<Sensor>,
}

/// A motor of a robot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Motor {
    /// Unique within the robot.
    pub name: String,
    /// Quantity it controls.
    pub kind: MotorKind,
    /// Range of the target, in physical units.
    pub range: [f64; 2],
}

/// Quantity a motor controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum MotorKind {
    Position,
    Velocity,
    Torque,
}

/// A sensor value of a robot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Sensor {
    /// Unique within the robot.
    pub name: String,
    /// Whether it is an info value: not meant for controllers.
    pub info: bool,
    /// Range of the normalised value.
    pub range: [f64; 2],
}

/// The clock and the connected clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WorldState {
    /// Ticks since the start.
    pub tick: u64,
    /// Ticks since the last reset.
    pub step: u64,
    /// Number of episodes started; a reset starts a new one.
    pub tries: u64,
    /// Simulated time since the last reset, in s.
    pub time: f64,
    /// Whether the simulation is paused.
    pub paused: bool,
    /// `realtime`, `lockstep`, `eager` or `fast`.
    pub pace: String,
    /// Multiple of real time, where the pace follows the wall clock.
    pub speed: f64,
    /// Recent rate.
    pub ticks_per_second: f64,
    /// Why the simulation has halted until the next reset, if it has.
    pub standstill: Option<String>,
    /// Connected clients.
    pub clients: Vec<Client>,
}

/// A connected client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Client {
    /// Id of the connection.
    pub id: u64,
    /// `soccer`, `osp`, `odcp`, `oz`, `console` and others.
    pub protocol: String,
    /// Remote address; may be empty.
    pub peer: String,
    /// Names of the agents it controls.
    pub agents: Vec<String>,
    /// Rights of a console.
    pub role: Option<Role>,
    /// Whether the world waits for it in each tick.
    pub lockstep: bool,
}

/// Readings of one agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AgentReadings {
    /// Name of the agent.
    pub name: String,
    /// Simulated time since the last reset, in s.
    pub time: f64,
    /// One value per motor, in physical units.
    pub motors: Vec<f64>,
    /// One normalised value per sensor.
    pub senses: Vec<f64>,
}

/// An event in the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WorldEvent {
    /// Tick that raised it.
    pub tick: u64,
    /// Simulated time since the last reset, in s.
    pub time: f64,
    /// Name of the event.
    pub name: String,
}

/// A variable of the world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Variable {
    /// Full name.
    pub name: String,
    /// Type of its value.
    pub kind: String,
    /// Whether `write` may change it.
    pub writable: bool,
}
