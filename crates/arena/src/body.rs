//! The shape of a robot: layers of polygons, one on top of the other.

/// One layer of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Thickness, in mm, above 0.
    pub height: f64,
    /// Closed polygons in the body's frame, in mm, in either winding, concave ones too; the layer is their union.
    pub polygons: Vec<Vec<[f64; 2]>>,
}

/// A checked shape, from the bottom layer to the topmost.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    layers: Vec<Layer>,
}

/// Why a shape is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BodyError {
    /// There is nothing of it.
    #[error("a body needs at least one layer")]
    Empty,
}

impl Body {
    /// Checks a shape.
    pub fn new(layers: Vec<Layer>) -> Result<Self, BodyError> {
        if layers.is_empty() { Err(BodyError::Empty) } else { Ok(Self { layers }) }
    }

    /// From bottom to top, as they were given.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }
}
