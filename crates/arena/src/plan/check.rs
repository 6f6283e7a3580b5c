//! Validation of a world file.

use std::time::Duration;

use glam::DVec2;
use support::suggest;

use super::{
    ARENA_SIZE, Area, Floor, MAX_ALTITUDE, Obstacle, Patch, Plan, PlanError, Port, Rules, Scene, Walls, file,
    outline::{self, Shape},
};
use crate::{
    ground::{self, ClimbLimits, Ground, MAX_FACETS, Plane, TerrainPatch},
    material::{Color, Material, Sonic},
    polygon::{self, Piece},
    solid::Solid,
    spatial_index::SpatialIndex,
};

const MAX_TITLE: usize = 200;
const MAX_NAME: usize = 64;
const MAX_MATERIALS: usize = 64;
const MAX_OBSTACLES: usize = 2000;
const MAX_PATCHES: usize = 64;
const MAX_AREAS: usize = 500;
const MAX_DEATHLY: usize = 500;
const MAX_ZONES: usize = 64;
const MAX_PORTS: usize = 30;
const MAX_SECONDS: f64 = 1e6;
/// Maximum lockstep timeout, in s: simulators give up on a world that is silent for half a minute.
const MAX_LOCKSTEP: f64 = 25.0;
const DEFAULT_PORT: u16 = 7770;
/// Thickness of the walls around the arena, in mm. Not visible from inside.
const WALL_THICKNESS: f64 = 20.0;

type Checked<T> = Result<T, PlanError>;

fn invalid(key: impl Into<String>, problem: impl Into<String>) -> PlanError {
    PlanError::Value { key: key.into(), problem: problem.into() }
}

/// Rejects values outside `min..=max`, and NaN.
fn within(key: &str, value: f64, min: f64, max: f64) -> Checked<f64> {
    match (min..=max).contains(&value) {
        true => Ok(value),
        false => Err(invalid(key, format!("{value} is out of range {min}..={max}"))),
    }
}

fn at_most<T>(key: &str, list: &[T], max: usize) -> Checked<()> {
    match list.len() <= max {
        true => Ok(()),
        false => Err(invalid(key, format!("{} entries; at most {max} are allowed", list.len()))),
    }
}

fn one_line(key: &str, text: &str, max: usize) -> Checked<String> {
    match (1..=max).contains(&text.chars().count()) && !text.chars().any(char::is_control) {
        true => Ok(text.to_owned()),
        false => Err(invalid(key, format!("must be one line of 1 to {max} characters"))),
    }
}

fn shape(key: &str, outline: &file::Outline) -> Checked<Shape> {
    outline::shape(outline).map_err(|error| invalid(key, error.to_string()))
}

pub(super) fn plan(file: file::File) -> Checked<Plan> {
    let rules = rules(&file)?;
    let materials = Materials::new(&file.materials)?;
    let walls = Walls {
        height: within("walls.height", file.walls.height, 0.0, MAX_ALTITUDE)?,
        color: file.walls.color,
        material: materials.named("walls.material", &file.walls.material)?,
    };
    let (floor, areas) = floor(&file.floor)?;
    let (patches, patches_on_ground) = patches(&file.terrain.patches)?;
    let limits = ClimbLimits { max_climb: rules.max_climb, max_slope: rules.max_slope, drops: rules.drops };
    let ground = Ground::new(&patches_on_ground, &limits, file.floor.color.0, areas).ok_or_else(|| {
        invalid("terrain", format!("the patches divide the ground into more than {MAX_FACETS} facets"))
    })?;
    let (obstacles, mut solids) = obstacles(&file.obstacles, &materials, &ground)?;
    let obstacle_solids = solids.len();
    let lowest = patches_on_ground.iter().flat_map(|patch| heights(&patch.plane, &patch.pieces)).fold(0.0, f64::min);
    solids.extend(wall_solids(&walls, lowest));
    at_most("deathly", &file.deathly, MAX_DEATHLY)?;
    let deathly: Vec<Shape> =
        file.deathly.iter().map(|deathly| shape("deathly", &deathly.shape)).collect::<Checked<_>>()?;
    Ok(Plan {
        title: one_line("title", &file.title, MAX_TITLE)?,
        ports: ports(&file)?,
        scene: Scene {
            index: SpatialIndex::new(solids.iter().map(|solid| solid.bounds)),
            obstacles: obstacle_solids,
            solids,
            ground,
            deathly: deathly.iter().flat_map(|shape| shape.pieces.clone()).collect(),
        },
        deathly: deathly.into_iter().flat_map(|shape| shape.polygons).collect(),
        rules,
        walls,
        obstacles,
        patches,
        floor,
    })
}

