//! The shape of a robot: a stack of layers, each a union of polygons.

use glam::DVec2;

use crate::polygon::{self, Piece, PolygonError};

/// Maximum number of layers of a body.
pub const MAX_LAYERS: usize = 64;
/// Maximum number of points of a body.
pub const MAX_BODY_POINTS: usize = polygon::MAX_POLYGON_POINTS;
/// Largest coordinate of a body's point, in mm. A larger body would not fit into the arena.
pub const MAX_BODY_COORDINATE: f64 = 2000.0;
/// Maximum height of a body, in mm.
pub const MAX_BODY_HEIGHT: f64 = 4000.0;

/// A layer of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Thickness, in mm, above 0.
    pub height: f64,
    /// Closed simple polygons in the body's frame, in mm, convex or concave, in either winding. The layer is their union.
    pub polygons: Vec<Vec<[f64; 2]>>,
}

/// A validated shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    layers: Vec<Layer>,
    prisms: Vec<BodyPrism>,
    /// Points of the bottom layer's polygons, which touch the ground.
    contacts: Vec<DVec2>,
    bounds: (DVec2, DVec2),
    height: f64,
    radius: f64,
}

/// A convex piece of a layer: an upright prism.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BodyPrism {
    pub(crate) piece: Piece,
    /// Height of its bottom above the ground under the robot, in mm.
    pub(crate) low: f64,
    /// Height of its top above the ground under the robot, in mm.
    pub(crate) high: f64,
    /// Distance of its farthest point from the body's (0, 0), in mm.
    pub(crate) radius: f64,
}

/// Why a shape is rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BodyError {
    /// No layers.
    #[error("a body needs at least one layer")]
    Empty,
    /// More than [`MAX_LAYERS`] layers.
    #[error("a body has at most {MAX_LAYERS} layers")]
    TooManyLayers,
    /// More than [`MAX_BODY_POINTS`] points.
    #[error("a body has at most {MAX_BODY_POINTS} points")]
    TooManyPoints,
    /// A layer with a height of 0 or less, or a body that is too high.
    #[error(
        "layer {layer} makes the body {height} mm high; each layer must be above 0 and all together at most {MAX_BODY_HEIGHT}"
    )]
    Height {
        /// Number of the layer, 1 at the bottom.
        layer: usize,
        /// Height of the body up to and including this layer, in mm.
        height: f64,
    },
    /// A layer has no polygon.
    #[error("layer {layer} has no polygon")]
    NoPolygon {
        /// Number of the layer, 1 at the bottom.
        layer: usize,
    },
    /// An invalid polygon.
    #[error("polygon {polygon} of layer {layer} {error}")]
    Polygon {
        /// Number of the layer, 1 at the bottom.
        layer: usize,
        /// Number of the polygon in its layer, from 1.
        polygon: usize,
        /// Why it is invalid.
        error: PolygonError,
    },
}

impl Body {
    /// Validates a shape.
    ///
    /// # Errors
    ///
    /// The layers exceed a limit, or a height or polygon is invalid.
    pub fn new(layers: Vec<Layer>) -> Result<Self, BodyError> {
        if layers.is_empty() {
            return Err(BodyError::Empty);
        }
        if layers.len() > MAX_LAYERS {
            return Err(BodyError::TooManyLayers);
        }
        let points = layers.iter().flat_map(|layer| &layer.polygons).map(Vec::len).fold(0, usize::saturating_add);
        if points > MAX_BODY_POINTS {
            return Err(BodyError::TooManyPoints);
        }
        let mut body = Self {
            layers: Vec::new(),
            prisms: Vec::new(),
            contacts: Vec::new(),
            bounds: (DVec2::INFINITY, DVec2::NEG_INFINITY),
            height: 0.0,
            radius: 0.0,
        };
        for (index, layer) in layers.iter().enumerate() {
            body.push_layer(index + 1, layer)?;
        }
        body.layers = layers;
        Ok(body)
    }

