//! The appearance and poses of everything in the world, for clients that draw it.

use std::sync::Arc;

use physics::{Mesh, Visual, VisualShape as Shape};
use wire::console::{self, Scene, VisualShape};
use world::{
    Catalogue, Snapshot,
    interface::{MotorKind, Role},
    snapshot::AgentCard,
};

/// The scene: bodies, their appearance, and agents.
pub fn scene(world: &Snapshot) -> Scene {
    let catalogue = &world.catalogue;
    let (looks, meshes) = looks(&world.visuals);
    Scene {
        generation: u32::try_from(catalogue.generation).unwrap_or(u32::MAX),
        bodies: catalogue.bodies.clone(),
        parents: catalogue.parents.clone(),
        looks,
        meshes,
        agents: catalogue.agents.iter().map(|agent| self::agent(catalogue, agent)).collect(),
    }
}

/// What everything visible looks like, and the meshes that it refers to.
pub fn looks(visuals: &[Visual]) -> (Vec<console::Visual>, Vec<console::Mesh>) {
    let mut meshes: Vec<Arc<Mesh>> = Vec::new();
    let looks = visuals.iter().map(|look| self::look(look, &mut meshes)).collect();
    let mesh = |mesh: &Arc<Mesh>| console::Mesh {
        vertices: mesh.vertices.iter().flatten().copied().collect(),
        faces: mesh.faces.iter().flatten().copied().collect(),
    };
    (looks, meshes.iter().map(mesh).collect())
}

#[expect(clippy::cast_possible_truncation, reason = "single precision is enough to draw")]
fn look(look: &Visual, meshes: &mut Vec<Arc<Mesh>>) -> console::Visual {
    let (shape, size) = match &look.shape {
        Shape::Plane { half_sizes } => (VisualShape::Plane, half_sizes.to_vec()),
        Shape::Sphere { radius } => (VisualShape::Sphere, vec![*radius]),
        Shape::Capsule { radius, half_length } => (VisualShape::Capsule, vec![*radius, *half_length]),
        Shape::Cylinder { radius, half_length } => (VisualShape::Cylinder, vec![*radius, *half_length]),
        Shape::Ellipsoid { radii } => (VisualShape::Ellipsoid, radii.to_vec()),
        Shape::Box { half_sizes } => (VisualShape::Box, half_sizes.to_vec()),
        Shape::Mesh(mesh) => {
            let known = meshes.iter().position(|other| Arc::ptr_eq(other, mesh));
            let place = known.unwrap_or_else(|| {
                meshes.push(Arc::clone(mesh));
                meshes.len() - 1
            });
            (VisualShape::Mesh, vec![place as f64])
        }
    };
    console::Visual {
        body: look.body,
        position: look.pose.pos.map(|part| part as f32),
        quaternion: look.pose.quat.map(|part| part as f32),
        shape,
        size: size.into_iter().map(|part| part as f32).collect(),
        rgba: look.rgba,
        material: look.material.as_deref().map(str::to_owned),
    }
}

/// The root body of an agent.
pub fn first_body(catalogue: &Catalogue, agent: &AgentCard) -> Option<usize> {
    let is_own = |name: &str| name.strip_prefix(&agent.name).is_some_and(|rest| rest.starts_with(':'));
    catalogue.bodies.iter().position(|name| is_own(name))
}

fn agent(catalogue: &Catalogue, agent: &AgentCard) -> console::AgentInfo {
    let motor = |motor: &world::snapshot::MotorCard| console::Motor {
        name: motor.name.clone(),
        kind: match motor.kind {
            MotorKind::Angle => console::MotorKind::Position,
            MotorKind::Speed => console::MotorKind::Velocity,
            MotorKind::Signal => console::MotorKind::Torque,
        },
        range: [motor.range.min, motor.range.max],
    };
    let senses = [Role::Output, Role::Info].into_iter().flat_map(|role| {
        agent.values.iter().filter(move |value| value.role == role).map(move |value| console::Sensor {
            name: value.name.clone(),
            info: role == Role::Info,
            range: [value.normalized.min, value.normalized.max],
        })
    });
    console::AgentInfo {
        name: agent.name.clone(),
        robot: agent.robot.clone(),
        body: first_body(catalogue, agent).and_then(|body| i64::try_from(body).ok()).unwrap_or(-1),
        motors: agent.motors.iter().map(motor).collect(),
        senses: senses.collect(),
    }
}

/// A frame of the poses of all bodies but the world.
pub fn poses(world: &Snapshot) -> Vec<u8> {
    let bodies = world.positions.iter().copied().zip(world.orientations.iter().copied());
    let bodies: Vec<console::Pose> = bodies.skip(1).collect();
    let generation = u32::try_from(world.catalogue.generation).unwrap_or(u32::MAX);
    console::encode_poses(generation, world.tick.0, world.time, bodies.into_iter())
}
