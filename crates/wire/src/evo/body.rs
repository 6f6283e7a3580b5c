use super::{NotFinite, error::LineError, put_number, put_whole, words::Words};

/// Maximum number of layers of a body (D28).
pub const MAX_LAYERS: usize = 256;
/// Maximum number of polygons in a layer (D28).
pub const MAX_POLYGONS: usize = 1_024;
/// Maximum number of points of a polygon (D28).
pub const MAX_POINTS: usize = 65_536;

/// One layer of a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Thickness, in mm.
    pub height: f64,
    /// Closed polygons in the body's frame, in mm; the last point connects to the first.
    pub polygons: Vec<Vec<[f64; 2]>>,
}

/// Checks every count before allocating, against its limit and against the length of the rest of the line.
pub(super) fn decode(words: &mut Words<'_>) -> Result<Vec<Layer>, LineError> {
    let count = words.count("number of layers", MAX_LAYERS)?;
    let mut layers = Vec::with_capacity(count.min(words.max_remaining()));
    for _ in 0..count {
        let height = words.number("height of a layer")?;
        let count = words.count("number of polygons", MAX_POLYGONS)?;
        let mut polygons = Vec::with_capacity(count.min(words.max_remaining()));
        for _ in 0..count {
            let count = words.count("number of points", MAX_POINTS)?;
            let mut points = Vec::with_capacity(count.min(words.max_remaining()));
            for _ in 0..count {
                points.push(words.numbers(["x of a point", "y of a point"])?);
            }
            polygons.push(points);
        }
        layers.push(Layer { height, polygons });
    }
    Ok(layers)
}

pub(super) fn encode(layers: &[Layer], out: &mut Vec<u8>) -> Result<(), NotFinite> {
    put_whole(out, layers.len() as u64);
    for Layer { height, polygons } in layers {
        put_number(out, *height)?;
        put_whole(out, polygons.len() as u64);
        for points in polygons {
            put_whole(out, points.len() as u64);
            for &number in points.as_flattened() {
                put_number(out, number)?;
            }
        }
    }
    Ok(())
}