    fn push_layer(&mut self, number: usize, layer: &Layer) -> Result<(), BodyError> {
        let low = self.height;
        self.height += layer.height;
        // also false for NaN
        if !(layer.height > 0.0 && self.height > low && self.height <= MAX_BODY_HEIGHT) {
            return Err(BodyError::Height { layer: number, height: self.height });
        }
        if layer.polygons.is_empty() {
            return Err(BodyError::NoPolygon { layer: number });
        }
        for (index, points) in layer.polygons.iter().enumerate() {
            let invalid = |error| BodyError::Polygon { layer: number, polygon: index + 1, error };
            let points = polygon::validate(points, MAX_BODY_COORDINATE).map_err(invalid)?;
            for piece in polygon::decompose(&points).map_err(invalid)? {
                let radius = piece.points.iter().map(|point| point.length()).fold(0.0, f64::max);
                self.prisms.push(BodyPrism { piece, low, high: self.height, radius });
            }
            for point in &points {
                self.bounds = (self.bounds.0.min(*point), self.bounds.1.max(*point));
                self.radius = self.radius.max(point.length());
            }
            if number == 1 {
                self.contacts.extend(points);
            }
        }
        Ok(())
    }

    /// The layers as given, from bottom to top.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Number of points of all polygons.
    pub fn points(&self) -> usize {
        self.layers.iter().flat_map(|layer| &layer.polygons).map(Vec::len).sum()
    }

    /// Height of all layers together, in mm.
    pub fn height(&self) -> f64 {
        self.height
    }

    /// Distance of the farthest point from (0, 0), in mm.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Minimum and maximum coordinates in the body's frame, in mm.
    pub fn bounds(&self) -> [[f64; 2]; 2] {
        [self.bounds.0.into(), self.bounds.1.into()]
    }

    pub(crate) fn prisms(&self) -> &[BodyPrism] {
        &self.prisms
    }

    pub(crate) fn contacts(&self) -> &[DVec2] {
        &self.contacts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn square(size: f64) -> Vec<[f64; 2]> {
        vec![[-size, -size], [size, -size], [size, size], [-size, size]]
    }

    fn check(layers: Vec<Layer>, expected: Result<f64, BodyError>) {
        assert_eq!(Body::new(layers).map(|body| body.height()), expected);
    }

    #[test]
    fn shapes_are_checked() {
        let layer = |height, polygons| Layer { height, polygons };
        check(vec![], Err(BodyError::Empty));
        check(vec![layer(20.0, vec![square(30.0)])], Ok(20.0));
        check(vec![layer(35.0, vec![square(30.0)]), layer(30.0, vec![square(20.0), square(40.0)])], Ok(65.0));
        check(vec![layer(1.0, vec![square(1.0)]); MAX_LAYERS + 1], Err(BodyError::TooManyLayers));
        check(vec![layer(20.0, vec![])], Err(BodyError::NoPolygon { layer: 1 }));
        check(vec![layer(0.0, vec![square(1.0)])], Err(BodyError::Height { layer: 1, height: 0.0 }));
        check(vec![layer(5000.0, vec![square(1.0)])], Err(BodyError::Height { layer: 1, height: 5000.0 }));
        check(vec![layer(9.0, vec![square(1.0); MAX_BODY_POINTS / 4 + 1])], Err(BodyError::TooManyPoints));
        check(
            vec![layer(9.0, vec![square(1.0)]), layer(9.0, vec![square(1.0), vec![[0.0, 0.0]]])],
            Err(BodyError::Polygon { layer: 2, polygon: 2, error: PolygonError::TooFew }),
        );
        check(
            vec![layer(9.0, vec![square(3000.0)])],
            Err(BodyError::Polygon { layer: 1, polygon: 1, error: PolygonError::OutOfRange }),
        );
        assert!(Body::new(vec![layer(f64::NAN, vec![square(1.0)])]).is_err());
    }

    fn any_number() -> impl Strategy<Value = f64> {
        prop_oneof![4 => -100.0..100.0, 1 => (-5..5).prop_map(f64::from), 1 => prop::num::f64::ANY]
    }

    proptest! {
        #[test]
        fn any_numbers_make_a_body_or_an_error(
            height in any_number(), points in prop::collection::vec(prop::array::uniform2(any_number()), 0..8),
        ) {
            let Ok(body) = Body::new(vec![Layer { height, polygons: vec![points] }]) else { return Ok(()) };
            let mut arena = crate::testing::arena("");
            let id = arena.born(&std::sync::Arc::new(body));
            let position = arena.robot(id).unwrap().position.unwrap();
            prop_assert!(position.x.is_finite() && position.y.is_finite() && position.z.is_finite());
            prop_assert_eq!(position.stress, 0.0);
        }
    }
}
