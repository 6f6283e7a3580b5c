//! The scene graph sent to monitors, built from snapshots.
//!
//! A body is a transform node whose children are its visuals and its child bodies. Monitors know a box, a sphere and a
//! cylinder; all other shapes are approximated with these.

use std::{collections::BTreeMap, sync::Arc};

use glam::{DAffine3, DMat4, DQuat, DVec3};
use physics::{Pose, Visual, VisualShape};
use soccer::{Side, game::GameView};
use wire::soccer::{Mesh, Name, Node, NodeKind, Surface, Transform};
use world::{Catalogue, Snapshot};

/// A transform is sent again when one of its 16 elements has changed by more than this.
const MIN_CHANGE: f64 = 0.005;
/// Name of the ball's body, and of its material in monitors.
const BALL: &str = "ball";
/// Visuals of this material show a robot's team; monitors have a material for each side.
const TEAM_MATERIAL: &str = "team";

/// The scene graph of one model of the world, with the transforms sent last.
#[derive(Debug)]
pub(super) struct SceneGraph {
    /// What was visible when it was built.
    shown: Arc<[Visual]>,
    bodies: Vec<Body>,
}

#[derive(Debug, Default)]
struct Body {
    parent: usize,
    children: Vec<usize>,
    /// Marks the body as the ball or a player.
    description: Option<NodeKind>,
    visuals: Vec<Node>,
    /// The visuals as unchanged nodes.
    unchanged: Vec<Node>,
    /// The transform relative to the parent that was sent last.
    sent: [f64; 16],
}

impl SceneGraph {
    pub(super) fn new(world: &Snapshot, game: &GameView) -> Self {
        let catalogue = &world.catalogue;
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
        for visual in world.visuals.iter() {
            let Some(body) = bodies.get_mut(visual.body) else { continue };
            // monitors have their own ball, including its patches
            let is_patch = body.description == Some(NodeKind::Ball) && visual.material.as_deref() != Some(BALL);
            if let Some(node) = visual_node(visual, side(visual.body)).filter(|_| !is_patch) {
                body.unchanged.push(unchanged(&node));
                body.visuals.push(node);
            }
        }
        Self { shown: Arc::clone(&world.visuals), bodies }
    }

    /// Whether it shows the world's current model, with everything where it is.
    pub(super) fn is_current(&self, world: &Snapshot) -> bool {
        Arc::ptr_eq(&self.shown, &world.visuals)
    }

    /// The full graph. `moved` has the bodies that the game has placed since the last physics step.
    pub(super) fn full(&mut self, world: &Snapshot, moved: &[(usize, Pose)]) -> Node {
        self.body(0, world, moved, true)
    }

    /// The transforms that have changed since they were sent last.
    pub(super) fn diff(&mut self, world: &Snapshot, moved: &[(usize, Pose)]) -> Node {
        self.body(0, world, moved, false)
    }

    fn body(&mut self, index: usize, world: &Snapshot, moved: &[(usize, Pose)], is_full: bool) -> Node {
        let Some(body) = self.bodies.get_mut(index) else { return Node::leaf(NodeKind::Same) };
        let here = moved.iter().rfind(|(other, _)| *other == index).map(|(_, pose)| affine(pose));
        let parent_from_body =
            world_from_body(world, body.parent).inverse() * here.unwrap_or_else(|| world_from_body(world, index));
        let now = DMat4::from(parent_from_body).to_cols_array();
        let has_moved = now.iter().zip(&body.sent).any(|(now, sent)| (now - sent).abs() > MIN_CHANGE);
        let kind = if is_full || has_moved {
            body.sent = now;
            NodeKind::Transform(Transform::rounded(now))
        } else {
            NodeKind::Same
        };
        let mut children = if is_full { body.visuals.clone() } else { body.unchanged.clone() };
        let description = body.description.clone();
        for child in body.children.clone() {
            children.push(self.body(child, world, moved, is_full));
        }
        let node = Node { kind, children };
        match description {
            Some(description) => {
                Node { kind: if is_full { description } else { NodeKind::Same }, children: vec![node] }
            }
            None => node,
        }
    }
}

