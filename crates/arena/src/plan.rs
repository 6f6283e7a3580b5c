//! World files: the TOML description of an arena, validated, with its geometry.
//!
//! Lengths are in mm, colours are `"#rrggbb"`. `plan/file.rs` lists all keys; `worlds/` has examples.

mod built_in;
mod check;
mod file;
mod outline;

use std::{
    f64::consts::{FRAC_PI_2, PI},
    time::Duration,
};

use crate::{
    ground::Ground,
    material::{Color, Material},
    polygon::Piece,
    solid::Solid,
    spatial_index::SpatialIndex,
};

/// Side of the arena, in mm.
pub const ARENA_SIZE: f64 = 2000.0;
/// Largest height and depth in the arena, in mm from ground zero.
pub const MAX_ALTITUDE: f64 = 2000.0;

/// A closed polygon in world coordinates, in mm.
pub type Polygon = Vec<[f64; 2]>;

/// A validated world description.
#[derive(Debug)]
pub struct Plan {
    title: String,
    rules: Rules,
    walls: Walls,
    obstacles: Vec<Obstacle>,
    patches: Vec<Patch>,
    deathly: Vec<Polygon>,
    floor: Floor,
    ports: Vec<Port>,
    pub(crate) scene: Scene,
}

/// Why a world file is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The file is too long.
    #[error("the world file has {bytes} bytes; at most {max} are allowed")]
    TooLong {
        /// Its length, in bytes.
        bytes: usize,
        /// The limit, in bytes.
        max: usize,
    },
    /// Not TOML, or not the format of a world file.
    #[error("{message}")]
    Syntax {
        /// The parser's message, with the nearest valid name if one is unknown.
        message: String,
    },
    /// An invalid value.
    #[error("{key}: {problem}")]
    Value {
        /// The key, such as `obstacle 3`.
        key: String,
        /// What is wrong, and what is valid.
        problem: String,
    },
}

/// The rules of a world, apart from its geometry.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// Which robots see and hit each other.
    pub isolation: Isolation,
    /// Whether a connection may control the robots of others.
    pub shared_ids: bool,
    /// A robot without a request for this long is removed; `None` for never.
    pub idle_timeout: Option<Duration>,
    /// A move is answered only when every robot has requested one, or after this timeout. Implemented by the server, not by
    /// the arena.
    pub lockstep: Option<Duration>,
    /// Maximum range of a sensor, in mm.
    pub max_range: f64,
    /// The colour that an empty beam reads.
    pub background: Color,
    /// Whether sensors sense the ground.
    pub ground: GroundSense,
    /// The convention for directions.
    pub directions: Directions,
    /// Highest step that robots can climb, in mm.
    pub max_climb: f64,
    /// Steepest slope that robots can climb, in rad.
    pub max_slope: f64,
    /// What happens at an edge higher than `max_climb`.
    pub drops: Drops,
    /// Whether a robot dies on deathly ground that it passes during a move.
    pub death_sweep: bool,
    /// Whether a new robot is not placed on deathly ground.
    pub avoid_deathly: bool,
}

/// Which robots see and hit each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// All robots do, as in the protocol.
    Shared,
    /// Only robots of the same connection do.
    PerConnection,
    /// Each robot is alone.
    PerRobot,
}

/// Whether sensors sense the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroundSense {
    /// Only if the whole beam is below the horizon, or where the ground rises above the sensor. Otherwise a horizontal beam
    /// would always end after a few centimetres.
    BelowHorizon,
    /// Wherever it is in the beam.
    Always,
    /// Never.
    Never,
}

/// Which way direction 0 points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirZero {
    /// Along the world's +x axis.
    X,
    /// Along the world's +y axis.
    Y,
    /// Along the world's -x axis.
    #[serde(rename = "-x")]
    MinusX,
    /// Along the world's -y axis.
    #[serde(rename = "-y")]
    MinusY,
}

/// Which way directions increase, seen from above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirSense {
    /// Counter-clockwise.
    Ccw,
    /// Clockwise.
    Cw,
}

/// A convention for directions, in the section `directions` of a world file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Directions {
    /// Which way direction 0 points.
    pub zero: DirZero,
    /// Which way directions increase.
    pub sense: DirSense,
}

impl Default for Directions {
    fn default() -> Self {
        Self { zero: DirZero::X, sense: DirSense::Ccw }
    }
}

impl Directions {
    /// The angle of direction 0, counter-clockwise from the world's +x, in rad.
    pub fn zero_angle(self) -> f64 {
        match self.zero {
            DirZero::X => 0.0,
            DirZero::Y => FRAC_PI_2,
            DirZero::MinusX => PI,
            DirZero::MinusY => -FRAC_PI_2,
        }
    }

