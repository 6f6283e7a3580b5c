//! A monitor's scene graph as a scene of bodies with visuals.
//!
//! A log does not say which nodes are bodies: a transform may be a joint, or merely place a visual on a body. Every node
//! that has ever moved counts as a body, as does the same node of every other robot; all other nodes are fixed to the
//! body above them.

use std::{collections::BTreeSet, sync::OnceLock};

use glam::{DAffine3, DMat4, DQuat, DVec3};
use library::{ModelKind, named_model};
use physics::Assembly;
use session::console::scene;
use wire::{
    console::{AgentInfo, Pose, Scene, Visual, VisualShape},
    soccer::{Environment, Mesh, Name, Node, NodeKind, Surface, Transform},
};

/// Longer fields are those for eleven players, in m.
const LONG_FIELD: f64 = 80.0;
/// Radius of the sphere drawn for a mesh of unknown shape, in m.
const UNKNOWN_RADIUS: f64 = 0.04;
/// Smallest change of a matrix element that counts as a movement.
const MIN_MOVEMENT: f64 = 1e-9;

/// What a node belongs to, and a hash of its path.
type NodeKey = (Owner, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Field,
    Ball,
    /// Any robot.
    Robot,
}

/// Nodes that have moved.
#[derive(Debug, Default)]
pub(super) struct MovingNodes(BTreeSet<NodeKey>);

/// The scene graph of a log in depth-first order: a node comes after its parent.
#[derive(Debug)]
pub(super) struct SceneTree {
    nodes: Vec<FlatNode>,
    is_long_field: bool,
    /// Indices of the nodes that are bodies.
    bodies: Vec<usize>,
}

#[derive(Debug)]
struct FlatNode {
    parent: usize,
    /// Number of children.
    children: usize,
    key: NodeKey,
    kind: FlatKind,
}

#[derive(Debug)]
enum FlatKind {
    Plain,
    /// Pose relative to the parent. The topmost one of a robot or the ball is always a body.
    Transform {
        pose: DAffine3,
        is_topmost: bool,
    },
    Robot(String),
    Ball,
    Mesh(Mesh),
}

impl SceneTree {
    pub(super) fn new(root: &Node, environment: Option<&Environment>) -> Self {
        let mut nodes = Vec::new();
        flatten(root, 0, (Owner::Field, 0), &mut nodes);
        let is_long_field = environment.is_none_or(|environment| environment.field_length > LONG_FIELD);
        Self { nodes, is_long_field, bodies: Vec::new() }
    }

    /// Whether a full graph has the same nodes, at any poses.
    pub(super) fn has_same_nodes(&self, root: &Node) -> bool {
        let mut nodes = Vec::with_capacity(self.nodes.len());
        collect(root, &mut nodes);
        let is_same = |node: &Node, known: &FlatNode| match (&node.kind, &known.kind) {
            (NodeKind::Transform(_), FlatKind::Transform { .. })
            | (NodeKind::Same, FlatKind::Plain)
            | (NodeKind::Ball, FlatKind::Ball) => true,
            (NodeKind::Agent { team, number }, FlatKind::Robot(name)) => *name == robot_name(team, *number),
            (NodeKind::Mesh(mesh), FlatKind::Mesh(known)) => mesh == known,
            _ => false,
        };
        nodes.len() == self.nodes.len() && nodes.into_iter().zip(&self.nodes).all(|(node, known)| is_same(node, known))
    }

    /// Applies an update. Returns whether a node has moved for the first time, or `None` if the tree has another shape.
    pub(super) fn apply(&mut self, root: &Node, moving: &mut MovingNodes) -> Option<bool> {
        let mut changes = Vec::with_capacity(self.nodes.len());
        collect(root, &mut changes);
        let is_same = changes.len() == self.nodes.len()
            && changes.iter().zip(&self.nodes).all(|(change, node)| change.children.len() == node.children);
        if !is_same {
            return None;
        }
        let mut has_new = false;
        for (change, node) in changes.into_iter().zip(&mut self.nodes) {
            if let (NodeKind::Transform(new), FlatKind::Transform { pose, is_topmost }) = (&change.kind, &mut node.kind)
            {
                let new = affine(new);
                if !new.abs_diff_eq(*pose, MIN_MOVEMENT) {
                    *pose = new;
                    has_new |= !*is_topmost && moving.0.insert(node.key);
                }
            }
        }
        Some(has_new)
    }