/// The ball and the players' root bodies, with the side of the players.
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

/// Pose of a body in the world; the identity for the world itself.
fn world_from_body(world: &Snapshot, body: usize) -> DAffine3 {
    match (world.positions.get(body), world.orientations.get(body)) {
        (Some(&pos), Some(&quat)) if body != 0 => affine(&Pose { pos, quat }),
        _ => DAffine3::IDENTITY,
    }
}

fn affine(pose: &Pose) -> DAffine3 {
    let [w, x, y, z] = pose.quat;
    DAffine3::from_rotation_translation(DQuat::from_xyzw(x, y, z, w), pose.pos.into())
}

/// The node of a visual; none for the ground, which monitors draw themselves.
fn visual_node(visual: &Visual, side: Option<Side>) -> Option<Node> {
    let surface = surface(visual, side);
    let solid = |shape: &str, scale: [f64; 3]| {
        let shape = Name::new(shape).ok()?;
        let scale = (scale != [1.0; 3]).then_some(scale);
        Some(Node::leaf(NodeKind::Mesh(Mesh { is_visible: true, shape, surface: surface.clone(), scale })))
    };
    let ball = |radii: [f64; 3]| solid("StdUnitSphere", radii);
    let cuboid = |half_sizes: [f64; 3]| solid("StdUnitBox", half_sizes.map(|half| 2.0 * half));
    let tube = |radius: f64, half_length: f64| solid("StdUnitCylinder", [radius, radius, 2.0 * half_length]);
    let children = match &visual.shape {
        VisualShape::Plane { .. } => return None,
        VisualShape::Sphere { radius } => vec![ball([*radius; 3])?],
        VisualShape::Ellipsoid { radii } => vec![ball(*radii)?],
        VisualShape::Box { half_sizes } => vec![cuboid(*half_sizes)?],
        VisualShape::Cylinder { radius, half_length } => vec![tube(*radius, *half_length)?],
        VisualShape::Capsule { radius, half_length } => {
            let end = |z: f64| {
                Some(transform(DAffine3::from_translation(DVec3::new(0.0, 0.0, z)), vec![ball([*radius; 3])?]))
            };
            vec![tube(*radius, *half_length)?, end(*half_length)?, end(-half_length)?]
        }
        VisualShape::Mesh(mesh) => {
            let corners = mesh.vertices.iter().map(|&vertex| DVec3::from(vertex.map(f64::from)));
            let (min, max) = corners.fold((DVec3::MAX, DVec3::MIN), |(a, b), corner| (a.min(corner), b.max(corner)));
            if !(max - min).is_finite() {
                return None;
            }
            let cuboid = cuboid(((max - min) / 2.0).into())?;
            vec![transform(DAffine3::from_translation(max.midpoint(min)), vec![cuboid])]
        }
    };
    let pose = affine(&visual.pose);
    match <[Node; 1]>::try_from(children) {
        Ok([only]) if pose == DAffine3::IDENTITY => Some(only),
        Ok(only) => Some(transform(pose, only.into())),
        Err(several) => Some(transform(pose, several)),
    }
}

fn transform(pose: DAffine3, children: Vec<Node>) -> Node {
    Node { kind: NodeKind::Transform(Transform::rounded(DMat4::from(pose).to_cols_array())), children }
}

/// The monitors' own material if they have one, else the colour.
fn surface(visual: &Visual, side: Option<Side>) -> Surface {
    let material = match (visual.material.as_deref(), side) {
        (Some(TEAM_MATERIAL), Some(Side::Left)) => Some("matLeft"),
        (Some(TEAM_MATERIAL), Some(Side::Right)) => Some("matRight"),
        (Some(BALL), _) => Some(BALL),
        _ => None,
    };
    match material.and_then(|material| Name::new(material).ok()) {
        Some(material) => Surface::Material(material),
        None => Surface::Rgba(visual.rgba.map(f64::from)),
    }
}

/// The same nodes, marked as unchanged.
fn unchanged(node: &Node) -> Node {
    Node { kind: NodeKind::Same, children: node.children.iter().map(unchanged).collect() }
}
