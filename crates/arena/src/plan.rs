//! What a world is: a TOML file, checked, with its geometry worked out.
//!
//! All lengths are in mm, all colours are `"#rrggbb"`. `plan/file.rs` lists what a file may say; `worlds/` has examples.

mod check;
mod file;
mod outline;
mod shipped;

use std::time::Duration;

use crate::{
    blocks::Blocks,
    ground::Ground,
    material::{Color, Material},
    polygon::Piece,
    solid::Solid,
};

/// Side of the arena, in mm.
pub const ARENA_SIZE: f64 = 2000.0;
/// Lowest and highest place in the arena, in mm from ground zero.
pub const MAX_ALTITUDE: f64 = 2000.0;

/// A closed polygon in world coordinates, in mm.
pub type Polygon = Vec<[f64; 2]>;

/// A checked world.
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

/// Why a world is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// It is too long to be a world.
    #[error("a world has at most {max} bytes, this one has {bytes}")]
    TooLong {
        /// What there is.
        bytes: usize,
        /// What there may be.
        max: usize,
    },
    /// It is not TOML, or says something that no world can say.
    #[error("{message}")]
    Syntax {
        /// Where and what, with the nearest known name if one is unknown.
        message: String,
    },
    /// A value makes no sense.
    #[error("{key}: {problem}")]
    Value {
        /// Where it is, for example `obstacle 3`.
        key: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
}

/// How the world behaves, apart from what stands in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// Who meets whom.
    pub isolation: Isolation,
    /// Whether a connection may use the robots of others.
    pub shared_ids: bool,
    /// A robot that hears nothing for so long is taken out; never, if none.
    pub idle_timeout: Option<Duration>,
    /// A move is answered only when each living robot has asked for one, or when so much time has passed.
    /// Carried out by whoever owns the sockets.
    pub lockstep: Option<Duration>,
    /// Greatest distance that a sensor finds, in mm.
    pub max_range: f64,
    /// What a sensor sees where there is nothing.
    pub background: Color,
    /// Whether sensors find the ground.
    pub ground: GroundSense,
    /// Which way direction 0 points.
    pub dir_zero: DirZero,
    /// Which way directions grow.
    pub dir_sense: DirSense,
    /// Highest step that robots climb, in mm.
    pub max_climb: f64,
    /// Steepest slope that robots climb, in rad.
    pub max_slope: f64,
    /// Whether robots may leave an edge that is higher than what they climb.
    pub drops: Drops,
    /// Whether a robot dies on deathly ground that it only passes during a move.
    pub death_sweep: bool,
    /// Whether a new robot is put where it does not die at once.
    pub avoid_deathly: bool,
}

/// Who meets whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// All robots see and hit each other, as the protocol has it.
    Shared,
    /// Only robots of the same connection do.
    PerConnection,
    /// Each robot is alone.
    PerRobot,
}

/// Whether sensors find the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroundSense {
    /// Only if the whole beam is below the horizon, or where it rises above the sensor. Otherwise each horizontal beam
    /// would end a few centimetres on.
    BelowHorizon,
    /// Wherever it is in the beam.
    Always,
    /// Never.
    Never,
}

/// Which way direction 0 points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirZero {
    /// Along the world's +x axis.
    X,
    /// Along the world's +y axis.
    Y,
}

/// Which way directions grow, seen from above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirSense {
    /// Counter-clockwise.
    Ccw,
    /// Clockwise.
    Cw,
}

/// What happens at an edge that is higher than robots climb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drops {
    /// The robot goes on, and down.
    Fall,
    /// The robot is blocked.
    Block,
}

/// The four walls around the arena. No part of a robot gets over them, however high it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Walls {
    /// Above ground zero, in mm.
    pub height: f64,
    /// How they look.
    pub color: Color,
    /// What they are made of.
    pub material: Material,
}

/// Something that stands or hangs in the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Obstacle {
    /// Its polygons seen from above; their union.
    pub outline: Vec<Polygon>,
    /// Lowest point, in mm from ground zero.
    pub low: f64,
    /// Highest point, in mm from ground zero.
    pub high: f64,
    /// How it looks.
    pub color: Color,
    /// What it is made of.
    pub material: Material,
    /// The name of that.
    pub material_name: String,
}

/// A part of the ground that is not at height zero. Later ones lie over earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// Seen from above.
    pub outline: Polygon,
    /// Height of each point of the outline, in mm from ground zero.
    pub heights: Vec<f64>,
    /// How it looks, if not as the floor.
    pub color: Option<Color>,
}

/// The floor's looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    /// Where no area lies.
    pub color: Color,
    /// Painted in this order, each over those before.
    pub areas: Vec<Area>,
}

/// A painted area of the floor.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// Its polygons; their union.
    pub outline: Vec<Polygon>,
    /// How it looks.
    pub color: Color,
}

/// A port of the World Simulator, with the kind of robots that come through it.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// TCP port.
    pub port: u16,
    /// What these robots are called.
    pub kind: String,
    /// How these robots look.
    pub color: Color,
    /// Where they start, as polygons.
    pub start: Vec<Polygon>,
    pub(crate) zone: Vec<Piece>,
}

/// The geometry that queries run on.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) solids: Vec<Solid>,
    pub(crate) blocks: Blocks,
    /// The last four of the solids are the walls; these bodies hit by their coordinates.
    pub(crate) obstacles: usize,
    pub(crate) ground: Ground,
    pub(crate) deathly: Vec<Piece>,
}

impl Plan {
    /// Reads and checks a world.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        check::plan(file::read(text)?)
    }

    /// A world that comes with the program.
    pub fn shipped(name: &str) -> Option<Result<Self, PlanError>> {
        shipped::text(name).map(|text| Self::parse(&text))
    }

    /// The file of a world that comes with the program.
    pub fn shipped_text(name: &str) -> Option<String> {
        shipped::text(name)
    }

    /// Names of the worlds that come with the program, sorted.
    pub fn names() -> Vec<String> {
        shipped::names()
    }

    /// One line that says what it is.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// How it behaves.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The walls around it.
    pub fn walls(&self) -> &Walls {
        &self.walls
    }

    /// What stands or hangs in it, without the walls.
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// Where the ground is not at height zero.
    pub fn patches(&self) -> &[Patch] {
        &self.patches
    }

    /// Ground on which robots die.
    pub fn deathly(&self) -> &[Polygon] {
        &self.deathly
    }

    /// The floor's looks.
    pub fn floor(&self) -> &Floor {
        &self.floor
    }

    /// At least one. A robot's kind is an index into this.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Height of the ground at a place, in mm from ground zero.
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
            dir_zero: DirZero::X,
            dir_sense: DirSense::Ccw,
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