    /// Builds the scene, and chooses the nodes whose poses [`poses`](Self::poses) returns from now on.
    pub(super) fn scene(&mut self, generation: u32, moving: &MovingNodes) -> Scene {
        let mut scene = Scene {
            generation,
            bodies: vec!["world".to_owned()],
            parents: vec![0],
            looks: Vec::new(),
            meshes: Vec::new(),
            agents: Vec::new(),
        };
        self.bodies.clear();
        // of each node: its body, its pose relative to that, and its robot
        let mut placements: Vec<(usize, DAffine3, Option<usize>)> = Vec::with_capacity(self.nodes.len());
        let mut has_field = false;
        for (index, node) in self.nodes.iter().enumerate() {
            let (on, at, robot) = placements.get(node.parent).copied().unwrap_or((0, DAffine3::IDENTITY, None));
            let placement = match &node.kind {
                FlatKind::Transform { is_topmost, .. } if *is_topmost || moving.0.contains(&node.key) => {
                    self.bodies.push(index);
                    let body = scene.bodies.len();
                    let agent = robot.and_then(|robot| scene.agents.get_mut(robot));
                    scene.bodies.push(match (&agent, node.key.0) {
                        (Some(agent), _) => format!("{}:{body}", agent.name),
                        (None, Owner::Ball) => "ball".to_owned(),
                        (None, _) => format!("body {body}"),
                    });
                    if let Some(agent) = agent.filter(|agent| agent.body < 0) {
                        agent.body = body as i64;
                    }
                    scene.parents.push(on);
                    (body, DAffine3::IDENTITY, robot)
                }
                FlatKind::Transform { pose, .. } => (on, at * *pose, robot),
                FlatKind::Robot(name) => {
                    let known = scene.agents.iter().position(|agent| agent.name == *name);
                    (on, at, Some(known.unwrap_or_else(|| add_robot(&mut scene, name))))
                }
                FlatKind::Mesh(mesh) => {
                    has_field |= node.key.0 == Owner::Field;
                    scene.looks.extend(visual(mesh, on, at));
                    if let Some(agent) = robot.and_then(|robot| scene.agents.get_mut(robot)) {
                        name_model(agent, mesh);
                    }
                    (on, at, robot)
                }
                FlatKind::Plain | FlatKind::Ball => (on, at, robot),
            };
            placements.push(placement);
        }
        // monitors draw the ground themselves, and those of the league also the lines and goals
        let is_missing = |visual: &&Visual| !has_field || visual.shape == VisualShape::Plane;
        scene.looks.extend(field(self.is_long_field).iter().filter(is_missing).cloned());
        scene
    }

    /// World poses of the bodies.
    pub(super) fn poses(&self) -> Vec<Pose> {
        let mut world_poses: Vec<DAffine3> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let parent = world_poses.get(node.parent).copied().unwrap_or(DAffine3::IDENTITY);
            world_poses.push(if let FlatKind::Transform { pose, .. } = &node.kind { parent * *pose } else { parent });
        }
        let pose = |body: &usize| {
            let (_, rotation, position) = decompose(world_poses.get(*body).copied().unwrap_or(DAffine3::IDENTITY));
            (position.to_array(), [rotation.w, rotation.x, rotation.y, rotation.z])
        };
        self.bodies.iter().map(pose).collect()
    }
}

/// Adds a node and its descendants. The recursion is as deep as a message may be nested, which the codec limits.
fn flatten(node: &Node, parent: usize, key: NodeKey, nodes: &mut Vec<FlatNode>) {
    let index = nodes.len();
    let parent_kind = nodes.get(parent).filter(|_| index > 0).map(|parent| &parent.kind);
    let is_topmost = matches!(parent_kind, Some(FlatKind::Robot(_) | FlatKind::Ball));
    let (kind, (owner, path)) = match &node.kind {
        NodeKind::Same => (FlatKind::Plain, key),
        NodeKind::Transform(pose) => (FlatKind::Transform { pose: affine(pose), is_topmost }, key),
        NodeKind::Agent { team, number } => (FlatKind::Robot(robot_name(team, *number)), (Owner::Robot, 0)),
        NodeKind::Ball => (FlatKind::Ball, (Owner::Ball, 0)),
        NodeKind::Mesh(mesh) => (FlatKind::Mesh(mesh.clone()), key),
    };
    nodes.push(FlatNode { parent, children: node.children.len(), key, kind });
    for (nth, child) in (1..).zip(&node.children) {
        let child_path = (path ^ nth).wrapping_mul(0x0100_0000_01B3).rotate_left(23);
        flatten(child, index, (owner, child_path), nodes);
    }
}