fn rules(file: &file::File) -> Checked<Rules> {
    let idle = match file.idle_timeout {
        0.0 => 0.0,
        seconds => within("idle_timeout (0 is none)", seconds, 1.0, MAX_SECONDS)?,
    };
    let lockstep = match &file.lockstep {
        Some(lockstep) => {
            let seconds = within("lockstep.timeout", lockstep.timeout, 0.001, MAX_LOCKSTEP)?;
            Some(Duration::from_secs_f64(seconds))
        }
        None => None,
    };
    Ok(Rules {
        isolation: file.isolation,
        shared_ids: file.shared_ids,
        idle_timeout: (idle > 0.0).then(|| Duration::from_secs_f64(idle)),
        lockstep,
        max_range: within("sensors.max_range", file.sensors.max_range, 1.0, 1e5)?,
        background: file.sensors.background,
        ground: file.sensors.ground,
        directions: file.directions,
        max_climb: within("terrain.max_climb", file.terrain.max_climb, 0.0, MAX_ALTITUDE)?,
        max_slope: within("terrain.max_slope_deg", file.terrain.max_slope_deg, 0.0, 90.0)?.to_radians(),
        drops: file.terrain.drops,
        death_sweep: file.death_sweep,
        avoid_deathly: file.avoid_deathly,
    })
}

struct Materials(Vec<(String, Material)>);

impl Materials {
    fn new(own: &[file::Material]) -> Checked<Self> {
        at_most("material", own, MAX_MATERIALS)?;
        let mut known: Vec<_> = Material::PREDEFINED.map(|(name, material)| (name.to_owned(), material)).into();
        for entry in own {
            let name = one_line("material.name", &entry.name, MAX_NAME)?;
            let key = format!("material `{name}`");
            if known.iter().any(|(other, _)| *other == name) {
                return Err(invalid(key, "duplicate name"));
            }
            let sonic = match (entry.sonic, entry.max_incidence_deg) {
                (file::SonicKind::Specular, Some(degrees)) => {
                    Sonic::Specular { max_incidence: within(&key, degrees, 0.0, 90.0)?.to_radians() }
                }
                (file::SonicKind::Specular, None) => return Err(invalid(key, "needs `max_incidence_deg`")),
                (_, Some(_)) => return Err(invalid(key, "`max_incidence_deg` requires `sonic = \"specular\"`")),
                (file::SonicKind::Diffuse, None) => Sonic::Diffuse,
                (file::SonicKind::Absorb, None) => Sonic::Absorb,
            };
            known.push((name, Material { visible: entry.visible, sonic }));
        }
        Ok(Self(known))
    }

    fn named(&self, key: &str, name: &str) -> Checked<Material> {
        let found = self.0.iter().find(|(known, _)| known == name).map(|(_, material)| *material);
        found.ok_or_else(|| unknown(key, "material", name, &self.0))
    }
}

type Painted = Vec<(Piece, [u8; 3])>;

fn unknown<T>(key: &str, kind: &str, name: &str, known: &[(String, T)]) -> PlanError {
    let names: Vec<_> = known.iter().map(|(name, _)| name).collect();
    invalid(key, suggest::unknown(kind, name, &names).to_string())
}

