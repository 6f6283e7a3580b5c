//! The tree of things that monitors draw, as a scene of bodies with looks.
//!
//! A log does not say what is a body: a node that moves what hangs on it may be a joint, or only say where on a body
//! something is drawn. What has ever moved is taken for a body, and the same part of all robots with it; all else is fixed
//! to the body that it hangs on.

use std::{collections::BTreeSet, sync::OnceLock};

use glam::{DAffine3, DMat4, DQuat, DVec3};
use library::{ModelKind, named_model};
use physics::Assembly;
use session::console::scene;
use wire::{
    console::{AgentInfo, Pose, Scene, Visual, VisualShape},
    soccer::{Environment, Mesh, Name, Node, NodeKind, Surface, Transform},
};
use world::Catalogue;

/// A field that is longer is one for eleven players, in m.
const LONG_FIELD: f64 = 80.0;
/// A part of a robot whose shape is not known here, in m.
const UNKNOWN_RADIUS: f64 = 0.04;
/// What has changed by less has not moved.
const MOVED: f64 = 1e-9;

/// Whose part a node is, and the way to it.
type Key = (Part, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Field,
    Ball,
    /// That of any robot.
    Robot,
}

/// Nodes that have moved.
#[derive(Debug, Default)]
pub(super) struct Moving(BTreeSet<Key>);

/// A scene of a log, node after node; a node comes after the one on which it hangs.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Flat>,
    is_long: bool,
    /// Places of the nodes that are bodies.
    bodies: Vec<usize>,
}

#[derive(Debug)]
struct Flat {
    parent: usize,
    children: usize,
    key: Key,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Plain,
    /// Moves what hangs on it; the first of a robot or the ball is a body in any case.
    Moves {
        by: DAffine3,
        is_first: bool,
    },
    Robot(String),
    Ball,
    Mesh(Mesh),
}

impl Tree {
    pub(super) fn new(root: &Node, environment: Option<&Environment>) -> Self {
        let mut nodes = Vec::new();
        flatten(root, 0, (Part::Field, 0), &mut nodes);
        let is_long = environment.is_none_or(|environment| environment.field_length > LONG_FIELD);
        Self { nodes, is_long, bodies: Vec::new() }
    }

    /// Whether a whole picture shows the same things, wherever they are.
    pub(super) fn is_like(&self, root: &Node) -> bool {
        let mut nodes = Vec::with_capacity(self.nodes.len());
        collect(root, &mut nodes);
        let is_like = |node: &Node, known: &Flat| match (&node.kind, &known.kind) {
            (NodeKind::Transform(_), Kind::Moves { .. })
            | (NodeKind::Same, Kind::Plain)
            | (NodeKind::Ball, Kind::Ball) => true,
            (NodeKind::Agent { team, number }, Kind::Robot(name)) => *name == robot_name(team, *number),
            (NodeKind::Mesh(mesh), Kind::Mesh(known)) => mesh == known,
            _ => false,
        };
        nodes.len() == self.nodes.len() && nodes.into_iter().zip(&self.nodes).all(|(node, known)| is_like(node, known))
    }

    /// Takes in what has changed. Gives whether something moves that did not before, or nothing if this is another tree.
    pub(super) fn change(&mut self, root: &Node, moving: &mut Moving) -> Option<bool> {
        let mut changes = Vec::with_capacity(self.nodes.len());
        collect(root, &mut changes);
        let is_same = changes.len() == self.nodes.len()
            && changes.iter().zip(&self.nodes).all(|(change, node)| change.children.len() == node.children);
        if !is_same {
            return None;
        }
        let mut has_more = false;
        for (change, node) in changes.into_iter().zip(&mut self.nodes) {
            if let (NodeKind::Transform(told), Kind::Moves { by, is_first }) = (&change.kind, &mut node.kind) {
                let now = affine(told);
                if !now.abs_diff_eq(*by, MOVED) {
                    *by = now;
                    has_more |= !*is_first && moving.0.insert(node.key);
                }
            }
        }
        Some(has_more)
    }

    /// How it looks, and which of its nodes are bodies from now on.
    pub(super) fn scene(&mut self, generation: u32, moving: &Moving) -> Scene {
        let mut scene = Scene {
            generation,
            bodies: vec!["world".to_owned()],
            parents: vec![0],
            looks: Vec::new(),
            meshes: Vec::new(),
            agents: Vec::new(),
        };
        self.bodies.clear();
        // for each node: the body it is on, where on it, and the robot it is part of
        let mut places: Vec<(usize, DAffine3, Option<usize>)> = Vec::with_capacity(self.nodes.len());
        let mut has_field = false;
        for (index, node) in self.nodes.iter().enumerate() {
            let (on, at, robot) = places.get(node.parent).copied().unwrap_or((0, DAffine3::IDENTITY, None));
            let place = match &node.kind {
                Kind::Moves { is_first, .. } if *is_first || moving.0.contains(&node.key) => {
                    self.bodies.push(index);
                    let body = scene.bodies.len();
                    let agent = robot.and_then(|robot| scene.agents.get_mut(robot));
                    scene.bodies.push(match (&agent, node.key.0) {
                        (Some(agent), _) => format!("{}:{body}", agent.name),
                        (None, Part::Ball) => "ball".to_owned(),
                        (None, _) => format!("body {body}"),
                    });
                    if let Some(agent) = agent.filter(|agent| agent.body < 0) {
                        agent.body = body as i64;
                    }
                    scene.parents.push(on);
                    (body, DAffine3::IDENTITY, robot)
                }
                Kind::Moves { by, .. } => (on, at * *by, robot),
                Kind::Robot(name) => {
                    let known = scene.agents.iter().position(|agent| agent.name == *name);
                    (on, at, Some(known.unwrap_or_else(|| add_robot(&mut scene, name))))
                }
                Kind::Mesh(mesh) => {
                    has_field |= node.key.0 == Part::Field;
                    scene.looks.extend(look(mesh, on, at));
                    if let Some(agent) = robot.and_then(|robot| scene.agents.get_mut(robot)) {
                        name_model(agent, mesh);
                    }
                    (on, at, robot)
                }
                Kind::Plain | Kind::Ball => (on, at, robot),
            };
            places.push(place);
        }
        // monitors draw the ground themselves, and those of the league its lines and goals as well
        let is_wanted = |look: &&Visual| !has_field || look.shape == VisualShape::Plane;
        scene.looks.extend(field(self.is_long).iter().filter(is_wanted).cloned());
        scene
    }

