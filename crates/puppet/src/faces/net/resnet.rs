//! The embedding network: dlib's residual network, with mostly 8-bit quantised weights and a JSON manifest.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::graph::{Graph, Network, Result, Value, Window};

/// Height and width of the input, in pixels.
const SIDE: usize = 150;
/// Length of the output.
const LENGTH: usize = 128;
/// Maximum number of entries in the manifest.
const MAX_ENTRIES: usize = 1024;

/// The residual blocks of two convolutions each: name, and whether the block halves the image.
const BLOCKS: [(&str, bool); 14] = [
    ("conv32_1", false),
    ("conv32_2", false),
    ("conv32_3", false),
    ("conv64_down", true),
    ("conv64_1", false),
    ("conv64_2", false),
    ("conv64_3", false),
    ("conv128_down", true),
    ("conv128_1", false),
    ("conv128_2", false),
    ("conv256_down", true),
    ("conv256_1", false),
    ("conv256_2", false),
    ("conv256_down_out", true),
];

#[derive(Deserialize)]
struct Group {
    weights: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    shape: Vec<usize>,
    dtype: String,
    quantization: Option<Quantization>,
}

/// A byte stands for `min + scale * byte`. Weights without quantisation are 32-bit floats.
#[derive(Deserialize)]
struct Quantization {
    dtype: String,
    scale: f64,
    min: f64,
}

struct Weights {
    by_name: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
}

/// Decodes 32-bit floats or quantised bytes. `None` for other types.
fn numbers(bytes: &[u8], dtype: &str, quantization: Option<Quantization>) -> Option<Vec<f32>> {
    match quantization {
        _ if dtype != "float32" => None,
        None => Some(bytes.as_chunks::<4>().0.iter().copied().map(f32::from_le_bytes).collect()),
        Some(Quantization { dtype, scale, min }) if dtype == "uint8" => {
            Some(bytes.iter().map(|&byte| (min + scale * f64::from(byte)) as f32).collect())
        }
        Some(_) => None,
    }
}

impl Weights {
    fn read(list: &[u8], bytes: &[u8]) -> Result<Weights> {
        let groups: Vec<Group> = serde_json::from_slice(list).map_err(|error| error.to_string())?;
        let entries: Vec<Entry> = groups.into_iter().flat_map(|group| group.weights).collect();
        if entries.len() > MAX_ENTRIES {
            return Err(format!("{} weights, at most {MAX_ENTRIES}", entries.len()));
        }
        let (mut by_name, mut rest) = (BTreeMap::new(), bytes);
        for Entry { name, shape, dtype, quantization } in entries {
            // otherwise the other lengths would be unchecked
            if shape.contains(&0) {
                return Err(format!("{name} is empty"));
            }
            let size = if quantization.is_some() { 1 } else { 4 };
            let length = shape.iter().try_fold(size, |product: usize, &length| product.checked_mul(length));
            let length = length.filter(|&length| length <= rest.len()).ok_or_else(|| format!("{name} is truncated"))?;
            let (own, others) = rest.split_at(length);
            let numbers =
                numbers(own, &dtype, quantization).ok_or_else(|| format!("{name} has an unsupported type"))?;
            by_name.insert(name, (shape, numbers));
            rest = others;
        }
        if !rest.is_empty() {
            return Err(format!("{} bytes are left over", rest.len()));
        }
        Ok(Weights { by_name })
    }

    fn get(&self, name: &str) -> Result<(&[usize], &[f32])> {
        let (shape, numbers) = self.by_name.get(name).ok_or_else(|| format!("no weights named {name}"))?;
        Ok((shape, numbers))
    }

