//! The tree of things that a monitor draws.

use super::number::{put_float, put_int};
use super::sexp::{Item, List};
use super::{Decimal, Name, malformed};
use crate::DecodeError;

/// Most nodes that are read from one scene. A robot has some sixty.
pub const MAX_NODES: usize = 64 * 1024;

/// A node of the scene, and what hangs on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// What hangs on it, in an order that stays the same from one scene to the next.
    pub children: Vec<Node>,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// What it was: a scene of changes has the nodes of the whole one, and says nothing about most.
    Same,
    /// Moves what hangs on it.
    Transform(Transform),
    /// What hangs on it is a robot.
    Agent {
        /// Its team's name.
        team: Name,
        /// Its number.
        number: u8,
    },
    /// What hangs on it is the ball.
    Ball,
    /// Something to draw.
    Mesh(Mesh),
}

/// A matrix that turns a point of a node into one of its parent: 16 elements, column after column. The last column has
/// the position, in m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transform(pub [Decimal<4>; 16]);

impl Transform {
    /// The nearest that the wire can carry.
    pub fn rounded(columns: [f64; 16]) -> Self {
        Self(columns.map(Decimal::rounded))
    }
}

/// Something to draw. Its numbers are finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    /// Whether it is drawn at all.
    pub is_visible: bool,
    /// The shape: `StdUnitBox`, `StdUnitSphere`, `StdUnitCylinder`, or a file such as `models/T1/H1.STL`.
    pub shape: Name,
    /// What its surface is like.
    pub surface: Surface,
    /// How much larger than the shape it is, along x, y and z.
    pub scale: Option<[f64; 3]>,
}

/// What a surface is like.
#[derive(Debug, Clone, PartialEq)]
pub enum Surface {
    /// One of the monitor's materials.
    Material(Name),
    /// Red, green, blue and opacity, 0 to 1.
    Rgba([f64; 4]),
}

impl Node {
    /// A node with nothing on it.
    pub fn leaf(kind: NodeKind) -> Self {
        Self { kind, children: Vec::new() }
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"(nd");
        match &self.kind {
            NodeKind::Same => {}
            NodeKind::Transform(Transform(elements)) => {
                out.extend_from_slice(b" TRF(SLT");
                for element in elements {
                    out.push(b' ');
                    element.put_fixed(out);
                }
                out.push(b')');
            }
            NodeKind::Agent { team, number } => {
                out.extend_from_slice(b" DSC(agent ");
                team.put(out);
                out.push(b' ');
                put_int(out, *number);
                out.push(b')');
            }
            NodeKind::Ball => out.extend_from_slice(b" DSC(ball)"),
            NodeKind::Mesh(mesh) => mesh.put(out),
        }
        for child in &self.children {
            child.put(out);
        }
        out.push(b')');
    }

    /// Reads a node and what hangs on it. Only as deep as the message's lists, which have a limit.
    pub(super) fn decode(list: List<'_>, nodes: &mut usize) -> Result<Self, DecodeError> {
        *nodes += 1;
        if *nodes > MAX_NODES {
            let max = MAX_NODES as i64;
            return Err(DecodeError::OutOfRange { field: "nodes", value: max + 1, min: 0, max });
        }
        let kind = NodeKind::decode(list)?;
        let is_child = |list: &List<'_>| list.head() == Some(b"nd");
        let children =
            list.lists().filter(is_child).map(|child| Self::decode(child, nodes)).collect::<Result<_, _>>()?;
        Ok(Self { kind, children })
    }
}

impl NodeKind {
    fn decode(list: List<'_>) -> Result<Self, DecodeError> {
        let mut items = list.items().skip(1);
        let Some(Item::Atom(kind)) = items.next() else { return Ok(Self::Same) };
        match kind {
            b"TRF" => Ok(Self::Transform(Transform(list.find("SLT")?.floats("SLT")?.map(Decimal::from_written)))),
            b"DSC" => {
                let described = items.next().and_then(Item::list).ok_or(malformed("DSC"))?;
                match described.head() {
                    Some(b"ball") => Ok(Self::Ball),
                    Some(b"agent") => {
                        let [team, number] = described.values().ok_or(malformed("agent"))?;
                        Ok(Self::Agent { team: team.name("agent")?, number: number.int("agent")? })
                    }
                    _ => Err(malformed("DSC")),
                }
            }
            b"SMN" => Mesh::decode(list).map(Self::Mesh),
            _ => Err(malformed("node")),
        }
    }
}

impl Mesh {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b" SMN (setVisible ");
        out.push(if self.is_visible { b'1' } else { b'0' });
        out.extend_from_slice(b")(load ");
        self.shape.put(out);
        match &self.surface {
            Surface::Material(material) => {
                out.extend_from_slice(b")(sMat ");
                material.put(out);
            }
            Surface::Rgba(colour) => {
                out.extend_from_slice(b")(rgba");
                put_floats(out, colour);
            }
        }
        if let Some(scale) = &self.scale {
            out.extend_from_slice(b")(sSc");
            put_floats(out, scale);
        }
        out.push(b')');
    }

    fn decode(list: List<'_>) -> Result<Self, DecodeError> {
        let surface = match list.find_any("rgba") {
            Some(colour) => Surface::Rgba(colour.floats("rgba")?),
            None => Surface::Material(list.find("sMat")?.value("sMat")?.name("sMat")?),
        };
        Ok(Self {
            is_visible: list.find("setVisible")?.value("setVisible")?.int::<i64>("setVisible")? != 0,
            shape: list.find("load")?.value("load")?.name("load")?,
            surface,
            scale: list.find_any("sSc").map(|scale| scale.floats("sSc")).transpose()?,
        })
    }
}

fn put_floats(out: &mut Vec<u8>, values: &[f64]) {
    for &value in values {
        out.push(b' ');
        put_float(out, value);
    }
}
