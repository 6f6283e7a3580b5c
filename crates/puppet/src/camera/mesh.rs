//! Triangle meshes of the shapes that are rendered.

use std::f32::consts::{PI, TAU};

use glam::Vec3;

/// Segments of round shapes for each level of detail: around the axis, and from pole to pole.
const SEGMENTS: [(u32, u32); LEVELS] = [(8, 6), (14, 8), (24, 14), (36, 20)];
/// Number of levels of detail.
pub(super) const LEVELS: usize = 4;
/// Radius on screen, in pixels, up to which each level but the last is used.
const MAX_RADIUS_PX: [f32; LEVELS - 1] = [6.0, 22.0, 90.0];

/// The level of detail for a shape of this radius on screen.
pub(super) fn level(radius_px: f32) -> usize {
    MAX_RADIUS_PX.iter().position(|&max| radius_px < max).unwrap_or(LEVELS - 1)
}

/// Triangles with smooth normals, centred at the origin.
#[derive(Clone, Debug, Default)]
pub(super) struct TriangleMesh {
    pub(super) vertices: Vec<MeshVertex>,
    /// Indices of three vertices each, counter-clockwise seen from outside.
    pub(super) faces: Vec<[u32; 3]>,
}

/// A vertex of a unit-sized shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeshVertex {
    pub(super) point: Vec3,
    /// Surface normal.
    pub(super) normal: Vec3,
    /// End of an elongated shape that the vertex belongs to: -1 or 1 along z.
    pub(super) end: f32,
}

/// The unit-sized shapes, built once.
#[derive(Debug)]
pub(super) struct UnitShapes {
    pub(super) capsules: [TriangleMesh; LEVELS],
    pub(super) cylinders: [TriangleMesh; LEVELS],
    pub(super) cube: TriangleMesh,
}

impl UnitShapes {
    pub(super) fn new() -> Self {
        Self {
            capsules: SEGMENTS.map(|(around, along)| capsule(around, along)),
            cylinders: SEGMENTS.map(|(around, _)| cylinder(around)),
            cube: cube(),
        }
    }
}

/// A sphere with a doubled equator, so that its halves can be moved apart.
fn capsule(around: u32, along: u32) -> TriangleMesh {
    let half = along / 2;
    let mut mesh = TriangleMesh::default();
    for row in 0..along + 2 {
        let (ring, end) = if row <= half { (row, 1.0) } else { (row - 1, -1.0) };
        let (ring_radius, height) = (PI * ring as f32 / along as f32).sin_cos();
        for column in 0..=around {
            let (sin, cos) = (TAU * column as f32 / around as f32).sin_cos();
            let point = Vec3::new(ring_radius * cos, ring_radius * sin, height);
            mesh.vertices.push(MeshVertex { point, normal: point, end });
        }
    }
    for row in 0..=along {
        for column in 0..around {
            let upper = row * (around + 1) + column;
            let lower = upper + around + 1;
            // at the poles one of the two triangles is degenerate
            if row != along {
                mesh.faces.push([upper, lower, lower + 1]);
            }
            if row != 0 {
                mesh.faces.push([upper, lower + 1, upper + 1]);
            }
        }
    }
    mesh
}

fn cylinder(around: u32) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    let turn = |column: u32| (TAU * column as f32 / around as f32).sin_cos();
    for column in 0..=around {
        let (sin, cos) = turn(column);
        for end in [1.0, -1.0] {
            mesh.vertices.push(MeshVertex { point: Vec3::new(cos, sin, end), normal: Vec3::new(cos, sin, 0.0), end });
        }
    }
    for column in 0..around {
        let upper = 2 * column;
        mesh.faces.extend([[upper, upper + 1, upper + 3], [upper, upper + 3, upper + 2]]);
    }
    for end in [1.0, -1.0] {
        let first = 2 * (around + 1) + if end < 0.0 { around } else { 0 };
        for column in 0..around {
            let (sin, cos) = turn(column);
            mesh.vertices.push(MeshVertex { point: Vec3::new(cos, sin, end), normal: Vec3::Z * end, end });
        }
        for column in 1..around - 1 {
            let (a, b) = (first + column, first + column + 1);
            mesh.faces.push(if end > 0.0 { [first, a, b] } else { [first, b, a] });
        }
    }
    mesh
}