fn floor(floor: &file::Floor) -> Checked<(Floor, Painted)> {
    at_most("floor.area", &floor.areas, MAX_AREAS)?;
    let (mut areas, mut painted) = (Vec::new(), Vec::new());
    for (index, area) in floor.areas.iter().enumerate() {
        let shape = shape(&format!("floor.area {}", index + 1), &area.shape)?;
        painted.extend(shape.pieces.into_iter().map(|piece| (piece, area.color.0)));
        areas.push(Area { outline: shape.polygons, color: area.color });
    }
    Ok((Floor { color: floor.color, areas }, painted))
}

fn patches(patches: &[file::Patch]) -> Checked<(Vec<Patch>, Vec<TerrainPatch>)> {
    at_most("terrain.patch", patches, MAX_PATCHES)?;
    let (mut drawn, mut on_ground) = (Vec::new(), Vec::new());
    for (index, patch) in patches.iter().enumerate() {
        let key = format!("terrain.patch {}", index + 1);
        let shape = shape(&key, &patch.shape)?;
        let plane = plane(&key, patch)?;
        for height in heights(&plane, &shape.pieces) {
            within(&format!("{key}, height of a corner"), height, -MAX_ALTITUDE, MAX_ALTITUDE)?;
        }
        for outline in shape.polygons {
            let heights = outline.iter().map(|point| plane.at(DVec2::from(*point))).collect();
            drawn.push(Patch { outline, heights, color: patch.color });
        }
        on_ground.push(TerrainPatch { pieces: shape.pieces, plane, color: patch.color.map(|color| color.0) });
    }
    Ok((drawn, on_ground))
}

fn heights(plane: &Plane, pieces: &[Piece]) -> Vec<f64> {
    pieces.iter().flat_map(|piece| &piece.points).map(|point| plane.at(*point)).collect()
}

fn plane(key: &str, patch: &file::Patch) -> Checked<Plane> {
    let ramp = match (patch.height, &patch.ramp) {
        (Some(height), None) => {
            let height = within(key, height, -MAX_ALTITUDE, MAX_ALTITUDE)?;
            return Ok(Plane { height, ..Plane::ZERO });
        }
        (None, Some(ramp)) => ramp,
        _ => return Err(invalid(key, "needs either `height` or `ramp`")),
    };
    for value in ramp.from.iter().chain(&ramp.to) {
        within(&format!("{key}, ramp"), *value, -2.0 * ARENA_SIZE, 2.0 * ARENA_SIZE)?;
    }
    let (origin, end) = (DVec2::new(ramp.from[0], ramp.from[1]), DVec2::new(ramp.to[0], ramp.to[1]));
    let along = end - origin;
    if along.length() < 1.0 {
        return Err(invalid(key, "a ramp must be at least 1 mm long"));
    }
    let slope = along * ((ramp.to[2] - ramp.from[2]) / along.length_squared());
    Ok(Plane { origin, height: ramp.from[2], slope })
}

fn obstacles(list: &[file::Obstacle], materials: &Materials, ground: &Ground) -> Checked<(Vec<Obstacle>, Vec<Solid>)> {
    at_most("obstacle", list, MAX_OBSTACLES)?;
    let (mut obstacles, mut solids) = (Vec::new(), Vec::new());
    for (index, obstacle) in list.iter().enumerate() {
        let key = format!("obstacle {}", index + 1);
        let shape = shape(&key, &obstacle.shape)?;
        let height = within(&format!("{key}, height"), obstacle.height, 0.001, 2.0 * MAX_ALTITUDE)?;
        let under = || shape.pieces.iter().flat_map(|piece| &piece.points).map(|point| ground.height(*point));
        // on a slope it extends down to the lowest ground, and its height counts from the highest
        let (low, high) = match obstacle.base {
            Some(base) => (base, base + height),
            None => (under().fold(f64::INFINITY, f64::min), under().fold(f64::NEG_INFINITY, f64::max) + height),
        };
        within(&format!("{key}, base"), low, -MAX_ALTITUDE, MAX_ALTITUDE)?;
        within(&format!("{key}, top"), high, -MAX_ALTITUDE, 2.0 * MAX_ALTITUDE)?;
        let material = materials.named(&format!("{key}, material"), &obstacle.material)?;
        let Color(color) = obstacle.color;
        solids.extend(shape.pieces.into_iter().map(|piece| Solid::new(piece, low, high, color, material)));
        obstacles.push(Obstacle {
            outline: shape.polygons,
            low,
            high,
            color: obstacle.color,
            material,
            material_name: obstacle.material.clone(),
        });
    }
    Ok((obstacles, solids))
}

