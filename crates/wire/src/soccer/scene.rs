//! The scene graph sent to monitors.

use super::number::{put_float, put_int};
use super::sexp::{Item, List};
use super::{Decimal, Name, malformed};
use crate::DecodeError;

/// Maximum number of nodes decoded from one scene. A robot has some sixty.
pub const MAX_NODES: usize = 64 * 1024;

/// A node of the scene graph with its children.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Content of the node.
    pub kind: NodeKind,
    /// Children, in an order that is the same in every scene.
    pub children: Vec<Node>,
}

/// Content of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// Unchanged: a difference contains all nodes of the full scene, most of them without content.
    Same,
    /// Transforms its children.
    Transform(Transform),
    /// Root of a robot.
    Agent {
        /// Its team's name.
        team: Name,
        /// Its number.
        number: u8,
    },
    /// Root of the ball.
    Ball,
    /// A visible shape.
    Mesh(Mesh),
}

/// Transforms points from the node's frame to its parent's: a column-major 4x4 matrix. The last column is the position,
/// in m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transform(pub [Decimal<4>; 16]);

impl Transform {
    /// Rounds each element to the wire's precision.
    pub fn rounded(columns: [f64; 16]) -> Self {
        Self(columns.map(Decimal::rounded))
    }
}

/// A visible shape. Its numbers are finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    /// Whether it is drawn.
    pub is_visible: bool,
    /// The shape: `StdUnitBox`, `StdUnitSphere`, `StdUnitCylinder`, or a file such as `models/T1/H1.STL`.
    pub shape: Name,
    /// Appearance of its surface.
    pub surface: Surface,
    /// Scale along x, y and z.
    pub scale: Option<[f64; 3]>,
}

/// Appearance of a surface.
#[derive(Debug, Clone, PartialEq)]
pub enum Surface {
    /// One of the monitor's materials.
    Material(Name),
    /// Red, green, blue and opacity, 0 to 1.
    Rgba([f64; 4]),
}

impl Node {
    /// A node without children.
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

    /// Decodes a node and its children. The recursion is as deep as the nesting of the lists, which is limited.
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
