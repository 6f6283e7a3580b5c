//! Triangles of the shapes that are drawn.

use std::f32::consts::{PI, TAU};

use glam::Vec3;

/// How finely round shapes are made: parts around, parts from pole to pole.
const FINENESS: [(u32, u32); LEVELS] = [(8, 6), (14, 8), (24, 14), (36, 20)];
/// How many finenesses there are.
pub(super) const LEVELS: usize = 4;
/// Radius on the screen, in pixels, up to which each fineness but the last is enough.
const ENOUGH: [f32; LEVELS - 1] = [6.0, 22.0, 90.0];

/// Which fineness is enough for something of this radius on the screen.
pub(super) fn level(radius_px: f32) -> usize {
    ENOUGH.iter().position(|&enough| radius_px < enough).unwrap_or(LEVELS - 1)
}

/// Triangles with smooth normals, about the origin.
#[derive(Clone, Debug, Default)]
pub(super) struct Solid {
    pub(super) corners: Vec<Corner>,
    /// Places of three corners each, counter-clockwise seen from outside.
    pub(super) faces: Vec<[u32; 3]>,
}

/// A corner of a triangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    /// Where it is on the shape of size 1.
    pub(super) point: Vec3,
    /// Which way the surface looks there.
    pub(super) normal: Vec3,
    /// To which end of a long shape it belongs: -1 or 1.
    pub(super) end: f32,
}

/// The shapes of size 1, made once.
#[derive(Debug)]
pub(super) struct Solids {
    pub(super) capsules: [Solid; LEVELS],
    pub(super) cylinders: [Solid; LEVELS],
    pub(super) cube: Solid,
}

impl Solids {
    pub(super) fn new() -> Self {
        Self {
            capsules: FINENESS.map(|(around, along)| capsule(around, along)),
            cylinders: FINENESS.map(|(around, _)| cylinder(around)),
            cube: cube(),
        }
    }
}

/// A ball whose equator is there twice, so that its halves can be moved apart.
fn capsule(around: u32, along: u32) -> Solid {
    let half = along / 2;
    let mut solid = Solid::default();
    for row in 0..along + 2 {
        let (ring, end) = if row <= half { (row, 1.0) } else { (row - 1, -1.0) };
        let (ring_radius, height) = (PI * ring as f32 / along as f32).sin_cos();
        for column in 0..=around {
            let (sin, cos) = (TAU * column as f32 / around as f32).sin_cos();
            let point = Vec3::new(ring_radius * cos, ring_radius * sin, height);
            solid.corners.push(Corner { point, normal: point, end });
        }
    }
    for row in 0..=along {
        for column in 0..around {
            let upper = row * (around + 1) + column;
            let lower = upper + around + 1;
            // at the poles one of the two has no area
            if row != along {
                solid.faces.push([upper, lower, lower + 1]);
            }
            if row != 0 {
                solid.faces.push([upper, lower + 1, upper + 1]);
            }
        }
    }
    solid
}

fn cylinder(around: u32) -> Solid {
    let mut solid = Solid::default();
    let turn = |column: u32| (TAU * column as f32 / around as f32).sin_cos();
    for column in 0..=around {
        let (sin, cos) = turn(column);
        for end in [1.0, -1.0] {
            solid.corners.push(Corner { point: Vec3::new(cos, sin, end), normal: Vec3::new(cos, sin, 0.0), end });
        }
    }
    for column in 0..around {
        let upper = 2 * column;
        solid.faces.extend([[upper, upper + 1, upper + 3], [upper, upper + 3, upper + 2]]);
    }
    for end in [1.0, -1.0] {
        let first = 2 * (around + 1) + if end < 0.0 { around } else { 0 };
        for column in 0..around {
            let (sin, cos) = turn(column);
            solid.corners.push(Corner { point: Vec3::new(cos, sin, end), normal: Vec3::Z * end, end });
        }
        for column in 1..around - 1 {
            let (a, b) = (first + column, first + column + 1);
            solid.faces.push(if end > 0.0 { [first, a, b] } else { [first, b, a] });
        }
    }
    solid
}

fn cube() -> Solid {
    let mut solid = Solid::default();
    for (normal, side) in [(Vec3::X, Vec3::Y), (Vec3::Y, Vec3::Z), (Vec3::Z, Vec3::X)] {
        for normal in [normal, -normal] {
            let (across, first) = (normal.cross(side), 4 * (solid.faces.len() as u32 / 2));
            for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                solid.corners.push(Corner { point: normal + side * a + across * b, normal, end: 1.0 });
            }
            solid.faces.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        }
    }
    solid
}

/// Triangles of others: normals are the means of the faces around a corner. Faces without three corners are left out.
pub(super) fn of_mesh(mesh: &physics::Mesh) -> Solid {
    let points: Vec<Vec3> = mesh.vertices.iter().map(|&point| Vec3::from(point)).collect();
    let mut normals = vec![Vec3::ZERO; points.len()];
    let mut faces = Vec::with_capacity(mesh.faces.len());
    for &face in &mesh.faces {
        let places = face.map(|place| place as usize);
        let [Some(&a), Some(&b), Some(&c)] = places.map(|place| points.get(place)) else { continue };
        let area = (b - a).cross(c - a);
        places.iter().for_each(|&place| normals[place] += area);
        faces.push(face);
    }
    let corner = |(point, normal): (Vec3, Vec3)| Corner { point, normal: normal.normalize_or(Vec3::Z), end: 1.0 };
    Solid { corners: points.into_iter().zip(normals).map(corner).collect(), faces }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six times the volume within the triangles: positive when they look outward.
    fn volume(solid: &Solid, lift: f32) -> f32 {
        let point = |place: u32| {
            let corner = solid.corners[place as usize];
            corner.point + Vec3::Z * corner.end * lift
        };
        solid.faces.iter().map(|face| face.map(point)).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum()
    }

    #[test]
    fn shapes_are_closed_and_look_outward() {
        let solids = Solids::new();
        let close = |got: f32, expected: f32, part: f32| {
            assert!((got / expected - 1.0).abs() < part, "{got} instead of {expected}");
        };
        close(volume(&solids.cube, 0.0), 8.0, 1e-6);
        for (level, part) in [(0, 0.25), (1, 0.09), (2, 0.03), (3, 0.015)] {
            close(volume(&solids.capsules[level], 0.0), 4.0 / 3.0 * PI, part);
            close(volume(&solids.capsules[level], 2.0), 4.0 / 3.0 * PI + 4.0 * PI, part);
            close(volume(&solids.cylinders[level], 0.0), TAU, part);
        }
        for solid in solids.capsules.iter().chain(&solids.cylinders).chain([&solids.cube]) {
            for face in &solid.faces {
                let [a, b, c] = face.map(|place| solid.corners[place as usize]);
                let point = |corner: Corner| corner.point + Vec3::Z * corner.end;
                let outward = (point(b) - point(a)).cross(point(c) - point(a)).normalize();
                assert!([a, b, c].iter().all(|corner| outward.dot(corner.normal) > 0.5), "{a:?} {b:?} {c:?}");
            }
        }
    }

    #[test]
    fn faces_without_corners_are_left_out() {
        let mesh = physics::Mesh {
            vertices: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            faces: vec![[0, 1, 2], [0, 1, 3], [0, 0, 0]],
        };
        let solid = of_mesh(&mesh);
        assert_eq!(solid.faces, [[0, 1, 2], [0, 0, 0]]);
        assert!(solid.corners.iter().all(|corner| corner.normal == Vec3::Z));
    }
}