    /// Filter size, filters (channels first) and biases of a convolution, with the following scale layer folded in.
    fn filters(&self, name: &str) -> Result<(usize, Vec<f32>, Vec<f32>)> {
        let (shape, numbers) = self.get(&format!("{name}/conv/filters"))?;
        let [height, width, inputs, outputs] = *shape else { return Err(format!("{name} does not have four axes")) };
        let [bias, factors, offsets] = ["conv/bias", "scale/weights", "scale/biases"].map(|part| {
            let numbers = self.get(&format!("{name}/{part}"))?.1;
            if numbers.len() == outputs { Ok(numbers) } else { Err(format!("{name}/{part} has the wrong length")) }
        });
        let (bias, factors, offsets) = (bias?, factors?, offsets?);
        if height != width {
            return Err(format!("{name} does not have square filters"));
        }
        let mut transposed = Vec::with_capacity(numbers.len());
        for (output, factor) in factors.iter().enumerate() {
            for input in 0..inputs {
                let pixels = (0..height * width).map(|pixel| (pixel * inputs + input) * outputs + output);
                transposed.extend(pixels.map(|at| numbers[at] * factor));
            }
        }
        let biases = (0..outputs).map(|output| bias[output] * factors[output] + offsets[output]).collect();
        Ok((height, transposed, biases))
    }
}

/// Builds the network from the manifest and the weights. The input is a planar RGB image of 150 x 150 pixels, the output
/// has 128 values.
pub(in crate::faces) fn embedding_network(list: &[u8], bytes: &[u8]) -> Result<Network> {
    let weights = Weights::read(list, bytes)?;
    let mut graph = Graph::default();
    let input = graph.input([3, SIDE, SIDE])?;
    let first = convolve(&mut graph, &weights, &input, "conv32_down", true)?;
    let first = graph.relu(&first)?;
    let mut value = graph.max_pool(&first, Window { size: [3, 3], step: [2, 2], same: false })?;
    for (name, halves) in BLOCKS {
        value = block(&mut graph, &weights, &value, name, halves)?;
    }
    let mean = graph.average(&value)?;
    let (shape, numbers) = weights.get("fc")?;
    let [inputs, LENGTH] = *shape else { return Err(format!("fc has {shape:?} weights")) };
    let transposed: Vec<f32> =
        (0..LENGTH).flat_map(|output| (0..inputs).map(move |input| numbers[input * LENGTH + output])).collect();
    let pixel = Window { size: [1, 1], step: [1, 1], same: false };
    let output = graph.convolve(&mean, &transposed, &[0.0; LENGTH], pixel)?;
    graph.finish(&input, &[&output])
}

fn convolve(graph: &mut Graph, weights: &Weights, from: &Value, name: &str, halves: bool) -> Result<Value> {
    let (side, filters, biases) = weights.filters(name)?;
    let step = if halves { 2 } else { 1 };
    let window = Window { size: [side, side], step: [step, step], same: !halves };
    graph.convolve(from, &filters, &biases, window)
}

fn block(graph: &mut Graph, weights: &Weights, from: &Value, name: &str, halves: bool) -> Result<Value> {
    let inner = convolve(graph, weights, from, &format!("{name}/conv1"), halves)?;
    let inner = graph.relu(&inner)?;
    let mut inner = convolve(graph, weights, &inner, &format!("{name}/conv2"), false)?;
    let mut past = from.clone();
    if halves {
        past = graph.average_pool(from, Window { size: [2, 2], step: [2, 2], same: false })?;
        // the convolution may have one row and column less than the pool, and has more channels
        let shape = [0, 1, 2].map(|axis| inner.shape[axis].max(past.shape[axis]));
        if inner.shape != shape {
            inner = graph.pad(&inner, shape)?;
        }
        if past.shape != shape {
            past = graph.pad(&past, shape)?;
        }
    }
    let sum = graph.add(&past, &inner)?;
    graph.relu(&sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_manifests_are_refused() {
        for (shape, bytes, expected) in [
            ("[0, 0, 1000000000000, 1]", 0, "is empty"),
            ("[3, 3, 0, 16]", 0, "is empty"),
            ("[4294967296, 4294967296, 2, 2]", 16, "is truncated"),
            ("[2, 2]", 3, "is truncated"),
            ("[2, 2]", 5, "left over"),
        ] {
            let weight = format!(
                r#"{{"name": "a", "shape": {shape}, "dtype": "float32", "quantization": {{"dtype": "uint8", "scale": 1.0, "min": 0.0}}}}"#
            );
            let list = format!(r#"[{{"weights": [{weight}]}}]"#);
            let error = Weights::read(list.as_bytes(), &vec![0; bytes]).map(drop).unwrap_err();
            assert!(error.contains(expected), "{shape}: {error}");
        }
    }
}
