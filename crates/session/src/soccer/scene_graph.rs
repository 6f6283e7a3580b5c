//! The tree of things that monitors draw, made from snapshots.
//!
//! A body is a transform, with what there is to draw on it and the bodies that hang on it. Monitors know a box, a sphere
//! and a cylinder; all shapes are made of these.

use std::collections::BTreeMap;

use glam::{DAffine3, DMat4, DQuat, DVec3};
use physics::{Pose, Visual, VisualShape};
use soccer::{Side, game::GameView};
use wire::soccer::{Mesh, Name, Node, NodeKind, Surface, Transform};
use world::{Catalogue, Snapshot};

/// A transform is told again when one of its 16 numbers has moved by more than this.
const MOVED: f64 = 0.005;
/// The body that monitors are told is the ball; also the monitors' name for its material.
const BALL: &str = "ball";
/// What has this material shows which team a robot plays for; monitors have a material for each.
const TEAM_MATERIAL: &str = "team";

/// What was drawn last, for one model of the world.
#[derive(Debug)]
pub(super) struct SceneGraph {
    generation: u64,
    bodies: Vec<Body>,
}

#[derive(Debug, Default)]
struct Body {
    parent: usize,
    children: Vec<usize>,
    /// What it is said to be, besides a body.
    description: Option<NodeKind>,
    /// What there is to draw on it.
    looks: Vec<Node>,
    /// The same nodes, with nothing to say.
    unchanged: Vec<Node>,
    /// Where it was on its parent when that was told last.
    told: [f64; 16],
}

impl SceneGraph {
    pub(super) fn new(catalogue: &Catalogue, game: &GameView) -> Self {
        let mut bodies: Vec<Body> = catalogue.bodies.iter().map(|_| Body::default()).collect();
        let described = descriptions(catalogue, game);
        for (index, &parent) in catalogue.parents.iter().enumerate().skip(1) {
            if let Some(body) = bodies.get_mut(index) {
                body.parent = parent;
                body.description = described.get(&index).map(|(description, _)| description.clone());
            }
            if let Some(parent) = bodies.get_mut(parent) {
                parent.children.push(index);
            }
        }
        let side = |mut body: usize| {
            while body != 0 {
                if let Some((_, side)) = described.get(&body) {
                    return *side;
                }
                body = catalogue.parents.get(body).copied().unwrap_or(0);
            }
            None
        };
        for look in catalogue.visuals.iter() {
            let Some(body) = bodies.get_mut(look.body) else { continue };
            // monitors have a ball of their own, patches and all
            let is_patch = body.description == Some(NodeKind::Ball) && look.material.as_deref() != Some(BALL);
            if let Some(node) = drawn(look, side(look.body)).filter(|_| !is_patch) {
                body.unchanged.push(blank(&node));
                body.looks.push(node);
            }
        }
        Self { generation: catalogue.generation, bodies }
    }

    /// Whether it is of the world's present model.
    pub(super) fn is_of(&self, catalogue: &Catalogue) -> bool {
        self.generation == catalogue.generation
    }

    /// All there is. What the game has moved since the physics is there already.
    pub(super) fn whole(&mut self, world: &Snapshot, moved: &[(usize, Pose)]) -> Node {
        self.body(0, world, moved, true)
    }

    /// What is elsewhere than it was told last.
    pub(super) fn changes(&mut self, world: &Snapshot, moved: &[(usize, Pose)]) -> Node {
        self.body(0, world, moved, false)
    }

    fn body(&mut self, index: usize, world: &Snapshot, moved: &[(usize, Pose)], whole: bool) -> Node {
        let Some(body) = self.bodies.get_mut(index) else { return Node::leaf(NodeKind::Same) };
        let here = moved.iter().rfind(|(other, _)| *other == index).map(|(_, pose)| affine(pose));
        let on_parent = place(world, body.parent).inverse() * here.unwrap_or_else(|| place(world, index));
        let now = DMat4::from(on_parent).to_cols_array();
        let has_moved = now.iter().zip(&body.told).any(|(now, told)| (now - told).abs() > MOVED);
        let kind = if whole || has_moved {
            body.told = now;
            NodeKind::Transform(Transform::rounded(now))
        } else {
            NodeKind::Same
        };
        let mut children = if whole { body.looks.clone() } else { body.unchanged.clone() };
        let description = body.description.clone();
        for child in body.children.clone() {
            children.push(self.body(child, world, moved, whole));
        }
        let node = Node { kind, children };
        match description {
            Some(description) => Node { kind: if whole { description } else { NodeKind::Same }, children: vec![node] },
            None => node,
        }
    }
}