fn cube() -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    for (normal, side) in [(Vec3::X, Vec3::Y), (Vec3::Y, Vec3::Z), (Vec3::Z, Vec3::X)] {
        for normal in [normal, -normal] {
            let (across, first) = (normal.cross(side), 4 * (mesh.faces.len() as u32 / 2));
            for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                mesh.vertices.push(MeshVertex { point: normal + side * a + across * b, normal, end: 1.0 });
            }
            mesh.faces.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        }
    }
    mesh
}

/// A mesh of the model. Normals are the area-weighted means of the adjacent faces; faces with invalid indices are dropped.
pub(super) fn from_model(mesh: &physics::Mesh) -> TriangleMesh {
    let points: Vec<Vec3> = mesh.vertices.iter().map(|&point| Vec3::from(point)).collect();
    let mut normals = vec![Vec3::ZERO; points.len()];
    let mut faces = Vec::with_capacity(mesh.faces.len());
    for &face in &mesh.faces {
        let indices = face.map(|index| index as usize);
        let [Some(&a), Some(&b), Some(&c)] = indices.map(|index| points.get(index)) else { continue };
        let area = (b - a).cross(c - a);
        indices.iter().for_each(|&index| normals[index] += area);
        faces.push(face);
    }
    let vertex = |(point, normal): (Vec3, Vec3)| MeshVertex { point, normal: normal.normalize_or(Vec3::Z), end: 1.0 };
    TriangleMesh { vertices: points.into_iter().zip(normals).map(vertex).collect(), faces }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enclosed volume; positive if the triangles face outward.
    fn volume(mesh: &TriangleMesh, lift: f32) -> f32 {
        let point = |index: u32| {
            let vertex = mesh.vertices[index as usize];
            vertex.point + Vec3::Z * vertex.end * lift
        };
        mesh.faces.iter().map(|face| face.map(point)).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum()
    }

    #[test]
    fn shapes_are_closed_and_face_outward() {
        let shapes = UnitShapes::new();
        let close = |got: f32, expected: f32, part: f32| {
            assert!((got / expected - 1.0).abs() < part, "{got} instead of {expected}");
        };
        close(volume(&shapes.cube, 0.0), 8.0, 1e-6);
        for (level, part) in [(0, 0.25), (1, 0.09), (2, 0.03), (3, 0.015)] {
            close(volume(&shapes.capsules[level], 0.0), 4.0 / 3.0 * PI, part);
            close(volume(&shapes.capsules[level], 2.0), 4.0 / 3.0 * PI + 4.0 * PI, part);
            close(volume(&shapes.cylinders[level], 0.0), TAU, part);
        }
        for mesh in shapes.capsules.iter().chain(&shapes.cylinders).chain([&shapes.cube]) {
            for face in &mesh.faces {
                let [a, b, c] = face.map(|index| mesh.vertices[index as usize]);
                let point = |vertex: MeshVertex| vertex.point + Vec3::Z * vertex.end;
                let outward = (point(b) - point(a)).cross(point(c) - point(a)).normalize();
                assert!([a, b, c].iter().all(|vertex| outward.dot(vertex.normal) > 0.5), "{a:?} {b:?} {c:?}");
            }
        }
    }

    #[test]
    fn faces_with_invalid_indices_are_dropped() {
        let mesh = physics::Mesh {
            vertices: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            faces: vec![[0, 1, 2], [0, 1, 3], [0, 0, 0]],
        };
        let built = from_model(&mesh);
        assert_eq!(built.faces, [[0, 1, 2], [0, 0, 0]]);
        assert!(built.vertices.iter().all(|vertex| vertex.normal == Vec3::Z));
    }
}