fn robot_name(team: &Name, number: u8) -> String {
    format!("{} {number}", team.as_str())
}

fn collect<'a>(node: &'a Node, out: &mut Vec<&'a Node>) {
    out.push(node);
    node.children.iter().for_each(|child| collect(child, out));
}

fn affine(Transform(elements): &Transform) -> DAffine3 {
    DAffine3::from_mat4(DMat4::from_cols_array(&elements.map(wire::soccer::Decimal::get)))
}

/// Scale, rotation and position. A singular matrix has no rotation.
fn decompose(pose: DAffine3) -> (DVec3, DQuat, DVec3) {
    if pose.matrix3.determinant().abs() < f64::EPSILON || !pose.is_finite() {
        let position = if pose.translation.is_finite() { pose.translation } else { DVec3::ZERO };
        return (DVec3::ONE, DQuat::IDENTITY, position);
    }
    pose.to_scale_rotation_translation()
}

fn add_robot(scene: &mut Scene, name: &str) -> usize {
    let (motors, senses) = (Vec::new(), Vec::new());
    scene.agents.push(AgentInfo { name: name.to_owned(), robot: String::new(), body: -1, motors, senses });
    scene.agents.len() - 1
}

/// Sets a robot's model from the folder of a mesh: `T1` for `models/T1/H1.STL`.
fn name_model(agent: &mut AgentInfo, mesh: &Mesh) {
    if let (true, Some((folder, _))) = (agent.robot.is_empty(), mesh.shape.as_str().rsplit_once('/')) {
        agent.robot = folder.rsplit('/').next().unwrap_or_default().to_owned();
    }
}

#[expect(clippy::cast_possible_truncation, reason = "single precision is enough to draw")]
fn visual(mesh: &Mesh, body: usize, at: DAffine3) -> Option<Visual> {
    if !mesh.is_visible {
        return None;
    }
    let (scale, rotation, position) = decompose(at);
    let [x, y, z] = mesh.scale.unwrap_or([1.0; 3]);
    let DVec3 { x, y, z } = (DVec3::new(x, y, z) * scale).abs();
    let (shape, size) = match mesh.shape.as_str() {
        "StdUnitBox" => (VisualShape::Box, vec![x / 2.0, y / 2.0, z / 2.0]),
        "StdUnitSphere" if x == y && y == z => (VisualShape::Sphere, vec![x]),
        "StdUnitSphere" => (VisualShape::Ellipsoid, vec![x, y, z]),
        "StdUnitCylinder" => (VisualShape::Cylinder, vec![x, z / 2.0]),
        _ => (VisualShape::Sphere, vec![UNKNOWN_RADIUS]),
    };
    let (rgba, material) = match &mesh.surface {
        Surface::Rgba(rgba) => (rgba.map(|value| value as f32), None),
        Surface::Material(name) => (colour(name.as_str()), Some(name.as_str().to_owned())),
    };
    Some(Visual {
        body,
        position: position.to_array().map(|value| value as f32),
        quaternion: [rotation.w, rotation.x, rotation.y, rotation.z].map(|value| value as f32),
        shape,
        size: size.into_iter().map(|value| value as f32).collect(),
        rgba,
        material,
    })
}

/// Colours of the materials that monitors define themselves.
fn colour(material: &str) -> [f32; 4] {
    match material {
        "matLeft" => [0.85, 0.15, 0.15, 1.0],
        "matRight" => [0.15, 0.3, 0.9, 1.0],
        "ball" => [1.0, 1.0, 1.0, 1.0],
        _ => [0.6, 0.6, 0.6, 1.0],
    }
}

/// Visuals of our own field, without the ball.
fn field(is_long: bool) -> &'static [Visual] {
    static FIELDS: [OnceLock<Vec<Visual>>; 2] = [OnceLock::new(), OnceLock::new()];
    let [short, long] = &FIELDS;
    let (field, name) = if is_long { (long, "fifa") } else { (short, "fifa7vs7") };
    field.get_or_init(|| {
        let visuals = named_model(ModelKind::Field, name).ok().and_then(|source| Assembly::new(source).visuals().ok());
        let visuals = visuals.unwrap_or_default().into_iter().filter(|visual| visual.body == 0).collect::<Vec<_>>();
        scene::looks(&visuals).0
    })
}