    /// Where the bodies are.
    pub(super) fn poses(&self) -> Vec<Pose> {
        let mut places: Vec<DAffine3> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let on = places.get(node.parent).copied().unwrap_or(DAffine3::IDENTITY);
            places.push(if let Kind::Moves { by, .. } = &node.kind { on * *by } else { on });
        }
        let pose = |body: &usize| {
            let (_, turn, position) = parts(places.get(*body).copied().unwrap_or(DAffine3::IDENTITY));
            (position.to_array(), [turn.w, turn.x, turn.y, turn.z])
        };
        self.bodies.iter().map(pose).collect()
    }
}

/// Adds a node and what hangs on it; no deeper than a message may be.
fn flatten(node: &Node, parent: usize, key: Key, nodes: &mut Vec<Flat>) {
    let place = nodes.len();
    let described = nodes.get(parent).filter(|_| place > 0).map(|parent| &parent.kind);
    let is_first = matches!(described, Some(Kind::Robot(_) | Kind::Ball));
    let (kind, of_children) = match &node.kind {
        NodeKind::Same => (Kind::Plain, key),
        NodeKind::Transform(told) => (Kind::Moves { by: affine(told), is_first }, key),
        NodeKind::Agent { team, number } => (Kind::Robot(robot_name(team, *number)), (Part::Robot, 0)),
        NodeKind::Ball => (Kind::Ball, (Part::Ball, 0)),
        NodeKind::Mesh(mesh) => (Kind::Mesh(mesh.clone()), key),
    };
    nodes.push(Flat { parent, children: node.children.len(), key, kind });
    for (nth, child) in (1..).zip(&node.children) {
        // ways are told apart by a number that depends on every step
        let way = (of_children.1 ^ nth).wrapping_mul(0x0100_0000_01B3).rotate_left(23);
        flatten(child, place, (of_children.0, way), nodes);
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

/// Scale, turn and position; what is squashed to nothing is not turned.
fn parts(place: DAffine3) -> (DVec3, DQuat, DVec3) {
    if place.matrix3.determinant().abs() < f64::EPSILON || !place.is_finite() {
        let position = if place.translation.is_finite() { place.translation } else { DVec3::ZERO };
        return (DVec3::ONE, DQuat::IDENTITY, position);
    }
    place.to_scale_rotation_translation()
}

fn add_robot(scene: &mut Scene, name: &str) -> usize {
    let (motors, senses) = (Vec::new(), Vec::new());
    scene.agents.push(AgentInfo { name: name.to_owned(), robot: String::new(), body: -1, motors, senses });
    scene.agents.len() - 1
}

/// Models of the league are in folders: `models/T1/H1.STL`.
fn name_model(agent: &mut AgentInfo, mesh: &Mesh) {
    if let (true, Some((folder, _))) = (agent.robot.is_empty(), mesh.shape.as_str().rsplit_once('/')) {
        agent.robot = folder.rsplit('/').next().unwrap_or_default().to_owned();
    }
}

#[expect(clippy::cast_possible_truncation, reason = "nobody sees more than a float holds")]
fn look(mesh: &Mesh, body: usize, at: DAffine3) -> Option<Visual> {
    if !mesh.is_visible {
        return None;
    }
    let (scale, turn, position) = parts(at);
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
        Surface::Rgba(rgba) => (rgba.map(|part| part as f32), None),
        Surface::Material(name) => (colour(name.as_str()), Some(name.as_str().to_owned())),
    };
    Some(Visual {
        body,
        position: position.to_array().map(|part| part as f32),
        quaternion: [turn.w, turn.x, turn.y, turn.z].map(|part| part as f32),
        shape,
        size: size.into_iter().map(|part| part as f32).collect(),
        rgba,
        material,
    })
}

/// Colours of the monitors' own materials.
fn colour(material: &str) -> [f32; 4] {
    match material {
        "matLeft" => [0.85, 0.15, 0.15, 1.0],
        "matRight" => [0.15, 0.3, 0.9, 1.0],
        "ball" => [1.0, 1.0, 1.0, 1.0],
        _ => [0.6, 0.6, 0.6, 1.0],
    }
}

/// How our own field looks, without the ball.
fn field(is_long: bool) -> &'static [Visual] {
    static FIELDS: [OnceLock<Vec<Visual>>; 2] = [OnceLock::new(), OnceLock::new()];
    let [short, long] = &FIELDS;
    let (of, name) = if is_long { (long, "fifa") } else { (short, "fifa7vs7") };
    of.get_or_init(|| {
        let looks = named_model(ModelKind::Field, name).ok().and_then(|source| Assembly::new(source).visuals().ok());
        let looks = looks.unwrap_or_default().into_iter().filter(|look| look.body == 0).collect::<Vec<_>>();
        scene::scene(&Catalogue { visuals: looks.into(), ..Catalogue::default() }).looks
    })
}