    /// +1 if directions increase counter-clockwise, otherwise -1.
    pub fn sign(self) -> f64 {
        match self.sense {
            DirSense::Ccw => 1.0,
            DirSense::Cw => -1.0,
        }
    }
}

/// What happens at an edge that is higher than robots can climb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drops {
    /// The robot moves on and drops.
    Fall,
    /// The robot is blocked.
    Block,
}

/// The four walls around the arena. No robot passes over them, however low they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Walls {
    /// Above ground zero, in mm.
    pub height: f64,
    /// Their colour.
    pub color: Color,
    /// Their material.
    pub material: Material,
}

/// An obstacle, standing on the ground or above it.
#[derive(Clone, Debug, PartialEq)]
pub struct Obstacle {
    /// The union of these polygons, in the plan view.
    pub outline: Vec<Polygon>,
    /// Height of its bottom, in mm above ground zero.
    pub low: f64,
    /// Height of its top, in mm above ground zero.
    pub high: f64,
    /// Its colour.
    pub color: Color,
    /// Its material.
    pub material: Material,
    /// Name of the material in the world file.
    pub material_name: String,
}

/// A patch of ground that is not at height zero. Later patches cover earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// In the plan view.
    pub outline: Polygon,
    /// Height of each point of the outline, in mm above ground zero.
    pub heights: Vec<f64>,
    /// Its colour; that of the floor if `None`.
    pub color: Option<Color>,
}

/// The colours of the floor.
#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    /// Colour outside all areas.
    pub color: Color,
    /// In painting order: later areas cover earlier ones.
    pub areas: Vec<Area>,
}

/// A painted area of the floor.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// The union of these polygons.
    pub outline: Vec<Polygon>,
    /// Its colour.
    pub color: Color,
}

/// A port of the World Simulator and the kind of robots that connect through it.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// TCP port.
    pub port: u16,
    /// Name of the kind.
    pub kind: String,
    /// Colour of these robots.
    pub color: Color,
    /// The union of these polygons is where they start.
    pub start: Vec<Polygon>,
    pub(crate) zone: Vec<Piece>,
}

/// The geometry that queries run on.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) solids: Vec<Solid>,
    pub(crate) index: SpatialIndex,
    /// Number of solids that are obstacles. The last four are the walls, for sensors only: bodies collide with the limits
    /// of the arena instead.
    pub(crate) obstacles: usize,
    pub(crate) ground: Ground,
    pub(crate) deathly: Vec<Piece>,
}

impl Plan {
    /// Parses and validates a world file.
    ///
    /// # Errors
    ///
    /// Invalid TOML, an unknown key, or an invalid value.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        check::plan(file::read(text)?)
    }

    /// A built-in world by its name.
    pub fn built_in(name: &str) -> Option<Result<Self, PlanError>> {
        built_in::text(name).map(|text| Self::parse(&text))
    }

    /// The file of a built-in world.
    pub fn built_in_text(name: &str) -> Option<String> {
        built_in::text(name)
    }

    /// Names of the built-in worlds, sorted.
    pub fn names() -> Vec<String> {
        built_in::names()
    }

    /// A one-line description.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Its rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The walls around the arena.
    pub fn walls(&self) -> &Walls {
        &self.walls
    }

    /// Obstacles, without the walls.
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// Patches of ground that are not at height zero.
    pub fn patches(&self) -> &[Patch] {
        &self.patches
    }

    /// Ground on which robots die.
    pub fn deathly(&self) -> &[Polygon] {
        &self.deathly
    }

    /// The colours of the floor.
    pub fn floor(&self) -> &Floor {
        &self.floor
    }

    /// At least one port. A robot's kind is an index into this slice.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Height of the ground at a point, in mm above ground zero.
    pub fn height(&self, x: f64, y: f64) -> f64 {
        self.scene.ground.height(glam::DVec2::new(x, y))
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            isolation: Isolation::Shared,
            shared_ids: false,
            idle_timeout: Some(Duration::from_secs(300)),
            lockstep: None,
            max_range: 5000.0,
            background: Color([0, 0, 0]),
            ground: GroundSense::BelowHorizon,
            directions: Directions::default(),
            max_climb: 5.0,
            max_slope: 30.0_f64.to_radians(),
            drops: Drops::Fall,
            death_sweep: false,
            avoid_deathly: true,
        }
    }
}

#[cfg(test)]
mod tests;