fn wall_solids(walls: &Walls, lowest: f64) -> [Solid; 4] {
    let (inner, outer) = (ARENA_SIZE, ARENA_SIZE + WALL_THICKNESS);
    let sides = [
        [-WALL_THICKNESS, -WALL_THICKNESS, outer, 0.0],
        [-WALL_THICKNESS, inner, outer, outer],
        [-WALL_THICKNESS, 0.0, 0.0, inner],
        [inner, 0.0, outer, inner],
    ];
    sides.map(|[left, down, right, up]| {
        let corners = [[left, down], [right, down], [right, up], [left, up]].map(DVec2::from);
        Solid::new(Piece::convex(corners.to_vec()), lowest, walls.height, walls.color.0, walls.material)
    })
}

fn reaches_arena(piece: &Piece) -> bool {
    let corners = [[0.0, 0.0], [ARENA_SIZE, 0.0], [ARENA_SIZE, ARENA_SIZE], [0.0, ARENA_SIZE]].map(DVec2::from);
    polygon::signed_area(&ground::intersection(piece.points.clone(), &Piece::convex(corners.to_vec()))) > 0.0
}

fn ports(file: &file::File) -> Checked<Vec<Port>> {
    at_most("zone", &file.zones, MAX_ZONES)?;
    at_most("port", &file.ports, MAX_PORTS)?;
    let mut zones: Vec<(String, Shape)> = Vec::new();
    for zone in &file.zones {
        let name = one_line("zone.name", &zone.name, MAX_NAME)?;
        let key = format!("zone `{name}`");
        let shape = shape(&key, &zone.shape)?;
        if !shape.pieces.iter().any(reaches_arena) {
            return Err(invalid(key, format!("is outside the arena, which spans 0 to {ARENA_SIZE}")));
        }
        zones.push((name, shape));
    }
    let everywhere = file::Outline {
        r#box: Some([0.5 * ARENA_SIZE, 0.5 * ARENA_SIZE, ARENA_SIZE, ARENA_SIZE]),
        ..Default::default()
    };
    let default = file::Port { port: DEFAULT_PORT, kind: "robot".to_owned(), color: file::orange(), zone: None };
    let listed = if file.ports.is_empty() { std::slice::from_ref(&default) } else { &file.ports };
    let mut ports: Vec<Port> = Vec::new();
    for port in listed {
        let key = format!("port {}", port.port);
        if port.port == 0 || ports.iter().any(|other| other.port == port.port) {
            return Err(invalid(key, "a port must be unique and in 1..=65535"));
        }
        let zone = match &port.zone {
            None => shape("zone", &everywhere)?,
            Some(name) => match zones.iter().find(|(known, _)| known == name) {
                Some((_, zone)) => Shape { polygons: zone.polygons.clone(), pieces: zone.pieces.clone() },
                None => return Err(unknown(&key, "zone", name, &zones)),
            },
        };
        let kind = one_line(&format!("{key}, kind"), &port.kind, MAX_NAME)?;
        ports.push(Port { port: port.port, kind, color: port.color, start: zone.polygons, zone: zone.pieces });
    }
    Ok(ports)
}
