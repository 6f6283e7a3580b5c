//! The TOML format of world files with its defaults. Values are validated in `check`.

use serde::Deserialize;
use support::suggest;

use super::{Directions, Drops, GroundSense, Isolation, PlanError};
use crate::material::Color;

const MAX_BYTES: usize = 1 << 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) title: String,
    #[serde(default = "shared")]
    pub(super) isolation: Isolation,
    #[serde(default)]
    pub(super) shared_ids: bool,
    /// In s; 0 for never.
    #[serde(default = "idle_timeout")]
    pub(super) idle_timeout: f64,
    pub(super) lockstep: Option<Lockstep>,
    #[serde(default = "yes")]
    pub(super) avoid_deathly: bool,
    #[serde(default)]
    pub(super) death_sweep: bool,
    #[serde(default)]
    pub(super) directions: Directions,
    #[serde(default)]
    pub(super) sensors: Sensors,
    #[serde(default)]
    pub(super) walls: Walls,
    #[serde(default)]
    pub(super) floor: Floor,
    #[serde(default)]
    pub(super) terrain: Terrain,
    #[serde(default, rename = "material")]
    pub(super) materials: Vec<Material>,
    #[serde(default, rename = "obstacle")]
    pub(super) obstacles: Vec<Obstacle>,
    #[serde(default)]
    pub(super) deathly: Vec<Deathly>,
    #[serde(default, rename = "zone")]
    pub(super) zones: Vec<Zone>,
    #[serde(default, rename = "port")]
    pub(super) ports: Vec<Port>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lockstep {
    /// In s.
    pub(super) timeout: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Sensors {
    pub(super) max_range: f64,
    pub(super) background: Color,
    pub(super) ground: GroundSense,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Walls {
    pub(super) height: f64,
    pub(super) color: Color,
    pub(super) material: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Floor {
    pub(super) color: Color,
    #[serde(rename = "area")]
    pub(super) areas: Vec<Area>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Area {
    pub(super) shape: Outline,
    pub(super) color: Color,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Terrain {
    pub(super) max_climb: f64,
    pub(super) max_slope_deg: f64,
    pub(super) drops: Drops,
    #[serde(rename = "patch")]
    pub(super) patches: Vec<Patch>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Patch {
    pub(super) shape: Outline,
    /// Height of a plateau, in mm.
    pub(super) height: Option<f64>,
    pub(super) ramp: Option<Ramp>,
    pub(super) color: Option<Color>,
}

/// A plane that rises from one point to the other and is level across.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ramp {
    pub(super) from: [f64; 3],
    pub(super) to: [f64; 3],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Material {
    pub(super) name: String,
    pub(super) visible: bool,
    pub(super) sonic: SonicKind,
    pub(super) max_incidence_deg: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SonicKind {
    Diffuse,
    Specular,
    Absorb,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Obstacle {
    pub(super) shape: Outline,
    /// Height of its bottom, in mm; on the ground by default.
    pub(super) base: Option<f64>,
    pub(super) height: f64,
    pub(super) color: Color,
    #[serde(default = "wood")]
    pub(super) material: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Deathly {
    pub(super) shape: Outline,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Zone {
    pub(super) name: String,
    pub(super) shape: Outline,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Port {
    pub(super) port: u16,
    #[serde(default = "robot")]
    pub(super) kind: String,
    #[serde(default = "orange")]
    pub(super) color: Color,
    pub(super) zone: Option<String>,
}

/// A shape in the plan view: one of `points`, `box`, `disc` and `line`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Outline {
    /// The corners of a polygon.
    pub(super) points: Option<Vec<[f64; 2]>>,
    /// Centre x and y, width and depth.
    pub(super) r#box: Option<[f64; 4]>,
    /// Rotation of the box about its centre, counter-clockwise.
    pub(super) turn_deg: Option<f64>,
    /// Centre x and y, and radius.
    pub(super) disc: Option<[f64; 3]>,
    /// Number of sides of the polygon that approximates the disc; 16 by default.
    pub(super) sides: Option<usize>,
    /// The centre line of a band.
    pub(super) line: Option<Vec<[f64; 2]>>,
    /// Width of the band, in mm.
    pub(super) width: Option<f64>,
    /// Whether the band continues from the last point to the first.
    pub(super) closed: Option<bool>,
}

fn shared() -> Isolation {
    Isolation::Shared
}

fn idle_timeout() -> f64 {
    300.0
}

fn yes() -> bool {
    true
}

fn wood() -> String {
    "wood".to_owned()
}

fn robot() -> String {
    "robot".to_owned()
}

pub(super) fn orange() -> Color {
    Color([0xf3, 0x9c, 0x12])
}

impl Default for Sensors {
    fn default() -> Self {
        Self { max_range: 5000.0, background: Color([0, 0, 0]), ground: GroundSense::BelowHorizon }
    }
}

impl Default for Walls {
    fn default() -> Self {
        Self { height: 200.0, color: Color([0xec, 0xe5, 0xd8]), material: "wallpaper".to_owned() }
    }
}

impl Default for Floor {
    fn default() -> Self {
        Self { color: Color([0xd9, 0xd4, 0xc7]), areas: Vec::new() }
    }
}

impl Default for Terrain {
    fn default() -> Self {
        Self { max_climb: 5.0, max_slope_deg: 30.0, drops: Drops::Fall, patches: Vec::new() }
    }
}

pub(super) fn read(text: &str) -> Result<File, PlanError> {
    if text.len() > MAX_BYTES {
        return Err(PlanError::TooLong { bytes: text.len(), max: MAX_BYTES });
    }
    toml::from_str(text).map_err(|error| PlanError::Syntax { message: suggest::toml_message(&error) })
}