/// Bodies that are said to be something, with the side of those that play.
fn descriptions(catalogue: &Catalogue, game: &GameView) -> BTreeMap<usize, (NodeKind, Option<Side>)> {
    let mut described = BTreeMap::new();
    let ball = catalogue.bodies.iter().position(|name| name == BALL);
    described.extend(ball.map(|ball| (ball, (NodeKind::Ball, None))));
    let [left, right] = &game.teams;
    for (player, agent) in &game.players {
        let team = if player.side == Side::Left { left } else { right };
        let team = team.as_deref().and_then(|team| Name::new(team).ok());
        let (Some(team), Some(card)) = (team, catalogue.agent(*agent)) else { continue };
        let prefix = format!("{}:", card.name);
        let is_root = |index: &usize| {
            catalogue.parents.get(*index) == Some(&0)
                && catalogue.bodies.get(*index).is_some_and(|name| name.starts_with(&prefix))
        };
        for root in (1..catalogue.bodies.len()).filter(is_root) {
            let agent = NodeKind::Agent { team: team.clone(), number: player.number };
            described.insert(root, (agent, Some(player.side)));
        }
    }
    described
}

/// Where a body is in the world; the world itself is nowhere else.
fn place(world: &Snapshot, body: usize) -> DAffine3 {
    match (world.positions.get(body), world.orientations.get(body)) {
        (Some(&pos), Some(&quat)) if body != 0 => affine(&Pose { pos, quat }),
        _ => DAffine3::IDENTITY,
    }
}

fn affine(pose: &Pose) -> DAffine3 {
    let [w, x, y, z] = pose.quat;
    DAffine3::from_rotation_translation(DQuat::from_xyzw(x, y, z, w), pose.pos.into())
}

/// A look as monitors draw it; none for the ground, which they draw themselves.
fn drawn(look: &Visual, side: Option<Side>) -> Option<Node> {
    let surface = surface(look, side);
    let solid = |shape: &str, scale: [f64; 3]| {
        let shape = Name::new(shape).ok()?;
        let scale = (scale != [1.0; 3]).then_some(scale);
        Some(Node::leaf(NodeKind::Mesh(Mesh { is_visible: true, shape, surface: surface.clone(), scale })))
    };
    let ball = |radii: [f64; 3]| solid("StdUnitSphere", radii);
    let cuboid = |half_sizes: [f64; 3]| solid("StdUnitBox", half_sizes.map(|half| 2.0 * half));
    let tube = |radius: f64, half_length: f64| solid("StdUnitCylinder", [radius, radius, 2.0 * half_length]);
    let children = match &look.shape {
        VisualShape::Plane { .. } => return None,
        VisualShape::Sphere { radius } => vec![ball([*radius; 3])?],
        VisualShape::Ellipsoid { radii } => vec![ball(*radii)?],
        VisualShape::Box { half_sizes } => vec![cuboid(*half_sizes)?],
        VisualShape::Cylinder { radius, half_length } => vec![tube(*radius, *half_length)?],
        VisualShape::Capsule { radius, half_length } => {
            let end =
                |z: f64| Some(turned(DAffine3::from_translation(DVec3::new(0.0, 0.0, z)), vec![ball([*radius; 3])?]));
            vec![tube(*radius, *half_length)?, end(*half_length)?, end(-half_length)?]
        }
        VisualShape::Mesh(mesh) => {
            let corners = mesh.vertices.iter().map(|&vertex| DVec3::from(vertex.map(f64::from)));
            let (least, most) = corners.fold((DVec3::MAX, DVec3::MIN), |(a, b), corner| (a.min(corner), b.max(corner)));
            if !(most - least).is_finite() {
                return None;
            }
            let cuboid = cuboid(((most - least) / 2.0).into())?;
            vec![turned(DAffine3::from_translation(most.midpoint(least)), vec![cuboid])]
        }
    };
    let pose = affine(&look.pose);
    match <[Node; 1]>::try_from(children) {
        Ok([only]) if pose == DAffine3::IDENTITY => Some(only),
        Ok(only) => Some(turned(pose, only.into())),
        Err(several) => Some(turned(pose, several)),
    }
}

fn turned(by: DAffine3, children: Vec<Node>) -> Node {
    Node { kind: NodeKind::Transform(Transform::rounded(DMat4::from(by).to_cols_array())), children }
}

/// The monitors' own material, where they have one; else the colour.
fn surface(look: &Visual, side: Option<Side>) -> Surface {
    let material = match (look.material.as_deref(), side) {
        (Some(TEAM_MATERIAL), Some(Side::Left)) => Some("matLeft"),
        (Some(TEAM_MATERIAL), Some(Side::Right)) => Some("matRight"),
        (Some(BALL), _) => Some(BALL),
        _ => None,
    };
    match material.and_then(|material| Name::new(material).ok()) {
        Some(material) => Surface::Material(material),
        None => Surface::Rgba(look.rgba.map(f64::from)),
    }
}

/// The same nodes, with nothing to say.
fn blank(node: &Node) -> Node {
    Node { kind: NodeKind::Same, children: node.children.iter().map(blank).collect() }
}
